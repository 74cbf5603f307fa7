"""Test encoders tuned on pairs of usages: learning, saved files, resumed runs, and refused input."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from tiny_models import FAMILIES, HIDDEN, KINDS, POSITIONS, TEXT, folder, make_model, make_tokenizer, span_of
from tuning import arguments

import lexshift
from lexshift.encode import as_encoder
from lexshift.encode.adaptation import FILE, MARKERS, Adaptation
from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.encode.loading import load_model
from lexshift.encode.windows import WindowTokenizer
from lexshift.errors import UserError
from lexshift.tune import PairSettings, TunedModel, tune_wic
from lexshift.tune.evaluation import BEST, CHOSEN, describe_results, evaluate
from lexshift.tune.folder import RUN, UNFINISHED
from lexshift.tune.masking import batch_order
from lexshift.tune.pairs import Pair, Usage, hold_out, read_pairs
from lexshift.tune.siamese import (
    ARGUMENTS,
    Siamese,
    WordPooling,
    _cut,
    add_markers,
    make_siamese,
    mark_word,
    siamese_trainer,
)
from lexshift.tune.training import training_arguments
from lexshift.tune.wic import digest_pairs

pytestmark = pytest.mark.tune

WORDS = [
    "plane",
    "mouse",
    "table",
    "window",
    "tree",
    "gate",
    "storm",
    "deck",
    "cat",
    "boats",
    "letters",
    "captain",
    "angle",
    "day",
    "news",
    "screen",
]
MEANINGS = (("before", "hills", "runway"), ("after", "three", "small"))
FILLERS = ["the", "a", "of", "and", "on", "in", "to", "once"]
QUICK: dict[str, Any] = {
    "steps": 6,
    "epochs": 9,
    "batch": 8,
    "learning_rate": 1e-3,
    "every": 2,
    "patience": 0,
    "device": "cpu",
}
THOROUGH: dict[str, Any] = {
    "steps": 60,
    "epochs": 9,
    "batch": 16,
    "learning_rate": 3e-3,
    "every": 30,
    "patience": 0,
    "device": "cpu",
}
LEARNED = [("bert", "sentence"), ("roberta", "mean"), ("xlm-roberta", "sentence")]
DETERMINED = LEARNED[1:]  # the pieces of the tiny BERT differ between processes, and so do its results
SAVED = ("model.safetensors", "config.json", "tokenizer.json", FILE)
THREE = tuple(KINDS.values())
USAGES = [Usage(sentence, *match.span()) for sentence in TEXT for match in re.finditer(r"\w+", sentence)]


def planted(place: Path, n: int, words: Sequence[str] = WORDS, seed: int = 0, fillers: int = 1) -> Path:
    """Write pairs in the WiC format; the preceding word determines the meaning of a word."""
    source = random.Random(seed)
    place.mkdir(parents=True)
    lines, gold = [], []
    for i in range(n):
        word, meanings = words[i % len(words)], [source.randrange(2) for _ in range(2)]
        sentences = [
            " ".join([source.choice(MEANINGS[meaning]), word, *source.choices(FILLERS, k=fillers)])
            for meaning in meanings
        ]
        lines.append("\t".join([word, "N", "1-1", *sentences]))
        gold.append("T" if meanings[0] == meanings[1] else "F")
    (place / "some.data.txt").write_text("\n".join(lines))
    (place / "some.gold.txt").write_text("\n".join(gold))
    return place


class Listener:
    """Monitor that records its events and stops a run at a step or at a message."""

    def __init__(self, stop: int | str | None = None) -> None:
        self.stop = stop
        self.notes: list[str] = []
        self.steps: list[int] = []
        self.stages: list[tuple[str, int, str]] = []

    def stage(self, name: str, total: int, unit: str) -> None:
        self.stages.append((name, total, unit))

    def advance(self, done: int, items: int = 0, status: str = "") -> None:  # noqa: ARG002
        self.steps.append(done)
        if done == self.stop:
            raise StoppedError

    def note(self, text: str) -> None:
        self.notes.append(text)
        if isinstance(self.stop, str) and text.startswith(self.stop):
            raise StoppedError


class StoppedError(Exception):
    """Exception that represents a machine that was switched off."""


class Runs:
    """Pairs, and models tuned on them, each computed once."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.pairs = planted(place / "pairs", 480)
        self.dev = planted(place / "dev", 60, ["people", "points", "cat", "people"], seed=1)
        self.few = planted(place / "few", 48, WORDS[:8], seed=2)
        self._made: dict[tuple[str, str], TunedModel] = {}
        self._quick: TunedModel | None = None

    def learned(self, family: str, pooling: str) -> TunedModel:
        key = (family, pooling)
        if key not in self._made:
            self._made[key] = tune_wic(
                self.pairs,
                out=self.place / "-".join(key),
                model=folder(family),
                dev=[self.dev],
                settings=PairSettings(pooling=pooling, held_out=0.25, **THOROUGH),
            )
        return self._made[key]

    def quick(self) -> TunedModel:
        if self._quick is None:
            self._quick = self.tune(self.place / "quick")
        return self._quick

    def tune(self, out: Path, **options: Any) -> TunedModel:
        settings: dict[str, Any] = {"model": folder("bert"), "held_out": 0.25, "training": QUICK}
        return tune_wic(self.few, out=out, **arguments(PairSettings, settings | options))

    def split(self, tuned: TunedModel) -> tuple[list[Pair], list[Pair]]:
        pairs = self.few if tuned is self._quick else self.pairs
        return hold_out(read_pairs(pairs), 0.25, 0)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("wic"))


def loaded(path: Path) -> HuggingFaceEncoder:
    encoder = as_encoder(path, device="cpu")
    assert isinstance(encoder, HuggingFaceEncoder)
    return encoder


def encoded(encoder: HuggingFaceEncoder, usages: Sequence[Usage]) -> npt.NDArray[np.float32]:
    return encoder.encode([usage.sentence for usage in usages], [(usage.start, usage.end) for usage in usages])


def assert_same_model(one: Path, other: Path) -> None:
    for name in SAVED:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def without_time(run: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in run.items() if name != "seconds"}


# ------------------------------------------------------------------------------------------------------------- learning


@pytest.mark.parametrize(("family", "pooling"), DETERMINED)
def test_unseen_words_are_disambiguated_better(runs: Runs, family: str, pooling: str) -> None:
    tuned = runs.learned(family, pooling)
    before, after = tuned.run["untuned"], tuned.run["tuned"]
    for figure in (f"held-out {BEST}", "held-out auc", CHOSEN, "dev auc"):
        assert 1 - after[figure] < 0.6 * (1 - before[figure]), figure  # few of the mistakes remain


@pytest.mark.parametrize(("family", "pooling"), LEARNED)
def test_tuned_folder_is_an_encoder_without_any_option(runs: Runs, family: str, pooling: str) -> None:
    encoder = loaded(runs.learned(family, pooling).folder)
    assert (encoder.markers, encoder.pooling, encoder.layers, encoder.periods) == (MARKERS, pooling, "last", ())
    assert encoder.dimensions == HIDDEN
    assert "projection" not in encoder.settings


@pytest.mark.parametrize(("family", "pooling"), LEARNED)
def test_vectors_equal_those_of_sentence_transformers(runs: Runs, family: str, pooling: str) -> None:
    path = runs.learned(family, pooling).folder
    first: Any = Transformer(str(path))
    numbers = first.tokenizer.convert_tokens_to_ids(list(MARKERS))
    second = Pooling(HIDDEN, "mean") if pooling == "sentence" else WordPooling(HIDDEN, *numbers)
    network: Any = SentenceTransformer(modules=[first, second], device="cpu")
    theirs = network.encode([mark_word(usage) for usage in USAGES], show_progress_bar=False)
    ours = encoded(loaded(path), USAGES)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    plain = encoded(HuggingFaceEncoder(*load_model(path)[:2], layers="last", device="cpu"), USAGES)
    assert np.abs(ours - plain).max() > 0.01  # the markers matter


@pytest.mark.parametrize(("family", "pooling"), LEARNED)
def test_figures_are_those_of_the_saved_model_and_of_the_original(runs: Runs, family: str, pooling: str) -> None:
    tuned = runs.learned(family, pooling)
    held_out, dev = runs.split(tuned)[1], read_pairs(runs.dev)
    assert tuned.run["tuned"] == evaluate(as_encoder(tuned.folder), held_out, dev)
    assert tuned.run["untuned"] == evaluate(as_encoder(folder(family)), held_out, dev)


@pytest.mark.parametrize(("family", "pooling"), LEARNED)
def test_markers_are_single_tokens_of_a_tuned_model(runs: Runs, family: str, pooling: str) -> None:
    model, tokenizer, _ = load_model(runs.learned(family, pooling).folder)
    numbers = tokenizer.convert_tokens_to_ids(list(MARKERS))
    for usage in USAGES:
        ids = tokenizer(mark_word(usage))["input_ids"]
        assert [ids.count(number) for number in numbers] == [1, 1]
        assert ids.index(numbers[0]) < ids.index(numbers[1])
    assert tokenizer.unk_token_id not in numbers
    assert len(model.get_input_embeddings().weight) == len(tokenizer) == len(make_tokenizer(family)) + 2


def test_best_model_is_saved(runs: Runs, tmp_path: Path) -> None:
    wild = {"steps": 12, "epochs": 9, "batch": 8, "learning_rate": 0.02, "every": 1, "patience": 0, "device": "cpu"}
    tuned = runs.tune(tmp_path / "out", model=folder("roberta"), training=wild)
    history = tuned.history[tuned.history["step"] > 0]
    best = tuned.run["best step"]
    assert best < 12  # otherwise the last one would be saved by chance
    assert history.set_index("step")["auc"].idxmax() == best
    assert tuned.run["after"] == tuned.run["history"][best]
    best_auc = pytest.approx(tuned.run["after"]["auc"], abs=0.05)  # during training it may be computed in bfloat16
    assert tuned.run["tuned"]["held-out auc"] == best_auc


# -------------------------------------------------------------------------------------------------------- written files


def test_run_record_is_written_beside_the_model(runs: Runs) -> None:
    tuned = runs.learned("bert", "sentence")
    names = {path.name for path in tuned.folder.iterdir() if not path.name.startswith(".")}
    assert {*SAVED, RUN} <= names
    assert UNFINISHED not in names
    run = json.loads((tuned.folder / RUN).read_bytes())
    assert run == tuned.run
    training, held_out = runs.split(tuned)
    assert run["pairs"] == {"trained on": len(training), "held out": len(held_out), "dev": 60}
    assert run["lexshift"] == lexshift.__version__
    plan = run["plan"]
    assert plan["pairs"] == [digest_pairs(training), digest_pairs(held_out)]
    wanted = {"kind": "wic", "light": False, "pooling": "sentence", "margin": 0.5, "window": POSITIONS}
    assert plan | wanted | {name: value for name, value in THOROUGH.items() if name != "device"} == plan
    assert plan["model"] == str(folder("bert"))


def test_history_has_one_row_per_evaluation(runs: Runs) -> None:
    tuned = runs.quick()
    run = tuned.run
    assert tuned.history.columns.tolist() == ["step", "loss", "auc", "accuracy_at_best_threshold"]
    assert tuned.history["step"].tolist() == [0, 2, 4, 6]
    assert run["before"] == run["history"][0]
    assert run["before"]["loss"] is None
    assert all(row["loss"] > 0 for row in run["history"][1:])
    assert (run["steps"], run["after"]["step"]) == (6, run["best step"])
    assert run["seconds"] >= 0


def test_monitor_receives_every_step_and_both_accuracies(runs: Runs, tmp_path: Path) -> None:
    recorder = Listener()
    tuned = runs.tune(tmp_path / "out", dev=[runs.dev], monitor=recorder)
    assert recorder.stages == [("tuning", 6, "steps")]
    assert recorder.steps == [1, 2, 3, 4, 5, 6]
    for name, note in (("untuned", recorder.notes[0]), ("tuned", recorder.notes[-1])):
        assert note == f"{name}: {describe_results(tuned.run[name])}"
    looks = [note for note in recorder.notes if note.startswith("step ")]
    assert [note.split(":")[0] for note in looks] == [f"step {step} of 6" for step in (0, 2, 4, 6)]
    # Dev pairs do not affect the selection.
    assert_same_model(tuned.folder, runs.quick().folder)
    assert tuned.run["history"] == runs.quick().run["history"]


def test_without_dev_pairs_there_are_no_dev_figures(runs: Runs) -> None:
    run = runs.quick().run
    assert run["pairs"]["dev"] == 0
    for figures in (run["tuned"], run["untuned"]):
        assert figures.keys() == {"threshold", f"held-out {BEST}", "held-out auc"}


def test_only_the_monitor_produces_output(runs: Runs, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder("bert")
    capfd.readouterr()  # output of the creation of the model
    runs.tune(tmp_path / "out", training={"steps": 1, "batch": 8, "device": "cpu"})
    assert capfd.readouterr() == ("", "")


# -------------------------------------------------------------------------------------------- repeated and resumed runs


def test_same_seed_gives_the_same_weights_and_another_seed_others(runs: Runs, tmp_path: Path) -> None:
    quick, again = runs.quick(), runs.tune(tmp_path / "again")
    assert_same_model(quick.folder, again.folder)
    assert without_time(again.run) == without_time(quick.run)
    pairs, held_out = read_pairs(runs.few), runs.split(quick)[1]
    seed = next(seed for seed in range(1, 9) if hold_out(pairs, 0.25, seed)[1] != held_out)
    other = runs.tune(tmp_path / "other", training=QUICK | {"seed": seed})
    assert (other.folder / SAVED[0]).read_bytes() != (quick.folder / SAVED[0]).read_bytes()
    assert other.run["plan"]["pairs"] != quick.run["plan"]["pairs"]


@pytest.mark.parametrize("stop", ["untuned", 5, "tuned"])
def test_resumed_run_gives_the_same_result(runs: Runs, tmp_path: Path, stop: int | str) -> None:
    quick = runs.quick()
    with pytest.raises(StoppedError):
        runs.tune(tmp_path / "out", monitor=Listener(stop))
    assert not (tmp_path / "out" / RUN).exists()
    recorder = Listener()
    again = runs.tune(tmp_path / "out", monitor=recorder)
    done = {"untuned": 0, 5: 4, "tuned": 6}[stop]
    assert recorder.steps == list(range(done + 1, 7))
    assert (f"resuming after step {done}" in recorder.notes) == (done > 0)
    assert_same_model(again.folder, quick.folder)
    assert without_time(again.run) == without_time(quick.run)
    assert not (again.folder / UNFINISHED).exists()


def test_run_with_word_pooling_stopped_twice_gives_the_same_result(runs: Runs, tmp_path: Path) -> None:
    options: dict[str, Any] = {"pooling": "mean", "model": folder("roberta")}
    whole = runs.tune(tmp_path / "whole", **options)
    for stop in (3, 6):
        with pytest.raises(StoppedError):
            runs.tune(tmp_path / "parts", **options, monitor=Listener(stop))
    parts = runs.tune(tmp_path / "parts", **options)
    assert_same_model(whole.folder, parts.folder)
    assert without_time(whole.run) == without_time(parts.run)


def test_finished_model_is_not_tuned_again(runs: Runs) -> None:
    quick = runs.quick()
    times = {path: path.stat().st_mtime_ns for path in quick.folder.iterdir() if not path.name.startswith(".")}
    recorder = Listener()
    again = runs.tune(quick.folder, monitor=recorder)
    assert recorder.notes == ["the folder already has this tuned model"]
    assert recorder.steps == []
    assert again.run == quick.run
    assert {path: path.stat().st_mtime_ns for path in times} == times


OTHER: dict[str, dict[str, Any]] = {
    "pooling": {"pooling": "mean"},
    "margin": {"margin": 0.4},
    "window": {"window": 20},
    "light": {"light": True},
    "model": {"model": "roberta"},
    "learning_rate": {"training": QUICK | {"learning_rate": 2e-3}},
    "steps": {"training": QUICK | {"steps": 7}},
    "held_out": {"held_out": 0.4},
}


@pytest.mark.parametrize("name", OTHER)
def test_folder_of_other_settings_is_refused_and_unchanged(runs: Runs, name: str) -> None:
    path = runs.quick().folder
    before = {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}
    options = OTHER[name] | ({"model": folder(OTHER[name]["model"])} if name == "model" else {})
    with pytest.raises(UserError, match=f"holds a model tuned with {name} .*choose another folder"):
        runs.tune(path, **options)
    assert {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()} == before


def test_unfinished_work_of_other_settings_is_refused_and_can_be_finished(runs: Runs, tmp_path: Path) -> None:
    with pytest.raises(StoppedError):
        runs.tune(tmp_path / "out", monitor=Listener(3))
    with pytest.raises(UserError, match=r"holds the unfinished work of a run with margin 0\.5, not 0\.4"):
        runs.tune(tmp_path / "out", margin=0.4)
    assert_same_model(runs.tune(tmp_path / "out").folder, runs.quick().folder)


def test_run_stops_early_without_improvement_also_when_resumed(runs: Runs, tmp_path: Path) -> None:
    idle = {"steps": 9, "epochs": 9, "batch": 8, "learning_rate": 1e-12, "every": 1, "patience": 2, "device": "cpu"}
    recorder = Listener()
    whole = runs.tune(tmp_path / "whole", training=idle, monitor=recorder)
    assert (whole.run["steps"], whole.run["best step"]) == (3, 1)
    assert "stopped after step 3, because the held-out result did not improve" in recorder.notes
    with pytest.raises(StoppedError):
        runs.tune(tmp_path / "parts", training=idle, monitor=Listener(3))
    parts = runs.tune(tmp_path / "parts", training=idle)
    assert without_time(parts.run) == without_time(whole.run)
    assert_same_model(whole.folder, parts.folder)


# ----------------------------------------------------------------------------------------------------------------- loss


def network_of(family: str, pooling: str, place: Path, window: int = POSITIONS) -> Siamese:
    torch.manual_seed(0)
    return make_siamese(make_model(family), make_tokenizer(family), pooling, window, place)


@pytest.mark.parametrize("pooling", ["sentence", "mean"])
def test_loss_is_half_the_squared_distance_or_the_gap_to_the_margin(runs: Runs, tmp_path: Path, pooling: str) -> None:
    network = network_of("bert", pooling, tmp_path)
    pairs = read_pairs(runs.few)
    settings = PairSettings(batch=12, device="cpu")
    encoder = HuggingFaceEncoder(
        network.body,
        network.tokenizer,
        adaptation=Adaptation(markers=MARKERS, pooling=pooling, layers="last"),
    )
    texts = [len(mark_word(pair.first)) for pair in pairs], [len(mark_word(pair.second)) for pair in pairs]
    order = batch_order(np.maximum(*texts), 12, 48, settings.seed)
    distances, losses = [], {}
    for i in order[:12]:
        a, b = encoded(encoder, [pairs[i].first, pairs[i].second]).astype(float)
        distances.append(1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    for margin in (float(np.median(distances)), 0.5, 2.0):
        trainer_arguments = training_arguments(settings, 4, tmp_path, "eval_auc", True, ARGUMENTS)
        trainer = siamese_trainer(network, pairs, pairs[:4], margin, trainer_arguments, 48, [])
        batch = next(iter(trainer.get_train_dataloader()))
        trainer.model.eval()
        with torch.no_grad():
            losses[margin] = float(trainer.compute_loss(trainer.model, batch))
        plain = [
            0.5 * distance**2 if pairs[i].same else 0.5 * max(0.0, margin - distance) ** 2
            for i, distance in zip(order[:12], distances, strict=True)
        ]
        assert losses[margin] == pytest.approx(sum(plain) / 12, rel=1e-4)
    assert len(set(losses.values())) == 3


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=4))
def test_word_pooling_is_the_mean_between_the_markers(shapes: list[tuple[int, int, int]]) -> None:
    before, after, pad = 7, 8, 0
    rows = [[1] * a + [before] + [2] * b + [after] + [3] * c for a, b, c in shapes]
    n = max(map(len, rows))
    ids = torch.tensor([row + [pad] * (n - len(row)) for row in rows])
    states = torch.randn(len(rows), n, 5, generator=torch.Generator().manual_seed(0))
    pooling = WordPooling(5, before, after)
    vectors = pooling({"input_ids": ids, "token_embeddings": states})["sentence_embedding"]
    for i, (a, b, _) in enumerate(shapes):
        inside = [states[i, a + 1 + k] for k in range(b)]
        expected = sum(inside, torch.zeros(5)) / max(b, 1)
        np.testing.assert_allclose(vectors[i].numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
    assert pooling.get_embedding_dimension() == 5


# --------------------------------------------------------------------------------------------------- markers of a model


@pytest.mark.parametrize("family", FAMILIES)
def test_markers_are_added_to_a_model_and_its_tokens_are_unchanged(family: str) -> None:
    model, tokenizer = make_model(family), make_tokenizer(family)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    rows = model.get_input_embeddings().weight.detach().clone()
    add_markers(model, tokenizer)
    after = model.get_input_embeddings().weight.detach()
    assert after.shape == (len(rows) + 2, rows.shape[1])
    assert torch.equal(after[:-2], rows)
    assert not torch.equal(after[-1], after[-2])
    assert ((after[-2:] - rows.mean(0)) / rows.std(0)).abs().max() < 6  # not farther from the origin than words
    changed = [name for name, weight in model.state_dict().items() if not torch.equal(weight, before[name])]
    assert len(changed) == 1
    assert tokenizer.convert_tokens_to_ids(list(MARKERS)) == [len(rows), len(rows) + 1]


def lexeme(family: str) -> tuple[Any, Any]:
    """Return a model like XL-LEXEME, whose tokenizer has markers with their own embeddings."""
    model, tokenizer = make_model(family), make_tokenizer(family)
    tokenizer.add_special_tokens({"additional_special_tokens": list(MARKERS)})
    torch.manual_seed(2)
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    with torch.no_grad():
        model.get_input_embeddings().weight[-2:].normal_(0, 0.5)
    return model, tokenizer


def xl_lexeme(family: str, place: Path) -> Any:
    """Return the same model saved by sentence-transformers, and the loaded object."""
    model, tokenizer = lexeme(family)
    parts = place / "parts"
    model.save_pretrained(parts)
    tokenizer.save_pretrained(parts)
    network: Any = SentenceTransformer(modules=[Transformer(str(parts)), Pooling(HIDDEN, "mean")], device="cpu")
    network.save(str(place / "saved"))
    return network


@pytest.mark.parametrize("family", THREE)
def test_existing_markers_keep_their_embeddings(family: str) -> None:
    model, tokenizer = lexeme(family)
    rows, text = model.get_input_embeddings().weight.detach().clone(), tokenizer.backend_tokenizer.to_str()
    add_markers(model, tokenizer)
    assert torch.equal(model.get_input_embeddings().weight, rows)
    assert tokenizer.backend_tokenizer.to_str() == text


def test_missing_marker_is_added_beside_an_existing_one() -> None:
    model, tokenizer = make_model("bert"), make_tokenizer("bert")
    tokenizer.add_tokens(["</t>"], special_tokens=True)
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    rows = model.get_input_embeddings().weight.detach().clone()
    add_markers(model, tokenizer)
    after = model.get_input_embeddings().weight
    assert torch.equal(after[:-1], rows)
    assert tokenizer.convert_tokens_to_ids(list(MARKERS)) == [len(rows), len(rows) - 1]


def test_xl_lexeme_and_a_tuned_model_can_be_tuned_further(runs: Runs, tmp_path: Path) -> None:
    xl_lexeme("bert", tmp_path)
    held_out = runs.split(runs.quick())[1]
    still = {"steps": 1, "batch": 8, "learning_rate": 1e-12, "device": "cpu"}
    for model in (tmp_path / "saved", runs.quick().folder):
        tuned = runs.tune(tmp_path / f"on-{model.name}", model=model, training=still)
        assert tuned.run["untuned"] == evaluate(as_encoder(model), held_out, [])
        np.testing.assert_allclose(
            encoded(loaded(tuned.folder), USAGES), encoded(loaded(model), USAGES), rtol=1e-4, atol=1e-4
        )


# ----------------------------------------------------------------------------------------------------------- XL-LEXEME


@pytest.mark.parametrize("family", THREE)
def test_sentence_transformers_checkpoint_with_markers_is_used_as_trained(family: str, tmp_path: Path) -> None:
    network = xl_lexeme(family, tmp_path)
    encoder = loaded(tmp_path / "saved")
    assert (encoder.markers, encoder.pooling, encoder.layers) == (MARKERS, "sentence", "last")
    theirs = network.encode([mark_word(usage) for usage in USAGES], show_progress_bar=False)
    np.testing.assert_allclose(encoded(encoder, USAGES), theirs, rtol=1e-5, atol=1e-5)


def apart(tokenizer: Any, usage: Usage) -> list[int]:
    """Return the tokens of a usage like the published code: each part separately, between its markers."""
    sentence, start, end = usage
    before, after = tokenizer.convert_tokens_to_ids(list(MARKERS))
    left, word, right = (
        tokenizer.convert_tokens_to_ids(tokenizer.tokenize(part)) if part else []
        for part in (sentence[:start], sentence[start:end], sentence[end:])
    )
    return [*left, before, *word, after, *right]


@pytest.mark.parametrize("family", THREE)
@given(data=st.data())
def test_tokens_equal_those_of_the_published_code(family: str, data: st.DataObject) -> None:
    tokenizer = tokenizer_with_markers(family)
    if data.draw(st.booleans()):
        usage = data.draw(st.sampled_from(USAGES))
    else:
        words = data.draw(st.lists(st.sampled_from(" ".join(TEXT).split()), min_size=1, max_size=10))
        i = data.draw(st.integers(0, len(words) - 1))
        start = len(" ".join([*words[:i], ""]))
        usage = Usage(" ".join(words), start, start + len(words[i]))
    cut = WindowTokenizer(tokenizer, 512).cut([usage.sentence], [(usage.start, usage.end)], MARKERS)
    ends = tokenizer("", add_special_tokens=True)["input_ids"]
    assert cut.sequences[0].tolist() == [ends[0], *apart(tokenizer, usage), ends[1]]


@pytest.mark.parametrize("family", THREE)
def test_only_inserted_markers_of_a_training_text_are_special(family: str) -> None:
    tokenizer = tokenizer_with_markers(family)
    network = Siamese(None, tokenizer, 512)
    sentence = f"the <t> {tokenizer.sep_token} </t>{tokenizer.mask_token} plane <t>"
    (text,) = network.texts([Usage(sentence, *span_of(sentence, "plane"))])
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    special = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    found = [number for number in ids if number in special - {tokenizer.unk_token_id}]
    assert found == tokenizer.convert_tokens_to_ids(list(MARKERS))
    assert "<t>plane</t>" in text
    assert network.texts(USAGES[:3]) == [mark_word(usage) for usage in USAGES[:3]]


_TOKENIZERS: dict[str, Any] = {}


def tokenizer_with_markers(family: str) -> Any:
    if family not in _TOKENIZERS:
        _TOKENIZERS[family] = make_tokenizer(family)
        _TOKENIZERS[family].add_tokens(list(MARKERS), special_tokens=True)
    return _TOKENIZERS[family]


# ------------------------------------------------------------------------------------------------------- long sentences


LONG = " ".join(TEXT[:6])
LONG_USAGES = [Usage(LONG, *match.span()) for match in re.finditer(r"\S+", LONG)]


@pytest.mark.parametrize("window", [16, 25, 40])
@pytest.mark.parametrize("family", THREE)
def test_sentence_is_cut_so_that_word_and_markers_fit(family: str, window: int) -> None:
    tokenizer = tokenizer_with_markers(family)
    for usage in LONG_USAGES:
        cut = _cut(usage, tokenizer, window)
        assert cut.sentence in usage.sentence
        assert cut.sentence[cut.start : cut.end] == usage.sentence[usage.start : usage.end]
        assert len(tokenizer(mark_word(cut))["input_ids"]) <= window, mark_word(cut)


@given(data=st.data())
@pytest.mark.parametrize("family", THREE)
def test_short_sentence_is_not_cut(family: str, data: st.DataObject) -> None:
    tokenizer = tokenizer_with_markers(family)
    usage = data.draw(st.sampled_from([*USAGES, *LONG_USAGES]))
    pieces = len(tokenizer(mark_word(usage))["input_ids"])
    assert _cut(usage, tokenizer, pieces + data.draw(st.integers(0, 9))) == usage
    cut = _cut(usage, tokenizer, max(pieces // 2, 16))
    assert (cut != usage) == (len(cut.sentence) < len(usage.sentence))
    assert cut == usage or pieces > 16


@pytest.mark.parametrize("pooling", ["sentence", "mean"])
@pytest.mark.parametrize("family", THREE)
def test_model_sees_the_word_and_both_markers_at_any_position(family: str, pooling: str, tmp_path: Path) -> None:
    network = network_of(family, pooling, tmp_path, window=16)
    seen = network.network.preprocess(network.texts(LONG_USAGES))["input_ids"]
    assert seen.shape[1] <= 16
    before, after = network.tokenizer.convert_tokens_to_ids(list(MARKERS))
    for usage, ids in zip(LONG_USAGES, seen.tolist(), strict=True):
        word = usage.sentence[usage.start : usage.end]
        inside = network.tokenizer(word, add_special_tokens=False)["input_ids"]
        assert before in ids, word
        assert ids[ids.index(before) + 1 :][: len(inside) + 1] == [*inside, after], word


@pytest.mark.parametrize("family", THREE)
def test_cut_sentence_has_the_word_in_its_middle_and_nearly_fills_the_window(family: str) -> None:
    tokenizer = tokenizer_with_markers(family)
    sentence = " ".join([*["the", "hills"] * 30, "plane", *["the", "hills"] * 30])
    cut = _cut(Usage(sentence, *span_of(sentence, "plane")), tokenizer, 24)
    ids = tokenizer(mark_word(cut), add_special_tokens=False)["input_ids"]
    before, after = (ids.index(number) for number in tokenizer.convert_tokens_to_ids(list(MARKERS)))
    assert abs(before - (len(ids) - 1 - after)) <= 3
    assert 16 <= len(ids) <= 22  # nothing remains of a split word


def test_model_can_be_tuned_on_overlong_sentences(runs: Runs, tmp_path: Path) -> None:
    tuned = runs.tune(tmp_path / "out", window=10, pooling="mean")
    assert tuned.run["plan"]["window"] == 10
    assert runs.quick().run["plan"]["window"] == POSITIONS  # 128 tokens are above its maximum
    assert np.isfinite(encoded(loaded(tuned.folder), USAGES)).all()


@pytest.mark.parametrize("window", [1, 4])
def test_window_without_room_for_a_word_between_its_markers_is_refused(runs: Runs, tmp_path: Path, window: int) -> None:
    with pytest.raises(UserError, match="window"):
        runs.tune(tmp_path / "out", window=window, training={"steps": 1, "batch": 8, "device": "cpu"})


# -------------------------------------------------------------------------------------------------- use of tuned models


def test_tuned_model_embeds_corpora(runs: Runs, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("before plane the\nhills plane a\nrunway plane on\n")
    (tmp_path / "new.txt").write_text("after plane the\nthree plane a\nsmall plane on\n")
    path = runs.learned("xlm-roberta", "sentence").folder
    store = lexshift.embed(tmp_path / "old.txt", tmp_path / "new.txt", words=["plane"], model=path, device="cpu")
    vectors = np.concatenate([store["plane"].old, store["plane"].new])
    usages = [
        Usage(f"{word} plane {end}", *span_of(f"{word} plane", "plane"))
        for word, end in zip([*MEANINGS[0], *MEANINGS[1]], ["the", "a", "on"] * 2, strict=True)
    ]
    expected = encoded(loaded(path), usages)
    key = [tuple(np.round(row, 3)) for row in expected]
    assert sorted(tuple(np.round(row, 3)) for row in vectors[:3]) == sorted(key[:3])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    assert cosines[:3, :3].min() > cosines[:3, 3:].max()  # each meaning separately
    assert store.settings["encoder"]["markers"] == list(MARKERS)
    assert store.settings["encoder"]["pooling"] == "sentence"


# ------------------------------------------------------------------------------------------------------- refused input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0}, "margin must be above 0 and at most 2"),
        ({"margin": -0.5}, "margin must be above 0 and at most 2"),
        ({"margin": 2.1}, "margin must be above 0 and at most 2"),
        ({"margin": float("nan")}, "margin must be above 0 and at most 2"),
        ({"margin": "0.5"}, "margin must be above 0 and at most 2"),
        ({"margin": None}, "margin must be above 0 and at most 2"),
        ({"pooling": "word"}, "pooling must be one of mean, sentence; got 'word'"),
        ({"pooling": "sentences"}, "did you mean 'sentence'?"),
        ({"pooling": None}, "pooling must be one of mean, sentence"),
        ({"held_out": 0}, "held_out must be a number between 0 and 1; got 0"),
        ({"held_out": 1}, "held_out must be a number between 0 and 1; got 1"),
        ({"held_out": -0.1}, "held_out must be a number between 0 and 1"),
        ({"held_out": float("nan")}, "held_out must be a number between 0 and 1"),
        ({"held_out": "0.1"}, "held_out must be a number between 0 and 1"),
        ({"held_out": 0.99}, "cannot be held out, as no word would be left"),
        ({"window": 0}, "window must be a whole number of at least 1"),
        ({"window": 12.5}, "window must be a whole number of at least 1"),
        ({"dev": ["nothing.csv"]}, "no such file or folder: 'nothing.csv'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("light", [False, True])
def test_invalid_values_are_refused_before_anything_is_created(
    runs: Runs, tmp_path: Path, options: dict[str, Any], message: str, light: bool
) -> None:
    with pytest.raises(UserError) as caught:
        runs.tune(tmp_path / "out", light=light, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_missing_pairs_are_refused(tmp_path: Path) -> None:
    for pairs, message in (((), "no pairs to read"), (("nothing",), "no such file or folder: 'nothing'")):
        with pytest.raises(UserError, match=message):
            tune_wic(*pairs, out=tmp_path / "out", model=folder("bert"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("light", [False, True])
@pytest.mark.parametrize(
    "adaptation",
    [
        Adaptation(periods=("old", "new"), time_tokens=("the", "a")),
        Adaptation(projection=np.eye(HIDDEN, dtype=np.float32)),
    ],
    ids=["periods", "projection"],
)
def test_model_tuned_to_periods_or_with_a_projection_is_refused(
    runs: Runs, tmp_path: Path, adaptation: Adaptation, light: bool
) -> None:
    model = tmp_path / "model"
    shutil.copytree(folder("bert"), model)
    adaptation.save(model)
    with pytest.raises(UserError) as caught:
        runs.tune(tmp_path / "out", model=model, light=light)
    message = f"the model {str(model)!r} is tuned on periods or has a projection; start from one without either"
    assert str(caught.value) == message


@pytest.mark.parametrize("light", [False, True])
def test_held_out_pairs_of_one_meaning_are_refused_or_give_a_valid_json_record(tmp_path: Path, light: bool) -> None:
    lines = [f"{word}\tN\t1-1\tthe {word} of\ta {word} on" for word in WORDS]
    (tmp_path / "one.data.txt").write_text("\n".join(lines))
    (tmp_path / "one.gold.txt").write_text("\n".join("T" * len(lines)))
    settings = PairSettings(light=light, steps=1, batch=8, device="cpu")
    try:
        tuned = tune_wic(tmp_path, out=tmp_path / "out", model=folder("bert"), settings=settings)
    except UserError:
        return
    unknown: list[str] = []
    json.loads((tuned.folder / RUN).read_bytes(), parse_constant=unknown.append)
    assert not unknown


@pytest.mark.parametrize("light", [False, True])
def test_only_the_requested_device_is_used(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, light: bool
) -> None:
    devices: list[str] = []

    def pick(device: str) -> torch.device:
        devices.append(device)
        return torch.device("cpu")

    monkeypatch.setattr("lexshift.encode.huggingface.pick_device", pick)
    runs.tune(tmp_path / "out", light=light, training={"steps": 1, "batch": 8, "device": "cpu"})
    assert devices
    assert set(devices) == {"cpu"}


def test_missing_library_is_named(runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = ("datasets", "sentence_transformers")
    monkeypatch.setattr("lexshift.tune.training.find_spec", lambda name: None if name in missing else find_spec(name))
    with pytest.raises(UserError) as caught:
        runs.tune(tmp_path / "out")
    assert str(caught.value) == "tuning needs datasets, sentence_transformers: pip install 'lexshift[tune]'"


def test_folder_with_other_files_is_refused(runs: Runs, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(UserError, match="holds other files; choose an empty or a new one"):
        runs.tune(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]

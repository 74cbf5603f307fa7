"""Test tuning to corpora and to their time: learning, resuming with the same result, and refused input."""

from __future__ import annotations

import errno
import importlib.util
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny_models import FAMILIES, POSITIONS, WORDS, assert_same, folder, make_config, transformers
from tuning import arguments

from lexshift import embed
from lexshift.corpus import Reading
from lexshift.encode import as_encoder
from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.errors import UserError
from lexshift.tune import LanguageSettings, TimeSettings, TunedModel, tune_mlm, tune_time
from lexshift.tune.language_model import split_samples
from lexshift.tune.masking import IGNORED, HeldOutExamples, Masking, TrainingExamples, Vocabulary
from lexshift.tune.sentence_sample import sample_sentences

pytestmark = pytest.mark.tune

Tune = Callable[..., TunedModel]
PLAIN = sorted({word.lower() for word in WORDS if re.fullmatch("[A-Za-z]+", word)})
OF_PERIOD = PLAIN[:12], PLAIN[-12:]  # each period has its own words
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SHORT: dict[str, Any] = {"epochs": 100, "steps": 12, "batch": 8, "learning_rate": 5e-3, "every": 4, "device": "cpu"}
HELD_OUT = 0.2


class RecordingMonitor:
    """Monitor that records its events and stops the run at a step."""

    def __init__(self, stop: int | None = None) -> None:
        self.notes: list[str] = []
        self.stages: list[tuple[str, int, str]] = []
        self.steps: list[tuple[int, int, str]] = []
        self._stop = stop

    def stage(self, name: str, total: int, unit: str) -> None:
        self.stages.append((name, total, unit))

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        if self.stages[-1][0] == "tuning":
            self.steps.append((done, items, status))
            if done == self._stop:
                raise KeyboardInterrupt

    def note(self, text: str) -> None:
        self.notes.append(text)


def lines(period: int, n: int, seed: int = 0) -> list[str]:
    rng = random.Random(f"{period} {seed}")
    found: dict[str, None] = {}  # each once
    while len(found) < n:
        found[" ".join(rng.choices(OF_PERIOD[period], k=rng.randint(4, 9)))] = None
    return list(found)


def corpora_in(place: Path, n: int = 100) -> tuple[Path, Path]:
    paths = place / "old.txt", place / "new.txt"
    for period, path in enumerate(paths):
        path.write_text("".join(f"{line}\n" for line in lines(period, n)))
    return paths


def whole_words() -> Any:
    """Return a tokenizer of whole words, because a trained one differs between processes."""
    vocabulary = {token: number for number, token in enumerate((*SPECIAL, *PLAIN))}
    return transformers.BertTokenizerFast(vocab=vocabulary, model_max_length=POSITIONS)


def saved(place: Path, depth: int = 1, **options: Any) -> Path:
    """Return the folder of a small model without a head."""
    tokenizer, config = whole_words(), make_config("bert", depth)
    config.update({"vocab_size": len(tokenizer), **options})
    torch.manual_seed(0)
    model = transformers.BertModel(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.2) if parameter.ndim == 2 else parameter.add_(torch.randn_like(parameter), alpha=0.2)
    tokenizer.save_pretrained(place)
    model.save_pretrained(place)
    return place


class Place:
    """Folder with corpora and a model, and runs on them."""

    def __init__(self, path: Path, n: int = 100, depth: int = 1) -> None:
        self.path = path
        self.corpora = corpora_in(path, n)
        self.model = saved(path / "model", depth=depth)

    def time(self, name: str = "out", **options: Any) -> TunedModel:
        return self._tuned(tune_time, name, options)

    def mlm(self, name: str = "out", **options: Any) -> TunedModel:
        return self._tuned(tune_mlm, name, options)

    def _tuned(self, tune: Tune, name: str, options: dict[str, Any]) -> TunedModel:
        usual = {"model": self.model, "training": SHORT, "held_out": HELD_OUT, "split": "lines"}
        corpora = options.pop("corpora", self.corpora)
        kind = LanguageSettings if tune is tune_mlm else TimeSettings
        return tune(*corpora, out=self.path / name, **arguments(kind, usual | options))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a place for runs in separate folders."""
    return Place(tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def whole(shared: Place) -> TunedModel:
    """Return an uninterrupted run."""
    return shared.time("whole")


@pytest.fixture(scope="module")
def learner(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("learner"), 200, 2)


@pytest.fixture(scope="module")
def recorder() -> RecordingMonitor:
    return RecordingMonitor()


@pytest.fixture(scope="module")
def learned(learner: Place, recorder: RecordingMonitor) -> TunedModel:
    """Return a run that is long enough to learn something."""
    return learner.time(
        training={"epochs": 100, "steps": 60, "batch": 16, "learning_rate": 1e-2, "every": 20}, monitor=recorder
    )


def weights(tuned: TunedModel) -> bytes:
    return (tuned.folder / "model.safetensors").read_bytes()


def measured(tuned: TunedModel) -> dict[str, Any]:
    """Return the measurements of a run without those that depend on the clock."""
    return {name: value for name, value in tuned.run.items() if name != "seconds"}


def assert_same_run(ours: TunedModel, theirs: TunedModel) -> None:
    assert weights(ours) == weights(theirs)
    assert measured(ours) == measured(theirs)
    assert {path.name for path in ours.folder.iterdir()} == {path.name for path in theirs.folder.iterdir()}


def recomputed(tuned: TunedModel, corpora: tuple[Path, ...], seed: int, times: int) -> tuple[float, float]:
    """Compute the held-out loss and the period accuracy one sentence at a time."""
    model = transformers.AutoModelForMaskedLM.from_pretrained(tuned.folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tuned.folder)
    tokens = [f"<{number}>" for number in range(1, times + 1)]
    numbers = tokenizer.convert_tokens_to_ids(tokens)
    sequences, periods = [], []
    for period, corpus in enumerate(corpora):
        found = sample_sentences(corpus, Reading(split="lines"), None, seed).sentences
        for sentence in found[: round(HELD_OUT * len(found))]:
            pieces = tokenizer(sentence)["input_ids"]
            sequences.append(np.array([pieces[0], *numbers[period : period + 1], *pieces[1:]]))
            periods.append(period)
    vocabulary = Vocabulary.from_tokenizer(tokenizer, tokens, (1, 1))
    watched = HeldOutExamples(sequences, np.array(periods), vocabulary, Masking(), seed, bool(times))
    losses, right = [], []
    for i in range(len(watched)):
        example = watched[i]
        with torch.no_grad():
            scores = model(input_ids=torch.tensor(example["ids"])[None]).logits[0].double()
        for place in np.flatnonzero(example["labels"] != IGNORED):
            label = int(example["labels"][place])
            if label in numbers:
                best = max(numbers, key=lambda number: float(scores[place, number]))
                right.append(best == label)
            else:
                losses.append(float(scores[place].logsumexp(0) - scores[place, label]))
    assert len(right) == (len(sequences) if times else 0)
    return sum(losses) / len(losses), sum(right) / len(right) if right else math.nan


# ------------------------------------------------------------------------------------------------------------- learning


def test_held_out_loss_falls_and_the_period_is_predicted(learned: TunedModel) -> None:
    run = learned.run
    before, after = run["before"], run["after"]
    assert after["held_out_loss"] < before["held_out_loss"] - 1
    assert after["perplexity"] < 24  # better than knowing only the words of both periods
    assert run["chance"] == 0.5
    assert after["period"] > 0.9
    assert run["steps"] == run["best step"] == 60


def test_run_is_recorded_with_its_plan_and_its_measurements(learner: Place, learned: TunedModel) -> None:
    run = json.loads((learned.folder / "run.json").read_bytes())
    assert run == learned.run
    plan = run["plan"]
    assert plan["kind"] == "time"
    assert plan["model"] == str(learner.model)
    assert (plan["periods"], plan["time tokens"], plan["attention"]) == (["old", "new"], ["<1>", "<2>"], False)
    assert (plan["mask"], plan["time_mask"], plan["held_out"], plan["window"]) == (0.15, 0.5, HELD_OUT, 64)
    assert (plan["learning_rate"], plan["batch"], plan["steps"], plan["seed"]) == (1e-2, 16, 60, 0)
    assert plan["reading"]["split"] == "lines"
    assert len(set(plan["corpora"])) == 2
    assert run["new head"]
    assert run["corpora"] == [
        {"label": label, "sentences": 200, "kept": 200, "skipped": {}} for label in ("old", "new")
    ]
    assert (run["trained on"], run["held out"], run["sentences cut"]) == (320, 80, 0)
    history = learned.history
    assert history["step"].tolist() == [0, 20, 40, 60]
    assert history["perplexity"].tolist() == [math.exp(loss) for loss in history["held_out_loss"]]
    assert math.isnan(history["loss"][0])
    assert history["loss"][3] < history["loss"][1]
    assert run["before"] == run["history"][0]
    assert run["after"] == run["history"][3]


def test_held_out_figures_equal_those_of_a_loop_over_sentences(learner: Place, learned: TunedModel) -> None:
    loss, period = recomputed(learned, learner.corpora, 0, 2)
    assert learned.run["after"]["held_out_loss"] == pytest.approx(loss, rel=1e-4)
    assert learned.run["after"]["period"] == period


def test_run_without_time_has_no_period(shared: Place) -> None:
    tuned = shared.mlm("plain")
    assert tuned.run["chance"] is None
    assert "period" not in tuned.history.columns
    assert tuned.run["plan"]["kind"] == "mlm"
    assert tuned.run["plan"]["periods"] is None
    loss, _ = recomputed(tuned, shared.corpora, 0, 0)
    assert tuned.run["after"]["held_out_loss"] == pytest.approx(loss, rel=1e-4)


def test_monitor_receives_the_corpora_the_steps_and_the_evaluations(
    learned: TunedModel, recorder: RecordingMonitor
) -> None:
    size = (learned.folder.parent / "old.txt").stat().st_size
    assert recorder.stages[0] == ("reading old", size, "bytes")
    assert [name for name, _, _ in recorder.stages] == ["reading old", "reading new", "tuning"]
    assert recorder.stages[-1] == ("tuning", 60, "steps")
    assert [step for step, _, _ in recorder.steps] == list(range(1, 61))
    assert re.fullmatch(r"loss \d\.\d{3} perplexity [\d.]+, period \d+%", recorder.steps[-1][2])
    assert any("has no head that predicts masked words; a new one is trained" in note for note in recorder.notes)
    looks = [note for note in recorder.notes if note.startswith("step ")]
    assert [look.split(":")[0] for look in looks] == [f"step {step} of 60" for step in (0, 20, 40, 60)]
    assert f"perplexity {learned.run['before']['perplexity']:,.1f}, period" in looks[0]
    assert looks[0].startswith("step 0 of 60: perplexity")
    assert looks[1].startswith("step 20 of 60: loss ")


def test_model_tuned_on_objects_is_that_of_files(shared: Place, whole: TunedModel) -> None:
    texts = [corpus.read_text().splitlines() for corpus in shared.corpora]
    tuned = shared.time("objects", corpora=[iter(texts[0]), texts[1]])
    assert weights(tuned) == weights(whole)
    assert tuned.run["plan"]["periods"] == ["old", "new"]


def test_existing_head_is_trained_further(shared: Place, whole: TunedModel, tmp_path: Path) -> None:
    assert whole.run["new head"]
    plain = shared.mlm("plain")
    settings = LanguageSettings(**SHORT, held_out=HELD_OUT)
    again = tune_mlm(*shared.corpora, out=tmp_path / "out", model=plain.folder, settings=settings)
    assert not again.run["new head"]
    assert again.run["before"]["held_out_loss"] == pytest.approx(plain.run["after"]["held_out_loss"], rel=1e-3)


# -------------------------------------------------------------------------------------------- repeated and resumed runs


def test_same_seed_gives_the_same_bytes_and_another_seed_others(shared: Place, whole: TunedModel) -> None:
    assert_same_run(shared.time("again"), whole)
    other = shared.time(
        "other", training={"epochs": 100, "steps": 12, "batch": 8, "learning_rate": 5e-3, "every": 4, "seed": 1}
    )
    assert weights(other) != weights(whole)


@pytest.mark.parametrize("stop", [1, 4, 6, 12])
def test_resumed_run_gives_the_same_result(stop: int, shared: Place, whole: TunedModel) -> None:
    name = f"stopped {stop}"
    with pytest.raises(KeyboardInterrupt):
        shared.time(name, monitor=RecordingMonitor(stop))
    assert not (shared.path / name / "run.json").exists()
    assert not (shared.path / name / "config.json").exists()
    recorder = RecordingMonitor()
    assert_same_run(shared.time(name, monitor=recorder), whole)
    last = 4 * ((stop - 1) // 4)
    assert [step for step, _, _ in recorder.steps] == list(range(last + 1, 13))
    assert (f"resuming after step {last}" in recorder.notes) == (last > 0)


def test_repeatedly_resumed_run_gives_the_same_result(shared: Place, whole: TunedModel) -> None:
    for stop in (5, 10):
        with pytest.raises(KeyboardInterrupt):
            shared.time("often", monitor=RecordingMonitor(stop))
    assert_same_run(shared.time("often"), whole)


def test_history_of_a_resumed_run_has_the_same_losses(shared: Place) -> None:
    training = {
        "epochs": 100,
        "steps": 42,
        "batch": 2,
        "learning_rate": 1e-3,
        "every": 21,
    }  # where losses are logged every second step
    unbroken = shared.time("losses", training=training)
    with pytest.raises(KeyboardInterrupt):
        shared.time("losses stopped", training=training, monitor=RecordingMonitor(25))
    ours = shared.time("losses stopped", training=training)
    assert weights(ours) == weights(unbroken)
    assert ours.run["history"] == unbroken.run["history"]


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_run_killed_while_writing_a_checkpoint_gives_the_same_result(shared: Place, whole: TunedModel) -> None:
    script = dedent(
        f"""
        import os, signal, sys
        import torch
        torch.set_num_threads(1)
        from lexshift.tune import TimeSettings, tune_time

        save = torch.save

        def killed(value, path, *rest, **options):
            if "checkpoint-8" in str(path):
                os.kill(os.getpid(), signal.SIGKILL)
            save(value, path, *rest, **options)

        torch.save = killed
        settings = TimeSettings(
            epochs=100, steps=12, batch=8, learning_rate=5e-3, every=4, device="cpu", held_out={HELD_OUT}
        )
        tune_time(*sys.argv[1:3], out="killed", model=sys.argv[3], settings=settings, split="lines")
        """
    )
    command = [sys.executable, "-c", script, *map(str, shared.corpora), str(shared.model)]
    done = subprocess.run(command, cwd=shared.path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    work = shared.path / "killed" / "unfinished"
    assert (work / "checkpoint-4" / "trainer_state.json").exists()
    assert (work / "checkpoint-8").exists()
    assert not (work / "checkpoint-8" / "trainer_state.json").exists()
    recorder = RecordingMonitor()
    ours = shared.time("killed", monitor=recorder)
    assert recorder.steps[0][0] == 5
    assert_same_run(ours, whole)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], None]] = {
    "no state": lambda path: (path / "trainer_state.json").unlink(),
    "a state that is cut": lambda path: cut(path / "trainer_state.json"),
    "nothing": emptied,
    "weights that are cut": lambda path: cut(path / "model.safetensors"),
    "no weights": lambda path: (path / "model.safetensors").unlink(),
    "an optimizer that is cut": lambda path: cut(path / "optimizer.pt"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_checkpoint_is_ignored(damage: str, shared: Place, whole: TunedModel) -> None:
    name = f"damaged: {damage}"
    with pytest.raises(KeyboardInterrupt):
        shared.time(name, monitor=RecordingMonitor(9))
    DAMAGES[damage](shared.path / name / "unfinished" / "checkpoint-8")
    recorder = RecordingMonitor()
    ours = shared.time(name, monitor=recorder)
    assert recorder.steps[0][0] == 5
    assert_same_run(ours, whole)


def stopped_at_the_end(shared: Place, name: str, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    """Return a run that is stopped after training but before the model is written."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("lexshift.tune.language_model.finish", stop)
        with pytest.raises(KeyboardInterrupt):
            shared.time(name, **options)


def test_run_stopped_before_its_model_was_written_gives_the_same_result(
    shared: Place, whole: TunedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_at_the_end(shared, "end", monkeypatch)
    assert_same_run(shared.time("end"), whole)


def test_run_resumes_in_a_moved_folder(shared: Place, worse: TunedModel) -> None:
    with pytest.raises(KeyboardInterrupt):
        shared.time("from here", training=WORSE, monitor=RecordingMonitor(worse.run["best step"] + 1))
    shutil.move(shared.path / "from here", shared.path / "to there")
    assert_same_run(shared.time("to there", training=WORSE), worse)


def test_finished_model_is_not_tuned_again(shared: Place, whole: TunedModel) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in whole.folder.iterdir() if path.name != ".lock"}
    recorder = RecordingMonitor()
    again = shared.time("whole", monitor=recorder)
    assert recorder.notes[-1] == "the folder already has this tuned model"
    assert recorder.steps == []
    assert again.run == whole.run
    assert {path.name: path.stat().st_mtime_ns for path in whole.folder.iterdir() if path.name != ".lock"} == before


OTHER: dict[str, dict[str, Any]] = {
    "mask 0.15, not 0.3": {"mask": 0.3},
    "time_mask 0.5, not 0.7": {"time_mask": 0.7},
    "held_out 0.2, not 0.1": {"held_out": 0.1},
    "window 64, not 32": {"window": 32},
    "max_sentences 100000, not 90": {"max_sentences": 90},
    "learning_rate 0.005, not 0.001": {
        "training": {"epochs": 100, "steps": 12, "batch": 8, "learning_rate": 1e-3, "every": 4}
    },
    "periods ['old', 'new'], not ['a', 'b']": {"labels": ["a", "b"]},
    "split 'lines', not 'prose'": {"split": "prose"},
    "attention False, not True": {"attention": True},
}


@pytest.mark.parametrize("difference", OTHER)
def test_folder_belongs_to_one_run(difference: str, shared: Place, whole: TunedModel) -> None:
    before = weights(whole)
    with pytest.raises(UserError, match=re.escape(f"holds a model tuned with {difference}; choose another folder")):
        shared.time("whole", **OTHER[difference])
    assert weights(whole) == before


def test_unfinished_work_of_another_run_is_unchanged(shared: Place, whole: TunedModel) -> None:
    with pytest.raises(KeyboardInterrupt):
        shared.time("begun", monitor=RecordingMonitor(6))
    with pytest.raises(UserError, match=r"unfinished' holds the unfinished work of a run with mask 0\.15, not 0\.3: "):
        shared.time("begun", mask=0.3)
    assert_same_run(shared.time("begun"), whole)


def test_folder_of_another_kind_is_refused(shared: Place) -> None:
    (shared.path / "foreign").mkdir()
    (shared.path / "foreign" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"foreign' holds other files; choose an empty or a new one"):
        shared.time("foreign")
    with pytest.raises(UserError, match=r"old\.txt' would be a folder, but there is a file of that name"):
        shared.time("old.txt")


def test_full_disk_is_reported_in_one_sentence_and_the_run_resumes_later(
    shared: Place, whole: TunedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = torch.save

    def full(value: Any, path: Any, *rest: Any, **options: Any) -> None:
        if "checkpoint-8" in str(path):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        save(value, path, *rest, **options)

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", full)
        with pytest.raises(UserError, match="the disk is full"):
            shared.time("full")
    assert_same_run(shared.time("full"), whole)


# -------------------------------------------------------------------------------------- duration and amount of training

WORSE: dict[str, Any] = {"epochs": 1000, "steps": 30, "batch": 8, "learning_rate": 0.1, "every": 2, "patience": 2}


@pytest.fixture(scope="module")
def worse(shared: Place) -> TunedModel:
    """Return a run that gets worse after some steps."""
    return shared.time("worse", training=WORSE)


def test_run_stops_early_without_improvement_and_keeps_the_best_model(shared: Place, worse: TunedModel) -> None:
    run = worse.run
    history = worse.history
    looks = history[history["step"] > 0]
    best = int(looks["step"][looks["held_out_loss"].idxmin()])
    assert run["best step"] == best
    assert run["steps"] == best + 4 < 30  # two evaluations later
    assert run["after"] == next(row for row in run["history"] if row["step"] == best)
    loss, period = recomputed(worse, shared.corpora, 0, 2)
    assert run["after"]["held_out_loss"] == pytest.approx(loss, rel=1e-4)
    assert run["after"]["period"] == period


def test_early_stopping_is_reported(shared: Place, worse: TunedModel) -> None:
    recorder = RecordingMonitor()
    again = shared.time("worse again", training=WORSE, monitor=recorder)
    assert recorder.notes[-1] == f"stopped after step {again.run['steps']}, because the held-out result did not improve"
    assert_same_run(again, worse)


def test_patience_is_preserved_when_a_run_resumes(shared: Place, worse: TunedModel) -> None:
    with pytest.raises(KeyboardInterrupt):
        shared.time("patient", training=WORSE, monitor=RecordingMonitor(worse.run["best step"] + 3))
    assert_same_run(shared.time("patient", training=WORSE), worse)


def test_early_stopped_run_interrupted_before_saving_gives_the_same_result(
    shared: Place, worse: TunedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_at_the_end(shared, "early end", monkeypatch, training=WORSE)
    assert_same_run(shared.time("early end", training=WORSE), worse)


def test_without_patience_a_run_continues_to_its_last_step(shared: Place, worse: TunedModel) -> None:
    steps = worse.run["steps"] + 4
    tuned = shared.time(
        "impatient",
        training={"epochs": 1000, "steps": steps, "batch": 8, "learning_rate": 0.1, "every": 2, "patience": 0},
    )
    assert tuned.run["steps"] == steps
    assert tuned.history["step"].tolist() == list(range(0, steps + 1, 2))


def test_last_steps_are_evaluated(shared: Place) -> None:
    tuned = shared.mlm("uneven", training={"epochs": 100, "steps": 5, "batch": 8, "learning_rate": 5e-3, "every": 3})
    assert tuned.history["step"].tolist() == [0, 3, 5]
    loss, _ = recomputed(tuned, shared.corpora, 0, 0)
    assert tuned.run["after"]["held_out_loss"] == pytest.approx(loss, rel=1e-4)


@pytest.mark.parametrize("mask", [1e-9, 0.15], ids=["one word of each sentence", "some words"])
def test_batch_in_parts_gives_the_weights_of_a_whole_one(mask: float, shared: Place, tmp_path: Path) -> None:
    model = saved(tmp_path / "model", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    made = []
    for parts in (1, 4):
        training = {"epochs": 100, "steps": 6, "batch": 16, "accumulate": parts, "learning_rate": 1e-3, "every": 3}
        tuned = shared.mlm(f"{mask} in {parts}", model=model, training=training, mask=mask)
        made.append(load_file(tuned.folder / "model.safetensors"))
    moved = 0.0
    start = load_file(model / "model.safetensors")
    for name, weight in made[0].items():
        if not name.endswith("key.bias"):  # attention does not depend on them, so they change only by chance
            np.testing.assert_allclose(weight, made[1][name], rtol=0, atol=1e-4, err_msg=name)
        if name.removeprefix("bert.") in start:
            moved = max(moved, float((weight - start[name.removeprefix("bert.")]).abs().max()))
    assert moved > 2e-3


class Recorded:
    """Record the training and evaluation data of a run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.training: list[tuple[int, ...]] = []
        self.held_out: list[tuple[int, ...]] = []
        recorded = self

        class OfTraining(TrainingExamples):
            def __init__(self, sequences: Any, *rest: Any) -> None:
                recorded.training = [tuple(ids) for ids in sequences]
                super().__init__(sequences, *rest)

        class OfLooks(HeldOutExamples):
            def __init__(self, sequences: Any, *rest: Any) -> None:
                recorded.held_out = [tuple(ids) for ids in sequences]
                super().__init__(sequences, *rest)

        monkeypatch.setattr("lexshift.tune.masking.TrainingExamples", OfTraining)
        monkeypatch.setattr("lexshift.tune.masking.HeldOutExamples", OfLooks)


ONE_STEP: dict[str, Any] = {"epochs": 100, "steps": 1, "batch": 4, "learning_rate": 1e-3}


@pytest.mark.parametrize("most", [100_000, 40])
def test_every_sentence_except_the_held_out_ones_is_trained_on(
    most: int, shared: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = Recorded(monkeypatch)
    tuned = shared.mlm(f"parts {most}", training=ONE_STEP, max_sentences=most)
    n = min(most, 100)
    assert (len(recorded.training), len(recorded.held_out)) == (2 * n * 4 // 5, 2 * n // 5)
    assert (tuned.run["trained on"], tuned.run["held out"]) == (len(recorded.training), len(recorded.held_out))
    assert [entry["kept"] for entry in tuned.run["corpora"]] == [n, n]
    assert [entry["sentences"] for entry in tuned.run["corpora"]] == [100, 100]
    assert not set(recorded.training) & set(recorded.held_out)
    tokenizer = whole_words()
    known = {tuple(tokenizer(line)["input_ids"]) for period in (0, 1) for line in lines(period, 100)}
    found = {*recorded.training, *recorded.held_out}
    assert found == known if n == 100 else found < known


def test_sentence_of_both_corpora_is_held_out_of_both_or_of_neither(
    shared: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = Recorded(monkeypatch)
    both = lines(0, 100)
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    small.write_text("\n".join(both[:30] + lines(1, 30)))
    large.write_text("\n".join(both + lines(1, 10, seed=1)))
    shared.mlm("overlap", corpora=(small, large), training=ONE_STEP)
    assert not set(recorded.training) & set(recorded.held_out)


def test_sample_does_not_depend_on_the_order_of_the_corpus(shared: Place, tmp_path: Path) -> None:
    turned = []
    for path in shared.corpora:
        turned.append(tmp_path / path.name)
        turned[-1].write_text("".join(f"{line}\n" for line in reversed(path.read_text().splitlines())))
    ours = shared.time("turned", corpora=turned, max_sentences=60, training=ONE_STEP)
    theirs = shared.time("not turned", max_sentences=60, training=ONE_STEP)
    assert weights(ours) == weights(theirs)
    assert ours.run["history"] == theirs.run["history"]


def test_number_of_held_out_sentences_is_limited(shared: Place) -> None:
    samples = [sample_sentences(corpus, Reading(split="lines")) for corpus in shared.corpora]

    def tokenize(sentences: list[str], periods: list[int]) -> tuple[list[Any], int]:
        return list(zip(sentences, periods, strict=True)), 0

    training, held_out, _ = split_samples(samples, ["old", "new"], 0.2, tokenize, max_held_out=7)
    assert (len(held_out.sequences), len(training.sequences)) == (14, 186)
    assert [period for _, period in training.sequences] == training.periods.tolist() == [0] * 93 + [1] * 93
    assert not {sentence for sentence, _ in held_out.sequences} & {sentence for sentence, _ in training.sequences}


def test_long_sentences_are_cut_and_counted(shared: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = Recorded(monkeypatch)
    tuned = shared.time("cut", training=ONE_STEP, window=9)
    long = sum(len(line.split()) > 6 for period in (0, 1) for line in lines(period, 100))
    assert 0 < long < 200
    assert tuned.run["sentences cut"] == long
    assert tuned.run["plan"]["window"] == 9
    sizes = [len(ids) for ids in (*recorded.training, *recorded.held_out)]
    assert max(sizes) == 9
    assert sizes.count(9) >= long


def test_text_that_looks_like_a_time_token_is_ordinary_text(
    shared: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = Recorded(monkeypatch)
    paths = []
    for period in (0, 1):
        paths.append(tmp_path / f"{period}.txt")
        paths[-1].write_text("".join(f"{line} <2>\n" for line in lines(period, 40)))
    tuned = shared.time("notes", corpora=paths, training=ONE_STEP)
    numbers = set(transformers.AutoTokenizer.from_pretrained(tuned.folder).convert_tokens_to_ids(["<1>", "<2>"]))
    assert {sum(number in numbers for number in ids) for ids in recorded.training} == {1}


def test_numpy_numbers_are_accepted(shared: Place) -> None:
    training = {"epochs": 100, "steps": np.int64(1), "batch": np.int64(4), "learning_rate": 1e-3, "seed": np.int64(3)}
    tuned = shared.mlm("numpy", training=training, max_sentences=np.int64(50), mask=np.float32(0.25))
    assert (tuned.run["steps"], tuned.run["plan"]["mask"]) == (1, 0.25)


# --------------------------------------------------------------------------------------------------------- tuned models

SENTENCES = ["the plane landed", "the mouse ran under the table"]
SPANS = [(4, 9), (4, 9)]


def vectors(encoder: HuggingFaceEncoder, period: int | None = None) -> Any:
    return encoder.encode(SENTENCES, SPANS, periods=None if period is None else [period] * len(SENTENCES))


def opened(path: Path) -> HuggingFaceEncoder:
    encoder = as_encoder(path, layers="last")
    assert isinstance(encoder, HuggingFaceEncoder)
    return encoder


@pytest.mark.parametrize("family", FAMILIES)
def test_tuned_model_of_every_family_is_an_encoder_with_other_vectors(
    family: str, shared: Place, tmp_path: Path
) -> None:
    training = {"epochs": 100, "steps": 2, "batch": 4, "learning_rate": 1e-2}
    options: dict[str, Any] = {"model": folder(family), "training": training, "held_out": 0.05, "split": "lines"}
    tuned = tune_mlm(*shared.corpora, out=tmp_path / "out", **arguments(LanguageSettings, options))
    encoder = opened(tuned.folder)
    assert encoder.periods == ()
    before, after = vectors(opened(folder(family))), vectors(encoder)
    assert before.shape == after.shape
    assert np.isfinite(after).all()
    assert abs(before - after).max() > 1e-3
    assert_same(after, vectors(opened(tuned.folder)))


@pytest.mark.parametrize("how", [{}, {"attention": True}, {"attention": True, "tokens": True}], ids=str)
def test_model_tuned_to_time_is_an_encoder_with_periods(how: dict[str, bool], shared: Place) -> None:
    name = f"encoder {how}"
    tuned = shared.time(name, **how)
    encoder = opened(tuned.folder)
    assert encoder.periods == ("old", "new")
    with_tokens = how.get("tokens", not how)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tuned.folder)
    numbers = tokenizer.convert_tokens_to_ids(["<1>", "<2>"])
    n = len(SPECIAL) + len(PLAIN)
    assert numbers == ([n, n + 1] if with_tokens else [tokenizer.unk_token_id] * 2)
    assert tuned.run["plan"]["attention"] == how.get("attention", False)
    assert tuned.run["plan"]["time tokens"] == (["<1>", "<2>"] if with_tokens else [])
    assert ("period" in tuned.run["after"]) == (not how)  # with attention the period is an input
    assert (tuned.run["chance"] is None) == bool(how)
    assert tuned.run["after"]["held_out_loss"] < tuned.run["before"]["held_out_loss"]
    old, new = vectors(encoder, 0), vectors(encoder, 1)
    assert abs(old - new).max() > 1e-4
    words = [OF_PERIOD[0][3], OF_PERIOD[1][3]]
    store = embed(*shared.corpora, words=words, model=tuned.folder, split="lines", layers="last")
    assert store.words == words
    assert store.counts.to_numpy().min(axis=1).tolist() == [0, 0]
    line = next(line for line in lines(1, 100) if words[1] in line.split())
    start = f" {line} ".index(f" {words[1]} ")
    row = store[words[1]].new[0]
    expected = encoder.encode([line], [(start, start + len(words[1]))], periods=[1])
    np.testing.assert_allclose(row, expected[0], atol=1e-4)


@pytest.mark.parametrize("family", ["roberta", "distilbert", "electra", "electra-projected"])
def test_temporal_attention_is_tuned_in_other_families(family: str, shared: Place, tmp_path: Path) -> None:
    training = {"epochs": 100, "steps": 3, "batch": 4, "learning_rate": 1e-2}
    options: dict[str, Any] = {"model": folder(family), "training": training, "split": "lines"}
    options["attention"] = True
    tuned = tune_time(*shared.corpora, out=tmp_path / "out", **arguments(TimeSettings, options))
    encoder = opened(tuned.folder)
    assert encoder.periods == ("old", "new")
    assert abs(vectors(encoder, 0) - vectors(encoder, 1)).max() > 1e-5
    made = load_file(tuned.folder / "model.safetensors")
    assert any("time_embeddings" in name for name in made)


def test_three_periods_are_distinguished(shared: Place, tmp_path: Path) -> None:
    third = tmp_path / "later.txt"
    third.write_text("".join(f"{line}\n" for line in lines(0, 50, seed=5)))
    tuned = shared.time("three", corpora=(*shared.corpora, third), training=ONE_STEP)
    assert tuned.run["plan"]["periods"] == ["old", "new", "later"]
    assert tuned.run["plan"]["time tokens"] == ["<1>", "<2>", "<3>"]
    assert tuned.run["chance"] == 20 / 50
    assert opened(tuned.folder).periods == ("old", "new", "later")


# -------------------------------------------------------------------------------------------------------- refused input


def test_family_without_temporal_attention_is_refused(shared: Place) -> None:
    with pytest.raises(UserError, match=r"temporal attention supports models of the types .*; this one is mpnet"):
        shared.time("mpnet", model=folder("mpnet"), attention=True)


@pytest.mark.parametrize("kind", ["time", "mlm"])
def test_model_tuned_to_time_is_not_tuned_again(kind: str, shared: Place, whole: TunedModel) -> None:
    with pytest.raises(UserError, match=r"the model '.*whole' is already tuned on periods; start from one that"):
        (shared.time if kind == "time" else shared.mlm)(f"twice {kind}", model=whole.folder)


@pytest.mark.parametrize("n", [0, 1])
def test_tuning_to_time_needs_more_than_one_corpus(n: int, shared: Place) -> None:
    with pytest.raises(UserError, match=r"^tuning on time needs at least two corpora, the oldest"):
        shared.time("one", corpora=shared.corpora[:n])


def test_same_text_as_two_periods_is_refused(shared: Place) -> None:
    first, second = shared.corpora
    for corpora in ((first, first), (first, second, first)):
        with pytest.raises(UserError, match=r"^both corpora are '.*'; give two different ones, the old one first$"):
            shared.time("twice the same", corpora=corpora, labels=["a", "b", "c"][: len(corpora)])
    assert not (shared.path / "twice the same").exists()


def test_tuning_without_a_corpus_is_refused(shared: Place) -> None:
    with pytest.raises(UserError, match=r"^no corpus to train on; give at least one$"):
        shared.mlm("none", corpora=())


def test_tuning_to_one_corpus_is_possible(shared: Place) -> None:
    assert shared.mlm("single", corpora=shared.corpora[:1], training=ONE_STEP).run["trained on"] == 80


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"mask": 0}, "mask must be "),
        ({"mask": 1}, "mask must be "),
        ({"mask": 1.5}, "mask must be "),
        ({"mask": "0.1"}, "mask must be "),
        ({"held_out": 0}, "held_out must be "),
        ({"held_out": 1.0}, "held_out must be "),
        ({"time_mask": -0.1}, "time_mask must be between 0 and 1; got -0.1"),
        ({"time_mask": 1.1}, "time_mask must be between 0 and 1; got 1.1"),
        ({"time_mask": math.nan}, "time_mask must be between 0 and 1; got nan"),
        ({"max_sentences": 0}, "max_sentences must be a whole number of at least 1; got 0"),
        ({"window": 0}, "window must be a whole number of at least 1; got 0"),
        ({"window": 3}, "window must leave room for a word beside 3 special tokens"),
        ({"tokens": False}, "tuning on time needs tokens, attention or both; neither is enabled"),
        ({"labels": ["a"]}, "labels must name each of the 2 corpora"),
        ({"labels": ["a", "a"]}, "labels must name each of the 2 corpora"),
        ({"spilt": "lines"}, "tune_time has no argument 'spilt'; did you mean 'split'?"),
        ({"split": "pages"}, "split must be one of"),
        ({"encoding": "klingon"}, "encoding 'klingon' is not known"),
        ({"training": {"device": "abacus"}}, "abacus"),
        ({"model": "no/such/folder"}, "no such model folder: 'no/such/folder'"),
        ({"max_sentences": 2}, "2 sentences in '"),
        ({"held_out": 0.001}, "100 sentences in '"),
        ({"held_out": 0.999}, "100 sentences in '"),
    ],
    ids=str,
)
def test_invalid_values_are_refused(options: dict[str, Any], sentence: str, shared: Place) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)) as caught:
        shared.time("refused", **options)
    assert "\n" not in str(caught.value)
    assert not (shared.path / "refused" / "run.json").exists()


def test_too_few_sentences_are_reported_with_their_number(shared: Place, tmp_path: Path) -> None:
    few = tmp_path / "few.txt"
    few.write_text("the mouse ran\nthe mouse hid\n")
    sentence = f"2 sentences in '{few}' are too few to train on and to hold out 0.2 of them; give a larger corpus"
    with pytest.raises(UserError, match=f"^{re.escape(sentence)}$"):
        shared.mlm("few", corpora=(few,))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", r"bad\.txt'.*(empty|no sentence of 3 words or more)"),
        (b"mouse\nthe mouse\n", r"bad\.txt' has no sentence of 3 words or more"),
        (
            "l'été est très chaud\n".encode() + b"un \xe9t\xe9 chaud\n",
            r"bad\.txt' is not UTF-8 at line 2 \(byte 0xe9\)",
        ),
        (b"mouse\0\x01\x02", r"bad\.txt' is not text but binary data"),
    ],
    ids=repr,
)
def test_unreadable_corpus_is_named(data: bytes, sentence: str, shared: Place, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(data)
    with pytest.raises(UserError, match=sentence):
        shared.mlm("bad", corpora=(shared.corpora[0], tmp_path / "bad.txt"))
    with pytest.raises(UserError, match=r"no such file or folder: '.*nothing\.txt'"):
        shared.mlm("bad", corpora=(tmp_path / "nothing.txt",))


@pytest.mark.parametrize("missing", [["accelerate"], ["datasets", "sentence_transformers"]])
def test_missing_libraries_are_named_with_the_remedy(
    missing: list[str], shared: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec

    def found(name: str, package: str | None = None) -> Any:
        return None if name in missing else find(name, package)

    monkeypatch.setattr("lexshift.tune.training.find_spec", found)
    sentence = f"tuning needs {', '.join(missing)}: pip install 'lexshift[tune]'"
    with pytest.raises(UserError, match=f"^{re.escape(sentence)}$"):
        shared.mlm("missing")
    assert not (shared.path / "missing").exists()

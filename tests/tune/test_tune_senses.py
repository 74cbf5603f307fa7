"""Test encoders tuned on dictionaries: blocks, loss, adapters, calibration, resumed runs and refused input."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import FAMILIES, HIDDEN, folder
from torch import nn
from tuning import arguments

from lexshift.corpus.dictionaries import Dictionary, Entry, Sense, SenseUsage, sentence_hash
from lexshift.corpus.sources import Tally
from lexshift.encode import as_encoder
from lexshift.encode.adaptation import FILE, SPACE, Adaptation, Calibration, FixedSpace
from lexshift.encode.adapter import FILE as ADAPTER
from lexshift.encode.loading import load_model
from lexshift.encode.windows import WindowTokenizer
from lexshift.errors import UserError
from lexshift.tune import SenseSettings, TunedModel, tune_senses
from lexshift.tune.folder import RUN, UNFINISHED
from lexshift.tune.heads import load_with_head
from lexshift.tune.pairs import COLUMNS, Pair
from lexshift.tune.sense_blocks import Item, SenseBlocks, can_be_contrasted, draw_pairs, is_held_out
from lexshift.tune.sense_network import LowRankLinear, SenseNetwork, collate, make_trainable, tuned_layers
from lexshift.tune.senses import fit_calibration

pytestmark = pytest.mark.tune

LEMMAS = ["plane", "mouse", "table", "window", "tree", "gate", "storm", "cat", "boat", "deck", "river", "hill"]
CONTEXTS = (("the captain of the {} met the strangers", "a boat and its {} on the deck"),
            ("the angle of the {} is small", "she called the {} three points"))  # fmt: skip


def usage(text: str, lemma: str) -> SenseUsage:
    start = text.index("{}")
    return SenseUsage(text.format(lemma), start, start + len(lemma))


def dictionary(lemmas: list[str] = LEMMAS, glosses: bool = True) -> Dictionary:
    """Return a dictionary in which each lemma has two senses, which the contexts tell apart."""
    entries = []
    for lemma in lemmas:
        senses = [
            Sense(
                f"{lemma}{i}", ("a thing at sea", "a figure")[i] if glosses else None, [usage(t, lemma) for t in texts]
            )
            for i, texts in enumerate(CONTEXTS)
        ]
        entries.append(Entry(lemma, "NOUN", "en", senses))
    return Dictionary(entries, len(entries), Tally())


def tune(out: Path, *dictionaries: Any, **options: Any) -> TunedModel:
    options = {"model": folder("bert"), "steps": 6, "batch": 4, "held_out": 0.3, "rank": 4, "every": 3, **options}
    return tune_senses(*(dictionaries or (dictionary(),)), out=out, **arguments(SenseSettings, options))


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> TunedModel:
    return tune(tmp_path_factory.mktemp("tuned") / "model")


def entries(n_senses: int, n_usages: int, n_unused: int = 0) -> list[Entry]:
    texts = [f"the {{}} number {k}" for k in range(n_usages)]
    used = [Sense(f"s{i}", f"gloss {i}", [usage(f"{i} {t}", "cat") for t in texts]) for i in range(n_senses)]
    return [Entry("cat", "NOUN", "en", used + [Sense(f"u{i}", f"unused {i}") for i in range(n_unused)])]


# ---------------------------------------------------------------- blocks


def test_block_depends_only_on_seed_and_number() -> None:
    first, second = (SenseBlocks([dictionary().entries], [1.0], 50, 2, 2, seed=3) for _ in range(2))
    assert [second[i] for i in reversed(range(50))][::-1] == [first[i] for i in range(50)]
    assert any(SenseBlocks([dictionary().entries], [1.0], 50, 2, 2, seed=4)[i] != first[i] for i in range(50))


@given(st.integers(1, 5), st.integers(0, 5), st.integers(0, 4), st.integers(2, 6), st.integers(1, 4))
def test_block_has_at_most_the_given_numbers_and_prefers_senses_with_usages(
    n_senses: int, n_usages: int, n_unused: int, max_senses: int, max_usages: int
) -> None:
    source = entries(n_senses, n_usages + 1, n_unused)
    block = SenseBlocks([source], [1.0], 1, max_senses, max_usages, 0)[0]
    usages = Counter(item.sense for item in block if not item.is_gloss)
    glosses = Counter(item.sense for item in block if item.is_gloss)
    assert len(usages) == min(max_senses, n_senses)
    assert set(usages.values()) == {min(max_usages, n_usages + 1)}
    assert len(glosses) == min(max_senses, n_senses + n_unused)
    assert len(set(block)) == len(block)


def test_words_of_usages_and_glosses_are_at_their_spans() -> None:
    blocks = SenseBlocks([dictionary().entries], [1.0], 30, 2, 2, 0)
    for block in (blocks[i] for i in range(30)):
        words = {item.sentence[item.start : item.end] for item in block}
        assert len(words) == 1
        assert words <= set(LEMMAS)
        assert all(item.sentence.startswith(f"{item.sentence[: item.end]}: ") for item in block if item.is_gloss)


def test_dictionaries_are_drawn_by_their_weights() -> None:
    sources = [dictionary(["plane"]).entries, dictionary(["mouse"]).entries]
    blocks = SenseBlocks(sources, [3.0, 1.0], 2000, 2, 1, 0)
    from_first = sum("plane" in blocks[i][0].sentence for i in range(2000))
    assert 1400 < from_first < 1600


def test_lemma_is_held_out_by_its_name_alone_whatever_its_case() -> None:
    names = [f"lemma{i}" for i in range(3000)]
    assert 0.17 < np.mean([is_held_out(name, 0.2, 0) for name in names]) < 0.23
    assert all(is_held_out(name.upper(), 0.2, 0) == is_held_out(name, 0.2, 0) for name in names)
    assert any(is_held_out(name, 0.2, 1) != is_held_out(name, 0.2, 0) for name in names)


def test_held_out_pairs_are_balanced_and_labelled_by_sense() -> None:
    pairs = draw_pairs(dictionary().entries, 20, 0)
    assert sum(pair.same for pair in pairs) == len(pairs) / 2 == 10
    for pair in pairs:
        contexts = [f"{u.sentence[: u.start]}{{}}{u.sentence[u.end :]}" for u in (pair.first, pair.second)]
        senses = [next(i for i, texts in enumerate(CONTEXTS) if c in texts) for c in contexts]
        assert pair.same == (senses[0] == senses[1])
        assert pair.first != pair.second


def test_entry_with_one_sense_or_without_usages_has_nothing_to_contrast() -> None:
    assert can_be_contrasted(entries(1, 2, 1)[0])
    assert not can_be_contrasted(entries(1, 2)[0])
    assert not can_be_contrasted(Entry("cat", "", "en", [Sense("a", "x"), Sense("b", "y")]))


# ---------------------------------------------------------------- network


def slow_loss(network: SenseNetwork, blocks: list[list[Item]], vectors: torch.Tensor) -> float:
    """Compute the loss from its definition, pair by pair."""
    items = [(number, item) for number, block in enumerate(blocks) for item in block]
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    losses: dict[int, list[float]] = {}
    for (i, (a, x)), (j, (b, y)) in itertools.combinations(enumerate(items), 2):
        if a != b or (x.is_gloss and y.is_gloss):
            continue
        kind = int(x.is_gloss or y.is_gloss)
        slope, intercept = (float(v.detach()[kind]) for v in (network.log_slope.exp(), network.intercept))
        logit = slope * float(unit[i] @ unit[j]) + intercept
        probability = 1 / (1 + math.exp(-logit))
        losses.setdefault(a, []).append(-math.log(probability if x.sense == y.sense else 1 - probability))
    weights = {a: 1 / math.sqrt(len(values)) for a, values in losses.items()}
    total = sum(weights[a] * sum(values) for a, values in losses.items())
    return total / sum(weights[a] * len(values) for a, values in losses.items())


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 6), st.integers(2, 3), st.integers(1, 3), st.integers(0, 100))
def test_loss_equals_its_definition(n_blocks: int, max_senses: int, max_usages: int, seed: int) -> None:
    body, tokenizer, _ = load_model(folder("bert"))
    body.eval()
    network = SenseNetwork(body)
    with torch.no_grad():
        network.log_slope.add_(torch.tensor([0.3, -0.2]))
        network.intercept.add_(torch.tensor([1.0, 2.0]))
    blocks = [SenseBlocks([dictionary().entries], [1.0], 100, max_senses, max_usages, seed)[i] for i in range(n_blocks)]
    items = [item for block in blocks for item in block]
    encoder = as_encoder((body, tokenizer), layers="last")
    vectors = torch.from_numpy(encoder.encode([x.sentence for x in items], [(x.start, x.end) for x in items]))
    with torch.no_grad():
        loss = network(**collate(blocks, WindowTokenizer(tokenizer, 40), tokenizer.pad_token_id))["loss"]
    assert float(loss) == pytest.approx(slow_loss(network, blocks, vectors), rel=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_adapter_trains_low_rank_changes_of_the_upper_layers_alone(family: str) -> None:
    body, _, _ = load_model(folder(family))
    make_trainable(body, 2, 3)
    upper = {id(p) for layer in tuned_layers(body, 2) for p in layer.parameters()}
    trained = [(name, p) for name, p in body.named_parameters() if p.requires_grad]
    assert trained
    assert all(id(p) in upper for _, p in trained)
    assert all(p.ndim == 1 or 3 in p.shape for _, p in trained)
    assert any(isinstance(module, LowRankLinear) for module in body.modules())


def test_all_weights_of_the_upper_layers_are_trained_without_an_adapter() -> None:
    body, _, _ = load_model(folder("bert"))
    make_trainable(body, 1, None)
    upper = {id(p) for p in tuned_layers(body, 1)[0].parameters()}
    assert {id(p) for p in body.parameters() if p.requires_grad} == upper


def test_low_rank_layer_starts_as_the_layer_itself() -> None:
    linear = nn.Linear(5, 7)
    x = torch.randn(3, 5)
    layer = LowRankLinear(linear, 2)
    assert torch.equal(layer(x), linear(x))
    with torch.no_grad():
        layer.up.add_(torch.randn(7, 2))
    change = layer.gain * layer.up @ layer.down
    torch.testing.assert_close(layer(x), x @ (linear.weight + change).T + linear.bias)


# ---------------------------------------------------------------- tuned models


def test_tuning_separates_senses_of_lemmas_that_were_held_out(tmp_path: Path) -> None:
    run = tune(tmp_path / "model", steps=60, epochs=1000.0, every=20, learning_rate=3e-3, patience=0).run
    assert run["tuned"]["held-out auc"] > 0.9
    assert run["tuned"]["held-out auc"] >= run["untuned"]["held-out auc"]


def test_adapter_folder_is_small_and_gives_the_vectors_of_the_tuned_model(tuned: TunedModel) -> None:
    names = {name for name in os.listdir(tuned.folder) if not name.startswith(".")}
    assert names - {SPACE} == {ADAPTER, FILE, RUN}
    encoder: Any = as_encoder(tuned.folder)
    base = as_encoder(folder("bert"), layers="last")
    sentence, span = "the captain of the plane", [(19, 24)]
    assert (encoder.layers, encoder.pooling, encoder.dimensions) == ("last", "mean", HIDDEN)
    assert not np.allclose(encoder.encode([sentence], span), base.encode([sentence], span), atol=1e-4)


def test_full_tuning_gives_a_model_with_weights_of_its_own(tmp_path: Path) -> None:
    tuned = tune(tmp_path / "model", adapter=False, learning_rate=1e-3)
    assert not (tuned.folder / ADAPTER).exists()
    assert (tuned.folder / "model.safetensors").is_file()
    encoder: Any = as_encoder(tuned.folder)
    assert encoder.calibration is not None


def test_interrupted_run_resumes_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tune(tmp_path / "whole", steps=8, every=2, patience=0)
    from lexshift.tune.sense_network import SenseTrainer

    steps = SenseTrainer.training_step

    def stop(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.state.global_step == 5:
            raise KeyboardInterrupt
        return steps(self, *args, **kwargs)

    monkeypatch.setattr(SenseTrainer, "training_step", stop)
    with pytest.raises(KeyboardInterrupt):
        tune(tmp_path / "parts", steps=8, every=2, patience=0)
    assert (tmp_path / "parts" / UNFINISHED).is_dir()
    monkeypatch.setattr(SenseTrainer, "training_step", steps)
    resumed = tune(tmp_path / "parts", steps=8, every=2, patience=0)
    assert not (tmp_path / "parts" / UNFINISHED).exists()
    for name in (ADAPTER, FILE):
        assert (resumed.folder / name).read_bytes() == (whole.folder / name).read_bytes()


def test_finished_model_is_not_tuned_again(tuned: TunedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.tune.senses._Task._train", lambda *_: pytest.fail("trained again"))
    assert tune(tuned.folder).run == tuned.run


def test_folder_of_other_settings_is_refused(tuned: TunedModel) -> None:
    with pytest.raises(UserError, match="holds a model tuned with"):
        tune(tuned.folder, rank=5)


def test_dev_and_excluded_sentences_are_not_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("lexshift.tune.senses._Task.run", lambda self, *_: seen.append(self.sources))
    dev, excluded = (usage(CONTEXTS[0][k], "plane") for k in (0, 1))
    row = ["plane", *dev, *dev, "1"]
    lines = ["\t".join(COLUMNS), "\t".join(map(str, row))]
    (tmp_path / "dev.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    tune(tmp_path / "out", dev=[tmp_path / "dev.tsv"], exclude={sentence_hash(excluded.sentence)})
    sentences = {u.sentence for source in seen[0] for e in source for s in e.senses for u in s.usages}
    assert sentences
    assert not sentences & {dev.sentence, excluded.sentence}


@given(st.floats(2, 30), st.floats(-8, 4), st.integers(0, 1000))
@settings(deadline=None, max_examples=20)
def test_calibration_recovers_the_logistic_function_of_simulated_pairs(slope: float, middle: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cosine = rng.uniform(-1, 1, 20_000)
    true = Calibration(slope, middle)
    fitted = fit_calibration(cosine, rng.random(20_000) < true.probability(cosine))
    grid = np.linspace(-1, 1, 21)
    np.testing.assert_allclose(fitted.probability(grid), true.probability(grid), atol=0.04)


def test_overriding_layers_drops_space_and_calibration() -> None:
    body, tokenizer, _ = load_model(folder("bert"))
    space = FixedSpace(np.zeros(HIDDEN), np.ones(HIDDEN))
    adaptation = Adaptation(layers="last", pooling="mean", space=space, calibration=Calibration(1.0, 0.0))
    from lexshift.encode.huggingface import HuggingFaceEncoder

    assert HuggingFaceEncoder(body, tokenizer, adaptation=adaptation).space is space
    changes: list[dict[str, Any]] = [{"layers": "mean:2"}, {"pooling": "first"}]
    for options in changes:
        other = HuggingFaceEncoder(body, tokenizer, adaptation=adaptation, **options)
        assert other.space is None
        assert other.calibration is None


# ---------------------------------------------------------------- refused input


def test_adapter_cannot_be_trained_to_predict_masked_words(tuned: TunedModel) -> None:
    with pytest.raises(UserError, match=r"is an adapter and has no weights of its own; start from its base model "):
        load_with_head(tuned.folder, None)


def test_model_that_is_tuned_already_is_refused(tuned: TunedModel, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is tuned already; start from one that is not"):
        tune(tmp_path / "again", model=tuned.folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1.0, 2.0]}, "weights must be a number above 0 for each of the 1 dictionaries"),
        ({"weights": [0.0]}, "weights must be a number above 0"),
        ({"rank": 0}, "rank must be"),
        ({"max_senses": 1}, "max_senses must be"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        tune(tmp_path / "out", **options)


def test_dictionary_without_contrasts_is_refused(tmp_path: Path) -> None:
    lonely = Dictionary(entries(1, 3), 3, Tally())
    with pytest.raises(UserError, match="has no word with two senses of which one has a usage"):
        tune(tmp_path / "out", lonely)
    with pytest.raises(UserError, match="needs a dictionary"):
        tune_senses(out=tmp_path / "out")


@pytest.mark.parametrize("damage", ["missing", "truncated", "other shape", "unknown weight", "half a factor"])
def test_damaged_adapter_is_refused_in_a_sentence(tuned: TunedModel, tmp_path: Path, damage: str) -> None:
    from safetensors.torch import load_file, save_file

    copy = tmp_path / "copy"
    copy.mkdir()
    for name in os.listdir(tuned.folder):
        (copy / name).write_bytes((tuned.folder / name).read_bytes())
    tensors = load_file(copy / ADAPTER)
    up = next(name for name in tensors if name.endswith(".up"))
    if damage == "missing":
        (copy / ADAPTER).unlink()
    elif damage == "truncated":
        (copy / ADAPTER).write_bytes((copy / ADAPTER).read_bytes()[:-7])
    else:
        if damage == "other shape":
            tensors[up] = tensors[up][:1]
        elif damage == "unknown weight":
            tensors["no.such.weight.added"] = torch.zeros(3)
        else:
            del tensors[up]
        save_file(tensors, copy / ADAPTER)
    with pytest.raises(UserError, match="is missing or damaged, or does not belong to its base model"):
        as_encoder(copy)


def test_adapter_of_other_weights_is_refused(tuned: TunedModel, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in os.listdir(tuned.folder):
        (copy / name).write_bytes((tuned.folder / name).read_bytes())
    record = json.loads((copy / FILE).read_text("utf-8"))
    record["base"]["weights"] = "0" * 64
    (copy / FILE).write_text(json.dumps(record), "utf-8")
    with pytest.raises(UserError, match="is an adapter for other weights than those of"):
        as_encoder(copy)
    record["base"]["model"] = str(tmp_path / "nowhere")
    (copy / FILE).write_text(json.dumps(record), "utf-8")
    with pytest.raises(UserError, match=r"is an adapter for the model .*: no such model folder"):
        as_encoder(copy)


def test_pairs_of_a_dictionary_without_two_usages_are_none() -> None:
    assert (
        draw_pairs([Entry("cat", "", "en", [Sense("a", None, [usage("a {}", "cat")]), Sense("b", "x")])], 10, 0) == []
    )
    assert all(isinstance(pair, Pair) for pair in draw_pairs(dictionary().entries, 4, 0))


def test_tokenizer_that_drops_a_word_leaves_its_usage_out() -> None:
    _, tokenizer, _ = load_model(folder("bert"))
    sentence = "the \u200b plane"
    blocks = [[Item(sentence, 4, 5, 0, False), Item(sentence, 6, 11, 1, False)]]
    batch = collate(blocks, WindowTokenizer(tokenizer, 20), tokenizer.pad_token_id)
    assert batch["sense"].tolist() == [1]
    assert len(batch["order"]) == len(batch["block"]) == sum(len(part["ids"]) for part in batch["parts"]) == 1

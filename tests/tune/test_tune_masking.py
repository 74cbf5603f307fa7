"""Test masked sentences: the number and selection of words, independent of earlier draws."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import KINDS, make_model, make_tokenizer, transformers

from lexshift.tune.heads import add_tokens
from lexshift.tune.masking import (
    IGNORED,
    HeldOutExamples,
    Masking,
    TrainingExamples,
    Vocabulary,
    _figures,
    add_loss,
    batch_order,
    collate,
)

pytestmark = pytest.mark.tune

Ids = npt.NDArray[np.int64]
MASK, PAD, BEGIN, END = 4, 0, 2, 3
OTHERS = np.arange(10, 60)  # replacement words; those of the sentences start at 100
TIMES = np.array([60, 61, 62])
NO_TIMES = np.array([], np.int64)
PLAIN = Vocabulary(MASK, PAD, OTHERS, NO_TIMES, (1, 1))
TIMED = Vocabulary(MASK, PAD, OTHERS, TIMES, (1, 1))


def sentence(words: int, time: int | None = None, ends: tuple[int, int] = (1, 1)) -> Ids:
    token = [] if time is None else [int(TIMES[time])]
    return np.array([BEGIN] * ends[0] + token + list(range(100, 100 + words)) + [END] * ends[1])


def near(count: int, share: float, n: int) -> None:
    """Check that a count of n draws is within four standard errors of its expectation."""
    assert abs(count / n - share) < 4 * (share * (1 - share) / n) ** 0.5, (count / n, share, n)


def many(masking: Masking, vocabulary: Vocabulary, words: int, draws: int) -> tuple[Ids, Ids, Ids]:
    """Return the same sentence many times before and after masking, and the labels."""
    rng = np.random.default_rng(5)
    times = [None if not len(vocabulary.times) else i % len(vocabulary.times) for i in range(draws)]
    before = [sentence(words, time) for time in times]
    after = [masking.apply(ids, vocabulary, rng) for ids in before]
    return np.array(before), np.array([masked for masked, _ in after]), np.array([labels for _, labels in after])


# -------------------------------------------------------------------------------------------------------- masking rates


@pytest.mark.parametrize("share", [0.15, 0.4])
def test_requested_share_of_words_is_predicted_and_masked_80_10_10(share: float) -> None:
    words, draws = 40, 1000
    before, after, labels = many(Masking(share, 0.0), PLAIN, words, draws)
    is_predicted = labels != IGNORED
    near(is_predicted.sum(), share + (1 - share) ** words / words, words * draws)
    n = int(is_predicted.sum())
    near((after[is_predicted] == MASK).sum(), 0.8, n)
    near(np.isin(after[is_predicted], OTHERS).sum(), 0.1, n)
    near((after[is_predicted] == before[is_predicted]).sum(), 0.1, n)
    near((is_predicted.sum(0)[1:-1] > share * draws).sum(), 0.5, words)  # equally at every position


def test_replacements_are_uniform_over_all_other_words() -> None:
    _, after, _ = many(Masking(0.9, 0.0), PLAIN, 40, 1500)
    found = after[np.isin(after, OTHERS)]
    counts = np.bincount(found - OTHERS[0], minlength=len(OTHERS))
    expected = len(found) / len(OTHERS)
    assert abs(counts - expected).max() < 5 * expected**0.5
    assert counts.min() > 0


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_time_tokens_are_predicted_at_the_requested_rate_and_replaced_by_others(share: float) -> None:
    draws = 6000
    before, after, labels = many(Masking(0.15, share), TIMED, 6, draws)
    is_predicted = labels[:, 1] != IGNORED
    near(is_predicted.sum(), share, draws)
    was, now = before[is_predicted, 1], after[is_predicted, 1]
    near((now == MASK).sum(), 0.8, len(now))
    near((now == was).sum(), 0.1, len(now))
    replaced = (now != MASK) & (now != was)
    near(replaced.sum(), 0.1, len(now))
    assert np.isin(now[replaced], TIMES).all()
    for time in TIMES:  # each of the two others equally often
        instead = now[replaced & (was == time)]
        other = TIMES[time != TIMES]
        near((instead == other[0]).sum(), 0.5, len(instead))


@pytest.mark.parametrize(("share", "n_predicted"), [(0.0, 0), (1.0, 300)])
def test_time_tokens_are_never_or_always_predicted_at_rates_0_and_1(share: float, n_predicted: int) -> None:
    _, _, labels = many(Masking(0.15, share), TIMED, 6, 300)
    assert (labels[:, 1] != IGNORED).sum() == n_predicted


# -------------------------------------------------------------------------------------------------- selection of tokens


@given(
    words=st.integers(1, 12),
    time=st.none() | st.integers(0, 2),
    ends=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    share=st.floats(0.001, 0.999),
    time_share=st.floats(0, 1),
    seed=st.integers(0, 10_000),
)
def test_only_words_and_time_tokens_are_masked_and_labels_are_the_originals(
    words: int, time: int | None, ends: tuple[int, int], share: float, time_share: float, seed: int
) -> None:
    vocabulary = Vocabulary(MASK, PAD, OTHERS, NO_TIMES if time is None else TIMES, ends)
    ids = sentence(words, time, ends)
    kept = ids.copy()
    masked, labels = Masking(share, time_share).apply(ids, vocabulary, np.random.default_rng(seed))
    assert (ids == kept).all()
    begin = ends[0] + (time is not None)
    of_words = range(begin, begin + words)
    assert any(labels[i] != IGNORED for i in of_words)
    for i in range(len(ids)):
        if labels[i] == IGNORED:
            assert masked[i] == ids[i]
        else:
            assert labels[i] == ids[i]
            assert i in of_words or (time is not None and i == ends[0])
            assert masked[i] in {MASK, ids[i], *(OTHERS if i in of_words else TIMES)}


def test_sentence_without_a_word_has_nothing_to_predict() -> None:
    masked, labels = Masking(0.5, 0.0).apply(sentence(0), PLAIN, np.random.default_rng(0))
    assert masked.tolist() == [BEGIN, END]
    assert labels.tolist() == [IGNORED, IGNORED]


def test_at_least_one_random_word_of_a_sentence_is_predicted() -> None:
    _, _, labels = many(Masking(1e-9, 0.0), PLAIN, 5, 500)
    assert ((labels != IGNORED).sum(1) == 1).all()
    for place in range(1, 6):
        near((labels[:, place] != IGNORED).sum(), 0.2, 500)


@pytest.mark.parametrize("family", [*KINDS.values(), "mpnet", "distilbert"])
def test_special_tokens_and_time_tokens_never_replace_a_word(family: str) -> None:
    tokenizer, model = make_tokenizer(family), make_model(family, depth=1)
    add_tokens(model, tokenizer, ["<1>", "<2>"])
    vocabulary = Vocabulary.from_tokenizer(tokenizer, ("<1>", "<2>"), (1, 1))
    assert [tokenizer.convert_ids_to_tokens(int(number)) for number in vocabulary.times] == ["<1>", "<2>"]
    assert (vocabulary.mask, vocabulary.pad) == (tokenizer.mask_token_id, tokenizer.pad_token_id)
    words = set(vocabulary.words.tolist())
    special = {tokenizer.convert_tokens_to_ids(token) for token in tokenizer.special_tokens_map.values()}
    assert len(special) >= 5
    assert not words & special
    assert not words & set(vocabulary.times.tolist())
    assert words | special | set(vocabulary.times.tolist()) == set(range(len(tokenizer)))


# --------------------------------------------------------------------------------------------------------- training run


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return bool(
        np.array_equal(a["ids"], b["ids"]) and np.array_equal(a["labels"], b["labels"]) and a["period"] == b["period"]
    )


def sentences(n: int, seed: int = 0) -> tuple[list[Ids], Ids]:
    """Return sentences of many lengths with different words, and their periods."""
    rng = np.random.default_rng(seed)
    periods = rng.integers(0, 3, n)
    found = []
    for number, period in enumerate(periods):
        ids = sentence(int(rng.integers(3, 15)), int(period))
        ids[2:-1] += 100 * number
        found.append(ids)
    return found, periods


def training(seed: int = 3, examples: int = 60) -> TrainingExamples:
    found, periods = sentences(20)
    return TrainingExamples(found, periods, TIMED, Masking(), 8, examples, seed)


def test_masking_of_an_example_does_not_depend_on_earlier_draws() -> None:
    whole = training()
    expected = [whole[i] for i in range(len(whole))]
    assert len(expected) == 60
    order = list(range(60))
    random.Random(1).shuffle(order)
    np.random.default_rng(0).random(100)
    torch.manual_seed(9)
    again = training()
    assert all(same(again[i], expected[i]) for i in order)
    assert all(same(again[i], expected[i]) for i in order)
    longer = training(examples=90)
    assert all(same(longer[i], expected[i]) for i in order)


def test_another_seed_and_another_pass_mask_other_words() -> None:
    one, other = training(3), training(4)
    assert not all(same(one[i], other[i]) for i in range(60))

    def of_a_sentence(number: int) -> list[tuple[int, ...]]:
        found = [one[i] for i in range(60)]
        return [tuple(e["labels"] != IGNORED) for e in found if (e["labels"] // 100 == number + 1).any()]

    looks = [of_a_sentence(number) for number in range(20)]
    assert all(len(found) >= 2 for found in looks)
    assert sum(len(set(found)) > 1 for found in looks) > 15


def test_example_is_its_sentence_with_its_period() -> None:
    found, periods = sentences(20)
    run = training()
    order = batch_order(np.array([len(ids) for ids in found]), 8, 60, 3)
    for i in range(60):
        example, ids = run[i], found[order[i]]
        assert example["period"] == periods[order[i]]
        is_predicted = example["labels"] != IGNORED
        assert (example["ids"][~is_predicted] == ids[~is_predicted]).all()
        assert (example["labels"][is_predicted] == ids[is_predicted]).all()


@pytest.mark.parametrize("ask", [False, True])
def test_held_out_sentences_are_masked_alike_in_every_evaluation(ask: bool) -> None:
    found, periods = sentences(15)
    looks = [HeldOutExamples(found, periods, TIMED, Masking(0.15, 0.5), 7, ask) for _ in range(2)]
    n = len(looks[0])
    assert n == (30 if ask else 15)
    first = [looks[0][i] for i in range(n)]
    assert all(same(looks[0][i], first[i]) for i in reversed(range(n)))
    assert all(same(looks[1][i], first[i]) for i in range(n))
    other = HeldOutExamples(found, periods, TIMED, Masking(0.15, 0.5), 8, ask)
    assert not all(same(other[i], first[i]) for i in range(15))


def test_held_out_sentences_are_tested_for_words_and_once_for_their_time() -> None:
    found, periods = sentences(15)
    watched = HeldOutExamples(found, periods, TIMED, Masking(0.15, 0.5), 7, True)
    known = {tuple(ids): period for ids, period in zip(found, periods, strict=True)}

    def restored(example: dict[str, Any]) -> tuple[int, ...]:
        return tuple(np.where(example["labels"] == IGNORED, example["ids"], example["labels"]))

    words, times = [watched[i] for i in range(15)], [watched[i] for i in range(15, 30)]
    for part in (words, times):
        assert {restored(example) for example in part} == set(known)
        assert all(example["period"] == known[restored(example)] for example in part)
        lengths = [len(example["ids"]) for example in part]
        assert lengths == sorted(lengths)
    for example in words:
        assert (example["labels"][2:-1] != IGNORED).any()
        assert example["labels"][1] == IGNORED
    for example in times:
        assert (example["labels"] != IGNORED).sum() == 1
        assert example["labels"][1] == TIMES[example["period"]]
        assert example["ids"][1] == MASK


# ---------------------------------------------------------------------------------------------------- order of training


@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=60),
    batch=st.integers(1, 7),
    passes=st.floats(0.1, 4),
    seed=st.integers(0, 1000),
)
def test_every_pass_has_every_sequence_once_in_batches_of_similar_length(
    lengths: list[int], batch: int, passes: float, seed: int
) -> None:
    n = len(lengths)
    whole = -(-n // batch) * batch  # the last batch of a pass is filled
    examples = max(1, round(passes * whole))
    order = batch_order(np.array(lengths), batch, examples, seed)
    assert len(order) == examples
    assert (order == batch_order(np.array(lengths), batch, examples, seed)).all()
    assert (order == batch_order(np.array(lengths), batch, examples + whole, seed)[:examples]).all()
    ranked = sorted(lengths)
    likely = sorted(tuple(ranked[i : i + batch]) for i in range(0, n, batch))
    for begin in range(0, examples, whole):
        one = order[begin : begin + n].tolist()
        assert len(set(one)) == len(one)
        if len(one) == n:
            cut = [tuple(lengths[i] for i in one[k : k + batch]) for k in range(0, n, batch)]
            assert sorted(cut) == likely
            assert all(len(piece) == batch for piece in cut[:-1])


def test_passes_and_seeds_differ() -> None:
    lengths = np.arange(40) % 9
    order = batch_order(lengths, 4, 80, 0)
    assert (order[:40] != order[40:]).any()
    assert (batch_order(lengths, 4, 80, 1) != order).any()


def test_batches_contain_little_padding_in_every_pass() -> None:
    lengths = np.random.default_rng(0).integers(5, 100, 1003)
    order = batch_order(lengths, 32, 3 * 1024, 0)
    steps = [lengths[order[i : i + 32]] for i in range(0, len(order), 32)]  # batches like those of the trainer
    for begin in range(0, len(steps), 32):
        some = steps[begin : begin + 32]
        assert sum(step.max() * len(step) for step in some) < 1.1 * sum(step.sum() for step in some)


def test_many_sequences_are_drawn_a_hundred_batches_at_a_time() -> None:
    lengths = np.random.default_rng(0).permutation(5 * 300 + 2)
    order = batch_order(lengths, 5, len(lengths), 0)
    assert sorted(order) == list(range(len(lengths)))
    spread = [np.ptp(lengths[order[i : i + 5]]) for i in range(0, len(order) - 2, 5)]
    assert np.mean(spread) < 5 * 3 * 2  # five of five hundred neighbours, out of three times as many
    means = [lengths[order[i : i + 500]].mean() for i in range(0, 1500, 500)]
    assert np.ptp(means) < 0.15 * len(lengths)  # and each hundred batches has all lengths


# -------------------------------------------------------------------------------------------------------------- batches


@given(
    lengths=st.lists(st.integers(2, 9), min_size=1, max_size=6),
    ends=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    attention=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_batch_is_padded_and_has_times_on_request(
    lengths: list[int], ends: tuple[int, int], attention: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    vocabulary = Vocabulary(MASK, 7, OTHERS, TIMES, ends)
    examples: list[dict[str, Any]] = [
        {"ids": rng.integers(10, 99, n), "labels": rng.integers(10, 99, n), "period": int(rng.integers(0, 3))}
        for n in lengths
    ]
    batch = {name: tensor.tolist() for name, tensor in collate(examples, vocabulary, attention).items()}
    assert set(batch) == {"input_ids", "attention_mask", "labels"} | ({"times"} if attention else set())
    for row, (example, n) in enumerate(zip(examples, lengths, strict=True)):
        rest = max(lengths) - n
        assert batch["input_ids"][row] == [*example["ids"], *[7] * rest]
        assert batch["labels"][row] == [*example["labels"], *[-100] * rest]
        assert batch["attention_mask"][row] == [1] * n + [0] * rest
        if attention:
            text = n - sum(ends)
            times = [1] * ends[0] + [2 + example["period"]] * text + [1] * ends[1]
            assert batch["times"][row] == times + [0] * rest


# ----------------------------------------------------------------------------------------------------------------- loss


def test_loss_is_the_mean_over_masked_positions_and_sums_are_per_example() -> None:
    torch.manual_seed(0)
    model = transformers.BertForMaskedLM(
        transformers.BertConfig(
            vocab_size=90, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
        )
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.3)
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(5, 60, (4, 9), generator=generator)
    labels = torch.full_like(ids, IGNORED)
    labels[0, 2], labels[0, 5], labels[1, 3], labels[3, 4] = 11, 12, 13, 14
    labels[0, 1], labels[1, 1], labels[2, 1] = 60, 61, 62
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    scores = model.eval()(**inputs).logits.double().detach()
    places = [(i, j) for i in range(4) for j in range(9) if labels[i, j] != IGNORED]
    losses = {at: float(scores[at].logsumexp(0) - scores[at][labels[at]]) for at in places}
    rows = []
    for i in range(4):
        words = [losses[at] for at in places if at[0] == i and at[1] != 1]
        is_predicted = labels[i, 1] != IGNORED
        right = is_predicted and max((60, 61, 62), key=lambda time: float(scores[i, 1, time])) == labels[i, 1]
        rows.append([sum(words), len(words), int(right), int(is_predicted)])
    assert 0 < sum(row[2] for row in rows) < 3  # includes right and wrong predictions
    found = add_loss(model, TIMES)(**inputs, labels=labels)
    np.testing.assert_allclose(found["sums"].detach().numpy(), rows, atol=1e-5)
    mean = sum(losses.values()) / len(losses)
    assert float(found["loss"].detach()) == pytest.approx(mean, abs=1e-5)
    for layer in model.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = 0.0
    trained = model.train()(**inputs, labels=labels)
    assert set(trained) == {"loss", "places"}
    assert float(trained["loss"].detach()) == pytest.approx(mean, abs=1e-5)


def test_figures_are_averaged_over_words_and_not_over_batches() -> None:
    class Found:
        predictions = np.array([[4.0, 1, 0, 0], [6.0, 4, 0, 0], [0.0, 0, 1, 1], [0.0, 0, 0, 1]])

    assert _figures(Found) == {"nll": 2.0, "period": 0.5}
    Found.predictions = Found.predictions[:2]
    assert _figures(Found) == {"nll": 2.0}

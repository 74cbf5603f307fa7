"""Test rank correlation, decisions and average precision against scipy and slow loops."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from lexshift.benchmark.measures import accuracy_and_f1, average_precision, spearman, spearman_each
from lexshift.utils.arrays import Floats

few = st.integers(0, 5).map(float)  # few values, so that ties are likely
pairs = st.lists(st.tuples(few, few), min_size=3, max_size=12)
judged = st.lists(st.tuples(few, st.booleans()), min_size=1, max_size=12)
decisions = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12)

# ------------------------------------------------------------------------------------------------ rank correlation


def varies(values: list[float]) -> bool:
    return len(set(values)) > 1


@settings(max_examples=60)
@given(pairs)
def test_rho_equals_scipy_with_and_without_ties(rows: list[tuple[float, float]]) -> None:
    a, b = [x for x, _ in rows], [y for _, y in rows]
    found = spearman(a, b)
    assert found.words == len(rows)
    if varies(a) and varies(b):
        assert found.rho == pytest.approx(float(stats.spearmanr(a, b).statistic), abs=1e-11)
        assert -1 <= found.low <= found.high <= 1
    else:
        assert all(map(math.isnan, (found.rho, found.low, found.high)))


@given(st.integers(3, 40), st.integers(0, 999))
def test_rho_without_ties_equals_scipy(n: int, seed: int) -> None:
    a, b = np.random.default_rng(seed).normal(size=(2, n))
    assert spearman(a, b).rho == pytest.approx(float(stats.spearmanr(a, b).statistic), abs=1e-11)


def test_rho_is_signed_and_is_1_for_the_same_order() -> None:
    gold = [0.1, 0.2, 0.7, 0.9]
    assert spearman([1, 2, 3, 4], gold).rho == 1
    assert spearman([4, 3, 2, 1], gold).rho == -1
    assert spearman(np.exp([1, 2, 3, 4]), gold).rho == 1


@pytest.mark.parametrize("n", [0, 1, 2])
def test_rho_of_fewer_than_three_words_is_undefined(n: int) -> None:
    found = spearman(list(range(n)), list(range(n)))
    assert all(map(math.isnan, (found.rho, found.low, found.high)))
    assert found.words == n


@pytest.mark.parametrize(("scores", "gold"), [([1, 1, 1, 1], [1, 2, 3, 4]), ([1, 2, 3, 4], [0, 0, 0, 0])])
def test_rho_of_constant_values_is_undefined(scores: list[float], gold: list[float]) -> None:
    found = spearman(scores, gold)
    assert all(map(math.isnan, (found.rho, found.low, found.high)))
    assert found.words == 4


def test_interval_contains_rho_of_nearly_all_samples() -> None:
    inside = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        gold = rng.normal(size=30)
        found = spearman(gold + rng.normal(size=30), gold)
        inside += found.low <= found.rho <= found.high
        assert found.low < found.high
    assert inside >= 48


@pytest.mark.slow
def test_interval_of_most_samples_contains_rho_of_all_words() -> None:
    rng = np.random.default_rng(0)
    gold = rng.normal(size=20_000)
    scores = gold + rng.normal(size=20_000)
    truth = float(stats.spearmanr(scores, gold).statistic)
    inside = 0
    for start in range(0, 60 * 40, 40):
        found = spearman(scores[start : start + 40], gold[start : start + 40])
        inside += found.low <= truth <= found.high
    assert 50 <= inside <= 60  # 57 are expected


def test_interval_equals_the_quantiles_over_resampled_words() -> None:
    rng = np.random.default_rng(1)
    gold = rng.normal(size=25)
    scores = gold + rng.normal(size=25)
    drawn = [rng.integers(0, 25, 25) for _ in range(2_000)]
    resampled = [float(stats.spearmanr(scores[at], gold[at]).statistic) for at in drawn]
    found = spearman(scores, gold)
    np.testing.assert_allclose([found.low, found.high], np.quantile(resampled, [0.025, 0.975]), atol=0.05)


def test_interval_depends_only_on_the_seed() -> None:
    a, b = np.random.default_rng(2).normal(size=(2, 15))
    assert spearman(a, b) == spearman(a, b)
    assert spearman(a, b) == spearman(a.tolist(), b.tolist(), 0.95, 0)
    other = spearman(a, b, seed=1)
    assert other.rho == spearman(a, b).rho
    assert (other.low, other.high) != (spearman(a, b).low, spearman(a, b).high)


def test_higher_confidence_gives_a_wider_interval() -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 20))
    narrow, wide = spearman(a, b, confidence=0.5), spearman(a, b, confidence=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


@given(st.integers(3, 9), st.integers(1, 5), st.integers(0, 999))
def test_each_repetition_is_correlated_separately(words: int, repetitions: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores: Floats = rng.integers(0, 4, (words, repetitions)).astype(float)
    gold = rng.integers(0, 4, words).astype(float)
    each = spearman_each(scores, gold)
    assert each.shape == (repetitions,)
    for column, rho in zip(scores.T, each, strict=True):
        if varies(column.tolist()) and varies(gold.tolist()):
            assert rho == pytest.approx(float(stats.spearmanr(column, gold).statistic), abs=1e-11)
        else:
            assert math.isnan(rho)


@pytest.mark.parametrize("words", [0, 1, 2])
def test_repetitions_of_fewer_than_three_words_are_undefined(words: int) -> None:
    each = spearman_each(np.arange(words * 4.0).reshape(words, 4), np.arange(words))
    assert each.shape == (4,)
    assert np.isnan(each).all()


# -------------------------------------------------------------------------------------------------- the binary task


@settings(max_examples=60)
@given(decisions)
def test_accuracy_and_f1_match_their_definitions(rows: list[tuple[bool, bool]]) -> None:
    predictions, gold = [a for a, _ in rows], [b for _, b in rows]
    accuracy, f1 = accuracy_and_f1(predictions, gold)
    assert accuracy == pytest.approx(sum(a == b for a, b in rows) / len(rows))
    hits = sum(a and b for a, b in rows)
    if not any(predictions) and not any(gold):
        assert math.isnan(f1)
    elif hits == 0:
        assert f1 == 0
    else:
        precision, recall = hits / sum(predictions), hits / sum(gold)
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall))


def test_decision_without_words_is_undefined() -> None:
    assert all(map(math.isnan, accuracy_and_f1([], [])))


@pytest.mark.parametrize(("predictions", "gold"), [([True, False], [False, True]), ([False, False], [True, False])])
def test_f1_is_0_if_no_changed_word_was_found(predictions: list[bool], gold: list[bool]) -> None:
    assert accuracy_and_f1(predictions, gold)[1] == 0


# ------------------------------------------------------------------------------------------------ average precision


def slow_average_precision(scores: list[float], gold: list[bool]) -> float:
    """Sum the gain in recall times the precision over all thresholds from the highest."""
    total, recall = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        kept = [b for a, b in zip(scores, gold, strict=True) if a >= threshold]
        total += (sum(kept) / sum(gold) - recall) * sum(kept) / len(kept)
        recall = sum(kept) / sum(gold)
    return total


@settings(max_examples=80)
@given(judged)
def test_average_precision_equals_a_loop_over_thresholds(rows: list[tuple[float, bool]]) -> None:
    scores, gold = [a for a, _ in rows], [b for _, b in rows]
    assume(any(gold))
    assert average_precision(scores, gold) == pytest.approx(slow_average_precision(scores, gold))


@given(judged, st.randoms())
def test_average_precision_does_not_depend_on_word_order(rows: list[tuple[float, bool]], random: Random) -> None:
    assume(any(b for _, b in rows))
    mixed = list(rows)
    random.shuffle(mixed)
    ours, theirs = (average_precision([a for a, _ in r], [b for _, b in r]) for r in (rows, mixed))
    assert ours == pytest.approx(theirs)


def test_average_precision_is_1_if_the_changed_words_come_first() -> None:
    assert average_precision([5, 4, 1, 0], [True, True, False, False]) == 1
    assert average_precision([0, 1, 4, 5], [True, False, False, False]) == 0.25


@pytest.mark.parametrize("scores", [[1, 2, 3], [1, 1, 1]])
def test_average_precision_is_1_if_all_words_changed(scores: list[float]) -> None:
    assert average_precision(scores, [True] * 3) == 1


def test_average_precision_of_tied_scores_is_the_share_of_changed_words() -> None:
    assert average_precision([2, 2, 2, 2], [True, False, False, False]) == 0.25


@pytest.mark.parametrize("gold", [[], [False, False]])
def test_average_precision_is_undefined_if_no_word_changed(gold: list[bool]) -> None:
    assert math.isnan(average_precision([float(i) for i in range(len(gold))], gold))

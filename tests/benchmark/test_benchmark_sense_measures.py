"""Test measures of sense labels against values worked out by hand, scikit-learn and loops from the definitions."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexshift.benchmark.sense_measures import (
    BCubed,
    adjusted_rand_index,
    b_cubed,
    gained_and_lost,
    label_share_distance,
    macro_f1,
    mean_difference,
    purity,
)

label = st.integers(0, 3)
label_set = st.frozensets(label, min_size=1, max_size=3)
labelled = st.lists(st.tuples(label, label), min_size=1, max_size=14)
labelled_sets = st.lists(st.tuples(label_set, label_set), min_size=1, max_size=14)


def unzip(pairs: Sequence[tuple[Hashable, Hashable]]) -> tuple[list[Hashable], list[Hashable]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


# ------------------------------------------------------------------------------------------------------------- B-cubed


def slow_b_cubed(pairs: Sequence[tuple[frozenset[int], frozenset[int]]]) -> tuple[float, float]:
    """Average min(p, g) / p over all pairs of usages that share a predicted label; recall is the same with g."""
    means: list[list[float]] = [[], []]
    for side in range(2):
        for one in pairs:
            ratios = []
            for other in pairs:
                shared = [len(a & b) for a, b in zip(one, other, strict=True)]
                if shared[side]:
                    ratios.append(min(shared) / shared[side])
            means[side].append(sum(ratios) / len(ratios))
    return sum(means[0]) / len(pairs), sum(means[1]) / len(pairs)


@settings(max_examples=80)
@given(labelled_sets)
def test_b_cubed_equals_a_loop_over_all_pairs(pairs: list[tuple[frozenset[int], frozenset[int]]]) -> None:
    predicted, gold = [a for a, _ in pairs], [b for _, b in pairs]
    found = b_cubed(predicted, gold)
    precision, recall = slow_b_cubed(pairs)
    assert (found.precision, found.recall) == pytest.approx((precision, recall))
    assert found.f == pytest.approx(2 * precision * recall / (precision + recall))


def test_b_cubed_of_single_labels_by_hand() -> None:
    """Clusters {1, 2, 3} and {4, 5}, gold {1, 2}, {3, 4} and {5}.

    Precision: 2/3 for usages 1 and 2, 1/3 for 3, and 1/2 for 4 and 5; the mean is (2/3 + 2/3 + 1/3 + 1/2 + 1/2) / 5 =
    8/15. Recall: 1 for usages 1 and 2, 1/2 for 3 and 4, and 1 for 5; the mean is 4/5.
    """
    found = b_cubed([{0}, {0}, {0}, {1}, {1}], ["a", "a", "b", "b", "c"])
    assert found.precision == pytest.approx(8 / 15)
    assert found.recall == pytest.approx(4 / 5)
    assert found.f == pytest.approx(0.64)


def test_b_cubed_of_several_labels_by_hand() -> None:
    """Usage 1 has the clusters 0 and 1 but one gold sense; usage 2 has cluster 0 and the same sense.

    Precision of usage 1: with itself it shares 2 clusters and 1 sense, 1/2; with usage 2 it shares 1 and 1, so 1; the
    mean is 3/4. Usage 2: 1 and 1. The mean is 7/8. All recalls are 1.
    """
    found = b_cubed([{0, 1}, {0}], [{"a"}, {"a"}])
    assert (found.precision, found.recall, found.f) == pytest.approx((7 / 8, 1, 14 / 15))


def test_b_cubed_of_nothing_is_undefined() -> None:
    assert all(map(math.isnan, vars(b_cubed([], [])).values()))


@given(labelled)
def test_one_sense_has_full_recall_and_own_senses_full_precision(pairs: list[tuple[int, int]]) -> None:
    gold = [{b} for _, b in pairs]
    assert b_cubed([{0}] * len(pairs), gold).recall == pytest.approx(1)
    assert b_cubed([{i} for i in range(len(pairs))], gold).precision == pytest.approx(1)
    assert b_cubed(gold, gold) == BCubed(1, 1, 1)


# --------------------------------------------------------------------------------------- adjusted Rand index and purity


@settings(max_examples=80)
@given(labelled)
def test_adjusted_rand_index_equals_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    predicted, gold = unzip(pairs)
    assert adjusted_rand_index(predicted, gold) == pytest.approx(metrics.adjusted_rand_score(gold, predicted))


def test_adjusted_rand_index_by_hand() -> None:
    """Clusters {1, 2, 3} and {4, 5}, gold {1, 2} and {3, 4, 5}: 2 of 10 pairs are together in both.

    Each side has 4 pairs, so that 4 * 4 / 10 = 1.6 are expected, at most 4 are possible, and the index is
    (2 - 1.6) / (4 - 1.6) = 1/6.
    """
    assert adjusted_rand_index([0, 0, 0, 1, 1], list("aabbb")) == pytest.approx(1 / 6)


def test_identical_partitions_have_the_index_1_and_an_uninformative_one_0() -> None:
    assert adjusted_rand_index([], []) == 1
    assert adjusted_rand_index([0, 0, 0], list("aaa")) == 1
    assert adjusted_rand_index([0, 1, 2], list("abc")) == 1
    assert adjusted_rand_index([0, 1, 2], list("aaa")) == 0
    assert adjusted_rand_index([0, 0, 0], list("aab")) == 0


@given(labelled)
def test_purity_equals_a_count_of_the_majority_of_each_cluster(pairs: list[tuple[int, int]]) -> None:
    predicted, gold = unzip(pairs)
    right = 0
    for cluster in set(predicted):
        inside = [sense for found, sense in pairs if found == cluster]
        right += max(inside.count(sense) for sense in inside)
    assert purity(predicted, gold) == pytest.approx(right / len(pairs))


def test_purity_of_nothing_is_undefined() -> None:
    assert math.isnan(purity([], []))


# ----------------------------------------------------------------------------------------------------- change of shares


@settings(max_examples=60)
@given(st.lists(label_set, min_size=1, max_size=9), st.lists(label_set, min_size=1, max_size=9))
def test_label_share_distance_follows_its_definition(old: list[frozenset[int]], new: list[frozenset[int]]) -> None:
    shares = [
        [sum((sense in labels) / len(labels) for labels in period) / len(period) for sense in range(4)]
        for period in (old, new)
    ]
    divergence = 0.0
    for p, q in zip(*shares, strict=True):
        divergence += sum(x / 2 * math.log2(x / ((p + q) / 2)) for x in (p, q) if x > 0)
    assert label_share_distance(old, new) == pytest.approx(math.sqrt(max(divergence, 0)), abs=1e-7)


def test_label_share_distance_by_hand() -> None:
    """Shares of (1, 0) and (1/2, 1/2) have the mean (3/4, 1/4).

    The divergence is (log2(4/3) + 1/2 log2(2/3) + 1/2 log2(2)) / 2 = 0.311278, and its square root 0.557923. A usage
    with two labels counts one half for each.
    """
    assert label_share_distance([[0], [0]], [[0], [1]]) == pytest.approx(0.557923, abs=1e-6)
    assert label_share_distance([[0]], [[0, 1]]) == pytest.approx(0.557923, abs=1e-6)


def test_label_share_distance_is_0_for_equal_shares_and_1_without_common_senses() -> None:
    assert label_share_distance([["a"]] * 3 + [["b"]], [["a"]] * 6 + [["b"]] * 2) == 0
    assert label_share_distance([[i] for i in range(7)], [[i] for i in range(7, 18)]) == 1


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([5, 0], [5, 5], (True, False)),
        ([5, 1], [5, 5], (True, False)),
        ([5, 2], [5, 5], (False, False)),
        ([5, 0], [5, 4], (False, False)),
        ([5, 6], [9, 1], (False, True)),
        ([7, 0], [1, 7], (True, True)),
    ],
)
def test_sense_is_gained_or_lost_by_its_numbers_of_usages(
    old: list[int], new: list[int], expected: tuple[bool, bool]
) -> None:
    before, after = ([sense for sense, n in enumerate(counts) for _ in range(n)] for counts in (old, new))
    assert gained_and_lost(before, after) == expected


# ----------------------------------------------------------------------------------------------- macro-F1 and intervals


@settings(max_examples=60)
@given(labelled)
def test_macro_f1_equals_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    predicted, gold = unzip(pairs)
    expected = metrics.f1_score(gold, predicted, average="macro", zero_division=0.0)
    assert macro_f1(predicted, gold) == pytest.approx(expected)


def test_macro_f1_of_nothing_is_undefined() -> None:
    assert math.isnan(macro_f1([], []))


def test_interval_of_a_difference_equals_the_quantiles_over_resampled_words() -> None:
    rng = np.random.default_rng(3)
    values, baseline = rng.normal(size=(2, 30))
    found = mean_difference(values, baseline)
    drawn = [rng.integers(0, 30, 30) for _ in range(4_000)]
    expected = np.quantile([(values[at] - baseline[at]).mean() for at in drawn], [0.025, 0.975])
    assert found.mean == pytest.approx((values - baseline).mean())
    np.testing.assert_allclose([found.low, found.high], expected, atol=0.05)
    assert found == mean_difference(values.tolist(), baseline.tolist())


def test_difference_of_nothing_is_undefined() -> None:
    assert all(map(math.isnan, vars(mean_difference([], [])).values()))

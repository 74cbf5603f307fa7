"""Test permutation tests against enumeration and loops."""

from __future__ import annotations

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from slow_distances import SLOW

from lexshift import Metric, permutation_test
from lexshift.scoring import permutation, permutation_stages
from lexshift.scoring.distance.metric import get, side_distances
from lexshift.scoring.moments import CACHE_ENTRIES, TwoSets
from lexshift.scoring.permutation import PermutationTest, choose_members, other_splits, random_splits
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.seeds import generator

EXACT_SIZES = [(2, 2), (2, 7), (7, 2), (3, 5), (4, 4), (5, 5), (6, 3), (2, 42), (16, 3)]
SAMPLED_SIZES = [(8, 8), (2, 50), (14, 6)]


def two_sets(n_old: int, n_new: int, d: int, seed: int = 0, shift: float = 0.0) -> tuple[Matrix, Matrix]:
    """Return two sets of mean 1 that differ by ``shift`` with alternating signs."""
    rng = np.random.default_rng(seed)
    direction = shift * (-1.0) ** np.arange(d)
    return rng.normal(1, 1, (n_old, d)), rng.normal(1, 1, (n_new, d)) + direction


def all_splits(old: Matrix, new: Matrix, metric: str) -> Floats:
    """Return the distance of every split by definition."""
    rows, everything = np.concatenate([old, new]).astype(float), set(range(len(old) + len(new)))
    return np.array(
        [
            SLOW[metric](rows[list(chosen)], rows[sorted(everything - set(chosen))])
            for chosen in itertools.combinations(range(len(rows)), len(old))
        ]
    )


def share_at_least(splits: Floats, e_original: float) -> float:
    return float((splits >= e_original - 1e-9 * splits.max()).mean())


def on_sides(old: Matrix, new: Matrix, sides: Array) -> tuple[Matrix, Matrix]:
    """Return the rows of the old and the new set of one split."""
    rows = np.concatenate([old, new]).astype(float)
    assert (sides == 1).sum() == len(old)
    return rows[sides == 1], rows[sides == -1]


# The test


@settings(max_examples=50)
@given(
    st.sampled_from(EXACT_SIZES),
    st.sampled_from(sorted(SLOW)),
    st.integers(2, 5),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 99),
)
def test_p_uses_all_splits_if_there_are_few(sizes: tuple[int, int], metric: str, d: int, dtype: Any, seed: int) -> None:
    old, new = (rows.astype(dtype) for rows in two_sets(*sizes, d, seed, shift=0.5))
    splits, e_original = all_splits(old, new, metric), SLOW[metric](old.astype(float), new.astype(float))
    result = permutation_test(old, new, metric)
    assert result.exact
    assert result.permutations == len(splits) - 1
    assert result.e_original == pytest.approx(e_original, rel=1e-9)
    assert result.p == pytest.approx(share_at_least(splits, e_original))


@settings(max_examples=60)
@given(
    st.sampled_from(EXACT_SIZES[:6]),
    st.integers(1, 3),
    st.sampled_from(["float32", "float64"]),
    st.sampled_from(["cosine", "euclidean", "apd", "energy"]),
    st.integers(0, 99),
)
def test_splits_that_tie_with_the_original_count(
    sizes: tuple[int, int], d: int, dtype: Any, metric: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    old, new = (rng.integers(1, 4, (n, d)).astype(dtype) for n in sizes)
    splits = all_splits(old, new, metric)
    assume(splits.max() > 1e-9)
    expected = share_at_least(splits, SLOW[metric](old.astype(float), new.astype(float)))
    assert permutation_test(old, new, metric).p == pytest.approx(expected)


@settings(max_examples=15)
@given(
    st.sampled_from(EXACT_SIZES + SAMPLED_SIZES),
    st.sampled_from(sorted(SLOW)),
    st.integers(1, 300),
    st.sampled_from([0.0, 0.5, 3.0]),
)
def test_p_is_the_share_including_the_original_split(
    sizes: tuple[int, int], metric: str, permutations: int, shift: float
) -> None:
    result = permutation_test(*two_sets(*sizes, 3, shift=shift), metric, permutations=permutations)
    splits = math.comb(sum(sizes), sizes[0])
    assert result.exact == (splits < 1_000)
    assert result.permutations == (splits - 1 if result.exact else permutations)
    assert 0 <= result.exceeding <= result.permutations
    assert result.p == (1 + result.exceeding) / (1 + result.permutations)


def chosen(rng: np.random.Generator, n: int, m: int) -> list[int]:
    """Select m of n rows as the first positions of a shuffle."""
    left = list(range(n))
    for i, uniform in enumerate(rng.random(m)):
        k = i + int(uniform * (n - i))
        left[i], left[k] = left[k], left[i]
    return left[:m]


@settings(max_examples=10)
@given(st.sampled_from(SAMPLED_SIZES), st.sampled_from(sorted(SLOW)), st.integers(0, 99))
def test_sampled_splits_come_from_the_random_stream_of_the_word(sizes: tuple[int, int], metric: str, seed: int) -> None:
    old, new = two_sets(*sizes, 3, seed, shift=0.3)
    rng, rows = generator(seed, "permutation", "plane"), np.concatenate([old, new])
    e_original, exceeding = SLOW[metric](old, new), 0
    for _ in range(150):
        small = chosen(rng, len(rows), min(sizes))
        members = np.isin(np.arange(len(rows)), small) == (sizes[0] <= sizes[1])
        exceeding += SLOW[metric](rows[members], rows[~members]) >= e_original * (1 - 1e-9)
    result = permutation_test(old, new, metric, permutations=150, seed=seed, word="plane")
    assert (result.exceeding, result.exact) == (exceeding, False)


def test_every_selection_of_members_is_equally_likely() -> None:
    members = np.zeros((60_000, 5), np.int8)
    choose_members(np.random.default_rng(0).random((60_000, 2)), 1, members)
    assert (members.sum(axis=1) == 2).all()
    pairs, counts = np.unique(members, axis=0, return_counts=True)
    assert len(pairs) == math.comb(5, 2)
    assert stats.chisquare(counts).pvalue > 0.01


def test_p_does_not_depend_on_the_size_of_the_distance_relative_to_its_variation() -> None:
    # The expected distance of two large sets hardly depends on the split, but only the order matters.
    n, d, metric = 15_000, 16, "dscd-cityblock"
    old, new = two_sets(n, n, d)
    rng, rows, e_original, exceeding = (
        generator(0, "permutation"),
        np.concatenate([old, new]),
        SLOW[metric](old, new),
        0,
    )
    for _ in range(150):
        members = np.zeros(2 * n, bool)
        members[chosen(rng, 2 * n, n)] = True
        exceeding += SLOW[metric](rows[members], rows[~members]) >= e_original
    assert permutation_test(old, new, metric, permutations=150).exceeding == exceeding


@pytest.mark.parametrize("sizes", [(2, 41), (16, 3)])
@pytest.mark.parametrize("metric", ["cosine", "kl"])
def test_sampled_p_converges_to_the_exact_one(
    sizes: tuple[int, int], metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = two_sets(*sizes, 4, seed=5, shift=0.3)
    exact = permutation_test(old, new, metric)
    monkeypatch.setattr(permutation, "EXACT_BELOW", 0)
    monkeypatch.setattr(permutation_stages, "STAGES", ((20_000, 0.0),))
    sampled = permutation_test(old, new, metric)
    assert (exact.exact, sampled.exact, sampled.permutations) == (True, False, 20_000)
    assert 0.05 < exact.p < 0.95  # where the sample can err on both sides
    error = math.sqrt(exact.p * (1 - exact.p) / 20_000)
    assert sampled.p == pytest.approx(exact.p, abs=4 * error)

    rng, rows = np.random.default_rng(0), np.concatenate([old, new])
    e_original, found = SLOW[metric](old, new), 0
    for _ in range(2_000):
        shuffled = rng.permutation(rows)
        found += SLOW[metric](shuffled[: sizes[0]], shuffled[sizes[0] :]) >= e_original * (1 - 1e-9)
    assert found / 2_000 == pytest.approx(exact.p, abs=4 * error * math.sqrt(10))


def outliers(old: int) -> tuple[Matrix, Matrix]:
    """Return 2 old and 60 new rows, ``old`` of the old ones 1 and all others 0: p is 1, 2/62 or 1/1891."""
    rows = np.zeros((62, 1))
    rows[2 - old : 2] = 1
    rows[-1] = old == 0
    return rows[:2], rows[2:]


@pytest.mark.parametrize(
    ("old", "p", "permutations"),
    [(0, 1, 1_000), (1, 2 / 62, 10_000), (2, 1 / 1891, 100_000)],
    ids=["1", "0.03", "5e-4"],
)
def test_small_p_values_are_estimated_from_more_permutations(old: int, p: float, permutations: int) -> None:
    result = permutation_test(*outliers(old), "euclidean")
    assert (result.permutations, result.exact) == (permutations, False)
    assert result.p == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / permutations) + 1 / permutations)


@pytest.mark.parametrize("old", [0, 1, 2])
@pytest.mark.parametrize("permutations", [1, 500, 999, 1_000, 1_001, 5_000, 10_001, 12_000])
def test_permutations_is_the_maximum_number_drawn(old: int, permutations: int) -> None:
    result = permutation_test(*outliers(old), "euclidean", permutations=permutations)
    assert result.permutations == min(permutations, [1_000, 10_000, 100_000][old])
    assert result.p == (1 + result.exceeding) / (1 + result.permutations)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "kl", "apd", "energy", "dscd-cityblock"])
@pytest.mark.parametrize("sizes", [(8, 8), (12, 6)])
def test_p_is_uniform_if_nothing_changed(metric: str, sizes: tuple[int, int]) -> None:
    p = [
        permutation_test(*two_sets(*sizes, 3, seed), metric, permutations=199, word=str(seed)).p for seed in range(200)
    ]
    for level in (0.1, 0.5, 0.9):
        low, high = stats.binom.interval(0.9999, len(p), level)
        assert low <= np.sum(np.array(p) <= level) <= high
    assert stats.kstest(p, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("metric", sorted(SLOW))
@pytest.mark.parametrize("sizes", [(20, 20), (10, 30), (40, 15)])
def test_strong_change_has_the_smallest_possible_p(metric: str, sizes: tuple[int, int]) -> None:
    result = permutation_test(*two_sets(*sizes, 8, shift=3), metric, permutations=2_500)
    assert (result.p, result.exact) == (1 / 2_501, False)


@pytest.mark.parametrize("metric", ["euclidean", "apd", "dscd-cityblock"])
@pytest.mark.parametrize("sizes", [(3, 5), (5, 3), (2, 8)])
def test_strong_change_has_the_smallest_possible_exact_p(metric: str, sizes: tuple[int, int]) -> None:
    result = permutation_test(*two_sets(*sizes, 8, shift=10), metric)
    assert (result.p, result.exact) == (1 / math.comb(sum(sizes), sizes[0]), True)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "jeffreys", "apd", "energy"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shift", [5, 20])
def test_mirrored_original_split_counts_for_a_symmetric_metric(metric: str, dtype: Any, shift: float) -> None:
    for seed in range(10):
        old, new = (rows.astype(dtype) for rows in two_sets(5, 5, 8, seed, shift))
        result = permutation_test(old, new, metric)
        assert (result.exceeding, result.permutations) == (1, math.comb(10, 5) - 1)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "kl", "jeffreys", "apd", "energy"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [5, 9])
@pytest.mark.parametrize("kind", ["same", "shuffled", "constant"])
def test_identical_sets_have_a_p_of_1(metric: str, dtype: Any, n: int, kind: str) -> None:
    for seed in range(5):
        rows = two_sets(n, n, 3, seed)[0].astype(dtype)
        if kind == "constant":
            rows[:] = rows[0]
        shuffled = np.random.default_rng(seed).permutation(n) if kind == "shuffled" else np.arange(n)
        assert permutation_test(rows, rows[shuffled], metric, permutations=200).p == 1


def test_result_of_a_word_depends_only_on_its_rows_its_name_and_the_seed() -> None:
    words = {f"word{i}": two_sets(15, 12, 4, i, 0.2) for i in range(8)}

    def test(word: str) -> PermutationTest:
        return permutation_test(*words[word], permutations=300, word=word)

    alone = {word: test(word) for word in words}
    with ThreadPoolExecutor(4) as pool:
        assert dict(zip(reversed(words), pool.map(test, reversed(words)), strict=True)) == alone
    old, new = words["word0"]
    assert len({permutation_test(old, new, permutations=300, word=word).exceeding for word in words}) > 1
    assert len({permutation_test(old, new, permutations=300, seed=seed).exceeding for seed in range(8)}) > 1


@settings(max_examples=40)
@given(st.integers(20, 60), st.floats(0, 0.6), st.sampled_from([0.3, 0.05, 0.01, 0.002]), st.integers(0, 99))
def test_early_stopping_at_a_level_keeps_p_on_the_same_side(n: int, shift: float, level: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    old, new = rng.normal(size=(n, 4)), rng.normal(shift, 1, size=(n, 4))
    full = permutation_test(old, new, "euclidean", 900, seed)
    short = permutation_test(old, new, "euclidean", 900, seed, level=level)
    assert (short.p <= level) == (full.p <= level)
    assert short.permutations <= full.permutations == 900
    if full.p <= level:
        assert short == full


def test_early_stopping_draws_at_most_one_batch_beyond_the_decision() -> None:
    old, new = np.random.default_rng(0).normal(size=(2, 100, 50))
    short = permutation_test(old, new, "euclidean", level=0.0001)
    assert short.permutations <= CACHE_ENTRIES // 200
    assert short.p > 0.0001


@pytest.mark.parametrize("level", [-0.1, 1.5, np.nan])
def test_invalid_level_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match=r"^level must be from 0 to 1"):
        permutation_test(np.eye(3), 2 * np.eye(3), level=level)


def test_permutations_of_wide_rows_respect_the_memory_limit_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permutation, "CACHE_ENTRIES", 20_000)
    sizes: list[int] = []

    def between(old: Any, new: Any) -> Floats:
        sizes.append(max(old.mean.size, new.mean.size))
        return np.zeros(len(old.mean))

    result = permutation_test(*two_sets(10, 10, 500), Metric("size", between))
    assert result.permutations == 1_000
    assert max(sizes) <= 20_000


@pytest.mark.parametrize("permutations", [0, -1, 1.5, "many", None, True])
def test_invalid_number_of_permutations_is_refused(permutations: Any) -> None:
    with pytest.raises(ValueError, match="permutations must be a whole number of at least 1"):
        permutation_test(*two_sets(5, 5, 2), permutations=permutations)


def test_invalid_arguments_are_refused_by_name() -> None:
    old, new = two_sets(5, 5, 2)
    with pytest.raises(ValueError, match="seed must be"):
        permutation_test(old, new, seed=-1)
    with pytest.raises(ValueError, match="did you mean 'cosine'"):
        permutation_test(old, new, "cosin")
    with pytest.raises(ValueError, match="same number of dimensions"):
        permutation_test(old, new[:, :1])
    with pytest.raises(ValueError, match="new holds nan at row 1, dimension 0"):
        permutation_test(old, np.where(np.arange(10).reshape(5, 2) == 2, np.nan, new))


# The Gaussians of splits


@given(
    st.tuples(st.integers(2, 30), st.integers(2, 30), st.integers(1, 12)),
    st.sampled_from(["kl", "cosine", "apd"]),
    st.sampled_from([0.0, 50.0]),
    st.integers(0, 99),
)
def test_gaussians_of_splits_equal_those_of_the_split_rows(
    shape: tuple[int, int, int], metric: str, mean: float, seed: int
) -> None:
    old, new = (rows + mean for rows in two_sets(*shape, seed, shift=1))
    sides = random_splits(len(old), len(new), 6, np.random.default_rng(seed))
    fast = TwoSets(old, new, get(metric).needs_variance, get(metric).unit_rows).gaussians_for_sides(sides)
    for b, row in enumerate(sides):
        for gaussian, side in zip(fast, on_sides(old, new, row), strict=True):
            rows = side / np.linalg.norm(side, axis=1, keepdims=True) if metric == "apd" else side
            np.testing.assert_allclose(gaussian.mean[b], rows.mean(axis=0), rtol=1e-9, atol=1e-12)
            assert gaussian.count == len(rows)
            if metric == "kl":
                np.testing.assert_allclose(gaussian.variance[b], rows.var(axis=0, ddof=1), rtol=1e-9, atol=1e-10)
            else:
                assert gaussian.variance.shape == (6, 0)


@pytest.mark.parametrize("metric", sorted(SLOW))
@pytest.mark.parametrize("sizes", [(150, 400), (300, 300), (1500, 700)])
def test_distances_of_splits_of_ill_conditioned_float32_rows_are_exact_to_1e_6(
    metric: str, sizes: tuple[int, int]
) -> None:
    rng, d = np.random.default_rng(1), 40
    spread = np.where(np.arange(d) % 8 == 0, 100.0, 1.0) * rng.uniform(0.5, 2, d)
    old, new = (((rng.normal(50, 1, (n, d))) * spread).astype(np.float32) for n in sizes)
    sides = random_splits(len(old), len(new), 10, rng)
    fast = side_distances(get(metric), old, new)(sides)
    slow = [SLOW[metric](*on_sides(old, new, row)) for row in sides]
    np.testing.assert_allclose(fast, slow, rtol=1e-6)


def test_gaussians_of_splits_of_float32_rows_far_from_the_origin_are_exact_to_1e_6() -> None:
    # The common mean is no float32 number; its rounding error is 1 % of the spread.
    old, new = ((rows + 100_000).astype(np.float32) for rows in two_sets(40, 60, 10))
    sides = random_splits(len(old), len(new), 10, np.random.default_rng(0))
    fast = TwoSets(old, new).gaussians_for_sides(sides)
    for b, row in enumerate(sides):
        for gaussian, rows in zip(fast, on_sides(old, new, row), strict=True):
            spread = rows.std(axis=0, ddof=1)
            assert (abs(gaussian.mean[b] - rows.mean(axis=0)) <= 1e-6 * spread).all()
            np.testing.assert_allclose(gaussian.variance[b], spread**2, rtol=1e-6)


def test_every_split_is_equally_likely() -> None:
    sides = random_splits(3, 4, 3_500, np.random.default_rng(0))
    counts = np.unique(sides, axis=0, return_counts=True)[1]
    assert len(counts) == math.comb(7, 3)
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("sizes", [(3, 5), (5, 3), (4, 4), (2, 2)])
def test_all_others_yields_all_splits_except_the_original_one(sizes: tuple[int, int]) -> None:
    found = [tuple(np.flatnonzero(row == 1).tolist()) for row in other_splits(*sizes)]
    expected = set(itertools.combinations(range(sum(sizes)), sizes[0])) - {tuple(range(sizes[0]))}
    assert len(found) == len(expected)
    assert set(found) == expected

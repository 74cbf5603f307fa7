"""Test the distance to the nearest of a few drawn usages against an enumeration of all draws."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from lexshift import Gaussian, UserError, sweep
from lexshift.scoring.distance import get, metrics, nearest
from lexshift.scoring.distance.metric import original_sides
from lexshift.scoring.distance.nearest import Neighbours
from lexshift.utils.arrays import Array, Floats, Matrix

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 7)
FEWS = st.integers(1, 5)
DIMENSIONS = st.integers(2, 9)


def sets(n: int, m: int, d: int, seed: int, mean: float = 1.0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(mean, 1, (n, d)), rng.normal(mean, 1, (m, d)) + 0.5 * rng.normal(size=d)


def slow(old: Matrix, new: Matrix, few: int) -> float:
    """Average the nearest distance over all draws of a few usages of the other set, in both directions."""
    distances = cdist(old.astype(float), new.astype(float), "cosine")
    ways = []
    for from_one in (distances, distances.T):
        n = from_one.shape[1]
        draws = list(itertools.combinations(range(n), min(few, n)))
        ways.append(np.mean([[row[list(draw)].min() for draw in draws] for row in from_one]))
    return float(0.5 * (ways[0] + ways[1]))


def by_rank(old: Matrix, new: Matrix, few: int) -> float:
    """Weight the k-th nearest of n usages by C(n - k, s - 1), the number of draws of size s in which it is nearest."""
    distances = cdist(old.astype(float), new.astype(float), "cosine")
    ways = []
    for from_one in (distances, distances.T):
        n = from_one.shape[1]
        s = min(few, n)
        chances = [float(Fraction(math.comb(n - k, s - 1), math.comb(n, s))) for k in range(1, n + 1)]
        ways.append((np.sort(from_one, axis=1) @ chances).mean())
    return float(0.5 * (ways[0] + ways[1]))


def fast(old: Matrix, new: Matrix, few: int | None = None, sides: Array | None = None) -> Floats:
    """Return the value of the kernel, optionally for another number of drawn usages."""
    with pytest.MonkeyPatch.context() as patch:
        if few is not None:
            patch.setattr(nearest, "N_DRAWN", few)
        return Neighbours(old, new)(original_sides(len(old), len(new)) if sides is None else sides)


def taken(old: Matrix, new: Matrix, sides: Array) -> tuple[Matrix, Matrix]:
    """Return the rows of the two sides, repeated by their counts."""
    rows = np.concatenate([old, new])
    return np.repeat(rows, np.maximum(sides, 0), axis=0), np.repeat(rows, np.maximum(-sides, 0), axis=0)


# Comparison with all draws


@given(SIZES, SIZES, DIMENSIONS, FEWS, st.sampled_from([0.0, 1.0, 20.0]), SEEDS)
def test_value_is_the_mean_over_all_draws(n: int, m: int, d: int, few: int, mean: float, seed: int) -> None:
    old, new = sets(n, m, d, seed, mean)
    assert fast(old, new, few)[0] == pytest.approx(slow(old, new, few), rel=1e-9, abs=1e-12)


@given(SIZES, SIZES, DIMENSIONS, FEWS, SEEDS)
def test_value_of_float32_rows_is_the_mean_over_all_draws(n: int, m: int, d: int, few: int, seed: int) -> None:
    old, new = (rows.astype(np.float32) for rows in sets(n, m, d, seed))
    assert fast(old, new, few)[0] == pytest.approx(slow(old, new, few), abs=2e-6)


@given(st.integers(1, 5), st.integers(1, 5), FEWS, st.data(), SEEDS)
def test_usage_counts_are_equivalent_to_repeated_or_omitted_rows(
    n: int, m: int, few: int, data: st.DataObject, seed: int
) -> None:
    old, new = sets(n, m, 4, seed)
    times = st.lists(st.integers(-3, 3), min_size=n + m, max_size=n + m)
    both = times.filter(lambda row: 0 < sum(k for k in row if k > 0) < 9 and 0 < -sum(k for k in row if k < 0) < 9)
    sides = np.array(data.draw(st.lists(both, min_size=1, max_size=3)))
    wanted = [slow(*taken(old, new, row), few) for row in sides]
    assert_allclose(fast(old, new, few, sides), wanted, rtol=1e-9, atol=1e-12)


@given(st.integers(2, 90), st.integers(2, 90), st.integers(2, 30), SEEDS)
def test_twenty_usages_are_drawn_or_all_if_there_are_fewer(n: int, m: int, d: int, seed: int) -> None:
    old, new = sets(n, m, d, seed)
    assert fast(old, new)[0] == pytest.approx(by_rank(old, new, 20), rel=1e-9)


def test_computation_by_rank_is_the_mean_over_all_draws() -> None:
    for n, m, few in itertools.product((2, 5, 8), (3, 6), (1, 2, 4, 20)):
        old, new = sets(n, m, 3, n * m)
        assert by_rank(old, new, few) == pytest.approx(slow(old, new, few), rel=1e-12)


def test_draws_omitted_for_many_usages_are_negligible() -> None:
    old, new = sets(700, 900, 6, 0)
    assert fast(old, new)[0] == pytest.approx(by_rank(old, new, 20), rel=1e-8)


def test_draws_of_repeated_usages_equal_those_of_their_rows() -> None:
    old, new = sets(30, 40, 5, 1)
    rng = np.random.default_rng(1)
    sides = np.concatenate(
        [rng.multinomial(30, np.full(30, 1 / 30), 6), -rng.multinomial(40, np.full(40, 1 / 40), 6)], 1
    )
    assert (sides == 0).any()
    wanted = [by_rank(*taken(old, new, row), 20) for row in sides]
    assert_allclose(fast(old, new, sides=sides), wanted, rtol=1e-9)


# Properties of the definition


@given(st.integers(2, 30), st.integers(2, 30), DIMENSIONS, SEEDS)
def test_with_one_drawn_usage_it_is_the_average_pairwise_distance(n: int, m: int, d: int, seed: int) -> None:
    old, new = sets(n, m, d, seed)
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (old, new)]
    apd = float(get("apd")(Gaussian.fit(units[0]), Gaussian.fit(units[1])))
    assert fast(old, new, 1)[0] == pytest.approx(apd, rel=1e-9)


@given(st.integers(2, 15), st.integers(2, 15), st.integers(15, 40), SEEDS)
def test_with_fewer_usages_than_draws_the_nearest_of_all_counts(n: int, m: int, few: int, seed: int) -> None:
    old, new = sets(n, m, 4, seed)
    distances = cdist(old, new, "cosine")
    wanted = 0.5 * (distances.min(axis=0).mean() + distances.min(axis=1).mean())
    assert fast(old, new, few)[0] == pytest.approx(wanted, rel=1e-9)


@given(st.integers(2, 12), st.integers(2, 12), SEEDS)
def test_drawing_more_usages_lowers_the_distance(n: int, m: int, seed: int) -> None:
    old, new = sets(n, m, 5, seed)
    values = [fast(old, new, few)[0] for few in range(1, max(n, m) + 1)]
    assert (np.diff(values) < 0).all()


@given(st.integers(2, 25), st.integers(2, 25), FEWS, st.booleans(), SEEDS)
def test_order_of_the_usages_does_not_matter(n: int, m: int, few: int, double: bool, seed: int) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in sets(n, m, 6, seed))
    rng = np.random.default_rng(seed)
    wanted = pytest.approx(fast(old, new, few)[0], abs=1e-12 if double else 1e-6)
    assert fast(rng.permutation(old), rng.permutation(new), few)[0] == wanted


@given(st.integers(2, 25), st.integers(2, 25), FEWS, st.booleans(), SEEDS)
def test_old_and_new_set_are_interchangeable(n: int, m: int, few: int, double: bool, seed: int) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in sets(n, m, 6, seed))
    value = fast(old, new, few)[0]
    assert fast(old, new, few, -original_sides(n, m))[0] == pytest.approx(value, rel=1e-12)
    assert fast(new, old, few)[0] == pytest.approx(value, abs=1e-12 if double else 1e-6)


@given(st.integers(2, 20), st.integers(2, 20), st.floats(1e-6, 1e6), SEEDS)
def test_lengths_of_the_vectors_do_not_matter(n: int, m: int, factor: float, seed: int) -> None:
    old, new = sets(n, m, 5, seed)
    lengths = np.random.default_rng(seed).uniform(0.1, 10, (n, 1))
    assert fast(old * lengths, new * factor)[0] == pytest.approx(fast(old, new)[0], rel=1e-9)


@given(st.integers(2, 12), st.integers(2, 12), st.integers(1, 9), SEEDS)
def test_batch_equals_its_items_computed_alone(n: int, m: int, size: int, seed: int) -> None:
    old, new = sets(n, m, 4, seed)
    rng = np.random.default_rng(seed)
    sides = rng.permuted(original_sides(n, m).repeat(size, axis=0), axis=1)
    together = fast(old, new, 3, sides)
    assert together.shape == (size,)
    assert_array_equal(together, [fast(old, new, 3, row[None])[0] for row in sides])


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_sides_may_be_integers_of_any_size(dtype: type[np.signedinteger]) -> None:
    old, new = sets(4, 5, 3, 2)
    sides = np.array([[3, 0, 1, 2, -1, -2, 0, -1, 1], [1, 1, 1, 1, -1, -1, -1, -1, -1]])
    wanted = [slow(*taken(old, new, row), 2) for row in sides]
    assert_allclose(fast(old, new, 2, sides.astype(dtype)), wanted, rtol=1e-9)
    assert_allclose(fast(old, new, 2, np.asfortranarray(sides.astype(dtype))), wanted, rtol=1e-9)


def test_equal_usages_have_a_distance_of_zero() -> None:
    rows = sets(6, 2, 4, 3)[0]
    assert fast(rows, rows)[0] == pytest.approx(0, abs=1e-12)  # the copy of the usage is the nearest of all six
    same = np.repeat(rows[:1], 30, axis=0)
    assert fast(same, 2 * same)[0] == pytest.approx(0, abs=1e-12)


# Word frequency


def over_all_samples(old: Matrix, new: Matrix, size: int, few: int) -> float:
    """Return the mean value over every sample of the given size of each set."""
    sides = []
    for of_old in itertools.combinations(range(len(old)), size):
        for of_new in itertools.combinations(range(len(new)), size):
            row = np.zeros(len(old) + len(new), int)
            row[list(of_old)] = 1
            row[len(old) + np.array(of_new)] = -1
            sides.append(row)
    return float(fast(old, new, few, np.array(sides)).mean())


@pytest.mark.parametrize("few", [1, 2, 3])
@pytest.mark.parametrize("size", [3, 4, 5])
def test_rarer_word_has_the_same_value_on_average(few: int, size: int) -> None:
    old, new = sets(6, 5, 4, 4)
    assert over_all_samples(old, new, size, few) == pytest.approx(fast(old, new, few)[0], rel=1e-9)


def test_nearest_of_all_usages_would_be_farther_for_a_rarer_word() -> None:
    old, new = sets(6, 5, 4, 4)
    assert over_all_samples(old, new, 3, 20) > 1.05 * fast(old, new, 20)[0]


def test_samples_of_a_frequent_word_agree_with_all_of_its_usages() -> None:
    old, new = sets(400, 300, 8, 5)
    rng, between = np.random.default_rng(5), Neighbours(old, new)
    whole = between(original_sides(400, 300))[0]
    for size in (25, 80):
        sides = np.zeros((300, 700), int)
        for row in sides:
            row[rng.choice(400, size, replace=False)] = 1
            row[400 + rng.choice(300, size, replace=False)] = -1
        values = between(sides)
        error = values.std() / math.sqrt(len(values))
        assert error < 0.02 * whole
        assert abs(values.mean() - whole) < 4 * error


# Memory


@given(
    st.tuples(st.integers(2, 30), st.integers(2, 30), st.integers(1, 6)),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 4_000),
    st.integers(0, 20_000),
    st.integers(0, 99),
)
def test_neighbours_sorted_in_blocks_and_per_call_are_the_same(
    shape: tuple[int, int, int], dtype: Any, block: int, kept: int, seed: int
) -> None:
    old, new = (rows.astype(dtype) for rows in sets(*shape, seed))
    old[0] = new[-1] = 0
    n = len(old) + len(new)
    sides = np.random.default_rng(seed).choice([-2, -1, 0, 1, 2], (5, n))
    sides[:, 0], sides[:, -1] = 1, -1
    at_once = Neighbours(old, new)(sides)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearest, "BLOCK_BYTES", block)
        patch.setattr(nearest, "CACHE_BYTES", kept)
        neighbours = Neighbours(old, new)
        assert sum(part.nbytes for parts in neighbours.cached_blocks for part in parts) <= kept
        for _ in range(2):
            assert_allclose(neighbours(sides), at_once, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-7)


def test_memory_does_not_grow_with_the_number_of_usage_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "BLOCK_BYTES", 1 << 20, raising=False)
    monkeypatch.setattr(nearest, "CACHE_BYTES", 1 << 21, raising=False)
    old, new = sets(700, 800, 4, 0)
    sides = original_sides(700, 800)
    Neighbours(old[:5], new[:5])(sides[:, 695:705])  # compiled
    tracemalloc.start()
    try:
        Neighbours(old, new)(sides)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3.5 * 2**20  # 1.5 bytes per pair


def test_empty_side_has_no_distance() -> None:
    old, new = sets(4, 5, 3, 6)
    assert np.isnan(Neighbours(old, new)(np.ones((1, 9), int))).all()


# Refused input


def test_too_many_usages_are_refused_with_the_remedy() -> None:
    many = np.ones((nearest.MAX_USAGES, 1), np.float32)
    wanted = r"^the metric 'nearest' compares all usages .* 10,001 usages; .* at most 5,000 .*\(max_per_word\)$"
    with pytest.raises(UserError, match=wanted):
        Neighbours(many, many[:1])


def test_maximum_number_of_usages_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "MAX_USAGES", 9)
    old, new = sets(4, 5, 3, 6)
    assert fast(old, new, 2)[0] == pytest.approx(slow(old, new, 2), rel=1e-9)
    with pytest.raises(UserError, match="takes too long for 10 usages"):
        Neighbours(old, np.concatenate([new, new[:1]]))


def test_row_of_zeros_is_orthogonal_to_others_and_equal_to_rows_of_zeros() -> None:
    old, new = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [2.0, 0.0]])
    pairs = np.array([[1.0, 0.0], [0.0, 1.0]])  # old by new: the cosine distance, 1 and 0 where there is none
    assert fast(old, new, 1)[0] == pytest.approx(pairs.mean())
    assert fast(old, new, 2)[0] == pytest.approx(0.0)


def test_rows_of_zeros_have_a_distance_of_zero() -> None:
    assert fast(np.zeros((3, 4)), np.zeros((5, 4)), 2)[0] == 0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_non_finite_value_is_refused(value: float) -> None:
    old, new = sets(4, 5, 3, 8)
    new[1, 2] = value
    with pytest.raises(UserError, match=rf"^new holds {value} at row 1, dimension 2"):
        Neighbours(old, new)


def test_rows_are_not_modified() -> None:
    old, new = sets(9, 8, 4, 9)
    before = old.copy(), new.copy()
    fast(old, new)
    assert_array_equal(old, before[0])
    assert_array_equal(new, before[1])


# The registered metric


def test_metric_nearest_uses_this_function() -> None:
    assert "nearest" in metrics()
    old, new = sets(30, 45, 6, 10)
    assert sweep(old, new, ["nearest"], [0.5], repeats=1).e_original[0] == fast(old, new)[0]


def test_nearest_cannot_be_computed_from_gaussians() -> None:
    old, new = (Gaussian.fit(rows) for rows in sets(5, 6, 3, 11))
    with pytest.raises(ValueError, match=r"^metric 'nearest' compares usages and .* from Gaussians; pass the usages"):
        get("nearest")(old, new)

"""Test sums of selected rows and the moments of sets that exchange rows against loops over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lexshift.scoring.gaussian import Gaussian, fit, row_weights
from lexshift.scoring.moments import (
    CACHE_ENTRIES,
    MEMORY_ENTRIES,
    TILE_ROWS,
    RowSums,
    TwoSets,
    batch_sizes,
    power_of_two,
)
from lexshift.utils.arrays import Array, Floats, Labels, Matrix

DTYPES = ["float32", "float64"]
EXACTNESS = {"float32": 1e-6, "float64": 1e-12}  # relative to the sum of absolute values


def awkward(n: int, d: int, dtype: npt.DTypeLike, seed: int, mean: float = 0.0) -> Matrix:
    """Return ill-conditioned rows: a large common mean, and a few dimensions 100 times larger than the rest."""
    rng = np.random.default_rng(seed)
    size = np.where(np.arange(d) % 7 == 3, 100.0, 1.0)
    return ((rng.normal(size=(n, d)) + mean) * size).astype(dtype)


def row_sums(rows: Matrix, variance: bool, unit: bool) -> RowSums:
    """Return sums around the mean of the rows, in units that differ by dimension."""
    gaussian = fit(rows, "rows", unit) if len(rows) > 1 else Gaussian(rows[0].astype(float), np.ones(rows.shape[1]), 1)
    scale = np.ldexp(1.0, -(np.arange(rows.shape[1]) % 9))
    return RowSums(rows, row_weights(rows, "rows", unit), gaussian, scale, variance, unit)


def assert_sums(found: Floats, sums: RowSums, chosen: Array, unit: bool) -> None:
    """Check the sums of the selected rows against a loop over them. found : (width,); chosen : (n,)"""
    d, values, squares, sizes = sums.rows.shape[1], 0.0, 0.0, 0.0
    centre, scale, square = (array.astype(float) for array in (sums.centre, sums.scale, sums.square))
    for i in np.flatnonzero(chosen):
        row = sums.rows[i].astype(float)
        row = row / np.linalg.norm(row) if unit else row
        z = (row - centre) * scale
        values, squares = values + z, squares + z**2 - square
        sizes = sizes + (abs(row) + abs(centre)) * scale  # scale of the rounding error
    exactness = EXACTNESS["float64" if unit else str(sums.rows.dtype)]
    assert (abs(found[:d] - values) <= exactness * sizes).all()
    if sums.width > d:
        assert (abs(found[d:] - squares) <= exactness * (sizes * abs(sizes) + chosen.sum() * square)).all()


@given(
    shape=st.tuples(st.integers(1, 6), st.integers(1, 40), st.integers(1, 20)),
    dtype=st.sampled_from(DTYPES),
    unit=st.booleans(),
    variance=st.booleans(),
    mean=st.sampled_from([0.0, 1.0, -50.0]),
    seed=st.integers(0, 1000),
)
@example((3, TILE_ROWS - 1, 5), "float32", False, True, 3.0, 0)
@example((3, TILE_ROWS, 5), "float64", True, True, 3.0, 0)
@example((3, 2 * TILE_ROWS + 1, 5), "float32", True, True, 3.0, 0)
@example((3, 2 * TILE_ROWS + 1, 5), "float32", False, True, 3.0, 0)
def test_sums_of_selected_rows_equal_a_loop_over_the_rows(
    shape: tuple[int, int, int], dtype: Any, unit: bool, variance: bool, mean: float, seed: int
) -> None:
    b, n, d = shape
    sums = row_sums(awkward(n, d, dtype, seed, mean), variance, unit)
    chosen = np.random.default_rng(seed).integers(0, 2, (b, n))
    found = sums.sum_selected(chosen)
    assert found.dtype == np.float64
    assert found.shape == (b, 2 * d if variance else d)
    for row, of_row in zip(found, chosen, strict=True):
        assert_sums(row, sums, of_row, unit)
    if n > 1:
        assert_sums(sums.all_sums[0], sums, np.ones(n), unit)


@given(
    n=st.one_of(st.integers(1, 40), st.integers(TILE_ROWS - 2, 2 * TILE_ROWS + 40)),
    d=st.integers(1, 40),
    repeats=st.integers(1, 4),
    segments=st.integers(1, 12),
    kind=st.tuples(st.sampled_from(DTYPES), st.booleans(), st.booleans()),
    seed=st.integers(0, 1000),
)
@settings(max_examples=40)
@example(1100, 600, 3, 10, ("float32", True, False), 1)
@example(1100, 600, 3, 10, ("float64", False, False), 2)
def test_sums_by_segment_equal_those_of_the_rows_of_each_segment(
    n: int, d: int, repeats: int, segments: int, kind: tuple[Any, bool, bool], seed: int
) -> None:
    dtype, variance, unit = kind
    sums = row_sums(awkward(n, d, dtype, seed, 1.0), variance, unit)
    labels = np.random.default_rng(seed).integers(0, segments, (repeats, n)).astype(np.uint16)
    found = sums.sum_by_segment(labels, segments)
    assert found.dtype == np.float64
    assert found.shape == (repeats, segments, 2 * d if variance else d)
    for k in range(repeats):
        for segment in range(segments):
            assert_sums(found[k, segment], sums, labels[k] == segment, unit)


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_segment_without_rows_sums_to_zero(dtype: npt.DTypeLike) -> None:
    sums = row_sums(np.arange(15.0).reshape(5, 3), True, False)
    labels: Labels = np.full((1, 5), 2, dtype)
    found = sums.sum_by_segment(labels, 4)
    np.testing.assert_array_equal(found[0, [0, 1, 3]], 0.0)
    np.testing.assert_allclose(found[0, 2], sums.all_sums[0], atol=1e-12)


@pytest.mark.parametrize(("kind", "exactness"), [("random", 1e-6), ("constant", 1e-5)])
def test_float32_sums_of_many_rows_do_not_drift(kind: str, exactness: float) -> None:
    rows = np.random.default_rng(0).random((100_000, 1)).astype(np.float32)
    if kind == "constant":
        rows[:] = 1 / 3  # every sum is rounded in the same direction
    sums = RowSums(rows, np.ones(len(rows)), Gaussian(np.zeros(1), np.zeros(1), len(rows)), np.ones(1), True, False)
    ones = np.ones((1, len(rows)), np.uint8)
    for found in (sums.sum_selected(ones)[0], sums.sum_by_segment(ones - 1, 1)[0, 0]):
        assert found[0] == pytest.approx(rows.astype(float).sum(), rel=exactness)
        assert found[1] == pytest.approx((rows.astype(float) ** 2).sum(), rel=exactness)


# Sets that exchange rows


def some_sides(n_old: int, n_new: int, ways: int, repeats: int, share: float, rng: np.random.Generator) -> Array:
    """Return selections of rows on two sides, ``repeats`` of each, with as many rows moved in either direction."""
    sides = np.zeros((ways * repeats, n_old + n_new), np.int8)
    used_old, used_new = max(1, round(share * n_old)), max(1, round(share * n_new))
    for way in range(ways):
        old, new = rng.permutation(n_old)[:used_old], n_old + rng.permutation(n_new)[:used_new]
        for k in range(way * repeats, (way + 1) * repeats):
            count = rng.integers(0, min(used_old, used_new) + 1)
            sides[k, old], sides[k, new] = 1, -1
            sides[k, rng.permutation(old)[:count]] = -1
            sides[k, rng.permutation(new)[:count]] = 1
    return sides


@settings(max_examples=100)
@given(
    st.tuples(st.integers(2, 12), st.integers(2, 12), st.integers(1, 4)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.sampled_from([0.5, 1.0]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.0, 3.0, 1000.0]),
    st.integers(0, 999),
)
def test_moments_equal_those_of_the_rows_on_each_side(
    shape: tuple[int, int, int],
    ways: tuple[int, int],
    share: float,
    variance: bool,
    unit: bool,
    apart: float,
    seed: int,
) -> None:
    n_old, n_new, d = shape
    rng = np.random.default_rng(seed)
    old, new = rng.normal(1, 1, (n_old, d)), rng.normal(apart, 2, (n_new, d))
    sides = some_sides(n_old, n_new, *ways, share, rng)
    found = TwoSets(old, new, variance, unit).gaussians_for_sides(sides, ways[1])
    rows = np.concatenate([old, new])
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True) if unit else rows
    for side, gaussian in zip((1, -1), found, strict=True):
        assert gaussian.variance.shape == (len(sides), d if variance else 0)
        for b, row in enumerate(sides):
            ours = rows[row == side]
            assert gaussian.count == len(ours)
            np.testing.assert_allclose(gaussian.mean[b], ours.mean(axis=0), rtol=1e-12, atol=1e-10)
            if variance:
                expected = ours.var(axis=0, ddof=1) if len(ours) > 1 else np.zeros(d)
                np.testing.assert_allclose(gaussian.variance[b], expected, rtol=1e-9, atol=1e-9)


def test_moments_without_exchanged_rows_are_bitwise_equal() -> None:
    old, new = awkward(30, 9, np.float32, 0, 50.0), awkward(20, 9, np.float32, 1, 50.0)
    sets = TwoSets(old, new)
    sides = np.repeat(np.array([[1, -1]], np.int8), [30, 20], axis=1).repeat(3, axis=0)
    for found, expected in zip(sets.gaussians_for_sides(sides), (fit(old, "old"), fit(new, "new")), strict=True):
        np.testing.assert_array_equal(found.mean, np.tile(expected.mean, (3, 1)))
        np.testing.assert_array_equal(found.variance, np.tile(expected.variance, (3, 1)))


# Units and batches


@given(st.floats(1e-30, 1e30))
def test_power_of_two_scales_a_size_to_between_one_half_and_one(size: float) -> None:
    power = float(power_of_two(np.array(size)))
    mantissa, _ = np.frexp(power)
    assert mantissa == 0.5  # so multiplication by it is exact
    assert 0.5 <= size * power < 1.0


def test_power_of_two_of_zero_is_one_and_extremes_fit_float32() -> None:
    sizes = np.array([0.0, 5e-324, 1e-300, 1e300, np.finfo(float).max])
    powers = power_of_two(sizes)
    assert powers[0] == 1.0
    as_float32 = powers.astype(np.float32)
    np.testing.assert_array_equal(as_float32, powers)
    assert (as_float32 > 0).all()


@given(
    total=st.integers(0, 2_000), cells=st.integers(1, 10_000_000), most=st.sampled_from([CACHE_ENTRIES, MEMORY_ENTRIES])
)
def test_batch_sizes_add_up_to_the_total_within_the_bound(total: int, cells: int, most: int) -> None:
    sizes = list(batch_sizes(total, cells, most))
    assert sum(sizes) == total
    assert all(size == 1 or size * cells <= most for size in sizes)
    assert all(size >= 1 for size in sizes)


def test_batch_sizes_are_no_smaller_than_necessary() -> None:
    assert list(batch_sizes(25, 10, 100)) == [10, 10, 5]

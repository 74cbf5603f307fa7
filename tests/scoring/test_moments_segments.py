"""The passes over the rows, against the definition of each written out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexshift.scoring.gaussian import column_moments, squared_distances
from lexshift.scoring.moments import TILE_COLUMNS, TILE_ROWS, power_of_two, segment_sums
from lexshift.utils.arrays import Array, Floats, Labels, Matrix

DTYPES = (np.float32, np.float64)


def awkward(n: int, d: int, dtype: npt.DTypeLike, seed: int, mean: float = 0.0) -> Matrix:
    """Rows with a common mean of so many spreads, and a few dimensions 100 times larger than the rest."""
    rng = np.random.default_rng(seed)
    size = np.where(np.arange(d) % 7 == 3, 100.0, 1.0)
    return ((rng.normal(size=(n, d)) + mean) * size).astype(dtype)


def segment_sums_by_definition(values: Floats, labels: Labels, segments: int) -> Floats:
    sums = np.zeros((labels.shape[0], segments, values.shape[1]))
    for k in range(labels.shape[0]):
        for segment in range(segments):
            sums[k, segment] = values[labels[k] == segment].sum(axis=0)
    return sums


@given(
    n=st.integers(1, 200),
    d=st.integers(1, 300),
    dtype=st.sampled_from(DTYPES),
    weighted=st.booleans(),
    mean=st.sampled_from([0.0, 1.0, -50.0, 1e4]),
    seed=st.integers(0, 2**32 - 1),
)
def test_moments_are_the_mean_and_the_squared_deviations_of_the_weighted_rows(
    n: int, d: int, dtype: npt.DTypeLike, weighted: bool, mean: float, seed: int
) -> None:
    rows = awkward(n, d, dtype, seed, mean)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, n) if weighted else np.ones(n)
    values = rows.astype(float) * weights[:, None]
    got_mean, squares = column_moments(rows, weights)
    assert got_mean.dtype == squares.dtype == np.float64
    size = np.abs(values).max()
    # Where values cancel, what is left is the rounding of the values: for the squares, times the mean over the spread.
    np.testing.assert_allclose(got_mean, values.mean(axis=0), rtol=1e-12, atol=1e-15 * size)
    np.testing.assert_allclose(squares, values.var(axis=0) * n, rtol=5e-12, atol=n * (1e-15 * size) ** 2)


def test_moments_of_a_mean_far_larger_than_the_spread_lose_no_digits() -> None:
    steps = np.tile([0.0, 1.0, 2.0, 3.0], 50)  # exact: variance 1.25, whatever is added
    mean, squares = column_moments(1e8 + np.outer(steps, [1.0, 1024.0]), np.ones(200))
    np.testing.assert_array_equal(mean, [1e8 + 1.5, 1e8 + 1536.0])
    np.testing.assert_allclose(squares, [250.0, 250.0 * 1024**2], rtol=1e-15)


def test_moments_of_rows_that_are_all_equal_have_no_spread() -> None:
    row = np.random.default_rng(0).normal(size=20)
    mean, squares = column_moments(np.tile(row, (100, 1)), np.ones(100))
    np.testing.assert_allclose(mean, row, rtol=1e-15)
    np.testing.assert_array_less(squares, 100 * (1e-15 * row) ** 2)


@given(
    n=st.integers(1, 100),
    d=st.integers(1, 300),
    dtype=st.sampled_from(DTYPES),
    mean=st.sampled_from([0.0, 50.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_squared_distances_are_those_of_every_row_to_the_centre(
    n: int, d: int, dtype: npt.DTypeLike, mean: float, seed: int
) -> None:
    rows = awkward(n, d, dtype, seed, mean)
    centre = awkward(1, d, float, seed + 1, mean)[0]
    expected = [sum((float(a) - float(b)) ** 2 for a, b in zip(row, centre, strict=True)) for row in rows]
    got = squared_distances(rows, centre)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@given(
    n=st.one_of(st.integers(1, 40), st.integers(TILE_ROWS - 2, 2 * TILE_ROWS + 40)),
    d=st.one_of(st.integers(1, 40), st.integers(TILE_COLUMNS - 2, 2 * TILE_COLUMNS + 40)),
    repeats=st.integers(1, 4),
    segments=st.integers(1, 12),
    precisions=st.sampled_from([(np.float32, np.float32), (np.float32, np.float64), (np.float64, np.float64)]),
    with_squares=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@example(1100, 600, 3, 10, (np.float32, np.float32), True, 1)
@example(1100, 600, 3, 10, (np.float64, np.float64), False, 2)
def test_segment_sums_add_up_the_rows_of_each_segment(
    n: int,
    d: int,
    repeats: int,
    segments: int,
    precisions: tuple[npt.DTypeLike, npt.DTypeLike],
    with_squares: bool,
    seed: int,
) -> None:
    dtype, of_units = precisions
    rng = np.random.default_rng(seed)
    rows = awkward(n, d, dtype, seed)
    weights, centre = rng.uniform(0.5, 2.0, n).astype(of_units), rng.normal(size=d).astype(of_units)
    scale = np.ldexp(1.0, rng.integers(-7, 3, d)).astype(of_units)
    weighted = rows.astype(float) * weights.astype(float)[:, None]
    values = (weighted - centre.astype(float)) * scale.astype(float)
    variance = ((values**2).mean(axis=0) * rng.uniform(0.9, 1.1, d)).astype(of_units)  # about what squares are
    labels = rng.integers(0, segments, (repeats, n)).astype(np.uint16)

    sums, squares = segment_sums(rows, weights, centre, scale, variance, labels, segments, with_squares)

    size = (np.abs(weighted) + np.abs(centre)) * scale  # what the rounding of a value goes by
    tolerance = 1e-6 if dtype == np.float32 else 1e-12
    error = np.abs(sums - segment_sums_by_definition(values, labels, segments))
    assert (error <= tolerance * segment_sums_by_definition(size, labels, segments)).all()
    if with_squares:
        error = np.abs(squares - segment_sums_by_definition(values**2, labels, segments))
        assert (error <= tolerance * segment_sums_by_definition(size**2 + variance, labels, segments)).all()
    else:
        assert squares.shape == (repeats, segments, 0)
    assert sums.dtype == squares.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_a_segment_without_rows_sums_to_zero(dtype: npt.DTypeLike) -> None:
    labels = np.full((1, 5), 2, dtype)
    sums, squares = segment_sums(np.ones((5, 3)), np.ones(5), np.zeros(3), np.ones(3), np.ones(3), labels, 4, True)
    np.testing.assert_array_equal(sums[0], [[0.0] * 3, [0.0] * 3, [5.0] * 3, [0.0] * 3])
    np.testing.assert_array_equal(squares, sums)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_passes_leave_their_arguments_as_they_were(dtype: npt.DTypeLike) -> None:
    rows, ones = awkward(30, 9, dtype, 0), np.ones(30, dtype)
    labels = np.zeros((2, 30), np.uint16)
    centre, scale, variance = np.ones(9, dtype), np.full(9, 2.0, dtype), np.full(9, 3.0, dtype)
    given_arrays: list[Array] = [rows, ones, labels, centre, scale, variance]
    before = [array.copy() for array in given_arrays]
    column_moments(rows, np.ones(30))
    squared_distances(rows, np.ones(9))
    segment_sums(rows, ones, centre, scale, variance, labels, 1, True)
    for array, copy in zip(given_arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


@given(st.floats(1e-30, 1e30))
def test_power_of_two_brings_a_size_between_a_half_and_one(size: float) -> None:
    power = float(power_of_two(np.array(size)))
    mantissa, _ = np.frexp(power)
    assert mantissa == 0.5  # so multiplying by it is exact
    assert 0.5 <= size * power < 1.0


def test_power_of_two_of_zero_is_one_and_that_of_the_smallest_and_largest_numbers_fits_float32() -> None:
    sizes = np.array([0.0, 5e-324, 1e-300, 1e300, np.finfo(float).max])
    powers = power_of_two(sizes)
    assert powers[0] == 1.0
    as_float32 = powers.astype(np.float32)
    np.testing.assert_array_equal(as_float32, powers)
    assert (as_float32 > 0).all()

"""Test the passes over the rows that fit a Gaussian against the definition of each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.scoring.gaussian import column_moments, squared_distances
from lexshift.utils.arrays import Matrix

DTYPES = (np.float32, np.float64)


def awkward(n: int, d: int, dtype: npt.DTypeLike, seed: int, mean: float = 0.0) -> Matrix:
    """Return ill-conditioned rows: a large common mean, and a few dimensions 100 times larger than the rest."""
    rng = np.random.default_rng(seed)
    size = np.where(np.arange(d) % 7 == 3, 100.0, 1.0)
    return ((rng.normal(size=(n, d)) + mean) * size).astype(dtype)


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
    # Where values cancel, only their rounding remains; for squares it is multiplied by the mean over the spread.
    np.testing.assert_allclose(got_mean, values.mean(axis=0), rtol=1e-12, atol=1e-15 * size)
    np.testing.assert_allclose(squares, values.var(axis=0) * n, rtol=5e-12, atol=n * (1e-15 * size) ** 2)


def test_moments_of_a_mean_far_larger_than_the_spread_lose_no_digits() -> None:
    steps = np.tile([0.0, 1.0, 2.0, 3.0], 50)  # exact: variance 1.25, whatever is added
    mean, squares = column_moments(1e8 + np.outer(steps, [1.0, 1024.0]), np.ones(200))
    np.testing.assert_array_equal(mean, [1e8 + 1.5, 1e8 + 1536.0])
    np.testing.assert_allclose(squares, [250.0, 250.0 * 1024**2], rtol=1e-15)


def test_moments_of_equal_rows_have_zero_spread() -> None:
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


@pytest.mark.parametrize("dtype", DTYPES)
def test_passes_do_not_modify_their_arguments(dtype: npt.DTypeLike) -> None:
    rows, ones = awkward(30, 9, dtype, 0), np.ones(30)
    before = rows.copy(), ones.copy()
    column_moments(rows, ones)
    squared_distances(rows, ones[:9])
    for array, copy in zip((rows, ones), before, strict=True):
        np.testing.assert_array_equal(array, copy)

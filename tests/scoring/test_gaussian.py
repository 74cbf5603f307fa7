"""Test the Gaussian of a set of rows: accepted types, refused values, and error messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift import Gaussian
from lexshift.scoring.gaussian import fit, row_weights
from lexshift.utils import checks
from lexshift.utils.arrays import Array

WHOLE = np.random.default_rng(0).integers(-9, 10, size=(12, 5))  # exact in every type


def assert_fits(g: Gaussian, rows: Array) -> None:
    """Check that ``g`` has the float64 mean and sample variance of the rows by numpy."""
    exact = rows.astype(float)
    variance, size = exact.var(axis=0, ddof=1), np.abs(exact).max()
    rounding = 1e-15 * size  # of a value
    assert g.mean.dtype == g.variance.dtype == np.float64
    assert g.mean.shape == g.variance.shape == (rows.shape[1],)
    assert g.count == len(rows)
    np.testing.assert_allclose(g.mean, exact.mean(axis=0), rtol=1e-12, atol=rounding)
    assert (np.abs(g.variance - variance) <= 1e-12 * variance + 2 * rounding * np.sqrt(variance) + rounding**2).all()


@given(
    n=st.integers(2, 120),
    d=st.integers(1, 100),
    dtype=st.sampled_from([np.float32, np.float64]),
    mean=st.sampled_from([0.0, 50.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_fit_gives_the_mean_and_the_sample_variance(
    n: int, d: int, dtype: npt.DTypeLike, mean: float, seed: int
) -> None:
    rows = (np.random.default_rng(seed).normal(size=(n, d)) + mean).astype(dtype)
    assert_fits(Gaussian.fit(rows), rows)


@given(
    n=st.integers(2, 60),
    d=st.integers(1, 60),
    dtype=st.sampled_from([np.float32, np.float64]),
    unit=st.sampled_from([1.0, 1e-25, 1e25]),
    seed=st.integers(0, 2**32 - 1),
)
def test_fit_of_unit_rows_equals_that_of_the_normalised_rows(
    n: int, d: int, dtype: npt.DTypeLike, unit: float, seed: int
) -> None:
    rows = (np.random.default_rng(seed).normal(size=(n, d)) * unit).astype(dtype)
    exact = rows.astype(float)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    assert_fits(fit(rows, "rows", unit=True), exact)


def test_row_weight_is_one_or_one_over_its_length() -> None:
    rows = np.array([[3.0, 4.0], [0.0, -2.0], [1e-3, 0.0]])
    np.testing.assert_array_equal(row_weights(rows, "rows", unit=False), [1.0, 1.0, 1.0])
    np.testing.assert_allclose(row_weights(rows, "rows", unit=True), [0.2, 0.5, 1e3], rtol=1e-15)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_unit_rows_whose_squares_overflow_are_refused_and_not_mistaken_for_zeros(size: float) -> None:
    rows = np.array([[3.0, 4.0], [0.0, -2.0], [1.0, 1.0]])
    refusal = ""
    try:
        g = fit(rows * size, "rows", unit=True)
    except ValueError as error:
        refusal = str(error)
    else:  # otherwise the answer must be correct
        assert_fits(g, rows / np.linalg.norm(rows, axis=1, keepdims=True))
    assert "row of zeros" not in refusal


def test_row_of_zeros_has_no_direction_and_is_named() -> None:
    rows = np.ones((5, 3))
    rows[3] = 0.0
    with pytest.raises(ValueError, match=r"old has a row of zeros \(row 3\).*undefined"):
        fit(rows, "old", unit=True)
    assert fit(rows, "old").mean.tolist() == [0.8, 0.8, 0.8]


def test_row_of_zeros_is_not_confused_with_a_row_that_contains_nan() -> None:
    rows = np.ones((5, 3))
    rows[1, 0], rows[3] = np.nan, 0.0
    with pytest.raises(ValueError, match=r"row of zeros \(row 3\)|nan at row 1, dimension 0"):
        fit(rows, "old", unit=True)


AS_OTHERS: dict[str, Any] = {
    "list of lists": WHOLE.tolist(),
    "list of tuples": [tuple(row) for row in WHOLE.tolist()],
    "list of arrays": list(WHOLE),
    "int8": WHOLE.astype(np.int8),
    "int64": WHOLE.astype(np.int64),
    "float16": WHOLE.astype(np.float16),
    "float32": WHOLE.astype(np.float32),
    "long double": WHOLE.astype(np.longdouble),
    "big-endian": WHOLE.astype(">f4"),
    "Fortran order": np.asfortranarray(WHOLE.astype(float)),
    "transposed view": np.ascontiguousarray(WHOLE.T.astype(np.float32)).T,
    "every second column": np.repeat(WHOLE.astype(float), 2, axis=1)[:, ::2],
    "every third row": np.repeat(WHOLE.astype(np.float32), 3, axis=0)[::3],
    "reversed twice over": WHOLE.astype(float)[::-1, ::-1].copy()[::-1, ::-1],
    "not aligned": np.frombuffer(b"-" + WHOLE.astype(float).tobytes(), offset=1).reshape(WHOLE.shape),
}


@pytest.mark.parametrize("kind", AS_OTHERS)
def test_any_array_like_of_real_numbers_is_accepted(kind: str) -> None:
    assert_fits(Gaussian.fit(AS_OTHERS[kind]), WHOLE)


def test_booleans_and_unsigned_integers_are_accepted_as_numbers() -> None:
    assert_fits(Gaussian.fit(WHOLE > 0), (WHOLE > 0).astype(float))
    assert_fits(Gaussian.fit(WHOLE.astype(np.uint8)), WHOLE.astype(np.uint8))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8])
def test_rows_keep_float32_or_float64_and_are_copied_only_if_necessary(dtype: npt.DTypeLike) -> None:
    given_rows = WHOLE.astype(dtype)
    read = checks.rows(given_rows, "rows")
    assert read.dtype == (np.float32 if dtype in (np.float16, np.float32) else np.float64)
    assert np.shares_memory(read, given_rows) == (dtype in (np.float32, np.float64))


def test_read_only_array_is_accepted() -> None:
    rows = WHOLE.astype(np.float32)
    rows.flags.writeable = False
    assert_fits(Gaussian.fit(rows), WHOLE)


def test_rows_are_never_modified() -> None:
    for rows in AS_OTHERS.values():
        before = np.array(rows)
        g = Gaussian.fit(rows)
        g.mean[:] = g.variance[:] = -1.0
        np.testing.assert_array_equal(np.array(rows), before)
    weighted = WHOLE + 0.5
    fit(weighted, "rows", unit=True)
    np.testing.assert_array_equal(weighted, WHOLE + 0.5)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (np.ones((1, 3)), "rows has 1 row; a variance needs at least 2"),
        (np.ones((0, 3)), "rows has no rows; a variance needs at least 2"),
        (np.ones((4, 0)), r"rows has rows of 0 dimensions \(shape \(4, 0\)\)"),
        ([1.0, 2.0, 3.0], r"rows must be a 2-D array .*got 1-D of shape \(3,\)"),
        (np.ones((2, 2, 2)), r"rows must be a 2-D array .*got 3-D of shape \(2, 2, 2\)"),
        (5.0, "rows must be a 2-D array .*got float"),
        ([], r"rows must be a 2-D array .*got 1-D of shape \(0,\)"),
        (None, "rows must be a 2-D array .*got NoneType"),
        ("bank", "rows must be a 2-D array .*got str"),
        (np.ma.masked_equal(WHOLE, WHOLE[0, 0]), "rows has masked values"),
        ([["1", "2"], ["3", "4"]], "rows must hold real numbers; got an array of <U1"),
        ([[1.0, "2"], [3.0, 4.0]], "rows must hold real numbers; got an array of <U"),
        ([[1.0, None], [3.0, 4.0]], "rows must hold real numbers; got an array of object"),
        (np.ones((2, 2), complex), "rows must hold real numbers; got an array of complex128"),
        (np.ones((2, 2), "M8[s]"), "rows must hold real numbers; got an array of datetime64"),
        ([[1.0, 2.0], [3.0]], r"rows must be a 2-D array of numbers \(occurrences x dimensions\): .*inhomogeneous"),
    ],
)
def test_invalid_rows_are_refused_by_name(rows: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Gaussian.fit(rows)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused_with_their_position(bad: float, dtype: npt.DTypeLike, unit: bool) -> None:
    rows = np.ones((50, 9), dtype)
    rows[37, 4] = rows[37, 6] = rows[40, 0] = bad
    with pytest.raises(
        ValueError, match=f"old holds {bad} at row 37, dimension 4; every value must be a finite number"
    ):
        fit(rows, "old", unit)


def test_infinities_that_cancel_are_refused() -> None:
    with pytest.raises(ValueError, match="rows holds inf at row 0, dimension 1"):
        Gaussian.fit([[1.0, np.inf], [1.0, -np.inf], [1.0, 0.0]])


@pytest.mark.parametrize("rows", [[[1e308], [1e308], [1e308]], [[1e200], [-1e200]]], ids=["the mean", "the variance"])
def test_finite_values_whose_sums_overflow_are_refused(rows: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="rows holds values too large for their sums to be finite; rescale it"):
        Gaussian.fit(rows)


def test_values_too_small_for_their_squares_are_refused_and_constants_accepted() -> None:
    with pytest.raises(ValueError, match="rows contains values so small that their squares underflow to 0; rescale it"):
        Gaussian.fit(WHOLE * 1e-200)
    constant = np.tile([1e-200, 0.0, 5.0], (4, 1))
    assert_fits(Gaussian.fit(constant), constant)


def test_largest_float32_values_are_accepted() -> None:
    rows = np.full((100, 3), np.finfo(np.float32).max)
    rows[::2] *= -1
    assert_fits(Gaussian.fit(rows), rows)

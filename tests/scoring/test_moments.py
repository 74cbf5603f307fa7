"""Sums of many selections of rows at once, against a loop over the rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.scoring.moments import FEW, MANY, Products, batches
from lexshift.utils.arrays import Array, Floats, Matrix

EXACTNESS = {"float32": 1e-6, "float64": 1e-12}  # relative to the sum of the sizes of what is summed


def slow_sums(products: Products, times: Array, unit: bool) -> tuple[Floats, Floats, Floats]:
    """Sums, sums of squares, and sums of sizes (the natural scale of the sums), one row at a time."""
    shape = len(times), products.rows.shape[1]
    sums, squares, sizes = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    centre, scale = products.centre.astype(float), products.scale.astype(float)
    for b, i in itertools.product(range(len(times)), range(len(products.rows))):
        row = products.rows[i].astype(float)
        if unit:
            row = row / np.linalg.norm(row)
        z = (row - centre) * scale
        sums[b] += times[b, i] * z
        squares[b] += times[b, i] * z**2
        sizes[b] += times[b, i] * abs(z)
    return sums, squares, sizes


def agree(rows: Matrix, times: Array, unit: bool, variance: bool) -> None:
    values = rows / np.linalg.norm(rows, axis=1, keepdims=True) if unit else rows
    centre, scale = values.mean(axis=0, dtype=float) + 0.1, np.exp2(-np.arange(rows.shape[1], dtype=float))
    products = Products(rows, "rows", centre, scale, values.var(axis=0, dtype=float), variance, unit)
    fast_sums, fast_squares = products.sums(times)
    sums, squares, sizes = slow_sums(products, times, unit)
    exactness = EXACTNESS["float64" if unit else str(rows.dtype)]
    assert fast_sums.dtype == fast_squares.dtype == np.float64
    assert (abs(fast_sums - sums) <= exactness * sizes).all()
    if variance:
        squares_scale = squares + times.sum(axis=1, keepdims=True) * products.square.astype(float)
        assert (abs(fast_squares - squares) <= exactness * squares_scale).all()
    else:
        assert fast_squares.shape == (len(times), 0)


@given(
    shape=st.tuples(st.integers(1, 6), st.integers(1, 40), st.integers(1, 20)),
    dtype=st.sampled_from(["float32", "float64"]),
    unit=st.booleans(),
    variance=st.booleans(),
    mean=st.sampled_from([0.0, 1.0, -50.0]),
    seed=st.integers(0, 1000),
)
def test_sums_are_those_of_a_loop_over_the_rows(
    shape: tuple[int, int, int], dtype: Any, unit: bool, variance: bool, mean: float, seed: int
) -> None:
    b, n, d = shape
    rng = np.random.default_rng(seed)
    agree(rng.normal(mean, 1, (n, d)).astype(dtype), rng.integers(0, 4, (b, n)), unit, variance)


@pytest.mark.parametrize("n", [1023, 1024, 1025, 2500])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("unit", [False, True])
def test_sums_of_more_rows_than_one_product_takes(n: int, dtype: Any, unit: bool) -> None:
    rng = np.random.default_rng(n)
    agree(rng.normal(3, 1, (n, 5)).astype(dtype), rng.integers(0, 2, (3, n)).astype(np.uint8), unit, variance=True)


def test_float32_sums_of_many_rows_do_not_drift() -> None:
    rows = np.full((100_000, 1), 1 / 3, np.float32)
    products = Products(rows, "rows", np.zeros(1), np.ones(1), np.zeros(1), True, False)
    sums, squares = products.sums(np.ones((1, len(rows)), np.uint8))
    third = float(rows[0, 0])
    assert sums.item() == pytest.approx(100_000 * third, rel=1e-6)
    assert squares.item() == pytest.approx(100_000 * third**2, rel=1e-6)


@given(total=st.integers(0, 2_000), cells=st.integers(1, 10_000_000), most=st.sampled_from([FEW, MANY]))
def test_batches_make_up_the_total_within_the_bound(total: int, cells: int, most: int) -> None:
    sizes = list(batches(total, cells, most))
    assert sum(sizes) == total
    assert all(size == 1 or size * cells <= most for size in sizes)
    assert all(size >= 1 for size in sizes)


def test_batches_are_no_smaller_than_they_need_be() -> None:
    assert list(batches(25, 10, 100)) == [10, 10, 5]

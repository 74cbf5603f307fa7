"""Test the shift of usages against a general optimiser, the conditions of an optimum, and planted senses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from lexshift.senses.usage_shift import usage_shift
from lexshift.utils.arrays import Floats

SHAPES = st.tuples(st.integers(1, 5), st.integers(1, 5))
DISTANCES = SHAPES.flatmap(lambda shape: npst.arrays(float, shape, elements=st.floats(0, 2, width=16)))
REACHES = st.sampled_from([0.25, 0.5, 1.0, 2.0])


def objective(plan: Floats, distances: Floats, penalty: float) -> float:
    """Return the objective by its definition."""
    n, m = distances.shape
    total = 0.0
    for i in range(n):
        total += penalty * (sum(plan[i]) - 1 / n) ** 2 + sum(plan[i, j] * distances[i, j] for j in range(m))
    for j in range(m):
        total += penalty * (sum(plan[:, j]) - 1 / m) ** 2
    return float(total)


def slow_shift(distances: Floats, reach: float) -> tuple[Floats, Floats]:
    """Minimise the objective over all entries of the plan."""
    n, m = distances.shape
    penalty = reach / (2 * (1 / n + 1 / m))

    def gradient(x: Floats) -> Floats:
        plan = x.reshape(n, m)
        slope = 2 * penalty * (plan.sum(1)[:, None] - 1 / n + plan.sum(0) - 1 / m)
        return (distances + slope).ravel()

    found = minimize(
        lambda x: objective(x.reshape(n, m), distances, penalty),
        np.full(n * m, 1 / (n * m)),
        jac=gradient,
        method="L-BFGS-B",
        bounds=[(0, None)] * (n * m),
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
    )
    plan = found.x.reshape(n, m)
    return n * plan.sum(axis=1) - 1, 1 - m * plan.sum(axis=0)


@settings(max_examples=100, deadline=None)
@given(DISTANCES, REACHES)
def test_shift_equals_that_of_a_general_optimiser(distances: Floats, reach: float) -> None:
    fast = usage_shift(distances, reach, iterations=50_000, tolerance=1e-12)
    for ours, slow in zip(fast, slow_shift(distances, reach), strict=True):
        assert_allclose(ours, slow, rtol=0, atol=1e-3)


@settings(max_examples=50, deadline=None)
@given(DISTANCES, REACHES)
def test_default_limits_are_accurate_enough(distances: Floats, reach: float) -> None:
    exact = usage_shift(distances, reach, iterations=50_000, tolerance=1e-12)
    for ours, wanted in zip(usage_shift(distances, reach), exact, strict=True):
        assert_allclose(ours, wanted, rtol=0, atol=0.02)


@given(DISTANCES, REACHES)
def test_shift_is_at_least_minus_one_in_the_old_and_at_most_one_in_the_new_period(
    distances: Floats, reach: float
) -> None:
    shift_old, shift_new = usage_shift(distances, reach)
    assert shift_old.min() >= -1
    assert shift_new.max() <= 1
    # The plan has one total mass, so the mean shifts of the periods are opposite.
    assert shift_old.mean() == pytest.approx(-shift_new.mean(), abs=1e-9)


def test_usages_out_of_reach_have_the_largest_shift() -> None:
    shift_old, shift_new = usage_shift(np.full((3, 2), 1.5), reach=1.5)
    assert (shift_old.tolist(), shift_new.tolist()) == ([-1.0] * 3, [1.0] * 2)


def test_single_usages_share_the_distance() -> None:
    """The mass x of one pair minimises 0.5 x + 2 lambda (x - 1)^2 with lambda = 0.5: x = 0.75."""
    shift_old, shift_new = usage_shift(np.array([[0.5]]), reach=2.0, tolerance=1e-12)
    assert_allclose([shift_old[0], shift_new[0]], [-0.25, 0.25], atol=1e-9)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=4).filter(
        lambda counts: all(sum(side) > 0 for side in zip(*counts, strict=True))
    )
)
def test_usages_of_distant_senses_have_the_contrast_of_the_shares(counts: list[tuple[int, int]]) -> None:
    """Within a sense of k old and l new usages, every row sum is 1/n + x and every column sum 1/m - x."""
    old, new = (np.repeat(np.arange(len(counts)), side) for side in zip(*counts, strict=True))
    shift_old, shift_new = usage_shift(1.0 * (old[:, None] != new), reach=1.0, tolerance=1e-10)
    n, m = len(old), len(new)
    for sense, (k, l) in enumerate(counts):  # noqa: E741
        contrast = (l / m - k / n) / (k + l) if k + l else 0.0
        assert_allclose(shift_old[old == sense], n * contrast, atol=1e-6)
        assert_allclose(shift_new[new == sense], m * contrast, atol=1e-6)

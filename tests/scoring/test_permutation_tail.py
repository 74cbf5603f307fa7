"""Test the approximation of a small p by a generalised Pareto tail against known distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lexshift.scoring.permutation_tail import (
    _CRITICAL,
    EXCEEDANCES,
    MIN_TAIL_P,
    _anderson_darling,
    _fit,
    largest_values,
    tail_p,
)
from lexshift.utils.arrays import Floats

DRAWN = 100_000
TAILS: dict[str, Any] = {
    "exponential": stats.expon(),
    "chi-square, 3": stats.chi2(3),
    "chi-square, 50": stats.chi2(50),
    "gamma": stats.gamma(0.5),
    "normal": stats.norm(),
    "bounded": stats.beta(2, 20),
}


def largest_of(distribution: Any, seed: int) -> Floats:
    """Draw the largest of DRAWN values of a distribution without drawing the others."""
    rng = np.random.default_rng(seed)
    waits = np.cumsum(rng.exponential(size=EXCEEDANCES + 1))
    survival = waits / (waits[-1] + rng.gamma(DRAWN - EXCEEDANCES))  # uniform order statistics
    return np.asarray(distribution.isf(survival))


@pytest.mark.parametrize("p", [5e-6, 1e-6, 1e-8])
@pytest.mark.parametrize("name", TAILS)
def test_approximation_is_near_the_exact_tail_probability(name: str, p: float) -> None:
    distribution = TAILS[name]
    observed = float(distribution.isf(p))
    found = [tail_p(largest_of(distribution, seed), observed, DRAWN) for seed in range(60)]
    ratios = np.array([value / p for value in found if value is not None])
    assert len(ratios) >= 55
    # Too small a p gives false discoveries, so the error is limited to a factor of 2 on average.
    assert (1 / ratios).mean() < 2
    decades = {5e-6: 0.5, 1e-6: 0.8, 1e-8: 1.8}[p]
    assert abs(np.median(np.log10(ratios))) < decades


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(TAILS)), st.integers(0, 10**6), st.floats(0, 1e12))
def test_p_is_never_0_and_never_above_the_share_beyond_the_threshold(name: str, seed: int, beyond: float) -> None:
    largest = largest_of(TAILS[name], seed)
    found = tail_p(largest, float(largest.max() + beyond), DRAWN)
    assert found is None or MIN_TAIL_P <= found <= EXCEEDANCES / DRAWN


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(sorted(TAILS)), st.integers(0, 10**6))
def test_larger_value_never_has_a_larger_p(name: str, seed: int) -> None:
    largest = largest_of(TAILS[name], seed)
    found = [tail_p(largest, float(largest.max() * factor), DRAWN) for factor in (1, 1.1, 1.5, 4)]
    if found[0] is not None:
        assert found == sorted(found, reverse=True)  # type: ignore[type-var]  # all are numbers if the first is


def test_tail_of_another_form_is_not_approximated() -> None:
    assert tail_p(largest_of(stats.uniform(), 0), 1.0, DRAWN) is None
    steps = np.repeat(np.arange(10.0), 26)[: EXCEEDANCES + 1]
    assert tail_p(steps, 20.0, DRAWN) is None
    assert tail_p(np.ones(EXCEEDANCES + 1), 1.0, DRAWN) is None
    assert tail_p(np.ones(EXCEEDANCES + 1), 2.0, DRAWN) is None


def test_too_few_values_are_not_approximated() -> None:
    assert tail_p(np.arange(float(EXCEEDANCES)), 1e6, DRAWN) is None


@pytest.mark.parametrize("shape", [0.0, 0.3])
def test_fit_to_generalised_pareto_values_is_mostly_accepted(shape: float) -> None:
    rng = np.random.default_rng(3)
    rejected, shapes = 0, []
    for _ in range(300):
        above = np.sort(stats.genpareto(shape, scale=2.5).rvs(EXCEEDANCES, random_state=rng))[::-1]
        fitted = _fit(above)
        shapes.append(fitted[0])
        rejected += _anderson_darling(above, *fitted) > _CRITICAL
    assert 0.01 < rejected / 300 < 0.15
    assert abs(np.mean(shapes) - shape) < 0.05


@settings(deadline=None)
@given(st.lists(st.integers(0, 600), max_size=5), st.integers(0, 99))
def test_largest_values_are_taken_from_all_batches(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    batches = [rng.normal(size=size) for size in sizes]
    largest = np.empty(0)
    for batch in batches:
        largest = largest_values(largest, batch)
    everything = np.sort(np.concatenate([np.empty(0), *batches]))
    assert np.sort(largest).tolist() == everything[-EXCEEDANCES - 1 :].tolist()

"""Test steps and gradual drifts: the models against their definitions, and the shapes of planted changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.scoring.changepoints import (
    GRADUAL,
    STEP,
    change_points,
    classify_shape,
    polynomial_degree,
    project_on_components,
    trend_gains,
    trend_penalty,
)


def shapes(
    levels: Sequence[float], runs: int, usages: tuple[int, int], times: Sequence[int] | None = None
) -> list[str]:
    """Return the shapes of words with the given levels per period in one of ten dimensions and unequal usages."""
    found = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        periods = [rng.normal(size=(rng.integers(*usages), 10)) + level * np.eye(10)[0] for level in levels]
        found.append(change_points(periods, shuffles=99, seed=seed, times=times).shape)
    return found


@given(st.integers(3, 12), st.integers(1, 3), st.integers(0, 10**6))
def test_gain_of_a_trend_is_the_part_explained_by_a_fitted_polynomial(periods: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes, times = rng.integers(1, 9, periods).astype(float), np.cumsum(rng.integers(1, 4, periods))
    means = rng.normal(size=(periods, d))
    means -= sizes @ means / sizes.sum()
    gains = trend_gains(means * sizes[:, None], sizes, times.tolist())
    assert len(gains) == polynomial_degree(periods)
    for power, gain in enumerate(gains, start=1):
        fitted = np.polynomial.polynomial.polyfit(times - times.mean(), means, power, w=np.sqrt(sizes))
        left = means - np.polynomial.polynomial.polyval(times - times.mean(), fitted).T
        assert gain == pytest.approx(float(sizes @ (means**2 - left**2).sum(axis=1)), rel=1e-6, abs=1e-6)


def test_penalty_of_a_trend_is_a_quantile_of_the_gains_of_shuffled_usages() -> None:
    rng = np.random.default_rng(0)
    rows, sizes = project_on_components(rng.normal(size=(90, 6)) * [3, 2, 1, 1, 1, 0.5]), np.array([30.0, 10, 20, 30])
    starts = np.cumsum([0, 30, 10, 20])
    gains = [
        trend_gains(np.add.reduceat(rows[rng.permutation(90)], starts, axis=0), sizes, range(4))[0] for _ in range(4000)
    ]
    for alpha in (0.05, 0.2):
        assert np.mean(np.array(gains) > trend_penalty(rows, alpha)) == pytest.approx(alpha, rel=0.25)


@pytest.mark.parametrize("periods", [3, 4, 5, 10])
def test_steady_drift_is_gradual(periods: int) -> None:
    assert shapes(np.linspace(0, 2.5, periods).tolist(), 40, (10, 40)).count(GRADUAL) >= 34


def test_drift_that_slows_down_is_gradual() -> None:
    assert shapes([3 - 3 * 0.7**t for t in range(10)], 20, (50, 100)).count(GRADUAL) >= 18


@pytest.mark.parametrize(
    "levels",
    [[0, 0, 2], [0, 2, 2, 2], [0, 0, 2, 2, 2], [0] * 5 + [2] * 5, [0] * 9 + [2], [0, 0, 2, 2, 0, 0], [0, 2, 0]],
    ids=["third", "second of four", "third of five", "the middle of ten", "last of ten", "there and back", "of three"],
)
def test_step_is_classified_as_a_step(levels: list[float]) -> None:
    assert shapes([1.25 * level for level in levels], 40, (10, 40)).count(STEP) >= 36


def test_drift_is_measured_against_time_and_not_the_number_of_periods() -> None:
    times = [0, 1, 8, 9]
    levels = [time / 3 for time in times]
    assert shapes(levels, 20, (30, 60), times).count(GRADUAL) >= 18
    assert shapes(levels, 20, (30, 60)).count(STEP) >= 18


def test_without_three_periods_or_a_change_there_is_no_shape() -> None:
    assert set(shapes([0, 3], 5, (20, 30))) == {""}
    assert shapes([0, 0, 0, 0], 20, (20, 30)).count("") >= 17
    rows = np.zeros((9, 2))
    assert classify_shape(rows, np.zeros((3, 2)), np.full(3, 3.0), range(3), (1,), 0.0, 0.05) == STEP

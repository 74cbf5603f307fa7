"""Test change points: the penalty against all segmentations, the rate of false alarms, and planted steps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from lexshift.scoring.changepoints import (
    best_change_points,
    change_points,
    highest_penalty,
    project_on_components,
    segments,
)
from lexshift.utils.arrays import Floats

shapes = st.tuples(st.integers(2, 7), st.integers(1, 4), st.integers(0, 10**6))


def drawn(periods: int, d: int, seed: int) -> tuple[Floats, Floats]:
    """Return the centred sums and the sizes of random usages."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, periods).astype(float)
    sums = rng.normal(size=(periods, d)) * sizes[:, None]
    return sums - sizes[:, None] * (sums.sum(axis=0) / sizes.sum()), sizes


def all_segmentations(periods: int) -> Iterator[tuple[int, ...]]:
    for n in range(periods):
        yield from itertools.combinations(range(1, periods), n)


def cost(at: Sequence[int], sums: Floats, sizes: Floats) -> float:
    """Sum the squared distances of the period means to the mean of their segment, weighted by the usages."""
    total = 0.0
    for begin, end in segments(at, len(sizes)):
        middle = sums[begin:end].sum(axis=0) / sizes[begin:end].sum()
        for t in range(begin, end):
            total += sizes[t] * float(((sums[t] / sizes[t] - middle) ** 2).sum())
    return total


@given(shapes)
def test_maximum_penalty_is_the_best_gain_of_a_change_point(shape: tuple[int, int, int]) -> None:
    sums, sizes = drawn(*shape)
    none = cost((), sums, sizes)
    gains = [(none - cost(at, sums, sizes)) / len(at) for at in all_segmentations(len(sizes)) if at]
    assert highest_penalty(sums, sizes) == pytest.approx(max(gains), rel=1e-9, abs=1e-12)


@given(shapes, st.floats(0.01, 1.2))
def test_segmentation_has_the_lowest_cost(shape: tuple[int, int, int], share: float) -> None:
    sums, sizes = drawn(*shape)
    penalty = share * highest_penalty(sums, sizes)
    found = best_change_points(sums, sizes, penalty)
    costs = {at: cost(at, sums, sizes) + penalty * len(at) for at in all_segmentations(len(sizes))}
    assert costs[found] == pytest.approx(min(costs.values()), rel=1e-9, abs=1e-9)
    assert bool(found) == (share < 1) or math.isclose(share, 1, rel_tol=1e-6)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 12), st.integers(0, 10**6))
def test_leading_components_match_the_singular_values(n: int, d: int, most: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(n, d))
    centred = rows - rows.mean(axis=0)
    found = project_on_components(rows, most)
    _, values, axes = np.linalg.svd(centred, full_matrices=False)
    kept = min(n, d, most)
    assert found.shape == (n, kept)
    expected = centred @ axes[:kept].T  # up to the sign of each axis
    assert np.abs(found) == pytest.approx(np.abs(expected), abs=1e-6 * (1 + values[0]))
    assert found @ found.T == pytest.approx(expected @ expected.T, abs=1e-6 * (1 + values[0] ** 2))


def test_stable_word_gets_a_change_point_with_probability_alpha() -> None:
    alpha, runs = 0.1, 500
    called = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        periods = [rng.normal(size=(n, 4)) for n in rng.integers(3, 15, 7)]
        found = change_points(periods, alpha, shuffles=99, seed=seed)
        assert bool(found.at) == (found.p <= alpha)
        called += bool(found.at)
    assert binom.ppf(1e-4, runs, alpha) <= called <= binom.ppf(1 - 1e-4, runs, alpha)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([0, 0, 0, 0, 2, 2, 2], (4,)),
        ([0, 2, 2, 2, 2, 2, 2], (1,)),
        ([0, 0, 0, 2, 2, 0, 0], (3, 5)),
        ([0, 0, 2, 2, 4, 4, 4], (2, 4)),
        ([0, 3], (1,)),
    ],
    ids=["a step", "an early step", "there and back", "two steps", "two periods"],
)
def test_planted_steps_are_found_at_their_positions(levels: list[float], expected: tuple[int, ...]) -> None:
    right = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        periods = [rng.normal(size=(12, 8)) + level * (np.arange(8) < 3) for level in levels]
        right += change_points(periods, 0.05, shuffles=199, seed=seed).at == expected
    assert right >= 28


def test_change_in_few_usages_of_many_periods_is_weighted_by_usages() -> None:
    rng = np.random.default_rng(0)
    periods = [rng.normal(size=(n, 3)) + (2 if i >= 3 else 0) for i, n in enumerate([40, 3, 40, 3, 40, 40])]
    assert change_points(periods).at == (3,)


def test_answer_depends_only_on_seed_and_word() -> None:
    rng = np.random.default_rng(1)
    periods = [rng.normal(size=(9, 3)) for _ in range(5)]
    first = change_points(periods, shuffles=50, seed=3, word="mouse")
    assert first == change_points(periods, shuffles=50, seed=3, word="mouse")
    assert first.penalty != change_points(periods, shuffles=50, seed=4, word="mouse").penalty
    assert first.penalty != change_points(periods, shuffles=50, seed=3, word="cell").penalty


def test_identical_usages_have_no_change_point() -> None:
    found = change_points([np.ones((5, 3), np.float32)] * 4, shuffles=99)
    assert (found.at, found.p) == ((), 1.0)


def test_too_few_shuffles_for_alpha_find_nothing() -> None:
    periods = [np.random.default_rng(i).normal(9 * i, 1, size=(9, 2)) for i in range(3)]
    found = change_points(periods, alpha=0.05, shuffles=9)
    assert (found.at, found.p, found.penalty) == ((), 0.1, math.inf)


@pytest.mark.parametrize("sizes", [[5], [5, 0, 5]], ids=["one period", "an empty one"])
def test_invalid_input_is_refused(sizes: list[int]) -> None:
    with pytest.raises(ValueError, match="at least two periods with at least one usage each"):
        change_points([np.zeros((n, 2)) for n in sizes])

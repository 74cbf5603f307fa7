"""Test correlation clustering against its objective, computed from the definition, and against all partitions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.senses.graph import maximise_agreement
from lexshift.utils.arrays import Floats


def slow_objective(weights: Floats, labels: list[int]) -> float:
    """Sum the weights of all pairs of usages in the same group."""
    n = len(labels)
    return sum(float(weights[i, j]) for i in range(n) for j in range(i) if labels[i] == labels[j])


def all_partitions(n: int) -> Iterator[list[int]]:
    """Return every division of n usages into groups."""
    if n == 0:
        yield []
        return
    for rest in all_partitions(n - 1):
        for label in range(max(rest, default=-1) + 2):
            yield [*rest, label]


def random_weights(n: int, seed: int) -> Floats:
    upper = np.triu(np.random.default_rng(seed).normal(size=(n, n)), 1)
    return upper + upper.T


@given(st.integers(1, 9), st.integers(0, 999))
def test_no_move_and_no_merge_increases_the_sum(n: int, seed: int) -> None:
    weights = random_weights(n, seed)
    start = np.unique(np.random.default_rng(seed).integers(0, 3, n), return_inverse=True)[1]
    found = maximise_agreement(weights, start).tolist()
    best = slow_objective(weights, found) + 1e-8
    assert slow_objective(weights, start.tolist()) <= best
    assert sorted(set(found)) == list(range(max(found) + 1))
    for usage in range(n):
        for group in range(max(found) + 2):
            assert slow_objective(weights, [*found[:usage], group, *found[usage + 1 :]]) <= best
    for a in range(max(found) + 1):
        for b in range(a):
            assert slow_objective(weights, [b if label == a else label for label in found]) <= best


@pytest.mark.parametrize("seed", range(6))
def test_best_of_all_partitions_is_found_if_groups_are_clear(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 7)
    weights = np.where(truth[:, None] == truth, 1.0, -1.0) + 0.4 * random_weights(7, seed)
    np.fill_diagonal(weights, 0)
    best = max(slow_objective(weights, labels) for labels in all_partitions(7))
    found = maximise_agreement(weights, np.zeros(7, np.intp))
    assert slow_objective(weights, found.tolist()) == pytest.approx(best)


def test_usages_leave_a_group_for_one_of_their_own() -> None:
    weights = np.array([[0.0, 1.0, -2.0], [1.0, 0.0, -2.0], [-2.0, -2.0, 0.0]])
    assert maximise_agreement(weights, np.zeros(3, np.intp)).tolist() in ([0, 0, 1], [1, 1, 0])

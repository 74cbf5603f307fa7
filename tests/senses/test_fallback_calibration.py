"""Test the estimated calibration against cosines of all pairs of usages."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lexshift.senses.fallback_calibration import estimate_calibration
from lexshift.senses.similarity import cosine_at, cosines
from lexshift.utils.arrays import Matrix


def slow_means(groups: list[Matrix]) -> tuple[float, float]:
    """Average cosines within words, and between words, each word or pair of words with the same weight."""

    def mean_within(rows: Matrix) -> float:
        return float(np.mean([cosines(rows)[i, j] for i, j in itertools.permutations(range(len(rows)), 2)]))

    def mean_between(a: Matrix, b: Matrix) -> float:
        return float(cosines(np.concatenate([a, b]))[: len(a), len(a) :].mean())

    within = [mean_within(rows) for rows in groups if len(rows) > 1]
    return float(np.mean(within)), float(np.mean([mean_between(a, b) for a, b in itertools.combinations(groups, 2)]))


@pytest.mark.parametrize("seed", range(5))
def test_scale_is_that_between_other_words_and_the_same_word(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = [rng.normal(size=6) + 0.7 * rng.normal(size=(rng.integers(1, 9), 6)) + 0.3 for _ in range(7)]
    same, other = slow_means(groups)
    found = estimate_calibration(groups)
    assert found.slope * (same - other) == pytest.approx(2.4)
    assert cosine_at(found, 0.5) == pytest.approx(other + 0.83 * (same - other))


def test_words_without_usages_are_left_out() -> None:
    rng = np.random.default_rng(0)
    groups = [rng.normal(size=4) + 0.2 * rng.normal(size=(5, 4)) for _ in range(3)]
    assert estimate_calibration([*groups, np.empty((0, 4))]) == estimate_calibration(groups)


def test_other_words_have_cosine_0_if_there_is_only_one_word() -> None:
    rows = np.array([[1.0, 0.0], [1.0, 1.0]])
    assert cosine_at(estimate_calibration([rows]), 0.5) == pytest.approx(0.83 * 0.5**0.5)


@pytest.mark.parametrize("groups", [[np.zeros((3, 2))], [np.ones((4, 2)), np.ones((4, 2))], [np.ones((1, 2))]])
def test_degenerate_vectors_give_a_finite_increasing_calibration(groups: list[Matrix]) -> None:
    found = estimate_calibration(groups)
    assert np.isfinite([found.slope, found.intercept]).all()
    assert found.slope > 0

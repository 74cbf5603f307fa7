"""Test graded change by senses against the definition of the Jensen-Shannon distance."""

from __future__ import annotations

from math import log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.encode.adaptation import Calibration
from lexshift.senses.agglomerative import RESOLUTIONS, Agglomerative
from lexshift.senses.graded_change import change_over_periods, graded_change, share_distance

CALIBRATION = Calibration(slope=6.0, intercept=-3.0)
LABELS = st.lists(st.integers(0, 4), min_size=1, max_size=12)


def slow_distance(old: list[int], new: list[int]) -> float:
    """Compute the square root of the mean divergence from the mean distribution, in bits."""
    total = 0.0
    for sense in {*old, *new}:
        p, q = old.count(sense) / len(old), new.count(sense) / len(new)
        total += sum(share * log2(share / ((p + q) / 2)) for share in (p, q) if share) / 2
    return sqrt(max(total, 0.0))


@given(LABELS, LABELS)
def test_distance_follows_the_definition(old: list[int], new: list[int]) -> None:
    assert share_distance(np.array(old), np.array(new)) == pytest.approx(slow_distance(old, new), abs=1e-7)


def test_score_is_the_mean_over_thresholds() -> None:
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(20, 5)) + 0.6, rng.normal((1, 0, 0, 0.5, 1), size=(25, 5))
    each = []
    for threshold in RESOLUTIONS:
        labels = Agglomerative(threshold).cluster(np.concatenate([old, new]), CALIBRATION).tolist()
        each.append(slow_distance(labels[:20], labels[20:]))
    assert graded_change(old, new, CALIBRATION) == pytest.approx(np.mean(each))
    assert len(set(each)) > 1


def test_a_new_sense_is_more_change_than_the_same_senses() -> None:
    rng = np.random.default_rng(0)
    noise = 0.1 * rng.normal(size=(3, 30, 12))
    first, second, other = np.eye(12)[0] + noise[0], np.eye(12)[0] + noise[1], np.eye(12)[1] + noise[2]
    assert graded_change(first, second, CALIBRATION) == 0
    assert graded_change(first, other, CALIBRATION) == 1


def test_first_and_last_period_with_enough_usages_are_compared() -> None:
    rng = np.random.default_rng(0)
    vectors, periods = rng.normal(size=(50, 5)) + 0.6, np.repeat([0, 1, 2, 3, 4], [2, 15, 10, 20, 3])
    groups = [vectors[periods == period] for period in range(5)]
    assert change_over_periods(vectors, periods, CALIBRATION, 10) == graded_change(groups[1], groups[3], CALIBRATION)
    assert change_over_periods(vectors, periods, CALIBRATION) == graded_change(groups[0], groups[4], CALIBRATION)
    assert change_over_periods(vectors, periods, CALIBRATION, 10) > 0


def test_change_of_a_single_period_is_not_known() -> None:
    vectors = np.ones((9, 2))
    assert np.isnan(change_over_periods(vectors, np.zeros(9, int), CALIBRATION))
    assert np.isnan(change_over_periods(vectors, np.repeat([0, 1], [8, 1]), CALIBRATION, 2))

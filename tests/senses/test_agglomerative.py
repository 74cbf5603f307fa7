"""Test average linkage against merging by hand, and cuts of the tree at several thresholds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lexshift.encode.adaptation import Calibration
from lexshift.senses.agglomerative import RESOLUTIONS, Agglomerative
from lexshift.senses.partition import merge_similar, number_by_size
from lexshift.senses.similarity import cosine_at, cosines, evidence_of_shared_sense

CALIBRATION = Calibration(slope=6.0, intercept=-3.0)


@given(st.integers(1, 25), st.integers(0, 999), st.floats(0.05, 0.95))
def test_clusters_are_those_of_repeatedly_merging_the_closest_groups(n: int, seed: int, threshold: float) -> None:
    vectors = np.random.default_rng(seed).normal(size=(n, 4)) + 0.5
    weights = evidence_of_shared_sense(cosines(vectors), CALIBRATION, threshold)
    expected = number_by_size(merge_similar(weights, np.arange(n)))
    assert_array_equal(Agglomerative(threshold, min_size=1).cluster(vectors, CALIBRATION), expected)


def test_cuts_of_one_tree_are_the_clusters_at_each_threshold() -> None:
    vectors = np.random.default_rng(0).normal(size=(40, 5)) + 0.7
    rows = Agglomerative().cluster_at(vectors, CALIBRATION)
    assert rows.shape == (len(RESOLUTIONS), 40)
    for row, threshold in zip(rows, RESOLUTIONS, strict=True):
        assert_array_equal(row, Agglomerative(threshold).cluster(vectors, CALIBRATION))
    assert len(np.unique(rows[0])) < len(np.unique(rows[-1]))


@pytest.mark.parametrize("threshold", [0.1, 1 / 3, 0.5, 0.9])
def test_probability_at_the_cosine_of_a_threshold_is_the_threshold(threshold: float) -> None:
    assert CALIBRATION.probability(np.array(cosine_at(CALIBRATION, threshold))) == pytest.approx(threshold)


def test_evidence_is_the_difference_of_log_odds() -> None:
    cosine = cosines(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    p = CALIBRATION.probability(cosine)
    expected = np.log(p / (1 - p)) - np.log(0.25 / 0.75)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(evidence_of_shared_sense(cosine, CALIBRATION, 0.25), expected, atol=1e-12)
    assert cosine[0, 1] == pytest.approx(0.5**0.5)
    assert_array_equal(cosine[2], [0, 0, 1])

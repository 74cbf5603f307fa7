"""Test the stability of senses against sets of usages, and what becomes of unstable senses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lexshift.encode.adaptation import Calibration
from lexshift.senses.agglomerative import Agglomerative
from lexshift.senses.stability import StableClustering, best_jaccard, mean_jaccard
from lexshift.utils.arrays import Floats, Indices, Matrix

CALIBRATION = Calibration(slope=8.0, intercept=-4.0)


def slow_best_jaccard(labels: list[int], found: list[int], senses: int) -> list[float]:
    """Compare the set of usages of each sense with that of each group."""

    def sets(values: list[int], count: int) -> list[set[int]]:
        return [{i for i, value in enumerate(values) if value == label} for label in range(count)]

    groups = [group for group in sets(found, max(found) + 1) if group]
    return [
        max(len(sense & group) / len(sense | group) for group in groups) if sense else float("nan")
        for sense in sets(labels, senses)
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=15))
def test_jaccard_coefficients_are_those_of_the_sets(pairs: list[tuple[int, int]]) -> None:
    labels, found = (list(values) for values in zip(*pairs, strict=True))
    groups = np.unique(found, return_inverse=True)[1]
    assert_allclose(best_jaccard(np.array(labels), groups, 5), slow_best_jaccard(labels, groups.tolist(), 5))


class FirstHalf:
    """A rule that divides the usages by their first coordinate, whatever it means."""

    name = "first half"

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:  # noqa: ARG002
        """Return 0 for the larger values and 1 for the smaller half."""
        return (vectors[:, 0].argsort().argsort() < len(vectors) // 2).astype(np.intp)


def slow_stabilities(rule: StableClustering, vectors: Matrix, labels: Indices, seed: int) -> Floats:
    """Average over samples, drawn as the rule draws them."""
    rng = np.random.default_rng(seed)
    size = round(rule.share * len(vectors))
    rows = []
    for _ in range(rule.resamples):
        sample = np.sort(rng.choice(len(vectors), size, replace=False))
        found = rule.clustering.cluster(vectors[sample], CALIBRATION, seed)
        rows.append(slow_best_jaccard(labels[sample].tolist(), found.tolist(), labels.max() + 1))
    return np.nanmean(rows, axis=0)


@pytest.mark.parametrize("seed", range(3))
def test_stability_is_the_mean_over_samples(seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(30, 3)) + 0.4
    rule = StableClustering(Agglomerative(0.6))
    labels = rule.clustering.cluster(vectors, CALIBRATION)
    assert labels.max() > 0
    expected = slow_stabilities(rule, vectors, labels, seed)
    assert_allclose(mean_jaccard(labels, rule.resample(vectors, CALIBRATION, seed)), expected)


@pytest.mark.parametrize("seed", range(3))
def test_divided_senses_have_the_stability_of_the_reported_senses(seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(30, 3)) + 0.4
    rule = StableClustering(Agglomerative(0.6), min_stability=0.5)
    labels, stability = rule.divide(vectors, CALIBRATION, seed)
    assert_array_equal(labels, rule.cluster(vectors, CALIBRATION, seed))
    one = labels.max() == 0
    assert_allclose(stability, [np.nan] if one else slow_stabilities(rule, vectors, labels, seed))


def test_clear_senses_are_stable() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [30, 12])
    vectors = np.eye(10)[labels] + 0.1 * rng.normal(size=(42, 10))
    rule = StableClustering(Agglomerative())
    found, stability = rule.divide(vectors, CALIBRATION)
    assert_array_equal(found, labels)
    assert_allclose(stability, [1, 1])


def test_unstable_senses_are_not_reported() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 10))
    rule = StableClustering(FirstHalf(), min_stability=0.999)
    assert_array_equal(rule.cluster(vectors, CALIBRATION), np.zeros(40))
    assert FirstHalf().cluster(vectors, CALIBRATION).max() == 1
    assert StableClustering(FirstHalf(), min_stability=0.5).cluster(vectors, CALIBRATION).max() == 1


def test_an_unstable_sense_joins_the_most_similar_stable_one() -> None:
    class Fixed:
        name = "fixed"

        def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:  # noqa: ARG002
            """Split off the third direction only if all usages are there."""
            labels = vectors.argmax(axis=1)
            return labels if len(vectors) == 30 else np.minimum(labels, 1)

    vectors = np.repeat([[1.0, 0.0, 0.1], [0.0, 1.0, 0.3], [0.1, 0.9, 1.0]], [15, 9, 6], axis=0)
    found = StableClustering(Fixed(), min_stability=0.55).cluster(vectors, CALIBRATION)
    assert_array_equal(found, np.repeat([0, 1, 1], [15, 9, 6]))

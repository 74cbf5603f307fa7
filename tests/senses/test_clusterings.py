"""Test all clusterings on planted senses and on degenerate input."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lexshift.encode.adaptation import Calibration
from lexshift.errors import UserError
from lexshift.senses.agglomerative import Agglomerative
from lexshift.senses.clustering import MIN_SIZE, Clustering
from lexshift.senses.clusterings import CLUSTERINGS, DEFAULT, fine_clustering, get_clustering
from lexshift.senses.stability import StableClustering
from lexshift.utils.arrays import Indices, Matrix

CALIBRATION = Calibration(slope=8.0, intercept=-4.0)
RULES = [
    *CLUSTERINGS.values(),
    *(rule.clustering for rule in CLUSTERINGS.values() if isinstance(rule, StableClustering)),
]


def name_of(rule: Clustering) -> str:
    return ("stable " if isinstance(rule, StableClustering) else "") + rule.name


@pytest.fixture(params=RULES, ids=name_of)
def rule(request: pytest.FixtureRequest) -> Clustering:
    """Return each clustering, with and without unstable senses."""
    pytest.importorskip("sklearn")
    found: Clustering = request.param
    return found


def blobs(*sizes: int, spread: float = 0.1, seed: int = 0) -> tuple[Matrix, Indices]:
    """Return usages around orthogonal directions in random order, and the number of the direction of each."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return (np.eye(20)[labels] + spread * rng.normal(size=(len(labels), 20))).astype(np.float32), labels


@pytest.mark.parametrize("sizes", [(60,), (50, 30), (40, 25, 12)])
def test_planted_senses_are_found_and_numbered_by_size(rule: Clustering, sizes: tuple[int, ...]) -> None:
    vectors, labels = blobs(*sizes)
    assert_array_equal(rule.cluster(vectors, CALIBRATION), labels)


def test_result_depends_on_the_input_and_the_seed_alone(rule: Clustering) -> None:
    vectors = np.random.default_rng(1).normal(size=(50, 6)) + 0.5
    before = vectors.copy()
    first, second = (rule.cluster(vectors, CALIBRATION, seed=3) for _ in range(2))
    assert_array_equal(first, second)
    assert_array_equal(vectors, before)


def test_length_of_vectors_does_not_matter(rule: Clustering) -> None:
    vectors, labels = blobs(30, 20)
    lengths = np.random.default_rng(0).uniform(0.5, 50, (50, 1))
    assert_array_equal(rule.cluster(vectors * lengths, CALIBRATION), labels)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("kind", ["identical", "zero", "orthogonal"])
def test_degenerate_usages_are_one_sense(rule: Clustering, count: int, kind: str) -> None:
    vectors = {"identical": np.ones((count, 8)), "zero": np.zeros((count, 8)), "orthogonal": np.eye(8)[:count]}[kind]
    found = rule.cluster(vectors, CALIBRATION)
    assert found.dtype.kind == "i"
    if (rule.name, kind, count) == ("mixture", "orthogonal", 7):
        # All directions have the same variance, so the components depend on the rounding of the linear algebra library.
        assert np.bincount(found).min() >= MIN_SIZE
    else:
        assert_array_equal(found, np.zeros(count))


def test_zero_vectors_join_a_sense(rule: Clustering) -> None:
    vectors, labels = blobs(30, 20)
    found = rule.cluster(np.concatenate([vectors, np.zeros((2, 20))]), CALIBRATION)
    assert_array_equal(found[:-2], labels)
    assert set(found[-2:]) <= {0, 1}


@pytest.mark.parametrize("seed", range(5))
def test_senses_have_no_gaps_descending_sizes_and_enough_usages(rule: Clustering, seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = rule.cluster(rng.normal(size=(40, 4)) + rng.normal(size=4) / 2, CALIBRATION)
    sizes = np.bincount(found)
    assert (np.diff(sizes) <= 0).all()
    assert sizes.min() >= MIN_SIZE


@pytest.mark.parametrize("name", CLUSTERINGS)
def test_fine_clustering_finds_more_groups(name: str) -> None:
    """The cosine of the two blobs is 0, at which the calibration has a probability between the two thresholds."""
    vectors, labels = blobs(30, 20)
    between = Calibration(slope=5.0, intercept=-0.4)
    fine = fine_clustering(CLUSTERINGS[name])
    assert fine is not None
    assert (fine.name, CLUSTERINGS[name].cluster(vectors, between).max()) == (name, 0)
    assert_array_equal(fine.cluster(vectors, between), labels)


def test_clustering_of_a_user_has_no_finer_one() -> None:
    assert fine_clustering(Agglomerative(0.2)) is None


def test_clustering_is_found_by_name_or_returned() -> None:
    assert get_clustering() is CLUSTERINGS[DEFAULT]
    assert get_clustering("mixture").name == "mixture"
    assert get_clustering(RULES[-1]) is RULES[-1]
    with pytest.raises(UserError, match="did you mean 'graph'"):
        get_clustering("grpah")

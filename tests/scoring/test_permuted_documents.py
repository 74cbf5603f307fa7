"""The permutation test of whole documents, against splits of the documents by definition."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_distances import SLOW

from lexshift import Metric, permutation_test
from lexshift.scoring.distance import get
from lexshift.scoring.distance.metric import side_distances
from lexshift.scoring.permutation_stages import LAST_STAGE
from lexshift.utils.arrays import Floats, Matrix

Documents = tuple[list[str], list[str]]


METRICS = ["apd", "energy", "euclidean", "kl"]


def words(
    documents: tuple[int, int], usages: tuple[int, int], seed: int, own: float = 1.0, shift: float = 0.0
) -> tuple[Matrix, Matrix, Documents]:
    """Return usages that vary by ``own`` between documents, and the documents, each of which has at least one usage."""
    rng = np.random.default_rng(seed)
    rows, names = [], []
    for k, n, side in zip(documents, usages, (0, 1), strict=True):
        of_row = rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))
        rows.append(rng.normal(size=(n, 6)) + 2 + own * rng.normal(size=(k, 6))[of_row] + shift * side * np.eye(6)[0])
        names.append([f"file {i}" for i in of_row])
    return rows[0], rows[1], (names[0], names[1])


def slow_p(old: Matrix, new: Matrix, documents: Documents, metric: str) -> float:
    """Compute p by assigning the documents of both sets to two sets in all possible ways."""
    rows = np.concatenate([old, new])
    of_row = [("old", name) for name in documents[0]] + [("new", name) for name in documents[1]]
    units = sorted(set(of_row))
    values = []
    for chosen in itertools.combinations(units, len(set(documents[0]))):
        is_old = np.array([unit in chosen for unit in of_row])
        values.append(SLOW[metric](rows[is_old], rows[~is_old]))
    e_original = SLOW[metric](old, new)
    return float((np.array(values) >= e_original - 1e-9 * np.ptp(values)).mean())


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(METRICS), st.integers(6, 12), st.integers(6, 15), st.floats(0, 2), st.integers(0, 99))
def test_p_uses_all_splits_of_few_documents(metric: str, n_old: int, n_new: int, shift: float, seed: int) -> None:
    old, new, documents = words((6, 6), (n_old, n_new), seed, shift=shift)
    result = permutation_test(old, new, metric, documents=documents)
    assert (result.unit, result.exact, result.permutations) == ("documents", True, 923)
    assert result.e_original == pytest.approx(SLOW[metric](old, new), rel=1e-9)
    assert result.p == pytest.approx(slow_p(old, new, documents, metric))


@pytest.mark.parametrize("metric", [*METRICS, "nearest", "cosine", "dscd-cityblock"])
def test_values_of_sets_of_other_sizes_are_those_of_their_rows(metric: str) -> None:
    old, new, _ = words((6, 6), (9, 14), 1)
    rows = np.concatenate([old, new])
    sides = np.where(np.random.default_rng(0).random((20, 23)) < np.linspace(0.35, 0.65, 20)[:, None], 1, -1)
    found = side_distances(get(metric), old, new, equal_sizes=False)(sides.astype(np.int8))
    for row, value in zip(sides, found, strict=True):
        parts = rows[row > 0], rows[row < 0]
        original = np.repeat([[1, -1]], [len(parts[0]), len(parts[1])], axis=1).astype(np.int8)
        assert value == pytest.approx(float(side_distances(get(metric), *parts)(original)[0]), rel=1e-9)
    assert len({(row > 0).sum() for row in sides}) > 3


def test_random_splits_keep_documents_together_and_their_numbers() -> None:
    old, new, documents = words((8, 20), (15, 60), 0)
    of_row = np.array([f"old {name}" for name in documents[0]] + [f"new {name}" for name in documents[1]])
    seen = []

    def between(_old: Matrix, _new: Matrix) -> Callable[[Matrix], Floats]:
        def measure(sides: Matrix) -> Floats:
            seen.append(sides)
            return np.arange(len(sides), dtype=float)

        return measure

    result = permutation_test(old, new, Metric("spy", between, usages=True), 500, documents=documents)
    assert (result.unit, result.exact, result.permutations) == ("documents", False, 500)
    sides = np.concatenate(seen)
    assert len(sides) == 501
    sizes = set()
    for row in sides:
        by_document = {name: set(row[of_row == name].tolist()) for name in np.unique(of_row)}
        assert all(len(values) == 1 for values in by_document.values())
        assert sum(values == {1} for values in by_document.values()) == 8
        sizes.add(int((row > 0).sum()))
    assert len(sizes) > 5


def test_documents_of_one_usage_are_usages() -> None:
    old, new, _ = words((20, 30), (20, 30), 0, shift=0.5)
    documents = list(range(20)), list(range(30))
    by_document = permutation_test(old, new, "energy", 1000, documents=documents)
    by_usage = permutation_test(old, new, "energy", 1000)
    assert (by_document.p, by_document.permutations) == (by_usage.p, by_usage.permutations)
    assert (by_document.unit, by_usage.unit) == ("documents", "usages")


@pytest.mark.parametrize("documents", [(5, 20), (20, 5), (1, 1)])
def test_usages_are_permuted_if_documents_are_few(documents: tuple[int, int]) -> None:
    old, new, names = words(documents, (40, 40), 0)
    assert permutation_test(old, new, "energy", 500, documents=names) == permutation_test(old, new, "energy", 500)


def test_number_of_documents_must_be_that_of_the_rows() -> None:
    old, new, (first, second) = words((6, 6), (9, 9), 0)
    with pytest.raises(ValueError, match=r"^documents must name the document of each row; got 8 for 9 new rows$"):
        permutation_test(old, new, documents=(first, second[:-1]))


def test_halves_by_document_do_not_differ_too_often_unlike_with_usages() -> None:
    p: dict[str, list[float]] = {"documents": [], "usages": []}
    for seed in range(200):
        old, new, documents = words((10, 10), (40, 40), seed, own=0.7)
        p["documents"].append(permutation_test(old, new, "energy", 199, documents=documents).p)
        p["usages"].append(permutation_test(old, new, "energy", 199).p)
    called = {unit: np.mean(np.array(values) <= 0.05) for unit, values in p.items()}
    assert called["documents"] <= 0.09  # 0.05 with a standard error of 0.015
    assert called["usages"] > 0.3


def test_change_of_ten_usages_in_six_documents_against_sixty_is_found() -> None:
    for seed in range(10):
        old, new, documents = words((6, 25), (10, 60), seed, own=0.5, shift=4.0)
        assert permutation_test(old, new, "energy", 1000, documents=documents).p < 0.01


def test_tail_is_approximated_for_documents_too() -> None:
    old, new, documents = words((20, 20), (60, 60), 0, shift=3.0)
    result = permutation_test(old, new, "energy", LAST_STAGE, documents=documents)
    assert result.permutations == 100_000
    assert result.tail is not None
    assert result.tail < result.p

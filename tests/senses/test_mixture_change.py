"""Test SSCD on a mixture against a version that swaps usages and counts them, and against planted change."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lexshift.scoring import swap
from lexshift.senses.mixture_change import PRIOR_USAGES, component_overlaps, mixture_change, mixture_divergence
from lexshift.senses.shares import jensen_shannon
from lexshift.utils.arrays import Floats, Indices, Matrix
from lexshift.utils.seeds import generator

SIZES = st.tuples(st.integers(2, 9), st.integers(2, 9), st.integers(1, 4), st.integers(1, 4))


def random_usages(n_old: int, n_new: int, k: int, d: int, seed: int) -> tuple[Matrix, Matrix, Indices, Indices]:
    """Return vectors and labels of both periods; the senses overlap."""
    rng = np.random.default_rng(seed)
    labels = np.unique(rng.integers(0, k, n_old + n_new), return_inverse=True)[1]
    rows = rng.normal(size=(k, d))[labels] + rng.normal(0, 0.7, (n_old + n_new, d))
    return rows[:n_old], rows[n_old:], labels[:n_old], labels[n_old:]


def slow_overlap(one: Matrix, other: Matrix, within: list[float]) -> float:
    """Return exp(-KL) of two Gaussians, dimension by dimension."""
    kl = 0.0
    for x, y, prior in zip(one.T, other.T, within, strict=True):
        v, w = ((len(z) * z.var() + PRIOR_USAGES * prior) / (len(z) + PRIOR_USAGES) for z in (x, y))
        kl += 0.5 * (v / w - 1 - math.log(v / w) + (x.mean() - y.mean()) ** 2 / w)
    return math.exp(-kl)


def slow_overlaps(rows: Matrix, labels: Indices) -> Floats:
    senses = [rows[labels == k] for k in range(labels.max() + 1)]
    within = [
        max(sum(len(sense) * sense[:, j].var() for sense in senses) / len(rows), 1e-4 * rows[:, j].var())
        for j in range(rows.shape[1])
    ]
    return np.array([[slow_overlap(one, other, within) for other in senses] for one in senses])


def slow_divergence(overlaps: Floats, old: Floats, new: Floats) -> float:
    k = len(old)

    def one_sided(weights: Floats) -> float:
        total = 0.0
        for i in range(k):
            if weights[i] > 0:
                near = sum(overlaps[i, j] * weights[j] for j in range(k))
                near_middle = sum(overlaps[i, j] * (old[j] + new[j]) / 2 for j in range(k))
                total += weights[i] * math.log2(near / near_middle)
        return total

    return (one_sided(old) + one_sided(new)) / 2


@settings(max_examples=60, deadline=None)
@given(SIZES, st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.integers(0, 99))
def test_score_equals_that_of_really_swapped_usages(sizes: tuple[int, int, int, int], rate: float, seed: int) -> None:
    old, new, labels_old, labels_new = random_usages(*sizes, seed)
    overlaps = slow_overlaps(np.concatenate([old, new]), np.concatenate([labels_old, labels_new]))
    k = len(overlaps)

    def distance(one: Indices, other: Indices) -> float:
        return slow_divergence(overlaps, *(np.bincount(side, minlength=k) / len(side) for side in (one, other)))

    e_original = distance(labels_old, labels_new)
    e_swap = []
    for order_old, order_new in swap.orders(old, new, "random", 4, generator(seed, "swap", "word")):
        count = swap.swap_count(len(old), len(new), rate)
        sides = swap.swap(labels_old[:, None], labels_new[:, None], order_old, order_new, count)
        e_swap.append(distance(*(side[:, 0].astype(int) for side in sides)))
    change = mixture_change(old, new, labels_old, labels_new, rate, repeats=4, seed=seed, word="word")
    assert change.e_original == pytest.approx(e_original, abs=1e-9)
    assert_allclose(change.e_swap, e_swap, rtol=0, atol=1e-9)
    assert change.score == pytest.approx(np.mean([abs(e_original - e) for e in e_swap]), abs=1e-9)


@given(st.integers(1, 6), st.integers(0, 99))
def test_distance_of_separate_senses_is_that_of_their_shares(k: int, seed: int) -> None:
    old, new = np.random.default_rng(seed).dirichlet(np.full(k, 0.3), 2)
    assert mixture_divergence(np.eye(k), old[None], new[None])[0] == pytest.approx(jensen_shannon(old, new) ** 2)


def test_same_sense_under_two_names_is_no_difference() -> None:
    assert_allclose(mixture_divergence(np.ones((2, 2)), np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])), 0, atol=1e-12)


def test_overlap_is_1_on_the_diagonal_and_ignores_constant_dimensions() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(30, 3)), np.repeat([0, 1, 2], 10)
    with_constant = np.column_stack([rows, np.full(30, 7.0)])
    assert_allclose(np.diag(component_overlaps(rows, labels)), 1)
    assert_allclose(component_overlaps(with_constant, labels), component_overlaps(rows, labels))


def test_identical_usages_of_one_sense_have_not_changed() -> None:
    change = mixture_change(np.ones((5, 3)), np.ones((4, 3)), [0] * 5, [0] * 4)
    assert (change.score, change.e_original) == (0, 0)


def test_sense_of_one_usage_has_a_finite_distance() -> None:
    old, new, labels_old, labels_new = random_usages(8, 8, 1, 3, seed=0)
    labels_new = labels_new.copy()
    labels_new[-1] = 1
    change = mixture_change(old, new, labels_old, labels_new)
    assert np.isfinite(change.score)
    assert change.e_original > 0


def test_word_with_a_planted_sense_changed_more_than_one_without() -> None:
    rng = np.random.default_rng(0)
    senses = rng.normal(size=(2, 16))

    def score(share: float) -> float:
        labels_old, labels_new = (rng.random(80) < 0.2).astype(int), (rng.random(80) < share).astype(int)
        old, new = (senses[labels] + rng.normal(0, 0.2, (80, 16)) for labels in (labels_old, labels_new))
        return mixture_change(old, new, labels_old, labels_new).score

    assert score(0.9) > 5 * score(0.2)


def test_missing_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="every usage needs a label"):
        mixture_change(np.ones((3, 2)), np.ones((3, 2)), [0, 0], [0, 0, 0, 0])

"""Test operations on groups against loops over all usages and pairs."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lexshift.senses.partition import dissolve, dissolve_small, mean_between, merge_similar, number_by_size
from lexshift.utils.arrays import Floats, Indices

LABELS = st.lists(st.integers(0, 4), min_size=1, max_size=12).map(np.array)


def symmetric(n: int, seed: int) -> Floats:
    """Return a random symmetric matrix with zeros on the diagonal."""
    upper = np.triu(np.random.default_rng(seed).normal(size=(n, n)), 1)
    return upper + upper.T


def slow_mean(similarity: Floats, labels: Indices, a: int, b: int) -> float:
    """Average over all pairs of usages of two groups."""
    values = [
        similarity[i, j] for i in range(len(labels)) for j in range(len(labels)) if (labels[i], labels[j]) == (a, b)
    ]
    return sum(values) / len(values)


@given(LABELS)
def test_groups_are_numbered_by_size_then_by_first_usage(labels: Indices) -> None:
    counts = Counter(labels.tolist())
    order = sorted(counts, key=lambda label: (-counts[label], labels.tolist().index(label)))
    assert number_by_size(labels).tolist() == [order.index(label) for label in labels.tolist()]


@given(LABELS, st.integers(0, 99))
def test_means_between_groups_are_those_over_all_pairs(labels: Indices, seed: int) -> None:
    groups, similarity = number_by_size(labels), symmetric(len(labels), seed)
    count = groups.max() + 1
    expected = [[slow_mean(similarity, groups, a, b) for b in range(count)] for a in range(count)]
    assert_allclose(mean_between(similarity, groups), expected, atol=1e-12)


@given(LABELS, st.integers(0, 99))
def test_merging_ends_when_all_means_between_groups_are_negative(labels: Indices, seed: int) -> None:
    groups, weights = number_by_size(labels), symmetric(len(labels), seed)
    merged = merge_similar(weights, groups)
    count = merged.max() + 1
    assert set(merged) == set(range(count))
    assert len({(a, b) for a, b in zip(groups.tolist(), merged.tolist(), strict=True)}) == groups.max() + 1
    assert all(slow_mean(weights, merged, a, b) <= 0 for a in range(count) for b in range(count) if a != b)


@given(LABELS, st.integers(0, 99), st.integers(1, 5))
def test_small_groups_join_the_most_similar_large_one(labels: Indices, seed: int, least: int) -> None:
    groups, similarity = number_by_size(labels), symmetric(len(labels), seed)
    counts = Counter(groups.tolist())
    large = [label for label in counts if counts[label] >= least]
    joined = {
        label: max(large, key=lambda other: slow_mean(similarity, groups, label, other), default=0)
        for label in counts
        if label not in large
    }
    expected = number_by_size(np.array([joined.get(label, label) for label in groups.tolist()]))
    assert_array_equal(dissolve_small(similarity, labels, least), expected)


def test_one_group_is_left_if_all_are_dissolved() -> None:
    assert dissolve(np.eye(4), np.array([0, 0, 1, 1]), np.array([True, True])).tolist() == [0, 0, 0, 0]

"""Test the difference of differences against its definition, and the test under the null hypothesis and a change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.scoring.gap import gap, similarities
from lexshift.scoring.group_difference import GroupDifference, estimate_difference, exchange_groups, group_differences
from lexshift.utils.arrays import Array, Matrix

CELLS = [(False, True), (False, False), (True, True), (True, False)]  # new period, first group


def arrange(sizes: list[int], centres: list[int], seed: int = 0, d: int = 6) -> tuple[Matrix, Array, Array]:
    """Return vectors about one axis for each cell, and the period and group of each."""
    rng = np.random.default_rng(seed)
    rows = [rng.normal(0, 0.4, (size, d)) + np.eye(d)[centre] for size, centre in zip(sizes, centres, strict=True)]
    is_new, is_first = (np.repeat([cell[i] for cell in CELLS], sizes) for i in range(2))
    return np.concatenate(rows), is_new, is_first


def estimate(sizes: list[int], centres: list[int], seed: int = 0, documents: Array | None = None) -> GroupDifference:
    rows, is_new, is_first = arrange(sizes, centres, seed)
    values = similarities(rows[:1], rows[1:], None)
    return estimate_difference(values, is_new, is_first, documents, word="mouse")


@given(st.lists(st.integers(2, 8), min_size=4, max_size=4), st.integers(0, 1000))
def test_difference_is_that_of_the_gaps(sizes: list[int], seed: int) -> None:
    rows, is_new, is_first = arrange(sizes, [0, 1, 2, 3], seed)
    expected = gap(rows[~is_new & is_first], rows[is_new & is_first]) - gap(
        rows[~is_new & ~is_first], rows[is_new & ~is_first]
    )
    order = np.random.default_rng(seed).permutation(len(rows))
    values = similarities(rows[order][:1], rows[order][1:], None)
    sides = np.where(is_new[order], -1, 1)
    assert group_differences(values, sides[None], is_first[order][None])[0] == pytest.approx(expected, abs=1e-9)


def test_change_in_one_group_is_found() -> None:
    found = estimate([30] * 4, [0, 0, 1, 0])
    assert found.value > 0.3
    assert found.low > 0
    assert found.p == pytest.approx(1 / 10_001)
    assert (found.permutations, found.unit) == (10_000, "usages")
    swapped = estimate([30] * 4, [0, 0, 0, 1])
    assert swapped.value < -0.3
    assert swapped.high < 0


@pytest.mark.slow
@pytest.mark.parametrize("centres", [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3]])
def test_equal_changes_are_rarely_called_different(centres: list[int]) -> None:
    p = np.array([estimate([15, 12, 10, 14], centres, seed).p for seed in range(60)])
    assert (p <= 0.05).mean() <= 0.15
    assert (p <= 0.5).mean() <= 0.75


def test_documents_stay_together_and_keep_their_number() -> None:
    rng = np.random.default_rng(0)
    is_new = np.repeat([False, True], 40)
    is_first = np.tile(np.repeat([True, False], 20), 2)
    documents = np.repeat(np.arange(20), 4)  # 5 documents in each cell
    for groups in exchange_groups(documents, is_new, is_first, 20, rng):
        of_documents = groups.reshape(20, 4)
        assert (of_documents == of_documents[:, :1]).all()
        assert of_documents[:10, 0].sum() == of_documents[10:, 0].sum() == 5


@pytest.mark.slow
def test_dependent_usages_are_tested_by_document() -> None:
    rng = np.random.default_rng(1)
    small, by_usage = [], []
    for seed in range(40):
        centres = rng.normal(size=(32, 6))  # 8 documents in each cell, each with a topic of its own
        rows = np.repeat(centres, 5, axis=0) + 0.05 * rng.normal(size=(160, 6))
        is_new, is_first = np.repeat([False, True], 80), np.tile(np.repeat([True, False], 40), 2)
        values = similarities(rows[:1], rows[1:], None)
        found = estimate_difference(values, is_new, is_first, np.repeat(np.arange(32), 5), seed)
        assert found.unit == "documents"
        small.append(found.p <= 0.05)
        by_usage.append(estimate_difference(values, is_new, is_first, None, seed).p <= 0.05)
    assert np.mean(small) <= 0.15 < np.mean(by_usage)


def test_few_usages_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 4 usages"):
        estimate([3, 9, 9, 9], [0, 0, 0, 0])

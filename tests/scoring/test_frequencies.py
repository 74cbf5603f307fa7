"""Test the comparison of frequencies against scipy's tests of single words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from lexshift.scoring.frequencies import compare_frequencies
from lexshift.utils.arrays import Floats

COUNTS = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), min_size=1, max_size=12)


def slow_p_values(pairs: list[tuple[int, int]], sizes: tuple[int, int]) -> Floats:
    """Return twice the smaller one-sided p of a binomial test, for each word by itself."""
    share, values = sizes[0] / sum(sizes), []
    for old, new in pairs:
        n = max(old + new, 1)
        tails = [binomtest(old, n, share, side).pvalue for side in ("less", "greater")]
        values.append(min(1.0, 2 * min(tails)) if old + new else 1.0)
    return np.array(values)


@given(COUNTS, st.tuples(st.integers(300, 10**7), st.integers(300, 10**7)))
def test_p_is_that_of_a_binomial_test_of_each_word(pairs: list[tuple[int, int]], sizes: tuple[int, int]) -> None:
    old, new = np.array(pairs).T
    expected = slow_p_values(pairs, sizes)
    np.testing.assert_allclose(compare_frequencies(old, sizes[0], new, sizes[1]), expected, rtol=1e-9, atol=1e-300)


@given(COUNTS, st.tuples(st.integers(300, 10**7), st.integers(300, 10**7)))
def test_p_does_not_depend_on_the_order_of_the_corpora(pairs: list[tuple[int, int]], sizes: tuple[int, int]) -> None:
    old, new = np.array(pairs).T
    there = compare_frequencies(old, sizes[0], new, sizes[1])
    np.testing.assert_allclose(there, compare_frequencies(new, sizes[1], old, sizes[0]), rtol=1e-9, atol=1e-300)


def test_words_without_a_difference_are_rarely_significant() -> None:
    rng = np.random.default_rng(0)
    rates = rng.uniform(1e-5, 1e-3, 20_000)
    old, new = rng.poisson(rates * 100_000), rng.poisson(rates * 400_000)
    p = compare_frequencies(old, 100_000, new, 400_000)
    for level in (0.05, 0.01, 0.001):
        assert (p <= level).mean() <= level + 0.002


def test_absence_from_a_small_corpus_is_no_evidence() -> None:
    p = compare_frequencies(np.array([0, 0]), 1_000, np.array([20, 20_000]), 1_000_000)
    assert p[0] == 1.0
    assert p[1] == pytest.approx(2 * (1_000_000 / 1_001_000) ** 20_000)

"""Test the comparison of a word with similar words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from scipy.stats import rankdata

from lexshift.study.verdict import compare_with_similar, spread
from lexshift.utils.arrays import Floats


@given(st.integers(2, 12), st.integers(2, 12), st.integers(1, 6), st.integers(0, 99))
def test_spread_is_the_mean_distance_of_two_usages_in_a_corpus(n_old: int, n_new: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    old, new = rng.normal(size=(n_old, d)).astype(np.float32), rng.normal(size=(n_new, d)).astype(np.float32)
    expected = (pdist(old.astype(float), "cosine").mean() + pdist(new.astype(float), "cosine").mean()) / 2
    assert spread(old, new) == pytest.approx(expected, abs=1e-6)


def slow_control(scores: Floats, frequencies: Floats, spreads: Floats, like: int) -> list[tuple[float, float, float]]:
    f, s = rankdata(frequencies), rankdata(spreads)
    found = []
    for i in range(len(scores)):
        others = sorted(
            (j for j in range(len(scores)) if j != i), key=lambda j: (f[i] - f[j]) ** 2 + (s[i] - s[j]) ** 2
        )
        near = np.array([scores[j] for j in others[:like]])
        median = float(np.median(near))
        off = 1.4826 * float(np.median(np.abs(near - median)))
        found.append((median, (scores[i] - median) / off if off else 0.0, float((near < scores[i]).mean())))
    return found


@given(st.integers(2, 40), st.integers(1, 50), st.integers(0, 99))
def test_each_word_is_compared_with_its_nearest_by_frequency_and_spread(n: int, like: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    # With irrational steps, distances in rank are equal only by symmetry, which the test excludes.
    frequencies, spreads = rng.permutation(n).astype(float), rng.normal(size=n)
    f, s = rankdata(frequencies), rankdata(spreads)
    distances = (f[:, None] - f) ** 2 + (s[:, None] - s) ** 2
    control = compare_with_similar(scores, frequencies, spreads, like)
    for i, (expected, excess, above) in enumerate(slow_control(scores, frequencies, spreads, like)):
        ordered = np.sort(np.delete(distances[i], i))
        if like < n - 1 and ordered[like - 1] == ordered[like]:
            continue  # two words at the same distance, of which either is valid
        assert control.expected[i] == pytest.approx(expected)
        assert control.excess[i] == pytest.approx(excess)
        assert control.above[i] == pytest.approx(above)


def test_frequency_explains_a_score_that_is_high_for_all_rare_words() -> None:
    """Scores fall with frequency; one word is far above similar words but below all rare words."""
    rng = np.random.default_rng(0)
    frequencies = np.linspace(1, 100, 400)
    scores = 0.5 - 0.004 * frequencies + rng.normal(0, 0.01, 400)
    scores[200] += 0.15
    control = compare_with_similar(scores, frequencies, rng.normal(size=400), 50)
    assert np.argmax(control.excess) == 200
    assert np.argmax(scores) != 200
    assert control.above[200] == 1


def test_single_word_has_no_control_words() -> None:
    control = compare_with_similar(np.array([0.4]), np.array([1.0]), np.array([0.5]))
    assert (control.expected.tolist(), control.excess.tolist(), control.above.tolist()) == ([0.4], [0.0], [0.0])


def test_words_that_are_equal_in_everything_have_no_excess() -> None:
    control = compare_with_similar(np.full(300, 0.2), np.full(300, 1.0), np.full(300, 0.5))
    assert control.excess.tolist() == [0.0] * 300
    assert control.above.tolist() == [0.0] * 300

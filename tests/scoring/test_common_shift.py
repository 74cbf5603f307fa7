"""The common shift of all words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.scoring.common_shift import estimate_common_shift
from lexshift.utils.arrays import Matrix


def unit(rows: Matrix) -> Matrix:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def draw_words(count: int, shift: float, own: float, seed: int = 0) -> list[tuple[Matrix, Matrix]]:
    """Return usages of words that move by a common shift and by one of their own."""
    rng = np.random.default_rng(seed)
    common = np.eye(12)[0] * shift
    words = []
    for _ in range(count):
        centre, moved = 4 * rng.normal(size=12), own * rng.normal(size=12)
        words.append((centre + rng.normal(size=(30, 12)), centre + moved + common + rng.normal(size=(30, 12))))
    return words


@given(count=st.integers(1, 8), seed=st.integers(0, 50))
def test_vector_is_the_mean_difference_of_mean_unit_vectors(count: int, seed: int) -> None:
    words = draw_words(count, 1.0, 0.5, seed)
    expected = np.mean([unit(new).mean(axis=0) - unit(old).mean(axis=0) for old, new in words], axis=0)
    assert estimate_common_shift(words).vector == pytest.approx(expected, abs=1e-9)


def test_share_is_large_if_all_words_move_alike_and_small_if_each_moves_by_itself() -> None:
    assert estimate_common_shift(draw_words(100, 6.0, 0.0)).share > 0.7
    assert estimate_common_shift(draw_words(100, 0.0, 1.0)).share < 0.1


def test_share_of_pure_chance_is_near_zero() -> None:
    assert estimate_common_shift(draw_words(100, 0.0, 0.0)).share < 0.35


def test_words_without_usages_in_common_directions_have_no_shift_after_its_removal() -> None:
    words = draw_words(60, 6.0, 0.0)
    shift = estimate_common_shift(words)
    removed = [shift.remove(old, new) for old, new in words]
    left = np.mean([new.mean(axis=0) - old.mean(axis=0) for old, new in removed], axis=0)
    assert np.abs(left).max() < 1e-6
    assert removed[0][0].dtype == np.float32


def test_no_word_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one word"):
        estimate_common_shift([])

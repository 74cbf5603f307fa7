"""Test the transformation of vectors before scoring against loops over words and usages."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift import SSCD, UserError
from lexshift.encode.adaptation import FixedSpace
from lexshift.scoring.space import FIXED, KINDS, calibration_space, fit_space
from lexshift.utils.arrays import Floats, Pairs

Sets: TypeAlias = Pairs


def words_of(
    sizes: list[tuple[int, int]], d: int, seed: int, dtype: type[np.floating] = np.float64, loc: float = 3.0
) -> Sets:
    """Return words with the given numbers of usages, unequal variances, and a nonzero mean."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-1, 1, d)
    return {
        f"word {i}": (
            rng.normal(loc, scale, (n_old, d)).astype(dtype),
            rng.normal(loc + i, scale, (n_new, d)).astype(dtype),
        )
        for i, (n_old, n_new) in enumerate(sizes)
    }


def slow_moments(pairs: Sets) -> tuple[list[float], list[float]]:
    """Return the mean over words of the mean over usages, and the variance around it, one number at a time."""
    d = next(iter(pairs.values()))[0].shape[1]
    means, variances = [], []
    for j in range(d):
        of_words = []
        for old, new in pairs.values():
            values = [float(row[j]) for row in [*old, *new]]
            of_words.append(sum(values) / len(values))
        mean = sum(of_words) / len(of_words)
        squares = []
        for old, new in pairs.values():
            values = [(float(row[j]) - mean) ** 2 for row in [*old, *new]]
            squares.append(sum(values) / len(values))
        means.append(mean)
        variances.append(sum(squares) / len(squares))
    return means, variances


numbers = st.lists(st.tuples(st.integers(1, 7), st.integers(1, 7)), min_size=1, max_size=5)


@given(numbers, st.integers(1, 5), st.integers(0, 999), st.sampled_from([np.float32, np.float64]))
def test_every_word_has_equal_weight_in_the_mean_and_the_variance(
    sizes: list[tuple[int, int]], d: int, seed: int, dtype: type[np.floating]
) -> None:
    pairs = words_of(sizes, d, seed, dtype)
    mean, variance = slow_moments(pairs)
    centred, standardised = fit_space(pairs, "centred"), fit_space(pairs, "standardised")
    np.testing.assert_allclose(centred.mean, mean, rtol=1e-9)
    np.testing.assert_array_equal(centred.scale, np.ones(d))
    np.testing.assert_allclose(standardised.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(standardised.scale, np.sqrt(variance), rtol=1e-9)


@given(numbers, st.integers(1, 4), st.integers(0, 999), st.sampled_from([np.float32, np.float64]))
def test_mean_is_subtracted_and_the_rest_divided_by_the_deviation(
    sizes: list[tuple[int, int]], d: int, seed: int, dtype: type[np.floating]
) -> None:
    pairs = words_of(sizes, d, seed, dtype)
    mean, variance = (np.array(moment) for moment in slow_moments(pairs))
    for kind, scale in (("centred", np.ones(d)), ("standardised", np.sqrt(variance))):
        moved = fit_space(pairs, kind).apply_to_words(pairs)
        assert list(moved) == list(pairs)
        for word, sides in pairs.items():
            for rows, ours in zip(sides, moved[word], strict=True):
                assert ours.dtype == np.float32
                wanted = [[(float(x) - m) / s for x, m, s in zip(row, mean, scale, strict=True)] for row in rows]
                np.testing.assert_allclose(ours, np.array(wanted), rtol=1e-5, atol=1e-5)


def test_raw_vectors_are_the_same_arrays() -> None:
    pairs = words_of([(3, 2), (2, 4)], 3, 0, np.float32)
    space = fit_space(pairs, "raw")
    moved = space.apply_to_words(pairs)
    for word, (old, new) in pairs.items():
        assert moved[word][0] is old
        assert moved[word][1] is new
    np.testing.assert_array_equal(space.mean, np.zeros(3))
    np.testing.assert_array_equal(space.scale, np.ones(3))


def test_standardised_vectors_have_mean_0_and_variance_1() -> None:
    pairs = words_of([(5, 3), (2, 9), (4, 4)], 6, 1)
    mean, variance = slow_moments(fit_space(pairs, "standardised").apply_to_words(pairs))
    np.testing.assert_allclose(mean, np.zeros(6), atol=1e-6)
    np.testing.assert_allclose(variance, np.ones(6), rtol=1e-5)


@pytest.mark.parametrize("value", [0.0, 7.0, -0.25])
def test_constant_dimension_is_not_scaled(value: float) -> None:
    pairs = words_of([(3, 4), (5, 2)], 3, 2)
    for sides in pairs.values():
        for rows in sides:
            rows[:, 1] = value
    space = fit_space(pairs, "standardised")
    assert space.mean[1] == value
    assert space.scale[1] == 1
    for sides in space.apply_to_words(pairs).values():
        for rows in sides:
            assert np.isfinite(rows).all()
            np.testing.assert_array_equal(rows[:, 1], np.zeros(len(rows)))


@given(st.floats(-1e3, 1e3), numbers, st.sampled_from([np.float32, np.float64]))
def test_constant_dimension_is_0_even_if_its_mean_is_rounded(
    value: float, sizes: list[tuple[int, int]], dtype: type[np.floating]
) -> None:
    pairs = words_of(sizes, 2, 3, dtype)
    for sides in pairs.values():
        for rows in sides:
            rows[:, 0] = value
    for sides in fit_space(pairs, "standardised").apply_to_words(pairs).values():
        for rows in sides:
            np.testing.assert_allclose(rows[:, 0], np.zeros(len(rows)), atol=1e-9)


def test_space_of_one_word_is_that_of_its_usages() -> None:
    pairs = words_of([(6, 3)], 4, 4)
    rows: Floats = np.concatenate(pairs["word 0"])
    space = fit_space(pairs, "standardised")
    np.testing.assert_allclose(space.mean, rows.mean(axis=0))
    np.testing.assert_allclose(space.scale, rows.std(axis=0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("times", [2, 7])
def test_frequency_of_a_word_does_not_matter(kind: str, times: int) -> None:
    pairs = words_of([(3, 4), (2, 2), (6, 1)], 5, 5)
    more = dict(pairs)
    old, new = pairs["word 1"]
    more["word 1"] = (np.repeat(old, times, axis=0), np.tile(new, (times, 1)))
    once, often = fit_space(pairs, kind), fit_space(more, kind)
    np.testing.assert_allclose(often.mean, once.mean, rtol=1e-12)
    np.testing.assert_allclose(often.scale, once.scale, rtol=1e-12)


def test_corpus_of_a_usage_does_not_matter() -> None:
    pairs = words_of([(3, 4), (5, 2)], 4, 6)
    moved = {word: (np.concatenate([old, new[:1]]), new[1:]) for word, (old, new) in pairs.items()}
    here, there = fit_space(pairs, "standardised"), fit_space(moved, "standardised")
    np.testing.assert_allclose(there.mean, here.mean, rtol=1e-12)
    np.testing.assert_allclose(there.scale, here.scale, rtol=1e-12)


def test_vectors_outside_of_the_fit_are_transformed_alike() -> None:
    space = fit_space(words_of([(3, 4), (5, 2)], 3, 7), "standardised")
    rows = np.random.default_rng(8).normal(size=(4, 3)).astype(np.float32)
    moved = space.apply(rows)
    assert moved.dtype == np.float32
    assert moved.shape == (4, 3)
    np.testing.assert_allclose(moved * space.scale + space.mean, rows, rtol=1e-4, atol=1e-4)


def test_vectors_are_not_changed_in_place() -> None:
    pairs = words_of([(3, 4), (5, 2)], 3, 9, np.float32)
    before = {word: (old.copy(), new.copy()) for word, (old, new) in pairs.items()}
    moved = fit_space(pairs, "standardised").apply_to_words(pairs)
    for word in pairs:
        for rows, kept, ours in zip(pairs[word], before[word], moved[word], strict=True):
            np.testing.assert_array_equal(rows, kept)
            assert not np.shares_memory(rows, ours)


@pytest.mark.parametrize("kind", ["center", "Raw", "", None, 3])
def test_unknown_kind_is_refused(kind: str) -> None:
    with pytest.raises(UserError, match=r"^space must be one of centred, raw, standardised; got "):
        fit_space(words_of([(2, 2)], 2, 0), kind)


def test_misspelt_kind_is_answered_with_the_closest_one() -> None:
    with pytest.raises(UserError, match=r"did you mean 'centred'\?"):
        fit_space(words_of([(2, 2)], 2, 0), "centered")


@pytest.mark.parametrize("kind", KINDS)
def test_space_of_no_words_is_refused(kind: str) -> None:
    with pytest.raises(UserError, match=r"^fitting a space needs the usages of at least one word; got none$"):
        fit_space({}, kind)


# Scores


def scores(pairs: Sets, kind: str, metric: str) -> Floats:
    changes = SSCD(metric=metric, repeats=5).score_words(fit_space(pairs, kind).apply_to_words(pairs))
    return np.array([[change.score, change.e_original] for change in changes.values()])


@pytest.mark.parametrize("metric", ["cosine", "kl", "euclidean", "apd"])
def test_centred_scores_do_not_change_if_a_vector_is_added_to_all(metric: str) -> None:
    pairs = words_of([(12, 9), (8, 20), (15, 15)], 6, 10)
    shift = np.random.default_rng(11).normal(0, 5, 6)
    moved = {word: (old + shift, new + shift) for word, (old, new) in pairs.items()}
    np.testing.assert_allclose(scores(moved, "centred", metric), scores(pairs, "centred", metric), rtol=1e-3, atol=1e-6)
    if metric in ("cosine", "apd"):  # these metrics depend on angles at the origin
        assert not np.allclose(scores(moved, "raw", metric), scores(pairs, "raw", metric), rtol=1e-2)


@pytest.mark.parametrize("metric", ["cosine", "kl", "euclidean", "apd"])
def test_standardised_scores_do_not_change_if_dimensions_are_rescaled(metric: str) -> None:
    pairs = words_of([(12, 9), (8, 20), (15, 15)], 6, 12)
    rng = np.random.default_rng(13)
    scale, shift = 10 ** rng.uniform(-2, 2, 6), rng.normal(0, 5, 6)
    moved = {word: (old * scale + shift, new * scale + shift) for word, (old, new) in pairs.items()}
    ours, same = scores(moved, "standardised", metric), scores(pairs, "standardised", metric)
    np.testing.assert_allclose(ours, same, rtol=5e-3, atol=1e-6)
    if metric in ("cosine", "euclidean", "apd"):
        assert not np.allclose(scores(moved, "centred", metric), scores(pairs, "centred", metric), rtol=1e-2)


def test_calibration_holds_in_the_fixed_space_of_an_encoder_or_for_raw_vectors() -> None:
    class Declaring:
        space: FixedSpace | str = FixedSpace(np.array([1.0, 2.0]), np.array([2.0, 4.0]))

    encoder, rows = Declaring(), np.array([[3.0, 2.0]])
    assert calibration_space(encoder).kind == FIXED
    assert calibration_space(encoder).apply(rows).tolist() == [[1, 0]]
    encoder.space = "standardised"
    assert calibration_space(encoder).apply(rows) is rows
    assert calibration_space(object()).apply(rows) is rows

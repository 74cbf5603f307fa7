"""Test the rate search against the closed form max(N1, N2) / (N1 + N2)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar

from lexshift import search_rate, sweep
from lexshift.scoring.distance import DISTANCES
from lexshift.scoring.rates import RateCurve, closed_form_rate
from lexshift.scoring.swap import STRATEGIES, Strategy, random_order, swap
from lexshift.utils.arrays import Floats

STEP = 0.05
GRID = [round(STEP * i, 2) for i in range(21)]
COUNTS = [(100, 140), (140, 100), (60, 180), (180, 60), (100, 100), (40, 50)]


def changed(n_old: int, n_new: int, seed: int = 0, d: int = 16) -> tuple[Floats, Floats]:
    """Return a strongly changed word, whose means differ by several standard deviations in size and direction."""
    rng = np.random.default_rng(seed)
    mean = rng.normal(10, 1, d)
    return rng.normal(mean, 1, (n_old, d)), rng.normal(mean + rng.choice([-4, 4], d), 1, (n_new, d))


@given(st.integers(2, 10**6), st.integers(2, 10**6))
def test_closed_form_is_the_larger_share(n_old: int, n_new: int) -> None:
    rate = closed_form_rate(n_old, n_new)
    assert rate == float(Fraction(max(n_old, n_new), n_old + n_new))
    assert rate == closed_form_rate(n_new, n_old)
    assert 0.5 <= rate < 1


@given(st.integers(2, 10**4), st.integers(2, 10**4), st.integers(1, 10**6), st.integers(1, 10**6))
def test_closed_form_with_corpus_sizes_fully_mixes_the_sets(
    n_old: int, n_new: int, size_old: int, size_new: int
) -> None:
    rate = closed_form_rate(n_old, n_new, (size_old, size_new))
    at_rate_1 = min(n_old, n_new * size_old / size_new)  # the count of Algorithm 1 at rate 1, normalised
    mixed = n_old * n_new / (n_old + n_new)
    if rate == 1.0:
        assert at_rate_1 <= mixed * (1 + 1e-12)  # the count never reaches full mixing
    else:
        assert 0 < rate < 1
        assert rate * at_rate_1 == pytest.approx(mixed, rel=1e-12)


@pytest.mark.parametrize(("n_old", "n_new"), [(12, 30), (30, 12), (20, 20)])
@pytest.mark.parametrize("count", [0, 1, 6, 12])
def test_swapping_m_rows_reduces_the_mean_difference_linearly(n_old: int, n_new: int, count: int) -> None:
    old, new = changed(n_old, n_new, d=6)
    rng, repeats = np.random.default_rng(1), 1500
    left = np.empty((repeats, 6))
    for k in range(repeats):
        swapped = swap(old, new, random_order(n_old, rng), random_order(n_new, rng), count)
        left[k] = swapped[0].mean(axis=0) - swapped[1].mean(axis=0)
    expected = (1 - count / n_old - count / n_new) * (old.mean(axis=0) - new.mean(axis=0))
    error = left.std(axis=0) / np.sqrt(repeats)
    assert (np.abs(left.mean(axis=0) - expected) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("metric", DISTANCES)
def test_search_finds_the_closed_form_within_one_step(metric: str, counts: tuple[int, int]) -> None:
    curve = search_rate({"w": changed(*counts)}, metric, GRID, repeats=20)
    expected = max(counts) / sum(counts)
    assert curve.closed_form == pytest.approx(expected, rel=1e-12)
    assert abs(curve.rate - expected) <= STEP + 1e-9
    assert curve.mean.min() < 0.2 * curve.e_original[0]  # a clear minimum


def test_search_over_words_of_different_ratios_finds_the_closed_form_within_one_step() -> None:
    words = {f"{n}/{m}": changed(n, m, seed=i) for i, (n, m) in enumerate(COUNTS)}
    # The closed form minimises squares, as the cosine distance of close means is one.
    curve = search_rate(words, "cosine", GRID)
    assert abs(curve.rate - curve.closed_form) <= STEP + 1e-9
    assert min(curve.closed_forms) < curve.closed_form < max(curve.closed_forms)


@pytest.mark.parametrize("sizes", [(1000, 1400), (1400, 1000)])
def test_search_uses_corpus_sizes(sizes: tuple[int, int]) -> None:
    curve = search_rate({"w": changed(100, 120)}, "euclidean", GRID, corpus_sizes=sizes)
    assert curve.closed_form == closed_form_rate(100, 120, sizes)
    assert abs(curve.rate - curve.closed_form) <= STEP + 1e-9


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_curves_equal_those_of_sweep_and_are_averaged_by_definition(strategy: Strategy) -> None:
    words = {word: changed(10 + 5 * i, 30, seed=i, d=4) for i, word in enumerate(["plane", "tree", "cell"])}
    rates, sizes = [0.8, 0.2, 0.5], (90, 100)
    curve = search_rate(words, "cosine", rates, 7, seed=3, strategy=strategy, corpus_sizes=sizes, workers=2)
    assert curve.words == tuple(words)
    assert_array_equal(curve.rates, rates)
    for i, (word, (old, new)) in enumerate(words.items()):
        one = sweep(old, new, ["cosine"], rates, 7, 3, strategy, sizes, word)
        assert_array_equal(curve.e_swap[i], one.e_swap[0])
        assert curve.e_original[i] == one.e_original[0]
        assert curve.closed_forms[i] == closed_form_rate(len(old), len(new), sizes)

        alone = curve.word(word)
        assert alone.words == (word,)
        assert alone.closed_form == pytest.approx(curve.closed_forms[i], rel=1e-15)
        assert_allclose(alone.mean, [np.mean(one.e_swap[0, k]) for k in range(3)], rtol=1e-14)
        assert_allclose(alone.std, [np.std(one.e_swap[0, k]) for k in range(3)], rtol=1e-12, atol=1e-16)
        assert alone.rate == min(zip(alone.mean, rates, strict=True))[1]
        searched = search_rate({word: (old, new)}, "cosine", rates, 7, 3, strategy, sizes)
        assert_array_equal(searched.e_swap, alone.e_swap)

    repeats = curve.e_swap.shape[2]
    over_words = [[np.mean([e[k, j] for e in curve.e_swap]) for j in range(repeats)] for k in range(3)]
    assert_allclose(curve.mean, [np.mean(values) for values in over_words], rtol=1e-14)
    assert_allclose(curve.std, [np.std(values) for values in over_words], rtol=1e-12, atol=1e-16)
    assert curve.rate == min(zip(curve.mean, rates, strict=True))[1]


def test_words_have_individual_rates_beside_the_shared_one() -> None:
    curve = search_rate({"even": changed(100, 100), "uneven": changed(60, 180)}, "cosine", GRID)
    assert abs(curve.word("even").rate - 0.5) <= STEP + 1e-9
    assert abs(curve.word("uneven").rate - 0.75) <= STEP + 1e-9
    assert curve.word("even").rate < curve.rate < curve.word("uneven").rate


WEIGHTS = st.floats(1e-3, 1e3)


@given(st.lists(st.tuples(WEIGHTS, st.floats(0.5, 1)), min_size=1, max_size=8))
def test_closed_form_of_several_words_minimises_the_weighted_squares(words: list[tuple[float, float]]) -> None:
    e, r = np.array(words).T
    curve = RateCurve(("",) * len(e), np.array([0.5]), e, np.ones((len(e), 1, 1)), r)
    best = minimize_scalar(
        lambda x: np.sum(e * (1 - x / r) ** 2), bounds=(0, 2), method="bounded", options={"xatol": 1e-10}
    )
    assert curve.closed_form == pytest.approx(best.x, rel=1e-6)


def test_closed_form_without_distances_is_the_average() -> None:
    curve = RateCurve(("a", "b"), np.array([0.5]), np.zeros(2), np.zeros((2, 1, 3)), np.array([0.5, 0.75]))
    assert curve.closed_form == 0.625


def test_unknown_word_is_an_error_with_a_suggestion() -> None:
    curve = search_rate({"plane": changed(5, 6), "tree": changed(5, 6)}, repeats=2)
    with pytest.raises(ValueError, match=r"word must be one of plane, tree; got 'plain'; did you mean 'plane'\?"):
        curve.word("plain")


def test_no_words_is_an_error() -> None:
    with pytest.raises(ValueError, match="words must contain at least one word"):
        search_rate({})


def test_rates_from_an_iterator_are_used_for_every_word() -> None:
    words = {"plane": changed(5, 6), "tree": changed(5, 6)}
    once = search_rate(words, "cosine", iter([0.2, 0.5]), repeats=2)  # type: ignore[arg-type]
    assert_array_equal(once.e_swap, search_rate(words, "cosine", [0.2, 0.5], repeats=2).e_swap)


@pytest.mark.parametrize(("n_old", "n_new", "sizes"), [(0, 0, None), (0, 5, None), (3, 5, (0, 1)), (3, 5, (1, 0))])
def test_closed_form_of_no_words_is_an_error(n_old: int, n_new: int, sizes: tuple[int, int] | None) -> None:
    with pytest.raises(ValueError, match=r"n_old|corpus_sizes"):
        closed_form_rate(n_old, n_new, sizes)

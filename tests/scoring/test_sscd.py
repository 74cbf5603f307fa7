"""Test SSCD and sweep against a literal Algorithm 2, and their guarantees about seeds, words and rates."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import distance as sp
from slow_distances import SLOW

from lexshift import SSCD, Metric, sweep
from lexshift.scoring.distance import DISTANCES, dscd
from lexshift.scoring.swap import STRATEGIES, Strategy, orders, swap
from lexshift.utils.arrays import Array, Floats
from lexshift.utils.seeds import generator

# Slow references: a metric of two sets of rows, with moments by numpy and distances by scipy.


def on_means(name: str) -> Callable[[Array, Array], float]:
    return lambda a, b: float(getattr(sp, name)(a.mean(axis=0), b.mean(axis=0)))


TWINS: dict[str, Callable[[Array, Array], float]] = {
    **SLOW,
    "kl-reverse": lambda a, b: SLOW["kl"](b, a),
    **{name: on_means(name) for name in DISTANCES},
}
METRICS = list(TWINS)
SYMMETRIC = ["jeffreys", *DISTANCES, "apd", "energy", *(f"dscd-{name}" for name in DISTANCES)]


def literally(
    old: Array, new: Array, between: Callable[[Array, Array], float], sscd: SSCD, word: str = ""
) -> tuple[int, float, Floats]:
    """Run Algorithms 1 and 2 line by line: the swap count, e_original and the e_swap of every repetition."""
    n_old, n_new = Fraction(len(old)), Fraction(len(new))
    scale = Fraction(*sscd.corpus_sizes) if sscd.corpus_sizes else 1
    count = min(round(min(n_old, n_new * scale) * Fraction(str(sscd.rate))), len(old), len(new))
    rng = generator(sscd.seed, "swap", word)
    chosen = orders(old, new, sscd.strategy, sscd.repeats, rng)
    swapped = [between(*swap(old, new, *order, count)) for order in chosen]
    return count, between(old, new), np.array(swapped)


def sets(n_old: int, n_new: int, d: int, seed: int = 0, shift: float = 1.0) -> tuple[Floats, Floats]:
    """Return two sets around means for which every metric is defined."""
    rng = np.random.default_rng(seed)
    centre, spread = rng.normal(2, 1, d), rng.uniform(0.5, 2, d)
    return rng.normal(centre, spread, (n_old, d)), rng.normal(centre + shift * rng.normal(size=d), 1, (n_new, d))


SHAPES = st.tuples(st.integers(2, 25), st.integers(2, 25), st.integers(3, 9), st.integers(0, 10**6))
RATES = st.sampled_from([0, 0.05, 0.1, 0.25, 1 / 3, 0.5, 0.7, 0.95, 1])
SIZES = st.none() | st.tuples(st.integers(1, 1000), st.integers(1, 1000))


@given(SHAPES, st.sampled_from(METRICS), st.sampled_from(STRATEGIES), RATES, SIZES, st.sampled_from(["", "plane"]))
def test_score_equals_a_literal_implementation_of_algorithm_2(
    shape: tuple[int, int, int, int],
    metric: str,
    strategy: Strategy,
    rate: float,
    sizes: tuple[int, int] | None,
    word: str,
) -> None:
    old, new = sets(*shape)
    sscd = SSCD(metric, strategy, rate, repeats=4, seed=shape[3], corpus_sizes=sizes)
    change = sscd.score(old, new, word)
    count, e_original, e_swap = literally(old, new, TWINS[metric], sscd, word)
    assert (change.swap_count, change.n_old, change.n_new, change.rate) == (count, len(old), len(new), float(rate))
    assert_allclose(change.e_original, e_original, rtol=1e-9, atol=1e-12)
    assert_allclose(change.e_swap, e_swap, rtol=1e-8, atol=1e-12)
    assert change.e_swap.shape == (1 if strategy == "distance" else 4,)
    scores = np.abs(change.e_original - change.e_swap)
    assert change.score == pytest.approx(scores.mean(), rel=1e-12, abs=0)
    assert change.spread == pytest.approx(np.sqrt(np.mean((scores - scores.mean()) ** 2)), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("sizes", [None, (254, 354), (354, 254)])
def test_every_metric_follows_algorithm_2_with_both_strategies_and_any_sizes(
    metric: str, strategy: Strategy, sizes: tuple[int, int] | None
) -> None:
    old, new = sets(90, 70, 12)
    sscd = SSCD(metric, strategy, 0.4, repeats=3, corpus_sizes=sizes)
    change = sscd.score(old, new)
    count, e_original, e_swap = literally(old, new, TWINS[metric], sscd)
    assert change.swap_count == count
    assert_allclose(change.e_original, e_original, rtol=1e-10)
    assert_allclose(change.e_swap, e_swap, rtol=1e-10)


@given(SHAPES, st.lists(RATES, min_size=1, max_size=7), st.sampled_from(STRATEGIES), SIZES)
def test_sweep_at_a_rate_equals_score_at_that_rate_in_any_order_of_rates(
    shape: tuple[int, int, int, int], rates: list[float], strategy: Strategy, sizes: tuple[int, int] | None
) -> None:
    old, new = sets(*shape)
    metrics = ["euclidean", "kl", "apd", "dscd-cityblock", "cosine"]
    result = sweep(old, new, metrics, rates, repeats=3, seed=5, strategy=strategy, corpus_sizes=sizes, word="plane")
    assert result.metrics == tuple(metrics)
    assert result.e_swap.shape == (len(metrics), len(rates), 1 if strategy == "distance" else 3)
    assert_allclose(result.rates, rates, rtol=1e-15)
    assert_array_equal(result.scores, np.abs(result.e_original[:, None, None] - result.e_swap))
    for i, metric in enumerate(metrics):
        for k, rate in enumerate(rates):
            change = SSCD(metric, strategy, rate, 3, 5, sizes).score(old, new, "plane")
            assert (change.swap_count, change.e_original) == (result.swap_counts[k], result.e_original[i])
            assert_allclose(change.e_swap, result.e_swap[i, k], rtol=1e-12, atol=1e-14)


def test_dscd_apd_and_custom_metrics_are_swept_beside_closed_forms() -> None:
    own = Metric("first", lambda a, b: abs(a.mean - b.mean)[:, 0])
    metrics: list[str | Metric] = [
        "kl",
        "apd",
        own,
        "dscd-cosine",
        "dscd-cosine:sampled",
        "cosine",
        "dscd-canberra:sampled",
    ]
    old, new = sets(30, 40, 6)
    result = sweep(old, new, metrics, [0.3, 0.6], repeats=2)
    for i, metric in enumerate(metrics):
        for k, rate in enumerate([0.3, 0.6]):
            change = SSCD(metric, rate=rate, repeats=2).score(old, new)
            assert change.e_original == result.e_original[i]
            assert_allclose(change.e_swap, result.e_swap[i, k], rtol=1e-6 if "sampled" in str(metric) else 1e-12)


def test_sampled_metrics_of_different_sample_counts_do_not_affect_each_other() -> None:
    old, new = sets(30, 40, 6)
    few, many = dscd("cosine", "sampled", 100), dscd("cosine", "sampled", 300)
    together = sweep(old, new, [few, many], [0.4], repeats=2)
    for i, metric in enumerate([few, many]):
        assert_allclose(together.e_swap[i, 0], SSCD(metric, repeats=2).score(old, new).e_swap, rtol=1e-6)


@given(SHAPES, st.sampled_from(DISTANCES))
def test_sampled_dscd_draws_from_the_swapped_gaussians_and_averages_all_pairs(
    shape: tuple[int, int, int, int], distance: str
) -> None:
    old, new = sets(*shape)
    rng = generator(3, "samples", "plane")
    z_old, z_new = (rng.standard_normal((60, old.shape[1]), dtype=np.float32) for _ in range(2))

    def drawn(z: Array, rows: Array) -> Floats:
        return rows.mean(axis=0) + z * rows.std(axis=0, ddof=1)

    def slowly(a: Array, b: Array) -> float:
        return float(sp.cdist(drawn(z_old, a), drawn(z_new, b), distance).mean())

    sscd = SSCD(dscd(distance, "sampled", samples=60), repeats=2, seed=3)
    change = sscd.score(old, new, "plane")
    _, e_original, e_swap = literally(old, new, slowly, sscd, "plane")
    # x and y are drawn in float32, and Canberra and Bray-Curtis may divide by values near 0
    assert_allclose([change.e_original, *change.e_swap], [e_original, *e_swap], rtol=1e-4)


@pytest.mark.parametrize("metric", ["kl", "cosine", "apd", "dscd-euclidean", "dscd-euclidean:sampled"])
def test_seed_determines_scores_and_five_repetitions_are_the_first_of_twenty(metric: str) -> None:
    old, new = sets(40, 50, 6)
    twenty = SSCD(metric, repeats=20, seed=1).score(old, new)
    assert_array_equal(SSCD(metric, repeats=20, seed=1).score(old, new).e_swap, twenty.e_swap)
    assert_array_equal(SSCD(metric, repeats=5, seed=1).score(old, new).e_swap, twenty.e_swap[:5])
    assert len(set(twenty.e_swap)) == 20
    assert not np.isin(SSCD(metric, repeats=20, seed=2).score(old, new).e_swap, twenty.e_swap).any()
    assert not np.isin(SSCD(metric, repeats=20, seed=1).score(old, new, word="x").e_swap, twenty.e_swap).any()


def test_distance_strategy_is_one_deterministic_repetition() -> None:
    old, new = sets(40, 50, 6)
    changes = [SSCD("kl", "distance", seed=seed).score(old, new, word) for seed, word in [(0, "a"), (9, "b")]]
    assert [(c.e_swap.shape, c.spread) for c in changes] == [((1,), 0.0)] * 2
    assert changes[0].score == changes[1].score == abs(changes[0].e_original - changes[0].e_swap[0])


@pytest.mark.parametrize("metric", [*METRICS, "dscd-cosine", "dscd-cosine:sampled"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rate_0_swaps_nothing_and_scores_exactly_0(metric: str, strategy: Strategy, dtype: str) -> None:
    old, new = (rows.astype(dtype) for rows in sets(20, 30, 5))
    change = SSCD(metric, strategy, rate=0, repeats=3).score(old, new)
    assert (change.score, change.spread, change.swap_count) == (0.0, 0.0, 0)
    assert (change.e_swap == change.e_original).all()
    beside = sweep(old, new, [metric], [0.5, 0, 1], repeats=3, strategy=strategy)
    assert (beside.scores[0, 1] == 0).all()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rate_1_exchanges_sets_of_equal_counts(strategy: Strategy) -> None:
    old, new = sets(30, 30, 6)
    result = sweep(old, new, [*SYMMETRIC, "kl", "kl-reverse"], [1], repeats=2, strategy=strategy)
    swapped = result.e_original.copy()
    swapped[-2:] = result.e_original[:-3:-1]  # kl and kl-reverse are exchanged
    assert swapped[-1] != swapped[-2]
    assert_allclose(result.e_swap[:, 0], np.broadcast_to(swapped[:, None], result.e_swap[:, 0].shape), rtol=1e-6)


@pytest.mark.parametrize("metric", ["kl", "apd", "dscd-cosine:sampled"])
def test_score_of_a_word_does_not_depend_on_other_words_or_workers(metric: str) -> None:
    words = {word: sets(15 + i, 25 - i, 5, seed=i) for i, word in enumerate("abcdef")}
    sscd = SSCD(metric, repeats=3)
    alone = {word: sscd.score(*rows, word) for word, rows in words.items()}
    selections = [words, dict(reversed(words.items())), {w: words[w] for w in "db"}, {"c": words["c"]}]
    for selection in selections:
        for workers in (None, 1, 4):
            changes = sscd.score_words(selection, workers=workers)
            assert list(changes) == list(selection)
            for word, change in changes.items():
                assert (change.score, change.spread) == (alone[word].score, alone[word].spread)
                assert_array_equal(change.e_swap, alone[word].e_swap)


def test_words_with_the_same_rows_are_swapped_differently() -> None:
    rows = sets(20, 20, 4)
    changes = SSCD().score_words({"a": rows, "b": rows})
    assert changes["a"].e_original == changes["b"].e_original
    assert not np.isin(changes["a"].e_swap, changes["b"].e_swap).any()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_given_arrays_are_not_modified(strategy: Strategy) -> None:
    old, new = sets(20, 30, 5)
    before = old.copy(), new.copy()
    sweep(old, new, ["kl", "apd", "dscd-euclidean:sampled"], [0.4], repeats=2, strategy=strategy)
    assert_array_equal(old, before[0])
    assert_array_equal(new, before[1])
    for rows in (old, new):
        rows.setflags(write=False)
    assert SSCD("apd", strategy).score(old, new).score > 0  # read-only arrays are accepted


@given(SHAPES, st.sampled_from(METRICS))
def test_precisions_and_memory_layouts_may_differ(shape: tuple[int, int, int, int], metric: str) -> None:
    old, new = (np.float32(rows) for rows in sets(*shape))
    sscd = SSCD(metric, repeats=3)
    expected = sscd.score(old.astype(float), new.astype(float))
    for a, b, tolerance in [
        (old, new.astype(float), 1e-12),
        (old.astype(float), new, 1e-12),
        (np.asfortranarray(old, dtype=float), np.repeat(new, 2, axis=0)[::2], 1e-12),
        (old.tolist(), new.tolist(), 1e-12),
        (old, new, 1e-4),  # only float32 is partly summed in float32
    ]:
        change = sscd.score(a, b)
        assert_allclose(change.e_original, expected.e_original, rtol=tolerance, atol=1e-12)
        assert_allclose(change.e_swap, expected.e_swap, rtol=tolerance, atol=tolerance * 1e-2)


@pytest.mark.parametrize("rows", [np.arange(12).reshape(4, 3) % 5, np.eye(4, 3, dtype=bool)])
def test_integers_are_accepted_as_numbers(rows: Any) -> None:
    new = sets(2, 5, 3)[1]
    assert SSCD("euclidean").score(rows, new).score == SSCD("euclidean").score(rows.astype(float), new).score

"""Test intervals from half-samples against half-samples built row by row and the true spread of the score."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial import distance
from slow_distances import SLOW

from lexshift import SSCD, Metric, bootstrap
from lexshift.scoring import bootstrap as _bootstrap
from lexshift.scoring.bootstrap import (
    SWAPS,
    SWAPS_OF_USAGES,
    HalfSamples,
    _estimate_variance,
    _farthest_first,
    _halves,
    _limits,
    _move,
    mark_first_rows,
)
from lexshift.scoring.distance.metric import get, precompute_distances
from lexshift.scoring.sscd import combine
from lexshift.scoring.swap import Strategy, swap_count
from lexshift.utils.arrays import Floats, Matrix
from lexshift.utils.seeds import generator

METRICS = ["apd", "cosine", "energy", "euclidean", "kl"]


def two_sets(n_old: int, n_new: int, d: int, seed: int = 0, shift: float = 0.5) -> tuple[Matrix, Matrix]:
    """Return two sets of mean 1 that differ by ``shift`` with alternating signs."""
    rng = np.random.default_rng(seed)
    return rng.normal(1, 1, (n_old, d)), rng.normal(1, 1, (n_new, d)) + shift * (-1.0) ** np.arange(d)


def slow_halves(
    old: Matrix, new: Matrix, sscd: SSCD, size: int, rng: np.random.Generator
) -> tuple[Floats, Floats, float]:
    """Build half-samples row by row from the same draws: |e_original - e_swap|, APD, the largest distance."""
    splits = [rng.permuted(np.broadcast_to(np.arange(len(rows)), (size, len(rows))), axis=1) for rows in (old, new)]
    swaps = (SWAPS_OF_USAGES if get(sscd.metric).usages else SWAPS) if sscd.strategy == "random" else 1
    if sscd.strategy == "random":
        orders = [
            rng.permuted(np.broadcast_to(np.arange(len(rows)), (size * 2 * swaps, len(rows))), axis=1)
            for rows in (old, new)
        ]
    half_old, half_new = len(old) // 2, len(new) // 2
    count = swap_count(half_old, half_new, sscd.rate, sscd.corpus_sizes)
    if swap_count(len(old), len(new), sscd.rate, sscd.corpus_sizes):
        count = max(count, 1)
    between = SLOW[str(sscd.metric)]
    old, new = old.astype(float), new.astype(float)
    apd, swapped, largest = np.zeros((size, 2)), np.zeros((size, 2, swaps)), 0.0
    for b, h, k in itertools.product(range(size), range(2), range(swaps)):
        in_old = splits[0][b][h * half_old : (h + 1) * half_old].tolist()
        in_new = splits[1][b][h * half_new : (h + 1) * half_new].tolist()
        if sscd.strategy == "random":
            order_old, order_new = (order[(b * 2 + h) * swaps + k] for order in orders)
        else:
            order_old = np.argsort(-distance.cdist(old, [new[in_new].mean(axis=0)])[:, 0], kind="stable")
            order_new = np.argsort(-distance.cdist(new, [old[in_old].mean(axis=0)])[:, 0], kind="stable")
        out_old = [i for i in order_old if i in in_old][:count]
        out_new = [i for i in order_new if i in in_new][:count]
        S1_swap = np.concatenate([old[[i for i in in_old if i not in out_old]], new[out_new]])
        S2_swap = np.concatenate([new[[i for i in in_new if i not in out_new]], old[out_old]])
        e_original, e_swap = between(old[in_old], new[in_new]), between(S1_swap, S2_swap)
        apd[b, h], swapped[b, h, k] = SLOW["apd"](old[in_old], new[in_new]), abs(e_original - e_swap)
        largest = max(largest, abs(e_original), abs(e_swap))
    return swapped, apd, largest


def slow_interval(
    change: tuple[float, float, float],
    sscd: SSCD,
    swapped: Floats,
    apd: Floats,
    confidence: float,
    least: int,
    df: float | None = None,
) -> tuple[float, float]:
    """Compute the interval of (score, sscd, distance) step by step as derived in the documentation of the module."""
    (score, full, full_distance), w = change, float(sscd.distance_weight)
    swaps, splits = swapped.shape[2], len(swapped)
    one, other = swapped[:, 0].mean(axis=1), swapped[:, 1].mean(axis=1)
    noise = np.mean([np.var(row, ddof=1) for row in swapped.reshape(-1, swaps)]) if swaps > 1 else 0.0
    # Swapping adds noise / swaps to the score of either half.
    v_half = max(np.mean((one - other) ** 2) / 4 - 2 * noise / swaps / 4, 0)  # v / 2
    v_common = np.var((one + other) / 2) - 2 * noise / swaps / 4
    mean = (one.mean() + other.mean()) / 2
    c = min(max(full / mean, 0.5), 1)
    unrelated = min(max(2 * v_common / v_half - 1, 0), 1) if v_half else 0
    factor = c**2 if c**2 <= 0.5 else 0.5 + unrelated * (c**2 - 0.5)
    v_swapped = factor * 2 * v_half
    linear_and_twice_quadratic = np.mean((apd[:, 0] - apd[:, 1]) ** 2) / 4
    quadratic = np.var(apd.mean(axis=1))
    v_distance = max(linear_and_twice_quadratic - quadratic, linear_and_twice_quadratic / 2)
    at_half = np.mean((one - other) * (apd[:, 0] - apd[:, 1])) / 4
    shrunk = np.sqrt(2 * factor * v_distance / linear_and_twice_quadratic)
    covariance = at_half * shrunk
    expected = max(full, mean / 2)
    # The partial derivatives of expected ** (1 - w) * full_distance ** w
    a = (1 - w) * expected ** (-w) * full_distance**w
    b = w * expected ** (1 - w) * full_distance ** (w - 1)
    variance = max(a**2 * v_swapped + 2 * a * b * covariance + b**2 * v_distance, 0)
    part = min(max((a**2 * v_swapped + a * b * covariance) / variance, 0), 1) if variance else 0
    slope = a * part * v_half / expected
    swapping = a**2 * factor * noise / (sscd.repeats if sscd.strategy == "random" else 1)
    if swapping:
        part = min(max((a**2 * v_swapped + a * b * covariance + swapping) / (variance + swapping), 0), 1)
    variance += swapping
    q = stats.t.ppf(0.5 + confidence / 2, df or 1 / (1 / (least - 1) + 1 / splits))
    if slope == 0:
        limits = [score - q * np.sqrt(variance), score + q * np.sqrt(variance)]
    else:
        zero = score - variance / slope
        root, step = np.sqrt(score - zero), q * np.sqrt(slope) / 2
        limits = [zero + max(root - step, 0) ** 2, zero + (root + step) ** 2]
    # The limits of the linear approximation are moved to the curve.
    moved = [
        (full + part * (limit - score) / a if a else full, full_distance + (1 - part) * (limit - score) / b if b else 1)
        for limit in limits
    ]
    low, high = (max(x, 0) ** (1 - w) * max(y, 0) ** w for x, y in moved)
    return low, high


# Components


@settings(max_examples=60)
@given(
    st.tuples(st.integers(12, 40), st.integers(12, 40), st.integers(2, 6)),
    st.sampled_from(METRICS),
    st.sampled_from(["random", "distance"]),
    st.sampled_from([0.0, 0.04, 0.1, 0.4, 0.75, 1.0]),
    st.sampled_from([None, (300, 100), (100, 300)]),
    st.integers(0, 99),
)
def test_distances_of_half_samples_equal_those_of_their_rows(
    shape: tuple[int, int, int],
    metric: str,
    strategy: Strategy,
    rate: float,
    corpus_sizes: tuple[int, int] | None,
    seed: int,
) -> None:
    old, new = two_sets(*shape, seed)
    sscd = SSCD(metric, strategy, rate, repeats=3, corpus_sizes=corpus_sizes)
    swapped, apd = HalfSamples(old, new, sscd, "")(2, np.random.default_rng(seed))
    slow_swapped, slow_apd, largest = slow_halves(old, new, sscd, 2, np.random.default_rng(seed))
    np.testing.assert_allclose(apd, slow_apd, rtol=0, atol=1e-12)
    np.testing.assert_allclose(swapped, slow_swapped, rtol=0, atol=1e-9 * largest)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("strategy", ["random", "distance"])
def test_distances_of_ill_conditioned_float32_rows_are_exact_to_1e_6(metric: str, strategy: Strategy) -> None:
    spread = np.where(np.arange(24) % 8 == 0, 100.0, 1.0)  # three larger dimensions, all 50 spreads from the origin
    old, new = (((rows + 50) * spread).astype(np.float32) for rows in two_sets(150, 1_200, 24))
    sscd = SSCD(metric, strategy, repeats=2)
    swapped, apd = HalfSamples(old, new, sscd, "")(2, np.random.default_rng(0))
    slow_swapped, slow_apd, largest = slow_halves(old, new, sscd, 2, np.random.default_rng(0))
    np.testing.assert_allclose(apd, slow_apd, rtol=0, atol=1e-6)
    np.testing.assert_allclose(swapped, slow_swapped, rtol=0, atol=1e-6 * largest)


@given(st.integers(2, 30), st.integers(1, 5), st.integers(0, 99))
def test_halves_of_a_split_are_disjoint_and_omit_at_most_one_row(n: int, size: int, seed: int) -> None:
    halves = _halves(n, size, np.random.default_rng(seed)).reshape(size, 2, n)
    assert (halves.sum(axis=2) == n // 2).all()
    assert halves.sum(axis=1).max() <= 1
    assert ((halves == 0) | (halves == 1)).all()


def test_all_pairs_of_rows_are_in_one_half_equally_often() -> None:
    halves = _halves(7, 4_000, np.random.default_rng(0)).astype(int)
    together = (halves.T @ halves)[np.triu_indices(7, 1)]
    assert halves.sum(axis=0) == pytest.approx(np.full(7, 8_000 * 3 / 7), rel=0.03)
    assert together == pytest.approx(np.full(21, 8_000 * 3 / 7 * 2 / 6), rel=0.1)


@given(st.integers(1, 20), st.integers(1, 20), st.sampled_from(["float32", "float64"]), st.integers(0, 99))
def test_rows_are_swapped_from_the_farthest_to_the_resampled_centroid(n: int, m: int, dtype: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, other = rng.normal(size=(n, 4)).astype(dtype), rng.normal(size=(m, 4)).astype(dtype)
    drawn = _halves(m + 1, 3, rng)[:, :-1]
    drawn[:, 0] = 1
    for order, times in zip(_farthest_first(rows, drawn, other), drawn, strict=True):
        centroid = np.repeat(other.astype(float), times, axis=0).mean(axis=0)
        distances = np.linalg.norm(rows.astype(float) - centroid, axis=1)
        assert sorted(order.tolist()) == list(range(n))
        assert (np.diff(distances[order]) <= 1e-12).all()


@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 4), st.integers(0, 15), st.integers(0, 99))
def test_every_swap_moves_the_first_rows_of_the_half(n: int, size: int, swaps: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    halves = rng.integers(0, 2, (size, n))
    order = rng.permuted(np.broadcast_to(np.arange(n), (size * swaps, n)), axis=1)
    moved = np.zeros_like(order)
    mark_first_rows(halves, order, count, moved)
    for b, rows in enumerate(order.tolist()):
        expected = [row for row in rows if halves[b // swaps, row]][:count]
        assert np.flatnonzero(moved[b]).tolist() == sorted(expected)
        assert moved[b].max() <= 1


# The interval


@pytest.mark.parametrize("distance_weight", [0.0, 0.8])
@pytest.mark.parametrize("strategy", ["random", "distance"])
@pytest.mark.parametrize("metric", ["cosine", "kl", "apd", "energy", "nearest", "amd", "samd"])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_interval_matches_the_derivation(metric: str, strategy: Strategy, distance_weight: float, shift: float) -> None:
    old, new = two_sets(30, 21, 5, 0, shift)
    sscd = SSCD(metric, strategy, 0.3, repeats=5, seed=3, distance_weight=distance_weight)
    change = sscd.score(old, new, "plane")
    swapped, apd = HalfSamples(old, new, sscd, "plane")(26, generator(3, "bootstrap", "plane"))
    interval = bootstrap(old, new, sscd, resamples=51, confidence=0.9, word="plane")
    wanted = slow_interval((change.score, change.sscd, change.distance), sscd, swapped, apd, 0.9, 21)
    assert (interval.low, interval.high) == pytest.approx(wanted, rel=1e-9)
    halves = swapped.mean(axis=2) ** (1 - distance_weight) * apd**distance_weight
    assert interval.bias == pytest.approx(halves.mean() - change.score, rel=1e-9)
    assert interval == bootstrap(old, new, sscd, 51, 0.9, "plane", change)


@given(
    st.tuples(st.integers(1, 9), st.integers(1, 4)),
    st.tuples(st.floats(0.1, 2), st.floats(0, 2), st.floats(0, 2)),
    st.floats(0.2, 3),
    st.sampled_from([0.0, 0.25, 0.8, 1.0]),
    st.integers(0, 999),
)
def test_variance_matches_the_derivation_for_opposite_and_equal_halves(
    shape: tuple[int, int], sizes: tuple[float, float, float], ratio: float, distance_weight: float, seed: int
) -> None:
    rng, (splits, swaps), (opposite, alike, noise) = np.random.default_rng(seed), shape, sizes
    odd, even = rng.normal(size=(2, splits, 1)) * opposite, rng.normal(size=(2, splits, 1)) * alike
    halves = 10 + odd * [1, -1] + even  # (2, splits, 2), of APD and of swapped
    swapped = np.abs(halves[1][:, :, None] + noise * rng.normal(size=(splits, 2, swaps)))
    sscd, full = SSCD(repeats=4, distance_weight=distance_weight), ratio * float(swapped.mean())
    score = float(combine(full, 10.0, distance_weight))
    variance, slope, direction = _estimate_variance(full, 10.0, distance_weight, 4, swapped, halves[0])
    change = replace(sscd.score(*two_sets(3, 3, 2)), score=score, sscd=full, distance=10.0)
    limits = _limits(score, variance, slope, float(stats.t.ppf(0.975, 2)))
    found = [_move(change, limit - score, direction, distance_weight) for limit in limits]
    wanted = slow_interval((score, full, 10.0), sscd, swapped, halves[0], 0.95, 3, 2)
    assert found == pytest.approx(list(wanted), rel=1e-6, abs=1e-9)


@given(st.floats(0, 5), st.floats(0, 3), st.floats(0, 3), st.floats(0.1, 20))
def test_limits_enclose_the_score_and_widen_with_confidence(
    score: float, variance: float, slope: float, q: float
) -> None:
    low, high = _limits(score, variance, slope, q)
    rounding = 1e-9 * (1 + score + q**2 * slope + q * variance)
    assert low <= score + rounding
    assert high >= score - rounding
    lower, higher = _limits(score, variance, slope, 2 * q)
    assert lower <= low + rounding
    assert higher >= high - rounding


def test_limits_are_symmetric_for_constant_variance_and_otherwise_extend_upwards() -> None:
    low, high = _limits(1.0, 0.04, 1e-12, 2.0)
    assert (low, high) == pytest.approx((0.6, 1.4), rel=1e-5)
    low, high = _limits(1.0, 0.04, 0.04, 2.0)
    assert high - 1 > 1.2 * (1 - low)


def test_rate_of_0_has_a_score_of_0_with_a_zero_interval() -> None:
    interval = bootstrap(*two_sets(20, 30, 4), SSCD("kl", rate=0.0), resamples=50)
    assert (interval.low, interval.high, interval.bias) == (0, 0, 0)


@pytest.mark.parametrize("distance_weight", [0.0, 0.2, 0.8, 1.0])
@pytest.mark.parametrize("rows", [np.zeros((6, 3)), np.ones((6, 3))], ids=["zeros", "equal"])
def test_interval_of_equal_or_zero_vectors_is_defined(distance_weight: float, rows: Matrix) -> None:
    sscd = SSCD("nearest", rate=0.5, distance_weight=distance_weight)
    interval = bootstrap(rows, rows, sscd, resamples=10)
    score = 1.0 if distance_weight == 1 and not rows.any() else 0.0
    assert (interval.low, interval.high, interval.bias) == pytest.approx((score, score, 0), abs=1e-12)


def test_higher_confidence_gives_a_wider_interval() -> None:
    intervals = [bootstrap(*two_sets(40, 40, 8), resamples=200, confidence=c) for c in (0.5, 0.8, 0.9, 0.95, 0.99)]
    assert all(a.low > b.low and a.high < b.high for a, b in itertools.pairwise(intervals))
    assert len({interval.bias for interval in intervals}) == 1


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "kl", "apd", "energy"])
def test_more_occurrences_give_a_narrower_interval(metric: str) -> None:
    few, many = (bootstrap(*two_sets(n, n, 8), SSCD(metric, repeats=5), resamples=60) for n in (40, 1_000))
    assert many.high - many.low < 0.5 * (few.high - few.low)


def spread_and_coverage(sscd: SSCD, sets: int, draw: Callable[[np.random.Generator], tuple[Matrix, Matrix]]) -> Floats:
    """Return the mean width relative to 2 * 1.96 standard deviations of the score, and the coverage of its mean."""
    rng, found = np.random.default_rng(0), []
    for seed in range(sets):
        old, new = draw(rng)
        once = replace(sscd, metric=precompute_distances(get(sscd.metric), old, new), seed=seed)
        change = once.score(old, new)
        interval = bootstrap(old, new, once, resamples=60, change=change)
        found.append((change.score, interval.low, interval.high))
    scores, low, high = np.array(found).T
    covered = (low <= scores.mean()) & (scores.mean() <= high)
    return np.array([(high - low).mean() / (2 * 1.96 * scores.std(ddof=1)), covered.mean()])


def centred(
    n_old: int, n_new: int, spread: Floats, shift: float = 0.0
) -> Callable[[np.random.Generator], tuple[Matrix, Matrix]]:
    """Draw two sets from one centred distribution, or from two if there is a shift."""
    d = len(spread)
    moved = shift * spread * (np.arange(d) % 4 == 0)
    return lambda rng: (rng.normal(size=(n_old, d)) * spread, rng.normal(size=(n_new, d)) * spread + moved)


@pytest.mark.parametrize("distance_weight", [0.0, 0.8])
@pytest.mark.parametrize(
    ("n_old", "n_new", "spread"),
    [(20, 20, np.ones(16)), (24, 24, 1 / np.sqrt(np.arange(1, 25))), (20, 60, np.ones(32))],
    ids=["isotropic", "anisotropic", "of two sizes"],
)
def test_without_change_the_interval_of_nearest_matches_the_score_spread(
    n_old: int, n_new: int, spread: Floats, distance_weight: float
) -> None:
    sscd = SSCD("nearest", rate=0.5, repeats=20, distance_weight=distance_weight)
    width, coverage = spread_and_coverage(sscd, 250, centred(n_old, n_new, spread))
    assert 0.8 < width < 1.5
    assert 0.92 <= coverage <= 0.99


@pytest.mark.parametrize("metric", ["euclidean", "apd", "dscd-cityblock"])
def test_without_change_the_interval_of_other_metrics_matches_the_score_spread(metric: str) -> None:
    width, coverage = spread_and_coverage(SSCD(metric, rate=0.3), 250, centred(40, 40, np.ones(16)))
    assert 0.8 < width < 1.4
    assert coverage >= 0.93


@pytest.mark.parametrize("distance_weight", [0.0, 0.8])
def test_interval_of_a_changed_word_matches_the_score_spread(distance_weight: float) -> None:
    sscd = SSCD("nearest", rate=0.5, distance_weight=distance_weight)
    width, coverage = spread_and_coverage(sscd, 150, centred(30, 30, np.ones(32), 1.0))
    assert 0.8 < width < 1.4
    assert coverage >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_interval_covers_the_mean_score_of_the_population(metric: str) -> None:
    sscd = SSCD(metric, repeats=10)
    data = [two_sets(60, 60, 20, seed) for seed in range(60)]
    scores = [sscd.score(old, new).score for old, new in data]
    intervals = [bootstrap(old, new, sscd, resamples=100) for old, new in data]
    covered = [interval.low <= np.mean(scores) <= interval.high for interval in intervals]
    assert np.mean(covered) >= 0.8
    widths = [interval.high - interval.low for interval in intervals]
    assert np.median(widths) < 2 * 2 * 1.96 * np.std(scores)  # the coverage must not result from too wide intervals


def test_results_depend_only_on_the_rows_the_name_and_the_seed() -> None:
    old, new = two_sets(25, 20, 4)
    words, seeds = ("", "plane", "naïve"), (0, 1)
    first = {(w, s): bootstrap(old, new, SSCD(seed=s), resamples=30, word=w) for w in words for s in seeds}
    again = {(w, s): bootstrap(old, new, SSCD(seed=s), resamples=30, word=w) for s in seeds for w in reversed(words)}
    assert first == again
    assert len({(interval.low, interval.high) for interval in first.values()}) == len(first)


def test_kl_is_the_default_metric() -> None:
    old, new = two_sets(25, 20, 4)
    assert bootstrap(old, new, resamples=30) == bootstrap(old, new, SSCD(), resamples=30)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "kl"])
@pytest.mark.parametrize("sizes", [(2, 40), (3, 3), (5, 30), (30, 4)])
@pytest.mark.parametrize("rate", [0.4, 1.0])
def test_rarest_words_have_an_interval_at_any_rate(metric: str, sizes: tuple[int, int], rate: float) -> None:
    interval = bootstrap(*two_sets(*sizes, 4), SSCD(metric, rate=rate), resamples=500)
    assert 0 <= interval.low <= interval.high < np.inf


def test_resamples_of_wide_rows_respect_the_memory_limit_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_bootstrap, "MEMORY_ENTRIES", 50_000)
    sizes: list[int] = []

    def between(old: Any, new: Any) -> Floats:
        sizes.append(max(old.mean.size, new.mean.size))
        return np.zeros(len(old.mean))

    bootstrap(*two_sets(10, 10, 400), SSCD(Metric("size", between), repeats=5), resamples=50)
    assert max(sizes) <= 50_000


@pytest.mark.parametrize("resamples", [0, -1, 1.5, "many", None, True])
def test_invalid_number_of_resamples_is_refused(resamples: Any) -> None:
    with pytest.raises(ValueError, match="resamples must be a whole number of at least 1"):
        bootstrap(*two_sets(5, 5, 2), resamples=resamples)


@pytest.mark.parametrize("confidence", [0, 1, 0.0, 1.0, 95, -0.5, float("nan"), "x", None, True])
def test_confidence_outside_0_and_1_is_refused(confidence: Any) -> None:
    with pytest.raises(ValueError, match="confidence must be a number between 0 and 1"):
        bootstrap(*two_sets(5, 5, 2), confidence=confidence)


@pytest.mark.parametrize("sscd", ["cosine", 3, {"metric": "kl"}, SSCD])
def test_object_other_than_sscd_is_refused(sscd: Any) -> None:
    with pytest.raises(ValueError, match=r"sscd must be a lexshift.SSCD; got "):
        bootstrap(*two_sets(5, 5, 2), sscd)


def test_incomparable_sets_are_refused() -> None:
    old, new = two_sets(5, 5, 2)
    with pytest.raises(ValueError, match="same number of dimensions"):
        bootstrap(old, new[:, :1])
    with pytest.raises(ValueError, match="at least 2 occurrences"):
        bootstrap(old[:1], new)

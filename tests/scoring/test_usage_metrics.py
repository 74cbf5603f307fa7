"""Test usage metrics and the weight of the average pairwise distance against rows that are moved one by one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.spatial.distance import cdist

from lexshift import SSCD, Metric, UserError, bootstrap, permutation_test, register, search_rate, sweep
from lexshift.scoring import bootstrap as _bootstrap
from lexshift.scoring.bootstrap import SWAPS_OF_USAGES, HalfSamples
from lexshift.scoring.distance import get, nearest
from lexshift.scoring.distance.metric import original_sides, side_distances
from lexshift.scoring.permutation import other_splits, random_splits
from lexshift.scoring.swap import STRATEGIES, Strategy, orders, swap, swap_count, swapped_sides
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.seeds import generator

SHAPES = st.tuples(st.integers(2, 25), st.integers(2, 25), st.integers(3, 9), st.integers(0, 10**6))
RATES = [0.0, 0.1, 1 / 3, 0.5, 0.8, 1.0]


def sets(n_old: int, n_new: int, d: int, seed: int = 0, shift: float = 1.0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    centre = rng.normal(2, 1, d)
    return rng.normal(centre, 1, (n_old, d)), rng.normal(centre + shift * rng.normal(size=d), 1, (n_new, d))


def slow_nearest(old: Matrix, new: Matrix, few: int = 20) -> float:
    """Weight the sorted distances by the probability of being the smallest of a few drawn usages."""
    distances = cdist(old.astype(float), new.astype(float), "cosine")
    ways = []
    for from_one in (distances, distances.T):
        n = from_one.shape[1]
        drawn, left, value = min(few, n), 1.0, np.zeros(len(from_one))
        for k, column in enumerate(np.sort(from_one, axis=1).T):
            value += left * min(drawn / (n - k), 1.0) * column
            left *= max(1 - drawn / (n - k), 0.0)
        ways.append(value.mean())
    return float(np.mean(ways))


def centroids(old: Matrix, new: Matrix) -> Callable[[Array], Floats]:
    """Custom usage metric: the Euclidean distance between the two means."""
    rows = np.concatenate([old, new]).astype(float)

    def of(sides: Array) -> Floats:
        weights = [np.maximum(sides, 0).astype(float), np.maximum(-sides.astype(float), 0)]
        one, other = (w @ rows / w.sum(axis=1, keepdims=True) for w in weights)
        return np.linalg.norm(one - other, axis=1)

    return of


OWN = Metric("centroids", centroids, usages=True)


@pytest.fixture(params=["by name", "as it is"])
def custom_metric(request: pytest.FixtureRequest) -> str | Metric:
    """Return a custom metric, registered or not."""
    if request.param == "as it is":
        return OWN
    register(OWN)
    return OWN.name


# Swaps


def swapped_by_hand(
    old: Matrix,
    new: Matrix,
    strategy: Strategy,
    repeats: int,
    seed: int,
    word: str,
    sizes: tuple[int, int] | None,
    between: Callable[[Matrix, Matrix], float] = slow_nearest,
) -> Floats:
    """Return e_swap of rows that were actually exchanged, of shape (rates, repeats)."""
    rng = generator(seed, "swap", word)
    in_turn = orders(old, new, strategy, repeats, rng)
    counts = [swap_count(len(old), len(new), rate, sizes) for rate in RATES]
    return np.array([[between(*swap(old, new, *order, count)) for count in counts] for order in in_turn]).T


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(SHAPES, st.booleans(), st.none() | st.tuples(st.integers(1, 99), st.integers(1, 99)))
def test_nearest_after_swaps_equals_that_of_the_swapped_rows(
    strategy: Strategy, shape: tuple[int, int, int, int], double: bool, sizes: tuple[int, int] | None
) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in sets(*shape))
    found = sweep(old, new, ["nearest"], RATES, 3, shape[3], strategy, sizes, "plane")
    wanted = swapped_by_hand(old, new, strategy, 3, shape[3], "plane", sizes)
    assert found.e_swap[0].shape == (len(RATES), 1 if strategy == "distance" else 3)
    assert_allclose(found.e_swap[0], wanted, rtol=1e-9 if double else 0, atol=1e-12 if double else 1e-6)
    assert found.e_original[0] == pytest.approx(slow_nearest(old, new), abs=1e-12 if double else 1e-6)


@given(st.integers(2, 9), st.integers(2, 9), st.lists(st.integers(0, 9), min_size=1, max_size=4), st.integers(0, 99))
def test_swapped_sides_record_the_side_of_each_row_after_swapping(n: int, m: int, counts: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = [min(count, n, m) for count in counts]
    row_orders = [(rng.permutation(n), rng.permutation(m)) for _ in range(3)]
    sides = swapped_sides(n, m, row_orders, counts).reshape(3, len(counts), n + m)
    names = np.arange(n + m, dtype=float)[:, None]
    for of_repeat, order in zip(sides, row_orders, strict=True):
        for row, count in zip(of_repeat, counts, strict=True):
            S1_swap, S2_swap = swap(names[:n], names[n:], *order, count)
            assert set(np.flatnonzero(row == 1)) == set(S1_swap[:, 0])
            assert set(np.flatnonzero(row == -1)) == set(S2_swap[:, 0])


@given(SHAPES, st.sampled_from(STRATEGIES), st.booleans())
def test_e_swap_at_a_rate_of_0_is_bitwise_equal_to_e_original(
    shape: tuple[int, int, int, int], strategy: Strategy, double: bool
) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in sets(*shape))
    found = sweep(old, new, ["nearest"], [0.7, 0.0, 0.2], 4, strategy=strategy)
    assert_array_equal(found.e_swap[0, 1], np.full(found.e_swap.shape[2], found.e_original[0]))
    assert SSCD("nearest", strategy, rate=0).score(old, new).score == 0.0


@given(SHAPES, st.sampled_from(STRATEGIES), st.permutations(["kl", "nearest", "apd", OWN, "samd", "energy", "amd"]))
def test_usage_metrics_and_gaussian_metrics_together_equal_each_alone(
    shape: tuple[int, int, int, int], strategy: Strategy, metrics: list[str | Metric]
) -> None:
    old, new = sets(*shape)
    together = sweep(old, new, metrics, [0.5, 0.2, 0.5], 3, 7, strategy, word="plane")
    assert together.metrics == tuple(get(metric).name for metric in metrics)
    for i, metric in enumerate(metrics):
        alone = sweep(old, new, [metric], [0.5, 0.2, 0.5], 3, 7, strategy, word="plane")
        assert together.e_original[i] == alone.e_original[0]
        assert_allclose(together.e_swap[i], alone.e_swap[0], rtol=1e-12, atol=1e-14)
        change = SSCD(metric, strategy, 0.2, 3, 7).score(old, new, "plane")
        assert change.e_original == together.e_original[i]
        assert_allclose(change.e_swap, together.e_swap[i, 1], rtol=1e-12, atol=1e-14)


def test_words_scored_together_have_the_scores_they_have_alone() -> None:
    words = {f"word {i}": sets(20 + i, 30, 5, i) for i in range(6)}
    sscd = SSCD("nearest", rate=0.3, repeats=5, distance_weight=0.25)
    together = sscd.score_words(words, workers=3)
    assert {word: change.score for word, change in together.items()} == {
        word: sscd.score(*rows, word).score for word, rows in words.items()
    }


def test_rate_is_estimated_with_nearest_as_with_any_metric() -> None:
    words = {f"word {i}": sets(20, 30, 5, i, shift=3.0) for i in range(3)}
    curve = search_rate(words, "nearest", repeats=4)
    assert_array_equal(curve.e_swap[1], sweep(*words["word 1"], ["nearest"], repeats=4, word="word 1").e_swap[0])
    assert 0.3 <= curve.rate <= 0.9  # the closed form says 0.6
    assert curve.mean.min() < 0.8 * curve.e_original.mean()


# Custom metrics


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_custom_usage_metric_scores_like_the_same_gaussian_distance(
    custom_metric: str | Metric, strategy: Strategy
) -> None:
    old, new = sets(30, 24, 5)
    ours = SSCD(custom_metric, strategy, 0.4, 6, distance_weight=0.1).score(old, new, "plane")
    theirs = SSCD("euclidean", strategy, 0.4, 6, distance_weight=0.1).score(old, new, "plane")
    assert_allclose(ours.e_swap, theirs.e_swap, rtol=1e-10)
    assert (ours.score, ours.e_original, ours.spread) == pytest.approx(
        (theirs.score, theirs.e_original, theirs.spread), rel=1e-9
    )
    found = sweep(old, new, ["euclidean", custom_metric], RATES, 3, strategy=strategy)
    assert_allclose(found.e_swap[1], found.e_swap[0], rtol=1e-9, atol=1e-12)
    assert found.metrics == ("euclidean", "centroids")


@pytest.mark.parametrize("sizes", [(3, 5), (6, 3), (20, 15), (12, 30)])
def test_custom_usage_metric_is_tested_like_the_same_gaussian_distance(
    custom_metric: str | Metric, sizes: tuple[int, int]
) -> None:
    old, new = sets(*sizes, 4, seed=3, shift=0.4)
    ours, theirs = (permutation_test(old, new, metric, 1000, 5, "plane") for metric in (custom_metric, "euclidean"))
    assert ours.e_original == pytest.approx(theirs.e_original, rel=1e-12)
    assert (ours.p, ours.exceeding, ours.permutations, ours.exact) == (
        theirs.p,
        theirs.exceeding,
        theirs.permutations,
        theirs.exact,
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_custom_usage_metric_has_the_interval_of_the_same_gaussian_distance(
    custom_metric: str | Metric, strategy: Strategy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_bootstrap, "SWAPS", SWAPS_OF_USAGES)
    old, new = sets(20, 26, 4)
    ours, theirs = (
        bootstrap(old, new, SSCD(metric, strategy, repeats=1, distance_weight=0.2), 60, word="plane")
        for metric in (custom_metric, "euclidean")
    )
    assert (ours.low, ours.high, ours.bias) == pytest.approx((theirs.low, theirs.high, theirs.bias), rel=1e-8)


USES: dict[str, Callable[[Matrix, Matrix, Metric], Any]] = {
    "score": lambda old, new, metric: SSCD(metric).score(old, new),
    "sweep": lambda old, new, metric: sweep(old, new, ["kl", metric]),
    "test": lambda old, new, metric: permutation_test(old, new, metric, 100),
    "exact test": lambda old, new, metric: permutation_test(old[:3], new[:3], metric),
    "bootstrap": lambda old, new, metric: bootstrap(old, new, SSCD(metric), 20),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("answer", "shape"),
    [
        (lambda _: 1.0, r"\(\)"),
        (lambda sides: np.ones(sides.shape), r"\(\d+, \d+\)"),
        (lambda _: np.ones(7), r"\(7,\)"),
    ],
)
def test_usage_metric_that_returns_another_shape_is_refused(
    use: str, answer: Callable[[Array], Any], shape: str
) -> None:
    metric = Metric("mine", lambda _old, _new: answer, usages=True)
    with pytest.raises(ValueError, match=rf"^metric 'mine' returned shape {shape} for \d+ pairs of sets$"):
        USES[use](*sets(20, 30, 4), metric)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_undefined_usage_metric_is_refused(use: str, value: float) -> None:
    metric = Metric("mine", lambda _old, _new: lambda sides: np.full(len(sides), value), usages=True)
    with pytest.raises(ValueError, match=rf"^metric 'mine' is undefined for these sets: its value is {value} "):
        USES[use](*sets(20, 30, 4), metric)


def test_one_undefined_value_among_many_is_refused() -> None:
    old, new = sets(5, 6, 3)
    metric = Metric("mine", lambda _old, _new: lambda sides: np.where(sides[:, 0] > 0, 1.0, np.nan), usages=True)
    both = np.concatenate([original_sides(5, 6), -original_sides(5, 6)])
    assert_array_equal(side_distances(metric, old, new)(both[:1]), [1.0])
    with pytest.raises(ValueError, match="its value is nan"):
        side_distances(metric, old, new)(both)


def test_usage_metric_receives_the_documented_rows_and_sides() -> None:
    seen: list[Array] = []

    def between(old: Matrix, new: Matrix) -> Callable[[Array], Floats]:
        assert (old.shape, new.shape) == ((12, 3), (9, 3))

        def of(sides: Array) -> Floats:
            seen.append(sides)
            return np.ones(len(sides))

        return of

    old, new = sets(12, 9, 3)
    metric = Metric("mine", between, usages=True)
    sweep(old, new, [metric], RATES, 4)
    permutation_test(old, new, metric, 200)
    assert {row.shape[1] for row in seen} == {21}
    for sides in seen:
        assert set(np.unique(sides)) == {-1, 1}
        assert ((sides == 1).sum(axis=1) == 12).all()
    seen.clear()
    bootstrap(old, new, SSCD(metric), 30)
    resampled = np.concatenate(seen)
    halves = resampled[(resampled == 0).any(axis=1)]
    assert len(halves) == 30 * (1 + SWAPS_OF_USAGES)  # e_original and e_swap of each
    assert set(np.unique(halves)) == {-1, 0, 1}
    assert ((halves == 1).sum(axis=1) == 6).all()
    assert ((halves == -1).sum(axis=1) == 4).all()


# The permutation test


def all_splits(old: Matrix, new: Matrix, few: int = 20) -> Floats:
    """Return the distance of every split by definition."""
    rows, n = np.concatenate([old, new]), len(old) + len(new)
    chosen = [np.isin(np.arange(n), split) for split in itertools.combinations(range(n), len(old))]
    return np.array([slow_nearest(rows[members], rows[~members], few) for members in chosen])


@settings(max_examples=15)
@given(
    st.sampled_from([(2, 2), (2, 5), (5, 2), (3, 4), (4, 4), (5, 3)]),
    st.sampled_from([1, 2, 20]),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 99),
)
def test_p_of_nearest_is_the_share_of_all_splits_if_there_are_few(
    sizes: tuple[int, int], few: int, dtype: str, seed: int
) -> None:
    old, new = (rows.astype(dtype) for rows in sets(*sizes, 4, seed, shift=0.7))
    splits, e_original = all_splits(old, new, few), slow_nearest(old, new, few)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearest, "N_DRAWN", few)
        found = permutation_test(old, new, "nearest")
    assert found.exact
    assert found.permutations == len(splits) - 1
    assert found.e_original == pytest.approx(e_original, rel=1e-9)
    assert found.p == pytest.approx((splits >= e_original - 1e-10 * splits.max()).mean())


def test_p_of_random_splits_is_near_that_of_all_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = sets(5, 6, 4, 6, shift=0.0)
    exact = permutation_test(old, new, "nearest")
    assert exact.exact
    assert 0.1 < exact.p < 0.9
    monkeypatch.setattr("lexshift.scoring.permutation.EXACT_BELOW", 0)
    drawn = permutation_test(old, new, "nearest", 1000)
    assert (drawn.exact, drawn.permutations) == (False, 1000)
    assert drawn.p == pytest.approx(exact.p, abs=4 * (0.25 / 1000) ** 0.5)


def test_p_of_nearest_is_uniform_if_nothing_changed() -> None:
    rng = np.random.default_rng(0)
    found = [permutation_test(rng.normal(1, 1, (4, 5)), rng.normal(1, 1, (5, 5)), "nearest").p for _ in range(300)]
    assert stats.kstest(found, "uniform").pvalue > 0.01
    assert 0.02 < np.mean(np.array(found) <= 0.05) < 0.09


def test_p_of_nearest_is_small_if_there_is_a_new_meaning() -> None:
    old, new = sets(30, 30, 8, 2, shift=0.0)
    new[:12] += 3 * np.random.default_rng(3).normal(size=8)
    assert permutation_test(old, new, "nearest", 1000).p < 0.01
    assert permutation_test(old, old[::-1] * 1.5, "nearest", 1000).p > 0.5


@given(st.integers(2, 9), st.integers(2, 9), st.integers(0, 99))
def test_sides_of_a_split_are_as_large_as_the_original_sets(n_old: int, n_new: int, seed: int) -> None:
    sides = random_splits(n_old, n_new, 20, np.random.default_rng(seed))
    assert sides.shape == (20, n_old + n_new)
    for found in (sides, other_splits(n_old, min(n_new, 4))):
        assert ((found == 1).sum(axis=1) == n_old).all()
        assert (found != 0).all()


def test_test_of_nearest_is_the_same_for_the_same_seed_and_word() -> None:
    old, new = sets(14, 16, 4, 4, shift=0.2)
    first = permutation_test(old, new, "nearest", 500, 3, "plane")
    assert permutation_test(old, new, "nearest", 500, 3, "plane") == first
    others = [permutation_test(old, new, "nearest", 500, seed, word) for seed, word in ((4, "plane"), (3, "train"))]
    assert all(other.exceeding != first.exceeding for other in others)


# The bootstrap


def slow_halves(old: Matrix, new: Matrix, sscd: SSCD, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return |e_original - e_swap| and APD of half-samples built row by row from the same draws."""
    sets_of_rows, swaps = (old, new), SWAPS_OF_USAGES if sscd.strategy == "random" else 1
    splits = [rng.permuted(np.broadcast_to(np.arange(len(x)), (size, len(x))), axis=1) for x in sets_of_rows]
    if sscd.strategy == "random":
        orders = [
            rng.permuted(np.broadcast_to(np.arange(len(x)), (size * 2 * swaps, len(x))), axis=1) for x in sets_of_rows
        ]
    half = len(old) // 2, len(new) // 2
    count = swap_count(*half, sscd.rate)
    if swap_count(len(old), len(new), sscd.rate):
        count = max(count, 1)
    apd, swapped = np.zeros((size, 2)), np.zeros((size, 2, swaps))
    for b, h, k in itertools.product(range(size), range(2), range(swaps)):
        inside = [splits[i][b][h * half[i] : (h + 1) * half[i]].tolist() for i in range(2)]
        if sscd.strategy == "random":
            in_turn = [order[(b * 2 + h) * swaps + k] for order in orders]
        else:
            centroids = new[inside[1]].mean(axis=0), old[inside[0]].mean(axis=0)
            in_turn = [
                np.argsort(-cdist(rows, [centroid])[:, 0], kind="stable")
                for rows, centroid in zip(sets_of_rows, centroids, strict=True)
            ]
        out = [[row for row in in_turn[i] if row in inside[i]][:count] for i in range(2)]
        stay = [[row for row in inside[i] if row not in out[i]] for i in range(2)]
        e_original = slow_nearest(old[inside[0]], new[inside[1]])
        apd[b, h] = cdist(old[inside[0]], new[inside[1]], "cosine").mean()
        S1_swap, S2_swap = (
            np.concatenate([old[stay[0]], new[out[1]]]),
            np.concatenate([new[stay[1]], old[out[0]]]),
        )
        swapped[b, h, k] = abs(e_original - slow_nearest(S1_swap, S2_swap))
    return swapped, apd


@given(
    st.tuples(st.integers(4, 40), st.integers(4, 40), st.integers(2, 6)),
    st.sampled_from(STRATEGIES),
    st.sampled_from([0.0, 0.1, 0.4, 0.75, 1.0]),
    st.integers(0, 99),
)
def test_distances_of_half_samples_of_nearest_equal_those_of_their_rows(
    shape: tuple[int, int, int], strategy: Strategy, rate: float, seed: int
) -> None:
    old, new = sets(*shape, seed)
    sscd = SSCD("nearest", strategy, rate)
    swapped, apd = HalfSamples(old, new, sscd, "")(2, np.random.default_rng(seed))
    slow_swapped, slow_distances = slow_halves(old, new, sscd, 2, np.random.default_rng(seed))
    assert_allclose(apd, slow_distances, rtol=1e-8, atol=1e-11)
    assert_allclose(swapped, slow_swapped, rtol=1e-8, atol=1e-11)


def test_interval_of_nearest_is_the_same_for_the_same_seed_and_word() -> None:
    old, new = sets(25, 30, 5)
    first = bootstrap(old, new, SSCD("nearest", seed=3), 100, word="plane")
    assert bootstrap(old, new, SSCD("nearest", seed=3), 100, word="plane") == first
    assert bootstrap(old, new, SSCD("nearest", seed=4), 100, word="plane").low != first.low
    assert bootstrap(old, new, SSCD("nearest", seed=3), 100, word="train").low != first.low


def test_interval_of_nearest_narrows_with_more_usages() -> None:
    widths = []
    for n in (20, 300):
        interval = bootstrap(*sets(n, n, 5, 1), SSCD("nearest", rate=0.3, distance_weight=0.25), 100)
        widths.append(interval.high - interval.low)
    assert widths[1] < 0.6 * widths[0]


# Weight of the average pairwise distance


def slow_apd(old: Matrix, new: Matrix) -> float:
    """Average 1 - cosine over all pairs, where the cosine with a row of zeros is 0."""
    total = 0.0
    for x in old.astype(float):
        for y in new.astype(float):
            lengths = np.linalg.norm(x) * np.linalg.norm(y)
            total += 1 - (x @ y / lengths if lengths else 0)
    return total / (len(old) * len(new))


WEIGHTS = st.sampled_from([0, 0.1, 0.8, 1, Fraction(1, 3), np.float32(0.5)])


@given(
    SHAPES,
    st.sampled_from(["kl", "cosine", "apd", "nearest", "energy", "amd", "samd"]),
    st.sampled_from(STRATEGIES),
    WEIGHTS,
)
def test_score_is_the_weighted_geometric_mean_of_sscd_and_distance(
    shape: tuple[int, int, int, int], metric: str, strategy: Strategy, distance_weight: Any
) -> None:
    old, new = sets(*shape)
    change = SSCD(metric, strategy, 0.3, 4, distance_weight=distance_weight).score(old, new)
    plain = SSCD(metric, strategy, 0.3, 4).score(old, new)
    sscd = np.mean([abs(change.e_original - e) for e in change.e_swap])
    distance, w = slow_apd(old, new), float(distance_weight)
    assert (change.sscd, change.distance) == pytest.approx((sscd, distance), rel=1e-9)
    wanted = math.exp((1 - w) * math.log(sscd) + w * math.log(distance)) if sscd else float(w == 1) * distance
    assert change.score == pytest.approx(wanted, rel=1e-9)
    assert_array_equal(change.e_swap, plain.e_swap)
    assert (change.e_original, change.spread) == (plain.e_original, plain.spread)
    assert (change.sscd, change.distance) == (plain.score, plain.distance)
    if distance_weight == 0:
        assert change.score == plain.score


@given(SHAPES, WEIGHTS, st.sampled_from(["float32", "float64"]))
def test_row_of_zeros_has_a_distance_of_1(shape: tuple[int, int, int, int], distance_weight: Any, dtype: Any) -> None:
    old, new = (rows.astype(dtype) for rows in sets(*shape))
    old[0] = 0
    change = SSCD("nearest", distance_weight=distance_weight).score(old, new)
    assert change.distance == pytest.approx(slow_apd(old, new), rel=1e-6)
    assert math.isfinite(change.score)
    assert change.score >= 0


@pytest.mark.parametrize("distance_weight", [0, 0.2, 0.8, 1])
@pytest.mark.parametrize(("value", "distance"), [(0.0, 1.0), (1.0, 0.0), (1e30, 0.0)])
def test_score_of_equal_vectors_is_defined(distance_weight: float, value: float, distance: float) -> None:
    rows = np.full((5, 3), value, np.float32)
    change = SSCD("nearest", distance_weight=distance_weight).score(rows, rows)
    assert (change.sscd, change.distance) == pytest.approx((0, distance), abs=1e-12)
    assert change.score == pytest.approx(distance if distance_weight == 1 else 0, abs=1e-12)


def test_distance_weight_is_0_by_default() -> None:
    assert SSCD().distance_weight == 0
    assert SSCD("nearest").distance_weight == 0


@pytest.mark.parametrize("distance_weight", [-0.1, 1.5, "x", "0.5", None, True, float("nan"), float("inf"), [0.5]])
def test_invalid_distance_weight_is_refused_by_name(distance_weight: Any) -> None:
    with pytest.raises(UserError, match=r"^distance_weight must be a number from 0 to 1; got ") as caught:
        SSCD(distance_weight=distance_weight)
    assert repr(distance_weight) in str(caught.value)


@pytest.mark.parametrize("metric", ["kl", "cosine", "nearest"])
def test_interval_of_the_distance_alone_does_not_depend_on_the_metric(metric: str) -> None:
    old, new = sets(40, 36, 5, 2)
    interval = bootstrap(old, new, SSCD(metric, "distance", distance_weight=1), 100)
    _, apd = HalfSamples(old, new, SSCD(metric, "distance"), "")(50, generator(0, "bootstrap"))
    assert interval.low < slow_apd(old, new) < interval.high
    assert interval.bias == pytest.approx(apd.mean() - slow_apd(old, new), rel=1e-9)
    assert interval == bootstrap(old, new, SSCD("euclidean", "distance", distance_weight=1), 100)

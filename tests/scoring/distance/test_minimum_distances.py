"""AMD and SAMD, against their definitions written out over all pairs and all matchings."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from lexshift import SSCD, UserError, bootstrap, permutation_test, sweep
from lexshift.scoring import scores
from lexshift.scoring.bootstrap import HalfSamples
from lexshift.scoring.distance import get, minimum_distances, nearest
from lexshift.scoring.distance.metric import original_sides
from lexshift.scoring.distance.minimum_distances import MinimumDistances, OptimalMatching
from lexshift.scoring.swap import STRATEGIES, Strategy, orders, swap, swap_count
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.seeds import generator

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 5)
METRICS = ["amd", "samd"]


def sets(n: int, m: int, d: int, seed: int, mean: float = 1.0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(mean, 1, (n, d)), rng.normal(mean, 1, (m, d)) + 0.5 * rng.normal(size=d)


def slow_amd(old: Matrix, new: Matrix) -> float:
    """Average the distance to the nearest usage of the other set over the usages of each set, then over the sets."""
    distances = cdist(old.astype(float), new.astype(float), "cosine").tolist()
    from_old = [min(row) for row in distances]
    from_new = [min(column) for column in zip(*distances, strict=True)]
    return (sum(from_old) / len(from_old) + sum(from_new) / len(from_new)) / 2


def slow_samd(old: Matrix, new: Matrix) -> float:
    """Try every one-to-one matching of the smaller set with usages of the larger one."""
    if len(old) > len(new):
        old, new = new, old
    distances = cdist(old.astype(float), new.astype(float), "cosine")
    matchings = itertools.permutations(range(len(new)), len(old))
    return float(min(distances[np.arange(len(old)), list(columns)].mean() for columns in matchings))


def assigned_samd(old: Matrix, new: Matrix) -> float:
    """Compute the same for larger sets, where there are too many matchings to try."""
    distances = cdist(old.astype(float), new.astype(float), "cosine")
    return float(distances[linear_sum_assignment(distances)].mean())


CLASSES: dict[str, Callable[[Matrix, Matrix], Callable[[Array], Floats]]] = {
    "amd": MinimumDistances,
    "samd": OptimalMatching,
}
SLOW = {"amd": slow_amd, "samd": slow_samd}
TWINS = {"amd": slow_amd, "samd": assigned_samd}


def fast(metric: str, old: Matrix, new: Matrix, sides: Array | None = None) -> Floats:
    return CLASSES[metric](old, new)(original_sides(len(old), len(new)) if sides is None else sides)


def repeated_rows(old: Matrix, new: Matrix, sides: Array) -> tuple[Matrix, Matrix]:
    """Return the rows of the two sides, each as often as it counts."""
    rows = np.concatenate([old, new])
    return np.repeat(rows, np.maximum(sides, 0), axis=0), np.repeat(rows, np.maximum(-sides, 0), axis=0)


def tolerance(double: bool) -> float:
    return 1e-12 if double else 2e-6


# The definitions


@pytest.mark.parametrize("metric", METRICS)
@given(SIZES, SIZES, st.integers(1, 9), st.sampled_from([0.0, 1.0, 20.0]), st.booleans(), SEEDS)
def test_value_is_the_one_defined(metric: str, n: int, m: int, d: int, mean: float, double: bool, seed: int) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in sets(n, m, d, seed, mean))
    assert fast(metric, old, new)[0] == pytest.approx(SLOW[metric](old, new), abs=tolerance(double))


@pytest.mark.parametrize("metric", METRICS)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(2, 20), st.booleans(), SEEDS)
def test_value_of_larger_sets_is_the_one_defined(metric: str, n: int, m: int, d: int, double: bool, seed: int) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in sets(n, m, d, seed))
    assert fast(metric, old, new)[0] == pytest.approx(TWINS[metric](old, new), abs=tolerance(double))


@given(SIZES, SIZES, SEEDS)
def test_twin_for_larger_sets_finds_the_best_of_all_matchings(n: int, m: int, seed: int) -> None:
    old, new = sets(n, m, 3, seed)
    assert assigned_samd(old, new) == pytest.approx(slow_samd(old, new), abs=1e-14)


@pytest.mark.parametrize("metric", METRICS)
@given(SIZES, SIZES, st.booleans(), SEEDS)
def test_copies_of_a_usage_are_usages(metric: str, n: int, m: int, double: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    few = rng.normal(1, 1, (3, 4)).astype(float if double else np.float32)
    old, new = few[rng.integers(0, 3, n)], 2 * few[rng.integers(0, 3, m)]
    assert fast(metric, old, new)[0] == pytest.approx(SLOW[metric](old, new), abs=tolerance(double))


@pytest.mark.parametrize("metric", METRICS)
@given(st.integers(1, 4), st.integers(1, 4), st.booleans(), st.data(), SEEDS)
def test_usages_that_count_several_times_or_not_at_all_are_rows_repeated_or_omitted(
    metric: str, n: int, m: int, double: bool, data: st.DataObject, seed: int
) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in sets(n, m, 4, seed))
    multiplicities = st.lists(st.integers(-3, 3), min_size=n + m, max_size=n + m)
    both = multiplicities.filter(
        lambda row: 0 < sum(k for k in row if k > 0) < 6 and 0 < -sum(k for k in row if k < 0) < 6
    )
    sides = np.array(data.draw(st.lists(both, min_size=1, max_size=3)))
    wanted = [SLOW[metric](*repeated_rows(old, new, row)) for row in sides]
    for dtype in (np.int8, np.int64):
        assert_allclose(fast(metric, old, new, sides.astype(dtype)), wanted, rtol=0, atol=tolerance(double))


def test_best_matching_is_not_the_one_that_takes_the_closest_pair_first() -> None:
    angles_old, angles_new = np.array([0.0, 0.5]), np.array([0.45, 1.6])
    old, new = (np.stack([np.cos(angles), np.sin(angles)], axis=1) for angles in (angles_old, angles_new))
    best, greedy = (
        np.mean([1 - np.cos(angles_old[i] - angles_new[k]) for i, k in pairs])
        for pairs in ([(0, 0), (1, 1)], [(1, 0), (0, 1)])
    )
    assert best < greedy
    assert fast("samd", old, new)[0] == pytest.approx(best)


# Consequences of the definitions


@given(st.integers(2, 20), st.integers(2, 20), SEEDS)
def test_amd_is_nearest_if_all_usages_are_drawn(n: int, m: int, seed: int) -> None:
    old, new = sets(n, m, 5, seed)
    assert fast("amd", old, new)[0] == pytest.approx(nearest.Neighbours(old, new)(original_sides(n, m))[0], rel=1e-9)


@given(st.integers(2, 30), SEEDS)
def test_amd_is_at_most_samd_if_both_sets_are_equally_large(n: int, seed: int) -> None:
    old, new = sets(n, n, 5, seed)
    assert fast("amd", old, new)[0] <= fast("samd", old, new)[0] + 1e-12


@pytest.mark.parametrize("metric", METRICS)
@given(st.integers(2, 20), st.integers(2, 20), st.booleans(), SEEDS)
def test_order_and_length_of_the_rows_and_the_names_of_the_sets_do_not_matter(
    metric: str, n: int, m: int, double: bool, seed: int
) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in sets(n, m, 6, seed))
    rng = np.random.default_rng(seed)
    value = pytest.approx(fast(metric, old, new)[0], abs=tolerance(double))
    assert fast(metric, rng.permutation(old), 3 * rng.permutation(new))[0] == value
    assert fast(metric, new, old)[0] == value
    assert fast(metric, old, new, -original_sides(n, m))[0] == value


@pytest.mark.parametrize("metric", METRICS)
def test_sets_of_the_same_rows_have_no_distance(metric: str) -> None:
    rows = sets(6, 2, 4, 3)[0]
    assert fast(metric, rows, 2 * rows[::-1])[0] == pytest.approx(0, abs=1e-12)
    assert fast(metric, rows, rows[:3])[0] == pytest.approx(slow_amd(rows, rows[:3]) if metric == "amd" else 0)


@pytest.mark.parametrize("metric", METRICS)
def test_set_without_usages_has_no_distance(metric: str) -> None:
    old, new = sets(4, 5, 3, 6)
    assert np.isnan(fast(metric, old, new, np.array([[1] * 9, [-1] * 9]))).all()


@pytest.mark.parametrize("metric", METRICS)
def test_rows_are_not_changed(metric: str) -> None:
    old, new = sets(9, 8, 4, 9)
    before = old.copy(), new.copy()
    fast(metric, old, new)
    assert_array_equal(old, before[0])
    assert_array_equal(new, before[1])


# Swaps, half-samples and permutations


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=15)
@given(st.integers(2, 20), st.integers(2, 20), st.booleans(), st.integers(0, 10**6))
def test_value_after_swaps_is_that_of_the_swapped_rows(
    metric: str, strategy: Strategy, n: int, m: int, double: bool, seed: int
) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in sets(n, m, 5, seed))
    rates = [0.0, 0.1, 1 / 3, 0.5, 0.8, 1.0]
    found = sweep(old, new, [metric], rates, 3, seed, strategy, word="plane")
    counts = [swap_count(n, m, rate, None) for rate in rates]
    row_orders = orders(old, new, strategy, 3, generator(seed, "swap", "plane"))
    wanted = [[TWINS[metric](*swap(old, new, *order, count)) for count in counts] for order in row_orders]
    assert_allclose(found.e_swap[0], np.array(wanted).T, rtol=0, atol=tolerance(double))
    assert (found.e_swap[0, 0] == found.e_original[0]).all()
    change = SSCD(metric, strategy, 0.5, 3, seed).score(old, new, "plane")
    assert_array_equal(change.e_swap, found.e_swap[0, 3])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("sizes", [(2, 3), (9, 4), (20, 21)])
def test_half_samples_have_the_values_of_their_rows(
    metric: str, strategy: Strategy, sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = sets(*sizes, 5, 1)
    halves = HalfSamples(old, new, SSCD(metric, strategy), "")
    used: list[Array] = []
    compute = halves.measure

    def record(sides: Array, repeats: int) -> Floats:
        used.append(sides)
        return compute(sides, repeats)

    monkeypatch.setattr(halves, "measure", record)
    effects, _ = halves(3, np.random.default_rng(0))
    wanted = np.array([TWINS[metric](*repeated_rows(old, new, row)) for row in used[0]]).reshape(3, 2, -1)
    assert_allclose(effects, abs(wanted[:, :, :1] - wanted[:, :, 1:]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_score_is_in_its_interval(metric: str) -> None:
    for sizes in ((2, 3), (12, 30)):
        old, new = sets(*sizes, 5, 2)
        sscd = SSCD(metric, distance_weight=0.25)
        interval = bootstrap(old, new, sscd, 50, word="plane")
        assert interval.low <= sscd.score(old, new, "plane").score <= interval.high
        assert interval == bootstrap(old, new, sscd, 50, word="plane")


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("sizes", [(2, 2), (2, 5), (3, 4), (5, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_p_is_the_share_of_all_splits_if_there_are_few(metric: str, sizes: tuple[int, int], dtype: Any) -> None:
    old, new = (rows.astype(dtype) for rows in sets(*sizes, 4, 0))
    rows, n = np.concatenate([old, new]), sum(sizes)
    members = [np.isin(np.arange(n), split) for split in itertools.combinations(range(n), sizes[0])]
    splits = np.array([SLOW[metric](rows[inside], rows[~inside]) for inside in members])
    found = permutation_test(old, new, metric)
    assert (found.exact, found.permutations) == (True, len(splits) - 1)
    assert found.p == pytest.approx((splits >= SLOW[metric](old, new) - 1e-10 * splits.max()).mean())


@pytest.mark.parametrize("metric", METRICS)
def test_words_are_tested_by_the_energy_distance(metric: str) -> None:
    old, new = sets(5, 6, 3, 0)
    assert scores.tested_metric(metric, old, new) == get(metric).tested_by == "energy"


# Limits


def test_amd_with_neighbours_sorted_in_blocks_at_each_call_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = sets(30, 25, 4, 0)
    sides = np.random.default_rng(0).choice([-2, -1, 0, 1, 2], (5, 55))
    at_once = fast("amd", old, new, sides)
    monkeypatch.setattr(nearest, "BLOCK_BYTES", 9_000)
    monkeypatch.setattr(nearest, "CACHE_BYTES", 6_000)
    distances = MinimumDistances(old, new)
    assert 0 < len(distances.cached_blocks) < 55 // distances.block_rows
    for _ in range(2):
        assert_allclose(distances(sides), at_once, rtol=1e-12)


def test_memory_of_amd_does_not_grow_with_the_pairs_of_usages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "BLOCK_BYTES", 1 << 20)
    monkeypatch.setattr(nearest, "CACHE_BYTES", 1 << 21)
    old, new = sets(700, 800, 4, 0)
    fast("amd", old[:5], new[:5])  # compiles the kernel
    tracemalloc.start()
    try:
        fast("amd", old, new)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3.5 * 2**20


@pytest.mark.parametrize(
    ("metric", "module", "limit"),
    [
        ("amd", nearest, "MAX_USAGES"),
        ("samd", minimum_distances, "MAX_MATCHED_USAGES"),
    ],
)
def test_more_usages_than_can_be_compared_are_refused_with_the_remedy(
    metric: str, module: Any, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, limit, 9)
    old, new = sets(4, 5, 3, 6)
    assert np.isfinite(fast(metric, old, new)).all()
    wanted = (
        rf"^the metric '{metric}' compares all usages .* 10 usages; .* at most 4 from each corpus \(max_per_word\)$"
    )
    with pytest.raises(UserError, match=wanted):
        fast(metric, old, np.concatenate([new, new[:1]]))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("side", [0, 1])
def test_row_of_zeros_or_a_value_that_is_not_finite_is_refused(metric: str, side: int) -> None:
    rows = sets(5, 6, 3, 0)
    name = ("old", "new")[side]
    rows[side][2] = 0
    with pytest.raises(ValueError, match=rf"^{name} has a row of zeros \(row 2\), which has no direction"):
        sweep(*rows, [metric])
    rows[side][2] = np.nan
    with pytest.raises(UserError, match=rf"^{name} holds nan at row 2, dimension 0"):
        fast(metric, *rows)

"""The energy distance, against the means of the chord distances over all pairs of usages."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lexshift import SSCD, UserError, bootstrap, permutation_test, search_rate, sweep
from lexshift.scoring.distance import energy, get
from lexshift.scoring.distance.metric import original_sides, side_distances
from lexshift.utils.arrays import Array, Floats, Matrix

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(2, 40)


def sets(n: int, m: int, d: int, seed: int, mean: float = 1.0, shift: float = 0.5) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(mean, 1, (n, d)), rng.normal(mean, 1, (m, d)) + shift * rng.normal(size=d)


def slow(old: Matrix, new: Matrix) -> float:
    """Compute the energy distance from its definition, pair by pair; within a set over pairs of different usages."""
    old, new = (rows.astype(float) / np.linalg.norm(rows.astype(float), axis=1, keepdims=True) for rows in (old, new))
    within = []
    for rows in (old, new):
        pairs = [np.linalg.norm(rows[i] - rows[k]) for i, k in itertools.permutations(range(len(rows)), 2)]
        within.append(np.mean(pairs) if pairs else 0.0)
    return float(2 * np.mean([np.linalg.norm(u - v) for u in old for v in new]) - within[0] - within[1])


def fast(old: Matrix, new: Matrix, sides: Array | None = None) -> Floats:
    sides = original_sides(len(old), len(new)) if sides is None else sides
    return side_distances(get("energy"), old, new)(sides)


@given(SIZES, SIZES, st.integers(1, 30), st.sampled_from([0.0, 1.0, 20.0]), st.booleans(), SEEDS)
def test_value_is_the_one_over_all_pairs(n: int, m: int, d: int, mean: float, double: bool, seed: int) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in sets(n, m, d, seed, mean))
    assert fast(old, new)[0] == pytest.approx(slow(old, new), abs=1e-12)


@given(st.integers(2, 12), st.integers(2, 12), st.booleans(), SEEDS)
def test_copies_of_a_usage_are_usages(n: int, m: int, double: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    few = rng.normal(1, 1, (3, 4)).astype(float if double else np.float32)
    old, new = few[rng.integers(0, 3, n)], few[rng.integers(0, 3, m)]
    assert fast(old, new)[0] == pytest.approx(slow(old, new), abs=1e-12)


@given(st.integers(2, 12), st.integers(2, 12), st.booleans(), SEEDS)
def test_value_of_other_sets_of_the_same_rows_is_the_one_over_their_pairs(
    n: int, m: int, double: bool, seed: int
) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in sets(n, m, 5, seed))
    rng, rows = np.random.default_rng(seed), np.concatenate([old, new])
    sides = rng.permuted(original_sides(n, m).repeat(5, axis=0), axis=1)
    wanted = [slow(rows[row > 0], rows[row < 0]) for row in sides]
    assert_allclose(fast(old, new, sides), wanted, rtol=0, atol=1e-12)


def test_set_of_one_usage_has_no_distance_within() -> None:
    old, new = sets(3, 4, 5, 0)
    sides = np.array([[1, 0, 0, -1, 0, 0, 0], [0, 1, 0, 0, 0, -1, 0]])
    rows = np.concatenate([old, new])
    wanted = [slow(rows[row > 0], rows[row < 0]) for row in sides]
    assert_allclose(fast(old, new, sides), wanted, rtol=0, atol=1e-12)
    assert np.isfinite(bootstrap(old, new, SSCD("energy"), 20).high)


def test_set_with_copies_of_usages_is_the_set_with_those_rows() -> None:
    old, new = sets(3, 4, 5, 0)
    sides = np.array([[2, 0, 1, -1, 0, -3, 0], [0, 1, 1, 0, -2, -1, -1]])
    rows = np.concatenate([old, new])
    wanted = [
        slow(np.repeat(rows, np.maximum(row, 0), axis=0), np.repeat(rows, np.maximum(-row, 0), axis=0)) for row in sides
    ]
    assert_allclose(fast(old, new, sides), wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("cache", [0, 8 * 9 * 4, 1 << 28])
@pytest.mark.parametrize("block", [1, 8 * 9 * 2])
def test_value_does_not_depend_on_the_memory(monkeypatch: pytest.MonkeyPatch, cache: int, block: int) -> None:
    old, new = sets(4, 5, 3, 0)
    sides = np.random.default_rng(0).permuted(original_sides(4, 5).repeat(7, axis=0), axis=1)
    wanted = fast(old, new, sides)
    monkeypatch.setattr(energy, "CACHE_BYTES", cache)
    monkeypatch.setattr(energy, "BLOCK_BYTES", block)
    distances = energy.EnergyDistances(old, new)
    assert sum(len(part) for part in distances.cached_blocks) * 9 * 8 <= cache
    assert_allclose(distances(sides), wanted, rtol=0, atol=1e-12)


def test_too_many_usages_are_refused() -> None:
    rows = np.ones((5_001, 2))
    with pytest.raises(UserError, match=r"metric 'energy' .* 10,002 usages; take a sample of at most 5,000"):
        energy.EnergyDistances(rows, rows)


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_value_of_a_rarer_word_is_the_same_on_average(shift: float) -> None:
    old, new = sets(6, 5, 4, 4, shift=shift)
    sides = []
    for of_old, of_new in itertools.product(itertools.combinations(range(6), 3), itertools.combinations(range(5), 2)):
        row = np.zeros(11, int)
        row[list(of_old)], row[[6 + i for i in of_new]] = 1, -1
        sides.append(row)
    assert fast(old, new, np.array(sides)).mean() == pytest.approx(fast(old, new)[0], rel=1e-9)


def test_value_is_0_on_average_if_nothing_changed_and_can_be_negative() -> None:
    values = np.array([fast(*sets(4, 9, 5, seed, shift=0.0))[0] for seed in range(400)])
    assert abs(values.mean()) < 3 * values.std() / 20
    assert (values < 0).mean() > 0.3


def test_difference_without_a_shift_of_the_mean_direction_is_seen() -> None:
    old, new = np.repeat([[1.0, 0], [-1, 0]], 50, axis=0), np.repeat([[0.0, 1], [0, -1]], 50, axis=0)
    assert fast(old, new)[0] > 0.5  # no old usage is similar to a new one
    assert abs(fast(old, old)[0]) < 0.03
    rng = np.random.default_rng(0)
    narrow, wide = (np.eye(8)[0] + spread * rng.normal(size=(60, 8)) for spread in (0.1, 0.3))
    assert permutation_test(narrow, wide, "energy", 1000).p < 0.01
    assert permutation_test(narrow[:30], narrow[30:], "energy", 1000).p > 0.05


def test_score_with_a_negative_distance_before_swapping_is_in_its_interval() -> None:
    negative = 0
    for seed in range(30):
        old, new = sets(10, 10, 4, seed, shift=0.0)
        sscd = SSCD("energy", rate=0.1, repeats=3, distance_weight=0.8)
        change = sscd.score(old, new)
        score = change.score
        interval = bootstrap(old, new, sscd, 20)
        negative += change.e_original < 0
        assert interval.low <= score <= interval.high
        assert interval.low >= 0
    assert negative


def test_words_with_a_negative_distance_do_not_count_in_the_closed_form_of_the_rate() -> None:
    words = {"mouse": sets(10, 30, 4, 1, shift=2.0)}
    words["bread"] = next(pair for seed in range(99) if fast(*(pair := sets(20, 20, 4, seed, shift=0.0)))[0] < 0)
    curve = search_rate(words, "energy", repeats=2)
    assert curve.e_original[1] < 0
    assert curve.closed_form == pytest.approx(curve.word("mouse").closed_form)


@pytest.mark.parametrize("seed", range(10))
def test_full_change_of_ten_against_sixty_usages_of_unequal_spread_is_found_unlike_with_apd(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axes = np.eye(32)
    old = axes[0] + 0.1 * rng.normal(size=(10, 32))
    new = 0.9 * axes[0] + 0.6 * axes[1] + 0.3 * rng.normal(size=(60, 32))
    assert permutation_test(old, new, "energy", 1000).p < 0.002
    assert permutation_test(old, new, "apd", 1000).p > 0.2


@pytest.mark.parametrize("side", [0, 1])
def test_row_of_zeros_is_refused(side: int) -> None:
    rows = sets(5, 6, 3, 0)
    rows[side][2] = 0
    name = ("old", "new")[side]
    for ask in (lambda: sweep(*rows, ["energy"]), lambda: permutation_test(*rows, "energy")):
        with pytest.raises(ValueError, match=rf"^{name} has a row of zeros \(row 2\), which has no direction"):
            ask()

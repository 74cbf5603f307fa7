"""Test context swapping: the swap count, the swapped rows, and the resulting sets."""

from __future__ import annotations

import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.spatial import distance as scipy_distance

from lexshift import sweep
from lexshift.scoring.distance import CLOSED_FORM, DISTANCES
from lexshift.scoring.gaussian import VARIANCE_FLOOR, fit
from lexshift.scoring.moments import TwoSets
from lexshift.scoring.swap import (
    distance_order,
    orders,
    random_order,
    segment_labels,
    swap,
    swap_base,
    swap_count,
    swapped_gaussians,
)
from lexshift.utils.arrays import Floats, Indices, Matrix
from lexshift.utils.seeds import generator

# ------------------------------------------------------------------------------------------------- swap count


def test_swap_count_is_exact_for_every_percentage_of_every_small_set() -> None:
    for n in range(301):
        for k in range(101):
            assert swap_count(n, 1000, k / 100) == round(Fraction(k, 100) * n), (n, k)


@pytest.mark.parametrize(
    ("n", "rate", "count"),
    [
        (90, 0.7, 63),
        (90, np.float32(0.7), 63),
        (90, float(np.float32(0.7)), 63),
        (90, np.float64(0.7), 63),
        (90, Fraction(7, 10), 63),
        (5, 0.30000000000000004, 2),  # 1.5
        (10, 0.25, 2),  # 2.5
        (14, 0.25, 4),  # 3.5
        (3, 0.5, 2),  # 1.5
        (1, 0.5, 0),  # 0.5
        (17, 0, 0),
        (17, 0.0, 0),
        (17, 1, 17),
        (17, 1.0, 17),
        (30, Fraction(1, 3), 10),
        (30, 1 / 3, 10),
        (15, 0.1, 2),  # 1.5
        (25, 0.1, 2),  # 2.5
        (1_000_000, 0.123457, 123_457),
    ],
)
def test_swap_count_uses_the_decimals_of_a_rate_and_rounds_halves_to_even(n: int, rate: Any, count: int) -> None:
    assert swap_count(n, n + 7, rate) == swap_count(n + 7, n, rate) == count


def test_swap_count_of_computed_rates_equals_that_of_the_intended_rates() -> None:
    for n in range(200):
        meant = [round(Fraction(k, 10) * n) for k in range(11)]
        assert [swap_count(n, n, rate) for rate in np.arange(11) * 0.1] == meant
        assert [swap_count(n, n, rate) for rate in np.linspace(0, 1, 11)] == meant
        assert [swap_count(n, n, 1 - rate) for rate in np.linspace(1, 0, 11)] == meant


sizes = st.integers(1, 10**7)
counts_of_rows = st.integers(1, 5000)


@given(counts_of_rows, counts_of_rows, st.integers(0, 100), sizes, sizes)
@example(200, 90, 100, 354, 254)
@example(90, 200, 100, 254, 354)
def test_swap_count_with_corpus_sizes_is_exact_and_never_above_the_set_size(
    n_old: int, n_new: int, percent: int, size_old: int, size_new: int
) -> None:
    base = min(Fraction(n_old), Fraction(n_new * size_old, size_new))
    count = swap_count(n_old, n_new, percent / 100, (size_old, size_new))
    assert swap_base(n_old, n_new, (size_old, size_new)) == base
    assert count == min(round(base * Fraction(percent, 100)), n_old, n_new)


@given(counts_of_rows, counts_of_rows, st.integers(0, 100), st.none() | st.tuples(sizes, sizes))
def test_swap_count_equals_the_published_rule_where_that_is_valid(
    n_old: int, n_new: int, percent: int, corpus_sizes: tuple[int, int] | None
) -> None:
    size_old, size_new = corpus_sizes or (1, 1)
    expected = min(n_old, n_new * (size_old / size_new)) * (percent / 100)
    assume(round(expected) <= min(n_old, n_new))
    count = swap_count(n_old, n_new, percent / 100, corpus_sizes)
    if abs(expected % 1 - 0.5) > 1e-6:
        assert count == round(expected)
    else:
        assert abs(count - expected) < 0.5 + 1e-6


@pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan, np.inf, "0.4", b"0.4", None, True, np.True_, [0.4], 0.4 + 0j])
def test_invalid_rate_is_refused_by_name(rate: Any) -> None:
    with pytest.raises(ValueError, match=rf"rate must be a number from 0 to 1; got {re.escape(repr(rate))}"):
        swap_count(10, 10, rate)


# ----------------------------------------------------------------------------------------------- swapped rows


@given(st.integers(2, 40), st.integers(2, 40), st.data())
def test_swap_moves_the_first_rows_of_each_order_and_no_others(n_old: int, n_new: int, data: st.DataObject) -> None:
    order_old, order_new = data.draw(st.permutations(range(n_old))), data.draw(st.permutations(range(n_new)))
    count = data.draw(st.integers(0, min(n_old, n_new)))
    old, new = np.arange(n_old)[:, None] * [1.0, 0.5], (100 + np.arange(n_new))[:, None] * [1.0, 0.5]
    old_swap, new_swap = swap(old, new, np.array(order_old), np.array(order_new), count)

    S1, S2 = set(range(n_old)), {100 + i for i in range(n_new)}  # a row is identified by its first value
    s1, s2 = set(order_old[:count]), {100 + i for i in order_new[:count]}
    assert old_swap.shape == old.shape
    assert new_swap.shape == new.shape
    assert set(old_swap[:, 0]) == (S1 - s1) | s2
    assert set(new_swap[:, 0]) == (S2 - s2) | s1
    both = np.concatenate([old_swap, new_swap])
    np.testing.assert_array_equal(both[np.argsort(both[:, 0])], np.concatenate([old, new]))
    np.testing.assert_array_equal(old[:, 0], np.arange(n_old))  # the arguments are not modified


@given(st.integers(1, 60), st.integers(1, 6), st.sampled_from([np.float32, np.float64]), st.integers(0, 2**32 - 1))
def test_distance_order_is_from_far_to_near_with_ties_in_row_order(
    n: int, d: int, dtype: npt.DTypeLike, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    whole, centroid = rng.integers(-2, 3, (n, d)), rng.integers(-2, 3, d) / 2  # exact, and with many ties
    far_to_near = sorted(range(n), key=lambda i: -float(((whole[i] - centroid) ** 2).sum()))
    assert distance_order(whole.astype(dtype), centroid).tolist() == far_to_near

    rows = rng.normal(size=(n, d)).astype(dtype)
    order = distance_order(rows, centroid)
    assert sorted(order) == list(range(n))
    assert (np.diff(np.linalg.norm(rows[order] - centroid, axis=1)) <= 1e-12).all()


def test_distance_strategy_has_one_repetition_based_on_the_other_centroid() -> None:
    old, new = sets("plain", 30, 20, 4, np.float64, 0)
    ((order_old, order_new),) = orders(old, new, "distance", 20, generator(0, "swap"))
    np.testing.assert_array_equal(order_old, np.argsort(-np.linalg.norm(old - new.mean(axis=0), axis=1)))
    np.testing.assert_array_equal(order_new, np.argsort(-np.linalg.norm(new - old.mean(axis=0), axis=1)))


def test_random_strategy_has_a_permutation_of_each_set_for_every_repetition() -> None:
    old, new = sets("plain", 30, 20, 4, np.float64, 0)
    first, again, longer = (list(orders(old, new, "random", repeats, generator(3, "swap"))) for repeats in (5, 5, 9))
    assert (len(first), len(longer)) == (5, 9)
    for order_old, order_new in longer:
        assert sorted(order_old) == list(range(30))
        assert sorted(order_new) == list(range(20))
    assert len({tuple(order_old) for order_old, _ in longer}) == 9
    for one, other in ((first, again), (first, longer[:5])):  # more repetitions do not change the earlier ones
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(np.concatenate(a), np.concatenate(b))


def test_random_order_puts_every_row_at_every_position_equally_often() -> None:
    rng = generator(0, "swap")
    places = np.zeros((6, 6))
    for _ in range(6000):
        places[np.arange(6), random_order(6, rng)] += 1
    chi2 = ((places - 1000) ** 2 / 1000).sum()  # about 25 (degrees of freedom); over 80 has odds of 1 in 10 million
    assert chi2 < 80


@pytest.mark.parametrize("counts", [2**16 - 1, 2**16, 66_001])
def test_more_swap_counts_than_16_bits_hold_are_distinguished(counts: int) -> None:
    rng = np.random.default_rng(0)
    n_old, n_new = counts, counts - 7
    row_orders = [(rng.permutation(n_old), rng.permutation(n_new)) for _ in range(2)]
    labels = segment_labels(row_orders, np.arange(counts))
    for side, found in enumerate(labels):
        for k, orders_of_both in enumerate(row_orders):
            # The row at position i of its order is not swapped at the counts 0 to i.
            np.testing.assert_array_equal(found[k, orders_of_both[side]], 1 + np.arange(len(found[k])))


# --------------------------------------------------------------------------------------------------- swapped sets

KINDS = ("plain", "large mean", "large dimensions", "far apart", "very far apart", "same distribution", "constants")


def sets(kind: str, n_old: int, n_new: int, d: int, dtype: npt.DTypeLike, seed: int) -> tuple[Matrix, Matrix]:
    """Return two sets of rows of the named ill-conditioned kind."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=d)
    old, new = rng.normal(size=(n_old, d)), rng.normal(size=(n_new, d)) * rng.uniform(0.5, 2.0, d) + direction
    if kind == "same distribution":
        old, new = old + direction, rng.normal(size=(n_new, d)) + direction
    elif kind == "large mean":
        common = 50 * rng.normal(size=d)
        old, new = old + common, new + common
    elif kind == "large dimensions":
        size = np.where(rng.permutation(d) < 5, 100.0, 1.0)
        old, new = (old + 3) * size, (new + 3) * size
    elif kind == "far apart":
        new += 30 * direction
    elif kind == "very far apart":
        new += 1e4 * direction
    elif kind == "constants":  # constant over one set, the other, and both, at values that are no round numbers
        old[:, ::3], new[:, 1::3] = 0.1, 0.7
        old[:, ::4] = new[:, ::4] = 0.3
    return old.astype(dtype), new.astype(dtype)


def unit_rows(rows: Matrix) -> Floats:
    exact = rows.astype(float)
    return exact / np.linalg.norm(exact, axis=1, keepdims=True)


def by_swapping(old: Matrix, new: Matrix, row_orders: list[tuple[Indices, Indices]], counts: list[int]) -> Floats:
    """Compute the reference: move the rows, then use numpy in float64.

    Return mean and variance of the old set, then of the new one: (4, repeats, counts, d)
    """
    out = np.empty((4, len(row_orders), len(counts), old.shape[1]))
    for k, (order_old, order_new) in enumerate(row_orders):
        for r, count in enumerate(counts):
            S1, S2 = swap(old.astype(float), new.astype(float), order_old, order_new, count)
            out[:, k, r] = S1.mean(axis=0), S1.var(axis=0, ddof=1), S2.mean(axis=0), S2.var(axis=0, ddof=1)
    return out


def kl_by_the_book(m1: Floats, v1: Floats, m2: Floats, v2: Floats, common: Floats) -> float:
    """Compute the formula of appendix A with variances raised to the share of the common variance."""
    some = common > 0
    m1, v1, m2, v2, floor = m1[some], v1[some], m2[some], v2[some], VARIANCE_FLOOR * common[some]
    v1, v2 = np.maximum(v1, floor), np.maximum(v2, floor)
    trace, determinants = np.sum(v1 / v2), np.sum(np.log(v1)) - np.sum(np.log(v2))
    return float(0.5 * (trace - len(m1) - determinants + np.sum((m2 - m1) ** 2 / v2)))


def metrics_by_the_book(moments: Floats, common: Floats) -> list[float]:
    """Return the metrics of CLOSED_FORM in order, from the four moments of a pair of sets: (4, d)"""
    m1, v1, m2, v2 = moments
    kl, reverse = kl_by_the_book(m1, v1, m2, v2, common), kl_by_the_book(m2, v2, m1, v1, common)
    return [kl, reverse, 0.5 * (kl + reverse), *(getattr(scipy_distance, name)(m1, m2) for name in DISTANCES)]


@given(
    kind=st.sampled_from(KINDS),
    n_old=st.one_of(st.integers(2, 40), st.integers(500, 600)),
    n_new=st.integers(2, 60),
    d=st.one_of(st.integers(1, 30), st.integers(250, 300)),
    repeats=st.integers(1, 3),
    unit=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@example("very far apart", 20, 20, 5, 2, False, 0)
@example("constants", 20, 20, 13, 2, False, 0)
@example("plain", 600, 600, 300, 2, True, 0)
def test_swapped_gaussians_are_the_mean_and_variance_of_the_swapped_sets(
    kind: str, n_old: int, n_new: int, d: int, repeats: int, unit: bool, seed: int
) -> None:
    old, new = sets(kind, n_old, n_new, d, np.float64, seed)
    rng = np.random.default_rng(seed)
    row_orders = [(rng.permutation(n_old), rng.permutation(n_new)) for _ in range(repeats)]
    most = min(n_old, n_new)
    counts = sorted({0, most, *rng.integers(0, most + 1, 4).tolist()})[rng.integers(2) :]  # with and without 0

    got_old, got_new = swapped_gaussians(TwoSets(old, new, unit=unit), row_orders, counts)

    if unit:
        old, new = unit_rows(old), unit_rows(new)
    mean_old, variance_old, mean_new, variance_new = by_swapping(old, new, row_orders, counts)
    common = np.concatenate([old, new]).var(axis=0, ddof=1)
    # The squared distance of the means enters a variance and cancels if all rows are swapped.
    rounding = 1e-14 * (old.mean(axis=0) - new.mean(axis=0)) ** 2 + 1e-30 * np.abs(old).max() ** 2
    assert (got_old.count, got_new.count) == (n_old, n_new)
    for got, expected in ((got_old.mean, mean_old), (got_new.mean, mean_new)):
        assert got.shape == expected.shape
        assert (np.abs(got - expected) <= 1e-9 * np.sqrt(common) + 1e-14 * np.abs(expected)).all()
    for got, expected in ((got_old.variance, variance_old), (got_new.variance, variance_new)):
        assert got.shape == expected.shape
        size = np.maximum(expected, VARIANCE_FLOOR * common)  # a variance under the floor counts as the floor
        assert (np.abs(got - expected) <= 1e-9 * size + rounding).all()


def assert_metrics_agree(
    kind: str, n_old: int, n_new: int, d: int, strategy: Any, dtype: npt.DTypeLike, seed: int, rtol: float = 1e-6
) -> None:
    """Check all metrics of a sweep against the reference: within ``rtol``, and within 1e-9 without swaps."""
    old, new = sets(kind, n_old, n_new, d, dtype, seed)
    rates, repeats = [0.0, 0.1, 0.5, 0.9, 1.0], 2
    result = sweep(old, new, CLOSED_FORM, rates, repeats, seed, strategy, word="plane")

    stream = generator(seed, "swap", "plane")
    row_orders = list(orders(old, new, strategy, repeats, stream))
    counts = [swap_count(n_old, n_new, rate) for rate in rates]
    moments = by_swapping(old, new, row_orders, counts)
    common = np.concatenate([old, new]).astype(float).var(axis=0, ddof=1)
    expected = np.empty((len(CLOSED_FORM), len(counts), len(row_orders)))
    for r, k in np.ndindex(expected.shape[1:]):
        expected[:, r, k] = metrics_by_the_book(moments[:, k, r], common)
    assert result.metrics == CLOSED_FORM
    assert result.swap_counts == tuple(counts)
    np.testing.assert_allclose(result.e_swap, expected, rtol=rtol)
    np.testing.assert_allclose(result.e_original, expected[:, 0, 0], rtol=1e-9)


@given(
    kind=st.sampled_from(["plain", "large mean", "large dimensions", "far apart", "same distribution"]),
    n_old=st.one_of(st.integers(10, 60), st.integers(500, 1100)),
    n_new=st.integers(10, 600),
    d=st.integers(64, 300),
    strategy=st.sampled_from(["random", "distance"]),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 1000),
)
@example("large mean", 1100, 600, 300, "random", np.float32, 0)
@example("large dimensions", 1100, 600, 300, "random", np.float32, 0)
@example("far apart", 600, 600, 300, "distance", np.float32, 0)
@example("same distribution", 1100, 600, 64, "random", np.float32, 0)
def test_metrics_after_swapping_equal_those_of_the_swapped_sets_to_six_digits(
    kind: str, n_old: int, n_new: int, d: int, strategy: Any, dtype: npt.DTypeLike, seed: int
) -> None:
    assert_metrics_agree(kind, n_old, n_new, d, strategy, dtype, seed)


@pytest.mark.parametrize(
    ("kind", "n_old", "n_new", "strategy", "seed"),
    [
        pytest.param("large dimensions", 10, 400, "distance", 35, id="rows that move lie close together, far out: kl"),
        pytest.param("plain", 500, 512, "random", 49, id="two means that are both nearly 0: canberra"),
        pytest.param("same distribution", 500, 512, "distance", 39, id="two means that are both nearly 0 again"),
    ],
)
def test_five_digits_are_exact_for_difficult_float32_sets_of_few_dimensions(
    kind: str, n_old: int, n_new: int, strategy: str, seed: int
) -> None:
    # One of 16 dimensions has a large weight, and values near 0 have few digits.
    assert_metrics_agree(kind, n_old, n_new, 16, strategy, np.float32, seed, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_set_swapped_with_itself_keeps_a_distance_of_zero(dtype: npt.DTypeLike) -> None:
    rows, _ = sets("large mean", 300, 2, 40, dtype, 0)
    result = sweep(rows, rows, CLOSED_FORM, [0.0, 0.3, 1.0], strategy="distance")
    np.testing.assert_allclose(result.e_original, 0.0, atol=1e-15)
    np.testing.assert_allclose(result.e_swap, 0.0, atol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_means_are_the_same_without_variances_and_with_no_row_swapped(
    kind: str, dtype: npt.DTypeLike, unit: bool
) -> None:
    old, new = sets(kind, 700, 41, 300, dtype, 0)
    g_old, g_new = fit(old, "old", unit), fit(new, "new", unit)
    row_orders = list(orders(old, new, "random", 3, generator(0, "swap")))
    whole = swapped_gaussians(TwoSets(old, new, True, unit), row_orders, [0, 7, 41])
    means = swapped_gaussians(TwoSets(old, new, False, unit), iter(row_orders), [0, 7, 41])
    for with_variance, without, g in zip(whole, means, (g_old, g_new), strict=True):
        np.testing.assert_array_equal(without.mean, with_variance.mean)
        assert without.variance.shape == (3, 3, 0)
        np.testing.assert_array_equal(with_variance.mean[:, 0], np.tile(g.mean, (3, 1)))
        np.testing.assert_array_equal(with_variance.variance[:, 0], np.tile(g.variance, (3, 1)))
        assert (with_variance.mean[:, 1:] != g.mean).any()


def test_rate_that_swaps_no_row_leaves_every_distance_unchanged() -> None:
    old, new = sets("large mean", 30, 40, 20, np.float32, 0)
    result = sweep(old, new, [*CLOSED_FORM, "apd"], [0.0, 0.01, 0.5])
    assert result.swap_counts == (0, 0, 15)
    np.testing.assert_array_equal(result.scores[:, :2], 0.0)
    assert (result.scores[:, 2] > 0).all()


SCALE_FREE = ("kl", "kl-reverse", "jeffreys", "braycurtis", "canberra", "correlation", "cosine", "apd")


@pytest.mark.parametrize("exponent", [-83, 83], ids=["1e-25", "1e25"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["plain", "large mean", "large dimensions"])
def test_scale_free_metrics_are_the_same_in_tiny_and_in_huge_units(
    kind: str, dtype: npt.DTypeLike, exponent: int
) -> None:
    old, new = sets(kind, 60, 80, 40, dtype, 0)
    ordinary = sweep(old, new, SCALE_FREE)
    in_units = sweep(np.ldexp(old, exponent), np.ldexp(new, exponent), SCALE_FREE)  # exact: no bit of a row is lost
    np.testing.assert_allclose(in_units.e_original, ordinary.e_original, rtol=1e-12)
    np.testing.assert_allclose(in_units.e_swap, ordinary.e_swap, rtol=1e-12)


@pytest.mark.parametrize("metric", ["kl", "cosine", "apd"])
@pytest.mark.parametrize("exponent", [-660, -540, 520, 660], ids=["1e-199", "1e-163", "1e157", "1e199"])
def test_units_whose_squares_overflow_are_refused_and_not_mistaken_for_zeros(exponent: int, metric: str) -> None:
    old, new = sets("plain", 20, 30, 8, np.float64, 0)
    refusal = ""
    try:
        result = sweep(np.ldexp(old, exponent), np.ldexp(new, exponent), [metric])
    except ValueError as error:
        refusal = str(error)
    else:  # otherwise the answer must be correct
        np.testing.assert_allclose(result.e_swap, sweep(old, new, [metric]).e_swap, rtol=1e-6)
    assert "row of zeros" not in refusal


# ------------------------------------------------------------------------------------------------------- memory

PEAK = """
    import re, sys
    import numpy as np
    from lexshift import sweep
    from lexshift.scoring.distance import CLOSED_FORM

    def kilobytes(field):
        with open("/proc/self/status") as status:
            return int(re.search(field + r":\\s+(\\d+) kB", status.read()).group(1))

    def rows(n):
        return np.random.default_rng(n).standard_normal((n, 768), dtype=np.float32)

    sweep(rows(50), rows(60), metrics=CLOSED_FORM)
    old, new = rows(20_000), rows(20_001)
    old[:, : int(sys.argv[1])] = new[:, : int(sys.argv[1])] = 0.5
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    before = kilobytes("VmRSS")
    sweep(old, new, metrics=CLOSED_FORM)
    print(kilobytes("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize("constant", [0, 700], ids=["no dimension is constant", "most dimensions are constant"])
def test_sweep_needs_at_most_32_megabytes_beyond_its_input(constant: int) -> None:
    run = subprocess.run([sys.executable, "-c", dedent(PEAK), str(constant)], capture_output=True, text=True)
    if "PermissionError" in run.stderr:
        pytest.skip("this machine does not let a process reset its own peak memory")
    assert run.returncode == 0, run.stderr
    assert 0 < int(run.stdout) <= 32 * 1024

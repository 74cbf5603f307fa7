"""Test shares of senses: intervals, tests by enumeration of permutations, names of changes, distances."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import jensenshannon
from scipy.stats import beta, hypergeom

from lexshift.scoring.significance import benjamini_hochberg
from lexshift.senses.share_permutation import permute_documents
from lexshift.senses.shares import Shares, adjust_p, find_ends, jensen_shannon, name_changes, sense_shares
from lexshift.utils.arrays import Indices

USAGES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=14)


def make_shares(counts: list[list[int]], **options: int) -> Shares:
    """Return the shares of usages with these counts, a row for each sense."""
    pairs = [(k, t) for k, row in enumerate(counts) for t, count in enumerate(row) for _ in range(count)]
    return sense_shares([k for k, _ in pairs], [t for _, t in pairs], len(counts[0]), **options)


# Counts and intervals


@given(USAGES)
def test_counts_and_intervals_equal_those_of_a_loop(usages: list[tuple[int, int]]) -> None:
    labels, periods = zip(*usages, strict=True)
    found, counted = sense_shares(labels, periods, 3), Counter(usages)
    assert found.counts.shape == (max(labels) + 1, 3)
    for (k, t), count in np.ndenumerate(found.counts):
        total = periods.count(t)
        assert count == counted[k, t]
        if not total:
            assert math.isnan(found.shares[k, t])
            assert [found.low[k, t], found.high[k, t]] == [0, 1]
            continue
        low, high = beta.interval(0.95, count + 0.5, total - count + 0.5)
        assert found.shares[k, t] == count / total
        assert found.low[k, t] == pytest.approx(0 if count == 0 else low)
        assert found.high[k, t] == pytest.approx(1 if count == total else high)
        assert found.low[k, t] <= found.shares[k, t] <= found.high[k, t]


def test_interval_has_the_stated_coverage() -> None:
    rng = np.random.default_rng(0)
    for share in (0.05, 0.3):
        labels = (rng.random((1000, 60)) < share).astype(int)
        found = [sense_shares([*row, 0, 1], [0] * 60 + [1, 1], 2) for row in labels]
        covered = np.mean([one.low[1, 0] <= share <= one.high[1, 0] for one in found])
        assert covered == pytest.approx(0.95, abs=0.03)


def test_documents_of_one_sense_each_widen_the_interval() -> None:
    """With ten documents of one sense each, the interval is that of ten usages."""
    labels, documents = np.repeat([0, 1] * 10, 5), np.repeat(np.arange(20), 5)
    periods = np.repeat([0, 1], 50)
    alone, together = sense_shares(labels, periods, 2), sense_shares(labels, periods, 2, documents, permutations=99)
    low, high = beta.interval(0.95, 5.5, 5.5)
    assert_allclose(together.low, low)
    assert_allclose(together.high, high)
    assert (alone.low > together.low).all()


def test_documents_without_effect_leave_the_interval() -> None:
    labels, documents = np.array([0, 1] * 40), np.repeat(np.arange(40), 2)  # both senses in every document
    periods = np.repeat([0, 1], 40)
    alone, together = sense_shares(labels, periods, 2), sense_shares(labels, periods, 2, documents, permutations=99)
    assert_allclose(together.low, alone.low)
    assert_allclose(together.high, alone.high)


def test_only_sense_in_documents_has_an_interval_of_as_many_usages_as_documents() -> None:
    found = sense_shares([0] * 40, [0] * 20 + [1] * 20, 2, np.repeat(np.arange(8), 5), permutations=99)
    assert_allclose(found.low, beta.ppf(0.025, 4.5, 0.5))
    assert_array_equal(found.p, [1])


def test_interval_covers_the_share_of_usages_in_documents() -> None:
    """The usages of a document nearly always have the same sense, so intervals of single usages are too narrow."""
    rng = np.random.default_rng(1)
    documents, periods = np.repeat(np.arange(60), 4), np.repeat([0, 1], 120)
    covered = np.zeros((2, 400))
    for i in range(400):
        labels = np.where(rng.random(240) < 0.9, np.repeat(rng.random(60) < 0.3, 4), rng.random(240) < 0.3).astype(int)
        for k, known in enumerate((None, documents)):
            found = sense_shares(labels, periods, 2, known, permutations=1)
            covered[k, i] = found.low[1, 0] <= 0.3 <= found.high[1, 0]
    assert covered[0].mean() < 0.8
    assert covered[1].mean() > 0.9


# Tests


def statistic(labels: tuple[int, ...], periods: tuple[int, ...], sense: int) -> float:
    """Return the weighted squares of the differences between the shares of the periods and the share of all."""
    share = labels.count(sense) / len(labels)
    total = 0.0
    for t in set(periods):
        of_period = [label for label, period in zip(labels, periods, strict=True) if period == t]
        total += len(of_period) * (of_period.count(sense) / len(of_period) - share) ** 2
    return total


@given(USAGES)
def test_two_periods_have_the_p_of_fishers_test(usages: list[tuple[int, int]]) -> None:
    labels, periods = zip(*usages, strict=True)
    found, n = sense_shares(labels, periods, 2), periods.count(0)
    for k, p in enumerate(found.p):
        total = labels.count(k)
        tables = hypergeom(len(labels), total, n).pmf(np.arange(total + 1))
        observed = tables[found.counts[k, 0]]
        assert p == pytest.approx(tables[tables <= observed * (1 + 1e-7)].sum())


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 1), min_size=6, max_size=6), st.sampled_from([(0, 0, 1, 1, 2, 2), (0, 1, 1, 2, 2, 2)]))
def test_more_periods_have_the_p_of_all_permutations(labels: list[int], periods: tuple[int, ...]) -> None:
    found = sense_shares(labels, periods, 3, permutations=20_000)
    for k in range(max(labels) + 1):
        observed = statistic(tuple(labels), periods, k)
        drawn = [statistic(tuple(labels), order, k) for order in itertools.permutations(periods)]
        assert found.p[k] == pytest.approx(np.mean([x >= observed - 1e-9 for x in drawn]), abs=0.02)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=3), min_size=6, max_size=6),
    st.sampled_from([(0, 0, 0, 1, 1, 1), (0, 0, 1, 1, 2, 2)]),
)
def test_documents_are_permuted_as_a_whole(texts: list[list[int]], periods: tuple[int, ...]) -> None:
    def spread(document_periods: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(t for t, text in zip(document_periods, texts, strict=True) for _ in text)

    labels = tuple(itertools.chain.from_iterable(texts))
    names = [f"text {i}" for i, text in enumerate(texts) for _ in text]
    found = sense_shares(labels, spread(periods), 3, names, permutations=20_000)
    for k in range(max(labels) + 1):
        observed = statistic(labels, spread(periods), k)
        drawn = [statistic(labels, spread(order), k) for order in itertools.permutations(periods)]
        assert found.p[k] == pytest.approx(np.mean([x >= observed - 1e-9 for x in drawn]), abs=0.02)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=8),
    st.integers(1, 3),
)
def test_permuted_documents_are_counted_as_in_a_loop(rows: list[tuple[int, int, int]], n_periods: int) -> None:
    table = np.array([(a, b + (a + b == 0)) for a, b, _ in rows], float)
    periods = np.array([t % n_periods for _, _, t in rows])
    labels = tuple(k for row in table.astype(int) for k in (0,) * row[0] + (1,) * row[1])
    drawn = np.random.default_rng(5).permuted(np.broadcast_to(periods, (20, len(rows))), axis=1)

    def spread(order: Indices) -> tuple[int, ...]:
        return tuple(np.repeat(order, table.sum(axis=1).astype(int)).tolist())

    found = permute_documents(table, periods, n_periods, 20, np.random.default_rng(5))
    for k in (0, 1):
        observed = statistic(labels, spread(periods), k)
        exceeding = sum(statistic(labels, spread(order), k) >= observed - 1e-9 for order in drawn)
        assert found[k] == pytest.approx((1 + exceeding) / 21)


def test_the_only_sense_has_p_1_without_permutations() -> None:
    table = np.array([[2.0], [1.0], [3.0]])
    assert_array_equal(permute_documents(table, np.array([0, 0, 1]), 2, 100, np.random.default_rng(0)), [1])


def test_one_document_in_each_period_shows_nothing() -> None:
    found = sense_shares([0] * 20 + [1] * 20, [0] * 20 + [1] * 20, 2, ["a"] * 20 + ["b"] * 20)
    assert_array_equal(found.p, [1, 1])


def test_document_of_two_periods_counts_as_two() -> None:
    labels, periods = [0, 0, 1, 1] * 5, [0, 1, 0, 1] * 5
    one = sense_shares(labels, periods, 2, ["file"] * 20)
    two = sense_shares(labels, periods, 2, [f"file of {t}" for t in periods])
    assert_array_equal(one.p, two.p)
    assert_allclose(one.low, two.low)


def test_p_is_uniform_or_larger_without_change() -> None:
    rng = np.random.default_rng(0)
    for documents in (None, np.repeat(np.arange(30), 3)):
        p = []
        for _ in range(300):
            labels = (np.repeat(rng.random(30) < 0.4, 3) if documents is not None else rng.random(90) < 0.4).astype(int)
            p.append(sense_shares(labels, np.repeat([0, 1, 2], 30), 3, documents, permutations=199).p[-1])
        assert np.mean(np.array(p) <= 0.05) <= 0.08


@pytest.mark.parametrize("counts", [[[20], [5]], [[1]], [[3, 0], [2, 0]]])
def test_one_period_with_usages_has_p_1_and_no_change(counts: list[list[int]]) -> None:
    shares = make_shares(counts)
    assert_array_equal(shares.p, np.ones(len(counts)))
    assert name_changes(shares, shares.p) == ["kept"] * len(counts)


def test_no_usages_have_no_senses() -> None:
    shares = sense_shares([], [], 2)
    assert shares.counts.shape == (0, 2)
    assert name_changes(shares, []) == []


@pytest.mark.parametrize(
    ("labels", "periods"), [([0, 1], [0]), ([0, 1], [0, 2]), ([0, -1], [0, 1]), ([0.5, 1], [0, 1]), ([[0]], [[0]])]
)
def test_invalid_labels_and_periods_are_refused(labels: list[int], periods: list[int]) -> None:
    with pytest.raises(ValueError, match=r"label|whole numbers"):
        sense_shares(labels, periods, 2)


@given(st.floats(0.01, 1))
def test_q_of_selected_words_is_divided_by_their_share(share: float) -> None:
    shares = {"a": make_shares([[20, 10], [0, 10]]), "b": make_shares([[12, 9], [8, 11]])}
    plain, selected = adjust_p(shares), adjust_p(shares, selected_share=share)
    for word in shares:
        assert_allclose(selected[word], np.minimum(plain[word] / share, 1))


def test_q_of_senses_that_are_not_chosen_is_1() -> None:
    shares = {"a": make_shares([[20, 10], [0, 10]]), "b": make_shares([[12, 9], [8, 11]])}
    chosen = {"a": np.array([True, False]), "b": np.array([False, False])}
    found = adjust_p(shares, chosen)
    assert_allclose(found["a"], [shares["a"].p[0], 1])
    assert_allclose(found["b"], [1, 1])


# Names


@pytest.mark.parametrize(
    ("counts", "names"),
    [
        ([[50, 20], [0, 30]], ["shrank", "gained"]),
        ([[20, 50], [30, 1]], ["grew", "lost"]),
        ([[40, 25], [10, 25]], ["shrank", "grew"]),
        ([[40, 38], [10, 12]], ["kept", "kept"]),
        ([[50, 46], [0, 4]], ["kept", "kept"]),  # too few usages of the new sense
        ([[18, 10], [2, 400]], ["shrank", "grew"]),  # 2 of 20 usages are not nearly absent
        ([[980, 700], [20, 300]], ["shrank", "gained"]),  # but 20 of 1000 are
        ([[5, 0], [0, 5]], ["kept", "kept"]),  # periods of too few usages, though p is small
    ],
)
def test_changes_have_their_names(counts: list[list[int]], names: list[str]) -> None:
    shares = make_shares(counts)
    assert name_changes(shares, shares.p) == names


def test_change_has_the_opposite_name_in_the_opposite_order() -> None:
    names = {"gained": "lost", "lost": "gained", "grew": "shrank", "shrank": "grew", "kept": "kept"}
    rng = np.random.default_rng(0)
    for _ in range(50):
        counts = rng.multinomial(60, rng.dirichlet(np.full(3, 0.5)), 2).T
        there, back = (make_shares(table.tolist()) for table in (counts, counts[:, ::-1]))
        assert name_changes(back, back.p) == [names[name] for name in name_changes(there, there.p)]


def test_first_and_last_periods_with_enough_usages_together_are_compared() -> None:
    shares = make_shares([[3, 30, 20, 10, 3], [1, 0, 10, 20, 0]])
    assert name_changes(shares, shares.p) == ["shrank", "gained"]


def test_short_periods_are_joined() -> None:
    """No period has ten usages, but the change is clear."""
    shares = make_shares([[6, 7, 6, 5, 3, 2, 1, 0], [0, 0, 0, 1, 3, 5, 6, 7]])
    assert shares.p.max() < 0.001
    assert name_changes(shares, shares.p) == ["lost", "gained"]


def slow_ends(totals: list[int], least: int) -> tuple[int, int] | None:
    """Try beginnings and ends of growing length."""
    for begin in range(1, len(totals) + 1):
        if sum(totals[:begin]) >= least:
            for end in range(len(totals) - 1, -1, -1):
                if sum(totals[end:]) >= least:
                    return (begin, end) if begin <= end else None
    return None


@given(st.lists(st.integers(0, 14), min_size=1, max_size=8), st.integers(1, 12))
def test_ends_have_enough_usages_in_as_few_periods_as_possible(totals: list[int], least: int) -> None:
    assert find_ends(totals, least) == slow_ends(totals, least)


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 4), min_size=1, max_size=3), st.floats(0, 1))
def test_joined_periods_are_named_like_one_period(counts: list[tuple[int, ...]], q: float) -> None:
    """The first two periods together, and the last two, are compared as if each was a single one."""
    table = np.array(counts)
    totals = table.sum(axis=0)
    if find_ends(totals) != (2, 2):
        return
    joined = np.stack([table[:, :2].sum(axis=1), table[:, 2:].sum(axis=1)], axis=1)
    short, long = (make_shares(values.tolist(), permutations=9) for values in (table, joined))
    values = np.full(len(table), q)[: len(short.p)]
    assert name_changes(short, values) == name_changes(long, values)


def test_sense_that_came_and_went_is_kept() -> None:
    shares = make_shares([[40, 10, 40], [0, 30, 0]])
    assert shares.p.max() < 0.001
    assert name_changes(shares, shares.p) == ["kept", "kept"]


def test_change_needs_a_small_q() -> None:
    shares = make_shares([[50, 20], [0, 30]])
    assert name_changes(shares, [0.2, 0.04]) == ["kept", "gained"]
    with pytest.raises(ValueError, match="one value for each of the 2 senses"):
        name_changes(shares, [0.1])


def test_q_values_control_all_senses_of_all_words_but_tiny_ones() -> None:
    words = {
        "mouse": make_shares([[30, 10], [0, 20], [1, 1]]),
        "tree": make_shares([[20, 20]]),
        "ghost": make_shares([[2, 1]]),
    }
    q = adjust_p(words)
    wanted = benjamini_hochberg([*words["mouse"].p[:2], words["tree"].p[0]])
    assert_allclose(np.concatenate([q["mouse"], q["tree"]]), [*wanted[:2], 1, wanted[2]])
    assert_array_equal(q["ghost"], [1])
    assert adjust_p({}) == {}


# Distances


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6))
def test_distance_equals_that_of_scipy(counts: list[tuple[int, int]]) -> None:
    a, b = (np.array(side, float) for side in zip(*counts, strict=True))
    found = jensen_shannon(a, b)
    if not a.sum() or not b.sum():
        assert math.isnan(found)
        return
    assert found == pytest.approx(np.nan_to_num(jensenshannon(a, b, base=2)), abs=1e-7)
    assert 0 <= found <= 1
    assert found == pytest.approx(jensen_shannon(b, a), abs=1e-9)


def test_distance_without_change_is_as_large_as_stated() -> None:
    rng = np.random.default_rng(0)
    shares, n = np.array([0.4, 0.3, 0.2, 0.1]), 80
    scores = [jensen_shannon(*rng.multinomial(n, shares, 2)) for _ in range(2000)]
    assert np.mean(np.square(scores)) == pytest.approx(3 * (2 / n) / (8 * math.log(2)), rel=0.1)

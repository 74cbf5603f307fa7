"""Test the division of senses by their changed groups against sets of usages, and on planted changes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lexshift.encode.adaptation import Calibration
from lexshift.scoring.significance import benjamini_hochberg
from lexshift.senses.changed_groups import SenseGroups, divide_changed_senses, find_groups, join_groups
from lexshift.senses.graph import GraphClustering
from lexshift.senses.shares import MIN_TESTED, name_changes, sense_shares
from lexshift.senses.stability import StableClustering, mean_jaccard
from lexshift.utils.arrays import Floats, Indices, Matrix

CALIBRATION = Calibration(slope=20.0, intercept=-10.0)
CHANGES = ["gained", "grew", "shrank", "lost", "kept"]


class FirstAxis:
    """A rule whose groups are given by the axis on which a vector is longest, after the first two axes."""

    name = "first axis"

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:  # noqa: ARG002
        """Return the groups, numbered without gaps."""
        return np.unique(vectors[:, 2:].argmax(axis=1), return_inverse=True)[1]


def mean_cosine(vectors: Floats, first: set[int], second: set[int]) -> float:
    """Return the mean cosine between the usages of two sets."""
    return float(
        np.mean(
            [
                vectors[i] @ vectors[j] / np.linalg.norm(vectors[i]) / np.linalg.norm(vectors[j])
                for i in first
                for j in second
            ]
        )
    )


def slow_parts(vectors: Floats, groups: list[int], changes: list[str]) -> set[frozenset[int]]:
    """Collect what rises, what falls and what is kept as sets of usages, and return the two parts."""
    sets = [{i for i, g in enumerate(groups) if g == group} for group in range(len(changes))]
    rising, falling, kept = set(), set(), []
    for members, change in zip(sets, changes, strict=True):
        if change in ("gained", "grew"):
            rising |= members
        elif change in ("lost", "shrank"):
            falling |= members
        else:
            kept.append(members)
    if not rising or not falling:
        return {frozenset(rising | falling), frozenset(set().union(*kept))}
    joined = {"rising": set(rising), "falling": set(falling)}
    for members in kept:
        nearer = mean_cosine(vectors, members, rising) > mean_cosine(vectors, members, falling)
        joined["rising" if nearer else "falling"] |= members
    return {frozenset(part) for part in joined.values()}


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(CHANGES)), min_size=2, max_size=6), st.integers(0, 99))
def test_groups_are_joined_as_sets_of_usages(chosen: list[tuple[int, str]], seed: int) -> None:
    sizes, changes = [size for size, _ in chosen], [change for _, change in chosen]
    directions = {("+" if c in ("gained", "grew") else "-") if c != "kept" else "0" for c in changes}
    if len(directions) < 2:  # shares cannot all rise, and without a change nothing is divided
        return
    vectors = np.random.default_rng(seed).normal(size=(sum(sizes), 4))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    found = join_groups(vectors, groups, np.array(changes))
    expected = slow_parts(vectors, groups.tolist(), changes)
    assert {frozenset(np.flatnonzero(found == part).tolist()) for part in (0, 1)} == expected
    assert (found == 0).sum() >= (found == 1).sum()


def planted_word(counts: list[list[list[int]]], seed: int = 0) -> tuple[Matrix, Indices, Indices]:
    """Return vectors, senses and periods; ``counts[k][g][t]`` usages are of sense k, group g and period t."""
    rows = [
        (k, g, t)
        for t in range(len(counts[0][0]))
        for k, groups in enumerate(counts)
        for g, row in enumerate(groups)
        for _ in range(row[t])
    ]
    senses, groups, periods = np.array(rows).T
    noise = 0.01 * np.random.default_rng(seed).normal(size=(len(rows), 8))
    return np.eye(8)[senses] + 0.5 * np.eye(8)[2 + groups] + noise, senses, periods


def slow_division(
    words: dict[str, tuple[Matrix, Indices, Indices]], alpha: float, rule: StableClustering
) -> dict[str, tuple[set[frozenset[int]], dict[frozenset[int], float]]]:
    """Test the groups of all senses, adjust their p together, and divide senses as sets of usages."""
    tests, groups, stable = {}, {}, {}
    for word, (vectors, senses, periods) in words.items():
        for sense in range(senses.max() + 1):
            rows = np.flatnonzero(senses == sense)
            groups[word, sense] = rule.clustering.cluster(vectors[rows], CALIBRATION)
            if groups[word, sense].max() > 0:
                tests[word, sense] = sense_shares(groups[word, sense], periods[rows], periods.max() + 1)
                samples = rule.resample(vectors[rows], CALIBRATION)
                stable[word, sense] = mean_jaccard(groups[word, sense], samples) >= rule.min_stability
    tested = [
        (key, g)
        for key, found in tests.items()
        for g in range(len(found.p))
        if found.counts[g].sum() >= MIN_TESTED and stable[key][g]
    ]
    adjusted = benjamini_hochberg([tests[key].p[g] for key, g in tested]).tolist() if tested else list[float]()
    q = dict(zip(tested, adjusted, strict=True))
    results = {}
    for word, (vectors, senses, _) in words.items():
        part_q = {}
        for sense in range(senses.max() + 1):
            rows = np.flatnonzero(senses == sense)
            values = np.array([q.get(((word, sense), g), 1.0) for g in range(groups[word, sense].max() + 1)])
            key = (word, sense)
            changes = name_changes(tests[key], values, alpha) if key in tests else ["kept"]
            changed = [value for value, change in zip(values, changes, strict=True) if change != "kept"]
            parts = slow_parts(vectors[rows], groups[key].tolist(), changes) if changed else set()
            if not all(any(stable[key][groups[key][i]] for i in part) for part in parts):
                parts = set()
            if not parts:
                part_q[frozenset(rows.tolist())] = 0.0
            for part in parts:
                part_q[frozenset(rows[sorted(part)].tolist())] = max(changed)
        results[word] = (set(part_q), part_q)
    return results


COUNTS = st.lists(  # senses, groups, two periods
    st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)).map(list), min_size=1, max_size=3).filter(
        lambda groups: sum(map(sum, groups)) > 0
    ),
    min_size=1,
    max_size=2,
)


class Doubtful(FirstAxis):
    """The same rule, except that small samples have no groups after the second one."""

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:
        """Return the groups, numbered without gaps."""
        labels = super().cluster(vectors, calibration, seed)
        return np.minimum(labels, 1) if len(vectors) % 2 else labels


@given(st.lists(COUNTS, min_size=1, max_size=3), st.sampled_from([0.05, 0.3]), st.sampled_from([0.0, 0.9, 1.0]))
def test_division_follows_its_definition(
    words: list[list[list[list[int]]]], alpha: float, min_stability: float
) -> None:
    rule = StableClustering(Doubtful(), min_stability, resamples=3)
    planted = {f"word{i}": planted_word(counts) for i, counts in enumerate(words)}
    labels = {word: senses for word, (_, senses, _) in planted.items()}
    groups = {
        word: find_groups(vectors, senses, periods, int(periods.max()) + 1, rule, CALIBRATION)
        for word, (vectors, senses, periods) in planted.items()
    }
    found = divide_changed_senses(labels, groups, lambda word: planted[word][0], alpha)
    for word, (expected, expected_q) in slow_division(planted, alpha, rule).items():
        divided = found[word]
        parts = [frozenset(np.flatnonzero(divided.labels == k).tolist()) for k in range(len(divided.q))]
        assert set(parts) == expected
        assert_allclose(divided.q, [expected_q[part] for part in parts])
        assert all(
            (labels[word][list(part)] == origin).all() for part, origin in zip(parts, divided.origin, strict=True)
        )
        assert [len(part) for part in parts] == sorted(map(len, parts), reverse=True)
        assert_array_equal(divided.is_part, divided.q > 0)
        assert all(not a & b for a, b in combinations(parts, 2))


def test_what_arrives_within_a_sense_becomes_a_sense() -> None:
    """The second group of the first sense is new. The second sense is a single group."""
    vectors, senses, periods = planted_word([[[30, 18], [0, 20]], [[10, 11]]])
    groups = find_groups(vectors, senses, periods, 2, GraphClustering(0.999), CALIBRATION)
    (sense,) = groups
    assert sense.shares.counts.tolist() == [[30, 18], [0, 20]]
    divided = divide_changed_senses({"mouse": senses}, {"mouse": groups}, lambda _: vectors)["mouse"]
    counts = [[int(((divided.labels == k) & (periods == t)).sum()) for t in (0, 1)] for k in range(3)]
    assert sorted(counts) == [[0, 20], [10, 11], [30, 18]]
    assert divided.is_part.tolist() == [row != [10, 11] for row in counts]


def test_an_unstable_group_is_no_reason_for_a_division() -> None:
    """The new group is found if all usages are there, but in no sample of them."""

    class OnlyInAll(FirstAxis):
        def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:
            return super().cluster(vectors, calibration, seed) * (len(vectors) == 68)

    vectors, senses, periods = planted_word([[[30, 18], [0, 20]]])
    for rule, n_senses in ((FirstAxis(), 2), (StableClustering(FirstAxis()), 2), (StableClustering(OnlyInAll()), 1)):
        groups = find_groups(vectors, senses, periods, 2, rule, CALIBRATION)
        divided = divide_changed_senses({"mouse": senses}, {"mouse": groups}, lambda _: vectors)["mouse"]
        assert len(divided.q) == n_senses
        assert (divided.stability >= 0.6).all() == isinstance(rule, StableClustering) * (n_senses == 2)


def test_sense_with_the_same_groups_in_both_periods_stays_whole() -> None:
    vectors, senses, periods = planted_word([[[20, 20], [15, 14], [9, 10]]])
    groups = find_groups(vectors, senses, periods, 2, FirstAxis(), CALIBRATION)
    assert len(groups) == 1
    divided = divide_changed_senses({"mouse": senses}, {"mouse": groups}, lambda _: pytest.fail("nothing changed"))
    assert_array_equal(divided["mouse"].labels, np.zeros(88))
    assert divided["mouse"].q.tolist() == [0]


def test_sense_that_grew_as_a_whole_is_not_divided() -> None:
    """Both groups of the second sense grew among the usages of the word, but not within their sense."""
    vectors, senses, periods = planted_word([[[40, 10]], [[12, 40], [10, 36]]])
    groups = find_groups(vectors, senses, periods, 2, FirstAxis(), CALIBRATION)
    divided = divide_changed_senses({"mouse": senses}, {"mouse": groups}, lambda _: vectors)["mouse"]
    assert len(divided.q) == 2


def test_groups_of_a_document_are_not_independent() -> None:
    """The new group is in a single document of the new period, so that it is no evidence of a change."""
    vectors, senses, periods = planted_word([[[20, 20], [0, 15]]])
    documents = np.arange(len(periods))
    documents[-15:] = documents[-1]
    alone = find_groups(vectors, senses, periods, 2, FirstAxis(), CALIBRATION)
    together = find_groups(vectors, senses, periods, 2, FirstAxis(), CALIBRATION, documents, 500)
    for groups, n_senses in ((alone, 2), (together, 1)):
        divided = divide_changed_senses({"mouse": senses}, {"mouse": groups}, lambda _: vectors)
        assert len(divided["mouse"].q) == n_senses


def test_first_and_last_of_several_periods_are_compared() -> None:
    vectors, senses, periods = planted_word([[[25, 20, 10], [0, 6, 20]]])
    groups = find_groups(vectors, senses, periods, 3, FirstAxis(), CALIBRATION, permutations=2000)
    divided = divide_changed_senses({"mouse": senses}, {"mouse": groups}, lambda _: vectors)["mouse"]
    assert np.bincount(divided.labels).tolist() == [55, 26]


def test_chance_divides_few_words() -> None:
    """Groups that are independent of the periods are divided in at most about one of twenty runs."""
    rng = np.random.default_rng(0)
    divided_runs = 0
    for _ in range(40):
        labels, groups = {}, {}
        for word in map(str, range(10)):
            periods = np.repeat([0, 1], 30)
            own = rng.integers(0, 4, 60)
            labels[word] = np.zeros(60, np.intp)
            groups[word] = [
                SenseGroups(np.arange(60), own, sense_shares(own, periods, 2), np.ones(4), np.ones(4, bool))
            ]
        found = divide_changed_senses(labels, groups, lambda _: rng.normal(size=(60, 3)))
        divided_runs += any(len(word.q) > 1 for word in found.values())
    assert divided_runs <= 4

"""Test that the number of permutations follows the number of tests."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_usages import MadeUsages

from lexshift.scoring.permutation import permutation_test
from lexshift.scoring.permutation_stages import (
    STAGES,
    add_permutations,
    count_unresolved,
    has_enough_permutations,
    stages,
)
from lexshift.scoring.scores import Comparisons, Scoring, score_words
from lexshift.scoring.significance import benjamini_hochberg
from lexshift.scoring.sscd import SSCD
from lexshift.study.compare import compare
from lexshift.study.discover import discover
from lexshift.study.history import find_history
from lexshift.study.settings import Settings
from lexshift.study.trace import trace
from lexshift.utils.arrays import Matrix, Pairs
from lexshift.utils.monitor import Silent

ALPHA = 0.05


@dataclass(frozen=True)
class Drawn:
    """Test with a known number of exceedances for each number of permutations."""

    p: float
    permutations: int
    tail: float | None = None
    exact: bool = False


def drawn(p: float, permutations: int) -> Drawn:
    """Return the expected test of a word with this true p."""
    exceeding = int(p * permutations)
    tail = p if permutations >= 100_000 and exceeding < 10 else None
    return Drawn((1 + exceeding) / (1 + permutations), permutations, tail)


def staged(true: list[float]) -> tuple[list[Drawn], int]:
    """Return the tests of words with these true p, and the number of permutations beyond the first of each."""
    spent = 0

    def again(word: int, permutations: int) -> Drawn:
        nonlocal spent
        spent += permutations
        return drawn(true[word], permutations)

    tests = {word: drawn(p, 1_000) for word, p in enumerate(true)}
    found = add_permutations(tests, again, ALPHA, Silent())
    assert list(found) == list(tests)
    return list(found.values()), spent


def called(tests: list[Drawn]) -> list[bool]:
    return (benjamini_hochberg([test.p for test in tests]) <= ALPHA).tolist()


@pytest.mark.parametrize("words", [20, 100, 600, 5_000, 20_000, 200_000])
def test_one_clearly_changed_word_is_called_changed_among_any_number(words: int) -> None:
    tests, spent = staged([1e-12, *np.linspace(0.01, 1, words - 1).tolist()])
    assert called(tests) == [True] + [False] * (words - 1)
    assert tests[0].permutations == (10_000 if words < 50 else 100_000)
    assert spent < 20 * (110_000 + 100 * words)
    assert all(test.p > 0 for test in tests)
    assert (tests[0].p == tests[0].tail) == (words > 5_000)  # counted if counting is sufficient


@pytest.mark.parametrize("words", [10, 1_000])
def test_words_that_all_changed_need_no_more_permutations(words: int) -> None:
    tests, spent = staged([1e-12] * words)
    assert spent == 0
    assert all(called(tests))


def test_unchanged_words_need_few_more_permutations() -> None:
    tests, spent = staged(np.linspace(0.001, 1, 1_000).tolist())
    assert not any(called(tests))
    assert spent < 0.2 * 1_000 * 1_000


@settings(deadline=None, max_examples=80)
@given(st.lists(st.sampled_from([1e-9, 1e-5, 1e-4, 1e-3, 0.004, 0.02, 0.3, 0.9]), min_size=1, max_size=40))
def test_verdicts_equal_those_with_the_maximum_permutations_for_all(true: list[float]) -> None:
    tests, _ = staged(true)
    everything = [drawn(p, 100_000) for p in true]
    assert called(tests) == called(everything)


def test_test_with_all_permutations_is_not_repeated() -> None:
    tests = {word: Drawn(1 / 252, 251, exact=True) for word in range(3)} | {3: drawn(0.9, 1_000)}
    assert add_permutations(tests, lambda _word, _more: pytest.fail("was tested again"), 1e-4, Silent()) == tests


def test_tests_limited_by_the_smallest_possible_p_are_counted() -> None:
    tests = [Drawn(1 / 1_000, 999), *[Drawn(0.5, 999)] * 99]
    assert count_unresolved(tests, ALPHA) == 1
    assert count_unresolved([*tests[:1], *tests[:1], *tests[2:]], ALPHA) == 0  # two of 100 reach q = 0.05
    assert count_unresolved([Drawn(1 / 252, 251, exact=True), *tests[1:]], ALPHA) == 0
    assert count_unresolved([], ALPHA) == 0


@pytest.mark.parametrize("command", [compare, discover, trace])
def test_every_command_draws_as_many_permutations_as_needed(command: object) -> None:
    assert inspect.signature(command).parameters["permutations"].default == "auto"  # type: ignore[arg-type]


@given(st.integers(1, 10**6))
def test_stages_end_with_the_maximum(most: int) -> None:
    found = stages(most)
    assert found[-1] == (most, 0.0)
    assert all(before < after for (before, _), (after, _) in pairwise(found))
    assert found[:-1] == [stage for stage in STAGES if stage[0] < most]


def test_more_permutations_than_the_last_stage_are_drawn_on_request() -> None:
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(10, 2)), rng.normal(size=(10, 2)) + 4
    assert permutation_test(old, new, "euclidean", permutations=120_000).permutations == 120_000


def test_p_from_the_tail_is_not_below_that_of_a_single_split() -> None:
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(10, 2)), rng.normal(size=(11, 2)) + 40
    test = permutation_test(old, new, "euclidean", permutations=100_000)
    assert test.tail is None or test.tail >= 1 / 352_716


def one_changed(words: int, usages: int = 12) -> Pairs:
    """Return words of which the first one changed clearly in three dimensions."""
    rng = np.random.default_rng(7)
    made: dict[str, tuple[Matrix, Matrix]] = {}
    for i in range(words):
        old, new = (rng.normal(size=(usages, 3)).astype(np.float32) for _ in range(2))
        made[f"w{i}"] = (old, new + 6 if i == 0 else new)
    return made


def test_one_clearly_changed_word_of_600_is_called_changed_by_a_comparison() -> None:
    words = one_changed(600)
    scoring = Scoring(SSCD("euclidean", repeats=1), 0.3, "auto", 1, alpha=ALPHA)
    scores = score_words(Comparisons(list(words), words.__getitem__), scoring, Silent())
    q = benjamini_hochberg([scored.test.p for scored in scores.words.values()])
    assert (q <= ALPHA).tolist() == [True] + [False] * 599


def test_one_clearly_changed_word_of_100_has_a_changed_step_in_a_trace() -> None:
    words = one_changed(100)
    family = [(word, 0, 1) for word in words]
    scoring = Scoring(SSCD("euclidean", repeats=1), 0.3, "auto", 1, alpha=ALPHA)
    comparisons = Comparisons(
        family,
        lambda pair: (words[pair[0]][pair[1]], words[pair[0]][pair[2]]),
        name=lambda pair: pair[0],
        families=[family, family],
    )
    found = score_words(comparisons, scoring, Silent()).words
    assert list(found) == family
    q = benjamini_hochberg([scored.test.p for scored in found.values()])
    assert (q <= ALPHA).tolist() == [True] + [False] * 99


def test_one_clearly_changed_word_of_100_has_a_significant_change_point() -> None:
    words = one_changed(100)
    found, seasons = find_history(MadeUsages(words, ["1950s", "2010s"]), Settings(), Silent())
    assert seasons == {}
    q = benjamini_hochberg([change.p for change in found.values()])
    assert (q <= ALPHA).tolist() == [True] + [False] * 99
    assert found["w0"].at == (1,)
    assert sum(change.permutations == 999 for change in found.values()) > 90


def test_test_in_two_families_gets_the_permutations_of_the_larger_one() -> None:
    true = [1e-12, *np.linspace(0.05, 1, 599).tolist()]
    tests = {word: drawn(p, 1_000) for word, p in enumerate(true)}
    families = [range(20), range(600)]
    found = add_permutations(tests, lambda word, n: drawn(true[word], n), ALPHA, Silent(), families=families)
    assert found[0].permutations == 100_000
    for family in families:
        assert called([found[word] for word in family]) == [True] + [False] * (len(family) - 1)


def test_seasonal_word_gets_the_permutations_required_by_the_number_of_words() -> None:
    rng = np.random.default_rng(1)
    months = [f"{year}-{month:02}" for year in range(2001, 2006) for month in range(1, 13)]
    words = {
        f"w{i}": [rng.normal(3 * (i == 0 and m % 12 == 0), 1, (4, 2)) for m in range(len(months))] for i in range(12)
    }
    _, found = find_history(MadeUsages(words, months), Settings(), Silent())
    assert found["w0"].permutations >= 10_000
    assert sum(season.permutations == 1_000 for season in found.values()) >= 9


@settings(deadline=None)
@given(st.integers(1, 3_000), st.integers(0, 3_000), st.sampled_from([1_000, 10_000, 100_000]))
def test_permutations_suffice_if_the_threshold_is_ten_times_the_smallest_p(m: int, k: int, n: int) -> None:
    k = min(k, m)
    p = np.full(m, 0.9)
    p[:k] = 1 / (n + 1)
    called = k if k and (m / k) / (n + 1) <= 0.05 else 1
    assert has_enough_permutations(p, n, 0.05) == (0.05 * called / m >= 10 / (n + 1))

"""Test pseudowords: their shares, unique sentences, replaced words, and unique names."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.simulation.pseudowords import (
    Plan,
    change_plan,
    deal_usages,
    invent_pseudowords,
    mixed_plan,
    planted_change,
    rename_usage,
    required_usages,
    season_plan,
    step_plan,
    yearly_plan,
)
from lexshift.simulation.sources import Usage

sizes, shares = st.integers(2, 300), st.fractions(0, 1, max_denominator=1000)
texts = st.text(st.characters(codec="utf-8", exclude_characters="§"), max_size=20)


@given(sizes, shares)
def test_planted_change_is_the_nearest_possible_with_whole_usages(usages: int, change: Fraction) -> None:
    plan = change_plan(usages, change)
    assert [sum(counts) for counts in plan] == [usages, usages]
    assert min(min(counts) for counts in plan) >= 0
    assert abs(Fraction(plan[1][1] - plan[0][1], usages) - change) <= Fraction(1, 2 * usages)
    assert planted_change(plan) == pytest.approx((plan[1][1] - plan[0][1]) / usages)


@given(sizes, shares)
def test_each_word_has_half_of_the_usages_over_both_periods(usages: int, change: Fraction) -> None:
    first, second = required_usages(change_plan(usages, change))
    assert (first, second) in ((usages, usages), (usages + 1, usages - 1))


@given(sizes, shares, st.integers(0, 1000))
def test_without_planted_change_the_usages_have_the_share_and_are_shuffled(
    usages: int, share: Fraction, seed: int
) -> None:
    plan = mixed_plan(usages, share, np.random.default_rng(seed))
    assert [sum(counts) for counts in plan] == [usages, usages]
    assert min(min(counts) for counts in plan) >= 0
    assert abs(Fraction(required_usages(plan)[1], 2 * usages) - share) <= Fraction(1, 4 * usages)


def test_unchanged_periods_differ_like_random_halves_of_the_usages() -> None:
    rng, halves = np.random.default_rng(0), np.repeat([1, 0], [12, 28])
    dealt = [mixed_plan(20, 0.3, rng)[0][1] for _ in range(4_000)]
    obvious = [int(rng.permutation(halves)[:20].sum()) for _ in range(4_000)]
    assert np.mean(dealt) == pytest.approx(np.mean(obvious), abs=0.15)
    assert np.std(dealt) == pytest.approx(np.std(obvious), abs=0.1)


@given(st.integers(1, 9), st.integers(2, 72), st.data())
def test_months_before_the_step_use_one_word_and_later_ones_the_other(
    usages: int, months: int, data: st.DataObject
) -> None:
    step = data.draw(st.integers(1, months - 1))
    plan = step_plan(usages, months, step)
    assert [counts == (usages, 0) for counts in plan] == [month < step for month in range(months)]
    assert [counts == (0, usages) for counts in plan] == [month >= step for month in range(months)]


@given(st.integers(1, 9), st.integers(1, 6))
def test_each_seasonal_year_has_as_much_of_either_word_in_the_same_months(usages: int, years: int) -> None:
    plan = season_plan(usages, 12 * years)
    assert plan == plan[:12] * years
    assert required_usages(plan[:12]) == (6 * usages, 6 * usages)
    assert all(a != b for a, b in pairwise(plan))


@given(st.integers(1, 200), st.integers(1, 6))
def test_share_of_a_yearly_season_follows_a_cosine(usages: int, years: int) -> None:
    plan = yearly_plan(usages, 12 * years)
    assert plan == plan[:12] * years
    for month, (first, second) in enumerate(plan[:12]):
        assert first + second == usages
        assert abs(second - usages * (1 - np.cos(2 * np.pi * month / 12)) / 2) <= 0.5 + 0.0005 * usages
    assert plan[1:6] == plan[11:6:-1]


plans = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=5).map(tuple)


@given(plans, st.integers(0, 5), st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_assignment_follows_the_plan_and_uses_nothing_twice_in_random_order(
    plan: Plan, spare: int, seed: int, mix: Random
) -> None:
    rows = [
        [Usage(f"{word}{i}", 0, 1) for i in range(n + spare)]
        for word, n in zip("ab", required_usages(plan), strict=True)
    ]
    dealt = deal_usages(rows[0], rows[1], plan, np.random.default_rng(seed))
    counts = [Counter(word for word, _ in period) for period in dealt]
    assert [(c[0], c[1]) for c in counts] == list(plan)
    used = [usage for period in dealt for _, usage in period]
    assert len(set(used)) == len(used)
    assert all(usage in rows[word] for period in dealt for word, usage in period)
    for side in rows:
        mix.shuffle(side)
    assert deal_usages(rows[0], rows[1], plan, np.random.default_rng(seed)) == dealt


def test_every_usage_is_equally_likely_in_either_period() -> None:
    rows = [Usage(str(i), 0, 1) for i in range(10)]
    old = Counter[str]()
    for seed in range(2_000):
        periods = deal_usages(rows, [], ((5, 0), (5, 0)), np.random.default_rng(seed))
        old.update(usage.sentence for _, usage in periods[0])
    assert all(abs(n / 2_000 - 0.5) < 0.06 for n in old.values())


@given(texts, texts)
def test_pseudoword_replaces_the_word_and_the_rest_is_unchanged(before: str, after: str) -> None:
    usage = Usage(f"{before}§{after}", len(before), len(before) + 1)
    renamed = rename_usage(usage, "drofa")
    assert renamed.sentence[renamed.start : renamed.end] == "drofa"
    assert len((renamed.sentence + ".").splitlines()) == 1
    marked = " ".join(usage.sentence.split())
    assert renamed.sentence[: renamed.start] + "§" + renamed.sentence[renamed.end :] == marked


@pytest.mark.parametrize(
    ("sentence", "word", "expected"),
    [
        ("Mice ran.", "Mice", "Drofa ran."),
        ("THE MICE", "MICE", "THE DROFA"),
        ("A  mouse\truns.", "mouse", "A drofa runs."),
        ("(mouse)", "mouse", "(drofa)"),
        ("Here I am", "I", "Here Drofa am"),
    ],
    ids=["capital", "capitals", "space", "brackets", "one-letter"],
)
def test_pseudoword_has_the_case_of_the_word(sentence: str, word: str, expected: str) -> None:
    start = sentence.index(word)
    assert rename_usage(Usage(sentence, start, start + len(word)), "drofa").sentence == expected


# ------------------------------------------------------------------------------------------------------------ spelling

SPOKEN = re.compile(r"([bdfgklmnprstvz]{1,2}[aeiou]){2,}[klmnprst]?")


@given(st.integers(1, 60), st.integers(0, 10**6))
def test_pseudowords_are_pronounceable_and_none_is_a_prefix_of_a_later_one(count: int, seed: int) -> None:
    names = invent_pseudowords(count, set(), seed)
    assert len(names) == count
    assert all(SPOKEN.fullmatch(name) for name in names)
    assert not any(b.startswith(a) for i, a in enumerate(names) for b in names[i + 1 :])


@given(st.integers(1, 20), st.integers(0, 10**6), st.data())
def test_taken_name_is_skipped_and_earlier_names_are_unchanged(count: int, seed: int, data: st.DataObject) -> None:
    names = invent_pseudowords(count, set(), seed)
    at = data.draw(st.integers(0, count - 1))
    others = invent_pseudowords(count, {names[at]}, seed)
    assert names[at] not in others
    assert others[:at] == names[:at]


def test_more_names_start_with_the_same_ones_and_another_seed_gives_others() -> None:
    assert invent_pseudowords(20, set(), 3)[:5] == invent_pseudowords(5, set(), 3)
    assert not set(invent_pseudowords(20, set(), 3)) & set(invent_pseudowords(20, set(), 4))


def test_longer_names_are_generated_when_all_short_names_are_taken() -> None:
    class Short:
        def __contains__(self, name: object) -> bool:
            return len(str(name)) < 8

    assert all(len(name) >= 8 for name in invent_pseudowords(5, Short(), 0))

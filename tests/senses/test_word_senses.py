"""Test the senses of a word: labels, shares, changes and examples, and the control of errors over many words."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.scoring.significance import benjamini_hochberg
from lexshift.senses.description import SenseUsages
from lexshift.senses.evidence import shift
from lexshift.senses.shares import MIN_TESTED
from lexshift.senses.word_senses import CHANGES, WordSenses, adjust_changes, find_word_senses, usage_shifts
from lexshift.utils.plain import from_plain, to_plain


class FirstLetters:
    """Description by the first letters of the sentences of a sense."""

    name = "letters"

    def describe(self, usages: SenseUsages) -> list[list[str]]:
        senses = range(int(usages.labels.max()) + 1)
        return [
            sorted({s[0] for s, label in zip(usages.sentences, usages.labels, strict=True) if label == k})
            for k in senses
        ]


def usages(counts: list[list[int]], word: str = "mouse") -> SenseUsages:
    """Return usages of which ``counts[k][t]`` have sense k in period t; sentences of sense 0 begin with "a"."""
    rows = [(t, k) for t in range(len(counts[0])) for k, row in enumerate(counts) for _ in range(row[t])]
    labels = np.array([k for _, k in rows])
    rng = np.random.default_rng(0)
    return SenseUsages(
        word=word,
        sentences=[f"{chr(ord('a') + k)}{i} {word} item{i}" for i, (_, k) in enumerate(rows)],
        spans=[(3, 8)] * len(rows),
        labels=labels,
        periods=np.array([t for t, _ in rows]),
        vectors=np.eye(len(counts))[labels] + rng.normal(size=(len(rows), len(counts))) * 0.1,
    )


def found(counts: list[list[int]], word: str = "mouse", **options: Any) -> WordSenses:
    return find_word_senses(usages(counts, word), len(counts[0]), **options)


def test_gained_sense_is_found_and_named() -> None:
    word = found([[30, 10], [0, 20]], descriptions=[FirstLetters()])
    first, second = word.senses
    assert (first.number, first.change, first.counts) == (1, "shrank", (30, 10))
    assert (second.number, second.change, second.counts) == (2, "gained", (0, 20))
    assert second.shares == pytest.approx((0, 2 / 3))
    assert second.low[1] < 2 / 3 < second.high[1]
    assert second.q <= 0.05
    assert second.description == {"letters": ["b"]}


def test_rows_of_the_senses_are_a_partition_of_the_usages() -> None:
    word = found([[12, 8, 5], [3, 9, 4], [0, 1, 2]])
    rows = [row for sense in word.senses for row in sense.rows]
    assert sorted(rows) == list(range(44))
    for sense in word.senses:
        assert {word.labels[row] for row in sense.rows} == {sense.number}
        periods = [word.periods[row] for row in sense.rows]
        assert tuple(periods.count(t) for t in range(3)) == sense.counts
        assert set(sense.examples) <= set(sense.rows)
        assert sense.examples


def test_word_with_one_sense_is_not_tested() -> None:
    word = found([[20, 25]])
    (sense,) = word.senses
    assert (len(word), sense.change) == (1, "kept")
    assert np.isnan(sense.q)


def test_names_of_an_inventory_are_attached_to_senses() -> None:
    word = found([[20, 10], [0, 20]], names=["animal", ""])
    assert [sense.known for sense in word.senses] == ["animal", ""]


def test_false_discovery_rate_is_controlled_over_all_senses_of_all_words() -> None:
    moved = dict(zip("abcdefgh", (0, 1, 0, 1, 0, 1, 0, 8), strict=True))
    words = {name: found([[15, 15 - n], [5, 5 + n]], name) for name, n in moved.items()}
    words["single"] = found([[20, 20]], "single")
    adjusted = adjust_changes(words, 0.05)
    assert list(adjusted) == list(words)
    tested = [name for name in words if name != "single"]
    p = np.concatenate([words[name].shares.p for name in tested])
    counts = np.concatenate([words[name].shares.counts.sum(axis=1) for name in tested])
    assert counts.min() >= MIN_TESTED
    np.testing.assert_allclose(np.concatenate([adjusted[name].q for name in tested]), benjamini_hochberg(p))
    assert np.isnan(adjusted["single"].q).all()
    assert (words["h"].changes, adjusted["h"].changes) == (["shrank", "grew"], ["kept", "kept"])


def test_shift_compares_the_first_period_with_the_last_and_others_with_the_first() -> None:
    rng = np.random.default_rng(0)
    periods = np.array([1, 3, 1, 5, 3, 5, 5, 1])
    vectors = rng.normal(size=(8, 4))
    old, middle, new = (vectors[periods == period] for period in (1, 3, 5))
    found = usage_shifts(vectors, periods)
    np.testing.assert_array_equal(found[periods == 1], shift(old, new)[0])
    np.testing.assert_array_equal(found[periods == 3], shift(old, middle)[1])
    np.testing.assert_array_equal(found[periods == 5], shift(old, new)[1])
    assert not usage_shifts(vectors, np.zeros(8, int)).any()


def test_shift_is_positive_for_usages_of_a_gained_sense() -> None:
    word = found([[30, 10], [0, 20]])
    gained = [word.shift[row] for row in word.senses[1].rows]
    kept = [word.shift[row] for row in word.senses[0].rows if word.periods[row] == 1]
    assert min(gained) > 0 > max(kept)


def test_part_of_a_divided_sense_is_not_surer_than_the_division() -> None:
    """The q of a part is the larger one of its own and that of the division; other senses keep theirs."""
    plain = found([[30, 10], [0, 20]])
    divided = found([[30, 10], [0, 20]], division_q=np.array([0.04, 0.04]))
    assert plain.q.max() < 0.01
    assert divided.q.tolist() == [0.04, 0.04]
    assert divided.changes == plain.changes == ["shrank", "gained"]
    unsure = found([[30, 10], [0, 20]], division_q=np.array([0.0, 0.2]))
    assert unsure.q.tolist() == [plain.q[0], 0.2]
    assert unsure.changes == ["shrank", "kept"]


def test_no_words_have_no_changes() -> None:
    assert adjust_changes({}, 0.05) == {}


@given(st.lists(st.lists(st.integers(0, 12), min_size=2, max_size=2), min_size=1, max_size=4))
def test_saved_senses_are_read_back(counts: list[list[int]]) -> None:
    counts = sorted([[a + 1, b + 1] for a, b in counts], key=sum, reverse=True)
    word = found(counts, descriptions=[FirstLetters()])
    again: WordSenses = from_plain(WordSenses, json.loads(json.dumps(to_plain(word))))
    assert repr(again) == repr(word)
    assert (again.labels, again.periods, again.shift) == (word.labels, word.periods, word.shift)
    assert set(again.changes) <= set(CHANGES)
    for one, other in zip(word.senses, again.senses, strict=True):
        assert (one.rows, one.counts, one.shares, one.low, one.high) == (
            *(other.rows, other.counts, other.shares),
            *(other.low, other.high),
        )
        assert (one.change, one.description, one.examples) == (other.change, other.description, other.examples)

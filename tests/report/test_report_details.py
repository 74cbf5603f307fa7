"""What the page holds of each word: a bounded choice, packed the same way every time, and opened to the same values."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.report.comparison import allot_usages
from lexshift.report.page import pack_groups, percent

MOST, LEAST, FIRST, USAGES = 150, 6, 100, 60_000
VERDICTS = st.lists(st.sampled_from(["changed", "stable", "too few"]), max_size=60)
JSON = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize("n", [0, 1, 80, 200])
def test_few_words_have_the_most_usages(n: int) -> None:
    assert allot_usages(["stable"] * n) == [MOST] * n


@pytest.mark.parametrize(("n", "even", "first"), [(201, 74, 199), (1_000, 15, 111), (5_000, LEAST, FIRST)])
def test_of_many_words_all_have_some_usages_and_the_first_the_most(n: int, even: int, first: int) -> None:
    given = allot_usages(["stable"] * n)
    assert given == [MOST] * first + [even] * (n - first)


def test_words_that_changed_come_before_those_that_only_rank_high() -> None:
    verdicts = ["stable"] * 60 + ["changed"] * 70 + ["stable"] * 4_870
    given = allot_usages(verdicts)
    assert given[60:130] == [MOST] * 70
    assert given[:30] == [MOST] * 30
    assert set(given[30:60]) == set(given[130:]) == {LEAST}


@pytest.mark.parametrize("n", [1, 150, 201, 500, 2_000, 5_000, 10_000])
@pytest.mark.parametrize("verdict", ["changed", "stable"])
def test_the_usages_of_a_page_are_bounded(n: int, verdict: str) -> None:
    total = 2 * sum(allot_usages([verdict] * n))
    assert total <= max(USAGES, 2 * LEAST * n) + 2 * MOST * FIRST


@given(VERDICTS, st.integers(1, 5_000))
def test_whatever_the_bound_each_word_has_the_least_and_none_more_than_the_most(
    verdicts: Sequence[str], usages: int
) -> None:
    given = allot_usages(verdicts, usages, first_words=3)
    assert len(given) == len(verdicts)
    assert all(LEAST <= n <= MOST for n in given)
    ranked = sorted(range(len(verdicts)), key=lambda i: (verdicts[i] != "changed", i))
    assert [given[i] for i in ranked] == sorted(given, reverse=True)


def opened(starts: list[int], groups: list[str]) -> list[Any]:
    """The values of all groups, each where its group says."""
    values: list[Any] = []
    for start, group in zip(starts, groups, strict=True):
        assert start == len(values)
        values += json.loads(gzip.decompress(base64.b64decode(group)))
    return values


@given(st.lists(JSON, max_size=12), st.integers(1, 60))
def test_what_is_packed_is_there_when_it_is_opened(values: list[Any], size: int) -> None:
    starts, groups = pack_groups(values, size)
    assert json.dumps(opened(starts, groups)) == json.dumps(values)
    assert pack_groups(values, size) == (starts, groups)
    assert not set("".join(groups)) & set("<>&\"'")


def test_groups_are_as_large_as_asked_and_no_value_is_divided() -> None:
    starts, groups = pack_groups(["x" * 10] * 25, size=60)  # twelve bytes each, with their quotes
    assert starts == [0, 5, 10, 15, 20]
    assert len(groups) == 5


def test_half_a_character_is_packed_as_a_question_mark() -> None:
    assert opened(*pack_groups(["a\udcffb"])) == ["a?b"]


@given(st.integers(0, 100), st.floats(0, 0.00999))
def test_a_share_in_per_cent_is_never_more_than_it_is(whole: int, more: float) -> None:
    share = min(whole / 100 + more, 1.0)
    assert percent(whole / 100) == whole
    assert percent(share) <= 100 * share + 1e-6

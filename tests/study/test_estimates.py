"""Test the estimates of a plan: which pairs are scored, and how sizes grow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lexshift.store.plan import StoreContents
from lexshift.study.estimates import estimate_results_bytes, estimate_scoring, pair_sizes
from lexshift.study.settings import Settings

counts = st.lists(st.lists(st.integers(0, 12), min_size=3, max_size=3), min_size=1, max_size=5)


def contents_of(rows: list[list[int]]) -> StoreContents:
    numbers = np.array(rows)
    table = pa.table({"sentence": ["a mouse"] * int(numbers.sum())})
    labels = [{"label": label} for label in "abcdefgh"[: numbers.shape[1]]]
    return StoreContents(table, {f"w{i}": (f"w{i}",) for i in range(len(rows))}, labels, numbers, numbers)


@given(counts, st.permutations("abc"), st.integers(2, 6))
def test_pairs_are_neighbouring_periods_and_those_since_the_first(
    rows: list[list[int]], labels: list[str], least: int
) -> None:
    words = [f"w{i}" for i in range(len(rows))]
    expected = []
    for row in rows:
        enough = [n for n in (row["abc".index(label)] for label in labels) if n >= least]
        pairs = {(i - 1, i) for i in range(1, len(enough))} | {(0, i) for i in range(1, len(enough))}
        expected += [(enough[i], enough[j]) for i, j in pairs]
    found = pair_sizes(contents_of(rows), [*words, "absent"], labels, least)
    assert sorted(found) == sorted(expected)


def test_scoring_takes_longer_for_more_pairs_and_nothing_without_them() -> None:
    settings = Settings(permutations=20, resamples=10, repeats=2)
    none, some = estimate_scoring([], 4, settings), estimate_scoring([(20, 30)] * 5, 4, settings)
    assert 0 < none.low < none.high < some.high
    assert none.low < some.low


def test_results_with_senses_need_more_disk() -> None:
    contents = contents_of([[200, 40, 3]])
    assert 0 < estimate_results_bytes(contents, False) < estimate_results_bytes(contents, True)

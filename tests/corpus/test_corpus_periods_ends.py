"""Test the first and the last period of a corpus: their counts, and searches in some periods only."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus import Reading, passages, read_targets
from lexshift.corpus.periods import count_end_periods, find_in_periods
from lexshift.corpus.word_rule import rule

DATED = Reading(split="lines", date_column="date")
ROWS = st.lists(st.tuples(st.sampled_from(["", "a b", "b c", "c c d"]), st.integers(1990, 1999)), min_size=1)


def write_table(folder: Path, rows: list[tuple[str, int]]) -> Path:
    path = folder / "news.jsonl"
    path.write_text("".join(json.dumps({"text": text, "date": str(year)}) + "\n" for text, year in rows), "utf-8")
    return path


@given(ROWS)
def test_first_and_last_period_are_counted_by_themselves(rows: list[tuple[str, int]]) -> None:
    years = sorted({year for text, year in rows if text})
    expected = {
        str(end): dict(sorted(Counter(word for text, year in rows if year == end for word in text.split()).items()))
        for end in [*years[:1], *years[-1:]]
    }
    with TemporaryDirectory() as folder:
        path = write_table(Path(folder), rows)
        for block in (1, 1 << 20):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(passages, "BLOCK", block)
                counted = count_end_periods(path, rule("word"), "year", DATED)
            assert {period: counts.counts for period, counts in counted.items()} == expected
            assert list(counted) == list(expected)


def test_only_some_periods_are_searched(tmp_path: Path) -> None:
    path = write_table(tmp_path, [(f"A mouse in {year}.", year) for year in (1990, 1991, 1992)])
    targets = read_targets(["mouse"])
    found = find_in_periods(path, targets, "year", DATED)
    some = find_in_periods(path, targets, "year", DATED, only=["1990", "1992"])
    assert list(some) == ["1990", "1992"]
    assert [some[period].table.to_pylist() for period in some] == [found[period].table.to_pylist() for period in some]

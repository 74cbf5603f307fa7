"""Test one corpus divided at a day: each part equals a corpus of its own; and columns of dates found by their names."""

from __future__ import annotations

import csv
import datetime
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from lexshift import UserError
from lexshift.corpus import Occurrences, Reading, find_occurrences, passages, read_targets
from lexshift.corpus.counting import count_words
from lexshift.corpus.dated_corpus import check_first_dates, find_date_column, split_labels, split_readings
from lexshift.corpus.periods import find_in_periods
from lexshift.corpus.sources import find_sources
from lexshift.corpus.tables import column_names
from lexshift.corpus.word_rule import rule

TARGETS = read_targets(["mouse", "cell"])
DATED = Reading(split="lines", date_column="date", language="en")
SPLIT = "2020-03-01"


def jsonl(path: Path, rows: Sequence[tuple[str, Any]], column: str = "date") -> Path:
    path.write_text("".join(json.dumps({"text": text, column: date}) + "\n" for text, date in rows), "utf-8")
    return path


def places(found: Occurrences) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = found.table.select(["target", "line", "date", "sentence", "priority"]).to_pylist()
    return rows


# ------------------------------------------------------------------------------------------------------------ two parts


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a mouse ran", "a cell, a mouse and a cell", "no target"]),
            st.sampled_from(
                ["2019", "2020", "2020-03", "Feb 29, 2020", "1583020799", 1583020800, None, "never", "31.12.2021"]
            ),
        ),
        max_size=40,
    ),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([1, 40, 1 << 20]),
)
def test_each_part_equals_a_corpus_of_that_part_alone(
    rows: list[tuple[str, Any]], most: int | None, block: int
) -> None:
    rows = [("a mouse", "2020-02-29"), *rows, ("a cell", "2020-03-01T00:00:00Z")]
    is_before = {"2019": True, "Feb 29, 2020": True, "1583020799": True, "2020-02-29": True}
    is_before |= {"2020-03": False, "1583020800": False, "31.12.2021": False, "2020-03-01T00:00:00Z": False}
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(passages, "BLOCK", block)
        path = jsonl(Path(name, "news.jsonl"), rows)
        readings = split_readings(path, SPLIT, DATED)
        found = [find_occurrences(path, TARGETS, reading, most, 5) for reading in readings]
        for ours, reading, side in zip(found, readings, (True, False), strict=True):
            # The same records alone, at the same lines of a file of the same name.
            alone = [(text if is_before.get(str(date)) is side else "", date) for text, date in rows]
            other = Path(name, str(side))
            other.mkdir()
            theirs = find_occurrences(jsonl(other / "news.jsonl", alone), TARGETS, DATED, most, 5)
            assert places(ours) == places(theirs)
            assert (ours.tally.words, ours.tally.files) == (theirs.tally.words, 1)
            counted = [count_words(p, rule("word"), r) for p, r in ((path, reading), (other, DATED))]
            assert counted[0] == counted[1]
        # Records of neither part are counted once.
        dates = [date for _, date in rows]
        undated, unclear = dates.count(None), dates.count("2020") + dates.count("never")
        reasons = {
            "records without a date, of both periods": undated,
            f"records with a date that is not valid or on both sides of {SPLIT}, of both periods": unclear,
        }
        skipped = [{r: n for r, n in part.tally.skipped.items() if r.startswith("records")} for part in found]
        assert skipped == [{reason: n for reason, n in reasons.items() if n}, {}]


def test_text_files_belong_to_the_part_of_their_names(tmp_path: Path) -> None:
    for name in ("2019.txt", "2020-02.txt", "2020-03.txt", "2021/a.txt", "2020.txt", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"a mouse of {name[:4]}\n")
    old, new = (
        find_occurrences(tmp_path, TARGETS, part) for part in split_readings(tmp_path, SPLIT, Reading(language="en"))
    )
    assert old.table["file"].to_pylist() == ["2019.txt", "2020-02.txt"]
    assert new.table["file"].to_pylist() == ["2020-03.txt", "2021/a.txt"]
    assert (old.tally.files, new.tally.files) == (2, 2)
    assert old.tally.skipped == {
        "files without a date in their names, of both periods": 1,
        f"files with a date on both sides of {SPLIT}, of both periods": 1,
    }
    assert not new.tally.skipped


@pytest.mark.parametrize(
    ("dates", "message"),
    [
        (["2019-01-02", "2020-02"], "is dated from 2020-03-01: its dates are from 2019-01-02 to 2020-02-29; choose"),
        (["2020-03-01", "2021"], "is dated before 2020-03-01: its dates are from 2020-03-01 to 2021-12-31; choose"),
        (
            ["2020"],
            "before 2020-03-01 or from 2020-03-01: its dates are from 2020-01-01 to 2020-12-31; .*precise enough",
        ),
        ([None], r"has no dates \(there is none in the column 'date'\): name the column"),
        (["never"], r"cannot be divided at 2020-03-01, because it has no dates \('never' is none\)"),
        (["2020-03-01", "03/04/2020"], "the date '03/04/2020' in record 2 of 'news.jsonl' may be .*--date-order"),
    ],
)
def test_corpus_that_cannot_be_divided_is_refused(tmp_path: Path, dates: list[Any], message: str) -> None:
    path = jsonl(tmp_path / "news.jsonl", [("a mouse", date) for date in dates])
    with pytest.raises(UserError, match=message):
        split_readings(path, SPLIT, DATED)


def test_files_without_dates_in_their_names_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a mouse\n")
    with pytest.raises(UserError, match=r"has no dates \(no file has a date in its name\)"):
        split_readings(tmp_path, SPLIT, Reading())


def test_order_divides_ambiguous_dates(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "news.jsonl", [("a mouse", "02/03/2020"), ("a cell", "03/02/2020")])
    for order, words in (("DMY", ["cell", "mouse"]), ("MDY", ["mouse", "cell"])):
        parts = split_readings(path, SPLIT, replace(DATED, date_order=order))
        found = [find_occurrences(path, TARGETS, part).found.tolist() for part in parts]
        assert [TARGETS.words[counts.index(1)] for counts in found] == words


def test_first_dates_are_checked_before_the_corpus_is_read(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "news.jsonl", [("a mouse", "2020-03-01"), ("a cell", "03/02/2020")])
    with pytest.raises(UserError, match=r"'03/02/2020' in record 2 of 'news\.jsonl'"):
        check_first_dates(path, "week", DATED)
    check_first_dates(path, "year", DATED)
    check_first_dates(path, "month", replace(DATED, date_order="DMY"))


def test_names_of_the_parts_sort_by_time() -> None:
    assert sorted(split_labels(SPLIT)) == list(split_labels(SPLIT)) == ["before 2020-03-01", "from 2020-03-01"]


# -------------------------------------------------------------------------------------------------------------- columns


@pytest.mark.parametrize("column", ["date", "Date", "created_at", "YEAR", "timestamp", "time"])
def test_only_column_with_the_name_of_a_date_is_used(tmp_path: Path, column: str) -> None:
    path = jsonl(tmp_path / "news.jsonl", [("a mouse", "1999")], column)
    for by, split_at in (("year", None), (None, SPLIT)):
        reading, note = find_date_column(path, Reading(), by, split_at)
        assert reading == Reading(date_column=column)
        assert (
            note == f"dates are read from the column {column!r}; name another one with --date-column if this is wrong"
        )


def test_column_is_sought_only_if_it_is_needed(tmp_path: Path) -> None:
    named = Reading(date_column="when")
    path = jsonl(tmp_path / "1999.jsonl", [("a mouse", "1999")])
    assert find_date_column(path, named, "year", None) == (named, None)
    assert (
        find_date_column(path, Reading(), "year", None)[0].date_column == "date"
    )  # one file is not divided by its name
    jsonl(tmp_path / "2001.jsonl", [("a mouse", "2001")])
    assert find_date_column(tmp_path, Reading(), "year", None) == (Reading(), None)
    assert find_date_column(tmp_path, Reading(), None, "2000-01-01") == (Reading(), None)
    assert find_date_column(tmp_path, Reading(), "month", None)[0].date_column == "date"  # years are not precise enough
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("a mouse\n")
    assert find_date_column(tmp_path / "texts", Reading(), "year", None) == (Reading(), None)


def test_candidates_are_listed_unless_there_is_one(tmp_path: Path) -> None:
    path = tmp_path / "news.csv"
    path.write_text("date,year,text\n1999,1999,a mouse\n")
    with pytest.raises(
        UserError, match=r"several columns of '.*news.csv' may hold the dates: 'date', 'year'; choose one"
    ):
        find_date_column(path, Reading(), "year", None)
    assert find_date_column(path, Reading(text_column="year"), "year", None)[0].date_column == "date"
    path.write_text("when,text\n1999,a mouse\n")
    with pytest.raises(UserError, match=r"name one of 'when', 'text' with --date-column"):
        find_date_column(path, Reading(), "year", None)


def test_standard_input_has_no_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", type("Pipe", (), {"isatty": lambda _: False})())
    with pytest.raises(UserError, match="standard input has no dates"):
        find_date_column("-", Reading(), None, SPLIT)


def test_names_of_columns_are_those_of_every_format(tmp_path: Path) -> None:
    names = ["text", "a, b", "date"]
    jsonl_path, csv_path, tsv_path, parquet_path = (
        tmp_path / f"x.{kind}" for kind in ("jsonl", "csv", "tsv", "parquet")
    )
    jsonl_path.write_text("\n" + json.dumps(dict.fromkeys(names, "1")) + "\n{}\n")
    with csv_path.open("w", newline="") as file:
        csv.writer(file).writerows([names, ["1"] * 3])
    tsv_path.write_text("\t".join(names) + "\n1\t1\t1\n")
    parquet.write_table(pa.table({name: ["1"] for name in names}), parquet_path)
    for path in (jsonl_path, csv_path, tsv_path, parquet_path):
        assert column_names(find_sources(path)[0], Reading()) == names
        path.write_bytes(b"")
        assert column_names(find_sources(path)[0], Reading()) == []


def test_parquet_dates_divide_a_corpus(tmp_path: Path) -> None:
    moments = [datetime.datetime(2020, 2, 29, 23, 59), datetime.datetime(2020, 3, 1)]
    for kind in (pa.timestamp("ns"), pa.timestamp("ms", "UTC"), pa.date32()):
        path = tmp_path / "x.parquet"
        parquet.write_table(pa.table({"text": ["a mouse", "a cell"], "date": pa.array(moments, kind)}), path)
        parts = split_readings(path, SPLIT, DATED)
        assert [find_occurrences(path, TARGETS, part).found.tolist() for part in parts] == [[1, 0], [0, 1]]


def tei_file(path: Path, text: str, date: str = "") -> None:
    header = f"<teiHeader><sourceDesc><date when='{date}'/></sourceDesc></teiHeader>" if date else ""
    path.write_text(f"<TEI>{header}<text><p>{text}</p></text></TEI>", "utf-8")


def test_documents_have_dates_of_their_own_or_of_their_names(tmp_path: Path) -> None:
    tei_file(tmp_path / "a.xml", "An old mouse.", "1851-03-02")
    tei_file(tmp_path / "b-1905.xml", "A mouse and a mouse.")
    tei_file(tmp_path / "c-1905.xml", "One mouse, two mouse, a third mouse.", "1862")
    tei_file(tmp_path / "d.xml", "A mouse without a date.")
    found = find_in_periods(tmp_path, read_targets(["mouse"]), "decade")
    assert {period: part.found.tolist() for period, part in found.items()} == {"1850s": [1], "1860s": [3], "1900s": [2]}
    assert found["1850s"].tally.skipped == {"records without a date, of all periods": 1}
    before, since = split_readings(tmp_path, "1860-01-01", Reading())
    assert find_occurrences(tmp_path, read_targets(["mouse"]), before).found.tolist() == [1]
    assert find_occurrences(tmp_path, read_targets(["mouse"]), since).found.tolist() == [5]

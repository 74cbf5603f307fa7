"""Test one corpus split into periods by dates or file names, each like a separate corpus."""

from __future__ import annotations

import csv
import datetime
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from lexshift import UserError, embed
from lexshift.corpus import Occurrences, Reading, find_occurrences, occurrences, passages, read_targets
from lexshift.corpus.dates import UNITS
from lexshift.corpus.periods import find_in_periods, month_of, period_of, period_of_file

TARGETS = read_targets(["mouse", "cell"])
DATED = Reading(split="lines", date_column="date")
COLUMNS = ["target", "file", "line", "sentence", "start", "end", "priority"]


class Toy:
    """Encoder that counts the usages it encodes."""

    def __init__(self) -> None:
        self.settings = {"model": "toy"}
        self.n_encoded = 0

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        self.n_encoded += len(sentences)
        keys = [
            hashlib.blake2b(f"{s}{span}".encode(), digest_size=4).digest()
            for s, span in zip(sentences, spans, strict=True)
        ]
        return np.array([np.frombuffer(key, np.int8) for key in keys], np.float32)


def table(folder: Path, rows: Sequence[tuple[str, Any]], name: str = "news.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps({"text": text, "date": date}) + "\n" for text, date in rows), "utf-8")
    return path


def values(found: Occurrences) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = found.table.select(COLUMNS).to_pylist()
    return rows


@pytest.mark.parametrize(
    ("date", "decade", "year", "month"),
    [
        ("1999", "1990s", "1999", None),
        ("1999.0", "1990s", "1999", None),
        (" 1850 ", "1850s", "1850", None),
        ("1999-07", "1990s", "1999", "1999-07"),
        ("1999-07-31", "1990s", "1999", "1999-07"),
        ("19990731", "1990s", "1999", "1999-07"),
        ("1999/07/31", "1990s", "1999", "1999-07"),
        ("1999-07-31T23:59:59+02:00", "1990s", "1999", "1999-07"),
        ("1999-07-31 00:00:00", "1990s", "1999", "1999-07"),
        ("0987-01-01", "0980s", "0987", "0987-01"),
        ("1999-13", None, None, None),
        ("1999-02-30", None, None, None),
        ("1999-07/31", None, None, None),
        ("0000", None, None, None),
        ("31.7.1999", "1990s", "1999", "1999-07"),
        ("July 1999", "1990s", "1999", "1999-07"),
        ("1625097600", "2020s", "2021", "2021-07"),
        ("7.8.1999", "1990s", "1999", None),
        ("", None, None, None),
        (None, None, None, None),
    ],
    ids=str,
)
def test_date_is_assigned_to_its_period(
    date: str | None, decade: str | None, year: str | None, month: str | None
) -> None:
    assert [period_of(date, by) for by in ("decade", "year", "month")] == [decade, year, month]


@given(st.datetimes(min_value=datetime.datetime(1, 1, 1)), st.sampled_from(["%Y-%m-%d", "%Y%m%d", "%Y-%m-%dT%H:%M"]))
def test_every_day_belongs_to_its_month(moment: datetime.datetime, form: str) -> None:
    text = moment.strftime(form).rjust(len(datetime.datetime(2000, 1, 1).strftime(form)), "0")  # years below 1000
    assert period_of(text, "month") == f"{moment.year:04}-{moment.month:02}"
    assert period_of(text, "year") == f"{moment.year:04}"
    assert period_of(text, "decade") == f"{moment.year // 10:03}0s"
    assert month_of(f"{moment.year:04}-{moment.month:02}") == (moment.year, moment.month)


@given(st.text(max_size=12))
def test_any_text_is_parsed_as_a_date_or_none(text: str) -> None:
    assert all(period_of(text, by) is None or period_of(text, by) for by in UNITS)


@pytest.mark.parametrize(
    ("name", "year", "month"),
    [
        ("1850s.txt", None, None),  # a decade has no year
        ("1850.txt", "1850", None),
        ("news_2001-07-31.txt.gz", "2001", "2001-07"),
        ("news20010731.txt", "2001", "2001-07"),
        ("1999-2003.txt", "1999", None),
        ("2001/07.txt", "2001", None),
        ("2001-07/part1.txt", "2001", "2001-07"),
        ("1999/2001.txt", "2001", None),
        ("page12345.txt", None, None),
        ("0999.txt", None, None),
        ("2100.txt", None, None),
        ("notes.txt", None, None),
    ],
)
def test_file_is_assigned_to_the_period_in_its_name(name: str, year: str | None, month: str | None) -> None:
    assert (period_of_file(name, "year"), period_of_file(name, "month")) == (year, month)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a mouse ran", "a cell, a mouse and a cell", "no target", "Mouse! mouse?"]),
            st.sampled_from(["1987", "1999-07", "2001-01-02", "2001-12", None, "unknown"]),
        ),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([1, 40, 1 << 20]),
    st.sampled_from(["decade", "year"]),
)
def test_each_period_equals_a_corpus_of_that_period_alone(
    rows: list[tuple[str, str | None]], most: int | None, block: int, by: str
) -> None:
    rows = [("a mouse", "1987-03-04"), *rows]
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setattr(passages, "BLOCK", block)
        patch.setattr(occurrences, "SLACK", 5)  # samples are pruned during reading
        found = find_in_periods(table(folder, rows), TARGETS, by, DATED, most, 5)
        assert list(found) == sorted({label for _, date in rows if (label := period_of(date, by))})
        for label, ours in found.items():
            # The same records alone at the same positions.
            alone = table(folder, [(text if period_of(date, by) == label else "", date) for text, date in rows])
            expected = find_occurrences(alone, TARGETS, DATED, most, 5)
            assert values(ours) == values(expected)
            assert ours.table["date"].to_pylist() == expected.table["date"].to_pylist()
            assert ours.found.tolist() == expected.found.tolist()
            assert (ours.tally.words, ours.tally.passages) == (expected.tally.words, expected.tally.passages)
    left_out = sum(
        n for reason, n in found["1980s" if by == "decade" else "1987"].tally.skipped.items() if "date" in reason
    )
    assert left_out == sum(period_of(date, by) is None for _, date in rows)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_all_tables_are_split_into_periods(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"news.{kind}"
    texts, dates = ["a mouse", "my mouse", "the mouse"], ["2001-07-01", "1999-01-31", "2001-07-02"]
    if kind == "parquet":
        days = [datetime.date.fromisoformat(date) for date in dates]
        parquet.write_table(pa.table({"text": texts, "date": days}), path)
    else:
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter="," if kind == "csv" else "\t").writerows(
                [("date", "text"), *zip(dates, texts, strict=True)]
            )
    found = find_in_periods(path, TARGETS, "month", DATED)
    assert {label: [row["line"] for row in values(part)] for label, part in found.items()} == {
        "1999-01": [2],
        "2001-07": [1, 3],
    }


def test_digits_of_any_script_give_the_same_periods_in_order(tmp_path: Path) -> None:
    dates = ["2001-07", "٢٠٠٠-٠٨", "२००१-०७", "１９９９-12", "2000-80", "2000-08"]
    assert [period_of(date, "month") for date in dates] == ["2001-07", "2000-08", "2001-07", "1999-12", None, "2000-08"]
    assert [period_of(date, "decade") for date in dates] == ["2000s", "2000s", "2000s", "1990s", None, "2000s"]
    assert period_of_file("news-1९९९.txt", "year") == "1999"
    path = tmp_path / "x.tsv"
    path.write_text("date\ttext\n" + "".join(f"{date}\ta mouse\n" for date in dates), "utf-8")
    found = find_in_periods(path, read_targets(["mouse"]), "year", Reading(date_column="date"))
    assert {label: part.found.tolist() for label, part in found.items()} == {"1999": [1], "2000": [2], "2001": [2]}
    assert list(found) == ["1999", "2000", "2001"]


def test_text_files_are_assigned_by_their_names(tmp_path: Path) -> None:
    for name, text in {
        "1987.txt": "a mouse\n",
        "1985.txt": "my mouse\na cell\n",
        "x.txt": "mouse\n",
        "2001/a.txt": "mouse\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    recorder: list[tuple[int, int]] = []
    found = find_in_periods(
        tmp_path, TARGETS, "decade", Reading(split="lines"), progress=lambda *at: recorder.append(at)
    )
    assert {label: [row["file"] for row in values(part)] for label, part in found.items()} == {
        "1980s": ["1985.txt", "1987.txt", "1985.txt"],
        "2000s": ["2001/a.txt"],
    }
    assert found["1980s"].tally.files == 2
    assert dict(found["1980s"].tally.skipped) == {"files without a year in their names, of all periods": 1}
    assert recorder[-1] == (36, 36)


def test_wrapped_text_keeps_its_line_numbers(tmp_path: Path) -> None:
    (tmp_path / "1987.txt").write_text("One long paragraph that\nhas a mouse in it.\n\nAnother\nmouse.\n")
    (row, other) = values(find_in_periods(tmp_path, TARGETS, "year", Reading(split="wrapped"))["1987"])
    assert (row["line"], other["line"]) == (2, 5)
    assert row["sentence"] == "One long paragraph that has a mouse in it."


@pytest.mark.parametrize(
    ("rows", "column", "message"),
    [
        (
            [("a mouse", "long ago")],
            "date",
            r"no date .* has a valid year, for example 'long ago': write dates for example as 1999",
        ),
        ([("a mouse", None)], "date", "no record of .* has a date in the column 'date'"),
        ([("a mouse", "1999")], None, "no file of .* has a year or a date in its name: give the column"),
        ([("", "1999")], "date", "is empty: there is no word in it"),
        ([("a mouse", "1999")], "when", "no record of .* has a date in the column 'when'"),
    ],
    ids=["other dates", "no dates", "no column", "no text", "another column"],
)
def test_corpus_without_periods_is_reported(
    tmp_path: Path, rows: list[tuple[str, Any]], column: str | None, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        find_in_periods(table(tmp_path, rows), TARGETS, "year", Reading(split="lines", date_column=column))


def test_unknown_period_units_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="by must be one of decade, month, quarter, week, year"):
        find_in_periods(table(tmp_path, [("a mouse", "1999")]), TARGETS, "day", DATED)


def test_store_of_periods_is_extended_and_kept_separate(tmp_path: Path) -> None:
    rows = [(f"a mouse {i} and a cell {i}", f"{1985 + i}") for i in range(30)]
    corpus, store, toy = table(tmp_path, rows), tmp_path / "store", Toy()
    options: dict[str, Any] = {"model": toy, "out": store, "date_column": "date", "split": "lines"}
    first = embed(corpus, words=["mouse"], by="decade", **options)
    assert (first.corpora, toy.n_encoded) == (["1980s", "1990s", "2000s", "2010s"], 30)
    assert first.counts.loc["mouse"].tolist() == [5, 10, 10, 5]
    assert first.settings["by"] == "decade"
    embed(corpus, words=["mouse"], by="decade", **options)
    assert toy.n_encoded == 30
    both = embed(corpus, words=["mouse", "cell"], by="decade", **options)
    assert (len(both), toy.n_encoded) == (2, 60)
    with pytest.raises(UserError, match="was made with by 'decade', not 'year'"):
        embed(corpus, words=["mouse"], by="year", **options)
    with pytest.raises(UserError, match="was made with by 'decade', not None"):
        embed(corpus, words=["mouse"], **options)
    table(tmp_path, [*rows, ("one more mouse", "1999")])
    with pytest.raises(UserError, match="is not the one that the store"):
        embed(corpus, words=["mouse"], by="decade", **options)


def test_periods_require_a_single_corpus(tmp_path: Path) -> None:
    corpus = table(tmp_path, [("a mouse", "1999")])
    with pytest.raises(UserError, match="cuts one corpus into periods, which have their names; got 2 corpora"):
        embed(corpus, corpus, words=["mouse"], model=Toy(), by="year")
    with pytest.raises(UserError, match="by must be one of"):
        embed(corpus, words=["mouse"], model=Toy(), by="day")


def test_standard_input_has_no_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", type("Pipe", (), {"isatty": lambda _: False})())
    with pytest.raises(UserError, match="standard input has no dates"):
        find_in_periods("-", TARGETS, "year")

"""Fast ways of reading large tables and many small files give what the definition gives, row by row."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

from lexshift.corpus import find_occurrences, passages, periods, read_targets, tables
from lexshift.corpus.dates import DateReader, arrow_dates, date_text
from lexshift.corpus.decoding import open_source, read_small_text, utf8_lines
from lexshift.corpus.formats import running_text
from lexshift.corpus.layout import layout
from lexshift.corpus.normal_form import normalise
from lexshift.corpus.passages import Block, process_blocks, read_blocks
from lexshift.corpus.periods import find_in_periods
from lexshift.corpus.sources import Reading, Source, Tally, find_sources
from lexshift.errors import UserError

BREAKS = "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"
TEXTS = st.text(st.sampled_from("ab é日🐁e\u0301\u00ad\x1f" + BREAKS), max_size=12)
DAYS = st.dates(datetime.date(1990, 1, 1), datetime.date(1990, 2, 5))
KINDS = [
    pa.string(),
    pa.large_string(),
    pa.date32(),
    pa.date64(),
    pa.int64(),
    pa.float64(),
    *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
    pa.timestamp("us", "Asia/Tokyo"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fast")


def as_column(days: list[datetime.date | None], kind: pa.DataType, is_dictionary: bool) -> pa.Array:
    """Return days as an Arrow column of some type."""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = pa.array([day and str(day) for day in days], kind)
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        column = pa.array([day and day.year for day in days], kind)
    else:
        column = pa.array(days, pa.date32()).cast(pa.timestamp("s") if pa.types.is_timestamp(kind) else kind)
        column = column.cast(kind)
    return column.dictionary_encode() if is_dictionary else column


def text_of(scalar: Any) -> str | None:
    """Return the text of one date of an Arrow column."""
    if pa.types.is_dictionary(scalar.type):
        scalar = scalar.value if scalar.is_valid else pa.scalar(None)
    is_temporal = pa.types.is_temporal(scalar.type)
    return date_text((scalar.cast(pa.string()) if is_temporal else scalar).as_py())


ROWS = st.lists(
    st.tuples(st.none() | TEXTS, st.none() | DAYS, st.none() | st.sampled_from(["Emma", "", "日"])), max_size=9
)


@given(
    ROWS, st.sampled_from(KINDS), st.booleans(), st.booleans(), st.integers(1, 4), st.integers(1, 4), st.integers(1, 40)
)
def test_parquet_blocks_have_the_lines_of_their_rows(
    folder: Path,
    rows: list[tuple[str | None, datetime.date | None, str | None]],
    kind: pa.DataType,
    is_dictionary: bool,
    with_documents: bool,
    group: int,
    at_a_time: int,
    block: int,
) -> None:
    texts, days, documents = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    dates = as_column(days, kind, is_dictionary)
    table = pa.table({"text": pa.array(texts, pa.string()), "date": dates, "book": pa.array(documents, pa.string())})
    parquet.write_table(table, folder / "x.parquet", row_group_size=group)
    reading = Reading(date_column="date", document_column="book" if with_documents else None)
    (source,), tally = find_sources(folder / "x.parquet"), Tally()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_ROWS", at_a_time)
        patch.setattr(passages, "BLOCK", block)
        blocks = list(read_blocks(source, reading, tally))
    stored = parquet.read_table(folder / "x.parquet")["date"].combine_chunks()
    chosen = [i for i, text in enumerate(texts) if text is not None]
    lines = [normalise(re.sub(f"[{BREAKS}]+", " ", texts[i])) for i in chosen]
    assert [line for each in blocks for line in each.data.decode().split("\n")] == lines
    assert [row for each in blocks for row in each.rows or ()] == [i + 1 for i in chosen]
    assert [date for each in blocks for date in each.dates or ()] == [text_of(stored[i]) for i in chosen]
    named = [documents[i] or f"x.parquet, record {i + 1}" for i in chosen] if with_documents else []
    assert [name for each in blocks for name in each.documents or ()] == named
    assert all(each.data.decode().count("\n") == len(each.rows or ()) - 1 for each in blocks)
    assert tally.skipped["records without a text"] == len(rows) - len(chosen)


def test_soft_hyphen_at_the_end_of_a_record_is_removed(tmp_path: Path) -> None:
    texts = ["They boarded the plane\u00ad", "\u00ad", "A co\u00adoperation began."]
    parquet.write_table(pa.table({"text": texts}), tmp_path / "x.parquet")
    (source,) = find_sources(tmp_path / "x.parquet")
    (block,) = read_blocks(source, Reading(), Tally())
    assert block.data.decode().split("\n") == ["They boarded the plane", "", "A cooperation began."]


def test_long_parquet_text_is_read_whole(tmp_path: Path) -> None:
    long = "a mouse\u2028" * 300_000
    parquet.write_table(pa.table({"text": ["a", long, None, "b"]}), tmp_path / "x.parquet")
    (source,) = find_sources(tmp_path / "x.parquet")
    lines = [line for block in read_blocks(source, Reading(), Tally()) for line in block.data.split(b"\n")]
    assert lines == [b"a", b"a mouse " * 300_000, b"b"]


@pytest.mark.parametrize("before", [[], [None]])
def test_row_of_invalid_text_is_named_or_its_bytes_are_replaced(tmp_path: Path, before: list[None]) -> None:
    texts = pa.array([*before, b"a", b"b\xff", b"c"], pa.binary())
    parquet.write_table(pa.table({"text": texts.view(pa.string())}), tmp_path / "x.parquet")
    (source,) = find_sources(tmp_path / "x.parquet")
    with pytest.raises(UserError, match=f"is not UTF-8 at row {len(before) + 2}; pass --errors replace"):
        list(read_blocks(source, Reading(), Tally()))
    (block,) = read_blocks(source, Reading(errors="replace"), Tally())
    assert block.data.decode() == "a\nb\ufffd\nc"


@given(st.lists(st.none() | DAYS), st.sampled_from(KINDS), st.booleans())
def test_arrow_values_are_those_of_each_row(days: list[datetime.date | None], kind: Any, is_dictionary: bool) -> None:
    column = as_column(days, kind, is_dictionary)
    assert [date_text(value) for value in arrow_dates(column)] == [text_of(value) for value in column]


# ------------------------------------------------------------------------------------------------------------- dates

WRITTEN = DAYS.map(str) | st.tuples(DAYS.map(str), st.sampled_from("TZ x"), TEXTS).map("".join)
OTHERS = st.sampled_from(
    ["1990", "3 Mar 1990", "3 Mar 1990 ", "3 Mar 1990 at", "3 Mar 1990 12:00", "1990-13-01 ", "637000000"]
)


@given(st.lists(st.none() | WRITTEN | OTHERS), st.sampled_from(["auto", "DMY"]), st.integers(1, 5))
@example(["3 Mar 1990 ", "3 Mar 1990 at"], "auto", 1)
@example(["1990-01-01 12:00", "1990-01-01 13:00", "1990-01-01x"], "auto", 9)
def test_periods_of_many_dates_are_those_of_each(dates: list[str | None], order: str, size: int) -> None:
    many, one = (DateReader(lambda date: date.period("month"), order) for _ in range(2))
    expected = [None if text is None else one.period(text, "x.csv", 1) for text in dates]
    parts = [dates[i : i + size] for i in range(0, len(dates), size)]
    assert [period for part in parts for period in many.periods(part, "x.csv", [1] * len(part))] == expected


def test_ambiguous_date_among_many_is_refused_with_its_row() -> None:
    reader = DateReader(lambda date: date.period("month"), "auto")
    with pytest.raises(UserError, match=r"'03/04/2020' in record 9 of 'x.csv' may be"):
        reader.periods(["2020-01-01", None, "03/04/2020"], "x.csv", [7, 8, 9])


@pytest.mark.parametrize("size", [1, 100, 1 << 24])
def test_division_into_periods_does_not_depend_on_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    rows = [
        f"{1990 + i % 3}-0{1 + i % 7}-01,{'a mouse' if i % 2 else 'the cat and a mouse'} {i},book {i % 4}"
        for i in range(90)
    ]
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("\n".join(["date,text,book", *rows]))
    monkeypatch.setattr(passages, "BLOCK", 50)
    monkeypatch.setattr(periods, "_DIVIDED", size)
    reading = Reading(date_column="date", document_column="book")
    found = find_in_periods(tmp_path, read_targets("mouse,cat"), "month", reading)
    assert len(found) == 21
    for label, occurrences in found.items():
        chosen = [i for i in range(90) if rows[i].startswith(label)]
        table = occurrences.table.to_pydict()
        mice = [i for i, target in enumerate(table["target"]) if target == 0]
        assert [(table["file"][i], table["line"][i], table["document"][i]) for i in mice] == [
            (f"{name}.csv", i + 1, f"book {i % 4}") for name in "ab" for i in chosen
        ]
        assert occurrences.tally.passages == 2 * len(chosen)
        assert (occurrences.tally.files, sum(occurrences.tally.splits.values())) == (2, 2)


# ------------------------------------------------------------------------------------------------------- small files

PARTS = [
    "a mouse",
    "\n",
    "\r\n",
    "\r",
    " ",
    "é",
    "e\u0301",
    "\0",
    "\ufeff",
    "<p>",
    "</p>",
    "{\\rtf",
    "%PDF-",
    "PK\x03\x04",
]
DATA = st.lists(
    st.sampled_from([*(part.encode() for part in PARTS), b"\xff", b"\xe9", b"\x1f\x8b", b"(\xb5/\xfd"])
).map(b"".join)


def read_generally(source: Source, reading: Reading, tally: Tally) -> Iterator[bytes]:
    with open_source(source, tally) as stream:
        yield from utf8_lines(stream, source, reading, tally)


@given(DATA | st.binary(max_size=30), st.sampled_from(["auto", "utf-8", "utf-8-sig", "latin-1", "utf-16"]))
@example(b"a mouse\r\nb", "auto")
@example(" \ufeff<html>".encode(), "utf-8")
@example("Über die Maus".encode(), "auto")
@example(b"", "auto")
def test_small_file_is_read_as_any_other(folder: Path, data: bytes, encoding: str) -> None:
    path = folder / "small.txt"
    path.write_bytes(data)
    (source,), reading = find_sources(path), Reading(encoding)
    general, fast = Tally(), Tally()
    pieces = read_small_text(source, reading, fast)
    if pieces is not None:
        assert pieces == list(read_generally(source, reading, general))
    assert fast == (general if pieces is not None else Tally())


def test_small_plain_files_take_the_fast_way(tmp_path: Path) -> None:
    for data in (b"a mouse\n", "zwei Mäuse\r\nund mehr".encode()):
        (tmp_path / "x.txt").write_bytes(data)
        (source,) = find_sources(tmp_path / "x.txt")
        assert read_small_text(source, Reading(), Tally()) is not None
    assert read_small_text(source, Reading("cp1252"), Tally()) is None
    (tmp_path / "x.txt").write_bytes(b"it has grown since\n")
    tally = Tally()
    assert read_small_text(source, Reading(), tally) is None
    os.remove(tmp_path / "x.txt")
    assert read_small_text(source, Reading(), tally) is None
    assert tally == Tally()


def test_occurrences_in_small_files_do_not_depend_on_the_way_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(40):
        path = tmp_path / f"{1990 + i % 3}" / f"{i:02}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("A cat.\n" * (i % 4) + "The mouse hid." + ("\n" if i % 2 else "\nA mouse"), newline="")
    targets, readings = read_targets("mouse"), (Reading(), Reading(before="1992-01-01"), Reading(since="1992-01-01"))
    fast = [find_occurrences(tmp_path, targets, reading) for reading in readings]
    monkeypatch.setattr(passages, "read_small_text", lambda *_: None)
    monkeypatch.setattr(passages, "_GROUP", 1)
    for reading, expected in zip(readings, fast, strict=True):
        found = find_occurrences(tmp_path, targets, reading)
        assert found.table.equals(expected.table)
        assert (found.tally, found.content) == (expected.tally, expected.content)
    assert fast[0].tally.files == fast[1].tally.files + fast[2].tally.files == 40


@given(st.lists(st.binary(max_size=9)), st.integers(1, 30))
def test_blocks_are_processed_in_order_in_groups_of_any_size(data: list[bytes], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passages, "_GROUP", size)
        found = list(process_blocks((Block(each, "lines") for each in data), lambda block: len(block.data)))
    assert [(block.data, n) for block, n in found] == [(each, len(each)) for each in data]


def test_files_of_the_current_folder_have_plain_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b").mkdir()
    for name in ("a.txt", "b/c.CSV.gz", "b/.hidden", "b/d.txt."):
        (tmp_path / name).write_bytes(b"text\n")
    monkeypatch.chdir(tmp_path)
    expected = [("a.txt", "text"), ("b/c.CSV.gz", "csv"), ("b/d.txt.", "text")]
    for corpus in (".", "./", str(tmp_path), "../" + tmp_path.name):
        sources = find_sources(corpus)
        assert [(source.name, source.kind) for source in sources] == expected
        assert [source.path for source in sources] == [str(Path(corpus, name)) for name, _ in expected]


# ------------------------------------------------------------------------------------------- layout and white space

SENTENCE_END = re.compile(r"[.!?…]['\")\]»”’]*\s+['\"(\[«“‘¿¡]*[^\W\d_a-zß-öø-ÿ]|[。！？]\s*(?=\w)|[।۔؟]\s+(?=\w)")


@given(st.lists(st.text(st.sampled_from("aA.!。।»“ \t\u2028\x85"), max_size=8), max_size=6))
def test_sentences_within_lines_decide_the_layout(lines: list[str]) -> None:
    texts = [line.strip() for line in lines if line.strip()]
    inside = sum(len(SENTENCE_END.findall(line)) for line in texts)
    found = layout("\n\n".join(lines).encode())  # no line directly follows another one, so that it is not wrapped
    assert found == ("prose" if inside > 0.5 * len(texts) else "lines")


@given(st.text(st.sampled_from("a \t\r\n\u2028\xa0")))
def test_white_space_of_markup_becomes_single_spaces(text: str) -> None:
    assert running_text._clean(text) == re.sub(r"[ \t\r\n]+", " ", text)

"""Test that jsonl, csv, tsv and parquet records are read back as written, and that faults have a position."""

from __future__ import annotations

import csv
import datetime
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from lexshift.corpus import decoding, tables
from lexshift.corpus.records import Record
from lexshift.corpus.sources import Kind, Reading, Source, Tally
from lexshift.corpus.tables import (
    is_table,
    parquet_columns,
    parse_number,
    parse_span,
    read_lines,
    read_table,
    records,
)
from lexshift.errors import UserError

TEXTS = st.text(st.sampled_from("ab é日🐁\n\t,;\"'\\{}"), max_size=20)
DATED = Reading(date_column="date")


def read_records(kind: Kind, data: bytes, reading: Reading) -> list[Record]:
    return list(records(io.BytesIO(data), Source(f"folder/x.{kind}", f"x.{kind}", kind), reading, Tally()))


def read(kind: Kind, data: bytes, reading: Reading | None = None) -> list[tuple[int, Any, Any]]:
    """Return the records without their documents."""
    return [record[:3] for record in read_records(kind, data, reading or Reading())]


def read_parquet_records(path: Path, reading: Reading) -> list[Record]:
    with path.open("rb") as file:
        parts = parquet_columns(file, Source(str(path), path.name, "parquet"), reading, Tally())
        return [Record(*values) for columns in parts for values in zip(*columns, strict=True)]


def read_parquet(path: Path, reading: Reading | None = None) -> list[tuple[int, Any, Any]]:
    return [record[:3] for record in read_parquet_records(path, reading or Reading())]


def as_csv(rows: Sequence[tuple[str, ...]]) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    return file.getvalue().encode()


def as_parquet(path: Path, **columns: Any) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


# ------------------------------------------------------------------------------------------------- round trips


@given(st.lists(st.tuples(TEXTS, st.none() | TEXTS), max_size=8), st.booleans(), st.integers(7, 64))
def test_jsonl_is_read_back_as_written(rows: list[tuple[str, str | None]], ascii_only: bool, size: int) -> None:
    lines = [json.dumps({"date": date, "text": text}, ensure_ascii=ascii_only) for text, date in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "BLOCK", size)
        assert read("jsonl", "\n".join(lines).encode(), DATED) == [(i, *row) for i, row in enumerate(rows, 1)]


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=8), st.integers(7, 64))
def test_csv_is_read_back_as_written(rows: list[tuple[str, str]], size: int) -> None:
    data = as_csv([("date", "id", "text"), *((date, "1", text) for text, date in rows)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "BLOCK", size)
        assert read("csv", data, DATED) == [(i, *row) for i, row in enumerate(rows, 1)]


@given(st.lists(st.text(st.sampled_from("ab é日🐁,;\"'\\"), min_size=1, max_size=20), max_size=8), st.integers(7, 64))
def test_tsv_is_read_back_as_written_including_quotation_marks(texts: list[str], size: int) -> None:
    data = "\n".join(["date\ttext", *(f"1990\t{text}" for text in texts)]).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "BLOCK", size)
        assert read("tsv", data, DATED) == [(i, text, "1990") for i, text in enumerate(texts, 1)]


@pytest.mark.parametrize("rows", [1, 3, 4096])
def test_parquet_is_read_back_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(tables, "_ROWS", rows)
    texts = ["a mouse", "", None, "zwei Mäuse\nund mehr", "🐁"]
    dates = [datetime.date(1990, 1, day) for day in range(1, 6)]
    path = as_parquet(tmp_path / "x.parquet", other=[1] * 5, date=dates, text=texts)
    expected = [(i, *row) for i, row in enumerate(zip(texts, map(str, dates), strict=True), 1) if row[0] is not None]
    assert read_parquet(path) == [(i, text, None) for i, text, _ in expected]
    assert read_parquet(path, DATED) == expected
    with pytest.raises(UserError, match=r"the column 'date' of .* holds date32\[day\], not text"):
        read_parquet(path, Reading(text_column="date"))


def test_record_numbers_count_empty_jsonl_lines() -> None:
    assert read("jsonl", b'\n{"text": "a"}\n\n  \n{"text": "b"}\n') == [(2, "a", None), (5, "b", None)]


@pytest.mark.parametrize("dated", [True, False])
def test_documents_are_read_from_their_column(tmp_path: Path, dated: bool) -> None:
    reading = Reading(date_column="date" if dated else None, document_column="book")
    rows = [("book", "text", "date"), ("Emma", "a", "1816"), ("", "b", "1817")]
    dates = ("1816", "1817") if dated else (None, None)
    expected = [Record(1, "a", dates[0], "Emma"), Record(2, "b", dates[1], "")]
    assert read_records("csv", as_csv(rows), reading) == expected
    assert read_records("tsv", "\n".join("\t".join(row) for row in rows).encode(), reading) == expected
    lines = "\n".join(json.dumps(dict(zip(rows[0], row, strict=True))) for row in rows[1:])
    assert read_records("jsonl", lines.encode(), reading) == expected
    columns = {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}
    assert read_parquet_records(as_parquet(tmp_path / "x.parquet", **columns), reading) == expected


def test_column_of_documents_may_be_the_date_too() -> None:
    reading = Reading(date_column="date", document_column="date")
    assert read_records("csv", b"text,date\na,1816\n", reading) == [Record(1, "a", "1816", "1816")]


def test_column_of_documents_must_be_there() -> None:
    with pytest.raises(UserError, match=r"has no column 'book': name one of .* with --document-column$"):
        read_records("csv", b"text,date\na,1816\n", Reading(document_column="book"))


def test_jsonl_record_may_lack_its_date() -> None:
    data = b'{"text": "a", "date": 1990}\n{"text": "b"}\n{"text": null, "date": ""}'
    assert read("jsonl", data, DATED) == [(1, "a", 1990), (2, "b", None), (3, None, "")]


def test_csv_may_have_a_byte_order_mark_carriage_returns_and_quoted_newlines() -> None:
    data = b'\xef\xbb\xbftext,date\r\n"a mouse,\r\nand ""two""",1990\r\n\r\nlast,1991'
    assert read("csv", data, DATED) == [(1, 'a mouse,\nand "two"', "1990"), (3, "last", "1991")]


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_tables_are_read_in_other_encodings(encoding: str) -> None:
    reading = Reading(encoding=encoding)
    assert read("csv", 'text\n"à, côté"\n'.encode(encoding), reading) == [(1, "à, côté", None)]
    assert read("tsv", 'text\n"à, côté\n'.encode(encoding), reading) == [(1, '"à, côté', None)]
    assert read("jsonl", '{"text": "à, côté"}\n'.encode(encoding), reading) == [(1, "à, côté", None)]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv"])
def test_empty_table_has_no_records(kind: Kind) -> None:
    assert read(kind, b"") == []


def test_field_of_a_million_characters_is_read() -> None:
    assert read("csv", as_csv([("text",), ("mouse " * 200_000,)])) == [(1, "mouse " * 200_000, None)]


def test_csv_with_semicolons_is_read_as_spreadsheets_write_it() -> None:
    data = b'date;text\r\n2020;"a mouse, a cat; a dog"\r\n2021;"two\nlines"\r\n'
    assert read("csv", data, DATED) == [(1, "a mouse, a cat; a dog", "2020"), (2, "two\nlines", "2021")]


# ----------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("kind", "data", "reading", "parts"),
    [
        ("csv", b"id,body\n1,a\n", Reading(), ["no column 'text'", "'id', 'body'", "--text-column"]),
        ("tsv", b"id\ttext\n1\ta\n", DATED, ["no column 'date'", "'id', 'text'", "--date-column"]),
        ("csv", b"\ntext\n", Reading(), ["no column 'text'", "--text-column"]),
        ("csv", b"id\ttext\n1\ta\n", Reading(), ["separated by tabs: rename it to end in .tsv"]),
        ("tsv", b"id,text\n1,a\n", Reading(), ["separated by commas: rename it to end in .csv"]),
        (
            "jsonl",
            b'{"text": "a"}\n\n{"body": "b"}',
            Reading(),
            ["no column 'text' at line 3", "'body'", "--text-column"],
        ),
        ("jsonl", b"{}", Reading(), ["no column 'text' at line 1", "none", "--text-column"]),
        ("jsonl", b'{"text": "a"}\n{"text": ', Reading(), ["no valid JSON at line 2"]),
        ("jsonl", b"plain text", Reading(), ["no valid JSON at line 1"]),
        ("jsonl", b'\n["a", "b"]', Reading(), ["list", "at line 2", 'not a JSON object such as {"text": "..."}']),
        ("jsonl", b'"a mouse"', Reading(text_column="body"), ["str 'a mouse' at line 1", '{"body": "..."}']),
        ("jsonl", b'{"text": "a"}\nnull', Reading(), ["NoneType", "at line 2"]),
        ("jsonl", b"[" * 100_000, Reading(), ["at line 1"]),
        ("csv", b'date,text\n1,"a\nb"\n2\n', Reading(), ["1 fields instead of 2", "at line 4"]),
        ("tsv", b"date\ttext\n1\ta\n\n2\n", Reading(), ["1 fields instead of 2", "at line 4"]),
        ("csv", b'text\na\n"b\nc', Reading(), ["not valid csv", "at line 4"]),
        ("csv", b'text\n"a" b\n', Reading(), ["not valid csv", "at line 2"]),
        ("csv", b"text\na\n\xe4\n", Reading("utf-8"), ["not UTF-8 at line 3", "--encoding"]),
        ("jsonl", b'{"text": "a"}\n{"text": "\xe4"}', Reading("utf-8"), ["not UTF-8 at line 2", "--errors replace"]),
    ],
)
def test_fault_is_reported_with_file_and_position(kind: Kind, data: bytes, reading: Reading, parts: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        read(kind, data, reading)
    message = str(caught.value)
    assert "\n" not in message
    for part in [f"'folder/x.{kind}'", *parts]:
        assert part in message


def test_missing_parquet_column_is_reported_with_the_available_ones(tmp_path: Path) -> None:
    path = as_parquet(tmp_path / "x.parquet", body=["a"], year=[1990])
    with pytest.raises(UserError, match=f"{path}' has no column 'text': name one of 'body', 'year' with --text-column"):
        read_parquet(path)
    with pytest.raises(UserError, match="has no column 'date': name one of 'body', 'year' with --date-column"):
        read_parquet(path, Reading(text_column="body", date_column="date"))


@pytest.mark.parametrize("damage", ["text", "empty", "truncated", "no footer", "pages"])
def test_damaged_parquet_file_is_reported_by_name(tmp_path: Path, damage: str) -> None:
    path = as_parquet(tmp_path / "x.parquet", text=[f"a mouse {i}" for i in range(5000)])
    data = path.read_bytes()
    path.write_bytes(
        {
            "text": b"a mouse ran\n" * 99,
            "empty": b"",
            "truncated": data[: len(data) // 2],
            "no footer": data[:-8] + bytes(8),
            "pages": data[:4] + b"\xff" * 2000 + data[2004:],
        }[damage]
    )
    with pytest.raises(UserError) as caught:
        read_parquet(path)
    message = str(caught.value)
    assert repr(str(path)) in message
    assert "damaged" in message


@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_invalid_utf_8_in_a_parquet_file_is_reported_or_replaced(tmp_path: Path, errors: str) -> None:
    offsets, data = pa.array([0, 1, 7], pa.int32()).buffers()[1], pa.py_buffer(b"amouse\xff")
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, data])
    path = as_parquet(tmp_path / "x.parquet", text=texts)
    if errors == "strict":
        with pytest.raises(UserError, match=f"{path}'"):
            read_parquet(path)
    else:
        assert read_parquet(path, Reading(errors="replace")) == [(1, "a", None), (2, "mouse\ufffd", None)]


# ------------------------------------------------------------------------------------------------- small tables


def test_file_is_read_line_by_line_with_any_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes("\ufeffone\r\ntwo\u2028three\x0bfour\x85\nfive".encode())
    assert read_lines(path) == ["one", "two\u2028three\x0bfour\x85", "five"]


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        read_lines(tmp_path / "none.csv")
    assert str(error.value) == f"{str(tmp_path / 'none.csv')!r} is missing"


def test_folder_in_place_of_a_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read") as error:
        read_lines(tmp_path)
    assert repr(str(tmp_path)) in str(error.value)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize(("before", "line"), [(0, 1), (1, 2), (4, 5), (20_000, 20_001)])
def test_invalid_utf8_is_reported_with_its_line(
    tmp_path: Path, mark: bytes, end: bytes, before: int, line: int
) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(mark + ("ein schöner Tag".encode() + end) * before + b"sch\xf6n" + end + b"gut" + end)
    with pytest.raises(UserError) as error:
        read_lines(path)
    assert str(error.value) == f"{str(path)!r}, line {line}: not UTF-8"


FIELD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), max_size=8)


@given(st.lists(st.tuples(FIELD, FIELD, FIELD), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_fields_are_read_literally(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]], end: str
) -> None:
    path = tmp_path_factory.mktemp("table") / "table.csv"
    path.write_bytes(end.join("\t".join(row) for row in [("a", "b", "c"), *rows]).encode())
    expected = [(number, {"a": a, "b": b, "c": c}) for number, (a, b, c) in enumerate(rows, 2) if (a + b + c).strip()]
    assert read_table(path, ("a", "c")) == expected


def test_empty_lines_are_no_rows_but_are_counted_as_lines(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a\tb\n\n1\t2\n \t \n3\t4\n\n")
    assert read_table(path, ("a", "b")) == [(3, {"a": "1", "b": "2"}), (5, {"a": "3", "b": "4"})]


def test_column_names_may_have_surrounding_whitespace(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(" a \tb \r\n1\t 2\r\n")
    assert read_table(path, ("a", "b")) == [(2, {"a": "1", "b": " 2"})]


def test_comma_separated_fields_may_be_quoted(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('a,b\n"x,\ny",y\tz\n')
    assert read_table(path, ("a",), ",") == [(3, {"a": "x,\ny", "b": "y\tz"})]


def test_missing_column_is_reported_with_the_available_ones(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a\tb\n1\t2\n")
    with pytest.raises(UserError) as error:
        read_table(path, ("a", "c", "d"))
    assert str(error.value) == f"{str(path)!r}, line 1: no column 'c'; it must have a, c, d; it has a, b"


@pytest.mark.parametrize(("row", "fields"), [("1", 1), ("1\t2\t3", 3), ("1\t2\t", 3)])
def test_wrong_number_of_fields_is_reported_with_its_line(tmp_path: Path, row: str, fields: int) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"a\tb\n1\t2\n\n{row}\n")
    with pytest.raises(UserError) as error:
        read_table(path, ("a",))
    assert str(error.value) == f"{str(path)!r}, line 4: {fields} fields instead of 2"


def test_empty_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("")
    with pytest.raises(UserError, match="line 1: no column 'a'") as error:
        read_table(path, ("a",))
    assert repr(str(path)) in str(error.value)


# ------------------------------------------------------------------------------------------------- fields


@pytest.mark.parametrize(("text", "value"), [("1", 1.0), ("-0.5", -0.5), ("1e-3", 0.001), (" 2 ", 2.0)])
def test_number_is_parsed(text: str, value: float) -> None:
    assert parse_number({"graded": text}, "graded", Path("gold"), 3) == value


@pytest.mark.parametrize("text", ["", "NA", "1,5", "0.1\t0.2", "one", "--"])
def test_non_numeric_text_is_reported_with_its_line(text: str) -> None:
    with pytest.raises(UserError) as error:
        parse_number({"graded": text}, "graded", Path("gold"), 3)
    assert str(error.value) == f"'gold', line 3: graded is {text!r}, not a number"


@given(st.text("ab", min_size=1, max_size=9), st.integers(-2, 12), st.integers(-2, 12))
def test_span_lies_within_its_context_and_is_not_empty(sentence: str, start: int, end: int) -> None:
    text = f"{start}:{end}"
    if 0 <= start < end <= len(sentence):
        assert parse_span(text, sentence, Path("uses"), 4) == (start, end)
        return
    with pytest.raises(UserError) as error:
        parse_span(text, sentence, Path("uses"), 4)
    assert str(error.value) == f"'uses', line 4: the span {text!r} is not within the context"


@pytest.mark.parametrize("text", ["", ":", "1", "1:", ":2", "a:b", "0-1", "0:1:2", "0.0:1.0", "0:1,3:4", "0:²", "²:3"])
def test_invalid_span_is_reported_with_its_line(text: str) -> None:
    with pytest.raises(UserError, match="'uses', line 4: the span ") as error:
        parse_span(text, "a context", Path("uses"), 4)
    assert repr(text) in str(error.value)


def test_table_is_recognised_by_its_extension(tmp_path: Path) -> None:
    for name in ("a.csv", "a.TSV", "a.txt", "a.csv.gz"):
        (tmp_path / name).write_text("")
    (tmp_path / "folder.csv").mkdir()
    assert is_table(tmp_path / "a.csv")
    assert is_table(tmp_path / "a.TSV")
    assert not any(is_table(tmp_path / name) for name in ("a.txt", "a.csv.gz", "folder.csv", "none.csv"))

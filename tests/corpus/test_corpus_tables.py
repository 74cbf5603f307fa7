"""Records of jsonl, csv, tsv and parquet files come back as they were written, and a fault is told with its place."""

from __future__ import annotations

import csv
import datetime
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from lexshift.corpus import streams, tables
from lexshift.corpus.reading import Reading, Tally
from lexshift.corpus.sources import Kind, Source
from lexshift.corpus.tables import Record, parquet_records, records
from lexshift.errors import UserError

TEXTS = st.text(st.sampled_from("ab é日🐁\n\t,;\"'\\{}"), max_size=20)
DATED = Reading(date_column="date")


def read(kind: Kind, data: bytes, reading: Reading | None = None) -> list[Record]:
    source = Source(f"folder/x.{kind}", f"x.{kind}", kind)
    return list(records(io.BytesIO(data), source, reading or Reading(), Tally()))


def read_parquet(path: Path, reading: Reading | None = None) -> list[Record]:
    with path.open("rb") as file:
        return list(parquet_records(file, Source(str(path), path.name, "parquet"), reading or Reading()))


def as_csv(rows: list[tuple[str, ...]]) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    return file.getvalue().encode()


def as_parquet(path: Path, **columns: Any) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


# ------------------------------------------------------------------------------------------------- round trips


@given(st.lists(st.tuples(TEXTS, st.none() | TEXTS), max_size=8), st.booleans(), st.integers(7, 64))
def test_jsonl_comes_back_as_it_was_written(rows: list[tuple[str, str | None]], ascii_only: bool, size: int) -> None:
    lines = [json.dumps({"date": date, "text": text}, ensure_ascii=ascii_only) for text, date in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "BLOCK", size)
        assert read("jsonl", "\n".join(lines).encode(), DATED) == [(i, *row) for i, row in enumerate(rows, 1)]


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=8), st.integers(7, 64))
def test_csv_comes_back_as_it_was_written(rows: list[tuple[str, str]], size: int) -> None:
    data = as_csv([("date", "id", "text"), *((date, "1", text) for text, date in rows)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "BLOCK", size)
        assert read("csv", data, DATED) == [(i, *row) for i, row in enumerate(rows, 1)]


@given(st.lists(st.text(st.sampled_from("ab é日🐁,;\"'\\"), min_size=1, max_size=20), max_size=8), st.integers(7, 64))
def test_tsv_comes_back_as_it_was_written_quotation_marks_and_all(texts: list[str], size: int) -> None:
    data = "\n".join(["date\ttext", *(f"1990\t{text}" for text in texts)]).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "BLOCK", size)
        assert read("tsv", data, DATED) == [(i, text, "1990") for i, text in enumerate(texts, 1)]


@pytest.mark.parametrize("rows", [1, 3, 4096])
def test_parquet_comes_back_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(tables, "_ROWS", rows)
    texts = ["a mouse", "", None, "zwei Mäuse\nund mehr", "🐁"]
    dates = [datetime.date(1990, 1, day) for day in range(1, 6)]
    path = as_parquet(tmp_path / "x.parquet", other=[1] * 5, date=dates, text=texts)
    assert read_parquet(path) == [(i, text, None) for i, text in enumerate(texts, 1)]
    assert read_parquet(path, DATED) == [(i, *row) for i, row in enumerate(zip(texts, dates, strict=True), 1)]
    with pytest.raises(UserError, match=r"the column 'date' of .* holds date32\[day\], not text"):
        read_parquet(path, Reading(text_column="date"))


def test_numbers_of_records_count_empty_lines_of_jsonl() -> None:
    assert read("jsonl", b'\n{"text": "a"}\n\n  \n{"text": "b"}\n') == [(2, "a", None), (5, "b", None)]


def test_a_record_of_jsonl_may_lack_its_date() -> None:
    data = b'{"text": "a", "date": 1990}\n{"text": "b"}\n{"text": null, "date": ""}'
    assert read("jsonl", data, DATED) == [(1, "a", 1990), (2, "b", None), (3, None, "")]


def test_csv_with_mark_carriage_returns_and_newlines_within_quotes() -> None:
    data = b'\xef\xbb\xbftext,date\r\n"a mouse,\r\nand ""two""",1990\r\n\r\nlast,1991'
    assert read("csv", data, DATED) == [(1, 'a mouse,\nand "two"', "1990"), (3, "last", "1991")]


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_tables_are_read_in_other_encodings(encoding: str) -> None:
    reading = Reading(encoding=encoding)
    assert read("csv", 'text\n"à, côté"\n'.encode(encoding), reading) == [(1, "à, côté", None)]
    assert read("tsv", 'text\n"à, côté\n'.encode(encoding), reading) == [(1, '"à, côté', None)]
    assert read("jsonl", '{"text": "à, côté"}\n'.encode(encoding), reading) == [(1, "à, côté", None)]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv"])
def test_an_empty_table_has_no_records(kind: Kind) -> None:
    assert read(kind, b"") == []


def test_a_field_of_a_million_characters_is_read() -> None:
    assert read("csv", as_csv([("text",), ("mouse " * 200_000,)])) == [(1, "mouse " * 200_000, None)]


# ----------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("kind", "data", "reading", "parts"),
    [
        ("csv", b"id,body\n1,a\n", Reading(), ["no column 'text'", "'id', 'body'", "--text-column"]),
        ("tsv", b"id\ttext\n1\ta\n", DATED, ["no column 'date'", "'id', 'text'", "--date-column"]),
        ("csv", b"\ntext\n", Reading(), ["no column 'text'", "--text-column"]),
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
        ("csv", b"text\na\n\xe4\n", Reading(), ["not UTF-8 at line 3", "--encoding"]),
        ("jsonl", b'{"text": "a"}\n{"text": "\xe4"}', Reading(), ["not UTF-8 at line 2", "--errors replace"]),
    ],
)
def test_a_fault_is_told_with_file_and_place(kind: Kind, data: bytes, reading: Reading, parts: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        read(kind, data, reading)
    message = str(caught.value)
    assert "\n" not in message
    for part in [f"'folder/x.{kind}'", *parts]:
        assert part in message


def test_a_column_that_a_parquet_file_does_not_have_is_told_with_those_it_has(tmp_path: Path) -> None:
    path = as_parquet(tmp_path / "x.parquet", body=["a"], year=[1990])
    with pytest.raises(UserError, match=f"{path}' has no column 'text': name one of 'body', 'year' with --text-column"):
        read_parquet(path)
    with pytest.raises(UserError, match="has no column 'date': name one of 'body', 'year' with --date-column"):
        read_parquet(path, Reading(text_column="body", date_column="date"))


@pytest.mark.parametrize("damage", ["text", "empty", "truncated", "no footer", "pages"])
def test_a_damaged_parquet_file_is_told_by_name(tmp_path: Path, damage: str) -> None:
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
def test_text_of_a_parquet_file_that_is_not_utf_8_is_told_or_replaced(tmp_path: Path, errors: str) -> None:
    offsets, data = pa.array([0, 1, 7], pa.int32()).buffers()[1], pa.py_buffer(b"amouse\xff")
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, data])
    path = as_parquet(tmp_path / "x.parquet", text=texts)
    if errors == "strict":
        with pytest.raises(UserError, match=f"{path}'"):
            read_parquet(path)
    else:
        assert read_parquet(path, Reading(errors="replace")) == [(1, "a", None), (2, "mouse\ufffd", None)]

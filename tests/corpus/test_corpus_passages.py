"""Test the passages of files of every format and their line numbers."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

from lexshift.corpus import decoding
from lexshift.corpus import passages as module
from lexshift.corpus.passages import Block, read_blocks
from lexshift.corpus.sources import Kind, Reading, Source, Tally, find_sources
from lexshift.errors import UserError

TEXT = st.lists(st.sampled_from(["a", "bé", "🐁.", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\n \n"]), max_size=40).map(
    "".join
)
SIZES = st.integers(7, 64)


def blocks_of(path: Path, reading: Reading, size: int = 1 << 22, tally: Tally | None = None) -> list[Block]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "BLOCK", size)
        patch.setattr(module, "BLOCK", size)
        (source,) = find_sources(path)
        return list(read_blocks(source, reading, tally or Tally()))


def passages(found: list[Block]) -> Iterator[tuple[int, str]]:
    """Return the nonempty passages with the line number of their first word in the file."""
    for block in found:
        at = 0
        for index, line in enumerate(block.data.split(b"\n")):
            text = line.decode()
            if text.strip():
                yield block.line_of(index, at + len(text[: len(text) - len(text.lstrip())].encode())), text.strip()
            at += len(line) + 1


def word_lines(found: list[Block]) -> list[tuple[int, str]]:
    """Return every word with its line number in the file."""
    words = []
    for block in found:
        at = 0
        for index, line in enumerate(block.data.split(b"\n")):
            found_here = re.finditer(rb"\S+", line)
            words += [(block.line_of(index, at + match.start()), match[0].decode()) for match in found_here]
            at += len(line) + 1
    return words


def write_file(folder: str | Path, data: str | bytes, name: str = "x.txt") -> Path:
    path = Path(folder, name)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# ------------------------------------------------------------------------------------------------------- text


@given(TEXT, SIZES, st.sampled_from(["lines", "prose"]))
def test_line_is_a_passage_with_its_number(text: str, size: int, split: str) -> None:
    with TemporaryDirectory() as folder:
        found = blocks_of(write_file(folder, text), Reading(split=split), size)
    lines = text.replace("\r\n", "\n").split("\n")
    assert list(passages(found)) == [(i, line.strip()) for i, line in enumerate(lines, 1) if line.strip()]
    assert {block.split for block in found} <= {split}


@given(TEXT, SIZES)
@example("a\nb\n\nc\n \t\nd\ne", 7)
@example("a\n" * 30 + "\n" + "b\n" * 30, 8)
def test_paragraph_of_wrapped_text_is_a_passage_and_words_keep_their_line_numbers(text: str, size: int) -> None:
    with TemporaryDirectory() as folder:
        found = blocks_of(write_file(folder, text), Reading(split="wrapped"), size)
    lines = text.replace("\r\n", "\n").split("\n")
    paragraphs: list[tuple[int, list[str]]] = []
    fresh = True
    for number, line in enumerate(lines, 1):
        if line.strip() and fresh:
            paragraphs.append((number, [line]))
        elif line.strip():
            paragraphs[-1][1].append(line)
        fresh = not line.strip()
    assert list(passages(found)) == [(number, " ".join(part).strip()) for number, part in paragraphs]
    assert word_lines(found) == [(i, word) for i, line in enumerate(lines, 1) for word in line.split()]
    assert all(block.split == "prose" and len(block.wrapped or b"") == len(block.data) for block in found)


def test_overlong_paragraph_is_cut_at_the_end_of_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 50)
    path = write_file(tmp_path, "mouse cat\n" * 40)
    found = blocks_of(path, Reading(split="wrapped"), 16)
    assert len(found) > 3
    assert max(len(block.data) for block in found) <= 50 + 32
    assert word_lines(found) == [(i, word) for i in range(1, 41) for word in ("mouse", "cat")]


@pytest.mark.parametrize(
    ("text", "split", "kinds"),
    [
        ("The mouse ran.\nThe cat sat.\n", "auto", {"lines": 1}),
        ("The mouse ran. It hid. The cat sat.\n", "auto", {"prose": 1}),
        ("The mouse ran. It hid. The cat sat.\n", "lines", {"lines": 1}),
        ("The mouse ran.\n", "wrapped", {"wrapped": 1}),
        ("", "auto", {}),
        ("", "wrapped", {}),
    ],
)
def test_files_are_counted_by_line_layout(tmp_path: Path, text: str, split: str, kinds: dict[str, int]) -> None:
    tally = Tally()
    blocks_of(write_file(tmp_path, text), Reading(split=split), tally=tally)
    assert dict(tally.splits) == kinds


@pytest.mark.parametrize("name", ["x.txt", "x.txt.gz", "x.csv", "x.parquet"])
def test_hash_and_size_are_those_of_the_whole_file_on_disk(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("parquet"):
        parquet.write_table(pa.table({"text": ["a mouse"] * 99}), path)
    else:
        path.write_bytes(
            gzip.compress(b"text\n" * 99, mtime=0) + bytes(99) if name.endswith("gz") else b"text\na mouse\n"
        )
    tally = Tally(hashes={"before": "kept"})
    (source,) = find_sources(path)
    assert list(read_blocks(source, Reading(), tally))
    assert tally.hashes == {"before": "kept", name: hashlib.sha256(path.read_bytes()).hexdigest()}
    assert (tally.files, tally.size) == (1, path.stat().st_size)


# ------------------------------------------------------------------------------------------------------ tables

RECORD_TEXTS = st.none() | st.integers() | st.text(st.sampled_from("ab é🐁\n\r\v\u2028"), max_size=12)


@given(st.lists(st.tuples(RECORD_TEXTS, st.sampled_from([None, "", "1990", 1991])), max_size=12), SIZES)
def test_record_is_a_passage_with_its_number_and_date(rows: list[tuple[object, object]], size: int) -> None:
    tally = Tally()
    with TemporaryDirectory() as folder:
        data = "\n".join(json.dumps({"text": text, "date": date}) for text, date in rows)
        path = write_file(folder, data, "x.jsonl")
        found = blocks_of(path, Reading(split="lines", date_column="date"), size, tally)
    records = []
    for block in found:
        assert block.dates is not None
        for index, line in enumerate(block.data.split(b"\n")):
            records.append((block.line_of(index, 0), block.dates[index], line.decode()))
    assert records == [
        (i, str(date) if date else None, re.sub("[\n\r\v\u2028]+", " ", text))
        for i, (text, date) in enumerate(rows, 1)
        if isinstance(text, str)
    ]
    assert sum(tally.skipped.values()) == sum(not isinstance(text, str) for text, _ in rows)
    assert set(tally.skipped) <= {"records without a text"}


def test_parquet_dates_are_read_as_text(tmp_path: Path) -> None:
    dates = [datetime.date(1990, 2, 3), None, datetime.date(2001, 12, 31)]
    parquet.write_table(pa.table({"text": ["a", "b", "c"], "when": dates}), tmp_path / "x.parquet")
    (block,) = blocks_of(tmp_path / "x.parquet", Reading(date_column="when"))
    assert block.dates == ["1990-02-03", None, "2001-12-31"]
    assert [block.line_of(i, 0) for i in range(3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "split", "expected"),
    [
        ("The mouse ran.", "auto", "lines"),
        ("The mouse ran. It hid. The cat sat.", "auto", "prose"),
        ("The mouse ran. It hid. The cat sat.", "lines", "lines"),
        ("The mouse ran.", "prose", "prose"),
        ("The mouse ran.", "wrapped", "prose"),  # a record is never part of a paragraph
    ],
)
def test_record_may_be_one_sentence_or_several(tmp_path: Path, text: str, split: str, expected: str) -> None:
    tally = Tally()
    path = write_file(tmp_path, json.dumps({"text": text}) + "\n" + json.dumps({"text": text}), "x.jsonl")
    (block,) = blocks_of(path, Reading(split=split), tally=tally)
    assert block.split == expected
    assert dict(tally.splits) == {expected: 1}


def test_lone_surrogate_in_json_is_replaced(tmp_path: Path) -> None:
    (block,) = blocks_of(write_file(tmp_path, '{"text": "a \\ud83d mouse"}', "x.jsonl"), Reading())
    assert block.data == b"a ? mouse"


def test_damaged_parquet_file_is_reported_by_name(tmp_path: Path) -> None:
    path = write_file(tmp_path, b"PAR1 and nothing more", "x.parquet")
    with pytest.raises(UserError, match=f"{path}' is damaged, or not a parquet file"):
        blocks_of(path, Reading())


@pytest.mark.parametrize("kind", ["text", "parquet"])
def test_file_deleted_before_reading_is_reported_by_name(tmp_path: Path, kind: Kind) -> None:
    source = Source(str(tmp_path / "gone"), "gone", kind)
    with pytest.raises(UserError, match="gone' cannot be read: No such file"):
        list(read_blocks(source, Reading(), Tally()))

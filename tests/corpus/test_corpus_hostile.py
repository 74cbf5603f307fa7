"""Test damaged, hostile and binary files: each is read as far as possible or refused in one sentence.

The expected result of each file is given: the number of occurrences of "mouse", or words of the error message.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import zstandard
from pyarrow import parquet

from lexshift.corpus import Reading, Tally, decoding, find_occurrences, occurrences, read_targets, tables
from lexshift.corpus.counting import count_words
from lexshift.corpus.periods import find_in_periods
from lexshift.corpus.sources import Source
from lexshift.corpus.word_rule import rule
from lexshift.engine.parts import Counting, split_corpus
from lexshift.errors import UserError
from lexshift.tune.sentence_sample import sample_sentences

zstd = zstandard.ZstdCompressor().compress
LONG = 600  # maximum length of a message in characters


def found(path: Path, reading: Reading | None = None) -> int:
    """Return how often the word mouse is found, by both readers of the text."""
    counted = count_words(path, rule("word"), reading).counts.get("mouse", 0)
    assert find_occurrences(path, read_targets(["mouse"]), reading).found.tolist() == [counted]
    return counted


def refusal(path: Path, reading: Reading | None = None) -> str:
    """Return the single sentence with which both readers refuse the text."""
    with pytest.raises(UserError) as counting:
        count_words(path, rule("word"), reading)
    with pytest.raises(UserError) as finding:
        find_occurrences(path, read_targets(["mouse"]), reading)
    message = str(counting.value)
    assert message == str(finding.value)
    assert "\n" not in message
    assert len(message) < LONG
    return message


def write_file(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def as_parquet(**columns: Any) -> bytes:
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


def twice_the_same_column() -> bytes:
    file = io.BytesIO()
    parquet.write_table(pa.table([["a mouse"], ["a cat"]], names=["text", "text"]), file)
    return file.getvalue()


DEEP = 100_000
READ: dict[str, tuple[str, bytes, int]] = {
    "zero bytes far from the beginning": ("x.txt", b"a mouse\n" * 2000 + b"a\0mouse\0\n", 2001),
    "a mark in the middle": ("x.txt", b"\xef\xbb\xbfthe mouse\n\xef\xbb\xbfmouse trap\n", 2),
    "line ends of all kinds": ("x.txt", b"one mouse\r\ntwo mouse\rthree mouse\nfour mouse\n\r", 4),
    "other line separators": ("x.txt", "a mouse\u2028a mouse\u2029a mouse\x85a mouse\x0ba mouse".encode(), 5),
    "no line end": ("x.txt", b"the mouse", 1),
    "empty lines": ("x.txt", b"\n\n\n \t \nmouse\n\n\n", 1),
    "a word of a megabyte": ("x.txt", b"mouse " + b"x" * (1 << 20) + b" mouse\n", 2),
    "gzip members one after another": ("x.gz", gzip.compress(b"a mouse\na mo") + gzip.compress(b"use\n"), 2),
    "gzip with zeros after it": ("x.gz", gzip.compress(b"a mouse\n") + bytes(64), 1),
    "frames one after another": ("x.zst", zstd(b"a mouse\na mo") + zstd(b"") + zstd(b"use\n"), 2),
    "a surrogate without its partner": ("x.jsonl", b'{"text": "a mouse \\ud800 and a mouse", "date": "\\ud800"}', 2),
    "records whose text is none": (
        "x.jsonl",
        b'{"text": 5}\n{"text": null}\n{"text": ["mouse"]}\n{"text": {"text": "mouse"}}\n{"text": "mouse"}\n',
        1,
    ),
    "a huge number": ("x.jsonl", b'{"text": "a mouse", "n": 1e999, "m": ' + b"9" * 4000 + b"}", 1),
    "nesting below what Python can take": (
        "x.jsonl",
        b'{"text": "mouse", "date": ' + b"[" * 500 + b"]" * 500 + b"}",
        1,
    ),
    "csv with carriage returns": ("x.csv", b'text,n\r"a mouse",1\r"a mouse",2', 2),
    "rows of nothing": ("x.parquet", as_parquet(text=pa.array([None, "mouse", ""], pa.string())), 1),
}
REFUSED: dict[str, tuple[str, bytes, list[str]]] = {
    "an empty file": ("x.txt", b"", ["is empty", "no word"]),
    "only white space": ("x.txt", b" \n\t\r\n \x0c" * 50, ["is empty", "no word"]),
    "only signs": ("x.txt", b"... !!! ---\n" * 50, ["is empty", "no word"]),
    "zero bytes": ("x.txt", b"a\0mouse\n", ["binary data"]),
    "random bytes": ("x.txt", bytes(range(1, 256)), ["not UTF-8", "--encoding", "--errors replace"]),
    "a PDF": ("x.pdf", b"%PDF-1.7\n1 0 obj\n", ["is a PDF", "extract its text first", "pdftotext"]),
    "gzip cut off": ("x.gz", gzip.compress(b"a mouse ran\n" * 99)[:-9], ["damaged"]),
    "gzip header only": ("x.gz", gzip.compress(b"a mouse")[:10], ["damaged"]),
    "gzip and then text": ("x.gz", gzip.compress(b"a mouse\n") + b"a mouse\n", ["damaged"]),
    "two bytes of gzip": ("x.gz", b"\x1f\x8b", ["damaged"]),
    "zstandard cut off": ("x.zst", zstd(b"a mouse ran\n" * 99)[:-3], ["damaged"]),
    "zstandard header only": ("x.zst", zstd(b"a mouse")[:4], ["damaged"]),
    "zstandard and then text": ("x.zst", zstd(b"a mouse\n") + b"a mouse\n", ["damaged"]),
    "nesting without end": ("x.jsonl", b'{"text": ' + b"[" * DEEP + b"]" * DEEP + b"}", ["no valid JSON at line 1"]),
    "objects without end": ("x.jsonl", b'{"a":' * DEEP + b"1" + b"}" * DEEP, ["no valid JSON at line 1"]),
    "lists in lists": ("x.jsonl", b"[" * 900 + b"]" * 900, ["at line 1"]),
    "a number of 10,000 digits": (
        "x.jsonl",
        b'{"text": "a", "n": ' + b"9" * 10_000 + b"}",
        ["no valid JSON at line 1"],
    ),
    "a key of a megabyte": ("x.jsonl", b'{"' + b"k" * (1 << 20) + b'": 1}', ["no column 'text'", "'kkk"]),
    "text for json lines": ("x.jsonl", b"a mouse ran\n", ["no valid JSON at line 1"]),
    "a quotation mark that is not closed": ("x.csv", b'text\n"a mouse\n' + b"a mouse\n" * 500, ["not valid csv"]),
    "a million columns": (
        "x.csv",
        ",".join(f"c{i}" for i in range(1_000_000)).encode() + b"\n",
        ["'c0'", "'c9' and 999,990 more", "--text-column"],
    ),
    "the same column twice in csv": ("x.csv", b"text,text\na mouse,a cat\n", ["2 columns 'text'"]),
    "the same column twice in tsv": ("x.tsv", b"text\ttext\na mouse\ta cat\n", ["2 columns 'text'"]),
    "the same column twice in parquet": ("x.parquet", twice_the_same_column(), ["2 columns 'text'"]),
    "many columns of parquet": (
        "x.parquet",
        as_parquet(**{f"column {i}": [1] for i in range(500)}),
        ["'column 0'", "and 490 more"],
    ),
    "parquet without its end": ("x.parquet", as_parquet(text=["a mouse"])[:-20], ["not a parquet file"]),
    "four bytes of parquet": ("x.parquet", b"PAR1", ["not a parquet file"]),
    "numbers for text": ("x.parquet", as_parquet(text=[1, 2]), ["holds int64, not text"]),
    "a picture": ("x.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ["binary data"]),
    "a zip file": ("x.txt", b"PK\x03\x04mouse", ["binary data"]),
    "a zip file that is no document": ("x.docx", b"PK\x03\x04mouse", ["not a Word document"]),
}


@pytest.mark.parametrize("name", READ)
def test_unusual_but_valid_files_are_read(tmp_path: Path, name: str) -> None:
    file, data, n = READ[name]
    path = write_file(tmp_path, f"corpus/{file}", data)
    assert found(path) == n
    assert found(path.parent) == n


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_files_are_refused_in_a_sentence_that_names_them(tmp_path: Path, name: str) -> None:
    file, data, parts = REFUSED[name]
    path = write_file(tmp_path, file, data)
    message = refusal(path)
    for part in [file, *parts]:
        assert part in message


@pytest.mark.parametrize(("data", "line"), [(b"a mouse\n\xed\xa0\x80\n", 2), (b"\xc1\xad\n", 1)])
def test_surrogates_and_overlong_letters_are_not_utf_8(tmp_path: Path, data: bytes, line: int) -> None:
    assert f"not UTF-8 at line {line}" in refusal(write_file(tmp_path, "x.txt", data), Reading(encoding="utf-8"))


def test_unusual_dates_do_not_end_a_run(tmp_path: Path) -> None:
    dates = ["1999", 1999, 1999.0, None, True, [["1999"]], {"year": 1999}, "\ud800", "9" * 5000, "1999-99-99", ""]
    rows = "".join(json.dumps({"text": "a mouse", "date": date}) + "\n" for date in dates)
    path = write_file(tmp_path, "x.jsonl", rows.encode())
    reading = Reading(date_column="date")
    periods = find_in_periods(path, read_targets(["mouse"]), "year", reading)
    assert {label: period.found.tolist() for label, period in periods.items()} == {"1999": [3]}
    assert find_occurrences(path, read_targets(["mouse"]), reading).found.tolist() == [len(dates)]


# ---------------------------------------------------------------------------- paths that are no regular files

STRICT = Reading(strict=True)
READERS: dict[str, Callable[[Path], object]] = {
    "count": lambda path: count_words(path, rule("word"), STRICT),
    "find": lambda path: find_occurrences(path, read_targets(["mouse"]), STRICT),
    "periods": lambda path: find_in_periods(path, read_targets(["mouse"]), "year", STRICT),
    "parts": lambda path: [Counting("word", STRICT)(part, lambda _: None) for part in split_corpus(path)],
    "sentences": lambda path: sample_sentences(path, STRICT),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("where", ["by name", "in a folder", "by a pattern"])
def test_pipe_is_refused_without_waiting(tmp_path: Path, reader: str, where: str) -> None:
    write_file(tmp_path, "corpus/1999.txt", b"a mouse\n")
    pipe = tmp_path / "corpus" / "2000.txt"
    os.mkfifo(pipe)
    place = {"by name": pipe, "in a folder": pipe.parent, "by a pattern": pipe.parent / "*.txt"}[where]
    with pytest.raises(UserError, match=r"2000\.txt' is a pipe, .* write its text to a file, .*'-', standard input"):
        READERS[reader](place)


def test_sockets_and_devices_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket has a length limit
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s.txt")
        with pytest.raises(UserError, match=r"'s\.txt' is a socket"):
            count_words("s.txt", rule("word"))
    with pytest.raises(UserError, match="'/dev/zero' is a device"):
        count_words("/dev/zero", rule("word"))


def test_pipe_as_word_list_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "words.txt")
    with pytest.raises(UserError, match=r"words\.txt' is a pipe or a device"):
        read_targets(tmp_path / "words.txt")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("where", ["in a folder", "by a pattern"])
def test_dangling_link_is_named(tmp_path: Path, reader: str, where: str) -> None:
    write_file(tmp_path, "corpus/1999.txt", b"a mouse\n")
    (tmp_path / "corpus" / "2000.txt").symlink_to("gone.txt")
    place = tmp_path / "corpus" / ("*.txt" if where == "by a pattern" else "")
    with pytest.raises(UserError, match=r"2000\.txt' cannot be read: it is a link to 'gone\.txt', which is not there"):
        READERS[reader](place)


def test_links_to_files_are_read_and_recursive_folders_terminate(tmp_path: Path) -> None:
    elsewhere = write_file(tmp_path, "elsewhere.txt", b"a mouse\n")
    write_file(tmp_path, "corpus/a.txt", b"a mouse and a mouse\n")
    (tmp_path / "corpus" / "b.txt").symlink_to(elsewhere)
    (tmp_path / "corpus" / "self").symlink_to(tmp_path / "corpus")
    (tmp_path / "corpus" / "loop.txt").symlink_to("loop.txt")
    with pytest.raises(UserError, match=r"loop\.txt' cannot be read"):
        count_words(tmp_path / "corpus", rule("word"), STRICT)
    assert found(tmp_path / "corpus") == 3
    (tmp_path / "corpus" / "loop.txt").unlink()
    assert found(tmp_path / "corpus") == 3


@pytest.mark.parametrize("place", ["x" * 300, "x/" * 3000, "x" * 300 + "*", "x\0y", "x\0*", "[", "~nobody"])
def test_unusual_paths_raise_user_errors(place: str) -> None:
    with pytest.raises(UserError):
        count_words(place, rule("word"))


def test_file_deleted_before_reading_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_file(tmp_path, "x.txt", b"a mouse\n")
    monkeypatch.setattr(decoding, "open", lambda *_, **__: open(tmp_path / "gone.txt", "rb"), raising=False)  # noqa: SIM115
    assert "x.txt' cannot be read: No such file" in refusal(path)


# ------------------------------------------------------------------------------------------------ bounded memory


def test_compressed_data_is_not_held_in_memory_as_a_whole(tmp_path: Path) -> None:
    size = 64 << 20
    path = write_file(tmp_path, "x.zst", zstd(b"the mouse ran over the hill....\n" * (size // 32)))
    assert path.stat().st_size < 1 << 14
    tracemalloc.start()
    with decoding.open_source(Source(str(path), "x.zst", "text"), Tally()) as stream:
        assert sum(len(data) for data in iter(lambda: stream.read(decoding.BLOCK), b"")) == size
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < size // 8


@pytest.mark.parametrize("dictionary", [True, False])
def test_parquet_rows_are_read_in_batches_by_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dictionary: bool
) -> None:
    batches: list[int] = []
    whole = parquet.ParquetFile.iter_batches

    def recorded_batches(self: Any, *args: Any, **options: Any) -> Any:
        for batch in whole(self, *args, **options):
            batches.append(batch.nbytes)
            yield batch

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", recorded_batches)
    monkeypatch.setattr(tables, "_BYTES", 1 << 16)
    texts = ["a mouse " * 1000 if i % 2 or dictionary else f"{i} mouse" * 1000 for i in range(300)]  # 8 kB each
    parquet.write_table(pa.table({"text": texts}), tmp_path / "x.parquet", use_dictionary=dictionary)
    with (tmp_path / "x.parquet").open("rb") as file:
        source = Source("x.parquet", "x.parquet", "parquet")
        parts = tables.parquet_columns(file, source, Reading(), Tally())
        assert [text for columns in parts for text in columns.texts] == texts
    assert max(batches) < 4 << 16


def test_overlong_table_line_is_refused_and_never_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "BLOCK", 16)
    monkeypatch.setattr(decoding, "LONGEST", 200)
    path = write_file(tmp_path, "x.csv", b"text\na mouse\n" + b"a mouse " * 20 + b"\n")
    assert found(path) == 21
    path = write_file(tmp_path, "y.csv", b"text\na mouse\n" + b"a mouse " * 40 + b"\n")
    message = refusal(path)
    assert "y.csv' has a line of over 0 MB, line 3: " in message
    assert "several records" in message


def test_line_with_very_many_words_is_cut_and_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurrences, "SLACK", 100)
    text = "mouse " * 30_000  # one line of 180 kB whose windows add up to 120 MB
    path = write_file(tmp_path, "x.txt", text.encode())
    some = find_occurrences(path, read_targets(["mouse"]), max_per_word=5)
    assert some.found.tolist() == [30_000]
    sentences = some.table["sentence"].to_pylist()
    assert len(sentences) == 5
    assert all(set(sentence.split()) == {"mouse"} and 3_980 < len(sentence) <= 4_000 for sentence in sentences)
    assert some.tally.skipped["occurrences beyond 5 for a word"] == 29_995
    monkeypatch.setattr(occurrences, "_MAX_CHARACTERS", 1 << 20)
    with pytest.raises(UserError, match=r"'x\.txt' has lines so long that .* break its text into lines"):
        find_occurrences(path, read_targets(["mouse"]))


def test_sample_of_a_long_line_has_the_smallest_hashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_file(tmp_path, "x.txt", b"".join(b"%d mouse cat " % i for i in range(2000)))
    targets = read_targets(["mouse", "cat"])
    everything = find_occurrences(path, targets).table.to_pandas()
    smallest = everything.sort_values("priority").groupby("target").head(7).sort_index()
    for slack in (0, 1 << 14):
        monkeypatch.setattr(occurrences, "SLACK", slack)
        some = find_occurrences(path, targets, max_per_word=7).table.to_pandas()
        assert some.equals(smallest.reset_index(drop=True))


# ---------------------------------------------------------------------------------------------------- encodings


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("text", ["the mouse ran", "the mouse ran!", "a", ""])
def test_file_without_the_byte_order_mark_of_its_encoding_is_named(tmp_path: Path, encoding: str, text: str) -> None:
    """Request UTF-16 for two corpora of which only one is in UTF-16."""
    path = write_file(tmp_path, "x.txt", text.encode())
    message = refusal(path, Reading(encoding=encoding))
    assert "x.txt'" in message
    if text:
        assert f"is not in {encoding.upper()}, as it has no byte order mark" in message
    path = write_file(tmp_path, "y.txt", f"a mouse\n{text}".encode(encoding))
    assert found(path, Reading(encoding=encoding)) == 1 + text.count("mouse")


@pytest.mark.parametrize("encoding", ["idna", "punycode", "unicode_escape", "raw_unicode_escape", "utf-7", "shift_jis"])
def test_codecs_of_all_kinds_are_read_or_refused_in_one_sentence(tmp_path: Path, encoding: str) -> None:
    path = write_file(tmp_path, "x.txt", b"\\u12 \\x \xff\xfe+AA- " + b"x" * 80 + b".." + b"\\N{mouse}\n")
    assert "x.txt' is not" in refusal(path, Reading(encoding=encoding))


def test_impossible_encoding_name_is_refused() -> None:
    with pytest.raises(UserError, match="is not known"):
        Reading(encoding="utf\0-8")

"""Test that Python objects are read as the files with the same text, and that unsuitable objects are refused."""

from __future__ import annotations

import datetime
import io
import json
import os
import tempfile
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexshift.corpus import Reading, Tally, find_occurrences, read_targets
from lexshift.corpus.counting import count_words
from lexshift.corpus.objects import Corpus, as_files
from lexshift.corpus.passages import Block, read_blocks
from lexshift.corpus.sources import ObjectFile, find_sources
from lexshift.corpus.word_rule import word_table
from lexshift.errors import UserError

TEXTS = ["The mouse ran.", "", "A mouse, and a mouse.", "Ein Bär 🐁 e\u0301."]
DATES = [1999, 2001, 2001, 2004]
WRAPPED = (
    "The mouse ran and the cat ran after it, over\nthe hill and through the wood until they saw\n"
    "the house at the end of the lane and hid.\n\nThen it rained.\n"
)
CHARACTERS = st.characters(exclude_categories=["Cs"])


def blocks_of(corpus: Corpus, reading: Reading | None = None) -> tuple[list[Block], Tally]:
    """Return the blocks of a corpus without the name of their file, and the counts of what was read."""
    tally = Tally()
    with as_files([corpus], reading or Reading()) as ((file,), how):
        (source,) = find_sources(file)
        blocks = [Block(**{**vars(block), "file": ""}) for block in read_blocks(source, how, tally)]
    return blocks, tally


def texts_of(corpus: Corpus, reading: Reading | None = None) -> list[str]:
    """Return the lines of all blocks of a corpus."""
    return [line for block in blocks_of(corpus, reading)[0] for line in block.data.decode().split("\n")]


def datasets() -> Any:
    return pytest.importorskip("datasets")


def generate(items: Iterable[Any]) -> Iterator[Any]:
    yield from items


class ArrowStream:
    """A table of any library, of which only the Arrow stream interface is known."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


STRINGS: dict[str, Callable[[list[str]], Corpus]] = {
    "list": lambda texts: texts,
    "tuple": tuple,
    "generator": generate,
    "iterator": iter,
    "array": np.array,
    "arrow": pa.array,
    "chunked": lambda texts: pa.chunked_array([texts]),
    "values of a dict": lambda texts: dict(enumerate(texts)).values(),
    "open file": lambda texts: io.StringIO("".join(f"{text}\n" for text in texts)),
}


@pytest.mark.parametrize("make", STRINGS.values(), ids=STRINGS)
def test_strings_are_the_lines_of_a_text_file(make: Callable[[list[str]], Corpus], tmp_path: Path) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("".join(f"{text}\n" for text in TEXTS), "utf-8")
    assert blocks_of(make(TEXTS))[0] == blocks_of(file)[0]


FRAME = pd.DataFrame({"text": TEXTS, "date": DATES, "author": ["a", "b", None, "a"], "other": [object()] * 4})
TABLES: dict[str, Callable[[pd.DataFrame], Corpus]] = {
    "DataFrame": lambda frame: frame,
    "dicts": lambda frame: frame.to_dict("records"),
    "generator of dicts": lambda frame: generate(frame.to_dict("records")),
    "generator of DataFrames": lambda frame: generate(frame[i : i + 3] for i in range(0, len(frame), 3)),
    "Table": lambda frame: pa.table(frame[["text", "date", "author"]]),
    "RecordBatch": lambda frame: pa.record_batch(frame[["text", "date", "author"]]),
    "Arrow stream": lambda frame: ArrowStream(pa.table(frame[["text", "date", "author"]])),
    "generator of batches": lambda frame: generate(pa.table(frame[["text", "date", "author"]]).to_batches(2)),
    "Dataset": lambda frame: datasets().Dataset.from_pandas(frame[["text", "date", "author"]]),
    "IterableDataset": lambda frame: (
        datasets().Dataset.from_pandas(frame[["text", "date", "author"]]).to_iterable_dataset()
    ),
    "IterableDataset of a generator": lambda frame: datasets().IterableDataset.from_generator(
        lambda: generate(frame[["text", "date", "author"]].to_dict("records"))
    ),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_records_are_the_rows_of_a_table(make: Callable[[pd.DataFrame], Corpus], suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"table.{suffix}"
    columns = FRAME[["text", "date", "author"]]
    if suffix == "parquet":
        columns.to_parquet(file)
    elif suffix == "csv":
        columns.to_csv(file, index=False)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in columns.to_dict("records")).replace("NaN", "null"))
    reading = Reading(date_column="date", document_column="author")
    named = [block.documents for block in blocks_of(file, reading)[0]]
    ours, theirs = blocks_of(make(FRAME), reading)[0], blocks_of(file, reading)[0]
    assert named == [["a", "b", f"table.{suffix}, record 3", "a"]]
    assert [block.documents for block in ours] == [["a", "b", "corpus 1.parquet, record 3", "a"]]
    assert [Block(**{**vars(block), "documents": None}) for block in ours] == [
        Block(**{**vars(block), "documents": None}) for block in theirs
    ]


def test_pairs_are_a_table_with_dates(tmp_path: Path) -> None:
    file = tmp_path / "table.parquet"
    FRAME[["text", "date"]].to_parquet(file)
    for pairs in (list(zip(DATES, TEXTS, strict=True)), zip(DATES, TEXTS, strict=True)):
        assert blocks_of(pairs)[0] == blocks_of(file, Reading(date_column="date"))[0]


def test_series_is_a_column_of_texts(tmp_path: Path) -> None:
    file = tmp_path / "table.parquet"
    FRAME[["text"]].to_parquet(file)
    assert blocks_of(FRAME["text"])[0] == blocks_of(file)[0]


@given(st.lists(st.text(CHARACTERS), min_size=1))
@example(["\ufeffa\r\n", "b\nc", "\n", "", "\r", "d\u2028e\x85\x00"])
def test_strings_keep_their_text(texts: list[str]) -> None:
    from lexshift.corpus.normal_form import normalise

    shown = [text.removesuffix("\n").removesuffix("\r") for text in texts]
    shown[0] = shown[0].removeprefix("\ufeff")
    expected = normalise("".join(text.replace("\r\n", " ").replace("\n", " ") + "\n" for text in shown))
    blocks, _ = blocks_of(texts, Reading(split="lines"))
    assert b"".join(block.data for block in blocks).decode() == expected


@given(st.lists(st.none() | st.text(CHARACTERS), min_size=1))
def test_dicts_and_frames_have_the_same_records(texts: list[str | None]) -> None:
    dicts, frame = [{"text": text} for text in texts], pd.DataFrame({"text": pd.Series(texts, dtype=object)})
    ours, theirs = blocks_of(dicts), blocks_of(frame)
    assert ours[0] == theirs[0]
    assert ours[1].skipped == theirs[1].skipped
    assert ours[1].hashes == theirs[1].hashes
    assert ours[1].skipped["records without a text"] == texts.count(None)
    rows = [row for block in ours[0] for row in block.rows or ()]
    assert rows == [i for i, text in enumerate(texts, 1) if text is not None]


@given(st.lists(st.sampled_from(["a b", "c. D e.", "", "word " * 9, "x" * 70]), min_size=1, max_size=30))
def test_layout_of_strings_is_that_of_the_file(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "texts.txt")
        file.write_text("".join(f"{text}\n" for text in texts), "utf-8")
        assert blocks_of(texts)[0] == blocks_of(file)[0]


def test_lines_of_a_wrapped_text_are_joined(tmp_path: Path) -> None:
    file = tmp_path / "novel.txt"
    file.write_text(WRAPPED, "utf-8")
    ours, tally = blocks_of(WRAPPED.splitlines(keepends=True))
    assert ours == blocks_of(file)[0]
    assert tally.splits == {"wrapped": 1}


MISSING = [None, "A mouse.", float("nan"), pd.NA, "A cat."]


@pytest.mark.parametrize("corpus", [MISSING, pa.array([None, "A mouse.", None, None, "A cat."])], ids=["list", "arrow"])
def test_missing_strings_are_counted_and_numbered(corpus: Corpus) -> None:
    (block,), tally = blocks_of(corpus)
    assert tally.skipped == {"records without a text": 3}
    assert (block.line, block.data) == (1, b"\nA mouse.\n\n\nA cat.\n")


@pytest.mark.parametrize(
    "corpus",
    [pd.Series(MISSING), pd.DataFrame({"text": MISSING}), [(1999, text) for text in MISSING]],
    ids=["Series", "DataFrame", "pairs"],
)
def test_missing_texts_of_tables_are_counted(corpus: Corpus) -> None:
    (block,), tally = blocks_of(corpus)
    assert tally.skipped == {"records without a text": 3}
    assert (block.rows, block.data) == ([2, 5], b"A mouse.\nA cat.")


DATED = [
    (1999, "1999"),
    ("1999-07", "1999-07"),
    (np.int64(1999), "1999"),
    (datetime.date(1999, 7, 31), "1999-07-31"),
    (datetime.datetime(1999, 7, 31, 12), "1999-07-31 12:00:00"),
    (pd.Timestamp("1999-07-31T12:00Z"), "1999-07-31 12:00:00+00:00"),
    (np.datetime64("1999-07"), "1999-07"),
    (np.datetime64("1999-07-31T12"), "1999-07-31T12"),
    (pd.Period("1999", "Y"), "1999"),
    (pd.Period("1999-07", "M"), "1999-07"),
    (pd.Period("1999-07-31", "D"), "1999-07-31"),
    (pd.Period("1999Q3", "Q"), "1999-07-01"),
    (pd.Period("1999-07-31 12:00", "h"), "1999-07-31 12:00:00"),
    (pd.NaT, None),
    (np.datetime64("NaT"), None),
    (float("nan"), None),
    (None, None),
]


@pytest.mark.parametrize(("value", "text"), DATED)
def test_dates_are_written_as_iso_text(value: object, text: str | None) -> None:
    (block,), _ = blocks_of([(value, "A mouse.")])
    assert block.dates == [text]


def test_pairs_next_to_a_table_do_not_demand_a_column_of_dates() -> None:
    with as_files([[(1999, "a")], pd.DataFrame({"text": ["b"]})], Reading()) as (_, reading):
        assert reading.date_column is None
    with as_files([[(1999, "a")], [(2000, "a")]], Reading()) as (_, reading):
        assert reading.date_column == "date"


def test_encoding_of_files_does_not_apply_to_objects() -> None:
    for encoding in ("utf-16", "latin-1"):
        assert texts_of(["Bär", "\u4e2d"], Reading(encoding=encoding)) == ["Bär", "\u4e2d", ""]


def test_markup_in_strings_is_text() -> None:
    assert texts_of(["<html><p>A mouse.</p></html>"]) == ["<html><p>A mouse.</p></html>", ""]


def test_iterator_is_read_once_and_its_file_deleted() -> None:
    indices: list[int] = []

    def texts() -> Iterator[str]:
        for i in range(3):
            indices.append(i)
            yield f"mouse {i}"

    with as_files([texts()], Reading()) as ((file,), _):
        assert isinstance(file, ObjectFile)
        path = os.fspath(file)
        assert (file.type, file.records, file.source.size) == ("generator", 3, os.path.getsize(path))
        for _ in range(2):
            assert find_occurrences(file, read_targets(["mouse"])).table["line"].to_pylist() == [1, 2, 3]
    assert indices == [0, 1, 2]
    assert not os.path.exists(os.path.dirname(path))


def test_file_is_deleted_after_an_error_of_the_iterator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def texts() -> Iterator[str]:
        yield "mouse"
        assert list(tmp_path.iterdir()) != []
        raise OSError("not ours")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(OSError, match="not ours"), as_files([texts()], Reading()):
        pass
    assert list(tmp_path.iterdir()) == []


def test_words_are_found_and_counted_in_objects() -> None:
    found = find_occurrences(FRAME, read_targets(["mouse"]), Reading(date_column="date"))
    assert found.table["date"].to_pylist() == ["1999", "2001", "2001"]
    assert count_words(iter(TEXTS), word_table()).counts["mouse"] == 3


BAD: list[tuple[Any, str]] = [
    ([], r"the list is empty: give at least one text"),
    (iter([]), r"the list_iterator is empty"),
    (pd.DataFrame({"text": []}), r"the DataFrame is empty"),
    ([1, 2], r"record 1 of the list is 1 of type int, not a text: give strings, \(date, text\) pairs"),
    (["a", 2], r"record 2 of the list is 2 of type int, unlike the first one"),
    (["a", {"text": "b"}], r"record 2 of the list is \{'text': 'b'\} of type dict, unlike the first one"),
    ([["1999", "a"]], r"record 1 of the list is \['1999', 'a'\] of type list, not a text"),
    ([("a", 1999)], r"record 1 of the list is \('a', 1999\): a pair is \(date, text\)"),
    ([Path("a.txt")], r"not a text: for files give a folder or a pattern"),
    (["a.txt", "b.txt"], r"the list has the name of a file, 'a.txt', in place of a text"),
    ([__file__], r"the list has the name of a file, '.*', in place of a text"),
    ({"text": ["a"]}, r"the dict is a mapping with the keys 'text', not a corpus"),
    ({"a", "b"}, r"the set has no order"),
    (b"a", r"the bytes is not text: decode the bytes"),
    (3, r"a corpus is a file, a folder, a pattern such as 'texts/\*.txt', a table or a list of texts; got 3"),
    (None, r"a corpus is a file.*; got None"),
    (["a\ud83d"], r"record 1 of the list has half of a surrogate pair, U\+D83D"),
    (pd.DataFrame({"body": ["a"]}), r"the DataFrame has no column 'text': name one of 'body' with --text-column"),
    (pd.DataFrame([["a", "b"]], columns=["text", "text"]), r"the DataFrame has 2 columns 'text'"),
    (pd.DataFrame({"text": ["a", 3]}), r"record 2 of the DataFrame has 3 in place of a text: texts are strings"),
    (pa.table({"body": ["a"]}), r"the Table has no column 'text': name one of 'body'"),
    ([{"text": "a"}, {"body": "b"}], r"the list has no column 'text' in record 2: name one of 'body'"),
    ("The mouse ran away.", r"no such file .*; a string is a path: in Python, give a text as a list of strings"),
    ("The mouse\n" * 1000, r"; a string is a path: in Python, give a text as a list of strings"),
]


@pytest.mark.parametrize(("corpus", "message"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_unsuitable_object_is_refused_in_one_sentence(corpus: Any, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        find_occurrences(corpus, read_targets(["mouse"]))
    assert len(str(error.value)) < 300


def test_one_iterator_cannot_be_two_corpora() -> None:
    texts = iter(["a"])
    with (
        pytest.raises(UserError, match=r"corpus 2 \(list_iterator\) is also another corpus"),
        as_files([texts, texts], Reading()),
    ):
        pass


def test_missing_file_is_reported_before_an_iterator_is_read() -> None:
    texts = iter(["a"])
    with pytest.raises(UserError, match="no such file"), as_files([texts, "nowhere.txt"], Reading()):
        pass
    assert list(texts) == ["a"]


def test_errors_name_the_object_and_not_its_file() -> None:
    with pytest.raises(UserError) as error:
        find_occurrences(["...", "!"], read_targets(["mouse"]))
    assert str(error.value) == "the list is empty: there is no word in it"


@pytest.mark.slow
def test_memory_does_not_grow_with_a_generator() -> None:
    def peak(n_texts: int) -> int:
        tracemalloc.start()
        try:
            with as_files([(f"the mouse ran {i}" for i in range(n_texts))], Reading()) as ((file,), _):
                assert isinstance(file, ObjectFile)
                assert file.records == n_texts
                (source,) = find_sources(file)
                for _block in read_blocks(source, Reading(), Tally()):
                    pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)  # loads what is loaded once
    assert peak(200_000) < 1.2 * peak(60_000)

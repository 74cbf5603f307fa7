"""Usages and their tables: what is kept is what was read, and what cannot be read is told with its file and line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.benchmark.dataset import (
    PERIODS,
    SCHEMA,
    Dataset,
    Rows,
    Text,
    number_in,
    read_lines,
    read_table,
    span_in,
)
from lexshift.errors import UserError

WORDS = ("plane", "tree", "cell")
SPACES = st.text(" \t\u00a0\u3000", max_size=3)
USAGES = st.lists(
    st.tuples(
        st.sampled_from(WORDS),
        st.integers(0, 1),
        st.sampled_from(["a plane", "the tree  fell", "cell by cell", "a a a", "Tree tree"]),
    ),
    max_size=20,
)


def dataset(rows: Rows, words: tuple[str, ...] = WORDS) -> Dataset:
    return Dataset(
        name="made",
        kind="made",
        language="en",
        periods=("1", "2"),
        words=words,
        usages=rows.table(words),
        graded={},
        gold="",
        binary={},
        texts=rows.texts(),
        skipped=rows.skipped,
    )


def collected(usages: list[tuple[str, int, str]]) -> Rows:
    rows = Rows()
    for number, (word, period, sentence) in enumerate(usages, 1):
        rows.add(word, period, sentence, 0, 1, "file", number)
    return rows


# ------------------------------------------------------------------------------------------------- usages


@given(USAGES)
def test_usages_are_counted_by_word_and_period(usages: list[tuple[str, int, str]]) -> None:
    counts = dataset(collected(usages)).counts()
    slow = Counter((word, PERIODS[period]) for word, period, _ in usages)
    assert list(counts.index) == list(WORDS)
    assert list(counts.columns) == ["old", "new"]
    assert {(word, corpus): counts.loc[word, corpus] for word in WORDS for corpus in PERIODS} == {
        (word, corpus): slow[word, corpus] for word in WORDS for corpus in PERIODS
    }


def test_words_without_usages_are_counted_as_none() -> None:
    counts = dataset(Rows()).counts()
    assert counts.shape == (3, 2)
    assert counts.to_numpy().sum() == 0
    counts = dataset(collected([("tree", 1, "a tree")])).counts()
    assert counts.to_numpy().tolist() == [[0, 0], [0, 1], [0, 0]]
    assert {str(kind) for kind in counts.dtypes} == {"int64"}


@given(USAGES)
def test_usages_come_by_word_and_period_and_else_as_they_were_added(usages: list[tuple[str, int, str]]) -> None:
    table = collected(usages).table(WORDS)
    assert table.schema.equals(SCHEMA)
    expected = [
        (word, PERIODS[period], number, sentence)
        for name in WORDS
        for when in (0, 1)
        for number, (word, period, sentence) in enumerate(usages, 1)
        if (word, period) == (name, when)
    ]
    columns = (table[name].to_pylist() for name in ("word", "corpus", "line", "sentence"))
    assert list(zip(*columns, strict=True)) == expected


@given(USAGES)
def test_the_size_of_a_text_counts_each_sentence_once(usages: list[tuple[str, int, str]]) -> None:
    sizes = collected(usages).texts()
    for period, size in enumerate(sizes):
        sentences = []
        for _, when, sentence in usages:
            if when == period and sentence not in sentences:
                sentences.append(sentence)
        tokens = " ".join(sentences).split()
        assert size == Text(len(sentences), len(tokens), len(set(tokens)))


@given(SPACES, st.text("ab \t", max_size=6), st.text("xyzñ😀", min_size=1, max_size=5), st.text("ab \t"), SPACES)
def test_white_space_at_the_ends_goes_and_the_span_goes_with_it(
    left: str, before: str, word: str, after: str, right: str
) -> None:
    sentence = left + before + word + after + right
    rows = Rows()
    start = len(left + before)
    rows.add("plane", 0, sentence, start, start + len(word), "file", 7, "1900")
    (row,) = rows.table(WORDS).to_pylist()
    assert row["sentence"] == sentence.strip()
    assert row["sentence"][row["start"] : row["end"]] == word
    assert 0 <= row["start"] < row["end"] <= len(row["sentence"])
    assert (row["word"], row["corpus"], row["file"], row["line"], row["date"]) == ("plane", "old", "file", 7, "1900")


def test_what_is_left_out_is_counted_by_reason() -> None:
    rows = Rows()
    for reason in ("too long", "too short", "too long"):
        rows.skip(reason)
    assert dataset(rows).skipped == {"too long": 2, "too short": 1}


# ------------------------------------------------------------------------------------------------- files


def test_a_file_is_read_line_by_line_whatever_its_line_ends_and_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes("\ufeffone\r\ntwo\u2028three\x0bfour\x85\nfive".encode())
    assert read_lines(path) == ["one", "two\u2028three\x0bfour\x85", "five"]


def test_a_file_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        read_lines(tmp_path / "none.csv")
    assert str(error.value) == f"{str(tmp_path / 'none.csv')!r} is missing"


def test_a_folder_in_the_place_of_a_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read") as error:
        read_lines(tmp_path)
    assert repr(str(tmp_path)) in str(error.value)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize(("before", "line"), [(0, 1), (1, 2), (4, 5), (20_000, 20_001)])
def test_bytes_that_are_not_utf8_are_told_with_their_line(
    tmp_path: Path, mark: bytes, end: bytes, before: int, line: int
) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(mark + ("ein schöner Tag".encode() + end) * before + b"sch\xf6n" + end + b"gut" + end)
    with pytest.raises(UserError) as error:
        read_lines(path)
    assert str(error.value) == f"{str(path)!r}, line {line}: not UTF-8"


FIELD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), max_size=8)


@given(st.lists(st.tuples(FIELD, FIELD, FIELD), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_fields_are_read_as_they_stand(
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


def test_names_of_columns_may_have_white_space_around_them(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(" a \tb \r\n1\t 2\r\n")
    assert read_table(path, ("a", "b")) == [(2, {"a": "1", "b": " 2"})]


def test_another_separator_may_be_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('a,b\n"x",y\tz\n')
    assert read_table(path, ("a",), ",") == [(2, {"a": '"x"', "b": "y\tz"})]


def test_a_missing_column_is_told_with_those_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a\tb\n1\t2\n")
    with pytest.raises(UserError) as error:
        read_table(path, ("a", "c", "d"))
    assert str(error.value) == f"{str(path)!r}, line 1: no column 'c'; it has a, b"


@pytest.mark.parametrize(("row", "fields"), [("1", 1), ("1\t2\t3", 3), ("1\t2\t", 3)])
def test_a_wrong_number_of_fields_is_told_with_its_line(tmp_path: Path, row: str, fields: int) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"a\tb\n1\t2\n\n{row}\n")
    with pytest.raises(UserError) as error:
        read_table(path, ("a",))
    assert str(error.value) == f"{str(path)!r}, line 4: {fields} fields instead of 2"


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("")
    with pytest.raises(UserError, match="line 1: no column 'a'") as error:
        read_table(path, ("a",))
    assert repr(str(path)) in str(error.value)


# ------------------------------------------------------------------------------------------------- fields


@pytest.mark.parametrize(("text", "value"), [("1", 1.0), ("-0.5", -0.5), ("1e-3", 0.001), (" 2 ", 2.0)])
def test_a_number_is_read(text: str, value: float) -> None:
    assert number_in({"graded": text}, "graded", Path("gold"), 3) == value


@pytest.mark.parametrize("text", ["", "NA", "1,5", "0.1\t0.2", "one", "--"])
def test_what_is_not_a_number_is_told_with_its_line(text: str) -> None:
    with pytest.raises(UserError) as error:
        number_in({"graded": text}, "graded", Path("gold"), 3)
    assert str(error.value) == f"'gold', line 3: graded is {text!r}, not a number"


@given(st.text("ab", min_size=1, max_size=9), st.integers(-2, 12), st.integers(-2, 12))
def test_a_span_is_one_within_its_context_and_not_empty(sentence: str, start: int, end: int) -> None:
    text = f"{start}:{end}"
    if 0 <= start < end <= len(sentence):
        assert span_in(text, sentence, Path("uses"), 4) == (start, end)
        return
    with pytest.raises(UserError) as error:
        span_in(text, sentence, Path("uses"), 4)
    assert str(error.value) == f"'uses', line 4: the span {text!r} is not within the context"


@pytest.mark.parametrize("text", ["", ":", "1", "1:", ":2", "a:b", "0-1", "0:1:2", "0.0:1.0", "0:1,3:4", "0:²", "²:3"])
def test_what_is_no_span_is_told_with_its_line(text: str) -> None:
    with pytest.raises(UserError, match="'uses', line 4: the span ") as error:
        span_in(text, "a context", Path("uses"), 4)
    assert repr(text) in str(error.value)

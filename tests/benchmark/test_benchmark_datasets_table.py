"""Test the reader of tables of usages: csv with quoting, tsv without, and gold columns."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loaded_data import usage_rows

from lexshift.benchmark.datasets.dataset import PERIODS, Dataset, TextSize
from lexshift.benchmark.datasets.table import COLUMNS, load_table
from lexshift.errors import UserError

ROWS = [
    ["plane", "1900", "A plane.", "2", "7"],
    ["tree", "1900", "The tree", "4", "8"],
    ["plane", "2000", "By plane", "3", "8"],
]


def write(path: Path, rows: list[list[str]], header: tuple[str, ...] = COLUMNS) -> Path:
    """Write a table in the format of its extension: csv with quoting where necessary, tsv without."""
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    else:
        path.write_bytes("".join("\t".join(row) + "\n" for row in [header, *rows]).encode())
    return path


def complaint(path: Path) -> str:
    """Return the error message about an unreadable table."""
    with pytest.raises(UserError) as error:
        load_table(path)
    assert "\n" not in str(error.value)
    return str(error.value)


def load_or_error(path: Path) -> Dataset | str:
    """Return the loaded data, or the error message if it cannot be read."""
    try:
        return load_table(path)
    except UserError as error:
        return str(error)


# ------------------------------------------------------------------------------------------------------ reading


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
def test_table_is_read(tmp_path: Path, name: str) -> None:
    data = load_table(write(tmp_path / name, ROWS))
    assert (data.name, data.kind, data.language, data.periods) == (name, "table of usages", "", ("1900", "2000"))
    assert data.words == ("plane", "tree")
    assert usage_rows(data) == [
        ("plane", "old", "A plane.", "plane"),
        ("plane", "new", "By plane", "plane"),
        ("tree", "old", "The tree", "tree"),
    ]
    assert data.usages["line"].to_pylist() == [2, 4, 3]
    assert set(data.usages["file"].to_pylist()) == {name}
    assert data.usages["date"].null_count == 3
    assert (data.graded, data.gold, data.binary, data.skipped) == ({}, "", {}, {})
    assert data.texts == (TextSize(2, 4, 4), TextSize(1, 2, 2))
    assert data.counts().to_numpy().tolist() == [[1, 1], [1, 0]]


def test_csv_may_quote_commas_quotes_and_line_ends(tmp_path: Path) -> None:
    sentence = 'He said, "my plane,\nor so"'
    path = write(tmp_path / "mine.csv", [["plane", "1", sentence, "13", "18"], ["a, b", "2", "a, b", "0", "4"]])
    data = load_table(path)
    assert usage_rows(data) == [("plane", "old", sentence, "plane"), ("a, b", "new", "a, b", "a, b")]


def test_tsv_reads_quotes_and_commas_literally(tmp_path: Path) -> None:
    sentence = '"He said, "my plane'
    path = write(tmp_path / "mine.tsv", [["plane", "1", sentence, "14", "19"], ["x", "2", '"x"', "1", "2"]])
    assert usage_rows(load_table(path)) == [("plane", "old", sentence, "plane"), ("x", "new", '"x"', "x")]


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
def test_gold_and_dates_are_read(tmp_path: Path, name: str) -> None:
    header = ("date", "graded", *COLUMNS, "binary", "note")
    table = [
        ["1901-05", "0.5", *ROWS[0], "1", "x"],
        ["", "", *ROWS[1], "0", ""],
        ["2001", "0.50", *ROWS[2], "", ""],
    ]
    data = load_table(write(tmp_path / name, table, header))
    assert data.graded == {"plane": 0.5}
    assert data.gold == "graded"
    assert data.binary == {"plane": True, "tree": False}
    assert data.usages["date"].to_pylist() == ["1901-05", "2001", None]


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
def test_empty_lines_windows_line_ends_and_byte_order_marks_are_ignored(tmp_path: Path, name: str) -> None:
    plain = load_table(write(tmp_path / name, ROWS))
    text = (tmp_path / name).read_text("utf-8")
    (tmp_path / name).write_bytes(("\ufeff" + text.replace("\n", "\r\n") + "\r\n\r\n").encode())
    data = load_table(tmp_path / name)
    assert data.usages.equals(plain.usages)
    assert data.texts == plain.texts


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
def test_empty_rows_are_skipped_and_lines_are_still_counted(tmp_path: Path, name: str) -> None:
    table = [ROWS[0], ["", " ", "", "", ""], ROWS[1], ROWS[2]]
    assert load_table(write(tmp_path / name, table)).usages["line"].to_pylist() == [2, 5, 4]


def test_table_with_an_unnamed_index_column_is_read(tmp_path: Path) -> None:
    table = [[str(i), *row] for i, row in enumerate(ROWS)]
    data = load_table(write(tmp_path / "pandas.csv", table, ("", *COLUMNS)))
    assert data.usages.num_rows == 3


def test_outer_whitespace_is_stripped_and_spans_are_shifted(tmp_path: Path) -> None:
    data = load_table(write(tmp_path / "mine.csv", [["a", "1", "  an a ", "5", "6"], ["a", "2", "a", "0", "1"]]))
    assert usage_rows(data)[0] == ("a", "old", "an a", "a")
    assert data.usages["start"].to_pylist() == [3, 0]


@pytest.mark.parametrize(("start", "end"), [("0", "3"), ("0", "1"), ("2", "4"), ("3", "4")])
def test_span_that_includes_outer_whitespace_is_shifted_or_reported(tmp_path: Path, start: str, end: str) -> None:
    path = write(tmp_path / "mine.csv", [["a", "1", "  a ", start, end], ["a", "2", "a", "0", "1"]])
    data = load_or_error(path)
    if isinstance(data, str):  # refusing the row is also valid
        assert f"{str(path)!r}, line 2: " in data
    else:
        assert usage_rows(data)[0] == ("a", "old", "a", "a")
        assert data.usages["start"].to_pylist() == [0, 0]
        assert data.usages["end"].to_pylist() == [1, 1]


@pytest.mark.parametrize(("first", "second"), [("1900", "2000"), ("1", "2"), ("1900-50", "1950-90"), ("a", "b")])
def test_earlier_period_is_the_one_that_sorts_first(tmp_path: Path, first: str, second: str) -> None:
    table = [["a", second, "a new", "0", "1"], ["a", first, "a old", "0", "1"]]
    data = load_table(write(tmp_path / "mine.csv", table))
    assert data.periods == (first, second)
    assert [row[:3] for row in usage_rows(data)] == [("a", "old", "a old"), ("a", "new", "a new")]


CONTENT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=8)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), CONTENT, CONTENT), max_size=8), st.booleans())
def test_written_table_is_read_back_unchanged(
    tmp_path_factory: pytest.TempPathFactory, usages: list[tuple[str, bool, str, str]], tabs: bool
) -> None:
    both = [*usages, ("a", False, "", ""), ("a", True, "", "")]
    if tabs:
        gone = str.maketrans("", "", "\t\n")
        both = [(word, period, before.translate(gone), after.translate(gone)) for word, period, before, after in both]
    table = [
        [word, str(int(period)), before + word + after, str(len(before)), str(len(before) + 1)]
        for word, period, before, after in both
    ]
    path = tmp_path_factory.mktemp("table") / ("mine.tsv" if tabs else "mine.csv")
    data = load_table(write(path, table))
    words = list(dict.fromkeys(word for word, *_ in both))
    assert data.words == tuple(words)
    assert usage_rows(data) == [
        (word, PERIODS[when], (before + word + after).strip(), word)
        for name in words
        for when in (0, 1)
        for word, period, before, after in both
        if (word, int(period)) == (name, when)
    ]
    for when in (0, 1):
        sentences = {row[2] for row in usage_rows(data) if row[1] == PERIODS[when]}
        tokens = [token for sentence in sentences for token in sentence.split()]
        assert data.texts[when] == TextSize(len(sentences), len(tokens), len(set(tokens)))


# ------------------------------------------------------------------------------------------- error messages


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
@pytest.mark.parametrize("column", COLUMNS)
def test_missing_column_is_reported(tmp_path: Path, name: str, column: str) -> None:
    header = tuple("other" if known == column else known for known in COLUMNS)
    path = write(tmp_path / name, ROWS, header)
    message = f"{str(path)!r}, line 1: no column {column!r}; it must have word, period, sentence, start, end"
    assert complaint(path).startswith(message)


def test_tsv_with_commas_has_no_columns(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text("word,period,sentence,start,end\na,1,a,0,1\n")
    assert complaint(path).startswith(f"{str(path)!r}, line 1: no column 'word'")


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
@pytest.mark.parametrize("row", [["plane", "1900", "A plane.", "2"], ["plane", "1900", "A plane.", "2", "7", "x"]])
def test_wrong_number_of_fields_is_reported_with_its_line(tmp_path: Path, name: str, row: list[str]) -> None:
    path = write(tmp_path / name, [*ROWS, row])
    assert complaint(path) == f"{str(path)!r}, line 5: {len(row)} fields instead of 5"


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
@pytest.mark.parametrize("fields", [1, 6, 9])
def test_empty_row_is_skipped_or_reported_for_any_number_of_fields(tmp_path: Path, name: str, fields: int) -> None:
    path = write(tmp_path / name, [*ROWS, [""] * fields])
    data = load_or_error(path)
    if isinstance(data, str):  # refusing the row is also valid
        assert f"{str(path)!r}, line 5: " in data
    else:
        assert data.usages.num_rows == 3


@pytest.mark.parametrize(("start", "end"), [("2", "9"), ("7", "7"), ("7", "2"), ("-1", "3"), ("-6", "-1"), ("9", "10")])
def test_span_outside_of_its_sentence_is_reported_with_its_line(tmp_path: Path, start: str, end: str) -> None:
    path = write(tmp_path / "mine.csv", [*ROWS, ["plane", "2000", "A plane.", start, end]])
    assert complaint(path) == f"{str(path)!r}, line 5: {start} to {end} is not within the sentence"


@pytest.mark.parametrize("column", ["start", "end"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "{0} is '', not a number"),
        ("two", "{0} is 'two', not a number"),
        ("2:7", "{0} is '2:7', not a number"),
        ("2.5", "{0} is '2.5', not a whole number"),
        ("nan", "{0} is 'nan', not a "),
        ("inf", "{0} is 'inf', not a "),
        ("1e999", "{0} is '1e999', not a "),
    ],
)
def test_non_numeric_offset_is_reported_with_its_line(tmp_path: Path, column: str, value: str, message: str) -> None:
    bad = ["plane", "2000", "A plane.", *((value, "7") if column == "start" else ("2", value))]
    path = write(tmp_path / "mine.csv", [*ROWS, bad])
    assert complaint(path).startswith(f"{str(path)!r}, line 5: " + message.format(column))


def test_offsets_may_be_whole_numbers_with_a_decimal_point(tmp_path: Path) -> None:
    table = [["a", "1", "an a", "3.0", "4.0"], ["a", "2", "a", "0", " 1"]]
    assert usage_rows(load_table(write(tmp_path / "mine.csv", table)))[0] == ("a", "old", "an a", "a")


@pytest.mark.parametrize("column", ["graded", "binary"])
def test_non_numeric_gold_is_reported_with_its_line(tmp_path: Path, column: str) -> None:
    path = write(
        tmp_path / "mine.csv",
        [[*row, gold] for row, gold in zip(ROWS, ["1", "yes", "1"], strict=True)],
        (*COLUMNS, column),
    )
    assert complaint(path) == f"{str(path)!r}, line 3: {column} is 'yes', not a number"


@pytest.mark.parametrize("column", ["graded", "binary"])
def test_conflicting_gold_values_are_reported_with_their_line(tmp_path: Path, column: str) -> None:
    path = write(
        tmp_path / "mine.csv", [[*row, gold] for row, gold in zip(ROWS, "110", strict=True)], (*COLUMNS, column)
    )
    assert complaint(path) == f"{str(path)!r}, line 4: 'plane' has two values, 1.0 and 0.0"


@pytest.mark.parametrize("column", ["graded", "binary"])
def test_nan_gold_is_missing_or_reported_and_never_a_conflict(tmp_path: Path, column: str) -> None:
    path = write(
        tmp_path / "mine.csv",
        [[*row, gold] for row, gold in zip(ROWS, ["nan", "1", "nan"], strict=True)],
        (*COLUMNS, column),
    )
    data = load_or_error(path)
    if isinstance(data, str):  # refusing the row is also valid
        assert f"{str(path)!r}, line 2: " in data
        assert "two values" not in data
    else:
        assert {"graded": data.graded, "binary": data.binary}[column] == {"tree": 1}


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
@pytest.mark.parametrize(
    ("periods", "message"), [("", "it has 0 (none)"), ("11", "it has 1 (1)"), ("123", "it has 3 (1, 2, 3)")]
)
def test_number_of_periods_other_than_two_is_reported(tmp_path: Path, name: str, periods: str, message: str) -> None:
    path = write(tmp_path / name, [["a", period, "a", "0", "1"] for period in periods])
    assert complaint(path) == f"{str(path)!r} must have two periods; {message}"


def test_row_without_a_word_is_reported_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", [*ROWS, ["", "2000", "A plane.", "2", "7"]])
    assert complaint(path).startswith(f"{str(path)!r}, line 5: ")


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
@pytest.mark.parametrize("content", ["", "\n", "\n\n"])
def test_empty_file_is_reported(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert complaint(path).startswith(f"{str(path)!r}, line 1: ")


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
def test_table_that_is_not_utf8_is_reported_with_its_line(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, ROWS)
    path.write_bytes(path.read_bytes().replace(b"By plane", b"B\xe4 plane"))
    assert complaint(path) == f"{str(path)!r}, line 4: not UTF-8"


def test_missing_file_is_reported(tmp_path: Path) -> None:
    assert complaint(tmp_path / "none.csv") == f"{str(tmp_path / 'none.csv')!r} is missing"


@pytest.mark.parametrize("more", [0, 20_000])
def test_unclosed_quote_is_reported(tmp_path: Path, more: int) -> None:
    path = write(tmp_path / "mine.csv", ROWS)
    path.write_text(path.read_text() + 'plane,2000,"A plane.,2,7\n' + "plane,2000,A plane.,2,7\n" * more)
    assert repr(str(path)) in complaint(path)


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
def test_very_long_sentence_is_read(tmp_path: Path, name: str) -> None:
    data = load_table(write(tmp_path / name, [*ROWS, ["plane", "2000", "plane" + " x" * 100_000, "0", "5"]]))
    assert usage_rows(data)[2][3] == "plane"

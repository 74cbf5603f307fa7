"""Test pairs of usages in the formats of WiC and MCL-WiC and in tables, and held-out words."""

from __future__ import annotations

import csv
import json
import os
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus.sampling import place_key
from lexshift.errors import UserError
from lexshift.tune.pairs import COLUMNS, Pair, Usage, hold_out, read_pairs

pytestmark = pytest.mark.tune

CARRY = Pair("carry", Usage("Carry the gear .", 0, 5), Usage("Sound carries well .", 6, 13), False)
PLANE = Pair("plane", Usage("A plane", 2, 7), Usage("By  plane .", 4, 9), True)
PAIRS = [CARRY, PLANE]
LINES = ["carry\tV\t0-1\tCarry the gear .\tSound carries well .", "plane\tN\t1-1\tA plane\tBy  plane ."]


def write_wic(
    folder: Path, lines: Sequence[str], gold: Sequence[str], name: str = "train", ending: str = ".txt"
) -> Path:
    """Write both files of the WiC format, and return the one with the usages."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.gold{ending}").write_bytes("".join(f"{line}\n" for line in gold).encode())
    path = folder / f"{name}.data{ending}"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def entry(pair: Pair, name: Any, convert: Any = int) -> dict[str, Any]:
    """Return a pair in the MCL-WiC format without its tag."""
    usages = {
        f"{field}{which}": value if field == "sentence" else convert(value)
        for which, usage in ((1, pair.first), (2, pair.second))
        for field, value in usage._asdict().items()
    }
    return {"id": name, "lemma": pair.word, "pos": "NOUN", **usages}


def write_json(folder: Path, entries: Any, tags: Any, ending: str = "") -> Path:
    """Write both files of the MCL-WiC format, and return the one with the usages."""
    (folder / f"train.gold{ending}").write_text(json.dumps(tags, indent=1), "utf-8")
    path = folder / f"train.data{ending}"
    path.write_text(json.dumps(entries, indent=1), "utf-8")
    return path


def row(pair: Pair, same: str | None = None) -> list[str]:
    return [pair.word, *map(str, pair.first), *map(str, pair.second), str(int(pair.same)) if same is None else same]


def write_table(path: Path, rows: list[list[str]], header: tuple[str, ...] = COLUMNS) -> Path:
    """Write a table in the format of its extension: csv with quoting where necessary, tsv without."""
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    else:
        path.write_bytes("".join("\t".join(values) + "\n" for values in [header, *rows]).encode())
    return path


def complaint(*paths: Path) -> str:
    """Return the error message about unreadable pairs."""
    with pytest.raises(UserError) as error:
        read_pairs(*paths)
    assert "\n" not in str(error.value)
    assert error.value.__cause__ is None
    return str(error.value)


# ------------------------------------------------------------------------------------------------------ reading


def test_wic_file_and_its_folder_are_read(tmp_path: Path) -> None:
    path = write_wic(tmp_path, LINES, "FT")
    assert read_pairs(path) == read_pairs(str(tmp_path)) == PAIRS


def test_all_files_of_a_folder_are_read_by_name_and_others_skipped(tmp_path: Path) -> None:
    write_wic(tmp_path, LINES[1:], "T", "b")
    write_wic(tmp_path, LINES[:1], "F", "a")
    for name in ("README.txt", "._a.data.txt", "mine.csv", "lone.gold.txt"):
        (tmp_path / name).write_bytes(b"\xff")
    (tmp_path / "c.data.txt").mkdir()
    assert read_pairs(tmp_path) == PAIRS


def test_several_paths_are_concatenated_in_the_given_order(tmp_path: Path) -> None:
    one, two = write_wic(tmp_path / "1", LINES, "FT"), write_table(tmp_path / "2.csv", [row(CARRY)])
    assert read_pairs(two, one, two) == [CARRY, *PAIRS, CARRY]


@pytest.mark.parametrize("ending", ["", ".txt", ".json"])
def test_format_is_detected_from_the_content(tmp_path: Path, ending: str) -> None:
    assert read_pairs(write_wic(tmp_path, LINES, "FT", ending=ending)) == PAIRS
    entries, tags = [entry(CARRY, "x"), entry(PLANE, "y")], [{"id": "x", "tag": "F"}, {"id": "y", "tag": "T"}]
    assert read_pairs(write_json(tmp_path, entries, tags, ending)) == PAIRS


def test_word_that_starts_with_a_bracket_is_not_json(tmp_path: Path) -> None:
    path = write_wic(tmp_path, ["[sic]\tN\t0-1\t[sic] a\tb [sic]"], "T")
    assert read_pairs(path) == [Pair("[sic]", Usage("[sic] a", 0, 5), Usage("b [sic]", 2, 7), True)]


@pytest.mark.parametrize("convert", [int, str])
def test_json_is_matched_by_id_and_may_contain_numbers_as_text(tmp_path: Path, convert: Any) -> None:
    entries = [entry(CARRY, "training.en-en.0", convert), entry(PLANE, 1, convert)]
    tags = [{"id": "1", "tag": "T"}, {"id": "training.en-en.0", "tag": "F"}]
    assert read_pairs(write_json(tmp_path, entries, tags)) == PAIRS


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
@pytest.mark.parametrize(
    ("spelling", "same"),
    [(text, same) for texts, same in (("1 true T yes", True), ("0 false F no", False)) for text in texts.split()],
)
def test_table_may_spell_same_in_several_ways(tmp_path: Path, name: str, spelling: str, same: bool) -> None:
    table = [row(CARRY, text) for text in (spelling, spelling.upper(), spelling.lower(), f" {spelling} ")]
    assert [pair.same for pair in read_pairs(write_table(tmp_path / name, table))] == [same] * 4


def test_table_may_have_extra_reordered_columns_and_decimal_numbers(tmp_path: Path) -> None:
    table = [["note", "2.0", *row(PLANE)[:2], *row(PLANE)[3:]]]
    path = write_table(tmp_path / "mine.TSV", table, ("", "start1", *COLUMNS[:2], *COLUMNS[3:]))
    assert read_pairs(path) == [PLANE]


def test_windows_line_ends_byte_order_mark_and_trailing_empty_lines_are_ignored(tmp_path: Path) -> None:
    path = write_wic(tmp_path, LINES, "FT")
    for file, more in ((path, "\r\n\r\n"), (tmp_path / "train.gold.txt", "")):
        text = "\r\n".join(file.read_text("utf-8").splitlines())
        file.write_bytes(("\ufeff" + text + more).encode())
    assert read_pairs(path) == PAIRS


def test_whitespace_in_a_wic_sentence_is_preserved_and_counted(tmp_path: Path) -> None:
    path = write_wic(tmp_path, ["b\tN\t1-0\t a  b \t\u00a0b\u00a0"], "T")
    assert read_pairs(path) == [Pair("b", Usage(" a  b ", 4, 5), Usage("\u00a0b\u00a0", 1, 2), True)]


# Characters with a meaning in some format: \r is read as a line end, and \ufeff may be a byte order mark.
CHARACTERS = st.characters(codec="utf-8", exclude_characters="\t\n\r\ufeff")
TOKEN = st.text(CHARACTERS.filter(lambda character: not character.isspace()), min_size=1, max_size=5)
SPACE = st.text(st.sampled_from(" \u00a0\u2009\x1f"), min_size=1, max_size=2)


@st.composite
def marked(draw: st.DrawFn) -> tuple[Usage, int]:
    """Draw a usage of a token, and the number of tokens before it."""
    tokens = draw(st.lists(TOKEN, min_size=1, max_size=5))
    index = draw(st.integers(0, len(tokens) - 1))
    text = draw(st.sampled_from(["", " ", "\u00a0"]))
    start = 0
    for i, token in enumerate(tokens):
        start = len(text) if i == index else start
        text += token + draw(SPACE)
    return Usage(text if draw(st.booleans()) else text.rstrip(), start, start + len(tokens[index])), index


RANDOM = st.lists(st.tuples(TOKEN, marked(), marked(), st.booleans()), min_size=1, max_size=6)


@given(RANDOM)
def test_written_pairs_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[str, tuple[Usage, int], tuple[Usage, int], bool]]
) -> None:
    folder = tmp_path_factory.mktemp("pairs")
    pairs = [Pair(word, first, second, same) for word, (first, _), (second, _), same in drawn]
    lines = [f"{w}\tN\t{i}-{j}\t{first.sentence}\t{second.sentence}" for w, (first, i), (second, j), _ in drawn]
    assert read_pairs(write_wic(folder, lines, ["FT"[pair.same] for pair in pairs])) == pairs
    entries = [entry(pair, i) for i, pair in enumerate(pairs)]
    tags = [{"id": i, "tag": "FT"[pair.same]} for i, pair in reversed(list(enumerate(pairs)))]
    assert read_pairs(write_json(folder, entries, tags)) == pairs
    for name in ("mine.csv", "mine.tsv"):
        assert read_pairs(write_table(folder / name, [row(pair) for pair in pairs])) == pairs


def test_csv_may_quote_commas_quotes_and_line_ends(tmp_path: Path) -> None:
    pair = Pair("a, b", Usage('"A,\nplane"', 4, 9), Usage('x\t""', 0, 1), False)
    assert read_pairs(write_table(tmp_path / "mine.csv", [row(pair)])) == [pair]


@pytest.mark.parametrize(("part", "size"), [("train", 5428), ("dev", 638)])
def test_real_wic_data_is_read(data: Path, part: str, size: int) -> None:
    pairs = read_pairs(data / "wic" / part)
    assert len(pairs) == size
    assert sum(pair.same for pair in pairs) == size / 2  # the data set is balanced
    usages = [(pair.word, usage) for pair in pairs for usage in (pair.first, pair.second)]
    marked = [(word, usage.sentence[usage.start : usage.end]) for word, usage in usages]
    assert all(text and text == text.strip() for _, text in marked)
    alike = sum(text.casefold().startswith(word.casefold()[:2]) for word, text in marked)
    assert alike > 0.97 * len(marked)  # the rest are irregular forms such as go and went


def test_words_of_wic_are_held_out(data: Path) -> None:
    pairs = read_pairs(data / "wic" / "train")
    kept, held = hold_out(pairs, 0.1, 0)
    assert not {pair.word.casefold() for pair in kept} & {pair.word.casefold() for pair in held}
    assert 0.1 * len(pairs) <= len(held) < 0.15 * len(pairs)


# ------------------------------------------------------------------------------------------- error messages


def test_empty_path_list_is_reported() -> None:
    assert complaint() == "no pairs to read; give at least one file or folder"


@pytest.mark.parametrize("name", ["none", "none.csv", "none.data.txt", "x" * 5000, "nul\0"])
def test_missing_path_is_reported(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert complaint(path) == f"no such file or folder: {str(path)!r} (looked from {os.getcwd()})"


def test_folder_without_pairs_is_reported_with_their_location(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("")
    message = f"{str(tmp_path)!r} holds no pairs, that is, no file *.data.txt or *.data; give "
    assert complaint(tmp_path) == message + "a folder that does, or a table"
    write_wic(tmp_path / "train", LINES, "FT")
    write_wic(tmp_path / "dev", LINES, "FT")
    assert complaint(tmp_path) == message + "the folders in it that do (dev, train)"


def test_unreadable_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)  # root can read every folder
    assert complaint(tmp_path) == f"{str(tmp_path)!r} cannot be read: Permission denied"


@pytest.mark.parametrize("name", ["pairs.txt", "train.gold.txt", "mine.csv.gz", ".data.txt", "train.data.xml"])
def test_file_with_an_unknown_name_is_reported(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("\n".join(LINES))
    assert complaint(path) == (
        f"{str(path)!r} must be a file *.data.txt or *.data beside its gold, a folder with such files, "
        f"or a table *.csv or *.tsv"
    )


@pytest.mark.parametrize("ending", ["", ".txt", ".json"])
def test_file_without_gold_is_reported_also_in_a_folder(tmp_path: Path, ending: str) -> None:
    path = write_wic(tmp_path, LINES, "FT", ending=ending)
    gold = tmp_path / f"train.gold{ending}"
    gold.unlink()
    message = f"{str(path)!r} has no gold: {str(gold)!r} is missing, which must have T or F for each pair"
    assert complaint(path) == complaint(tmp_path) == message


@pytest.mark.parametrize(("gold", "lines"), [("", 0), ("F", 1), ("FTT", 3)])
def test_wrong_number_of_gold_lines_is_reported(tmp_path: Path, gold: str, lines: int) -> None:
    path = write_wic(tmp_path, LINES, gold)
    beside = str(tmp_path / "train.gold.txt")
    assert complaint(path) == f"{str(path)!r} has 2 lines and {beside!r} {lines}; each pair must have a line in both"


@pytest.mark.parametrize("line", ["", "carry\tV\t0-1\tCarry it .", LINES[0] + "\t", LINES[0].replace("\t", " ")])
def test_wrong_number_of_fields_in_a_line_is_reported(tmp_path: Path, line: str) -> None:
    path = write_wic(tmp_path, [LINES[0], line, LINES[1]], "FFT")
    fields = len(line.split("\t"))
    expected = "fields instead of 5, word, part of speech, i-j, sentence 1, sentence 2, between tabs"
    assert complaint(path) == f"{str(path)!r}, line 2: {fields} {expected}"


@pytest.mark.parametrize("indices", ["", "1", "1-", "-1-1", "1:2", "0-1-2", "a-b", "1.0-1", "0-" + "9" * 5000])
def test_malformed_index_is_reported(tmp_path: Path, indices: str) -> None:
    path = write_wic(tmp_path, [LINES[0], LINES[1].replace("1-1", indices)], "FT")
    message = complaint(path)
    assert message.startswith(f"{str(path)!r}, line 2: ")
    assert message.endswith(" must be two whole numbers such as 2-1, the token numbers of the word")
    assert len(message) < len(str(path)) + 150


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ("2-1", "sentence 1: there is no token 2, as the sentence has 2 tokens, numbered from 0"),
        ("1-3", "sentence 2: there is no token 3, as the sentence has 3 tokens, numbered from 0"),
    ],
)
def test_index_beyond_its_sentence_is_reported(tmp_path: Path, indices: str, message: str) -> None:
    path = write_wic(tmp_path, [LINES[0], LINES[1].replace("1-1", indices)], "FT")
    assert complaint(path) == f"{str(path)!r}, line 2, {message}"


def test_empty_sentence_and_empty_word_are_reported(tmp_path: Path) -> None:
    path = write_wic(tmp_path, ["a\tN\t0-0\ta\t "], "T")
    assert complaint(path) == f"{str(path)!r}, line 1, sentence 2: there is no token 0, as the sentence is empty"
    path = write_wic(tmp_path, [" \tN\t0-0\ta\ta"], "T")
    assert complaint(path) == f"{str(path)!r}, line 1: word is empty; it must be the word of the pair"
    path = write_table(tmp_path / "mine.csv", [row(CARRY), ["", *row(PLANE)[1:]]])
    assert complaint(path) == f"{str(path)!r}, line 3: word is empty; it must be the word of the pair"


@pytest.mark.parametrize("answer", ["", "1", "t", "TF", "True", "T\tF", "x" * 5000])
def test_gold_other_than_t_or_f_is_reported(tmp_path: Path, answer: str) -> None:
    path = write_wic(tmp_path, [*LINES, LINES[0]], ["F", answer, "T"])
    message = complaint(path)
    assert message.startswith(f"{str(tmp_path / 'train.gold.txt')!r}, line 2: ")
    assert message.endswith(" must be T, the same meaning, or F")
    assert len(message) < len(str(path)) + 100


@pytest.mark.parametrize("tag", ["", "1", "t", 1, True, None, ["T"]])
def test_tag_other_than_t_or_f_is_reported(tmp_path: Path, tag: Any) -> None:
    path = write_json(tmp_path, [entry(CARRY, "x")], [{"id": "x", "tag": tag}])
    assert complaint(path) == f"{str(tmp_path / 'train.gold')!r}, entry 1: {tag!r} must be T, the same meaning, or F"


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
@pytest.mark.parametrize("same", ["", "2", "same", "TRUE FALSE"])
def test_table_with_an_unknown_value_for_same_is_reported(tmp_path: Path, name: str, same: str) -> None:
    path = write_table(tmp_path / name, [row(CARRY), row(PLANE, same)])
    message = f"line 3: same is {same!r}; it must be 1 or 0, true or false, T or F, yes or no"
    assert complaint(path) == f"{str(path)!r}, {message}"


SPANS = [(2, 8), (7, 7), (5, 2), (9, 10), (1, 2)]  # beyond the end, empty, reversed, outside, and only whitespace


@pytest.mark.parametrize(("start", "end"), SPANS)
@pytest.mark.parametrize("which", [1, 2])
def test_span_outside_of_its_sentence_is_reported(tmp_path: Path, start: int, end: int, which: int) -> None:
    usages = (PLANE.first._replace(start=start, end=end), CARRY.first)
    pair = Pair("x", *(usages if which == 1 else usages[::-1]), same=True)
    message = (
        f"start{which} {start} and end{which} {end} must mark the word within sentence{which}, which has 7 characters"
    )
    for name in ("mine.csv", "mine.tsv"):
        path = write_table(tmp_path / name, [row(CARRY), row(pair)])
        assert complaint(path) == f"{str(path)!r}, line 3: {message}"
    path = write_json(tmp_path, [entry(CARRY, 0), entry(pair, 1)], [{"id": i, "tag": "T"} for i in (0, 1)])
    assert complaint(path) == f"{str(path)!r}, entry 2: {message}"


@pytest.mark.parametrize("value", ["", "two", "-1", "2.5", "nan", "1e3", "9" * 5000])
def test_non_integer_offset_is_reported(tmp_path: Path, value: str) -> None:
    table = row(PLANE)
    table[COLUMNS.index("end2")] = value
    path = write_table(tmp_path / "mine.csv", [row(CARRY), table])
    message = complaint(path)
    assert message.startswith(f"{str(path)!r}, line 3: end2 is ")
    assert message.endswith("; it must be a whole number, 0 or more")
    assert len(message) < len(str(path)) + 120


@pytest.mark.parametrize("value", [None, True, -1, 2.5, [2], {}, float("nan")])
def test_non_integer_offset_in_json_is_reported(tmp_path: Path, value: Any) -> None:
    path = write_json(tmp_path, [entry(PLANE, 0) | {"start1": value}], [{"id": 0, "tag": "T"}])
    message = f"entry 1: start1 is {value!r}; it must be a whole number, 0 or more"
    assert complaint(path) == f"{str(path)!r}, {message}"


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
@pytest.mark.parametrize("column", COLUMNS)
def test_missing_column_is_reported(tmp_path: Path, name: str, column: str) -> None:
    header = tuple("other" if known == column else known for known in COLUMNS)
    path = write_table(tmp_path / name, [row(PLANE)], header)
    must = ", ".join(COLUMNS)
    assert complaint(path).startswith(f"{str(path)!r}, line 1: no column {column!r}; it must have {must}; it has ")


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv"])
def test_wrong_number_of_fields_in_a_table_is_reported(tmp_path: Path, name: str) -> None:
    path = write_table(tmp_path / name, [row(PLANE), row(PLANE)[:-1]])
    assert complaint(path) == f"{str(path)!r}, line 3: 7 fields instead of 8"


@pytest.mark.parametrize("content", ["", "\n", " \n\n"])
def test_empty_files_are_reported(tmp_path: Path, content: str) -> None:
    path, gold = tmp_path / "a.data.txt", tmp_path / "a.gold.txt"
    path.write_text(content)
    gold.write_text(content)
    message = f"{str(path)!r} is empty; it must hold at least one pair"
    assert complaint(path) == complaint(tmp_path) == message
    table = tmp_path / "mine.csv"
    table.write_text(content)
    assert complaint(table).startswith(f"{str(table)!r}, line 1: no column 'word'; it must have word, ")


def test_files_with_only_a_header_or_an_empty_list_are_reported(tmp_path: Path) -> None:
    for path in (write_table(tmp_path / "mine.tsv", []), write_json(tmp_path, [], [])):
        assert complaint(path) == f"{str(path)!r} is empty; it must hold at least one pair"


@pytest.mark.parametrize("file", ["train.data.txt", "train.gold.txt", "mine.csv", "mine.tsv"])
def test_text_that_is_not_utf8_is_reported_with_its_line(tmp_path: Path, file: str) -> None:
    path = write_wic(tmp_path, LINES, "FT")
    for name in ("mine.csv", "mine.tsv"):
        write_table(tmp_path / name, [row(CARRY)])
    bad = tmp_path / file
    bad.write_bytes(bad.read_bytes().rstrip(b"\n") + b"\xe4\n")
    given = bad if file.startswith("mine") else path
    assert complaint(given) == f"{str(bad)!r}, line 2: not UTF-8"


@pytest.mark.parametrize("field", ["id", "lemma", "sentence1", "start1", "end1", "sentence2", "start2", "end2"])
def test_missing_json_field_is_reported(tmp_path: Path, field: str) -> None:
    bad = entry(PLANE, 1)
    del bad[field]
    path = write_json(tmp_path, [entry(CARRY, 0), bad], [{"id": i, "tag": "T"} for i in (0, 1)])
    fields = "id, lemma, sentence1, start1, end1, sentence2, start2, end2"
    assert complaint(path) == f"{str(path)!r}, entry 2: no {field!r}; it must have {fields}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lemma": 5}, "lemma is 5; it must be text"),
        ({"lemma": " "}, "lemma is empty; it must be the word of the pair"),
        ({"sentence2": None}, "sentence2 is None; it must be text"),
        ({"sentence1": "A \ud800"}, r"sentence1 is 'A \ud800', which is not valid Unicode text"),
        ({"id": None}, "the id None must be text or a whole number"),
        ({"id": "0"}, "the id '0' occurs twice; each pair must have its own"),
    ],
)
def test_wrong_json_value_is_reported(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    entries = [entry(CARRY, 0), entry(PLANE, 1) | change]
    path = write_json(tmp_path, entries, [{"id": i, "tag": "T"} for i in (0, 1)])
    assert complaint(path) == f"{str(path)!r}, entry 2: {message}"


def test_ids_in_only_one_of_the_files_are_reported(tmp_path: Path) -> None:
    tags = [{"id": i, "tag": "T"} for i in (0, 1)]
    gold = tmp_path / "train.gold"
    path = write_json(tmp_path, [entry(CARRY, 0), entry(PLANE, 2)], tags)
    assert complaint(path) == f"{str(path)!r}, entry 2: the id '2' is not in {str(gold)!r}; each pair must be in both"
    path = write_json(tmp_path, [entry(CARRY, 0)], tags)
    assert complaint(path) == f"{str(gold)!r}, entry 2: the id '1' is not in {str(path)!r}; each pair must be in both"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[\n{"id": 1,\n}]', ", line 3: not JSON ("),
        ('[{"id": ' + "9" * 5000 + "}]", " is not JSON that can be read"),
        ('[{"id": ' + "[" * 200_000, " is not JSON that can be read"),
        ('[{"id": 1}, 2]', ", entry 1: no 'lemma'; it must have id, "),
    ],
    ids=["cut", "long", "deep", "bare"],
)
def test_unreadable_json_is_reported(tmp_path: Path, content: str, message: str) -> None:
    path = write_json(tmp_path, [], [])
    path.write_text(content)
    assert complaint(path).startswith(f"{str(path)!r}{message}")


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ("F\nT\n", "line 1: not JSON (Expecting value, column 1)"),
        ('{"id": 0, "tag": "T"}', "line 1: must be a JSON list of objects with id, tag"),
        ('["T"]', "entry 1: must be an object with id, tag"),
        ('[{"id": 0}]', "entry 1: no 'tag'; it must have id, tag"),
    ],
)
def test_malformed_json_gold_is_reported(tmp_path: Path, gold: str, message: str) -> None:
    path = write_json(tmp_path, [entry(CARRY, 0)], [])
    (tmp_path / "train.gold").write_text(gold)
    assert complaint(path) == f"{str(tmp_path / 'train.gold')!r}, {message}"


# ---------------------------------------------------------------------------------------------- held-out words


def of_words(words: Sequence[str]) -> list[Pair]:
    """Return one pair for each word, with a different sentence each."""
    return [Pair(word, Usage(f"x {i}", 0, 1), Usage("x", 0, 1), i % 2 == 0) for i, word in enumerate(words)]


WORDS = st.lists(st.sampled_from(["a", "A", "b", "ß", "SS", "c", "d", "e"]), min_size=1, max_size=30)


@given(
    WORDS, st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.5, 0.9, 1.0]), st.integers(0, 5), st.randoms(use_true_random=False)
)
def test_share_is_held_out_by_words_in_any_order(
    words: list[str], share: float, seed: int, source: random.Random
) -> None:
    pairs = of_words(words)
    counts = Counter(word.casefold() for word in words)
    by_hash = sorted(counts, key=lambda word: place_key(seed, "", word))
    if share and len(pairs) - counts[by_hash[-1]] < max(share * len(pairs) - 1e-9, 1):  # the last word is required
        with pytest.raises(UserError, match="cannot be held out"):
            hold_out(pairs, share, seed)
        return
    kept, held = hold_out(pairs, share, seed)
    assert [pair for pair in pairs if pair in kept] == kept
    assert [pair for pair in pairs if pair not in kept] == held
    sides = [{pair.word.casefold() for pair in side} for side in (kept, held)]
    assert not sides[0] & sides[1]
    assert kept
    assert bool(held) == (share > 0)
    assert len(held) >= share * len(pairs) - 1e-9
    assert sides[1] == set(by_hash[: len(sides[1])])
    if held:  # without the last selected word there would be too few
        assert len(held) - counts[by_hash[len(sides[1]) - 1]] < max(share * len(pairs) - 1e-9, 1)
    shuffled = source.sample(pairs, len(pairs))
    again = hold_out(shuffled, share, seed)
    assert [set(side) for side in again] == [set(kept), set(held)]


def test_another_seed_holds_out_other_words_and_a_larger_share_more() -> None:
    pairs = of_words([f"word{i}" for i in range(200)])
    few, other, more = (set(hold_out(pairs, share, seed)[1]) for share, seed in ((0.1, 0), (0.1, 1), (0.3, 0)))
    assert (len(few), len(other), len(more)) == (20, 20, 60)
    assert few < more
    assert few != other


def test_share_is_interpreted_by_its_decimals() -> None:
    assert 0.07 * 100 > 7  # as a binary fraction it would be one more
    assert len(hold_out(of_words([f"word{i}" for i in range(100)]), 0.07, 0)[1]) == 7


def test_share_of_zero_holds_out_nothing_and_the_smallest_share_one_word() -> None:
    pairs = of_words("abc")
    assert hold_out(pairs, 0, 0) == (pairs, [])
    assert hold_out([], 0.0, 0) == ([], [])
    assert len(hold_out(pairs, 1e-12, 0)[1]) == 1


@pytest.mark.parametrize(
    ("words", "share", "message"),
    [
        ("aA", 0.1, "share 0.1 of 2 pairs of 1 word"),
        ("ab", 1, "share 1 of 2 pairs of 2 words"),
        ("ab", 0.6, "share 0.6 of 2 pairs of 2 words"),
        ("", 0.5, "share 0.5 of 0 pairs of 0 words"),
    ],
)
def test_empty_side_is_reported(words: str, share: float, message: str) -> None:
    with pytest.raises(UserError) as error:
        hold_out(of_words(words), share, 0)
    end = "cannot be held out, as no word would be left; give a smaller share, or pairs of more words"
    assert str(error.value) == f"{message} {end}"


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), True, "0.1", None])
def test_invalid_share_is_reported(share: Any) -> None:
    with pytest.raises(UserError, match=r"share must be a number from 0 to 1; got "):
        hold_out(of_words("abc"), share, 0)


@pytest.mark.parametrize("seed", [-1, 0.5, True, None])
def test_invalid_seed_is_reported(seed: Any) -> None:
    with pytest.raises(UserError, match=r"seed must be a whole number, 0 or more; got "):
        hold_out(of_words("abc"), 0.1, seed)

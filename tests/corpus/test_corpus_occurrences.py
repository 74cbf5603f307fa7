"""Test that every occurrence is found with its sentence, span, line and date in every format, and sampling."""

from __future__ import annotations

import csv
import datetime
import gzip
import hashlib
import io
import json
import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from scripts import is_mark, is_unspaced, is_word, word_runs

from lexshift.corpus import (
    Occurrences,
    Reading,
    Targets,
    decoding,
    find_occurrences,
    occurrences,
    passages,
    read_targets,
    scanner,
)
from lexshift.corpus.sources import UNREADABLE, Tally, find_sources
from lexshift.errors import UserError

Row = dict[str, Any]
LINES = Reading(split="lines")


def rows_of(found: Occurrences) -> list[Row]:
    rows: list[Row] = found.table.to_pylist()
    return rows


def write_file(folder: str | Path, data: str | bytes, name: str = "x.txt") -> Path:
    path = Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def found_in(
    folder: Path, text: str | bytes, words: Any, reading: Reading | None = None, match: str = "word"
) -> list[tuple[int, str, str]]:
    """Return line, sentence and text of the span of each occurrence in a file with this text."""
    rows = rows_of(find_occurrences(write_file(folder, text), read_targets(words, match), reading))
    return [(row["line"], row["sentence"], row["sentence"][row["start"] : row["end"]]) for row in rows]


def forms_in(folder: Path, text: str | bytes, words: Any, match: str = "word") -> list[str]:
    return [form for _, _, form in found_in(folder, text, words, LINES, match)]


# ------------------------------------------------------------------------------- comparison with a slow reference


def folded(text: str) -> str:
    """Fold each character for which the result is one character."""
    return "".join(next(f for f in (c.casefold(), c.lower(), c) if len(f) == 1) for c in text)


def alike(text: str) -> str:
    """Return a key that is equal for canonically equivalent texts, ignoring case, apostrophes and hyphens."""
    text = re.sub("[\u2018\u2019\u02bc]", "'", re.sub("[\u2010\u2011]", "-", text))
    return unicodedata.normalize("NFC", folded(unicodedata.normalize("NFC", text)))


def end_of_form(line: str, at: int, form: str, same: Callable[[str], str]) -> int | None:
    """Return the end of a form that starts here; any whitespace may separate its words."""
    for i, part in enumerate(form.split()):
        if i:
            after = at
            while after < len(line) and line[after].isspace():
                after += 1
            if after == at:
                return None
            at = after
        ends = [end for end in range(at + 1, len(line) + 1) if same(line[at:end]) == same(part)]
        if not ends:
            return None
        at = ends[-1]
    return at


def begins(line: str, at: int, match: str) -> bool:
    """Return whether a word may start here: at the start of a word or inside letters of a script without spaces."""
    if match == "token":
        return at == 0 or line[at - 1].isspace()
    inside = is_unspaced(line[at]) and not (at and line[at - 1] in "\u17d2\u1039")
    return inside or at in [start for start, _ in word_runs(line)]


def ends(line: str, end: int, match: str) -> bool:
    """Return whether a word may end here: after a sign, at the end of a word, or inside a script without spaces."""
    if match == "token":
        return end == len(line) or line[end].isspace()
    if is_unspaced(line[end - 1]):
        return end == len(line) or not is_mark(line[end])
    return not is_word(line[end - 1]) or end in [stop for _, stop in word_runs(line)]


def slow_search(
    lines: list[str], forms: dict[str, tuple[str, ...]], match: str
) -> list[tuple[int, int, str, int, int]]:
    """Return target, line, sentence, start and end of every occurrence in normalised text.

    Of overlapping occurrences of a target, the first is used, and the longest of those with the same start.
    """
    same = alike if match == "word" else lambda text: unicodedata.normalize("NFC", text)
    found = []
    for target, listed in enumerate(forms.values()):
        for number, line in enumerate([unicodedata.normalize("NFC", line) for line in lines], 1):
            blank, taken = len(line) - len(line.lstrip()), 0
            for at in range(len(line)):
                stops = [end_of_form(line, at, form, same) for form in listed if begins(line, at, match)]
                stop = max((end for end in stops if end is not None and ends(line, end, match)), default=0)
                if stop and at >= taken:
                    taken = stop
                    found.append((target, number, line.strip(), at - blank, stop - blank))
    return found


FORMS = {
    "mouse": ("mouse", "mice", "Mäuse"),
    "cell phone": ("cell phone", "cell phones"),
    "rodent": ("mouse", "rat"),
    "e-mail": ("e-mail",),
    "C++": ("C++",),
    "日本": ("日本",),
    "straße": ("straße",),
    "বা\u09dcি": ("বা\u09dcি",),
    "ẖrd": ("ẖrd",),
    "o'clock": ("o'clock",),
    "日本語": ("日本語", "日", "本日"),
    "Tシャツ": ("Tシャツ", "卡拉OK", "日本 x"),
    "ที": ("ที",),
}
PIECES = ["mouse", "Mouse", "MICE", "mäuse", "ma\u0308use", "MÄUSE", "cell", "Cell", "phone", "PHONES", "rat", "e-mail"]
PIECES += ["E-Mail", "e", "mail", "C++", "c", "+", "日本", "🐁", "straße", "STRAẞE", "\u0301", "_", "1", "x", "\u00df"]
PIECES += ["বা\u09dcি", "বা\u09a1\u09bcি", "\u1e96rd", "h\u0331rd", "H\u0331rd", "\u0331", "\u09bc", "H"]
PIECES += ["o'clock", "O\u2019clock", "o\u02bcclock", "e\u2011mail", "日", "本", "語", "Tシャツ", "卡拉OK", "ที", "่"]
PIECES += [" ", " ", "  ", "\t", "\u00a0", "-", ".", ", ", "'", "”", "\n", "\n", "\n\n", "\r\n"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@given(
    TEXTS, st.sampled_from(["word", "token"]), st.integers(7, 64) | st.just(1 << 22), st.sampled_from([1, 3, 1 << 15])
)
@example("cell phone cell  phones\ncell\n phone", "word", 8, 1)
@example("mouse " * 50, "token", 7, 2)
@example("\ufeffmouse\r\n\r\nmouse", "word", 7, 1)
@settings(max_examples=100)
def test_search_equals_a_character_by_character_search(text: str, match: str, size: int, buffer: int) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "BLOCK", size)
        patch.setattr(passages, "BLOCK", size)
        patch.setattr(scanner, "_HITS", buffer)
        found = find_occurrences(write_file(folder, text + "\nz"), read_targets(FORMS, match), LINES)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    expected = slow_search(lines, FORMS, match)
    rows = rows_of(found)
    assert [(r["target"], r["line"], r["sentence"], r["start"], r["end"]) for r in rows] == expected
    assert found.found.tolist() == [sum(row[0] == target for row in expected) for target in range(len(FORMS))]
    assert {row["file"] for row in rows} <= {"x.txt"}
    for row in rows:
        form = row["sentence"][row["start"] : row["end"]]
        known = {" ".join(alike(f).split()) for f in list(FORMS.values())[row["target"]]}
        assert " ".join(alike(form).split()) in known


@given(
    st.lists(
        st.sampled_from(["Mouse", "mice", "käse", "🐁", "cell", "phone", ". A", "! The", "\n", "\n\n", "  "]),
        max_size=60,
    ),
    st.sampled_from(["lines", "prose", "wrapped"]),
    st.integers(7, 64),
)
def test_small_blocks_change_nothing_and_every_span_is_a_form(pieces: list[str], split: str, size: int) -> None:
    targets = read_targets({"mouse": ["mouse", "mice"], "cell phone": ["cell phone"], "käse": ["käse"]})
    reading = Reading(split=split)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = write_file(folder, " ".join(pieces) + " z")
        whole = find_occurrences(path, targets, reading)
        patch.setattr(decoding, "BLOCK", size)
        patch.setattr(passages, "BLOCK", size)
        parts = find_occurrences(path, targets, reading)
    assert rows_of(parts) == rows_of(whole)
    assert parts.content == whole.content
    assert (parts.tally.words, parts.tally.passages) == (whole.tally.words, whole.tally.passages)
    assert len(whole.table) >= sum(piece in ("Mouse", "mice", "käse") for piece in pieces)
    lines = " ".join(pieces).split("\n")
    for row in rows_of(whole):
        form = " ".join(row["sentence"][row["start"] : row["end"]].split()).casefold()
        assert form in targets.forms[targets.words[row["target"]]]
        assert form.split()[0] in lines[row["line"] - 1].casefold()


# --------------------------------------------------------------------------------------------- handmade examples


@pytest.mark.parametrize(
    ("text", "words", "forms"),
    [
        ("Mouse, mouse; MOUSE!", "mouse", ["Mouse", "mouse", "MOUSE"]),
        ("mouses mouse_ xmouse mouse1 mouse\u0301", "mouse", []),
        ("mouse's (mouse) mouse-mat", "mouse", ["mouse", "mouse", "mouse"]),
        ("caf\u00e9 Cafe\u0301 CAF\u00c9 cafe", "caf\u00e9", ["caf\u00e9", "Caf\u00e9", "CAF\u00c9"]),
        ("caf\u00e9 Cafe\u0301", "cafe\u0301", ["caf\u00e9", "Caf\u00e9"]),
        ("🐁🐁 mäuse 日本 Mäuse", "mäuse", ["mäuse", "Mäuse"]),
        ("cell phone, Cell  Phone, cell\tphone", "cell phone", ["cell phone", "Cell  Phone", "cell\tphone"]),
        ("cell phones, cellphone, cell, phone", "cell phone", []),
        ("an E-mail by e-mail, e mail, e-mails", "e-mail", ["E-mail", "e-mail"]),
        ("C++ and c++11 but not C+ or C", "C++", ["C++", "c++"]),
        ("Ὀδυσσεύς ὈΔΥΣΣΕΎΣ", "Ὀδυσσεύς", ["Ὀδυσσεύς", "ὈΔΥΣΣΕΎΣ"]),
        ("mouse\u200bmouse", "mouse", ["mouse", "mouse"]),
        ("o'clock o\u2019clock O\u02bcclock o clock", "o'clock", ["o'clock", "o\u2019clock", "O\u02bcclock"]),
        ("o'clock o\u2019clock", "o\u2019clock", ["o'clock", "o\u2019clock"]),
        ("e-mail e\u2010mail e\u2011mail e\u2013mail", "e-mail", ["e-mail", "e\u2010mail", "e\u2011mail"]),
        ("hy\u00adphen hyphen\u00ad hyp\u00adhens", "hyphen", ["hyphen", "hyphen"]),
        ("a \ufb01ne dif\ufb01cult o\ufb03ce", "fine,difficult,office", ["fine", "difficult", "office"]),
        ("\u0130stanbul istanbul STRASSE stra\u00dfe", "istanbul,stra\u00dfe", ["istanbul", "stra\u00dfe"]),
        ("a mouse", "mouse", ["mouse"]),
    ],
)
def test_whole_words_are_found_in_any_case(tmp_path: Path, text: str, words: str, forms: list[str]) -> None:
    assert forms_in(tmp_path, text, words) == forms


@pytest.mark.parametrize(
    ("text", "words", "forms"),
    [
        ("plane_nn plane Plane_nn plane_nn. fly_vb", ["plane_nn"], ["plane_nn"]),
        ("C++ ++ C++.", ["C++", "++"], ["C++", "++"]),
        ("cell phone cell  phone cell phone.", ["cell phone"], ["cell phone", "cell  phone"]),
        ("a\u00a0mouse\u3000mouse\tmouse", ["mouse"], ["mouse"] * 3),
        ("🐁 🐁🐁", ["🐁"], ["🐁"]),
        ("o'clock o\u2019clock e-mail e\u2011mail", ["o'clock", "e-mail"], ["o'clock", "e-mail"]),
    ],
)
def test_tokens_are_found_exactly(tmp_path: Path, text: str, words: list[str], forms: list[str]) -> None:
    assert forms_in(tmp_path, text, words, "token") == forms


def test_form_table_is_read_from_a_file_and_a_form_may_belong_to_two_targets(tmp_path: Path) -> None:
    words = write_file(tmp_path / "words", "mouse\tmouse,mice\nanimal\tmice,dog\n", "words.tsv")
    path = write_file(tmp_path, "A mouse saw mice.\nThe dog slept.\n")
    found = find_occurrences(path, read_targets(words), LINES)
    rows = [(row["target"], row["line"], row["start"], row["end"]) for row in rows_of(found)]
    assert rows == [(0, 1, 2, 7), (0, 1, 12, 16), (1, 1, 12, 16), (1, 2, 4, 7)]
    assert found.found.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("forms", "text"),
    [
        (["cell phone", "Cell Phone"], "a Cell phone"),
        (["e-mail", "E-mail"], "an e-mail"),
        (["cell", "cell phone"], "a cell phone"),
        (["mouse", "mouse's"], "the mouse's tail"),
    ],
)
def test_position_is_one_occurrence_of_a_target_for_any_number_of_forms(
    tmp_path: Path, forms: list[str], text: str
) -> None:
    assert len(forms_in(tmp_path, text, {"it": forms})) == 1


def test_lemmas_are_found_in_all_their_forms(tmp_path: Path) -> None:
    pytest.importorskip("simplemma")
    assert forms_in(tmp_path, "Mice saw a mouse, MICE and mousse.", ["mouse"], "lemma") == ["Mice", "mouse", "MICE"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_byte_order_marks_line_ends_and_empty_lines_do_not_change_sentences(
    tmp_path: Path, end: str, mark: str, last: bool
) -> None:
    lines = ["Mouse one.", "", "  \t", "\tA mouse, a mouse. ", "", "no", "die Mäuse: mouse"]
    text = mark + end.join(lines) + (end if last else "")
    assert found_in(tmp_path, text, "mouse", LINES) == [
        (1, "Mouse one.", "Mouse"),
        (4, "A mouse, a mouse.", "mouse"),
        (4, "A mouse, a mouse.", "mouse"),
        (7, "die Mäuse: mouse", "mouse"),
    ]


def test_sentences_of_prose_have_the_line_of_their_paragraph(tmp_path: Path) -> None:
    text = "It rained. A mouse ran! 🐁\n\nKäse. Der Mouse, “Mouse!” Ende. No cat.\n"
    assert found_in(tmp_path, text, "mouse", Reading(split="prose")) == [
        (1, "A mouse ran!", "mouse"),
        (3, "Der Mouse, “Mouse!”", "Mouse"),
        (3, "Der Mouse, “Mouse!”", "Mouse"),
    ]


def test_wrapped_text_is_joined_and_occurrences_keep_their_line_numbers(tmp_path: Path) -> None:
    text = "It rained. My cell\n  phone fell. The mouse\nran.\n\nThe cell\n\nphone. A cell phone\n"
    found = found_in(tmp_path, text, ["cell phone", "mouse"], Reading(split="wrapped"))
    assert [(line, " ".join(sentence.split()), " ".join(form.split())) for line, sentence, form in found] == [
        (1, "My cell phone fell.", "cell phone"),
        (7, "A cell phone", "cell phone"),
        (2, "The mouse ran.", "mouse"),
    ]


def test_soft_hyphens_at_line_ends_are_joined_and_hard_ones_are_reported(tmp_path: Path) -> None:
    text = "It rained and the ele\u00ad\nphant slept. The ele-\nphant woke -\nor not, said the "
    text += "well-\nknown ele\u00ad\n  phant.\n"
    path = write_file(tmp_path, text + "\nBy ele\u00adphant.\nAn e-\n\nmail.\n")
    found = find_occurrences(path, read_targets(["elephant", "known"]), Reading(split="wrapped"))
    assert [row["line"] for row in rows_of(found)] == [1, 5, 8, 5]
    assert rows_of(found)[0]["sentence"] == "It rained and the elephant slept."
    assert dict(found.tally.skipped) == {"lines with a hyphen at the end: a word that is divided there is not found": 2}


def test_overlong_sentence_is_cut_around_the_word_and_counted(tmp_path: Path) -> None:
    path = write_file(tmp_path, "wörd " * 5000 + "mouse " + "wörd " * 5000)
    found = find_occurrences(path, read_targets("mouse"), LINES)
    (row,) = rows_of(found)
    assert row["sentence"][row["start"] : row["end"]] == "mouse"
    assert 3900 < len(row["sentence"]) <= 4000
    assert dict(found.tally.skipped) == {"sentences of over 4000 characters, cut around the word": 1}


@pytest.mark.slow
def test_line_of_50_megabytes_is_read(tmp_path: Path) -> None:
    filler = "ein Käse und ".encode() * 1_900_000
    path = write_file(tmp_path, b"x\nMouse " + filler + b"mouse " + filler + b"MOUSE\ny mouse\n")
    assert path.stat().st_size > 50_000_000
    found = find_occurrences(path, read_targets("mouse"), LINES)
    rows = rows_of(found)
    assert [row["sentence"][row["start"] : row["end"]] for row in rows] == ["Mouse", "mouse", "MOUSE", "mouse"]
    assert [row["line"] for row in rows] == [2, 2, 2, 3]
    assert rows[-1]["sentence"] == "y mouse"
    assert found.tally.words == 2 * 3 * 1_900_000 + 6
    assert found.tally.passages == 3


def test_overlong_lines_are_cut_and_counted_and_keep_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "BLOCK", 64)
    monkeypatch.setattr(decoding, "LONGEST", 200)
    path = write_file(tmp_path, "mouse one\n" + "käse mouse " * 100 + "\nmouse two\n")
    found = find_occurrences(path, read_targets("mouse"), LINES)
    rows = rows_of(found)
    assert [row["line"] for row in rows] == [1, *[2] * 100, 3]
    assert {row["sentence"][row["start"] : row["end"]] for row in rows} == {"mouse"}
    assert max(len(row["sentence"]) for row in rows) <= 264
    ((reason, count),) = found.tally.skipped.items()
    assert "cut" in reason
    assert count >= 4


def test_word_that_never_occurs_has_no_rows(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a mouse\n")
    for most in (None, 3):
        found = find_occurrences(path, read_targets(["cat", "mouse", "dog"]), max_per_word=most)
        assert found.found.tolist() == [0, 1, 0]
        assert [row["target"] for row in rows_of(found)] == [1]
        nothing = find_occurrences(path, read_targets(["cat"]), max_per_word=most)
        assert nothing.table.num_rows == 0
        assert nothing.table.schema == found.table.schema == occurrences.SCHEMA


def test_words_and_passages_are_counted(tmp_path: Path) -> None:
    folder = write_file(tmp_path / "c", "one two\n\n, .\nthree\n", "a.txt").parent
    write_file(folder, "text\nfour five\n\n", "b.csv")
    tally = find_occurrences(folder, read_targets("one"), LINES).tally
    assert (tally.files, tally.words, tally.passages) == (2, 5, 3)
    assert tally.size == sum(path.stat().st_size for path in folder.iterdir())
    assert dict(tally.splits) == {"lines": 2}
    assert not tally.skipped


# -------------------------------------------------------------------------------------- the same text in every format

PLAIN = [
    "The mouse, a Maus, ran; “mice” — no: mouse.",
    "Käse für 5 £, the cell phone and a cell  phone!",
    'He said "mouse" and, "no": the mouse\'s tail.',
    "nothing here",
    "Mouse",
    "Das Café: MOUSE ß. Then the Mouse hid. Another mouse?",
]
LATIN = [line.translate(str.maketrans("“”—", "«»-")) for line in PLAIN]
WIDE = [*PLAIN, "🐁🐁 日本 mouse e\u0301 mouse 𝕏 cell phone", "мышь mouse"]
DATES = [f"19{90 + i}" for i in range(len(WIDE))]
WORDS = {"mouse": ["mouse", "mice"], "cell phone": ["cell phone"], "café": ["café"]}


def text(lines: list[str]) -> bytes:
    return "\n".join(lines).encode()


def broken(lines: list[str]) -> list[str]:
    """Replace the first space of each record by a newline."""
    return [line.replace(" ", "\n", 1) for line in lines]


def as_csv(lines: list[str]) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file).writerows([["id", "text", "date"], *zip("abcdefgh", lines, DATES, strict=False)])
    return file.getvalue().encode()


def as_tsv(lines: list[str]) -> bytes:
    return "\n".join(["date\ttext", *(f"{date}\t{line}" for date, line in zip(DATES, lines, strict=False))]).encode()


def as_jsonl(lines: list[str]) -> bytes:
    return b"".join(
        json.dumps({"text": line, "date": date}).encode() + b"\n" for date, line in zip(DATES, lines, strict=False)
    )


def as_parquet(lines: list[str]) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"date": DATES[: len(lines)], "text": lines}), sink, row_group_size=2)
    return bytes(sink.getvalue())


def members(pack: Callable[[bytes], bytes], data: bytes) -> bytes:
    return b"".join(pack(data[i : i + 37]) for i in range(0, len(data), 37))


zstd = zstandard.ZstdCompressor().compress
DRESSES: dict[str, tuple[str, Callable[[list[str]], bytes]]] = {
    "text": ("x.txt", text),
    "text with mark": ("x", lambda lines: b"\xef\xbb\xbf" + text(lines)),
    "text with carriage returns": ("x.txt", lambda lines: text(lines).replace(b"\n", b"\r\n") + b"\r\n"),
    "gzip": ("x.txt.gz", lambda lines: gzip.compress(text(lines), mtime=0)),
    "gzip by content": ("x.txt", lambda lines: gzip.compress(text(lines), mtime=0)),
    "gzip in members": ("x.gz", lambda lines: members(gzip.compress, text(lines))),
    "zstandard": ("x.txt.zst", lambda lines: zstd(text(lines))),
    "zstandard by content": ("x", lambda lines: zstd(text(lines))),
    "zstandard in frames": ("x.zst", lambda lines: members(zstd, text(lines))),
    "jsonl": ("x.jsonl", lambda lines: as_jsonl(broken(lines))),
    "jsonl gzip": ("x.jsonl.gz", lambda lines: gzip.compress(as_jsonl(lines), mtime=0)),
    "csv": ("x.csv", lambda lines: as_csv(broken(lines))),
    "csv zstandard": ("x.csv.zst", lambda lines: zstd(as_csv(lines))),
    "tsv": ("x.tsv", as_tsv),
    "parquet": ("x.parquet", lambda lines: as_parquet(broken(lines))),
}


def spans(found: Occurrences) -> list[tuple[Any, ...]]:
    columns = ("target", "line", "sentence", "start", "end")
    return [tuple(row[column] for column in columns) for row in rows_of(found)]


def expected_spans(folder: Path, lines: list[str], reading: Reading) -> list[tuple[Any, ...]]:
    expected = spans(find_occurrences(write_file(folder / "expected", text(lines)), read_targets(WORDS), reading))
    assert len(expected) >= 12
    return expected


@pytest.mark.parametrize("split", ["lines", "prose"])
@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("size", [16, 1 << 22])
def test_same_text_in_any_file_format_gives_the_same_occurrences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dress: str, split: str, size: int
) -> None:
    name, make = DRESSES[dress]
    reading, targets = Reading(split=split), read_targets(WORDS)
    expected = expected_spans(tmp_path, WIDE, reading)
    monkeypatch.setattr(decoding, "BLOCK", size)
    monkeypatch.setattr(passages, "BLOCK", size)
    path = write_file(tmp_path / "corpus", make(WIDE), name)
    for corpus in (path, str(path), path.parent, f"{tmp_path}/corp*/{name[:-1]}?"):
        assert spans(find_occurrences(corpus, targets, reading)) == expected
    if find_sources(path)[0].kind == "text":
        stdin = SimpleNamespace(buffer=io.BytesIO(path.read_bytes()), isatty=lambda: False)
        monkeypatch.setattr(sys, "stdin", stdin)
        piped = find_occurrences("-", targets, reading)
        assert spans(piped) == expected
        assert {row["file"] for row in rows_of(piped)} == {"-"}


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("dress", ["text", "text with carriage returns", "csv", "tsv"])
@pytest.mark.parametrize("size", [7, 1 << 22])
def test_same_text_in_any_encoding_gives_the_same_occurrences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, dress: str, size: int
) -> None:
    name, make = DRESSES[dress]
    expected = expected_spans(tmp_path, LATIN, LINES)
    monkeypatch.setattr(decoding, "BLOCK", size)
    path = write_file(tmp_path / "corpus", make(LATIN).decode().encode(encoding), name)
    assert spans(find_occurrences(path, read_targets(WORDS), Reading(encoding, split="lines"))) == expected


@pytest.mark.parametrize("dress", ["jsonl", "csv", "tsv", "parquet"])
def test_dates_of_tables_are_recorded(tmp_path: Path, dress: str) -> None:
    name, make = DRESSES[dress]
    path = write_file(tmp_path, make(WIDE), name)
    dated = rows_of(find_occurrences(path, read_targets(WORDS), Reading(split="lines", date_column="date")))
    assert len(dated) >= 12
    assert all(row["date"] == DATES[row["line"] - 1] for row in dated)
    assert {row["date"] for row in rows_of(find_occurrences(path, read_targets(WORDS), LINES))} == {None}


def test_valid_dates_are_recorded_as_iso_text(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"text": ["a mouse"], "day": [datetime.date(1990, 5, 1)]}), tmp_path / "x.parquet")
    (row,) = rows_of(find_occurrences(tmp_path, read_targets("mouse"), Reading(date_column="day")))
    assert row["date"] == "1990-05-01"


def test_content_digest_depends_on_names_and_bytes_and_not_on_the_location(tmp_path: Path) -> None:
    def content(folder: str, **files: str) -> str:
        for name, data in files.items():
            write_file(tmp_path / folder, data, name)
        return find_occurrences(tmp_path / folder, read_targets("mouse")).content

    first = content("one", a="a mouse", b="b")
    hashes = [(name, hashlib.sha256(data).hexdigest()) for name, data in (("a", b"a mouse"), ("b", b"b"))]
    assert first == hashlib.sha256(repr(hashes).encode()).hexdigest() == content("two", b="b", a="a mouse")
    others = [content("three", a="a mouse", c="b"), content("four", a="a mouse ", b="b"), content("five", a="a mouse")]
    assert len({first, *others}) == 4


def test_file_whose_name_is_not_utf_8_is_read_or_refused_in_one_sentence(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("a mouse")
    except OSError:
        pytest.skip("the file system takes no such name")
    try:
        outcome = str(find_occurrences(tmp_path, read_targets("mouse")).found.tolist())
    except UserError as error:
        outcome = str(error)
    assert outcome == "[1]" or "caf" in outcome


def test_progress_reports_bytes_read_and_total_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "BLOCK", 64)
    monkeypatch.setattr(passages, "_HELD", 100)
    for name in ("a", "b"):
        write_file(tmp_path, "a mouse\n" * 500, name)
    calls: list[tuple[int, int]] = []
    find_occurrences(tmp_path, read_targets("mouse"), LINES, progress=lambda done, total: calls.append((done, total)))
    assert {total for _, total in calls} == {8000}
    done = [n for n, _ in calls]
    assert done == sorted(done)
    assert done[-1] == 8000
    assert len(set(done)) > 4  # and not only at the end of a file


# ------------------------------------------------------------------------------------------------------- samples


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Write three files with 60 occurrences of mouse, 30 of cat and one of dog."""
    for i in range(3):
        lines = [f"mouse {i} {j} Mouse, cat" for j in range(10)]
        write_file(tmp_path / "corpus", "\n".join(lines) + ("\na dog\n" if i == 1 else ""), f"{i}.txt")
    return tmp_path / "corpus"


SAMPLED = read_targets(["mouse", "cat", "dog"])


def places(found: Occurrences) -> set[tuple[Any, ...]]:
    return {(row["target"], row["file"], row["line"], row["start"]) for row in rows_of(found)}


def test_sample_has_the_smallest_hashes_in_the_order_of_positions(corpus: Path) -> None:
    whole = rows_of(find_occurrences(corpus, SAMPLED, LINES, seed=3))
    assert len(whole) == 91
    assert whole == sorted(whole, key=lambda row: (row["target"], row["file"], row["line"], row["start"]))
    found = find_occurrences(corpus, SAMPLED, LINES, max_per_word=7, seed=3)
    expected = []
    for target in range(3):
        mine = [row for row in whole if row["target"] == target]
        limit = sorted(row["priority"] for row in mine)[:7][-1]
        expected += [row for row in mine if row["priority"] <= limit]
    assert rows_of(found) == expected
    assert Counter(row["target"] for row in expected) == {0: 7, 1: 7, 2: 1}
    assert found.found.tolist() == [60, 30, 1]
    assert dict(found.tally.skipped) == {"occurrences beyond 7 for a word": 53 + 23}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_samples_are_nested(corpus: Path, seed: int) -> None:
    samples = [places(find_occurrences(corpus, SAMPLED, LINES, k, seed)) for k in range(1, 61, 3)]
    assert all(smaller < larger for smaller, larger in pairwise(samples))
    assert samples[-1] < places(find_occurrences(corpus, SAMPLED, LINES, 60, seed))


@pytest.mark.parametrize("slack", [0, 1, 5])
@pytest.mark.parametrize("size", [16, 100])
@pytest.mark.parametrize("most", [1, 2, 9, 60])
def test_pruning_during_reading_changes_nothing(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, slack: int, size: int, most: int
) -> None:
    expected = find_occurrences(corpus, SAMPLED, LINES, most, 5)
    cuts = 0
    cut = occurrences.OccurrenceCollector.cut

    def counted(keeper: occurrences.OccurrenceCollector) -> None:
        nonlocal cuts
        cuts += 1
        cut(keeper)

    monkeypatch.setattr(occurrences.OccurrenceCollector, "cut", counted)
    monkeypatch.setattr(occurrences, "SLACK", slack)
    monkeypatch.setattr(decoding, "BLOCK", size)
    found = find_occurrences(corpus, SAMPLED, LINES, most, 5)
    assert rows_of(found) == rows_of(expected)
    assert found.found.tolist() == expected.found.tolist()
    assert found.tally == expected.tally
    assert cuts or most > 2


@pytest.mark.parametrize("slack", [0, 1 << 16])
def test_file_order_changes_nothing(corpus: Path, monkeypatch: pytest.MonkeyPatch, slack: int) -> None:
    monkeypatch.setattr(occurrences, "SLACK", slack)
    expected = find_occurrences(corpus, SAMPLED, LINES, 4)
    monkeypatch.setattr(occurrences, "find_sources", lambda path: find_sources(path)[::-1])
    found = find_occurrences(corpus, SAMPLED, LINES, 4)
    assert places(found) == places(expected)
    assert len(places(found)) == 9
    assert found.content == expected.content


def test_samples_of_the_files_merge_into_the_sample_of_the_folder(corpus: Path) -> None:
    parts = [row for path in sorted(corpus.iterdir()) for row in rows_of(find_occurrences(path, SAMPLED, LINES, 4))]
    merged = []
    for target in range(3):
        merged += sorted((row for row in parts if row["target"] == target), key=lambda row: row["priority"])[:4]
    expected = rows_of(find_occurrences(corpus, SAMPLED, LINES, 4))
    assert sorted(row["priority"] for row in merged) == sorted(row["priority"] for row in expected)
    assert len(expected) == 9


def test_sample_of_a_word_does_not_depend_on_other_words_or_the_corpus_location(corpus: Path, tmp_path: Path) -> None:
    together = {place[1:] for place in places(find_occurrences(corpus, SAMPLED, LINES, 5)) if place[0] == 1}
    assert len(together) == 5
    moved = corpus.rename(tmp_path / "moved")
    assert {place[1:] for place in places(find_occurrences(moved, read_targets("cat"), LINES, 5))} == together


def test_another_seed_gives_another_sample(corpus: Path) -> None:
    samples = {frozenset(places(find_occurrences(corpus, SAMPLED, LINES, 10, seed))) for seed in range(10)}
    assert len(samples) == 10


def test_every_occurrence_is_sampled_about_equally_often(corpus: Path) -> None:
    seeds, most = 150, 12
    targets = read_targets("mouse")
    taken = Counter(
        place for seed in range(seeds) for place in places(find_occurrences(corpus, targets, LINES, most, seed))
    )
    assert sum(taken.values()) == seeds * most
    expected, share = seeds * most / 60, most / 60
    counts = np.array([*taken.values(), *[0] * (60 - len(taken))])
    # 59 degrees of freedom: the mean of the statistic is 59 and its deviation about 11
    assert np.sum((counts - expected) ** 2) / (expected * (1 - share)) < 59 + 5 * np.sqrt(2 * 59)


# --------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("name", ["x.txt", "x.jsonl", "x.csv", "x.tsv", "x.txt.gz"])
@pytest.mark.parametrize("content", ["", "\n\n \n", "... !\n"])
def test_corpus_without_words_is_refused_by_name(tmp_path: Path, name: str, content: str) -> None:
    if name.endswith("jsonl"):
        content = json.dumps({"text": content})
    elif name.endswith("sv"):
        content = "text\n" + content
    path = write_file(tmp_path, gzip.compress(content.encode(), mtime=0) if name.endswith("gz") else content, name)
    with pytest.raises(UserError, match=f"the corpus '{path}' is empty: there is no word in it"):
        find_occurrences(path, read_targets("mouse"))


def test_empty_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(), isatty=lambda: False))
    with pytest.raises(UserError, match="the corpus '-' is empty"):
        find_occurrences("-", read_targets("mouse"))


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("b.txt", b"Z\xc3\xbcrich, \xc3\xa4, M\xe4use\n", ["not UTF-8 at line 1", "--encoding", "--errors replace"]),
        ("b.pdf", b"%PDF-1.4\nmouse", ["is a PDF"]),
        ("b", b"\x7fELF\0\0", ["binary data"]),
        ("b.gz", gzip.compress(b"a mouse\n" * 99, mtime=0)[:-4], ["damaged or cannot be read to its end"]),
        ("b.zst", zstd(b"a mouse\n" * 99)[:-4], ["damaged or cannot be read to its end"]),
        ("b.parquet", as_parquet(PLAIN)[:-9], ["damaged"]),
        ("b.csv", b"body\na mouse\n", ["no column 'text'", "'body'", "--text-column"]),
        ("b.jsonl", b'{"text": "a"}\nmouse\n', ["no valid JSON at line 2"]),
    ],
)
def test_fault_in_one_file_of_a_folder_is_reported_with_its_name(
    tmp_path: Path, name: str, content: bytes, parts: list[str]
) -> None:
    write_file(tmp_path, "a mouse\n", "a.txt")
    path = write_file(tmp_path, content, name)
    with pytest.raises(UserError) as caught:
        find_occurrences(tmp_path, read_targets("mouse"), Reading(strict=True))
    message = str(caught.value)
    assert "\n" not in message
    for part in [repr(str(path)), *parts]:
        assert part in message
    found = find_occurrences(tmp_path, read_targets("mouse"))
    assert found.found.tolist() == [1]
    assert found.tally.unreadable == {name: message}
    assert found.tally.skipped == {UNREADABLE: 1}
    assert found.content == Tally(hashes={"a.txt": hashlib.sha256(b"a mouse\n").hexdigest()}).content


def test_invalid_utf_8_can_be_replaced_and_is_counted(tmp_path: Path) -> None:
    path = write_file(tmp_path, b"M\xe4use, mouse\n\xff\xfe mouse\n")
    found = find_occurrences(path, read_targets("mouse"), Reading("utf-8", errors="replace", split="lines"))
    assert [(row["sentence"], row["start"]) for row in rows_of(found)] == [
        ("M\ufffduse, mouse", 7),
        ("\ufffd\ufffd mouse", 3),
    ]
    assert dict(found.tally.skipped) == {"sequences of bytes that are not UTF-8, replaced": 3}


def test_records_without_a_text_are_counted(tmp_path: Path) -> None:
    path = write_file(tmp_path, '{"text": null}\n{"text": 5}\n{"text": "a mouse"}\n', "x.jsonl")
    found = find_occurrences(path, read_targets("mouse"))
    assert [row["line"] for row in rows_of(found)] == [3]
    assert dict(found.tally.skipped) == {"records without a text": 2}


@pytest.mark.parametrize("most", [0, -1, 2.5, True, "3"])
def test_invalid_sample_size_is_refused(tmp_path: Path, most: Any) -> None:
    with pytest.raises(ValueError, match=f"max_per_word must be a whole number of at least 1; got {most!r}"):
        find_occurrences(write_file(tmp_path, "a mouse"), read_targets("mouse"), max_per_word=most)


@pytest.mark.parametrize("seed", [-1, 1.5, None, True])
def test_invalid_seed_is_refused(tmp_path: Path, seed: Any) -> None:
    with pytest.raises(ValueError, match=f"seed must be a whole number, 0 or more; got {seed!r}"):
        find_occurrences(write_file(tmp_path, "a mouse"), read_targets("mouse"), seed=seed)


def test_handmade_targets_are_checked_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the target '-x' has the form '-x'"):
        find_occurrences(tmp_path / "missing", Targets({"-x": ("-x",)}))

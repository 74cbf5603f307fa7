"""Test that the scan over bytes finds the same words as a loop over characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scripts import is_unspaced, is_word, word_runs

from lexshift.corpus import scanner, word_rule
from lexshift.corpus.scanner import scan, scan_unspaced
from lexshift.corpus.word_rule import (
    WordTable,
    fold,
    hash_word,
    marks,
    may_be_unspaced,
    script_kinds,
    token_table,
    word_table,
)
from lexshift.utils.arrays import Array

Rule = Callable[[str], str]  # folded form of a character, or "" if it separates words
Hit = tuple[int, int, int, int, int, int]

BEYOND = "\U000e0100\U000e01ef\U000e0067\U000f0000\U0010fffd"  # characters of the last planes; the first two are marks


def as_word(character: str) -> str:
    if not is_word(character):
        return ""
    return next(form for form in (character.casefold(), character.lower(), character) if len(form) == 1)


def as_token(character: str) -> str:
    return "" if character.isspace() else character


def runs(line: str, rule: Rule) -> list[tuple[str, int, int]]:
    """Return the folded words of a line with their spans."""
    if rule is as_word:
        return [("".join(map(rule, line[start:end])), start, end) for start, end in word_runs(line)]
    found, start = [], None
    for i, character in enumerate([*line, ""]):
        inside = bool(character) and bool(rule(character))
        if inside and start is None:
            start = i
        if not inside and start is not None:
            found.append(("".join(map(rule, line[start:i])), start, i))
            start = None
    return found


def slow_scan(text: str, rule: Rule, numbers: dict[str, int]) -> tuple[list[Hit], tuple[int, int]]:
    """Return the hits in the format of the scan, and the numbers of words and of lines with words."""
    hits: list[Hit] = []
    count = lines = line_start = 0
    for index, line in enumerate(text.split("\n")):
        found = runs(line, rule)
        count, lines = count + len(found), lines + bool(found)
        for word, start, end in found:
            if word in numbers:
                at = [line_start + len(line[:position].encode()) for position in (start, end)]
                hits.append((numbers[word], index, line_start, line_start + len(line.encode()), at[0], at[1]))
        line_start += len(line.encode()) + 1
    return hits, (count, lines)


def fast_scan(text: str, match: str, forms: list[str], buffer: int) -> tuple[list[Hit], tuple[int, int]]:
    """Call the scan like the package does, with a buffer for the given number of hits."""
    table = token_table() if match == "token" else word_table()
    numbers = {fold(form, table): number for number, form in enumerate(forms)}
    targets: Any = SimpleNamespace(match=match, word_table=WordTable(numbers, table), unspaced_words={})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanner, "_HITS", buffer)
        found, counts = scanner.scan_block(text.encode(), targets)
    return [tuple(hit) for hit in found.tolist()], (int(counts[0]), int(counts[1]))


NOISE = st.characters(max_codepoint=0x3347F, exclude_categories=["Cs"], exclude_characters="\0")
PIECES = [
    "mouse",
    "MOUSE",
    "Maus",
    "mäuse",
    "ma\u0308use",
    "日本",
    "𝕏",
    "ſ",
    "σας",
    "ΣΑΣ",
    "a",
    "_",
    "1",
    "²",
    "ẞ",
    "K",
]
PIECES += [" ", "  ", "\n", "\n\n", "\t", "\u00a0", "\u2028", "\r", "-", "+", ".", "'", "🐁", "\u0301", "\u200d", "ा"]
PIECES += ["ก", "ุ", "カ", "\u3099", "\u05b0", "\ufe0f", "々", "\u02bc"]
TEXT = st.lists(st.sampled_from(PIECES) | NOISE, max_size=60).map("".join)
BUFFERS = st.sampled_from([1, 2, 5, 1 << 15])


@given(TEXT, BUFFERS)
@example("mouse " * 30 + "\n" + "mouse\n" * 5, 1)
@example("a\n\nmouse mouse\nmouse", 2)
@example("", 1)
@settings(max_examples=200)
def test_word_scan_equals_a_loop_over_characters(text: str, buffer: int) -> None:
    forms = ["Mouse", "maus", "MÄUSE", "ma\u0308use", "日本", "𝕏", "s", "σας", "a", "_", "1", "ß", "k"]
    numbers = {"".join(map(as_word, form)): i for i, form in enumerate(forms)}
    assert fast_scan(text, "word", forms, buffer) == slow_scan(text, as_word, numbers)


@given(TEXT, BUFFERS)
@example("mouse " * 30 + "\n" + "mouse\n" * 5, 1)
@settings(max_examples=200)
def test_token_scan_equals_a_loop_over_characters(text: str, buffer: int) -> None:
    forms = ["mouse", "MOUSE", "mäuse", "日本", "𝕏", "🐁", "-", "+", "a", "mouse.", "\u0301", "\u200d", "aa"]
    expected = slow_scan(text, as_token, {form: i for i, form in enumerate(forms)})
    assert fast_scan(text, "token", forms, buffer) == expected


ASCII_FORMS = ["a", "I", "of", "OK", "cat", "the", "mouse", "mousse", "x_1", "C", "7", "42", "_"]
ASCII_TEXT = st.lists(
    st.sampled_from([*ASCII_FORMS, "A", "MOUSE", "mouses", "cats", " ", "\n", "\t", "-", "\x00", "\x1c", "\x7f"])
    | st.characters(max_codepoint=127),
    max_size=80,
).map("".join)


@given(ASCII_TEXT, st.sampled_from(["word", "token"]), st.sets(st.sampled_from(ASCII_FORMS), min_size=1))
@example("", "word", {"a"})
@example("a", "word", {"a"})
@example("the cat\n", "token", {"cat"})
@settings(max_examples=300)
def test_ascii_path_equals_the_general_path(text: str, match: str, forms: set[str]) -> None:
    table = token_table() if match == "token" else word_table()
    numbers = {folded: i for i, folded in enumerate(dict.fromkeys(fold(form, table) for form in sorted(forms)))}
    targets: Any = SimpleNamespace(match=match, word_table=WordTable(numbers, table))
    array = np.frombuffer(text.encode(), np.uint8)
    (ours, counts), (theirs, expected) = (f(array, targets) for f in (scanner._scan_ascii, scanner._scan_any))
    assert ours.tolist() == theirs.tolist()
    assert counts.tolist() == expected.tolist()


def test_block_too_large_for_scratch_memory_uses_the_general_path(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "the mouse and the cat\n" * 50
    usual = fast_scan(text, "word", ["mouse", "cat"], 8)
    monkeypatch.setattr(scanner, "_LARGEST", 100)
    monkeypatch.setattr(scanner, "_scan_ascii", None)
    assert fast_scan(text, "word", ["mouse", "cat"], 8) == usual
    assert len(usual[0]) == 100


@pytest.mark.parametrize("character", BEYOND, ids=ascii)
@pytest.mark.parametrize(("match", "rule"), [("word", as_word), ("token", as_token)])
def test_scan_handles_the_characters_of_the_last_planes(match: str, rule: Rule, character: str) -> None:
    text = f"x{character}y x {character} x{character}"
    forms = ["x", "y", f"x{character}"]
    if match == "word" and not rule(character):
        forms.pop()
    expected = slow_scan(text, rule, {form: i for i, form in enumerate(forms)})
    assert fast_scan(text, match, forms, 8) == expected


@given(st.lists(st.sampled_from(["mouse", "cat", "x", "mouse mouse"]), max_size=30), st.integers(1, 9))
def test_scan_whose_hits_do_not_fit_stops_before_the_line_and_resumes_there(lines: list[str], size: int) -> None:
    data = np.frombuffer("\n".join(lines).encode(), np.uint8)
    table = WordTable({fold("mouse", word_table()): 7}, word_table())
    hits, counts = np.full((size, 6), -1, np.int64), np.zeros(2, np.int64)
    at = line = 0
    found = []
    while at < len(data):
        n, next_at, next_line = scan(data, at, line, word_table(), table.keys, table.values, hits, counts)
        if next_at == at:
            assert lines[line].count("mouse") > size
            assert (n, next_line) == (0, line)
            return
        assert next_at == len(data) or data[next_at - 1] == ord("\n")
        found += [tuple(hit) for hit in hits[:n].tolist()]
        at, line = next_at, next_line
    expected, expected_counts = slow_scan("\n".join(lines), as_word, {"mouse": 7})
    assert found == expected
    assert tuple(counts.tolist()) == expected_counts


@pytest.mark.parametrize(("table", "rule"), [(word_table, as_word), (token_table, as_token)])
def test_character_tables_match_the_rules_for_every_character(
    table: Callable[[], word_rule.FoldTable], rule: Rule
) -> None:
    wrong = [
        chr(code)
        for code, folded in enumerate(table().tolist())
        if not 0xD800 <= code < 0xE000 and code and (chr(folded) if folded else "") != rule(chr(code))
    ]
    assert wrong == []


def test_scripts_without_spaces_match_their_unicode_names() -> None:
    letters = [code for code, folded in enumerate(word_table().tolist()) if folded]
    assert [code for code in letters if (script_kinds()[code] == 1) != is_unspaced(chr(code))] == []
    assert not [code for code in letters if is_unspaced(chr(code)) and not may_be_unspaced(utf8(chr(code)))]


def utf8(text: str) -> Array:
    return np.frombuffer(text.encode(), np.uint8)


def slow_unspaced(text: str, numbers: dict[str, int]) -> list[tuple[int, int, int]]:
    """Return number, start and end in bytes of every word inside letters of scripts without spaces."""
    found = []
    for start, first in enumerate(text):
        for end in range(start + 1, len(text) + 1):
            number = numbers.get(text[start:end])
            marked = end < len(text) and unicodedata.category(text[end]).startswith("M")
            stacked = start > 0 and text[start - 1] in "\u17d2\u1039"
            if number is not None and is_unspaced(first) and not marked and not stacked:
                found.append((number, len(text[:start].encode()), len(text[:end].encode())))
    return found


UNSPACED_FORMS = ["日", "日本", "本日", "日本日", "ที", "ที่", "ខ", "ខ្ម", "ម", "ん", "人人"]
UNSPACED_PIECES = [*UNSPACED_FORMS, "่", "្", "\u1039", "a", " ", "\n", "。", "\u0301", "人"]


@given(st.lists(st.sampled_from(UNSPACED_PIECES), max_size=40).map("".join), st.integers(0, 9))
@example("日本日本日", 0)
@settings(max_examples=300)
def test_words_inside_scripts_without_spaces_are_found_from_every_letter(text: str, size: int) -> None:
    table = word_table()
    numbers = {fold(form, table): number for number, form in enumerate(UNSPACED_FORMS)}
    words_of = WordTable(numbers, table)
    hits = np.full((size, 6), -1, np.int64)
    longest = max(map(len, numbers))
    n = scan_unspaced(utf8(text), table, script_kinds(), marks(), words_of.keys, words_of.values, longest, hits)
    expected = slow_unspaced(text, {form: number for number, form in enumerate(UNSPACED_FORMS)})
    assert n == len(expected)
    data = text.encode()
    for (number, line, line_start, line_end, start, end), row in zip(hits.tolist(), expected[:size], strict=False):
        assert (number, start, end) == row
        assert line == data[:start].count(b"\n")
        assert line_start == data.rfind(b"\n", 0, start) + 1
        assert data[line_start:line_end] == data.split(b"\n")[line]


@pytest.mark.parametrize(
    ("text", "folded"),
    [("Mouse", "mouse"), ("ÄÉ", "äé"), ("ΣΑΣ", "σασ"), ("ς", "σ"), ("ß", "ß"), ("ẞ", "ß"), ("İ", "İ")],
)
def test_folding_is_done_by_character(text: str, folded: str) -> None:
    assert fold(text, word_table()) == tuple(map(ord, folded))
    assert fold(text, token_table()) == tuple(map(ord, text))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8), unique=True, max_size=40))
def test_hashes_of_words_differ_and_are_never_zero(texts: list[str]) -> None:
    hashes = [hash_word(map(ord, text)) for text in texts]
    assert len(set(hashes)) == len(hashes)
    assert all(0 < h < 2**64 for h in hashes)


@given(st.sets(st.integers(1, 2**64 - 1) | st.integers(0, 30).map(lambda i: 5 + (i << 40)), max_size=100))
def test_hash_table_finds_every_key_among_many_in_one_slot(keys: set[int]) -> None:
    numbers = {key: i for i, key in enumerate(sorted(keys))}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_rule, "hash_word", lambda word: word[0])
        table = WordTable({(key,): number for key, number in numbers.items()}, word_table())
    slots = len(table.keys)
    assert slots >= 2 * len(keys)
    assert slots & (slots - 1) == 0
    for key, number in numbers.items():
        slot = key % slots
        while int(table.keys[slot]) != key:
            assert table.keys[slot]  # an empty slot would end the search
            slot = (slot + 1) % slots
        assert table.values[slot] == number
    assert np.count_nonzero(table.keys) == len(keys)

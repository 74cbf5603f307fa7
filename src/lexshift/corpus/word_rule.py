"""Define what a word is, character by character, and find words in bytes.

A table gives every character its folded form, or 0 if it separates words. The scan reads UTF-8 bytes once, keeps a
hash of the word it is in, and looks that hash up where the word ends: no text is split or decoded on the way. Text that
is all ASCII goes a faster way: it is folded, and only where it may be that one of the words begins is it looked up.

Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces between words. Where such a script meets
another one, a word ends; inside a run of it, targets are looked for from every character on (:func:`scan_unspaced`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lexshift.utils.kernels import inlined_kernel, kernel

FoldTable: TypeAlias = npt.NDArray[np.uint32]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Keys: TypeAlias = npt.NDArray[np.uint64]
APOSTROPHES = "'\u2018\u2019\u02bc"
"""Characters that are the same sign between letters; the last is a letter to Unicode."""
HYPHENS = "-\u2010\u2011"
"""Characters that are the same sign between letters."""
WORD_RULE = 2
"""Version of the rule by which words are found; results of another version are not added to or taken over."""

_CHARACTERS = 0x110000
_LETTERS = (range(0x33480), range(0xE0100, 0xE01F0))  # Unicode has letters, digits and marks nowhere else
MULTIPLIER = 0x9E3779B97F4A7C15
_UNSPACED = (
    *((0x0E00, 0x0F00), (0x1000, 0x10A0), (0x1780, 0x1800), (0x3005, 0x3100), (0x31F0, 0x3200), (0x3400, 0xA000)),
    *((0xA9E0, 0xAA00), (0xAA60, 0xAA80), (0xF900, 0xFB00), (0xFF66, 0xFFA0)),
    *((0x116D0, 0x11700), (0x1AFF0, 0x1B170), (0x20000, 0xE0100)),
)
_SHARED_MARKS = ((0x0300, 0x0370), (0xFE00, 0xFE10), (0xE0100, _CHARACTERS))
_MASK = 0xFFFFFFFFFFFFFFFF
_ASCII = 128
FILTER_BITS = 14
FILTER_MULTIPLIER = 0x9E3779B1


@cache
def word_table() -> FoldTable:
    """Return the table in which letters, digits, marks and the underscore make words, whatever their case."""
    table = np.zeros(_CHARACTERS, np.uint32)
    for code in chain(*_LETTERS):
        character = chr(code)
        if character in APOSTROPHES:
            continue
        if character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M":
            forms = (character.casefold(), character.lower(), character)
            table[code] = ord(next(form for form in forms if len(form) == 1))
    return table


@cache
def token_table() -> FoldTable:
    """Return the table in which everything but white space makes tokens, as it stands."""
    table = np.arange(_CHARACTERS, dtype=np.uint32)
    table[[code for code in _LETTERS[0] if chr(code).isspace()]] = 0
    return table


@cache
def cased_table() -> FoldTable:
    """Return the table in which letters, digits, marks and the underscore make words, and case matters."""
    letters = word_table() > 0
    return np.where(letters, np.arange(_CHARACTERS, dtype=np.uint32), 0).astype(np.uint32)


@cache
def marks() -> npt.NDArray[np.bool_]:
    """Return which characters are combining marks: (characters,)."""
    table = np.zeros(_CHARACTERS, np.bool_)
    table[[code for code in chain(*_LETTERS) if unicodedata.category(chr(code))[0] == "M"]] = True
    return table


@cache
def capitals() -> npt.NDArray[np.bool_]:
    """Return which characters are capital letters: (characters,)."""
    table = np.zeros(_CHARACTERS, np.bool_)
    table[[code for code in _LETTERS[0] if chr(code).isupper() or chr(code).istitle()]] = True
    return table


def rule(match: str) -> FoldTable:
    """Return the characters that make words, for words that match by "word", "cased", "token" or "lemma"."""
    return {"token": token_table, "cased": cased_table}.get(match, word_table)()


def fold(text: str, table: FoldTable) -> tuple[int, ...]:
    """Return the folded characters of a text; 0 for those that separate words."""
    return tuple(int(table[ord(c)]) for c in text)


def hash_word(codes: Iterable[int]) -> int:
    """Return the hash that the scan gives to a word; never 0."""
    h = 0
    for code in codes:
        h = ((h + code) * MULTIPLIER) & _MASK
    return (h ^ (h >> 32)) or 1


def find_scripts(data: Bytes, table: FoldTable) -> Bytes | None:
    """Return :func:`script_kinds` if words of a UTF-8 text may end where two scripts meet, else None.

    Tokens, of which a hyphen is a part, never end there. ``data`` has the shape (n,).
    """
    return script_kinds() if table[ord("-")] == 0 and may_be_unspaced(data) else None


class WordTable:
    """Words with a number each, for the scan to look up: an open hash table, and a filter for words of ASCII text.

    Attributes
    ----------
    keys, values : (slots,)
        Hashes and numbers.
    folding : (256,)
        What ASCII characters fold to; 0 for those that separate words.
    beginnings : (2 ** 14,)
        1 where the hash of a separator and the first three characters of a word is; the separator after a short word is
        among them.
    """

    def __init__(self, numbers: Mapping[tuple[int, ...], int], table: FoldTable) -> None:
        """Enter words by their folded characters."""
        slots = 64
        while slots < 4 * len(numbers):
            slots *= 2
        self.keys = np.zeros(slots, np.uint64)
        self.values = np.zeros(slots, np.int64)
        self.folding = np.zeros(256, np.uint8)
        self.folding[:_ASCII] = table[:_ASCII]
        self.beginnings = np.zeros(1 << FILTER_BITS, np.uint8)
        for word, value in numbers.items():
            key = hash_word(word)
            slot = key & (slots - 1)
            while self.keys[slot]:
                slot = (slot + 1) & (slots - 1)
            self.keys[slot], self.values[slot] = key, value
            if max(word) < _ASCII:
                self._enter_beginning(word)

    def _enter_beginning(self, word: tuple[int, ...]) -> None:
        """Enter the beginning of a word in the filter; after one character come a separator and anything."""
        first, second, third = (*word, 0, 0)[:3]
        for code in range(_ASCII) if len(word) == 1 else (third,):
            window = first << 8 | second << 16 | code << 24
            self.beginnings[((window * FILTER_MULTIPLIER) & 0xFFFFFFFF) >> (32 - FILTER_BITS)] = 1


@cache
def script_kinds() -> Bytes:
    """Return the kind of script of each character: (characters,).

    It is 1 for letters and marks of Thai, Lao, Myanmar, Khmer, Hiragana, Katakana and Han, which are written without
    spaces; 2 for the combining diacritical marks and the variation selectors, which go on with the word that they stand
    in; 0 for the others.
    """
    kinds = np.zeros(_CHARACTERS, np.uint8)
    for kind, ranges in ((1, _UNSPACED), (2, _SHARED_MARKS)):
        for first, end in ranges:
            kinds[first:end] = kind
    return kinds


@kernel
def may_be_unspaced(data: Bytes) -> bool:
    """Return whether UTF-8 text, of shape (n,), may have scripts written without spaces, by first bytes alone."""
    seen = False
    for i in range(len(data) - 1):
        first, second = data[i], data[i + 1]
        seen |= ((first == 0xE0) & (second >= 0xB8)) | ((first == 0xE1) & (second < 0xA0)) | (first >= 0xE3)
    return seen


@kernel
def character_at(data: Bytes, i: int) -> tuple[int, int]:
    """Return the character that begins at byte i of UTF-8 text, of shape (n,), and its number of bytes."""
    byte = int(data[i])
    if byte < 0x80:
        return byte, 1
    if byte < 0xE0:
        return ((byte & 0x1F) << 6) | (data[i + 1] & 0x3F), 2
    if byte < 0xF0:
        return ((byte & 0x0F) << 12) | ((data[i + 1] & 0x3F) << 6) | (data[i + 2] & 0x3F), 3
    wide = ((byte & 0x07) << 18) | ((data[i + 1] & 0x3F) << 12) | ((data[i + 2] & 0x3F) << 6)
    return wide | (data[i + 3] & 0x3F), 4


@inlined_kernel
def next_word(data: Bytes, begin: int, table: FoldTable, scripts: Bytes | None) -> tuple[int, int, np.uint64]:
    """Find the next word of a line of UTF-8 text, from byte ``begin`` on, where no word is cut.

    Parameters
    ----------
    data : (n,) bytes
    table : (characters,)
    scripts : (characters,) or None
        As of :func:`script_kinds` if a word also ends where a script written without spaces meets another one; a run of
        such a script is one word. With None, numba compiles the loop without the test.

    Returns
    -------
    start, end, hash
        Bytes from start to end are the word, and the hash is that of :func:`hash_word`. If the line has no further
        word, start is its end, and the hash is 0.
    """
    n, i, size, kind = len(data), begin, 1, 0
    h, code = np.uint64(0), np.uint32(0)
    while i < n:
        character, size = character_at(data, i)
        code = table[character]
        if code != 0 or data[i] == 10:  # a second use of the character would slow down both loops
            break
        i += size
    start = i
    if code == 0:
        return start, i, h
    if scripts is not None:
        kind = scripts[code] & 1
    while True:  # with a condition here it would be compiled to a slower loop
        h = (h + np.uint64(code)) * np.uint64(MULTIPLIER)
        i += size
        if i >= n:
            break
        character, size = character_at(data, i)
        code = table[character]
        if code == 0:
            break
        if scripts is not None:
            this = scripts[code]
            if this != kind and this != 2:
                break
    return start, i, finish_hash(h)


@kernel
def finish_hash(h: np.uint64) -> np.uint64:
    """Return the hash of a word from the running hash of its characters."""
    h = h ^ (h >> np.uint64(32))
    return h if h != np.uint64(0) else np.uint64(1)


@kernel
def find_slot(keys: Keys, key: np.uint64) -> np.uint64:
    """Return the slot of an open hash table, of shape (slots,), that holds a key, or the empty one for it."""
    last, one = np.uint64(len(keys) - 1), np.uint64(1)
    slot = key & last
    while keys[slot] != np.uint64(0) and keys[slot] != key:
        slot = (slot + one) & last
    return slot

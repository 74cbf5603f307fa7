"""Define the characters that form words, and find words in bytes.

A table maps every character to its folded form, or to 0 if it separates words. The scan reads UTF-8 bytes once, updates
a hash of the current word, and looks the hash up at the end of the word; no text is split or decoded. ASCII text is
scanned by a faster method: it is folded, and a filter selects the positions at which one of the words may begin.

Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces between words. A word ends at the border
between such a script and another one; inside a run of such a script, the search for targets begins at every character
(:func:`scan_unspaced`).
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
"""Version of the rule by which words are found; results of other versions are neither extended nor reused."""

_CHARACTERS = 0x110000
_MARKS = ("Mn", "Mc", "Me")  # categories of combining marks
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
    """Return the table in which letters, digits, marks and the underscore form words, regardless of case."""
    table = np.zeros(_CHARACTERS, np.uint32)
    for character in map(chr, chain(*_LETTERS)):
        if character.isalnum() or unicodedata.category(character) in _MARKS:
            folded = character.casefold()
            if len(folded) > 1:
                folded = character.lower()
            table[ord(character)] = ord(folded if len(folded) == 1 else character)
    table[[ord(apostrophe) for apostrophe in APOSTROPHES]] = 0
    table[ord("_")] = ord("_")
    return table


@cache
def token_table() -> FoldTable:
    """Return the table in which all characters except white space form tokens, without folding."""
    table = np.arange(_CHARACTERS, dtype=np.uint32)
    table[[code for code in _LETTERS[0] if chr(code).isspace()]] = 0
    return table


@cache
def cased_table() -> FoldTable:
    """Return the table in which letters, digits, marks and the underscore form words, and case matters."""
    letters = word_table() > 0
    return np.where(letters, np.arange(_CHARACTERS, dtype=np.uint32), 0).astype(np.uint32)


@cache
def marks() -> npt.NDArray[np.bool_]:
    """Return a boolean array of shape (characters,) that marks combining marks."""
    table = np.zeros(_CHARACTERS, np.bool_)
    table[[code for code in chain(*_LETTERS) if unicodedata.category(chr(code))[0] == "M"]] = True
    return table


@cache
def capitals() -> npt.NDArray[np.bool_]:
    """Return a boolean array of shape (characters,) that marks capital letters."""
    table = np.zeros(_CHARACTERS, np.bool_)
    table[[code for code in _LETTERS[0] if chr(code).isupper() or chr(code).istitle()]] = True
    return table


def rule(match: str) -> FoldTable:
    """Return the table of characters for a matching rule: "word", "cased", "token" or "lemma"."""
    return {"token": token_table, "cased": cased_table}.get(match, word_table)()


def fold(text: str, table: FoldTable) -> tuple[int, ...]:
    """Return the folded characters of a text, with 0 for separators."""
    return tuple(int(table[ord(c)]) for c in text)


def hash_word(codes: Iterable[int]) -> int:
    """Return the hash of a word from its folded characters, as the scan computes it; never 0."""
    h = 0
    for code in codes:
        h = ((h + code) * MULTIPLIER) & _MASK
    return (h ^ (h >> 32)) or 1


def find_scripts(data: Bytes, table: FoldTable) -> Bytes | None:
    """Return :func:`script_kinds` if words of a UTF-8 text, (n,), may end at the border of two scripts, else None.

    Tokens never end there; their table is recognised by the hyphen, which is part of a token.
    """
    return script_kinds() if table[ord("-")] == 0 and may_be_unspaced(data) else None


class WordTable:
    """Numbered words for the scan: an open hash table, and a filter for words of ASCII text.

    Attributes
    ----------
    keys, values : ndarray of shape (slots,)
        Hashes and numbers of the words.
    folding : ndarray of shape (256,), uint8
        The folded form of ASCII characters; 0 for separators.
    beginnings : ndarray of shape (2 ** 14,), uint8
        1 at the hash of a separator and the first three characters of each word; a short word includes the separator
        after it.
    """

    def __init__(self, numbers: Mapping[tuple[int, ...], int], table: FoldTable) -> None:
        """Insert words, given by their folded characters, with their numbers."""
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
                self._insert_beginning(word)

    def _insert_beginning(self, word: tuple[int, ...]) -> None:
        """Insert the beginning of a word into the filter; after a single letter, its third character is arbitrary."""
        first, second, third = (*word, 0, 0)[:3]
        for code in range(_ASCII) if len(word) == 1 else (third,):
            window = first << 8 | second << 16 | code << 24
            self.beginnings[((window * FILTER_MULTIPLIER) & 0xFFFFFFFF) >> (32 - FILTER_BITS)] = 1


@cache
def script_kinds() -> Bytes:
    """Return the kind of script of each character: (characters,).

    It is 1 for letters and marks of Thai, Lao, Myanmar, Khmer, Hiragana, Katakana and Han, which are written without
    spaces; 2 for the combining diacritical marks and the variation selectors, which belong to the word around
    them; 0 for all others.
    """
    kinds = np.zeros(_CHARACTERS, np.uint8)
    for kind, ranges in ((1, _UNSPACED), (2, _SHARED_MARKS)):
        for first, end in ranges:
            kinds[first:end] = kind
    return kinds


@kernel
def may_be_unspaced(data: Bytes) -> bool:
    """Return whether UTF-8 text, of shape (n,), may have scripts written without spaces, judged by first bytes."""
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
    data : ndarray of shape (n,), uint8
        The text.
    begin : int
        Byte at which the search begins.
    table : ndarray of shape (characters,), uint32
        The folded form of each character, 0 for separators.
    scripts : ndarray of shape (characters,), uint8, or None
        The array of :func:`script_kinds`, if a word also ends at the border of a script written without spaces; a run
        of such a script is one word. With None, numba compiles the loop without this test.

    Returns
    -------
    start, end : int
        Span of the word in bytes. If the line has no further word, both are the end of the line.
    hash : uint64
        The hash of :func:`hash_word`; 0 if the line has no further word.
    """
    n, i, size, kind = len(data), begin, 1, 0
    h, code = np.uint64(0), np.uint32(0)
    while i < n:
        character, size = character_at(data, i)
        code = table[character]
        if code != 0 or data[i] == 10:  # using the character again would slow down both loops
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
    """Return the slot of an open hash table, of shape (slots,), that holds a key, or the empty slot for it."""
    last, one = np.uint64(len(keys) - 1), np.uint64(1)
    slot = key & last
    while keys[slot] != np.uint64(0) and keys[slot] != key:
        slot = (slot + one) & last
    return slot

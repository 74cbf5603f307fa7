"""What a word is, character by character, and the pass over bytes that finds words.

A table gives every character its folded form, or 0 if it separates words. The scan reads UTF-8 bytes once, keeps a
hash of the word it is in, and looks that hash up where the word ends: no text is split or decoded on the way. Text that
is all ASCII goes a faster way: it is folded, and only where it may be that one of the words begins is it looked up.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lexshift._compile import kernel
from lexshift._typing import Array

FoldTable: TypeAlias = npt.NDArray[np.uint32]
WORD_RULE = 2
"""Version of the rule by which words are found; results of another version are not added to or taken over."""

_CHARACTERS = 0x110000
_LETTERS = (range(0x33480), range(0xE0100, 0xE01F0))  # Unicode has letters, digits and marks nowhere else
_MULTIPLIER = 0x9E3779B97F4A7C15
_MASK = 0xFFFFFFFFFFFFFFFF
_ASCII = 128
_FILTER_BITS = 14
_FILTER_MULTIPLIER = 0x9E3779B1


@cache
def word_table() -> FoldTable:
    """Letters, digits, marks and the underscore make words; case does not matter."""
    table = np.zeros(_CHARACTERS, np.uint32)
    for code in chain(*_LETTERS):
        character = chr(code)
        if character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M":
            forms = (character.casefold(), character.lower(), character)
            table[code] = ord(next(form for form in forms if len(form) == 1))
    return table


@cache
def token_table() -> FoldTable:
    """Everything but white space makes tokens, as it stands."""
    table = np.arange(_CHARACTERS, dtype=np.uint32)
    table[[code for code in _LETTERS[0] if chr(code).isspace()]] = 0
    return table


@cache
def cased_table() -> FoldTable:
    """Letters, digits, marks and the underscore make words; case matters."""
    letters = word_table() > 0
    return np.where(letters, np.arange(_CHARACTERS, dtype=np.uint32), 0).astype(np.uint32)


@cache
def capitals() -> npt.NDArray[np.bool_]:
    """Which characters are capital letters: (characters,)."""
    table = np.zeros(_CHARACTERS, np.bool_)
    table[[code for code in _LETTERS[0] if chr(code).isupper() or chr(code).istitle()]] = True
    return table


def rule(match: str) -> FoldTable:
    """The characters that make words, for what counts as an occurrence: "word", "cased", "token" or "lemma"."""
    return {"token": token_table, "cased": cased_table}.get(match, word_table)()


def fold(text: str, table: FoldTable) -> tuple[int, ...]:
    """The folded characters of a text; 0 for those that separate words."""
    return tuple(int(table[ord(c)]) for c in text)


def hash_word(folded: Iterable[int]) -> int:
    """The hash that the scan gives to a word: never 0."""
    h = 0
    for code in folded:
        h = ((h + code) * _MULTIPLIER) & _MASK
    return (h ^ (h >> 32)) or 1


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
        self.beginnings = np.zeros(1 << _FILTER_BITS, np.uint8)
        for word, value in numbers.items():
            key = hash_word(word)
            slot = key & (slots - 1)
            while self.keys[slot]:
                slot = (slot + 1) & (slots - 1)
            self.keys[slot], self.values[slot] = key, value
            if max(word) < _ASCII:
                self._enter_beginning(word)

    def _enter_beginning(self, word: tuple[int, ...]) -> None:
        """After a word of one character comes a separator, and then anything."""
        first, second, third = (*word, 0, 0)[:3]
        for code in range(_ASCII) if len(word) == 1 else (third,):
            window = first << 8 | second << 16 | code << 24
            self.beginnings[((window * _FILTER_MULTIPLIER) & 0xFFFFFFFF) >> (32 - _FILTER_BITS)] = 1


@kernel
def count_bytes(data: npt.NDArray[np.uint8], value: int) -> int:
    """How often a byte occurs; without the memory that a comparison of arrays would take. data : (n,)"""
    n = 0
    for i in range(len(data)):
        n += data[i] == value
    return n


@kernel
def folded_at(data: npt.NDArray[np.uint8], i: int, table: FoldTable) -> tuple[int, int]:
    """The folded character that begins at byte i of UTF-8 text, and how many bytes it has. data : (n,)"""
    byte = data[i]
    if byte < 0x80:
        return table[byte], 1
    if byte < 0xE0:
        return table[((byte & 0x1F) << 6) | (data[i + 1] & 0x3F)], 2
    if byte < 0xF0:
        return table[((byte & 0x0F) << 12) | ((data[i + 1] & 0x3F) << 6) | (data[i + 2] & 0x3F)], 3
    wide = ((byte & 0x07) << 18) | ((data[i + 1] & 0x3F) << 12) | ((data[i + 2] & 0x3F) << 6)
    return table[wide | (data[i + 3] & 0x3F)], 4


@kernel
def character_at(data: npt.NDArray[np.uint8], i: int) -> int:
    """The character that begins at byte i of UTF-8 text. data : (n,)"""
    byte = int(data[i])
    if byte < 0x80:
        return byte
    if byte < 0xE0:
        return ((byte & 0x1F) << 6) | (data[i + 1] & 0x3F)
    if byte < 0xF0:
        return ((byte & 0x0F) << 12) | ((data[i + 1] & 0x3F) << 6) | (data[i + 2] & 0x3F)
    return ((byte & 0x07) << 18) | ((data[i + 1] & 0x3F) << 12) | ((data[i + 2] & 0x3F) << 6) | (data[i + 3] & 0x3F)


@kernel
def scan(
    data: npt.NDArray[np.uint8],
    at: int,
    line: int,
    table: FoldTable,
    keys: npt.NDArray[np.uint64],
    values: Array,
    hits: Array,
    counts: Array,
) -> tuple[int, int, int]:
    """Find the words of a hash table in UTF-8 text, from byte ``at`` on, which begins a line.

    data : (n,) bytes, table : (characters,), keys, values : (slots,)
    hits : (most, 6), filled with number, line, and in bytes start and end of the line, start and end of the word
    counts : (2,), to which the words and the lines with a word in them are added

    Returns the number of hits, and the byte and line to go on at: n and the last line if all of the text was read, else
    the start of the line whose hits did not fit. Two words that share a 64-bit hash would be taken for one another.
    """
    n, last = len(data), np.uint64(len(keys) - 1)
    multiplier, shift, one, nothing = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(1), np.uint64(0)
    found = kept = 0  # hits so far, and hits in lines that are complete
    words = before = 0  # words so far, and those before this line
    line_start, start, i = at, -1, at  # start: of the word that i is in, or -1
    h = nothing
    while i <= n:
        code, size = folded_at(data, i, table) if i < n else (np.uint32(0), 1)
        if code != 0:
            if start < 0:
                start, h = i, nothing
            h = (h + np.uint64(code)) * multiplier
            i += size
            continue
        if start >= 0:
            h = h ^ (h >> shift)
            if h == nothing:
                h = one
            slot = h & last
            while keys[slot] != nothing:
                if keys[slot] == h:
                    if found == len(hits):
                        counts[0] += before
                        return kept, line_start, line
                    hits[found, 0] = values[slot]
                    hits[found, 1] = line
                    hits[found, 2] = line_start
                    hits[found, 4] = start
                    hits[found, 5] = i
                    found += 1
                    break
                slot = (slot + one) & last
            words += 1
            start = -1
        if i == n or data[i] == 10:
            counts[1] += words > before
            for k in range(kept, found):
                hits[k, 3] = i
            before, kept = words, found
            line_start = i + 1
            line += 1
        i += size
    counts[0] += words
    return found, n, line


@kernel
def prepare_ascii(
    data: npt.NDArray[np.uint8],
    folding: npt.NDArray[np.uint8],
    beginnings: npt.NDArray[np.uint8],
    folded: npt.NDArray[np.uint8],
    newlines: Array,
    places: Array,
    counts: Array,
) -> tuple[int, int]:
    """Find the lines of ASCII text and the places where one of the words may begin, in loops without a branch.

    data : (n,) bytes, folding : (256,), beginnings : (2 ** 14,), counts : (2,) as for :func:`scan`
    folded : (n + 4,), filled with a 0, the folded text, and three more
    newlines, places : (n + 1,), filled with byte positions

    Returns how many lines and places there are.
    """
    n, lines, found, words = len(data), 0, 0, 0
    folded[0] = folded[n + 1] = folded[n + 2] = folded[n + 3] = 0
    for i in range(n):
        folded[i + 1] = folding[data[i]]
    for i in range(n):
        words += (folded[i] == 0) & (folded[i + 1] != 0)
    for i in range(n):
        newlines[lines] = i
        lines += data[i] == 10
    for i in range(n):
        window = (
            np.uint32(folded[i])
            | (np.uint32(folded[i + 1]) << np.uint32(8))
            | (np.uint32(folded[i + 2]) << np.uint32(16))
            | (np.uint32(folded[i + 3]) << np.uint32(24))
        )
        places[found] = i
        found += beginnings[np.uint32(window * np.uint32(_FILTER_MULTIPLIER)) >> np.uint32(32 - _FILTER_BITS)]
    newlines[lines] = n
    start = 0
    for k in range(lines + 1):
        while start < newlines[k] and folded[start + 1] == 0:
            start += 1
        counts[1] += start < newlines[k]
        start = newlines[k] + 1
    counts[0] += words
    return lines, found


@kernel
def scan_ascii(
    folded: npt.NDArray[np.uint8],
    newlines: Array,
    places: Array,
    keys: npt.NDArray[np.uint64],
    values: Array,
    hits: Array,
) -> int:
    """Look up the words that begin at some places; as :func:`scan` for ASCII text.

    folded : (n + 4,), newlines : (lines + 1,), places : (places,), as :func:`prepare_ascii` leaves them
    keys, values : (slots,), hits : (places, 6), filled as by :func:`scan`

    Returns the number of hits.
    """
    last, nothing, one = np.uint64(len(keys) - 1), np.uint64(0), np.uint64(1)
    found = line = 0
    for start in places:
        if folded[start] != 0 or folded[start + 1] == 0:
            continue
        h, end = nothing, start
        while folded[end + 1] != 0:
            h = (h + np.uint64(folded[end + 1])) * np.uint64(_MULTIPLIER)
            end += 1
        h = h ^ (h >> np.uint64(32))
        if h == nothing:
            h = one
        slot = h & last
        while keys[slot] != nothing and keys[slot] != h:
            slot = (slot + one) & last
        if keys[slot] == h:
            while newlines[line] < start:
                line += 1
            hits[found, 0] = values[slot]
            hits[found, 1] = line
            hits[found, 2] = newlines[line - 1] + 1 if line > 0 else 0
            hits[found, 3] = newlines[line]
            hits[found, 4] = start
            hits[found, 5] = end
            found += 1
    return found

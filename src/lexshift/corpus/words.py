"""What a word is, character by character, and the pass over bytes that finds words.

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

from lexshift.utils.arrays import Array
from lexshift.utils.kernels import kernel

FoldTable: TypeAlias = npt.NDArray[np.uint32]
APOSTROPHES = "'\u2018\u2019\u02bc"
"""Characters that are the same sign between letters; the last is a letter to Unicode."""
HYPHENS = "-\u2010\u2011"
"""Characters that are the same sign between letters."""
FIRST_UNSPACED = 0x0E00
"""The first character of a script that is written without spaces between words."""
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
    """Letters, digits, marks and the underscore make words, apostrophes do not; case does not matter."""
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
def marks() -> npt.NDArray[np.bool_]:
    """Which characters are combining marks: (characters,)."""
    table = np.zeros(_CHARACTERS, np.bool_)
    table[[code for code in chain(*_LETTERS) if unicodedata.category(chr(code))[0] == "M"]] = True
    return table


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


def ends_by_script(data: npt.NDArray[np.uint8], table: FoldTable) -> bool | None:
    """Return True if words of a UTF-8 text may end where two scripts meet, else None. data : (n,)

    Tokens, of which a hyphen is a part, do not.
    """
    return True if table[ord("-")] == 0 and may_be_unspaced(data) else None


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


def kind_of_script(code: int | np.uint32) -> int:
    """Return 1 for a letter or mark of a script written without spaces, 2 for a mark of any script, 0 for the others.

    The first are Thai, Lao, Myanmar, Khmer, Hiragana, Katakana and Han; the second are the combining diacritical marks
    and the variation selectors, which go on with the word that they stand in.
    """
    if code < FIRST_UNSPACED:
        return 2 if 0x0300 <= code < 0x0370 else 0
    if code < 0x3005:
        if code >= 0x1800:
            return 0
        return int(code < 0x0F00 or 0x1000 <= code < 0x10A0 or 0x1780 <= code < 0x1800)
    if code < 0xA000:
        return int(code < 0x3100 or 0x31F0 <= code < 0x3200 or code >= 0x3400)
    if 0xFE00 <= code < 0xFE10 or code >= 0xE0100:
        return 2
    if code < 0xF900:
        return int(0xA9E0 <= code < 0xAA00 or 0xAA60 <= code < 0xAA80)
    if code < 0x116D0:
        return int(code < 0xFB00 or 0xFF66 <= code < 0xFFA0)
    return int(code < 0x11700 or 0x1AFF0 <= code < 0x1B170 or code >= 0x20000)


script_kind = kernel(kind_of_script)


@kernel
def may_be_unspaced(data: npt.NDArray[np.uint8]) -> bool:
    """Tell by the first bytes of characters whether UTF-8 text may have scripts written without spaces. data : (n,)"""
    seen = False
    for i in range(len(data) - 1):
        first, second = data[i], data[i + 1]
        seen |= ((first == 0xE0) & (second >= 0xB8)) | ((first == 0xE1) & (second < 0xA0)) | (first >= 0xE3)
    return seen


@kernel
def goes_on(code: int | np.uint32, kind: int) -> bool:
    """Tell whether a letter goes on with a word of a kind of script."""
    this = script_kind(code)
    return this == kind or this == 2


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
    by_script: bool | None = None,
) -> tuple[int, int, int]:
    """Find the words of a hash table in UTF-8 text, from byte ``at`` on, which begins a line.

    data : (n,) bytes, table : (characters,), keys, values : (slots,)
    hits : (most, 6), filled with number, line, and in bytes start and end of the line, start and end of the word
    counts : (2,), to which the words and the lines with a word in them are added

    Returns the number of hits, and the byte and line to go on at: n and the last line if all of the text was read, else
    the start of the line whose hits did not fit. Two words that share a 64-bit hash would be taken for one another.
    With ``by_script`` a word also ends where a script written without spaces meets another one; a run of such a script
    is counted as one word. It is None or True, as numba then compiles the loop without and with that.
    """
    n, last = len(data), np.uint64(len(keys) - 1)
    multiplier, shift, one, nothing = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(1), np.uint64(0)
    found = kept = 0  # hits so far, and hits in lines that are complete
    words = before = 0  # words so far, and those before this line
    line_start, start, i = at, -1, at  # start: of the word that i is in, or -1
    h, kind = nothing, 0
    while i <= n:
        code, size = folded_at(data, i, table) if i < n else (np.uint32(0), 1)
        if code != 0:
            if start < 0:
                start, h = i, nothing
                if by_script is not None:
                    kind = script_kind(code) & 1
            same = True
            if by_script is not None:
                same = goes_on(code, kind)
            if same:
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
            if code != 0:
                continue
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
def scan_unspaced(
    data: npt.NDArray[np.uint8],
    table: FoldTable,
    marks: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.uint64],
    values: Array,
    longest: int,
    hits: Array,
) -> int:
    """Find words of a hash table anywhere inside runs of scripts that are written without spaces.

    data : (n,) bytes, table, marks : (characters,), keys, values : (slots,)
    hits : (most, 6), filled as by :func:`scan`
    longest : number of characters of the longest word

    A word does not end before a combining mark, which belongs to its last letter, and does not begin after a sign that
    stacks the next consonant (Khmer U+17D2, Myanmar U+1039). Words may overlap.

    Returns the number of hits; where that is more than ``most``, only the first are in ``hits``.
    """
    n, last = len(data), np.uint64(len(keys) - 1)
    multiplier, shift, one, nothing = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(1), np.uint64(0)
    found = complete = line = line_start = i = 0
    stacks = False
    while i <= n:
        code, size = folded_at(data, i, table) if i < n else (np.uint32(0), 1)
        if code >= FIRST_UNSPACED and script_kind(code) == 1 and not stacks:
            h, end, letter, width = nothing, i, code, size
            for _ in range(longest):
                h = (h + np.uint64(letter)) * multiplier
                end += width
                letter, width = folded_at(data, end, table) if end < n else (np.uint32(0), 1)
                if letter == 0 or not marks[letter]:
                    key = h ^ (h >> shift)
                    if key == nothing:
                        key = one
                    slot = key & last
                    while keys[slot] != nothing and keys[slot] != key:
                        slot = (slot + one) & last
                    if keys[slot] == key:
                        if found < len(hits):
                            hits[found, 0] = values[slot]
                            hits[found, 1] = line
                            hits[found, 2] = line_start
                            hits[found, 4] = i
                            hits[found, 5] = end
                        found += 1
                if letter == 0 or script_kind(letter) == 0:
                    break
        stacks = code == 0x17D2 or code == 0x1039
        if i == n or data[i] == 10:
            for k in range(complete, min(found, len(hits))):
                hits[k, 3] = i
            complete = found
            line += 1
            line_start = i + 1
        i += size
    return found


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

"""Scan UTF-8 bytes for target words, with compiled kernels."""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from lexshift.corpus.targets import Targets
from lexshift.corpus.word_rule import (
    FILTER_BITS,
    FILTER_MULTIPLIER,
    MULTIPLIER,
    Bytes,
    FoldTable,
    Keys,
    character_at,
    find_scripts,
    find_slot,
    finish_hash,
    marks,
    next_word,
    rule,
    script_kinds,
)
from lexshift.utils.arrays import Array
from lexshift.utils.kernels import inlined_kernel, kernel

_HITS = 1 << 15  # the scan's buffer, in hits
_LARGEST = 1 << 23  # bytes; larger blocks, which only very long lines cause, get no scratch memory
_local = threading.local()


def scan_block(data: bytes, targets: Targets) -> tuple[Array, Array]:
    """Return the hits, (hits, 6), see :func:`scan`, and the numbers of words and of lines with words, (2,)."""
    array, ascii_only = np.frombuffer(data, np.uint8), data.isascii()
    if ascii_only and len(data) <= _LARGEST:
        return _scan_ascii(array, targets)
    hits, counts = _scan_any(array, targets)
    if targets.unspaced_words and not ascii_only:
        hits = np.concatenate([hits, _scan_unspaced(array, targets)])
        hits = hits[np.argsort(hits[:, 4], kind="stable")]
    return hits, counts


def _scan_ascii(array: Array, targets: Targets) -> tuple[Array, Array]:
    words, counts = targets.word_table, np.zeros(2, np.int64)
    folded_text, newlines, positions = _scratch(len(array))
    lines, n = prepare_ascii(array, words.folding, words.beginnings, folded_text, newlines, positions, counts)
    hits = np.empty((n, 6), np.int64)
    return hits[: scan_ascii(folded_text, newlines[: lines + 1], positions[:n], words.keys, words.values, hits)], counts


def _scratch(n: int) -> tuple[Array, Array, Array]:
    """Return scratch arrays for a block of n bytes; each thread reuses its own, because allocation is slow."""
    if n > getattr(_local, "size", -1):
        _local.size = n
        _local.folded_text = np.empty(n + 4, np.uint8)
        _local.newlines, _local.positions = (np.empty(n + 1, np.int32) for _ in range(2))
    return _local.folded_text[: n + 4], _local.newlines[: n + 1], _local.positions[: n + 1]


def _scan_unspaced(array: Array, targets: Targets) -> Array:
    """Return the hits inside runs of scripts that are written without spaces: (hits, 6)."""
    words, longest, size = targets.unspaced_table, max(map(len, targets.unspaced_words)), _HITS
    table = rule(targets.match)
    while True:
        hits = np.empty((size, 6), np.int64)
        n = scan_unspaced(array, table, script_kinds(), marks(), words.keys, words.values, longest, hits)
        if n <= size:
            return hits[:n]
        size = n


def _scan_any(array: Array, targets: Targets) -> tuple[Array, Array]:
    words, table = targets.word_table, rule(targets.match)
    scripts = find_scripts(array, table)
    buffer, counts, parts = np.empty((_HITS, 6), np.int64), np.zeros(2, np.int64), []
    at = line = 0
    while at < len(array):
        n, next_at, line = scan(array, at, line, table, words.keys, words.values, buffer, counts, scripts)
        if next_at == at:  # one line with more hits than the buffer holds
            buffer = np.empty((4 * len(buffer), 6), np.int64)
        parts.append(buffer[:n].copy())
        at = next_at
    return np.concatenate(parts) if parts else buffer[:0], counts


@inlined_kernel
def record_hit(hit: Array, number: int, line: int, line_start: int, start: int, end: int) -> None:
    """Fill a hit, (6,), except for the end of its line, which is not known yet."""
    hit[0], hit[1], hit[2], hit[4], hit[5] = number, line, line_start, start, end


@kernel
def scan(
    data: Bytes,
    begin: int,
    line: int,
    table: FoldTable,
    keys: Keys,
    values: Array,
    hits: Array,
    counts: Array,
    scripts: Bytes | None = None,
) -> tuple[int, int, int]:
    """Find the words of a hash table in UTF-8 text, from byte ``begin`` on, which begins a line.

    Words with the same 64-bit hash are not distinguished.

    Parameters
    ----------
    data : ndarray of shape (n,), uint8
        The text.
    begin, line : int
        Byte and line number at which the scan begins.
    table : ndarray of shape (characters,), uint32
        The folded form of each character, 0 for separators.
    keys, values : ndarray of shape (slots,)
        Hash table of the words and their numbers.
    hits : ndarray of shape (max_hits, 6), int64
        Filled with the number and the line, and in bytes the start and end of the line and of the word.
    counts : ndarray of shape (2,), int64
        The numbers of words and of lines with words are added to it.
    scripts : ndarray of shape (characters,), uint8, or None
        See :func:`lexshift.corpus.word_rule.next_word`.

    Returns
    -------
    n_hits : int
        Number of hits.
    begin, line : int
        Byte and line at which the next call begins: n and the last line if all of the text was read, else the start of
        the line whose hits did not fit.
    """
    n, i, line_start = len(data), begin, begin
    n_hits = complete = 0  # hits so far, and hits in lines that are complete
    words = before = 0  # words so far, and those before this line
    while i <= n:
        start, i, key = next_word(data, i, table, scripts)
        if key == np.uint64(0):
            counts[1] += words > before
            for k in range(complete, n_hits):
                hits[k, 3] = i
            before, complete = words, n_hits
            i += 1
            line_start = i
            line += 1
            continue
        words += 1
        slot = find_slot(keys, key)
        if keys[slot] != np.uint64(0):
            if n_hits == len(hits):
                counts[0] += before
                return complete, line_start, line
            record_hit(hits[n_hits], values[slot], line, line_start, start, i)
            n_hits += 1
    counts[0] += words
    return n_hits, n, line


@kernel
def scan_unspaced(
    data: Bytes,
    table: FoldTable,
    scripts: Bytes,
    marks: npt.NDArray[np.bool_],
    keys: Keys,
    values: Array,
    longest: int,
    hits: Array,
) -> int:
    """Find words of a hash table anywhere inside runs of scripts that are written without spaces.

    A word does not end before a combining mark, which belongs to its last letter, and does not begin after a sign that
    stacks the next consonant (Khmer U+17D2, Myanmar U+1039). Words may overlap.

    Parameters
    ----------
    data : ndarray of shape (n,), uint8
    table, scripts, marks : ndarray of shape (characters,)
    keys, values : ndarray of shape (slots,)
    longest : int
        Number of characters of the longest word.
    hits : ndarray of shape (max_hits, 6), int64
        Filled as by :func:`scan`.

    Returns
    -------
    int
        The number of hits; if it exceeds ``max_hits``, only the first of them are in ``hits``.
    """
    n, i, line, line_start = len(data), 0, 0, 0
    n_hits = complete = 0
    stacks = False
    while i <= n:
        code, size = (0, 1) if i == n else character_at(data, i)
        letter = table[code]
        if scripts[letter] == 1 and not stacks:
            h, end, width = np.uint64(0), i, size
            for _ in range(longest):
                h = (h + np.uint64(letter)) * np.uint64(MULTIPLIER)
                end += width
                following, width = (0, 1) if end == n else character_at(data, end)
                letter = table[following]
                if letter == 0 or not marks[letter]:
                    slot = find_slot(keys, finish_hash(h))
                    if keys[slot] != np.uint64(0):
                        if n_hits < len(hits):
                            record_hit(hits[n_hits], values[slot], line, line_start, i, end)
                        n_hits += 1
                if scripts[letter] == 0:
                    break
        stacks = table[code] == 0x17D2 or table[code] == 0x1039
        if i == n or data[i] == 10:
            for k in range(complete, min(n_hits, len(hits))):
                hits[k, 3] = i
            complete = n_hits
            line += 1
            line_start = i + 1
        i += size
    return n_hits


@kernel
def prepare_ascii(
    data: Bytes,
    folding: Bytes,
    beginnings: Bytes,
    folded_text: Bytes,
    newlines: Array,
    positions: Array,
    counts: Array,
) -> tuple[int, int]:
    """Find the lines of ASCII text and the positions at which a word may begin, in loops without branches.

    Parameters
    ----------
    data : ndarray of shape (n,), uint8
    folding : ndarray of shape (256,), uint8
    beginnings : ndarray of shape (2 ** 14,), uint8
        See :class:`lexshift.corpus.word_rule.WordTable`.
    folded_text : ndarray of shape (n + 4,), uint8
        Filled with a zero, the folded text, and three zeros.
    newlines, positions : ndarray of shape (n + 1,), int32
        Filled with byte positions.
    counts : ndarray of shape (2,), int64
        See :func:`scan`.

    Returns
    -------
    n_lines, n_positions : int
    """
    n, lines, n_candidates, words = len(data), 0, 0, 0
    folded_text[0] = folded_text[n + 1] = folded_text[n + 2] = folded_text[n + 3] = 0
    for i in range(n):
        folded_text[i + 1] = folding[data[i]]
    for i in range(n):
        words += (folded_text[i] == 0) & (folded_text[i + 1] != 0)
    for i in range(n):
        newlines[lines] = i
        lines += data[i] == 10
    for i in range(n):
        window = (
            np.uint32(folded_text[i])
            | (np.uint32(folded_text[i + 1]) << np.uint32(8))
            | (np.uint32(folded_text[i + 2]) << np.uint32(16))
            | (np.uint32(folded_text[i + 3]) << np.uint32(24))
        )
        positions[n_candidates] = i
        n_candidates += beginnings[np.uint32(window * np.uint32(FILTER_MULTIPLIER)) >> np.uint32(32 - FILTER_BITS)]
    newlines[lines] = n
    start = 0
    for k in range(lines + 1):
        while start < newlines[k] and folded_text[start + 1] == 0:
            start += 1
        counts[1] += start < newlines[k]
        start = newlines[k] + 1
    counts[0] += words
    return lines, n_candidates


@kernel
def scan_ascii(
    folded_text: Bytes,
    newlines: Array,
    positions: Array,
    keys: Keys,
    values: Array,
    hits: Array,
) -> int:
    """Look up the words that begin at some positions of ASCII text.

    Parameters
    ----------
    folded_text, newlines, positions : ndarray of shape (n + 4,), (n_lines + 1,) and (n_positions,)
        As filled by :func:`prepare_ascii`.
    keys, values : ndarray of shape (slots,)
    hits : ndarray of shape (n_positions, 6), int64
        Filled as by :func:`scan`.

    Returns
    -------
    int
        The number of hits.
    """
    n_hits = line = 0
    for start in positions:
        if folded_text[start] != 0 or folded_text[start + 1] == 0:
            continue
        h, end = np.uint64(0), start
        while folded_text[end + 1] != 0:
            h = (h + np.uint64(folded_text[end + 1])) * np.uint64(MULTIPLIER)
            end += 1
        slot = find_slot(keys, finish_hash(h))
        if keys[slot] != np.uint64(0):
            while newlines[line] < start:
                line += 1
            record_hit(hits[n_hits], values[slot], line, newlines[line - 1] + 1 if line > 0 else 0, start, end)
            hits[n_hits, 3] = newlines[line]
            n_hits += 1
    return n_hits

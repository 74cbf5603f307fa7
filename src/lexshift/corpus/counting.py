"""How often every word of a corpus occurs: one pass over the bytes, by the same rule as the search for targets.

A hash table holds a count for each word, by the 64-bit hash that the search uses too, and where its spelling lies in an
arena of bytes. Memory grows with the number of different words, not with the text.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexshift._compile import kernel
from lexshift._typing import Array
from lexshift.corpus.blocks import read_blocks
from lexshift.corpus.reading import Reading, Tally
from lexshift.corpus.sources import find_sources
from lexshift.corpus.words import FoldTable, fold, folded_at
from lexshift.errors import UserError

_SLOTS = 1 << 16  # of the table at first
_FULLEST = 0.6  # share of the slots in use before the table grows


@dataclass(frozen=True)
class WordCounts:
    """The words of a corpus.

    Attributes
    ----------
    counts : dict
        How often each word occurs, folded as the search folds it.
    total : int
        Running words.
    """

    counts: dict[str, int]
    total: int


def count_words(
    corpus: str | os.PathLike[str],
    table: FoldTable,
    reading: Reading | None = None,
    least: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> WordCounts:
    """Count the words of a corpus; those that occur at least ``least`` times are told.

    ``progress`` is called with the bytes read so far and those there are (0 for standard input).
    """
    counter, tally, how = _Counter(table), Tally(), reading or Reading()
    sources = find_sources(corpus)
    size = sum(os.path.getsize(source.path) for source in sources if os.path.exists(source.path))
    for source in sources:
        for block in read_blocks(source, how, tally, {}):
            counter.add(block.data)
            if progress is not None:
                progress(tally.size, size)
    if progress is not None:
        progress(tally.size, size)
    if not counter.total:
        raise UserError(f"the corpus {os.fspath(corpus)!r} is empty: there is no word in it")
    return WordCounts(counter.result(least), counter.total)


class _Counter:
    """The hash table: keys, counts and places of spellings, (slots,) each."""

    def __init__(self, table: FoldTable) -> None:
        self._table = table
        self._keys = np.zeros(_SLOTS, np.uint64)
        self._counts = np.zeros(_SLOTS, np.int64)
        self._places = np.zeros((_SLOTS, 2), np.int64)  # start and end in the arena
        self._arena = bytearray()
        self._used = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        """Count the words of some UTF-8 text."""
        array, at = np.frombuffer(data, np.uint8), 0
        while at <= len(array):
            room = int(_FULLEST * len(self._keys)) - self._used
            fresh = np.empty((room, 3), np.int64)
            at, words, n = count(array, at, self._table, self._keys, self._counts, fresh)
            self.total += words
            self._used += n
            for slot, start, end in fresh[:n].tolist():
                self._places[slot] = len(self._arena), len(self._arena) + end - start
                self._arena += data[start:end]
            if n == room:
                self._grow()

    def _grow(self) -> None:
        kept = np.flatnonzero(self._keys)
        keys, counts, places = self._keys[kept], self._counts[kept], self._places[kept]
        slots = 4 * len(self._keys)
        self._keys, self._counts = np.zeros(slots, np.uint64), np.zeros(slots, np.int64)
        self._places = np.zeros((slots, 2), np.int64)
        at = np.empty(len(keys), np.int64)
        enter(keys, self._keys, at)
        self._counts[at], self._places[at] = counts, places

    def result(self, least: int) -> dict[str, int]:
        """Counts by word, in the order of the words; accents in one character, however they are written."""
        found: dict[str, int] = {}
        for slot in np.flatnonzero(self._counts).tolist():
            start, end = self._places[slot].tolist()
            folded = fold(self._arena[start:end].decode(), self._table)
            word = unicodedata.normalize("NFC", "".join(map(chr, folded)))
            found[word] = found.get(word, 0) + int(self._counts[slot])
        return {word: n for word, n in sorted(found.items()) if n >= least}


@kernel
def count(
    data: npt.NDArray[np.uint8],
    at: int,
    table: FoldTable,
    keys: npt.NDArray[np.uint64],
    counts: Array,
    fresh: Array,
) -> tuple[int, int, int]:
    """Count the words of UTF-8 text from byte ``at`` on, where no word is cut.

    data : (n,) bytes, table : (characters,), keys, counts : (slots,)
    fresh : (most, 3), filled with slot, start and end of the words that the table did not have

    Returns the byte to go on at, n + 1 if all of the text was read, the words counted, and those that are new.
    """
    n, last = len(data), np.uint64(len(keys) - 1)
    multiplier, shift, one, nothing = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(1), np.uint64(0)
    words = found = 0
    start, i, h = -1, at, nothing
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
            while keys[slot] != nothing and keys[slot] != h:
                slot = (slot + one) & last
            if keys[slot] == nothing:
                if found == len(fresh):
                    return start, words, found
                keys[slot] = h
                fresh[found, 0], fresh[found, 1], fresh[found, 2] = slot, start, i
                found += 1
            counts[slot] += 1
            words += 1
            start = -1
        i += size
    return n + 1, words, found


@kernel
def enter(fresh: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64], at: Array) -> None:
    """Enter different keys into an empty hash table. fresh : (n,), keys : (slots,), at : (n,), filled with slots."""
    last, one, nothing = np.uint64(len(keys) - 1), np.uint64(1), np.uint64(0)
    for k in range(len(fresh)):
        slot = fresh[k] & last
        while keys[slot] != nothing:
            slot = (slot + one) & last
        keys[slot] = fresh[k]
        at[k] = slot

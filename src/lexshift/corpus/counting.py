"""Count the words of a corpus: one pass over the bytes, by the same rule as the search for targets.

A hash table holds the counts of each word, under the 64-bit hash that the search also uses, and the position of its
spelling in an arena of bytes. Memory grows with the number of different words, not with the length of the text. Blocks
are counted in parallel; each thread has its own table, and the tables are summed at the end.

A capital letter inside a sentence is evidence for a name, because names almost always have one. Words that follow
another word after a space are therefore also counted by the case of their first letter.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

import numpy as np
import numpy.typing as npt

from lexshift.corpus.objects import Corpus, as_files
from lexshift.corpus.passages import Block, process_blocks, read_corpus
from lexshift.corpus.segmentation import segment, segmenter_version
from lexshift.corpus.sources import Reading, Source, Tally, find_sources
from lexshift.corpus.word_rule import (
    Bytes,
    FoldTable,
    Keys,
    capitals,
    character_at,
    find_scripts,
    find_slot,
    fold,
    next_word,
)
from lexshift.utils.arrays import Array
from lexshift.utils.kernels import kernel

Cases = tuple[int, int, int]
"""Number of occurrences of a word: all, and inside a sentence with a small and with a capital first letter."""
_SLOTS = 1 << 16  # initial number of slots of the table
_FULLEST = 0.6  # share of the slots in use before the table grows
_LONGEST_WORD = 1 << 12  # bytes; anything longer is data without spaces, not a word
_ENDS = np.frombuffer(b'.!?:;"()[]', np.uint8)  # after these bytes a capital letter is no evidence for a name


@dataclass(frozen=True)
class WordCounts:
    """The words of a corpus.

    Attributes
    ----------
    counts : dict
        Number of occurrences of each word, which is folded as in the search.
    total : int
        Number of running words.
    within : dict
        Numbers of occurrences inside a sentence with a small and with a capital first letter, for each word.
    lemmas : dict
        The part of the counts that are lemmas of files.
    """

    counts: dict[str, int]
    total: int
    within: dict[str, tuple[int, int]] = field(default_factory=dict, compare=False, repr=False)
    lemmas: dict[str, Cases] = field(default_factory=dict, compare=False, repr=False)


def count_words(
    corpus: Corpus,
    table: FoldTable,
    reading: Reading | None = None,
    progress: Callable[[int, int], None] | None = None,
    by_lemma: bool = False,
) -> WordCounts:
    """Count the words of a corpus.

    ``progress`` is called with the number of bytes read so far and in total (0 for standard input). With ``by_lemma``,
    the lemmas are counted in files that have them.
    """
    tally = Tally()
    with as_files([corpus], reading or Reading()) as ((file,), reading):
        forms, lemmas = count_sources(find_sources(file), table, reading, tally, progress, by_lemma)
        return make_word_counts(forms, os.fspath(file), lemmas, tally)


def make_word_counts(
    forms: dict[str, Cases], corpus: str, lemmas: dict[str, Cases] | None = None, tally: Tally | None = None
) -> WordCounts:
    """Sort the counts of :func:`count_sources` by word and sum them; raise an error if the corpus has no word."""
    cases = sum_counts([*forms.items(), *lemmas.items()]) if lemmas else forms
    total = sum(n for n, _, _ in cases.values())
    if not total:
        raise (tally or Tally()).nothing_read(corpus)
    ordered = sorted(cases.items())
    within = {word: (small, capital) for word, (_, small, capital) in ordered}
    return WordCounts({word: n for word, (n, _, _) in ordered}, total, within, lemmas or {})


def count_sources(
    sources: Sequence[Source],
    table: FoldTable,
    reading: Reading,
    tally: Tally,
    progress: Callable[[int, int], None] | None = None,
    by_lemma: bool = False,
) -> tuple[dict[str, Cases], dict[str, Cases]]:
    """Count the words of some files, and add the amount of text that was read to ``tally``.

    With ``by_lemma``, the lemmas are counted where files have them; they are returned separately.
    """
    counters: tuple[list[Counter], list[Counter]] = [], []  # of forms, and of lemmas
    free: tuple[SimpleQueue[Counter], SimpleQueue[Counter]] = SimpleQueue(), SimpleQueue()

    def count_block(block: Block) -> None:
        lemmas = block.lemmas if by_lemma else None
        kind = int(lemmas is not None)
        try:
            counter = free[kind].get_nowait()
        except Empty:
            counter = Counter(table)
            counters[kind].append(counter)
        counter.add(block.data if lemmas is None else lemmas)
        free[kind].put(counter)

    for _ in process_blocks(read_corpus(sources, reading, tally, progress, by_lemma), count_block):
        continue
    tally.words += sum(counter.total for some in counters for counter in some)
    forms, lemmas = (sum_counts(pair for counter in some for pair in counter.words()) for some in counters)
    return forms, lemmas


def sum_counts(counts: Iterable[tuple[str, Cases]]) -> dict[str, Cases]:
    """Sum counts by word."""
    summed: dict[str, Cases] = {}
    for word, (n, small, capital) in counts:
        a, b, c = summed.get(word, (0, 0, 0))
        summed[word] = (a + n, b + small, c + capital)
    return summed


class Counter:
    """Count words in a hash table: keys (slots,), counts (slots, 3) and positions of the spellings (slots, 2)."""

    def __init__(self, table: FoldTable) -> None:
        self._table = table
        self._keys = np.zeros(_SLOTS, np.uint64)
        self._counts = np.zeros((_SLOTS, 3), np.int64)  # all; inside a sentence, small and capital
        self._places = np.zeros((_SLOTS, 2), np.int64)  # start and end in the arena
        self._arena = bytearray()
        self._used = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        """Count the words of some UTF-8 text."""
        array, at, ended = np.frombuffer(data, np.uint8), 0, -1
        scripts = find_scripts(array, self._table)
        if scripts is not None and segmenter_version() is not None:
            data = segment(data.decode()).encode()
            array = np.frombuffer(data, np.uint8)
        while at < len(array):
            room = int(_FULLEST * len(self._keys)) - self._used
            fresh = np.empty((room, 3), np.int64)
            at, ended, words, n = count(
                array, at, ended, self._table, capitals(), _ENDS, self._keys, self._counts, fresh, scripts
            )
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
        self._keys, self._counts = np.zeros(slots, np.uint64), np.zeros((slots, 3), np.int64)
        self._places = np.zeros((slots, 2), np.int64)
        at = np.empty(len(keys), np.int64)
        insert_keys(keys, self._keys, at)
        self._counts[at], self._places[at] = counts, places

    def words(self) -> Iterator[tuple[str, Cases]]:
        """Yield the counts of each word, folded and in normal form; a word may be yielded more than once."""
        slots = np.flatnonzero(self._counts[:, 0])
        for (start, end), (n, small, capital) in zip(
            self._places[slots].tolist(), self._counts[slots].tolist(), strict=True
        ):
            if end - start > _LONGEST_WORD:
                continue
            folded = fold(self._arena[start:end].decode(), self._table)
            # A small letter may be one character although its capital is a letter and a mark, as for "ẖ".
            word = unicodedata.normalize("NFC", "".join(map(chr, folded)))
            yield word, (n, small, capital)


@kernel
def count(
    data: Bytes,
    begin: int,
    previous_end: int,
    table: FoldTable,
    capital: npt.NDArray[np.bool_],
    signs: Bytes,
    keys: Keys,
    counts: Array,
    fresh: Array,
    scripts: Bytes | None = None,
) -> tuple[int, int, int, int]:
    """Count the words of UTF-8 text from byte ``begin`` on, where no word is cut.

    A word counts as inside a sentence if a space, or a comma and a space, separates it from the previous word.

    Parameters
    ----------
    data : ndarray of shape (n,), uint8
        The text.
    begin : int
        Byte at which counting begins.
    previous_end : int
        End of the word before that byte, -1 if there is none.
    table : ndarray of shape (characters,), uint32
        The folded form of each character, 0 for separators.
    capital : ndarray of shape (characters,), bool
        True for capital letters.
    signs : ndarray of shape (m,), uint8
        Bytes after which a sentence may begin.
    keys : ndarray of shape (slots,), uint64
        Hash table of the words, 0 in empty slots; new words are inserted.
    counts : ndarray of shape (slots, 3), int64
        Number of all occurrences, and of those inside a sentence with a small and with a capital first letter.
    fresh : ndarray of shape (max_new_words, 3), int64
        Filled with the slot, start and end of each word that the hash table did not contain.
    scripts : ndarray of shape (characters,), uint8, or None
        See :func:`lexshift.corpus.word_rule.next_word`.

    Returns
    -------
    begin : int
        Byte at which the next call begins; n or more if all of the text was read.
    previous_end : int
        End of the last word, -1 if there was none.
    words, new_words : int
        Number of words that were counted, and of rows of ``fresh`` that were filled.
    """
    i, words, n_new = begin, 0, 0
    while i < len(data):
        start, i, key = next_word(data, i, table, scripts)
        if key == np.uint64(0):
            i += 1
            continue
        slot = find_slot(keys, key)
        if keys[slot] == np.uint64(0):
            if n_new == len(fresh):
                return start, previous_end, words, n_new
            keys[slot] = key
            fresh[n_new, 0], fresh[n_new, 1], fresh[n_new, 2] = slot, start, i
            n_new += 1
        counts[slot, 0] += 1
        gap = start - previous_end
        if previous_end >= 0 and data[start - 1] == 32 and (gap == 1 or (gap == 2 and data[previous_end] == 44)):
            inside = True
            for sign in signs:  # signs are parts of tokens
                inside &= data[previous_end - 1] != sign
            if inside:
                counts[slot, 1 + int(capital[character_at(data, start)[0]])] += 1
        words += 1
        previous_end = i
    return i, previous_end, words, n_new


@kernel
def insert_keys(fresh: Keys, keys: Keys, slots: Array) -> None:
    """Insert distinct keys, (n,), into an empty hash table, (slots,), and fill ``slots``, (n,), with their slots."""
    for k in range(len(fresh)):
        slot = find_slot(keys, fresh[k])
        keys[slot] = fresh[k]
        slots[k] = slot

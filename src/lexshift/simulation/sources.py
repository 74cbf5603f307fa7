"""Pair the source words of pseudowords, and find the sentences in which they occur."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

from lexshift.corpus.counting import WordCounts, count_words
from lexshift.corpus.occurrences import find_occurrences
from lexshift.corpus.sources import STANDARD_INPUT, Place, Reading
from lexshift.corpus.tables import read_lines
from lexshift.corpus.targets import read_targets
from lexshift.corpus.vocabulary import select_vocabulary
from lexshift.corpus.word_rule import word_table
from lexshift.errors import UserError
from lexshift.utils.monitor import Monitor, reading_stage
from lexshift.utils.seeds import generator

Pair: TypeAlias = tuple[str, str]
_SHARED_LETTERS = 4  # initial letters shared by words of one stem, as in nation and national
_BATCH = 4  # candidate words read at a time, for each requested pair
_SPARE = 50  # extra usages read per word, since a sentence may hold it twice or be a duplicate


@dataclass(frozen=True, order=True)
class Usage:
    """A sentence, and the character offsets of the word in it."""

    sentence: str
    start: int
    end: int


PairUsages: TypeAlias = dict[Pair, tuple[list[Usage], list[Usage]]]
"""For each pair of source words, the usages of the first and of the second."""


@dataclass(frozen=True)
class SourceText:
    """Corpora that are read as one.

    Attributes
    ----------
    corpora : sequence of paths
    reading : Reading
    monitor : Monitor
    """

    corpora: Sequence[Place]
    reading: Reading
    monitor: Monitor

    def __post_init__(self) -> None:
        if not self.corpora:
            raise UserError("no corpus to take sentences from; give at least one")
        if STANDARD_INPUT in [os.fspath(corpus) for corpus in self.corpora]:
            raise UserError("sentences cannot be taken from standard input, which is read only once; give a file")

    def counts(self) -> WordCounts:
        """Count how often every word occurs."""
        counts, total = Counter[str](), 0
        for corpus in self.corpora:
            progress = reading_stage(self.monitor, "counting")
            corpus_counts = count_words(corpus, word_table(), self.reading, progress)
            counts.update(corpus_counts.counts)
            total += corpus_counts.total
        return WordCounts(dict(counts), total)

    def usages(self, words: Sequence[str], max_per_corpus: int) -> dict[str, list[Usage]]:
        """Find distinct sentences in which a word occurs exactly once, among ``max_per_corpus`` usages per corpus."""
        targets = read_targets(list(words))
        usages: dict[str, dict[str, Usage]] = {word: {} for word in words}
        for corpus in self.corpora:
            progress = reading_stage(self.monitor, "reading")
            table = find_occurrences(corpus, targets, self.reading, max_per_corpus, progress=progress).table
            columns = (table[name].to_pylist() for name in ("target", "sentence", "start", "end"))
            for target, sentence, start, end in zip(*columns, strict=True):
                key, word = " ".join(sentence.split()), targets.words[target]
                if count_folded_words(sentence)[fold_word(word)] == 1:
                    usages[word].setdefault(key, Usage(sentence, start, end))
        return {word: sorted(by_sentence.values()) for word, by_sentence in usages.items()}


def count_folded_words(text: str) -> Counter[str]:
    """Count the words of a text after the same case folding as in a corpus.

    >>> count_folded_words("Mice? The mice.")["mice"]
    2
    """
    return Counter(unicodedata.normalize("NFC", fold_characters(text)).split())


def fold_characters(text: str) -> str:
    """Return a text of the same length with case folding as in a corpus, and a space for each separator.

    >>> fold_characters("Mice? The mice.")
    'mice  the mice '
    """
    return text.translate(_FOLD_TABLE)


class _FoldTable(dict[int, int]):
    """Translation table of characters: folded case, and a space for separators; filled as characters occur."""

    def __missing__(self, code: int) -> int:
        self[code] = int(word_table()[code]) or ord(" ")
        return self[code]


_FOLD_TABLE = _FoldTable()


def fold_word(word: str) -> str:
    """Return a source word folded as words are counted; raise if it is not a single word."""
    words = count_folded_words(word)
    if words.total() != 1:
        raise UserError(f"a source word must be a single word; got {word!r}")
    return next(iter(words))


def read_pairs(pairs: Place | Iterable[Sequence[str]]) -> list[Pair]:
    """Read pairs of source words, from a file of word<TAB>word lines or from a list."""
    if isinstance(pairs, (str, os.PathLike)):
        lines = [line for line in read_lines(Path(pairs)) if line.strip()]
        parsed = [tuple(word.strip() for word in line.split("\t")) for line in lines]
    else:
        parsed = [tuple(pair) for pair in pairs]
    for pair in parsed:
        if len(pair) != 2 or fold_word(pair[0]) == fold_word(pair[1]):
            raise UserError(f"a pair must be two different words, as in mouse<TAB>bread; got {' '.join(pair)!r}")
    if not parsed:
        raise UserError("no pairs of source words; give lines of word<TAB>word")
    if len(set(parsed)) < len(parsed):
        raise UserError("a pair of source words occurs twice; each pair makes one pseudoword, so remove the duplicate")
    return [(first, second) for first, second in parsed]


def find_pairs(
    text: SourceText, counts: WordCounts, pairs: Sequence[Pair] | None, needs: Sequence[tuple[int, int]], seed: int
) -> PairUsages:
    """Find usages of pairs of source words, which are chosen at random if ``pairs`` is None.

    ``needs`` holds, for each pair, the required numbers of usages of the first and of the second word.
    """
    if pairs is None:
        return choose_pairs(text, counts, len(needs), max(map(max, needs)), seed)
    usages = text.usages(
        list(dict.fromkeys(word for pair in pairs for word in pair)), 4 * max(map(max, needs)) + _SPARE
    )
    pair_usages = {pair: separate_usages(usages, pair) for pair in pairs}
    short = [
        f"{word!r} has {len(rows):,} of {need:,}"
        for (pair, sides), sizes in zip(pair_usages.items(), needs, strict=True)
        for word, rows, need in zip(pair, sides, sizes, strict=True)
        if len(rows) < need
    ]
    if short:
        raise report_shortage(short)
    return pair_usages


def report_shortage(short: Sequence[str]) -> UserError:
    """Return the error for source words with too few sentences; ``short`` describes each of them."""
    shown = ", ".join(short[:5]) + (f" and {len(short) - 5} more" if len(short) > 5 else "")
    return UserError(
        f"too few sentences with exactly one occurrence of one word of a pair: {shown}; request fewer usages, or "
        f"choose other words"
    )


def separate_usages(usages: Mapping[str, Sequence[Usage]], pair: Pair) -> tuple[list[Usage], list[Usage]]:
    """Return the usages of each word whose sentences do not contain the other word."""
    first, second = (
        [usage for usage in usages[word] if not count_folded_words(usage.sentence)[fold_word(other)]]
        for word, other in (pair, pair[::-1])
    )
    return first, second


def choose_pairs(text: SourceText, counts: WordCounts, count: int, need: int, seed: int) -> PairUsages:
    """Choose random pairs of distinct content words with at least ``need`` usages each, and find the usages.

    Words with the same beginning are not paired, as they are often forms of one word. A word's position in the random
    order does not depend on the other words.
    """
    try:
        # Sentences are searched for tokens between separators, so words inside runs of letters do not count.
        ranked: Sequence[str] = select_vocabulary([counts], 1, match="token").words
    except UserError:  # there is no content word
        ranked = ()
    candidates = [word for word in ranked if counts.counts[word] >= need]
    order = sorted(candidates, key=lambda word: generator(seed, "simulate", f"source {word}").random())
    pairs: PairUsages = {}
    unpaired: list[str] = []
    usages: dict[str, list[Usage]] = {}
    for start in range(0, len(order), _BATCH * count):
        batch = order[start : start + _BATCH * count]
        usages |= text.usages(batch, 2 * need + _SPARE)
        unpaired = _pair_up(
            [*unpaired, *(word for word in batch if len(usages[word]) >= need)], usages, need, count, pairs
        )
        if len(pairs) == count:
            return pairs
    if len(ranked) < 2 * count:
        supply = f"there are {len(ranked):,} words that are neither function words nor numbers"
    else:
        last = ranked[2 * count - 1]
        supply = f"number {2 * count} of the words by frequency, {last!r}, occurs {counts.counts[last]:,} times"
    raise UserError(
        f"{count} pairs of words with {need:,} sentences each were requested, but only {len(pairs)} can be made: "
        f"{supply}; request fewer pseudowords or usages, or give a larger corpus"
    )


def _pair_up(
    words: Sequence[str], usages: Mapping[str, Sequence[Usage]], need: int, count: int, pairs: PairUsages
) -> list[str]:
    """Pair each word with the first possible partner; return the words without a partner."""
    waiting, single = list(words), list[str]()
    while waiting and len(pairs) < count:
        first = waiting.pop(0)
        for second in waiting:
            if not begin_alike(first, second):
                rows = separate_usages(usages, (first, second))
                if min(map(len, rows)) >= need:
                    pairs[first, second] = rows
                    waiting.remove(second)
                    break
        else:
            single.append(first)
    return [*single, *waiting]


def begin_alike(a: str, b: str) -> bool:
    """Return whether two words share their first letters, as forms of one word often do."""
    shared = next(i for i, (x, y) in enumerate(zip_longest(a, b)) if x != y)
    return shared >= min(_SHARED_LETTERS, len(a), len(b))

"""Source words of pseudowords: which words are paired, and the sentences in which they occur."""

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
from lexshift.corpus.sources import STANDARD_INPUT, Reading
from lexshift.corpus.tables import read_lines
from lexshift.corpus.targets import read_targets
from lexshift.corpus.vocabulary import select_vocabulary
from lexshift.corpus.word_rule import word_table
from lexshift.errors import UserError
from lexshift.utils.monitor import Monitor, reading_stage
from lexshift.utils.seeds import generator

Place: TypeAlias = str | os.PathLike[str]
Pair: TypeAlias = tuple[str, str]
_SHARED_LETTERS = 4  # at the beginning of words of one stem: nation, national
_BATCH = 4  # candidates that are read at a time, for each pair that is wanted
_SPARE = 50  # usages of a word that are read beyond the needed ones, which may hold it twice or be repeated


@dataclass(frozen=True, order=True)
class Usage:
    """A sentence, and where in it the word is, in characters."""

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
            raise UserError("there is no corpus to take sentences from; give at least one")
        if STANDARD_INPUT in [os.fspath(corpus) for corpus in self.corpora]:
            raise UserError("sentences cannot be taken from standard input, which is read only once; give a file")

    def counts(self) -> WordCounts:
        """Count how often every word occurs."""
        counts, total = Counter[str](), 0
        for corpus in self.corpora:
            progress = reading_stage(self.monitor, "counting")
            found = count_words(corpus, word_table(), self.reading, progress)
            counts.update(found.counts)
            total += found.total
        return WordCounts(dict(counts), total)

    def usages(self, words: Sequence[str], most: int) -> dict[str, list[Usage]]:
        """Find sentences in which a word occurs just once, no sentence twice, among at most so many of a corpus."""
        targets = read_targets(list(words))
        found: dict[str, dict[str, Usage]] = {word: {} for word in words}
        for corpus in self.corpora:
            progress = reading_stage(self.monitor, "reading")
            table = find_occurrences(corpus, targets, self.reading, most, progress=progress).table
            columns = (table[name].to_pylist() for name in ("target", "sentence", "start", "end"))
            for target, sentence, start, end in zip(*columns, strict=True):
                key, word = " ".join(sentence.split()), targets.words[target]
                if words_in(sentence)[fold_word(word)] == 1:
                    found[word].setdefault(key, Usage(sentence, start, end))
        return {word: sorted(usages.values()) for word, usages in found.items()}


def words_in(text: str) -> Counter[str]:
    """Count the words of a text, folded as words of a corpus are counted.

    >>> words_in("Mice? The mice.")["mice"]
    2
    """
    return Counter(unicodedata.normalize("NFC", text.translate(_SPACED)).split())


class _Spaced(dict[int, int]):
    """What each character is folded to, a space for those that separate words; looked up when first met."""

    def __missing__(self, code: int) -> int:
        self[code] = int(word_table()[code]) or ord(" ")
        return self[code]


_SPACED = _Spaced()


def fold_word(word: str) -> str:
    """Return a source word as words are counted; raise if it is not one word."""
    found = words_in(word)
    if found.total() != 1:
        raise UserError(f"a source word must be a single word; got {word!r}")
    return next(iter(found))


def read_pairs(pairs: Place | Iterable[Sequence[str]]) -> list[Pair]:
    """Read pairs of source words, from a file of word<TAB>word lines or from a list."""
    if isinstance(pairs, (str, os.PathLike)):
        lines = [line for line in read_lines(Path(pairs)) if line.strip()]
        listed = [tuple(word.strip() for word in line.split("\t")) for line in lines]
    else:
        listed = [tuple(pair) for pair in pairs]
    for pair in listed:
        if len(pair) != 2 or fold_word(pair[0]) == fold_word(pair[1]):
            raise UserError(f"a pair must be two different words, as in mouse<TAB>bread; got {' '.join(pair)!r}")
    if not listed:
        raise UserError("there is no pair of source words; give lines of word<TAB>word")
    if len(set(listed)) < len(listed):
        raise UserError("a pair of source words is given twice; each makes a pseudoword of its own")
    return [(first, second) for first, second in listed]


def find_pairs(
    text: SourceText, counts: WordCounts, pairs: Sequence[Pair] | None, needs: Sequence[tuple[int, int]], seed: int
) -> PairUsages:
    """Find usages of pairs of source words, which are chosen at random if ``pairs`` is None.

    ``needs`` has for each pair how many usages of the first and of the second word are needed.
    """
    if pairs is None:
        return choose_pairs(text, counts, len(needs), max(map(max, needs)), seed)
    usages = text.usages(
        list(dict.fromkeys(word for pair in pairs for word in pair)), 4 * max(map(max, needs)) + _SPARE
    )
    found = {pair: separate_usages(usages, pair) for pair in pairs}
    short = [
        f"{word!r} has {len(rows):,} of {need:,}"
        for (pair, sides), sizes in zip(found.items(), needs, strict=True)
        for word, rows, need in zip(pair, sides, sizes, strict=True)
        if len(rows) < need
    ]
    if short:
        shown = ", ".join(short[:5]) + (f" and {len(short) - 5} more" if len(short) > 5 else "")
        raise UserError(
            f"too few sentences that have one word of a pair, and have it once: {shown}; ask for fewer usages, or take "
            f"other words"
        )
    return found


def separate_usages(usages: Mapping[str, Sequence[Usage]], pair: Pair) -> tuple[list[Usage], list[Usage]]:
    """Return the usages of either word whose sentences do not hold the other."""
    first, second = (
        [usage for usage in usages[word] if not words_in(usage.sentence)[fold_word(other)]]
        for word, other in (pair, pair[::-1])
    )
    return first, second


def choose_pairs(text: SourceText, counts: WordCounts, wanted: int, need: int, seed: int) -> PairUsages:
    """Choose pairs of content words with enough usages of either at random, no word twice, and find their usages.

    Words that begin alike are not paired, as they are often forms of one word. A word's place in the random order does
    not depend on the other words.
    """
    try:
        # Sentences are taken by what stands between separators, so words are not found inside runs of letters here.
        ranked: Sequence[str] = select_vocabulary([counts], 1, match="token").words
    except UserError:  # there is no content word
        ranked = ()
    candidates = [word for word in ranked if counts.counts[word] >= need]
    order = sorted(candidates, key=lambda word: generator(seed, "simulate", f"source {word}").random())
    pairs: PairUsages = {}
    left: list[str] = []
    usages: dict[str, list[Usage]] = {}
    for start in range(0, len(order), _BATCH * wanted):
        batch = order[start : start + _BATCH * wanted]
        usages |= text.usages(batch, 2 * need + _SPARE)
        left = _pair_up([*left, *(word for word in batch if len(usages[word]) >= need)], usages, need, wanted, pairs)
        if len(pairs) == wanted:
            return pairs
    if len(ranked) < 2 * wanted:
        supply = f"there are {len(ranked):,} words that are neither function words nor numbers"
    else:
        last = ranked[2 * wanted - 1]
        supply = f"number {2 * wanted} of the words by frequency, {last!r}, occurs {counts.counts[last]:,} times"
    raise UserError(
        f"{wanted} pairs of words with {need:,} sentences of each are asked for, but only {len(pairs)} can be made: "
        f"{supply}; ask for fewer pseudowords or usages, or give a larger corpus"
    )


def _pair_up(
    words: Sequence[str], usages: Mapping[str, Sequence[Usage]], need: int, wanted: int, pairs: PairUsages
) -> list[str]:
    """Add pairs, each word with the first that can be its partner; return the words that are left."""
    waiting, single = list(words), list[str]()
    while waiting and len(pairs) < wanted:
        first = waiting.pop(0)
        for second in waiting:
            if not _begin_alike(first, second):
                rows = separate_usages(usages, (first, second))
                if min(map(len, rows)) >= need:
                    pairs[first, second] = rows
                    waiting.remove(second)
                    break
        else:
            single.append(first)
    return [*single, *waiting]


def _begin_alike(a: str, b: str) -> bool:
    shared = next(i for i, (x, y) in enumerate(zip_longest(a, b)) if x != y)
    return shared >= min(_SHARED_LETTERS, len(a), len(b))

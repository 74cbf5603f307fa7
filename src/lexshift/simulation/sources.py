"""The source words: which ones, in which pairs, and their sentences."""

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
from lexshift.simulation.planting import Usage
from lexshift.utils.monitor import Monitor, reading_stage
from lexshift.utils.seeds import generator

Place: TypeAlias = str | os.PathLike[str]
Pair: TypeAlias = tuple[str, str]
_ALIKE = 4  # letters at the beginning that words of one stem share: nation, national
_BATCH = 4  # candidates that are looked at at a time, for each pair that is wanted
_SPARE = 50  # usages of a word that are read beyond the needed ones, which may hold it twice or be repeated


@dataclass(frozen=True)
class Text:
    """Some corpora that are read as one.

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
        """How often every word occurs."""
        counts, total = Counter[str](), 0
        for corpus in self.corpora:
            progress = reading_stage(self.monitor, "counting")
            found = count_words(corpus, word_table(), self.reading, 1, progress)
            counts.update(found.counts)
            total += found.total
        return WordCounts(dict(counts), total)

    def usages(self, words: Sequence[str], most: int) -> dict[str, list[Usage]]:
        """Sentences in which each word occurs just once, no sentence twice, from at most so many of a corpus."""
        targets = read_targets(list(words))
        found: dict[str, dict[str, Usage]] = {word: {} for word in words}
        for corpus in self.corpora:
            progress = reading_stage(self.monitor, "reading")
            table = find_occurrences(corpus, targets, self.reading, most, progress=progress).table
            columns = (table[name].to_pylist() for name in ("target", "sentence", "start", "end"))
            for target, sentence, start, end in zip(*columns, strict=True):
                key, word = " ".join(sentence.split()), targets.words[target]
                if words_in(sentence)[folded(word)] == 1:
                    found[word].setdefault(key, Usage(sentence, start, end))
        return {word: sorted(usages.values()) for word, usages in found.items()}


def words_in(text: str) -> Counter[str]:
    """How often each word is in a text, folded as words of a corpus are counted.

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


def folded(word: str) -> str:
    """A source word as words are counted; it must be one word."""
    found = words_in(word)
    if found.total() != 1:
        raise UserError(f"a source word must be a single word; got {word!r}")
    return next(iter(found))


def apart(usages: Mapping[str, Sequence[Usage]], pair: Pair) -> tuple[list[Usage], list[Usage]]:
    """The usages of either word whose sentences do not hold the other."""
    first, second = (
        [usage for usage in usages[word] if not words_in(usage.sentence)[folded(other)]]
        for word, other in (pair, pair[::-1])
    )
    return first, second


def choose_pairs(
    text: Text, counts: WordCounts, wanted: int, need: int, seed: int
) -> dict[Pair, tuple[list[Usage], list[Usage]]]:
    """Pairs of content words with enough usages of either, at random, no word twice, and their usages.

    Words that begin alike are no pair, as they are often forms of one word. A word's place in the lottery is its own.
    """
    ranked = _content_words(counts)
    candidates = [word for word in ranked if counts.counts[word] >= need]
    order = sorted(candidates, key=lambda word: generator(seed, "simulate", f"source {word}").random())
    pairs: dict[Pair, tuple[list[Usage], list[Usage]]] = {}
    left: list[str] = []
    usages: dict[str, list[Usage]] = {}
    for start in range(0, len(order), _BATCH * wanted):
        batch = order[start : start + _BATCH * wanted]
        usages |= text.usages(batch, 2 * need + _SPARE)
        left = _pair_up([*left, *(word for word in batch if len(usages[word]) >= need)], usages, need, wanted, pairs)
        if len(pairs) == wanted:
            return pairs
    raise UserError(
        f"{wanted} pairs of words with {need:,} sentences of each are asked for, but only {len(pairs)} can be made: "
        f"{_supply(ranked, counts, wanted)}; ask for fewer words or usages, or give a larger corpus"
    )


def _content_words(counts: WordCounts) -> Sequence[str]:
    """All words but function words and numbers, the most frequent first."""
    try:
        # Sentences are taken by what stands between separators, so words are not found inside runs of letters here.
        return select_vocabulary([counts], 1, match="token").words
    except UserError:  # there is none
        return ()


def _supply(ranked: Sequence[str], counts: WordCounts, wanted: int) -> str:
    """What there is, when that is too little."""
    if len(ranked) < 2 * wanted:
        return f"there are {len(ranked):,} words that are neither function words nor numbers"
    last = ranked[2 * wanted - 1]
    return f"number {2 * wanted} of the words by frequency, {last!r}, occurs {counts.counts[last]:,} times"


def _pair_up(
    words: Sequence[str],
    usages: Mapping[str, Sequence[Usage]],
    need: int,
    wanted: int,
    pairs: dict[Pair, tuple[list[Usage], list[Usage]]],
) -> list[str]:
    """Add pairs, each word with the first that can be its partner; return the words that are left."""
    waiting, single = list(words), list[str]()
    while waiting and len(pairs) < wanted:
        first = waiting.pop(0)
        for second in waiting:
            if not _alike(first, second):
                rows = apart(usages, (first, second))
                if min(map(len, rows)) >= need:
                    pairs[first, second] = rows
                    waiting.remove(second)
                    break
        else:
            single.append(first)
    return [*single, *waiting]


def _alike(a: str, b: str) -> bool:
    shared = next(i for i, (x, y) in enumerate(zip_longest(a, b)) if x != y)
    return shared >= min(_ALIKE, len(a), len(b))


def given_pairs(
    text: Text, pairs: Sequence[Pair], needs: Iterable[tuple[int, int]]
) -> dict[Pair, tuple[list[Usage], list[Usage]]]:
    """The usages of pairs that are given; all that are short of them are told at once."""
    needs = list(needs)
    most = 4 * max(map(max, needs)) + _SPARE
    usages = text.usages(list(dict.fromkeys(word for pair in pairs for word in pair)), most)
    found = {pair: apart(usages, pair) for pair in pairs}
    short = [
        f"{word!r} has {len(rows):,} of {need:,}"
        for (pair, sides), sizes in zip(found.items(), needs, strict=True)
        for word, rows, need in zip(pair, sides, sizes, strict=True)
        if len(rows) < need
    ]
    if short:
        told = ", ".join(short[:5]) + (f" and {len(short) - 5} more" if len(short) > 5 else "")
        raise UserError(
            f"too few sentences that have one word of a pair, and have it once: {told}; ask for fewer usages, or take "
            f"other words"
        )
    return found


def read_pairs(pairs: Place | Iterable[Sequence[str]]) -> list[Pair]:
    """Pairs of source words, from a file of word<TAB>word lines or as they are."""
    listed = [tuple(pair) for pair in pairs] if not isinstance(pairs, (str, os.PathLike)) else _pairs_in(Path(pairs))
    for pair in listed:
        if len(pair) != 2 or folded(pair[0]) == folded(pair[1]):
            raise UserError(f"a pair must be two different words, as in mouse<TAB>bread; got {' '.join(pair)!r}")
    if not listed:
        raise UserError("there is no pair of source words; give lines of word<TAB>word")
    if len(set(listed)) < len(listed):
        raise UserError("a pair of source words is given twice; each makes a name of its own")
    return [(first, second) for first, second in listed]


def _pairs_in(path: Path) -> list[tuple[str, ...]]:
    return [tuple(word.strip() for word in line.split("\t")) for line in read_lines(path) if line.strip()]

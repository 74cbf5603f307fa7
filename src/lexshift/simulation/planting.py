"""Plant pseudowords in two corpora that differ as wholes, each of which keeps its own text.

The usages of a pseudoword in a period are sentences of the corpus of that period. All other sentences stay as they are.
A sentence is used once at most, so it never holds two pseudowords, nor a pseudoword and one of its source words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lexshift.corpus.counting import Counter, WordCounts, make_word_counts, sum_counts
from lexshift.corpus.vocabulary import select_vocabulary
from lexshift.corpus.word_rule import word_table
from lexshift.errors import UserError
from lexshift.simulation.pseudowords import Plan, deal_usages
from lexshift.simulation.sources import (
    Pair,
    Usage,
    begin_alike,
    count_folded_words,
    fold_characters,
    fold_word,
    report_shortage,
)
from lexshift.utils.seeds import generator

PERIODS = ("old", "new")
_COUNTED = 10_000  # sentences that are counted at a time


@dataclass(frozen=True, order=True)
class PlacedUsage(Usage):
    """A usage in a corpus; ``position`` is the number of its sentence."""

    position: int


@dataclass(frozen=True)
class PlantedPair:
    """The source words of a pseudoword, and their usages in each period (0 for the first word, 1 for the second)."""

    pair: Pair
    usages: list[list[tuple[int, PlacedUsage]]]


@dataclass
class PeriodText:
    """The sentences of a period, with the positions of the sentences in which words occur.

    Attributes
    ----------
    texts : sequence of str
        The sentences. Of equal sentences, the first can be used.
    counts : WordCounts
        How often every word occurs.
    used : set of int
        Positions of the sentences that have become usages of pseudowords.
    """

    texts: Sequence[str]
    counts: WordCounts
    used: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._once: defaultdict[str, list[int]] = defaultdict(list)
        self._present: defaultdict[str, set[int]] = defaultdict(set)

    @classmethod
    def count(cls, texts: Sequence[str], corpus: str) -> PeriodText:
        """Return the text of a period with the counts of its words; ``corpus`` names it in errors."""
        counter = Counter(word_table())
        for start in range(0, len(texts), _COUNTED):
            counter.add("\n".join(texts[start : start + _COUNTED]).encode())
        return cls(texts, make_word_counts(sum_counts(counter.words()), corpus))

    def index(self, words: Sequence[str]) -> None:
        """Find the sentences in which folded words occur."""
        wanted, seen = set(words), set[str]()
        for position, text in enumerate(self.texts):
            if text in seen:
                continue
            seen.add(text)
            for word, n in count_folded_words(text).items():
                if word in wanted:
                    self._present[word].add(position)
                    if n == 1:
                        self._once[word].append(position)

    def available(self, word: str, other: str) -> list[int]:
        """Return the positions of unused sentences that contain a word exactly once, and not the other word."""
        absent = self._present[other]
        return [i for i in self._once[word] if i not in absent and i not in self.used]

    def usages(self, word: str, other: str) -> list[PlacedUsage]:
        """Return the usages of a word in these sentences."""
        return [PlacedUsage(self.texts[i], *find_word(self.texts[i], word), i) for i in self.available(word, other)]


def find_word(text: str, word: str) -> tuple[int, int]:
    """Return the character offsets of the first occurrence of a folded word.

    >>> find_word("Two Mice ran.", "mice")
    (4, 8)
    """
    matches = re.finditer(r"\S+", fold_characters(text))
    return next(match.span() for match in matches if unicodedata.normalize("NFC", match[0]) == word)


def plant_pairs(
    periods: Sequence[PeriodText], pairs: Sequence[Pair] | None, plans: Sequence[Plan], seed: int
) -> list[PlantedPair]:
    """Choose sentences for the pseudoword of each plan, and source words unless ``pairs`` holds those of each plan.

    Pseudowords take turns in a random order. So those with a large change do not have a wider choice of sentences.
    """
    turns = [int(turn) for turn in generator(seed, "simulate", "turns").permutation(len(plans))]
    planted: dict[int, PlantedPair] = {}
    if pairs is None:
        need = max(sum(counts) for plan in plans for counts in plan)
        for turn, pair in zip(turns, _choose_pairs(periods, len(plans), need, seed), strict=False):
            planted[turn] = _plant(periods, pair, plans[turn], seed)
        return [planted[turn] for turn in range(len(plans))]
    folded = [(fold_word(first), fold_word(second)) for first, second in pairs]
    for period in periods:
        period.index([word for pair in folded for word in pair])
    short: list[str] = []
    for turn in turns:
        lacking = [
            f"{word!r} has {len(period.available(*folded[turn][::step])):,} of {need:,} in {label}"
            for label, period, needs in zip(PERIODS, periods, plans[turn], strict=True)
            for word, need, step in zip(pairs[turn], needs, (1, -1), strict=True)
            if len(period.available(*folded[turn][::step])) < need
        ]
        short += lacking
        if not lacking:
            planted[turn] = _plant(periods, folded[turn], plans[turn], seed)
    if short:
        raise report_shortage(short)
    return [PlantedPair(pair, planted[turn].usages) for turn, pair in enumerate(pairs)]


def _plant(periods: Sequence[PeriodText], pair: Pair, plan: Plan, seed: int) -> PlantedPair:
    """Choose the usages of a pseudoword at random, and mark their sentences as used."""
    dealt = []
    for label, period, counts in zip(PERIODS, periods, plan, strict=True):
        rng = generator(seed, "simulate", f"deal {label} {' '.join(pair)}")
        (usages,) = deal_usages(period.usages(*pair), period.usages(*pair[::-1]), (counts,), rng)
        period.used.update(usage.position for _, usage in usages)
        dealt.append(usages)
    return PlantedPair(pair, dealt)


def _choose_pairs(periods: Sequence[PeriodText], count: int, need: int, seed: int) -> Iterator[Pair]:
    """Yield random pairs of content words with at least ``need`` unused sentences each in every period.

    Words that begin alike are not paired, and names are left out. The sentences of a pair must be marked as used before
    the next pair is requested.
    """
    try:
        candidates = select_vocabulary([p.counts for p in periods], need, names=False, match="token").words
    except UserError:  # there is no such word
        candidates = []
    for period in periods:
        period.index(candidates)
    waiting = sorted(candidates, key=lambda word: generator(seed, "simulate", f"source {word}").random())
    n_pairs = 0
    while waiting and n_pairs < count:
        first = waiting.pop(0)
        for second in waiting:
            if not begin_alike(first, second) and _has_enough(periods, (first, second), need):
                waiting.remove(second)
                n_pairs += 1
                yield first, second
                break
    if n_pairs < count:
        raise UserError(
            f"{count} pairs of words with {need:,} sentences each in both corpora were requested, but only {n_pairs} "
            f"can be made: {len(candidates):,} words that are not function words, numbers or names occur {need:,} "
            f"times in both; request fewer pseudowords or usages, or give larger corpora"
        )


def _has_enough(periods: Sequence[PeriodText], pair: Pair, need: int) -> bool:
    return all(len(period.available(*pair[::step])) >= need for period in periods for step in (1, -1))

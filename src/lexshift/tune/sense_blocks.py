"""Draw the examples of sense tuning: blocks of usages and glosses of one lemma in several senses.

A block depends only on the seed and on its number in the run, so that a repeated or resumed run sees the same blocks.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from torch.utils.data import Dataset

from lexshift.corpus.dictionaries import Entry, Sense
from lexshift.tune.pairs import Pair, Usage

_MOST_USAGES = 8  # of an entry that count for the probability to draw it
_PAIRS_PER_ENTRY = 2  # of each label, for evaluation
_Drawn = TypeVar("_Drawn")
_TRAINING, _EVALUATION = 0, 1  # streams of random numbers


class Item(NamedTuple):
    """A usage of a lemma, or its gloss as the sentence "lemma: gloss", with the number of its sense in the block."""

    sentence: str
    start: int
    end: int
    sense: int
    is_gloss: bool


Block = list[Item]


def can_be_contrasted(entry: Entry) -> bool:
    """Return whether an entry has two senses or more, of which one has a usage."""
    return len(entry.senses) >= 2 and any(sense.usages for sense in entry.senses)


def is_held_out(lemma: str, share: float, seed: int) -> bool:
    """Return whether a lemma belongs to the given share of lemmas that are not trained on.

    The choice depends only on the lemma and the seed, so that a lemma is held out of all dictionaries or of none.
    """
    digest = hashlib.blake2b(lemma.casefold().encode(), digest_size=8, key=str(seed).encode()).digest()
    return int.from_bytes(digest, "little") < share * 2**64


class SenseBlocks(Dataset[Block]):
    """The blocks of a whole run in their order.

    Parameters
    ----------
    sources : sequence of sequences of Entry
        The entries of each dictionary.
    weights : sequence of float
        Share of the blocks that is drawn from each dictionary, relative to the sum of all.
    count : int
        Number of blocks.
    max_senses, max_usages : int
        Maximum number of senses of a block, and of usages of a sense.
    seed : int
    """

    def __init__(
        self,
        sources: Sequence[Sequence[Entry]],
        weights: Sequence[float],
        count: int,
        max_senses: int,
        max_usages: int,
        seed: int,
    ) -> None:
        self._sources = sources
        self._shares = np.cumsum(np.asarray(weights, float) / np.sum(weights))
        self._cumulated = [np.cumsum([self._weight(entry, max_usages) for entry in source]) for source in sources]
        self._count, self._seed = count, seed
        self._max_senses, self._max_usages = max_senses, max_usages

    @staticmethod
    def _weight(entry: Entry, max_usages: int) -> float:
        """Return the relative probability of an entry: entries with more usages have more to contrast."""
        return min(_MOST_USAGES, sum(min(max_usages, len(sense.usages)) for sense in entry.senses)) ** 0.5

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Block:
        rng = np.random.default_rng([self._seed, _TRAINING, index])
        source = min(int(np.searchsorted(self._shares, rng.random(), side="right")), len(self._sources) - 1)
        cumulated = self._cumulated[source]
        chosen = min(int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right")), len(cumulated) - 1)
        entry = self._sources[source][chosen]
        block: Block = []
        for number, sense in enumerate(self._draw_senses(entry, rng)):
            for usage in _draw(sense.usages, self._max_usages, rng):
                block.append(Item(usage.sentence, usage.start, usage.end, number, False))
            if sense.gloss:
                block.append(Item(f"{entry.lemma}: {sense.gloss}", 0, len(entry.lemma), number, True))
        return block

    def _draw_senses(self, entry: Entry, rng: np.random.Generator) -> list[Sense]:
        """Return random senses of an entry, first those that have usages."""
        used = [sense for sense in entry.senses if sense.usages]
        unused = [sense for sense in entry.senses if not sense.usages]
        drawn = _draw(used, self._max_senses, rng)
        return drawn + _draw(unused, self._max_senses - len(drawn), rng)


def _draw(items: Sequence[_Drawn], most: int, rng: np.random.Generator) -> list[_Drawn]:
    """Return at most ``most`` random items."""
    return [items[int(i)] for i in rng.permutation(len(items))[: max(most, 0)]]


def draw_pairs(entries: Sequence[Entry], most: int, seed: int) -> list[Pair]:
    """Return random pairs of usages of the same entry, as many of one sense as of two senses.

    Parameters
    ----------
    entries : sequence of Entry
    most : int
        Maximum number of pairs.
    seed : int
    """
    same: list[Pair] = []
    different: list[Pair] = []
    for number, entry in enumerate(entries):
        rng = np.random.default_rng([seed, _EVALUATION, number])
        labelled = [(k, usage) for k, sense in enumerate(entry.senses) for usage in sense.usages]
        sample = [labelled[int(i)] for i in rng.permutation(len(labelled))[:40]]
        counts = {True: 0, False: 0}
        for (a, first), (b, second) in itertools.combinations(sample, 2):
            if first.sentence != second.sentence and counts[a == b] < _PAIRS_PER_ENTRY:
                counts[a == b] += 1
                pair = Pair(entry.lemma, Usage(*first), Usage(*second), a == b)
                (same if a == b else different).append(pair)
    rng = np.random.default_rng([seed, _EVALUATION])
    each = min(len(same), len(different), most // 2)
    drawn = [[pairs[int(i)] for i in rng.permutation(len(pairs))[:each]] for pairs in (same, different)]
    return drawn[0] + drawn[1]

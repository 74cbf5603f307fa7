"""Which periods of a word are compared, and their scores: each pair as :func:`lexshift.compare` would score it."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lexshift.errors import UserError
from lexshift.scoring.permutation import Permutations, first_permutations
from lexshift.scoring.rates import RateCurve, search_rate
from lexshift.scoring.scores import WordScore, retest, score
from lexshift.scoring.sscd import SSCD
from lexshift.utils.arrays import Matrix
from lexshift.utils.monitor import Monitor, Silent

NEIGHBOURS, FIRST = "neighbours", "first"
KINDS = (NEIGHBOURS, FIRST)
Pair = tuple[str, int, int]  # a word, and the indices of two periods
Usages = Callable[[str, int], Matrix]  # the vectors of a word in a period, (n, d), in the space they are scored in


@dataclass(frozen=True)
class Step:
    """Two periods of a word.

    Attributes
    ----------
    word : str
    kind : "neighbours" or "first"
    start, end : int
        The earlier and the later period.
    skipped : tuple of int
        Periods with too few usages: between the two, or for the kind "first" before the earlier one.
    """

    word: str
    kind: str
    start: int
    end: int
    skipped: tuple[int, ...]

    @property
    def pair(self) -> Pair:
        """What is scored."""
        return self.word, self.start, self.end


def steps(word: str, counts: Sequence[int], least: int) -> list[Step]:
    """The steps of a word whose numbers of usages in each period are given; none if it has not two periods.

    >>> [(step.kind, step.start, step.end, step.skipped) for step in steps("mouse", [0, 12, 3, 10, 11], 10)]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('neighbours', 1, 3, (2,)), ('neighbours', 3, 4, ()), ('first', 1, 3, (0,)), ('first', 1, 4, (0,))]
    """
    enough = [i for i, n in enumerate(counts) if n >= least]
    found = [Step(word, NEIGHBOURS, a, b, tuple(range(a + 1, b))) for a, b in itertools.pairwise(enough)]
    return found + [Step(word, FIRST, enough[0], b, tuple(range(enough[0]))) for b in enough[1:]]


def score_pairs(
    families: Sequence[Sequence[Pair]],
    usages: Usages,
    sscd: SSCD,
    rate: float | Literal["auto"],
    permutations: Permutations,
    resamples: int,
    confidence: float,
    sizes: Sequence[int] | None,
    monitor: Monitor,
    alpha: float,
) -> tuple[dict[Pair, WordScore], float]:
    """Score every pair of periods, and say at which rate.

    The false discovery rate is controlled over the pairs of each of the ``families``; a pair may be in several.

    The random streams of a pair are those of its word, whatever the periods are. The rate "auto" is the one at which
    the mean e_swap over all pairs is least. ``sizes`` are those of the periods, if swap counts are normalised by them.
    """
    pairs = list(dict.fromkeys(pair for family in families for pair in family))
    grouped: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for word, start, end in pairs:
        grouped[start, end].append(word)

    def between(start: int, end: int) -> tuple[_Between, SSCD]:
        ours = (sizes[start], sizes[end]) if sizes is not None else None
        return _Between(usages, grouped[start, end], start, end), replace(sscd, corpus_sizes=ours)

    if rate == "auto" and pairs:
        rate = _common_rate([between(*periods) for periods in grouped])
    monitor.stage("scoring", len(pairs), "pairs of periods")
    found: dict[Pair, WordScore] = {}
    for start, end in grouped:
        words, ours = between(start, end)
        heard = _Part(monitor, len(found))
        scores = score(words, ours, rate, first_permutations(permutations), resamples, confidence, heard)
        found |= {(word, start, end): scored for word, scored in scores.words.items()}
    if permutations == "auto":

        def vectors(pair: Pair) -> tuple[Matrix, Matrix]:
            word, start, end = pair
            return usages(word, start), usages(word, end)

        found = retest(found, vectors, sscd, alpha, monitor, lambda pair: pair[0], families)
    return found, sscd.rate if rate == "auto" else rate


def _common_rate(groups: Sequence[tuple[_Between, SSCD]]) -> float:
    """The rate at which the mean e_swap over all words of all groups is least."""
    curves = []
    for words, sscd in groups:
        try:
            curves.append(
                search_rate(
                    words,
                    metric=sscd.metric,
                    repeats=sscd.repeats,
                    seed=sscd.seed,
                    strategy=sscd.strategy,
                    corpus_sizes=sscd.corpus_sizes,
                )
            )
        except ValueError as error:  # it names the word
            raise UserError(str(error)) from error
    together = RateCurve(
        words=tuple(word for curve in curves for word in curve.words),
        rates=curves[0].rates,
        e_original=np.concatenate([curve.e_original for curve in curves]),
        e_swap=np.concatenate([curve.e_swap for curve in curves]),
        closed_forms=np.concatenate([curve.closed_forms for curve in curves]),
    )
    return together.rate


class _Between(Mapping[str, tuple[Matrix, Matrix]]):
    """The vectors of some words in two periods, made when asked for: a store may be larger than memory."""

    def __init__(self, usages: Usages, words: Sequence[str], start: int, end: int) -> None:
        self._usages, self._words, self._start, self._end = usages, words, start, end

    def __getitem__(self, word: str) -> tuple[Matrix, Matrix]:
        return self._usages(word, self._start), self._usages(word, self._end)

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)


class _Part(Silent):
    """Hears of a part of a stage that has begun already."""

    def __init__(self, monitor: Monitor, before: int) -> None:
        self._monitor, self._before = monitor, before

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        """So much of the part is done."""
        self._monitor.advance(self._before + done, self._before + items, status)

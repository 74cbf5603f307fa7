"""Which periods of a word are compared, and their scores: each pair as :func:`lexshift.compare` would score it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lexshift.scoring.scores import Comparisons, Scores, Scoring, score_words
from lexshift.utils.arrays import Matrix
from lexshift.utils.monitor import Monitor

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
    scoring: Scoring,
    sizes: Sequence[int] | None,
    monitor: Monitor,
) -> Scores[Pair]:
    """Score every pair of periods.

    The false discovery rate is controlled over the pairs of each of the ``families``; a pair may be in several. The
    random streams of a pair are those of its word, whatever the periods are. ``sizes`` are those of the periods, if
    swap counts are normalised by them.
    """
    comparisons = Comparisons(
        keys=list(dict.fromkeys(pair for family in families for pair in family)),
        vectors=lambda pair: (usages(pair[0], pair[1]), usages(pair[0], pair[2])),
        name=lambda pair: pair[0],
        corpus_sizes=None if sizes is None else lambda pair: (sizes[pair[1]], sizes[pair[2]]),
        families=families,
        unit="pairs of periods",
    )
    return score_words(comparisons, scoring, monitor, None if scoring.rate == "auto" else 0)

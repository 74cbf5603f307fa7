"""Steps of a word: the pairs of its periods that are compared."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

NEIGHBOURS, FIRST = "neighbours", "first"
KINDS = (NEIGHBOURS, FIRST)
Pair = tuple[str, int, int]
"""A word, and the numbers of two periods."""


@dataclass(frozen=True)
class Step:
    """Two periods of a word.

    Attributes
    ----------
    word : str
    kind : "neighbours" or "first"
    start, end : int
        Numbers of the earlier and the later period.
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
        """The word and its two periods, by which scores are stored."""
        return self.word, self.start, self.end


def find_steps(word: str, counts: Sequence[int], min_usages: int) -> list[Step]:
    """Return the steps of a word from its number of usages in each period; none if fewer than two have enough.

    >>> [(step.kind, step.start, step.end, step.skipped) for step in find_steps("mouse", [0, 12, 3, 10, 11], 10)]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('neighbours', 1, 3, (2,)), ('neighbours', 3, 4, ()), ('first', 1, 3, (0,)), ('first', 1, 4, (0,))]
    """
    periods = [i for i, n in enumerate(counts) if n >= min_usages]
    neighbours = [Step(word, NEIGHBOURS, a, b, tuple(range(a + 1, b))) for a, b in itertools.pairwise(periods)]
    return neighbours + [Step(word, FIRST, periods[0], b, tuple(range(periods[0]))) for b in periods[1:]]

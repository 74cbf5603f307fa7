"""Usages with given vectors, for tests of the functions that read them from a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexshift.study.usages import Usages
from lexshift.utils.arrays import Matrix


class MadeUsages(Usages):
    """Usages with the given vectors of each word and period."""

    def __init__(self, rows: Mapping[str, Sequence[Matrix]], periods: Sequence[str]) -> None:
        self.periods, self._rows = list(periods), rows
        self.numbers = {word: list(range(len(periods))) for word in rows}

    def vectors(self, word: str, period: int) -> Matrix:
        """Return the vectors of a word in a period."""
        return self._rows[word][period]

"""The usages of words in the periods of a study: the pairs of periods to compare, and their vectors."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lexshift.encode import Encoder
from lexshift.scoring.permutation import MIN_DOCUMENTS, USAGES
from lexshift.scoring.space import Space, choose_space
from lexshift.store.siblings import Siblings
from lexshift.utils.arrays import Matrix

NEIGHBOURS, FIRST = "neighbours", "first"
KINDS = (NEIGHBOURS, FIRST)
Pair = tuple[str, int, int]
"""A word, and the indices of two periods."""


@dataclass(frozen=True)
class Step:
    """Two periods of a word that are compared.

    Attributes
    ----------
    word : str
    kind : "neighbours" or "first"
    start, end : int
        Indices of the earlier and the later period.
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
        """The word and its two periods, the key of its scores."""
        return self.word, self.start, self.end


def find_steps(word: str, counts: Sequence[int], min_usages: int) -> list[Step]:
    """Return the steps of a word from its number of usages in each period; two periods must have enough usages.

    >>> [(step.kind, step.start, step.end, step.skipped) for step in find_steps("mouse", [0, 12, 3, 10, 11], 10)]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('neighbours', 1, 3, (2,)), ('neighbours', 3, 4, ()), ('first', 1, 3, (0,)), ('first', 1, 4, (0,))]
    """
    periods = [i for i, n in enumerate(counts) if n >= min_usages]
    neighbours = [Step(word, NEIGHBOURS, a, b, tuple(range(a + 1, b))) for a, b in itertools.pairwise(periods)]
    return neighbours + [Step(word, FIRST, periods[0], b, tuple(range(periods[0]))) for b in periods[1:]]


def usage_notes(duplicates: Iterable[int], units: Mapping[str, int]) -> list[str]:
    """Return notes on usages that were left out, and on words whose usages were permuted although documents are known.

    Parameters
    ----------
    duplicates : iterable of int
        Number of repeated usages in each period that were left out.
    units : mapping of str to int
        Number of tests by the unit that they permuted.

    Examples
    --------
    >>> usage_notes([3, 0], {"documents": 20, "usages": 1})  # doctest: +NORMALIZE_WHITESPACE
    ['3 usages repeat the sentence of another usage of their word and were left out (--duplicates keep counts them)',
     '1 of 21 tests permuted usages instead of documents, because the word occurs in fewer than 6 documents of a period;
     its p is too small if usages from the same document resemble each other']
    """
    notes, repeated = [], sum(duplicates)
    if repeated:
        some = "1 usage repeats" if repeated == 1 else f"{repeated:,} usages repeat"
        were = "was" if repeated == 1 else "were"
        notes.append(
            f"{some} the sentence of another usage of {'its' if repeated == 1 else 'their'} word and {were} left out "
            f"(--duplicates keep counts {'it' if repeated == 1 else 'them'})"
        )
    few, tested = units.get(USAGES, 0), sum(units.values())
    if few and few < tested:
        notes.append(
            f"{few:,} of {tested:,} tests permuted usages instead of documents, because the word occurs in fewer than "
            f"{MIN_DOCUMENTS} documents of a period; its p is too small if usages from the same document resemble each "
            f"other"
        )
    return notes


class Usages(Mapping[str, Sequence[Matrix]]):
    """The vectors of words in the periods with enough usages, read from the store when needed.

    Parameters
    ----------
    siblings : Siblings
        The store; its corpora are the periods.
    words : sequence of str
        The words of the study.
    min_usages : int
        Minimum number of usages in a period.

    Attributes
    ----------
    periods : list of str
    steps : list of Step
        All pairs of periods to compare. Words with enough usages in fewer than two periods have none.
    numbers : dict of str to list of int
        For each word with steps, the indices of the periods with enough usages.
    """

    def __init__(self, siblings: Siblings, words: Sequence[str], min_usages: int) -> None:
        self._siblings = siblings
        self.periods = siblings.corpora
        counts = {
            word: [siblings.count_usages(word, period) for period in self.periods] for word in words if word in siblings
        }
        self.steps: list[Step] = [step for word in counts for step in find_steps(word, counts[word], min_usages)]
        numbers = {word: [i for i, n in enumerate(counts[word]) if n >= min_usages] for word in counts}
        self.numbers = {word: periods for word, periods in numbers.items() if len(periods) >= 2}
        self._documents = siblings.documents
        self._space: Space | None = None

    def use_space(
        self, kind: str, encoder: Encoder, controls: Mapping[str, Sequence[Matrix]] | None = None
    ) -> Space | None:
        """Choose the space of all usages and apply it from now on; return it, or None if there are no usages.

        A space that is not fixed is fitted to the usages of control words if there are any, else to these usages.
        """
        self._space = choose_space(controls or self, kind, encoder) if self.numbers else None
        return self._space

    def raw(self, word: str, period: int) -> Matrix:
        """Return the vectors of a word in a period as the encoder made them, an array of shape (n, d)."""
        return self._siblings.group(word, self.periods[period])

    def vectors(self, word: str, period: int) -> Matrix:
        """Return the vectors of a word in a period in the fitted space, an array of shape (n, d)."""
        rows = self._siblings.group(word, self.periods[period])
        return rows if self._space is None else self._space.apply(rows)

    def documents(self, pair: Pair) -> tuple[list[int], list[int]]:
        """Return the number of the document of each usage of a word in two periods."""
        word, *periods = pair
        old, new = (self._documents[self._siblings.usage_rows(word, self.periods[i])].tolist() for i in periods)
        return old, new

    def pair(self, pair: Pair) -> tuple[Matrix, Matrix]:
        """Return the vectors of a word in two periods."""
        word, start, end = pair
        return self.vectors(word, start), self.vectors(word, end)

    def corpus_sizes(self) -> tuple[list[int], str]:
        """Return the sizes of the periods by which swap counts are normalised, and their unit.

        The unit is "sentences" if every file of every corpus has one sentence per line. Otherwise it is "words",
        because prose is split into sentences around target words only.
        """
        entries = [self._siblings.corpus(period) for period in self.periods]
        if all(set(entry["splits"]) == {"lines"} for entry in entries):
            return [entry["passages"] for entry in entries], "sentences"
        return [entry["words"] for entry in entries], "words"

    def __getitem__(self, word: str) -> list[Matrix]:
        return [self.vectors(word, i) for i in self.numbers[word]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

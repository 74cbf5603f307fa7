"""The usages of words in the periods of a study, as they are scored: which words have enough, and their vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lexshift.scoring.space import Space, fit_space
from lexshift.store.siblings import Siblings
from lexshift.study.steps import Pair, Step, find_steps
from lexshift.utils.arrays import Matrix


class Usages(Mapping[str, Sequence[Matrix]]):
    """The vectors of words in those of their periods that have enough usages, read from the store when needed.

    Parameters
    ----------
    siblings : Siblings
        The store; its corpora are the periods.
    words : sequence of str
        The words that were asked about.
    min_usages : int
        Minimum number of usages in a period.

    Attributes
    ----------
    periods : list of str
    steps : list of Step
        All pairs of periods to compare. Words with fewer than two periods have none.
    numbers : dict of str to list of int
        For each word with steps, the periods that have enough usages.
    """

    def __init__(self, siblings: Siblings, words: Sequence[str], min_usages: int) -> None:
        self._siblings = siblings
        self.periods = siblings.corpora
        stored = dict(zip(siblings.words, siblings.counts.to_numpy().tolist(), strict=True))
        counts = {word: stored[word] for word in words if word in stored}
        self.steps: list[Step] = [step for word in counts for step in find_steps(word, counts[word], min_usages)]
        numbers = {word: [i for i, n in enumerate(counts[word]) if n >= min_usages] for word in counts}
        self.numbers = {word: found for word, found in numbers.items() if len(found) >= 2}
        self._space: Space | None = None

    def fit(self, kind: str) -> Space | None:
        """Fit a space to all usages and use it from now on; None if there are none."""
        self._space = fit_space(self, kind) if self.numbers else None
        return self._space

    def vectors(self, word: str, period: int) -> Matrix:
        """Return the vectors of a word in a period, of shape (n, d), in the space that was fitted."""
        rows = self._siblings.group(word, self.periods[period])
        return rows if self._space is None else self._space.apply(rows)

    def pair(self, pair: Pair) -> tuple[Matrix, Matrix]:
        """Return the vectors of a word in two periods."""
        word, start, end = pair
        return self.vectors(word, start), self.vectors(word, end)

    def corpus_sizes(self) -> tuple[list[int], str]:
        """Return the sizes of the periods by which swap counts are normalised, and their unit.

        The unit is "sentences" if every file of every corpus has a sentence a line. Otherwise the sentences are not
        known, as prose is split around target words only, and running words ("words") take their place.
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

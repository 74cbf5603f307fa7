"""The evidence on the words of a study: their gaps, and how these compare with the gaps of control words.

In a comparison, these are the gaps between the two corpora. In a trace, they are the gaps between the first and the
last period in which a word has enough usages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.scoring.background import USAGES, Background, noise_floor
from lexshift.scoring.distance.metric import Metric, get
from lexshift.scoring.empirical_null import MIN_WORDS
from lexshift.scoring.gap import Gap, estimate_gap
from lexshift.scoring.space import Space
from lexshift.study.usages import Pair, Usages
from lexshift.study.verdict import Backdrop, Evidence, weigh_gaps
from lexshift.utils.arrays import Array, Matrix
from lexshift.utils.monitor import Monitor
from lexshift.utils.threads import for_each

Ends = tuple[int, int]
"""Indices of the first and the last period of a word."""
_MIN_USAGES = 4  # minimum number of usages of a control word in each period
_STAGE = "measuring gaps"


class OrdinaryUsages(Protocol):
    """The usages of control words."""

    @property
    def words(self) -> Sequence[str]:
        """The control words."""

    def vectors(self, word: str, period: int) -> Matrix:
        """Return the vectors of a word in a period, (n, d), as the encoder made them."""

    def documents(self, word: str, period: int) -> Array:
        """Return the document of each usage of a word in a period, (n,)."""


class GapFinder:
    """Find the gaps of words between two periods.

    Vectors are taken in the space of the encoder's calibration, or for an encoder without one in that of the scores.
    The common shift of the control words, if there are any, is removed from them.

    Parameters
    ----------
    usages : Usages
        The usages of the words.
    controls : OrdinaryUsages or None
    calibration : Calibration or None
    space : Space or None
        Transformation of the vectors.
    seed : int
    by_document : bool
        Whether usages of one document stay together when samples are drawn.
    periods : (int, int)
        Indices of the two periods.

    Attributes
    ----------
    background : Background or None
        None without a sufficient number of control words.
    """

    def __init__(
        self,
        usages: Usages,
        controls: OrdinaryUsages | None,
        calibration: Calibration | None,
        space: Space | None,
        seed: int,
        by_document: bool = True,
        periods: tuple[int, int] = (0, 1),
    ) -> None:
        self._usages, self._calibration, self._space, self._seed = usages, calibration, space, seed
        self._by_document, self._periods = by_document, periods
        self.background: Background | None = None
        if controls is None or not controls.words:
            return
        pairs, documents = {}, {}
        for word in controls.words:
            rows = [controls.vectors(word, period) for period in periods]
            if min(map(len, rows)) >= _MIN_USAGES:
                pairs[word] = (self._transform(rows[0]), self._transform(rows[1]))
                old, new = (controls.documents(word, period).tolist() for period in periods)
                documents[word] = (old, new)
        if len(pairs) >= MIN_WORDS:
            self.background = Background(pairs, calibration, documents if by_document else None, seed)

    def pair(self, word: str) -> tuple[Matrix, Matrix]:
        """Return the vectors of a word without the common shift, (n_old, d) and (n_new, d)."""
        old, new = (self._transform(self._usages.raw(word, period)) for period in self._periods)
        return (old, new) if self.background is None else self.background.shift.remove(old, new)

    def pair_of(self, key: Pair) -> tuple[Matrix, Matrix]:
        """Return the vectors of the word of a comparison without the common shift."""
        return self.pair(key[0])

    def removes_shift(self, metric: str | Metric) -> bool:
        """Return whether the test is about vectors without the common shift.

        That is so if there are control words and the test has a distance of its own. A metric that is tested itself is
        tested with the vectors of the score.
        """
        return self.background is not None and bool(get(metric).tested_by)

    def find(self, alpha: float, monitor: Monitor) -> tuple[dict[str, Evidence], Backdrop]:
        """Return the evidence on each word with enough usages, and what the corpora do to ordinary words."""
        words = list(self._usages)
        monitor.stage(_STAGE, len(words), "words")
        return self.find_for(words, alpha, lambda done: monitor.advance(done, done))

    def find_for(
        self, words: Sequence[str], alpha: float, advance: Callable[[int], None]
    ) -> tuple[dict[str, Evidence], Backdrop]:
        """Return the evidence on some words, which have enough usages in both periods, as :meth:`find` does.

        Parameters
        ----------
        words : sequence of str
        alpha : float
        advance : callable
            Is called with the number of words that are done.
        """
        gaps = for_each(words, lambda word: self._gap(word, alpha), advance)
        background = self.background
        is_calibrated = self._calibration is not None
        if background is None:
            evidence = {word: Evidence(gap) for word, gap in gaps.items()}
            return evidence, Backdrop(self._floor(), 0, None, None, is_calibrated)
        first, last = self._periods
        sizes = {word: (len(self._usages.raw(word, first)), len(self._usages.raw(word, last))) for word in words}
        ordinary = float(np.median(background.gaps(USAGES, USAGES)))
        shift = background.shift.share
        backdrop = Backdrop(background.floor, len(background.words), shift, ordinary, is_calibrated)
        return weigh_gaps(gaps, sizes, background), backdrop

    def _gap(self, word: str, alpha: float) -> Gap:
        old, new = self.pair(word)
        documents = self._documents(word) if self._by_document else None
        return estimate_gap(old, new, self._calibration, documents, alpha, seed=self._seed, word=word)

    def _floor(self) -> float:
        """Return the noise floor of the words themselves, without control words; 0 if they have too few usages."""
        words = [word for word, numbers in self._usages.numbers.items() if set(self._periods) <= set(numbers)]
        pairs = {word: self.pair(word) for word in words}
        documents = {word: self._documents(word) for word in words} if self._by_document else None
        try:
            return noise_floor(pairs, self._calibration, documents, self._seed)
        except ValueError:
            return 0.0

    def _documents(self, word: str) -> tuple[Sequence[int], Sequence[int]]:
        return self._usages.documents((word, *self._periods))

    def _transform(self, rows: Matrix) -> Matrix:
        return rows if self._space is None else self._space.apply(rows)


def compare_ends(
    usages: Usages,
    controls: OrdinaryUsages | None,
    calibration: Calibration | None,
    space: Space | None,
    seed: int,
    alpha: float,
    monitor: Monitor,
) -> tuple[dict[str, Evidence], dict[Ends, Backdrop]]:
    """Compare the first with the last period of each word, among those in which it has enough usages.

    Words that have the same two periods are compared with the control words in these periods.

    Parameters
    ----------
    usages, controls, calibration, space, seed
        As for :class:`GapFinder`.
    alpha : float
        The false discovery rate.
    monitor : Monitor

    Returns
    -------
    evidence : dict of str to Evidence
        The evidence on each word with enough usages in two periods.
    backdrops : dict of (int, int) to Backdrop
        What the periods do to ordinary words, for each pair of periods; the one that most words share comes first.
        Without words, it is the pair of the first and the last period of all.
    """
    ends = {word: (numbers[0], numbers[-1]) for word, numbers in usages.numbers.items()}
    pairs = [pair for pair, _ in Counter(ends.values()).most_common()] or [(0, len(usages.periods) - 1)]
    monitor.stage(_STAGE, len(ends), "words")
    evidence: dict[str, Evidence] = {}
    backdrops: dict[Ends, Backdrop] = {}
    for pair in pairs:
        finder = GapFinder(usages, controls, calibration, space, seed, periods=pair)
        words, before = [word for word in ends if ends[word] == pair], len(evidence)

        def advance(done: int, before: int = before) -> None:
            monitor.advance(before + done, before + done)

        pair_evidence, backdrops[pair] = finder.find_for(words, alpha, advance)
        evidence |= pair_evidence
    return evidence, backdrops

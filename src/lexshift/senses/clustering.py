"""The protocol of clusterings: divide the usages of a word, of all periods together, into senses."""

from __future__ import annotations

from typing import Protocol

from lexshift.encode.adaptation import Calibration
from lexshift.utils.arrays import Indices, Matrix

THRESHOLD = 1 / 3
"""Probability of a shared sense above which two groups of usages are one sense.

Calibrations are fitted to as many pairs of one sense as of two. In running text most pairs share a sense, so that the
threshold is below 1/2. It was chosen on sense-labelled text: ``benchmarks/sense_clusters.py`` measures it.
"""
FINE_THRESHOLD = 1 / 2
"""Threshold of the groups within a sense, which are senses of their own only if their share changed."""
MIN_SIZE = 3
"""Least number of usages of a sense."""


class Clustering(Protocol):
    """A rule that divides usages into senses."""

    @property
    def name(self) -> str:
        """Name of the rule in settings and tables."""
        ...

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:
        """Return the number of the sense of each usage, (n,).

        Parameters
        ----------
        vectors : ndarray of shape (n, d)
            Vectors of the usages of a word in all periods, in the space of the calibration.
        calibration : Calibration
            The probability that two usages share a sense, given the cosine of their vectors.
        seed : int
            Seed of a rule that starts at random.

        Returns
        -------
        ndarray of shape (n,), int
            Senses are numbered from 0 without gaps, the largest first. One sense is an allowed and common answer.
        """
        ...

"""Stability of senses: a sense is reported only if it is found again in random samples of the usages.

The stability of a sense is the mean over samples of its largest Jaccard coefficient with a group that is found in the
sample (Hennig 2007, "Cluster-wise assessment of cluster stability").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.senses.clustering import Clustering
from lexshift.senses.partition import dissolve
from lexshift.senses.similarity import cosines
from lexshift.utils.arrays import Array, Floats, Indices, Matrix


@dataclass(frozen=True)
class StableClustering:
    """A clustering whose unstable senses become part of the most similar stable one.

    Parameters
    ----------
    clustering : Clustering
        The rule that is repeated on samples.
    min_stability : float
        Least stability of a sense, from 0 to 1. If no sense has it, all usages are one sense.
    resamples : int
        Number of random samples.
    share : float
        Share of the usages in each sample.
    """

    clustering: Clustering
    min_stability: float = 0.6
    resamples: int = 10
    share: float = 0.5

    @property
    def name(self) -> str:
        """Name of the rule that is repeated."""
        return self.clustering.name

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:
        """Return the number of the sense of each usage, (n,); see :class:`~lexshift.senses.clustering.Clustering`."""
        return self.divide(vectors, calibration, seed)[0]

    def divide(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> tuple[Indices, Floats]:
        """Return the number of the sense of each usage, (n,), and the stability of each sense, (k,).

        The stability of the only sense is NaN.
        """
        labels = self.clustering.cluster(vectors, calibration, seed)
        if labels.max() == 0:
            return labels, np.full(1, np.nan)
        samples = self.resample(vectors, calibration, seed)
        stability = mean_jaccard(labels, samples)
        is_unstable = stability < self.min_stability
        if is_unstable.any():
            labels = dissolve(cosines(vectors), labels, is_unstable)
            stability = mean_jaccard(labels, samples) if labels.max() > 0 else np.full(1, np.nan)
        return labels, stability

    def resample(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> list[tuple[Indices, Indices]]:
        """Return random samples of the usages, each (m,), and the group of each usage of a sample, (m,)."""
        rng = np.random.default_rng(seed)
        size = max(1, round(self.share * len(vectors)))
        samples = [np.sort(rng.choice(len(vectors), size, replace=False)) for _ in range(self.resamples)]
        return [(sample, self.clustering.cluster(vectors[sample], calibration, seed)) for sample in samples]


def divide_usages(
    clustering: Clustering, vectors: Matrix, calibration: Calibration, seed: int = 0
) -> tuple[Indices, Floats]:
    """Return the number of the sense of each usage, (n,), and the stability of each sense, (k,).

    The stability is NaN for the only sense, and for a clustering other than :class:`StableClustering`.
    """
    if isinstance(clustering, StableClustering):
        return clustering.divide(vectors, calibration, seed)
    labels = clustering.cluster(vectors, calibration, seed)
    return labels, np.full(int(labels.max()) + 1, np.nan)


def find_stable(
    clustering: Clustering, vectors: Matrix, calibration: Calibration, seed: int = 0
) -> tuple[Indices, Floats, Array]:
    """Return the group of each usage, (n,), the stability of each group, (k,), and whether it is stable enough, (k,).

    Unlike :func:`divide_usages`, this leaves unstable groups as they are. A single group, and every group of a
    clustering other than :class:`StableClustering`, counts as stable, and its stability is NaN.
    """
    rule = clustering.clustering if isinstance(clustering, StableClustering) else clustering
    labels = rule.cluster(vectors, calibration, seed)
    if not isinstance(clustering, StableClustering) or labels.max() == 0:
        k = int(labels.max()) + 1
        return labels, np.full(k, np.nan), np.ones(k, bool)
    stability = mean_jaccard(labels, clustering.resample(vectors, calibration, seed))
    return labels, stability, stability >= clustering.min_stability


def mean_jaccard(labels: Indices, samples: Sequence[tuple[Indices, Indices]]) -> Floats:
    """Return the stability of each sense, (k,): the mean over samples of its largest Jaccard coefficient.

    A sample without a usage of a sense does not count for that sense.

    Parameters
    ----------
    labels : ndarray of shape (n,), int
        The sense of each usage, from 0.
    samples : sequence of (ndarray, ndarray)
        From :meth:`StableClustering.resample`.
    """
    senses = int(labels.max()) + 1
    values = np.array([best_jaccard(labels[sample], groups, senses) for sample, groups in samples])
    counted = np.maximum((~np.isnan(values)).sum(axis=0), 1)
    return np.nansum(values, axis=0) / counted


def best_jaccard(labels: Indices, groups: Indices, senses: int) -> Floats:
    """Return the largest Jaccard coefficient of each sense with a group, (senses,); NaN for one without usages.

    Examples
    --------
    >>> best_jaccard(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), 3).round(2).tolist()
    [0.67, 0.5, nan]
    """
    common = np.zeros((senses, int(groups.max()) + 1))
    np.add.at(common, (labels, groups), 1)
    sizes = common.sum(axis=1)
    united = sizes[:, None] + common.sum(axis=0) - common
    return np.where(sizes > 0, (common / united).max(axis=1), np.nan)

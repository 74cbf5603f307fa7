"""Agglomerative clustering with average linkage: merge the most similar groups while their mean cosine is high enough.

The calibration is linear in the log odds, so that the mean cosine is compared with the cosine at which the probability
of a shared sense is the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.senses.clustering import MIN_SIZE, THRESHOLD
from lexshift.senses.partition import dissolve_small
from lexshift.senses.similarity import cosine_at, cosines
from lexshift.utils.arrays import Floats, Indices, Matrix

RESOLUTIONS = (0.3, 0.4, 0.5, 0.6, 0.7)
"""Thresholds from coarse to fine. A change score that is averaged over them does not depend on a single one."""


@dataclass(frozen=True)
class Agglomerative:
    """Average linkage of usages, cut at a probability of a shared sense.

    Parameters
    ----------
    threshold : float
        Probability of a shared sense at which groups are merged.
    min_size : int
        Smaller groups become part of the most similar larger one.
    """

    threshold: float = THRESHOLD
    min_size: int = MIN_SIZE
    name: str = field(default="agglomerative", init=False)

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:  # noqa: ARG002
        """Return the number of the sense of each usage, (n,); see :class:`~lexshift.senses.clustering.Clustering`."""
        return self.cluster_at(vectors, calibration, (self.threshold,))[0]

    def cluster_at(
        self, vectors: Matrix, calibration: Calibration, thresholds: Sequence[float] = RESOLUTIONS
    ) -> Indices:
        """Return the senses of the usages at several thresholds, (thresholds, n), from one tree."""
        cosine = cosines(vectors)
        tree = average_tree(cosine)
        cuts = [cut_tree(tree, cosine_at(calibration, threshold)) for threshold in thresholds]
        return np.array([dissolve_small(cosine, labels, self.min_size) for labels in cuts])


def average_tree(cosine: Floats) -> Floats:
    """Return the tree of average linkage in scipy's form, (n - 1, 4), for a matrix of cosines, (n, n)."""
    if len(cosine) < 2:
        return np.empty((0, 4))
    from scipy.cluster.hierarchy import linkage  # imported here because it is slow
    from scipy.spatial.distance import squareform

    return linkage(squareform(1 - cosine, checks=False), "average")


def cut_tree(tree: Floats, cosine: float) -> Indices:
    """Return the groups whose mean cosine is at least ``cosine``, numbered from 0, (n,)."""
    if len(tree) == 0:
        return np.zeros(1, np.intp)
    from scipy.cluster.hierarchy import fcluster

    return fcluster(tree, 1 - cosine, "distance").astype(np.intp) - 1

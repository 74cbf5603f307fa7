"""Look up the clustering that is evaluated: one of ``lexshift senses``, by its name."""

from __future__ import annotations

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.senses.clustering import Clustering
from lexshift.utils import checks
from lexshift.utils.arrays import Indices, Matrix


class AverageLinkage:
    """Average linkage of cosine distances, cut where the calibrated probability of a shared sense is 0.5."""

    name = "average-linkage"

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:  # noqa: ARG002
        """Return the number of the sense of each usage, (n,); the largest sense is 0."""
        from scipy.cluster.hierarchy import fcluster, linkage

        if len(vectors) < 2:
            return np.zeros(len(vectors), np.intp)
        cut = 1 + calibration.intercept / calibration.slope  # the distance at which the probability is 0.5
        labels = fcluster(linkage(vectors.astype(float), "average", "cosine"), cut, "distance")
        _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return np.argsort(order, kind="stable")[inverse]


CLUSTERINGS: dict[str, Clustering] = {AverageLinkage.name: AverageLinkage()}
DEFAULT = AverageLinkage.name


def get_clustering(clustering: str | Clustering = DEFAULT) -> Clustering:
    """Return a clustering by its name, or the given object."""
    if not isinstance(clustering, str):
        return clustering
    return CLUSTERINGS[checks.choice(clustering, "clustering", CLUSTERINGS)]

"""Correlation clustering of the graph of usages, as in diachronic word usage graphs (Schlechtweg et al. 2021).

An edge weighs the log odds that its two usages share a sense, minus those of a threshold. The sum of the weights inside
the groups is maximised: average linkage gives a start, then single usages are moved and groups are merged as long as
the sum grows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.senses.agglomerative import average_tree, cut_tree
from lexshift.senses.clustering import MIN_SIZE, THRESHOLD
from lexshift.senses.partition import dissolve_small, members, merge_similar
from lexshift.senses.similarity import cosine_at, cosines, evidence_of_shared_sense
from lexshift.utils.arrays import Floats, Indices, Matrix

_SMALLEST_GAIN = 1e-9  # so that rounding does not move a usage for ever


@dataclass(frozen=True)
class GraphClustering:
    """Correlation clustering on the log odds of a shared sense.

    Parameters
    ----------
    threshold : float
        Probability of a shared sense at which the weight of an edge is 0.
    min_size : int
        Smaller groups become part of the most similar larger one.
    """

    threshold: float = THRESHOLD
    min_size: int = MIN_SIZE
    name: str = field(default="graph", init=False)

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:  # noqa: ARG002
        """Return the number of the sense of each usage, (n,); see :class:`~lexshift.senses.clustering.Clustering`."""
        cosine = cosines(vectors)
        start = cut_tree(average_tree(cosine), cosine_at(calibration, self.threshold))
        labels = maximise_agreement(evidence_of_shared_sense(cosine, calibration, self.threshold), start)
        return dissolve_small(cosine, labels, self.min_size)


def maximise_agreement(weights: Floats, labels: Indices) -> Indices:
    """Move usages and merge groups until neither increases the sum of the weights inside groups.

    Parameters
    ----------
    weights : ndarray of shape (n, n)
        Symmetric, with 0 on the diagonal.
    labels : ndarray of shape (n,), int
        Groups to begin with, from 0 without gaps.

    Returns
    -------
    ndarray of shape (n,), int
        Groups from 0 without gaps.
    """
    while True:
        moved = _move_usages(weights, labels)
        labels = merge_similar(weights, moved)
        if labels.max() == moved.max():
            return labels


def _move_usages(weights: Floats, labels: Indices) -> Indices:
    """Move the usage that gains most to another group or to one of its own, until none gains."""
    labels, rows = labels.copy(), np.arange(len(labels))
    to_groups = np.column_stack([weights @ members(labels), np.zeros(len(labels))])  # (n, k + 1): the last is empty
    while True:
        gains = to_groups - to_groups[rows, labels][:, None]
        usage, group = np.unravel_index(gains.argmax(), gains.shape)
        if gains[usage, group] <= _SMALLEST_GAIN:
            return np.unique(labels, return_inverse=True)[1]
        to_groups[:, labels[usage]] -= weights[:, usage]
        to_groups[:, group] += weights[:, usage]
        labels[usage] = group
        if group == to_groups.shape[1] - 1:
            to_groups = np.column_stack([to_groups, np.zeros(len(labels))])

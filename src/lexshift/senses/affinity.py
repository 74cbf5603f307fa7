"""Affinity propagation (Frey and Dueck 2007), a baseline of earlier work on senses of usages.

It finds exemplars, as a rule many more than there are senses. Groups between which a shared sense is likely are merged.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.errors import UserError
from lexshift.senses.clustering import MIN_SIZE, THRESHOLD
from lexshift.senses.partition import dissolve_small, merge_similar
from lexshift.senses.similarity import cosines, evidence_of_shared_sense
from lexshift.utils.arrays import Floats, Indices, Matrix

_DAMPING = 0.8


@dataclass(frozen=True)
class AffinityPropagationClustering:
    """Affinity propagation on cosines, with the median cosine as the preference of every usage.

    If the messages do not converge, all usages are one sense.

    Parameters
    ----------
    threshold : float
        Mean probability of a shared sense at which groups are merged.
    min_size : int
        Smaller groups become part of the most similar larger one.
    """

    threshold: float = THRESHOLD
    min_size: int = MIN_SIZE
    name: str = field(default="affinity", init=False)

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:
        """Return the number of the sense of each usage, (n,); see :class:`~lexshift.senses.clustering.Clustering`."""
        cosine = cosines(vectors)
        labels = _propagate(cosine, seed)
        weights = evidence_of_shared_sense(cosine, calibration, self.threshold)
        return dissolve_small(cosine, merge_similar(weights, labels), self.min_size)


def _propagate(cosine: Floats, seed: int) -> Indices:
    """Return the exemplar of each usage, numbered from 0, (n,)."""
    try:
        from sklearn.cluster import AffinityPropagation
        from sklearn.exceptions import ConvergenceWarning
    except ImportError:
        raise UserError("affinity propagation needs scikit-learn: pip install 'lexshift[senses]'") from None
    propagation = AffinityPropagation(affinity="precomputed", damping=_DAMPING, max_iter=400, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "All samples have mutually equal similarities", UserWarning)
        labels = propagation.fit(cosine).labels_
    if (labels < 0).any():
        return np.zeros(len(labels), np.intp)
    return np.unique(labels, return_inverse=True)[1]

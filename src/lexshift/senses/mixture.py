"""A mixture of Gaussians in the plane of the first principal components of a word's usages.

The number of components is chosen by the Bayesian information criterion. It describes the shape of the cloud and knows
nothing of senses, so components between which a shared sense is likely are merged.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.errors import UserError
from lexshift.scoring.space import principal_axes
from lexshift.senses.clustering import MIN_SIZE, THRESHOLD
from lexshift.senses.partition import dissolve_small, merge_similar
from lexshift.senses.similarity import cosines, evidence_of_shared_sense, unit_rows
from lexshift.utils.arrays import Floats, Indices, Matrix

_SMALLEST_VARIANCE = 1e-3  # of a component, for unit vectors


@dataclass(frozen=True)
class GaussianMixtureClustering:
    """Mixture of Gaussians with one variance for each component.

    Parameters
    ----------
    dimensions : int
        Number of principal components.
    max_components : int
        Maximum number of Gaussians.
    threshold : float
        Mean probability of a shared sense at which components are merged.
    min_size : int
        Smaller groups become part of the most similar larger one.
    """

    dimensions: int = 8
    max_components: int = 6
    threshold: float = THRESHOLD
    min_size: int = MIN_SIZE
    name: str = field(default="mixture", init=False)

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:
        """Return the number of the sense of each usage, (n,); see :class:`~lexshift.senses.clustering.Clustering`."""
        cosine = cosines(vectors)
        labels = self._fit(self._reduce(vectors), seed)
        weights = evidence_of_shared_sense(cosine, calibration, self.threshold)
        return dissolve_small(cosine, merge_similar(weights, labels), self.min_size)

    def _reduce(self, vectors: Matrix) -> Floats:
        """Return the principal components of the unit vectors, (n, dimensions) or fewer."""
        unit = unit_rows(vectors)
        centred = unit - unit.mean(axis=0)
        _, axes = principal_axes(centred, min(self.dimensions, *centred.shape))
        return centred @ axes

    def _fit(self, rows: Floats, seed: int) -> Indices:
        """Return the component of each row in the mixture with the smallest criterion."""
        try:
            from sklearn.exceptions import ConvergenceWarning
            from sklearn.mixture import GaussianMixture
        except ImportError:
            raise UserError("a mixture of Gaussians needs scikit-learn: pip install 'lexshift[senses]'") from None
        best, smallest = np.zeros(len(rows), np.intp), np.inf
        most = min(self.max_components, len(np.unique(rows, axis=0)), len(rows) // 2)
        for components in range(1, most + 1):
            mixture = GaussianMixture(
                components, covariance_type="spherical", reg_covar=_SMALLEST_VARIANCE, random_state=seed
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                mixture.fit(rows)
            criterion = mixture.bic(rows)
            if criterion < smallest:
                best, smallest = np.unique(mixture.predict(rows), return_inverse=True)[1], criterion
        return best

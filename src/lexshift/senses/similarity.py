"""Similarities between the usages of a word: cosines, and the evidence that two usages share a sense."""

from __future__ import annotations

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.utils.arrays import Floats, Matrix


def unit_rows(rows: Matrix) -> Floats:
    """Return rows of length 1, (n, d); zero vectors stay zero."""
    wide = np.asarray(rows, float)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(norms > 0, norms, 1)


def cosines(vectors: Matrix) -> Floats:
    """Return the cosine of each pair of rows, (n, n); 0 for pairs with a zero vector, and 1 on the diagonal."""
    unit = unit_rows(vectors)
    cosine = np.clip(unit @ unit.T, -1, 1)
    np.fill_diagonal(cosine, 1)
    return cosine


def cosine_at(calibration: Calibration, threshold: float) -> float:
    """Return the cosine at which two usages share a sense with the probability ``threshold``.

    Examples
    --------
    >>> cosine_at(Calibration(slope=10.0, intercept=-5.0), 0.5)
    0.5
    """
    return float((np.log(threshold / (1 - threshold)) - calibration.intercept) / calibration.slope)


def evidence_of_shared_sense(cosine: Floats, calibration: Calibration, threshold: float) -> Floats:
    """Return the log odds of a shared sense minus those of the threshold, (n, n), with 0 on the diagonal.

    Positive values are evidence that two usages share a sense, negative ones that they do not.
    """
    weights = calibration.slope * (cosine - cosine_at(calibration, threshold))
    np.fill_diagonal(weights, 0)
    return weights

"""The Gaussian with diagonal covariance that describes a set of sibling embeddings (section 3.1 of the paper)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexshift.scoring.sums import moments, squared_distances
from lexshift.utils import checks
from lexshift.utils.arrays import Floats, Matrix

VARIANCE_FLOOR = 1e-4
"""The least variance a dimension counts with in a divergence, as a share of the variance of both sets together.

Encoders have dimensions that do not vary over the occurrences of some word, and a divergence divides by the variance.
The floor says that a standard deviation under 1 % of the common one is taken as that 1 %. The variance of the two
sets together does not change when rows are swapped between them, so neither does the floor.
"""


_TINY = 1e-280  # squares below this are losing digits, or are 0


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Mean and diagonal sample variance (ddof = 1) of a set of rows, or of a whole batch of sets.

    Parameters
    ----------
    mean : array of shape (..., d)
    variance : array of shape (..., d)
    count : int
        How many rows the set has.

    Examples
    --------
    >>> from lexshift import Gaussian
    >>> siblings = Gaussian.fit([[1.0, 2.0], [3.0, 2.0], [5.0, 5.0]])
    >>> siblings.mean.tolist(), siblings.variance.tolist(), siblings.count
    ([3.0, 3.0], [4.0, 3.0], 3)
    """

    mean: Floats
    variance: Floats
    count: int

    @classmethod
    def fit(cls, rows: npt.ArrayLike) -> Gaussian:
        """Describe a set of rows, an array-like of shape (n, d) with n of at least 2."""
        return fit(checks.rows(rows, "rows"), "rows")


def fit(rows: Matrix, name: str, unit: bool = False) -> Gaussian:
    """The Gaussian of checked rows, or of the same rows scaled to unit length; NaN and infinity are refused."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, squares = moments(rows, row_weights(rows, name, unit))
    if not (np.isfinite(mean).all() and np.isfinite(squares).all()):
        checks.finite(rows, name)
    if not unit and any(0 < np.ptp(rows[:, j]) < math.sqrt(_TINY) for j in np.flatnonzero(squares < _TINY)):
        raise ValueError(f"{name} holds values too small for their squares to be told from 0; rescale it")
    return Gaussian(mean, squares / (len(rows) - 1), len(rows))


def row_weights(rows: Matrix, name: str, unit: bool) -> Floats:
    """What each row is multiplied by before it counts: 1, or one over its length. (n,)"""
    if not unit:
        return np.ones(len(rows))
    squares = squared_distances(rows, np.zeros(rows.shape[1]))
    for i in np.flatnonzero(squares < _TINY):
        if rows[i].any():
            raise ValueError(f"{name} holds values too small for their squares to be told from 0 (row {i}); rescale it")
        raise ValueError(
            f"{name} has a row of zeros (row {i}), which has no direction: a cosine distance to it is undefined"
        )
    if not np.isfinite(squares).all():
        checks.finite(rows, name)
    return 1.0 / np.sqrt(squares)

"""The Gaussian with diagonal covariance that describes a set of sibling embeddings (section 3.1 of the paper)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexshift.utils import checks
from lexshift.utils.arrays import Floats, Matrix
from lexshift.utils.kernels import kernel

VARIANCE_FLOOR = 1e-4
"""Minimum variance of a dimension in a divergence, as a share of the pooled variance of both sets.

Encoders have dimensions that do not vary over the usages of some word, and a divergence divides by the variance. The
floor raises a standard deviation below 1 % of the pooled one to that 1 %. The pooled variance does not change when rows
are swapped between the sets, so neither does the floor.
"""


_TINY = 1e-280  # squares below this lose digits or underflow to 0


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Mean and diagonal sample variance (ddof = 1) of a set of rows, or of a batch of sets.

    Parameters
    ----------
    mean : array of shape (..., d)
    variance : array of shape (..., d)
    count : int
        Number of rows in the set.

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
        """Fit a Gaussian to an array-like of shape (n, d), where n is at least 2."""
        return fit(checks.rows(rows, "rows"), "rows")


def fit(rows: Matrix, name: str, unit: bool = False) -> Gaussian:
    """Fit a Gaussian to checked rows, or to the same rows scaled to unit length.

    Raises a ValueError, which uses ``name`` for the rows, if they contain NaN, infinity or values that underflow.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean, squares = column_moments(rows, row_weights(rows, name, unit))
    if not (np.isfinite(mean).all() and np.isfinite(squares).all()):
        checks.finite(rows, name)
    if not unit and any(0 < np.ptp(rows[:, j]) < math.sqrt(_TINY) for j in np.flatnonzero(squares < _TINY)):
        raise ValueError(f"{name} contains values so small that their squares underflow to 0; rescale it")
    return Gaussian(mean, squares / (len(rows) - 1), len(rows))


def row_weights(rows: Matrix, name: str, unit: bool) -> Floats:
    """Return the factor of each row, (n,): 1, or the inverse of its length if rows are scaled to unit length."""
    if not unit:
        return np.ones(len(rows))
    squares = squared_distances(rows, np.zeros(rows.shape[1]))
    for i in np.flatnonzero(squares < _TINY):
        if rows[i].any():
            raise ValueError(f"{name} contains values so small that their squares underflow to 0 (row {i}); rescale it")
        raise ValueError(
            f"{name} has a row of zeros (row {i}), which has no direction: a cosine distance to it is undefined"
        )
    if not np.isfinite(squares).all():
        checks.finite(rows, name)
    return 1.0 / np.sqrt(squares)


@kernel
def column_moments(rows: Matrix, weights: Floats) -> tuple[Floats, Floats]:
    """Compute mean and sum of squared deviations of each column of ``rows * weights[:, None]``, in float64.

    Each tile of rows is summed twice while it is in the cache, first for its mean and then for the deviations from
    that mean, and is merged into the running moments (Chan, Golub & LeVeque 1979), so that no digits cancel.

    Parameters
    ----------
    rows : ndarray of shape (n, d), float32 or float64
    weights : ndarray of shape (n,), float64

    Returns
    -------
    mean, squares : ndarray of shape (d,), float64
    """
    n, d = rows.shape
    mean, squares = np.zeros(d), np.zeros(d)
    tile_mean, tile_squares = np.empty(d), np.empty(d)
    tile = 32
    for start in range(0, n, tile):
        stop = min(n, start + tile)
        fours = start + (stop - start) // 4 * 4  # the sums are loaded and stored once for four rows
        tile_mean[:] = 0.0
        tile_squares[:] = 0.0
        for i in range(start, fours, 4):
            r0, r1, r2, r3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
            w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
            for j in range(d):
                tile_mean[j] += (r0[j] * w0 + r1[j] * w1) + (r2[j] * w2 + r3[j] * w3)
        for i in range(fours, stop):
            for j in range(d):
                tile_mean[j] += rows[i, j] * weights[i]
        for j in range(d):
            tile_mean[j] /= stop - start
        for i in range(start, fours, 4):
            r0, r1, r2, r3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
            w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
            for j in range(d):
                d0, d1 = r0[j] * w0 - tile_mean[j], r1[j] * w1 - tile_mean[j]
                d2, d3 = r2[j] * w2 - tile_mean[j], r3[j] * w3 - tile_mean[j]
                tile_squares[j] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
        for i in range(fours, stop):
            for j in range(d):
                deviation = rows[i, j] * weights[i] - tile_mean[j]
                tile_squares[j] += deviation * deviation
        share = (stop - start) / stop
        for j in range(d):
            shift = tile_mean[j] - mean[j]
            mean[j] += shift * share
            squares[j] += tile_squares[j] + shift * shift * share * start
    return mean, squares


@kernel
def squared_distances(rows: Matrix, centre: Floats) -> Floats:
    """Compute the squared Euclidean distance of every row to ``centre``, in float64.

    Parameters
    ----------
    rows : ndarray of shape (n, d), float32 or float64
    centre : ndarray of shape (d,), float64

    Returns
    -------
    ndarray of shape (n,), float64
    """
    n, d = rows.shape
    out = np.empty(n)
    for i in range(n):
        total = 0.0
        for j in range(d):
            deviation = rows[i, j] - centre[j]
            total += deviation * deviation
        out[i] = total
    return out

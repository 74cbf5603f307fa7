"""Whether a word changed in steps or gradually: a polynomial in time against the best segmentation of the periods.

Both models explain a part of the squared distances of the period means from the overall mean, and both pay for it. A
segmentation pays the word's penalty for each change point. A polynomial pays for each degree what chance alone lets a
linear trend explain with probability alpha; this is less than the penalty of a change point, as a line has no place to
choose. The cheaper model gives the word its shape.

A polynomial has one degree for every three periods, from 1 to 3 degrees, so a drift may be faster in some periods than
in others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexshift.utils.arrays import Floats

STEP, GRADUAL = "step", "gradual"
_PERIODS_PER_DEGREE, _MAX_DEGREE = 3, 3


def shape_of(
    rows: Floats, sums: Floats, sizes: Floats, times: Sequence[int], at: Sequence[int], penalty: float, alpha: float
) -> str:
    """Return "step" or "gradual" for a word that changed, or "" if it has fewer than three periods.

    Parameters
    ----------
    rows : ndarray of shape (n, c)
        All usages on their principal components, about their mean.
    sums : ndarray of shape (periods, c)
        Sums of the usages of each period.
    sizes : ndarray of shape (periods,)
        Numbers of usages of each period.
    times : sequence of int
        When the periods were, ascending.
    at : sequence of int
        Change points of the best segmentation.
    penalty : float
        Cost of a change point.
    alpha : float
        Probability with which chance alone may pay for a linear trend.
    """
    if len(sizes) < 3:
        return ""
    explained = np.add.reduceat(sums, [0, *at], axis=0) ** 2 / np.add.reduceat(sizes, [0, *at])[:, None]
    segmentation = explained.sum() - penalty * len(at)
    degrees = np.arange(1, degree(len(sizes)) + 1)
    trend = (trend_gains(sums, sizes, times) - degrees * min(penalty, trend_penalty(rows, alpha))).max()
    return GRADUAL if trend > segmentation else STEP


def degree(periods: int) -> int:
    """Return the highest degree of the polynomial.

    >>> [degree(periods) for periods in (3, 6, 7, 10, 72)]
    [1, 1, 2, 3, 3]
    """
    return min(_MAX_DEGREE, max(1, (periods - 1) // _PERIODS_PER_DEGREE))


def trend_gains(sums: Floats, sizes: Floats, times: Sequence[int]) -> Floats:
    """Compute by how much the polynomials of degree 1, 2, ... lower the cost of no change: (degrees,)."""
    at = np.asarray(times, float)
    powers = np.vander((at - at.mean()) / np.ptp(at), degree(len(sizes)) + 1, increasing=True)  # (periods, degrees + 1)
    axes, _ = np.linalg.qr(powers * np.sqrt(sizes)[:, None])
    found = axes[:, 1:].T @ (sums / np.sqrt(sizes)[:, None])  # (degrees, c)
    return np.cumsum((found**2).sum(axis=1))


def trend_penalty(rows: Floats, alpha: float) -> float:
    """Compute what a linear trend explains of usages in random order, with probability alpha or more.

    The gain is a weighted sum of chi-squared variables, one for each component with its variance as the weight; it is
    approximated by a gamma variable of the same mean and variance (Satterthwaite 1946).
    """
    from scipy.special import gammaincinv  # a slow import

    variances = rows.var(axis=0, ddof=1)  # (c,)
    total, squares = variances.sum(), (variances**2).sum()
    if squares == 0:
        return 0.0
    return float(2 * squares / total * gammaincinv(total**2 / squares / 2, 1 - alpha))

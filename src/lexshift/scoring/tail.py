"""Approximate a p that is too small to count, from the largest values of a permutation distribution.

After Knijnenburg, Wessels, Reinders and Shmulevich (2009), "Fewer permutations, more accurate P-values": the values
above a high threshold are described by a generalised Pareto distribution, whose tail gives the probability of an
observed value that no permutation, or hardly any, has reached. The shape is not allowed below 0. A tail of negative
shape ends somewhere, and a value beyond its end would have p = 0; the exponential tail taken instead gives larger p.
"""

from __future__ import annotations

import numpy as np

from lexshift.utils.arrays import Floats

EXCEEDANCES = 250
"""Number of values above the first threshold that is tried."""
LEAST_P = 1e-10
"""No approximated p is smaller: so far beyond all permutations the fitted tail says nothing."""
_FEWEST = 50  # exceedances, below which a fit is not worth testing
_STEP = 50
_CRITICAL = 0.9  # Anderson-Darling statistic; exceeded by 5 to 10 % of samples that are generalised Pareto
_STEEPEST = 20.0  # largest shape / scale that is tried, in units of 1 / mean


def largest_values(largest: Floats, values: Floats) -> Floats:
    """Return the EXCEEDANCES + 1 largest values of both arrays, in no order, or all if there are fewer."""
    both = np.concatenate([largest, values])
    most = EXCEEDANCES + 1
    return both if len(both) <= most else np.partition(both, len(both) - most)[-most:]


def tail_p(largest: Floats, observed: float, permutations: int) -> float | None:
    """Return the probability of a value of at least ``observed``, or None if no fit to the tail is good enough.

    Parameters
    ----------
    largest : ndarray of shape (n,)
        The largest values of the permutation distribution, at least one more than EXCEEDANCES.
    observed : float
    permutations : int
        Number of values of the permutation distribution.

    Examples
    --------
    >>> values = np.random.default_rng(0).exponential(size=100_000)  # P(value >= 16) is 1.1e-7
    >>> p = tail_p(largest_values(np.empty(0), values), 16.0, len(values))
    >>> 1e-8 < p < 1e-6
    True
    """
    ordered = np.sort(largest)[::-1]
    if len(ordered) <= EXCEEDANCES:
        return None
    for count in range(EXCEEDANCES, _FEWEST - 1, -_STEP):
        threshold = (ordered[count - 1] + ordered[count]) / 2
        if observed <= threshold:
            return None
        above = ordered[:count] - threshold  # (count,)
        if above[-1] <= 0:  # ties at the threshold
            continue
        shape, scale = _fit(above)
        if _anderson_darling(above, shape, scale) <= _CRITICAL:
            survival = float(np.exp(_log_survival(np.array([observed - threshold]), shape, scale))[0])
            return max(count / permutations * survival, LEAST_P)
    return None


def _fit(above: Floats) -> tuple[float, float]:
    """Return shape and scale of maximum likelihood, the shape being 0 or more. above : (n,), positive

    For a given ratio of shape and scale the best shape is known (Grimshaw 1993), so one number is searched for.
    """
    from scipy.optimize import minimize_scalar  # a slow import

    mean = float(above.mean())
    relative = above / mean

    def cost(ratio: float) -> float:
        shape = float(np.log1p(ratio * relative).mean())
        return float(np.log(shape / ratio)) + shape

    best = minimize_scalar(cost, bounds=(1e-6, _STEEPEST), method="bounded", options={"xatol": 1e-4})
    if best.fun >= 1 - 1e-9:  # the cost of the exponential distribution
        return 0.0, mean
    shape = float(np.log1p(best.x * relative).mean())
    return shape, shape / best.x * mean


def _log_survival(above: Floats, shape: float, scale: float) -> Floats:
    """Return log P(value > above) of a generalised Pareto distribution."""
    return -above / scale if shape == 0 else -np.log1p(shape * above / scale) / shape


def _anderson_darling(above: Floats, shape: float, scale: float) -> float:
    """Return the Anderson-Darling distance of values, in descending order, from a generalised Pareto distribution."""
    n = len(above)
    log_survival = _log_survival(above[::-1], shape, scale)  # ascending values
    log_below = np.log(-np.expm1(log_survival))
    weights = 2 * np.arange(1, n + 1) - 1
    return float(-n - (weights * (log_below + log_survival[::-1])).sum() / n)

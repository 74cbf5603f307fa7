"""Approximate a p that is too small for the number of permutations from the tail of their distribution.

After Knijnenburg, Wessels, Reinders and Shmulevich (2009), "Fewer permutations, more accurate P-values": the values
above a high threshold are described by a generalised Pareto distribution, whose tail gives the probability of an
observed value that no permutation, or hardly any, has reached. The shape is restricted to values of at least 0: a tail
of negative shape is bounded, and a value beyond its bound would have p = 0. The exponential tail used instead gives a
larger p.
"""

from __future__ import annotations

import numpy as np

from lexshift.scoring.permutation_stages import LAST_STAGE
from lexshift.utils.arrays import Floats

TAIL_EXCEEDING = 10
"""After the last stage, p is also approximated from the tail if fewer permutations than this exceed e_original."""
EXCEEDANCES = 250
"""Number of values above the first threshold tried for the tail."""
MIN_TAIL_P = 1e-10
"""Lower limit of an approximated p: the fitted tail is not reliable so far beyond all permutations."""
_MIN_EXCEEDANCES = 50  # minimum number of exceedances for a fit
_EXCEEDANCE_STEP = 50
_CRITICAL = 0.9  # Anderson-Darling statistic; exceeded by 5 to 10 % of samples that are generalised Pareto
_MAX_RATIO = 20.0  # maximum shape / scale of a fit, in units of 1 / mean


def approximate_p(
    largest: Floats, observed_value: float, exceeding: int, permutations: int, min_p: float = 0.0
) -> float | None:
    """Return p from the tail of the permutation distribution if too few permutations exceed the value, else None.

    Parameters
    ----------
    largest : ndarray of shape (n,)
        The largest values of the permutation distribution.
    observed_value : float
    exceeding, permutations : int
        Number of permutations of at least ``observed_value``, and of all permutations.
    min_p : float
        The smallest possible p of the test: one divided by the number of all arrangements.
    """
    if permutations < LAST_STAGE or exceeding >= TAIL_EXCEEDING:
        return None
    p = tail_p(largest, observed_value, permutations)
    return None if p is None else max(p, min_p)


def largest_values(largest: Floats, values: Floats) -> Floats:
    """Return the EXCEEDANCES + 1 largest values of both arrays, unsorted, or all if there are fewer."""
    both = np.concatenate([largest, values])
    size = EXCEEDANCES + 1
    return both if len(both) <= size else np.partition(both, len(both) - size)[-size:]


def tail_p(largest: Floats, observed_value: float, permutations: int) -> float | None:
    """Return the probability of a value of at least ``observed_value``, or None if no fit to the tail is good.

    Parameters
    ----------
    largest : ndarray of shape (n,)
        The largest values of the permutation distribution, at least one more than EXCEEDANCES.
    observed_value : float
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
    for count in range(EXCEEDANCES, _MIN_EXCEEDANCES - 1, -_EXCEEDANCE_STEP):
        threshold = (ordered[count - 1] + ordered[count]) / 2
        if observed_value <= threshold:
            return None
        above = ordered[:count] - threshold  # (count,)
        if above[-1] <= 0:  # ties at the threshold
            continue
        shape, scale = _fit(above)
        if _anderson_darling(above, shape, scale) <= _CRITICAL:
            survival = float(np.exp(_log_survival(np.array([observed_value - threshold]), shape, scale))[0])
            return max(count / permutations * survival, MIN_TAIL_P)
    return None


def _fit(above: Floats) -> tuple[float, float]:
    """Fit a generalised Pareto distribution to positive values, (n,), and return its shape, at least 0, and scale.

    The best shape for a fixed ratio of shape to scale is known (Grimshaw 1993), so only the ratio is optimised.
    """
    from scipy.optimize import minimize_scalar  # imported here because it is slow

    mean = float(above.mean())
    relative = above / mean

    def cost(ratio: float) -> float:
        shape = float(np.log1p(ratio * relative).mean())
        return float(np.log(shape / ratio)) + shape

    best = minimize_scalar(cost, bounds=(1e-6, _MAX_RATIO), method="bounded", options={"xatol": 1e-4})
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

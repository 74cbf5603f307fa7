"""The empirical null: how much a word stands out from what two corpora do to ordinary words.

Between real corpora nearly every word differs beyond chance, so a test against "no difference" says little. Efron
(2004, "Large-scale simultaneous hypothesis testing: the choice of a null hypothesis") estimates the null distribution
from the data instead. Here the data are the gaps of ordinary words. A gap g is a squared distance plus noise, so it can
be a little below 0. Square roots of squared distances are nearly symmetric for words of ordinary change, but the square
root is infinitely steep at 0, where it would magnify the noise. It is therefore made nearly linear for gaps that are
smaller than c, the size of the noise::

    x  =  sign(g) (sqrt(|g| + c) - sqrt(c))

The upper half of the ordinary words also contains real changes of meaning, so the null distribution is fitted to the
lower half: a normal distribution with ::

    centre  =  median of x over the ordinary words
    scale   =  centre - quantile of x at 0.16

and the *excess* of a word is (x - centre) / scale. The *local false discovery rate* of an excess z is the probability
that a word with this excess is an ordinary one::

    local fdr (z)  =  f0(z) / f(z)

where f0 is the standard normal density and f the density of the excess of all words, ordinary and requested, estimated
with Gaussian kernels. It is made non-increasing for z > 0, and 1 for z <= 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexshift.utils.arrays import Floats

MIN_WORDS = 30
"""Minimum number of ordinary words for a null distribution, of which one may be left out."""
_SIXTEENTH = 0.1587  # the normal distribution has this share below the mean minus one standard deviation
_LARGEST = 10.0  # a larger excess counts as this one, whose local false discovery rate is practically 0
_GRID = 0.01  # step of the values at which the local false discovery rate is made monotone


@dataclass(frozen=True)
class EmpiricalNull:
    """The distribution of the gaps of ordinary words, after :func:`soft_root`.

    Attributes
    ----------
    centre, scale : float
    noise : float
        Size of the noise, c in the formula above.
    """

    centre: float
    scale: float
    noise: float = 0.0

    def excess(self, gaps: Floats | float) -> Floats:
        """Return by how many standard deviations of ordinary words each gap exceeds their median."""
        values: Floats = (soft_root(gaps, self.noise) - self.centre) / self.scale
        return values


def soft_root(values: Floats | float, noise: float) -> Floats:
    """Return the square root of each value, made linear within the noise, as in the formula above.

    This is nearly linear for values that are much smaller than the noise, and grows like the square root of values that
    are much larger. Without noise it is the square root with the sign of the value.

    >>> soft_root(np.array([-4.0, 9.0]), noise=0.0).tolist()
    [-2.0, 3.0]
    >>> soft_root(np.array([-8.0, 3.0]), noise=1.0).tolist()
    [-2.0, 1.0]
    """
    return np.sign(values) * (np.sqrt(np.abs(values) + noise) - np.sqrt(noise))


def fit_null(gaps: Floats, noise: float = 0.0) -> EmpiricalNull:
    """Fit the null distribution to the gaps of ordinary words.

    Parameters
    ----------
    gaps : ndarray of shape (n,) or (draws, n)
        The gaps of at least :data:`MIN_WORDS` words, one of which may be left out because it is the one that is
        compared, or those of several draws of their usages.
    noise : float
        Size of the noise, c in the formula above.

    Examples
    --------
    >>> ordinary = np.random.default_rng(0).normal(0.1, 0.02, 2000) ** 2
    >>> null = fit_null(ordinary)
    >>> round(null.centre, 2), round(null.scale, 2)
    (0.1, 0.02)
    """
    values = np.asarray(gaps, float)
    if values.shape[-1] < MIN_WORDS - 1:
        raise ValueError(f"gaps must be those of at least {MIN_WORDS - 1} words; got {values.shape[-1]}")
    low, centre = np.quantile(soft_root(values, noise), [_SIXTEENTH, 0.5])
    return EmpiricalNull(float(centre), float(max(centre - low, 1e-6)), noise)


def local_fdr(excess: Floats, ordinary: Floats) -> Floats:
    """Return the probability that words of such an excess are ordinary ones.

    Parameters
    ----------
    excess : ndarray of shape (n,)
        The excess of each requested word.
    ordinary : ndarray of shape (m,) or (draws, m)
        The excess of the ordinary words that were not requested, or that for each of several draws of their usages.

    Returns
    -------
    ndarray of shape (n,)
        From 0 to 1.

    Examples
    --------
    >>> ordinary = np.random.default_rng(0).normal(size=150)
    >>> local_fdr(np.array([-1.0, 6.0]), ordinary).round(3).tolist()
    [1.0, 0.0]
    """
    from scipy.stats import norm  # imported here because it is slow

    values = np.minimum(np.asarray(excess, float), _LARGEST)
    draws = np.atleast_2d(np.asarray(ordinary, float))
    count = draws.shape[1] + len(values)
    width = 0.9 * count**-0.2  # Silverman's rule for a standard deviation of 1
    grid = np.arange(0, values.max(initial=0.0) + 2 * _GRID, _GRID)
    density = np.zeros(len(grid))
    for pool, weight in ((draws.ravel(), 1 / len(draws)), (values, 1.0)):
        for block in np.array_split(pool, max(len(pool) // 200, 1)):
            density += weight * norm.pdf((grid[:, None] - block) / width).sum(axis=1)
    density /= count * width
    null = norm.pdf(grid)
    falling = np.minimum.accumulate(null / np.maximum(density, null))
    result: Floats = np.where(values > 0, np.interp(values, grid, falling), 1.0)
    return result

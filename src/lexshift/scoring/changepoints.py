"""Find when a word's meaning changed: change points in the sequence of the mean vectors of its periods.

The cost of a segmentation of the periods is the sum of squared distances of the period means from the mean of their
segment, each period weighted by its number of usages, plus a penalty for every change point. Optimal partitioning
(Jackson et al. 2005, IEEE Signal Processing Letters 12), a dynamic programme over the periods, finds the segmentation
of lowest cost.

The penalty is determined for each word without labels. If the word never changed, its usages are exchangeable between
periods. They are shuffled over the periods, whose sizes stay the same, and each shuffle gives the highest penalty at
which it would have a change point. The (1 - alpha) quantile of these is the word's penalty, so that a word that never
changed has a change point with probability alpha at most.

**The shape of a change.** A word changes in steps or gradually. To decide, a polynomial in time is compared with the
best segmentation. Both explain a part of the squared distances of the period means from the overall mean, and both are
penalised. A segmentation costs the word's penalty for each change point. A polynomial costs, for each degree, what a
linear trend explains by chance with probability alpha; this is less than the penalty of a change point, because a line
has no position to choose. The shape is that of the better model. A polynomial has one degree for every three
periods, from 1 to 3 degrees, so a drift may be faster in some periods than in others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexshift.scoring.permutation_stages import stages
from lexshift.scoring.permutation_tail import approximate_p, largest_values
from lexshift.scoring.space import principal_axes
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats, Indices, Matrix
from lexshift.utils.kernels import kernel
from lexshift.utils.seeds import generator

COMPONENTS = 10
"""Number of principal components of a word's usages to search for changes: the others are mostly noise."""
SHUFFLES = 999
STEP, GRADUAL = "step", "gradual"
_PERIODS_PER_DEGREE, _MAX_DEGREE = 3, 3
_ROUNDING = 1e-9  # relative difference that may be due to rounding


@dataclass(frozen=True)
class ChangePoints:
    """The change points of one word.

    Attributes
    ----------
    at : tuple of int
        Indices of the periods in which a new segment begins, ascending, based on this word's p-value alone. Whether
        they are reported also depends on the other words: see :func:`lexshift.study.trace_result.reported_change`.
    p : float
        Probability that a word that never changed has a change point at ``highest`` or a higher penalty.
    penalty : float
        The cost of a change point; infinite if there are too few shuffles for alpha.
    highest : float
        The highest penalty at which the word has a change point.
    permutations : int
        Number of shuffles.
    tail : float or None
        An approximation of p if it is too small for the number of shuffles, as in
        :class:`lexshift.scoring.permutation.PermutationTest`.
    shape : str
        "step" if the change points explain the change best, "gradual" if a smooth trend does; empty if there are no
        change points or only two periods.
    """

    at: tuple[int, ...]
    p: float
    penalty: float
    highest: float
    permutations: int
    tail: float | None = None
    shape: str = ""


def change_points(
    periods: Sequence[Matrix],
    alpha: float = 0.05,
    shuffles: int = SHUFFLES,
    seed: int = 0,
    word: str = "",
    times: Sequence[int] | None = None,
) -> ChangePoints:
    """Find when a word's meaning changed.

    Parameters
    ----------
    periods : sequence of arrays of shape (n, d)
        The word's usages in each period, the earliest first; none of them empty.
    alpha : float
        Maximum probability of a change point in a word that never changed.
    shuffles : int
        Maximum number of shuffles; fewer are drawn if p is clearly not small, as in :func:`lexshift.permutation_test`.
    seed, word
        As for :class:`lexshift.SSCD`.
    times : sequence of int, optional
        Times of the periods, ascending (default: equally spaced).

    Returns
    -------
    ChangePoints

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> periods = [rng.normal(loc, 1, size=(30, 5)) for loc in (0, 0, 0, 2, 2)]
    >>> result = change_points(periods)
    >>> result.at, result.shape
    ((3,), 'step')
    >>> change_points([rng.normal(loc, 1, size=(30, 5)) for loc in (0, 1, 2, 3, 4)]).shape
    'gradual'
    """
    shuffles = checks.positive(shuffles, "shuffles")
    alpha = checks.between_0_and_1(alpha, "alpha")
    sizes = np.array([len(rows) for rows in periods], float)  # (periods,)
    if len(periods) < 2 or not sizes.all():
        raise ValueError(
            f"change points need at least two periods with at least one usage each; got sizes {sizes.tolist()}"
        )
    rows = project_on_components(np.concatenate(periods))  # (n, components)
    starts = np.cumsum([0, *sizes[:-1]]).astype(np.intp)
    sums = np.add.reduceat(rows, starts, axis=0)  # (periods, components)
    highest = float(highest_penalty(sums, sizes))
    rng = generator(checks.seed(seed), "shuffle", word)
    null = np.empty(shuffles)
    done = 0
    for stage, p_above in stages(shuffles):
        for i in range(done, stage):
            null[i] = highest_penalty(np.add.reduceat(rows[rng.permutation(len(rows))], starts, axis=0), sizes)
        done = stage
        reached = int((null[:done] >= highest * (1 - _ROUNDING)).sum())
        p = (1 + reached) / (1 + done)
        if p > p_above:
            break
    null = null[:done]
    tail = approximate_p(largest_values(np.empty(0), null), highest, reached, done, _single_arrangement(sizes))
    penalty = _quantile(null, alpha)
    indices = best_change_points(sums, sizes, penalty) if p <= alpha and highest > penalty else ()
    times = range(len(periods)) if times is None else times
    shape = classify_shape(rows, sums, sizes, times, indices, penalty, alpha) if indices else ""
    return ChangePoints(indices, p, penalty, highest, done, tail, shape)


def _single_arrangement(sizes: Floats) -> float:
    """Return the probability of one arrangement of the usages in periods of these sizes, if all are equally likely."""
    return math.exp(sum(math.lgamma(size + 1) for size in sizes) - math.lgamma(sizes.sum() + 1))


def project_on_components(rows: Matrix, components: int = COMPONENTS) -> Floats:
    """Project centred rows on their first principal components: (n, d) to (n, at most ``components``)."""
    centred = rows - rows.mean(axis=0, dtype=float)  # (n, d)
    return centred @ principal_axes(centred, components)[1]


def best_change_points(sums: Floats, sizes: Floats, penalty: float) -> tuple[int, ...]:
    """Return the change points of the segmentation with the lowest cost.

    Parameters
    ----------
    sums : ndarray of shape (periods, d), float64
        Sums of the usages of each period.
    sizes : ndarray of shape (periods,), float64
        Number of usages in each period.
    penalty : float
        Cost of a change point.

    Returns
    -------
    tuple of int
        Indices of the periods in which a new segment begins, ascending.
    """
    _, starts = best_partition(segment_gains(sums, sizes), penalty)
    indices = []
    end = len(sizes)
    while starts[end] > 0:
        end = int(starts[end])
        indices.append(end)
    return tuple(reversed(indices))


def segments(indices: Sequence[int], periods: int) -> list[tuple[int, int]]:
    """Return the first period and the last period + 1 of each segment.

    >>> segments((2, 3), 5)
    [(0, 2), (2, 3), (3, 5)]
    """
    return list(itertools.pairwise((0, *indices, periods)))


def _quantile(null: Array, alpha: float) -> float:
    """Return the (1 - alpha) quantile of the null distribution with the observed value added to it.

    It is infinite if there are too few values for alpha.
    """
    rank = math.ceil((1 - alpha) * (len(null) + 1) - _ROUNDING)
    return float(np.sort(null)[rank - 1]) if rank <= len(null) else math.inf


@kernel
def highest_penalty(sums: Floats, sizes: Floats) -> float:
    """Compute the highest penalty at which the best segmentation has a change point.

    A segmentation with k change points lowers the cost by some gain, and is better than none up to a penalty of gain /
    k. The algorithm of Dinkelbach (1967) finds the largest of these ratios: it repeatedly takes the best segmentation
    at one penalty, and its ratio as the next penalty, until there is no larger ratio.

    Parameters
    ----------
    sums : ndarray of shape (periods, d), float64
        Sums of the centred usages of each period.
    sizes : ndarray of shape (periods,), float64
        Number of usages in each period.
    """
    gains = segment_gains(sums, sizes)
    periods = len(sizes)
    undivided = gains[0, periods]
    penalty = 0.0
    for i in range(1, periods):
        penalty = max(penalty, gains[0, i] + gains[i, periods] - undivided)
    while True:
        value, starts = best_partition(gains, penalty)
        changes, start = 0, starts[periods]
        while start > 0:
            changes, start = changes + 1, starts[start]
        if changes == 0:
            return penalty
        ratio = (value - undivided) / changes + penalty
        if ratio <= penalty * (1 + 1e-12):
            return penalty
        penalty = ratio


@kernel
def segment_gains(sums: Floats, sizes: Floats) -> Floats:
    """Compute by how much every segment lowers the cost: |sum|^2 / size.

    Parameters
    ----------
    sums : ndarray of shape (periods, d), float64
        Sums of the usages of each period.
    sizes : ndarray of shape (periods,), float64
        Number of usages in each period.

    Returns
    -------
    ndarray of shape (periods + 1, periods + 1), float64
        Gains, indexed by the first period and the last period + 1 of a segment.
    """
    periods, d = sums.shape
    gains = np.zeros((periods + 1, periods + 1))
    total = np.empty(d)
    for i in range(periods):
        total[:] = 0.0
        size = 0.0
        for j in range(i, periods):
            size += sizes[j]
            square = 0.0
            for k in range(d):
                total[k] += sums[j, k]
                square += total[k] * total[k]
            gains[i, j + 1] = square / size
    return gains


@kernel
def best_partition(gains: Floats, penalty: float) -> tuple[float, Indices]:
    """Find the partition into segments with the largest sum of gains minus a penalty for every change point.

    Optimal partitioning (Jackson et al. 2005): the best partition up to a period consists of its last segment and the
    best partition up to the start of that segment.

    Parameters
    ----------
    gains : ndarray of shape (periods + 1, periods + 1), float64
        See :func:`segment_gains`.
    penalty : float
        Cost of a change point.

    Returns
    -------
    total : float
        The largest sum.
    starts : ndarray of shape (periods + 1,), intp
        Start of the last segment of the best partition up to each period.
    """
    periods = len(gains) - 1
    best, starts = np.zeros(periods + 1), np.zeros(periods + 1, np.intp)
    for end in range(1, periods + 1):
        best[end] = gains[0, end]
        for start in range(1, end):
            value = best[start] + gains[start, end] - penalty
            if value > best[end]:
                best[end], starts[end] = value, start
    return best[periods], starts


def classify_shape(
    rows: Floats,
    sums: Floats,
    sizes: Floats,
    times: Sequence[int],
    indices: Sequence[int],
    penalty: float,
    alpha: float,
) -> str:
    """Return "step" or "gradual" for a word that changed, or "" if it has fewer than three periods.

    Parameters
    ----------
    rows : ndarray of shape (n, c)
        All usages, centred and projected on their principal components.
    sums : ndarray of shape (periods, c)
        Sums of the usages of each period.
    sizes : ndarray of shape (periods,)
        Number of usages in each period.
    times : sequence of int
        Times of the periods, ascending.
    indices : sequence of int
        Change points of the best segmentation.
    penalty : float
        Cost of a change point.
    alpha : float
        Probability of a linear trend by chance alone.
    """
    if len(sizes) < 3:
        return ""
    explained = np.add.reduceat(sums, [0, *indices], axis=0) ** 2 / np.add.reduceat(sizes, [0, *indices])[:, None]
    segmentation = explained.sum() - penalty * len(indices)
    degrees = np.arange(1, polynomial_degree(len(sizes)) + 1)
    trend = (trend_gains(sums, sizes, times) - degrees * min(penalty, trend_penalty(rows, alpha))).max()
    return GRADUAL if trend > segmentation else STEP


def polynomial_degree(periods: int) -> int:
    """Return the highest degree of the polynomial for a number of periods.

    >>> [polynomial_degree(periods) for periods in (3, 6, 7, 10, 72)]
    [1, 1, 2, 3, 3]
    """
    return min(_MAX_DEGREE, max(1, (periods - 1) // _PERIODS_PER_DEGREE))


def trend_gains(sums: Floats, sizes: Floats, times: Sequence[int]) -> Floats:
    """Compute by how much polynomials of degree 1, 2, ... lower the cost, compared with a constant: (degrees,)."""
    when = np.asarray(times, float)
    terms = polynomial_degree(len(sizes)) + 1
    powers = np.vander((when - when.mean()) / np.ptp(when), terms, increasing=True)  # (periods, degrees + 1)
    axes, _ = np.linalg.qr(powers * np.sqrt(sizes)[:, None])
    coefficients = axes[:, 1:].T @ (sums / np.sqrt(sizes)[:, None])  # (degrees, c)
    return np.cumsum((coefficients**2).sum(axis=1))


def trend_penalty(rows: Floats, alpha: float) -> float:
    """Compute the gain that a linear trend exceeds with probability alpha if usages are in random order.

    The gain is a weighted sum of chi-squared variables, one for each component with its variance as the weight; it is
    approximated by a gamma variable of the same mean and variance (Satterthwaite 1946).
    """
    from scipy.special import gammaincinv  # imported here because it is slow

    variances = rows.var(axis=0, ddof=1)  # (c,)
    total, squares = variances.sum(), (variances**2).sum()
    if squares == 0:
        return 0.0
    return float(2 * squares / total * gammaincinv(total**2 / squares / 2, 1 - alpha))

"""When a word's meaning changed: change points in the sequence of the means of its usages in each period.

A segmentation of the periods costs the squared distances of the period means from the mean of their segment, each
period weighing as many usages as it has, and a penalty for every change point. The cheapest is found by optimal
partitioning (Jackson et al. 2005, IEEE Signal Processing Letters 12), a dynamic programme over the periods.

The penalty is found for each word without labels. If the word never changed, its usages could as well stand in any
other period: they are shuffled over the periods, which keep their sizes, and each time the penalty is taken up to which
there would be a change point. Their (1 - alpha) quantile is the word's penalty, so that a word that never changed gets
a change point with a probability of alpha at most.

**The shape of a change.** A word that changed did so in steps or gradually: a polynomial in time is set against the
best segmentation. Both explain a part of the squared distances of the period means from the overall mean, and both pay
for it. A segmentation pays the word's penalty for each change point. A polynomial pays for each degree what chance
alone lets a linear trend explain with probability alpha; this is less than the penalty of a change point, as a line has
no place to choose. The cheaper model gives the word its shape. A polynomial has one degree for every three periods,
from 1 to 3 degrees, so a drift may be faster in some periods than in others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexshift.scoring.permutation import approximate_p, largest_values, stages
from lexshift.scoring.space import principal_axes
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats, Indices, Matrix
from lexshift.utils.kernels import kernel
from lexshift.utils.seeds import generator

COMPONENTS = 10
"""The principal components of a word's usages in which it is looked for changes: the others are mostly noise."""
SHUFFLES = 999
STEP, GRADUAL = "step", "gradual"
_PERIODS_PER_DEGREE, _MAX_DEGREE = 3, 3
_ROUNDING = 1e-9  # the relative difference of two sums that only rounding tells apart


@dataclass(frozen=True)
class ChangePoints:
    """When a word's meaning changed.

    Attributes
    ----------
    at : tuple of int
        Indices of the periods that begin something new, ascending, by the p-value of this word alone. Whether they are
        reported depends on the other words as well: see :func:`lexshift.study.trace_result.reported_change`.
    p : float
        How likely it is that a word that never changed has a change point at this penalty or a higher one.
    penalty : float
        The cost of a change point; infinite if there are too few shuffles for alpha.
    highest : float
        The penalty up to which the word has a change point.
    permutations : int
        Number of shuffles.
    tail : float or None
        An approximation of p where it is too small to be counted, as in
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
        How likely a word that never changed may get a change point.
    shuffles : int
        Maximum number of shuffles; fewer are made if p is clearly not small, as in :func:`lexshift.permutation_test`.
    seed, word
        As for :class:`lexshift.SSCD`.
    times : sequence of int, optional
        When the periods were, ascending; by default they follow each other at equal distances.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> periods = [rng.normal(loc, 1, size=(30, 5)) for loc in (0, 0, 0, 2, 2)]
    >>> found = change_points(periods)
    >>> found.at, found.shape
    ((3,), 'step')
    >>> change_points([rng.normal(loc, 1, size=(30, 5)) for loc in (0, 1, 2, 3, 4)]).shape
    'gradual'
    """
    shuffles = checks.positive(shuffles, "shuffles")
    alpha = checks.between_0_and_1(alpha, "alpha")
    sizes = np.array([len(rows) for rows in periods], float)  # (periods,)
    if len(periods) < 2 or not sizes.all():
        raise ValueError(f"change points need at least two periods, none of them empty; got sizes {sizes.tolist()}")
    rows = leading(np.concatenate(periods))  # (n, components)
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
    at = segmented(sums, sizes, penalty) if p <= alpha and highest > penalty else ()
    when = range(len(periods)) if times is None else times
    shape = shape_of(rows, sums, sizes, when, at, penalty, alpha) if at else ""
    return ChangePoints(at, p, penalty, highest, done, tail, shape)


def _single_arrangement(sizes: Floats) -> float:
    """Return the probability of one arrangement of the usages in periods of these sizes, if all are equally likely."""
    return math.exp(sum(math.lgamma(size + 1) for size in sizes) - math.lgamma(sizes.sum() + 1))


def leading(rows: Matrix, most: int = COMPONENTS) -> Floats:
    """Return rows about their mean on their first principal components: (n, d) to (n, at most ``most``)."""
    centred = rows - rows.mean(axis=0, dtype=float)  # (n, d)
    return centred @ principal_axes(centred, most)[1]


def segmented(sums: Floats, sizes: Floats, penalty: float) -> tuple[int, ...]:
    """Return the change points of the cheapest segmentation. sums : (periods, d), of the usages; sizes : (periods,)"""
    _, starts = best_partition(segment_gains(sums, sizes), penalty)
    at = []
    end = len(sizes)
    while starts[end] > 0:
        end = int(starts[end])
        at.append(end)
    return tuple(reversed(at))


def segments(at: Sequence[int], periods: int) -> list[tuple[int, int]]:
    """First period and last + 1 of each segment.

    >>> segments((2, 3), 5)
    [(0, 2), (2, 3), (3, 5)]
    """
    return list(itertools.pairwise((0, *at, periods)))


def _quantile(null: Array, alpha: float) -> float:
    """What at most a share of alpha of all values is above, the observed one counted among them."""
    rank = math.ceil((1 - alpha) * (len(null) + 1) - _ROUNDING)
    return float(np.sort(null)[rank - 1]) if rank <= len(null) else math.inf


@kernel
def highest_penalty(sums: Floats, sizes: Floats) -> float:
    """Compute the penalty up to which the cheapest segmentation has a change point.

    sums : (periods, d), of the usages about their mean; sizes : (periods,)

    A segmentation with k change points lowers the cost by some gain, and pays for itself up to gain / k. The largest of
    these ratios over all segmentations is found as Dinkelbach (1967) does: from the best segmentation at one penalty to
    its own ratio, until no other has a larger one.
    """
    gains = segment_gains(sums, sizes)
    periods = len(sizes)
    whole = gains[0, periods]
    penalty = 0.0
    for i in range(1, periods):
        penalty = max(penalty, gains[0, i] + gains[i, periods] - whole)
    while True:
        value, starts = best_partition(gains, penalty)
        changes, start = 0, starts[periods]
        while start > 0:
            changes, start = changes + 1, starts[start]
        if changes == 0:
            return penalty
        ratio = (value - whole) / changes + penalty
        if ratio <= penalty * (1 + 1e-12):
            return penalty
        penalty = ratio


@kernel
def segment_gains(sums: Floats, sizes: Floats) -> Floats:
    """Compute what every segment takes off the cost: |sum|^2 / size.

    sums : (periods, d), of the usages; sizes : (periods,)  ->  (periods + 1, periods + 1), by the first period and the
    last + 1
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
    """Find the partition into segments that has the largest sum of gains less a penalty for every change point.

    Optimal partitioning (Jackson et al. 2005): the best partition up to a period is the best one up to the start of its
    last segment, and that segment.

    gains : (periods + 1, periods + 1)  ->  the sum, and the starts of the last segments of the best partitions up to
    each period, (periods + 1,)
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

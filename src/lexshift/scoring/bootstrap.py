"""Intervals for change scores from random half-samples: the variation of a score over samples of usages.

**What the interval is for.** The estimand is the expected score: the mean of the score over independent pairs of
samples of the same sizes from the same two populations of usages. For a word that did not change, this is the level of
the noise, not 0. A 95 % interval should contain the expected score for 95 % of such pairs of samples, and be no wider
than necessary.

**Why usages are not drawn with replacement.** The score of a word that did not change is itself a measure of noise.
Drawing usages with replacement adds its own noise to that of the sample; and a usage that is drawn twice must be
swapped as one, which makes swapping noisier. For such words the interval would be two to four times too wide.

**Half-samples.** Each of the two sets is split at random into two halves. The two halves of a split are independent
samples of half the size, without copies, and are scored as such. So a quarter of the mean squared difference of their
scores estimates v / 2, where v is the variance of the score of half as many usages, whatever the metric is. A
half-sample is swapped several times. The variance between its swaps is the part of the difference that comes from
swapping, which is subtracted. The result must then be extrapolated from half of the usages to all of them, for the two
parts of the score::

    score  =  sscd^(1 - w)  distance^w,     sscd = mean |e_original - e_swap|,     distance = APD

where w is ``distance_weight``. To first order the score varies by a times the variation of sscd plus b times that of
the distance, where a and b are the partial derivatives of the score (the delta method).

- *sscd.* If the word changed, ``sscd`` is close to its limit, and its variance is v / 2, like that of a mean. If it did
  not change, ``sscd`` is all noise. By the central limit theorem its whole distribution then shrinks by one
  factor, so its standard deviation shrinks as its mean does, by c, which can be measured: ``sscd`` of all usages
  divided by the mean of ``sscd`` of the halves. So the variance is min(1/2, c^2) v. The factor c is 1/2 for distances
  that are quadratic in the difference, like the cosine distance. A smaller one is due to chance and is replaced by 1/2.
  Some metrics give noise that does not shrink, such as the cosine of two means that are close to 0. There c^2 is above
  1/2 although the two halves of a split are unrelated, so that their mean varies as much as half of their difference;
  the more unrelated they are, the more of c^2 above 1/2 is counted.
- *distance* is a smooth function of the two sets, a term that is linear in the usages and a quadratic one. The linear
  term of one half is minus that of the other half, so the mean of the two halves varies by the quadratic term only. Let
  L and Q be the variances of the two terms at the full size. A quarter of the squared difference of the halves has the
  mean L + 2 Q, and the mean of the halves has the variance Q. The difference is L + Q, the variance of the distance.

The variance of the swaps that the score itself averages over is added at the end.

**The interval.** The variance of a squared distance grows in proportion to the distance, so a score that is small by
chance also looks more certain than it is. The interval is therefore symmetric on the scale of a square root, on which
the variance is the same everywhere: if the variance at an expected score t is slope * (t - zero), where slope * (score
- zero) is the estimated variance, the limits are zero + (sqrt(score - zero) +- q sqrt(slope) / 2)^2. The slope
is a times v / 2 divided by ``sscd``, times the share of ``sscd`` in the variation of the score. Because the variance is
estimated, q is a quantile of Student's t, with 1 / df = 1 / (usages of the smaller set - 1) + 1 / splits.

These limits are those of the linear approximation a sscd + b distance. A geometric mean is curved, so each limit is
divided between sscd and the distance by their shares in the variation of the score, and the score is computed from the
two values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexshift.scoring import swap
from lexshift.scoring.distance.metric import get, side_distances
from lexshift.scoring.distance.pairwise import AverageDistances
from lexshift.scoring.moments import MEMORY_ENTRIES, batch_sizes
from lexshift.scoring.sscd import SSCD, Change, combine
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.kernels import kernel
from lexshift.utils.seeds import generator

SWAPS, SWAPS_OF_USAGES = 8, 2
"""Random swaps of each half-sample, for metrics of Gaussians and for metrics that compare usages, which take longer.

Few swaps suffice, because their noise is measured and subtracted."""


@dataclass(frozen=True)
class Interval:
    """An interval for a change score.

    Attributes
    ----------
    low, high : float
        The limits, at least 0. The score lies between them.
    confidence : float
    bias : float
        Mean score of the half-samples minus the score of all usages. It is near 0 for a word that changed. For a word
        that did not, whose score is noise, it is near the score (with most metrics, if ``distance_weight`` is 0).
    """

    low: float
    high: float
    confidence: float
    bias: float


def bootstrap(
    old: npt.ArrayLike,
    new: npt.ArrayLike,
    sscd: SSCD | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    word: str = "",
    change: Change | None = None,
) -> Interval:
    """Compute an interval for the expected change score from random half-samples of the usages.

    The expected score is the mean over independent samples of the same sizes. The docstring of the module
    ``lexshift.scoring.bootstrap`` has the derivation.

    Parameters
    ----------
    old, new : array-like of shape (n_old, d) and (n_new, d)
    sscd : SSCD, optional
        The scorer; its seed is used as well.
    resamples : int
        Number of half-samples. They are the two halves of random splits, so an odd number is rounded up. With more of
        them, the limits depend less on the seed.
    confidence : float
    word : str
        The word's name. Each name has its own random stream.
    change : Change, optional
        The score with its parts, if it is known already (default: computed).

    Returns
    -------
    Interval

    Examples
    --------
    >>> import numpy as np
    >>> from lexshift import SSCD, bootstrap
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=(60, 8)), rng.normal(size=(60, 8)) + 1
    >>> sscd = SSCD(metric="euclidean")
    >>> interval = bootstrap(old, new, sscd, resamples=200)
    >>> interval.low < sscd.score(old, new).score < interval.high
    True
    """
    from scipy.special import stdtrit  # imported here because it is slow

    rows_old, rows_new = checks.pair(old, new)
    sscd = SSCD() if sscd is None else sscd
    if not isinstance(sscd, SSCD):
        raise ValueError(f"sscd must be a lexshift.SSCD; got {sscd!r}")
    splits = -(-checks.positive(resamples, "resamples") // 2)
    confidence = checks.between_0_and_1(confidence, "confidence")
    rng = generator(sscd.seed, "bootstrap", word)
    halves = HalfSamples(rows_old, rows_new, sscd, word)
    change = sscd.score(rows_old, rows_new, word) if change is None else change
    batch = [halves(size, rng) for size in batch_sizes(splits, halves.cells, MEMORY_ENTRIES)]
    effects, distances = (np.concatenate(parts) for parts in zip(*batch, strict=True))
    repeats = sscd.repeats if sscd.strategy == "random" else 1
    weight, score = float(sscd.distance_weight), change.score
    variance, slope, direction = _estimate_variance(change.sscd, change.distance, weight, repeats, effects, distances)
    df = 1 / (1 / (min(len(rows_old), len(rows_new)) - 1) + 1 / splits)
    limits = _limits(score, variance, slope, float(stdtrit(df, 0.5 + confidence / 2)))
    low, high = (_move(change, limit - score, direction, weight) for limit in limits)
    bias = float(combine(effects.mean(axis=2), distances, weight).mean() - score)
    return Interval(low, high, confidence, bias)


def _limits(score: float, variance: float, slope: float, q: float) -> tuple[float, float]:
    """Return the limits at a distance of q standard deviations on the scale on which the variance is constant.

    >>> _limits(2.0, 0.25, 0.0, 2.0)
    (1.0, 3.0)
    >>> _limits(9.0, 9.0, 1.0, 2.0)  # the square root of the score is 3, its standard deviation 1/2
    (4.0, 16.0)
    """
    reach, shift = q * math.sqrt(variance), q**2 * slope / 4
    # If the limit on the square root scale is below 0, the interval ends where the variance is 0.
    low = score - reach + shift if shift <= reach / 2 else score - variance / slope
    return low, score + reach + shift


def _estimate_variance(
    sscd: float, distance: float, distance_weight: float, repeats: int, effects: Floats, distances: Floats
) -> tuple[float, float, tuple[float, float]]:
    """Estimate the variance of a score, its slope as a function of the expected score, and its direction.

    Parameters
    ----------
    sscd : float
        Mean |e_original - e_swap| of all usages.
    distance : float
        Average pairwise distance of all usages.
    distance_weight : float
        Weight of the distance in the score.
    repeats : int
        Number of swaps that the score averages over.
    effects : ndarray of shape (splits, 2, swaps)
        |e_original - e_swap| of each swap of the two halves of each split.
    distances : ndarray of shape (splits, 2)
        Average pairwise distances of the halves.
    """
    swaps = effects.shape[2]
    mean = effects.mean(axis=2)  # (splits, 2)
    noise = float(effects.var(axis=2, ddof=1).mean()) if swaps > 1 else 0.0  # the variance of one swap of a half
    differences, differences_distance = np.diff(mean)[:, 0] / 2, np.diff(distances)[:, 0] / 2  # (splits,)
    half = max(float((differences**2).mean()) - noise / (2 * swaps), 0.0)
    common = float(mean.mean(axis=1).var()) - noise / (2 * swaps)
    unlike = min(max(2 * common / half - 1, 0.0), 1.0) if half else 0.0  # 1 if the halves of a split are unrelated
    average = float(mean.mean())
    expected = max(sscd, average / 2)
    share = 2 * min(expected / average, 1.0) ** 2 if average else 1.0
    share = min(share, 1.0) + unlike * max(share - 1, 0.0)
    half_distance = float((differences_distance**2).mean())
    quadratic = float(distances.mean(axis=1).var())
    share_distance = max(1 - quadratic / half_distance, 0.5) if half_distance else 1.0
    by_sscd, by_distance = _derivatives(expected, distance, distance_weight)
    v_sscd = by_sscd**2 * share * half
    v_distance = by_distance**2 * share_distance * half_distance
    at_half = float((differences * differences_distance).mean())
    shared = by_sscd * by_distance * math.sqrt(share * share_distance) * at_half
    variance = max(v_sscd + 2 * shared + v_distance, 0.0)
    part = min(max((v_sscd + shared) / variance, 0.0), 1.0) if variance else 0.0
    slope = by_sscd * part * half / expected if expected else 0.0
    swapping = by_sscd**2 * share / 2 * noise / repeats
    if swapping:
        part = min(max((v_sscd + shared + swapping) / (variance + swapping), 0.0), 1.0)
    direction = part / by_sscd if by_sscd else 0.0, (1 - part) / by_distance if by_distance else 0.0
    return variance + swapping, slope, direction


def _move(change: Change, deviation: float, direction: tuple[float, float], distance_weight: float) -> float:
    """Return the score after a deviation, which to first order is divided between SSCD and the distance.

    ``direction`` is the change of SSCD and of the distance for a deviation of 1. Neither can be negative.
    """
    sscd, distance = (
        max(value + deviation * step, 0.0)
        for value, step in zip((change.sscd, change.distance), direction, strict=True)
    )
    return float(combine(sscd, distance, distance_weight))


def _derivatives(sscd: float, distance: float, distance_weight: float) -> tuple[float, float]:
    """Return the partial derivatives of the score with respect to SSCD and the distance.

    They are 0 where the score is 0 for every weight between 0 and 1, because there the score has no derivatives.

    >>> _derivatives(0.25, 4.0, 0.0), _derivatives(0.25, 4.0, 0.5), _derivatives(0.25, 4.0, 1.0)
    ((1.0, 0.0), (2.0, 0.125), (0.0, 1.0))
    """
    if distance_weight in (0.0, 1.0):
        return 1 - distance_weight, distance_weight
    if not (sscd and distance):
        return 0.0, 0.0
    by_sscd = (1 - distance_weight) * (distance / sscd) ** distance_weight
    return by_sscd, distance_weight * (sscd / distance) ** (1 - distance_weight)


class HalfSamples:
    """Effects of swapping on the distance between random halves of the two sets, and their APD."""

    def __init__(self, old: Matrix, new: Matrix, sscd: SSCD, word: str) -> None:
        metric, sizes = get(sscd.metric), checks.sizes(sscd.corpus_sizes)
        self.count = swap.swap_count(len(old) // 2, len(new) // 2, sscd.rate, sizes)
        if not self.count and swap.swap_count(len(old), len(new), sscd.rate, sizes):
            self.count = 1  # the halves of a very rare word are swapped if the word is
        self.is_random = sscd.strategy == "random"
        self.swaps = (SWAPS_OF_USAGES if metric.usages else SWAPS) if self.is_random else 1
        self.cells = max(len(old) + len(new), old.shape[1]) * 2 * (self.swaps + 1)  # numbers that one split needs
        self.old, self.new = old, new
        self.measure = side_distances(metric, old, new, sscd.seed, word)
        self.average_distances = AverageDistances(old, new)

    def __call__(self, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return |e_original - e_swap|, (size, 2, swaps), and APD, (size, 2), of the halves of random splits."""
        n_old, n_new = len(self.old), len(self.new)
        halves_old, halves_new = _halves(n_old, size, rng), _halves(n_new, size, rng)  # (size * 2, n)
        if self.is_random:
            order_old, order_new = (
                rng.permuted(np.broadcast_to(np.arange(n), (size * 2 * self.swaps, n)), axis=1) for n in (n_old, n_new)
            )
        else:
            order_old = _farthest_first(self.old, halves_new, self.new)
            order_new = _farthest_first(self.new, halves_old, self.old)
        is_swapped = np.zeros((size * 2 * self.swaps, n_old + n_new), np.int8)
        mark_first_rows(halves_old, order_old, self.count, is_swapped[:, :n_old])
        mark_first_rows(halves_new, order_new, self.count, is_swapped[:, n_old:])
        sides = np.concatenate([halves_old, -halves_new], axis=1)[:, None].repeat(self.swaps + 1, axis=1)
        sides[:, 1:] *= 1 - 2 * is_swapped.reshape(size * 2, self.swaps, -1)  # swapped rows change sides
        e = self.measure(sides.reshape(-1, n_old + n_new), self.swaps + 1).reshape(size, 2, self.swaps + 1)
        effects = np.abs(e[:, :, :1] - e[:, :, 1:])
        return effects, self.average_distances(halves_old, halves_new).reshape(size, 2)


def _halves(n: int, size: int, rng: np.random.Generator) -> Array:
    """Split n rows into random halves, without one row if n is odd: (size * 2, n), 1 for the rows of a half."""
    order = rng.permuted(np.broadcast_to(np.arange(n), (size, n)), axis=1)
    halves = np.zeros((size, 2, n), np.int8)
    for k in range(2):
        np.put_along_axis(halves[:, k], order[:, k * (n // 2) : (k + 1) * (n // 2)], 1, axis=1)
    return halves.reshape(size * 2, n)


@kernel
def mark_first_rows(halves: Array, order: Array, count: int, marks: Array) -> None:
    """Mark the first ``count`` rows of each half, in a random or a sorted order.

    halves : (b, n), 1 for the rows of a half; order : (b * swaps, n); marks : (b * swaps, n), zeros before, 1 for the
    marked rows after
    """
    swaps = len(order) // len(halves)
    for b in range(len(order)):
        taken, half = 0, halves[b // swaps]
        for row in order[b]:
            if taken >= count:
                break
            marks[b, row] = half[row]
            taken += half[row]


def _farthest_first(rows: Matrix, other_halves: Array, other: Matrix) -> Array:
    """Sort rows by distance from the centroid of the other set's half, the farthest first, for each half: (b, n)."""
    centroids = other_halves.astype(np.int32) @ other / other_halves.sum(axis=1, keepdims=True)
    return np.stack([swap.distance_order(rows, centroid) for centroid in centroids])

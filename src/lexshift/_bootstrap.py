"""Bootstrap intervals: how much a change score would vary had other occurrences been sampled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexshift import _checks, swap
from lexshift._products import Products, batches
from lexshift._streams import generator
from lexshift._sums import power_of_two
from lexshift._typing import Array, Floats, Matrix
from lexshift.distance.metric import evaluate, get
from lexshift.gaussian import Gaussian, fit
from lexshift.sscd import SSCD


@dataclass(frozen=True)
class Interval:
    """A bootstrap interval for a change score.

    Attributes
    ----------
    low, high : float
        Percentiles of the scores of the resamples, less ``bias``; not below 0.
    confidence : float
    bias : float
        How far the median score of the resamples lies above the score itself.
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
) -> Interval:
    """The percentile bootstrap interval of a change score.

    Each resample draws the occurrences of both sets anew, with replacement, swaps them as SSCD does, and takes the
    score. An occurrence that is drawn twice is still one occurrence: its copies trade places together, or the same
    sentence would stand in both corpora and make them alike. Drawing with replacement adds noise of its own, which
    moves distances and with them the score, most for rare words. The interval is about how much the score varies at
    this number of occurrences, so that common shift is taken off: the percentiles are those of the resampled scores
    moved to have the score as their median.

    Parameters
    ----------
    old, new : array-like of shape (n_old, d) and (n_new, d)
    sscd : SSCD, optional
        What the score is; its seed is used too.
    resamples : int
    confidence : float
    word : str

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
    rows_old, rows_new = _checks.pair(old, new)
    sscd = SSCD() if sscd is None else sscd
    if not isinstance(sscd, SSCD):
        raise ValueError(f"sscd must be a lexshift.SSCD; got {sscd!r}")
    resamples = _checks.positive(resamples, "resamples")
    confidence = _checks.between_0_and_1(confidence, "confidence")
    rng = generator(sscd.seed, "bootstrap", word)
    resampler = Resampler(rows_old, rows_new, sscd, word)
    scores = np.concatenate([resampler(size, rng) for size in batches(resamples, resampler.cells)])
    score, median = sscd.score(rows_old, rows_new, word).score, np.median(scores)
    low, high = score + np.quantile(scores - median, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return Interval(max(float(low), 0.0), float(high), confidence, float(median - score))


class Resampler:
    """Change scores of occurrences drawn anew."""

    def __init__(self, old: Matrix, new: Matrix, sscd: SSCD, word: str) -> None:
        self.sscd, self.word, self.metric = sscd, word, get(sscd.metric)
        self.count = swap.swap_count(len(old), len(new), sscd.rate, _checks.sizes(sscd.corpus_sizes))
        self.repeats = sscd.repeats if sscd.strategy == "random" else 1
        self.cells = max(len(old) + len(new), old.shape[1]) * (self.repeats + 1)  # numbers that one resample takes
        D1, D2 = fit(old, "old", self.metric.unit_rows), fit(new, "new", self.metric.unit_rows)
        self.scale = power_of_two(np.sqrt(np.maximum(D1.variance, D2.variance)))
        self.old = Products(old, "old", D1.mean, self.scale, D1.variance, self.metric)
        self.new = Products(new, "new", D2.mean, self.scale, D2.variance, self.metric)
        self.shift = (self.new.centre.astype(float) - self.old.centre) * self.scale  # (d,)

    def __call__(self, size: int, rng: np.random.Generator) -> Floats:
        """(size,) change scores."""
        n_old, n_new = len(self.old.rows), len(self.new.rows)
        drawn_old, drawn_new = _draw(n_old, size, rng), _draw(n_new, size, rng)  # (size, n)
        if self.sscd.strategy == "distance":
            order_old = _farthest_first(self.old.rows, drawn_new, self.new.rows)
            order_new = _farthest_first(self.new.rows, drawn_old, self.old.rows)
        else:
            order_old, order_new = (
                rng.permuted(np.broadcast_to(np.arange(n), (size * self.repeats, n)), axis=1) for n in (n_old, n_new)
            )
        moved_old = _first(drawn_old.repeat(self.repeats, axis=0), order_old, self.count)  # (size * repeats, n)
        moved_new = _first(drawn_new.repeat(self.repeats, axis=0), order_new, self.count)

        all_old, all_new = _Sums.of(self.old, drawn_old), _Sums.of(self.new, drawn_new)
        e_original = self._distances(all_old, all_new, all_new.none(), all_old.none())
        out_old, out_new = _Sums.of(self.old, moved_old), _Sums.of(self.new, moved_new)
        stay_old, stay_new = all_old.repeat(self.repeats).less(out_old), all_new.repeat(self.repeats).less(out_new)
        e_swap = self._distances(stay_old, stay_new, out_new, out_old).reshape(size, self.repeats)
        return np.abs(e_original[:, None] - e_swap).mean(axis=1)

    def _distances(self, stay_old: _Sums, stay_new: _Sums, came_old: _Sums, came_new: _Sums) -> Floats:
        """Distances between the sets made of what stayed and what came. (b,)"""
        D1 = self._gaussian(stay_old, came_old, self.old, self.shift)
        D2 = self._gaussian(stay_new, came_new, self.new, -self.shift)
        return evaluate([self.metric], D1, D2, generator(self.sscd.seed, "samples", self.word))[0]

    def _gaussian(self, stay: _Sums, came: _Sums, side: Products, shift: Floats) -> Gaussian:
        """The Gaussians of sets whose one part is summed about its own centre, the other about one by ``shift`` off."""
        count, arrived = stay.count + came.count, came.count  # (b, 1)
        total = stay.sums + came.sums + arrived * shift
        variance = stay.squares
        if variance.shape[1]:
            squares = stay.squares + came.squares + shift * (2 * came.sums + arrived * shift) - total**2 / count
            variance = np.maximum(squares, 0) / (np.maximum(count - 1, 1) * self.scale**2)
        return Gaussian(side.centre + total / (count * self.scale), variance, len(side.rows))


@dataclass(frozen=True, eq=False)
class _Sums:
    """Number of rows (b, 1), their sums (b, d) and sums of squares (b, d or 0) in a batch of selections."""

    count: Floats
    sums: Floats
    squares: Floats

    @classmethod
    def of(cls, side: Products, times: Array) -> _Sums:
        return cls(times.sum(axis=1, keepdims=True).astype(float), *side.sums(times))

    def none(self) -> _Sums:
        return _Sums(0 * self.count, 0 * self.sums, 0 * self.squares)

    def repeat(self, times: int) -> _Sums:
        return _Sums(*(field.repeat(times, axis=0) for field in (self.count, self.sums, self.squares)))

    def less(self, other: _Sums) -> _Sums:
        return _Sums(self.count - other.count, self.sums - other.sums, self.squares - other.squares)


def _draw(n: int, size: int, rng: np.random.Generator) -> Array:
    """How often each of n rows is drawn in n draws with replacement: (size, n)."""
    return rng.multinomial(n, np.full(n, 1 / n), size)


def _first(drawn: Array, order: Array, count: int) -> Array:
    """Of the rows drawn, the first ones in an order until there are ``count``, all copies of a row together: (b, n)."""
    times = np.take_along_axis(drawn, order, axis=1)
    before = np.cumsum(times, axis=1) - times
    moved = np.zeros_like(drawn)
    np.put_along_axis(moved, order, times * (before < count), axis=1)
    return moved


def _farthest_first(rows: Matrix, drawn_other: Array, other: Matrix) -> Array:
    """For each resample, the rows from the farthest to the nearest to the centroid of the other set's: (b, n)."""
    centroids = drawn_other @ other / len(other)
    return np.stack([swap.distance_order(rows, centroid) for centroid in centroids])

"""Bootstrap intervals: how much a change score would vary had other occurrences been sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lexshift import _checks, swap
from lexshift._compile import kernel
from lexshift._products import MANY, Products, batches
from lexshift._streams import generator
from lexshift._sums import power_of_two
from lexshift._typing import Array, Floats, Matrix
from lexshift.distance.metric import between_usages, evaluate, get
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
    score: float | None = None,
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
    score : float, optional
        The score itself, if it is known; else it is computed.

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
    scores = np.concatenate([resampler(size, rng) for size in batches(resamples, resampler.cells, MANY)])
    score = sscd.score(rows_old, rows_new, word).score if score is None else score
    median = np.median(scores)
    low, high = score + np.quantile(scores - median, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return Interval(max(float(low), 0.0), float(high), confidence, float(median - score))


class Resampler:
    """Change scores of occurrences drawn anew."""

    def __init__(self, old: Matrix, new: Matrix, sscd: SSCD, word: str) -> None:
        self.sscd, self.word, self.metric = sscd, word, get(sscd.metric)
        self.count = swap.swap_count(len(old), len(new), sscd.rate, _checks.sizes(sscd.corpus_sizes))
        # Distances between usages take long, and vary little from swap to swap.
        self.repeats = sscd.repeats if sscd.strategy == "random" and not self.metric.usages else 1
        self.cells = max(len(old) + len(new), old.shape[1]) * (self.repeats + 1)  # numbers that one resample takes
        self.rows_old, self.rows_new = old, new
        if self.metric.usages:
            self.distances = between_usages(self.metric, old, new)
            return
        D1, D2 = fit(old, "old", self.metric.unit_rows), fit(new, "new", self.metric.unit_rows)
        self.scale = power_of_two(np.sqrt(np.maximum(D1.variance, D2.variance)))
        self.old = Products(old, "old", D1.mean, self.scale, D1.variance, self.metric)
        self.new = Products(new, "new", D2.mean, self.scale, D2.variance, self.metric)
        self.shift = (self.new.centre.astype(float) - self.old.centre) * self.scale  # (d,)

    def __call__(self, size: int, rng: np.random.Generator) -> Floats:
        """(size,) change scores."""
        n_old, n_new = len(self.rows_old), len(self.rows_new)
        drawn_old, drawn_new = _draw(n_old, size, rng), _draw(n_new, size, rng)  # (size, n)
        if self.sscd.strategy == "distance":
            order_old = _farthest_first(self.rows_old, drawn_new, self.rows_new)
            order_new = _farthest_first(self.rows_new, drawn_old, self.rows_old)
        else:
            order_old, order_new = (
                rng.permuted(np.broadcast_to(np.arange(n), (size * self.repeats, n)), axis=1) for n in (n_old, n_new)
            )
        moved_old, moved_new = np.zeros_like(order_old), np.zeros_like(order_new)  # (size * repeats, n)
        first_rows(drawn_old, order_old, self.count, moved_old)
        first_rows(drawn_new, order_new, self.count, moved_new)
        return self._of(drawn_old, drawn_new, moved_old, moved_new)

    def _of(self, drawn_old: Array, drawn_new: Array, moved_old: Array, moved_new: Array) -> Floats:
        """Scores of rows drawn so many times, (size, n), of which so many moved, (size * repeats, n)."""
        if self.metric.usages:
            copies_old, copies_new = drawn_old.repeat(self.repeats, 0), drawn_new.repeat(self.repeats, 0)
            # All copies of a row are on one side.
            sides_old = np.where(moved_old, -copies_old, copies_old)
            sides_new = np.where(moved_new, copies_new, -copies_new)
            e_original = self.distances(np.concatenate([drawn_old, -drawn_new], axis=1))
            return self._scores(e_original, self.distances(np.concatenate([sides_old, sides_new], axis=1)))
        all_old, all_new = _Sums.of(self.old, drawn_old), _Sums.of(self.new, drawn_new)
        e_original = self._distances(all_old, all_new, all_old.none(), all_new.none())
        e_swap = self._distances(all_old, all_new, _Sums.of(self.old, moved_old), _Sums.of(self.new, moved_new))
        return self._scores(e_original, e_swap)

    def _scores(self, e_original: Floats, e_swap: Floats) -> Floats:
        """(size,) and (size * repeats,) to (size,)"""
        swapped = np.abs(e_original[:, None] - e_swap.reshape(len(e_original), self.repeats)).mean(axis=1)
        return swapped + float(self.sscd.keep) * e_original

    def _distances(self, all_old: _Sums, all_new: _Sums, moved_old: _Sums, moved_new: _Sums) -> Floats:
        """Distances between the two sets after what moved has changed places. (b,)"""
        swap_moments(*all_old, *all_new, *moved_old, *moved_new, self.shift, self.scale)
        D1 = Gaussian(moved_old.sums + self.old.centre, moved_old.squares, len(self.rows_old))
        D2 = Gaussian(moved_new.sums + self.new.centre, moved_new.squares, len(self.rows_new))
        return evaluate([self.metric], D1, D2, generator(self.sscd.seed, "samples", self.word))[0]


class _Sums(NamedTuple):
    """How many rows (b,), their sums (b, d) and sums of squares (b, d or 0) in a batch of selections."""

    rows: Floats
    sums: Floats
    squares: Floats

    @classmethod
    def of(cls, side: Products, times: Array) -> _Sums:
        return cls(times.sum(axis=1).astype(float), *side.sums(times))

    def none(self) -> _Sums:
        return _Sums(*map(np.zeros_like, self))


@kernel
def swap_moments(
    n_old: Floats,
    sums_old: Floats,
    squares_old: Floats,
    n_new: Floats,
    sums_new: Floats,
    squares_new: Floats,
    out_old: Floats,
    moved_old: Floats,
    moved_squares_old: Floats,
    out_new: Floats,
    moved_new: Floats,
    moved_squares_new: Floats,
    shift: Floats,
    scale: Floats,
) -> None:
    """Means and variances of both sets after some rows of each have changed places, written over the moved rows' sums.

    n, sums, squares : (b,), (b, d), (b, d or 0), of all rows of a resample about its set's centre, in scaled units
    out, moved, moved_squares : (b * repeats,), (b * repeats, d), (b * repeats, d or 0), of the rows that move
    shift : (d,), from the old centre to the new one in scaled units; scale : (d,)

    After it ``moved`` holds the means less their set's centre, and ``moved_squares`` the variances.
    """
    repeats = len(moved_old) // len(sums_old)
    variance = squares_old.shape[1] > 0
    for b in range(len(moved_old)):
        k = b // repeats
        count_old = n_old[k] - out_old[b] + out_new[b]
        count_new = n_new[k] - out_new[b] + out_old[b]
        spare_old, spare_new = max(count_old - 1, 1.0), max(count_new - 1, 1.0)
        for i in range(len(shift)):
            left, came = moved_old[b, i], moved_new[b, i]
            total_old = sums_old[k, i] - left + came + out_new[b] * shift[i]
            total_new = sums_new[k, i] - came + left - out_old[b] * shift[i]
            if variance:
                left_squares, came_squares = moved_squares_old[b, i], moved_squares_new[b, i]
                around_old = came_squares + shift[i] * (2 * came + out_new[b] * shift[i])  # about the old centre
                around_new = left_squares - shift[i] * (2 * left - out_old[b] * shift[i])
                rest_old = squares_old[k, i] - left_squares + around_old - total_old**2 / count_old
                rest_new = squares_new[k, i] - came_squares + around_new - total_new**2 / count_new
                moved_squares_old[b, i] = max(rest_old, 0.0) / (spare_old * scale[i] ** 2)
                moved_squares_new[b, i] = max(rest_new, 0.0) / (spare_new * scale[i] ** 2)
            moved_old[b, i] = total_old / (count_old * scale[i])
            moved_new[b, i] = total_new / (count_new * scale[i])


def _draw(n: int, size: int, rng: np.random.Generator) -> Array:
    """How often each of n rows is drawn in n draws with replacement: (size, n)."""
    return rng.multinomial(n, np.full(n, 1 / n), size)


@kernel
def first_rows(drawn: Array, order: Array, count: int, moved: Array) -> None:
    """Of the rows drawn, the first ones in an order until there are ``count``, all copies of a row together.

    drawn : (b, n), order, moved : (b * repeats, n); ``moved``, zeros before, is filled with how often each row is taken
    """
    repeats = len(order) // len(drawn)
    for b in range(len(order)):
        taken, times = 0, drawn[b // repeats]
        for row in order[b]:
            if taken >= count:
                break
            moved[b, row] = times[row]
            taken += times[row]


def _farthest_first(rows: Matrix, drawn_other: Array, other: Matrix) -> Array:
    """For each resample, the rows from the farthest to the nearest to the centroid of the other set's: (b, n)."""
    centroids = drawn_other @ other / len(other)
    return np.stack([swap.distance_order(rows, centroid) for centroid in centroids])

"""Moments of two sets of rows after some rows have changed places, without moving a row.

This is the one implementation for swapping, for half-samples and for permutations. A way to put the rows on two sides
is an array of *sides* of shape (n_old + n_new,): 1 for a row in the old set, -1 for one in the new set, 0 for one in
neither.

Each set is summed about its own mean and in units of its spread, so that sums stay small and the precision of the rows
is enough for them. If m rows leave a set with the sums S (of values) and Q (of squares), and m rows come in from the
other set, whose centre is farther by c::

    S'  =  S - S_left  +  S_came + m c
    Q'  =  Q - Q_left  +  Q_came + c (2 S_came + m c)
    mean  =  centre + S' / n,     variance  =  (Q' - S'^2 / n) / (n - 1)

The sums of the rows that move come from a product of matrices, (ways, rows) times (rows, d). Swaps at many rates share
their work instead: a row is added once to the segment between two swap counts that its place in the order falls into,
and running sums over the segments are the sums of the first rows at every swap count.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lexshift.scoring.gaussian import Gaussian, fit, row_weights
from lexshift.utils.arrays import Array, Floats, Labels, Matrix
from lexshift.utils.kernels import kernel

TILE_ROWS = 512
"""Rows at a time: they stay in the cache, and sums in the precision of the rows stay so short."""
MANY, FEW = 4_000_000, 100_000
"""Entries of one batch of ways: as many as memory should hold, or as the cache of a processor does."""


class TwoSets:
    """Two sets of rows, and the Gaussians of both after rows have changed places.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
    variance : bool
        Whether variances are wanted; without them the sums take half the time, and variances have the shape (b, 0).
    unit : bool
        Whether every row counts scaled to unit length.
    """

    def __init__(self, old: Matrix, new: Matrix, variance: bool = True, unit: bool = False) -> None:
        self.gaussians = fit(old, "old", unit), fit(new, "new", unit)
        self.scale = power_of_two(np.sqrt(np.maximum(*(g.variance for g in self.gaussians))))  # (d,)
        self.old = RowSums(old, row_weights(old, "old", unit), self.gaussians[0], self.scale, variance, unit)
        self.new = RowSums(new, row_weights(new, "new", unit), self.gaussians[1], self.scale, variance, unit)

    def after(self, sides: Array, repeats: int = 1) -> tuple[Gaussian, Gaussian]:
        """Return the Gaussians of both sets for a batch of ways to put the rows on two sides.

        Parameters
        ----------
        sides : ndarray of shape (b, n_old + n_new)
            All ways have the same numbers of rows on each side, and as many have moved from either side.
        repeats : int
            So many ways after each other have the same rows on any side.

        Returns
        -------
        Gaussian, Gaussian
            With fields of shape (b, d).
        """
        n_old = len(self.old.rows)
        moved_old, moved_new = sides[:, :n_old] < 0, sides[:, n_old:] > 0
        if sides.all():
            whole = self.old.whole, self.new.whole
        else:
            used = sides[::repeats] != 0
            whole = self.old.selected(used[:, :n_old]), self.new.selected(used[:, n_old:])
        moved = self.old.selected(moved_old)[:, None], self.new.selected(moved_new)[:, None]
        sizes = int((sides[0] > 0).sum()), int((sides[0] < 0).sum())
        old, new = self.exchange(whole, moved, moved_old.sum(axis=1)[:, None], sizes)
        return Gaussian(old.mean[:, 0], old.variance[:, 0], old.count), Gaussian(
            new.mean[:, 0], new.variance[:, 0], new.count
        )

    def after_swaps(self, labels: tuple[Labels, Labels], counts: npt.NDArray[np.intp]) -> tuple[Gaussian, Gaussian]:
        """Return the Gaussians of both sets for swaps of many repetitions at many swap counts.

        Parameters
        ----------
        labels : tuple of ndarray of shape (repeats, n_old) and (repeats, n_new)
            The segment of each row: how many of the swap counts its place in the order has passed.
        counts : ndarray of shape (counts,)
            The swap counts, ascending and without repetition.

        Returns
        -------
        Gaussian, Gaussian
            With fields of shape (repeats, counts, d).
        """
        old = self.old.by_segment(labels[0], len(counts) + 1)  # (repeats, counts + 1, width)
        new = self.new.by_segment(labels[1], len(counts) + 1)
        return self.exchange((old[:0, 0], new[:0, 0]), (old, new), np.tile(counts, (len(old), 1)))

    def exchange(
        self,
        whole: tuple[Floats, Floats],
        moved: tuple[Floats, Floats],
        counts: Array,
        sizes: tuple[int, int] | None = None,
    ) -> tuple[Gaussian, Gaussian]:
        """Return the Gaussians of both sets from the sums of all of their rows and of those that moved.

        whole : two of (k, width), b being a multiple of k, or of (0, width) if the segments are all rows; moved : two
        of (b, segments, width); counts : (b, cuts), how many rows moved up to each segment  ->  fields of (b, cuts, d)
        """
        n_old, n_new = sizes or (len(self.old.rows), len(self.new.rows))
        c_old, c_new = self.old.centre.astype(float), self.new.centre.astype(float)
        shift = (c_new - c_old) * self.scale
        squares = np.stack([self.old.square, self.new.square]).astype(float)  # (2, d)
        old = _exchange(whole[0], *moved, counts, n_old, c_old, shift, self.scale, squares)
        new = _exchange(whole[1], *moved[::-1], counts, n_new, c_new, -shift, self.scale, squares[::-1])
        if (n_old, n_new) == (len(self.old.rows), len(self.new.rows)) and not counts.all():
            for (mean, variance), g in zip((old, new), self.gaussians, strict=True):
                mean[counts == 0] = g.mean  # nothing moved: to the last bit what it was
                if variance.shape[2]:
                    variance[counts == 0] = g.variance
        return Gaussian(*old, n_old), Gaussian(*new, n_new)


class RowSums:
    """Sums over selections of a set of rows: of the values, and of their squares if variances are wanted.

    A row counts as (row * weight - centre) * scale, the centre being the set's mean. Squares are summed less what they
    are on average, ``square``: small sums round less. All sums have the shape (..., width), the squares after the
    values.
    """

    def __init__(
        self, rows: Matrix, weights: Floats, gaussian: Gaussian, scale: Floats, variance: bool, unit: bool
    ) -> None:
        n, d = rows.shape
        dtype = np.dtype(np.float64) if unit else rows.dtype
        self.rows, self.weights, self.width = rows, weights.astype(dtype), 2 * d if variance else d
        self.centre, self.scale = gaussian.mean.astype(dtype), scale.astype(dtype)
        self.square = (gaussian.variance * scale**2).astype(dtype)
        left = n * (gaussian.mean - self.centre) * scale  # (d,), what rounding the centre left
        squares = (n - 1) * gaussian.variance * scale**2 + left**2 / n - n * self.square.astype(float)
        self.whole = np.concatenate([left, squares])[None, : self.width]  # (1, width), the sums of all rows

    def selected(self, chosen: Array) -> Floats:
        """Return the sums of the chosen rows of each way. chosen : (b, n) of 0 and 1  ->  (b, width)"""
        sums = np.empty((len(chosen), self.width))
        for part, tile in self._tiles():
            product = chosen[:, part].astype(tile.dtype) @ tile
            np.add(sums, product, out=sums) if part.start else np.copyto(sums, product)
        return sums

    def by_segment(self, labels: Labels, segments: int) -> Floats:
        """Return the sums of the rows of each segment. labels : (repeats, n)  ->  (repeats, segments, width)"""
        sums = np.empty((len(labels), segments, self.width))
        for part, tile in self._tiles():
            _add_by_segment(tile, labels[:, part], part.start == 0, sums)
        return sums

    def _tiles(self) -> Iterator[tuple[slice, Matrix]]:
        """Yield some rows at a time, (m, width), made ready to be summed."""
        for start in range(0, len(self.rows), TILE_ROWS):
            part = slice(start, start + TILE_ROWS)
            arguments = self.rows[part], self.weights[part], self.centre, self.scale, self.square
            yield part, _tile(*arguments, self.width)


@kernel
def _tile(rows: Matrix, weights: Matrix, centre: Matrix, scale: Matrix, square: Matrix, width: int) -> Matrix:
    """Make rows ready to be summed. rows : (m, d); weights : (m,); centre, scale, square : (d,)  ->  (m, width)"""
    n, d = rows.shape
    tile = np.empty((n, width), centre.dtype)  # unlike numpy, numba begins it where vector registers load fast
    for i in range(n):
        row, weight, values = rows[i], weights[i], tile[i]
        for j in range(d):
            values[j] = (row[j] * weight - centre[j]) * scale[j]
        if width > d:
            for j in range(d):
                values[d + j] = values[j] * values[j] - square[j]
    return tile


@kernel
def _add_by_segment(tile: Matrix, labels: Labels, is_first: bool, sums: Floats) -> None:
    """Add every row to the sum of its segment in each repetition; the first tile replaces what is in the sums.

    tile : (m, width); labels : (repeats, m); sums : (repeats, segments, width)
    """
    repeats, segments, width = sums.shape
    partial = np.empty((2, segments, width), tile.dtype)
    for k in range(0, repeats, 2):  # two repetitions at a time: a row is loaded once for both
        partner = min(k + 1, repeats - 1)  # a last one without a partner is summed twice
        partial[:] = 0
        for i in range(len(tile)):
            row, first, second = tile[i], partial[0, labels[k, i]], partial[1, labels[partner, i]]
            for j in range(width):
                value = row[j]
                first[j] += value
                second[j] += value
        for other in range(partner - k + 1):
            for segment in range(segments):
                total, part = sums[k + other, segment], partial[other, segment]
                if is_first:
                    total[:] = part
                else:
                    for j in range(width):
                        total[j] += part[j]


@kernel
def _exchange(
    whole: Floats,
    left: Floats,
    came: Floats,
    counts: Array,
    n: int,
    centre: Floats,
    shift: Floats,
    scale: Floats,
    squares: Floats,
) -> tuple[Floats, Floats]:
    """Compute means and variances of a set of n rows after some have left and as many have come from the other set.

    whole : (k, width), sums of all rows of the set, or (0, width) if those are all segments of ``left``; left, came :
    (b, segments, width), sums of the rows that left and came in each segment, about the centre of the set where they
    were; counts : (b, cuts), how many did up to each segment; centre : (d,); shift : (d,), from this set's centre to
    the other one's, in units of 1 / scale; squares : (2, d), what was taken off each square of this set and of the
    other one  ->  mean (b, cuts, d), variance (b, cuts, d or 0)
    """
    (ways, cuts), d, width = counts.shape, len(centre), whole.shape[1]
    mean, variance = np.empty((ways, cuts, d)), np.empty((ways, cuts, width - d))
    to_mean, to_variance, share = 1.0 / (n * scale), 1.0 / (max(n - 1, 1) * scale * scale), 1.0 / n
    stay, come = np.empty(width), np.empty(width)  # sums of what has stayed, and of what has come in
    for b in range(ways):
        come[:] = 0.0
        if len(whole) > 0:
            stay[:] = whole[b * len(whole) // ways]
        else:
            stay[:] = 0.0
            for r in range(left.shape[1]):
                for j in range(width):
                    stay[j] += left[b, r, j]
        for r in range(cuts):
            means, variances, m = mean[b, r], variance[b, r], float(counts[b, r])
            for j in range(width):
                stay[j] -= left[b, r, j]
                come[j] += came[b, r, j]
            for j in range(d):
                means[j] = stay[j] + come[j] + m * shift[j]
            if width > d:
                for j in range(d):
                    total = stay[d + j] + (n - m) * squares[0, j] + come[d + j] + m * squares[1, j]
                    total += shift[j] * (2.0 * come[j] + m * shift[j]) - means[j] * means[j] * share
                    variances[j] = (total if total > 0.0 else 0.0) * to_variance[j]
            for j in range(d):
                means[j] = centre[j] + means[j] * to_mean[j]
    return mean, variance


def power_of_two(size: Array) -> Floats:
    """Return the power of two that brings a size near 1; multiplying by it loses nothing."""
    exponent = np.where(size > 0, np.frexp(size)[1], 0)
    return np.ldexp(1.0, -np.clip(exponent, -100, 100))


def batches(total: int, cells: int, most: int) -> Iterator[int]:
    """Yield sizes of batches that make up ``total``, each of at most so many cells."""
    size = max(1, most // cells)
    for start in range(0, total, size):
        yield min(size, total - start)

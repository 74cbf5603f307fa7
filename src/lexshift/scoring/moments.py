"""Moments of two sets of rows after rows have been exchanged between them, computed without moving a row.

Swapping, half-samples and permutations all use this implementation. An assignment of the rows to two sets is an array
of *sides* of shape (n_old + n_new,): 1 for a row in the old set, -1 for one in the new set, 0 for one in neither.

Each set is summed about its own mean and in units of its spread, so that sums stay small and the precision of the rows
is sufficient. If m rows leave a set whose sums are S (of values) and Q (of squares), and m rows enter from the other
set, whose centre is shifted by c::

    S'  =  S - S_out  +  S_in + m c
    Q'  =  Q - Q_out  +  Q_in + c (2 S_in + m c)
    mean  =  centre + S' / n,     variance  =  (Q' - S'^2 / n) / (n - 1)

The sums of the exchanged rows are a matrix product, (assignments, rows) times (rows, d). Swaps at many rates share
their work instead: each row is added once to the segment between two swap counts that contains its position in the
order, and cumulative sums over the segments are the sums of the first rows at every swap count.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lexshift.scoring.gaussian import Gaussian, fit, row_weights
from lexshift.utils.arrays import Array, Floats, Labels, Matrix
from lexshift.utils.kernels import kernel

TILE_ROWS = 512
"""Rows summed at a time: few enough to stay in the cache, and to be summed in the precision of the rows."""
MEMORY_ENTRIES, CACHE_ENTRIES = 4_000_000, 100_000
"""Numbers in one batch of assignments: limited by memory, or by the cache of a processor."""


class TwoSets:
    """Two sets of rows, and the Gaussians of both after rows have been exchanged.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
    variance : bool
        Whether to compute variances; without them the sums take half the time, and variances have shape (b, 0).
    unit : bool
        Whether to scale every row to unit length.
    """

    def __init__(self, old: Matrix, new: Matrix, variance: bool = True, unit: bool = False) -> None:
        self.gaussians = fit(old, "old", unit), fit(new, "new", unit)
        self.scale = power_of_two(np.sqrt(np.maximum(*(g.variance for g in self.gaussians))))  # (d,)
        self.old = RowSums(old, row_weights(old, "old", unit), self.gaussians[0], self.scale, variance, unit)
        self.new = RowSums(new, row_weights(new, "new", unit), self.gaussians[1], self.scale, variance, unit)

    def gaussians_for_sides(self, sides: Array, repeats: int = 1) -> tuple[Gaussian, Gaussian]:
        """Return the Gaussians of both sets for a batch of assignments of the rows.

        Parameters
        ----------
        sides : ndarray of shape (b, n_old + n_new)
            All assignments have the same set sizes, and each moves as many rows from the old set as from the new one.
        repeats : int
            Number of consecutive assignments that use the same rows.

        Returns
        -------
        Gaussian, Gaussian
            With fields of shape (b, d).
        """
        n_old = len(self.old.rows)
        moved_old, moved_new = sides[:, :n_old] < 0, sides[:, n_old:] > 0
        if sides.all():
            all_sums = self.old.all_sums, self.new.all_sums
        else:
            used = sides[::repeats] != 0
            all_sums = self.old.sum_selected(used[:, :n_old]), self.new.sum_selected(used[:, n_old:])
        moved_sums = self.old.sum_selected(moved_old)[:, None], self.new.sum_selected(moved_new)[:, None]
        sizes = int((sides[0] > 0).sum()), int((sides[0] < 0).sum())
        old, new = self._exchange(all_sums, moved_sums, moved_old.sum(axis=1)[:, None], sizes)
        return Gaussian(old.mean[:, 0], old.variance[:, 0], old.count), Gaussian(
            new.mean[:, 0], new.variance[:, 0], new.count
        )

    def gaussians_for_any_sides(self, sides: Array) -> tuple[Gaussian, Gaussian]:
        """Return the same for assignments of all rows that have the same set sizes, but may move unequal numbers.

        sides : (b, n_old + n_new) of 1 and -1
        """
        n_old = len(self.old.rows)
        of_old, of_new = sides[:, :n_old] > 0, sides[:, n_old:] > 0
        sums_old, sums_new = self.old.sum_selected(of_old), self.new.sum_selected(of_new)  # (b, width)
        counts = of_old.sum(axis=1)[:, None], of_new.sum(axis=1)[:, None]  # (b, 1)
        others = len(self.old.rows) - counts[0], len(self.new.rows) - counts[1]
        return (
            self._merge(sums_old, sums_new, *counts),
            self._merge(self.old.all_sums - sums_old, self.new.all_sums - sums_new, *others),
        )

    def _merge(self, sums_old: Floats, sums_new: Floats, count_old: Array, count_new: Array) -> Gaussian:
        """Return the Gaussians of sets of old and new rows from their sums, (b, width), and counts, (b, 1)."""
        d, n = len(self.scale), int(count_old[0, 0] + count_new[0, 0])
        centre = self.old.centre.astype(float)
        shift = (self.new.centre.astype(float) - centre) * self.scale  # (d,)
        values = sums_old[:, :d] + sums_new[:, :d] + count_new * shift  # about the centre of the old rows
        mean = centre + values / (n * self.scale)
        if self.old.width == d:
            return Gaussian(mean, np.empty((len(mean), 0)), n)
        squares = sums_old[:, d:] + count_old * self.old.square.astype(float)
        squares += sums_new[:, d:] + count_new * self.new.square.astype(float)
        squares += shift * (2 * sums_new[:, :d] + count_new * shift)
        total = np.maximum(squares - values**2 / n, 0)
        return Gaussian(mean, total / (max(n - 1, 1) * self.scale**2), n)

    def gaussians_after_swaps(
        self, labels: tuple[Labels, Labels], counts: npt.NDArray[np.intp]
    ) -> tuple[Gaussian, Gaussian]:
        """Return the Gaussians of both sets for swaps of many repetitions at many swap counts.

        Parameters
        ----------
        labels : tuple of ndarray of shape (repeats, n_old) and (repeats, n_new)
            The segment of each row: the number of swap counts up to its position in the order.
        counts : ndarray of shape (counts,)
            The swap counts, strictly ascending.

        Returns
        -------
        Gaussian, Gaussian
            With fields of shape (repeats, counts, d).
        """
        old = self.old.sum_by_segment(labels[0], len(counts) + 1)  # (repeats, counts + 1, width)
        new = self.new.sum_by_segment(labels[1], len(counts) + 1)
        return self._exchange((old[:0, 0], new[:0, 0]), (old, new), np.tile(counts, (len(old), 1)))

    def _exchange(
        self,
        all_sums: tuple[Floats, Floats],
        moved_sums: tuple[Floats, Floats],
        counts: Array,
        sizes: tuple[int, int] | None = None,
    ) -> tuple[Gaussian, Gaussian]:
        """Return the Gaussians of both sets from the sums of all of their rows and of the rows that moved.

        all_sums : two arrays of shape (k, width), where k divides b, or (0, width) if the segments contain all rows;
        moved_sums : two arrays of shape (b, segments, width); counts : (b, cuts), the number of rows that moved up to
        each segment  ->  fields of shape (b, cuts, d)
        """
        n_old, n_new = sizes or (len(self.old.rows), len(self.new.rows))
        c_old, c_new = self.old.centre.astype(float), self.new.centre.astype(float)
        shift = (c_new - c_old) * self.scale
        squares = np.stack([self.old.square, self.new.square]).astype(float)  # (2, d)
        old = _exchange_moments(all_sums[0], *moved_sums, counts, n_old, c_old, shift, self.scale, squares)
        new = _exchange_moments(all_sums[1], *moved_sums[::-1], counts, n_new, c_new, -shift, self.scale, squares[::-1])
        if (n_old, n_new) == (len(self.old.rows), len(self.new.rows)) and not counts.all():
            for (mean, variance), g in zip((old, new), self.gaussians, strict=True):
                mean[counts == 0] = g.mean  # no row moved, so that the result is exact
                if variance.shape[2]:
                    variance[counts == 0] = g.variance
        return Gaussian(*old, n_old), Gaussian(*new, n_new)


class RowSums:
    """Sums over selections of a set of rows: of the values, and of their squares if variances are needed.

    Each row is transformed to (row * weight - centre) * scale, where the centre is the mean of the set. The average
    square, ``square``, is subtracted from the squares, because smaller sums have smaller rounding errors. All sums have
    the shape (..., width), the squares after the values.
    """

    def __init__(
        self, rows: Matrix, weights: Floats, gaussian: Gaussian, scale: Floats, variance: bool, unit: bool
    ) -> None:
        n, d = rows.shape
        dtype = np.dtype(np.float64) if unit else rows.dtype
        self.rows, self.weights, self.width = rows, weights.astype(dtype), 2 * d if variance else d
        self.centre, self.scale = gaussian.mean.astype(dtype), scale.astype(dtype)
        self.square = (gaussian.variance * scale**2).astype(dtype)
        remainder = n * (gaussian.mean - self.centre) * scale  # (d,), from rounding the centre
        squares = (n - 1) * gaussian.variance * scale**2 + remainder**2 / n - n * self.square.astype(float)
        self.all_sums = np.concatenate([remainder, squares])[None, : self.width]  # (1, width), the sums of all rows

    def sum_selected(self, is_selected: Array) -> Floats:
        """Return the sums of the rows selected by (b, n) values of 0 and 1: (b, width)."""
        sums = np.empty((len(is_selected), self.width))
        for part, tile in self._tiles():
            product = is_selected[:, part].astype(tile.dtype) @ tile
            np.add(sums, product, out=sums) if part.start else np.copyto(sums, product)
        return sums

    def sum_by_segment(self, labels: Labels, segments: int) -> Floats:
        """Return the sums of the rows of each segment, from (repeats, n) labels: (repeats, segments, width)."""
        sums = np.empty((len(labels), segments, self.width))
        for part, tile in self._tiles():
            _add_by_segment(tile, labels[:, part], part.start == 0, sums)
        return sums

    def _tiles(self) -> Iterator[tuple[slice, Matrix]]:
        """Yield tiles of transformed rows, (m, width), and the slices of the rows that they come from."""
        for start in range(0, len(self.rows), TILE_ROWS):
            part = slice(start, start + TILE_ROWS)
            arguments = self.rows[part], self.weights[part], self.centre, self.scale, self.square
            yield part, _transform(*arguments, self.width)


@kernel
def _transform(rows: Matrix, weights: Matrix, centre: Matrix, scale: Matrix, square: Matrix, width: int) -> Matrix:
    """Transform rows for summation.

    rows : (m, d); weights : (m,); centre, scale, square : (d,)  ->  (m, width)
    """
    n, d = rows.shape
    tile = np.empty((n, width), centre.dtype)  # unlike numpy, numba aligns it for vector registers
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
    """Add every row to the sum of its segment in each repetition; the first tile overwrites the sums.

    tile : (m, width); labels : (repeats, m); sums : (repeats, segments, width)
    """
    repeats, segments, width = sums.shape
    partial = np.empty((2, segments, width), tile.dtype)
    for k in range(0, repeats, 2):  # with two repetitions at a time, a row is loaded once for both
        partner = min(k + 1, repeats - 1)  # the last one of an odd number is its own partner
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
def _exchange_moments(
    all_sums: Floats,
    sums_out: Floats,
    sums_in: Floats,
    counts: Array,
    n: int,
    centre: Floats,
    shift: Floats,
    scale: Floats,
    squares: Floats,
) -> tuple[Floats, Floats]:
    """Compute means and variances of a set of n rows after some left and as many entered from the other set.

    all_sums : (k, width), sums of all rows of the set, or (0, width) if the segments of ``sums_out`` contain all rows;
    sums_out, sums_in : (b, segments, width), sums of the rows that left and entered in each segment, about the centre
    of their original set; counts : (b, cuts), the number of exchanged rows up to each segment; centre : (d,); shift :
    (d,), from this set's centre to the other one's, in units of 1 / scale; squares : (2, d), the average squares that
    were subtracted in this set and in the other one  ->  mean (b, cuts, d), variance (b, cuts, d or 0)
    """
    (batch, cuts), d, width = counts.shape, len(centre), all_sums.shape[1]
    mean, variance = np.empty((batch, cuts, d)), np.empty((batch, cuts, width - d))
    to_mean, to_variance, share = 1.0 / (n * scale), 1.0 / (max(n - 1, 1) * scale * scale), 1.0 / n
    staying, entering = np.empty(width), np.empty(width)  # sums of the rows that stay, and of those that enter
    for b in range(batch):
        entering[:] = 0.0
        if len(all_sums) > 0:
            staying[:] = all_sums[b * len(all_sums) // batch]
        else:
            staying[:] = 0.0
            for r in range(sums_out.shape[1]):
                for j in range(width):
                    staying[j] += sums_out[b, r, j]
        for r in range(cuts):
            means, variances, m = mean[b, r], variance[b, r], float(counts[b, r])
            for j in range(width):
                staying[j] -= sums_out[b, r, j]
                entering[j] += sums_in[b, r, j]
            for j in range(d):
                means[j] = staying[j] + entering[j] + m * shift[j]
            if width > d:
                for j in range(d):
                    total = staying[d + j] + (n - m) * squares[0, j] + entering[d + j] + m * squares[1, j]
                    total += shift[j] * (2.0 * entering[j] + m * shift[j]) - means[j] * means[j] * share
                    variances[j] = (total if total > 0.0 else 0.0) * to_variance[j]
            for j in range(d):
                means[j] = centre[j] + means[j] * to_mean[j]
    return mean, variance


def power_of_two(size: Array) -> Floats:
    """Return the power of two that scales a size to about 1; multiplying by it is exact."""
    exponent = np.where(size > 0, np.frexp(size)[1], 0)
    return np.ldexp(1.0, -np.clip(exponent, -100, 100))


def batch_sizes(total: int, cells: int, max_cells: int) -> Iterator[int]:
    """Yield sizes of batches that add up to ``total`` items of ``cells`` numbers, at most ``max_cells`` in each."""
    size = max(1, max_cells // cells)
    for start in range(0, total, size):
        yield min(size, total - start)

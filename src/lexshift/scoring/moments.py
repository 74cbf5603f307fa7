"""Moments of many selections of the same rows, without copying a row.

Selections that swap rows at many rates share their work: :func:`segment_sums` sums the rows between two swap counts.
Others are a matrix product, (selections, rows) times (rows, d): :class:`Products`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lexshift.scoring.gaussian import row_weights
from lexshift.utils.arrays import Array, Floats, Labels, Matrix
from lexshift.utils.kernels import kernel

TILE_ROWS = 512  # rows at a time: float32 sums stay this short before they move to float64
TILE_COLUMNS = 768  # columns at a time: a tile stays in the cache while every repetition sums it
_CHUNK_ROWS = 1024  # rows in one product: its sums are in the precision of the rows only for so long
MANY, FEW = 4_000_000, 100_000
"""Entries of one batch of selections: as many as memory should hold, or as the cache of a processor does."""


def power_of_two(size: Array) -> Floats:
    """The power of two that brings a size near 1; multiplying by it loses nothing."""
    exponent = np.where(size > 0, np.frexp(size)[1], 0)
    return np.ldexp(1.0, -np.clip(exponent, -100, 100))


@kernel
def segment_sums(
    rows: Matrix,
    weights: Floats,
    centre: Floats,
    scale: Floats,
    variance: Floats,
    labels: Labels,
    segments: int,
    with_squares: bool,
) -> tuple[Floats, Floats]:
    """For every repetition, the sums of the rows of each segment, and of their squares.

    A row counts as ``(row * weight - centre) * scale``. In repetition k it belongs to segment ``labels[k, i]``. Squares
    are summed less ``variance``, what they are on average, which is put back in float64: small sums round less.
    A tile of rows and columns is read once, whatever the number of repetitions; sums run in the precision of the rows
    within a tile and in float64 over tiles.

    rows : (n, d), weights : (n,), centre, scale, variance : (d,), labels : (repeats, n)
    ->  sums, squares : (repeats, segments, d); squares are (repeats, segments, 0) if not asked for
    """
    n, d = rows.shape
    repeats = labels.shape[0]
    kept = 2 if with_squares else 1  # moments
    sums = np.zeros((repeats, segments, d))
    squares = np.zeros((repeats, segments, d if with_squares else 0))
    tile = np.empty((min(n, TILE_ROWS), TILE_COLUMNS * 2), rows.dtype)
    partial = np.empty((2, segments, TILE_COLUMNS * kept), rows.dtype)
    counts = np.empty((2, segments), np.intp)
    for left in range(0, d, TILE_COLUMNS):
        right = min(left + TILE_COLUMNS, d)
        width = right - left
        c, s, v = centre[left:right], scale[left:right], variance[left:right]
        for start in range(0, n, TILE_ROWS):
            stop = min(n, start + TILE_ROWS)
            for i in range(start, stop):  # pack: the values of a row, then their squares
                row, weight, packed = rows[i, left:right], weights[i], tile[i - start]
                for j in range(width):
                    value = (row[j] * weight - c[j]) * s[j]
                    packed[j] = value
                    packed[width + j] = value * value - v[j]
            for k in range(0, repeats, 2):  # two repetitions at a time: a row is loaded once for both
                partner = min(k + 1, repeats - 1)  # a last one without a partner is summed twice
                partial[:] = 0
                counts[:] = 0
                for i in range(start, stop):
                    row = tile[i - start]
                    first, second = partial[0, labels[k, i]], partial[1, labels[partner, i]]
                    counts[0, labels[k, i]] += 1
                    counts[1, labels[partner, i]] += 1
                    for j in range(width * kept):
                        value = row[j]
                        first[j] += value
                        second[j] += value
                for other in range(partner - k + 1):
                    for segment in range(segments):
                        total, part = sums[k + other, segment, left:right], partial[other, segment]
                        for j in range(width):
                            total[j] += part[j]
                        if with_squares:
                            total, count = squares[k + other, segment, left:right], counts[other, segment]
                            for j in range(width):
                                total[j] += part[width + j] + count * np.float64(v[j])
    return sums, squares


class Products:
    """A set of rows made ready for products: about a centre, in units of the spread."""

    def __init__(
        self,
        rows: Matrix,
        name: str,
        centre: Floats,
        scale: Floats,
        variance: Floats,
        with_squares: bool,
        unit: bool,
    ) -> None:
        self.rows, self.variance = rows, with_squares
        self.dtype = np.dtype(np.float64) if unit else rows.dtype
        self.weights = row_weights(rows, name, unit).astype(self.dtype)
        self.centre, self.scale = centre.astype(self.dtype), scale.astype(self.dtype)
        self.square = (variance * scale**2).astype(self.dtype)  # what a square is on average: small sums round less

    def sums(self, times: Array) -> tuple[Floats, Floats]:
        """Sums and sums of squares of the rows, each taken so many times: (b, n) -> (b, d) and (b, d or 0)."""
        d = self.rows.shape[1]
        sums, squares = np.empty((len(times), d)), np.empty((len(times), d if self.variance else 0))
        for start in range(0, len(self.rows), _CHUNK_ROWS):
            chunk = slice(start, start + _CHUNK_ROWS)
            z = (self.rows[chunk] * self.weights[chunk, None] - self.centre) * self.scale
            factor = times[:, chunk].astype(self.dtype)
            _add(sums, factor @ z, start)
            if self.variance:
                _add(squares, factor @ (z * z - self.square), start)
        if self.variance:
            squares += times.sum(axis=1, keepdims=True) * self.square.astype(float)
        return sums, squares


def _add(total: Floats, part: Matrix, start: int) -> None:
    """The first part takes the place of what is in memory, the others are added."""
    if start:
        total += part
    else:
        total[:] = part


def batches(total: int, cells: int, most: int) -> Iterator[int]:
    """Sizes of batches that make up ``total``, each of at most so many cells."""
    size = max(1, most // cells)
    for start in range(0, total, size):
        yield min(size, total - start)

"""The passes over the rows that everything else is derived from. Each reads the rows once, without copying them."""

from __future__ import annotations

import numpy as np

from lexshift.utils.arrays import Array, Floats, Labels, Matrix
from lexshift.utils.kernels import kernel

TILE_ROWS = 512  # rows at a time: float32 sums stay this short before they move to float64
TILE_COLUMNS = 768  # columns at a time: a tile stays in the cache while every repetition sums it


@kernel
def moments(rows: Matrix, weights: Floats) -> tuple[Floats, Floats]:
    """Mean and sum of squared deviations of each column of ``rows * weights[:, None]``, in float64.

    A tile of rows is summed twice while it is in the cache, first for its mean and then for the deviations from
    it, and merged into the running moments (Chan, Golub & LeVeque 1979), so no digits cancel.

    rows : (n, d), weights : (n,)  ->  mean (d,), squares (d,)
    """
    n, d = rows.shape
    mean, squares = np.zeros(d), np.zeros(d)
    tile_mean, tile_squares = np.empty(d), np.empty(d)
    tile = 32
    for start in range(0, n, tile):
        stop = min(n, start + tile)
        fours = start + (stop - start) // 4 * 4  # four rows at a time: a sum is loaded and stored once for all
        tile_mean[:] = 0.0
        tile_squares[:] = 0.0
        for i in range(start, fours, 4):
            r0, r1, r2, r3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
            w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
            for j in range(d):
                tile_mean[j] += (r0[j] * w0 + r1[j] * w1) + (r2[j] * w2 + r3[j] * w3)
        for i in range(fours, stop):
            for j in range(d):
                tile_mean[j] += rows[i, j] * weights[i]
        for j in range(d):
            tile_mean[j] /= stop - start
        for i in range(start, fours, 4):
            r0, r1, r2, r3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
            w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
            for j in range(d):
                d0, d1 = r0[j] * w0 - tile_mean[j], r1[j] * w1 - tile_mean[j]
                d2, d3 = r2[j] * w2 - tile_mean[j], r3[j] * w3 - tile_mean[j]
                tile_squares[j] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
        for i in range(fours, stop):
            for j in range(d):
                deviation = rows[i, j] * weights[i] - tile_mean[j]
                tile_squares[j] += deviation * deviation
        share = (stop - start) / stop
        for j in range(d):
            shift = tile_mean[j] - mean[j]
            mean[j] += shift * share
            squares[j] += tile_squares[j] + shift * shift * share * start
    return mean, squares


@kernel
def squared_distances(rows: Matrix, centre: Floats) -> Floats:
    """Squared Euclidean distance of every row to ``centre``, in float64.

    rows : (n, d), centre : (d,)  ->  (n,)
    """
    n, d = rows.shape
    out = np.empty(n)
    for i in range(n):
        total = 0.0
        for j in range(d):
            deviation = rows[i, j] - centre[j]
            total += deviation * deviation
        out[i] = total
    return out


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

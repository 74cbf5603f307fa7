"""Mean distances over pairs of vectors: APD over the rows themselves, DSCD over sampled vectors.

The mean over the n x m pairs is exact, and is computed without a matrix of all pairs where the distance allows it.
"""

from __future__ import annotations

import numpy as np

from lexshift.scoring.gaussian import Gaussian, squared_distances
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.kernels import kernel

Four = tuple[np.float32, np.float32, np.float32, np.float32]


def apd(old: Gaussian, new: Gaussian) -> Floats:
    """Compute the mean cosine distance over all pairs of rows, from the means of the unit rows: (b,)."""
    return 1.0 - np.einsum("bj,bj->b", old.mean, new.mean)


def average_distance(old: Matrix, new: Matrix) -> float:
    """Compute the mean cosine distance over all pairs of rows, which may be zeros: see :class:`AverageDistances`."""
    distances = AverageDistances(old, new)
    return float(distances(np.ones((1, len(old))), np.ones((1, len(new))))[0])


class AverageDistances:
    """Mean cosine distances (APD) between many selections of the rows of two sets.

    Unlike for the metric "apd", a row of zeros, which has no direction, is allowed. Its cosine with any row is 0.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
    """

    def __init__(self, old: Matrix, new: Matrix) -> None:
        self.old, self.new = _unit_or_zero(old), _unit_or_zero(new)

    def __call__(self, chosen_old: Array, chosen_new: Array) -> Floats:
        """Return the distance between each pair of selections: (b,).

        chosen_old : (b, n_old), chosen_new : (b, n_new), 1 for the selected rows and 0 for the others
        """
        mean_old, mean_new = (
            chosen.astype(float) @ rows / chosen.sum(axis=1, keepdims=True)
            for chosen, rows in ((chosen_old, self.old), (chosen_new, self.new))
        )
        # A rounding error must not make the distance of equal rows negative.
        return np.maximum(1.0 - np.einsum("bj,bj->b", mean_old, mean_new), 0.0)


def _unit_or_zero(rows: Matrix) -> Floats:
    """Scale rows to unit length, rows of zeros excepted: (n, d), float64."""
    largest = np.abs(rows).max(axis=1, keepdims=True).astype(float)
    scaled = rows / np.where(largest > 0, largest, 1.0)  # so that no square overflows or underflows
    return np.asarray(scaled / np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1.0))


def cosine(x: Matrix, y: Matrix) -> float:
    """Compute 1 - mean(unit rows of x) . mean(unit rows of y): O((n + m) d)."""
    return float(1.0 - _mean_direction(x, False) @ _mean_direction(y, False))


def correlation(x: Matrix, y: Matrix) -> float:
    """Compute the cosine distance of the rows after subtracting each row's own average."""
    return float(1.0 - _mean_direction(x, True) @ _mean_direction(y, True))


def cityblock(x: Matrix, y: Matrix) -> float:
    """Compute the mean city block distance, by sorting one dimension at a time.

    The sum over pairs between x and y is that over all pairs, less the sums over pairs within x and within y.
    """
    total = _sum_of_gaps(np.concatenate([x, y])) - _sum_of_gaps(x) - _sum_of_gaps(y)
    return total / (len(x) * len(y))


def euclidean(x: Matrix, y: Matrix) -> float:
    """Compute the mean Euclidean distance from |x|^2 + |y|^2 - 2 x.y, by one matrix product.

    The vectors are taken about their common mean, so that few digits cancel.
    """
    centre = 0.5 * (x.mean(axis=0, dtype=float) + y.mean(axis=0, dtype=float))
    zero = np.zeros(x.shape[1])
    x, y = x - centre.astype(x.dtype), y - centre.astype(y.dtype)
    squared = x @ y.T  # (n, m)
    squared *= -2
    squared += squared_distances(x, zero).astype(x.dtype)[:, None]
    squared += squared_distances(y, zero).astype(y.dtype)
    np.maximum(squared, 0, out=squared)
    return float(np.sqrt(squared, out=squared).mean(dtype=float))


def canberra(x: Matrix, y: Matrix) -> float:
    """Compute the mean Canberra distance from its definition."""
    return _canberra(x, y) / (len(x) * len(y))


def chebyshev(x: Matrix, y: Matrix) -> float:
    """Compute the mean Chebyshev distance from its definition."""
    return _sum_over_pairs(True, x, y) / (len(x) * len(y))


def braycurtis(x: Matrix, y: Matrix) -> float:
    """Compute the mean Bray-Curtis distance from its definition."""
    return _sum_over_pairs(False, x, y) / (len(x) * len(y))


def _sum_of_gaps(values: Matrix) -> float:
    """Sum |v_i - v_k| over all i < k and over the columns of (n, d) values."""
    n = len(values)
    ordered = np.ascontiguousarray(values.T)  # (d, n)
    ordered.sort(axis=1)
    return float((2.0 * np.arange(n) - (n - 1)) @ ordered.sum(axis=0, dtype=float))


@kernel
def _mean_direction(rows: Matrix, subtract_average: bool) -> Floats:
    """Compute the mean of the rows scaled to unit length, optionally after subtracting each row's average: (d,)."""
    n, d = rows.shape
    out = np.zeros(d)
    for i in range(n):
        row = rows[i]
        average = 0.0
        if subtract_average:
            for j in range(d):
                average += row[j]
            average /= d
        length = 0.0
        for j in range(d):
            length += (row[j] - average) ** 2
        weight = 1.0 / (n * np.sqrt(length))
        for j in range(d):
            out[j] += (row[j] - average) * weight
    return out


@kernel
def _canberra(x: Matrix, y: Matrix) -> float:
    """Sum the Canberra distances of all pairs of rows of float32 arrays x, (n, d), and y, (m, d)."""
    tiny = np.float32(1e-37)  # makes 0/0 count as 0
    total = 0.0
    for k in range(y.shape[0]):
        for i in range(x.shape[0]):
            part = np.float32(0)
            for j in range(x.shape[1]):
                part += abs(x[i, j] - y[k, j]) / (abs(x[i, j]) + abs(y[k, j]) + tiny)
            total += float(part)
    return total


@kernel
def _sum_over_pairs(is_chebyshev: bool, x: Matrix, y: Matrix) -> float:
    """Sum the Chebyshev or the Bray-Curtis distances of all pairs of rows.

    x : (n, d), y : (m, d), float32. A row of x is loaded once and compared with four rows of y. The last group of four
    is padded with copies of the last row, whose weight is 0.
    """
    last, total = len(y) - 1, 0.0
    for k in range(0, len(y), 4):
        y0, y1, y2, y3 = y[k], y[min(k + 1, last)], y[min(k + 2, last)], y[min(k + 3, last)]
        w1, w2, w3 = 1.0 * (k + 1 <= last), 1.0 * (k + 2 <= last), 1.0 * (k + 3 <= last)
        for i in range(len(x)):
            four = _chebyshev(x[i], y0, y1, y2, y3) if is_chebyshev else _braycurtis(x[i], y0, y1, y2, y3)
            total += float(four[0]) + w1 * float(four[1]) + w2 * float(four[2]) + w3 * float(four[3])
    return total


@kernel
def _chebyshev(row: Matrix, y0: Matrix, y1: Matrix, y2: Matrix, y3: Matrix) -> Four:
    """Compute the Chebyshev distances of a row to four others, each (d,).

    The bits of nonnegative floats have the same order as integers, and integers have a vectorised maximum.
    """
    m0 = m1 = m2 = m3 = np.int32(0)
    for j in range(row.shape[0]):
        m0 = max(m0, np.float32(abs(row[j] - y0[j])).view(np.int32))
        m1 = max(m1, np.float32(abs(row[j] - y1[j])).view(np.int32))
        m2 = max(m2, np.float32(abs(row[j] - y2[j])).view(np.int32))
        m3 = max(m3, np.float32(abs(row[j] - y3[j])).view(np.int32))
    v0, v1 = np.int32(m0).view(np.float32), np.int32(m1).view(np.float32)
    v2, v3 = np.int32(m2).view(np.float32), np.int32(m3).view(np.float32)
    return v0, v1, v2, v3


@kernel
def _braycurtis(row: Matrix, y0: Matrix, y1: Matrix, y2: Matrix, y3: Matrix) -> Four:
    """Compute the Bray-Curtis distances of a row to four others, each (d,)."""
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = np.float32(0)
    for j in range(row.shape[0]):
        a0 += abs(row[j] - y0[j])
        b0 += abs(row[j] + y0[j])
        a1 += abs(row[j] - y1[j])
        b1 += abs(row[j] + y1[j])
        a2 += abs(row[j] - y2[j])
        b2 += abs(row[j] + y2[j])
        a3 += abs(row[j] - y3[j])
        b3 += abs(row[j] + y3[j])
    return a0 / b0, a1 / b1, a2 / b2, a3 / b3


AVERAGES = {
    "braycurtis": braycurtis,
    "canberra": canberra,
    "chebyshev": chebyshev,
    "cityblock": cityblock,
    "correlation": correlation,
    "cosine": cosine,
    "euclidean": euclidean,
}

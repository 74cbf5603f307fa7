"""The seven distances of appendix B, between the mean vectors of two sets (scipy's definitions).

Each function takes two vectors of shape (d,) and returns a number. An undefined distance is NaN, for which the caller
raises an error that names the metric.
"""

from __future__ import annotations

import numpy as np

from lexshift.utils.arrays import Floats
from lexshift.utils.kernels import kernel

BRAYCURTIS, CANBERRA, CHEBYSHEV, CITYBLOCK, CORRELATION, COSINE, EUCLIDEAN = range(7)


@kernel
def distances(kind: int, old: Floats, new: Floats) -> Floats:
    """Compute the distances of many pairs of vectors.

    kind : one of the constants above; old, new : (b, d)  ->  (b,)
    """
    out = np.empty(len(old))
    for b in range(len(old)):
        u, v = old[b], new[b]
        if kind == BRAYCURTIS:
            out[b] = braycurtis(u, v)
        elif kind == CANBERRA:
            out[b] = canberra(u, v)
        elif kind == CHEBYSHEV:
            out[b] = chebyshev(u, v)
        elif kind == CITYBLOCK:
            out[b] = cityblock(u, v)
        elif kind == CORRELATION:
            out[b] = cosine(deviations(u), deviations(v))
        elif kind == COSINE:
            out[b] = cosine(u, v)
        else:
            out[b] = euclidean(u, v)
    return out


@kernel
def braycurtis(u: Floats, v: Floats) -> float:
    """Compute sum |u - v| / sum |u + v|."""
    numerator, denominator = 0.0, 0.0
    for j in range(len(u)):
        numerator += abs(u[j] - v[j])
        denominator += abs(u[j] + v[j])
    return numerator / denominator


@kernel
def canberra(u: Floats, v: Floats) -> float:
    """Compute sum |u - v| / (|u| + |v|), where a dimension in which both are 0 contributes 0."""
    total = 0.0
    for j in range(len(u)):
        size = abs(u[j]) + abs(v[j])
        total += abs(u[j] - v[j]) / (size if size > 0 else 1.0)
    return total


@kernel
def chebyshev(u: Floats, v: Floats) -> float:
    """Compute max |u - v|."""
    largest = 0.0
    for j in range(len(u)):
        largest = max(largest, abs(u[j] - v[j]))
    return largest


@kernel
def cityblock(u: Floats, v: Floats) -> float:
    """Compute sum |u - v|."""
    total = 0.0
    for j in range(len(u)):
        total += abs(u[j] - v[j])
    return total


@kernel
def euclidean(u: Floats, v: Floats) -> float:
    """Compute |u - v|, the L2 norm."""
    total = 0.0
    for j in range(len(u)):
        total += (u[j] - v[j]) ** 2
    return np.sqrt(total)


@kernel
def cosine(u: Floats, v: Floats) -> float:
    """Compute 1 - cos(u, v) as half the squared distance of the unit vectors, which is accurate for small values."""
    uu, vv = 0.0, 0.0
    for j in range(len(u)):
        uu += u[j] * u[j]
        vv += v[j] * v[j]
    a, c = 1.0 / np.sqrt(uu), 1.0 / np.sqrt(vv)
    total = 0.0
    for j in range(len(u)):
        total += (u[j] * a - v[j] * c) ** 2
    return 0.5 * total


@kernel
def deviations(u: Floats) -> Floats:
    """Subtract a vector's own average; the cosine distance of the results is 1 - Pearson's correlation.

    A vector whose dimensions are all equal becomes exactly 0, without rounding errors. u : (d,)  ->  (d,)
    """
    for j in range(1, len(u)):
        if abs(u[j] - u[0]) > 1e-14 * max(abs(u[0]), abs(u[j])):
            return u - u.mean()
    return np.zeros(len(u))

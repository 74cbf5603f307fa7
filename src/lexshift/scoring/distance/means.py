"""The seven distances of appendix B, between the mean vectors of two sets (scipy's definitions).

Each takes two vectors, (d,), and gives a number. What is undefined comes out as NaN, which the caller refuses by name.
"""

from __future__ import annotations

import numpy as np

from lexshift.utils.arrays import Floats
from lexshift.utils.kernels import kernel

BRAYCURTIS, CANBERRA, CHEBYSHEV, CITYBLOCK, CORRELATION, COSINE, EUCLIDEAN = range(7)


@kernel
def distances(kind: int, old: Floats, new: Floats) -> Floats:
    """Compute the distances of many pairs of vectors. kind : one of the constants above; old, new : (b, d)  ->  (b,)"""
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
    apart, together = 0.0, 0.0
    for j in range(len(u)):
        apart += abs(u[j] - v[j])
        together += abs(u[j] + v[j])
    return apart / together


@kernel
def canberra(u: Floats, v: Floats) -> float:
    """Compute sum |u - v| / (|u| + |v|), a dimension where both are 0 counting 0."""
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
    """Compute 1 - cos(u, v) as half the squared distance of the unit vectors: no digits cancel when it is small."""
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
    """Take a vector's own average off it, for 1 - Pearson's correlation, which is the cosine distance after that.

    A vector whose dimensions are all equal gives zeros, and not what rounding leaves. u : (d,)  ->  (d,)
    """
    for j in range(1, len(u)):
        if abs(u[j] - u[0]) > 1e-14 * max(abs(u[0]), abs(u[j])):
            return u - u.mean()
    return np.zeros(len(u))

"""The seven distances of appendix B, between the mean vectors of two sets (scipy's definitions).

Each takes two arrays of means, (b, d), and gives b distances. What is undefined comes out as NaN, which the caller
refuses by name.
"""

from __future__ import annotations

import numpy as np

from lexshift.utils.arrays import Floats
from lexshift.utils.kernels import kernel


@kernel
def braycurtis(old: Floats, new: Floats) -> Floats:
    """Sum |u - v| / sum |u + v|"""
    out = np.empty(old.shape[0])
    for b in range(old.shape[0]):
        apart, together = 0.0, 0.0
        for j in range(old.shape[1]):
            apart += abs(old[b, j] - new[b, j])
            together += abs(old[b, j] + new[b, j])
        out[b] = apart / together
    return out


@kernel
def canberra(old: Floats, new: Floats) -> Floats:
    """Sum |u - v| / (|u| + |v|), a dimension where both are 0 counting 0"""
    out = np.empty(old.shape[0])
    for b in range(old.shape[0]):
        total = 0.0
        for j in range(old.shape[1]):
            size = abs(old[b, j]) + abs(new[b, j])
            total += abs(old[b, j] - new[b, j]) / (size if size > 0 else 1.0)
        out[b] = total
    return out


@kernel
def chebyshev(old: Floats, new: Floats) -> Floats:
    """Max |u - v|"""
    out = np.empty(old.shape[0])
    for b in range(old.shape[0]):
        largest = 0.0
        for j in range(old.shape[1]):
            largest = max(largest, abs(old[b, j] - new[b, j]))
        out[b] = largest
    return out


@kernel
def cityblock(old: Floats, new: Floats) -> Floats:
    """Sum |u - v|"""
    out = np.empty(old.shape[0])
    for b in range(old.shape[0]):
        total = 0.0
        for j in range(old.shape[1]):
            total += abs(old[b, j] - new[b, j])
        out[b] = total
    return out


@kernel
def euclidean(old: Floats, new: Floats) -> Floats:
    """|u - v|, the L2 norm"""
    out = np.empty(old.shape[0])
    for b in range(old.shape[0]):
        total = 0.0
        for j in range(old.shape[1]):
            total += (old[b, j] - new[b, j]) ** 2
        out[b] = np.sqrt(total)
    return out


@kernel
def cosine(old: Floats, new: Floats) -> Floats:
    """1 - cos(u, v), as half the squared distance of the unit vectors: no digits cancel when it is small"""
    out = np.empty(old.shape[0])
    for b in range(old.shape[0]):
        uu, vv = 0.0, 0.0
        for j in range(old.shape[1]):
            uu += old[b, j] * old[b, j]
            vv += new[b, j] * new[b, j]
        a, c = 1.0 / np.sqrt(uu), 1.0 / np.sqrt(vv)
        total = 0.0
        for j in range(old.shape[1]):
            total += (old[b, j] * a - new[b, j] * c) ** 2
        out[b] = 0.5 * total
    return out


def correlation(old: Floats, new: Floats) -> Floats:
    """1 - Pearson's correlation: the cosine distance after taking each vector's own average off"""
    return cosine(_deviations(old), _deviations(new))


@kernel
def _deviations(vectors: Floats) -> Floats:
    """Take each vector's own average off it: zeros, and not what rounding leaves, if its dimensions are all equal.

    vectors : (b, d)  ->  (b, d)
    """
    n, d = vectors.shape
    out = np.empty((n, d))
    for b in range(n):
        vector, average = vectors[b], vectors[b].sum() / d
        lowest, highest = vector.min(), vector.max()
        if highest - lowest <= 1e-14 * max(abs(lowest), abs(highest)):
            out[b] = 0.0
        else:
            for j in range(d):
                out[b, j] = vector[j] - average
    return out

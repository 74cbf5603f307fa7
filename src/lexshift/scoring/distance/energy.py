"""The metric "energy": the energy distance of the usages of the two corpora, which sees every difference between them.

With unit rows u of the n old and v of the m new usages, and the chord distance d(u, v) = sqrt(2 - 2 u.v)
between them, the energy distance (Szekely and Rizzo 2013, "Energy statistics: A class of statistics based on
distances") is ::

    2 mean d(u, v)  -  mean d(u, u')  -  mean d(v, v')

In the population it is 0 if the two distributions of directions are equal, and positive otherwise. With the cosine
distance 1 - u.v, which is half of the squared chord, it would be the squared difference of the mean directions, which
is 0 for many distributions that differ.

The means within a set are over pairs of two different usages (the U-statistic), so the expected value does not depend
on the numbers of usages, and is 0 if nothing changed. The value can be negative. With pairs of a usage and itself (the
V-statistic) it would be larger for rarer words. A set of one usage has no pairs, and its mean counts as 0.

With the matrix D of all distances and 0/1 vectors a and b that mark the old and the new usages, the value is ::

    2 a'Db / (n m)  -  a'Da / (n (n - 1))  -  b'Db / (m (m - 1))

so one matrix product yields the values of many assignments of the usages to the two sets.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lexshift.scoring.distance.nearest import MAX_USAGES, check_number_of_usages, unit_rows
from lexshift.utils.arrays import Array, Floats, Matrix

CACHE_BYTES = 1 << 28
"""Size of the cache of distances of one word. Distances that do not fit are computed again at each call."""
BLOCK_BYTES = 1 << 25
"""Size of a block of distances."""
_SAME = 1e-14  # squared distances below this share of the largest square are rounding errors of equal directions


class EnergyDistances:
    """The metric ``energy`` of all usages of a word, with the distances between all of them.

    Memory is bounded for any number of usages: ``CACHE_BYTES`` for distances and a few times ``BLOCK_BYTES`` for
    intermediate results. A row of zeros has no direction and raises a ValueError.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
    """

    def __init__(self, old: Matrix, new: Matrix) -> None:
        n = len(old) + len(new)
        check_number_of_usages(n, "energy", MAX_USAGES)
        sets = ((old, "old"), (new, "new"))
        unit = np.concatenate([unit_rows(rows.astype(float), name, False) for rows, name in sets])  # (n, d)
        self.centred = unit - unit.mean(axis=0)  # with the same distances, of which fewer digits cancel
        self.squares = np.einsum("ij,ij->i", self.centred, self.centred)
        self.block_rows = max(1, BLOCK_BYTES // (8 * n))
        n_cached = CACHE_BYTES // (8 * n * self.block_rows)
        self.cached_blocks = [self._measure(start) for start in range(0, n, self.block_rows)[:n_cached]]

    def _measure(self, start: int) -> Floats:
        """Compute the distances of a block of usages to all usages: (rows, n)."""
        stop = start + self.block_rows
        pairs = self.centred[start:stop] @ self.centred.T
        pairs *= -2
        pairs += self.squares[start:stop, None]
        pairs += self.squares
        pairs[pairs < _SAME * self.squares.max()] = 0
        return np.sqrt(pairs, out=pairs)

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of usages: the slice of their rows, and their distances to all usages, (rows, n)."""
        for block, start in enumerate(range(0, len(self.centred), self.block_rows)):
            distances = self.cached_blocks[block] if block < len(self.cached_blocks) else self._measure(start)
            yield slice(start, start + len(distances)), distances

    def __call__(self, sides: Array) -> Floats:
        """Compute the distance between the two sets for a batch of assignments of the usages to them: (b,).

        sides : (b, n) of int, the multiplicity of each usage: positive in the old set, negative in the new one
        """
        step = max(1, BLOCK_BYTES // (8 * sides.shape[1]))
        if len(sides) > step and len(self.cached_blocks) * self.block_rows >= len(self.centred):
            return np.concatenate([self._between(sides[i : i + step]) for i in range(0, len(sides), step)])
        return self._between(sides)

    def _between(self, sides: Array) -> Floats:
        """Compute the same from the quadratic forms of s = a - b and t = a + b, because t is often always the same."""
        s = sides.astype(float)  # (b, n)
        t = np.abs(s)
        if (t == t[:1]).all():
            t = t[:1]
        ss, st, tt = np.zeros((3, len(s)))  # s'Ds, s'Dt and t'Dt
        for rows, distances in self.blocks():
            to_t = t @ distances.T  # (b, rows), or (1, rows)
            ss += np.einsum("bi,bi->b", s @ distances.T, s[:, rows])
            st += (s[:, rows] * to_t).sum(axis=1)
            tt += (t[:, rows] * to_t).sum(axis=1)
        n, m = (t.sum(axis=1) + s.sum(axis=1)) / 2, (t.sum(axis=1) - s.sum(axis=1)) / 2
        within_old = (tt + ss + 2 * st) / 4 / np.maximum(n * (n - 1), 1)
        within_new = (tt + ss - 2 * st) / 4 / np.maximum(m * (m - 1), 1)
        with np.errstate(invalid="ignore", divide="ignore"):  # an empty set gives 0 / 0
            return np.asarray((tt - ss) / 2 / (n * m) - within_old - within_new)

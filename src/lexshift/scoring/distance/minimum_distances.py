"""The metrics "amd" and "samd": distances between usages that correspond to each other in the two corpora.

Both are from Goworek and Dubossarsky (2026), "Rethinking Metrics for Lexical Semantic Change Detection", with the
cosine distance d(u, v) = 1 - u.v between the unit rows u of the n old usages and v of the m new ones:

- ``amd``, Average Minimum Distance: the distance from a usage to the nearest usage of the other corpus, averaged over
  the usages of each corpus; the two averages are averaged. ::

      1/2 ( mean over u of min over v of d(u, v)  +  mean over v of min over u of d(u, v) )

- ``samd``, Symmetric Average Minimum Distance: min(n, m) usages of one corpus are matched one to one with usages of
  the other one such that the mean distance of the pairs is as small as possible, and that mean is the value. The
  matching is optimal (Crouse 2016, "On implementing 2D rectangular assignment algorithms", as in scipy), so the value
  does not depend on the order of the usages.

Both values are smaller for more frequent words, whose usages have more neighbours. After swapping the sets have their
original sizes, so the change score is affected less than the distance itself. The metric ``nearest`` does not depend
on frequency.
"""

from __future__ import annotations

import numpy as np

from lexshift.scoring.distance.nearest import Neighbours, check_number_of_usages, unit_rows
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.kernels import kernel

MAX_MATCHED_USAGES = 2_000
"""Maximum number of usages of a word for ``samd``: the time of a matching grows with the cube of their number."""


class MinimumDistances(Neighbours):
    """The metric ``amd`` of all usages of a word, each with the other usages sorted from the nearest to the farthest.

    Memory is bounded as for :class:`Neighbours`. A row of zeros has no direction and raises a ValueError.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
    """

    def __init__(self, old: Matrix, new: Matrix) -> None:
        super().__init__(old, new, "amd", allow_zeros=False)

    def __call__(self, sides: Array) -> Floats:
        """Compute the distance between the two sets for a batch of assignments of the usages to them: (b,).

        sides : (b, n) of int, the multiplicity of each usage: positive in the old set, negative in the new one
        """
        columns = np.ascontiguousarray(sides.T, np.int32)  # (n, b)
        total = np.zeros((len(sides), 2))
        for start, order, distances in self.blocks():
            _add_minimum_distances(order, distances, start, columns, total)
        count = np.stack([np.maximum(columns, 0).sum(axis=0), np.maximum(-columns, 0).sum(axis=0)], axis=1)
        with np.errstate(invalid="ignore"):  # an empty set gives 0 / 0
            means: Floats = total / count
        return 0.5 * (means[:, 0] + means[:, 1])


@kernel
def _add_minimum_distances(order: Array, distances: Matrix, start: int, columns: Array, total: Floats) -> None:
    """Add each usage's distance to the nearest usage of the other set to the total of its own set.

    order, distances : (rows, n - 1), of the usages from ``start`` on; columns : (n, b), the sides; total : (b, 2)
    """
    n, batch = columns.shape
    for row in range(len(order)):
        for b in range(batch):  # the sides of one neighbour in the whole batch are adjacent in memory
            own = columns[start + row, b]
            if own == 0:
                continue
            for k in range(n - 1):
                other = columns[order[row, k], b]
                if (own > 0 and other < 0) or (own < 0 and other > 0):
                    total[b, int(own < 0)] += abs(own) * distances[row, k]
                    break


class OptimalMatching:
    """The metric ``samd`` of all usages of a word, with the distances between all of them.

    The distances are computed once for all assignments; ``MAX_MATCHED_USAGES`` bounds the memory that they take. A row
    of zeros has no direction and raises a ValueError.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
    """

    def __init__(self, old: Matrix, new: Matrix) -> None:
        check_number_of_usages(len(old) + len(new), "samd", MAX_MATCHED_USAGES)
        unit = np.concatenate([unit_rows(old, "old", False), unit_rows(new, "new", False)])  # (n, d)
        self.distances = 1 - unit @ unit.T  # (n, n)

    def __call__(self, sides: Array) -> Floats:
        """Compute the distance between the two sets for a batch of assignments of the usages to them: (b,).

        sides : (b, n) of int, the multiplicity of each usage: positive in the old set, negative in the new one
        """
        return np.array([self._match(np.asarray(row, np.int64)) for row in sides])

    def _match(self, sides: Array) -> float:
        """Compute the mean distance of the optimal matching for one assignment, (n,); NaN if a set is empty."""
        from scipy.optimize import linear_sum_assignment  # imported here because it is slow

        rows = np.arange(len(sides))
        old, new = np.repeat(rows, np.maximum(sides, 0)), np.repeat(rows, np.maximum(-sides, 0))
        if not (len(old) and len(new)):
            return np.nan
        pairs = self.distances[np.ix_(old, new)].astype(float)  # (n_old, n_new)
        return float(pairs[linear_sum_assignment(pairs)].mean())

"""The metric "nearest": usages of a new or a lost meaning have no close neighbour in the other corpus.

For each usage, ``N_DRAWN`` usages of the other corpus are drawn, and the cosine distance to the nearest of them
is averaged over all usages. The expectation over draws is exact and needs no sampling: the k-th nearest of n usages is
the nearest of s drawn ones with probability C(n - k, s - 1) / C(n, s). With s = 1 this is APD. Unlike the distance to
the nearest of all usages, it does not shrink as a word becomes more frequent, so words of different frequencies can be
compared.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lexshift.errors import UserError
from lexshift.scoring.gaussian import row_weights
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.kernels import kernel

N_DRAWN = 20
"""Number of usages drawn from the other corpus; all of them if there are fewer."""
MAX_USAGES = 10_000
"""Maximum number of usages of a word: the time grows with the number of pairs. Indices of usages must fit 16 bits."""
CACHE_BYTES = 1 << 28
"""Size of the cache of sorted neighbours of one word. Neighbours that do not fit are sorted again at each call."""
BLOCK_BYTES = 1 << 25
"""Size of the working memory in which the neighbours of one block of usages are sorted."""
_MIN_PROBABILITY = 1e-10  # smaller probabilities count as 0
_STRIDE = 32  # neighbours, a multiple of four, between two checks whether the rest can contribute


class Neighbours:
    """All usages of a word, each with the other usages sorted from the nearest to the farthest.

    Memory is bounded for any number of usages: ``CACHE_BYTES`` for sorted neighbours and ``BLOCK_BYTES`` to sort them.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
    metric : str
        Name of the metric, for error messages.
    allow_zeros : bool
        Whether a row of zeros, which has no direction, is allowed. It then has distance 1 from every direction.
    """

    def __init__(self, old: Matrix, new: Matrix, metric: str = "nearest", allow_zeros: bool = True) -> None:
        n = len(old) + len(new)
        check_number_of_usages(n, metric, MAX_USAGES)
        self.unit = np.concatenate([unit_rows(old, "old", allow_zeros), unit_rows(new, "new", allow_zeros)])  # (n, d)
        size = self.unit.itemsize
        # Sorting takes two arrays of distances, and one each of 64-bit and 16-bit indices.
        self.block_rows = max(1, BLOCK_BYTES // (n * (2 * size + 10)))
        n_cached = CACHE_BYTES // (self.block_rows * n * (size + 2))
        self.cached_blocks = [self._sort(start) for start in range(0, n, self.block_rows)[:n_cached]]

    def _sort(self, start: int) -> tuple[Array, Matrix]:
        """Sort the neighbours of a block of usages: indices and distances, (rows, n - 1), the nearest first."""
        block = self.unit[start : start + self.block_rows]
        pairs = 1 - block @ self.unit.T  # (rows, n)
        pairs[np.ix_(~block.any(axis=1), ~self.unit.any(axis=1))] = 0
        own = np.arange(len(block))
        pairs[own, start + own] = -np.inf  # sorts the usage itself first, where it is dropped
        order = np.argsort(pairs, axis=1)[:, 1:]
        return order.astype(np.uint16), np.take_along_axis(pairs, order, axis=1)

    def blocks(self) -> Iterator[tuple[int, Array, Matrix]]:
        """Yield blocks of usages: the first one, and the indices and distances of their sorted neighbours."""
        for block, start in enumerate(range(0, len(self.unit), self.block_rows)):
            yield start, *(self.cached_blocks[block] if block < len(self.cached_blocks) else self._sort(start))

    def __call__(self, sides: Array) -> Floats:
        """Compute the distance between the two sets for a batch of assignments of the usages to them: (b,).

        sides : (b, n) of int, the multiplicity of each usage: positive in the old set, negative in the new one
        """
        sides = np.ascontiguousarray(sides, np.int32)
        count, multiplicity, miss, last_rank = _miss_probabilities(sides, N_DRAWN, _MIN_PROBABILITY)
        total = np.zeros((len(sides), 2))
        for start, order, distances in self.blocks():
            _add_expected_distances(order, distances, start, sides, multiplicity, miss, last_rank, total)
        with np.errstate(invalid="ignore"):  # an empty set gives 0 / 0
            means: Floats = total / count
        return 0.5 * (means[:, 0] + means[:, 1])


def check_number_of_usages(n: int, metric: str, limit: int) -> None:
    """Raise a UserError if a word has more usages in both corpora than a metric can compare in reasonable time."""
    if n > limit:
        raise UserError(
            f"the metric {metric!r} compares all usages with each other, which takes too long for {n:,} usages; "
            f"take a sample of at most {limit // 2:,} from each corpus (max_per_word)"
        )


def unit_rows(rows: Matrix, name: str, allow_zeros: bool) -> Matrix:
    """Scale rows to unit length: (n, d). A row of zeros is unchanged, and raises a ValueError if it is not allowed."""
    weights = np.zeros(len(rows))
    is_nonzero = rows.any(axis=1) if allow_zeros else np.ones(len(rows), bool)
    weights[is_nonzero] = row_weights(rows[is_nonzero], name, True)
    return (rows * weights[:, None]).astype(rows.dtype, copy=False)


@kernel
def _miss_probabilities(sides: Array, n_drawn: int, min_probability: float) -> tuple[Array, Array, Floats, Array]:
    """Compute the probabilities that a draw misses the nearest usages, for a batch of assignments to two sets.

    sides : (b, n)  ->  for each assignment and set: the number of usages (b, 2), the multiplicity of each usage
    (b, 2, n), the probability that none of the k nearest is among the ``n_drawn`` drawn ones (b, 2, max count + 1), and
    the k from which that probability is 0 (b, 2)
    """
    batch, n = sides.shape
    count = np.zeros((batch, 2), np.int64)
    multiplicity = np.zeros((batch, 2, n), np.uint32)
    for b in range(batch):
        for i in range(n):
            side = int(sides[b, i] < 0)
            multiplicity[b, side, i] = abs(sides[b, i])
            count[b, side] += abs(sides[b, i])
    miss = np.zeros((batch, 2, count.max() + 1))
    last_rank = count.copy()
    for b in range(batch):
        for side in range(2):
            drawn = min(n_drawn, count[b, side])
            miss[b, side, 0] = 1.0
            for k in range(count[b, side]):
                probability = miss[b, side, k] * max(count[b, side] - k - drawn, 0) / (count[b, side] - k)
                if probability < min_probability:
                    last_rank[b, side] = k + 1
                    break
                miss[b, side, k + 1] = probability
    return count, multiplicity, miss, last_rank


@kernel
def _add_expected_distances(
    order: Array,
    distances: Matrix,
    start: int,
    sides: Array,
    multiplicity: Array,
    miss: Floats,
    last_rank: Array,
    total: Floats,
) -> None:
    """Add each usage's expected distance to the nearest drawn usage of the other set to the total of its own set.

    order, distances : (rows, n - 1), of the usages from ``start`` on; sides : (b, n); multiplicity, miss, last_rank as
    :func:`_miss_probabilities` gives them; total : (b, 2)
    """
    batch, n = sides.shape
    length = -(-(n - 1) // 4) * 4
    near, steps = np.empty(length, np.uint32), np.zeros(length)
    for row in range(len(order)):  # one usage's neighbours stay in the cache for the whole batch
        i = start + row
        near[:] = i  # padding: a usage is never in the other set, so it adds nothing
        near[: n - 1] = order[row]
        steps[: n - 1] = distances[row]
        steps[1 : n - 1] -= distances[row, : n - 2]
        for b in range(batch):
            own = sides[b, i]
            if own == 0:
                continue
            side = int(own > 0)  # the index of the other set
            expected = _expected_distance(near, steps, multiplicity[b, side], miss[b, side], last_rank[b, side])
            total[b, 1 - side] += abs(own) * expected


@kernel
def _expected_distance(near: Array, steps: Floats, multiplicity: Array, miss: Floats, last_rank: int) -> float:
    """Compute the expected distance to the nearest drawn usage: the sum of the steps from one neighbour to the next.

    Each step is weighted by the probability that no nearer usage was drawn.

    near, steps : (m,), m a multiple of four; multiplicity : (n,), miss : (count + 1,), of the other side

    Four independent sums avoid waiting for the addition before. Unsigned indices need no check for negative ones.
    """
    sum0, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
    n_passed = np.uint64(0)
    for begin in range(0, len(near), _STRIDE):
        for k in range(begin, min(begin + _STRIDE, len(near)), 4):
            sum0 += miss[n_passed] * steps[k]
            n_passed += np.uint64(multiplicity[near[k]])
            sum1 += miss[n_passed] * steps[k + 1]
            n_passed += np.uint64(multiplicity[near[k + 1]])
            sum2 += miss[n_passed] * steps[k + 2]
            n_passed += np.uint64(multiplicity[near[k + 2]])
            sum3 += miss[n_passed] * steps[k + 3]
            n_passed += np.uint64(multiplicity[near[k + 3]])
        if n_passed >= last_rank:
            break
    return (sum0 + sum1) + (sum2 + sum3)

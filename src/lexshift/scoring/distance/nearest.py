"""The distance to the nearest usages of the other corpus: a meaning that is new, or was lost, has none close by.

For each usage, ``FEW`` usages of the other corpus are drawn, and the cosine distance to the nearest of them counts. The
mean over all draws is exact and needs none: the k-th nearest of n usages is the nearest of s drawn with the probability
C(n - k, s - 1) / C(n, s). With s = 1 this is APD. Unlike the nearest of all usages, it does not shrink as a word gets
more frequent, so words of different frequencies can be compared.
"""

from __future__ import annotations

import numpy as np

from lexshift.errors import UserError
from lexshift.scoring.gaussian import row_weights
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.kernels import kernel

FEW = 20
"""How many usages of the other corpus are drawn; all of them, if there are fewer."""
MOST = 10_000
"""The most usages of a word: the time grows with the number of pairs. Indices of usages must fit 16 bits."""
KEPT = 1 << 28
"""Bytes of sorted neighbours that are kept for one word. Usages whose neighbours do not fit are sorted at each call."""
BLOCK = 1 << 25
"""Bytes of working memory in which the neighbours of some usages are sorted at a time."""
_LEAST = 1e-10  # the chance at which what is left to draw no longer counts
_STRIDE = 32  # neighbours, a multiple of four, that are looked at before asking whether there is any left to look at


class Neighbours:
    """All usages of a word, each with the others from the nearest to the farthest.

    The memory is bounded whatever the number of usages: ``KEPT`` for neighbours that are kept, ``BLOCK`` to sort them.

    Parameters
    ----------
    old, new : (n_old, d) and (n_new, d)
    """

    def __init__(self, old: Matrix, new: Matrix) -> None:
        n = len(old) + len(new)
        if n > MOST:
            raise UserError(
                f"the metric 'nearest' compares all usages with each other, which is too much for {n:,} of them; "
                f"take a sample of at most {MOST // 2:,} from each corpus (max_per_word)"
            )
        self.unit = np.concatenate([_directions(old, "old"), _directions(new, "new")])  # (n, d)
        size = self.unit.itemsize
        self.rows = max(1, BLOCK // (n * (2 * size + 10)))  # two sets of distances, indices of 64 and of 16 bits
        fit = KEPT // (self.rows * n * (size + 2))
        self.kept = [self._sort(start) for start in range(0, n, self.rows)[:fit]]

    def _sort(self, start: int) -> tuple[Array, Matrix]:
        """Sort the neighbours of a block of usages: indices and distances, (rows, n - 1), from the nearest on."""
        block = self.unit[start : start + self.rows]
        pairs = 1 - block @ self.unit.T  # (rows, n)
        pairs[np.ix_(~block.any(axis=1), ~self.unit.any(axis=1))] = 0
        own = np.arange(len(block))
        pairs[own, start + own] = -np.inf  # a usage is its own nearest, and is left out
        order = np.argsort(pairs, axis=1)[:, 1:]
        return order.astype(np.uint16), np.take_along_axis(pairs, order, axis=1)

    def __call__(self, sides: Array) -> Floats:
        """The distance between the two sides, for a batch of ways to put the usages on them: (b,).

        sides : (b, n) of int, how many times a usage counts: positive on the old side, negative on the new one
        """
        sides = np.ascontiguousarray(sides, np.int32)
        count, times, none, last = _chances(sides, FEW, _LEAST)
        total = np.zeros((len(sides), 2))
        for block, start in enumerate(range(0, sides.shape[1], self.rows)):
            order, distances = self.kept[block] if block < len(self.kept) else self._sort(start)
            _add_expected(order, distances, start, sides, times, none, last, total)
        with np.errstate(invalid="ignore"):  # a side without usages has no distance
            means: Floats = total / count
        return 0.5 * (means[:, 0] + means[:, 1])


def _directions(rows: Matrix, name: str) -> Matrix:
    """Rows of unit length; one of zeros, as far from every direction as one at a right angle, stays as it is. (n, d)"""
    weights, somewhere = np.zeros(len(rows)), rows.any(axis=1)
    weights[somewhere] = row_weights(rows[somewhere], name, True)
    return (rows * weights[:, None]).astype(rows.dtype, copy=False)


@kernel
def _chances(sides: Array, few: int, least: float) -> tuple[Array, Array, Floats, Array]:
    """Prepare a batch of ways to put the usages on two sides.

    sides : (b, n)  ->  for each way and side: how many usages are on it (b, 2), how many times each is (b, 2, n), the
    chance that none of the k nearest is among the ``few`` drawn (b, 2, most + 1), and the k at which it is 0 (b, 2)
    """
    batch, n = sides.shape
    count = np.zeros((batch, 2), np.int64)
    times = np.zeros((batch, 2, n), np.uint32)
    for b in range(batch):
        for i in range(n):
            side = int(sides[b, i] < 0)
            times[b, side, i] = abs(sides[b, i])
            count[b, side] += abs(sides[b, i])
    none = np.zeros((batch, 2, count.max() + 1))
    last = count.copy()
    for b in range(batch):
        for side in range(2):
            drawn = min(few, count[b, side])
            none[b, side, 0] = 1.0
            for k in range(count[b, side]):
                chance = none[b, side, k] * max(count[b, side] - k - drawn, 0) / (count[b, side] - k)
                if chance < least:
                    last[b, side] = k + 1
                    break
                none[b, side, k + 1] = chance
    return count, times, none, last


@kernel
def _add_expected(
    order: Array,
    distances: Matrix,
    start: int,
    sides: Array,
    times: Array,
    none: Floats,
    last: Array,
    total: Floats,
) -> None:
    """Add the expected distance to the nearest on the other side, of each usage of a block, to the sum of its side.

    order, distances : (rows, n - 1), of the usages from ``start`` on; sides : (b, n); times, none, last as
    :func:`_chances` gives them; total : (b, 2)
    """
    batch, n = sides.shape
    length = -(-(n - 1) // 4) * 4
    near, steps = np.empty(length, np.uint32), np.zeros(length)
    for row in range(len(order)):  # a usage's neighbours are used for the whole batch while they are close at hand
        i = start + row
        near[:] = i  # never on the other side: what fills up the last four does not count
        near[: n - 1] = order[row]
        steps[: n - 1] = distances[row]
        steps[1 : n - 1] -= distances[row, : n - 2]
        for b in range(batch):
            own = sides[b, i]
            if own == 0:
                continue
            side = int(own > 0)  # of the others
            expected = _expected(near, steps, times[b, side], none[b, side], last[b, side])
            total[b, 1 - side] += abs(own) * expected


@kernel
def _expected(near: Array, steps: Floats, times: Array, none: Floats, last: int) -> float:
    """The expected distance to the nearest: each step from one neighbour to the next, by the chance to take it.

    near, steps : (m,), m a multiple of four; times : (n,), none : (count + 1,), of the other side

    A sum waits for the one before it, so there are four. Numbers without a sign need no look at whether they are
    indices from the end.
    """
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    seen = np.uint64(0)
    for begin in range(0, len(near), _STRIDE):
        for k in range(begin, min(begin + _STRIDE, len(near)), 4):
            one += none[seen] * steps[k]
            seen += np.uint64(times[near[k]])
            two += none[seen] * steps[k + 1]
            seen += np.uint64(times[near[k + 1]])
            three += none[seen] * steps[k + 2]
            seen += np.uint64(times[near[k + 2]])
            four += none[seen] * steps[k + 3]
            seen += np.uint64(times[near[k + 3]])
        if seen >= last:
            break
    return (one + two) + (three + four)

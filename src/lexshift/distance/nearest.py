"""The distance to the nearest usages of the other corpus: a meaning that is new, or was lost, has none close by.

For each usage, ``FEW`` usages of the other corpus are drawn, and the cosine distance to the nearest of them counts. The
mean over all draws is exact and needs none: the k-th nearest of n usages is the nearest of s drawn with the probability
C(n - k, s - 1) / C(n, s). With s = 1 this is APD. Unlike the nearest of all usages, it does not shrink as a word gets
more frequent, so words of different frequencies can be compared.
"""

from __future__ import annotations

import numpy as np

from lexshift._compile import kernel
from lexshift._typing import Array, Floats, Matrix
from lexshift.errors import UserError
from lexshift.gaussian import row_weights

FEW = 20
"""How many usages of the other corpus are drawn; all of them, if there are fewer."""
MOST = 10_000
"""The most usages of a word: their distances are kept, 8 bytes for each pair."""
_LEAST = 1e-10  # the chance at which what is left to draw no longer counts
_STRIDE = 32  # neighbours, a multiple of four, that are looked at before asking whether there is any left to look at


class Neighbours:
    """All usages of a word, each with the others from the nearest to the farthest.

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
        unit = np.concatenate([_directions(old, "old"), _directions(new, "new")])  # (n, d)
        pairs = 1 - unit @ unit.T  # (n, n)
        nowhere = ~unit.any(axis=1)
        pairs[np.ix_(nowhere, nowhere)] = 0
        np.fill_diagonal(pairs, -np.inf)  # a usage is its own nearest, and is left out
        self.order = np.argsort(pairs, axis=1)[:, 1:].astype(np.uint32)
        self.distances = np.take_along_axis(pairs, self.order, axis=1)

    def __call__(self, sides: Array) -> Floats:
        """The distance between the two sides, for a batch of ways to put the usages on them: (b,).

        sides : (b, n) of int, how many times a usage counts: positive on the old side, negative on the new one
        """
        out = np.empty(len(sides))
        _nearest(self.order, self.distances, np.ascontiguousarray(sides, np.int32), FEW, _LEAST, out)
        return out


def _directions(rows: Matrix, name: str) -> Matrix:
    """Rows of unit length; one of zeros, as far from every direction as one at a right angle, stays as it is. (n, d)"""
    weights, somewhere = np.zeros(len(rows)), rows.any(axis=1)
    weights[somewhere] = row_weights(rows[somewhere], name, True)
    return (rows * weights[:, None]).astype(rows.dtype, copy=False)


@kernel
def _nearest(order: Array, distances: Matrix, sides: Array, few: int, least: float, out: Floats) -> None:
    """Mean over the usages of a side of the expected distance to the nearest of ``few`` of the other; both averaged.

    order, distances : (n, n - 1); sides : (b, n); out : (b,)
    """
    batch, n = sides.shape
    count = np.zeros((batch, 2), np.int64)
    times = np.zeros((batch, 2, n), np.uint32)
    for b in range(batch):
        for i in range(n):
            side = int(sides[b, i] < 0)
            times[b, side, i] = abs(sides[b, i])
            count[b, side] += abs(sides[b, i])
    none = np.zeros((batch, 2, count.max() + 1))  # the chance that none of the k nearest of a side is drawn
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
    total = np.zeros((batch, 2))
    length = -(-(n - 1) // 4) * 4
    near, steps = np.empty(length, np.uint32), np.zeros(length)
    for i in range(n):  # a usage's neighbours are used for the whole batch while they are close at hand
        near[:] = i  # never on the other side: what fills up the last four does not count
        near[: n - 1] = order[i]
        steps[: n - 1] = distances[i]
        steps[1 : n - 1] -= distances[i, : n - 2]
        for b in range(batch):
            own = sides[b, i]
            if own == 0:
                continue
            side = int(own > 0)  # of the others
            expected = _expected(near, steps, times[b, side], none[b, side], last[b, side])
            total[b, 1 - side] += abs(own) * expected
    for b in range(batch):
        out[b] = 0.5 * (total[b, 0] / count[b, 0] + total[b, 1] / count[b, 1])


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

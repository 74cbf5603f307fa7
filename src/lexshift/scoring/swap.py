"""Algorithm 1 of the paper, context swapping: exchange occurrences between the two sets of a word.

The algorithm line by line::

    1   N1, N2       <-  the number of occurrences in the old and in the new corpus
    2   N_swap       <-  min(r N1, r N2)                        swap_count
    3   s1           <-  a sample of N_swap of the old ones     random_order, distance_order
    4   s2           <-  a sample of N_swap of the new ones
    5   S1_swap      <-  (S1 without s1) and s2                 swap
    6   S2_swap      <-  (S2 without s2) and s1

:func:`swap` implements these lines for one rate. :func:`swapped_gaussians` computes the moments of the swapped sets for
many rates and repetitions without moving a row (:mod:`lexshift.scoring.moments`): each repetition orders the rows of
both sets, and the first N_swap rows of each order are exchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from lexshift.scoring.gaussian import Gaussian, fit, squared_distances
from lexshift.scoring.moments import TwoSets
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats, Indices, Labels, Matrix
from lexshift.utils.kernels import kernel

Strategy: TypeAlias = Literal["random", "distance"]
STRATEGIES: tuple[Strategy, ...] = ("random", "distance")


def swap_base(n_old: int, n_new: int, corpus_sizes: tuple[int, int] | None = None) -> Fraction:
    """Return the number of occurrences that a rate of 1 swaps: the smaller count, optionally normalised by corpus size.

    With ``corpus_sizes`` (sentences in the old and in the new corpus) the new count is first scaled to a corpus as
    large as the old one.
    """
    if corpus_sizes is None:
        return Fraction(min(n_old, n_new))
    return min(Fraction(n_old), n_new * Fraction(*corpus_sizes))


def swap_count(n_old: int, n_new: int, rate: Any, corpus_sizes: tuple[int, int] | None = None) -> int:
    """Return the number of occurrences to swap at a rate, rounded exactly with halves to even, at most the smaller set.

    >>> swap_count(90, 200, 0.7)
    63
    >>> swap_count(90, 200, 0.7, corpus_sizes=(254, 354))
    63
    >>> swap_count(200, 90, 1.0, corpus_sizes=(354, 254))
    90
    """
    count = round(checks.fraction(rate) * swap_base(n_old, n_new, corpus_sizes))
    return min(count, n_old, n_new)


def random_order(n: int, rng: np.random.Generator) -> Indices:
    """Return the rows in random order, (n,); the first N_swap of them are a random sample for every N_swap."""
    return _shuffle(n, rng.bit_generator.random_raw(n))


@kernel
def _shuffle(n: int, bits: npt.NDArray[np.uint64]) -> Indices:
    """Shuffle n rows (Fisher-Yates): row i is exchanged with one of the first i + 1, chosen by 53 random bits."""
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        pick = np.intp(np.float64(bits[i] >> np.uint64(11)) * 2.0**-53 * (i + 1))
        order[i], order[pick] = order[pick], order[i]
    return order


def distance_order(rows: Matrix, other_centroid: Floats) -> Indices:
    """Sort rows by Euclidean distance from the other corpus's centroid, the farthest first, ties in row order: (n,)."""
    return np.argsort(-squared_distances(rows, other_centroid), kind="stable")


def orders(
    old: Matrix, new: Matrix, strategy: Strategy, repeats: int, rng: np.random.Generator
) -> Iterator[tuple[Indices, Indices]]:
    """Yield, for each repetition, the order in which the rows of the two sets are swapped.

    The distance strategy has one repetition, because it is deterministic.
    """
    if strategy == "distance":
        yield distance_order(old, fit(new, "new").mean), distance_order(new, fit(old, "old").mean)
        return
    for _ in range(repeats):
        yield random_order(len(old), rng), random_order(len(new), rng)


def swap(
    old: npt.ArrayLike, new: npt.ArrayLike, order_old: Indices, order_new: Indices, count: int
) -> tuple[Matrix, Matrix]:
    """Exchange the first ``count`` rows of each order between the sets (lines 3 to 6 of Algorithm 1).

    >>> old, new = [[1.0], [2.0], [3.0]], [[7.0], [8.0], [9.0]]
    >>> old_swap, new_swap = swap(old, new, np.array([2, 0, 1]), np.array([0, 1, 2]), 1)
    >>> old_swap.ravel().tolist(), new_swap.ravel().tolist()
    ([1.0, 2.0, 7.0], [8.0, 9.0, 3.0])
    """
    S1, S2 = checks.pair(old, new)
    s1, s2 = order_old[:count], order_new[:count]
    S1_swap = np.concatenate([np.delete(S1, s1, axis=0), S2[s2]])
    S2_swap = np.concatenate([np.delete(S2, s2, axis=0), S1[s1]])
    return S1_swap, S2_swap


def swapped_sides(
    n_old: int, n_new: int, row_orders: Iterable[tuple[Indices, Indices]], counts: Sequence[int]
) -> Array:
    """Return the set of each row after swapping, 1 for the old and -1 for the new one: (swaps, n_old + n_new).

    There is a swap for each repetition and each swap count; those of the same repetition are consecutive.
    """
    swaps = []
    for order_old, order_new in row_orders:
        for count in counts:
            sides = np.repeat(np.array([1, -1], np.int8), [n_old, n_new])
            sides[order_old[:count]] = -1
            sides[n_old + order_new[:count]] = 1
            swaps.append(sides)
    return np.stack(swaps)


def swapped_gaussians(
    sets: TwoSets, row_orders: Iterable[tuple[Indices, Indices]], counts: Sequence[int]
) -> tuple[Gaussian, Gaussian]:
    """Return the Gaussians of both sets after swapping, for every repetition and swap count.

    Parameters
    ----------
    sets : TwoSets
    row_orders : iterable of pairs of orders, as returned by :func:`orders`
    counts : sequence of int
        Swap counts, strictly ascending.

    Returns
    -------
    Gaussian, Gaussian
        With fields of shape (repeats, len(counts), d).
    """
    cuts = np.asarray(counts)
    return sets.gaussians_after_swaps(segment_labels(row_orders, cuts), cuts)


def segment_labels(row_orders: Iterable[tuple[Indices, Indices]], cuts: npt.NDArray[np.intp]) -> tuple[Labels, Labels]:
    """Return the segment of each row in each repetition: the number of swap counts up to its position.

    cuts : (counts,), the swap counts, ascending  ->  (repeats, n_old), (repeats, n_new)
    """
    pairs = list(row_orders)
    labels = []
    for side in range(2):
        n = len(pairs[0][side])
        dtype = np.uint16 if len(cuts) < 2**16 else np.uint32
        segments = np.searchsorted(cuts, np.arange(n), side="right").astype(dtype)
        set_labels = np.empty((len(pairs), n), dtype)
        for k, pair in enumerate(pairs):
            set_labels[k, pair[side]] = segments
        labels.append(set_labels)
    return labels[0], labels[1]

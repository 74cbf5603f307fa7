"""Algorithm 1 of the paper, context swapping: which occurrences trade places, and what both sets are after it.

The algorithm line by line::

    1   N1, N2       <-  the number of occurrences in the old and in the new corpus
    2   N_swap       <-  min(r N1, r N2)                        swap_count
    3   s1           <-  a sample of N_swap of the old ones     random_order, distance_order
    4   s2           <-  a sample of N_swap of the new ones
    5   S1_swap      <-  (S1 without s1) and s2                 swap
    6   S2_swap      <-  (S2 without s2) and s1

:func:`swap` does just that, for one rate. :func:`swapped_gaussians` gives the moments of the swapped sets for many
rates and repetitions without moving a row: a repetition puts each set in an order, and the first N_swap rows of it
trade places, so a row counts in the segment between two swap counts that its position falls into, and running sums
over the segments are the swapped sets of every rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from lexshift.scoring.gaussian import Gaussian, row_weights, squared_distances
from lexshift.scoring.moments import power_of_two, segment_sums
from lexshift.utils import checks
from lexshift.utils.arrays import Floats, Indices, Labels, Matrix
from lexshift.utils.kernels import kernel

Strategy: TypeAlias = Literal["random", "distance"]
STRATEGIES: tuple[Strategy, ...] = ("random", "distance")


def swap_base(n_old: int, n_new: int, corpus_sizes: tuple[int, int] | None = None) -> Fraction:
    """How many occurrences a rate of 1 asks to swap: the smaller count, taken for corpora of one size if normalised.

    With ``corpus_sizes`` (sentences in the old and in the new corpus) the new count is first scaled to a corpus as
    large as the old one.
    """
    if corpus_sizes is None:
        return Fraction(min(n_old, n_new))
    return min(Fraction(n_old), n_new * Fraction(*corpus_sizes))


def swap_count(n_old: int, n_new: int, rate: Any, corpus_sizes: tuple[int, int] | None = None) -> int:
    """How many occurrences trade places at a swap rate: exactly rounded, halves to even, never more than a set has.

    >>> swap_count(90, 200, 0.7)
    63
    >>> swap_count(90, 200, 0.7, corpus_sizes=(254, 354))
    63
    >>> swap_count(200, 90, 1.0, corpus_sizes=(354, 254))
    90
    """
    asked = round(checks.fraction(rate) * swap_base(n_old, n_new, corpus_sizes))
    return min(asked, n_old, n_new)


def random_order(n: int, rng: np.random.Generator) -> Indices:
    """The rows in random order: the first N_swap of them are a random sample, whatever N_swap is. (n,)"""
    return _shuffle(n, rng.bit_generator.random_raw(n))


@kernel
def _shuffle(n: int, bits: npt.NDArray[np.uint64]) -> Indices:
    """Fisher-Yates: row i trades places with one of the first i + 1, picked by 53 random bits. (n,)"""
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        pick = np.intp(np.float64(bits[i] >> np.uint64(11)) * 2.0**-53 * (i + 1))
        order[i], order[pick] = order[pick], order[i]
    return order


def distance_order(rows: Matrix, other_centroid: Floats) -> Indices:
    """The rows from the farthest to the nearest to the other corpus's centroid, Euclidean; ties in row order. (n,)"""
    return np.argsort(-squared_distances(rows, other_centroid), kind="stable")


def orders(
    old: Matrix,
    new: Matrix,
    g_old: Gaussian,
    g_new: Gaussian,
    strategy: Strategy,
    repeats: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Indices, Indices]]:
    """For each repetition, the order in which the rows of the two sets are swapped.

    The distance strategy has one repetition: it makes no random choice.
    """
    if strategy == "distance":
        yield distance_order(old, g_new.mean), distance_order(new, g_old.mean)
        return
    for _ in range(repeats):
        yield random_order(len(old), rng), random_order(len(new), rng)


def swap(
    old: npt.ArrayLike, new: npt.ArrayLike, order_old: Indices, order_new: Indices, count: int
) -> tuple[Matrix, Matrix]:
    """Lines 3 to 6 of Algorithm 1: the first ``count`` rows of each order trade places.

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
    n_old: int,
    n_new: int,
    row_orders: Sequence[tuple[Indices, Indices]] | Iterator[tuple[Indices, Indices]],
    counts: Sequence[int],
) -> npt.NDArray[np.int8]:
    """The set that each row is in after swapping, 1 for the old and -1 for the new one: (repeats, counts, rows)."""
    swapped = []
    for order_old, order_new in row_orders:
        sides = np.repeat(np.array([[1, -1]], np.int8), [n_old, n_new], axis=1).repeat(len(counts), axis=0)
        for of_count, count in zip(sides, counts, strict=True):
            of_count[order_old[:count]] = -1
            of_count[n_old + order_new[:count]] = 1
        swapped.append(sides)
    return np.stack(swapped)


def swapped_gaussians(
    old: Matrix,
    new: Matrix,
    g_old: Gaussian,
    g_new: Gaussian,
    row_orders: Sequence[tuple[Indices, Indices]] | Iterator[tuple[Indices, Indices]],
    repeats: int,
    counts: Sequence[int],
    variance: bool = True,
    unit: bool = False,
) -> tuple[Gaussian, Gaussian]:
    """The Gaussians of both sets after swapping, for every repetition and swap count, from one pass over the rows.

    Parameters
    ----------
    old, new : (n_old, d) and (n_new, d)
    g_old, g_new : the Gaussians of ``old`` and ``new`` (of their unit rows, if ``unit``)
    row_orders : ``repeats`` pairs of orders, as :func:`orders` gives them
    counts : ascending, without repetition
    variance : whether variances are wanted; without them the pass takes half the time, and they are (..., 0)
    unit : whether every row counts scaled to unit length

    Returns
    -------
    two Gaussians with fields of shape (repeats, len(counts), d)
    """
    cuts = np.asarray(counts)  # (counts,)
    labels_old, labels_new = _labels(len(old), len(new), row_orders, repeats, cuts)
    scale = power_of_two(np.sqrt(np.maximum(g_old.variance, g_new.variance)))  # (d,)
    # Each set is summed about its own mean, in units of its spread: the sums stay small, and float32 is enough.
    c_old, c_new = _centre(old, g_old, unit), _centre(new, g_new, unit)
    u_old, u_new = _units(old, "old", g_old, c_old, scale, unit), _units(new, "new", g_new, c_new, scale, unit)
    sums_old = segment_sums(old, *u_old, labels_old, len(cuts) + 1, variance)
    sums_new = segment_sums(new, *u_new, labels_new, len(cuts) + 1, variance)
    shift = (c_new.astype(float) - c_old) * scale
    swapped_old = _merge_segments(*sums_old, *sums_new, cuts, len(old), c_old.astype(float), shift, scale)
    swapped_new = _merge_segments(*sums_new, *sums_old, cuts, len(new), c_new.astype(float), -shift, scale)
    for (mean, var), g in ((swapped_old, g_old), (swapped_new, g_new)):
        mean[:, cuts == 0] = g.mean  # nothing swapped: to the last bit what it was
        if variance:
            var[:, cuts == 0] = g.variance
    return Gaussian(*swapped_old, g_old.count), Gaussian(*swapped_new, g_new.count)


def _labels(
    n_old: int,
    n_new: int,
    row_orders: Sequence[tuple[Indices, Indices]] | Iterator[tuple[Indices, Indices]],
    repeats: int,
    cuts: npt.NDArray[np.intp],
) -> tuple[Labels, Labels]:
    """The segment of each row in each repetition: how many swap counts its position in the order has passed."""
    dtype = np.uint16 if len(cuts) < 2**16 else np.uint32
    labels_old, labels_new = np.empty((repeats, n_old), dtype), np.empty((repeats, n_new), dtype)
    segment_old = np.searchsorted(cuts, np.arange(n_old), side="right").astype(dtype)
    segment_new = np.searchsorted(cuts, np.arange(n_new), side="right").astype(dtype)
    for k, (order_old, order_new) in enumerate(row_orders):
        labels_old[k, order_old] = segment_old
        labels_new[k, order_new] = segment_new
    return labels_old, labels_new


def _centre(rows: Matrix, g: Gaussian, unit: bool) -> Matrix:
    """The mean in the precision that rows are read in: theirs, or float64 if they are scaled on the way. (d,)"""
    return g.mean if unit else g.mean.astype(rows.dtype)


def _units(
    rows: Matrix, name: str, g: Gaussian, centre: Matrix, scale: Floats, unit: bool
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """What a row is multiplied by, what is taken off it, what the rest is multiplied by, and its square on average."""
    weights, square = row_weights(rows, name, unit), g.variance * scale**2
    return weights.astype(centre.dtype), centre, scale.astype(centre.dtype), square.astype(centre.dtype)


@kernel
def _merge_segments(
    own: Floats,
    own_squares: Floats,
    other: Floats,
    other_squares: Floats,
    counts: Indices,
    n: int,
    centre: Floats,
    shift: Floats,
    scale: Floats,
) -> tuple[Floats, Floats]:
    """Mean and variance of a set of n rows after its first ``counts`` rows gave way to as many of the other set.

    own, other : (repeats, counts + 1, d), sums by segment, each about its own centre and in units of 1 / ``scale``
    shift : (d,), the other centre less the own one, in the same units
    """
    repeats, segments, d = own.shape
    cuts, with_variance = segments - 1, own_squares.shape[2] > 0
    mean, variance = np.empty((repeats, cuts, d)), np.empty((repeats, cuts, own_squares.shape[2]))
    moved, moved_squares = np.empty(d), np.empty(d)
    to_mean, to_variance, share = 1.0 / (n * scale), 1.0 / ((n - 1) * scale * scale), 1.0 / n
    for k in range(repeats):
        moved[:] = 0.0
        moved_squares[:] = 0.0
        for r in range(cuts):  # what came, about the own centre: segments up to the cut
            m = float(counts[r])
            for j in range(d):
                moved[j] += other[k, r, j]
                mean[k, r, j] = moved[j] + m * shift[j]
            if with_variance:
                for j in range(d):
                    moved_squares[j] += other_squares[k, r, j]
                    variance[k, r, j] = moved_squares[j] + shift[j] * (2.0 * moved[j] + m * shift[j])
        moved[:] = 0.0
        moved_squares[:] = 0.0
        for r in range(cuts - 1, -1, -1):  # and what stayed: segments after the cut
            for j in range(d):
                moved[j] += own[k, r + 1, j]
                mean[k, r, j] += moved[j]
            if with_variance:
                for j in range(d):
                    moved_squares[j] += own_squares[k, r + 1, j]
                    squares = variance[k, r, j] + moved_squares[j] - mean[k, r, j] * mean[k, r, j] * share
                    variance[k, r, j] = (squares if squares > 0.0 else 0.0) * to_variance[j]
            for j in range(d):
                mean[k, r, j] = centre[j] + mean[k, r, j] * to_mean[j]
    return mean, variance

"""How sure a change is: a permutation test, false-discovery control over words, and bootstrap intervals.

The permutation test asks how often a random split of all occurrences into two sets of the same sizes gives a distance
as large as e_original. The sums of a split are a matrix product, so a thousand splits are one product: (splits, rows)
times (rows, d). The interval tells how much the change score would vary had other occurrences been sampled: it is
estimated from random half-samples (``lexshift.scoring.bootstrap`` has the derivation), whose sums are the same product.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexshift.scoring.bootstrap import Interval, bootstrap
from lexshift.scoring.distance.metric import Metric, as_given, between_usages, evaluate, get
from lexshift.scoring.gaussian import Gaussian, fit
from lexshift.scoring.products import FEW, Products, batches
from lexshift.scoring.sums import power_of_two
from lexshift.scoring.tail import largest_values, tail_p
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.kernels import kernel
from lexshift.utils.seeds import check_seed, generator

STAGES = ((1_000, 0.05), (10_000, 0.005), (100_000, 0.0005))
"""Permutations in all, and the p above which no more are drawn: Liu et al. (2021)."""
TAIL_EXCEEDING = 10
"""With fewer exceeding permutations than this of the last stage, p is also approximated from the tail."""
EXACT_BELOW = 1_000
"""With fewer splits than this, all of them are tried."""

__all__ = ["Interval", "PermutationTest", "benjamini_hochberg", "bootstrap", "decide", "permutation_test"]


@dataclass(frozen=True)
class PermutationTest:
    """The answer of a permutation test.

    Attributes
    ----------
    p : float
        (1 + exceeding) / (1 + permutations), or with all splits tried the exact share, which is the same formula.
    e_original : float
    exceeding : int
        How many permutations gave a distance of at least e_original.
    permutations : int
        How many were tried, the original split not counted.
    exact : bool
        Whether they were all there are.
    tail : float or None
        An approximation of p by a generalised Pareto distribution fitted to the largest distances, for a p too small to
        be counted; None if 100,000 permutations were not drawn, if at least 10 of them exceeded e_original, or if the
        fit is not good.
    """

    p: float
    e_original: float
    exceeding: int
    permutations: int
    exact: bool
    tail: float | None = None


def permutation_test(
    old: npt.ArrayLike,
    new: npt.ArrayLike,
    metric: str | Metric = "cosine",
    permutations: int = STAGES[-1][0],
    seed: int = 0,
    word: str = "",
    level: float = 1.0,
) -> PermutationTest:
    """Test whether the two sets differ more than a random split of their rows would.

    1,000 permutations are drawn; if p is then at most 0.05, 10,000 in all; if at most 0.005, 100,000; if at most
    0.0005, as many as ``permutations`` allows. All splits are tried if there are fewer than 1,000.

    Parameters
    ----------
    old, new : array-like of shape (n_old, d) and (n_new, d)
    metric : str or Metric
    permutations : int
        The most that are drawn at random.
    seed, word
        As for :class:`lexshift.SSCD`.
    level : float
        If all that matters is whether p is at most this: no more are drawn once it cannot be.

    Examples
    --------
    >>> import numpy as np
    >>> from lexshift import permutation_test
    >>> rng = np.random.default_rng(0)
    >>> old, same, moved = (rng.normal(loc, 1, size=(40, 8)) for loc in (1, 1, 2))
    >>> permutation_test(old, same, "euclidean", permutations=1000).p > 0.05
    True
    >>> permutation_test(old, moved, "euclidean", permutations=1000).p
    0.000999000999000999
    """
    rows_old, rows_new = checks.pair(old, new)
    chosen = get(metric)
    permutations = checks.positive(permutations, "permutations")
    seed = check_seed(seed)
    checks.from_0_to_1(np.array([level], float), "level")

    n, n_small = len(rows_old) + len(rows_new), min(len(rows_old), len(rows_new))
    # Either set has two rows at least, and 46 rows already have more pairs than that.
    exact = n < 46 and math.comb(n, n_small) < EXACT_BELOW
    if exact:  # few rows, among which ties are likely: to the last digit
        rows_old, rows_new = rows_old.astype(float), rows_new.astype(float)
    if chosen.usages:
        split, e_original, distances = _of_usages(rows_old, rows_new, chosen)
    else:
        split, e_original, distances = _of_gaussians(rows_old, rows_new, chosen, seed, word)

    largest = np.empty(0)

    def exceeding(members: Array) -> int:
        """How many of the splits are at least as far apart; those that differ by rounding only are."""
        nonlocal largest
        e = distances(members)
        if permutations >= STAGES[-1][0]:
            largest = largest_values(largest, e)
        rounding = np.ptp(np.append(e, e_original)) * (1e-9 if rows_old.dtype == np.float64 else 1e-6)
        return int((e >= e_original - rounding - 1e-12 * abs(e_original)).sum())

    if exact:
        others = split.all_others()
        edges = np.cumsum([0, *batches(len(others), split.cells, FEW)])
        found = sum(exceeding(others[start:stop]) for start, stop in itertools.pairwise(edges))
        return PermutationTest((1 + found) / (1 + len(others)), e_original, found, len(others), exact=True)

    rng = generator(seed, "permutation", word)
    found = done = 0
    for stage, p_above in stages(permutations):
        for size in batches(stage - done, split.cells, FEW):
            found += exceeding(split.random(size, rng))
            done += size
            if above := 1 + found > level * (1 + permutations):
                break
        p = (1 + found) / (1 + done)
        if above or p > p_above:
            break
    tail = approximate_p(largest, e_original, found, done, 1 / math.comb(n, n_small))
    return PermutationTest(p, e_original, found, done, exact=False, tail=tail)


def stages(most: int) -> list[tuple[int, float]]:
    """Return the numbers of permutations to draw in turn, and the p above which to stop after each.

    >>> stages(20_000)
    [(1000, 0.05), (10000, 0.005), (20000, 0.0)]
    """
    return [(stage, p_above) for stage, p_above in STAGES if stage < most] + [(most, 0.0)]


def approximate_p(
    largest: Floats, observed: float, exceeding: int, permutations: int, least: float = 0.0
) -> float | None:
    """Return p from the tail of the permutation distribution, if it is too small to be counted; else None.

    Parameters
    ----------
    largest : ndarray of shape (n,)
        The largest values of the permutation distribution.
    observed : float
    exceeding, permutations : int
        Number of permutations that reached ``observed``, and of all.
    least : float
        The smallest p that the test can have, that of a single arrangement among all.
    """
    if permutations < STAGES[-1][0] or exceeding >= TAIL_EXCEEDING:
        return None
    p = tail_p(largest, observed, permutations)
    return None if p is None else max(p, least)


def _of_usages(old: Matrix, new: Matrix, metric: Metric) -> tuple[Splits, float, Callable[[Array], Floats]]:
    """Splits, e_original, and the distance of the members of splits, for a metric of usages."""
    split, between = Splits(len(old), len(new), old.shape[1]), between_usages(metric, old, new)
    return split, float(between(as_given(len(old), len(new)))[0]), lambda members: between(split.sides(members))


def _of_gaussians(
    old: Matrix, new: Matrix, metric: Metric, seed: int, word: str
) -> tuple[Splits, float, Callable[[Array], Floats]]:
    """The same for a metric of Gaussians."""
    D1, D2 = fit(old, "old", metric.unit_rows), fit(new, "new", metric.unit_rows)
    split = _Splitter(old, new, D1, D2, metric)

    def between(D1: Gaussian, D2: Gaussian) -> Floats:
        return evaluate([metric], D1, D2, generator(seed, "samples", word))[0]

    return split, float(between(D1, D2)), lambda members: between(*split(members))


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """The q of every word from its p: the least false discovery rate at which it would count as changed.

    Parameters
    ----------
    p : sequence of float
        The p of every word that was tested.

    Examples
    --------
    >>> from lexshift import benjamini_hochberg
    >>> benjamini_hochberg([0.01, 0.02, 0.9]).round(3).tolist()
    [0.03, 0.03, 0.9]
    """
    from scipy.stats import false_discovery_control  # a slow import, needed nowhere else

    values = np.asarray(p, dtype=float)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"p must be a sequence of at least one p-value; got shape {values.shape}")
    checks.from_0_to_1(values, "every p")
    return np.asarray(false_discovery_control(values, method="bh"), dtype=float)


def decide(q: npt.ArrayLike, alpha: float = 0.05) -> npt.NDArray[np.bool_]:
    """Changed or stable: the binary task of SemEval-2020. A word has changed if its q is at most ``alpha``.

    If the usages of a word are independent of each other, at most a share of ``alpha`` of the words called changed is
    expected to have been called so by chance. Usages from the same document are not independent, and more words are
    then called changed by chance.

    Parameters
    ----------
    q : sequence of float
        As :func:`benjamini_hochberg` gives them.
    alpha : float
        The false discovery rate that is accepted.

    Examples
    --------
    >>> from lexshift import benjamini_hochberg, decide
    >>> decide(benjamini_hochberg([0.01, 0.02, 0.9])).tolist()
    [True, True, False]
    """
    values = np.asarray(q, dtype=float)
    checks.from_0_to_1(values, "every q")
    return values <= checks.between_0_and_1(alpha, "alpha")


class Splits:
    """Splits of all rows into two sets as large as the original ones."""

    def __init__(self, n_old: int, n_new: int, d: int) -> None:
        self.n_old, self.n, self.n_small = n_old, n_old + n_new, min(n_old, n_new)
        self.cells = max(self.n, d)  # numbers that one split takes

    def sides(self, members: Array) -> Array:
        """The side of each row: 1 where it is in the set as large as the old one, else -1. (b, n)"""
        of_small = 1 if self.n_small == self.n_old else -1
        return np.where(members, of_small, -of_small)

    def random(self, size: int, rng: np.random.Generator) -> Array:
        """Members of the smaller set in random splits: (size, n) of 0 and 1."""
        members = np.zeros((size, self.n), np.uint8)
        choose_members(rng.random((size, self.n_small)), members)
        return members

    def all_others(self) -> Array:
        """Every split but the original one."""
        first = 0 if self.n_small == self.n_old else self.n_old
        original = tuple(range(first, first + self.n_small))
        splits = [s for s in itertools.combinations(range(self.n), self.n_small) if s != original]
        members = np.zeros((len(splits), self.n), np.uint8)
        for row, chosen in zip(members, splits, strict=True):
            row[list(chosen)] = 1
        return members


class _Splitter(Splits):
    """The Gaussians of such splits."""

    def __init__(self, old: Matrix, new: Matrix, D1: Gaussian, D2: Gaussian, metric: Metric) -> None:
        super().__init__(len(old), len(new), old.shape[1])
        mean = (D1.count * D1.mean + D2.count * D2.mean) / self.n
        parts = [g.variance * (g.count - 1) + g.count * (g.mean - mean) ** 2 for g in (D1, D2)]
        squares = parts[0] + parts[1]  # (d,)
        self.scale = power_of_two(np.sqrt(squares / self.n))
        self.old = Products(old, "old", mean, self.scale, squares / self.n, metric)
        self.new = Products(new, "new", mean, self.scale, squares / self.n, metric)
        self.centre = self.old.centre.astype(float)
        self.total = self.n * (mean - self.centre) * self.scale  # (d,), what rounding the centre left
        self.total_squares = squares * self.scale**2 + self.total**2 / self.n

    def __call__(self, members: Array) -> tuple[Gaussian, Gaussian]:
        """Members of the smaller set, (b, n) of 0 and 1, to the Gaussians of the old and the new set, (b, d)."""
        sums, squares = (
            a + b
            for a, b in zip(
                self.old.sums(members[:, : self.n_old]), self.new.sums(members[:, self.n_old :]), strict=True
            )
        )
        small = self._gaussian(sums, squares, self.n_small)
        rest = self.total_squares - squares if squares.shape[1] else squares
        large = self._gaussian(self.total - sums, rest, self.n - self.n_small)
        return (small, large) if self.n_small == self.n_old else (large, small)

    def _gaussian(self, sums: Floats, squares: Floats, count: int) -> Gaussian:
        variance = squares
        if squares.shape[1]:
            variance = np.maximum(squares - sums**2 / count, 0) / ((count - 1) * self.scale**2)
        return Gaussian(self.centre + sums / (count * self.scale), variance, count)


@kernel
def choose_members(uniforms: Floats, members: npt.NDArray[np.uint8]) -> None:
    """Choose as many members of each row as there are random numbers for it, every choice equally likely.

    uniforms : (b, m), from 0 to below 1; members : (b, n), zeros before

    A shuffle that stops after m places: the member for place i is one of the n - i that are left.
    """
    rows, n = members.shape
    for b in range(rows):
        order = np.arange(n)
        for i in range(uniforms.shape[1]):
            k = i + int(uniforms[b, i] * (n - i))
            order[i], order[k] = order[k], order[i]
            members[b, order[i]] = 1

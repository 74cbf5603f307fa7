"""The permutation test, and how many permutations it takes.

**The test.** It asks how often a random split of all usages into two sets of the same sizes gives a distance as large
as e_original. The sums of a split are a matrix product, so a thousand splits are one product: (splits, rows) times
(rows, d).

**As many permutations as the number of tests requires.** To call one word of m changed at a false discovery rate of
alpha, its p must be at most alpha / m, which takes many permutations; if a large share of the words changed, far fewer
suffice. So every word is tested with 1,000 permutations first. While the p at which words are called changed is not
well above the least p that so many permutations can give, the words whose verdict could still become "changed" are
tested again with ten times as many (:func:`add_permutations`).

**The tail.** If 100,000 permutations are not enough either, p is approximated from the largest distances, after
Knijnenburg, Wessels, Reinders and Shmulevich (2009), "Fewer permutations, more accurate P-values": the values above a
high threshold are described by a generalised Pareto distribution, whose tail gives the probability of an observed value
that no permutation, or hardly any, has reached. The shape is not allowed below 0. A tail of negative shape ends
somewhere, and a value beyond its end would have p = 0; the exponential tail taken instead gives larger p.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from lexshift.scoring.distance.metric import Metric, get, original_sides, side_distances
from lexshift.scoring.moments import CACHE_ENTRIES, batch_sizes
from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats
from lexshift.utils.kernels import kernel
from lexshift.utils.monitor import Monitor
from lexshift.utils.seeds import generator
from lexshift.utils.threads import for_each

Permutations = int | Literal["auto"]
"""Maximum number of permutations of each test; "auto" draws as many as the number of tests requires."""
STAGES = ((1_000, 0.05), (10_000, 0.005), (100_000, 0.0005))
"""Permutations in all, and the p above which no more are drawn: Liu et al. (2021)."""
EXACT_BELOW = 1_000
"""With fewer splits than this, all of them are tried."""
TAIL_EXCEEDING = 10
"""With fewer exceeding permutations than this of the last stage, p is also approximated from the tail."""
EXCEEDANCES = 250
"""Number of values above the first threshold that is tried for the tail."""
LEAST_P = 1e-10
"""No approximated p is smaller: so far beyond all permutations the fitted tail says nothing."""
_FINE = 10  # the p at which words are called changed must be so many times the least one
_DOUBT = 0.001  # one-sided probability of the limit below which p may still be, given what was counted
_FEWEST = 50  # exceedances, below which a fit is not worth testing
_STEP = 50
_CRITICAL = 0.9  # Anderson-Darling statistic; exceeded by 5 to 10 % of samples that are generalised Pareto
_STEEPEST = 20.0  # largest shape / scale that is tried, in units of 1 / mean


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
    seed = checks.seed(seed)
    checks.from_0_to_1(np.array([level], float), "level")

    n_old, n_new = len(rows_old), len(rows_new)
    # Either set has two rows at least, and 46 rows already have more pairs than that.
    all_splits = math.comb(n_old + n_new, n_old)
    exact = n_old + n_new < 46 and all_splits < EXACT_BELOW
    if exact:  # few rows, among which ties are likely: to the last digit
        rows_old, rows_new = rows_old.astype(float), rows_new.astype(float)
    distances = side_distances(chosen, rows_old, rows_new, seed, word)
    e_original = float(distances(original_sides(n_old, n_new))[0])
    cells = max(n_old + n_new, rows_old.shape[1])  # numbers that one split takes
    largest = np.empty(0)

    def exceeding(sides: Array) -> int:
        """Return how many of the splits are at least as far apart; those that differ by rounding only are."""
        nonlocal largest
        e = distances(sides)
        if permutations >= STAGES[-1][0]:
            largest = largest_values(largest, e)
        rounding = np.ptp(np.append(e, e_original)) * (1e-9 if rows_old.dtype == np.float64 else 1e-6)
        return int((e >= e_original - rounding - 1e-12 * abs(e_original)).sum())

    if exact:
        others = other_splits(n_old, n_new)
        edges = np.cumsum([0, *batch_sizes(len(others), cells, CACHE_ENTRIES)])
        found = sum(exceeding(others[start:stop]) for start, stop in itertools.pairwise(edges))
        return PermutationTest((1 + found) / (1 + len(others)), e_original, found, len(others), exact=True)

    rng = generator(seed, "permutation", word)
    found = done = 0
    for stage, p_above in stages(permutations):
        for size in batch_sizes(stage - done, cells, CACHE_ENTRIES):
            found += exceeding(random_splits(n_old, n_new, size, rng))
            done += size
            if above := 1 + found > level * (1 + permutations):
                break
        p = (1 + found) / (1 + done)
        if above or p > p_above:
            break
    tail = approximate_p(largest, e_original, found, done, 1 / all_splits)
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


def random_splits(n_old: int, n_new: int, size: int, rng: np.random.Generator) -> Array:
    """Return random splits of all rows into sets of the given sizes, as sides: (size, n_old + n_new) of 1 and -1."""
    small = 1 if n_old <= n_new else -1
    sides = np.full((size, n_old + n_new), -small, np.int8)
    choose_members(rng.random((size, min(n_old, n_new))), small, sides)
    return sides


def other_splits(n_old: int, n_new: int) -> Array:
    """Return every split but the original one, as sides: (splits, n_old + n_new) of 1 and -1."""
    n, small = n_old + n_new, 1 if n_old <= n_new else -1
    first = 0 if small == 1 else n_old
    original = tuple(range(first, first + min(n_old, n_new)))
    splits = [list(s) for s in itertools.combinations(range(n), min(n_old, n_new)) if s != original]
    sides = np.full((len(splits), n), -small, np.int8)
    np.put_along_axis(sides, np.array(splits), small, axis=1)
    return sides


@kernel
def choose_members(uniforms: Floats, side: int, sides: Array) -> None:
    """Put as many rows on a side as there are random numbers for each way, every choice equally likely.

    uniforms : (b, m), from 0 to below 1; sides : (b, n), of the other side before

    A shuffle that stops after m places: the row for place i is one of the n - i that are left.
    """
    ways, n = sides.shape
    for b in range(ways):
        order = np.arange(n)
        for i in range(uniforms.shape[1]):
            k = i + int(uniforms[b, i] * (n - i))
            order[i], order[k] = order[k], order[i]
            sides[b, order[i]] = side


class SampledTest(Protocol):
    """The result of a test by random permutations; a dataclass."""

    @property
    def p(self) -> float:
        """The p-value."""

    @property
    def permutations(self) -> int:
        """Number of permutations that were drawn."""

    @property
    def tail(self) -> float | None:
        """The p-value from the tail of the permutation distribution."""


T = TypeVar("T", bound=SampledTest)
K = TypeVar("K")


def first_permutations(permutations: Permutations) -> int:
    """Return the number of permutations that every test may draw before the number of tests is looked at."""
    return STAGES[0][0] if permutations == "auto" else permutations


def add_permutations(
    tests: Mapping[K, T],
    again: Callable[[K, int], T],
    alpha: float,
    monitor: Monitor,
    first: int = STAGES[0][0],
    families: Collection[Collection[K]] | None = None,
) -> dict[K, T]:
    """Return the same tests with as many permutations as their number requires.

    Parameters
    ----------
    tests : mapping of a key to its test
        Every test with ``first`` permutations, or all that there are.
    again : callable
        Takes a key and a maximum number of permutations, and returns the test of that key.
    alpha : float
        The false discovery rate.
    monitor : Monitor
    first : int
        Number of permutations that were drawn already.
    families : collection of collections of keys, optional
        The tests over which the false discovery rate is controlled together; by default all of them.
    """
    found = dict(tests)
    for family in [list(found)] if families is None else families:
        ours = _test_family({key: found[key] for key in family}, again, alpha, monitor, first)
        found |= ours
    return found


def _test_family(
    found: dict[K, T], again: Callable[[K, int], T], alpha: float, monitor: Monitor, first: int
) -> dict[K, T]:
    if not found:
        return found
    for before, more in itertools.pairwise([first, *(stage for stage, _ in STAGES[1:])]):
        p = np.array([test.p for test in found.values()])
        if fine_enough(p, before, alpha):
            return found
        drawn = np.array([test.permutations for test in found.values()])
        possible = decide(benjamini_hochberg(_lowest_p(p, drawn)), alpha)
        chosen = [
            key
            for (key, test), matters in zip(found.items(), possible, strict=True)
            if matters and before <= test.permutations < more
        ]
        if not chosen:
            continue
        monitor.stage(f"{more:,} permutations", len(chosen), "words")
        test = partial(_test_again, again, more)
        found |= for_each(chosen, test, lambda done: monitor.advance(done, done))
    if stuck(found.values(), alpha):
        found = {key: _from_tail(test) for key, test in found.items()}
    return found


def _test_again(again: Callable[[K, int], T], more: int, key: K) -> T:
    return again(key, more)


def fine_enough(p: Floats, permutations: int, alpha: float) -> bool:
    """Return whether so many permutations tell the words that changed from the others. p : (words,)

    >>> fine_enough(np.full(2000, 0.000999), 1000, 0.05), fine_enough(np.full(2000, 0.5), 1000, 0.05)
    (True, False)
    """
    called = max(int(decide(benjamini_hochberg(p), alpha).sum()), 1)
    return alpha * called / len(p) >= _FINE / (1 + permutations)


def stuck(tests: Iterable[SampledTest], alpha: float) -> int:
    """Return how many tests have the least p that their permutations can give and are still not significant.

    Tests of all possible permutations do not count: their p is exact.
    """
    listed = list(tests)
    if not listed:
        return 0
    q = benjamini_hochberg([test.p for test in listed])
    return sum(
        not getattr(test, "exact", False) and math.isclose(test.p, 1 / (1 + test.permutations)) and not significant
        for test, significant in zip(listed, decide(q, alpha), strict=True)
    )


def too_coarse(tests: Collection[SampledTest], alpha: float) -> str | None:
    """Return a sentence on tests that have the least p possible and are still not significant, or None."""
    n = stuck(tests, alpha)
    if not n:
        return None
    most = max(test.permutations for test in tests)
    which = "1 of the tests has" if n == 1 else f"{n:,} of the tests have"
    remedy = "use permutations auto, or test fewer words" if most < STAGES[-1][0] else "test fewer words"
    return (
        f"{which} the smallest p that {most:,} permutations can give, and with {len(tests):,} tests that is not enough "
        f"for a false discovery rate of {alpha:g}: {remedy}"
    )


def _lowest_p(p: Floats, permutations: Array) -> Floats:
    """Return the lower confidence limits of p after Clopper and Pearson. p, permutations : (words,)"""
    from scipy.special import betaincinv  # a slow import

    exceeding = np.round(p * (1 + permutations)) - 1
    limit = betaincinv(np.maximum(exceeding, 1), permutations - exceeding + 1, _DOUBT)
    return np.where(exceeding > 0, limit, 0.0)


def _from_tail(test: Any) -> Any:
    """Return the test with p from the tail, if that is known and smaller."""
    return replace(test, p=test.tail) if test.tail is not None and test.tail < test.p else test


def largest_values(largest: Floats, values: Floats) -> Floats:
    """Return the EXCEEDANCES + 1 largest values of both arrays, in no order, or all if there are fewer."""
    both = np.concatenate([largest, values])
    most = EXCEEDANCES + 1
    return both if len(both) <= most else np.partition(both, len(both) - most)[-most:]


def tail_p(largest: Floats, observed: float, permutations: int) -> float | None:
    """Return the probability of a value of at least ``observed``, or None if no fit to the tail is good enough.

    Parameters
    ----------
    largest : ndarray of shape (n,)
        The largest values of the permutation distribution, at least one more than EXCEEDANCES.
    observed : float
    permutations : int
        Number of values of the permutation distribution.

    Examples
    --------
    >>> values = np.random.default_rng(0).exponential(size=100_000)  # P(value >= 16) is 1.1e-7
    >>> p = tail_p(largest_values(np.empty(0), values), 16.0, len(values))
    >>> 1e-8 < p < 1e-6
    True
    """
    ordered = np.sort(largest)[::-1]
    if len(ordered) <= EXCEEDANCES:
        return None
    for count in range(EXCEEDANCES, _FEWEST - 1, -_STEP):
        threshold = (ordered[count - 1] + ordered[count]) / 2
        if observed <= threshold:
            return None
        above = ordered[:count] - threshold  # (count,)
        if above[-1] <= 0:  # ties at the threshold
            continue
        shape, scale = _fit(above)
        if _anderson_darling(above, shape, scale) <= _CRITICAL:
            survival = float(np.exp(_log_survival(np.array([observed - threshold]), shape, scale))[0])
            return max(count / permutations * survival, LEAST_P)
    return None


def _fit(above: Floats) -> tuple[float, float]:
    """Return shape and scale of maximum likelihood, the shape being 0 or more. above : (n,), positive

    For a given ratio of shape and scale the best shape is known (Grimshaw 1993), so one number is searched for.
    """
    from scipy.optimize import minimize_scalar  # a slow import

    mean = float(above.mean())
    relative = above / mean

    def cost(ratio: float) -> float:
        shape = float(np.log1p(ratio * relative).mean())
        return float(np.log(shape / ratio)) + shape

    best = minimize_scalar(cost, bounds=(1e-6, _STEEPEST), method="bounded", options={"xatol": 1e-4})
    if best.fun >= 1 - 1e-9:  # the cost of the exponential distribution
        return 0.0, mean
    shape = float(np.log1p(best.x * relative).mean())
    return shape, shape / best.x * mean


def _log_survival(above: Floats, shape: float, scale: float) -> Floats:
    """Return log P(value > above) of a generalised Pareto distribution."""
    return -above / scale if shape == 0 else -np.log1p(shape * above / scale) / shape


def _anderson_darling(above: Floats, shape: float, scale: float) -> float:
    """Return the Anderson-Darling distance of values, in descending order, from a generalised Pareto distribution."""
    n = len(above)
    log_survival = _log_survival(above[::-1], shape, scale)  # ascending values
    log_below = np.log(-np.expm1(log_survival))
    weights = 2 * np.arange(1, n + 1) - 1
    return float(-n - (weights * (log_below + log_survival[::-1])).sum() / n)

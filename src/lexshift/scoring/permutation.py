"""The permutation test, and the number of permutations that it needs.

**The test.** The p-value is the share of random splits of all usages into two sets of the same sizes whose distance is
at least e_original. The distances of a thousand splits are one matrix product: (splits, rows) times (rows, columns).

**Documents.** Usages from the same document resemble each other, so they are not exchangeable one by one: halves of one
corpus that were divided by document would differ too often. Where documents are known, whole documents are assigned to
the two sets at random, with as many documents in each as there were, so the usages of a document stay together, and the
numbers of usages vary. If documents are independent and nothing changed, all assignments are equally likely, so the
test is valid. A document with usages in both sets, such as an author in two periods, is two units, one in each set.
These two resemble each other, so the original sets differ less than random ones, which makes the test conservative.
With fewer than ``MIN_DOCUMENTS`` documents in one of the sets p could hardly be small, and usages are permuted.

**As many permutations as the number of tests requires.** To call one word of m changed at a false discovery rate of
alpha, its p must be at most alpha / m, which requires many permutations; if a large share of the words changed, far
fewer suffice. So every word is first tested with 1,000 permutations. While the p at which words are called changed is
not well above the smallest p that this number of permutations can give, the words that could still be called changed
are tested again with ten times as many (:func:`add_permutations`).

**The tail.** If 100,000 permutations are not sufficient, p is approximated from the largest distances, after
Knijnenburg, Wessels, Reinders and Shmulevich (2009), "Fewer permutations, more accurate P-values": the values above a
high threshold are described by a generalised Pareto distribution, whose tail gives the probability of an observed value
that no permutation, or hardly any, has reached. The shape is restricted to values of at least 0: a tail of
negative shape is bounded, and a value beyond its bound would have p = 0. The exponential tail used instead gives a
larger p.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from lexshift.scoring.distance.metric import Metric, get, original_sides, side_distances
from lexshift.scoring.moments import CACHE_ENTRIES, batch_sizes
from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats, Indices
from lexshift.utils.kernels import kernel
from lexshift.utils.monitor import Monitor
from lexshift.utils.seeds import generator
from lexshift.utils.threads import for_each

Permutations = int | Literal["auto"]
"""Maximum number of permutations of each test; "auto" draws as many as the number of tests requires."""
STAGES = ((1_000, 0.05), (10_000, 0.005), (100_000, 0.0005))
"""Total number of permutations of each stage, and the p above which no more are drawn (Liu et al. 2021)."""
EXACT_BELOW = 1_000
"""All splits are tried if there are fewer than this."""
MIN_DOCUMENTS = 6
"""Minimum number of documents in each set for documents to be permuted: with 6 and 6 the smallest p is 2 / 924."""
DOCUMENTS, USAGES = "documents", "usages"
"""The units that are permuted."""
Documents = Sequence[Hashable]
"""The document of each usage of a set."""
TAIL_EXCEEDING = 10
"""After the last stage, p is also approximated from the tail if fewer permutations than this exceed e_original."""
EXCEEDANCES = 250
"""Number of values above the first threshold tried for the tail."""
MIN_TAIL_P = 1e-10
"""Lower limit of an approximated p: the fitted tail is not reliable so far beyond all permutations."""
_USAGE_ENTRIES = 1_000_000  # numbers of a batch of splits for a metric that compares usages
_RESOLUTION = 10  # minimum ratio of the p at which words are called changed to the smallest possible p
_LIMIT_ERROR = 0.001  # one-sided error probability of the lower confidence limit of p
_MIN_EXCEEDANCES = 50  # minimum number of exceedances for a fit
_EXCEEDANCE_STEP = 50
_CRITICAL = 0.9  # Anderson-Darling statistic; exceeded by 5 to 10 % of samples that are generalised Pareto
_MAX_RATIO = 20.0  # maximum shape / scale of a fit, in units of 1 / mean


@dataclass(frozen=True)
class PermutationTest:
    """The result of a permutation test.

    Attributes
    ----------
    p : float
        (1 + exceeding) / (1 + permutations). If all splits were tried, this is the exact p-value.
    e_original : float
    exceeding : int
        Number of permutations with a distance of at least e_original.
    permutations : int
        Number of permutations tried, without the original split.
    exact : bool
        Whether all possible splits were tried.
    tail : float or None
        An approximation of p by a generalised Pareto distribution fitted to the largest distances, for a p too
        small for the number of permutations; None if 100,000 permutations were not drawn, if at least 10 of them
        exceeded e_original, or if the fit is poor.
    unit : "documents" or "usages"
        What was assigned to the two sets at random.
    """

    p: float
    e_original: float
    exceeding: int
    permutations: int
    exact: bool
    tail: float | None = None
    unit: str = USAGES


def permutation_test(
    old: npt.ArrayLike,
    new: npt.ArrayLike,
    metric: str | Metric = "cosine",
    permutations: int = STAGES[-1][0],
    seed: int = 0,
    word: str = "",
    level: float = 1.0,
    documents: tuple[Documents, Documents] | None = None,
) -> PermutationTest:
    """Test whether the two sets differ more than a random split of their rows, or of their documents, would.

    1,000 permutations are drawn; if p is then at most 0.05, 10,000 in all; if at most 0.005, 100,000; if at most
    0.0005, as many as ``permutations`` allows. All splits are tried if there are fewer than 1,000.

    Parameters
    ----------
    old, new : array-like of shape (n_old, d) and (n_new, d)
    metric : str or Metric
    permutations : int
        Maximum number of random permutations.
    seed, word
        As for :class:`lexshift.SSCD`.
    level : float
        Significance level; drawing stops as soon as p cannot be at most this level any more.
    documents : (sequence, sequence), optional
        The document of each old and of each new row. If both sets have at least 6 documents, documents are split at
        random, and their rows stay together; otherwise rows are. By default each row is a document of its own.

    Returns
    -------
    PermutationTest

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
    unit, units_old, units_new, unit_of_row = number_units(documents, n_old, n_new)
    # Either set has at least two units, and 46 units have more than 1,000 pairs.
    all_splits = math.comb(units_old + units_new, units_old)
    exact = units_old + units_new < 46 and all_splits < EXACT_BELOW
    if exact:  # ties are likely among few rows, so that distances must be precise
        rows_old, rows_new = rows_old.astype(float), rows_new.astype(float)
    distances = side_distances(chosen, rows_old, rows_new, seed, word, equal_sizes=unit_of_row is None)
    e_original = float(distances(original_sides(n_old, n_new))[0])
    # Numbers that one split needs, and numbers of a batch: the distances between usages are read once for each batch.
    cells, max_cells = max(n_old + n_new, rows_old.shape[1]), _USAGE_ENTRIES if chosen.usages else CACHE_ENTRIES
    largest = np.empty(0)

    def count_exceeding(sides: Array) -> int:
        """Count the splits, (b, units), whose distance is at least e_original, up to rounding errors."""
        nonlocal largest
        e = distances(sides if unit_of_row is None else sides[:, unit_of_row])
        if permutations >= STAGES[-1][0]:
            largest = largest_values(largest, e)
        rounding = np.ptp(np.append(e, e_original)) * (1e-9 if rows_old.dtype == np.float64 else 1e-6)
        return int((e >= e_original - rounding - 1e-12 * abs(e_original)).sum())

    if exact:
        others = other_splits(units_old, units_new)
        edges = np.cumsum([0, *batch_sizes(len(others), cells, max_cells)])
        exceeding = sum(count_exceeding(others[start:stop]) for start, stop in itertools.pairwise(edges))
        p = (1 + exceeding) / (1 + len(others))
        return PermutationTest(p, e_original, exceeding, len(others), exact=True, unit=unit)

    rng = generator(seed, "permutation", word)
    exceeding = done = 0
    for stage, p_above in stages(permutations):
        for size in batch_sizes(stage - done, cells, max_cells):
            exceeding += count_exceeding(random_splits(units_old, units_new, size, rng))
            done += size
            if is_above := 1 + exceeding > level * (1 + permutations):
                break
        p = (1 + exceeding) / (1 + done)
        if is_above or p > p_above:
            break
    tail = approximate_p(largest, e_original, exceeding, done, 1 / all_splits)
    return PermutationTest(p, e_original, exceeding, done, exact=False, tail=tail, unit=unit)


def number_units(
    documents: tuple[Documents, Documents] | None, n_old: int, n_new: int
) -> tuple[str, int, int, Indices | None]:
    """Return what to permute, how many there are in either set, and for documents the number of that of each row.

    Returns
    -------
    unit : "documents" or "usages"
    units_old, units_new : int
        Number of units in the old and in the new set.
    numbers : ndarray of shape (n_old + n_new,) or None
        The document of each row, the old rows first, from 0; None if usages are permuted.

    Examples
    --------
    >>> number_units((list("aabcdef"), list("azyxwvw")), 7, 7)
    ('documents', 6, 6, array([ 0,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 10]))
    >>> number_units((list("aabc"), list("vwxyz")), 4, 5)
    ('usages', 4, 5, None)
    """
    if documents is None:
        return USAGES, n_old, n_new, None
    numbers = []
    for of_rows, n, name in zip(documents, (n_old, n_new), ("old", "new"), strict=True):
        if len(of_rows) != n:
            raise ValueError(f"documents must name the document of each row; got {len(of_rows)} for {n} {name} rows")
        first = {document: number for number, document in enumerate(dict.fromkeys(of_rows))}
        numbers.append(np.array([first[document] for document in of_rows], np.intp))
    units_old, units_new = (int(of_rows.max()) + 1 for of_rows in numbers)
    if min(units_old, units_new) < MIN_DOCUMENTS:
        return USAGES, n_old, n_new, None
    return DOCUMENTS, units_old, units_new, np.concatenate([numbers[0], units_old + numbers[1]])


def stages(permutations: int) -> list[tuple[int, float]]:
    """Return the numbers of permutations to draw in turn, and the p above which to stop after each.

    >>> stages(20_000)
    [(1000, 0.05), (10000, 0.005), (20000, 0.0)]
    """
    return [(stage, p_above) for stage, p_above in STAGES if stage < permutations] + [(permutations, 0.0)]


def approximate_p(
    largest: Floats, observed_value: float, exceeding: int, permutations: int, min_p: float = 0.0
) -> float | None:
    """Return p from the tail of the permutation distribution if too few permutations exceed the value, else None.

    Parameters
    ----------
    largest : ndarray of shape (n,)
        The largest values of the permutation distribution.
    observed_value : float
    exceeding, permutations : int
        Number of permutations of at least ``observed_value``, and of all permutations.
    min_p : float
        The smallest possible p of the test: one divided by the number of all arrangements.
    """
    if permutations < STAGES[-1][0] or exceeding >= TAIL_EXCEEDING:
        return None
    p = tail_p(largest, observed_value, permutations)
    return None if p is None else max(p, min_p)


def random_splits(n_old: int, n_new: int, size: int, rng: np.random.Generator) -> Array:
    """Return random splits of all rows into sets of these sizes, as sides: (size, n_old + n_new) of 1 and -1."""
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
    """Assign m random rows to one side in each split; every choice is equally likely.

    uniforms : (b, m), in [0, 1); sides : (b, n), filled with the other side before

    This is a shuffle that stops after m positions: the row at position i is one of the n - i remaining ones.
    """
    splits, n = sides.shape
    for b in range(splits):
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
    """Return the number of permutations of every test before the number of tests is taken into account."""
    return STAGES[0][0] if permutations == "auto" else permutations


def add_permutations(
    tests: Mapping[K, T],
    retest: Callable[[K, int], T],
    alpha: float,
    monitor: Monitor,
    first: int = STAGES[0][0],
    families: Collection[Collection[K]] | None = None,
) -> dict[K, T]:
    """Return the same tests with as many permutations as their number requires.

    Parameters
    ----------
    tests : mapping of a key to its test
        Every test with ``first`` permutations, or with all possible ones.
    retest : callable
        Takes a key and a maximum number of permutations, and returns the test of that key.
    alpha : float
        The false discovery rate.
    monitor : Monitor
    first : int
        Number of permutations already drawn.
    families : collection of collections of keys, optional
        The tests over which the false discovery rate is controlled together; by default all of them.
    """
    results = dict(tests)
    for family in [list(results)] if families is None else families:
        results |= _test_family({key: results[key] for key in family}, retest, alpha, monitor, first)
    return results


def _test_family(
    tests: dict[K, T], retest: Callable[[K, int], T], alpha: float, monitor: Monitor, first: int
) -> dict[K, T]:
    if not tests:
        return tests
    for before, more in itertools.pairwise([first, *(stage for stage, _ in STAGES[1:])]):
        p = np.array([test.p for test in tests.values()])
        if has_enough_permutations(p, before, alpha):
            return tests
        drawn = np.array([test.permutations for test in tests.values()])
        possible = decide(benjamini_hochberg(_lowest_p(p, drawn)), alpha)
        chosen = [
            key
            for (key, test), matters in zip(tests.items(), possible, strict=True)
            if matters and before <= test.permutations < more
        ]
        if not chosen:
            continue
        monitor.stage(f"{more:,} permutations", len(chosen), "words")
        test = partial(_retest, retest, more)
        tests |= for_each(chosen, test, lambda done: monitor.advance(done, done))
    if count_unresolved(tests.values(), alpha):
        tests = {key: _from_tail(test) for key, test in tests.items()}
    return tests


def _retest(retest: Callable[[K, int], T], more: int, key: K) -> T:
    return retest(key, more)


def has_enough_permutations(p: Floats, permutations: int, alpha: float) -> bool:
    """Return whether this number of permutations can separate the words that changed, from their (words,) p-values.

    >>> has_enough_permutations(np.full(2000, 0.000999), 1000, 0.05)
    True
    >>> has_enough_permutations(np.full(2000, 0.5), 1000, 0.05)
    False
    """
    called = max(int(decide(benjamini_hochberg(p), alpha).sum()), 1)
    return alpha * called / len(p) >= _RESOLUTION / (1 + permutations)


def count_unresolved(tests: Iterable[SampledTest], alpha: float) -> int:
    """Count the tests that have the smallest p their permutations can give and are still not significant.

    Tests that tried all possible permutations are not counted, because their p is exact.
    """
    all_tests = list(tests)
    if not all_tests:
        return 0
    q = benjamini_hochberg([test.p for test in all_tests])
    return sum(
        not getattr(test, "exact", False) and math.isclose(test.p, 1 / (1 + test.permutations)) and not significant
        for test, significant in zip(all_tests, decide(q, alpha), strict=True)
    )


def unresolved_note(tests: Collection[SampledTest], alpha: float) -> str | None:
    """Return a note on tests that have the smallest possible p and are still not significant, or None."""
    n = count_unresolved(tests, alpha)
    if not n:
        return None
    permutations = max(test.permutations for test in tests)
    which = "1 of the tests has" if n == 1 else f"{n:,} of the tests have"
    remedy = "use permutations auto, or test fewer words" if permutations < STAGES[-1][0] else "test fewer words"
    return (
        f"{which} the smallest p that {permutations:,} permutations can give, and with {len(tests):,} tests that is "
        f"not enough for a false discovery rate of {alpha:g}: {remedy}"
    )


def _lowest_p(p: Floats, permutations: Array) -> Floats:
    """Return the lower Clopper-Pearson confidence limits of p; all arrays have shape (words,)."""
    from scipy.special import betaincinv  # imported here because it is slow

    exceeding = np.round(p * (1 + permutations)) - 1
    limit = betaincinv(np.maximum(exceeding, 1), permutations - exceeding + 1, _LIMIT_ERROR)
    return np.where(exceeding > 0, limit, 0.0)


def _from_tail(test: Any) -> Any:
    """Return the test with its p replaced by that from the tail, if there is one and it is smaller."""
    return replace(test, p=test.tail) if test.tail is not None and test.tail < test.p else test


def largest_values(largest: Floats, values: Floats) -> Floats:
    """Return the EXCEEDANCES + 1 largest values of both arrays, unsorted, or all if there are fewer."""
    both = np.concatenate([largest, values])
    size = EXCEEDANCES + 1
    return both if len(both) <= size else np.partition(both, len(both) - size)[-size:]


def tail_p(largest: Floats, observed_value: float, permutations: int) -> float | None:
    """Return the probability of a value of at least ``observed_value``, or None if no fit to the tail is good.

    Parameters
    ----------
    largest : ndarray of shape (n,)
        The largest values of the permutation distribution, at least one more than EXCEEDANCES.
    observed_value : float
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
    for count in range(EXCEEDANCES, _MIN_EXCEEDANCES - 1, -_EXCEEDANCE_STEP):
        threshold = (ordered[count - 1] + ordered[count]) / 2
        if observed_value <= threshold:
            return None
        above = ordered[:count] - threshold  # (count,)
        if above[-1] <= 0:  # ties at the threshold
            continue
        shape, scale = _fit(above)
        if _anderson_darling(above, shape, scale) <= _CRITICAL:
            survival = float(np.exp(_log_survival(np.array([observed_value - threshold]), shape, scale))[0])
            return max(count / permutations * survival, MIN_TAIL_P)
    return None


def _fit(above: Floats) -> tuple[float, float]:
    """Fit a generalised Pareto distribution to positive values, (n,), and return its shape, at least 0, and scale.

    The best shape for a fixed ratio of shape to scale is known (Grimshaw 1993), so only the ratio is optimised.
    """
    from scipy.optimize import minimize_scalar  # imported here because it is slow

    mean = float(above.mean())
    relative = above / mean

    def cost(ratio: float) -> float:
        shape = float(np.log1p(ratio * relative).mean())
        return float(np.log(shape / ratio)) + shape

    best = minimize_scalar(cost, bounds=(1e-6, _MAX_RATIO), method="bounded", options={"xatol": 1e-4})
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

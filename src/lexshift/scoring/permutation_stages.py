"""Draw as many permutations as the number of tests requires.

To call one word of m changed at a false discovery rate of alpha, its p must be at most alpha / m, which requires many
permutations; if a large share of the words changed, far fewer suffice. So every word is first tested with 1,000
permutations. While the p at which words are called changed is not well above the smallest p that this number of
permutations can give, the words that could still be called changed are tested again with ten times as many
(:func:`add_permutations`). If 100,000 permutations are not sufficient, p is approximated
(:mod:`lexshift.scoring.permutation_tail`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.utils.arrays import Array, Floats
from lexshift.utils.monitor import Monitor
from lexshift.utils.threads import for_each

Permutations = int | Literal["auto"]
"""Maximum number of permutations of each test; "auto" draws as many as the number of tests requires."""
STAGES = ((1_000, 0.05), (10_000, 0.005), (100_000, 0.0005))
"""Total number of permutations of each stage, and the p above which no more are drawn (Liu et al. 2021)."""
FIRST_STAGE, LAST_STAGE = STAGES[0][0], STAGES[-1][0]
"""Total number of permutations of the first and of the last stage."""
_RESOLUTION = 10  # minimum ratio of the p at which words are called changed to the smallest possible p
_LIMIT_ERROR = 0.001  # one-sided error probability of the lower confidence limit of p


def stages(permutations: int) -> list[tuple[int, float]]:
    """Return the numbers of permutations to draw in turn, and the p above which to stop after each.

    >>> stages(20_000)
    [(1000, 0.05), (10000, 0.005), (20000, 0.0)]
    """
    return [(stage, p_above) for stage, p_above in STAGES if stage < permutations] + [(permutations, 0.0)]


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
    return FIRST_STAGE if permutations == "auto" else permutations


def add_permutations(
    tests: Mapping[K, T],
    retest: Callable[[K, int], T],
    alpha: float,
    monitor: Monitor,
    first: int = FIRST_STAGE,
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
    remedy = "use permutations auto, or test fewer words" if permutations < LAST_STAGE else "test fewer words"
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

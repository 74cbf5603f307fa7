"""Draw as many permutations as the number of tests requires.

To call one word of m changed at a false discovery rate of alpha, its p must be at most alpha / m, which takes many
permutations; if a large share of the words changed, far fewer suffice. So every word is tested with 1,000 permutations
first. While the p at which words are called changed is not well above the least p that so many permutations can give,
the words whose verdict could still become "changed" are tested again with ten times as many. If 100,000 are not enough
either, p is approximated from the tail of the permutation distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from lexshift.scoring.significance import STAGES, benjamini_hochberg, decide
from lexshift.utils.arrays import Array, Floats
from lexshift.utils.monitor import Monitor
from lexshift.utils.threads import for_each

Permutations = int | Literal["auto"]
_FINE = 10  # the p at which words are called changed must be so many times the least one
_DOUBT = 0.001  # one-sided probability of the limit below which p may still be, given what was counted


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
    for before, more in pairwise([first, *(stage for stage, _ in STAGES[1:])]):
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

"""What is planted: how many usages of either source word a period gets, which ones, and the name in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

Plan: TypeAlias = tuple[tuple[int, int], ...]
"""For each period, how many usages of the first and of the second source word it gets."""


@dataclass(frozen=True, order=True)
class Usage:
    """A sentence, and where in it the word is, in characters."""

    sentence: str
    start: int
    end: int


def change_plan(usages: int, change: float | Fraction) -> Plan:
    """Two periods of so many usages each; the share of the second word is larger by ``change`` in the new one.

    Its shares are (1 - change) / 2 and (1 + change) / 2, so over both periods either word has half of the usages,
    whatever the change. Names then differ in how their usages are dealt to the periods and in nothing else: a score
    that answers to how varied usages are gains nothing. The change is the nearest that whole usages allow.

    >>> change_plan(10, 0.4)
    ((7, 3), (3, 7))
    """
    more = round(usages * Fraction(change))
    second = (usages - more) // 2
    return (usages - second, second), (usages - second - more, second + more)


def mixed_plan(usages: int, share: float | Fraction, rng: np.random.Generator) -> Plan:
    """Two periods between which nothing changed: usages with this share of the second word, dealt out at random.

    The periods are not made equal: they differ as two samples do, which is what a test must not call a change.

    >>> mixed_plan(10, 0.3, np.random.default_rng(0))
    ((8, 2), (6, 4))
    """
    second = round(2 * usages * Fraction(share))
    old = int(rng.hypergeometric(second, 2 * usages - second, usages))
    return (usages - old, old), (usages - second + old, second - old)


def step_plan(usages: int, months: int, step: int) -> Plan:
    """So many months, the first word in those before ``step``, the second from it on.

    >>> step_plan(5, 3, 1)
    ((5, 0), (0, 5), (0, 5))
    """
    return ((usages, 0),) * step + ((0, usages),) * (months - step)


def season_plan(usages: int, months: int) -> Plan:
    """So many months, which are by turns of the first and of the second word.

    >>> season_plan(5, 3)
    ((5, 0), (0, 5), (5, 0))
    """
    return tuple((usages, 0) if month % 2 == 0 else (0, usages) for month in range(months))


_YEARLY = (0.0, 0.067, 0.25, 0.5, 0.75, 0.933, 1.0)
"""(1 - cos(pi k / 6)) / 2 for k months from January: the share of the second word in a smooth season."""


def yearly_plan(usages: int, months: int) -> Plan:
    """Return a smooth season: the share of the second word follows a cosine, 0 in January and 1 in July.

    Shares are those nearest to the cosine that whole usages allow.

    >>> yearly_plan(10, 8)
    ((10, 0), (9, 1), (8, 2), (5, 5), (2, 8), (1, 9), (0, 10), (1, 9))
    """
    second = [round(usages * _YEARLY[min(month % 12, 12 - month % 12)]) for month in range(months)]
    return tuple((usages - n, n) for n in second)


def needed(plan: Plan) -> tuple[int, int]:
    """How many usages of the first and of the second word a plan takes."""
    return sum(first for first, _ in plan), sum(second for _, second in plan)


def realised(plan: Plan) -> float:
    """By how much the share of the second word grows from the first period of a plan to the last."""
    shares = [Fraction(second, first + second) for first, second in (plan[0], plan[-1])]
    return float(shares[1] - shares[0])


def deal(
    first: Sequence[Usage], second: Sequence[Usage], plan: Plan, rng: np.random.Generator
) -> list[list[tuple[int, Usage]]]:
    """The usages of each period, each used at most once, with 0 for the first word and 1 for the second.

    Which ones, and which of them in which period, depends on the random stream and on the set of usages, not on the
    order they are given in.
    """
    stacks = [[rows[i] for i in rng.permutation(len(rows))] for rows in (sorted(first), sorted(second))]
    return [[(word, stacks[word].pop()) for word in (0, 1) for _ in range(counts[word])] for counts in plan]


def rename(usage: Usage, name: str) -> Usage:
    """The sentence on one line, with the name where the word was, as large as it was written.

    >>> rename(Usage("Mice  ran.", 0, 4), "drofa")
    Usage(sentence='Drofa ran.', start=0, end=5)
    """
    word = usage.sentence[usage.start : usage.end]
    before, after = usage.sentence[: usage.start], usage.sentence[usage.end :]
    start = len(" ".join((before + ".").split())) - 1  # the full stop keeps the space before the word
    written = _written_as(name, word)
    return Usage(" ".join((before + written + after).split()), start, start + len(written))


def _written_as(name: str, word: str) -> str:
    if len(word) > 1 and word.isupper():
        return name.upper()
    return name.capitalize() if word[0].isupper() else name

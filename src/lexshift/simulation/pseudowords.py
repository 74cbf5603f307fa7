"""Invent pseudowords, plan their usages in each period, and deal usages of their source words to the periods."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias, TypeVar

import numpy as np

from lexshift.simulation.sources import Usage
from lexshift.utils.seeds import generator

Plan: TypeAlias = tuple[tuple[int, int], ...]
"""For each period, the numbers of usages of the first and of the second source word."""

U = TypeVar("U", bound=Usage)
PATTERNS = ("change", "none", "step", "season", "yearly")
_ONSETS = (*"bdfgklmnprstvz", "br", "dr", "fl", "gr", "pl", "sk", "tr")
_VOWELS = tuple("aeiou")
_ENDS = ("", *"klmnprst")
_YEARLY = (0.0, 0.067, 0.25, 0.5, 0.75, 0.933, 1.0)
"""(1 - cos(pi k / 6)) / 2 for k months from January: the share of the second word in a smooth season."""


def invent_pseudowords(count: int, taken: Container[str], seed: int = 0) -> list[str]:
    """Invent distinct pronounceable words that are not in ``taken``.

    >>> invent_pseudowords(3, taken={"plavet"})
    ['debo', 'plefik', 'fluten']
    """
    words: list[str] = []
    for number in range(count):
        candidates = _candidates(generator(seed, "simulate", f"name {number}"))
        words.append(next(word for word in candidates if word not in taken and not any(map(word.startswith, words))))
    return words


def _candidates(rng: np.random.Generator) -> Iterator[str]:
    """Generate an endless sequence of words, first of two syllables, later longer ones."""
    attempts = 0
    while True:
        syllables = 2 + attempts // 100
        parts = [rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables)]
        yield "".join(parts) + str(rng.choice(_ENDS))
        attempts += 1


def make_plans(pattern: str, count: int, usages: int, months: int, seed: int) -> list[Plan]:
    """Plan the usages of each pseudoword in each period; changes and shares fall in even steps from 1 to 0."""
    steps = [Fraction(count - 1 - k, count - 1) if count > 1 else Fraction(1) for k in range(count)]
    if pattern == "change":
        return [change_plan(usages, change) for change in steps]
    if pattern == "none":
        return [mixed_plan(usages, share, generator(seed, "simulate", f"mix {k}")) for k, share in enumerate(steps)]
    if pattern == "season":
        return [season_plan(usages, months)] * count
    if pattern == "yearly":
        return [yearly_plan(usages, months)] * count
    # The step is in the middle third, so that there are months before and after it.
    draws = [generator(seed, "simulate", f"step {k}").integers(months // 3, months - months // 3) for k in range(count)]
    return [step_plan(usages, months, int(step)) for step in draws]


def change_plan(usages: int, change: float | Fraction) -> Plan:
    """Plan two periods with a number of usages each; the share of the second word grows by ``change``.

    Its shares are (1 - change) / 2 and (1 + change) / 2, so over both periods either word has half of the usages,
    whatever the change. Pseudowords thus differ only in how their usages are dealt to the periods, and a score cannot
    gain from the variety of usages. The change is rounded to a whole number of usages.

    >>> change_plan(10, 0.4)
    ((7, 3), (3, 7))
    """
    more = round(usages * Fraction(change))
    second = (usages - more) // 2
    return (usages - second, second), (usages - second - more, second + more)


def mixed_plan(usages: int, share: float | Fraction, rng: np.random.Generator) -> Plan:
    """Plan two periods without change: usages with this share of the second word, dealt at random.

    The periods differ as two samples do, which a test must not call a change.

    >>> mixed_plan(10, 0.3, np.random.default_rng(0))
    ((8, 2), (6, 4))
    """
    second = round(2 * usages * Fraction(share))
    old = int(rng.hypergeometric(second, 2 * usages - second, usages))
    return (usages - old, old), (usages - second + old, second - old)


def step_plan(usages: int, months: int, step: int) -> Plan:
    """Plan months with the first word before ``step`` and the second from it on.

    >>> step_plan(5, 3, 1)
    ((5, 0), (0, 5), (0, 5))
    """
    return ((usages, 0),) * step + ((0, usages),) * (months - step)


def season_plan(usages: int, months: int) -> Plan:
    """Plan months that alternate between the first and the second word.

    >>> season_plan(5, 3)
    ((5, 0), (0, 5), (5, 0))
    """
    return tuple((usages, 0) if month % 2 == 0 else (0, usages) for month in range(months))


def yearly_plan(usages: int, months: int) -> Plan:
    """Plan a smooth season: the share of the second word follows a cosine, 0 in January and 1 in July.

    Shares are rounded to a whole number of usages.

    >>> yearly_plan(10, 8)
    ((10, 0), (9, 1), (8, 2), (5, 5), (2, 8), (1, 9), (0, 10), (1, 9))
    """
    second = [round(usages * _YEARLY[min(month % 12, 12 - month % 12)]) for month in range(months)]
    return tuple((usages - n, n) for n in second)


def required_usages(plan: Plan) -> tuple[int, int]:
    """Return the numbers of usages of the first and of the second word that a plan needs."""
    return sum(first for first, _ in plan), sum(second for _, second in plan)


def planted_change(plan: Plan) -> float:
    """Return the increase of the share of the second word from the first period of a plan to the last."""
    shares = [Fraction(second, first + second) for first, second in (plan[0], plan[-1])]
    return float(shares[1] - shares[0])


def deal_usages(
    first: Sequence[U], second: Sequence[U], plan: Plan, rng: np.random.Generator
) -> list[list[tuple[int, U]]]:
    """Deal usages to periods, each at most once, with 0 for the first word and 1 for the second.

    The result depends on the random stream and on the set of usages, but not on their order.
    """
    stacks = [[rows[i] for i in rng.permutation(len(rows))] for rows in (sorted(first), sorted(second))]
    return [[(word, stacks[word].pop()) for word in (0, 1) for _ in range(counts[word])] for counts in plan]


def rename_usage(usage: Usage, name: str) -> Usage:
    """Replace the source word by a pseudoword in the same capitalisation, and put the sentence on one line.

    >>> rename_usage(Usage("Mice  ran.", 0, 4), "drofa")
    Usage(sentence='Drofa ran.', start=0, end=5)
    """
    word = usage.sentence[usage.start : usage.end]
    before, after = usage.sentence[: usage.start], usage.sentence[usage.end :]
    start = len(" ".join((before + ".").split())) - 1  # the full stop keeps the space before the word
    if len(word) > 1 and word.isupper():
        name = name.upper()
    elif word[0].isupper():
        name = name.capitalize()
    return Usage(" ".join((before + name + after).split()), start, start + len(name))

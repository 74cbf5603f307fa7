"""Invented words: they can be pronounced, and occur nowhere in a corpus."""

from __future__ import annotations

from collections.abc import Container, Iterator

import numpy as np

from lexshift.utils.seeds import generator

_ONSETS = (
    "b",
    "d",
    "f",
    "g",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "v",
    "z",
    "br",
    "dr",
    "fl",
    "gr",
    "pl",
    "sk",
    "tr",
)
_VOWELS = ("a", "e", "i", "o", "u")
_ENDS = ("", "k", "l", "m", "n", "p", "r", "s", "t")


def invent_names(count: int, taken: Container[str], seed: int = 0) -> list[str]:
    """As many different words as asked for, none of which is taken.

    >>> invent_names(3, taken={"plavet"})
    ['debo', 'plefik', 'fluten']
    """
    names: list[str] = []
    for number in range(count):
        tries = _tries(generator(seed, "simulate", f"name {number}"))
        names.append(next(name for name in tries if name not in taken and not any(map(name.startswith, names))))
    return names


def _tries(rng: np.random.Generator) -> Iterator[str]:
    """Words of two syllables, later longer ones: there is always another."""
    tried = 0
    while True:
        syllables = 2 + tried // 100
        parts = [rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables)]
        yield "".join(parts) + str(rng.choice(_ENDS))
        tried += 1

"""The protocol of descriptions: say in words what the usages of a sense have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lexshift.utils.arrays import Indices, Matrix


@dataclass(frozen=True, eq=False)
class SenseUsages:
    """The usages of a word with their senses, the input of a description.

    Attributes
    ----------
    word : str
    sentences : sequence of str, of length n
    spans : sequence of (int, int), of length n
        Start and end of the word in each sentence, in characters.
    labels : ndarray of shape (n,), int
        The sense of each usage, from 0.
    periods : ndarray of shape (n,), int
        The period of each usage, from 0.
    vectors : ndarray of shape (n, d)
        Vectors of the usages.
    language : str, optional
        ISO code of the language, if it is known.
    """

    word: str
    sentences: Sequence[str]
    spans: Sequence[tuple[int, int]]
    labels: Indices
    periods: Indices
    vectors: Matrix
    language: str | None = None


class Description(Protocol):
    """A kind of description: distinctive words, the nearest sense of a dictionary, or substitutes.

    Attributes
    ----------
    name : str
        Name of the kind, and of its column in ``senses.csv``.
    """

    name: str

    def describe(self, usages: SenseUsages) -> list[list[str]]:
        """Return the description of each sense, the most telling item first; an empty list if there is none."""
        ...

"""What is done to vectors before they are scored: nothing, centring, or standardising each dimension.

All vectors of an encoder share a large common part that says nothing of a word, and a few dimensions vary more than
all others. Both hide differences between usages. What is common is estimated without labels, from the usages of all
words in both corpora, each word weighing the same however often it occurs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Literal, get_args

import numpy as np

from lexshift.errors import UserError
from lexshift.utils import checks
from lexshift.utils.arrays import Floats, Matrix, Pairs

Kind = Literal["raw", "centred", "standardised"]
KINDS: tuple[str, ...] = get_args(Kind)

_ROUNDING = 1e-24  # of a mean's square: what rounding leaves of the variance of a constant
_NO_VALUE = 1e-12  # of the largest eigenvalue: what rounding leaves of none


@dataclass(frozen=True, eq=False)
class Space:
    """How vectors are moved and scaled before scoring.

    Attributes
    ----------
    kind : "raw", "centred" or "standardised"
    mean, scale : (d,)
        What is taken off, and what the rest is divided by.
    """

    kind: str
    mean: Floats
    scale: Floats

    def write(self, file: IO[bytes]) -> None:
        """Write it as npz: kind, mean and scale."""
        np.savez(file, kind=self.kind, mean=self.mean, scale=self.scale)

    @classmethod
    def read(cls, file: str | os.PathLike[str] | IO[bytes]) -> Space:
        """Return the space that :meth:`write` wrote."""
        with np.load(file) as arrays:
            return cls(str(arrays["kind"]), arrays["mean"], arrays["scale"])

    def apply(self, rows: Matrix) -> Matrix:
        """Vectors in this space, (n, d) float32; raw ones are the same array."""
        if self.kind == "raw":
            return rows
        return ((rows - self.mean) / self.scale).astype(np.float32)

    def of(self, pairs: Pairs) -> Pairs:
        """All words' vectors in this space, each word's made when asked for: a store may be larger than memory."""
        return pairs if self.kind == "raw" else _Within(self, pairs)


class _Within(Mapping[str, tuple[Matrix, Matrix]]):
    """The vectors of words in a space."""

    def __init__(self, space: Space, pairs: Pairs) -> None:
        self._space, self._pairs = space, pairs

    def __getitem__(self, word: str) -> tuple[Matrix, Matrix]:
        old, new = self._pairs[word]
        return self._space.apply(old), self._space.apply(new)

    def __iter__(self) -> Iterator[str]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)


def fit_space(pairs: Mapping[str, Sequence[Matrix]], kind: str) -> Space:
    """Fit a space to the usages of words in both corpora, or in all of them if there are more.

    The mean is the mean over words of the mean over a word's usages, and so is the variance about it. A dimension that
    never varies is left as it is.

    >>> pairs = {"a": (np.zeros((9, 1)), np.zeros((1, 1))), "b": (np.full((1, 1), 2.0), np.full((1, 1), 6.0))}
    >>> space = fit_space(pairs, "centred")
    >>> space.mean.tolist(), space.apply(np.array([[3.0]])).tolist()
    ([2.0], [[1.0]])
    """
    checks.choice(kind, "space", KINDS)
    if not pairs:
        raise UserError("a space is fitted to the usages of at least one word; got none")
    mean = np.mean([rows.mean(axis=0) for rows in _usages(pairs)], axis=0)  # (d,)
    scale = np.ones_like(mean)
    if kind == "standardised":
        variance = np.mean([((rows - mean) ** 2).mean(axis=0) for rows in _usages(pairs)], axis=0)  # (d,)
        varies = variance > _ROUNDING * mean**2
        scale = np.sqrt(np.where(varies, variance, 1))
    return Space(kind, mean if kind != "raw" else np.zeros_like(mean), scale)


def _usages(pairs: Mapping[str, Sequence[Matrix]]) -> Iterator[Floats]:
    """All usages of one word after another, (n, d); sums do not depend on the order they are given in."""
    for word in sorted(pairs):
        yield np.concatenate([np.asarray(rows, float) for rows in pairs[word]])


def principal_axes(rows: Floats, most: int) -> tuple[Floats, Floats]:
    """Compute the largest eigenvalues of ``rows.T @ rows``, and their vectors.

    The smaller of the two products of the rows with themselves is decomposed: it has the same eigenvalues.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    most : int

    Returns
    -------
    values : ndarray of shape (k,)
        The largest first; k is ``most``, or n or d if one of them is smaller.
    axes : ndarray of shape (d, k)
        Orthonormal columns; zeros for an eigenvalue of 0, if n is smaller than d.
    """
    from scipy.linalg import eigh  # a slow import

    n, d = rows.shape
    small = min(n, d)
    kept = [small - min(small, most), small - 1]
    values, vectors = eigh(rows @ rows.T if n < d else rows.T @ rows, subset_by_index=kept)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    if n < d:
        some = values > _NO_VALUE * values[0]
        vectors = np.where(some, rows.T @ vectors / np.sqrt(np.where(some, values, 1.0)), 0.0)
    return values, vectors

"""Transform vectors before scoring: leave them raw, centre them, or standardise each dimension.

The vectors of an encoder share a large common component that carries no information about a word, and a few dimensions
vary more than all others. Both hide differences between usages. The common mean and scale are estimated without labels,
from the usages of control words in both corpora, or else from those of the words that are studied; each word has the
same weight, regardless of its frequency.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Literal, get_args

import numpy as np

from lexshift.encode.adaptation import FixedSpace
from lexshift.encode.protocol import optional_attribute
from lexshift.errors import UserError
from lexshift.utils import checks
from lexshift.utils.arrays import Floats, Matrix, Pairs

AUTO, FIXED, DEFAULT = "auto", "fixed", "standardised"
Kind = Literal["raw", "centred", "standardised"]
KINDS: tuple[str, ...] = get_args(Kind)
"""The spaces that can be fitted to usages."""

_ROUNDING = 1e-24  # variances below this share of the squared mean are rounding errors of a constant
_MIN_EIGENVALUE = 1e-12  # eigenvalues below this share of the largest one are rounding errors of 0


@dataclass(frozen=True, eq=False)
class Space:
    """A transformation of vectors before scoring: a shift and a scale for each dimension.

    Attributes
    ----------
    kind : "raw", "centred", "standardised" or "fixed"
        The last belongs to an encoder, and does not depend on the usages of a run.
    mean, scale : ndarray of shape (d,)
        The mean is subtracted first, then the result is divided by the scale.
    """

    kind: str
    mean: Floats
    scale: Floats

    @property
    def identity(self) -> list[str]:
        """The kind, and for a fixed space a checksum; other spaces follow from the vectors to which they are fitted."""
        if self.kind != FIXED:
            return [self.kind]
        return [self.kind, hashlib.sha256(self.mean.tobytes() + self.scale.tobytes()).hexdigest()]

    def write(self, file: IO[bytes]) -> None:
        """Write the space to an npz file: kind, mean and scale."""
        np.savez(file, kind=self.kind, mean=self.mean, scale=self.scale)

    @classmethod
    def read(cls, file: str | os.PathLike[str] | IO[bytes]) -> Space:
        """Read a space that was written by :meth:`write`."""
        with np.load(file) as arrays:
            return cls(str(arrays["kind"]), arrays["mean"], arrays["scale"])

    def apply(self, rows: Matrix) -> Matrix:
        """Transform vectors to this space: (n, d) to (n, d) of float32. A raw space returns the same array."""
        if self.kind == "raw":
            return rows
        return ((rows - self.mean) / self.scale).astype(np.float32)

    def apply_to_words(self, pairs: Pairs) -> Pairs:
        """Return a mapping of all words to their transformed vectors.

        The vectors of a word are transformed when they are accessed, because a store may be larger than memory.
        """
        return pairs if self.kind == "raw" else _TransformedWords(self, pairs)


class _TransformedWords(Mapping[str, tuple[Matrix, Matrix]]):
    """A mapping of words to their vectors, transformed on access."""

    def __init__(self, space: Space, pairs: Pairs) -> None:
        self._space, self._pairs = space, pairs

    def __getitem__(self, word: str) -> tuple[Matrix, Matrix]:
        old, new = self._pairs[word]
        return self._space.apply(old), self._space.apply(new)

    def __iter__(self) -> Iterator[str]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)


def choose_space(pairs: Mapping[str, Sequence[Matrix]], kind: str, encoder: Any) -> Space:
    """Return the space of a run.

    Parameters
    ----------
    pairs : mapping of a word to its arrays, one for each corpus
        Arrays of shape (n, d), to which a space is fitted unless it is fixed: those of control words if there are any,
        so that the space does not depend on the words that are studied.
    kind : "auto", "raw", "centred" or "standardised"
        "auto" is the space that the encoder declares, or "standardised" if it declares none.
    encoder : Encoder
    """
    declared = optional_attribute(encoder, "space")
    if kind == AUTO and isinstance(declared, FixedSpace):
        return calibration_space(encoder)
    return fit_space(pairs, (declared or DEFAULT) if kind == AUTO else kind)


def calibration_space(encoder: Any) -> Space:
    """Return the space in which the calibration of an encoder is valid: its fixed space, or else raw vectors."""
    declared = optional_attribute(encoder, "space")
    if isinstance(declared, FixedSpace):
        return Space(FIXED, np.asarray(declared.mean, float), np.asarray(declared.scale, float))
    return Space("raw", np.zeros(1), np.ones(1))


def fit_space(pairs: Mapping[str, Sequence[Matrix]], kind: str) -> Space:
    """Fit a space to the usages of words in both corpora, or in all of them if there are more.

    The mean is the mean over words of the mean over a word's usages, and so is the variance about it. A dimension that
    never varies is not scaled.

    Parameters
    ----------
    pairs : mapping of a word to its arrays, one for each corpus
        Arrays of shape (n, d).
    kind : "raw", "centred" or "standardised"

    Returns
    -------
    Space

    Examples
    --------
    >>> pairs = {"a": (np.zeros((9, 1)), np.zeros((1, 1))), "b": (np.full((1, 1), 2.0), np.full((1, 1), 6.0))}
    >>> space = fit_space(pairs, "centred")
    >>> space.mean.tolist(), space.apply(np.array([[3.0]])).tolist()
    ([2.0], [[1.0]])
    """
    checks.choice(kind, "space", KINDS)
    if not pairs:
        raise UserError("fitting a space needs the usages of at least one word; got none")
    mean = np.mean([rows.mean(axis=0) for rows in _usages(pairs)], axis=0)  # (d,)
    scale = np.ones_like(mean)
    if kind == "standardised":
        variance = np.mean([((rows - mean) ** 2).mean(axis=0) for rows in _usages(pairs)], axis=0)  # (d,)
        varies = variance > _ROUNDING * mean**2
        scale = np.sqrt(np.where(varies, variance, 1))
    return Space(kind, mean if kind != "raw" else np.zeros_like(mean), scale)


def _usages(pairs: Mapping[str, Sequence[Matrix]]) -> Iterator[Floats]:
    """Yield the usages of each word, (n, d), in sorted order so that sums do not depend on the order of the mapping."""
    for word in sorted(pairs):
        yield np.concatenate([np.asarray(rows, float) for rows in pairs[word]])


def principal_axes(rows: Floats, max_axes: int) -> tuple[Floats, Floats]:
    """Compute the largest eigenvalues of ``rows.T @ rows`` and their eigenvectors.

    The smaller of ``rows.T @ rows`` and ``rows @ rows.T`` is decomposed, as both have the same nonzero eigenvalues.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    max_axes : int

    Returns
    -------
    values : ndarray of shape (k,)
        The largest first; k is ``max_axes``, or n or d if one of them is smaller.
    axes : ndarray of shape (d, k)
        Orthonormal columns; zeros for an eigenvalue of 0, if n is smaller than d.
    """
    from scipy.linalg import eigh  # imported here because it is slow

    n, d = rows.shape
    small = min(n, d)
    largest = [small - min(small, max_axes), small - 1]
    values, vectors = eigh(rows @ rows.T if n < d else rows.T @ rows, subset_by_index=largest)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    if n < d:
        is_positive = values > _MIN_EIGENVALUE * values[0]
        vectors = np.where(is_positive, rows.T @ vectors / np.sqrt(np.where(is_positive, values, 1.0)), 0.0)
    return values, vectors

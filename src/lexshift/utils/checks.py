"""What is done to every argument before any arithmetic: errors that name the argument, the value and the remedy."""

from __future__ import annotations

import difflib
import inspect
import numbers
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from lexshift.errors import UserError
from lexshift.utils.arrays import Array, Matrix

MIN_ROWS = 2  # a sample variance needs two


def rows(values: npt.ArrayLike, name: str) -> Matrix:
    """A set of sibling embeddings as a C-ordered (n, d) array of float32 or float64, copied only if it has to be."""
    try:
        array: Array = np.asarray(values)
    except Exception as error:  # whatever a library's __array__ raises: a tensor on a GPU, one with gradients
        raise UserError(f"{name} must be a 2-D array of numbers (occurrences x dimensions): {error}") from None
    if np.ma.is_masked(values):
        raise UserError(f"{name} has masked values; every value must be a finite number")
    if array.ndim != 2:
        got = f"{array.ndim}-D of shape {array.shape}" if array.ndim else type(values).__name__
        raise UserError(
            f"{name} must be a 2-D array (occurrences x dimensions), one row for each occurrence; got {got}"
        )
    if array.dtype.kind not in "fiub":
        raise UserError(f"{name} must hold real numbers; got an array of {array.dtype}")
    if array.shape[0] < MIN_ROWS:
        raise UserError(
            f"{name} has {_count(array.shape[0], 'row')}; a variance needs at least {MIN_ROWS} occurrences of the word"
        )
    if array.shape[1] == 0:
        raise UserError(f"{name} has rows of 0 dimensions (shape {array.shape}); an embedding needs at least one")
    dtype = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    return np.ascontiguousarray(array, dtype=dtype)


def pair(old: npt.ArrayLike, new: npt.ArrayLike) -> tuple[Matrix, Matrix]:
    """Both sets as :func:`rows`, of one precision and one dimension."""
    a, b = rows(old, "old"), rows(new, "new")
    if a.shape[1] != b.shape[1]:
        raise UserError(
            f"old and new must have the same number of dimensions; got {a.shape[1]} and {b.shape[1]} "
            f"(were they made by two different encoders?)"
        )
    dtype = np.result_type(a, b)
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)


def finite(array: Matrix, name: str) -> None:
    """Raise for the first NaN or infinite value, saying where it is. Called only once one is known to exist."""
    for i, row in enumerate(array):
        bad = np.flatnonzero(~np.isfinite(row))
        if len(bad):
            raise UserError(
                f"{name} holds {row[bad[0]]} at row {i}, dimension {bad[0]}; every value must be a finite number"
            )
    raise UserError(f"{name} holds values too large for their sums to be finite; rescale it")


def fraction(rate: Any, name: str = "rate") -> Fraction:
    """The swap rate as the fraction its decimals say: 0.7 is 7/10, not the binary number nearest to it."""
    message = f"{name} must be a number from 0 to 1; got {rate!r}"
    if isinstance(rate, (bool, np.bool_)) or not isinstance(rate, (numbers.Real, Decimal)):
        raise UserError(message)
    try:
        value = rate if isinstance(rate, Fraction) else Fraction(str(rate))
    except ValueError:
        raise UserError(message) from None
    if not 0 <= value <= 1:
        raise UserError(message)
    return value.limit_denominator(1_000_000)


def fractions(rates: Any) -> tuple[Fraction, ...]:
    """A non-empty sequence of swap rates as :func:`fraction`."""
    if isinstance(rates, (str, bytes)) or not isinstance(rates, Iterable) or getattr(rates, "ndim", 1) != 1:
        raise UserError(f"rates must be a sequence of numbers from 0 to 1; got {rates!r}")
    values = tuple(fraction(rate, "every rate in rates") for rate in rates)
    if not values:
        raise UserError("rates must name at least one rate from 0 to 1; got none")
    return values


def positive(value: Any, name: str, least: int = 1) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise UserError(f"{name} must be a whole number of at least {least}; got {value!r}")
    return int(value)


def seed(value: Any, name: str = "seed") -> int:
    """Return a seed, a whole number of at least 0."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 0:
        raise UserError(f"{name} must be a whole number, 0 or more; got {value!r}")
    return int(value)


def number_or_all(value: Any, name: str) -> int | None:
    """Return a whole number of at least 1, or None for 0 or None, which stand for all."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 0:
        raise UserError(f"{name} must be a whole number, or 0 for all; got {value!r}")
    return int(value) or None


def rate_or_auto(value: Any, name: str) -> float | Literal["auto"]:
    """Return a number from 0 to 1, or "auto"."""
    if isinstance(value, str) and value == "auto":
        return "auto"
    try:
        return float(fraction(value, name))
    except UserError:
        raise UserError(f"{name} must be a number from 0 to 1, or auto; got {value!r}") from None


def positive_or_auto(value: Any, name: str) -> int | Literal["auto"]:
    """Return a whole number of at least 1, or "auto"."""
    if isinstance(value, str) and value == "auto":
        return "auto"
    try:
        return positive(value, name)
    except UserError:
        raise UserError(f"{name} must be a whole number of at least 1, or auto; got {value!r}") from None


def between_0_and_1(value: Any, name: str) -> float:
    """A share strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < 1:
        raise UserError(f"{name} must be a number between 0 and 1; got {value!r}")
    return float(value)


def from_0_to_1(values: Array, name: str) -> None:
    """Probabilities, both ends included; NaN is none."""
    outside = values[~((values >= 0) & (values <= 1))]
    if outside.size:
        raise UserError(f"{name} must be from 0 to 1; got {outside[0]}")


def choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """One of a few names; a near miss is answered with the name that was probably meant."""
    known = sorted(choices)
    if isinstance(value, str) and value in known:
        return value
    near = difflib.get_close_matches(str(value), known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise UserError(f"{name} must be one of {', '.join(known)}; got {value!r}. {hint}".rstrip())


def keywords(given: Iterable[str], known: Iterable[str], function: Callable[..., Any]) -> None:
    """Raise for the first keyword argument that a function does not take, naming the one that was probably meant.

    ``given`` are keyword arguments that the signature of the function does not name, ``known`` those of them that it
    passes on.
    """
    allowed = tuple(known)
    for name in given:
        if name not in allowed:
            near = difflib.get_close_matches(name, [*inspect.signature(function).parameters, *allowed], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UserError(f"{function.__name__} has no argument {name!r}{hint}")


def sizes(corpus_sizes: Any) -> tuple[int, int] | None:
    """Sentences in the old and the new corpus, or None."""
    if corpus_sizes is None:
        return None
    try:
        old, new = corpus_sizes
    except (TypeError, ValueError):
        raise UserError(f"corpus_sizes must be two numbers of sentences, old and new; got {corpus_sizes!r}") from None
    return positive(old, "corpus_sizes[0]"), positive(new, "corpus_sizes[1]")


def _count(n: int, noun: str) -> str:
    return f"no {noun}s" if n == 0 else f"{n} {noun}" + ("s" if n > 1 else "")

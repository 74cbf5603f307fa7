"""Check arguments before any arithmetic; errors name the argument, its value and what is valid."""

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
    """Return a set of sibling embeddings as a C-ordered (n, d) array of float32 or float64, copied only if needed."""
    try:
        array: Array = np.asarray(values)
    except Exception as error:  # __array__ may raise anything, e.g. of a tensor on a GPU or with gradients
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
    """Return both sets as :func:`rows` does, with the same precision; their dimensions must agree."""
    a, b = rows(old, "old"), rows(new, "new")
    if a.shape[1] != b.shape[1]:
        raise UserError(
            f"old and new must have the same number of dimensions; got {a.shape[1]} and {b.shape[1]} "
            f"(were they made by two different encoders?)"
        )
    dtype = np.result_type(a, b)
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)


def finite(array: Matrix, name: str) -> None:
    """Raise an error that locates the first NaN or infinite value, of which there must be one."""
    for i, row in enumerate(array):
        bad = np.flatnonzero(~np.isfinite(row))
        if len(bad):
            raise UserError(
                f"{name} holds {row[bad[0]]} at row {i}, dimension {bad[0]}; every value must be a finite number"
            )
    raise UserError(f"{name} holds values too large for their sums to be finite; rescale it")


def fraction(rate: Any, name: str = "rate") -> Fraction:
    """Return the swap rate as the fraction that its decimals denote: 0.7 is 7/10, not the nearest binary number."""
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
    """Return each of a non-empty sequence of swap rates as :func:`fraction` does."""
    if isinstance(rates, (str, bytes)) or not isinstance(rates, Iterable) or getattr(rates, "ndim", 1) != 1:
        raise UserError(f"rates must be a sequence of numbers from 0 to 1; got {rates!r}")
    values = tuple(fraction(rate, "every rate in rates") for rate in rates)
    if not values:
        raise UserError("rates must name at least one rate from 0 to 1; got none")
    return values


def positive(value: Any, name: str, least: int = 1) -> int:
    """Return a whole number of at least ``least``."""
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
    """Return a number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < 1:
        raise UserError(f"{name} must be a number between 0 and 1; got {value!r}")
    return float(value)


def from_0_to_1(values: Array, name: str) -> None:
    """Raise an error unless all values are from 0 to 1; NaN is not."""
    outside = values[~((values >= 0) & (values <= 1))]
    if outside.size:
        raise UserError(f"{name} must be from 0 to 1; got {outside[0]}")


def choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """Return a value that is one of some names; the error for any other suggests the most similar name."""
    names = sorted(choices)
    if isinstance(value, str) and value in names:
        return value
    near = difflib.get_close_matches(str(value), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UserError(f"{name} must be one of {', '.join(names)}; got {value!r}{hint}")


def keywords(names: Iterable[str], accepted_names: Iterable[str], function: Callable[..., Any]) -> None:
    """Raise an error for the first keyword argument that a function does not accept, and suggest a similar one.

    Parameters
    ----------
    names : iterable of str
        Keyword arguments of a call that the signature of the function does not name.
    accepted_names : iterable of str
        Names of the keyword arguments that the function passes on.
    function : callable
    """
    valid = tuple(accepted_names)
    for name in names:
        if name not in valid:
            near = difflib.get_close_matches(name, [*inspect.signature(function).parameters, *valid], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UserError(f"{function.__name__} has no argument {name!r}{hint}")


def sizes(corpus_sizes: Any) -> tuple[int, int] | None:
    """Return the numbers of sentences in the old and the new corpus, or None."""
    if corpus_sizes is None:
        return None
    try:
        old, new = corpus_sizes
    except (TypeError, ValueError):
        raise UserError(f"corpus_sizes must be two numbers of sentences, old and new; got {corpus_sizes!r}") from None
    return positive(old, "corpus_sizes[0]"), positive(new, "corpus_sizes[1]")


def _count(n: int, noun: str) -> str:
    return f"no {noun}s" if n == 0 else f"{n} {noun}" + ("s" if n > 1 else "")

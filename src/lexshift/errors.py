"""Errors that a user can do something about."""

from __future__ import annotations

from collections.abc import Callable, Iterable

_MAX_NAMES, _MAX_CHARACTERS = 10, 60  # in a message, and in each name


class UserError(ValueError):
    """An error that the user can fix: its message says what is wrong, where, and what to do.

    The command line prints the message without a traceback.

    Examples
    --------
    >>> from lexshift import SSCD, UserError
    >>> try:
    ...     SSCD(metric="cosin")
    ... except UserError as error:
    ...     print(str(error)[-22:])
    did you mean 'cosine'?
    """


class Note(UserWarning):
    """A warning that the user should know of but need not act on; the command line prints it as a note."""


def join_names(names: Iterable[str], show: Callable[[str], str] = repr) -> str:
    """Join names for a message, at most the first 10, each with at most 60 characters.

    >>> join_names(["id", "text"]), join_names(map(str, range(12)), show=str)
    ("'id', 'text'", '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more')
    """
    every = list(names)
    shortened = [
        name if len(name) <= _MAX_CHARACTERS else name[: _MAX_CHARACTERS - 1] + "…" for name in every[:_MAX_NAMES]
    ]
    more = f" and {len(every) - _MAX_NAMES:,} more" if len(every) > _MAX_NAMES else ""
    return (", ".join(map(show, shortened)) or "none") + more

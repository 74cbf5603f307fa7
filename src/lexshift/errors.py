"""Errors that a user can do something about."""

from __future__ import annotations

from collections.abc import Callable, Iterable

_SHOWN, _LONGEST = 10, 60  # names in a message, and characters of each


class UserError(ValueError):
    """One sentence for the user: what is wrong, where, and what would be right. The command line prints just that.

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
    """Something that a user should know and need not act on; the command line prints it as a note."""


def listed(names: Iterable[str], show: Callable[[str], str] = repr) -> str:
    """Join names for a message, at most the first 10, each with at most 60 characters.

    >>> listed(["id", "text"]), listed(map(str, range(12)), show=str)
    ("'id', 'text'", '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more')
    """
    known = list(names)
    shown = [show(name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…") for name in known[:_SHOWN]]
    more = f" and {len(known) - _SHOWN:,} more" if len(known) > _SHOWN else ""
    return (", ".join(shown) or "none") + more

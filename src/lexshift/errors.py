"""Errors that a user can do something about."""

from __future__ import annotations


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

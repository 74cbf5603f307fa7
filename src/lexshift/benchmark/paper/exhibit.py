"""A table or figure of the paper, and the text of the numbers in its cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

DASH = "–"
"""Text of a number that is not defined."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table: our figure, the published figures below it, and whether ours is the best of its row."""

    text: str
    published: tuple[str, ...] = ()
    best: bool = False


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A table or figure.

    Attributes
    ----------
    name : str
        Name of its file, without the ending.
    title, note : str
        Title, and a note on what it shows and how to read it.
    table : DataFrame
        All figures, for a CSV file.
    columns : tuple of str
        Headings of the displayed columns.
    rows : tuple of tuples of Cell
        Displayed rows; the first cell is the heading of its row.
    texts : int
        Number of leading columns that hold text instead of numbers.
    """

    name: str
    title: str
    note: str
    table: pd.DataFrame
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    texts: int = 1


def format_number(value: float, digits: int = 3) -> str:
    """Return a number as text, or a dash if it is NaN.

    >>> format_number(-0.0561), format_number(float("nan"))
    ('-0.056', '–')
    """
    return DASH if math.isnan(value) else f"{value:.{digits}f}"


def format_spread(mean: float, sd: float) -> str:
    """Return a mean with its standard deviation as text.

    >>> format_spread(0.552, 0.037), format_spread(0.552, float("nan"))
    ('0.552 ± 0.037', '0.552')
    """
    return format_number(mean) if math.isnan(mean) or math.isnan(sd) else f"{format_number(mean)} ± {format_number(sd)}"


def format_scaled(mean: float, sd: float) -> str:
    """Return a mean of any size with three digits, and its standard deviation with as many decimals.

    >>> format_scaled(3002.4, 431.3), format_scaled(0.01234, 0.0021), format_scaled(0.0, 0.0)
    ('3002 ± 431', '0.0123 ± 0.0021', '0 ± 0')
    """
    decimals = max(0, 2 - math.floor(math.log10(abs(mean)))) if mean else 0
    return f"{mean:.{decimals}f} ± {sd:.{decimals}f}"

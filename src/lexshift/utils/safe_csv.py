"""Tables as CSV that spreadsheet programs open without running anything.

Programs such as Excel take a cell that begins with ``=`` for a formula, and words may come from anybody's text. A text
that could be one is written behind an apostrophe, which these programs take for a mark of text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def csv_text(table: pd.DataFrame) -> str:
    """Return a table as CSV, in which texts that could be formulas begin with an apostrophe; numbers stay as they are.

    >>> import pandas as pd
    >>> print(csv_text(pd.DataFrame({"word": ["mouse", "=1+1", "-5"], "score": [0.5, -0.25, 1.0]})), end="")
    word,score
    mouse,0.5
    '=1+1,-0.25
    -5,1.0
    """
    safe = table.rename(columns=escape_formula)
    for number in range(safe.shape[1]):
        column = safe.iloc[:, number].tolist()
        if any(isinstance(value, str) and value.startswith(_STARTS) for value in column):
            safe.isetitem(number, [escape_formula(value) for value in column])
    return str(safe.to_csv(index=False))


def escape_formula(value: Any) -> Any:
    """Return a value; a text that could be a formula gets an apostrophe in front."""
    if not isinstance(value, str) or not value.startswith(_STARTS) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"

"""Write a number together with what is counted."""

from __future__ import annotations

import re


def with_unit(n: int, plural: str) -> str:
    """Return a number with its unit, whose first plural becomes a singular for 1.

    >>> with_unit(2, "words"), with_unit(1, "pairs of periods"), with_unit(1, "damaged entries")
    ('2 words', '1 pair of periods', '1 damaged entry')
    """
    if n != 1:
        return f"{n:,} {plural}"
    singular = re.sub(r"(?<=\w)(ies|s)\b", lambda end: "y" if end[0] == "ies" else "", plural, count=1)
    return f"1 {singular}"

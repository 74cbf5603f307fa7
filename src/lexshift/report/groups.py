"""Show the comparison of groups of texts as rows of text, for the page and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexshift.report.page import chance

if TYPE_CHECKING:
    from lexshift.scoring.gap import Gap
    from lexshift.scoring.group_difference import GroupDifference
    from lexshift.study.result import Result


def group_columns(result: Result) -> list[str]:
    """Return the headings of the table of groups; those of two groups have their names."""
    names = [] if result.group_comparison is None else result.group_comparison.names
    gaps = [f"gap in {name}" for name in names] if len(names) == 2 else ["groups", "gaps"]
    return ["word", *gaps, "difference", "95 % interval", "q", "reading"]


def group_rows(result: Result, limit: int) -> list[list[str]]:
    """Return the cells of the first rows of the table of groups, words whose groups differ first.

    Cells without a value are empty.

    Parameters
    ----------
    result : Result
    limit : int
        Maximum number of rows.
    """
    comparison = result.group_comparison
    if comparison is None:
        return []
    gaps = {
        (change.word, change.group): None if change.evidence is None else change.evidence.gap
        for change in comparison.changes
    }
    rows = []
    for pair, q, _, reading in result.group_readings[:limit]:
        of_groups = [_gap(result, gaps[pair.word, group]) for group in (pair.first, pair.second)]
        if len(comparison.names) > 2:
            of_groups = [f"{pair.first}, {pair.second}", " and ".join(text or "–" for text in of_groups)]
        difference = pair.difference
        interval = "" if difference is None else _interval(result, difference)
        rows.append(
            [
                pair.word,
                *of_groups,
                _gap(result, difference),
                interval,
                "" if difference is None else chance(q),
                reading,
            ]
        )
    return rows


def _gap(result: Result, estimate: Gap | GroupDifference | None) -> str:
    return "" if estimate is None else result.backdrop.format_gap(estimate.value)


def _interval(result: Result, difference: GroupDifference) -> str:
    low, high = (result.backdrop.format_gap(limit) for limit in (difference.low, difference.high))
    return f"{low.removesuffix(' points')} to {high}"

"""Print the senses of words as a table: a row for each sense, with its shares and the words that describe it."""

from __future__ import annotations

from math import isnan

from rich.table import Table
from rich.text import Text

from lexshift.report.page import chance
from lexshift.report.senses import change_text, describe, shares_text, shares_title
from lexshift.study.study_result import StudyResult
from lexshift.study.verdict import TOO_FEW


def sense_rows(result: StudyResult, words: int | None = None) -> Table:
    """Return a table with a row for each sense of each word: shares, change, q, and words that describe it.

    Words with too few usages come last.

    Parameters
    ----------
    result : StudyResult
    words : int, optional
        Maximum number of words.
    """
    names = [entry["name"] for entry in result.run["corpora"]]
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("word", no_wrap=True)
    table.add_column("sense", justify="right", no_wrap=True)
    table.add_column(Text(shares_title(names)), no_wrap=True)
    table.add_column("change", no_wrap=True)
    table.add_column("q", justify="right", no_wrap=True)
    table.add_column("description")
    for word, found in list(result.senses.items())[:words]:
        for sense in found.senses:
            style = "" if sense.change == "kept" else "bold magenta"
            table.add_row(
                Text(word if sense.number == 1 else ""),
                str(sense.number),
                shares_text(sense.shares),
                Text(change_text(found, sense), style),
                "" if isnan(sense.q) else chance(sense.q),
                Text(describe(result, sense)),
            )
    reason = f"{result.settings['min_usages']} usages are needed in two periods"
    for word in result.sense_words[:words]:
        if word not in result.senses:
            table.add_row(Text(word), "", "", TOO_FEW, "", reason, style="dim")
    return table

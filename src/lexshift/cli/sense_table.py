"""Print the senses of words as a table: a row for each sense, with its shares and the words that describe it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from rich.table import Table
from rich.text import Text

from lexshift.report.page import chance
from lexshift.senses.word_senses import Sense
from lexshift.study.study_result import StudyResult
from lexshift.study.verdict import TOO_FEW

_MAX_PERIODS = 4  # number of periods whose shares are printed; the others are a line of blocks
_BLOCKS, _NO_USAGE = "▁▂▃▄▅▆▇█", "·"


def sense_rows(result: StudyResult) -> Table:
    """Return a table with a row for each sense of each word: shares, change, q, and words that describe it.

    Words with too few usages come last.
    """
    names = [entry["name"] for entry in result.run["corpora"]]
    has_inventory = result.settings["inventory"] is not None
    is_long = len(names) > _MAX_PERIODS
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("word", no_wrap=True)
    table.add_column("sense", justify="right", no_wrap=True)
    table.add_column(Text(f"{names[0]} … {names[-1]}" if is_long else " → ".join(names)), no_wrap=True)
    table.add_column("change", no_wrap=True)
    table.add_column("q", justify="right", no_wrap=True)
    table.add_column("description")
    for word, found in result.senses.items():
        for sense in found.senses:
            style = "" if sense.change == "kept" else "bold magenta"
            table.add_row(
                Text(word if sense.number == 1 else ""),
                str(sense.number),
                _blocks(sense.shares) if is_long else " → ".join(map(share_text, sense.shares)),
                Text(sense.change if len(found) > 1 else "one sense", style),
                "" if isnan(sense.q) else chance(sense.q),
                Text(describe(sense, "not in the inventory" if has_inventory else "")),
            )
    reason = f"{result.settings['min_usages']} usages are needed in two periods"
    for word in result.words:
        if word not in result.senses:
            table.add_row(Text(word), "", "", TOO_FEW, "", reason, style="dim")
    return table


def share_text(share: float) -> str:
    """Return a share in per cent, or a dash for a period without usages.

    >>> [share_text(share) for share in (0.0, 0.4333, 1.0, float("nan"))]
    ['  0 %', ' 43 %', '100 %', '    –']
    """
    return "    –" if isnan(share) else f"{100 * share:3.0f} %"


def describe(sense: Sense, unknown: str) -> str:
    """Return the name of a known sense, or a text in its place, and all descriptions in one line."""
    parts = [sense.known or unknown, *(", ".join(items) for items in sense.description.values())]
    return "; ".join(filter(None, parts))


def _blocks(shares: Sequence[float]) -> str:
    """Return a block for each period, as high as the share; a dot for a period without usages."""
    return "".join(_NO_USAGE if isnan(share) else _BLOCKS[round(share * (len(_BLOCKS) - 1))] for share in shares)

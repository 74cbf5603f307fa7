"""The senses of a word on a page: shares with intervals, changes, descriptions and examples, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

from lexshift.report.page import NOTEBOOK_ROWS, chance, excerpt, notebook_table, round_figures
from lexshift.senses.word_senses import Sense, WordSenses
from lexshift.study.study_result import StudyResult

SCRIPT, STYLE = "senses.js", "senses.css"
KINDS = {"distinctive_words": "Distinctive words", "gloss": "Dictionary", "substitutes": "Substitutes"}
"""Titles of the kinds of descriptions; a kind without a title is shown under its name."""
ONE_SENSE = "one sense"
"""What is shown as the change of the only sense of a word."""
_MAX_EXAMPLES = 3
_MAX_PERIODS = 4  # number of periods whose shares are figures; those of more periods are a line of blocks
_BLOCKS, _NO_USAGE = "▁▂▃▄▅▆▇█", "·"


def shares_title(labels: Sequence[str]) -> str:
    """Return the title of the column of :func:`shares_text`, given the names of the periods."""
    return f"{labels[0]} … {labels[-1]}" if len(labels) > _MAX_PERIODS else " → ".join(labels)


def shares_text(shares: Sequence[float]) -> str:
    """Return the shares of a sense in all periods, as figures or, for many periods, as blocks.

    A period without usages is a dash or a dot.

    >>> shares_text([0.25, 1.0]), shares_text([0.0, 0.1, float("nan"), 0.5, 1.0])
    (' 25 % → 100 %', '▁▂·▅█')
    """
    if len(shares) <= _MAX_PERIODS:
        return " → ".join(map(share_text, shares))
    return "".join(_NO_USAGE if isnan(share) else _BLOCKS[round(share * (len(_BLOCKS) - 1))] for share in shares)


def share_text(share: float) -> str:
    """Return a share in per cent, or a dash for a period without usages.

    >>> [share_text(share) for share in (0.0, 0.4333, 1.0, float("nan"))]
    ['  0 %', ' 43 %', '100 %', '    –']
    """
    return "    –" if isnan(share) else f"{100 * share:3.0f} %"


def change_text(word_senses: WordSenses, sense: Sense) -> str:
    """Return the change of a sense, or that it is the only one of its word."""
    return sense.change if len(word_senses) > 1 else ONE_SENSE


def describe(result: StudyResult, sense: Sense) -> str:
    """Return the name of a sense in the inventory, or that it is not in it, and all descriptions in one line."""
    unknown = "" if result.settings["inventory"] is None else "not in the inventory"
    parts = [sense.known or unknown, *(", ".join(items) for items in sense.description.values())]
    return "; ".join(filter(None, parts))


def notebook_senses(result: StudyResult) -> str:
    """Return the first senses as a table in a notebook, as HTML text; nothing if senses were not sought."""
    if not result.has_senses:
        return ""
    labels = [entry["name"] for entry in result.run["corpora"]]
    rows = [
        [
            word,
            str(sense.number),
            describe(result, sense),
            shares_text(sense.shares),
            change_text(word_senses, sense),
            "" if isnan(sense.q) else chance(sense.q),
        ]
        for word, word_senses in result.senses.items()
        for sense in word_senses.senses
    ]
    columns = ["word", "sense", "description", shares_title(labels), "change", "q"]
    return notebook_table(result.sense_headline(), columns, rows[:NOTEBOOK_ROWS], len(rows), "sense_table")


def sense_values(result: StudyResult, word: str) -> list[dict[str, Any]]:
    """Return the senses of a word as plain values; an empty list if it has none.

    ``shares`` has [number of usages, share, low, high] for each period. Of a period without usages, all but the first
    are None. ``examples`` has [before, word, after, place, period]. With an inventory, ``known`` is the name of
    the sense in it, or empty.
    """
    word_senses = result.senses.get(word)
    if word_senses is None:
        return []
    frames = [result.siblings[word].occurrences(period) for period in result.siblings.corpora]
    rows = [(i, row) for i, frame in enumerate(frames) for row in frame.to_dict("records")]
    senses = [_sense(sense, rows) for sense in word_senses.senses]
    if result.settings.get("inventory") is not None:
        senses = [values | {"known": sense.known} for values, sense in zip(senses, word_senses.senses, strict=True)]
    return senses


def _sense(sense: Sense, usages: list[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    rounded = ([round_figures(value, 3) for value in values] for values in (sense.shares, sense.low, sense.high))
    examples = [usages[i] for i in sense.examples[:_MAX_EXAMPLES]]
    return {
        "number": sense.number,
        "change": sense.change,
        "shares": [list(values) for values in zip(sense.counts, *rounded, strict=True)],
        "p": round_figures(sense.p),
        "q": round_figures(sense.q),
        "stability": round_figures(sense.stability, 2),
        "description": [[KINDS.get(kind, kind), ", ".join(items)] for kind, items in sense.description.items()],
        "examples": [
            [*excerpt(row["sentence"], row["start"], row["end"]), f"{row['file']}:{row['line']}", period]
            for period, row in examples
        ],
    }

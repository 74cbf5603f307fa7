"""The senses of a word on a page: shares with intervals, changes, descriptions and examples, as plain values."""

from __future__ import annotations

from typing import Any

from lexshift.report.page import excerpt, round_figures
from lexshift.senses.word_senses import Sense
from lexshift.study.study_result import StudyResult

SCRIPT, STYLE = "senses.js", "senses.css"
KINDS = {"distinctive_words": "Distinctive words", "gloss": "Dictionary", "substitutes": "Substitutes"}
"""Titles of the kinds of descriptions; a kind without a title is shown under its name."""
_MAX_EXAMPLES = 3


def sense_values(result: StudyResult, word: str) -> list[dict[str, Any]]:
    """Return the senses of a word as plain values; an empty list if it has none.

    ``shares`` has [number of usages, share, low, high] for each period. Of a period without usages, all but the first
    are None. ``examples`` has [before, word, after, place, period]. With an inventory, ``known`` is the name of
    the sense in it, or empty.
    """
    found = result.senses.get(word)
    if found is None:
        return []
    frames = [result.siblings[word].occurrences(period) for period in result.siblings.corpora]
    rows = [(i, row) for i, frame in enumerate(frames) for row in frame.to_dict("records")]
    senses = [_sense(sense, rows) for sense in found.senses]
    if result.settings.get("inventory") is not None:
        senses = [values | {"known": sense.known} for values, sense in zip(senses, found.senses, strict=True)]
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

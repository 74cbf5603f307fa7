"""What the page knows of the whole run and of every word, as plain values: what the table and the charts need.

The usages of the words are many times more, and are held apart from this: see :mod:`lexshift.report.details`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lexshift.study.result import PERIODS, TOO_FEW

if TYPE_CHECKING:
    from lexshift.study.result import Result

SIMILAR = ("above", "excess")
"""Columns of a table that sets each word against those of similar frequency and spread."""
_NUMBERS = ("score", "low", "high", "p", "q")


def content(result: Result) -> dict[str, Any]:
    """The page's data, without the usages."""
    found = {entry["word"]: entry["found"] for entry in result.siblings.index["words"]}
    sides = [result.side(period) for period in PERIODS]
    similar = compares_similar(result)
    words = []
    for row in result.table.to_dict("records"):
        counts = found.get(row["word"], [0, 0])
        words.append(_word(result, row, [int(counts[side]) for side in sides], similar))
    return {
        "labels": list(result.labels),
        "alpha": result.settings["alpha"],
        "metric": result.settings["metric"],
        "keep": result.settings["keep"],
        "floor": 1 / (1 + max((scored.test.permutations for scored in result.scores.words.values()), default=0)),
        "curve": _curve(result),
        "words": words,
    }


def rounded(value: Any) -> float | None:
    """A number with five digits, which no chart can show more of; JSON has no NaN."""
    number = float(value)
    return float(f"{number:.5g}") if math.isfinite(number) else None


def compares_similar(result: Result) -> bool:
    """Whether the table sets each word against those of similar frequency and spread."""
    return set(SIMILAR) <= set(result.table.columns)


def _word(result: Result, row: dict[str, Any], found: list[int], similar: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "word": row["word"],
        "n": [row["n_old"], row["n_new"]],
        "found": found,
        "verdict": row["verdict"],
        "reason": row["reason"],
        "rate": [round(row[f"per_million_{period}"], 2) for period in PERIODS],
    }
    if row["verdict"] == TOO_FEW:
        return told
    # The script writes these with as many digits as the template, and must not round what was rounded.
    told |= {name: _whole(row[name]) for name in _NUMBERS}
    test = result.scores.words[row["word"]].test
    told["permutations"] = test.permutations
    if test.p == test.tail:
        told["approximate"] = True
    if similar:
        told |= {name: value for name in SIMILAR if (value := _whole(row[name])) is not None}
    return told


def _whole(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None


def _curve(result: Result) -> dict[str, Any] | None:
    curve = result.scores.curve
    if curve is None:
        return None
    return {
        "rates": [round(float(rate), 4) for rate in curve.rates],
        "mean": [rounded(value) for value in curve.mean],
        "std": [rounded(value) for value in curve.std],
        "original": rounded(curve.e_original.mean()),
        "least": curve.rate,
        "chosen": result.scores.sscd.rate,
    }

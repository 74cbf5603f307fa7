"""What the page shows, as plain values: numbers for the charts, and the usages of each word.

A page must stay small enough for a phone, so it holds a bounded number of usages; of a word with more, those that
belong most to its corpus, and the others evenly from those in between. Sentences are cut to a window around the word.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.result import PERIODS

if TYPE_CHECKING:
    import pandas as pd

    from lexshift.result import Result, WordResult

_USAGES = 24_000  # on the whole page
_MOST, _LEAST = 150, 20  # for each word and corpus
_BEFORE, _AFTER = 160, 200  # characters of a sentence around the word
_LONGEST_WORD = 80


def content(result: Result) -> dict[str, Any]:
    """The page's data."""
    most = max(_LEAST, min(_MOST, _USAGES // (2 * max(len(result.words), 1))))
    words = [_word(result, row, most) for row in result.table.to_dict("records")]
    return {
        "labels": list(result.labels),
        "alpha": result.settings["alpha"],
        "metric": result.settings["metric"],
        "keep": result.settings["keep"],
        "floor": 1 / (result.settings["permutations"] + 1),
        "curve": _curve(result),
        "words": words,
    }


def _word(result: Result, row: dict[str, Any], most: int) -> dict[str, Any]:
    word = result.word(row["word"])
    told: dict[str, Any] = {
        "word": row["word"],
        "n": [row["n_old"], row["n_new"]],
        "found": [result.found(row["word"], period) for period in PERIODS],
        "verdict": row["verdict"],
        "reason": row["reason"],
        "rate": [round(row[f"per_million_{period}"], 2) for period in PERIODS],
    }
    if word.score is not None:
        told |= {name: _round(row[name]) for name in ("score", "low", "high", "p", "q")}
        told["eOriginal"] = _round(word.score.change.e_original)
        told["eSwap"] = [_round(value) for value in word.score.change.e_swap]
        told["permutations"] = word.score.test.permutations
    told["usages"] = [_usages(word, period, most) for period in PERIODS] if any(told["n"]) else [[], []]
    if word.name in result.siblings and word.plane is not None:
        told["explained"] = [round(float(share), 3) for share in word.plane.explained]
        told["centres"] = [[_round(x) for x in side.mean(axis=0)] for side in (word.plane.old, word.plane.new)]
    return told


def _usages(word: WordResult, period: str, most: int) -> list[list[Any]]:
    """Rows of [before, word, after, leaning, x, y, place], those that belong most to the corpus first."""
    side = PERIODS.index(period)
    store = word.result.siblings
    frame = store[word.name].occurrences(store.corpora[side])
    leaning = word.leanings[side]
    spread = float(np.std(np.concatenate(word.leanings))) or 1.0
    at = None if word.plane is None else (word.plane.old, word.plane.new)[side]
    order = np.argsort(leaning if period == "old" else -leaning, kind="stable")
    rows = []
    for i in _chosen(order, most):
        x, y = (0.0, 0.0) if at is None else at[i]
        usage = frame.iloc[i]
        rows.append(
            [
                *_window(usage),
                round(float(leaning[i]) / spread, 2),
                _round(x),
                _round(y),
                f"{usage['file']}:{usage['line']}",
            ]
        )
    return rows


def _chosen(order: Any, most: int) -> list[int]:
    """The first half of ``most`` from the beginning, the others evenly from the rest."""
    if len(order) <= most:
        return [int(i) for i in order]
    first = most // 2
    rest = np.linspace(first, len(order) - 1, most - first).round().astype(int)
    return [int(order[i]) for i in (*range(first), *rest)]


def _window(usage: pd.Series) -> list[str]:
    """What stands before the word, the word, and what comes after it."""
    sentence, start, end = str(usage["sentence"]), int(usage["start"]), int(usage["end"])
    before, word, after = sentence[:start], sentence[start:end], sentence[end:]
    if len(before) > _BEFORE:
        before = before[-_BEFORE:]
        before = "…" + (before.partition(" ")[2] or before)
    if len(after) > _AFTER:
        after = after[:_AFTER]
        after = (after.rpartition(" ")[0] or after) + "…"
    return [before, word if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD] + "…", after]


def _curve(result: Result) -> dict[str, Any] | None:
    curve = result.scores.curve
    if curve is None:
        return None
    return {
        "rates": [round(float(rate), 4) for rate in curve.rates],
        "mean": [_round(value) for value in curve.mean],
        "std": [_round(value) for value in curve.std],
        "original": _round(curve.e_original.mean()),
        "least": curve.rate,
        "chosen": result.scores.sscd.rate,
    }


def _round(value: Any) -> float | None:
    """Five digits, which no screen can show more of; JSON has no NaN."""
    number = float(value)
    return float(f"{number:.5g}") if math.isfinite(number) else None

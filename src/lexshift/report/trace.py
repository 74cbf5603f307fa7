"""The page of a trace: one file with everything in it, as safe as the page of a comparison.

What the template writes is escaped, what the script shows comes as JSON and is put in as text, and the
Content-Security-Policy allows the one script and the one style sheet by their hashes. The page holds a bounded number
of sentences: for each word and period those most typical of the period.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift.report.page import asset, embedded_json, environment, source_hash
from lexshift.study.steps import KINDS
from lexshift.study.trace_tables import SEASONAL, reported
from lexshift.utils.files import disk_faults, write_whole

if TYPE_CHECKING:
    from lexshift.study.trace_result import Trace

SCRIPTS = ("base.js", "charts.js", "trace.js")
_SENTENCES = 20_000  # on the whole page
_MOST, _LEAST = 12, 2  # for each word and period
_BEFORE, _AFTER = 140, 160  # characters of a sentence around the word
_LONGEST_WORD = 80


def write_trace(result: Trace, path: Path) -> Path:
    """Write the page of a trace to a file, whole or not at all."""
    page = render(result)
    with disk_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda file: file.write(page.encode("utf-8", "replace")))
    return path


def render(result: Trace) -> str:
    """The page of a trace."""
    script, style = '"use strict";\n{\n' + "".join(map(asset, SCRIPTS)) + "}\n", asset("trace.css")
    policy = [
        "default-src 'none'",
        f"script-src '{source_hash(script)}'",
        f"style-src '{source_hash(style)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return (
        environment()
        .get_template("trace.html")
        .render(
            trace=result,
            rows=result.words.to_dict("records"),
            settings=[(name.replace("_", " "), _shown(value)) for name, value in result.settings.items()],
            policy="; ".join(policy),
            style=style,
            script=script,
            data=embedded_json(content(result)),
        )
    )


def content(result: Trace) -> dict[str, Any]:
    """The page's data: plain values only."""
    rows = result.words.to_dict("records")
    most = max(_LEAST, min(_MOST, _SENTENCES // max(len(rows) * len(result.periods), 1)))
    return {
        "periods": result.periods,
        "least": result.settings["min_usages"],
        "alpha": result.settings["alpha"],
        "words": [_word(result, row, most) for row in rows],
    }


def _word(result: Trace, row: dict[str, Any], most: int) -> dict[str, Any]:
    word, place = row["word"], {period: i for i, period in enumerate(result.periods)}
    told: dict[str, Any] = {"word": word, "verdict": row["verdict"], "n": result.counts(word)}
    told["found"] = _found(result, word)
    for kind in KINDS:
        told[kind] = [
            [
                place[step["from"]],
                place[step["to"]],
                *(_round(step[name]) for name in ("score", "low", "high", "p", "q")),
            ]
            for step in result.of_word(word, kind).to_dict("records")
        ]
    if word in result.changes:
        found = result.changes[word]
        at, shape = reported(found, row["change_q"], result.settings["alpha"])
        told |= {"changes": list(at), "shape": shape, "p": _round(found.p), "q": _round(row["change_q"])}
    if word in result.seasons:
        returns = result.seasons[word]
        told["season"] = {
            "seasonal": row["season"] == SEASONAL,
            "p": _round(returns.p),
            "q": _round(row["season_q"]),
            "strength": _round(returns.strength),
            "profile": [_round(value) for value in returns.profile],
        }
    told["sentences"] = [_sentences(result, word, period, most) if told["n"][i] else [] for period, i in place.items()]
    return told


def _found(result: Trace, word: str) -> list[int]:
    """How often a word occurs in each period, of which some may not have been embedded."""
    return [result.siblings.found(word, period) for period in result.periods]


def _sentences(result: Trace, word: str, period: str, most: int) -> list[list[str]]:
    """Rows of [before, word, after, place]."""
    frame = result.usages(word, period).head(most)
    columns = (frame[name] for name in ("sentence", "start", "end", "file", "line"))
    return [
        [*_window(str(text), int(start), int(end)), f"{file}:{line}"]
        for text, start, end, file, line in zip(*columns, strict=True)
    ]


def _window(sentence: str, start: int, end: int) -> list[str]:
    """What stands before the word, the word, and what comes after it, cut to what is about it."""
    before, word, after = sentence[:start], sentence[start:end], sentence[end:]
    if len(before) > _BEFORE:
        before = "…" + (before[-_BEFORE:].partition(" ")[2] or before[-_BEFORE:])
    if len(after) > _AFTER:
        after = (after[:_AFTER].rpartition(" ")[0] or after[:_AFTER]) + "…"
    return [before, word if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD] + "…", after]


def _round(value: Any) -> float | None:
    """Five digits, which no screen can show more of; JSON has no NaN."""
    number = float(value)
    return float(f"{number:.5g}") if math.isfinite(number) else None


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)

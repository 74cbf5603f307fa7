"""The page of a trace.

The page holds a bounded number of sentences: those most typical of each word and period, without
near-duplicates.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.report.methods import facts
from lexshift.report.page import (
    NOTEBOOK_ROWS,
    chance,
    decimal,
    digits,
    excerpt,
    notebook_table,
    render_page,
    round_figures,
)
from lexshift.report.presence import notebook_presence, presence_groups
from lexshift.report.senses import SCRIPT, STYLE, notebook_senses, sense_values
from lexshift.senses.variety import choose_varied
from lexshift.study.trace_result import SEASONAL, reported_change
from lexshift.study.usages import KINDS
from lexshift.study.verdict import MAX_LOCAL_FDR, TOO_FEW, UNCLEAR, VERDICTS

if TYPE_CHECKING:
    import pandas as pd

    from lexshift.study.trace_result import Trace

SCRIPTS = ("base.js", "charts.js", "table.js", SCRIPT, "trace.js")
_TABLE_ROWS = 200  # rows of the table that needs no script
_SENTENCES = 20_000  # sentences on the whole page
_MAX_SENTENCES, _MIN_SENTENCES = 12, 2  # per word and period
_MAX_WITH_SENSES = 200  # sentences of a word with senses and a period; all but the first ones are shown by sense only
_ALL_FIGURES = 17  # digits of a float, which the script then rounds as the template does


def render(trace: Trace) -> str:
    """Return the page of a trace as HTML text."""
    counts = Counter(trace.table["verdict"])
    return render_page(
        "trace.html",
        styles=("base.css", "trace.css", STYLE),
        scripts=SCRIPTS,
        data=content(trace),
        groups=[],
        result=trace,
        run=trace.run,
        rows=trace.table.head(_TABLE_ROWS).to_dict("records"),
        hidden=max(len(trace.table) - _TABLE_ROWS, 0),
        verdicts={verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]},
        has_excess=bool(trace.backdrop.control_words),
        presence=presence_groups(trace),
        max_local_fdr=MAX_LOCAL_FDR,
        facts=facts(trace),
    )


def notebook_view(trace: Trace) -> str:
    """Return the headline, the first words of the table, and the senses if they were sought, as HTML text."""
    rows, has_excess = [], bool(trace.table["excess"].notna().any())
    for row in trace.table.head(NOTEBOOK_ROWS).to_dict("records"):
        cells = [row["word"], f"{row['usages']:,}"]
        if row["verdict"] == TOO_FEW:
            cells += [""] * (5 if has_excess else 4)
        else:
            cells += [digits(row["score"]), trace.backdrop.format_gap(row["gap"])]
            cells += [*([decimal(row["excess"])] if has_excess else []), chance(row["change_q"]), row["most"]]
        verdict = f"{row['verdict']}: {row['reason']}" if row["verdict"] in (TOO_FEW, UNCLEAR) else row["verdict"]
        rows.append([*cells, verdict, row["change_points"] or row["shape"]])
    columns = ["word", "usages", "change", "gap", *(["excess"] if has_excess else []), "q", "farthest period"]
    columns += ["verdict", "change points"]
    note = trace.background_note()
    table = notebook_table(trace.headline(), columns, rows, len(trace.table), note=note)
    return table + notebook_presence(trace) + notebook_senses(trace)


def content(trace: Trace) -> dict[str, Any]:
    """Return the page's data as plain values."""
    rows = trace.table.to_dict("records")
    room = _SENTENCES // max(len(rows) * len(trace.periods), 1)
    limit = max(_MIN_SENTENCES, min(_MAX_SENTENCES, room))
    return {
        "periods": trace.periods,
        "least": trace.settings["min_usages"],
        "alpha": trace.settings["alpha"],
        "first": limit,
        "words": [_word(trace, row, limit, max(limit, min(_MAX_WITH_SENSES, room))) for row in rows],
    }


def _word(trace: Trace, row: dict[str, Any], first: int, most: int) -> dict[str, Any]:
    """Return the steps, the change points, the season, the senses and the sentences of a word as plain values."""
    word, position = row["word"], {period: i for i, period in enumerate(trace.periods)}
    values: dict[str, Any] = {"word": word, "verdict": row["verdict"], "reason": row["reason"]}
    values["n"] = trace.counts(word)
    values["found"] = [trace.siblings.count_occurrences(word, period) for period in trace.periods]
    for kind in KINDS:
        values[kind] = [
            [position[step["from"]], position[step["to"]]]
            + [round_figures(step[name]) for name in ("score", "low", "high", "p", "q")]
            for step in trace.word(word).steps(kind).to_dict("records")
        ]
    if word in trace.changes:
        change_points, shape = reported_change(trace.changes[word], row["change_q"], trace.settings["alpha"])
        values |= {"changes": list(change_points), "shape": shape, "score": round_figures(row["score"], _ALL_FIGURES)}
        values |= {name: round_figures(row[f"change_{name}"], _ALL_FIGURES) for name in ("p", "q")}
    if word in trace.seasons:
        values["season"] = {
            "seasonal": row["season"] == SEASONAL,
            "profile": [round_figures(value) for value in trace.seasons[word].profile],
            **{name: round_figures(row[f"season_{name}"], _ALL_FIGURES) for name in ("p", "q", "strength")},
        }
    senses = sense_values(trace, word)
    if senses:
        values["senses"] = senses
    most = most if len(senses) > 1 else first
    values["sentences"] = []
    for period, n in zip(trace.periods, values["n"], strict=True):
        usages = _typical_usages(trace.word(word).usages(period), first, most) if n else []
        values["sentences"].append([_sentence(usage) for usage in usages])
    return values


def _typical_usages(usages: pd.DataFrame, first: int, most: int) -> list[dict[str, Any]]:
    """Return the first usages without near-duplicates of each other, followed by others if they have senses.

    Each sense has at least as many usages as ``_MIN_SENTENCES``, if there are so many.
    """
    chosen = choose_varied(usages["sentence"].tolist(), range(len(usages)), first).tolist()
    if "sense" in usages:
        is_first = (usages.groupby("sense").cumcount() < _MIN_SENTENCES).to_numpy()
        others = np.concatenate([np.flatnonzero(is_first), np.flatnonzero(~is_first)[: max(most - len(chosen), 0)]])
        chosen += others[~np.isin(others, chosen)].tolist()
    return usages.iloc[chosen].to_dict("records")


def _sentence(usage: dict[str, Any]) -> list[Any]:
    """Return [before, word, after, place], and the sense if senses were sought."""
    parts = [*excerpt(usage["sentence"], usage["start"], usage["end"]), f"{usage['file']}:{usage['line']}"]
    return [*parts, usage["sense"]] if "sense" in usage else parts

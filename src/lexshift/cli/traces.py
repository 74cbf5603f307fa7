"""How the terminal shows a trace: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from lexshift.cli.terminal import echo, out
from lexshift.report.page import chance, digits
from lexshift.scoring.changepoints import GRADUAL
from lexshift.study.result import CHANGED, TOO_FEW
from lexshift.study.steps import FIRST
from lexshift.study.trace_periods import REPORT
from lexshift.study.trace_result import Trace
from lexshift.study.trace_tables import SEASONAL
from lexshift.utils.progress import err
from lexshift.utils.safe_csv import csv_text

_BLOCKS, _SKIPPED = "▁▂▃▄▅▆▇█", "·"


def show(result: Trace, form: str) -> None:
    """Print the results."""
    if form == "csv":
        echo(csv_text(result.table), nl=False)
    elif form == "json":
        told = {
            name: _records(getattr(result, attribute)) for name, attribute in (("words", "words"), ("steps", "table"))
        }
        echo(json.dumps(told, indent=1, ensure_ascii=False))
    else:
        out.print(overview(result))


def overview(result: Trace) -> Table:
    """A row for each word: its way from the first period, when it changed, and whether it returns every year."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("word", no_wrap=True)
    table.add_column(Text(f"{result.periods[0]} … {result.periods[-1]}"), no_wrap=True)
    for name in ("change", "q"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("change points")
    if result.seasons:
        table.add_column("season")
    highest = float(result.table.loc[result.table["kind"] == FIRST, "score"].max()) if len(result.table) else 0.0
    for row in result.words.to_dict("records"):
        if row["verdict"] == TOO_FEW:
            told = Text(f"{result.settings['min_usages']} usages are needed in two periods")
            table.add_row(Text(row["word"]), "", "", "", TOO_FEW, told, style="dim")
            continue
        verdict = Text(row["verdict"], "bold magenta" if row["verdict"] == CHANGED else "")
        cells: list[Text | str] = [Text(row["word"]), sparkline(result, row["word"], highest), digits(row["score"])]
        when = "gradual drift" if row["shape"] == GRADUAL else row["change_points"]
        cells += [chance(row["change_q"]), verdict, Text(when)]
        if result.seasons:
            style = "bold magenta" if row["season"] == SEASONAL else ""
            cells.append(Text(f"{row['season']} (q {chance(row['season_q'])})" if row["season"] else "", style))
        table.add_row(*cells)
    return table


def sparkline(result: Trace, word: str, highest: float) -> Text:
    """The change against the first period: a block for each period, dim if it may be chance, a dot if it is skipped."""
    rows = result.of_word(word, FIRST)
    scores = dict(zip(rows["to"], rows["score"], strict=True)) | dict.fromkeys(rows["from"], 0.0)
    changed = set(rows.loc[rows["verdict"] == CHANGED, "to"])
    line, top = Text(), len(_BLOCKS) - 1
    for period in result.periods:
        height = round(top * scores.get(period, 0.0) / highest) if highest > 0 else 0
        line.append(_BLOCKS[max(0, height)] if period in scores else _SKIPPED, "" if period in changed else "dim")
    return line


def tell(result: Trace, folder: str) -> None:
    """What was skipped, the outcome in a sentence, and where the page is."""
    err.print()
    for entry in result.run["corpora"]:
        for reason, n in entry["skipped"].items():
            err.print(Text(f"skipped or altered in {entry['name']}: {n:,} {reason}", "yellow"))
    for warning in result.run.get("warnings", []):
        err.print(Text(f"warning: {warning}", "yellow"))
    err.print(Text(f"{result.headline()}."))
    if caution := result.caution():
        err.print(Text(f"{caution}.", "yellow"))
    err.print(Text("report: ").append(str(Path(folder) / REPORT), "bold"))


def _records(table: Any) -> list[dict[str, Any]]:
    return json.loads(table.to_json(orient="records", force_ascii=False, double_precision=15))

"""Make the printout of a result: the tables of words and senses, and the summary."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

from lexshift.cli.printout import Cell, Column, PrintedTable, Printout, Row, Segments
from lexshift.cli.sense_table import sense_rows
from lexshift.cli.terminal import json_text
from lexshift.corpus.sources import describe_files
from lexshift.report.groups import group_columns, group_rows
from lexshift.report.page import chance, decimal, digits
from lexshift.scoring.changepoints import GRADUAL
from lexshift.study.groups import DIFFERENT, FEW
from lexshift.study.result import Result
from lexshift.study.result_files import DIFFERENCES_CSV
from lexshift.study.study_result import StudyResult
from lexshift.study.trace_result import SEASONAL, Trace
from lexshift.study.usages import FIRST
from lexshift.study.verdict import APPEARED, CHANGED, DIFFERS, DISAPPEARED, TOO_FEW, UNCLEAR
from lexshift.utils.quantities import with_unit
from lexshift.utils.safe_csv import csv_text

_BLOCKS, _SKIPPED = "▁▂▃▄▅▆▇█", "·"
_GROUP_ROWS = 20  # maximum number of rows of the table of groups
_STYLES = {
    CHANGED: "bold magenta",
    APPEARED: "bold cyan",
    DISAPPEARED: "bold cyan",
    DIFFERS: "blue",
    UNCLEAR: "yellow",
    TOO_FEW: "dim",
}


def make_printout(result: StudyResult) -> Printout:
    """Return everything that a command may print about a result."""
    words = [_trace_table(result)] if isinstance(result, Trace) else _rankings(result)
    if isinstance(result, Result) and result.group_comparison is not None:
        words.append(_group_table(result))
    tables = {"words": result.table} | ({"senses": result.sense_table} if result.has_senses else {})
    return Printout(
        words=words,
        senses=sense_rows(result) if result.has_senses else None,
        csv={name: csv_text(table) for name, table in tables.items()},
        json={name: json_text(table) for name, table in tables.items()},
        summary=_summary(result),
        verdicts=sorted(set(result.table["verdict"])),
    )


def _summary(result: StudyResult) -> list[Segments]:
    """Return lines with what was skipped, warnings, and the outcome in a sentence."""
    lines: list[tuple[str, str]] = []
    for entry in result.run["corpora"]:
        for reason, n in entry["skipped"].items():
            lines.append((f"skipped or altered in {entry['name']}: {with_unit(n, reason)}", "yellow"))
        lines += [(f"{entry['name']}: {line}", "yellow") for line in describe_files(entry)]
    lines += [(f"warning: {warning}", "yellow") for warning in result.run.get("warnings", [])]
    lines.append((f"{result.headline()}.", ""))
    if note := result.background_note():
        lines.append((f"{note}.", ""))
    if isinstance(result, Result) and (groups := result.group_headline()):
        lines.append((f"{groups}.", ""))
        if (more := len(result.group_readings) - _GROUP_ROWS) > 0:
            lines.append((f"{DIFFERENCES_CSV} has {with_unit(more, 'more rows')}.", "dim"))
    if appeared := result.appeared_headline():
        lines.append((f"{appeared}.", ""))
    if result.has_senses:
        lines.append((f"{result.sense_headline()}.", ""))
    if caution := result.caution():
        lines.append((f"{caution}.", "yellow"))
    return [[line] for line in lines]


def _rankings(result: Any) -> list[PrintedTable]:
    """Return a table of the ranked words, and one of the words without a score; each may have no rows."""
    assert isinstance(result, Result)
    entries = list(enumerate(result.table.to_dict("records")))
    scored = [(rank, row) for rank, row in entries if not isnan(row["score"])]
    unscored = [(rank, row) for rank, row in entries if isnan(row["score"])]
    return [_ranking(result, scored), _unscored_table(result, unscored)]


def _ranking(result: Result, entries: Sequence[tuple[int, dict[str, Any]]]) -> PrintedTable:
    """Return a table of words with their scores, gaps and verdicts; for unclear ones, the gap that they could show."""
    columns = _word_columns(result)
    columns += [Column(name, "right") for name in ("change", "95 % interval", "gap")]
    columns += [Column("excess", "right", is_optional=True), Column("q", "right"), Column("verdict")]
    columns.append(Column("could show", "right", no_wrap=False, is_optional=True))
    rows: list[Row] = []
    for rank, row in entries:
        cells: list[Cell] = [row["word"], f"{row['n_old']:,}", f"{row['n_new']:,}", digits(row["score"])]
        cells += [f"{digits(row['low'])} to {digits(row['high'])}", result.backdrop.format_gap(row["gap"])]
        cells += [_excess(row), chance(row["q"]), _verdict(row)]
        if row["verdict"] == UNCLEAR:
            cells.append(result.backdrop.format_gap(result.evidence[row["word"]].gap.detectable))
        rows.append((rank, "", cells))
    return PrintedTable(columns, rows)


def _group_table(result: Result) -> PrintedTable:
    """Return a table of the changes of words in groups, words whose groups differ first."""
    columns = [
        Column(name, "left" if name in ("word", "groups", "reading") else "right", no_wrap=name != "reading")
        for name in group_columns(result)
    ]
    rows: list[Row] = []
    for cells, reading in zip(group_rows(result, _GROUP_ROWS), result.group_readings, strict=False):
        style = _STYLES[CHANGED] if reading.kind == DIFFERENT else ""
        rows.append((0, "dim" if reading.kind == FEW else "", [*cells[:-1], [(cells[-1], style)]]))
    return PrintedTable(columns, rows)


def _unscored_table(result: Result, entries: Sequence[tuple[int, dict[str, Any]]]) -> PrintedTable:
    """Return a table of words without a score, with the reasons."""
    columns = [*_word_columns(result), Column("verdict"), Column("reason", no_wrap=False)]
    rows: list[Row] = []
    for rank, row in entries:
        cells: list[Cell] = [row["word"], f"{row['n_old']:,}", f"{row['n_new']:,}", _verdict(row), row["reason"]]
        rows.append((rank, "dim" if row["verdict"] == TOO_FEW else "", cells))
    return PrintedTable(columns, rows)


def _word_columns(result: Result) -> list[Column]:
    """Return the columns of the words and their numbers of usages."""
    return [Column("word"), *(Column(label, "right") for label in result.labels)]


def _excess(row: dict[str, Any]) -> str:
    return "" if isnan(row["excess"]) else decimal(row["excess"])


def _verdict(row: dict[str, Any]) -> Segments:
    return [(row["verdict"], _STYLES.get(row["verdict"], ""))]


def _trace_table(result: Trace) -> PrintedTable:
    """Return a table with a row for each word: its change over time, change points and seasonality."""
    columns = [Column("word"), Column(f"{result.periods[0]} … {result.periods[-1]}")]
    columns += [Column("change", "right"), Column("gap", "right"), Column("excess", "right", is_optional=True)]
    columns += [Column("q", "right"), Column("verdict"), Column("change points", no_wrap=False)]
    if result.seasons:
        columns.append(Column("season", no_wrap=False))
    steps, rows = result.steps, list[Row]()
    highest = float(steps.loc[steps["kind"] == FIRST, "score"].max()) if len(steps) else 0.0
    for rank, row in enumerate(result.table.to_dict("records")):
        if row["verdict"] == TOO_FEW:
            rows.append((rank, "dim", [row["word"], "", "", "", "", "", TOO_FEW, row["reason"]]))
            continue
        cells: list[Cell] = [row["word"], _sparkline(result, row["word"], highest), digits(row["score"])]
        cells += [result.backdrop.format_gap(row["gap"]), _excess(row), chance(row["change_q"]), _verdict(row)]
        cells.append("gradual drift" if row["shape"] == GRADUAL else row["change_points"])
        if result.seasons:
            style = "bold magenta" if row["season"] == SEASONAL else ""
            cells.append([(f"{row['season']} (q {chance(row['season_q'])})" if row["season"] else "", style)])
        rows.append((rank, "", cells))
    return PrintedTable(columns, rows)


def _sparkline(result: Trace, word: str, highest: float) -> Segments:
    """Return a sparkline of the change since the first period.

    It has a block per period, dim if the change is not significant, or a dot if the period was skipped.
    """
    steps = result.word(word).steps(FIRST)
    scores = dict(zip(steps["to"], steps["score"], strict=True)) | dict.fromkeys(steps["from"], 0.0)
    differing = set(steps.loc[steps["differs"], "to"])
    line, top = [], len(_BLOCKS) - 1
    for period in result.periods:
        height = round(top * scores.get(period, 0.0) / highest) if highest > 0 else 0
        block = _BLOCKS[max(0, height)] if period in scores else _SKIPPED
        line.append((block, "" if period in differing else "dim"))
    return line

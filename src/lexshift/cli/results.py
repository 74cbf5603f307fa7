"""Run a study and print its result: results go to standard output, everything else to standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table
from rich.text import Text

from lexshift.cli.sense_table import sense_rows
from lexshift.cli.terminal import echo_table, out, print_error
from lexshift.report.groups import group_columns, group_rows
from lexshift.report.page import chance, decimal, digits
from lexshift.scoring.changepoints import GRADUAL
from lexshift.study.groups import DIFFERENT, FEW
from lexshift.study.periods import default_out
from lexshift.study.result import Result
from lexshift.study.result_files import DIFFERENCES_CSV, REPORT
from lexshift.study.settings import SENSES
from lexshift.study.study_result import StudyResult
from lexshift.study.trace_result import SEASONAL, TRACE_VERDICTS, Trace
from lexshift.study.usages import FIRST
from lexshift.study.verdict import APPEARED, CHANGED, DIFFERS, DISAPPEARED, TOO_FEW, UNCLEAR, VERDICTS
from lexshift.utils import checks
from lexshift.utils.monitor import Monitor, Silent
from lexshift.utils.progress import Bars, err
from lexshift.utils.quantities import with_unit

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("table", "csv", "json")
INTERRUPTED = "interrupted; run the same command again to resume"
FOUND = 3
"""Exit status if a word has a verdict that --fail-on names."""
_GROUP_ROWS = 20  # maximum number of rows of the table of groups
_BLOCKS, _SKIPPED = "▁▂▃▄▅▆▇█", "·"
_STYLES = {
    CHANGED: "bold magenta",
    APPEARED: "bold cyan",
    DISAPPEARED: "bold cyan",
    DIFFERS: "blue",
    UNCLEAR: "yellow",
    TOO_FEW: "dim",
}


@contextmanager
def interruptible(message: str = INTERRUPTED) -> Iterator[None]:
    """End the command with a message, not a traceback, after Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        print_error(message)
        raise typer.Exit(130) from None


@contextmanager
def progress_monitor(quiet: bool, message: str = INTERRUPTED) -> Iterator[Monitor]:
    """Yield a monitor that shows progress bars unless ``quiet``; after Ctrl-C end the command with a message."""
    with interruptible(message), Bars() as bars:
        yield Silent() if quiet else bars


def run_question(
    question: Callable[..., StudyResult],
    corpora: Sequence[str],
    arguments: dict[str, Any],
    form: str,
    quiet: bool,
    rows: int | None = None,
    of_senses: bool = False,
    fail_on: str | None = None,
) -> None:
    """Call compare, discover, trace or find_senses, and print the result and the path of the page.

    Parameters
    ----------
    question : callable
        ``compare``, ``discover``, ``trace`` or ``find_senses``.
    corpora : sequence of str
    arguments : dict
        Keyword arguments of the call.
    form : "table", "csv" or "json"
    quiet : bool
        Whether to print nothing but the results.
    rows : int, optional
        Maximum number of rows of a printed table.
    of_senses : bool
        Whether to print the table of senses instead of that of words.
    fail_on : str, optional
        Verdicts, separated by commas: the command ends with the status :data:`FOUND` if a word has one of them.
    """
    checks.choice(form, "format", FORMATS)
    wanted = read_verdicts(fail_on, TRACE_VERDICTS if question.__name__ == "trace" else VERDICTS)
    with progress_monitor(quiet) as monitor:
        if arguments["out"] is None:
            arguments["out"] = default_out(SENSES if of_senses else question.__name__, corpora, arguments.get("by"))
        result = question(*corpora, **arguments, monitor=monitor)
    print_result(result, form, rows, of_senses)
    if not quiet:
        print_summary(result, arguments["out"])
    if result.table["verdict"].isin(wanted).any():
        raise typer.Exit(FOUND)


def read_verdicts(text: str | None, verdicts: Sequence[str]) -> list[str]:
    """Return the verdicts in a list that is separated by commas; raise an error for a name that is not a verdict."""
    if text is None:
        return []
    return [checks.choice(name.strip(), "fail-on", verdicts) for name in text.split(",")]


def print_result(result: StudyResult, form: str, rows: int | None = None, of_senses: bool = False) -> None:
    """Print the table of words, or of senses; ``rows`` limits the table format only."""
    if form != "table":
        echo_table(result.sense_table if of_senses else result.table, form)
        return
    if not of_senses:
        tables = [_trace_table(result)] if isinstance(result, Trace) else _rankings(result, rows)
        for i, table in enumerate(tables):
            out.print(*([""] if i else []), table, sep="\n")
        if isinstance(result, Result) and result.group_comparison is not None:
            out.print("", _group_table(result), sep="\n")
    if result.has_senses:
        out.print(*([] if of_senses else [""]), sense_rows(result, rows), sep="\n")


def print_summary(result: StudyResult, folder: str) -> None:
    """Print what was skipped, warnings, the outcome in a sentence, and the path of the page."""
    err.print()
    for entry in result.run["corpora"]:
        for reason, n in entry["skipped"].items():
            err.print(Text(f"skipped or altered in {entry['name']}: {with_unit(n, reason)}", "yellow"))
    for warning in result.run.get("warnings", []):
        err.print(Text(f"warning: {warning}", "yellow"))
    err.print(Text(f"{result.headline()}."))
    if note := result.background_note():
        err.print(Text(f"{note}."))
    if isinstance(result, Result) and (groups := result.group_headline()):
        err.print(Text(f"{groups}."))
    if result.has_senses:
        err.print(Text(f"{result.sense_headline()}."))
    if caution := result.caution():
        err.print(Text(f"{caution}.", "yellow"))
    err.print(Text("report: ").append(str(Path(folder) / REPORT), "bold"))


def _rankings(result: Any, rows: int | None) -> list[Table]:
    """Return a table of the ranked words, and one of the words without a score if there are any."""
    assert isinstance(result, Result)
    frame = result.table[:rows]
    is_scored = frame["score"].notna()
    tables = [_ranking(result, frame[is_scored])] if is_scored.any() else []
    return tables if is_scored.all() else [*tables, _unscored(result, frame[~is_scored])]


def _ranking(result: Result, frame: pd.DataFrame) -> Table:
    """Return a table of words with their scores, gaps and verdicts; for unclear ones, the gap that they could show."""
    has_excess, has_unclear = frame["excess"].notna().any(), (frame["verdict"] == UNCLEAR).any()
    table = _words_table(result)
    for name in ("change", "95 % interval", "gap", *(["excess"] if has_excess else []), "q"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    if has_unclear:
        table.add_column("could show", justify="right")
    for row in frame.to_dict("records"):
        cells: list[Text | str] = [Text(row["word"]), f"{row['n_old']:,}", f"{row['n_new']:,}", digits(row["score"])]
        cells += [f"{digits(row['low'])} to {digits(row['high'])}", result.backdrop.format_gap(row["gap"])]
        cells += [decimal(row["excess"])] if has_excess else []
        cells += [chance(row["q"]), Text(row["verdict"], _STYLES.get(row["verdict"], ""))]
        if row["verdict"] == UNCLEAR:
            cells.append(result.backdrop.format_gap(result.evidence[row["word"]].gap.detectable))
        table.add_row(*cells)
    return table


def _group_table(result: Result) -> Table:
    """Return a table of the changes of words in groups, words whose groups differ first."""
    rows = group_rows(result, _GROUP_ROWS)
    more = len(result.group_readings) - len(rows)
    caption = Text(f"{DIFFERENCES_CSV} has {more:,} more {'row' if more == 1 else 'rows'}", "dim") if more else None
    table = Table(box=None, header_style="bold", pad_edge=False, caption=caption, caption_justify="left")
    for name in group_columns(result):
        is_text = name in ("word", "groups", "reading")
        table.add_column(Text(name), justify="left" if is_text else "right", no_wrap=name != "reading")
    kinds = [reading.kind for reading in result.group_readings]
    for row, kind in zip(rows, kinds, strict=False):
        *cells, reading = map(Text, row)
        reading.stylize(_STYLES[CHANGED] if kind == DIFFERENT else "")
        table.add_row(*cells, reading, style="dim" if kind == FEW else "")
    return table


def _unscored(result: Result, frame: pd.DataFrame) -> Table:
    """Return a table of words without a score, with the reasons."""
    table = _words_table(result)
    table.add_column("verdict", no_wrap=True)
    table.add_column("reason")
    for row in frame.to_dict("records"):
        verdict = Text(row["verdict"], _STYLES.get(row["verdict"], ""))
        counts = f"{row['n_old']:,}", f"{row['n_new']:,}"
        table.add_row(
            Text(row["word"]), *counts, verdict, Text(row["reason"]), style="dim" if row["verdict"] == TOO_FEW else ""
        )
    return table


def _words_table(result: Result) -> Table:
    """Return a table without rows that has the columns of the words and their numbers of usages."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("word", no_wrap=True)
    for label in result.labels:
        table.add_column(Text(label), justify="right", no_wrap=True)
    return table


def _trace_table(result: Trace) -> Table:
    """Return a table with a row for each word: its change over time, change points and seasonality."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("word", no_wrap=True)
    table.add_column(Text(f"{result.periods[0]} … {result.periods[-1]}"), no_wrap=True)
    has_excess = result.table["excess"].notna().any()
    for name in ("change", "gap", *(["excess"] if has_excess else []), "q"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("change points")
    if result.seasons:
        table.add_column("season")
    steps = result.steps
    highest = float(steps.loc[steps["kind"] == FIRST, "score"].max()) if len(steps) else 0.0
    for row in result.table.to_dict("records"):
        if row["verdict"] == TOO_FEW:
            empty = [""] * (5 if has_excess else 4)
            table.add_row(Text(row["word"]), *empty, TOO_FEW, Text(row["reason"]), style="dim")
            continue
        verdict = Text(row["verdict"], _STYLES.get(row["verdict"], ""))
        cells: list[Text | str] = [Text(row["word"]), _sparkline(result, row["word"], highest), digits(row["score"])]
        cells += [result.backdrop.format_gap(row["gap"]), *([decimal(row["excess"])] if has_excess else [])]
        when = "gradual drift" if row["shape"] == GRADUAL else row["change_points"]
        cells += [chance(row["change_q"]), verdict, Text(when)]
        if result.seasons:
            style = "bold magenta" if row["season"] == SEASONAL else ""
            cells.append(Text(f"{row['season']} (q {chance(row['season_q'])})" if row["season"] else "", style))
        table.add_row(*cells)
    return table


def _sparkline(result: Trace, word: str, highest: float) -> Text:
    """Return a sparkline of the change since the first period.

    It has a block per period, dim if the change is not significant, or a dot if the period was skipped.
    """
    rows = result.word(word).steps(FIRST)
    scores = dict(zip(rows["to"], rows["score"], strict=True)) | dict.fromkeys(rows["from"], 0.0)
    differing = set(rows.loc[rows["differs"], "to"])
    line, top = Text(), len(_BLOCKS) - 1
    for period in result.periods:
        height = round(top * scores.get(period, 0.0) / highest) if highest > 0 else 0
        line.append(_BLOCKS[max(0, height)] if period in scores else _SKIPPED, "" if period in differing else "dim")
    return line

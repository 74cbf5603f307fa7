"""Run a study and print its result: results go to standard output, everything else to standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from lexshift.cli.sense_table import sense_rows
from lexshift.cli.terminal import echo_table, out, print_error
from lexshift.report.page import chance, digits, percent
from lexshift.scoring.changepoints import GRADUAL
from lexshift.study.periods import default_out
from lexshift.study.result import Result
from lexshift.study.result_files import REPORT
from lexshift.study.settings import SENSES
from lexshift.study.study_result import StudyResult
from lexshift.study.trace_result import SEASONAL, Trace
from lexshift.study.usages import FIRST
from lexshift.study.verdict import CHANGED, TOO_FEW
from lexshift.utils import checks
from lexshift.utils.monitor import Monitor, Silent
from lexshift.utils.progress import Bars, err
from lexshift.utils.quantities import with_unit

FORMATS = ("table", "csv", "json")
INTERRUPTED = "interrupted; run the same command again to resume"
_BLOCKS, _SKIPPED = "▁▂▃▄▅▆▇█", "·"


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
    """
    checks.choice(form, "format", FORMATS)
    with progress_monitor(quiet) as monitor:
        if arguments["out"] is None:
            arguments["out"] = default_out(SENSES if of_senses else question.__name__, corpora, arguments.get("by"))
        result = question(*corpora, **arguments, monitor=monitor)
    print_result(result, form, rows, of_senses)
    if not quiet:
        print_summary(result, arguments["out"])


def print_result(result: StudyResult, form: str, rows: int | None = None, of_senses: bool = False) -> None:
    """Print the table of words, or of senses; ``rows`` limits the table format only."""
    if form != "table":
        echo_table(result.sense_table if of_senses else result.table, form)
        return
    if not of_senses:
        out.print(_trace_table(result) if isinstance(result, Trace) else _ranking(result, rows))
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
    if result.has_senses:
        err.print(Text(f"{result.sense_headline()}."))
    if caution := result.caution():
        err.print(Text(f"{caution}.", "yellow"))
    err.print(Text("report: ").append(str(Path(folder) / REPORT), "bold"))


def _ranking(result: Any, rows: int | None) -> Table:
    """Return a table of the ranked words; that of a discovery also compares them with similar words."""
    assert isinstance(result, Result)
    has_similar = "above" in result.table
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("word", no_wrap=True)
    for label in result.labels:
        table.add_column(Text(label), justify="right", no_wrap=True)
    for name in ("change", "95 % interval", *(["above similar"] if has_similar else []), "p", "q"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict")
    for row in result.table[:rows].to_dict("records"):
        cells: list[Text | str] = [Text(row["word"]), f"{row['n_old']:,}", f"{row['n_new']:,}"]
        if row["verdict"] == TOO_FEW:
            reason = Text(f"{row['verdict']}: {row['reason']}")
            table.add_row(*cells, *[""] * (5 if has_similar else 4), reason, style="dim")
            continue
        interval = f"{digits(row['low'])} to {digits(row['high'])}"
        similar = [f"{percent(row['above'])}%"] if has_similar else []
        cells += [digits(row["score"]), interval, *similar, chance(row["p"]), chance(row["q"])]
        table.add_row(*cells, Text(row["verdict"], "bold magenta" if row["verdict"] == CHANGED else ""))
    return table


def _trace_table(result: Trace) -> Table:
    """Return a table with a row for each word: its change over time, change points and seasonality."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("word", no_wrap=True)
    table.add_column(Text(f"{result.periods[0]} … {result.periods[-1]}"), no_wrap=True)
    for name in ("change", "q"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("change points")
    if result.seasons:
        table.add_column("season")
    steps = result.steps
    highest = float(steps.loc[steps["kind"] == FIRST, "score"].max()) if len(steps) else 0.0
    for row in result.table.to_dict("records"):
        if row["verdict"] == TOO_FEW:
            reason = Text(f"{result.settings['min_usages']} usages are needed in two periods")
            table.add_row(Text(row["word"]), "", "", "", TOO_FEW, reason, style="dim")
            continue
        verdict = Text(row["verdict"], "bold magenta" if row["verdict"] == CHANGED else "")
        cells: list[Text | str] = [Text(row["word"]), _sparkline(result, row["word"], highest), digits(row["score"])]
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
    changed = set(rows.loc[rows["verdict"] == CHANGED, "to"])
    line, top = Text(), len(_BLOCKS) - 1
    for period in result.periods:
        height = round(top * scores.get(period, 0.0) / highest) if highest > 0 else 0
        line.append(_BLOCKS[max(0, height)] if period in scores else _SKIPPED, "" if period in changed else "dim")
    return line

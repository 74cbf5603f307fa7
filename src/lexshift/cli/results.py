"""How the terminal shows the result of a comparison: results on stdout, everything else on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from lexshift.cli.terminal import complain, echo, out
from lexshift.errors import UserError
from lexshift.report.page import chance, digits, percent
from lexshift.study.result import CHANGED, REPORT, TOO_FEW, Result
from lexshift.utils.progress import err
from lexshift.utils.safe_csv import csv_text

FORMATS = ("table", "csv", "json")


@contextmanager
def interruptible(message: str = "stopped; the same command goes on where it was") -> Iterator[None]:
    """End a run that Ctrl-C interrupts with one sentence."""
    try:
        yield
    except KeyboardInterrupt:
        complain(message)
        raise typer.Exit(130) from None


def whole_or_all(number: int, name: str, what: str) -> int | None:
    """A number of words or usages, of which 0 stands for all."""
    if number < 0:
        raise UserError(f"{name} must be a whole number, 0 for all {what}; got {number}")
    return number or None


def number_or_auto(text: str, name: str, what: str, number: Callable[[str], Any] = float) -> Any:
    """A number, or auto."""
    if text == "auto":
        return text
    try:
        return number(text)
    except ValueError:
        raise UserError(f"{name} must be {what}, or auto; got {text!r}") from None


def show(result: Result, form: str, most: int | None = None) -> None:
    """Print the results, at most so many rows of the table."""
    if form == "csv":
        echo(csv_text(result.table), nl=False)
    elif form == "json":
        echo(result.table.to_json(orient="records", indent=1, force_ascii=False, double_precision=15))
    else:
        out.print(ranking(result, most))


def ranking(result: Result, most: int | None = None) -> Table:
    """The ranked table, or its beginning; words that are set against others like them have a column for that."""
    like = "above" in result.table
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("word", no_wrap=True)
    for label in result.labels:
        table.add_column(Text(label), justify="right", no_wrap=True)
    for name in ("change", "95 % interval", *(["above similar"] if like else []), "p", "q"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict")
    for row in result.table[:most].to_dict("records"):
        cells: list[Text | str] = [Text(row["word"]), f"{row['n_old']:,}", f"{row['n_new']:,}"]
        if row["verdict"] == TOO_FEW:
            told = Text(f"{row['verdict']}: {row['reason']}")
            table.add_row(*cells, *[""] * (5 if like else 4), told, style="dim")
            continue
        interval = f"{digits(row['low'])} to {digits(row['high'])}"
        verdict = Text(row["verdict"], "bold magenta" if row["verdict"] == CHANGED else "")
        similar = [f"{percent(row['above'])}%"] if like else []
        table.add_row(*cells, digits(row["score"]), interval, *similar, chance(row["p"]), chance(row["q"]), verdict)
    return table


def tell(result: Result, folder: str) -> None:
    """What was skipped, the outcome in a sentence, and where the page is."""
    err.print()
    for label, entry in zip(result.labels, result.run["corpora"], strict=True):
        for reason, n in entry["skipped"].items():
            err.print(Text(f"skipped or altered in {label}: {n:,} {reason}", "yellow"))
    for warning in result.run.get("warnings", []):
        err.print(Text(f"warning: {warning}", "yellow"))
    err.print(Text(f"{result.headline()}."))
    if result.caution():
        err.print(Text(f"{result.caution()}.", "yellow"))
    err.print(Text("report: ").append(str(Path(folder) / REPORT), "bold"))

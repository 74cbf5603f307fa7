"""lexshift eval: evaluate systems on a data set with human judgements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexshift.cli import options
from lexshift.cli.data import DatasetPath, Suffix

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

HELP = {"out": "Folder for vectors and results (default: named after the data set and the model)."}
EMBEDDING = ("out", "model", "min_usages", "space", *options.ENCODER_OPTIONS, "precision")
MIN_USAGES = 2  # so that every judged word that can be scored is evaluated


@options.with_settings(
    *EMBEDDING,
    *("metric", "strategy", "normalised", "rate", "distance_weight", "repeats", "alpha", "seed"),
    helps=HELP,
    min_usages=MIN_USAGES,
)
def command(
    *,
    path: DatasetPath,
    settings: dict[str, Any],
    grid: Annotated[
        bool, typer.Option("--grid", help="Evaluate every metric, strategy and rate of the paper as well.")
    ] = False,
    gold: options.Gold = None,
    suffix: Suffix = "strip",
    form: options.Form = "table",
    quiet: options.Quiet = False,
) -> None:
    """Evaluate SSCD and its baselines on a data set with human judgements.

    Vectors are computed once per data set and model, and stored. With --format csv the table of methods is printed, and
    the grid is only written to the folder.
    """
    from lexshift.benchmark.datasets import load_dataset
    from lexshift.benchmark.evaluation import GRID, evaluate
    from lexshift.cli.results import FORMATS, progress_monitor
    from lexshift.cli.terminal import echo, echo_table, json_text
    from lexshift.cli.terminal import out as console
    from lexshift.utils import checks
    from lexshift.utils.progress import err

    checks.choice(form, "format", FORMATS)
    with progress_monitor(quiet) as monitor:
        data = load_dataset(path, suffix, gold)
        result = evaluate(data, with_grid=grid, monitor=monitor, **settings)
    if form == "table":
        console.print(_methods_table(result.table))
        for strategy, part in () if result.grid is None else result.grid.groupby("strategy", sort=False):
            console.print()
            console.print(_grid_table(str(strategy), part))
    elif form == "json" and result.grid is not None:
        echo(f'{{"methods": {json_text(result.table)}, "grid": {json_text(result.grid)}}}')
    else:
        echo_table(result.table, form)
    if not quiet:
        judged, words = data.gold or "changed or not", len(data.graded or data.binary)
        grid_file = f", the grid in {result.folder / GRID}" if result.grid is not None and form == "csv" else ""
        err.print(f"\n{words} words, gold: {judged}; results in {result.folder}{grid_file}", soft_wrap=True)


def _methods_table(frame: pd.DataFrame) -> Table:
    """Return a table with a row for each method."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("method", no_wrap=True)
    names = ("Spearman", "95 % interval", "per repetition", "accuracy", "F1", "average precision", "words", "dropped")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row in frame.to_dict("records"):
        table.add_row(
            Text(row["method"]),
            _number(row["spearman"]),
            _two_numbers(row["low"], "to", row["high"]),
            _two_numbers(row["spearman_each"], "±", row["spearman_each_sd"]),
            *(_number(row[name]) for name in ("accuracy", "f1", "average_precision")),
            str(row["words"]),
            str(row["dropped"]),
        )
    return table


def _grid_table(strategy: str, frame: pd.DataFrame) -> Table:
    """Return a table of Spearman correlations per repetition, by metric and rate, as in the paper."""
    from rich.table import Table

    wide = frame.pivot(index="metric", columns="rate", values="spearman_each").reindex(frame["metric"].unique())
    table = Table(box=None, header_style="bold", pad_edge=False, title=strategy, title_justify="left")
    table.add_column("metric", no_wrap=True)
    for rate in wide.columns:
        table.add_column(f"{rate:g}", justify="right")
    for metric, row in wide.iterrows():
        table.add_row(str(metric), *map(_number, row))
    return table


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _two_numbers(first: float, between: str, second: float) -> str:
    """Return two numbers joined by a word or sign; an empty text if either is unknown."""
    return "" if math.isnan(first) or math.isnan(second) else f"{_number(first)} {between} {_number(second)}"

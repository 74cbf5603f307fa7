"""How the terminal shows evaluations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
from rich.table import Table
from rich.text import Text

from lexshift.cli.terminal import echo, out
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    from lexshift.benchmark.evaluation import Evaluation


def show(result: Evaluation, form: str) -> None:
    """Print the methods, and the grid if there is one; as csv the methods alone, as json both by their names."""
    if form == "table":
        _show_methods(result.table)
        if result.grid is not None:
            _show_grid(result.grid)
        return
    if form == "csv":
        echo(csv_text(result.table), nl=False)
    elif result.grid is None:
        echo(_records(result.table))
    else:
        echo(f'{{"methods": {_records(result.table)}, "grid": {_records(result.grid)}}}')


def _records(frame: pd.DataFrame) -> str:
    return str(frame.to_json(orient="records", indent=1, force_ascii=False, double_precision=15))


def _show_methods(frame: pd.DataFrame) -> None:
    """A row for each method."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("method", no_wrap=True)
    names = ("Spearman", "95 % interval", "per repetition", "accuracy", "F1", "average precision", "words", "dropped")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row in frame.to_dict("records"):
        table.add_row(
            Text(row["method"]),
            _number(row["spearman"]),
            _two(row["low"], "to", row["high"]),
            _two(row["spearman_each"], "±", row["spearman_each_sd"]),
            *(_number(row[name]) for name in ("accuracy", "f1", "average_precision")),
            str(row["words"]),
            str(row["dropped"]),
        )
    out.print(table)


def _show_grid(grid: pd.DataFrame) -> None:
    """For each strategy, Spearman per repetition by metric and rate: the paper's tables."""
    for strategy, frame in grid.groupby("strategy", sort=False):
        wide = frame.pivot(index="metric", columns="rate", values="spearman_each").reindex(frame["metric"].unique())
        table = Table(box=None, header_style="bold", pad_edge=False, title=str(strategy), title_justify="left")
        table.add_column("metric", no_wrap=True)
        for rate in wide.columns:
            table.add_column(f"{rate:g}", justify="right")
        for metric, row in wide.iterrows():
            table.add_row(str(metric), *(_number(value) for value in row))
        out.print()
        out.print(table)


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _two(first: float, between: str, second: float) -> str:
    """Return two numbers with something between them; nothing if either is not known."""
    return "" if math.isnan(first) or math.isnan(second) else f"{_number(first)} {between} {_number(second)}"

"""lexshift eval: evaluate systems on a data set with human judgements."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexshift.cli import options
from lexshift.cli.data import DatasetPath, Suffix

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

HELP = {
    "out": "Folder for vectors and results (default: named after the data set and the model).",
    "control": "Ordinary words of the sentences to compare with: auto, none or a number.",
}
EMBEDDING = ("out", "model", "min_usages", "space", *options.ENCODER_OPTIONS, "precision")
_SENSE_COLUMNS = {
    "ari": ("ARI", ""),
    "b_cubed_f": ("B-cubed F", ""),
    "above_one_sense": ("above one sense", ""),
    "above_low": ("95 % interval", "above_high"),
    "purity": ("purity", ""),
    "senses": ("senses", ""),
    "macro_f1": ("macro-F1", ""),
    "spearman": ("Spearman", ""),
    "low": ("95 % interval", "high"),
    "gained_accuracy": ("gained: accuracy", ""),
    "gained_f1": ("F1", ""),
    "lost_accuracy": ("lost: accuracy", ""),
    "lost_f1": ("F1", ""),
    "f1": ("F1", ""),
    "changes": ("changes", ""),
    "words": ("words", ""),
}  # the label of a column of numbers, and for an interval the column of its upper limit
_COUNTS = ("changes", "words")
MIN_USAGES = 2  # so that every judged word that can be scored is evaluated


@options.with_settings(
    *EMBEDDING,
    *("preset", "control", "metric", "strategy", "normalised", "rate", "distance_weight", "repeats", "alpha", "seed"),
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
    senses: Annotated[
        bool, typer.Option("--senses", help="Evaluate clusters of usages against senses and change in the gold.")
    ] = False,
    clustering: Annotated[
        str | None, typer.Option(metavar="NAME", help="Clustering to evaluate (default: that of lexshift senses).")
    ] = None,
    predictions: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File of predictions for AXOLOTL-24 or SemEval-2027 Task 3, to be scored."),
    ] = None,
    gold: options.Gold = None,
    suffix: Suffix = "strip",
    form: options.Form = "table",
    quiet: options.Quiet = False,
) -> None:
    """Evaluate SSCD and its baselines on a data set with human judgements, or clusters of usages with --senses.

    Vectors are computed once per data set and model, and stored. With --format csv the table of methods is printed, and
    the grid is only written to the folder. On AXOLOTL-24 and SemEval-2027 Task 3, senses are predicted, scored and
    written.
    """
    from lexshift.benchmark.datasets import load_dataset
    from lexshift.benchmark.datasets.sense_tasks import is_sense_task
    from lexshift.benchmark.evaluation import GRID, evaluate
    from lexshift.cli.results import FORMATS, progress_monitor
    from lexshift.cli.terminal import echo, echo_table, json_text
    from lexshift.cli.terminal import out as console
    from lexshift.errors import UserError
    from lexshift.utils import checks
    from lexshift.utils.progress import err
    from lexshift.utils.quantities import with_unit

    checks.choice(form, "format", FORMATS)
    if senses or predictions is not None or is_sense_task(path):
        if grid:
            raise UserError("--grid is about scores of change; leave it out to evaluate senses")
        evaluate_by_senses(path, settings, clustering, predictions, gold, suffix, form, quiet)
        return
    if clustering is not None:
        raise UserError("--clustering is about senses; add --senses to evaluate them")
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
        err.print(
            f"\n{with_unit(words, 'words')}, gold: {judged}; results in {result.folder}{grid_file}", soft_wrap=True
        )


def evaluate_by_senses(
    path: str,
    settings: dict[str, Any],
    clustering: str | None,
    predictions: str | None,
    gold: str | None,
    suffix: str,
    form: str,
    quiet: bool,
) -> None:
    """Evaluate senses on a data set of any format, print the table, and say where the results are."""
    from lexshift.benchmark.axolotl import PREDICTIONS, evaluate_axolotl, labels_table
    from lexshift.benchmark.datasets import load_dataset
    from lexshift.benchmark.datasets.axolotl import is_axolotl, load_axolotl, read_predictions
    from lexshift.benchmark.datasets.semeval2027 import language_folders
    from lexshift.benchmark.semeval2027 import evaluate_release, score_predictions
    from lexshift.benchmark.sense_evaluation import SENSE_SETTINGS, evaluate_senses
    from lexshift.cli.results import progress_monitor
    from lexshift.cli.terminal import echo_table
    from lexshift.cli.terminal import out as console
    from lexshift.errors import UserError
    from lexshift.utils.progress import err

    location, file = Path(path), None if predictions is None else Path(predictions)
    chosen = {name: settings[name] for name in SENSE_SETTINGS}
    results = ""
    with progress_monitor(quiet) as monitor:
        if is_axolotl(location):
            _refuse_unused("AXOLOTL-24", clustering=clustering, gold=gold)
            tagged = load_axolotl(location)
            if file is not None:
                table = labels_table(tagged, {file.name: read_predictions(file, tagged)})
            else:
                labelled = evaluate_axolotl(tagged, monitor=monitor, **chosen)
                table, results = labelled.table, f"predictions in {labelled.folder / PREDICTIONS}"
        elif language_folders(location):
            _refuse_unused("SemEval-2027 Task 3", gold=gold)
            if file is not None:
                table = score_predictions(location, file)
            else:
                table, submission = evaluate_release(location, clustering, monitor=monitor, **chosen)
                results = f"submission: {submission}"
        elif file is not None:
            raise UserError(f"--predictions is for data of AXOLOTL-24 and SemEval-2027 Task 3; {path!r} is neither")
        else:
            clustered = evaluate_senses(load_dataset(path, suffix, gold), clustering, monitor=monitor, **chosen)
            table, results = clustered.table, f"results in {clustered.folder}"
    if form == "table":
        console.print(_senses_table(table))
    else:
        echo_table(table, form)
    if results and not quiet:
        err.print(f"\n{results}", soft_wrap=True)


def _refuse_unused(task: str, **values: str | None) -> None:
    """Raise an error for options that would be ignored."""
    from lexshift.errors import UserError

    for name, value in values.items():
        if value is not None:
            raise UserError(f"--{name} is not used for {task}; leave it out")


def _senses_table(frame: pd.DataFrame) -> Table:
    """Return a table with a row for each method, and the columns of the measures that have a value."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    texts = [name for name in ("language", "subtask", "method") if name in frame]
    measured = {name for name in frame if frame[name].notna().any()}
    shown = {name: column for name, column in _SENSE_COLUMNS.items() if name in measured}
    for name in texts:
        table.add_column(name, no_wrap=True)
    for label, _ in shown.values():
        table.add_column(label, justify="right", no_wrap=True)
    for row in frame.to_dict("records"):
        cells = [
            _two_numbers(row[name], "to", row[high]) if high else _number(row[name], 0 if name in _COUNTS else 3)
            for name, (_, high) in shown.items()
        ]
        table.add_row(*(Text(row[name]) for name in texts), *cells)
    return table


def _methods_table(frame: pd.DataFrame) -> Table:
    """Return a table with a row for each method."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("method", no_wrap=True)
    decided = ("accuracy", "F1", "precision", "called")
    for name in ("Spearman", "95 % interval", "per repetition", *decided, "average precision", "words", "dropped"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in frame.to_dict("records"):
        table.add_row(
            Text(row["method"]),
            _number(row["spearman"]),
            _two_numbers(row["low"], "to", row["high"]),
            _two_numbers(row["spearman_each"], "±", row["spearman_each_sd"]),
            *(_number(row[name]) for name in ("accuracy", "f1", "precision")),
            _number(row["called"], 0),
            _number(row["average_precision"]),
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


def _number(value: float, decimals: int = 3) -> str:
    return "" if math.isnan(value) else f"{value:.{decimals}f}"


def _two_numbers(first: float, between: str, second: float) -> str:
    """Return two numbers joined by a word or sign; an empty text if either is unknown."""
    return "" if math.isnan(first) or math.isnan(second) else f"{_number(first)} {between} {_number(second)}"

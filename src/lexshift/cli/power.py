"""lexshift power: how many usages are needed to see a change of a given size."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from lexshift.cli import options
from lexshift.cli.simulate import Corpora, Pairs
from lexshift.study.settings import SCORES

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

_T = TypeVar("_T")
_SCORES = SCORES


@options.grouped
def command(
    *,
    corpora: Corpora,
    usages: Annotated[
        str, typer.Option(help="Comma-separated numbers of usages of a word in each corpus.")
    ] = "10,20,50,100",
    changes: Annotated[str, typer.Option(help="Comma-separated shares of usages that change.")] = "0.1,0.25,0.5,1",
    pseudowords: Annotated[int, typer.Option(help="Number of pseudowords (ignored with --pairs).")] = 20,
    pairs: Pairs = None,
    trials: Annotated[int, typer.Option(help="Number of draws for each number of usages and each change.")] = 200,
    alpha: Annotated[
        float, typer.Option(help="The p up to which a change counts as seen.", rich_help_panel=_SCORES)
    ] = 0.05,
    words_tested: Annotated[
        int,
        typer.Option(
            help="Number of words tested together: p must be up to alpha divided by it.", rich_help_panel=_SCORES
        ),
    ] = 1,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="STORE", help="Folder for the store of vectors (default: none is kept)."),
    ] = None,
    form: options.Form = "table",
    quiet: options.Quiet = False,
    model: options.Model = "minilm",
    metric: options.Metric = "nearest",
    space: options.Space = "standardised",
    permutations: Annotated[
        str,
        typer.Option(
            help="Maximum number of permutations per test; auto for as many as its level requires.",
            rich_help_panel=_SCORES,
        ),
    ] = "auto",
    seed: options.Seed = 0,
    reading: options.Reading,
    encoder: options.Encoder,
) -> None:
    """Find how many usages of a word are needed to see a change, by planting changes in sentences of a corpus."""
    from lexshift.cli.results import FORMATS, interruptible
    from lexshift.cli.terminal import echo
    from lexshift.cli.terminal import out as console
    from lexshift.simulation.power import power
    from lexshift.utils.checks import choice
    from lexshift.utils.monitor import Silent
    from lexshift.utils.progress import Bars, err
    from lexshift.utils.safe_csv import csv_text

    choice(form, "format", FORMATS)
    with interruptible(), Bars() as bars:
        table = power(
            *corpora,
            model=model,
            usages=_listed(usages, "usages", int),
            changes=_listed(changes, "changes", float),
            pseudowords=pseudowords,
            pairs=pairs,
            trials=trials,
            alpha=alpha,
            words_tested=words_tested,
            metric=metric,
            space=space,
            permutations=options.permutations(permutations),
            seed=seed,
            out=out,
            monitor=Silent() if quiet else bars,
            **reading.given(),
            **encoder.given(),
        )
    if form == "csv":
        echo(csv_text(table), nl=False)
    elif form == "json":
        echo(table.to_json(orient="records", indent=1, double_precision=15))
    else:
        console.print(_shown(table))
        if not quiet:
            level = f"{alpha / words_tested:g}"
            told = (
                f"the share of {trials:,} draws in which p was up to {level}, and the 95 % interval of its mean over "
            )
            told += "pairs of source words"
            err.print(f"\n{told}; at change 0 it is the share of false alarms")


def _listed(text: str, name: str, kind: Callable[[str], _T]) -> list[_T]:
    from lexshift.errors import UserError

    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"{name} must be numbers with commas between; got {text!r}") from None


def _shown(table: pd.DataFrame) -> Table:
    """A row for each change, a column for each number of usages, and what is enough."""
    from rich.table import Table

    from lexshift.simulation.power import WANTED, least_usages

    shown, enough = Table(box=None, header_style="bold", pad_edge=False), least_usages(table)
    shown.add_column("change", justify="right")
    sizes = sorted(set(table["usages"]))
    for size in sizes:
        shown.add_column(f"{size:,} usages", justify="right", no_wrap=True)
    shown.add_column(f"{WANTED:.0%} from".replace("%", " %"), justify="right")
    for change, rows in table.groupby("change"):
        cells = [f"{row.power:.2f} ({row.low:.2f} to {row.high:.2f})" for row in rows.itertuples()]
        least = enough.get(float(change))
        shown.add_row(f"{change:g}", *cells, "" if change == 0 else f"{least:,}" if least else f"over {max(sizes):,}")
    return shown

"""lexshift power: estimate the number of usages needed to detect a change of a given size."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from lexshift.cli import options
from lexshift.cli.simulate import Corpora, Pairs, Pseudowords

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

_T = TypeVar("_T")
_HELP = {
    "alpha": "Significance level: largest p at which a change counts as detected.",
    "out": "Folder for the store of vectors (default: none).",
}


@options.with_settings(
    *("out", "model", "metric", "space", "alpha", "permutations", "seed"),
    *options.UNDATED_OPTIONS,
    *options.ENCODER_OPTIONS,
    helps=_HELP,
)
def command(
    *,
    corpora: Corpora,
    settings: dict[str, Any],
    usages: Annotated[
        str, typer.Option(help="Comma-separated numbers of usages of a word in each corpus.")
    ] = "10,20,50,100",
    changes: Annotated[str, typer.Option(help="Comma-separated shares of usages that change.")] = "0.1,0.25,0.5,1",
    pseudowords: Pseudowords = 20,
    pairs: Pairs = None,
    trials: Annotated[int, typer.Option(help="Number of random draws per number of usages and change.")] = 200,
    words_tested: Annotated[int, typer.Option(help="Number of words tested together; alpha is divided by it.")] = 1,
    form: options.Form = "table",
    quiet: options.Quiet = False,
) -> None:
    """Estimate how many usages of a word are needed to detect a change, by planting changes in a corpus."""
    from lexshift.cli.results import FORMATS, progress_monitor
    from lexshift.cli.terminal import echo_table
    from lexshift.cli.terminal import out as console
    from lexshift.simulation.power import power
    from lexshift.utils import checks
    from lexshift.utils.progress import err

    checks.choice(form, "format", FORMATS)
    settings |= {"usages": _numbers(usages, "usages", int), "changes": _numbers(changes, "changes", float)}
    settings |= {"pseudowords": pseudowords, "pairs": pairs, "trials": trials, "words_tested": words_tested}
    with progress_monitor(quiet) as monitor:
        table = power(*corpora, monitor=monitor, **settings)
    if form != "table":
        echo_table(table, form)
        return
    console.print(_power_table(table))
    if not quiet:
        level = settings["alpha"] / words_tested
        err.print(
            f"\nEach cell is the share of {trials:,} draws with p of at most {level:g}, and the 95 % interval of its "
            "mean over pairs of source words; at change 0 it is the rate of false alarms."
        )


def _numbers(text: str, name: str, kind: Callable[[str], _T]) -> list[_T]:
    """Parse comma-separated numbers."""
    from lexshift.errors import UserError

    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"{name} must be comma-separated numbers; got {text!r}") from None


def _power_table(table: pd.DataFrame) -> Table:
    """Return a table with a row for each change, a column for each number of usages, and the number that suffices."""
    from rich.table import Table

    from lexshift.simulation.power import TARGET_POWER, minimum_usages

    shown, required = Table(box=None, header_style="bold", pad_edge=False), minimum_usages(table)
    shown.add_column("change", justify="right")
    sizes = sorted(set(table["usages"]))
    for size in sizes:
        shown.add_column(f"{size:,} usages", justify="right", no_wrap=True)
    shown.add_column(f"{TARGET_POWER:.0%} from".replace("%", " %"), justify="right")
    for change, rows in table.groupby("change"):
        cells = [f"{row.power:.2f} ({row.low:.2f} to {row.high:.2f})" for row in rows.itertuples()]
        least = required.get(float(change))
        shown.add_row(f"{change:g}", *cells, "" if change == 0 else f"{least:,}" if least else f"over {max(sizes):,}")
    return shown

"""lexshift reproduce: the paper's tables and figure for a data set and an encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lexshift.cli import options

if TYPE_CHECKING:
    from rich.table import Table

    from lexshift.benchmark.paper import Exhibit


@options.grouped
def command(
    *,
    path: Annotated[str, typer.Argument(metavar="PATH", help="Folder of a release, or a table of usages.")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="DIR", help="Folder for vectors and results, as eval has it.")
    ] = None,
    model: options.Model = "minilm",
    suffix: Annotated[
        str, typer.Option(help="SemEval: strip the part of speech from what the model sees, or keep it.")
    ] = "strip",
    gold: options.Gold = None,
    space: options.Space = "raw",
    repeats: options.Repeats = 20,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    encoder: options.Vectors,
) -> None:
    """Make each table and figure of the paper for a data set with graded judgements, beside the published figures.

    Vectors are computed once for a data set and a model, and shared with eval.
    """
    from rich.text import Text

    from lexshift.benchmark.datasets import load_dataset
    from lexshift.benchmark.paper import reproduce
    from lexshift.cli.results import interruptible
    from lexshift.cli.terminal import out as console
    from lexshift.report.page import write_page
    from lexshift.report.reproduction import PAGE, render
    from lexshift.utils.monitor import Silent
    from lexshift.utils.progress import Bars, err

    with interruptible(), Bars() as bars:
        result = reproduce(
            load_dataset(path, suffix, gold),
            model=model,
            out=out,
            space=space,
            repeats=repeats,
            seed=seed,
            monitor=Silent() if quiet else bars,
            **encoder.given(),
        )
    page = write_page(render(result.exhibits, result.run), result.folder / PAGE)
    for i, exhibit in enumerate(result.exhibits):
        if i:
            console.print()
        console.print(_terminal_table(exhibit))
    if not quiet:
        err.print(Text("\nreport: ").append(str(page), "bold"))


def _terminal_table(exhibit: Exhibit) -> Table:
    """Return a table without the published figures below ours; the best of a row is bold."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False, title=exhibit.title, title_justify="left")
    for c, name in enumerate(exhibit.columns):
        table.add_column(Text(name), justify="left" if c < exhibit.texts else "right", no_wrap=True)
    for row in exhibit.rows:
        table.add_row(*(Text(cell.text, "bold" if cell.best else "") for cell in row))
    return table

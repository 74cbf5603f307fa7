"""lexshift reproduce: reproduce the tables and the figure of the paper for a data set and an encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lexshift.cli import options
from lexshift.cli.data import DatasetPath, Suffix
from lexshift.cli.evaluate import EMBEDDING, HELP, MIN_USAGES

if TYPE_CHECKING:
    from rich.table import Table

    from lexshift.benchmark.paper.exhibit import Exhibit


@options.with_settings(*EMBEDDING, "repeats", "seed", helps=HELP, min_usages=MIN_USAGES, space="raw")
def command(
    *,
    path: DatasetPath,
    settings: dict[str, Any],
    gold: options.Gold = None,
    suffix: Suffix = "strip",
    quiet: options.Quiet = False,
) -> None:
    """Reproduce each table and figure of the paper for a data set with graded judgements.

    The page shows the published numbers next to the reproduced ones. Vectors are computed once per data set and model,
    and shared with eval.
    """
    from rich.text import Text

    from lexshift.benchmark.datasets import load_dataset
    from lexshift.benchmark.paper import reproduce
    from lexshift.cli.results import progress_monitor
    from lexshift.cli.terminal import out as console
    from lexshift.report.page import write_page
    from lexshift.report.reproduction import PAGE, render
    from lexshift.utils.progress import err

    with progress_monitor(quiet) as monitor:
        result = reproduce(load_dataset(path, suffix, gold), monitor=monitor, **settings)
    page = write_page(render(result.exhibits, result.run), result.folder / PAGE)
    for i, exhibit in enumerate(result.exhibits):
        if i:
            console.print()
        console.print(_exhibit_table(exhibit))
    if not quiet:
        err.print(Text("\nreport: ").append(str(page), "bold"))


def _exhibit_table(exhibit: Exhibit) -> Table:
    """Return a table of the reproduced numbers without the published ones; the best of a row is bold."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False, title=exhibit.title, title_justify="left")
    for c, name in enumerate(exhibit.columns):
        table.add_column(Text(name), justify="left" if c < exhibit.texts else "right", no_wrap=True)
    for row in exhibit.rows:
        table.add_row(*(Text(cell.text, "bold" if cell.best else "") for cell in row))
    return table

"""lexshift simulate: corpora in which it is known how much each word changed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lexshift.cli import options

Corpora = Annotated[
    list[str], typer.Argument(metavar="CORPUS...", help="Where sentences come from: text, tables, folders, patterns.")
]
Pseudowords = Annotated[int, typer.Option(help="Number of pseudowords (ignored with --pairs).")]
Pairs = Annotated[
    str | None, typer.Option(metavar="FILE", help="File of word<TAB>word lines (default: pairs chosen at random).")
]


@options.with_settings(*options.UNDATED_OPTIONS)
def command(
    *,
    corpora: Corpora,
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Folder for the simulated corpora.")],
    pseudowords: Pseudowords = 30,
    usages: Annotated[
        int | None,
        typer.Option(help="Usages of each pseudoword in each period (default: 100 in a corpus, 5 in a month)."),
    ] = None,
    pairs: Pairs = None,
    pattern: Annotated[
        str, typer.Option(help="What is planted: change or none (two corpora); step, season or yearly (dates).")
    ] = "change",
    years: Annotated[int, typer.Option(help="Number of years, with --pattern step, season or yearly.")] = 6,
    seed: Annotated[int, typer.Option(help="Seed for all random choices.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
    settings: dict[str, Any],
) -> None:
    """Make corpora with planted change: sentences of two words under one invented word, in a known mix."""
    from rich.table import Table
    from rich.text import Text

    from lexshift.cli.results import progress_monitor
    from lexshift.cli.terminal import out as console
    from lexshift.simulation.corpora import simulate
    from lexshift.utils.progress import err

    what: dict[str, Any] = {
        "pseudowords": pseudowords,
        "usages": usages,
        "pairs": pairs,
        "pattern": pattern,
        "years": years,
    }
    with progress_monitor(quiet, "interrupted; run the same command again to simulate the corpora") as monitor:
        planted = simulate(*corpora, out=out, seed=seed, monitor=monitor, **what, **settings)
    if quiet:
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in planted.columns:
        table.add_column(name, justify="right" if name == "change" else "left")
    for row in planted.to_dict("records"):
        table.add_row(*(f"{value:.3g}" if isinstance(value, float) else Text(str(value)) for value in row.values()))
    console.print(table)
    err.print(Text("written: ").append(out, "bold"))

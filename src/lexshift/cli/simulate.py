"""lexshift simulate: make corpora in which the change of each word is known."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lexshift.cli import options

Corpora = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS...", help="Corpora to take sentences from: text files, tables, folders or patterns."
    ),
]
Pseudowords = Annotated[int, typer.Option(help="Number of pseudowords, unless --pairs is given.")]
Pairs = Annotated[
    str | None, typer.Option(metavar="FILE", help="File with lines of word<TAB>word (default: random pairs).")
]


@options.with_settings("seed", *options.UNDATED_OPTIONS, helps={"seed": "Seed for all random choices."})
def command(
    *,
    corpora: Corpora,
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Folder for the simulated corpora.")],
    pseudowords: Pseudowords = 30,
    usages: Annotated[
        int | None,
        typer.Option(help="Number of usages of a pseudoword per period (default: 100 in a corpus, 5 in a month)."),
    ] = None,
    pairs: Pairs = None,
    pattern: Annotated[
        str, typer.Option(help="Planted change: change or none (two corpora); step, season or yearly (dated texts).")
    ] = "change",
    years: Annotated[int, typer.Option(help="Number of years, with --pattern step, season or yearly.")] = 6,
    separate: Annotated[
        bool, typer.Option("--separate", help="Plant in an old and a new corpus, each of which keeps its own text.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
    settings: dict[str, Any],
) -> None:
    """Make corpora with planted change: a pseudoword replaces two words, in known proportions."""
    from rich.table import Table
    from rich.text import Text

    from lexshift.cli.results import progress_monitor
    from lexshift.cli.terminal import out as console
    from lexshift.simulation.corpora import simulate
    from lexshift.utils.progress import err

    arguments: dict[str, Any] = {
        "pseudowords": pseudowords,
        "usages": usages,
        "pairs": pairs,
        "pattern": pattern,
        "years": years,
        "separate": separate,
    }
    with progress_monitor(quiet, "interrupted; run the same command again to simulate the corpora") as monitor:
        planted = simulate(*corpora, out=out, monitor=monitor, **arguments, **settings)
    if quiet:
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in planted.columns:
        table.add_column(name, justify="right" if name == "change" else "left")
    for row in planted.to_dict("records"):
        table.add_row(*(f"{value:.3g}" if isinstance(value, float) else Text(str(value)) for value in row.values()))
    console.print(table)
    err.print(Text("written: ").append(out, "bold"))

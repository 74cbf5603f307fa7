"""lexshift reproduce: the paper's tables and figure for a data set and an encoder."""

from __future__ import annotations

from typing import Annotated

import typer

from lexshift.cli import options

_SCORES = options.SCORES


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

    from lexshift.benchmark.reproducing import reproduce
    from lexshift.cli.exhibits import show
    from lexshift.cli.results import interruptible
    from lexshift.utils.monitor import Silent
    from lexshift.utils.progress import Bars, err

    with interruptible(), Bars() as bars:
        result = reproduce(
            path,
            model=model,
            out=out,
            space=space,
            suffix=suffix,
            gold=gold,
            repeats=repeats,
            seed=seed,
            monitor=Silent() if quiet else bars,
            **encoder.given(),
        )
    show(result.exhibits)
    if not quiet:
        err.print(Text("\nreport: ").append(str(result.page), "bold"))

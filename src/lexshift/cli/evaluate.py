"""lexshift eval: what methods score on a data set with human judgements."""

from __future__ import annotations

from typing import Annotated

import typer

from lexshift.cli import options
from lexshift.study.settings import SCORES

_SCORES = SCORES


@options.grouped
def command(
    *,
    path: Annotated[str, typer.Argument(metavar="PATH", help="Folder of a release, or a table of usages.")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="DIR", help="Folder for vectors and results; named after both.")
    ] = None,
    model: options.Model = "minilm",
    grid: Annotated[bool, typer.Option("--grid", help="Every metric, strategy and rate of the paper too.")] = False,
    gold: options.Gold = None,
    suffix: Annotated[
        str, typer.Option(help="SemEval: strip the part of speech from what the model sees, or keep it.")
    ] = "strip",
    space: options.Space = "standardised",
    metric: Annotated[str, typer.Option(help="Of SSCD.", rich_help_panel=_SCORES)] = "nearest",
    strategy: Annotated[str, typer.Option(help="Of SSCD: random or distance.", rich_help_panel=_SCORES)] = "random",
    normalised: options.Normalised = False,
    rate: Annotated[float, typer.Option(help="The share that is swapped, 0 to 1.", rich_help_panel=_SCORES)] = 0.3,
    keep: options.Keep = None,
    repeats: options.Repeats = 20,
    alpha: options.Alpha = 0.05,
    seed: options.Seed = 0,
    form: options.Form = "table",
    quiet: options.Quiet = False,
    encoder: options.Vectors,
) -> None:
    """Evaluate SSCD and the systems it is compared with on a data set with human judgements.

    Vectors are computed once for a data set and a model, and kept.
    """
    from lexshift.benchmark.datasets import load_dataset
    from lexshift.benchmark.evaluation import GRID, evaluate
    from lexshift.cli.results import FORMATS, interruptible
    from lexshift.cli.scores import show
    from lexshift.scoring.sscd import SSCD
    from lexshift.study.settings import default_keep
    from lexshift.utils.checks import choice
    from lexshift.utils.monitor import Silent
    from lexshift.utils.progress import Bars, err

    choice(form, "format", FORMATS)
    kept = default_keep(metric) if keep is None else keep
    settings = SSCD(metric, strategy, rate, repeats, seed, keep=kept)  # type: ignore[arg-type]  # checked there
    with interruptible(), Bars() as bars:
        result = evaluate(
            load_dataset(path, suffix, gold),
            settings,
            model=model,
            out=out,
            space=space,
            normalised=normalised,
            alpha=alpha,
            with_grid=grid,
            monitor=Silent() if quiet else bars,
            **encoder.given(),
        )
    show(result, form)
    if not quiet:
        judged = result.data.gold or "changed or not"
        words = len(result.data.graded or result.data.binary)
        grid_file = f", the grid in {result.folder / GRID}" if result.grid is not None and form == "csv" else ""
        err.print(f"\n{words} words, gold: {judged}; results in {result.folder}{grid_file}", soft_wrap=True)

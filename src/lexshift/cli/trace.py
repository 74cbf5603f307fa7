"""lexshift trace: how words moved over several periods."""

from __future__ import annotations

from typing import Annotated

import typer

from lexshift.cli import options

_CHOICE, _SCORES, _PERIODS = "Which words", options.SCORES, "Which periods"


def command(
    corpora: Annotated[
        list[str],
        typer.Argument(metavar="PERIOD...", help="The periods, the earliest first; or one corpus and --by."),
    ],
    by: Annotated[
        str | None,
        typer.Option(
            help="Cut one corpus by year, decade or month: by --date-column, or the years in file names.",
            rich_help_panel=_PERIODS,
        ),
    ] = None,
    date_column: Annotated[
        str | None, typer.Option(help="Of tables: 1999, 1999-07 or 1999-07-31.", rich_help_panel=_PERIODS)
    ] = None,
    labels: Annotated[
        str | None, typer.Option(help="Names of the periods, with commas; by their files.", rich_help_panel=_PERIODS)
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            "--words",
            "-w",
            help="A list (a,b,c), a file with a word a line, or word<TAB>form1,form2.",
            rich_help_panel=_CHOICE,
        ),
    ] = None,
    min_count: Annotated[
        int,
        typer.Option(help="Without --words: at least so often in the first and the last.", rich_help_panel=_CHOICE),
    ] = 20,
    top_words: Annotated[
        int, typer.Option(help="Without --words: at most so many, the most frequent.", rich_help_panel=_CHOICE)
    ] = 100,
    max_per_word: Annotated[
        int, typer.Option(help="Usages of a word in a period, a random sample; 0 for all.", rich_help_panel=_CHOICE)
    ] = 200,
    min_usages: Annotated[
        int, typer.Option(help="A period with fewer is skipped for a word.", rich_help_panel=_CHOICE)
    ] = 10,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="DIR", help="Folder for the results; named after the corpora.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="What is printed: table, csv or json.")] = "table",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the results and nothing else.")] = False,
    model: options.Model = "minilm",
    metric: Annotated[
        str, typer.Option(help="The distance between two sets of usages.", rich_help_panel=_SCORES)
    ] = "nearest",
    strategy: Annotated[
        str, typer.Option(help="What is swapped: random, or distance (the farthest).", rich_help_panel=_SCORES)
    ] = "random",
    normalised: Annotated[
        bool, typer.Option("--normalised", help="Swap counts normalised by corpus size.", rich_help_panel=_SCORES)
    ] = False,
    rate: Annotated[
        str, typer.Option(help="The share that is swapped, 0 to 1; or auto.", rich_help_panel=_SCORES)
    ] = "0.3",
    keep: options.Keep = None,
    space: options.Space = "standardised",
    repeats: Annotated[int, typer.Option(help="Of the random swap.", rich_help_panel=_SCORES)] = 20,
    alpha: Annotated[float, typer.Option(help="The false discovery rate.", rich_help_panel=_SCORES)] = 0.05,
    permutations: Annotated[int, typer.Option(help="The most of a test.", rich_help_panel=_SCORES)] = 10_000,
    resamples: Annotated[int, typer.Option(help="For the 95 % intervals.", rich_help_panel=_SCORES)] = 1_000,
    seed: Annotated[int, typer.Option(help="Of every random choice.", rich_help_panel=_SCORES)] = 0,
    match: options.Match = "word",
    split: options.Split = "auto",
    language: options.Language = "en",
    encoding: options.Encoding = "utf-8",
    errors: options.Errors = "strict",
    text_column: options.TextColumn = "text",
    layers: options.Layers = None,
    pooling: options.Pooling = None,
    window: options.Window = None,
    markers: options.Markers = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "fp32",
    revision: options.Revision = None,
    precision: options.Precision = "float32",
) -> None:
    """Find how words moved over several periods: how much, when, and whether it returns every year.

    Run again with another metric, rate or strategy, it takes seconds; stopped, it goes on where it was.
    """
    from lexshift._checks import choice
    from lexshift.cli.results import FORMATS, interruptible, number_or_auto, whole_or_all
    from lexshift.cli.traces import show, tell
    from lexshift.monitor import Silent
    from lexshift.progress import Bars
    from lexshift.tracing.places import default_out
    from lexshift.tracing.tracer import trace

    choice(form, "format", FORMATS)
    with interruptible(), Bars() as bars:
        folder = out or default_out(corpora, by)
        result = trace(
            *corpora,
            words=words,
            by=by,
            model=model,
            metric=metric,
            strategy=strategy,  # type: ignore[arg-type]  # checked by trace
            normalised=normalised,
            rate=number_or_auto(rate, "rate", "a number from 0 to 1"),
            keep=keep,
            space=space,
            repeats=repeats,
            alpha=alpha,
            seed=seed,
            max_per_word=whole_or_all(max_per_word, "max-per-word", "usages"),
            min_usages=min_usages,
            min_count=min_count,
            top_words=top_words,
            permutations=permutations,
            resamples=resamples,
            out=folder,
            labels=labels.split(",") if labels else None,
            match=match,
            monitor=Silent() if quiet else bars,
            split=split,
            language=language,
            encoding=encoding,
            errors=errors,
            text_column=text_column,
            date_column=date_column,
            layers=layers,
            pooling=pooling,
            window=window,
            markers=markers,
            device=device,
            dtype=dtype,
            revision=revision,
            precision=precision,
        )
    show(result, form)
    if not quiet:
        tell(result, folder)

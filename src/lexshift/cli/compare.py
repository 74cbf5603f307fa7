"""lexshift compare: which words changed their meaning between two corpora."""

from __future__ import annotations

from typing import Annotated

import typer

from lexshift.cli import options

_CHOICE, _SCORES = "Which words", options.SCORES


def command(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Text, a table, a folder or a pattern; .gz and .zst too.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same, of the later period.")],
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
        int, typer.Option(help="Without --words: at least so often in each corpus.", rich_help_panel=_CHOICE)
    ] = 20,
    top_words: Annotated[
        int, typer.Option(help="Without --words: at most so many, the most frequent.", rich_help_panel=_CHOICE)
    ] = 100,
    max_per_word: Annotated[
        int, typer.Option(help="Usages of a word in a corpus, a random sample; 0 for all.", rich_help_panel=_CHOICE)
    ] = 200,
    min_usages: Annotated[
        int, typer.Option(help="A word with fewer in a corpus is not scored.", rich_help_panel=_CHOICE)
    ] = 10,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="DIR", help="Folder for the results; named after the corpora.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="What is printed: table, csv or json.")] = "table",
    labels: Annotated[str | None, typer.Option(help="Names of the corpora, with a comma; by their files.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the results and nothing else.")] = False,
    model: options.Model = "minilm",
    metric: Annotated[
        str, typer.Option(help="The distance between the two sets.", rich_help_panel=_SCORES)
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
    date_column: options.DateColumn = None,
    layers: options.Layers = None,
    pooling: options.Pooling = None,
    window: options.Window = None,
    markers: options.Markers = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "fp32",
    revision: options.Revision = None,
    precision: options.Precision = "float32",
) -> None:
    """Find which words changed their meaning between two corpora, and write a page that shows it.

    Run again with another metric, rate or strategy, it takes seconds; stopped, it goes on where it was.
    """
    from lexshift._checks import choice
    from lexshift._corpora import default_out
    from lexshift.cli.results import FORMATS, interruptible, number_or_auto, show, tell, whole_or_all
    from lexshift.comparison import compare
    from lexshift.monitor import Silent
    from lexshift.progress import Bars

    choice(form, "format", FORMATS)
    with interruptible(), Bars() as bars:
        folder = out or default_out(old, new)
        result = compare(
            old,
            new,
            words,
            model=model,
            metric=metric,
            strategy=strategy,  # type: ignore[arg-type]  # checked by compare
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

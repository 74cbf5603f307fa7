"""lexshift trace: how words moved over several periods."""

from __future__ import annotations

from typing import Annotated

import typer

from lexshift.cli import options

_CHOICE, _SCORES, _PERIODS = "Which words", options.SCORES, "Which periods"


@options.grouped
def command(
    *,
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
            help="A list (a,b,c), or a file (words.txt, ./words) with a word a line, or word<TAB>form1,form2.",
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
    form: options.Form = "table",
    quiet: options.Quiet = False,
    model: options.Model = "minilm",
    scoring: options.Scoring,
    keep: options.Keep = None,
    permutations: options.Permutations = "auto",
    resamples: Annotated[
        int, typer.Option(help="Number of half-samples for the 95 % intervals.", rich_help_panel=_SCORES)
    ] = 1_000,
    match: options.Match = "word",
    reading: options.Reading,
    encoder: options.Vectors,
) -> None:
    """Find how words moved over several periods: how much, when, and whether it returns every year.

    Run again with another metric, rate or strategy, it takes seconds; stopped, it goes on where it was.
    """
    from lexshift.cli.results import FORMATS, interruptible, whole_or_all
    from lexshift.cli.traces import show, tell
    from lexshift.study.trace import trace
    from lexshift.study.trace_periods import default_out
    from lexshift.utils.checks import choice
    from lexshift.utils.monitor import Silent
    from lexshift.utils.progress import Bars

    choice(form, "format", FORMATS)
    with interruptible(), Bars() as bars:
        folder = default_out(corpora, by) if out is None else out
        result = trace(
            *corpora,
            words=words,
            by=by,
            model=model,
            **scoring.given(),
            keep=keep,
            max_per_word=whole_or_all(max_per_word, "max-per-word", "usages"),
            min_usages=min_usages,
            min_count=min_count,
            top_words=top_words,
            permutations=options.permutations(permutations),
            resamples=resamples,
            out=folder,
            labels=labels.split(",") if labels else None,
            match=match,
            monitor=Silent() if quiet else bars,
            **reading.given(),
            date_column=date_column,
            **encoder.given(),
        )
    show(result, form)
    if not quiet:
        tell(result, folder)

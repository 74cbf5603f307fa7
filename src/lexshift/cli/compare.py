"""lexshift compare: which words changed their meaning between two corpora."""

from __future__ import annotations

from typing import Annotated

import typer

from lexshift.cli import options

_CHOICE, _SCORES = "Which words", options.SCORES


@options.grouped
def command(
    *,
    old: Annotated[str, typer.Argument(metavar="OLD", help="Text, a table, a folder or a pattern; .gz and .zst too.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same, of the later period.")],
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
    form: options.Form = "table",
    labels: Annotated[str | None, typer.Option(help="Names of the corpora, with a comma; by their files.")] = None,
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
    date_column: options.DateColumn = None,
    encoder: options.Vectors,
) -> None:
    """Find which words changed their meaning between two corpora, and write a page that shows it.

    Run again with another metric, rate or strategy, it takes seconds; stopped, it goes on where it was.
    """
    from lexshift.cli.results import FORMATS, interruptible, show, tell, whole_or_all
    from lexshift.study.compare import compare
    from lexshift.study.periods import default_out
    from lexshift.utils.checks import choice
    from lexshift.utils.monitor import Silent
    from lexshift.utils.progress import Bars

    choice(form, "format", FORMATS)
    with interruptible(), Bars() as bars:
        folder = default_out(old, new) if out is None else out
        result = compare(
            old,
            new,
            words,
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

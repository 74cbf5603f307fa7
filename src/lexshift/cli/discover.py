"""``lexshift discover``: of all words, which changed between two corpora?"""

from __future__ import annotations

from typing import Annotated

import typer

from lexshift.cli import options

_CHOICE, _SCORES, _WHERE = "Which words and usages", options.SCORES, "Where the work is done"


@options.grouped
def command(
    *,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The old corpus: a file, folder or pattern.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The new corpus.")],
    min_count: Annotated[
        int, typer.Option(help="How often a word must occur in each corpus.", rich_help_panel=_CHOICE)
    ] = 20,
    top_words: Annotated[
        int, typer.Option(help="At most so many words, the most frequent; 0 for all.", rich_help_panel=_CHOICE)
    ] = 0,
    names: Annotated[bool, typer.Option("--names", help="Take names too.", rich_help_panel=_CHOICE)] = False,
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
    show_words: Annotated[
        int, typer.Option("--show", help="Words in the printed table; all are in scores.csv and on the page.")
    ] = 30,
    labels: Annotated[str | None, typer.Option(help="Names of the corpora, with a comma; by their files.")] = None,
    quiet: options.Quiet = False,
    engine: Annotated[
        str, typer.Option(help="local, or ray: a cluster of machines.", rich_help_panel=_WHERE)
    ] = "local",
    address: Annotated[
        str | None,
        typer.Option(help="Of a Ray cluster; auto for this machine's; else one is started.", rich_help_panel=_WHERE),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Encoders on a cluster; one for each GPU.", rich_help_panel=_WHERE)
    ] = None,
    model: options.Model = "minilm",
    scoring: options.Scoring,
    keep: Annotated[
        float, typer.Option(help="The share of the distance that is kept in the score.", rich_help_panel=_SCORES)
    ] = 0.0,
    permutations: options.Permutations = "auto",
    resamples: Annotated[
        int, typer.Option(help="Number of half-samples for the 95 % intervals.", rich_help_panel=_SCORES)
    ] = 100,
    match: options.Match = "word",
    reading: options.Reading,
    date_column: options.DateColumn = None,
    encoder: options.Vectors,
) -> None:
    """Find which of all words changed their meaning between two corpora, and write a page that shows them.

    Every word that is frequent in both is sampled, encoded, scored and tested. Stopped, it goes on where it was.
    """
    from lexshift.cli.results import FORMATS, interruptible, show, tell, whole_or_all
    from lexshift.study.discover import discover
    from lexshift.study.periods import default_out
    from lexshift.utils.checks import choice
    from lexshift.utils.monitor import Silent
    from lexshift.utils.progress import Bars

    choice(form, "format", FORMATS)
    with interruptible(), Bars() as bars:
        folder = default_out(old, new, "discover") if out is None else out
        found = discover(
            old,
            new,
            model=model,
            min_count=min_count,
            top_words=whole_or_all(top_words, "top-words", "words"),
            names=names,
            max_per_word=whole_or_all(max_per_word, "max-per-word", "usages"),
            **scoring.given(),
            keep=keep,
            min_usages=min_usages,
            permutations=options.permutations(permutations),
            resamples=resamples,
            out=folder,
            labels=labels.split(",") if labels else None,
            match=match,
            engine=engine,
            address=address,
            workers=workers,
            monitor=Silent() if quiet else bars,
            **reading.given(),
            date_column=date_column,
            **encoder.given(),
        )
    show(found, form, show_words)
    if not quiet:
        tell(found, folder)

"""lexshift embed: from text to a store of sibling embeddings."""

from __future__ import annotations

from typing import Annotated

import typer

from lexshift.cli import options


@options.grouped
def command(
    *,
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="OLD NEW", help="Text, tables, folders, patterns; .gz and .zst too; - is standard input."
        ),
    ],
    words: Annotated[
        str,
        typer.Option(
            "--words",
            "-w",
            help="A list (a,b,c), or a file (words.txt, ./words) with a word a line, or word<TAB>form1,form2.",
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="STORE", help="Folder of the store, new or to be added to.")
    ],
    model: options.Model = "minilm",
    labels: Annotated[str | None, typer.Option(help="Names of the corpora, with commas; old,new for two.")] = None,
    match: options.Match = "word",
    max_per_word: Annotated[
        int | None, typer.Option(help="At most so many occurrences of a word in a corpus, an unbiased sample.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    missing: Annotated[str, typer.Option(help="What to do about words that never occur: error or skip.")] = "error",
    reading: options.Reading,
    date_column: options.DateColumn = None,
    encoder: options.Vectors,
) -> None:
    """Embed every occurrence of some words in two corpora. A run that was stopped goes on where it was."""
    from lexshift.cli.results import interruptible
    from lexshift.cli.terminal import summary
    from lexshift.store.embedding import embed
    from lexshift.utils.progress import Bars

    with interruptible(), Bars() as bars:
        store = embed(
            *corpora,
            words=words,
            model=model,
            out=out,
            labels=labels.split(",") if labels else None,
            match=match,
            max_per_word=max_per_word,
            seed=seed,
            missing=missing,
            monitor=bars,
            **reading.given(),
            date_column=date_column,
            **encoder.given(),
        )
    summary(store)

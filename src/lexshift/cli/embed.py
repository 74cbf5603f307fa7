"""lexshift embed: from text to a store of sibling embeddings."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lexshift.cli import options


@options.with_settings(
    *("model", "labels", "match", "max_per_word"),
    *options.READING_OPTIONS,
    *options.ENCODER_OPTIONS,
    "precision",
    max_per_word=0,
)
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
        typer.Option("--words", "-w", help="Words to embed: a list (a,b,c), or a file (words.txt, ./words)."),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="STORE", help="Folder of the store, a new one or one to add to.")
    ],
    seed: Annotated[int, typer.Option(help="Seed for the random sample of usages.")] = 0,
    missing: Annotated[str, typer.Option(help="What to do about words that never occur: error or skip.")] = "error",
    settings: dict[str, Any],
) -> None:
    """Embed every occurrence of some words in one corpus or more. An interrupted run resumes where it stopped."""
    from lexshift.cli.results import interruptible
    from lexshift.cli.terminal import summary
    from lexshift.store.embedding import embed
    from lexshift.utils.progress import Bars

    with interruptible(), Bars() as bars:
        store = embed(*corpora, words=words, out=out, seed=seed, missing=missing, monitor=bars, **settings)
    summary(store)

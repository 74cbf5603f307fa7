"""lexshift embed: embed the occurrences of words into a store of sibling embeddings."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lexshift.cli import completion, options


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
            metavar="OLD NEW",
            help="Corpora: text files, tables, folders or patterns, also .gz and .zst; - is standard input.",
        ),
    ],
    words: Annotated[
        str,
        typer.Option("--words", "-w", help="Words to embed: a list (a,b,c) or a file (words.txt, ./words)."),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="STORE", help="Folder of the store, which is created or extended.")
    ],
    settings: dict[str, Any],
    seed: Annotated[int, typer.Option(help="Seed for the random sample of usages.")] = 0,
    missing: Annotated[
        str,
        typer.Option(
            help="Treatment of words that never occur: error or skip.", autocompletion=completion.completer("missing")
        ),
    ] = "error",
    form: Annotated[str, typer.Option("--format", help="Format of the printed plan: table or json.")] = "table",
    plan: options.Plan = False,
) -> None:
    """Embed every occurrence of some words in one or more corpora. An interrupted run resumes where it stopped."""
    if plan:
        from lexshift.cli.plan_table import print_embedding_plan

        print_embedding_plan(corpora, settings | {"words": words, "out": out, "sample_seed": seed}, missing, form)
        return
    from lexshift.cli.results import interruptible
    from lexshift.cli.terminal import print_store
    from lexshift.store.embedding import embed
    from lexshift.utils.progress import Bars

    with interruptible(), Bars() as bars:
        store = embed(*corpora, words=words, out=out, seed=seed, missing=missing, monitor=bars, **settings)
    print_store(store)

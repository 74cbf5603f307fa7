"""lexshift embed: from text to a store of sibling embeddings."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="OLD NEW", help="Text, tables, folders, patterns; .gz and .zst too; - is standard input."
        ),
    ],
    words: Annotated[
        str, typer.Option("--words", "-w", help="A file with a word a line, or word<TAB>form1,form2; or a list: a,b,c.")
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="STORE", help="Folder of the store, new or to be added to.")
    ],
    model: Annotated[str, typer.Option("--model", "-m", help="minilm, a folder, or a name on the hub.")] = "minilm",
    labels: Annotated[str | None, typer.Option(help="Names of the corpora, with commas; old,new for two.")] = None,
    match: Annotated[str, typer.Option(help="word, token (exact, between white space) or lemma.")] = "word",
    max_per_word: Annotated[
        int | None, typer.Option(help="At most so many occurrences of a word in a corpus, an unbiased sample.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    missing: Annotated[str, typer.Option(help="What to do about words that never occur: error or skip.")] = "error",
    split: Annotated[
        str, typer.Option(help="A line is a sentence (lines), a paragraph (prose) or a part of one (wrapped).")
    ] = "auto",
    language: Annotated[str, typer.Option(help="ISO code, for sentences and lemmas.")] = "en",
    encoding: Annotated[str, typer.Option(help="Of text files.")] = "utf-8",
    errors: Annotated[str, typer.Option(help="Bytes that are not in the encoding: strict or replace.")] = "strict",
    text_column: Annotated[str, typer.Option(help="Of tables.")] = "text",
    date_column: Annotated[str | None, typer.Option(help="Of tables.")] = None,
    layers: Annotated[str, typer.Option(help="last, a number, or mean:N, sum:N, concat:N of the last N.")] = "mean:4",
    pooling: Annotated[str, typer.Option(help="Of a word's pieces: mean, sum or first.")] = "mean",
    window: Annotated[int | None, typer.Option(help="The most pieces of a sentence.")] = None,
    markers: Annotated[tuple[str, str] | None, typer.Option(help="Text before and after the word.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    dtype: Annotated[str, typer.Option(help="fp32; bf16, fp16 on a GPU; int8 on a processor, approximate.")] = "fp32",
    revision: Annotated[str | None, typer.Option(help="Of a model on the hub.")] = None,
    precision: Annotated[str, typer.Option(help="Of the vectors on disk: float32 or float16.")] = "float32",
) -> None:
    """Embed every occurrence of some words in two corpora. A run that was stopped goes on where it was."""
    from lexshift.cli.terminal import Bars, complain, summary
    from lexshift.embedding import embed

    try:
        with Bars() as bars:
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
                precision=precision,
                monitor=bars,
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
            )
    except KeyboardInterrupt:
        complain("stopped; the same command goes on where it was")
        raise typer.Exit(130) from None
    summary(store)

"""lexshift data: describe a data set."""

from __future__ import annotations

from typing import Annotated

import typer

DatasetPath = Annotated[str, typer.Argument(metavar="PATH", help="Folder of a release, or a table of usages.")]
Suffix = Annotated[
    str,
    typer.Option(help="Part-of-speech suffixes of SemEval targets: strip (hide from the model) or keep."),
]


def command(
    path: DatasetPath,
    list_words: Annotated[
        bool, typer.Option("--list-words", help="List the words with their numbers of usages and gold labels.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Folder for the sentences of each period (old.txt, new.txt), for tune."
        ),
    ] = None,
    suffix: Suffix = "strip",
) -> None:
    """Describe a data set: its words, periods, sizes and gold labels."""
    from rich.table import Table
    from rich.text import Text

    from lexshift.benchmark.datasets import load_dataset
    from lexshift.benchmark.datasets.dataset import PERIODS, write_texts
    from lexshift.cli.terminal import out as console
    from lexshift.utils.quantities import with_unit

    data = load_dataset(path, suffix)
    console.print(
        Text(data.name, "bold").append(f": {data.kind}, {with_unit(len(data.words), 'words')}", "not bold"),
        soft_wrap=True,
    )
    counts = data.counts()
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("period", "sentences", "tokens", "types", "usages", "usages of a word"):
        table.add_column(name, justify="left" if name == "period" else "right")
    for label, text, period in zip(data.periods, data.texts, PERIODS, strict=True):
        n = counts[period]
        sizes = (f"{text.sentences:,}", f"{text.tokens:,}", f"{text.types:,}", f"{n.sum():,}")
        table.add_row(Text(label), *sizes, f"{n.min():,} to {n.max():,}")
    console.print(table)
    if data.graded:
        console.print(f"gold for {with_unit(len(data.graded), 'words')}: {data.gold}", soft_wrap=True)
    if data.binary:
        console.print(
            f"changed or not for {with_unit(len(data.binary), 'words')}: {sum(data.binary.values())} changed",
            soft_wrap=True,
        )
    if not data.graded and not data.binary:
        console.print("no gold")
    for reason, n in data.skipped.items():
        console.print(f"left out: {with_unit(n, reason)}", style="yellow", soft_wrap=True)
    if list_words:
        words = Table(box=None, header_style="bold", pad_edge=False)
        for name in ("word", *data.periods, "graded", "changed"):
            words.add_column(Text(name), justify="left" if name == "word" else "right")
        for word in data.words:
            graded = f"{data.graded[word]:.3f}" if word in data.graded else ""
            binary = ("yes" if data.binary[word] else "no") if word in data.binary else ""
            words.add_row(Text(word), *(f"{counts.loc[word, period]:,}" for period in PERIODS), graded, binary)
        console.print(words)
    if out is not None:
        for file in write_texts(data, out):
            console.print(f"written: {file}", soft_wrap=True)

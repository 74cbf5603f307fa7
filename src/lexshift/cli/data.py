"""lexshift data: what a data set is."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    path: Annotated[str, typer.Argument(metavar="PATH", help="Folder of a release, or a table of usages.")],
    words: Annotated[bool, typer.Option("--words", help="List the words with their usages and gold.")] = False,
    texts: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Write the sentences of each period to old.txt and new.txt, for tune."),
    ] = None,
    suffix: Annotated[str, typer.Option(help="SemEval: strip the part of speech from words, or keep it.")] = "strip",
) -> None:
    """Say what a data set is: its words, periods, sizes and gold."""
    from rich.table import Table
    from rich.text import Text

    from lexshift.benchmark.datasets import load_dataset
    from lexshift.benchmark.datasets.dataset import PERIODS, write_texts
    from lexshift.cli.terminal import out

    data = load_dataset(path, suffix)
    out.print(Text(data.name, "bold").append(f": {data.kind}, {len(data.words)} words", "not bold"), soft_wrap=True)
    counts = data.counts()
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("period", "sentences", "tokens", "types", "usages", "usages of a word"):
        table.add_column(name, justify="left" if name == "period" else "right")
    for label, text, period in zip(data.periods, data.texts, PERIODS, strict=True):
        n = counts[period]
        sizes = (f"{text.sentences:,}", f"{text.tokens:,}", f"{text.types:,}", f"{n.sum():,}")
        table.add_row(Text(label), *sizes, f"{n.min():,} to {n.max():,}")
    out.print(table)
    if data.graded:
        out.print(f"gold for {len(data.graded)} words: {data.gold}", soft_wrap=True)
    if data.binary:
        out.print(f"changed or not for {len(data.binary)} words: {sum(data.binary.values())} changed", soft_wrap=True)
    if not data.graded and not data.binary:
        out.print("no gold")
    for reason, n in data.skipped.items():
        out.print(f"left out: {n:,} {reason}", style="yellow", soft_wrap=True)
    if words:
        listed = Table(box=None, header_style="bold", pad_edge=False)
        for name in ("word", *data.periods, "graded", "changed"):
            listed.add_column(Text(name), justify="left" if name == "word" else "right")
        for word in data.words:
            graded = f"{data.graded[word]:.3f}" if word in data.graded else ""
            binary = ("yes" if data.binary[word] else "no") if word in data.binary else ""
            listed.add_row(Text(word), *(f"{counts.loc[word, period]:,}" for period in PERIODS), graded, binary)
        out.print(listed)
    if texts is not None:
        for file in write_texts(data, texts):
            out.print(f"written: {file}", soft_wrap=True)

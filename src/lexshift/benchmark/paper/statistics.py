"""The paper's table of the data."""

from __future__ import annotations

from dataclasses import asdict

from lexshift.benchmark.datasets.dataset import PERIODS, Dataset
from lexshift.benchmark.paper.exhibit import Cell, Exhibit


def tabulate_statistics(data: Dataset) -> Exhibit:
    """Make the table of the data: the size of the two periods."""
    import pandas as pd

    usages = data.counts().sum()
    rows = [
        {"period": label, "targets": len(data.words)} | asdict(text) | {"usages": int(usages[period])}
        for label, text, period in zip(data.periods, data.texts, PERIODS, strict=True)
    ]
    table = pd.DataFrame(rows)
    cells = tuple(
        (Cell(str(label)), *(Cell(f"{n:,}") for n in sizes)) for label, *sizes in table.itertuples(index=False)
    )
    note = (
        "Sentences, tokens and types are those of the files that were read. Usages are the occurrences of the target "
        "words in them. A release that holds only sentences with target words is smaller than the corpora that the "
        "paper describes."
    )
    return Exhibit("statistics", "The data", note, table, tuple(table.columns), cells)

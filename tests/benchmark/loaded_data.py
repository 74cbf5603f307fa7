"""The usages of a loaded data set as plain rows, for the tests of its reader."""

from __future__ import annotations

from typing import Any

from lexshift.benchmark.datasets.dataset import Dataset


def usage_rows(data: Dataset) -> list[tuple[Any, ...]]:
    """Return word, period, sentence and text of the span of each usage."""
    return [
        (row["word"], row["corpus"], row["sentence"], row["sentence"][row["start"] : row["end"]])
        for row in data.usages.to_pylist()
    ]

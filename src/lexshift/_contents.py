"""What a store will hold, in its order: by word, then by corpus, then by place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lexshift._typing import Array
from lexshift.corpus import Occurrences
from lexshift.siblings import Siblings


@dataclass(frozen=True)
class Contents:
    """What a store holds.

    Attributes
    ----------
    table : pyarrow.Table
        The occurrences, by word, corpus and place.
    forms : dict
        The words with their forms.
    corpora : list of dict
        What is known of each corpus.
    counts, found : (words, corpora)
        Rows of the table, and occurrences before sampling.
    """

    table: pa.Table
    forms: dict[str, tuple[str, ...]]
    corpora: list[dict[str, Any]]
    counts: Array
    found: Array


def gather(
    forms: dict[str, tuple[str, ...]], scanned_words: list[str], scanned: dict[str, Occurrences], store: Siblings | None
) -> Contents:
    """Put together the corpora that were scanned for some words and those that only the store knows.

    ``forms`` has the words to keep, in their order; ``scanned_words`` are those that targets are numbered by.
    """
    entries = {entry["label"]: entry for entry in store.index["corpora"]} if store is not None else {}
    labels = [*entries, *(label for label in scanned if label not in entries)]
    for label, occurrences in scanned.items():
        entries[label] = _entry(label, occurrences)
    number = {word: i for i, word in enumerate(scanned_words)}
    slices, counts, found = [], [], []
    for word in forms:
        for label in labels:
            if label in scanned:
                rows, total = _scanned_rows(scanned[label], number[word])
            else:
                assert store is not None
                rows, total = _stored_rows(store, word, label)
            slices.append(_labelled(rows, word, label))
            counts.append(len(rows))
            found.append(total)
    shape = (len(forms), len(labels))
    return Contents(
        table=pa.concat_tables(slices).unify_dictionaries().combine_chunks(),
        forms=forms,
        corpora=[entries[label] for label in labels],
        counts=np.array(counts, np.int64).reshape(shape),
        found=np.array(found, np.int64).reshape(shape),
    )


def _scanned_rows(occurrences: Occurrences, target: int) -> tuple[pa.Table, int]:
    table = occurrences.table
    begin, end = np.searchsorted(table["target"].to_numpy(), [target, target + 1])
    return table.slice(begin, end - begin).drop_columns(["target", "priority"]), int(occurrences.found[target])


def _stored_rows(store: Siblings, word: str, label: str) -> tuple[pa.Table, int]:
    begin, end = store.rows(word, label)
    entry = store.index["words"][store.words.index(word)]
    rows = store.occurrences.slice(begin, end - begin).drop_columns(["word", "corpus"])
    return rows, int(entry["found"][store.corpora.index(label)])


def _entry(label: str, occurrences: Occurrences) -> dict[str, Any]:
    tally = occurrences.tally
    return {
        "label": label,
        "content": occurrences.content,
        "files": tally.files,
        "bytes": tally.size,
        "passages": tally.passages,
        "words": tally.words,
        "splits": dict(sorted(tally.splits.items())),
        "skipped": dict(sorted(tally.skipped.items())),
    }


def _labelled(rows: pa.Table, word: str, label: str) -> pa.Table:
    """Rows with the columns word and corpus in front."""
    kind = pa.dictionary(pa.int32(), pa.string())
    zeros = np.zeros(len(rows), np.int32)
    for position, (name, value) in enumerate((("word", word), ("corpus", label))):
        rows = rows.add_column(position, pa.field(name, kind), pa.DictionaryArray.from_arrays(zeros, [value]))
    return rows

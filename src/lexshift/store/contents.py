"""What a store will hold, in its order: by word, then by corpus, then by place."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lexshift.corpus import Occurrences
from lexshift.errors import UserError, listed
from lexshift.store.siblings import Siblings
from lexshift.utils.arrays import Array

if TYPE_CHECKING:
    import pandas as pd

USAGES = (
    ("word", pa.string()),
    ("corpus", pa.string()),
    ("file", pa.string()),
    ("line", pa.int64()),
    ("date", pa.string()),
    ("sentence", pa.string()),
    ("start", pa.int32()),
    ("end", pa.int32()),
)
"""The columns of usages: where they come from, the sentence, and where the word is in it."""

_STORED = [name for name, _ in USAGES if name not in ("word", "corpus")]


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
    starts = {label: _starts(occurrences, len(scanned_words)) for label, occurrences in scanned.items()}
    slices, counts, found = [], [], []
    for word in forms:
        for label in labels:
            if label in scanned:
                rows, total = _scanned_rows(scanned[label], starts[label], number[word])
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


def _starts(occurrences: Occurrences, targets: int) -> list[int]:
    """Return the first row of each target, and the number of rows."""
    return np.searchsorted(occurrences.table["target"].to_numpy(), np.arange(targets + 1)).tolist()


def _scanned_rows(occurrences: Occurrences, starts: list[int], target: int) -> tuple[pa.Table, int]:
    rows = occurrences.table.slice(starts[target], starts[target + 1] - starts[target])
    return rows.drop_columns(["target", "priority"]), int(occurrences.found[target])


def _stored_rows(store: Siblings, word: str, label: str) -> tuple[pa.Table, int]:
    begin, end = store.rows(word, label)
    rows = store.occurrences.slice(begin, end - begin).select(_STORED)
    return rows, store.found(word, label)


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


def given(usages: pd.DataFrame | pa.Table, labels: Sequence[str] | None) -> Contents:
    """The contents of a store from usages whose sentences and spans are known."""
    table = usages if isinstance(usages, pa.Table) else pa.Table.from_pandas(usages, preserve_index=False)
    missing = [name for name in ("word", "corpus", "sentence", "start", "end") if name not in table.column_names]
    if missing:
        raise UserError(f"usages have no column {missing[0]!r}; they have {listed(table.column_names, str)}")
    table = _complete(table)
    _check_spans(table)
    words = list(dict.fromkeys(table["word"].to_pylist()))
    corpora = [str(label) for label in labels or dict.fromkeys(table["corpus"].to_pylist())]
    unknown = set(table["corpus"].to_pylist()) - set(corpora)
    if unknown or len(set(corpora)) != len(corpora):
        raise UserError(f"labels must name each corpus of the usages once; got {listed(corpora, str)}")
    group = _numbers(table["word"], words) * len(corpora) + _numbers(table["corpus"], corpora)
    table = table.take(np.argsort(group, kind="stable"))
    counts = np.bincount(group, minlength=len(words) * len(corpora)).reshape(len(words), len(corpora))
    for position, name in enumerate(("word", "corpus", "file")):
        at = table.column_names.index(name)
        encoded = table[name].combine_chunks().dictionary_encode()
        table = table.set_column(at, pa.field(name, pa.dictionary(pa.int32(), pa.string())), encoded)
        assert at == position
    return Contents(
        table=table,
        forms={word: (word,) for word in words},
        corpora=[_given_entry(label, table) for label in corpora],
        counts=counts,
        found=counts,
    )


def _complete(table: pa.Table) -> pa.Table:
    """The columns of a store in their order and types; those that are not there empty."""
    columns = []
    for name, kind in USAGES:
        try:
            column = table[name].cast(kind) if name in table.column_names else pa.nulls(len(table), kind)
        except pa.ArrowException:
            what = "whole numbers" if pa.types.is_integer(kind) else "text"
            raise UserError(f"the column {name!r} of usages must hold {what}") from None
        columns.append(column.fill_null("" if kind == pa.string() else 0) if name in ("file", "line") else column)
    return pa.table(dict(zip([name for name, _ in USAGES], columns, strict=True)))


def _check_spans(table: pa.Table) -> None:
    columns = (table[name].to_pylist() for name in ("word", "sentence", "start", "end"))
    for row, (word, sentence, start, end) in enumerate(zip(*columns, strict=True)):
        if word is None or sentence is None or start is None or end is None:
            raise UserError(f"usage {row} lacks a word, a sentence or a span")
        if not 0 <= start < end <= len(sentence):
            raise UserError(f"usage {row} of {word!r}: {start} to {end} is not within its sentence")


def _numbers(column: pa.ChunkedArray, values: list[str]) -> Array:
    place = {value: i for i, value in enumerate(values)}
    return np.array([place[value] for value in column.to_pylist()], np.int64)


def _given_entry(label: str, table: pa.Table) -> dict[str, Any]:
    """What is known of a corpus of usages: its content is the usages themselves."""
    rows = table.filter(pc.equal(table["corpus"].cast(pa.string()), label)).to_pylist()
    sentences = {row["sentence"] for row in rows}
    return {
        "label": label,
        "content": hashlib.sha256(repr([tuple(row.values()) for row in rows]).encode("utf-8", "replace")).hexdigest(),
        "files": len({row["file"] for row in rows}),
        "bytes": sum(len(sentence.encode("utf-8", "replace")) for sentence in sentences),
        "passages": len(sentences),
        "words": sum(len(sentence.split()) for sentence in sentences),
        "splits": {},
        "skipped": {},
    }

"""Plan a store: which usages it holds and in which order, and which of them must be encoded, shard by shard."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lexshift.corpus.occurrences import OPTIONAL_COLUMNS, USAGE_COLUMNS, Occurrences
from lexshift.encode.protocol import Span
from lexshift.errors import UserError, join_names
from lexshift.store.siblings import Siblings
from lexshift.utils.arrays import Array, Indices

if TYPE_CHECKING:
    import pandas as pd

SHARD_CHARACTERS = 1 << 17
"""Characters of sentences from which on a shard is complete."""
USAGES = (
    ("word", pa.string()),
    ("corpus", pa.string()),
    ("file", pa.string()),
    *USAGE_COLUMNS,
)
"""The columns of usages: where they come from, the sentence, and where the word is in it."""
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
_SPAN_BASE = 1 << 32  # more than the end of any span, which is a number of 32 bits


@dataclass(frozen=True)
class StoreContents:
    """The usages of a store.

    Attributes
    ----------
    table : pyarrow.Table
        The usages, ordered by word, corpus and place.
    forms : dict
        The words with their forms.
    corpora : list of dict
        The record of each corpus: label, checksum, sizes, what was skipped.
    counts, found : ndarray of shape (words, corpora)
        Rows of the table, and occurrences before sampling.
    """

    table: pa.Table
    forms: dict[str, tuple[str, ...]]
    corpora: list[dict[str, Any]]
    counts: Array
    found: Array


def gather_occurrences(
    forms: dict[str, tuple[str, ...]], scanned_words: list[str], scans: dict[str, Occurrences], store: Siblings | None
) -> StoreContents:
    """Put together the occurrences in corpora that were scanned and those in corpora that only the store has.

    Parameters
    ----------
    forms : dict
        The words of the new store with their forms, in their order.
    scanned_words : list of str
        The words by which the targets in ``scans`` are numbered.
    scans : dict
        The occurrences in each corpus by its label.
    store : Siblings, optional
        The store that is added to.
    """
    entries = {entry["label"]: entry for entry in store.index["corpora"]} if store is not None else {}
    numbers = {word: number for number, word in enumerate(scanned_words)}
    columns = [name for name, _ in USAGES if name not in ("word", "corpus")]
    tables, begins, ends, n_found, n_rows = [], [], [], [], 0
    for label in dict.fromkeys([*entries, *scans]):
        if label in scans:
            occurrences, tally = scans[label], scans[label].tally
            entries[label] = {
                "label": label,
                "content": occurrences.content,
                "files": tally.files,
                "bytes": tally.size,
                "passages": tally.passages,
                "words": tally.words,
                "splits": dict(sorted(tally.splits.items())),
                "skipped": dict(sorted(tally.skipped.items())),
                **tally.record_files(),
            }
            chosen = np.array([numbers[word] for word in forms], np.int64)
            targets = occurrences.table["target"].to_numpy()
            bounds = np.stack([np.searchsorted(targets, chosen, side) for side in ("left", "right")], axis=1)
            n_found.append(occurrences.found[chosen])
            tables.append(_select_columns(occurrences.table, columns))
        else:
            assert store is not None
            bounds = np.array([store.rows(word, label) for word in forms], np.int64).reshape(-1, 2)
            n_found.append(np.array([store.count_occurrences(word, label) for word in forms], np.int64))
            tables.append(_select_columns(store.occurrences, columns))
        begins.append(bounds[:, 0] + n_rows)
        ends.append(bounds[:, 1] + n_rows)
        n_rows += len(tables[-1])
    first = np.stack(begins, axis=1)  # (words, corpora)
    counts = np.stack(ends, axis=1) - first
    group = np.repeat(np.arange(counts.size), counts.reshape(-1))
    offsets = np.cumsum(counts.reshape(-1)) - counts.reshape(-1)
    rows = np.arange(len(group)) + (first.reshape(-1) - offsets)[group]
    for name, _ in OPTIONAL_COLUMNS:
        if all(part[name].null_count == len(part) for part in tables):
            tables = [part.drop_columns([name]) for part in tables]
    table = pa.concat_tables(tables).unify_dictionaries().take(rows).combine_chunks()
    labels = (("word", list(forms), group // len(tables)), ("corpus", list(entries), group % len(tables)))
    for position, (name, values, indices) in enumerate(labels):
        column = pa.DictionaryArray.from_arrays(indices.astype(np.int32), pa.array(values, pa.string()))
        table = table.add_column(position, pa.field(name, _DICTIONARY), column)
    return StoreContents(table, forms, list(entries.values()), counts, np.stack(n_found, axis=1))


def _select_columns(table: pa.Table, columns: list[str]) -> pa.Table:
    """Return some columns of a table and the optional columns, which are null if the table does not have them."""
    selected = table.select(columns)
    for name, kind in OPTIONAL_COLUMNS:
        values = table[name] if name in table.column_names else pa.nulls(len(table), kind)
        selected = selected.append_column(pa.field(name, kind), values)
    return selected


def gather_usages(usages: pd.DataFrame | pa.Table, labels: Sequence[str] | None) -> StoreContents:
    """Arrange usages whose sentences and spans are known.

    Parameters
    ----------
    usages : DataFrame or pyarrow Table
        Columns word, corpus, sentence, start and end, and optionally file, line and date.
    labels : sequence of str, optional
        The corpora in their order; by default in order of appearance.
    """
    table = _check_usages(
        usages if isinstance(usages, pa.Table) else pa.Table.from_pandas(usages, preserve_index=False)
    )
    words, corpora = (list(dict.fromkeys(table[name].to_pylist())) for name in ("word", "corpus"))
    label_order = [str(label) for label in labels or corpora]
    if not set(corpora) <= set(label_order) or len(set(label_order)) != len(label_order):
        raise UserError(f"labels must name each corpus of the usages once; got {join_names(label_order, str)}")
    positions = [
        pc.index_in(table[name], pa.array(order, pa.string()))
        for name, order in (("word", words), ("corpus", label_order))
    ]
    group = positions[0].to_numpy().astype(np.int64) * len(label_order) + positions[1].to_numpy()
    counts = np.bincount(group, minlength=len(words) * len(label_order)).reshape(len(words), len(label_order))
    table = table.take(np.argsort(group, kind="stable"))
    entries = []
    for label in label_order:  # the content of a corpus of usages is the usages themselves
        rows = table.filter(pc.equal(table["corpus"], label)).to_pylist()
        content = repr([tuple(row.values()) for row in rows]).encode("utf-8", "replace")
        sentences = {row["sentence"] for row in rows}
        entries.append(
            {
                "label": label,
                "content": hashlib.sha256(content).hexdigest(),
                "files": len({row["file"] for row in rows}),
                "bytes": sum(len(sentence.encode("utf-8", "replace")) for sentence in sentences),
                "passages": len(sentences),
                "words": sum(len(sentence.split()) for sentence in sentences),
                "splits": {},
                "skipped": {},
            }
        )
    for position, name in enumerate(("word", "corpus", "file")):
        column = table[name].combine_chunks().dictionary_encode()
        table = table.set_column(position, pa.field(name, _DICTIONARY), column)
    return StoreContents(table, {word: (word,) for word in words}, entries, counts, counts)


def _check_usages(table: pa.Table) -> pa.Table:
    """Return usages with the columns of a store in their order and types; refuse spans outside their sentences."""
    columns = {}
    for name, kind in USAGES:
        if name in table.column_names:
            try:
                columns[name] = table[name].cast(kind)
            except pa.ArrowException:
                what = "whole numbers" if pa.types.is_integer(kind) else "text"
                raise UserError(f"the column {name!r} of usages must hold {what}") from None
        elif name in ("file", "line", "date"):
            columns[name] = pa.nulls(len(table), kind)
        else:
            raise UserError(f"usages have no column {name!r}; they have {join_names(table.column_names, str)}")
    columns["file"], columns["line"] = columns["file"].fill_null(""), columns["line"].fill_null(0)
    checked = (columns[name].to_pylist() for name in ("word", "sentence", "start", "end"))
    for row, (word, sentence, start, end) in enumerate(zip(*checked, strict=True)):
        if word is None or sentence is None or start is None or end is None:
            raise UserError(f"usage {row} lacks a word, a sentence or a span")
        if not 0 <= start < end <= len(sentence):
            raise UserError(f"usage {row} of {word!r}: {start} to {end} is not within its sentence")
    return pa.table(columns)


class Shard(NamedTuple):
    """Words in their sentences that are encoded together.

    Attributes
    ----------
    number : int
    sentences : list of str
    spans : list of (int, int)
        The place of the word in each sentence.
    keywords : dict
        Further arguments of the encoder: ``periods``, if it distinguishes periods.
    """

    number: int
    sentences: list[str]
    spans: list[Span]
    keywords: dict[str, list[int]]


@dataclass(frozen=True)
class EncodingPlan:
    """The distinct words in sentences to encode, sorted by length so that batches need little padding.

    Attributes
    ----------
    sentences : pyarrow array of the distinct sentences
    lengths : ndarray of shape (sentences,)
        Their numbers of characters.
    sentence, start, end : ndarray of shape (n,)
        The sentence and the span of each word to encode, in the order of encoding.
    period : ndarray of shape (n,), optional
        The number of its period, for an encoder that distinguishes periods.
    positions : ndarray of shape (rows,)
        Position of the vector of each row of the new store: a row of the old store if it is below ``reused``, else
        ``reused`` plus a position in the order of encoding.
    reused : int
        Number of rows of the old store.
    bounds : list of int
        Bounds of the shards: shard ``i`` is ``bounds[i]`` to ``bounds[i + 1]``.
    sizes : ndarray of shape (shards, 2)
        The numbers of characters and of sentences of each shard.
    store : Siblings, optional
        The old store, whose vectors are reused.
    """

    sentences: pa.Array
    lengths: Array
    sentence: Array
    start: Array
    end: Array
    period: Array | None
    positions: Indices
    reused: int
    bounds: list[int]
    sizes: Array
    store: Siblings | None

    def __len__(self) -> int:
        return len(self.sentence)

    def select(self, rows: Sequence[int] | Array, number: int = 0) -> Shard:
        """Return some of the words to encode as a shard of this number."""
        chosen = np.asarray(rows)
        sentences = self.sentences.take(pa.array(self.sentence[chosen])).to_pylist()
        spans = list(zip(self.start[chosen].tolist(), self.end[chosen].tolist(), strict=True))
        keywords = {} if self.period is None else {"periods": self.period[chosen].tolist()}
        return Shard(number, sentences, spans, keywords)

    @cached_property
    def digests(self) -> list[bytes]:
        """SHA-256 of the sentences, spans and periods of each shard: what its vectors are made from."""
        shards = (self.select(range(begin, end)) for begin, end in pairwise(self.bounds))
        return [hashlib.sha256(json.dumps(shard[1:]).encode()).digest() for shard in shards]


def plan_encoding(
    table: pa.Table, store: Siblings | None = None, periods: Mapping[str, int] | None = None
) -> EncodingPlan:
    """Find out which words in sentences must be encoded, in which order and in which shards.

    Parameters
    ----------
    table : pyarrow.Table
        The rows of the new store: sentence, start, end, and corpus if there are ``periods``.
    store : Siblings, optional
        A store whose vectors are reused.
    periods : mapping, optional
        The number of the period of each corpus, for an encoder that distinguishes periods.
    """
    encoded = table["sentence"].combine_chunks().dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    lengths = np.array([len(text) for text in texts], np.int64)
    start, end = (table[name].to_numpy().astype(np.int64) for name in ("start", "end"))
    keys = [encoded.indices.to_numpy().astype(np.int64), start * _SPAN_BASE + end, _number_rows(table, periods)]
    distinct, inverse = np.unique(np.stack(keys, axis=1), axis=0, return_inverse=True)
    sentence, period = distinct[:, 0], distinct[:, 2]
    start, end = distinct[:, 1] // _SPAN_BASE, distinct[:, 1] % _SPAN_BASE
    place = np.full(len(distinct), -1, np.int64)
    reused = 0
    if store is not None:
        reused = int(store.index["rows"])
        stored = store.occurrences
        columns = [stored[name].to_pylist() for name in ("sentence", "start", "end")]
        row_of = {
            key: row for row, key in enumerate(zip(*columns, _number_rows(stored, periods).tolist(), strict=True))
        }
        for i, key in enumerate(zip(*(part.tolist() for part in (sentence, start, end, period)), strict=True)):
            place[i] = row_of.get((texts[key[0]], *key[1:]), -1)
    todo = np.flatnonzero(place < 0)
    todo = todo[np.lexsort((period[todo], start[todo], sentence[todo], lengths[sentence[todo]]))]
    place[todo] = reused + np.arange(len(todo))
    return EncodingPlan(
        encoded.dictionary,
        lengths,
        sentence[todo],
        start[todo],
        end[todo],
        None if periods is None else period[todo],
        place[inverse.reshape(-1)],
        reused,
        *_cut_shards(sentence[todo], lengths),
        store,
    )


def _number_rows(table: pa.Table, periods: Mapping[str, int] | None) -> Array:
    """Return the number of the period of each row, 0 if periods are not distinguished."""
    if periods is None:
        return np.zeros(len(table), np.int64)
    return np.array([periods[label] for label in table["corpus"].to_pylist()], np.int64)


def _cut_shards(sentence: Array, lengths: Array) -> tuple[list[int], Array]:
    """Return the bounds and sizes of shards: one ends before a new sentence once it has enough characters."""
    firsts = np.flatnonzero(np.diff(sentence, prepend=-1)).tolist()  # first rows of each sentence
    bounds: list[int] = []
    sizes: list[list[int]] = []
    for first, length in zip(firsts, lengths[sentence[firsts]].tolist(), strict=True):
        if not sizes or sizes[-1][0] >= SHARD_CHARACTERS:
            bounds.append(first)
            sizes.append([0, 0])
        sizes[-1][0] += length
        sizes[-1][1] += 1
    return [*bounds, len(sentence)], np.array(sizes, np.int64).reshape(-1, 2)

"""Collect the occurrences of target words with their sentences, optionally sampling a fixed number per word."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lexshift.corpus import sampling
from lexshift.corpus.language import detect_languages
from lexshift.corpus.lemmas import check_tags
from lexshift.corpus.objects import Corpus, as_files
from lexshift.corpus.passages import Block, process_blocks, read_corpus
from lexshift.corpus.resolution import BlockResolver
from lexshift.corpus.scanner import scan_block
from lexshift.corpus.sentences import LONGEST, Passage
from lexshift.corpus.sources import Reading, Tally, find_sources
from lexshift.corpus.targets import Targets
from lexshift.errors import UserError
from lexshift.utils import checks
from lexshift.utils.arrays import Array


@dataclass(frozen=True)
class Occurrences:
    """The occurrences of all targets in a corpus.

    Attributes
    ----------
    table : pyarrow.Table
        Columns target (index), file, line, date, sentence, start, end (character offsets into the sentence),
        priority, document (null where a file is a document) and group (null where it is not known), ordered by target
        and position.
    found : ndarray of shape (targets,), int64
        Number of occurrences of each target before sampling.
    tally : Tally
        Counts of the text that was read, skipped or altered, without the checksums of the files.
    content : str
        SHA-256 of the files of the corpus.
    """

    table: pa.Table
    found: Array
    tally: Tally
    content: str


USAGE_COLUMNS = (
    ("line", pa.int64()),
    ("date", pa.string()),
    ("sentence", pa.string()),
    ("start", pa.int32()),
    ("end", pa.int32()),
)
"""Columns of a usage: its position in the file, its sentence, and the span of the word in the sentence."""
_FILE = ("file", pa.dictionary(pa.int32(), pa.string()))
OPTIONAL_COLUMNS = (("document", pa.string()), ("group", pa.string()))
"""The columns of documents, null where a file is a document, and of groups, null where they are not known."""
SCHEMA = pa.schema([("target", pa.int32()), _FILE, *USAGE_COLUMNS, ("priority", pa.uint64()), *OPTIONAL_COLUMNS])
SLACK = 1 << 14
"""Number of rows by which samples may exceed their size before they are reduced."""
_MERGED = 64  # batches of a few rows that are merged; each one takes 10 kB, which is more than its rows
_SPACE = 0x20  # bytes up to it are white space or control characters
_MAX_CHARACTERS = 1 << 28  # maximum number of characters in the sentences of the occurrences of a block


def find_occurrences(
    corpus: Corpus,
    targets: Targets,
    reading: Reading | None = None,
    max_per_word: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    shared: bool = False,
) -> Occurrences:
    """Read a corpus once and collect every occurrence of the targets, or a sample of ``max_per_word`` of each.

    Parameters
    ----------
    corpus : Corpus
        A text file, a table, a folder, a pattern, or a Python object with texts; see :data:`lexshift.corpus.Corpus`.
    targets : Targets
        The words to find.
    reading : Reading, optional
        Options for reading text.
    max_per_word : int, optional
        Maximum number of occurrences per target; None for all.
    seed : int
        Seed for the sample.
    progress : callable, optional
        Called with the number of bytes read so far and of all bytes (0 for standard input).
    shared : bool
        Whether the samples of different targets share sentences as far as possible.

    Returns
    -------
    Occurrences
    """
    targets.first_words  # noqa: B018  forms that cannot be found are refused before anything is read
    with as_files([corpus], reading or Reading()) as ((file,), reading):
        tally, sources = Tally(), find_sources(file)
        _, readings = detect_languages({"": file}, reading)
        collector = OccurrenceCollector(targets, max_per_word, checks.seed(seed), shared)
        check_tags(targets, {"": file}, readings)
        blocks = read_corpus(sources, readings[""], tally, progress, targets.needs_annotation)
        collect_occurrences(blocks, targets, readings[""].language, {"": collector}, {"": tally})
        return make_occurrences(collector.rows(), collector.found, tally, os.fspath(file), max_per_word)


def collect_occurrences(
    blocks: Iterable[Block],
    targets: Targets,
    language: str,
    collectors: Mapping[str, OccurrenceCollector],
    tallies: Mapping[str, Tally],
) -> None:
    """Pass each block to the collector of its period, and add its words and passages to the tally of the period.

    All samples are reduced at the same time, so that many periods share the memory for rows beyond their size.
    """
    held = 0
    for block, (hits, (words, passages)) in process_blocks(blocks, partial(_scan, targets=targets)):
        collector, tally = collectors[block.period], tallies[block.period]
        tally.words += int(words)
        tally.passages += int(passages)
        held -= collector.held
        collector.add(block, hits, language, tally)
        held += collector.held
        most = collector.max_per_word
        if most is not None and held > 1.25 * most * len(targets.forms) * len(collectors) + SLACK:
            for each in collectors.values():
                each.cut()
            held = sum(each.held for each in collectors.values())


def _scan(block: Block, targets: Targets) -> tuple[Array, Array]:
    """Scan the lemmas of a block if it has them and they are matched, else its text; see :func:`scan_block`."""
    lemmas = block.lemmas if targets.match == "lemma" else None
    return scan_block(block.data, targets) if lemmas is None else scan_block(lemmas, targets.lemmas)


def make_occurrences(
    table: pa.Table, n_found: Array, tally: Tally, corpus: str, max_per_word: int | None, content: str | None = None
) -> Occurrences:
    """Return the occurrences in a corpus, and count those outside the sample; raise an error if it has no words."""
    if not tally.words:
        raise tally.nothing_read(corpus)
    left = 0 if max_per_word is None else int(np.maximum(n_found - max_per_word, 0).sum())
    if left:
        tally.skipped[f"occurrences beyond {max_per_word} for a word"] += left
    content = content or tally.content
    tally.hashes = {}  # which would be held for each corpus until the end of the run
    return Occurrences(table, n_found, tally, content)


class OccurrenceCollector:
    """Collect occurrences block by block, keeping at most ``max_per_word`` of each target.

    Attributes
    ----------
    max_per_word : int or None
        Maximum number of occurrences per target; None for all.
    found : ndarray of shape (targets,), int64
        Number of occurrences so far, before sampling.
    held : int
        Number of rows in memory.
    """

    def __init__(self, targets: Targets, max_per_word: int | None, seed: int, shared: bool = False) -> None:
        self.max_per_word = None if max_per_word is None else checks.positive(max_per_word, "max_per_word")
        self.found = np.zeros(len(targets.forms), np.int64)
        self.held = 0
        self._words, self._seed = list(targets.forms), seed
        self._file: str | None = None  # the file to which the keys belong
        self._of_words = sampling.word_keys(seed, self._words) if shared else None
        self._limits = np.full(len(targets.forms), np.iinfo(np.uint64).max, np.uint64)
        self._batches: list[pa.RecordBatch] = []
        self._recent: list[pa.RecordBatch] = []  # the last batches, which are not merged yet
        self._recent_rows = 0
        self._resolver = BlockResolver(targets)

    def add(self, block: Block, hits: Array, language: str, tally: Tally) -> None:
        """Collect the occurrences among the hits of a block; hits : (n, 6)."""
        rows = self._resolver.resolve(block, hits, tally)  # (n, 6): target, line index, start and end of line, of word
        if not len(rows):
            return
        self.found += np.bincount(rows[:, 0], minlength=len(self.found))
        if block.rows is None and block.wrapped is None:
            lines = block.line + rows[:, 1]
        elif block.rows is not None:
            lines = np.array([block.rows[index] for index in rows[:, 1].tolist()], np.int64)
        else:
            lines = np.array([block.line_of(index, start) for _, index, _, _, start, _ in rows.tolist()], np.int64)
        hashes = self._priorities(block.file, rows[:, 0], lines, rows[:, 4] - rows[:, 2])
        if self.max_per_word is not None:
            chosen = np.flatnonzero(hashes <= self._limits[rows[:, 0]])
            if len(chosen) > SLACK:  # very long lines: reduce the rows at once
                chosen = chosen[sampling.smallest(rows[chosen, 0], hashes[chosen], self.max_per_word)]
            if not len(chosen):
                return
            rows, lines, hashes = rows[chosen], lines[chosen], hashes[chosen]
        sentences, starts, ends = self._sentences(block, rows, language, tally)
        dates, documents, groups = (
            pa.array([None if values is None else values[index] for index in rows[:, 1].tolist()], pa.string())
            for values in (block.dates, block.documents, block.groups)
        )
        columns: list[Any] = [
            rows[:, 0].astype(np.int32),
            pa.DictionaryArray.from_arrays(np.zeros(len(rows), np.int32), [block.file]),
            lines,
            dates,
            sentences,
            pa.array(starts, pa.int32()),
            pa.array(ends, pa.int32()),
            hashes,
            documents,
            groups,
        ]
        self._recent.append(pa.record_batch(columns, schema=SCHEMA))
        self._recent_rows += len(rows)
        self.held += len(rows)
        if len(self._recent) == _MERGED or self._recent_rows >= SLACK:
            self._merge_recent()

    def _merge_recent(self) -> None:
        """Merge the last batches into one, which many small files would otherwise fill with a row or two each."""
        table = pa.Table.from_batches(self._recent, SCHEMA).unify_dictionaries().combine_chunks()
        self._batches += table.to_batches()
        self._recent, self._recent_rows = [], 0

    def _priorities(self, file: str, targets: Array, lines: Array, positions: Array) -> sampling.Priorities:
        """Return the hash of each position, (n,); the positions with the smallest hashes are sampled."""
        if file != self._file:
            self._file, n = file, len(self.found)
            if self._of_words is not None:
                self._file_key = sampling.place_key(self._seed, file, "")
                self._keys = sampling.file_keys(self._file_key, self._of_words)
            else:
                self._keys, self._has_key = np.zeros(n, np.uint64), np.zeros(n, np.bool_)
        if self._of_words is not None:
            return sampling.shared_priorities(self._file_key, self._keys[targets], targets, lines, positions)
        for target in np.unique(targets[~self._has_key[targets]]).tolist():  # most words occur in few files
            self._keys[target] = sampling.place_key(self._seed, file, self._words[target])
            self._has_key[target] = True
        return sampling.priorities(self._keys[targets], lines, positions)

    def _sentences(self, block: Block, rows: Array, language: str, tally: Tally) -> tuple[pa.Array, Array, Array]:
        """Return the sentences of occurrences, and the start and end of the words in characters: (n,) each."""
        starts, ends = rows[:, 4] - rows[:, 2], rows[:, 5] - rows[:, 2]
        if block.split != "lines" or not len(rows):
            return self._parts_of_lines(block, rows, language, tally)
        # The common case: the line is the sentence and is ASCII; the words of one line share the sentence.
        begins = np.r_[True, rows[1:, 2] != rows[:-1, 2]]
        line_of = np.cumsum(begins) - 1  # (n,)
        lines = [block.data[start:end] for start, end in rows[begins, 2:4].tolist()]
        is_simple = [
            len(line) <= LONGEST and line.isascii() and line[0] > _SPACE and line[-1] > _SPACE  # nothing to strip
            for line in lines
        ]
        simple = np.array(is_simple)[line_of]
        texts = pa.array(
            [line.decode() if yes else "" for line, yes in zip(lines, is_simple, strict=True)], pa.string()
        )
        texts = texts.take(line_of)
        if simple.all():
            return texts, starts, ends
        some, starts[~simple], ends[~simple] = self._parts_of_lines(block, rows[~simple], language, tally)
        return pc.replace_with_mask(texts, ~simple, some), starts, ends

    def _parts_of_lines(self, block: Block, rows: Array, language: str, tally: Tally) -> tuple[pa.Array, Array, Array]:
        """Return the same for lines that hold several sentences or are not ASCII."""
        sentences, starts, ends = [], [], []
        data = block.data
        at, passage, characters, counted, size = -1, None, 0, 0, 0
        for _, _, line_start, line_end, start, end in rows.tolist():
            if line_start != at or passage is None:
                at, characters, counted = line_start, 0, line_start
                passage = Passage(data[line_start:line_end].decode(), block.split, language)
            characters += len(data[counted:start].decode())
            counted = start
            length = len(data[start:end].decode())
            sentence, first, last, cut = passage.sentence(characters, characters + length)
            if cut:
                tally.skipped[f"sentences of over {LONGEST} characters, cut around the word"] += 1
            size += len(sentence)
            if size > _MAX_CHARACTERS:
                raise UserError(
                    f"the file {block.file!r} has lines so long that the sentences of {len(rows):,} occurrences in "
                    f"them would take more than {_MAX_CHARACTERS >> 20:,} MB: break its text into lines, or keep a "
                    f"sample (--max-per-word)"
                )
            sentences.append(sentence)
            starts.append(first)
            ends.append(last)
        return pa.array(sentences, pa.string()), np.array(starts, np.int64), np.array(ends, np.int64)

    def cut(self) -> None:
        """Reduce the sample to the smallest hashes of each target; larger hashes are ignored from then on."""
        if self.max_per_word is None or not self.held:
            return
        table = self.rows()
        targets, hashes = table["target"].to_numpy(), table["priority"].to_numpy()
        most = np.zeros(len(self.found), np.uint64)
        np.maximum.at(most, targets, hashes)
        full = np.bincount(targets, minlength=len(self.found)) == self.max_per_word
        self._limits[full] = most[full]
        self._batches, self.held = table.to_batches(), len(table)

    def rows(self) -> pa.Table:
        """Return the sampled rows, ordered by target and position."""
        self._merge_recent()
        give_back_memory()  # before copies are made
        return merge_samples([pa.Table.from_batches(self._batches, SCHEMA)], self.max_per_word)


def give_back_memory() -> None:
    """Return free memory to the system, because the C library of Linux would otherwise hold more and more of it."""
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries do not have it
        if trim is not None:
            trim(0)


def merge_samples(tables: Sequence[pa.Table], max_per_word: int | None) -> pa.Table:
    """Merge the samples of the parts of a corpus, in the order of the parts."""
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    targets = table["target"].to_numpy()
    if max_per_word is not None:
        table = table.take(sampling.smallest(targets, table["priority"].to_numpy(), max_per_word))
        targets = table["target"].to_numpy()
    return table.take(np.argsort(targets, kind="stable"))

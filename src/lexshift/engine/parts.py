"""Split a corpus into parts, and count the words or sample the occurrences of each part.

The result for a part depends on its files alone, and the results of all parts combine into that of the corpus. So parts
can be processed anywhere and in any order, and an interrupted run resumes with the parts that are missing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import pyarrow as pa

from lexshift.corpus.counting import Cases, WordCounts, count_sources, make_word_counts
from lexshift.corpus.encodings import detector_version
from lexshift.corpus.occurrences import (
    OccurrenceCollector,
    Occurrences,
    collect_occurrences,
    make_occurrences,
    merge_samples,
)
from lexshift.corpus.passages import read_corpus
from lexshift.corpus.segmentation import segmenter_version
from lexshift.corpus.sources import AUTO, STANDARD_INPUT, Reading, Source, Tally, find_sources
from lexshift.corpus.targets import Targets
from lexshift.corpus.word_rule import WORD_RULE, rule
from lexshift.errors import UserError
from lexshift.store.format import digest
from lexshift.utils.arrays import Array

SIZE = 64 << 20
"""Maximum size of a part of several files, in bytes on disk; a larger file is a part by itself."""
_METADATA = b"lexshift"  # key in the metadata of a table
_COUNTS = {"word": pa.string(), **dict.fromkeys(("n", "small", "capital"), pa.int64()), "lemma": pa.int8()}
_MAX_ROWS = 1 << 20  # rows of samples that are gathered before they are merged, which bounds the memory


@dataclass(frozen=True)
class Part:
    """Some files of a corpus.

    Attributes
    ----------
    number : int
        Position among the parts of the corpus.
    sources : tuple of Source
        The files.
    size : int
        Their size in bytes on disk.
    """

    number: int
    sources: tuple[Source, ...]
    size: int

    @cached_property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of each file by its name, computed at the first access; "" for a file that cannot be opened.

        Sizes and times would be faster to compare, but a file can be edited without changing them.
        """
        return {source.name: "" if source.fault else _hash(source.path) for source in self.sources}


def split_corpus(corpus: str | os.PathLike[str], size: int = SIZE) -> list[Part]:
    """Return the parts of a corpus: its files in their order, with small ones in one part of up to ``size`` bytes."""
    groups: list[list[Source]] = []
    sizes: list[int] = []
    for source in find_sources(corpus):
        if source.path == STANDARD_INPUT:
            raise UserError("a corpus from standard input is read only once, and this run reads it twice: give a file")
        bytes_on_disk = source.size
        if groups and sizes[-1] + bytes_on_disk <= size:
            groups[-1].append(source)
            sizes[-1] += bytes_on_disk
        else:
            groups.append([source])
            sizes.append(bytes_on_disk)
    return [Part(i, tuple(group), n) for i, (group, n) in enumerate(zip(groups, sizes, strict=True))]


def _hash(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"the file {path!r} cannot be read: {error.strerror}") from None


class Job(Protocol):
    """A computation on the parts of a corpus.

    It returns a table; further facts on the part are in the metadata of the table.
    """

    def __call__(self, part: Part, progress: Callable[[int], None]) -> pa.Table:
        """Return the table of a part; ``progress`` is called with the number of bytes read so far."""

    def key(self, part: Part) -> str:
        """Return a digest of everything that the table depends on."""


@dataclass(frozen=True)
class Counting:
    """Counts the words of a part, by a rule of what a word is."""

    match: str
    reading: Reading

    def __call__(self, part: Part, progress: Callable[[int], None]) -> pa.Table:
        """Return a table with the columns word, n, small, capital and lemma, which is 1 for lemmas of files.

        See :data:`lexshift.corpus.counting.Cases`.
        """
        tally = Tally()
        by_lemma = self.match == "lemma"
        kinds = count_sources(
            part.sources, rule(self.match), self.reading, tally, lambda done, _: progress(done), by_lemma
        )
        # The order of the counts depends on the timing of threads.
        rows = [(word, *counts[word], lemma) for lemma, counts in enumerate(kinds) for word in sorted(counts)]
        columns = zip(*rows, strict=True) if rows else ((),) * len(_COUNTS)
        arrays = [pa.array(values, kind) for values, kind in zip(columns, _COUNTS.values(), strict=True)]
        return _with_metadata(pa.table(arrays, names=list(_COUNTS)), tally)

    def key(self, part: Part) -> str:
        """Return a digest of everything that the counts depend on."""
        versions = [WORD_RULE, segmenter_version(), _detector(self.reading)]
        return digest(["lemma counting", *versions, self.match, asdict(self.reading), part.hashes])


@dataclass(frozen=True)
class Sampling:
    """Samples the occurrences of words in a part.

    With ``shared``, the samples of different words share sentences as far as possible.
    """

    forms: dict[str, tuple[str, ...]]
    match: str
    reading: Reading
    max_per_word: int | None
    seed: int
    shared: bool

    def __call__(self, part: Part, progress: Callable[[int], None]) -> pa.Table:
        """Return a table of :data:`lexshift.corpus.occurrences.SCHEMA`; its metadata holds the counts of each word."""
        tally, targets = Tally(), Targets(self.forms, self.match)
        collector = OccurrenceCollector(targets, self.max_per_word, self.seed, self.shared)
        annotate = targets.needs_annotation
        blocks = read_corpus(part.sources, self.reading, tally, lambda done, _: progress(done), annotate)
        collect_occurrences(blocks, targets, self.reading.language, {"": collector}, {"": tally})
        return _with_metadata(collector.rows(), tally, collector.found)

    def key(self, part: Part) -> str:
        """Return a digest of everything that the sample depends on."""
        how = [list(self.forms.items()), self.match, asdict(self.reading), self.max_per_word, self.seed, self.shared]
        return digest(["samples with counts", WORD_RULE, _detector(self.reading), *how, part.hashes])


def _detector(reading: Reading) -> str:
    """Return the version of the detection of encodings, if the files are read with it."""
    return detector_version() if reading.encoding == AUTO else ""


def is_made_from(table: pa.Table, part: Part) -> bool:
    """Return whether the files that were read for a table are those of a part; files that were skipped do not count."""
    tally = _read_tally(table)
    return tally.hashes == {name: sha256 for name, sha256 in part.hashes.items() if name not in tally.unreadable}


def combine_counts(tables: Iterable[pa.Table], corpus: str) -> WordCounts:
    """Return the counts of a corpus from the tables of its parts."""
    kinds: tuple[dict[str, Cases], dict[str, Cases]] = {}, {}  # counts of forms, and of lemmas
    tally = Tally()
    for table in tables:
        tally.add(_read_tally(table))
        for word, n, small, capital, lemma in zip(*(table[name].to_pylist() for name in _COUNTS), strict=True):
            a, b, c = kinds[lemma].get(word, (0, 0, 0))
            kinds[lemma][word] = (a + n, b + small, c + capital)
    return make_word_counts(kinds[0], corpus, kinds[1], tally)


def combine_samples(tables: Iterable[pa.Table], corpus: str, max_per_word: int | None) -> Occurrences:
    """Return the occurrences in a corpus from the tables of its parts, which come in their order."""
    gathered: list[pa.Table] = []
    counts: Array | None = None  # (n_words,)
    tally = Tally()
    for table in tables:
        n_found = json.loads(table.schema.metadata[_METADATA])["counts"]
        counts = np.array(n_found, np.int64) + (0 if counts is None else counts)
        tally.add(_read_tally(table))
        gathered.append(table.replace_schema_metadata())
        if sum(map(len, gathered)) > _MAX_ROWS:
            gathered = [merge_samples(gathered, max_per_word)]
    assert counts is not None
    return make_occurrences(merge_samples(gathered, max_per_word), counts, tally, corpus, max_per_word)


def _with_metadata(table: pa.Table, tally: Tally, counts: Sequence[int] | Array = ()) -> pa.Table:
    """Return a table whose metadata holds the tally and the occurrences of each word."""
    metadata = {"tally": vars(tally), "counts": [int(n) for n in counts]}
    return table.replace_schema_metadata({_METADATA: json.dumps(metadata).encode()})


def _read_tally(table: pa.Table) -> Tally:
    """Return the tally in the metadata of a table."""
    return Tally(**json.loads(table.schema.metadata[_METADATA])["tally"])

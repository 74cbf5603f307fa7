"""A corpus in parts, and what is made of a part: counts of its words, or a sample of its occurrences.

What is made of a part depends on its files and on nothing else, and the parts' results add up to the corpus's. So it
does not matter where and in which order they are made, and a run that is stopped goes on with the parts that are left.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from lexshift.corpus.counting import WordCounts, count_sources, make_word_counts, sum_counts
from lexshift.corpus.occurrences import (
    OccurrenceCollector,
    Occurrences,
    collect_occurrences,
    make_occurrences,
    merge_samples,
)
from lexshift.corpus.passages import read_corpus
from lexshift.corpus.segmentation import segmenter_version
from lexshift.corpus.sources import STANDARD_INPUT, Reading, Source, Tally, find_sources
from lexshift.corpus.targets import Targets
from lexshift.corpus.word_rule import WORD_RULE, rule
from lexshift.errors import UserError
from lexshift.store.format import digest
from lexshift.utils.arrays import Array

SIZE = 64 << 20
"""Bytes on disk of small files that make a part together; a larger file is a part by itself."""
_TOLD = b"lexshift"
_ROWS = 1 << 20  # of parts' samples that are put together before they are cut down


@dataclass(frozen=True)
class Part:
    """Some files of a corpus: their number among the parts, the files, and their bytes on disk."""

    number: int
    sources: tuple[Source, ...]
    size: int

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of the bytes of each file by its name, as they are when this is first asked for.

        Sizes and times would be quicker to look at, but a file can be edited without changing them.
        """
        return {source.name: _hash(source.path) for source in self.sources}


def split_corpus(corpus: str | os.PathLike[str], size: int = SIZE) -> list[Part]:
    """The parts of a corpus: its files in their order, small ones together."""
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
    """What is to be made of each part: a table, with what else is to be told of the part in its metadata."""

    def __call__(self, part: Part, progress: Callable[[int], None]) -> pa.Table:
        """Make it; ``progress`` is called with the bytes of the part that are done."""

    def key(self, part: Part) -> str:
        """What the result depends on."""


@dataclass(frozen=True)
class Counting:
    """Counts of the words of a part, by a rule of what a word is."""

    match: str
    reading: Reading

    def __call__(self, part: Part, progress: Callable[[int], None]) -> pa.Table:
        """Columns word, n, small and capital, as :data:`lexshift.corpus.counting.Cases`."""
        tally = Tally()
        found = count_sources(part.sources, rule(self.match), self.reading, tally, lambda done, _: progress(done))
        words = sorted(found)  # which thread met a word first is chance
        cases = np.array([found[word] for word in words], np.int64).reshape(-1, 3)
        columns = [pa.array(words, pa.string()), *(pa.array(cases[:, i]) for i in range(3))]
        return _telling(pa.table(columns, names=["word", "n", "small", "capital"]), tally)

    def key(self, part: Part) -> str:
        """What the counts depend on."""
        return digest(["counting", WORD_RULE, segmenter_version(), self.match, asdict(self.reading), part.hashes])


@dataclass(frozen=True)
class Sampling:
    """A sample of the occurrences of words in a part.

    With ``shared``, the samples of different words share sentences as far as possible.
    """

    forms: dict[str, tuple[str, ...]]
    match: str
    reading: Reading
    max_per_word: int | None
    seed: int
    shared: bool

    def __call__(self, part: Part, progress: Callable[[int], None]) -> pa.Table:
        """Columns as :data:`lexshift.corpus.occurrences.SCHEMA`; how many there are of each word is told."""
        tally, targets = Tally(), Targets(self.forms, self.match)
        collector = OccurrenceCollector(targets, self.max_per_word, self.seed, self.shared)
        blocks = read_corpus(part.sources, self.reading, tally, lambda done, _: progress(done))
        collect_occurrences(blocks, targets, self.reading.language, {"": collector}, {"": tally})
        return _telling(collector.rows(), tally, collector.found)

    def key(self, part: Part) -> str:
        """What the sample depends on."""
        how = [list(self.forms.items()), self.match, asdict(self.reading), self.max_per_word, self.seed, self.shared]
        return digest(["sampling", WORD_RULE, *how, part.hashes])


def file_hashes(table: pa.Table) -> dict[str, str]:
    """Return the SHA-256 of the bytes that were read for a table, by the names of the files."""
    return dict(json.loads(table.schema.metadata[_TOLD])["hashes"])


def combine_counts(tables: Iterable[pa.Table], corpus: str) -> WordCounts:
    """The counts of a corpus, from those of its parts."""
    names = ("word", "n", "small", "capital")
    rows = (row for table in tables for row in zip(*(table[name].to_pylist() for name in names), strict=True))
    return make_word_counts(sum_counts((word, (n, small, capital)) for word, n, small, capital in rows), corpus)


def combine_samples(tables: Iterable[pa.Table], corpus: str, max_per_word: int | None) -> Occurrences:
    """The occurrences in a corpus, from those in its parts in their order."""
    gathered: list[pa.Table] = []
    found: Array | None = None
    tally = Tally()
    for table in tables:
        told = json.loads(table.schema.metadata[_TOLD])
        found = np.array(told["found"], np.int64) + (0 if found is None else found)
        _add(tally, {**told["tally"], "hashes": told["hashes"]})
        gathered.append(table.replace_schema_metadata())
        if sum(map(len, gathered)) > _ROWS:
            gathered = [merge_samples(gathered, max_per_word)]
    assert found is not None
    return make_occurrences(merge_samples(gathered, max_per_word), found, tally, corpus, max_per_word)


def _telling(table: pa.Table, tally: Tally, found: Sequence[int] | Array = ()) -> pa.Table:
    """A table that tells what was read and skipped, the files' hashes, and how many occurrences there are."""
    read = {name: dict(value) if isinstance(value, Counter) else value for name, value in vars(tally).items()}
    told = {"hashes": read.pop("hashes"), "tally": read, "found": [int(n) for n in found]}
    return table.replace_schema_metadata({_TOLD: json.dumps(told).encode()})


def _add(tally: Tally, other: dict[str, Any]) -> None:
    for name, value in other.items():
        if isinstance(value, dict):
            getattr(tally, name).update(value)
        else:
            setattr(tally, name, getattr(tally, name) + value)

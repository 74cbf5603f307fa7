"""Collect the occurrences of target words with their sentences, optionally sampling a fixed number per word."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lexshift.corpus import sampling
from lexshift.corpus.language import resolve_language
from lexshift.corpus.passages import Block, read_blocks
from lexshift.corpus.scanner import scanned
from lexshift.corpus.sentences import LONGEST, Passage
from lexshift.corpus.sources import Reading, Source, Tally, find_sources
from lexshift.corpus.targets import Targets
from lexshift.errors import UserError
from lexshift.utils import checks
from lexshift.utils.arrays import Array
from lexshift.utils.memory import give_back
from lexshift.utils.seeds import check_seed


@dataclass(frozen=True)
class Occurrences:
    """The occurrences of all targets in a corpus.

    Attributes
    ----------
    table : pyarrow.Table
        Columns target (index), file, line, date, sentence, start, end (character offsets into the sentence) and
        priority, ordered by target and place.
    found : (targets,) numbers of occurrences, before sampling
    tally : Tally
    content : str
        SHA-256 over the corpus's files.
    """

    table: pa.Table
    found: Array
    tally: Tally
    content: str


def find_occurrences(
    corpus: str | os.PathLike[str],
    targets: Targets,
    reading: Reading | None = None,
    max_per_word: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Occurrences:
    """Read a corpus once and keep every occurrence of the targets, or a sample of ``max_per_word`` of each.

    ``progress`` is called with the bytes read so far and those there are (0 for standard input).
    """
    targets.candidates  # noqa: B018  forms that cannot be found are refused before anything is read
    tally, hashes = Tally(), dict[str, str]()
    sources = find_sources(corpus)
    total = sum(os.path.getsize(source.path) for source in sources if os.path.exists(source.path))
    told = None if progress is None else lambda: progress(tally.size, total)
    how = resolve_language(reading or Reading(), corpus)
    table, found = scan_sources(sources, targets, how, max_per_word, seed, tally, hashes, told)
    return occurrences_in(table, found, tally, hashes, os.fspath(corpus), max_per_word)


def scan_sources(
    sources: Sequence[Source],
    targets: Targets,
    reading: Reading,
    max_per_word: int | None,
    seed: int,
    tally: Tally,
    hashes: dict[str, str],
    progress: Callable[[], None] | None = None,
    shared: bool = False,
) -> tuple[pa.Table, Array]:
    """The occurrences in some files, or a sample of them, and how many there are of each target: (targets,).

    ``tally`` and ``hashes`` are added to, as :func:`read_blocks` does. ``shared`` is for samples of very many words.
    """
    keeper = Keeper(targets, max_per_word, check_seed(seed), shared)
    for source in sources:
        keeper.enter_file(source.name)
        for block, hits in scanned(read_blocks(source, reading, tally, hashes), targets, tally):
            keeper.add(block, hits, reading.language, tally)
            if progress is not None:
                progress()
    if progress is not None:
        progress()
    return keeper.rows(), keeper.found


def occurrences_in(
    table: pa.Table, found: Array, tally: Tally, hashes: dict[str, str], corpus: str, max_per_word: int | None
) -> Occurrences:
    """What was found in all files of a corpus, which must have a word in it."""
    if not tally.words:
        raise UserError(f"the corpus {corpus!r} is empty: there is no word in it")
    tell_left_out(found, max_per_word, tally)
    content = hashlib.sha256(repr(sorted(hashes.items())).encode()).hexdigest()
    return Occurrences(table, found, tally, content)


SCHEMA = pa.schema(
    [
        ("target", pa.int32()),
        ("file", pa.dictionary(pa.int32(), pa.string())),
        ("line", pa.int64()),
        ("date", pa.string()),
        ("sentence", pa.string()),
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("priority", pa.uint64()),
    ]
)
SLACK = 1 << 14
"""Rows that a sample may hold beyond its size before it is cut down."""
_SPACE = 0x20  # bytes up to it are white space or control characters
_MOST_CHARACTERS = 1 << 28  # of the sentences of a block's occurrences
_LONGEST_FORM = 1_000  # bytes within which a form of several words must end


class Keeper:
    """Collects rows, and keeps the sample down to its size."""

    def __init__(self, targets: Targets, max_per_word: int | None, seed: int, shared: bool = False) -> None:
        self.found = np.zeros(len(targets.words), np.int64)
        self._targets = targets
        self._words = targets.words
        self._most = None if max_per_word is None else checks.positive(max_per_word, "max_per_word")
        self._seed = seed
        self._of_words = sampling.word_keys(seed, targets.words) if shared else None
        self._limits = np.full(len(targets.words), np.iinfo(np.uint64).max, np.uint64)
        self._batches: list[pa.RecordBatch] = []
        self.held = 0
        # The target of a number that stands for nothing else; -1 where the text decides.
        self._simple = np.array(
            [c[0].target if len(c) == 1 and c[0].form is None else -1 for c in targets.candidates], np.int64
        )

    def enter_file(self, name: str) -> None:
        """The following blocks are of this file."""
        self._file = name
        if self._of_words is not None:
            self._file_key = sampling.place_key(self._seed, name, "")
            self._keys = sampling.file_keys(self._file_key, self._of_words)
        else:
            self._keys = np.zeros(len(self.found), np.uint64)
            self._has_key = np.zeros(len(self.found), np.bool_)

    def add(self, block: Block, hits: Array, language: str, tally: Tally) -> None:
        """Keep the occurrences among a block's hits."""
        rows = self._resolve(block, hits)  # (n, 6): target, line index, start and end of line, of word
        if not len(rows):
            return
        self.found += np.bincount(rows[:, 0], minlength=len(self.found))
        if block.rows is None and block.wrapped is None:
            lines = block.line + rows[:, 1]
        else:
            lines = np.array([block.line_of(index, start) for _, index, _, _, start, _ in rows.tolist()], np.int64)
        hashes = self._hashes(rows[:, 0], lines, rows[:, 4] - rows[:, 2])
        if self._most is not None:
            chosen = np.flatnonzero(hashes <= self._limits[rows[:, 0]])
            if len(chosen) > SLACK:  # very long lines have very many words: no more of them than can be kept
                chosen = chosen[sampling.smallest(rows[chosen, 0], hashes[chosen], self._most)]
            rows, lines, hashes = rows[chosen], lines[chosen], hashes[chosen]
        sentences, starts, ends = self._sentences(block, rows, language, tally)
        columns: list[Any] = [
            rows[:, 0].astype(np.int32),
            pa.DictionaryArray.from_arrays(np.zeros(len(rows), np.int32), [self._file]),
            lines,
            pa.array([block.date_of(index) for index in rows[:, 1].tolist()], pa.string())
            if block.dates is not None
            else pa.nulls(len(rows), pa.string()),
            sentences,
            pa.array(starts, pa.int32()),
            pa.array(ends, pa.int32()),
            hashes,
        ]
        self._batches.append(pa.record_batch(columns, schema=SCHEMA))
        self.held += len(rows)
        if self._most is not None and self.held > 1.5 * self._most * len(self.found) + SLACK:
            self.cut()

    def _hashes(self, targets: Array, lines: Array, positions: Array) -> sampling.Priorities:
        if self._of_words is not None:
            return sampling.shared_priorities(self._file_key, self._keys[targets], targets, lines, positions)
        for target in np.unique(targets[~self._has_key[targets]]).tolist():  # most of many words are in few files
            self._keys[target] = sampling.place_key(self._seed, self._file, self._words[target])
            self._has_key[target] = True
        return sampling.priorities(self._keys[targets], lines, positions)

    def _resolve(self, block: Block, hits: Array) -> Array:
        """The hits that are occurrences, (n, 6) with the target in place of the number."""
        targets = self._simple[hits[:, 0]] if len(hits) else hits[:, 0]
        if len(targets) and targets.min() >= 0:
            rows = hits.copy()
            rows[:, 0] = targets
            if not self._targets.longest_unspaced or not _overlap(rows):
                return rows
        resolved = []
        taken: dict[int, int] = {}  # for each target, where its last occurrence ends
        for (index, line_start, line_end, start), several in groupby(hits.tolist(), key=lambda hit: hit[1:5]):
            stops: dict[int, int] = {}
            for number, *_, end in several:
                for target, stop in self._matches(number, block.data, start, end).items():
                    stops[target] = max(stop, stops.get(target, 0))
            for target, stop in stops.items():
                if start >= taken.get(target, 0):  # two forms of a word may overlap: the first and longest is it
                    taken[target] = stop
                    resolved.append((target, index, line_start, line_end, start, stop))
        return np.array(resolved, np.int64).reshape(-1, 6)

    def _matches(self, number: int, data: bytes, start: int, end: int) -> dict[int, int]:
        """The targets that a hit is, and where the longest form of each ends."""
        if self._simple[number] >= 0:
            return {int(self._simple[number]): end}
        text = data[start : start + _LONGEST_FORM].split(b"\n", 1)[0].decode(errors="ignore")
        found: dict[int, int] = {}
        for candidate in self._targets.candidates[number]:
            stop = end
            if candidate.form is not None:
                length = self._targets.extent(candidate.form, text)
                if length is None:
                    continue
                stop = start + len(text[:length].encode())
            found[candidate.target] = max(stop, found.get(candidate.target, 0))
        return found

    def _sentences(self, block: Block, rows: Array, language: str, tally: Tally) -> tuple[pa.Array, Array, Array]:
        """The sentences of occurrences, and where in them the words are, in characters: (n,) each."""
        starts, ends = rows[:, 4] - rows[:, 2], rows[:, 5] - rows[:, 2]
        if block.split != "lines" or not len(rows):
            return self._parts_of_lines(block, rows, language, tally)
        # As most lines are: the sentence itself, its bytes its characters; words of one line share it.
        begins = np.r_[True, rows[1:, 2] != rows[:-1, 2]]
        line_of = np.cumsum(begins) - 1  # (n,)
        lines = [block.data[start:end] for start, end in rows[begins, 2:4].tolist()]
        whole = [_is_a_sentence(line) for line in lines]
        simple = np.array(whole)[line_of]
        texts = pa.array([line.decode() if yes else "" for line, yes in zip(lines, whole, strict=True)], pa.string())
        texts = texts.take(line_of)
        if simple.all():
            return texts, starts, ends
        some, starts[~simple], ends[~simple] = self._parts_of_lines(block, rows[~simple], language, tally)
        return pc.replace_with_mask(texts, ~simple, some), starts, ends

    def _parts_of_lines(self, block: Block, rows: Array, language: str, tally: Tally) -> tuple[pa.Array, Array, Array]:
        """The same where a sentence is a part of a line, or its characters are not its bytes."""
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
            if size > _MOST_CHARACTERS:
                raise UserError(
                    f"the file {self._file!r} has lines so long that the sentences of {len(rows):,} occurrences in "
                    f"them would take more than {_MOST_CHARACTERS >> 20:,} MB: break its text into lines, or keep a "
                    f"sample (--max-per-word)"
                )
            sentences.append(sentence)
            starts.append(first)
            ends.append(last)
        return pa.array(sentences, pa.string()), np.array(starts, np.int64), np.array(ends, np.int64)

    def cut(self) -> None:
        """Keep the smallest hashes of each target, and take nothing above them from now on."""
        if self._most is None or not self._batches:
            return
        give_back()  # what reading and scanning no longer use, before copies are made
        table = pa.Table.from_batches(self._batches, SCHEMA).unify_dictionaries().combine_chunks()
        targets = table["target"].to_numpy()
        table = table.take(sampling.smallest(targets, table["priority"].to_numpy(), self._most))
        targets, hashes = table["target"].to_numpy(), table["priority"].to_numpy()
        most = np.zeros(len(self.found), np.uint64)
        np.maximum.at(most, targets, hashes)
        full = np.bincount(targets, minlength=len(self.found)) == self._most
        self._limits[full] = most[full]
        self._batches, self.held = table.to_batches(), len(table)

    def rows(self) -> pa.Table:
        """All rows, ordered by target and place."""
        self.cut()
        return merged([pa.Table.from_batches(self._batches, SCHEMA)], None)

    def finish(self, tally: Tally) -> pa.Table:
        """The same, and how many occurrences are not among them is told."""
        tell_left_out(self.found, self._most, tally)
        return self.rows()


def merged(tables: Sequence[pa.Table], max_per_word: int | None) -> pa.Table:
    """The occurrences in all parts of a corpus, in the order of the parts, from those in each."""
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    targets = table["target"].to_numpy()
    if max_per_word is not None:
        table = table.take(sampling.smallest(targets, table["priority"].to_numpy(), max_per_word))
        targets = table["target"].to_numpy()
    return table.take(np.argsort(targets, kind="stable"))


def tell_left_out(found: Array, max_per_word: int | None, tally: Tally) -> None:
    """Count the occurrences that a sample leaves out among what was skipped."""
    left = 0 if max_per_word is None else int(np.maximum(found - max_per_word, 0).sum())
    if left:
        tally.skipped[f"occurrences beyond {max_per_word} for a word"] += left


def _overlap(rows: Array) -> bool:
    """Tell whether two occurrences of one target overlap; rows : (n, 6)."""
    targets, starts, ends = rows[:, 0], rows[:, 4], rows[:, 5]
    order = np.lexsort((starts, targets))
    same = targets[order][1:] == targets[order][:-1]
    return bool((same & (starts[order][1:] < ends[order][:-1])).any())


def _is_a_sentence(line: bytes) -> bool:
    """Whether a line is a sentence as it stands: not too long, ASCII, and nothing to strip."""
    return len(line) <= LONGEST and line.isascii() and line[0] > _SPACE and line[-1] > _SPACE

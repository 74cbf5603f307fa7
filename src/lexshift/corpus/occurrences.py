"""Where the target words are: every occurrence with its sentence and its span."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lexshift import _checks
from lexshift._streams import check_seed
from lexshift._typing import Array
from lexshift.corpus import sample
from lexshift.corpus.blocks import Block, read_blocks
from lexshift.corpus.reading import Reading, Tally
from lexshift.corpus.sentences import LONGEST, Passage
from lexshift.corpus.sources import Source, find_sources
from lexshift.corpus.targets import Targets
from lexshift.corpus.words import prepare_ascii, scan, scan_ascii
from lexshift.errors import UserError

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
_SPACE = 0x20  # bytes up to it are white space or control characters
_HITS = 1 << 15  # the scan's buffer, in hits
_SLACK = 1 << 14  # rows that a sample may hold beyond its size before it is cut down
_LARGEST = 1 << 23  # bytes of a block for which there is scratch memory; only very long lines make larger ones
_AHEAD = 4  # blocks read ahead for each worker
_local = threading.local()
_LONGEST_FORM = 1_000  # bytes within which a form of several words must end


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
    table, found = scan_sources(sources, targets, reading or Reading(), max_per_word, seed, tally, hashes, told)
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
    keeper = _Keeper(targets, max_per_word, check_seed(seed), shared)
    for source in sources:
        keeper.enter_file(source.name)
        for block, hits in _scanned(read_blocks(source, reading, tally, hashes), targets, tally):
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
    _tell_left_out(found, max_per_word, tally)
    content = hashlib.sha256(repr(sorted(hashes.items())).encode()).hexdigest()
    return Occurrences(table, found, tally, content)


def merged(tables: Sequence[pa.Table], max_per_word: int | None) -> pa.Table:
    """The occurrences in all parts of a corpus, in the order of the parts, from those in each."""
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    targets = table["target"].to_numpy()
    if max_per_word is not None:
        table = table.take(sample.smallest(targets, table["priority"].to_numpy(), max_per_word))
        targets = table["target"].to_numpy()
    return table.take(np.argsort(targets, kind="stable"))


def _scanned(blocks: Iterator[Block], targets: Targets, tally: Tally) -> Iterator[tuple[Block, Array]]:
    """Each block with its hits, (hits, 6) as the scan gives them; blocks are scanned beside one another, in order."""
    workers = min(4, os.cpu_count() or 1)
    ahead: deque[tuple[Block, Future[tuple[Array, Array]]]] = deque()

    def oldest() -> tuple[Block, Array]:
        block, future = ahead.popleft()
        hits, counts = future.result()
        tally.words += int(counts[0])
        tally.passages += int(counts[1])
        return block, hits

    with ThreadPoolExecutor(workers) as pool:
        for block in blocks:
            ahead.append((block, pool.submit(_scan_block, block.data, targets)))
            if len(ahead) > _AHEAD * workers or (ahead and ahead[0][1].done()):
                yield oldest()
        while ahead:
            yield oldest()


def _scan_block(data: bytes, targets: Targets) -> tuple[Array, Array]:
    """Hits, (hits, 6), and counts of words and of lines with words, (2,)."""
    array = np.frombuffer(data, np.uint8)
    plain = len(data) <= _LARGEST and data.isascii()
    return _scan_ascii(array, targets) if plain else _scan_any(array, targets)


def _scan_ascii(array: Array, targets: Targets) -> tuple[Array, Array]:
    words, counts = targets.word_table, np.zeros(2, np.int64)
    folded, newlines, places = _scratch(len(array))
    lines, n = prepare_ascii(array, words.folding, words.beginnings, folded, newlines, places, counts)
    hits = np.empty((n, 6), np.int64)
    return hits[: scan_ascii(folded, newlines[: lines + 1], places[:n], words.keys, words.values, hits)], counts


def _scratch(n: int) -> tuple[Array, Array, Array]:
    """Arrays for a block of n bytes, each thread's own and used again: memory that is new to a process is slow."""
    if n > getattr(_local, "size", -1):
        _local.size = n
        _local.folded = np.empty(n + 4, np.uint8)
        _local.newlines, _local.places = (np.empty(n + 1, np.int32) for _ in range(2))
    return _local.folded[: n + 4], _local.newlines[: n + 1], _local.places[: n + 1]


def _scan_any(array: Array, targets: Targets) -> tuple[Array, Array]:
    table, words = targets.table, targets.word_table
    buffer, counts, found = np.empty((_HITS, 6), np.int64), np.zeros(2, np.int64), []
    at = line = 0
    while at < len(array):
        n, next_at, line = scan(array, at, line, table, words.keys, words.values, buffer, counts)
        if next_at == at:  # one line with more hits than the buffer holds
            buffer = np.empty((4 * len(buffer), 6), np.int64)
        found.append(buffer[:n].copy())
        at = next_at
    return np.concatenate(found) if found else buffer[:0], counts


class _Keeper:
    """Collects rows, and keeps the sample down to its size."""

    def __init__(self, targets: Targets, max_per_word: int | None, seed: int, shared: bool = False) -> None:
        self.found = np.zeros(len(targets.words), np.int64)
        self._targets = targets
        self._most = None if max_per_word is None else _checks.positive(max_per_word, "max_per_word")
        self._seed = seed
        self._of_words = sample.word_keys(seed, targets.words) if shared else None
        self._limits = np.full(len(targets.words), np.iinfo(np.uint64).max, np.uint64)
        self._batches: list[pa.RecordBatch] = []
        self._rows = 0
        # The target of a number that stands for nothing else; -1 where the text decides.
        self._simple = np.array(
            [c[0].target if len(c) == 1 and c[0].form is None else -1 for c in targets.candidates], np.int64
        )

    def enter_file(self, name: str) -> None:
        """The following blocks are of this file."""
        self._file = name
        if self._of_words is not None:
            self._file_key = sample.place_key(self._seed, name, "")
            self._keys = sample.file_keys(self._file_key, self._of_words)
        else:
            words = self._targets.words
            self._keys = np.array([sample.place_key(self._seed, name, word) for word in words], np.uint64)

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
        self._rows += len(rows)
        if self._most is not None and self._rows > 1.5 * self._most * len(self.found) + _SLACK:
            self._cut()

    def _hashes(self, targets: Array, lines: Array, positions: Array) -> sample.Priorities:
        keys = self._keys[targets]
        if self._of_words is None:
            return sample.priorities(keys, lines, positions)
        return sample.shared_priorities(self._file_key, keys, targets, lines, positions)

    def _resolve(self, block: Block, hits: Array) -> Array:
        """The hits that are occurrences, (n, 6) with the target in place of the number."""
        targets = self._simple[hits[:, 0]] if len(hits) else hits[:, 0]
        if len(targets) and targets.min() >= 0:
            rows = hits.copy()
            rows[:, 0] = targets
            return rows
        resolved = []
        taken: dict[int, int] = {}  # for each target, where its last occurrence ends
        for number, index, line_start, line_end, start, end in hits.tolist():
            for target, stop in self._matches(number, block.data, start, end).items():
                if start >= taken.get(target, 0):  # two forms of a word may overlap: the first is it
                    taken[target] = stop
                    resolved.append((target, index, line_start, line_end, start, stop))
        return np.array(resolved, np.int64).reshape(-1, 6)

    def _matches(self, number: int, data: bytes, start: int, end: int) -> dict[int, int]:
        """The targets that a hit is, and where the longest form of each ends."""
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
        simple = np.array([_is_a_sentence(line) for line in lines])[line_of]
        texts = pa.array([line.decode() for line in lines], pa.string()).take(line_of)
        if simple.all():
            return texts, starts, ends
        some, starts[~simple], ends[~simple] = self._parts_of_lines(block, rows[~simple], language, tally)
        return pc.replace_with_mask(texts, ~simple, some), starts, ends

    def _parts_of_lines(self, block: Block, rows: Array, language: str, tally: Tally) -> tuple[pa.Array, Array, Array]:
        """The same where a sentence is a part of a line, or its characters are not its bytes."""
        sentences, starts, ends = [], [], []
        data = block.data
        at, passage, characters, counted = -1, None, 0, 0
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
            sentences.append(sentence)
            starts.append(first)
            ends.append(last)
        return pa.array(sentences, pa.string()), np.array(starts, np.int64), np.array(ends, np.int64)

    def _cut(self) -> None:
        """Keep the smallest hashes of each target, and take nothing above them from now on."""
        assert self._most is not None
        table = pa.Table.from_batches(self._batches, SCHEMA).unify_dictionaries().combine_chunks()
        targets = table["target"].to_numpy()
        table = table.take(sample.smallest(targets, table["priority"].to_numpy(), self._most))
        targets, hashes = table["target"].to_numpy(), table["priority"].to_numpy()
        most = np.zeros(len(self.found), np.uint64)
        np.maximum.at(most, targets, hashes)
        full = np.bincount(targets, minlength=len(self.found)) == self._most
        self._limits[full] = most[full]
        self._batches, self._rows = table.to_batches(), len(table)

    def rows(self) -> pa.Table:
        """All rows, ordered by target and place."""
        if self._most is not None and self._batches:
            self._cut()
        return merged([pa.Table.from_batches(self._batches, SCHEMA)], None)

    def finish(self, tally: Tally) -> pa.Table:
        """The same, and how many occurrences are not among them is told."""
        _tell_left_out(self.found, self._most, tally)
        return self.rows()


def _is_a_sentence(line: bytes) -> bool:
    """Whether a line is a sentence as it stands: not too long, ASCII, and nothing to strip."""
    return len(line) <= LONGEST and line.isascii() and line[0] > _SPACE and line[-1] > _SPACE


def _tell_left_out(found: Array, max_per_word: int | None, tally: Tally) -> None:
    left = 0 if max_per_word is None else int(np.maximum(found - max_per_word, 0).sum())
    if left:
        tally.skipped[f"occurrences beyond {max_per_word} for a word"] += left

"""The vectors of a run while it goes on: pieces of work, each a file that appears whole or not at all."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from lexshift.encode import Encoder
from lexshift.encode.protocol import optional_attribute
from lexshift.errors import UserError
from lexshift.store.format import first_difference
from lexshift.store.siblings import OCCURRENCES, PLAN, VECTORS, Siblings, raw
from lexshift.store.validation import MOST_BYTES, check_plan
from lexshift.utils.arrays import Array, Indices, Matrix
from lexshift.utils.files import disk_faults, final_name, open_plain, read_json, sync_folder, write_whole
from lexshift.utils.monitor import Monitor

_CHARACTERS = 1 << 17  # of the sentences of a shard
_DIGEST = hashlib.sha256().digest_size
_OFFSET = 1 << 32  # more than the end of any span, which is a number of 32 bits
_NAMES = re.compile(rf"\d{{6,}}\.shard|({re.escape(VECTORS)}|{re.escape(OCCURRENCES)})\.[0-9a-f]{{16}}")


@dataclass(frozen=True)
class Work:
    """What there is to encode: each distinct word in each distinct sentence once, sentences of like length together.

    Attributes
    ----------
    sentences : pyarrow array of distinct sentences
    lengths : (sentences,)
        Their characters.
    sentence, start, end : (n,)
        The distinct words in sentences: those to encode, in their order.
    period : (n,), optional
        The number of the period of each, for an encoder that tells periods apart.
    row_of : (rows,)
        For each row of the store its place: in the old store if it is below ``reused``, else there plus its place here.
    reused : int
        Rows of the old store.
    cuts : (shards + 1,)
        Where shards begin and end.
    store : Siblings, optional
        Has the vectors that need not be encoded again.
    """

    sentences: pa.Array
    lengths: Array
    sentence: Array
    start: Array
    end: Array
    period: Array | None
    row_of: Indices
    reused: int
    cuts: list[int]
    store: Siblings | None

    def __len__(self) -> int:
        return len(self.sentence)

    @classmethod
    def plan(cls, table: pa.Table, store: Siblings | None, periods: Mapping[str, int] | None = None) -> Work:
        """Find what is to be encoded for the rows of a table, and in which order.

        ``periods`` has the number of each corpus's period, if vectors depend on it.
        """
        encoded = table["sentence"].combine_chunks().dictionary_encode()
        sentences = encoded.dictionary
        numbers = encoded.indices.to_numpy().astype(np.int64)
        starts, ends = (table[name].to_numpy().astype(np.int64) for name in ("start", "end"))
        period = _periods(table, periods)
        keys = np.stack([numbers, starts * _OFFSET + ends, period], axis=1)
        distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
        inverse = inverse.reshape(-1)
        sentence, start, end = distinct[:, 0], distinct[:, 1] // _OFFSET, distinct[:, 1] % _OFFSET
        period = distinct[:, 2]

        texts = sentences.to_pylist()
        lengths = np.array([len(text) for text in texts], np.int64)
        place = np.full(len(distinct), -1, np.int64)
        reused = 0
        if store is not None:
            reused = int(store.index["rows"])
            known = _known(store, periods)
            for i, key in enumerate(zip(*(part.tolist() for part in (sentence, start, end, period)), strict=True)):
                place[i] = known.get((texts[key[0]], *key[1:]), -1)
        todo = np.flatnonzero(place < 0)
        todo = todo[np.lexsort((period[todo], start[todo], sentence[todo], lengths[sentence[todo]]))]
        place[todo] = reused + np.arange(len(todo))
        cuts = _cuts(sentence[todo], lengths)
        which = (sentence[todo], start[todo], end[todo], None if periods is None else period[todo])
        return cls(sentences, lengths, *which, place[inverse], reused, cuts, store)

    def rows(self, which: Sequence[int] | Array) -> tuple[list[str], list[tuple[int, int]]]:
        """Sentences and spans of some of the work."""
        chosen = np.asarray(which)
        sentences = self.sentences.take(pa.array(self.sentence[chosen])).to_pylist()
        return sentences, list(zip(self.start[chosen].tolist(), self.end[chosen].tolist(), strict=True))

    def told(self, which: Sequence[int] | Array) -> dict[str, list[int]]:
        """What else an encoder is told of some of the work: periods, if it tells them apart."""
        return {} if self.period is None else {"periods": self.period[np.asarray(which)].tolist()}

    def piece(self, number: int) -> Piece:
        """Return a shard as it is given to an encoder."""
        rows = range(self.cuts[number], self.cuts[number + 1])
        return Piece(number, *self.rows(rows), self.told(rows))

    @cached_property
    def digests(self) -> list[bytes]:
        """Digest of the sentences, spans and periods of each shard: what its vectors are made from."""
        pieces = map(self.piece, range(len(self.cuts) - 1))
        return [hashlib.sha256(json.dumps(piece[1:]).encode()).digest() for piece in pieces]

    @property
    def digest(self) -> str:
        """Digest of all shards."""
        return hashlib.sha256(b"".join(self.digests)).hexdigest()


def _periods(table: pa.Table, periods: Mapping[str, int] | None) -> Array:
    """The number of the period of each row, 0 if that does not matter."""
    if periods is None:
        return np.zeros(len(table), np.int64)
    return np.array([periods[label] for label in table["corpus"].to_pylist()], np.int64)


def _known(store: Siblings, periods: Mapping[str, int] | None) -> dict[tuple[str, int, int, int], int]:
    table = store.occurrences
    columns = [table[name].to_pylist() for name in ("sentence", "start", "end")]
    keys = zip(*columns, _periods(table, periods).tolist(), strict=True)
    return {key: row for row, key in enumerate(keys)}


def _cuts(sentence: Array, lengths: Array) -> list[int]:
    """Cut before a new sentence, once the shard has its share of characters."""
    cuts, size = [0], 0
    for i in range(len(sentence)):
        if i == 0 or sentence[i] != sentence[i - 1]:
            if size >= _CHARACTERS:
                cuts.append(i)
                size = 0
            size += int(lengths[sentence[i]])
    return [*cuts, len(sentence)] if len(sentence) else [0]


class Piece(NamedTuple):
    """A shard to encode: its number, its sentences with a word each, where the word is, and what else is told."""

    number: int
    sentences: list[str]
    spans: list[tuple[int, int]]
    told: dict[str, list[int]]


class Encoded(NamedTuple):
    """The vectors of a shard, (rows, d), and for each row whether its sentence was truncated, (rows,)."""

    vectors: Matrix
    truncated: Array


class Marks(NamedTuple):
    """What is known of all vectors, in the order of places: which are missing, and which sentences were truncated."""

    lost: Array
    truncated: Array


Encode: TypeAlias = Callable[[Iterable[Piece], Callable[[int, float], None]], Iterator[tuple[int, Encoded]]]
"""Gives the vectors of shards with their numbers, in any order; told on the way how much of a shard is done."""


class Shards:
    """The files of a run that is not finished."""

    def __init__(self, folder: Path, work: Work, precision: str, plan: dict[str, Any]) -> None:
        self.folder = folder
        self.work = work
        self.plan = plan
        self.dtype = np.dtype(precision)

    def __len__(self) -> int:
        return len(self.work.cuts) - 1

    def begin(self) -> None:
        """Say what this work is for, or find that it was begun before; work for something else is not touched."""
        begun = read_plan(self.folder)
        if begun is None:
            with disk_faults(self.folder.parent):
                self.folder.mkdir(exist_ok=True)
                write_whole(self.folder / PLAN, lambda file: file.write(json.dumps(self.plan, indent=1).encode()))
            return
        if any(begun[key] != self.plan[key] for key in ("fingerprint", "added to")):
            why = first_difference(begun["settings"], self.plan["settings"]) or (
                "other words" if begun["words"] != self.plan["words"] else "other corpora"
            )
            raise UserError(
                f"{str(self.folder)!r} holds the unfinished work of a run with {why}: finish that run with its own "
                f"command, or delete that folder"
            )
        if begun["work"] != self.plan["work"]:
            raise UserError(
                f"{str(self.folder)!r} holds the unfinished work of a run that cut these corpora into other sentences, "
                f"as another version of lexshift or of its sentence splitter does: finish it with that version, or "
                f"delete that folder and run again"
            )

    def path(self, number: int) -> Path:
        """The file of a shard."""
        return self.folder / f"{number:06d}.shard"

    def encode(self, encode: Encode, monitor: Monitor) -> None:
        """Encode every shard that is not there yet."""
        characters, sentences = self._sizes()
        monitor.stage("encoding", int(sum(characters)), "sentences")
        there = [self.path(number).exists() for number in range(len(self))]
        done = sum(n for n, is_there in zip(characters, there, strict=True) if is_there)
        items = sum(n for n, is_there in zip(sentences, there, strict=True) if is_there)
        dimensions = self.work.store.index["dimensions"] if self.work.store is not None else None
        for number in np.flatnonzero(there).tolist():
            dimensions = _refuse_other_size(self.read(number).vectors, dimensions)
        monitor.advance(done, items)

        def advance(number: int, share: float) -> None:
            monitor.advance(done + int(share * characters[number]), items + int(share * sentences[number]))

        pieces = (self.work.piece(number) for number in np.flatnonzero(~np.array(there, bool)).tolist())
        for number, given in encode(pieces, advance):
            vectors = self._stored(given.vectors)
            dimensions = _refuse_other_size(vectors, dimensions)
            self._write(number, Encoded(vectors, given.truncated))
            done += characters[number]
            items += sentences[number]
            monitor.advance(done, items)

    def sample(self, n: int) -> tuple[Indices, Matrix]:
        """Return the first row of up to ``n`` finished shards: its place in the work, and its vector."""
        done = [number for number in range(len(self)) if self.path(number).exists()]
        chosen = [done[i] for i in np.unique(np.linspace(0, len(done) - 1, n).astype(int))] if done else []
        vectors = [self.read(number).vectors[0] for number in chosen]
        return np.array([self.work.cuts[number] for number in chosen], np.int64), np.array(vectors)

    def left(self) -> tuple[int, int]:
        """Characters and sentences of the shards that are not there yet."""
        characters, sentences = self._sizes()
        left = [number for number in range(len(self)) if not self.path(number).exists()]
        return sum(characters[number] for number in left), sum(sentences[number] for number in left)

    def _stored(self, vectors: Matrix) -> Matrix:
        """Vectors in the precision of the store."""
        with np.errstate(over="ignore"):
            narrow = np.ascontiguousarray(vectors, self.dtype)
        if np.isinf(narrow).any():
            raise UserError(
                f"the encoder gives values too large for {self.dtype.name}; keep them in float32 (--precision)"
            )
        return narrow

    def _write(self, number: int, shard: Encoded) -> None:
        data = (raw(shard.vectors), raw(shard.truncated))
        with disk_faults(self.folder):
            write_whole(self.path(number), lambda file: file.writelines((*data, self._digest(number, *data))))

    def _digest(self, number: int, *data: memoryview) -> bytes:
        """Of the vectors and of the work that they belong to."""
        of = f"{self.plan['fingerprint']} {self.plan['added to']} {number}\n"
        digest = hashlib.sha256(of.encode() + self.work.digests[number])
        for part in data:
            digest.update(part)
        return digest.digest()

    def _sizes(self) -> tuple[list[int], list[int]]:
        """Characters and sentences of each shard."""
        characters, sentences = [], []
        for begin, end in pairwise(self.work.cuts):
            numbers = np.unique(self.work.sentence[begin:end])
            characters.append(int(self.work.lengths[numbers].sum()))
            sentences.append(len(numbers))
        return characters, sentences

    def read(self, number: int) -> Encoded:
        """The vectors of a shard, (rows, d), once they are known to be what was written."""
        path = self.path(number)
        try:
            data = self._map(number)
        except ValueError:  # no plain file
            data = None
        if data is None or self._digest(number, data[:-_DIGEST]) != data[-_DIGEST:]:
            raise UserError(
                f"the shard {str(path)!r} is damaged: delete it and run the same command again to make it anew"
            )
        rows = self.work.cuts[number + 1] - self.work.cuts[number]
        return Encoded(self._vectors(data, rows), np.frombuffer(data[-_DIGEST - rows : -_DIGEST], bool))

    def _map(self, number: int) -> memoryview | None:
        """Map a shard into memory, if it has a possible size; its file is closed again when the result is gone."""
        rows = self.work.cuts[number + 1] - self.work.cuts[number]
        with open_plain(self.path(number)) as file:
            size = os.fstat(file.fileno()).st_size - _DIGEST - rows
            if size <= 0 or size % (rows * self.dtype.itemsize):
                return None
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def _vectors(self, data: memoryview, rows: int) -> Matrix:
        return np.frombuffer(data[: -_DIGEST - rows], self.dtype).reshape(rows, -1)

    def check(self) -> Marks:
        """Compare all vectors with their checksums: those of the old store, then those of the shards."""
        lost, truncated = [np.empty(0, bool)], [np.empty(0, bool)]
        if self.work.store is not None:
            self.work.store.check()
            lost.append(np.zeros(self.work.reused, bool))
            truncated.append(self.work.store.truncated)
        for number in range(len(self)):
            shard = self.read(number)
            lost.append(np.isnan(shard.vectors[:, 0]))  # a row has no NaN, or nothing else
            truncated.append(np.array(shard.truncated))
        return Marks(np.concatenate(lost), np.concatenate(truncated))

    @property
    def dimensions(self) -> int:
        """Dimensions of the vectors, 0 if there are none."""
        if len(self):
            return self.read(0).vectors.shape[1]
        return 0 if self.work.store is None else self.work.store.index["dimensions"]

    def gather(self, places: Indices, into: Matrix) -> None:
        """Copy the vectors at some places into the rows of an array, (places, d), with one shard open at a time."""
        order = np.argsort(places, kind="stable")
        wanted = places[order]
        edges = np.concatenate([[0], self.work.reused + np.array(self.work.cuts, np.int64)])  # old store, then shards
        splits = np.searchsorted(wanted, edges)
        for part in np.flatnonzero(np.diff(splits)).tolist():
            here = slice(splits[part], splits[part + 1])
            into[order[here]] = self._part(part)[wanted[here] - edges[part]]

    def _part(self, part: int) -> Matrix:
        """Return the vectors of the old store, which is part 0, or of a shard, once :meth:`check` has read it."""
        if part == 0:
            assert self.work.store is not None
            return self.work.store.vectors
        data = self._map(part - 1)
        assert data is not None
        return self._vectors(data, self.work.cuts[part] - self.work.cuts[part - 1])


def read_plan(folder: Path) -> dict[str, Any] | None:
    """Return the plan of the unfinished work in a folder, or None if it holds none of ours."""
    if not os.path.lexists(folder):
        return None
    if folder.is_symlink() or not folder.is_dir():
        raise UserError(f"{str(folder)!r} would be a folder of lexshift, but is something else; move it away")
    path = folder / PLAN
    if not os.path.lexists(path):
        if any(map(_NAMES.fullmatch, os.listdir(folder))):
            raise UserError(f"{str(folder)!r} holds shards without their {PLAN}: move it away or delete it")
        return None
    try:
        plan = read_json(path, MOST_BYTES)
        check_plan(plan)
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise UserError(
            f"{str(path)!r} is damaged, or not from lexshift: move {str(folder)!r} away or delete it, and run again"
        ) from None
    return plan


def remove_work(folder: Path) -> None:
    """Delete the files of a finished run, its plan last, and their folder unless it holds other files too."""
    for name in os.listdir(folder):
        if _is_ours(name):
            os.unlink(folder / name)
    sync_folder(folder)
    if os.path.lexists(folder / PLAN):
        os.unlink(folder / PLAN)
    with suppress(OSError):
        folder.rmdir()


def _is_ours(name: str) -> bool:
    """Return whether a name in the folder of unfinished work is of a file of ours, but not the plan itself."""
    final = final_name(name)
    return _NAMES.fullmatch(final) is not None or (final == PLAN != name)


def _refuse_other_size(vectors: Matrix, dimensions: int | None) -> int:
    if dimensions is not None and vectors.shape[1] != dimensions:
        raise UserError(f"the encoder gives vectors of {vectors.shape[1]} dimensions, and gave {dimensions} before")
    return vectors.shape[1]


def encode_with(encoder: Encoder) -> Encode:
    """Encode one shard after another, in this process."""

    def encode(pieces: Iterable[Piece], advance: Callable[[int, float], None]) -> Iterator[tuple[int, Encoded]]:
        for piece in pieces:
            yield piece.number, encoded(encoder, piece, partial(advance, piece.number))

    return encode


def encoded(encoder: Encoder, piece: Piece, advance: Callable[[float], None]) -> Encoded:
    """The vectors of a shard, (rows, d)."""
    tells: dict[str, Any] = {}  # an encoder need not know how far it is, nor which sentences are too long for it
    truncated = np.zeros(len(piece.sentences), bool)
    if optional_attribute(encoder, "reports_progress"):
        tells["advance"] = advance
    if optional_attribute(encoder, "marks_truncated"):
        tells["truncated"] = truncated
    vectors = np.asarray(encoder.encode(piece.sentences, piece.spans, **tells, **piece.told))
    if vectors.ndim != 2 or len(vectors) != len(piece.sentences) or vectors.dtype.kind != "f":
        raise UserError(
            f"the encoder gave an array of {vectors.dtype} of shape {vectors.shape} for {len(piece.sentences)} words; "
            f"it must give one row of floats for each"
        )
    if not vectors.shape[1]:
        raise UserError("the encoder gave vectors of zero dimensions; it must give at least one number for each word")
    if np.isinf(vectors).any():
        raise UserError("the encoder gave infinite values; use a wider dtype, such as fp32 (--dtype)")
    missing = np.isnan(vectors)
    partly = np.flatnonzero(missing.any(1) & ~missing.all(1))
    if len(partly):
        start, end = piece.spans[partly[0]]
        word = piece.sentences[partly[0]][start:end]
        raise UserError(
            f"the encoder gave NaN among the values of {len(partly)} of {len(vectors)} vectors, first for "
            f"{word!r}; check its weights, or use a wider dtype, such as fp32 (--dtype)"
        )
    return Encoded(vectors, truncated)

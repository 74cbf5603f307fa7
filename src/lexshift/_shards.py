"""The vectors of a run while it goes on: pieces of work, each a file that appears whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from lexshift._files import disk_faults, write_whole
from lexshift._settings import first_difference
from lexshift._typing import Array, Indices, Matrix
from lexshift.encode import Encoder
from lexshift.errors import UserError
from lexshift.monitor import Monitor
from lexshift.siblings import Siblings, raw

_CHARACTERS = 1 << 17  # of the sentences of a shard
_DIGEST = hashlib.sha256().digest_size
_OFFSET = 1 << 20  # more than the end of any span


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


Encode: TypeAlias = Callable[[Iterable[Piece], Callable[[int, float], None]], Iterator[tuple[int, Matrix]]]
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
        path = self.folder / "plan.json"
        if not path.exists():
            with disk_faults(self.folder):
                self.folder.mkdir(exist_ok=True)
                write_whole(path, lambda file: file.write(json.dumps(self.plan, indent=1).encode()))
            return
        try:
            begun = json.loads(path.read_bytes())
            differs = any(begun[key] != self.plan[key] for key in ("fingerprint", "added to"))
            why = first_difference(begun["settings"], self.plan["settings"]) or (
                "other words" if begun["words"] != self.plan["words"] else "other corpora"
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UserError(f"{str(path)!r} is damaged: delete {str(self.folder)!r} and run again") from None
        if differs:
            raise UserError(
                f"{str(self.folder)!r} holds the unfinished work of a run with {why}: finish that run with its own "
                f"command, or delete that folder"
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
            dimensions = _refuse_other_size(self.read(number), dimensions)
        monitor.advance(done, items)

        def advance(number: int, share: float) -> None:
            monitor.advance(done + int(share * characters[number]), items + int(share * sentences[number]))

        pieces = (self._piece(number) for number in np.flatnonzero(~np.array(there, bool)).tolist())
        for number, given in encode(pieces, advance):
            vectors = self._stored(given)
            dimensions = _refuse_other_size(vectors, dimensions)
            self._write(number, vectors)
            done += characters[number]
            items += sentences[number]
            monitor.advance(done, items)

    def _piece(self, number: int) -> Piece:
        rows = range(self.work.cuts[number], self.work.cuts[number + 1])
        return Piece(number, *self.work.rows(rows), self.work.told(rows))

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

    def _write(self, number: int, vectors: Matrix) -> None:
        data = raw(vectors)
        with disk_faults(self.folder):
            write_whole(self.path(number), lambda file: file.writelines((data, self._digest(number, data))))

    def _digest(self, number: int, data: memoryview) -> bytes:
        """Of the vectors and of the work that they belong to."""
        of = f"{self.plan['fingerprint']} {self.plan['added to']} {number}\n"
        return hashlib.sha256(of.encode() + data).digest()

    def _sizes(self) -> tuple[list[int], list[int]]:
        """Characters and sentences of each shard."""
        characters, sentences = [], []
        for begin, end in pairwise(self.work.cuts):
            numbers = np.unique(self.work.sentence[begin:end])
            characters.append(int(self.work.lengths[numbers].sum()))
            sentences.append(len(numbers))
        return characters, sentences

    def read(self, number: int) -> Matrix:
        """The vectors of a shard, (rows, d), once they are known to be what was written."""
        begin, end = self.work.cuts[number : number + 2]
        path = self.path(number)
        size = path.stat().st_size - _DIGEST
        row = (end - begin) * self.dtype.itemsize
        if size > 0 and size % row == 0:
            data = np.memmap(path, np.uint8, "r")
            if self._digest(number, raw(data[:size])) == data[size:].tobytes():
                return data[:size].view(self.dtype).reshape(end - begin, -1)
        raise UserError(f"the shard {str(path)!r} is damaged: delete it and run the same command again to make it anew")

    def parts(self) -> list[Matrix]:
        """All vectors there are, in the order of places: those of the old store, then those of the shards."""
        old = []
        if self.work.store is not None:
            self.work.store.check()
            old = [self.work.store.vectors]
        return old + [self.read(number) for number in range(len(self))]


def begun_for(folder: Path) -> str | None:
    """The fingerprint of the store that unfinished work is for."""
    try:
        return json.loads((folder / "plan.json").read_bytes())["fingerprint"]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remove_work(folder: Path) -> None:
    """Delete the files of a run; what an earlier call could not is deleted too."""
    trash = folder.with_name("finished")
    shutil.rmtree(trash, ignore_errors=True)
    if folder.is_dir():
        os.replace(folder, trash)
        shutil.rmtree(trash)


def _refuse_other_size(vectors: Matrix, dimensions: int | None) -> int:
    if dimensions is not None and vectors.shape[1] != dimensions:
        raise UserError(f"the encoder gives vectors of {vectors.shape[1]} dimensions, and gave {dimensions} before")
    return vectors.shape[1]


def encode_with(encoder: Encoder) -> Encode:
    """Encode one shard after another, in this process."""

    def encode(pieces: Iterable[Piece], advance: Callable[[int, float], None]) -> Iterator[tuple[int, Matrix]]:
        for piece in pieces:
            yield piece.number, encoded(encoder, piece, partial(advance, piece.number))

    return encode


def encoded(encoder: Encoder, piece: Piece, advance: Callable[[float], None]) -> Matrix:
    """The vectors of a shard, (rows, d)."""
    tells = {"advance": advance} if getattr(encoder, "tells", False) else {}  # an encoder need not know how far it is
    vectors = np.asarray(encoder.encode(piece.sentences, piece.spans, **tells, **piece.told))
    if vectors.ndim != 2 or len(vectors) != len(piece.sentences) or vectors.dtype.kind != "f":
        raise UserError(
            f"the encoder gave an array of {vectors.dtype} of shape {vectors.shape} for {len(piece.sentences)} words; "
            f"it must give one row of floats for each"
        )
    if np.isinf(vectors).any():
        raise UserError("the encoder gave infinite values; use a wider dtype, such as fp32 (--dtype)")
    return vectors

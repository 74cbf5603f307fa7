"""The store of sibling embeddings: every occurrence of every word, and its vector.

A store is a folder with three files. ``occurrences.parquet`` has a row for each occurrence (word, corpus, file, line,
date, sentence, start, end); ``vectors.npy`` has its vector in the same row; ``store.json`` says what shaped them, where
each word's rows of each corpus are, and the checksums of all of it. The rows of a word in a corpus lie together, so
they are read from the mapped file without a copy. A store is checked when it is opened, and a word's vectors when they
are first read.
"""

from __future__ import annotations

import copy
import hashlib
import json
import mmap
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.errors import UserError
from lexshift.store.format import FORMAT
from lexshift.store.validation import MOST_BYTES, check_index
from lexshift.utils.arrays import Array, Matrix
from lexshift.utils.files import open_plain, read_json

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

INDEX, OCCURRENCES, VECTORS, UNFINISHED = "store.json", "occurrences.parquet", "vectors.npy", "unfinished"
PLAN = "plan.json"  # in the folder of unfinished work
_COLUMNS = ("word", "corpus", "file", "line", "date", "sentence", "start", "end")
_SHOWN = 40  # characters of a value that is not as it should be
_TRIES = 3  # before a file that is not as the index says counts as damaged


class Siblings(Mapping[str, "WordSiblings"]):
    """An opened store: a mapping of words to their sibling embeddings.

    Parameters
    ----------
    path : str or path
        The folder.

    Attributes
    ----------
    words, corpora : list of str
        The target words, and the labels of the corpora: those of the call that made this object, in the order in which
        they were given, or all corpora of the store in the order in which they were added.
    settings : dict
        All that shaped the vectors.
    fingerprint : str
        Of the settings, the words and the content of the corpora.
    skipped : dict
        What was skipped or altered, by corpus and reason.

    Examples
    --------
    >>> from lexshift import Siblings, UserError
    >>> try:
    ...     Siblings("no/such/store")
    ... except UserError as error:
    ...     print(error)
    the store 'no/such/store' is not there.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.index, self._vectors, self._table = _opened(self.path)
        self.words: list[str] = [entry["word"] for entry in self.index["words"]]
        self._columns = {entry["label"]: i for i, entry in enumerate(self.index["corpora"])}
        self.corpora: list[str] = list(self._columns)
        self.settings: dict[str, Any] = self.index["settings"]
        self.fingerprint: str = self.index["fingerprint"]
        self.skipped: dict[str, dict[str, int]] = {c["label"]: c["skipped"] for c in self.index["corpora"]}
        self._entries = {entry["word"]: entry for entry in self.index["words"]}
        self._checked: set[tuple[str, str]] = set()

    def __getitem__(self, word: str) -> WordSiblings:
        if word not in self._entries:
            raise KeyError(f"the store {str(self.path)!r} has no word {word!r}")
        return WordSiblings(self, word)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        rows, dimensions = self.index["rows"], self.index["dimensions"]
        return f"Siblings({str(self.path)!r}: {len(self)} words, {rows} vectors of {dimensions} dimensions)"

    def select(self, corpora: Sequence[str]) -> Siblings:
        """Return the same store with these corpora only, in this order.

        Parameters
        ----------
        corpora : sequence of str
            Labels of corpora of the store.
        """
        chosen = copy.copy(self)
        chosen.corpora = [self.corpus(label)["label"] for label in corpora]
        chosen.skipped = {label: self.corpus(label)["skipped"] for label in corpora}
        return chosen

    def corpus(self, label: str) -> dict[str, Any]:
        """Return what the store records of a corpus: its content, sizes, and what was skipped."""
        return self.index["corpora"][self._column(label)]

    def _column(self, label: str) -> int:
        if label not in self._columns:
            raise KeyError(f"the store {str(self.path)!r} has no corpus {label!r}; it has {', '.join(self._columns)}")
        return self._columns[label]

    @property
    def vectors(self) -> Matrix:
        """All vectors, (rows, d), mapped read-only; :meth:`check` compares them with their checksums."""
        return self._vectors

    @cached_property
    def occurrences(self) -> pa.Table:
        """A row for each vector: word, corpus, file, line, date, sentence, start, end.

        If some sentences were longer than the model's window, a column ``truncated`` tells which.
        """
        import pyarrow as pa
        from pyarrow import parquet

        try:
            table = parquet.read_table(self._table)
        except pa.ArrowException:
            raise _damaged(self.path / OCCURRENCES) from None
        if len(table) != self.index["rows"] or not set(_COLUMNS) <= set(table.column_names):
            raise _damaged(self.path / OCCURRENCES)
        return table

    @property
    def truncated(self) -> Array:
        """Whether only a part of the sentence of each vector, around the word, fitted the model's window, (rows,)."""
        table = self.occurrences
        if "truncated" not in table.column_names:
            return np.zeros(len(table), bool)
        return table["truncated"].to_numpy()

    @property
    def counts(self) -> pd.DataFrame:
        """How many vectors each word has in each corpus."""
        import pandas as pd

        columns = [self._column(label) for label in self.corpora]
        ends = ([entry["rows"][column] for column in columns] for entry in self.index["words"])
        rows = [[end - begin for begin, end in row] for row in ends]
        return pd.DataFrame(rows, index=pd.Index(self.words, name="word"), columns=self.corpora)

    def rows(self, word: str, corpus: str) -> tuple[int, int]:
        """First row and last + 1 of a word in a corpus."""
        begin, end = self._entries[word]["rows"][self._column(corpus)]
        return begin, end

    def found(self, word: str, corpus: str) -> int:
        """How often a word occurs in a corpus, of which some may have no vector; 0 if the store has no such word."""
        return int(self._entries[word]["found"][self._column(corpus)]) if word in self._entries else 0

    def group(self, word: str, corpus: str) -> Matrix:
        """The vectors of a word in a corpus, (n, d), without a copy, checked when they are first read."""
        begin, end = self.rows(word, corpus)
        vectors = self.vectors[begin:end]
        if (word, corpus) not in self._checked:
            if checksum(vectors) != self._entries[word]["checksums"][self._column(corpus)]:
                where = f"rows {begin} to {end - 1} of {str(self.path / VECTORS)!r}"
                raise UserError(
                    f"the vectors of {word!r} in {corpus!r} ({where}) are not what was written: the file is damaged, "
                    f"make the store again"
                )
            self._checked.add((word, corpus))
        return vectors

    def check(self) -> None:
        """Read every byte and compare it with its checksum; raises UserError at the first that differs."""
        _check_table(self.path, self._table, self.index)
        self._checked.clear()
        for word in self.words:
            for corpus in self._columns:
                self.group(word, corpus)


class WordSiblings:
    """The sibling embeddings of one word."""

    def __init__(self, store: Siblings, word: str) -> None:
        self._store = store
        self.word = word

    def __getitem__(self, corpus: str) -> Matrix:
        """The vectors in a corpus, (n, d)."""
        return self._store.group(self.word, corpus)

    @property
    def old(self) -> Matrix:
        """The vectors in the first corpus, (n, d)."""
        return self[self._store.corpora[0]]

    @property
    def new(self) -> Matrix:
        """The vectors in the last corpus, (n, d)."""
        return self[self._store.corpora[-1]]

    def occurrences(self, corpus: str) -> pd.DataFrame:
        """Where the vectors of a corpus come from: file, line, date, sentence, start, end."""
        begin, end = self._store.rows(self.word, corpus)
        return self._store.occurrences.slice(begin, end - begin).drop_columns(["word", "corpus"]).to_pandas()

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(self[corpus])} in {corpus}" for corpus in self._store.corpora)
        return f"WordSiblings({self.word!r}: {counts})"


def checksum(vectors: Matrix) -> int:
    """CRC-32 of rows that lie together."""
    return zlib.crc32(raw(vectors))


def raw(array: Matrix) -> memoryview:
    """The bytes of an array whose rows lie together, without a copy."""
    return array.reshape(-1).view(np.uint8).data


def seal(index: dict[str, Any]) -> bytes:
    """The index as the bytes of its file, with a checksum of its own."""
    body = {key: value for key, value in index.items() if key != "sha256"}
    sealed = {**body, "sha256": _seal_of(index)}
    return (json.dumps(sealed, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _seal_of(index: dict[str, Any]) -> str:
    body = {key: value for key, value in index.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def pending(folder: Path, name: str, fingerprint: str) -> Path:
    """Where a file of a store is until the store has become the new one: with the unfinished work."""
    return folder / UNFINISHED / f"{name}.{fingerprint[:16]}"


def _opened(folder: Path) -> tuple[dict[str, Any], Matrix, pa.Buffer]:
    """The index of a store, its vectors and its table, all of one moment, though a run may be adding to it."""
    tries = 0
    while True:
        stamp = _stamp(folder)
        index = read_index(folder)
        try:
            vectors, table = _map_vectors(folder, index), _map_table(folder, index)
        except UserError:  # or a run has put new files in place just now: then the next look finds them
            tries += 1
            if tries == _TRIES:
                raise
            continue
        if _stamp(folder) == stamp:
            return index, vectors, table


def _stamp(folder: Path) -> tuple[int, int, int] | None:
    """Return what tells whether the index was replaced."""
    try:
        status = os.stat(folder / INDEX)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _map_vectors(folder: Path, index: dict[str, Any]) -> Matrix:
    data = _map(folder, VECTORS, index)
    head = index["files"][VECTORS]["head"]
    if hashlib.sha256(data[:head]).hexdigest() != index["files"][VECTORS]["sha256"]:
        raise _damaged(folder / VECTORS)
    return np.frombuffer(data[head:], index["dtype"]).reshape(index["rows"], index["dimensions"])


def _map_table(folder: Path, index: dict[str, Any]) -> pa.Buffer:
    import pyarrow as pa

    table = pa.py_buffer(_map(folder, OCCURRENCES, index))
    _check_table(folder, table, index)
    return table


def _check_table(folder: Path, table: pa.Buffer, index: dict[str, Any]) -> None:
    if hashlib.sha256(table).hexdigest() != index["files"][OCCURRENCES]["sha256"]:
        raise _damaged(folder / OCCURRENCES)


def _map(folder: Path, name: str, index: dict[str, Any]) -> memoryview:
    """The bytes of a file, which stay what they are if another file takes its name."""
    path = pending(folder, name, index["fingerprint"])
    if not path.exists():
        path = folder / name
    try:
        file = open_plain(path)
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except ValueError:
        raise _damaged(path) from None
    with file:
        size, expected = os.fstat(file.fileno()).st_size, index["files"][name]["size"]
        if size != expected:
            raise UserError(
                f"{str(path)!r} has {size} bytes instead of {expected}: the file is damaged, make the store again"
            )
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _damaged(path: Path) -> UserError:
    return UserError(f"{str(path)!r} is not what was written: the file is damaged, make the store again")


def read_index(folder: Path) -> dict[str, Any]:
    """What ``store.json`` says, once it is known to be what was written."""
    path = folder / INDEX
    try:
        index = read_json(path, MOST_BYTES)
        version, genuine = index["format"], index["sha256"] == _seal_of(index)
    except FileNotFoundError:
        begun = (folder / UNFINISHED / PLAN).is_file()
        unfinished = " It holds unfinished work: run the same command again to finish it." if begun else ""
        what = "is not a store of sibling embeddings" if folder.is_dir() else "is not there"
        raise UserError(f"the store {str(folder)!r} {what}.{unfinished}") from None
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _damaged(path) from None
    if type(version) is not int or version != FORMAT:
        shown = str(version)[:_SHOWN]
        raise UserError(f"the store {str(folder)!r} has format {shown}; this version of lexshift reads {FORMAT}")
    try:
        if not genuine:
            raise ValueError("the seal is broken")
        check_index(index, VECTORS, OCCURRENCES)
    except (ValueError, KeyError, TypeError):
        raise _damaged(path) from None
    return index

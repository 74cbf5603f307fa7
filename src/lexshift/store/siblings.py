"""Read a store of sibling embeddings: every usage of every word, and its vector.

``occurrences.parquet`` has a row for each usage (word, corpus, file, line, date, sentence, start, end);
``vectors.npy`` has its vector in the same row; ``store.json`` records the settings, the rows of each word in each
corpus, and the checksums. The rows of a word in a corpus are contiguous, so they are read from the mapped file without
a copy. A store is checked when it is opened, and the vectors of a word when they are first read.
"""

from __future__ import annotations

import copy
import hashlib
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.errors import UserError
from lexshift.store.format import OCCURRENCES, PENDING, UNFINISHED, VECTORS, damaged_file_error, read_index
from lexshift.utils.arrays import Array, Indices, Matrix
from lexshift.utils.files import open_plain
from lexshift.utils.quantities import with_unit

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_COLUMNS = ("word", "corpus", "file", "line", "date", "sentence", "start", "end")
_ATTEMPTS = 3  # attempts to read a file before it counts as damaged


class Siblings(Mapping[str, "WordSiblings"]):
    """An opened store: a mapping of words to their sibling embeddings.

    Parameters
    ----------
    path : str or path
        The folder of the store.

    Attributes
    ----------
    words, corpora : list of str
        The target words, and the labels of the corpora: those of the call that made this object, in the order in which
        they were given, or all corpora of the store in the order in which they were added.
    settings : dict
        All settings that determine the vectors.
    fingerprint : str
        SHA-256 of the settings, the words and the content of the corpora.
    vectors : ndarray of shape (rows, d), float32 or float16
        All vectors, mapped read-only; :meth:`check` compares them with their checksums.
    skipped : dict
        Counts of skipped or altered text, by corpus and reason.

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
        for attempt in range(1, _ATTEMPTS + 1):
            self.index = read_index(self.path)
            try:
                vectors, self._table = (_map_file(self.path, name, self.index) for name in (VECTORS, OCCURRENCES))
                break
            except UserError:  # a run may have replaced the files meanwhile, so that the next attempt succeeds
                if attempt == _ATTEMPTS:
                    raise
        shape = self.index["rows"], self.index["dimensions"]
        head = self.index["files"][VECTORS]["head"]
        self.vectors: Matrix = np.frombuffer(vectors[head:], self.index["dtype"]).reshape(shape)
        self.words: list[str] = [entry["word"] for entry in self.index["words"]]
        self._columns = {entry["label"]: i for i, entry in enumerate(self.index["corpora"])}
        self.corpora: list[str] = list(self._columns)
        self.settings: dict[str, Any] = self.index["settings"]
        self.fingerprint: str = self.index["fingerprint"]
        self.skipped: dict[str, dict[str, int]] = {c["label"]: c["skipped"] for c in self.index["corpora"]}
        self._entries = {entry["word"]: entry for entry in self.index["words"]}
        self._checked: set[tuple[str, str]] = set()
        self._is_distinct: Array | None = None  # (rows,), if repeated usages are left out

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
        amount = f"{with_unit(len(self), 'words')}, {with_unit(rows, 'vectors')} of {dimensions} dimensions"
        return f"Siblings({str(self.path)!r}: {amount})"

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
        """Return the record of a corpus: its checksum, its sizes, and counts of skipped text."""
        return self.index["corpora"][self._column(label)]

    def _column(self, label: str) -> int:
        if label not in self._columns:
            raise KeyError(f"the store {str(self.path)!r} has no corpus {label!r}; it has {', '.join(self._columns)}")
        return self._columns[label]

    @cached_property
    def occurrences(self) -> pa.Table:
        """The usages, a row for each vector: word, corpus, file, line, date, sentence, start, end.

        If some sentences were longer than the model's window, the column ``truncated`` marks them.
        """
        import pyarrow as pa
        from pyarrow import parquet

        try:
            table = parquet.read_table(pa.py_buffer(self._table))
        except pa.ArrowException:
            raise damaged_file_error(self.path / OCCURRENCES) from None
        if len(table) != self.index["rows"] or not set(_COLUMNS) <= set(table.column_names):
            raise damaged_file_error(self.path / OCCURRENCES)
        return table

    @property
    def is_truncated(self) -> Array:
        """Boolean array of shape (rows,), True if the sentence exceeds the window and only a part was encoded."""
        table = self.occurrences
        if "truncated" not in table.column_names:
            return np.zeros(len(table), bool)
        return table["truncated"].to_numpy()

    @property
    def counts(self) -> pd.DataFrame:
        """Table with the number of usages of each word (rows) in each corpus (columns)."""
        import pandas as pd

        rows = [[self.count_usages(word, label) for label in self.corpora] for word in self.words]
        return pd.DataFrame(rows, index=pd.Index(self.words, name="word"), columns=self.corpora)

    def without_duplicates(self) -> Siblings:
        """Return the same store without repeated usages.

        A usage is repeated if an earlier usage of the same word in the same corpus has the same sentence and the same
        position in it. Vectors, tables of usages and counts leave repeated usages out; the files remain as they are.
        """
        table = self.occurrences
        words, corpora, sentences = (_number_values(table[name]) for name in ("word", "corpus", "sentence"))
        keys = (table["end"].to_numpy(), table["start"].to_numpy(), sentences, corpora, words)
        order = np.lexsort(keys)  # a stable sort, so that the first of equal usages comes first
        is_repeated = np.ones(max(len(order) - 1, 0), bool)
        for key in keys:
            is_repeated &= key[order][1:] == key[order][:-1]
        distinct = copy.copy(self)
        distinct._is_distinct = np.ones(len(order), bool)
        distinct._is_distinct[order[1:][is_repeated]] = False
        return distinct

    def usage_rows(self, word: str, corpus: str) -> Indices:
        """Return the rows of the usages of a word in a corpus, in order: (n,)."""
        begin, end = self.rows(word, corpus)
        rows = np.arange(begin, end)
        return rows if self._is_distinct is None else rows[self._is_distinct[begin:end]]

    def count_usages(self, word: str, corpus: str) -> int:
        """Return the number of usages of a word in a corpus; 0 for an unknown word."""
        return len(self.usage_rows(word, corpus)) if word in self._entries else 0

    def count_repeated(self, words: Iterable[str], corpus: str) -> int:
        """Return the number of usages of some words in a corpus that are left out because they are repeated."""
        ends = (self.rows(word, corpus) for word in words if word in self._entries)
        return 0 if self._is_distinct is None else sum(int((~self._is_distinct[i:k]).sum()) for i, k in ends)

    @cached_property
    def documents(self) -> Indices:
        """The number of the document of each row: (rows,), int.

        The document of a usage is the one that its table names (``document_column``), otherwise its file. Names are
        those within a corpus, so usages of different corpora have the same number if their documents are called alike.
        """
        table = self.occurrences
        files = _number_values(table["file"])
        if "document" not in table.column_names:
            return files
        documents = _number_values(table["document"])  # -1 if there is no name
        return np.where(documents < 0, -1 - files, documents)

    @cached_property
    def groups(self) -> list[str | None] | None:
        """The group of each row, None where it is not known; None if no usage has one."""
        table = self.occurrences
        return table["group"].to_pylist() if "group" in table.column_names else None

    def rows(self, word: str, corpus: str) -> tuple[int, int]:
        """Return the half-open range of rows of a word in a corpus, repeated usages included.

        Returns
        -------
        begin, end : int
            The first row, and the row after the last one.
        """
        begin, end = self._entries[word]["rows"][self._column(corpus)]
        return begin, end

    def count_occurrences(self, word: str, corpus: str) -> int:
        """Return the number of occurrences of a word in a corpus, with or without a vector; 0 for an unknown word."""
        return int(self._entries[word]["found"][self._column(corpus)]) if word in self._entries else 0

    def group(self, word: str, corpus: str) -> Matrix:
        """Return the vectors of a word in a corpus; they are verified when they are first read.

        Parameters
        ----------
        word, corpus : str
            The word, and the label of the corpus.

        Returns
        -------
        ndarray of shape (n, d), float32 or float16
            One row for each usage: a read-only view, or a copy if repeated usages are left out.

        Raises
        ------
        UserError
            If the vectors differ from their checksum.
        """
        begin, end = self.rows(word, corpus)
        vectors = self.vectors[begin:end]
        if (word, corpus) not in self._checked:
            if zlib.crc32(vectors.data) != self._entries[word]["checksums"][self._column(corpus)]:
                where = f"rows {begin} to {end - 1} of {str(self.path / VECTORS)!r}"
                raise UserError(
                    f"the vectors of {word!r} in {corpus!r} ({where}) differ from their checksum: the file is damaged, "
                    f"make the store again"
                )
            self._checked.add((word, corpus))
        rows = self.usage_rows(word, corpus)
        return vectors if len(rows) == len(vectors) else vectors[rows - begin]

    def check(self) -> None:
        """Verify every byte against its checksum; raise UserError at the first difference."""
        if hashlib.sha256(self._table).hexdigest() != self.index["files"][OCCURRENCES]["sha256"]:
            raise damaged_file_error(self.path / OCCURRENCES)
        self._checked.clear()
        for word in self.words:
            for corpus in self._columns:
                self.group(word, corpus)


@dataclass(frozen=True, eq=False, repr=False)
class WordSiblings:
    """The sibling embeddings of one word.

    Attributes
    ----------
    store : Siblings
    word : str
    """

    store: Siblings
    word: str

    def __getitem__(self, corpus: str) -> Matrix:
        """Return the vectors in a corpus, an array of shape (n, d)."""
        return self.store.group(self.word, corpus)

    @property
    def old(self) -> Matrix:
        """The vectors in the first corpus, (n, d)."""
        return self.store.group(self.word, self.store.corpora[0])

    @property
    def new(self) -> Matrix:
        """The vectors in the last corpus, (n, d)."""
        return self.store.group(self.word, self.store.corpora[-1])

    def occurrences(self, corpus: str) -> pd.DataFrame:
        """Return the usages in a corpus, a row for each vector: file, line, date, sentence, start, end."""
        table = self.store.occurrences.take(self.store.usage_rows(self.word, corpus))
        return table.drop_columns(["word", "corpus"]).to_pandas()

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(self[corpus])} in {corpus}" for corpus in self.store.corpora)
        return f"WordSiblings({self.word!r}: {counts})"


def _number_values(column: pa.ChunkedArray) -> Indices:
    """Return a number for each value of a column, -1 for a null: (rows,)."""
    import pyarrow as pa

    array = column.combine_chunks()
    indices = (array if pa.types.is_dictionary(array.type) else array.dictionary_encode()).indices
    return np.asarray(indices.fill_null(-1).to_numpy(), np.intp)


def _map_file(folder: Path, name: str, index: Mapping[str, Any]) -> memoryview:
    """Map a file into memory and verify it: all bytes of the table, but only size and header of the vectors.

    The mapped bytes do not change if the file is replaced.
    """
    path = folder / UNFINISHED / PENDING.format(name, index["fingerprint"])
    if not path.exists():
        path = folder / name
    try:
        file = open_plain(path)
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except ValueError:
        raise damaged_file_error(path) from None
    recorded = index["files"][name]
    with file:
        size = os.fstat(file.fileno()).st_size
        if size != recorded["size"]:
            raise UserError(
                f"{str(path)!r} has {size} bytes instead of {recorded['size']}: the file is damaged, make the store "
                f"again"
            )
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    checked = data[: recorded["head"]] if name == VECTORS else data
    if hashlib.sha256(checked).hexdigest() != recorded["sha256"]:
        raise damaged_file_error(folder / name)
    return data

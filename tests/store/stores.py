"""Provide small corpora, an encoder of hashes, and the expected contents of a store for the store tests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lexshift import Siblings, embed
from lexshift.utils.arrays import Matrix

Row: TypeAlias = tuple[str, str, str, int, str | None, str, int, int]
Work: TypeAlias = list[tuple[str, tuple[int, int]]]

OLD = [
    "The mouse ran under the plane.",
    "a cell phone and a mouse",
    "no target here",
    "the mouse ran under the mouse",
    "a plane",
    "a plane",
    "The mouse hid; the plane left",
]
NEW = [
    "she moved the mouse",
    "a cell phone and a mouse",
    "Cell  phone, cell phone",
    "the plane's wing and one more plane",
    "a plane",
]
WORDS = ["mouse", "plane", "cell phone"]


class Toy:
    """Encoder whose vectors are hashes of the sentence and the span; it records its requests."""

    def __init__(
        self, settings: Mapping[str, Any] | None = None, *, size: int = 6, lost: str = "", stop_at: int | None = None
    ) -> None:
        self.calls: list[Work] = []
        self.size, self.lost, self.stop_at = size, lost, stop_at
        self.settings = {"model": "toy"} if settings is None else settings

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        work = list(zip(sentences, spans, strict=True))
        self.calls.append(work)
        if len(self.calls) == self.stop_at:
            raise KeyboardInterrupt
        return np.array([self.vector(sentence, *span) for sentence, span in work], np.float32)

    def vector(self, sentence: str, start: int, end: int) -> Matrix:
        """Return numbers that float16 represents exactly, or NaN for a dropped word."""
        if self.lost and self.lost in sentence[start:end]:
            return np.full(self.size, np.nan, np.float32)
        key = hashlib.blake2b(f"{start} {end} {sentence}".encode(), digest_size=self.size).digest()
        return np.frombuffer(key, np.int8).astype(np.float32) / 16

    @property
    def requests(self) -> Work:
        """Return all requested usages."""
        return [item for call in self.calls for item in call]


class RecordingMonitor:
    """Monitor that records its events."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int, str]] = []
        self.steps: list[tuple[int, int]] = []
        self.notes: list[str] = []

    def stage(self, name: str, total: int, unit: str) -> None:
        self.stages.append((name, total, unit))

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        assert not status
        self.steps.append((done, items))

    def note(self, text: str) -> None:
        self.notes.append(text)


def write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path


def corpora_in(folder: Path) -> tuple[Path, Path]:
    """Write the two corpora of most tests."""
    return write(folder / "a.txt", OLD), write(folder / "b.txt", NEW)


def build_store(folder: Path, name: str = "store", model: Any = None, words: Any = None, **options: Any) -> Siblings:
    """Return the store of most tests."""
    model = Toy() if model is None else model
    return embed(*corpora_in(folder), words=words or WORDS, model=model, out=folder / name, **options)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, except the lock."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(files)}


def rows_of(store: Siblings) -> list[Row]:
    columns = store.occurrences.to_pydict()
    names = ("word", "corpus", "file", "line", "date", "sentence", "start", "end")
    assert store.occurrences.column_names == list(names)
    return list(zip(*(columns[name] for name in names), strict=True))


def places(lines: Sequence[str], word: str, label: str, file: str) -> list[Row]:
    """Return the occurrences of a word by definition."""
    pattern = re.compile(r"(?<!\w)" + r"\s+".join(word.split()) + r"(?!\w)", re.IGNORECASE)
    rows: list[Row] = []
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        spans = [(match.start() - indent, match.end() - indent) for match in pattern.finditer(line)]
        rows += [(word, label, file, number, None, line.strip(), start, end) for start, end in spans]
    return rows


def expected(words: Sequence[str], corpora: Mapping[str, tuple[str, Sequence[str]]]) -> list[Row]:
    """Return the rows by word, then by corpus, then by position."""
    return [
        row for word in words for label, (file, lines) in corpora.items() for row in places(lines, word, label, file)
    ]


def assert_holds(store: Siblings, rows: list[Row], toy: Toy | None = None) -> None:
    """Check that a store has exactly these rows with their vectors, and that its index locates them."""
    toy = toy or Toy()
    assert rows_of(store) == rows
    vectors = [toy.vector(*row[5:]) for row in rows]
    np.testing.assert_array_equal(store.vectors, np.array(vectors, store.vectors.dtype).reshape(-1, toy.size))
    for word in store.words:
        for label in store.corpora:
            chosen = [i for i, row in enumerate(rows) if row[:2] == (word, label)]
            begin, end = store.rows(word, label)
            assert list(range(begin, end)) == chosen
            np.testing.assert_array_equal(store[word][label], store.vectors[begin:end])
    store.check()


BOTH = {"old": ("a.txt", OLD), "new": ("b.txt", NEW)}

"""A data set with human judgements: usages of words in two periods, and how much each word changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lexshift.corpus.tables import parse_number, read_lines
from lexshift.errors import UserError
from lexshift.store.plan import USAGES
from lexshift.utils.files import disk_faults, write_whole

if TYPE_CHECKING:
    import pandas as pd

PERIODS = ("old", "new")
SCHEMA = pa.schema(USAGES)


@dataclass(frozen=True)
class TextSize:
    """Size of the text of a period: sentences, tokens between white space, and different tokens."""

    sentences: int
    tokens: int
    types: int


@dataclass(frozen=True)
class Dataset:
    """Usages of words in two periods, with gold: human judgements of how much each word changed.

    Attributes
    ----------
    name : str
        Name of the folder or file.
    kind : str
        Format that the data set was read from.
    language : str
        ISO code; empty if unknown.
    periods : (str, str)
        Names of the periods.
    words : tuple of str
        The target words.
    usages : pyarrow.Table
        Columns as :data:`SCHEMA`, ordered by word and period.
    graded : dict
        Degree of change of each word, higher meaning more change; empty if the data set has none.
    gold : str
        Short description of ``graded``.
    binary : dict
        Whether each word changed; empty if the data set has no such judgements.
    texts : (TextSize, TextSize)
    skipped : dict
        Number of usages that were left out, by reason.
    suffix : "strip" or "keep"
        Whether the part of speech at the end of SemEval's targets is hidden from the model.
    senses : tuple of str or None, of the length of ``usages``
        The sense that people gave to each usage, a label within its word; None for a usage that has none. Empty if the
        data set has no senses.
    gained, lost : dict
        Whether each word gained a sense, and whether it lost one; empty if the data set has no such judgements.
    """

    name: str
    kind: str
    language: str
    periods: tuple[str, str]
    words: tuple[str, ...]
    usages: pa.Table
    graded: dict[str, float]
    gold: str
    binary: dict[str, bool]
    texts: tuple[TextSize, TextSize]
    skipped: dict[str, int] = field(default_factory=dict)
    suffix: str = "strip"
    senses: tuple[str | None, ...] = ()
    gained: dict[str, bool] = field(default_factory=dict)
    lost: dict[str, bool] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of sentences in each period."""
        return self.texts[0].sentences, self.texts[1].sentences

    def record(self) -> dict[str, Any]:
        """Return the entry about the data set in the record of a run."""
        words = {"words": len(self.words), "gold": self.gold, "suffix": self.suffix}
        return {"name": self.name, "kind": self.kind, **words}

    def counts(self) -> pd.DataFrame:
        """Return the number of usages of each word in each period."""
        frame = self.usages.select(["word", "corpus"]).to_pandas()
        counts = frame.groupby(["word", "corpus"]).size().unstack(fill_value=0)
        return counts.reindex(index=list(self.words), columns=list(PERIODS), fill_value=0)


class UsageCollector:
    """Accumulate the usages of a data set."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
        self._senses: list[str | None] = []
        self.skipped: dict[str, int] = {}

    def add(
        self,
        word: str,
        period: int,
        sentence: str,
        start: int,
        end: int,
        file: str,
        line: int,
        date: str | None = None,
        sense: str | None = None,
    ) -> None:
        """Add a usage; white space at the ends of its sentence is removed."""
        self._senses.append(sense)
        shift, bare = len(sentence) - len(sentence.lstrip()), sentence.strip()
        start, end = max(start - shift, 0), min(end - shift, len(bare))
        values = (word, PERIODS[period], file, line, date, bare, start, end)
        for column, value in zip(self._columns.values(), values, strict=True):
            column.append(value)

    def skip(self, reason: str) -> None:
        """Count a usage that is left out."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def dataset(self, words: Iterable[str], texts: Sequence[TextSize] = (), **about: Any) -> Dataset:
        """Return the data set of all usages; ``about`` are the other fields of :class:`Dataset`.

        Without ``texts``, the sizes are those of the distinct sentences of the usages.
        """
        words = tuple(words)
        rank = {word: i for i, word in enumerate(words)}
        keys = [
            (rank[word], PERIODS.index(period))
            for word, period in zip(self._columns["word"], self._columns["corpus"], strict=True)
        ]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        usages = pa.table(self._columns, schema=SCHEMA).take(pa.array(order, pa.int64()))
        old, new = texts or map(self._text_size, PERIODS)
        senses = tuple(self._senses[row] for row in order) if any(self._senses) else ()
        return Dataset(words=words, usages=usages, texts=(old, new), skipped=self.skipped, senses=senses, **about)

    def _text_size(self, period: str) -> TextSize:
        pairs = zip(self._columns["corpus"], self._columns["sentence"], strict=True)
        sentences = {sentence for corpus, sentence in pairs if corpus == period}
        tokens = [token for sentence in sentences for token in sentence.split()]
        return TextSize(len(sentences), len(tokens), len(set(tokens)))


def write_texts(data: Dataset, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the distinct sentences of each period, one per line, as a model sees them; return the files."""
    directory = Path(folder)
    sentences, periods = (data.usages[name].to_pylist() for name in ("sentence", "corpus"))
    files = []
    with disk_faults(directory):
        directory.mkdir(parents=True, exist_ok=True)
        for period in PERIODS:
            lines = dict.fromkeys(s for s, p in zip(sentences, periods, strict=True) if p == period)
            content = "".join(" ".join(line.split()) + "\n" for line in lines).encode()
            files.append(directory / f"{period}.txt")
            write_whole(files[-1], content)
    return files


def read_gold(path: Path) -> Iterator[tuple[int, str, float]]:
    """Read a file of word<TAB>value lines: the number of each line, its word and its value."""
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            word, tab, value = line.rstrip("\r").partition("\t")
            if not tab:
                raise UserError(f"{str(path)!r}, line {number}: no tab between the word and its value")
            yield number, word.strip(), parse_number({"value": value}, "value", path, number)


def set_gold(gold: dict[str, Any], word: str, value: Any, path: Path, line: int) -> None:
    """Set the gold of a word; raise for a second value that differs from the first."""
    if gold.setdefault(word, value) != value:
        raise UserError(f"{str(path)!r}, line {line}: {word!r} has two values, {gold[word]} and {value}")


def sort_periods(periods: set[str]) -> list[str]:
    """Sort the names of periods, the earlier first: by the numbers in them, and old before new."""

    def key(name: str) -> tuple[bool, list[int], str]:
        numbers = [int(digits) for digits in re.findall(r"[0-9]+", name)]
        return name != "old", numbers, name

    return sorted(periods, key=key)

"""A data set with human judgements: usages of words in two periods, and how much each word changed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lexshift.errors import UserError
from lexshift.store.contents import USAGES
from lexshift.utils.files import disk_faults, write_bytes

if TYPE_CHECKING:
    import pandas as pd

PERIODS = ("old", "new")

SCHEMA = pa.schema(USAGES)


@dataclass(frozen=True)
class Text:
    """How large a period's text is: sentences, tokens between white space, and different ones."""

    sentences: int
    tokens: int
    types: int


@dataclass(frozen=True)
class Dataset:
    """Usages of words in two periods, with gold.

    Attributes
    ----------
    name : str
        Of the folder or file.
    kind : str
        Which format it was read from.
    language : str
        ISO code; empty if the format does not say.
    periods : (str, str)
        What the periods are called.
    words : tuple of str
        The targets.
    usages : pyarrow.Table
        As :data:`SCHEMA`, by word and period.
    graded : dict
        How much each word changed, more being more; not every data set has it.
    gold : str
        What ``graded`` is, in a few words.
    binary : dict
        Whether each word changed; not every data set has it.
    texts : (Text, Text)
    skipped : dict
        What was left out, by reason.
    suffix : "strip" or "keep"
        Whether the part of speech at the end of SemEval's targets is hidden from the model.
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
    texts: tuple[Text, Text]
    skipped: dict[str, int] = field(default_factory=dict)
    suffix: str = "strip"

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of sentences in each period."""
        return self.texts[0].sentences, self.texts[1].sentences

    def record(self) -> dict[str, Any]:
        """Return what the record of a run says about the data set."""
        words = {"words": len(self.words), "gold": self.gold, "suffix": self.suffix}
        return {"name": self.name, "kind": self.kind, **words}

    def counts(self) -> pd.DataFrame:
        """How many usages each word has in each period."""
        frame = self.usages.select(["word", "corpus"]).to_pandas()
        counts = frame.groupby(["word", "corpus"]).size().unstack(fill_value=0)
        return counts.reindex(index=list(self.words), columns=list(PERIODS), fill_value=0)


class Rows:
    """Collects usages."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
        self.skipped: dict[str, int] = {}

    def add(
        self, word: str, period: int, sentence: str, start: int, end: int, file: str, line: int, date: str | None = None
    ) -> None:
        """Add a usage; its sentence without white space at the ends."""
        shift, bare = len(sentence) - len(sentence.lstrip()), sentence.strip()
        start, end = max(start - shift, 0), min(end - shift, len(bare))
        values = (word, PERIODS[period], file, line, date, bare, start, end)
        for column, value in zip(self._columns.values(), values, strict=True):
            column.append(value)

    def skip(self, reason: str) -> None:
        """Count a usage that is left out."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def table(self, words: tuple[str, ...]) -> pa.Table:
        """All usages, by word in the given order, and period."""
        table = pa.table(self._columns, schema=SCHEMA)
        order = {word: i for i, word in enumerate(words)}
        keys = [
            (order[word], PERIODS.index(corpus), i)
            for i, (word, corpus) in enumerate(zip(self._columns["word"], self._columns["corpus"], strict=True))
        ]
        return table.take(pa.array([i for *_, i in sorted(keys)], pa.int64()))

    def texts(self) -> tuple[Text, Text]:
        """How large the texts of the usages are, each sentence counted once."""
        sizes = []
        for period in PERIODS:
            pairs = zip(self._columns["corpus"], self._columns["sentence"], strict=True)
            sentences = {sentence for corpus, sentence in pairs if corpus == period}
            tokens = [token for sentence in sentences for token in sentence.split()]
            sizes.append(Text(len(sentences), len(tokens), len(set(tokens))))
        return sizes[0], sizes[1]


def write_texts(data: Dataset, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the distinct sentences of each period, one a line, as a model sees them; return the files."""
    place = Path(folder)
    sentences, periods = (data.usages[name].to_pylist() for name in ("sentence", "corpus"))
    files = []
    with disk_faults(place):
        place.mkdir(parents=True, exist_ok=True)
        for period in PERIODS:
            lines = dict.fromkeys(s for s, p in zip(sentences, periods, strict=True) if p == period)
            content = "".join(" ".join(line.split()) + "\n" for line in lines).encode()
            files.append(place / f"{period}.txt")
            write_bytes(files[-1], content)
    return files


def keep_one(gold: dict[str, Any], word: str, value: Any, path: Path, line: int) -> None:
    """Keep a word's gold; two different values cannot both be."""
    if gold.setdefault(word, value) != value:
        raise UserError(f"{str(path)!r}, line {line}: {word!r} has two values, {gold[word]} and {value}")


def in_order(periods: set[str]) -> list[str]:
    """Names of periods, the earlier first: by the numbers in them, and old before new."""

    def key(name: str) -> tuple[bool, list[int], str]:
        numbers = [int(digits) for digits in re.findall(r"[0-9]+", name)]
        return name != "old", numbers, name

    return sorted(periods, key=key)

"""Read AXOLOTL-24 (Fedorova et al. 2024): old usages with their senses and glosses, and new usages to be labelled.

A data set is a table with tabs: usage_id, word, orth, sense_id, gloss, example, indices_target_token, date, period.
Predictions are the same table with the column sense_id filled in for the new period.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lexshift.benchmark.datasets.word_spans import find_words
from lexshift.corpus.dictionary_tables import unquote
from lexshift.corpus.normal_form import normalise
from lexshift.corpus.tables import parse_span, read_lines, read_table
from lexshift.errors import UserError
from lexshift.utils.files import disk_faults, write_whole

COLUMNS = ("usage_id", "word", "orth", "sense_id", "gloss", "example", "indices_target_token", "date", "period")
OLD, NEW = "old", "new"


class SenseExample(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    id, word, period : str
        The identifier of the usage, its word, and "old" or "new".
    sense, gloss : str
        The sense and its gloss; empty if the table does not give them.
    sentence : str
        Empty for an old sense that has a gloss but no example.
    start, end : int
        The span of the word in the sentence, or of the whole sentence if the word is not found.
    """

    id: str
    word: str
    period: str
    sense: str
    gloss: str
    sentence: str
    start: int
    end: int


@dataclass(frozen=True)
class AxolotlDataset:
    """A data set of AXOLOTL-24.

    Attributes
    ----------
    name : str
        Name of the file.
    path : Path
    examples : tuple of SenseExample
        The rows, in the order of the file.
    """

    name: str
    path: Path
    examples: tuple[SenseExample, ...]

    @property
    def words(self) -> list[str]:
        """The target words, in order of appearance."""
        return list(dict.fromkeys(example.word for example in self.examples))

    def select(self, word: str, period: str) -> list[SenseExample]:
        """Return the examples of a word in a period."""
        return [example for example in self.examples if (example.word, example.period) == (word, period)]


def is_axolotl(path: Path) -> bool:
    """Return whether a file looks like a table of AXOLOTL-24."""
    if path.suffix.lower() != ".tsv" or not path.is_file():
        return False
    header = read_lines(path)[0].rstrip("\r").split("\t")
    return {"usage_id", "sense_id", "example", "period"} <= set(header)


def load_axolotl(path: Path) -> AxolotlDataset:
    """Read a table of AXOLOTL-24.

    The Russian tables do not say where the word is; it is looked for in all of its forms.
    """
    rows = read_table(path, COLUMNS)
    fields: list[dict[str, str]] = [{name: unquote(value) for name, value in row.items()} for _, row in rows]
    spans: list[tuple[int, int]] = []
    is_unknown = []
    for (number, _), row in zip(rows, fields, strict=True):
        if not row["word"].strip() or not row["usage_id"].strip():
            raise UserError(f"{str(path)!r}, line {number}: no word, or no usage_id")
        if row["period"] not in (OLD, NEW):
            raise UserError(f"{str(path)!r}, line {number}: the period is {row['period']!r}; it must be old or new")
        places = row["indices_target_token"].split(";")[0].strip()  # a divided word has several spans
        is_unknown.append(not places and bool(row["example"].strip()))
        if is_unknown[-1]:
            row["example"] = normalise(" ".join(row["example"].split()))
        spans.append(parse_span(places, row["example"], path, number) if places else (0, 0))
    unknown = [row for row, lacks_span in zip(fields, is_unknown, strict=True) if lacks_span]
    found_spans = iter(find_words(*([row[name] for row in unknown] for name in ("example", "word", "orth"))))
    examples = []
    for row, span, lacks_span in zip(fields, spans, is_unknown, strict=True):
        start, end = next(found_spans) if lacks_span else span
        about = row["usage_id"], row["word"], row["period"], row["sense_id"], row["gloss"]
        examples.append(SenseExample(*about, row["example"], start, end))
    if len({example.id for example in examples}) != len(examples):
        raise UserError(f"{str(path)!r}: two rows have the same usage_id")
    if not any(example.period == NEW for example in examples):
        raise UserError(f"{str(path)!r} has no usages of the period new, whose senses are to be found")
    return AxolotlDataset(path.name, path, tuple(examples))


def read_predictions(path: Path, data: AxolotlDataset) -> dict[str, str]:
    """Read a file of predictions: the sense of each new usage, by its usage_id."""
    senses = {row["usage_id"]: row["sense_id"] for _, row in read_table(path, ("usage_id", "sense_id"))}
    wanted = [example.id for example in data.examples if example.period == NEW]
    missing = [usage for usage in wanted if not senses.get(usage, "").strip()]
    if missing:
        raise UserError(f"{str(path)!r} has no sense for {len(missing)} of {len(wanted)} new usages: {missing[0]!r}")
    return {usage: senses[usage] for usage in wanted}


def write_predictions(data: AxolotlDataset, senses: Mapping[str, str], path: Path) -> None:
    """Write predictions in the format of the task: the table with the senses of the new usages, by their usage_id."""
    header, *lines = read_lines(data.path)
    columns = [name.strip() for name in header.rstrip("\r").split("\t")]
    usage, sense = columns.index("usage_id"), columns.index("sense_id")
    written = [header]
    for line in lines:
        fields = line.split("\t")
        if len(fields) == len(columns) and unquote(fields[usage]) in senses:
            fields[sense] = senses[unquote(fields[usage])]
        written.append("\t".join(fields))
    with disk_faults(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, "\n".join(written).encode())

"""Read SemEval-2027 Task 3, semantic change across several periods, and write a submission for it.

The folder of a language (``EN``) has JSON lines: ``subtask1.jsonl`` with word, period_label, sentence_id and label, a
list of senses; ``subtask2.jsonl`` with word, sentence_id and label, 1 if the usage has the sense that is defined. The
label is missing where it is to be predicted. Sentences are in ``usages.jsonl`` (sentence_id, text, start and end) and
definitions in ``definitions.jsonl`` (word and definition), or both are in the rows themselves.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from lexshift.benchmark.datasets.word_spans import find_words
from lexshift.corpus.normal_form import normalise
from lexshift.corpus.tables import is_span, read_lines
from lexshift.errors import UserError
from lexshift.utils.files import disk_faults, write_whole

LABELLED, DEFINED, USAGES, DEFINITIONS = "subtask1.jsonl", "subtask2.jsonl", "usages.jsonl", "definitions.jsonl"
SUBMISSION = "submission.zip"
L = TypeVar("L")
UsageKey = tuple[str, str | int]
"""The word and the sentence_id of a usage."""
_YEAR = re.compile(r"[0-9]{4}")
_SENTENCE, _DEFINITION = ("text", "sentence"), ("definition", "target_sense_definition")


class PeriodUsage(NamedTuple):
    """A usage of subtask 1: its period, its senses if they are known, and its sentence."""

    word: str
    sentence_id: str | int
    period: str
    labels: tuple[Hashable, ...]
    sentence: str
    start: int
    end: int

    @property
    def key(self) -> UsageKey:
        """The word and the sentence_id."""
        return self.word, self.sentence_id


class DefinedUsage(NamedTuple):
    """A usage of subtask 2: whether it has the sense that is defined, None if that is not known."""

    word: str
    sentence_id: str | int
    label: int | None
    definition: str
    sentence: str
    start: int
    end: int

    @property
    def key(self) -> UsageKey:
        """The word and the sentence_id."""
        return self.word, self.sentence_id


@dataclass(frozen=True)
class PeriodsDataset:
    """The data of a language.

    Attributes
    ----------
    name : str
        Name of the folder, the code of the language.
    labelled : tuple of PeriodUsage
        Subtask 1.
    defined : tuple of DefinedUsage
        Subtask 2.
    """

    name: str
    labelled: tuple[PeriodUsage, ...]
    defined: tuple[DefinedUsage, ...]


def language_folders(folder: Path) -> list[Path]:
    """Return the folders of languages in a release, or the folder itself if it is one; none for other data."""
    if not folder.is_dir():
        return []
    folders = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    data_folders = [path for path in folders if (path / LABELLED).is_file() or (path / DEFINED).is_file()]
    return data_folders[:1] if data_folders[:1] == [folder] else data_folders


def sort_by_year(periods: Sequence[str]) -> list[str]:
    """Sort the names of periods by their first number of four digits, those without one last."""

    def key(name: str) -> tuple[bool, int, str]:
        year = _YEAR.search(name)
        return year is None, 0 if year is None else int(year[0]), name

    return sorted(set(periods), key=key)


def load_semeval2027(folder: Path) -> PeriodsDataset:
    """Read the folder of a language."""
    usages = _rows_by_usage(folder / USAGES)
    definitions = {row["word"]: row.get("definition", "") for _, row in _read_objects(folder / DEFINITIONS, ("word",))}
    labelled, defined = [], []
    for line, row in _read_objects(folder / LABELLED, ("word", "sentence_id", "period_label")):
        labels = tuple(_check_labels(row["label"], folder / LABELLED, line)) if row.get("label") is not None else ()
        sentence = _sentence(row, usages, folder / LABELLED, line)
        labelled.append(PeriodUsage(row["word"], row["sentence_id"], row["period_label"], labels, *sentence))
    for line, row in _read_objects(folder / DEFINED, ("word", "sentence_id")):
        label = row.get("label")
        if label is not None:
            _check_answer(label, folder / DEFINED, line)
        definition = next((row[name] for name in _DEFINITION if row.get(name)), definitions.get(row["word"], ""))
        sentence = _sentence(row, usages, folder / DEFINED, line)
        defined.append(DefinedUsage(row["word"], row["sentence_id"], label, definition, *sentence))
    _refuse_double(folder / LABELLED, [usage.key for usage in labelled])
    _refuse_double(folder / DEFINED, [usage.key for usage in defined])
    return PeriodsDataset(folder.name, tuple(_with_spans(labelled)), tuple(_with_spans(defined)))


def read_labels(path: Path, usages: Sequence[PeriodUsage]) -> dict[UsageKey, tuple[Hashable, ...]]:
    """Read predictions of subtask 1: the labels of each usage."""
    rows = _read_objects(path, ("word", "sentence_id", "label"))
    labels = {_key(row): tuple(_check_labels(row["label"], path, line)) for line, row in rows}
    return _select_labels(labels, usages, path)


def read_answers(path: Path, usages: Sequence[DefinedUsage]) -> dict[UsageKey, int]:
    """Read predictions of subtask 2: 1 for each usage that has the sense, 0 for the others."""
    rows = _read_objects(path, ("word", "sentence_id", "label"))
    answers = {_key(row): _check_answer(row["label"], path, line) for line, row in rows}
    return _select_labels(answers, usages, path)


def submission_file(language: str, subtask: str) -> str:
    """Return the name of a file of a submission, such as EN_subtask1.jsonl."""
    return f"{language}_{subtask}"


def write_labels(path: Path, labels: Mapping[UsageKey, Any]) -> None:
    """Write predictions: a line for each usage, with word, sentence_id and label."""
    lines = [
        json.dumps({"word": word, "sentence_id": sentence_id, "label": label}, ensure_ascii=False) + "\n"
        for (word, sentence_id), label in labels.items()
    ]
    with disk_faults(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, "".join(lines).encode())


def write_submission(folder: Path, files: Sequence[Path]) -> Path:
    """Write the archive that is submitted, with the files of all languages at its root."""

    def write(stream: Any) -> None:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.writestr(file.name, file.read_bytes())

    with disk_faults(folder):
        write_whole(folder / SUBMISSION, write)
    return folder / SUBMISSION


def _read_objects(path: Path, fields: tuple[str, ...]) -> list[tuple[int, dict[str, Any]]]:
    """Return the objects of a file of JSON lines with the numbers of their lines; none if there is no such file."""
    if not path.is_file():
        return []
    rows = []
    for line, text in enumerate(read_lines(path), 1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise UserError(f"{str(path)!r}, line {line}: each line must be a JSON object")
        missing = [name for name in fields if name not in row]
        if missing:
            raise UserError(f"{str(path)!r}, line {line}: no {missing[0]!r}; it must have {', '.join(fields)}")
        for name in ("word", "period_label"):
            if name in fields and not (isinstance(row[name], str) and row[name]):
                raise UserError(f"{str(path)!r}, line {line}: {name} is {row[name]!r}; it must be a text")
        if "sentence_id" in fields and not isinstance(row["sentence_id"], str | int):
            raise UserError(f"{str(path)!r}, line {line}: the sentence_id must be a text or a whole number")
        rows.append((line, row))
    return rows


def _rows_by_usage(path: Path) -> dict[tuple[Any, Any], dict[str, Any]]:
    """Return the rows of usages.jsonl by word and sentence_id; the word is None where a row does not name it."""
    return {(row.get("word"), row["sentence_id"]): row for _, row in _read_objects(path, ("sentence_id",))}


def _sentence(row: dict[str, Any], usages: Mapping[Any, dict[str, Any]], path: Path, line: int) -> tuple[str, int, int]:
    """Return the sentence of a usage and the span of its word, (0, 0) if that is not given."""
    key = row["word"], row["sentence_id"]
    source = {**usages.get((None, key[1]), {}), **usages.get(key, {}), **row}
    sentence = next((source[name] for name in _SENTENCE if source.get(name)), "")
    if not isinstance(sentence, str) or not sentence.strip():
        raise UserError(f"{str(path)!r}, line {line}: no sentence for {key[1]!r}, neither here nor in {USAGES}")
    start, end = source.get("start"), source.get("end")
    if start is None or end is None:
        return normalise(" ".join(sentence.split())), 0, 0
    if type(start) is not int or type(end) is not int or not is_span(start, end, sentence):
        raise UserError(f"{str(path)!r}, line {line}: {start} to {end} is not within the sentence")
    return sentence, start, end


def _with_spans(usages: Sequence[Any]) -> list[Any]:
    """Return the usages with a span for each word: a missing one is found by searching the sentence."""
    without_span = [usage for usage in usages if not usage.end]
    spans = iter(find_words([usage.sentence for usage in without_span], [usage.word for usage in without_span]))
    return [
        usage if usage.end else usage._replace(**dict(zip(("start", "end"), next(spans), strict=True)))
        for usage in usages
    ]


def _check_labels(labels: Any, path: Path, line: int) -> list[Hashable]:
    if not isinstance(labels, list) or not labels or any(isinstance(label, list | dict) for label in labels):
        raise UserError(f"{str(path)!r}, line {line}: the label is {labels!r}; it must be a list of one or more senses")
    return labels


def _check_answer(label: Any, path: Path, line: int) -> int:
    if type(label) is not int or label not in (0, 1):
        raise UserError(f"{str(path)!r}, line {line}: the label is {label!r}; it must be 0 or 1")
    return label


def _refuse_double(path: Path, keys: Sequence[UsageKey]) -> None:
    double = next((key for key, n in Counter(keys).items() if n > 1), None)
    if double is not None:
        raise UserError(f"{str(path)!r} has two lines for {double[1]!r} of {double[0]!r}")


def _key(row: Mapping[str, Any]) -> UsageKey:
    return row["word"], row["sentence_id"]


def _select_labels(labels: Mapping[UsageKey, L], usages: Sequence[Any], path: Path) -> dict[UsageKey, L]:
    """Return the labels of some usages, in their order; raise an error if a usage has none."""
    keys = [usage.key for usage in usages]
    missing = next((key for key in keys if key not in labels), None)
    if missing is not None:
        raise UserError(f"{str(path)!r} has no label for {missing[1]!r} of {missing[0]!r}")
    return {key: labels[key] for key in keys}

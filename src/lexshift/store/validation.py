"""Validate the JSON files of a store (``store.json`` and ``plan.json``) before anything in them is used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import le
from typing import Any

MOST_BYTES = 1 << 28  # of an index
_WIDTHS = {"float32": 4, "float16": 2}  # bytes of a number, by precision
_LARGEST = 1 << 53  # of any number: what every reader of JSON holds exactly
_HASH = re.compile("[0-9a-f]{64}")
_COUNTS = ("files", "bytes", "passages", "words")


def check_index(index: Any, vectors: str, occurrences: str) -> None:
    """Raise ValueError unless an index is one that this version could have written.

    ``vectors`` and ``occurrences`` are the names of the files that it describes.
    """
    _hash(index["fingerprint"])
    _check_settings(index["settings"])
    labels = [_check_corpus(entry) for entry in _list(index["corpora"])]
    words = [_text(entry["word"]) for entry in _list(index["words"])]
    _require(len(set(labels)) == len(labels), "two corpora of one name")
    _require(len(set(words)) == len(words), "a word twice")
    rows, dimensions = _number(index["rows"]), _number(index["dimensions"])
    _check_words(index["words"], len(labels), rows)
    _require(index["dtype"] in _WIDTHS, "a type of vectors that is not known")
    files = _dict(index["files"])
    size, head = _number(files[vectors]["size"]), _number(files[vectors]["head"])
    _require(head > 0 and size == head + rows * dimensions * _WIDTHS[index["dtype"]], "vectors of another size")
    _require(_number(files[occurrences]["size"]) > 0, "an empty table")
    _hash(files[vectors]["sha256"])
    _hash(files[occurrences]["sha256"])


def words_size(forms: Mapping[str, Sequence[str]], corpora: int) -> int:
    """Return at least the bytes that words take in an index: what is larger than MOST_BYTES could not be read again."""
    texts = (text for word, all_forms in forms.items() for text in (word, *all_forms))
    return sum(20 + 6 * len(text) for text in texts) + len(forms) * (200 + 120 * corpora)


def check_plan(plan: Any) -> None:
    """Raise ValueError unless a plan is one that this version could have written."""
    _dict(plan)
    for name in ("fingerprint", "words", "work"):
        _hash(plan[name])
    if plan["added to"] is not None:
        _hash(plan["added to"])
    _check_settings(plan["settings"])
    for label, content in _dict(plan["corpora"]).items():
        _text(label)
        _text(content)


def _check_settings(settings: Any) -> None:
    _dict(_dict(settings)["encoder"])
    _require(settings["precision"] in _WIDTHS, "a precision that is not known")
    _dict(settings.get("reading", {}))
    sampling = settings.get("sampling")
    if sampling is not None:
        most = _dict(sampling)["max_per_word"]
        _require(most is None or _number(most) > 0, "a sample of no size")


def _check_corpus(entry: Any) -> str:
    """Check what is known of a corpus, and return its label."""
    for name in _COUNTS:
        _number(_dict(entry)[name])
    for name in ("splits", "skipped"):
        for reason, n in _dict(entry[name]).items():
            _text(reason)
            _number(n)
    _text(entry["content"])
    return _text(entry["label"])


def _check_words(entries: Sequence[Any], corpora: int, rows: int) -> None:
    """Check that each word has its forms and, for each corpus, its numbers; and that its rows follow those before."""
    for entry in entries:
        _require(bool([_text(form) for form in _list(entry["forms"])]), "a word without a form")
        for name in ("rows", "found", "checksums"):
            _require(len(_list(entry[name])) == corpora, "a word of other corpora")
        for pair in entry["rows"]:
            _require(type(pair) is list and len(pair) == 2, "rows without a beginning or an end")
    bounds = [value for entry in entries for pair in entry["rows"] for value in pair]
    begins, ends = bounds[::2], bounds[1::2]
    _check_numbers(bounds, _LARGEST)
    _check_numbers([value for entry in entries for value in entry["found"]], _LARGEST)
    _check_numbers([value for entry in entries for value in entry["checksums"]], 1 << 32)
    _require(begins == [0, *ends][: len(begins)] and all(map(le, begins, ends)), "rows that do not follow one another")
    _require((ends or [0])[-1] == rows, "another number of rows")


def _check_numbers(values: list[Any], end: int) -> None:
    """Check many whole numbers at once, as :func:`_number` checks one."""
    _require(set(map(type, values)) <= {int}, "no whole number where one should be")
    _require(not values or (min(values) >= 0 and max(values) < end), "a number that is out of range")


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


def _number(value: Any) -> int:
    _require(type(value) is int and 0 <= value < _LARGEST, "no whole number where one should be")
    return value


def _text(value: Any) -> str:
    _require(isinstance(value, str), "no text where some should be")
    return value


def _hash(value: Any) -> str:
    _require(isinstance(value, str) and _HASH.fullmatch(value) is not None, "no checksum where one should be")
    return value


def _list(value: Any) -> list[Any]:
    _require(isinstance(value, list), "no list where one should be")
    return value


def _dict(value: Any) -> dict[str, Any]:
    _require(isinstance(value, dict), "no object where one should be")
    return value

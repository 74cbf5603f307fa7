"""Define the files of a store: their names, their checksums, and the validation of their contents.

A store is a folder with the files ``store.json`` (the index), ``occurrences.parquet`` and ``vectors.npy``. While a run
writes to it, the folder ``unfinished`` holds ``plan.json``, the finished shards, and the new files until they replace
the old ones.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import reprlib
from collections.abc import Mapping, Sequence
from operator import le
from pathlib import Path
from typing import Any

from lexshift.errors import UserError
from lexshift.utils.files import open_plain

FORMAT = 1
INDEX, OCCURRENCES, VECTORS = "store.json", "occurrences.parquet", "vectors.npy"
UNFINISHED, PLAN = "unfinished", "plan.json"
SHARD = "{:06d}.shard"
"""The name of the file of a shard, by its number."""
PENDING = "{}.{:.16}"
"""The name of a file of a store before it takes its place, by its name and the fingerprint of the store."""
WORK_FILES = re.compile(rf"\d{{6,}}\.shard|({re.escape(VECTORS)}|{re.escape(OCCURRENCES)})\.[0-9a-f]{{16}}")
"""The names of the files, shards and pending ones, in the folder of unfinished work, except for the plan."""
MAX_INDEX_BYTES = 1 << 28
"""Size up to which ``store.json`` and ``plan.json`` are read; a store that would need more is refused."""
_SHOWN = 40  # characters of an unknown format that are shown

_WIDTHS = {"float32": 4, "float16": 2}  # bytes of a number, by precision
_COUNT = range(1 << 53)  # what every reader of JSON holds exactly
_HASH = re.compile("[0-9a-f]{64}")
_LONGEST = 100  # characters of a setting in an error
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _LONGEST
_PRECISION = re.compile("|".join(_WIDTHS))
_SETTINGS = {
    "encoder": dict,
    "precision": _PRECISION,
    "reading": (..., dict),
    "sampling": (..., None, {"max_per_word": (None, _COUNT[1:])}),
}
PLAN_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("fingerprint", "words", "work"), _HASH),
    "added to": (None, _HASH),
    "settings": _SETTINGS,
    "corpora": {str: str},
}
"""The form of ``plan.json``; see :func:`matches`."""
_INDEX_SCHEMA = {
    "fingerprint": _HASH,
    "settings": _SETTINGS,
    "corpora": [
        {
            **dict.fromkeys(("files", "bytes", "passages", "words"), _COUNT),
            "splits": {str: _COUNT},
            "skipped": {str: _COUNT},
            "encodings": (..., {str: {"files": _COUNT, "examples": [str]}}),
            "unreadable": (..., {str: str}),
            "content": str,
            "label": str,
        }
    ],
    "words": [{"word": str, "forms": [str], "rows": list, "found": list, "checksums": list}],
    "rows": _COUNT,
    "dimensions": _COUNT,
    "dtype": _PRECISION,
    "files": {
        VECTORS: {"size": _COUNT, "head": _COUNT[1:], "sha256": _HASH},
        OCCURRENCES: {"size": _COUNT[1:], "sha256": _HASH},
    },
}


def digest(value: Any) -> str:
    """Return the SHA-256 of plain values; the key ``sha256`` of a mapping, its own checksum, is excluded."""
    if isinstance(value, Mapping):
        value = {key: item for key, item in value.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def store_fingerprint(
    settings: Mapping[str, Any], forms: Mapping[str, Sequence[str]], corpora: Sequence[Mapping[str, Any]]
) -> str:
    """Return the SHA-256 of everything that determines a store; a model with known weights counts without its name."""
    encoder = dict(settings["encoder"])
    if "weights" in encoder:
        encoder.pop("model", None)
    return digest(
        {
            "format": FORMAT,
            "settings": {**settings, "encoder": encoder},
            "words": list(forms.items()),
            "corpora": [[entry["label"], entry["content"]] for entry in corpora],
        }
    )


def seal(index: Mapping[str, Any]) -> bytes:
    """Return the content of ``store.json``: the index and a checksum of it."""
    sealed = {**index, "sha256": digest(index)}
    return (json.dumps(sealed, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def read_index(folder: Path) -> dict[str, Any]:
    """Read ``store.json``; an index that this version did not write is refused."""
    path = folder / INDEX
    try:
        index = _read_json(path)
        version = index["format"]
        is_genuine = index["sha256"] == digest(index)
    except FileNotFoundError:
        begun = (folder / UNFINISHED / PLAN).is_file()
        unfinished = " It holds unfinished work: run the same command again to finish it." if begun else ""
        what = "is not a store of sibling embeddings" if folder.is_dir() else "is not there"
        raise UserError(f"the store {str(folder)!r} {what}.{unfinished}") from None
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise damaged_file_error(path) from None
    if type(version) is not int or version != FORMAT:
        shown = str(version)[:_SHOWN]
        raise UserError(f"the store {str(folder)!r} has format {shown}; this version of lexshift reads {FORMAT}")
    if not (is_genuine and is_index(index)):
        raise damaged_file_error(path)
    return index


def is_index(index: Any) -> bool:
    """Return whether an index is one that this version could have written."""
    if not matches(index, _INDEX_SCHEMA):
        return False
    entries, n_corpora = index["words"], len(index["corpora"])
    pairs = [pair for entry in entries for pair in entry["rows"]]
    if not (
        len({entry["label"] for entry in index["corpora"]}) == n_corpora
        and len({entry["word"] for entry in entries}) == len(entries)
        and all(entry["forms"] for entry in entries)
        and all(len(entry[name]) == n_corpora for entry in entries for name in ("rows", "found", "checksums"))
        and all(type(pair) is list and len(pair) == 2 for pair in pairs)
    ):
        return False
    bounds = [bound for pair in pairs for bound in pair]
    counts = [n for entry in entries for n in entry["found"]]
    checksums = [n for entry in entries for n in entry["checksums"]]
    for numbers, end in ((bounds, _COUNT.stop), (counts, _COUNT.stop), (checksums, 1 << 32)):  # many: all at once
        if not set(map(type, numbers)) <= {int} or not 0 <= min(numbers, default=0) <= max(numbers, default=0) < end:
            return False
    begins, ends = bounds[::2], bounds[1::2]
    vectors = index["files"][VECTORS]
    return (
        begins == [0, *ends][: len(begins)]  # the rows of each word and corpus follow those before
        and all(map(le, begins, ends))
        and (ends or [0])[-1] == index["rows"]
        and vectors["size"] == vectors["head"] + index["rows"] * index["dimensions"] * _WIDTHS[index["dtype"]]
    )


def read_plan(folder: Path) -> dict[str, Any] | None:
    """Read the plan of the unfinished work in a folder; return None if the folder holds no work of lexshift."""
    if not os.path.lexists(folder):
        return None
    if folder.is_symlink() or not folder.is_dir():
        raise UserError(f"{str(folder)!r} would be a folder of lexshift, but is something else; move it away")
    path = folder / PLAN
    if not os.path.lexists(path):
        if any(map(WORK_FILES.fullmatch, os.listdir(folder))):
            raise UserError(f"{str(folder)!r} holds shards without their {PLAN}: move it away or delete it")
        return None
    try:
        plan = _read_json(path)
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except ValueError:
        plan = None
    if not matches(plan, PLAN_SCHEMA):
        raise UserError(
            f"{str(path)!r} is damaged, or not from lexshift: move {str(folder)!r} away or delete it, and run again"
        )
    return plan


def _read_json(path: Path) -> Any:
    """Read a JSON file; raises ValueError if it is too large, not a plain file, nested too deeply, or not JSON."""
    with open_plain(path) as file:
        if os.fstat(file.fileno()).st_size > MAX_INDEX_BYTES:
            raise ValueError("too large")
        data = file.read(MAX_INDEX_BYTES)
    try:
        return json.loads(data, parse_constant=int)  # which raises ValueError for NaN and Infinity: they are not JSON
    except RecursionError:
        raise ValueError("nested too deeply") from None


def matches(value: Any, schema: Any) -> bool:
    """Return whether a value read from JSON has the form that a schema describes.

    A type stands for its values, a range for whole numbers, a pattern for texts, a list for lists of its one item, a
    tuple for alternatives, a mapping for objects (``{str: item}``: with any keys), None for null and ``...`` for a key
    that is not there.
    """
    if schema is None or schema is ...:
        return value is schema
    if isinstance(schema, type):
        return type(value) is schema
    if isinstance(schema, range):
        return type(value) is int and value in schema
    if isinstance(schema, re.Pattern):
        return isinstance(value, str) and schema.fullmatch(value) is not None
    if isinstance(schema, tuple):
        return any(matches(value, alternative) for alternative in schema)
    if isinstance(schema, list):
        return isinstance(value, list) and all(matches(item, schema[0]) for item in value)
    if not isinstance(value, dict):
        return False
    if str in schema:
        return all(matches(item, schema[str]) for item in value.values())
    return all(matches(value.get(key, ...), item) for key, item in schema.items())


def max_words_bytes(forms: Mapping[str, Sequence[str]], n_corpora: int) -> int:
    """Return an upper bound of the bytes that words take in an index."""
    texts = (text for word, all_forms in forms.items() for text in (word, *all_forms))
    return sum(20 + 6 * len(text) for text in texts) + len(forms) * (200 + 120 * n_corpora)


def damaged_file_error(path: Path) -> UserError:
    """Return the error for a file whose content is not what lexshift wrote."""
    return UserError(f"{str(path)!r} is not what lexshift wrote: the file is damaged, make the store again")


def first_difference(old_settings: dict[str, Any], new_settings: dict[str, Any], within: str = "") -> str | None:
    """Return a phrase for the first setting that differs; the name of a model counts only if its weights are unknown.

    ``within`` is the name of the group of settings that is compared.
    """
    for key in sorted(old_settings.keys() | new_settings.keys()):
        a, b = old_settings.get(key), new_settings.get(key)
        name = f"{within} {key}".strip()
        same_weights = old_settings.get("weights") == new_settings.get("weights")
        if key == "sampling" and (a is None or b is None or bool(a.get("shared")) != bool(b.get("shared"))):
            if a != b:
                return f"{_describe_sampling(a)}, not {_describe_sampling(b)}"
        elif isinstance(a, dict) and isinstance(b, dict):
            difference = first_difference(a, b, "" if key in ("encoder", "reading") else key)
            if difference:
                return difference
        elif a == b or (key == "model" and old_settings.get("weights") is not None and same_weights):
            continue
        elif key == "word_rule":
            return "another version of the rule for finding words"
        elif key == "weights":
            models = ", not ".join(str(settings.get("model"))[:_LONGEST] for settings in (old_settings, new_settings))
            return f"another model ({models}, or other weights of that name)"
        elif key != "config" or same_weights:
            return f"{name} {_SHORT.repr(a)}, not {_SHORT.repr(b)}"
    return None


def _describe_sampling(settings: dict[str, Any] | None) -> str:
    limit = None if settings is None else settings["max_per_word"]
    sample = "all occurrences of a word" if limit is None else f"at most {limit} of a word"
    return sample + (", in sentences shared between words" if settings and settings.get("shared") else "")

"""What shapes a store, and how two runs differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from lexshift.encode.protocol import optional_attribute

FORMAT = 1


def identity(
    settings: Mapping[str, Any], forms: Mapping[str, Sequence[str]], corpora: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """All that shapes a store; what a model is called does not, if its weights are known."""
    encoder = dict(settings["encoder"])
    if "weights" in encoder:
        encoder.pop("model", None)
    return {
        "format": FORMAT,
        "settings": {**settings, "encoder": encoder},
        "words": list(forms.items()),
        "corpora": [[entry["label"], entry["content"]] for entry in corpora],
    }


def has_settings(encoder: Any) -> bool:
    """Return whether an encoder says what shapes its vectors."""
    return isinstance(optional_attribute(encoder, "settings"), Mapping)


def digest(value: Any) -> str:
    """SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def first_difference(theirs: dict[str, Any], ours: dict[str, Any], within: str = "") -> str | None:
    """The first setting that differs, as a phrase; a model's name counts only if its weights are not known."""
    for key in sorted(theirs.keys() | ours.keys()):
        a, b = theirs.get(key), ours.get(key)
        name = f"{within} {key}".strip()
        if key == "sampling" and _kind(a) != _kind(b):
            return f"{_sampling(a)}, not {_sampling(b)}"
        if isinstance(a, dict) and isinstance(b, dict):
            found = first_difference(a, b, "" if key in ("encoder", "reading") else key)
            if found:
                return found
        elif key == "model" and theirs.get("weights") is not None and theirs.get("weights") == ours.get("weights"):
            continue
        elif key == "word_rule":
            if a != b:
                return "another version of the rule for finding words"
        elif key == "weights":
            if a != b:
                return f"another model ({theirs.get('model')}, not {ours.get('model')}, or other weights of that name)"
        elif a != b and not (key == "config" and theirs.get("weights") != ours.get("weights")):
            return f"{name} {a!r}, not {b!r}"
    return None


def _kind(settings: dict[str, Any] | None) -> str:
    return "all" if settings is None else "shared" if settings.get("shared") else "apart"


def _sampling(settings: dict[str, Any] | None) -> str:
    if settings is None:
        return "all occurrences of a word"
    most = settings["max_per_word"]
    sample = "all occurrences of a word" if most is None else f"at most {most} of a word"
    return sample + (", in sentences shared between words" if settings.get("shared") else "")

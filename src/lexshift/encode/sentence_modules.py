"""Read how a model of sentence-transformers pools the states of its transformer, from a folder or a loaded model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexshift.errors import UserError

_PLAIN_NAME = re.compile(r"[\w.-]*\w")  # a folder in the folder of the model
_DIRECTION_KEPT = ("normalize", "dropout")  # modules that do not change the direction of a vector
_FLAG = re.compile(r"pooling_mode_(\w+?)(_tokens?)?")
_MEANS = ("mean", "mean_sqrt_len")  # they differ by a factor


def folder_pooling(folder: Path) -> str:
    """Return the pooling of the model in a folder; the mean for a folder of another library."""
    path = folder / "modules.json"
    if not path.is_file():
        return "sentence"
    try:
        entries = [(entry["type"].rsplit(".", 1)[-1], entry["path"]) for entry in json.loads(path.read_bytes())[1:]]
        modules = [(kind, _read_config(folder, name) if kind.lower() == "pooling" else {}) for kind, name in entries]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise UserError(f"{str(path)!r} or the folder of a module in it is damaged; download the model again") from None
    return _describe(modules)


def _read_config(folder: Path, subfolder: str) -> Mapping[str, Any]:
    """Return the configuration of a module, or an empty one if only the files of the transformer are there."""
    if not _PLAIN_NAME.fullmatch(subfolder):
        raise ValueError(subfolder)
    path = folder / subfolder / "config.json"
    return dict(json.loads(path.read_bytes())) if path.is_file() else {}


def model_pooling(model: Any) -> str:
    """Return the pooling of a loaded model."""
    modules = [(type(module).__name__, module) for module in list(model.children())[1:]]
    return _describe([(kind, module.get_config_dict() if kind == "Pooling" else {}) for kind, module in modules])


def folder_length(folder: Path) -> int | None:
    """Return the maximum number of tokens with which the model in a folder is used, if the folder states it."""
    for path in sorted(folder.glob("sentence_*_config.json")):
        try:
            length = json.loads(path.read_bytes()).get("max_seq_length")
        except (OSError, ValueError, AttributeError, RecursionError):
            raise UserError(f"{str(path)!r} is damaged; download the model again") from None
        if isinstance(length, int) and length > 0:
            return length
    return None


def _describe(modules: list[tuple[str, Mapping[str, Any]]]) -> str:
    """Return "sentence" for the mean over all tokens, else the names of the modules that follow the transformer."""
    steps = []
    for kind, config in modules:
        if kind.lower() == "pooling":
            steps += ["mean" if mode in _MEANS else mode for mode in _pooling_modes(config)]
        elif kind.lower() not in _DIRECTION_KEPT:
            steps.append(kind)
    return "sentence" if steps in ([], ["mean"]) else ", ".join(steps)


def _pooling_modes(config: Mapping[str, Any]) -> list[str]:
    """Return the modes of a pooling module, which older versions store as one flag for each."""
    modes = config.get("pooling_mode")
    if modes is None:
        flags = [match[1] for key, value in config.items() if value is True and (match := _FLAG.fullmatch(key))]
        return flags or ["mean"]
    return [str(mode).removesuffix("_tokens") for mode in ([modes] if isinstance(modes, str) else modes)]

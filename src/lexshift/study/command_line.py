"""Reconstruct the command that made results, from their record."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from lexshift.study.settings import COMPARE, DISCOVER, NO_CONTROL, OPTIONS, SENSES, TRACE

COMMANDS = {"comparison": COMPARE, "discovery": DISCOVER, "trace": TRACE}
"""The command that makes each kind of results."""


def command_line(run: Mapping[str, Any], out: str) -> str | None:
    """Return the command that makes the same results; None if it is not known.

    It is not known if an object of Python, such as a loaded model, was used.

    Parameters
    ----------
    run : mapping
        The record of the results.
    out : str
        The folder of the results.
    """
    if "arguments" not in run:
        return None
    command, arguments = COMMANDS[run["kind"]], dict(run["arguments"])
    if _is_sense_study(arguments):
        command = SENSES
        del arguments["senses"], arguments["control"]
    if any(isinstance(value, dict) and isinstance(value.get("object"), str) for value in arguments.values()):
        return None
    parts = ["lexshift", command, *dict.fromkeys(entry["path"] for entry in run["corpora"])]
    if "min_count" not in run["settings"]:  # the user named the words
        parts += ["--words", _list_words(run)]
    for name, value in arguments.items():
        parts += format_option((*OPTIONS[name].flags, f"--{name.replace('_', '-')}")[0], value)
    return shlex.join([*parts, "--out", out])


def format_option(flag: str, value: Any) -> list[str]:
    """Return an option of the command line with its value.

    >>> format_option("--senses", True), format_option("--labels", ["old", "new"]), format_option("--rate", 0.4)
    (['--senses'], ['--labels', 'old,new'], ['--rate', '0.4'])
    """
    if value is True:
        return [flag]
    if flag == "--markers":
        return [flag, *value]
    if isinstance(value, (list, tuple, dict)):
        return [flag, ",".join(map(str, value))]
    return [flag, "0" if value is None else str(value)]  # 0 stands for all


def _is_sense_study(arguments: Mapping[str, Any]) -> bool:
    """Return whether the arguments are those of ``lexshift senses``, which has fewer options than compare."""
    is_bare = arguments.get("senses") is True and arguments.get("control") == NO_CONTROL
    others = [name for name in arguments if name not in ("senses", "control")]
    return is_bare and all(SENSES in OPTIONS[name].questions for name in others)


def _list_words(run: Mapping[str, Any]) -> str:
    """Return the value of --words: a list, or a placeholder for a file if words have forms that no rule finds."""
    has_forms = run["settings"]["match"] != "lemma" and any(forms != [word] for word, forms in run["forms"].items())
    if has_forms or any("," in word for word in run["words"]):
        return f"FILE_OF_{len(run['words'])}_WORDS"
    return ",".join(run["words"])

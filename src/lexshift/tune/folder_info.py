"""Describe the folder of a tuned model: what it was tuned on, with which settings, and whether training ended."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

from lexshift.study.command_line import format_option
from lexshift.study.folder_info import COMPLETE, INCOMPLETE, INTERRUPTED, FolderInfo, folder_size, read_object
from lexshift.tune.folder import PLAN, RUN, UNFINISHED
from lexshift.tune.settings import LanguageSettings, PairSettings, SenseSettings, TimeSettings
from lexshift.utils.quantities import with_unit

KINDS: dict[str, Any] = {
    "mlm": LanguageSettings,
    "time": TimeSettings,
    "wic": PairSettings,
    "senses": SenseSettings,
}
"""The settings of each kind of tuning."""


def describe_model(folder: Path) -> FolderInfo | None:
    """Return what the folder of a tuned model holds, also that of an interrupted run; None if it is something else.

    Parameters
    ----------
    folder : Path
    """
    run, unfinished = read_object(folder / RUN), folder / UNFINISHED
    plan = run.get("plan") if run else read_object(unfinished / PLAN)
    if not isinstance(plan, dict) or plan.get("kind") not in KINDS:
        return None
    missing = []
    if not run:
        n_checkpoints = sum(1 for _ in unfinished.glob("checkpoint-*"))
        missing.append(f"the model; its folder has {with_unit(n_checkpoints, 'checkpoints')}")
    elif not (folder / "config.json").is_file() and not (folder / "lexshift.json").is_file():
        missing.append("config.json")
    tuned = {name: run[name] for name in ("untuned", "tuned", "trained on", "held out") if name in run}
    return FolderInfo(
        path=str(folder),
        kind="tuned model",
        state=INTERRUPTED if not run else INCOMPLETE if missing else COMPLETE,
        missing=missing,
        command=_command(plan, str(folder)),
        lexshift=run.get("lexshift"),
        encoder=str(plan.get("model")),
        corpora=[{"name": str(name)} for name in plan.get("periods") or []],
        facts={"plan": plan} | tuned,
        bytes=folder_size(folder),
    )


def _command(plan: dict[str, Any], out: str) -> str:
    """Return the command that tunes the same model; a name in capitals stands for its data."""
    kind = plan["kind"]
    data = {"mlm": "CORPORA", "time": "CORPORA", "wic": "PAIRS", "senses": "SOURCES"}[kind]
    parts = ["lexshift", "tune", kind, data, "--model", str(plan.get("model"))]
    switches = [each.name for each in fields(KINDS[kind]) if isinstance(each.default, bool)]
    flags = {name: plan[name] for name in switches if name in plan}
    defaults = KINDS[kind](**flags)  # which depend on the flags
    for each in fields(defaults):
        implied = each.default if each.name in flags else getattr(defaults, each.name)
        value = plan.get(each.name, implied)
        if value != implied and value is not None:
            flag = (*each.metadata["flags"], f"--{each.name.replace('_', '-')}")[0]
            parts += [flag.split("/")[-1]] if value is False else format_option(flag.split("/")[0], value)
    return shlex.join([*parts, "--out", out])

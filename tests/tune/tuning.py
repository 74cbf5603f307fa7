"""Build the arguments of a tuning function in tests, with the settings gathered in an object."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from lexshift.tune.settings import TrainingSettings


def arguments(kind: type[TrainingSettings], options: dict[str, Any]) -> dict[str, Any]:
    """Move the options that are settings, and those in ``training``, into ``settings``."""
    others = dict(options)
    training = others.pop("training", None) or {}
    names = [field.name for field in fields(kind) if field.name in others]
    return {"settings": kind(**training | {name: others.pop(name) for name in names}), **others}

"""Tune an encoder on corpora, on the time of a text, or on the meaning of a word in context.

In: corpora or pairs of usages, a model and settings. Out: the folder of a tuned model, which can be the ``model`` of
every study. This package computes no scores.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lexshift.tune.folder import TunedModel
    from lexshift.tune.language_model import tune_mlm, tune_time
    from lexshift.tune.senses import tune_senses
    from lexshift.tune.settings import LanguageSettings, PairSettings, SenseSettings, TimeSettings
    from lexshift.tune.wic import tune_wic

_HOME = {
    "TunedModel": "folder",
    "tune_mlm": "language_model",
    "tune_time": "language_model",
    "LanguageSettings": "settings",
    "PairSettings": "settings",
    "SenseSettings": "settings",
    "TimeSettings": "settings",
    "tune_senses": "senses",
    "tune_wic": "wic",
}

__all__ = [
    "LanguageSettings",
    "PairSettings",
    "SenseSettings",
    "TimeSettings",
    "TunedModel",
    "tune_mlm",
    "tune_senses",
    "tune_time",
    "tune_wic",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is used, so that the settings can be imported without torch."""
    if name in _HOME:
        return getattr(import_module(f"lexshift.tune.{_HOME[name]}"), name)
    raise AttributeError(f"module 'lexshift.tune' has no attribute {name!r}")

"""Adapting an encoder: to corpora, to the time of a text, to the meaning of a word in context."""

from lexshift.tune.folder import TunedModel
from lexshift.tune.language import tune_mlm, tune_time
from lexshift.tune.schedule import Schedule
from lexshift.tune.wic import tune_wic

__all__ = ["Schedule", "TunedModel", "tune_mlm", "tune_time", "tune_wic"]

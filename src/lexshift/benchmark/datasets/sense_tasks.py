"""Recognise data sets in which the senses of usages are to be predicted: AXOLOTL-24 and SemEval-2027 Task 3."""

from __future__ import annotations

import os
from pathlib import Path

from lexshift.benchmark.datasets.axolotl import is_axolotl
from lexshift.benchmark.datasets.semeval2027 import language_folders


def is_sense_task(path: str | os.PathLike[str]) -> bool:
    """Return whether a file or folder is a data set of one of these tasks."""
    return is_axolotl(Path(path)) or bool(language_folders(Path(path)))

"""Which data set a path is, found out by looking."""

from __future__ import annotations

import os
from pathlib import Path

from lexshift import _checks
from lexshift.benchmark.dataset import Dataset
from lexshift.benchmark.dwug import is_dwug, load_dwug
from lexshift.benchmark.liverpool import is_liverpool, load_liverpool
from lexshift.benchmark.semeval import is_semeval, load_semeval
from lexshift.benchmark.table import is_table, load_table
from lexshift.errors import UserError

SUFFIXES = ("strip", "keep")


def load(path: str | os.PathLike[str], suffix: str = "strip") -> Dataset:
    """Read a data set as its makers release it, or a table of one's own.

    Parameters
    ----------
    path : str or path
        The folder of a release (SemEval-2020 Task 1, DWUG, DURel, RuShiftEval, Liverpool FC), or a csv or tsv file.
    suffix : "strip" or "keep"
        For SemEval: whether the part of speech at the end of a target (``plane_nn``) is hidden from the model.
    """
    place = Path(path)
    _checks.choice(suffix, "suffix", SUFFIXES)
    if not place.exists():
        raise UserError(f"no such file or folder: {str(place)!r} (looked from {os.getcwd()})")
    if is_semeval(place):
        return load_semeval(place, suffix)
    if is_dwug(place):
        return load_dwug(place)
    if is_liverpool(place):
        return load_liverpool(place)
    if is_table(place):
        return load_table(place)
    raise UserError(
        f"{str(place)!r} is no data set that is known: neither SemEval (targets.txt, corpus1, corpus2), nor DWUG or "
        f"DURel (data/*/uses.csv), nor Liverpool FC (annotated_words.csv, contexts.txt), nor a csv or tsv table"
    )

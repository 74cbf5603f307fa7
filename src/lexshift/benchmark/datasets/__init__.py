"""Data sets with human judgements, in the format of their release or as a table of your own.

Each release has a module that reads it into a :class:`~lexshift.benchmark.datasets.dataset.Dataset`. The
format of a path is recognised by the files in it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from lexshift.benchmark.datasets.dataset import Dataset, read_gold, set_gold
from lexshift.benchmark.datasets.dwug import is_dwug, load_dwug
from lexshift.benchmark.datasets.liverpool import is_liverpool, load_liverpool
from lexshift.benchmark.datasets.semeval import is_semeval, load_semeval
from lexshift.benchmark.datasets.sense_tasks import is_sense_task
from lexshift.benchmark.datasets.table import load_table
from lexshift.corpus.tables import is_table
from lexshift.errors import UserError
from lexshift.utils import checks

SUFFIXES = ("strip", "keep")


def load_dataset(
    path: str | os.PathLike[str], suffix: str = "strip", gold: str | os.PathLike[str] | None = None
) -> Dataset:
    """Read a data set.

    Parameters
    ----------
    path : str or path
        The folder of a release (SemEval-2020 Task 1, DWUG, DURel, RuShiftEval, Liverpool FC), or a csv or tsv file.
    suffix : "strip" or "keep"
        For SemEval: whether the part of speech at the end of a target (``plane_nn``) is hidden from the model.
    gold : str or path, optional
        Gold that replaces that of the data set: the folder of another release of the same words, or a file of
        ``word<TAB>value`` lines.

    Returns
    -------
    Dataset
    """
    location = Path(path)
    checks.choice(suffix, "suffix", SUFFIXES)
    if not location.exists():
        raise UserError(f"no such file or folder: {str(location)!r} (looked from {os.getcwd()})")
    if is_sense_task(location):
        raise UserError(
            f"{str(location)!r} is data of AXOLOTL-24 or SemEval-2027 Task 3, in which senses are to be predicted; "
            f"evaluate on it with lexshift eval"
        )
    if is_semeval(location):
        data = load_semeval(location, suffix)
    elif is_dwug(location):
        data = load_dwug(location)
    elif is_liverpool(location):
        data = load_liverpool(location)
    elif is_table(location):
        data = load_table(location)
    else:
        raise UserError(
            f"{str(location)!r} is in no known format: neither SemEval (targets.txt, corpus1, corpus2), nor DWUG "
            f"or DURel (data/*/uses.csv), nor Liverpool FC (annotated_words.csv, contexts.txt), nor a csv or tsv table"
        )
    data = replace(data, suffix=suffix)
    return data if gold is None else replace_gold(data, gold)


def replace_gold(data: Dataset, gold: str | os.PathLike[str]) -> Dataset:
    """Return the same usages with the gold of another release of the same words, or of word<TAB>value lines."""
    path = Path(gold)
    graded, binary, name = dict[str, float](), dict[str, bool](), path.name
    if path.is_dir():
        other = load_dataset(path)
        graded, binary, name = other.graded, other.binary, f"{other.gold} of {other.name}"
    else:
        for line, word, value in read_gold(path):
            set_gold(graded, word, value, path, line)
    graded = {word: value for word, value in graded.items() if word in data.words}
    binary = {word: value for word, value in binary.items() if word in data.words}
    if not graded and not binary:
        raise UserError(f"{str(path)!r} has gold for none of the words of {data.name}")
    return replace(data, graded=graded, binary=binary, gold=name)

"""Compute the tables and figures of the paper for any data set, next to the published figures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexshift import __version__
from lexshift.benchmark.datasets.dataset import Dataset
from lexshift.benchmark.evaluation import EMBEDDING, embed_dataset, make_settings
from lexshift.benchmark.paper.ablation import tabulate_ablation
from lexshift.benchmark.paper.exhibit import Exhibit
from lexshift.benchmark.paper.measurements import Measurements, measure
from lexshift.benchmark.paper.rates import (
    tabulate_curve,
    tabulate_divergences,
    tabulate_rates,
    tabulate_summary,
)
from lexshift.benchmark.paper.statistics import tabulate_statistics
from lexshift.benchmark.paper.systems import tabulate_comparison, tabulate_effectiveness
from lexshift.errors import UserError
from lexshift.study.settings import NO_CONTROL
from lexshift.utils.files import disk_faults, write_whole
from lexshift.utils.monitor import Monitor, Silent
from lexshift.utils.quantities import with_unit
from lexshift.utils.safe_csv import csv_text

FOLDER, RUN = "reproduction", "run.json"
_MIN_WORDS = 3  # for a correlation


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The paper's tables and figures for a data set.

    Attributes
    ----------
    exhibits : tuple of Exhibit
    run : dict
        The record of the run.
    folder : Path
        Folder of the store, and of the folder of CSV files.
    """

    exhibits: tuple[Exhibit, ...]
    run: dict[str, Any]
    folder: Path


def reproduce(data: Dataset, *, monitor: Monitor | None = None, **settings: Any) -> Reproduction:
    """Make each table and figure of the paper for a data set with graded gold, and write them as CSV files.

    The vectors are stored in the folder as well, and shared with :func:`lexshift.benchmark.evaluation.evaluate`.

    Parameters
    ----------
    data : Dataset
    monitor : Monitor, optional
    **settings
        ``repeats``, ``seed`` and :data:`lexshift.benchmark.evaluation.EMBEDDING`, as for :func:`lexshift.compare`;
        ``space`` is "raw" and ``min_usages`` 2 by default.

    Returns
    -------
    Reproduction
    """
    chosen = make_settings(reproduce, (*EMBEDDING, "repeats", "seed"), settings, space="raw", control=NO_CONTROL)
    if not data.graded:
        raise UserError(f"{data.name!r} has no graded gold to compare with")
    monitor = monitor or Silent()
    embedded_data = embed_dataset(data, chosen, monitor)
    judged = [value for word, value in data.graded.items() if word in embedded_data.pairs]
    if len(judged) < _MIN_WORDS:
        raise UserError(
            f"{data.name!r} has {with_unit(len(judged), 'words')} with graded gold and at least {chosen.min_usages} "
            f"usages in each period; a correlation needs {_MIN_WORDS}"
        )
    if len(set(judged)) == 1:
        raise UserError(f"the graded gold of {data.name!r} is the same for all words, so they cannot be ranked")
    exhibits = make_exhibits(measure(embedded_data, chosen.repeats, chosen.seed, monitor))
    run = {
        "lexshift": __version__,
        "data": data.record() | {"words": len(judged)},
        "embedding": embedded_data.siblings.settings,
        "store": embedded_data.siblings.fingerprint,
        **{name: getattr(chosen, name) for name in ("space", "min_usages", "repeats", "seed")},
    }
    folder = embedded_data.folder / FOLDER
    texts = {f"{exhibit.name}.csv": csv_text(exhibit.table) for exhibit in exhibits}
    with disk_faults(embedded_data.folder):
        folder.mkdir(exist_ok=True)
        for name, text in (texts | {RUN: json.dumps(run, indent=1, ensure_ascii=False) + "\n"}).items():
            write_whole(folder / name, text.encode("utf-8", "replace"))
    return Reproduction(exhibits, run, embedded_data.folder)


def make_exhibits(measurements: Measurements) -> tuple[Exhibit, ...]:
    """Make all tables and the figure, in the order of the page."""
    return (
        tabulate_statistics(measurements.data),
        tabulate_effectiveness(measurements),
        tabulate_comparison(measurements),
        tabulate_summary(measurements),
        tabulate_curve(measurements),
        tabulate_ablation(measurements),
        *(tabulate_rates(measurements, strategy) for strategy in ("random", "distance")),
        tabulate_divergences(measurements),
        *(tabulate_rates(measurements, strategy) for strategy in ("random, normalised", "distance, normalised")),
    )

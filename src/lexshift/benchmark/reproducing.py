"""The paper's tables and figure for a data set and an encoder: run, and kept as csv files and one page."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from lexshift import __version__
from lexshift.benchmark import methods
from lexshift.benchmark.exhibit import Exhibit, Measured
from lexshift.benchmark.reproduction import curve, divergences, rates, statistics, summary
from lexshift.benchmark.reproduction_systems import comparison, effectiveness
from lexshift.benchmark.reproduction_words import ablation
from lexshift.benchmark.running import Prepared, prepare
from lexshift.errors import UserError
from lexshift.scoring.sscd import SSCD
from lexshift.utils.files import disk_faults, write_whole
from lexshift.utils.monitor import Monitor, Silent
from lexshift.utils.safe_csv import csv_text

FOLDER, PAGE, RUN = "reproduction", "reproduction.html", "run.json"
_LEAST = 3  # words that can be correlated


@dataclass(frozen=True, eq=False)
class Reproduced:
    """The paper's tables and figure for a data set.

    Attributes
    ----------
    exhibits : tuple of Exhibit
    run : dict
        What was run.
    folder : Path
        Where the page and the folder of csv files are.
    """

    exhibits: tuple[Exhibit, ...]
    run: dict[str, Any]
    folder: Path

    @property
    def page(self) -> Path:
        """The file of the page."""
        return self.folder / PAGE


def reproduce(
    path: str | os.PathLike[str],
    *,
    model: Any = "minilm",
    out: str | os.PathLike[str] | None = None,
    space: str = "raw",
    suffix: str = "strip",
    gold: str | os.PathLike[str] | None = None,
    repeats: int = 20,
    seed: int = 0,
    monitor: Monitor | None = None,
    **options: Any,
) -> Reproduced:
    """Make each table and figure of the paper for a data set with graded gold, and keep them; vectors are kept too."""
    heard = monitor or Silent()
    settings = SSCD(repeats=repeats, seed=seed)  # which checks them
    prepared = prepare(path, model, out, space, suffix, heard, graded=True, gold=gold, **options)
    judged = [value for word, value in prepared.data.graded.items() if word in prepared.pairs]
    if len(judged) < _LEAST:
        raise UserError(
            f"{os.fspath(path)!r} has {len(judged)} words with graded gold and two usages in each period; a "
            f"correlation needs {_LEAST}"
        )
    if len(set(judged)) == 1:
        raise UserError(f"the graded gold of {os.fspath(path)!r} is the same for all words: there is nothing to rank")
    exhibits = exhibits_of(measure(prepared, settings, heard))
    run = {
        "lexshift": __version__,
        "data": {
            "name": prepared.data.name,
            "kind": prepared.data.kind,
            "gold": prepared.data.gold,
            "words": len(judged),
        },
        "suffix": suffix,
        "embedding": prepared.siblings.settings,
        "store": prepared.siblings.fingerprint,
        "space": space,
        "repeats": settings.repeats,
        "seed": settings.seed,
    }
    reproduced = Reproduced(exhibits, run, prepared.folder)
    _write(reproduced)
    return reproduced


def measure(prepared: Prepared, settings: SSCD, monitor: Monitor) -> Measured:
    """Score the words with all that the paper compares."""
    pairs, sizes, repeats, seed = prepared.pairs, prepared.sizes, settings.repeats, settings.seed
    monitor.stage("scoring", 3, "steps")
    grid = methods.grid(pairs, sizes, repeats=repeats, seed=seed)
    monitor.advance(1, 1)
    full = methods.grid(pairs, sizes, ["kl"], [1.0], repeats, seed, ["random"])
    apd = methods.original(pairs, "apd", seed=seed)
    monitor.advance(2, 2)
    liu = methods.liu(pairs, seed=seed)
    monitor.advance(3, 3)
    return Measured(prepared.data, pairs, grid, full, apd, liu)


def exhibits_of(measured: Measured) -> tuple[Exhibit, ...]:
    """All tables and the figure, in the order of the page."""
    return (
        statistics(measured.data),
        effectiveness(measured),
        comparison(measured),
        summary(measured),
        curve(measured),
        ablation(measured),
        *(rates(measured, strategy) for strategy in measured.grid.strategies if "normalised" not in strategy),
        divergences(measured),
        *(rates(measured, strategy) for strategy in measured.grid.strategies if "normalised" in strategy),
    )


def _write(reproduced: Reproduced) -> None:
    """Write a csv of each exhibit, what was run, and the page."""
    from lexshift.report.reproduction import render

    folder = reproduced.folder / FOLDER
    texts = {folder / f"{exhibit.name}.csv": csv_text(exhibit.table) for exhibit in reproduced.exhibits}
    texts[folder / RUN] = json.dumps(reproduced.run, indent=1, ensure_ascii=False) + "\n"
    texts[reproduced.page] = render(reproduced.exhibits, reproduced.run)
    with disk_faults(reproduced.folder):
        folder.mkdir(exist_ok=True)
        for path, text in texts.items():
            write_whole(path, partial(_put, text.encode("utf-8", "replace")))


def _put(content: bytes, file: IO[bytes]) -> None:
    file.write(content)

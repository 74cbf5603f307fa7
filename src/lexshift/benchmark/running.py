"""A whole evaluation: load a data set, embed its usages once, score them with every method, and keep what came out."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift import __version__
from lexshift.benchmark.dataset import PERIODS, Dataset
from lexshift.benchmark.evaluation import grid_table, judge, pairs_of, systems, table
from lexshift.benchmark.loading import load, with_gold
from lexshift.benchmark.methods import grid
from lexshift.errors import UserError
from lexshift.scoring.space import KINDS, fit_space
from lexshift.scoring.sscd import SSCD
from lexshift.store.embedding import embed_usages
from lexshift.store.siblings import Siblings
from lexshift.utils import checks
from lexshift.utils.arrays import Pairs
from lexshift.utils.files import disk_faults, write_whole
from lexshift.utils.monitor import Monitor, Silent
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

STORE, TABLE, GRID, RUN = "store", "evaluation.csv", "grid.csv", "evaluation.json"


@dataclass(frozen=True, eq=False)
class Evaluated:
    """What an evaluation found.

    Attributes
    ----------
    data : Dataset
    siblings : Siblings
    table : DataFrame
        A row for each method.
    grid : DataFrame, optional
        A row for each metric, strategy and rate.
    folder : Path
        Where it is kept.
    """

    data: Dataset
    siblings: Siblings
    table: pd.DataFrame
    grid: pd.DataFrame | None
    folder: Path


@dataclass(frozen=True, eq=False)
class Prepared:
    """A data set that is ready to be scored.

    Attributes
    ----------
    data : Dataset
    siblings : Siblings
    pairs : dict of a word to its (old, new) arrays
        Of the words with enough usages, in the space that was asked for.
    sizes : (int, int)
        Sentences of each period.
    folder : Path
        Where what is found is kept.
    """

    data: Dataset
    siblings: Siblings
    pairs: Pairs
    sizes: tuple[int, int]
    folder: Path


def prepare(
    path: str | os.PathLike[str],
    model: Any,
    out: str | os.PathLike[str] | None,
    space: str,
    suffix: str,
    monitor: Monitor,
    graded: bool = False,
    gold: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Prepared:
    """Load a data set, embed its usages unless they are kept already, and put the vectors into a space.

    The gold is that of the data set, or ``gold``. With ``graded`` it must be graded, else changed or not is enough.
    """
    checks.choice(space, "space", KINDS)
    data = load(path, suffix)
    if gold is not None:
        data = with_gold(data, gold)
    if not data.graded and (graded or not data.binary):
        raise UserError(f"{os.fspath(path)!r} has no {'graded ' if graded else ''}gold to compare with")
    folder = Path(out) if out is not None else Path(default_folder(data, model))
    siblings = embed_usages(data.usages, model, folder / STORE, PERIODS, monitor=monitor, **options)
    pairs = pairs_of(data, siblings)
    if not pairs:
        raise UserError(f"no word of {os.fspath(path)!r} has two usages in each period")
    sizes = (data.texts[0].sentences, data.texts[1].sentences)
    return Prepared(data, siblings, fit_space(pairs, space).of(pairs), sizes, folder)


def evaluate(
    path: str | os.PathLike[str],
    settings: SSCD,
    *,
    model: Any = "minilm",
    out: str | os.PathLike[str] | None = None,
    space: str = "standardised",
    normalised: bool = False,
    alpha: float = 0.05,
    with_grid: bool = False,
    suffix: str = "strip",
    gold: str | os.PathLike[str] | None = None,
    monitor: Monitor | None = None,
    **options: Any,
) -> Evaluated:
    """Evaluate SSCD and the other systems on a data set; its vectors are computed once and kept."""
    heard = monitor or Silent()
    checks.between_0_and_1(alpha, "alpha")
    prepared = prepare(path, model, out, space, suffix, heard, gold=gold, **options)
    data, siblings, pairs = prepared.data, prepared.siblings, prepared.pairs
    sizes, folder = prepared.sizes, prepared.folder
    chosen = replace(settings, corpus_sizes=sizes if normalised else None)
    heard.stage("scoring", 1, "grids" if with_grid else "methods")
    evaluations = table([judge(data, scored) for scored in systems(pairs, chosen, alpha)])
    gridded = None
    if with_grid:
        gridded = grid_table(data, grid(pairs, sizes, repeats=settings.repeats, seed=settings.seed))
    heard.advance(1, 1)
    run = {
        "lexshift": __version__,
        "data": {"name": data.name, "kind": data.kind, "words": len(data.words), "gold": data.gold, "suffix": suffix},
        "embedding": siblings.settings,
        "store": siblings.fingerprint,
        "space": space,
        "sscd": {
            "metric": settings.metric if isinstance(settings.metric, str) else settings.metric.name,
            "strategy": settings.strategy,
            "normalised": normalised,
            "rate": settings.rate,
            "keep": settings.keep,
            "repeats": settings.repeats,
            "seed": settings.seed,
        },
        "alpha": alpha,
        "skipped": data.skipped,
    }
    with disk_faults(folder):
        write_whole(folder / TABLE, lambda file: file.write(csv_text(evaluations).encode()))
        if gridded is not None:
            kept = gridded
            write_whole(folder / GRID, lambda file: file.write(csv_text(kept).encode()))
        text = json.dumps(run, indent=1, ensure_ascii=False) + "\n"
        write_whole(folder / RUN, lambda file: file.write(text.encode()))
    return Evaluated(data, siblings, evaluations, gridded, folder)


def default_folder(data: Dataset, model: Any) -> str:
    """A folder named after the data set and the model."""
    named = model if isinstance(model, str) else type(model).__name__
    return "lexshift-eval-" + "-".join(re.sub(r"[^\w.]+", "_", Path(name).name) for name in (data.name, named))

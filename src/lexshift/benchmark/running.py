"""A whole evaluation: load a data set, embed its usages once, score them with every method, and keep what came out."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift import __version__, _checks
from lexshift._files import disk_faults, write_whole
from lexshift.benchmark.dataset import PERIODS, Dataset
from lexshift.benchmark.evaluation import grid_table, judge, pairs_of, systems, table
from lexshift.benchmark.loading import load
from lexshift.benchmark.methods import grid
from lexshift.embedding import embed_usages
from lexshift.errors import UserError
from lexshift.monitor import Monitor, Silent
from lexshift.siblings import Siblings
from lexshift.space import KINDS, fit_space
from lexshift.sscd import SSCD

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


def evaluate(
    path: str | os.PathLike[str],
    settings: SSCD,
    *,
    model: Any = "minilm",
    out: str | os.PathLike[str] | None = None,
    space: str = "raw",
    normalised: bool = False,
    alpha: float = 0.05,
    with_grid: bool = False,
    suffix: str = "strip",
    monitor: Monitor | None = None,
    **options: Any,
) -> Evaluated:
    """Evaluate SSCD and the other systems on a data set; its vectors are computed once and kept."""
    heard = monitor or Silent()
    _checks.choice(space, "space", KINDS)
    _checks.between_0_and_1(alpha, "alpha")
    data = load(path, suffix)
    if not data.graded and not data.binary:
        raise UserError(f"{os.fspath(path)!r} has no gold to compare with")
    folder = Path(out) if out is not None else Path(default_folder(data, model))
    siblings = embed_usages(data.usages, model, folder / STORE, PERIODS, monitor=heard, **options)
    pairs = pairs_of(data, siblings)
    if not pairs:
        raise UserError(f"no word of {os.fspath(path)!r} has two usages in each period")
    pairs = fit_space(pairs, space).of(pairs)
    sizes = (data.texts[0].sentences, data.texts[1].sentences)
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
            "repeats": settings.repeats,
            "seed": settings.seed,
        },
        "alpha": alpha,
        "skipped": data.skipped,
    }
    with disk_faults(folder):
        write_whole(folder / TABLE, lambda file: file.write(evaluations.to_csv(index=False).encode()))
        if gridded is not None:
            kept = gridded
            write_whole(folder / GRID, lambda file: file.write(kept.to_csv(index=False).encode()))
        text = json.dumps(run, indent=1, ensure_ascii=False) + "\n"
        write_whole(folder / RUN, lambda file: file.write(text.encode()))
    return Evaluated(data, siblings, evaluations, gridded, folder)


def default_folder(data: Dataset, model: Any) -> str:
    """A folder named after the data set and the model."""
    named = model if isinstance(model, str) else type(model).__name__
    return "lexshift-eval-" + "-".join(re.sub(r"[^\w.]+", "_", Path(name).name) for name in (data.name, named))

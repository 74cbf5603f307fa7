"""Tune an encoder on the sentences of a data set, and evaluate it before and after.

Tunes a model on the data set's own sentences, with time tokens, with temporal attention or without either, and makes
the paper's main comparison with the model before and after: Cosine, APD, DSCD, SSCD with random and with distance-based
swapping. Prints the tables and writes them as CSV.

    python benchmarks/adapted.py FOLDER --out DIR --kind time --steps 600 --learning-rate 4e-4

An interrupted run resumes where it stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from lexshift.benchmark.datasets import load_dataset
from lexshift.benchmark.datasets.dataset import write_texts
from lexshift.benchmark.evaluation import evaluate
from lexshift.benchmark.paper import reproduce
from lexshift.tune import LanguageSettings, TimeSettings, TunedModel, tune_mlm, tune_time
from lexshift.utils.progress import Bars


def tune(kind: str, texts: list[Path], out: Path, model: str, training: dict[str, Any]) -> TunedModel:
    with Bars() as bars:
        if kind == "mlm":
            settings = LanguageSettings(**training)
            return tune_mlm(*texts, out=out, model=model, settings=settings, monitor=bars, split="lines")
        timed = TimeSettings(**training, attention=kind != "time", tokens=kind in ("time", "both"))
        return tune_time(*texts, out=out, model=model, settings=timed, monitor=bars, split="lines")


def score_systems(folder: str, model: str, out: Path) -> pd.DataFrame:
    """Return the paper's main comparison with raw vectors, then the systems of eval with standardised ones."""
    with Bars() as bars:
        data = load_dataset(folder)
        exhibits = reproduce(data, model=model, out=out, monitor=bars).exhibits
        table = evaluate(data, model=model, out=out, control="none", monitor=bars).table
    paper = next(exhibit for exhibit in exhibits if exhibit.name == "comparison").table
    paper, table = (each[each["spearman"].notna()] for each in (paper, table))
    rows = [
        {"vectors": "raw", "system": f"{row.system}, {row.setting}" if row.setting else row.system}
        | {name: getattr(row, name) for name in ("spearman", "low", "high", "spearman_each")}
        for row in paper.fillna({"setting": ""}).itertuples()
    ]
    rows += [
        {"vectors": "standardised", "system": row.method}
        | {name: getattr(row, name) for name in ("spearman", "low", "high", "spearman_each")}
        for row in table.itertuples()
    ]
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--kind", choices=("mlm", "time", "attention", "both"), default="time")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--learning-rate", type=float, default=4e-4)
    parser.add_argument("--every", type=int, default=100)
    options = parser.parse_args()
    texts = write_texts(load_dataset(options.folder), options.out / "texts")
    training = {"steps": options.steps, "learning_rate": options.learning_rate, "every": options.every}
    tuned = tune(options.kind, texts, options.out / options.kind, options.model, training)
    print(tuned.history.to_string(index=False))
    tables = {
        "before": score_systems(options.folder, options.model, options.out / "before"),
        options.kind: score_systems(options.folder, str(tuned.folder), options.out / f"{options.kind}-scores"),
    }
    for name, table in tables.items():
        table.to_csv(options.out / f"{name}.csv", index=False)
        print(f"\n{name}\n{table.to_string(index=False)}")
    tuned.history.to_csv(options.out / f"{options.kind}-history.csv", index=False)


if __name__ == "__main__":
    main()

"""Tune an encoder on Word-in-Context pairs, and evaluate it before and after on data sets with graded judgements.

Tunes a model on pairs, and evaluates the model before and after on a data set. Prints the tables, writes them as CSV.

    python benchmarks/adapted_pairs.py TRAIN DEV FOLDER... --out DIR [--model MODEL] [--light] [--pooling mean]

FOLDER is a data set, or FOLDER=GOLD to use the gold of another release. An interrupted run resumes where it stopped.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd

from lexshift import SSCD
from lexshift.benchmark.datasets import load_dataset
from lexshift.benchmark.evaluation import embed_dataset, evaluate_system
from lexshift.benchmark.systems import score_distance, score_sscd
from lexshift.study.settings import Settings
from lexshift.tune import PairSettings, tune_wic
from lexshift.utils.progress import Bars

ALONE = ("cosine", "braycurtis", "apd", "dscd-cosine", "nearest")
SWAPPED = ("cosine", "braycurtis", "apd", "nearest")


def score_systems(folder: str, model: str, out: Path, space: str) -> pd.DataFrame:
    """Evaluate distances alone, and SSCD at rate 0.5 with distance weights 0 and 0.8."""
    path, _, gold = folder.partition("=")
    settings = Settings(model=model, out=out / Path(path).name, space=space, min_usages=2, control="none")
    with Bars() as bars:
        data = load_dataset(path, gold=gold or None)
        pairs = embed_dataset(data, settings, bars).pairs
    systems = [score_distance(pairs, metric) for metric in ALONE]
    systems += [
        score_sscd(pairs, SSCD(metric, rate=0.5, distance_weight=weight)) for metric in SWAPPED for weight in (0.0, 0.8)
    ]
    table = pd.DataFrame([evaluate_system(data, scores) for scores in systems])
    table = table[["method", "spearman", "low", "high", "spearman_each", "words"]]
    table.insert(0, "vectors", space)
    table.insert(0, "data", Path(path).name + (f", gold of {Path(gold).name}" if gold else ""))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--pooling", default="sentence")
    parser.add_argument("--epochs", type=float)
    parser.add_argument("--learning-rate", type=float)
    options = parser.parse_args()
    training = {"light": options.light, "pooling": options.pooling, "epochs": options.epochs}
    settings = PairSettings(**training, learning_rate=options.learning_rate)
    name = "light" if options.light else options.pooling
    with Bars() as bars:
        tuned = tune_wic(
            options.train,
            out=options.out / name,
            model=options.model,
            dev=[options.dev],
            settings=settings,
            monitor=bars,
        )
    print(json.dumps({key: tuned.run[key] for key in ("untuned", "tuned", "seconds", "best step")}, indent=1))
    tables = []
    for which, model in (("untuned", options.model), ("tuned", str(tuned.folder))):
        for folder in options.folders:
            for space in ("raw", "standardised"):
                scores = score_systems(
                    folder, model, options.out / ("untuned" if which == "untuned" else f"{name}-scores"), space
                )
                scores.insert(0, "model", which)
                tables.append(scores)
    everything = pd.concat(tables)
    everything.to_csv(options.out / f"{name}.csv", index=False)
    print(everything.to_string(index=False))


if __name__ == "__main__":
    main()

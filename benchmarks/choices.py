"""Compare choices of the defaults: layers, space, metric, ``distance_weight`` and the swap rate.

Every usage of a data set is embedded once with all layers, and all choices are scored from the same vectors, by default
with at most 200 usages of a word in a period. One choice is varied at a time about the default. Prints Spearman's
correlation with the graded gold and its bootstrap interval over words, and writes the same as CSV.

    python benchmarks/choices.py FOLDER... --model minilm --layers 6 --store STORES --csv choices.csv

FOLDER is a data set, or FOLDER=GOLD to use the gold of another release. STORES is the folder of the vectors.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from lexshift import SSCD, Siblings, embed_usages
from lexshift.benchmark.datasets import load_dataset
from lexshift.benchmark.datasets.dataset import PERIODS, Dataset
from lexshift.benchmark.evaluation import evaluate_system, select_pairs
from lexshift.benchmark.systems import SystemScores, score_distance, score_sscd
from lexshift.scoring.space import KINDS, fit_space
from lexshift.utils.arrays import Matrix, Pairs

LAYERS = ("last", "mean:2", "mean:4", "mean:all", "concat:2", "concat:4")
PLAIN = ("cosine", "braycurtis", "apd", "nearest")
SWAPPED = ("kl", "jeffreys", "braycurtis", "cosine", "apd", "nearest")


def embed_all_layers(data: Dataset, model: str, layers: int, store: Path) -> Siblings:
    folder = store / f"{data.name}-{Path(model).name}"
    return embed_usages(data.usages, model, folder, PERIODS, precision="float16", layers=f"concat:{layers}")


def sample_rows(rows: Matrix, most: int, rng: np.random.Generator) -> Matrix:
    chosen = np.sort(rng.permutation(len(rows))[:most])
    return np.asarray(rows[chosen], np.float32)


def select_layers(rows: Matrix, spec: str, depth: int) -> Matrix:
    """Return the vectors of a layer specification, from those of all layers, (n, depth * d)."""
    kind, _, n = spec.partition(":")
    taken = 1 if kind == "last" else depth if n == "all" else int(n)
    parts = rows.reshape(len(rows), depth, -1)[:, depth - taken :]  # (n, taken, d)
    return parts.reshape(len(rows), -1) if kind == "concat" else parts.mean(axis=1)


def score_choices(pairs: Pairs, depth: int, layers_only: bool) -> list[tuple[str, str, str, SystemScores]]:
    """Return the varied setting, its value, the other settings and the scores, for each choice."""

    def space(spec: str = "mean:4", kind: str = "standardised") -> Pairs:
        chosen = {
            word: (select_layers(old, spec, depth), select_layers(new, spec, depth))
            for word, (old, new) in pairs.items()
        }
        return fit_space(chosen, kind).apply_to_words(chosen)

    default = partial(SSCD, "nearest", rate=0.5, distance_weight=0.8)
    rows = [("layers", spec, "default", score_sscd(space(spec), default())) for spec in LAYERS]
    if layers_only:
        return rows
    standard = space()
    rows += [("space", kind, "default", score_sscd(space(kind=kind), default())) for kind in KINDS]
    rows += [("space", kind, "APD alone", score_distance(space(kind=kind), "apd")) for kind in KINDS]
    rows += [("distance alone", metric, "standardised", score_distance(standard, metric)) for metric in PLAIN]
    rows += [
        ("metric of SSCD", metric, "distance weight 0", score_sscd(standard, SSCD(metric, rate=0.5)))
        for metric in SWAPPED
    ]
    rows += [
        ("distance weight", f"{weight:g}", "default", score_sscd(standard, default(distance_weight=weight)))
        for weight in (0, 0.2, 0.5, 0.8, 1)
    ]
    rows += [
        ("rate", f"{rate:g}", "default", score_sscd(standard, default(rate=rate))) for rate in (0.1, 0.3, 0.5, 0.7)
    ]
    rows.append(("strategy", "distance", "default", score_sscd(standard, default(strategy="distance"))))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--layers", type=int, required=True, help="number of layers of the model")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--most", type=int, default=200, help="maximum number of usages of a word in a period")
    parser.add_argument("--layers-only", action="store_true", help="vary the layers and nothing else")
    options = parser.parse_args()
    rows = []
    for folder in options.folders:
        path, _, gold = folder.partition("=")
        data = load_dataset(path, gold=gold or None)
        siblings = embed_all_layers(data, options.model, options.layers, options.store)
        rng = np.random.default_rng(0)
        pairs = {
            word: (sample_rows(old, options.most, rng), sample_rows(new, options.most, rng))
            for word, (old, new) in select_pairs(data, siblings).items()
        }
        data_name = data.name + (f", gold of {Path(gold).name}" if gold else "")
        for varied, value, rest, scores in score_choices(pairs, options.layers, options.layers_only):
            evaluation = evaluate_system(data, scores)
            rows.append(
                {
                    "data": data_name,
                    "encoder": Path(options.model).name,
                    "varied": varied,
                    "value": value,
                    "rest": rest,
                    "spearman": round(evaluation.spearman, 3),
                    "low": round(evaluation.low, 3),
                    "high": round(evaluation.high, 3),
                    "words": evaluation.words,
                }
            )
            print("  ".join(f"{v!s:<14}" for v in rows[-1].values()), flush=True)
    pd.DataFrame(rows).to_csv(options.csv, index=False)


if __name__ == "__main__":
    main()

"""The comparison behind the defaults: layers, space, metric, what is kept of the distance, and the swap rate.

Every usage of a data set is embedded once with all layers, and all choices are scored from the same vectors, by default
with at most 200 usages of a word in a period. One choice is varied at a time about the default. Prints Spearman's
correlation with the graded gold and its bootstrap interval over words, and writes the same as CSV.

    python benchmarks/choices.py FOLDER... --model minilm --layers 6 --store STORES --csv choices.csv

FOLDER is a data set, or FOLDER=GOLD to judge it by another's gold. STORES keeps the vectors.
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


def siblings_of(data: Dataset, model: str, layers: int, store: Path) -> Siblings:
    folder = store / f"{data.name}-{Path(model).name}"
    return embed_usages(data.usages, model, folder, PERIODS, precision="float16", layers=f"concat:{layers}")


def sampled(rows: Matrix, most: int, rng: np.random.Generator) -> Matrix:
    chosen = np.sort(rng.permutation(len(rows))[:most])
    return np.asarray(rows[chosen], np.float32)


def layered(rows: Matrix, spec: str, depth: int) -> Matrix:
    """Vectors of all layers (n, depth * d) to those of a specification."""
    kind, _, n = spec.partition(":")
    taken = 1 if kind == "last" else depth if n == "all" else int(n)
    parts = rows.reshape(len(rows), depth, -1)[:, depth - taken :]  # (n, taken, d)
    return parts.reshape(len(rows), -1) if kind == "concat" else parts.mean(axis=1)


def choices(pairs: Pairs, depth: int, layers_only: bool) -> list[tuple[str, str, str, SystemScores]]:
    """What is varied, its value, the rest of the setting, and the scores."""

    def space(spec: str = "mean:4", kind: str = "standardised") -> Pairs:
        chosen = {word: (layered(old, spec, depth), layered(new, spec, depth)) for word, (old, new) in pairs.items()}
        return fit_space(chosen, kind).apply_to_words(chosen)

    default = partial(SSCD, "nearest", rate=0.3, keep=0.25)
    rows = [("layers", spec, "default", score_sscd(space(spec), default())) for spec in LAYERS]
    if layers_only:
        return rows
    standard = space()
    rows += [("space", kind, "default", score_sscd(space(kind=kind), default())) for kind in KINDS]
    rows += [("space", kind, "APD alone", score_distance(space(kind=kind), "apd")) for kind in KINDS]
    rows += [("distance alone", metric, "standardised", score_distance(standard, metric)) for metric in PLAIN]
    rows += [("metric of SSCD", metric, "keep 0", score_sscd(standard, SSCD(metric, rate=0.3))) for metric in SWAPPED]
    rows += [
        ("keep", f"{keep:g}", "default", score_sscd(standard, default(keep=keep))) for keep in (0, 0.1, 0.25, 0.5, 1)
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
    parser.add_argument("--layers", type=int, required=True, help="how many the model has")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--most", type=int, default=200, help="usages of a word in a period")
    parser.add_argument("--layers-only", action="store_true", help="vary the layers and nothing else")
    options = parser.parse_args()
    found = []
    for folder in options.folders:
        path, _, gold = folder.partition("=")
        data = load_dataset(path, gold=gold or None)
        siblings = siblings_of(data, options.model, options.layers, options.store)
        rng = np.random.default_rng(0)
        pairs = {
            word: (sampled(old, options.most, rng), sampled(new, options.most, rng))
            for word, (old, new) in select_pairs(data, siblings).items()
        }
        named = data.name + (f", gold of {Path(gold).name}" if gold else "")
        for varied, value, rest, scored in choices(pairs, options.layers, options.layers_only):
            evaluated = evaluate_system(data, scored)
            found.append(
                {
                    "data": named,
                    "encoder": Path(options.model).name,
                    "varied": varied,
                    "value": value,
                    "rest": rest,
                    "spearman": round(evaluated.spearman, 3),
                    "low": round(evaluated.low, 3),
                    "high": round(evaluated.high, 3),
                    "words": evaluated.words,
                }
            )
            print("  ".join(f"{v!s:<14}" for v in found[-1].values()), flush=True)
    pd.DataFrame(found).to_csv(options.csv, index=False)


if __name__ == "__main__":
    main()

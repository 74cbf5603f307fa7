"""Measure how well planted change is recovered, and how often change is detected where none was planted.

Pseudowords replace pairs of words of a corpus, with changes from 0 to 1 in even steps, as in ``lexshift simulate``.
The first table is Spearman's correlation with the planted change of the score of ``compare`` and of its two parts,
``sscd`` and ``distance``. The second one is that of other metrics, from the same vectors. For the third, the usages of
each name are dealt to old and new anew at random, so that nothing changed, and tested as ``compare`` tests them.

    python benchmarks/planted.py CORPUS --out FOLDER
    python benchmarks/planted.py --separate OLD NEW --out FOLDER

With --separate, change is planted in an old and a new corpus that differ as wholes, as in ``lexshift simulate OLD NEW
--separate``, and the third table is left out. FOLDER is the folder of the corpora and the vectors.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from lexshift import UserError, benjamini_hochberg, compare, decide, permutation_test
from lexshift.benchmark.measures import spearman
from lexshift.benchmark.systems import score_distance, score_sscd
from lexshift.scoring.scores import tested_metric
from lexshift.simulation.corpora import simulate
from lexshift.study.settings import Settings
from lexshift.utils.arrays import Matrix, Pairs

DEFAULT = Settings()
DISTANCES = ("nearest", "apd", "cosine", "euclidean", "braycurtis", "jeffreys")


def correlate_parts(table: pd.DataFrame) -> pd.DataFrame:
    """Return Spearman's correlation of the score and its parts with the planted change."""
    correlations = {name: spearman(table[name], table["planted"]) for name in ("score", "sscd", "distance")}
    rows = [(name, rho.rho, rho.low, rho.high, rho.words) for name, rho in correlations.items()]
    return pd.DataFrame(rows, columns=["column", "spearman", "low", "high", "names"])


def correlate_metrics(pairs: Pairs, gold: dict[str, float]) -> pd.DataFrame:
    """Return Spearman's correlation of SSCD and of the distance of several metrics with the planted change."""
    systems = {}
    for name in DISTANCES:
        systems[f"SSCD {name}"] = score_sscd(pairs, replace(DEFAULT.sscd(), metric=name, distance_weight=0.0))
        systems[f"{name} alone"] = score_distance(pairs, name)
    rows = []
    for name, scores in systems.items():
        rho = spearman(scores.mean, [gold[word] for word in pairs])
        rows.append((name, rho.rho, rho.low, rho.high))
    return pd.DataFrame(rows, columns=["score", "spearman", "low", "high"])


def resplit(rows: Matrix, seed: int) -> tuple[Matrix, Matrix]:
    order = np.random.default_rng(seed).permutation(len(rows))
    return rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]


def count_false_positives(pairs: Pairs, seeds: int, alpha: float = 0.05) -> dict[str, tuple[int, int]]:
    """Return how often a pseudoword is called changed although its usages were dealt at random, and of how many."""
    pooled = {word: np.concatenate(pairs[word]) for word in pairs}
    p = np.empty((seeds, len(pooled)))
    for seed in range(seeds):
        for k, (word, rows) in enumerate(pooled.items()):
            old, new = resplit(rows, seed * len(pooled) + k)
            p[seed, k] = permutation_test(old, new, tested_metric(DEFAULT.metric, old, new), 10_000, seed, word).p
    is_changed = np.array([decide(benjamini_hochberg(row), alpha) for row in p])  # (seeds, names)
    return {
        f"names with p <= {alpha}": (int((p <= alpha).sum()), p.size),
        f"names with q <= {alpha}": (int(is_changed.sum()), is_changed.size),
        f"runs with any name with q <= {alpha}": (int(is_changed.any(axis=1).sum()), seeds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--separate", action="store_true", help="plant in an old and a new corpus")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--model", default="minilm-senses")
    parser.add_argument("--space", default=DEFAULT.space)
    parser.add_argument("--names", type=int, default=40)
    parser.add_argument("--usages", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=50, help="random deals of the second table")
    options = parser.parse_args()
    try:
        run(options)
    except UserError as error:
        parser.error(str(error))


def run(options: argparse.Namespace) -> None:
    corpora = options.out / "corpora"
    planted = simulate(
        *options.corpora,
        out=corpora,
        pseudowords=options.names,
        usages=options.usages,
        separate=options.separate,
        seed=options.seed,
        monitor=False,
    )
    gold = dict(zip(planted["word"], planted["change"], strict=True))
    periods = ("old", "new") if options.separate else ("old.txt", "new.txt")
    result = compare(
        *(corpora / name for name in (*periods, "words.txt")),
        model=options.model,
        space=options.space,
        out=options.out / "comparison",
    )
    table = result.table.assign(planted=result.table["word"].map(gold))
    table = table.merge(planted[["word", "first", "second"]], on="word").sort_values("planted")
    columns = ["word", "first", "second", "planted", "score", "sscd", "distance", "p", "verdict"]
    print(table[columns].to_string(index=False))
    print(f"\ncompare:\n{correlate_parts(table).round(3).to_string(index=False)}\n")
    pairs = {word: result.word(word).vectors for word in gold}
    print(correlate_metrics(pairs, gold).round(3).to_string(index=False))
    if options.separate:
        return
    print(f"\nnothing planted, {options.seeds} random deals:")
    for what, (count, tries) in count_false_positives(pairs, options.seeds).items():
        low, high = binomtest(count, tries).proportion_ci(method="wilson")
        print(f"{what}: {count:,} of {tries:,}, {count / tries:.4f} ({low:.4f} to {high:.4f})")


if __name__ == "__main__":
    main()

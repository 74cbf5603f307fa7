"""Compare orders of usages as evidence for a change, within a period.

A usage of a sense whose share grew should come before a usage of a sense whose share shrank. The gold value of a usage
is the logarithm of the ratio of the shares of its sense in the two periods, without the usage itself. Prints Spearman's
correlation and the area under the ROC curve (grown or shrunken sense) within a period, averaged over periods and words,
with 95 % intervals over words, and the differences from the leanings.

    python benchmarks/usage_evidence.py dwug FOLDER STORE
    python benchmarks/usage_evidence.py planted noad.jsonl.gz

The first command uses the clusters of a DWUG release, and its vectors in a store that ``benchmarks/sense_encoders.py``
made with the encoder minilm-senses. The second plants changes in sense-labelled usages of lemmas that the encoder was
not trained on: "mixed" divides them at random into two periods, otherwise SemCor is the old and MASC the new period.
Parameters are chosen by the second command only.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist
from scipy.stats import mannwhitneyu, spearmanr

from lexshift import Siblings
from lexshift.corpus.tables import read_table
from lexshift.encode import as_encoder
from lexshift.encode.adaptation import Calibration
from lexshift.encode.protocol import optional_attribute
from lexshift.senses.usage_shift import usage_shift
from lexshift.tune.sense_blocks import is_held_out
from lexshift.tune.settings import SenseSettings
from lexshift.utils.arrays import Array, Floats, Indices, Matrix

REACHES = (0.5, 1.0, 2.0, 4.0)
LEAST_PERIOD, LEAST_SENSE, LEAST_LEMMA, MOST = 8, 5, 24, 200  # usages
Word = tuple[str, Matrix, Indices, Array]  # name, vectors, periods, senses


def log_ratio(senses: Array, periods: Indices, leave_out: bool) -> Floats:
    """Return the logarithm of the ratio of the new to the old share of each usage's sense, (n,)."""
    same = (senses[:, None] == senses).astype(float)  # (n, n)
    if leave_out:
        np.fill_diagonal(same, 0)
    old, new = (same[:, periods == t].sum(axis=1) + 0.5 for t in (0, 1))
    return np.log(new / (np.sum(periods == 1) + 1)) - np.log(old / (np.sum(periods == 0) + 1))


def orders(vectors: Matrix, periods: Indices, calibration: Calibration) -> dict[str, Floats]:
    """Return the value of each usage by each method, (n,); high values are evidence for what is new."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit.astype(float) @ unit.T.astype(float)
    is_old, is_new = periods == 0, periods == 1
    others = cosine.copy()
    np.fill_diagonal(others, 0)
    old, new = (others[:, side].sum(axis=1) / (side.sum() - side) for side in (is_old, is_new))
    values = {"leanings": new - old}
    for reach in REACHES:
        shift = np.empty(len(periods))
        shift[is_old], shift[is_new] = usage_shift(np.maximum(1 - cosine[np.ix_(is_old, is_new)], 0), reach)
        values[f"transport, reach {reach:g}"] = shift
    threshold = 1 + calibration.intercept / calibration.slope  # the distance at a probability of 1/2
    clusters = fcluster(linkage(pdist(unit, "cosine"), "average"), threshold, "distance")
    return values | {"clusters": log_ratio(clusters, periods, leave_out=False)}


def agreement(values: Floats, gold: Floats, periods: Indices) -> tuple[float, float]:
    """Return the mean correlation and area under the curve within a period; NaN if the gold does not vary."""
    rho, area = [], []
    for t in (0, 1):
        x, y = values[periods == t], gold[periods == t]
        if len(x) >= LEAST_PERIOD and np.ptp(y) > 0:
            rho.append(spearmanr(x, y).statistic if np.ptp(x) > 0 else 0.0)
            grown, shrunken = x[y > 0], x[y < 0]
            if len(grown) and len(shrunken):
                area.append(mannwhitneyu(grown, shrunken).statistic / (len(grown) * len(shrunken)))
    return float(np.mean(rho)) if rho else np.nan, float(np.mean(area)) if area else np.nan


def compare(words: Iterator[Word], calibration: Calibration) -> pd.DataFrame:
    """Return a table of all methods: means over words, with intervals, and differences from the leanings."""
    found = defaultdict(list)
    for name, vectors, periods, senses in words:
        known = senses != "-1"
        gold = log_ratio(senses[known], periods[known], leave_out=True)
        for method, values in orders(vectors, periods, calibration).items():
            found[method].append((name, *agreement(values[known], gold, periods[known])))
    rng, rows = np.random.default_rng(0), []
    tables = {method: pd.DataFrame(rows).groupby(0).mean().dropna(subset=[1]) for method, rows in found.items()}
    for method, table in tables.items():
        row: dict[str, float | str] = {"method": method, "words": len(table)}
        for column, name in ((1, "rho"), (2, "area")):
            draws = rng.integers(0, len(table), (2000, len(table)))
            for label, values in ((name, table[column]), (f"{name} diff", table[column] - tables["leanings"][column])):
                low, high = np.nanpercentile(np.nanmean(values.to_numpy()[draws], axis=1), [2.5, 97.5])
                row[label] = f"{values.mean():.3f} [{low:.3f}, {high:.3f}]"
        rows.append(row)
    return pd.DataFrame(rows)


def read_dwug(folder: Path, store: Path) -> Iterator[Word]:
    """Return the words of a DWUG release with their vectors, periods and clusters ("-1" for none)."""
    siblings = Siblings(store)
    for word in siblings.words:
        clusters = {row["identifier"]: row["cluster"] for _, row in read_table(folder / f"clusters/opt/{word}.csv", ())}
        names = {line: row["identifier"] for line, row in read_table(folder / f"data/{word}/uses.csv", ())}
        sides = [siblings.group(word, corpus) for corpus in siblings.corpora]
        lines = [line for corpus in siblings.corpora for line in siblings[word].occurrences(corpus)["line"]]
        senses = np.array([clusters.get(names[line], "-1") for line in lines])
        yield word, np.concatenate(sides), np.repeat([0, 1], [len(side) for side in sides]), senses


def plant(path: Path, mixed: bool, repeats: int = 6) -> Iterator[Word]:
    """Return held-out lemmas whose senses have random shares in two periods, several times each."""
    settings, usages = SenseSettings(), defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            for start, end, lemma, pos, sense in line["words"]:
                if is_held_out(lemma, settings.held_out, settings.seed):
                    usages[f"{lemma} {pos}"].append((line["sentence"], (start, end), sense, line["source"] == "masc"))
    encoder, rng = as_encoder("minilm-senses"), np.random.default_rng(0)
    for word, rows in usages.items():
        counts = Counter(row[2] for row in rows)
        if len(rows) < LEAST_LEMMA or sum(count >= LEAST_SENSE for count in counts.values()) < 2:
            continue
        chosen = [rows[i] for i in rng.permutation(len(rows))[:MOST]]
        sentences, spans, senses, is_masc = zip(*chosen, strict=True)
        vectors, names = encoder.encode(sentences, spans), np.array(senses)
        for _ in range(repeats):
            is_new = rng.random(len(chosen)) < 0.5 if mixed else np.array(is_masc)
            share = dict(zip(counts, rng.beta(4, 4, len(counts)), strict=True))
            probability = np.array([share[sense] for sense in senses])
            kept = rng.random(len(chosen)) < np.where(is_new, probability, 1 - probability)
            periods = is_new[kept].astype(np.intp)
            if min(np.bincount(periods, minlength=2)) >= LEAST_PERIOD:
                yield word, vectors[kept], periods, names[kept]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", choices=["dwug", "planted"])
    parser.add_argument("paths", nargs="+", type=Path)
    options = parser.parse_args()
    calibration = optional_attribute(as_encoder("minilm-senses"), "calibration")
    if options.data == "dwug":
        print(compare(read_dwug(*options.paths), calibration).to_string(index=False))
        return
    for mixed in (False, True):
        print("mixed" if mixed else "SemCor and MASC")
        print(compare(plant(options.paths[0], mixed), calibration).to_string(index=False))


if __name__ == "__main__":
    main()

"""Compare encoders by the agreement of change scores with graded human judgements.

Each data set is embedded once with each encoder and choice of layers, and scored by several measures in several spaces.
Prints Spearman's correlation with the graded gold.

    python benchmarks/sense_encoders.py FOLDER... --model minilm-senses --model minilm --store STORES --csv graded.csv

FOLDER is a data set, or FOLDER=GOLD to use the gold of another release. STORES is the folder of the vectors. The space
"auto" is the fixed space of the encoder, if it has one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from lexshift import SSCD, embed_usages
from lexshift.benchmark.datasets import load_dataset
from lexshift.benchmark.datasets.dataset import PERIODS, Dataset
from lexshift.benchmark.evaluation import evaluate_system, select_pairs
from lexshift.benchmark.systems import SystemScores, score_distance, score_sscd
from lexshift.encode import as_encoder
from lexshift.scoring.space import AUTO, KINDS, choose_space
from lexshift.utils.arrays import Pairs

MEASURES = ("cosine", "apd", "energy", "amd", "samd", "nearest")


def sample_usages(data: Dataset, most: int) -> pd.DataFrame:
    """Return at most ``most`` random usages of each word and period."""
    usages = data.usages.to_pandas()
    order = np.random.default_rng(0).permutation(len(usages))
    shuffled = usages.iloc[order]
    return shuffled.groupby(["word", "corpus"], sort=False).head(most).sort_index()


def score_all(pairs: Pairs) -> dict[str, SystemScores]:
    """Return the scores of all measures: the plain distance, SSCD on it, and the default of compare."""
    scores = {metric: score_distance(pairs, metric) for metric in MEASURES}
    scores |= {f"SSCD {metric}": score_sscd(pairs, SSCD(metric, rate=0.5)) for metric in MEASURES if metric != "samd"}
    scores["default of compare"] = score_sscd(pairs, SSCD("nearest", rate=0.5, distance_weight=0.8))
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--model", action="append", required=True)
    parser.add_argument("--layers", action="append", default=None, help="layers; by default those of the encoder")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--most", type=int, default=100, help="maximum number of usages of a word in a period")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    rows = []
    for folder in options.folders:
        path, _, gold = folder.partition("=")
        data = load_dataset(path, gold=gold or None)
        usages = sample_usages(data, options.most)
        for model in options.model:
            for layers in options.layers or [None]:
                encoder = as_encoder(model, **({} if layers is None else {"layers": layers}))
                name = f"{data.name}-{Path(model).name}-{layers or 'default'}-{options.most}".replace(":", "")
                siblings = embed_usages(usages, encoder, options.store / name, PERIODS)
                pairs = select_pairs(data, siblings)
                for space in (AUTO, *KINDS):
                    chosen = choose_space(pairs, space, encoder)
                    for measure, scores in score_all(chosen.apply_to_words(pairs)).items():
                        found = evaluate_system(data, scores)
                        row = {
                            "data": data.name + (f", gold of {Path(gold).name}" if gold else ""),
                            "encoder": Path(model).name,
                        }
                        row |= {"layers": layers or "default", "space": f"{space} ({chosen.kind})", "measure": measure}
                        rows.append({**row, "spearman": round(found.spearman, 3), "words": found.words})
                    print(
                        data.name,
                        gold,
                        Path(model).name,
                        layers,
                        space,
                        {r["measure"]: r["spearman"] for r in rows[-12:]},
                    )
    table = pd.DataFrame(rows)
    if options.csv:
        table.to_csv(options.csv, index=False)
    keys = ["data", "encoder", "layers", "space"]
    print(table.pivot_table("spearman", keys, "measure", sort=False).to_string())


if __name__ == "__main__":
    main()

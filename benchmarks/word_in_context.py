"""Evaluate on Word-in-Context pairs how well the cosine of two usages predicts whether they share a sense.

Prints the area under the curve (AUC) and the accuracy for each data set and encoder. The threshold of the accuracy is
the best one for the pairs themselves, so that it is optimistic; the area needs no threshold. The last rows are means
over all data sets.

    python benchmarks/word_in_context.py PAIRS... --model minilm --model minilm-senses --csv wic.csv

PAIRS are files or folders that ``lexshift.tune.pairs.read_pairs`` reads, such as the dev sets of MCL-WiC and XL-WiC.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from lexshift.encode import as_encoder
from lexshift.tune.evaluation import auc, best_threshold, pair_labels, similarities
from lexshift.tune.pairs import read_pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+")
    parser.add_argument("--model", action="append", required=True)
    parser.add_argument(
        "--most", type=int, default=1_000, help="maximum number of pairs of a data set, drawn at random"
    )
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    rows = []
    for model in options.model:
        encoder = as_encoder(model)
        for place in options.pairs:
            pairs = read_pairs(place)
            chosen = np.sort(np.random.default_rng(0).permutation(len(pairs))[: options.most])
            sample = [pairs[int(i)] for i in chosen]
            values, same = similarities(encoder, sample), pair_labels(sample)
            name = Path(place).name.removesuffix(".data")
            rows.append(
                {
                    "data": name,
                    "encoder": Path(model).name,
                    "pairs": len(sample),
                    "auc": auc(values, same),
                    "accuracy": best_threshold(values, same)[1],
                }
            )
            print(f"{name} {Path(model).name}: {rows[-1]['auc']:.3f}", flush=True)
    table = pd.DataFrame(rows)
    means = table.groupby("encoder", sort=False)[["auc", "accuracy"]].mean().reset_index().assign(data="mean")
    table = pd.concat([table, means]).round(3)
    print(table.to_string(index=False))
    if options.csv:
        table.to_csv(options.csv, index=False)


if __name__ == "__main__":
    main()

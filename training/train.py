"""Train the adapters of the built-in sense encoders.

Run it as ``python training/train.py NAME DATA OUT``. NAME is one of the recipes below. DATA is a folder with the
dictionaries: ``wordnet`` (the folder of WordNet 3.0), ``noad.jsonl.gz`` (SemCor and MASC with senses of the New Oxford
American Dictionary) and the tables that ``training/sources.py`` writes. OUT is the folder of the tuned model. An
interrupted run resumes. Its files go into ``src/lexshift/encode/adapters/NAME``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexshift.tune import SenseSettings, tune_senses
from lexshift.utils.progress import Bars


@dataclass(frozen=True)
class Recipe:
    """The base model, the dictionaries with their weights, and the settings of a training."""

    model: str
    dictionaries: dict[str, float]
    settings: SenseSettings


RECIPES = {
    "minilm-senses": Recipe(
        "minilm",
        {"wordnet": 0.5, "noad.jsonl.gz": 0.5},
        SenseSettings(epochs=1_000, steps=500, every=100, patience=0, learning_rate=8e-4, rank=32),
    ),
    "multilingual-senses": Recipe(
        "multilingual",
        {
            "wordnet": 0.25,
            "noad.jsonl.gz": 0.3,
            "russian.jsonl.gz": 0.18,
            "french.jsonl.gz": 0.1,
            "turkish.jsonl.gz": 0.09,
            "latin.jsonl.gz": 0.08,
        },
        SenseSettings(epochs=1_000, steps=1_000, every=200, patience=0, learning_rate=8e-4, rank=32, tuned_layers=8),
    ),
}


def main(name: str, data: str, out: str) -> None:
    """Train an adapter."""
    recipe = RECIPES[name]
    hashes = np.load(Path(__file__).with_name("evaluation-sentences.npy"))
    with Bars() as bars:
        tuned = tune_senses(
            *(Path(data, dictionary) for dictionary in recipe.dictionaries),
            out=out,
            model=recipe.model,
            weights=list(recipe.dictionaries.values()),
            language="en",
            exclude=set(hashes.tolist()),
            settings=recipe.settings,
            monitor=bars,
        )
    print(tuned.run["untuned"], tuned.run["tuned"])


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Give the usages of AXOLOTL-24 their known or new senses, and score them as the shared task does.

Run it as ``python benchmarks/axolotl.py MODEL [FOLDER]``. FOLDER has ``axolotl.dev.fi.tsv`` and ``axolotl.dev.ru.tsv``.
The usages and glosses of the old period are the inventory, and everything is calibrated on them. The senses of the new
usages serve for the scores only: means over words of the adjusted Rand index, and of macro-F1 over usages with known
senses.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score, f1_score

from lexshift.corpus.dictionaries import SenseUsage
from lexshift.corpus.example_targets import WordForms, find_in_examples
from lexshift.encode import as_encoder
from lexshift.encode.adaptation import Calibration
from lexshift.encode.protocol import optional_attribute
from lexshift.scoring.space import choose_space
from lexshift.senses.gloss_encoder import GlossEncoder
from lexshift.senses.inventory import Inventory, assign_senses, fit_novelty
from lexshift.utils.arrays import Indices, Matrix


class AverageLinkage:
    """Average linkage of cosine distances, cut where two usages are as likely to share a sense as not."""

    name = "average"

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:  # noqa: ARG002
        """Return the number of the sense of each usage."""
        cut = max(1 + calibration.intercept / calibration.slope, 0)
        labels = fcluster(linkage(vectors, "average", metric="cosine"), cut, "distance") - 1
        return np.argsort(np.argsort(-np.bincount(labels), kind="stable"))[labels]


def find_words(table: Any, language: str) -> list[SenseUsage | None]:
    """Return the usage of each row; None without an example. A word that is not found is the whole sentence."""
    sentences = [" ".join(text.split("\n")) for text in table.example]
    words = WordForms(language)
    words.load(table.word)
    wanted = [[(word, "", (form,))] for word, form in zip(table.word, table.orth, strict=True)]
    usages: list[SenseUsage | None] = []
    rows = zip(
        sentences, table.word, table.indices_target_token, find_in_examples(sentences, wanted, words), strict=True
    )
    for sentence, word, indices, (found,) in rows:
        given = re.match(r"(\d+):(\d+)", indices)
        if not sentence.strip():
            usages.append(None)
            continue
        span = (int(given[1]), int(given[2])) if given else found or _longest_beginning(sentence, word)
        usages.append(SenseUsage(sentence, *span))
    return usages


def _longest_beginning(sentence: str, word: str) -> tuple[int, int]:
    """Return the span of the word that begins like the target, or of the sentence if none does."""
    matches = [(_common_length(m[0].lower(), word.lower()), m.span()) for m in re.finditer(r"\w+", sentence)]
    length, span = max(matches, default=(0, (0, 0)))
    return span if length >= max(3, len(word) // 2) else (0, len(sentence))


def _common_length(first: str, second: str) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )


def score(table: Any, predicted: Any) -> tuple[float, float]:
    """Return the means over words of the adjusted Rand index and of macro-F1 over usages with known senses."""
    rand, f1 = [], []
    for _, rows in table.groupby("word", sort=False):
        known = set(rows.sense_id[rows.period == "old"])
        new = rows[rows.period == "new"]
        guessed = predicted[new.index]
        rand.append(adjusted_rand_score(new.sense_id, guessed))
        is_known = new.sense_id.isin(known).to_numpy()
        if not known:
            continue
        if is_known.any():
            labels = ["novel" if sense not in known else sense for sense in guessed[is_known]]
            f1.append(f1_score(new.sense_id[is_known], labels, average="macro", zero_division=0.0))
        else:
            f1.append(float(not known & set(guessed)))
    return float(np.mean(rand)), float(np.mean(f1))


def main(model: str, folder: str) -> None:
    encoder: Any = as_encoder(model)
    calibration = optional_attribute(encoder, "calibration")
    for language in ("fi", "ru"):
        path = Path(folder, f"axolotl.dev.{language}.tsv")
        table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
        usages = find_words(table, language)
        rows = np.array([i for i, usage in enumerate(usages) if usage is not None])
        present = [usage for usage in usages if usage is not None]
        raw = np.nan_to_num(encoder.encode([u.sentence for u in present], [(u.start, u.end) for u in present]))
        words = table.word.to_numpy()[rows]
        is_new = (table.period == "new").to_numpy()[rows]
        space = choose_space({word: (raw[words == word],) for word in dict.fromkeys(words)}, "auto", encoder)
        vectors, glosses = space.apply(raw), GlossEncoder(encoder, space)
        inventories: dict[str, Inventory] = {}
        for word, old in table[table.period == "old"].groupby("word", sort=False):
            senses = list(dict.fromkeys(old.sense_id))
            examples = (words == word) & ~is_new
            gloss = [old.gloss[old.sense_id == sense].iloc[0] for sense in senses]
            owners = [*range(len(senses)), *(senses.index(s) for s in table.sense_id.to_numpy()[rows[examples]])]
            both = np.concatenate([glosses.encode_glosses(word, gloss), vectors[examples]])
            inventories[word] = Inventory(senses, both, np.array(owners), np.arange(len(owners)) < len(senses))
        novelty = fit_novelty(inventories.values(), calibration)
        predicted = np.full(len(table), "", object)
        for word, inventory in inventories.items():
            new = (words == word) & is_new
            predicted[rows[new]] = assign_senses(vectors[new], inventory, novelty, AverageLinkage(), calibration).senses
        rand, f1 = score(table, predicted)
        print(f"{model} {language}: ARI {rand:.3f}, macro-F1 {f1:.3f}; {novelty}")


if __name__ == "__main__":
    default = Path(os.environ.get("LEXSHIFT_DATA", "."), "benchmark", "axolotl24")
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else str(default))

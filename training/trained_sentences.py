"""Write the hashes of the sentences that an adapter is trained on, so that a test can compare them with evaluations.

Run it as ``python training/trained_sentences.py NAME DATA``, with the arguments of ``training/train.py``. It writes
``training/NAME-sentences.npz``: the differences between the sorted 40-bit hashes of all sentences.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lexshift.corpus import read_dictionary, sentence_hash
from lexshift.tune.sense_blocks import can_be_contrasted

if __name__ == "__main__":
    from train import RECIPES

FOLDER = Path(__file__).parent
_DROPPED_BITS = 24  # of a 64-bit hash


def shorten(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the sorted distinct 40-bit hashes."""
    return np.unique(hashes >> np.uint64(_DROPPED_BITS))


def read_trained(name: str) -> npt.NDArray[np.uint64]:
    """Return the 40-bit hashes of the sentences that an adapter was trained on."""
    with np.load(FOLDER / f"{name}-sentences.npz") as file:
        return np.cumsum(file["differences"].astype(np.uint64))


def main(name: str, data: str) -> None:
    """Write the hashes of the sentences of a recipe."""
    excluded = set(np.load(FOLDER / "evaluation-sentences.npy").tolist())
    found = set()
    for dictionary in RECIPES[name].dictionaries:
        entries = read_dictionary(Path(data, dictionary), "en").without(excluded).entries
        usages = (usage for entry in entries if can_be_contrasted(entry) for s in entry.senses for usage in s.usages)
        found |= {sentence_hash(usage.sentence) for usage in usages}
    hashes = shorten(np.array(sorted(found), np.uint64))
    differences = np.diff(hashes, prepend=np.uint64(0))
    np.savez_compressed(FOLDER / f"{name}-sentences.npz", differences=differences.astype(np.uint64))
    print(f"{len(hashes):,} sentences")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Write the hashes of the sentences on which the built-in encoders are evaluated, so that they are not trained on.

Run it as ``python training/evaluation_sentences.py OUT PLACE...``. A PLACE is a folder or a file of an evaluation:
pairs of usages in JSON, or tables separated by tabs. All texts are hashed by ``lexshift.corpus.sentence_hash``; texts
that are too short to be sentences are left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lexshift.corpus import sentence_hash

SHORTEST = 12  # characters


def read_texts(path: Path) -> Iterator[str]:
    """Yield the texts in a file of an evaluation."""
    content = path.read_text("utf-8", errors="replace")
    if content.lstrip()[:1] == "[":
        for row in json.loads(content):
            yield from (value for value in row.values() if isinstance(value, str))
    else:
        for line in content.splitlines():
            yield from line.split("\t")


def main(out: str, *places: str) -> None:
    """Write the sorted hashes of all texts."""
    files = [file for place in map(Path, places) for file in ([place] if place.is_file() else sorted(place.rglob("*")))]
    kinds = (".data", ".csv", ".tsv", ".txt")
    texts = {text for file in files if file.suffix in kinds for text in read_texts(file) if len(text) >= SHORTEST}
    hashes = np.array(sorted({sentence_hash(text) for text in texts}), np.uint64)
    np.save(out, hashes)
    print(f"{len(hashes):,} hashes")


if __name__ == "__main__":
    main(*sys.argv[1:])

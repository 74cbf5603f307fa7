"""Compare extraction on the English SemEval sentences with reimplementations of two published methods.

The first reads the corpus once for each target, tokenises each sentence twice and runs batches of 16 sorted by length
within the target (vectors must agree to 1e-5); the second pads every sentence to 512 tokens in batches of 8.
LEXSHIFT_DATA names the folder with the data.
Usage: python benchmarks/bench_extraction.py [targets] [rounds] (all 37 once take ten minutes)
"""

from __future__ import annotations

import gzip
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lexshift import embed
from lexshift.encode import as_encoder
from lexshift.encode.loading import load_model
from lexshift.utils.arrays import Matrix

PADDED = 200  # usages


def extract_as_published(files: list[Path], targets: list[str], model: Any, tokenizer: Any) -> dict[str, list[Matrix]]:
    """Return, for each target and corpus, the mean of the last four layers, summed over the target's pieces."""
    vectors: dict[str, list[Matrix]] = {}
    for target in targets:
        vectors[target] = []
        for path in files:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                sentences = [line.strip() for line in file if target in line.split()]
            sentences.sort(key=lambda sentence: len(tokenizer(sentence)["input_ids"]))
            rows = []
            for i in range(0, len(sentences), 16):
                rows += batch_vectors(sentences[i : i + 16], target, model, tokenizer, padding=True)
            vectors[target].append(np.array(rows))
    return vectors


def encode_padded(sentences: list[str], target: str, model: Any, tokenizer: Any) -> None:
    """Encode every sentence padded to 512 tokens, in batches of 8, with gradients."""
    for i in range(0, len(sentences), 8):
        batch_vectors(sentences[i : i + 8], target, model, tokenizer, padding="max_length", gradients=True)


def batch_vectors(
    batch: list[str], target: str, model: Any, tokenizer: Any, padding: bool | str, gradients: bool = False
) -> list[Matrix]:
    inputs = tokenizer(
        batch, padding=padding, max_length=512, truncation=True, return_tensors="pt", return_offsets_mapping=True
    )
    offsets = inputs.pop("offset_mapping")
    with torch.set_grad_enabled(gradients):
        hidden = torch.stack(model(**inputs, output_hidden_states=True).hidden_states[-4:]).mean(0).detach()
    rows = []
    for sentence, states, where in zip(batch, hidden, offsets.tolist(), strict=True):
        at = 0
        for token in sentence.split(" "):
            if token == target:
                pieces = [k for k, (a, b) in enumerate(where) if a < at + len(token) and b > at and b > a]
                rows.append(states[pieces].sum(0).numpy())
            at += len(token) + 1
    return rows


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 37
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    folder = Path(os.environ["LEXSHIFT_DATA"], "benchmark", "semeval2020_ulscd_eng")
    words = (folder / "targets.txt").read_text().split()
    targets = words[:: max(1, len(words) // count)][:count]
    files = [folder / "corpus1/lemma/ccoha1.txt.gz", folder / "corpus2/lemma/ccoha2.txt.gz"]
    model, tokenizer, _ = load_model("minilm")
    encoder = as_encoder("minilm", pooling="sum", device="cpu")
    streams = torch.get_num_threads()
    in_model = record_times(encoder)
    ratios, others, worst = [], [], 0.0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as out:
            begin = time.perf_counter()
            store = embed(*files, words=targets, match="token", model=encoder, out=Path(out, "store"))
            ours = time.perf_counter() - begin
            others.append(1 - sum(in_model) / streams / ours)
            in_model.clear()
            begin = time.perf_counter()
            theirs = extract_as_published(files, targets, model, tokenizer)
            ratios.append((time.perf_counter() - begin) / ours)
            for target in targets:
                for vectors, corpus in zip(theirs[target], ("old", "new"), strict=True):
                    worst = max(worst, difference(store[target][corpus], vectors))
            rows = store.index["rows"]
    print(
        f"{len(targets)} targets, {rows:,} occurrences: {ours:.0f} s, {statistics.median(ratios):.2f}x the published "
        f"extraction (at least 1.5x), largest difference {worst:.1e} (at most 1e-5)"
    )
    print(f"everything that is not the model: {statistics.median(others):.0%} of the time (at most 15%)")
    target = targets[0]
    with gzip.open(files[0], "rt", encoding="utf-8") as file:
        usages = [line.strip() for line in file if target in line.split()][:PADDED]
    spans = [(s.split(" ").index(target), s) for s in usages]
    starts = [len(" ".join(s.split(" ")[:i])) + (i > 0) for i, s in spans]
    gains = []
    for _ in range(rounds):
        begin = time.perf_counter()
        encoder.encode(usages, [(a, a + len(target)) for a in starts])
        ours = time.perf_counter() - begin
        begin = time.perf_counter()
        encode_padded(usages, target, model, tokenizer)
        gains.append((time.perf_counter() - begin) / ours)
    print(f"{len(usages)} usages: {statistics.median(gains):.1f}x padding to 512 in batches of 8 (at least 8x)")


def record_times(encoder: Any) -> list[float]:
    """Return a list to which the seconds of each later batch are appended."""
    states, times = encoder._forward.states, []

    def record(*args: Any) -> Any:
        begin = time.perf_counter()
        result = states(*args)
        times.append(time.perf_counter() - begin)
        return result

    encoder._forward.states = record
    return times


def difference(a: Matrix, b: Matrix) -> float:
    """Return the largest difference between the rows of two sets, matched by distance."""
    assert a.shape == b.shape
    distances = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
    return float(np.abs(a - b[distances.argmin(1)]).max())


if __name__ == "__main__":
    main()

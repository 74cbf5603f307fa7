"""Compare the speed of encoding with that of matrix products and of fixed batches.

Sentences have realistic lengths (27 pieces on average) and consist of words of one piece. The BERT-base-sized model has
random weights, which cost the same. Useful flops are those of the whole model on unpadded tokens; since the last layer
is computed only for the requested words, fewer are performed, and the table gives both.
Usage: python benchmarks/bench_encode.py [sentences]
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertModel

from lexshift.encode import HuggingFaceEncoder
from lexshift.encode.loading import load_model

ROUNDS = 5
SIDE = 2048  # of the square product


def sgemm() -> float:
    """Return the median flops per second of products of square matrices."""
    a = torch.randn(SIDE, SIDE)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        torch.mm(a, a)
        times.append(time.perf_counter() - begin)
    return 2 * SIDE**3 / statistics.median(times)


def sentences(tokenizer: Any, n: int) -> tuple[list[str], list[tuple[int, int]]]:
    rng = np.random.default_rng(0)
    words = [w for w in tokenizer.get_vocab() if w.isascii() and w.isalpha() and len(w) > 3]
    words.sort()
    texts, spans = [], []
    for length in np.clip(rng.lognormal(np.log(22), 0.55, n), 3, 126).astype(int) - 1:
        chosen = [words[i] for i in rng.integers(len(words), size=max(length, 1))]
        at = int(rng.integers(len(chosen)))
        start = len(" ".join(chosen[:at])) + (at > 0)
        texts.append(" ".join(chosen))
        spans.append((start, start + len(chosen[at])))
    return texts, spans


def fixed_batches(model: Any, tokenizer: Any, texts: list[str]) -> None:
    """Encode batches of 32 in their order, each padded to 128."""
    with torch.inference_mode():
        for i in range(0, len(texts), 32):
            batch = tokenizer(
                texts[i : i + 32], padding="max_length", max_length=128, truncation=True, return_tensors="pt"
            )
            model(**batch, output_hidden_states=True)


def measure(name: str, model: Any, tokenizer: Any, n: int) -> None:
    encoder = HuggingFaceEncoder(model, tokenizer, device="cpu")
    texts, spans = sentences(tokenizer, n)
    lengths = np.array([len(ids) for ids in tokenizer(texts)["input_ids"]])
    h, depth = model.config.hidden_size, model.config.num_hidden_layers
    layer = 24 * h * h * lengths.sum() + 4 * h * (lengths**2).sum()
    useful = depth * layer
    performed = (depth - 1) * layer + 4 * h * h * lengths.sum() + 20 * h * h * n
    few = texts[: max(64, n // 8)]
    shares, gains, others = [], [], []
    encoder.encode(texts[:64], spans[:64])
    for _ in range(ROUNDS):
        before = sgemm()
        begin = time.perf_counter()
        encoder.encode(texts, spans)
        ours = time.perf_counter() - begin
        peak = (before + sgemm()) / 2
        begin = time.perf_counter()
        encoder._windows.cut(texts, spans, None)
        others.append((time.perf_counter() - begin) / ours)
        begin = time.perf_counter()
        fixed_batches(model, tokenizer, few)
        fixed = (time.perf_counter() - begin) / len(few) * n
        shares.append(useful / ours / peak)
        gains.append(fixed / ours)
    share = statistics.median(shares)
    print(
        f"{name}: {n} sentences of {lengths.mean():.0f} pieces, {n / ours:.0f} sentences/s; useful flops "
        f"{share:.0%} of sgemm (at least 85%), {share * performed / useful:.0%} performed; "
        f"{statistics.median(gains):.1f}x fixed batches (at least 4x); "
        f"tokenising {statistics.median(others):.1%} of the time (at most 15%)"
    )


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2048
    model, tokenizer, _ = load_model("minilm")
    print(f"{torch.get_num_threads()} threads, sgemm {sgemm() / 1e9:.0f} Gflop/s")
    measure("MiniLM (6 layers, 384)", model, tokenizer, n)
    torch.manual_seed(0)
    measure("BERT-base size (12 layers, 768)", BertModel(BertConfig()).eval(), tokenizer, n // 4)


if __name__ == "__main__":
    main()

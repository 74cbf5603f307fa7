"""Compare the speed and the vectors of encoding with those of other libraries on the CPU.

The sentences are those of the demo corpora. Every library computes the same: the mean of the last hidden states of the
pieces of a word. Each measurement is a process of its own that loads the model, encodes some sentences to warm up, and
then encodes all of them, tokenising included; the rounds of the libraries alternate, and the table has the median. The
libraries except lexshift and sentence-transformers, which sort by themselves, get batches of 32 sentences of similar
length. Sentence-transformers does not return the offsets of tokens, so the sentences are tokenised a second time for
it. Fastembed is not measured: it runs models with onnxruntime, and returns no vectors of tokens for a user's own model.
Models are exported to ONNX into a temporary folder. All libraries use the number of threads in OMP_NUM_THREADS, by
default that of the cores. A library that is not installed is listed as such.

The differences are those from transformers in fp32: the largest of a value, and the largest of 1 - cosine. The rank
correlations (Spearman) compare the scores of the words of the demo corpora with the scores from transformers in fp32:
the average pairwise distance (APD), and the cosine distance of the mean vectors.

Usage: python benchmarks/bench_peers.py [--models minilm,multilingual] [--sentences N] [--rounds N] [--skip NAME,...]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

from lexshift import demo_corpora
from lexshift.demo import gold

BATCH = 32
WARM_UP = 32  # sentences
THREADS = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
Matrix = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]
Forward = Callable[[Ids, Ids], Matrix]  # ids and mask, (n, length), to hidden states, (n, length, d)
Encode = Callable[[Sequence[str], Sequence[Sequence[int]]], Matrix]

PACKAGES = {  # of each peer in fp32 and in int8
    ("lexshift", "fp32"): ("lexshift",),
    ("transformers", "fp32"): ("transformers",),
    ("sentence-transformers", "fp32"): ("sentence_transformers",),
    ("onnxruntime", "fp32"): ("onnxruntime", "onnx", "onnxscript"),
    ("openvino", "fp32"): ("openvino", "onnx", "onnxscript"),
    ("ctranslate2", "fp32"): ("ctranslate2",),
    ("lexshift", "int8"): ("lexshift",),
    ("transformers", "int8"): ("transformers",),
    ("onnxruntime", "int8"): ("onnxruntime", "onnx", "onnxscript"),
    ("openvino", "int8"): ("openvino", "nncf", "onnx", "onnxscript"),
    ("ctranslate2", "int8"): ("ctranslate2",),
}
REFERENCE = ("transformers", "fp32")
ONNX = "model.onnx"


# ------------------------------------------------------------------------------------------------------------ usages


def usages(most: int) -> list[tuple[str, int, str, int, int]]:
    """Return word, period, sentence, start and end of usages of the demo words, as many of each word as possible."""
    corpora = [path.read_text("utf-8").splitlines() for path in demo_corpora()]
    found = []
    for word, (period, lines) in product(gold(), enumerate(corpora)):
        spans = [(line, re.search(rf"\b{re.escape(word)}\b", line, re.IGNORECASE)) for line in lines]
        rows = [(word, period, line, *match.span()) for line, match in spans if match]
        found += list(enumerate(rows))
    found.sort(key=lambda numbered: numbered[0])  # the first usages of all words come first
    return [row for _, row in found[:most]]


def change_scores(
    vectors: npt.NDArray[np.float64], words: Sequence[str], periods: Sequence[int]
) -> tuple[list[float], list[float]]:
    """Return the APD and the cosine distance of the means of each word with usages in both periods."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairwise, of_means = [], []
    for word in dict.fromkeys(words):
        rows = [[i for i, w in enumerate(words) if (w, periods[i]) == (word, period)] for period in (0, 1)]
        if all(rows):
            pairwise.append(float(1 - (unit[rows[0]] @ unit[rows[1]].T).mean()))
            old, new = (vectors[chosen].mean(0) for chosen in rows)
            of_means.append(float(1 - old @ new / np.linalg.norm(old) / np.linalg.norm(new)))
    return pairwise, of_means


# ----------------------------------------------------------------------------------------------- peers, in processes


def in_sorted_batches(folder: Path, forward: Forward) -> Encode:
    """Return an encoder that runs a forward pass on batches of sentences of similar length."""
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(str(folder))

    def encode(texts: Sequence[str], spans: Sequence[Sequence[int]]) -> Matrix:
        made = tokenizer(list(texts), return_offsets_mapping=True)
        all_ids, offsets = made["input_ids"], made["offset_mapping"]
        order = sorted(range(len(texts)), key=lambda i: len(all_ids[i]))
        rows: list[Matrix] = [np.empty(0, np.float32)] * len(texts)
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            shape = len(batch), max(len(all_ids[i]) for i in batch)
            ids, mask = np.full(shape, tokenizer.pad_token_id, np.int64), np.zeros(shape, np.int64)
            for row, i in enumerate(batch):
                ids[row, : len(all_ids[i])], mask[row, : len(all_ids[i])] = all_ids[i], 1
            hidden = forward(ids, mask)
            for row, i in enumerate(batch):
                rows[i] = word_vector(hidden[row], offsets[i], spans[i])
        return np.array(rows, np.float32)

    return encode


def word_vector(hidden: Matrix, offsets: Sequence[Sequence[int]], span: Sequence[int]) -> Matrix:
    start, end = span
    return hidden[[k for k, (a, b) in enumerate(offsets) if a < end and b > start]].mean(0)


def load_lexshift(folder: Path, dtype: str) -> Encode:
    from lexshift.encode import as_encoder

    encoder = as_encoder(folder, layers="last", pooling="mean", device="cpu", dtype=dtype)
    return lambda texts, spans: encoder.encode(texts, [(start, end) for start, end in spans])


def load_transformers(folder: Path, dtype: str) -> Encode:
    import torch
    from torch.ao.quantization import quantize_dynamic
    from transformers import AutoModel

    model: Any = AutoModel.from_pretrained(str(folder)).eval()
    if dtype == "int8":
        model = quantize_dynamic(model, {torch.nn.Linear})  # type: ignore[no-untyped-call]

    def forward(ids: Ids, mask: Ids) -> Matrix:
        with torch.inference_mode():
            states = model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).last_hidden_state
        return np.asarray(states.numpy(), np.float32)

    return in_sorted_batches(folder, forward)


def load_sentence_transformers(folder: Path, _dtype: str) -> Encode:
    from sentence_transformers import SentenceTransformer

    model: Any = SentenceTransformer(str(folder), device="cpu")

    def encode(texts: Sequence[str], spans: Sequence[Sequence[int]]) -> Matrix:
        states = model.encode(
            list(texts), output_value="token_embeddings", batch_size=BATCH, show_progress_bar=False
        )  # one tensor of shape (length, d) for each sentence
        offsets = model.tokenizer(list(texts), return_offsets_mapping=True)["offset_mapping"]
        rows = zip(states, offsets, spans, strict=True)
        return np.array([word_vector(state.numpy(), where, span) for state, where, span in rows], np.float32)

    return encode


def load_onnxruntime(folder: Path, dtype: str) -> Encode:
    import onnxruntime  # type: ignore[import-not-found,unused-ignore]

    path = folder / ONNX
    if dtype == "int8":
        from onnxruntime.quantization import quantize_dynamic  # type: ignore[import-not-found,unused-ignore]

        path = folder / "int8.onnx"
        if not path.exists():
            quantize_dynamic(str(folder / ONNX), str(path), per_channel=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def forward(ids: Ids, mask: Ids) -> Matrix:
        return np.asarray(session.run(None, {"input_ids": ids, "attention_mask": mask})[0])

    return in_sorted_batches(folder, forward)


def load_openvino(folder: Path, dtype: str) -> Encode:
    import openvino  # type: ignore[import-not-found,unused-ignore]

    core = openvino.Core()
    network = core.read_model(str(folder / ONNX))
    if dtype == "int8":
        import nncf  # type: ignore[import-not-found,unused-ignore]

        network = nncf.compress_weights(network)
    options = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": str(THREADS),
    }
    model = core.compile_model(network, "CPU", options)

    def forward(ids: Ids, mask: Ids) -> Matrix:
        return np.asarray(model({"input_ids": ids, "attention_mask": mask})[0])

    return in_sorted_batches(folder, forward)


def load_ctranslate2(folder: Path, dtype: str) -> Encode:
    import ctranslate2  # type: ignore[import-not-found,unused-ignore]

    converted = folder / "ctranslate2"
    if not converted.exists():
        ctranslate2.converters.TransformersConverter(str(folder)).convert(str(converted))
    compute = {"fp32": "float32", "int8": "int8_float32"}[dtype]
    encoder = ctranslate2.Encoder(str(converted), device="cpu", compute_type=compute, intra_threads=THREADS)

    def forward(ids: Ids, mask: Ids) -> Matrix:
        rows = [row[: int(used.sum())].tolist() for row, used in zip(ids, mask, strict=True)]
        return np.asarray(encoder.forward_batch(rows).last_hidden_state)

    return in_sorted_batches(folder, forward)


LOADERS: dict[str, Callable[[Path, str], Encode]] = {
    "lexshift": load_lexshift,
    "transformers": load_transformers,
    "sentence-transformers": load_sentence_transformers,
    "onnxruntime": load_onnxruntime,
    "openvino": load_openvino,
    "ctranslate2": load_ctranslate2,
}


def work(folder: Path, peer: str, dtype: str) -> None:
    """Measure one peer, write its vectors and print the seconds."""
    texts, spans = json.loads((folder / "usages.json").read_text("utf-8"))
    encode = LOADERS[peer](folder, dtype)
    encode(texts[:WARM_UP], spans[:WARM_UP])
    begin = time.perf_counter()
    vectors = encode(texts, spans)
    seconds = time.perf_counter() - begin
    np.save(folder / f"{peer}-{dtype}.npy", vectors)
    print(f"seconds {seconds}")


# ------------------------------------------------------------------------------------------------------------- tables


def export(model: Any, path: Path) -> None:
    """Write a model that computes the last hidden states as ONNX."""
    import torch

    class LastStates(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    ids = torch.arange(14).reshape(2, 7) + 5
    axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=512)}
    torch.onnx.export(
        LastStates().eval(),
        (ids, torch.ones_like(ids)),
        str(path),
        input_names=["input_ids", "attention_mask"],
        output_names=["states"],
        dynamic_shapes={"input_ids": axes, "attention_mask": axes},
        dynamo=True,
        external_data=False,
        verbose=False,
    )


def measure(folder: Path, peer: str, dtype: str) -> float | str:
    """Return the seconds of one measurement, or the last line of the error."""
    command = [sys.executable, __file__, "--worker", str(folder), peer, dtype]
    environment = os.environ | {"OMP_NUM_THREADS": str(THREADS)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    found = re.search(r"^seconds (\S+)$", done.stdout, re.MULTILINE)
    if found:
        return float(found[1])
    return f"failed: {(done.stderr.strip() or 'no output').splitlines()[-1][:80]}"


def compare(name: str, sentences: int, rounds: int, skip: Sequence[str]) -> None:
    """Print the table of a model."""
    from lexshift.encode.loading import load_model

    rows = usages(sentences)
    texts, spans = [row[2] for row in rows], [row[3:] for row in rows]
    missing = {key: [p for p in needed if find_spec(p) is None] for key, needed in PACKAGES.items()}
    usable = [key for key in PACKAGES if not missing[key] and key[0] not in skip]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        model, tokenizer, _ = load_model(name)
        tokens = sum(map(len, tokenizer(texts)["input_ids"]))
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        (folder / "usages.json").write_text(json.dumps([texts, spans]), "utf-8")
        if any("onnx" in PACKAGES[key] for key in usable):
            export(model, folder / ONNX)
        del model
        times: dict[tuple[str, str], list[float | str]] = {key: [] for key in usable}
        for number in range(rounds):
            for key in usable[:: -1 if number % 2 else 1]:
                times[key].append(measure(folder, *key))
        words, periods = [row[0] for row in rows], [row[1] for row in rows]
        reference = np.load(folder / "{}-{}.npy".format(*REFERENCE)).astype(float)
        expected = change_scores(reference, words, periods)
        print(f"\n{name}: {len(texts)} sentences, {tokens} tokens, {rounds} rounds, {THREADS} threads")
        print(f"{'':29} {'tokens/s':>9} {'difference':>10} {'1 - cosine':>10} {'APD rho':>8} {'mean rho':>8}")
        for key in PACKAGES:
            label = f"{key[0]:22} {key[1]:6}"
            errors = [result for result in times.get(key, []) if isinstance(result, str)]
            if key[0] in skip:
                continue
            if missing[key]:
                print(f"{label} not installed: {', '.join(missing[key])}")
            elif errors:
                print(f"{label} {errors[0]}")
            else:
                vectors = np.load(folder / f"{key[0]}-{key[1]}.npy").astype(float)
                speed = tokens / statistics.median(float(seconds) for seconds in times[key])
                lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(reference, axis=1)
                angle = (1 - (vectors * reference).sum(1) / lengths).max()
                scores = change_scores(vectors, words, periods)
                apd, means = (spearmanr(*pair).statistic for pair in zip(scores, expected, strict=True))
                difference = np.abs(vectors - reference).max()
                print(f"{label} {speed:9.0f} {difference:10.1e} {max(angle, 0):10.1e} {apd:8.3f} {means:8.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="minilm,multilingual", help="names, with commas")
    parser.add_argument("--sentences", type=int, default=1440)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip", default="", help="names of peers, with commas")
    parser.add_argument("--worker", nargs=3, metavar=("FOLDER", "PEER", "DTYPE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        folder, peer, dtype = options.worker
        work(Path(folder), peer, dtype)
        return
    skip = options.skip.split(",")
    if REFERENCE[0] in skip or not set(skip) <= {"", *LOADERS}:
        parser.error(f"--skip takes names of peers except {REFERENCE[0]}: {', '.join(LOADERS)}")
    for name in options.models.split(","):
        compare(name, options.sentences, options.rounds, skip)


if __name__ == "__main__":
    main()

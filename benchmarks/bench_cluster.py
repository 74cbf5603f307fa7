"""Compare the speed of encoding on a Ray cluster on this machine with that of the local engine.

Both engines encode the same shards in turn, several times. Starting Ray and loading models is left out: a worker's time
begins with its first shard and ends with its last, so the time of the workers is from the first of those to the last.
Usage: python benchmarks/bench_cluster.py [text file or folder] [--sentences N] [--workers N] [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from bench_encode import sentences as random_sentences

from lexshift.encode import as_encoder
from lexshift.encode.loading import load_model
from lexshift.engine.local import Engine, Local
from lexshift.engine.ray import RayEngine
from lexshift.store.plan import Shard, plan_encoding
from lexshift.store.shards import EncodeShards

BAR = 0.8
MODEL = "minilm"


class SynchronisedEncoder:
    """An encoder that is created on each worker, and starts when the encoders of all workers are ready."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder, self.workers = folder, workers
        self.encoder = as_encoder(MODEL, device="cpu")
        self.ready = False

    def __reduce__(self) -> Any:
        return SynchronisedEncoder, (self.folder, self.workers)

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        """Encode with the model as soon as all workers are ready."""
        if not self.ready:
            self.encoder.encode(sentences[:64], spans[:64])
            (self.folder / str(os.getpid())).touch()
            while len(list(self.folder.iterdir())) < self.workers:
                time.sleep(0.001)
            self.ready = True
        return self.encoder.encode(sentences, spans)


def read_sentences(path: Path, n: int) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the first lines of a file, or of the files of a folder, and the span of the longest word of each."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    lines = (line.strip() for file in files for line in file.open(encoding="utf-8", errors="replace"))
    texts = list(islice((line[:1000] for line in lines if len(line) > 20), n))
    words = [max(text.split(), key=len) for text in texts]
    starts = [text.index(word) for text, word in zip(texts, words, strict=True)]
    return texts, [(start, start + len(word)) for start, word in zip(starts, words, strict=True)]


def plan_shards(texts: list[str], spans: list[tuple[int, int]]) -> list[Shard]:
    """Return the shards of a run over these sentences."""
    starts, ends = zip(*spans, strict=True)
    columns = {"sentence": pa.array(texts), "start": pa.array(starts, pa.int32()), "end": pa.array(ends, pa.int32())}
    plan = plan_encoding(pa.table(columns))
    return [plan.select(range(*bounds), number) for number, bounds in enumerate(pairwise(plan.bounds))]


def measure(engine: Engine, workers: int, pieces: list[Shard]) -> tuple[float, dict[int, Any]]:
    """Return the seconds from when all encoders are ready until the last vectors arrive, and the vectors."""
    with tempfile.TemporaryDirectory() as folder:
        encoder = SynchronisedEncoder(Path(folder), workers)
        encode: EncodeShards = engine.encode(encoder, encoder, {})
        vectors_by_shard = dict(encode(iter(pieces), lambda *_: None))
        end = time.time()
        return end - max(file.stat().st_mtime for file in Path(folder).iterdir()), vectors_by_shard


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("text", type=Path, nargs="?")
    parser.add_argument("--sentences", type=int, default=16_384)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    texts, spans = (
        read_sentences(options.text, options.sentences)
        if options.text is not None
        else random_sentences(load_model(MODEL)[1], options.sentences)
    )
    os.environ.setdefault("RAY_worker_niceness", "0")  # otherwise Ray's processes have a lower priority
    pieces = plan_shards(texts, spans)
    if len(pieces) < 3 * options.workers:  # with fewer, one encoder may get all and wait for ever
        parser.error(f"{options.sentences} sentences are too few for {options.workers} workers")
    n = sum(len(piece.sentences) for piece in pieces)
    ray = RayEngine(workers=options.workers)
    engines: dict[str, tuple[Engine, int]] = {
        "local": (Local(), 1),
        f"ray, {options.workers} workers": (ray, options.workers),
    }
    speeds: dict[str, list[float]] = {name: [] for name in engines}
    same = True
    print(
        f"{n} sentences in {len(pieces)} shards, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the beginning"
    )
    for _ in range(options.rounds):
        vectors = []
        for name, (engine, workers) in engines.items():
            seconds, vectors_by_shard = measure(engine, workers, pieces)
            speeds[name].append(n / seconds)
            vectors.append([vectors_by_shard[piece.number].tobytes() for piece in pieces])
        same = same and vectors[0] == vectors[1]
    ray.close()
    print(f"{'engine':16} {'sentences/s':>12}  of each round")
    for name, values in speeds.items():
        print(f"{name:16} {statistics.median(values):12.0f}  {' '.join(f'{value:.0f}' for value in values)}")
    local, other = speeds.values()
    ratio = statistics.median(b / a for a, b in zip(local, other, strict=True))
    print(f"ray / local: {ratio:.2f}, the median of the rounds (at least {BAR}); the same bits: {same}")
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()

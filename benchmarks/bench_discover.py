"""Measure the cost of a discovery in addition to its encoder, and its growth with the corpus.

Prints three tables: counting and sampling against a loop in Python; time and memory from 100 MB to 2 GB; and a whole
discovery against the time that its encoder takes by itself for the same sentences.

    python benchmarks/bench_discover.py [FOLDER] [--sizes 100,500,2000] [--words 2000] [--model minilm] [--skip ...]

FOLDER holds the text from which larger corpora are made, by shuffling its sentences.
"""

from __future__ import annotations

import argparse
import hashlib
import heapq
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np

from lexshift.corpus.sources import Reading
from lexshift.engine.cache import Cache
from lexshift.engine.local import Local, map_parts
from lexshift.engine.parts import Counting, Sampling, combine_counts, combine_samples, split_corpus

DATA = Path(os.environ.get("LEXSHIFT_DATA", "."), "corpora", "sotu")
MOST = 200
LOOP = 100  # MB
MEMORY = r"""
import json, re, sys, time
from pathlib import Path
from bench_discover import passes
begin = time.perf_counter()
words, usages = passes(Path(sys.argv[1]), json.loads(sys.argv[2]))
seconds = time.perf_counter() - begin
most = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[1]  # getrusage knows the parent's too
print(json.dumps([seconds, int(most), words, usages]))
"""


def sentences(folder: Path) -> list[str]:
    text = " ".join(path.read_text(errors="replace") for path in sorted(folder.rglob("*.txt")))
    return [line.strip() for line in re.split(r"(?<=[.!?])\s+", text) if 20 < len(line) < 400]


def write_corpus(path: Path, lines: list[str], size: int) -> None:
    """Write sentences in random order, repeatedly, until the file has ``size`` bytes."""
    rng = np.random.default_rng(size)
    data = np.array([f"{line}\n".encode() for line in lines], object)
    with path.open("wb") as file:
        written = 0
        while written < size:
            block = b"".join(data[rng.permutation(len(data))])
            file.write(block[: size - written])
            written += len(block)


def passes(corpus: Path, forms: dict[str, list[str]] | int) -> tuple[int, int]:
    """Count the words of a corpus, and sample the occurrences of the most frequent words or of given ones."""
    with tempfile.TemporaryDirectory() as folder:
        kept, parts = Cache(Path(folder)), split_corpus(corpus)
        found = combine_counts(map_parts(Counting("word", Reading()), parts, Local(), kept, lambda *_: None), "it")
        if isinstance(forms, int):
            often = sorted(found.counts, key=lambda word: -found.counts[word])[100 : 100 + forms]
            forms = {word: [word] for word in often}
        job = Sampling({word: tuple(form) for word, form in forms.items()}, "word", Reading(), MOST, 0, True)
        table = combine_samples(map_parts(job, parts, Local(), kept, lambda *_: None), "it", MOST).table
    return len(found.counts), len(table)


def python_passes(corpus: Path, words: int) -> tuple[int, int]:
    """Do the same in a Python loop: count words, then keep the smallest hashes of each word's positions."""
    counts: Counter[str] = Counter()
    word = re.compile(r"\w+")
    with corpus.open(encoding="utf-8") as file:
        for line in file:
            counts.update(word.findall(line.casefold()))
    chosen = {w: [] for w, _ in counts.most_common(100 + words)[100:]}  # type: dict[str, list[tuple[int, int, str]]]
    with corpus.open(encoding="utf-8") as file:
        for number, line in enumerate(file):
            for match in word.finditer(line.casefold()):
                heap = chosen.get(match[0])
                if heap is not None:
                    place = f"{number} {match.start()} {match[0]}".encode()
                    key = -int.from_bytes(hashlib.blake2b(place, digest_size=8).digest(), "little")
                    if len(heap) < MOST:
                        heapq.heappush(heap, (key, number, line))
                    elif key > heap[0][0]:
                        heapq.heapreplace(heap, (key, number, line))
    return len(counts), sum(map(len, chosen.values()))


def timed(function: Callable[[], object]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def against_python(folder: Path, lines: list[str], words: int) -> None:
    corpus = folder / "small.txt"
    write_corpus(corpus, lines, LOOP * 1_000_000)
    passes(corpus, words)  # compiled and in memory
    ours, loops = [], []
    for _ in range(3):
        ours.append(timed(lambda: passes(corpus, words)))
        loops.append(timed(lambda: python_passes(corpus, words)))
    print(f"\ncounting and sampling {words:,} words in {LOOP} MB, median of 3, interleaved")
    print(f"  lexshift {median(ours):6.2f} s   loop {median(loops):6.2f} s   {median(loops) / median(ours):.1f}x")


def growth(folder: Path, lines: list[str], sizes: list[int], words: int) -> None:
    print(f"\ncounting and sampling {words:,} words, by the size of the corpus; each in a process of its own")
    print("      MB   seconds   s per 100 MB   most memory MB   different words   usages")
    for size in sizes:
        corpus = folder / f"{size}.txt"
        write_corpus(corpus, lines, size * 1_000_000)
        seconds, memory, different, usages = json.loads(
            subprocess.run(
                [sys.executable, "-c", MEMORY, str(corpus), str(words)],
                capture_output=True,
                check=True,
                text=True,
                cwd=Path(__file__).parent,
            ).stdout
        )
        corpus.unlink()
        print(
            f"{size:8,} {seconds:9.1f} {100 * seconds / size:14.2f} {memory / 1000:16.0f} {different:17,} {usages:8,}"
        )


def whole(folder: Path, lines: list[str], words: int, model: str) -> None:
    """Time a discovery, and the encoder alone on the same sentences and words."""
    from lexshift import discover
    from lexshift.encode import as_encoder
    from lexshift.utils.monitor import Silent

    half = len(lines) // 2
    for name, some in (("old", lines[:half]), ("new", lines[half:])):
        (folder / f"{name}.txt").write_text("\n".join(some) + "\n")

    class Timed:
        """An encoder that measures its own time."""

        def __init__(self) -> None:
            self.encoder = as_encoder(model)
            self.settings = self.encoder.settings  # type: ignore[attr-defined]
            self.seconds, self.sentences = 0.0, 0

        def encode(self, sentences: list[str], spans: list[tuple[int, int]]) -> np.ndarray:
            begin = time.perf_counter()
            found = self.encoder.encode(sentences, spans)
            self.seconds += time.perf_counter() - begin
            self.sentences += len(set(sentences))
            return found

    class StageRecorder(Silent):
        def __init__(self) -> None:
            self.starts: list[tuple[str, float]] = []

        def stage(self, name: str, total: int, unit: str) -> None:  # noqa: ARG002
            self.starts.append((name, time.perf_counter()))

        def note(self, text: str) -> None:
            print(f"  {text}")

    def durations(recorder: StageRecorder, end: float) -> Iterator[tuple[str, float]]:
        stops = [*(start for _, start in recorder.starts[1:]), end]
        for (name, start), stop in zip(recorder.starts, stops, strict=True):
            yield name, stop - start

    encoder, recorder = Timed(), StageRecorder()
    begin = time.perf_counter()
    found = discover(
        folder / "old.txt",
        folder / "new.txt",
        model=encoder,
        min_count=5,
        top_words=words,
        out=folder / "out",
        monitor=recorder,
    )
    end = time.perf_counter()
    print(f"\na discovery over {len(found.words):,} words, {found.siblings.index['rows']:,} usages in ", end="")
    print(f"{encoder.sentences:,} sentences with {model}")
    for name, seconds in durations(recorder, end):
        print(f"  {name:20} {seconds:8.1f} s")
    print(f"  all {end - begin:.1f} s, the encoder by itself {encoder.seconds:.1f} s: ", end="")
    print(f"{(end - begin) / encoder.seconds:.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=DATA, help="by default the addresses in LEXSHIFT_DATA")
    parser.add_argument("--sizes", default="100,500,2000")
    parser.add_argument("--words", type=int, default=2_000)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--skip", default="", help="loop, growth or whole, with commas")
    options = parser.parse_args()
    if not options.folder.is_dir():
        parser.error(f"there is no folder {str(options.folder)!r}: give one with text files, or set LEXSHIFT_DATA")
    lines = sentences(options.folder)
    with tempfile.TemporaryDirectory() as temporary:
        if "loop" not in options.skip:
            against_python(Path(temporary), lines, options.words)
        if "growth" not in options.skip:
            growth(Path(temporary), lines, [int(size) for size in options.sizes.split(",")], options.words)
        if "whole" not in options.skip:
            whole(Path(temporary), lines, options.words, options.model)


if __name__ == "__main__":
    main()

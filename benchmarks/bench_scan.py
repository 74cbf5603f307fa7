"""Measure the search for 50 words: speed against a Python loop, and memory for 1 and 4 GB of text.

The text is made up: words of a Zipf distribution, sentences of 20 words, one a line. It is written to a temporary
folder (5 GB).
Usage: python benchmarks/bench_scan.py [GB]
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lexshift.corpus import find_occurrences, read_targets

PIECE = 64_000_000  # bytes of distinct text, repeated
ROUNDS = 3
MEMORY = """
import sys
from lexshift.corpus import find_occurrences, read_targets
found = find_occurrences(sys.argv[1], read_targets(sys.argv[2]), max_per_word=1000)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(int(peak) / 1024, found.table.num_rows, int(found.found.sum()))
"""


def vocabulary(rng: np.random.Generator) -> list[str]:
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    share = 1 / np.arange(2, 28)
    return ["".join(rng.choice(letters, size=n, p=share / share.sum())) for n in rng.integers(2, 11, 50_000)]


def make_text(words: list[str], rng: np.random.Generator) -> bytes:
    share = 1 / np.arange(1, len(words) + 1)
    drawn = rng.choice(len(words), size=PIECE // 6, p=share / share.sum())
    lines = (" ".join(words[i] for i in drawn[j : j + 20].tolist()) for j in range(0, len(drawn), 20))
    return ("\n".join(lines) + "\n").encode()


def python_loop(path: Path, targets: set[str]) -> int:
    """Read lines, split them, look words up in a set, and return the spans in matching lines."""
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, targets)) + r")\b", re.IGNORECASE)
    found = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not targets.isdisjoint(line.lower().split()):
                found += [(number, line, match.start(), match.end()) for match in pattern.finditer(line)]
    return len(found)


def main() -> None:
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rng = np.random.default_rng(0)
    words = vocabulary(rng)
    targets = list(dict.fromkeys(words[5_000:]))[:50]
    with tempfile.TemporaryDirectory() as folder:
        piece, large, larger = (Path(folder, f"{name}.txt") for name in ("piece", "large", "larger"))
        piece.write_bytes(make_text(words, rng))
        copies = max(1, round(gigabytes * 1e9 / piece.stat().st_size))
        for path, times in ((large, copies), (larger, 4 * copies)):
            with path.open("wb") as file:
                for _ in range(times):
                    file.write(piece.read_bytes())
        ours = read_targets(targets)
        find_occurrences(piece, ours)  # compiles the scan, once for each machine
        speeds: dict[str, list[float]] = {"python": [], "lexshift": []}
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            n = python_loop(piece, set(targets))
            speeds["python"].append(piece.stat().st_size / (time.perf_counter() - begin) / 1e6)
            begin = time.perf_counter()
            found = find_occurrences(large, ours)
            speeds["lexshift"].append(large.stat().st_size / (time.perf_counter() - begin) / 1e6)
            assert found.table.num_rows == n * copies
        python, scan = (statistics.median(values) for values in speeds.values())
        print(
            f"{large.stat().st_size / 1e9:.2f} GB, 50 words, {found.table.num_rows:,} occurrences with their sentences"
        )
        print(f"Python loop {python:.0f} MB/s, lexshift {scan:.0f} MB/s: {scan / python:.1f}x (at least 8x)")
        for path in (large, larger):
            command = [sys.executable, "-c", MEMORY, str(path), ",".join(targets)]
            peak = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
            size = path.stat().st_size / 1e9
            print(
                f"peak memory at {size:.2f} GB: {float(peak[0]):.0f} MB (at most 400), sample of {peak[1]} of {peak[2]}"
            )


if __name__ == "__main__":
    main()

"""Measure how fast text is counted and searched in a verticalised corpus, in CoNLL-U and as plain text.

The text is made up: words of a Zipf distribution in sentences of 21 tokens, with a part of speech and a lemma. The
formats are read in turn, and the medians of the numbers of running words per second are compared. Then the memory for
0.1 and 1 GB is measured, and the CPU time of the command ``lexshift compare`` with three words and the control words.
The files are written to a temporary folder (3 GB).
Usage: python benchmarks/bench_formats.py [GB]
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lexshift.corpus import find_occurrences, read_targets
from lexshift.corpus.counting import count_words
from lexshift.corpus.word_rule import rule

TOKENS = 2_000_000  # tokens of distinct text, repeated
ROUNDS = 5
MEMORY = """
import sys
from lexshift.corpus import find_occurrences, read_targets
find_occurrences(sys.argv[1], read_targets(sys.argv[2].split(","), sys.argv[3], None), max_per_word=1000)
print(int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) / 1024)
"""


def make_pieces(rng: np.random.Generator) -> tuple[dict[str, bytes], list[str]]:
    """Return the same text in each format, and its words."""
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    share = 1 / np.arange(2, 28)
    words = ["".join(rng.choice(letters, size=n, p=share / share.sum())) for n in rng.integers(2, 11, 50_000)]
    weights = 1 / np.arange(1, len(words) + 1)
    drawn = rng.choice(len(words), size=TOKENS, p=weights / weights.sum()).tolist()
    lines: dict[str, list[str]] = {"txt": [], "vert": [], "conllu": []}
    for at in range(0, TOKENS, 20):
        forms = [words[i] for i in drawn[at : at + 20]]
        lines["txt"].append(" ".join(forms) + ".")
        tags = ["NN" if len(form) > 5 else "VVZ" if len(form) % 2 else "IN" for form in forms]
        rows = [f"{form}\t{tag}\t{form}" for form, tag in zip(forms, tags, strict=True)]
        lines["vert"] += ["<s>", *rows, "<g/>", ".\tSENT\t.", "</s>"]
        for number, (form, tag) in enumerate(zip(forms, tags, strict=True), 1):
            misc = "SpaceAfter=No" if number == len(forms) else "_"
            lines["conllu"].append(f"{number}\t{form}\t{form}\t{tag}\t_\t_\t0\troot\t_\t{misc}")
        lines["conllu"] += ["21\t.\t.\tPUNCT\t_\t_\t0\tpunct\t_\t_", ""]
    return {name: ("\n".join(some) + "\n").encode() for name, some in lines.items()}, words


def tasks(words: list[str]) -> dict[str, Callable[[Path], int]]:
    """Return what is measured; each task returns the number of running words."""
    targets = {match: read_targets(words, match, None) for match in ("word", "lemma")}
    tagged = read_targets([f"{word}/NN" for word in words])
    return {
        "count": lambda path: count_words(path, rule("word")).total,
        "count, lemmas": lambda path: count_words(path, rule("lemma"), by_lemma=True).total,
        "find": lambda path: find_occurrences(path, targets["word"], max_per_word=200).tally.words,
        "find, lemmas": lambda path: find_occurrences(path, targets["lemma"], max_per_word=200).tally.words,
        "find, tags": lambda path: (
            find_occurrences(path, tagged if path.suffix != ".txt" else targets["word"], max_per_word=200).tally.words
        ),
    }


def write(folder: Path, pieces: dict[str, bytes], size: float, name: str) -> dict[str, Path]:
    """Write each format, so that the verticalised corpus has ``size`` bytes."""
    copies = max(1, round(size / len(pieces["vert"])))
    paths = {suffix: folder / f"{name}.{suffix}" for suffix in pieces}
    for suffix, path in paths.items():
        with path.open("wb") as file:
            for _ in range(copies):
                file.write(pieces[suffix])
    return paths


def compare(old: Path, new: Path, words: list[str], out: Path) -> float:
    """Return the CPU time of a comparison in seconds."""
    command = ["compare", str(old), str(new), "--words", ",".join(words), "--model", "minilm-senses", "--out", str(out)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "lexshift", *command], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    pieces, words = make_pieces(np.random.default_rng(0))
    chosen = list(dict.fromkeys(words[5_000:]))[:50]
    with tempfile.TemporaryDirectory() as folder:
        small, large = (write(Path(folder), pieces, share * 1e9 * gigabytes, f"{share}") for share in (0.1, 1))
        speeds: dict[tuple[str, str], list[float]] = {}
        measured = tasks(chosen)
        for turn in range(ROUNDS + 1):
            for name, task in measured.items():
                for suffix, path in small.items():
                    begin = time.perf_counter()
                    speed = task(path) / (time.perf_counter() - begin) / 1e6
                    if turn:  # the first turn compiles the kernels
                        speeds.setdefault((name, suffix), []).append(speed)
        print("million running words per second, and the share of plain text")
        for name in measured:
            medians = {suffix: statistics.median(speeds[name, suffix]) for suffix in small}
            print(f"{name:14}", *(f"{suffix} {n:6.1f} {n / medians['txt']:5.0%}  " for suffix, n in medians.items()))
        print("peak memory in MB")
        for match in ("word", "lemma"):
            for suffix in ("vert", "conllu"):
                peaks = []
                for paths in (small, large):
                    command = [sys.executable, "-c", MEMORY, str(paths[suffix]), ",".join(chosen), match]
                    peaks.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
                print(
                    f"{suffix:8} {match:6} {peaks[0]:8.0f} for {0.1 * gigabytes} GB, {peaks[1]:.0f} for {gigabytes} GB"
                )
        seconds = {
            suffix: compare(large[suffix], small[suffix], chosen[:3], Path(folder, f"out-{suffix}")) for suffix in large
        }
        print("CPU seconds of the command compare, and the share of the speed of plain text")
        print(*(f"{suffix} {n:.1f} {seconds['txt'] / n:.0%}  " for suffix, n in seconds.items()))


if __name__ == "__main__":
    main()

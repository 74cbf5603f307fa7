"""Compare the time to find senses with the time to encode the usages in which they are found.

The usages are real ones: frequent words of the State of the Union addresses, 200 usages in the addresses until 1930 and
200 in those since then. Finding senses includes all that `lexshift senses` does with the vectors: clustering, repeated
on resamples; tests; change scores; shifts of usages; descriptions. Encoding is the time inside the encoder, with all
sentences of the sample sorted by length. Both are extrapolated from the sample to 1,000 words. In a larger sample more
words share a sentence, which is encoded once for all of them: the option --words shows how this changes the times.

    python benchmarks/bench_senses.py [FOLDER] [--words 60] [--model minilm-senses] [--rounds 3]

FOLDER holds one text file for each address, whose name begins with the year.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

import lexshift
from lexshift.corpus.tokens import split_words
from lexshift.corpus.vocabulary import is_word, load_function_words
from lexshift.encode import as_encoder
from lexshift.store.siblings import Siblings
from lexshift.study.senses import SenseSources, find_all_senses
from lexshift.study.settings import Settings
from lexshift.utils.arrays import Matrix
from lexshift.utils.monitor import Silent
from lexshift.utils.threads import available_cores

DATA = Path(os.environ.get("LEXSHIFT_DATA", "."), "corpora", "sotu")
BORDER = 1930
USAGES = 200  # of each word in each period
WORDS = 1000  # to which the times are extrapolated
TARGET = 0.1


class Stopwatch(Silent):
    """Measure the stages of finding senses."""

    def __init__(self) -> None:
        self.starts: list[tuple[str, float]] = []

    def stage(self, name: str, total: int, unit: str) -> None:  # noqa: ARG002
        """Begin a stage."""
        self.starts.append((name, time.perf_counter()))

    def seconds(self) -> dict[str, float]:
        """Return the time of each stage until the next one, or until now."""
        ends = [start for _, start in self.starts[1:]] + [time.perf_counter()]
        return {name: end - start for (name, start), end in zip(self.starts, ends, strict=True)}


def write_periods(folder: Path, out: Path) -> list[Path]:
    """Write a file for each period, a line for each paragraph, and return the paths."""
    texts: dict[str, list[str]] = {"old": [], "new": []}
    for path in sorted(folder.glob("*.txt")):
        period = "old" if int(path.name[:4]) < BORDER else "new"
        texts[period].append(path.read_text(errors="replace"))
    paths = [out / f"{period}.txt" for period in texts]
    for path, parts in zip(paths, texts.values(), strict=True):
        path.write_text("\n".join(parts))
    return paths


def choose_words(paths: Sequence[Path], count: int) -> list[str]:
    """Return random words that have enough usages in each period."""
    function_words = load_function_words("en")
    counts = [Counter(split_words(path.read_text())) for path in paths]
    frequent = [w for w, n in counts[0].items() if min(n, counts[1][w]) >= 1.1 * USAGES and is_word(w)]
    words = sorted(set(frequent) - function_words)
    if len(words) < count:
        raise SystemExit(f"only {len(words)} words have {USAGES} usages in each period")
    return [words[i] for i in sorted(np.random.default_rng(0).choice(len(words), count, replace=False))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument("--model", default="minilm-senses")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    encoder = as_encoder(options.model)
    plain_encode, encoding = encoder.encode, []

    def timed_encode(sentences: Sequence[str], spans: Sequence[tuple[int, int]], **more: object) -> Matrix:
        begin = time.perf_counter()
        rows = plain_encode(sentences, spans, **more)
        encoding.append(time.perf_counter() - begin)
        return rows

    with tempfile.TemporaryDirectory() as folder:
        paths = write_periods(options.folder, Path(folder))
        words = choose_words(paths, options.words)
        plain_encode(["A mouse ran away."] * 64, [(2, 7)] * 64)
        encoder.encode = timed_encode  # type: ignore[method-assign]
        siblings = lexshift.embed(*paths, words=words, model=encoder, max_per_word=USAGES, missing="skip")
        encoder.encode = plain_encode  # type: ignore[method-assign]
        report(siblings, words, encoder, sum(encoding), options.rounds)


def report(siblings: Siblings, words: list[str], encoder: lexshift.Encoder, encoding: float, rounds: int) -> None:
    """Find the senses several times, and print the times for 1,000 words."""
    sources, settings = SenseSources(None, None, None), Settings(senses=True)
    find_all_senses(siblings, words[:2], encoder, settings, sources, "en", Stopwatch())  # compiles the kernels
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        watch, begin = Stopwatch(), time.perf_counter()
        senses, _ = find_all_senses(siblings, words, encoder, settings, sources, "en", watch)
        for name, seconds in (watch.seconds() | {"all": time.perf_counter() - begin}).items():
            times.setdefault(name, []).append(seconds)
    usages = sum(len(found.labels) for found in senses.values())
    several = sum(len(found) > 1 for found in senses.values())
    factor = WORDS / len(words)
    print(f"{len(words)} words, {usages:,} usages, {several} words with several senses; {available_cores()} cores")
    print(f"seconds for {WORDS:,} words of {USAGES} + {USAGES} usages:")
    print(f"  {'encoding':22}{factor * encoding:8.1f}   ({usages / encoding:.0f} usages per second)")
    for name, values in times.items():
        share = median(values) / encoding
        verdict = f", target at most {100 * TARGET:.0f} %" if name == "all" else ""
        print(f"  {name:22}{factor * median(values):8.1f}   {100 * share:5.1f} % of encoding{verdict}")


if __name__ == "__main__":
    main()

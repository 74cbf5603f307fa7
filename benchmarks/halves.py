"""Count the words that differ between halves of one period, in which nothing changed.

The documents of a period are divided into two random halves, and the words are compared with the settings of
`lexshift compare`. Prints the share of words with p <= 0.05 if whole documents are permuted (the test of lexshift) and
if usages are permuted one by one, and the number of words by verdict. The last row compares the first with the second
half of the period, between which some words may have changed.

    python benchmarks/halves.py [FOLDER] [--first 1850] [--last 1899] [--words 100] [--rounds 20] [--model NAME]

FOLDER holds one text file for each document, whose name begins with the year.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import lexshift
from lexshift.corpus.tokens import split_words
from lexshift.corpus.vocabulary import is_word, load_function_words
from lexshift.encode import as_encoder
from lexshift.scoring.permutation import DOCUMENTS
from lexshift.scoring.scores import tested_metric
from lexshift.utils.arrays import Matrix

DATA = Path(os.environ.get("LEXSHIFT_DATA", "."), "corpora", "sotu")
LEVEL = 0.05
PERMUTATIONS = 999
MIN_OCCURRENCES = 40


class Memory:
    """An encoder that encodes each word in each sentence once."""

    def __init__(self, encoder: lexshift.Encoder) -> None:
        self.encoder = encoder
        self.known: dict[tuple[str, tuple[int, int]], Matrix] = {}

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.encoder, name)

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]], **_: object) -> Matrix:
        """Encode words in their sentences: (n, d)."""
        keys = [(sentence, (start, end)) for sentence, (start, end) in zip(sentences, spans, strict=True)]
        new = [key for key in dict.fromkeys(keys) if key not in self.known]
        if new:
            rows = self.encoder.encode([sentence for sentence, _ in new], [span for _, span in new])
            self.known |= zip(new, np.asarray(rows), strict=True)
        return np.stack([self.known[key] for key in keys])


def choose_words(paths: Sequence[Path], count: int) -> list[str]:
    """Return random words that occur often enough."""
    counts = Counter(word for path in paths for word in split_words(path.read_text(errors="replace")))
    frequent = {word for word, n in counts.items() if n >= MIN_OCCURRENCES and is_word(word)}
    words = sorted(frequent - load_function_words("en"))
    return sorted(np.random.default_rng(0).permutation(words)[:count].tolist())


def compare_halves(
    halves: Sequence[Sequence[Path]], words: list[str], encoder: Memory, folder: Path, seed: int
) -> lexshift.Result:
    """Compare two sets of documents."""
    for name, paths in zip(("first", "second"), halves, strict=True):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir()
        for path in paths:
            shutil.copyfile(path, folder / name / path.name)
    return lexshift.compare(
        folder / "first",
        folder / "second",
        words,
        model=encoder,
        permutations=PERMUTATIONS,
        resamples=20,
        seed=seed,
        monitor=False,
    )


def describe(name: str, result: lexshift.Result) -> tuple[list[float], list[float]]:
    """Print a row, and return the p of words with documents and with usages permuted."""
    by_document, by_usage = [], []
    for word, scored in result.scores.words.items():
        if scored.test.unit == DOCUMENTS:
            old, new = result.word(word).vectors
            metric = tested_metric(result.settings["metric"], old, new)
            by_document.append(scored.test.p)
            by_usage.append(lexshift.permutation_test(old, new, metric, PERMUTATIONS, word=word).p)
    verdicts = ", ".join(f"{n} {verdict}" for verdict, n in Counter(result.table["verdict"]).items())
    shares = [np.mean(np.array(p) <= LEVEL) for p in (by_document, by_usage)]
    print(f"{name:10} {len(by_document):6} {shares[0]:10.3f} {shares[1]:8.3f}   {verdicts}", flush=True)
    return by_document, by_usage


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--first", type=int, default=1850)
    parser.add_argument("--last", type=int, default=1899)
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--model", default="minilm-senses")
    options = parser.parse_args()
    paths = [p for p in sorted(options.folder.glob("*.txt")) if options.first <= int(p.name[:4]) <= options.last]
    words, encoder = choose_words(paths, options.words), Memory(as_encoder(options.model))
    rng, middle = np.random.default_rng(0), len(paths) // 2
    print(f"{len(paths)} documents, {len(words)} words; share of words with p <= {LEVEL}, by what is permuted")
    print(f"{'halves':10} {'words':>6} {'documents':>10} {'usages':>8}   verdicts")
    found: list[tuple[list[float], list[float]]] = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.rounds):
            order = [paths[i] for i in rng.permutation(len(paths))]
            result = compare_halves((order[:middle], order[middle:]), words, encoder, Path(folder), seed)
            found.append(describe(f"random {seed + 1}", result))
        both = [np.concatenate([values[i] for values in found]) for i in (0, 1)]
        print(f"{'all random':10} {len(both[0]):6} {np.mean(both[0] <= LEVEL):10.3f} {np.mean(both[1] <= LEVEL):8.3f}")
        describe("by time", compare_halves((paths[:middle], paths[middle:]), words, encoder, Path(folder), 0))


if __name__ == "__main__":
    main()

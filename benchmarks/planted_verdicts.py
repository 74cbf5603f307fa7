"""Count the verdicts on pseudowords whose change is known.

Two designs:

- *separate*: pseudowords are planted in an old and a new corpus that differ as wholes, with changes from 1 to 0 and, in
  a second run, without any change (``lexshift simulate OLD NEW --separate``). Prints the share of the pseudowords that
  moved by half or more that are called changed, and the share of those without a change that are.
- *unequal*: each pseudoword has 10 usages in the old corpus, all of its first source word, and 60 in the new one, all
  of its second source word. Prints the share that is called changed. As a check, both corpora then have usages of the
  same source word.

    python benchmarks/planted_verdicts.py OLD NEW --out FOLDER [--names 40] [--model NAME]
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from lexshift import compare
from lexshift.corpus.tokens import split_words
from lexshift.corpus.vocabulary import is_word, load_function_words
from lexshift.simulation.corpora import simulate

FEW, MANY = 10, 60
MOVED, STILL = 0.5, 0.05


def judge(old: Path, new: Path, words: Path, model: str, out: Path) -> pd.DataFrame:
    """Return the table of a comparison."""
    return compare(old, new, words, model=model, out=out, resamples=20).table


def count_separate(old: Path, new: Path, names: int, model: str, out: Path) -> None:
    """Print the verdicts on pseudowords in corpora that differ as wholes."""
    for pattern in ("change", "none"):
        folder = out / f"separate-{pattern}"
        planted = simulate(old, new, separate=True, pattern=pattern, pseudowords=names, out=folder, monitor=False)
        gold = dict(zip(planted["word"], planted["change"], strict=True))
        table = judge(folder / "old", folder / "new", folder / "words.txt", model, out / f"result-{pattern}")
        table = table.assign(planted=table["word"].map(gold))
        print(f"\nseparate, {pattern}: {dict(Counter(table['verdict']))}")
        for label, rows in (
            (f"moved by {MOVED:g} or more", table[table["planted"] >= MOVED]),
            ("did not move", table[table["planted"] < STILL]),
        ):
            if len(rows):
                called = (rows["verdict"] == "changed").sum()
                print(f"{label}: {called} of {len(rows)} called changed, {called / len(rows):.3f}")


def sentences_by_word(corpus: Path) -> dict[str, list[str]]:
    """Return the sentences of each content word of a folder of texts, each sentence once."""
    ignored, found = load_function_words("en"), dict[str, dict[str, None]]()
    for file in sorted(corpus.glob("*.txt")):
        for part in re.split(r"(?<=[.?!])\s+", " ".join(file.read_text("utf-8").split())):
            if 30 <= len(part) <= 400:
                for word in {word.lower() for word in split_words(part) if is_word(word)} - ignored:
                    found.setdefault(word, {})[part] = None
    return {word: list(sentences) for word, sentences in found.items()}


def count_unequal(corpus: Path, names: int, model: str, out: Path, is_moved: bool) -> None:
    """Print the verdicts on pseudowords with few usages in one corpus and many in the other one."""
    rng = np.random.default_rng(0)
    sentences = sentences_by_word(corpus)
    frequent = sorted(word for word, found in sentences.items() if len(found) >= FEW + MANY and len(word) > 3)
    chosen = rng.permutation(frequent)[: 2 * names].tolist()
    folder = out / ("unequal" if is_moved else "unequal-still")
    folder.mkdir(parents=True, exist_ok=True)
    texts: tuple[list[str], list[str]] = ([], [])
    pseudowords = [f"zq{word[::-1]}" for word in chosen[:names]]
    for pseudoword, first, second in zip(pseudowords, chosen[:names], chosen[names:], strict=True):
        sources = (first, second if is_moved else first)
        drawn = [rng.permutation(sentences[source]).tolist() for source in sources]
        parts = drawn[0][:FEW], drawn[1][FEW : FEW + MANY]
        for lines, part, source in zip(texts, parts, sources, strict=True):
            lines += [re.sub(rf"\b{source}\b", pseudoword, text, flags=re.IGNORECASE) for text in part]
    for name, lines in zip(("old.txt", "new.txt"), texts, strict=True):
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "words.txt").write_text("\n".join(pseudowords) + "\n", "utf-8")
    table = judge(folder / "old.txt", folder / "new.txt", folder / "words.txt", model, folder / "result")
    called = (table["verdict"] == "changed").sum()
    what = "full change" if is_moved else "no change"
    print(f"\n{FEW} against {MANY} usages, {what}: {called} of {len(table)} called changed, {called / len(table):.3f}")
    print(dict(Counter(table["verdict"])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--names", type=int, default=40)
    parser.add_argument("--model", default="auto")
    options = parser.parse_args()
    count_separate(options.old, options.new, options.names, options.model, options.out)
    for is_moved in (True, False):
        count_unequal(options.old, options.names, options.model, options.out, is_moved)


if __name__ == "__main__":
    main()

"""Count the verdicts on pseudowords whose change is known.

Three designs:

- *separate*: pseudowords are planted in an old and a new corpus that differ as wholes, with changes from 1 to 0 and, in
  a second run, without any change (``lexshift simulate OLD NEW --separate``). Prints the share of the pseudowords that
  moved by half or more that are called changed, and the share of those without a change that are.
- *unequal*: each pseudoword has 10 usages in the old corpus, all of its first source word, and 60 in the new one, all
  of its second source word. Prints the share that is called changed. As a check, both corpora then have usages of the
  same source word.
- *senses*: words with their own names, in sense-labelled text from two sources. The old usages have one sense, and a
  share of the new ones has another sense. Prints the share of the words that are called changed, for each share of the
  other sense, for all lemmas and for those that the tuning of the built-in encoders held out: the mean and the range
  over random draws of the usages to which ordinary words are reduced.

    python benchmarks/planted_verdicts.py OLD NEW --out FOLDER [--names 40] [--model NAME]
    python benchmarks/planted_verdicts.py --senses FILE [--model NAME] [--seed 0]

FILE is sense-labelled text from SemCor and MASC in lines of JSON, compressed by gzip (noad.jsonl.gz).
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from lexshift import compare
from lexshift.corpus.tokens import split_words
from lexshift.corpus.vocabulary import is_word, load_function_words
from lexshift.encode import as_encoder
from lexshift.encode.protocol import optional_attribute
from lexshift.scoring.background import USAGES, Background
from lexshift.scoring.gap import estimate_gap
from lexshift.scoring.permutation import permutation_test
from lexshift.scoring.significance import benjamini_hochberg
from lexshift.scoring.space import calibration_space
from lexshift.simulation.corpora import simulate
from lexshift.study.verdict import decide_verdict, weigh_gaps
from lexshift.tune.sense_blocks import is_held_out
from lexshift.tune.settings import SenseSettings
from lexshift.utils.arrays import Array

FEW, MANY = 10, 60
MOVED, STILL = 0.5, 0.05
ALPHA = 0.05
SOURCES = ("semcor", "masc")  # of the old and the new usages
SHARES = (0.3, 0.5, 0.75, 1.0)  # of another sense
TRAINED = 120  # lemmas that the built-in encoders were trained on
MIN_LABELLED, MAX_LABELLED = 20, 50  # usages of a lemma in each source
DRAWS = 6  # of the usages of ordinary words
MIN_PLANTED, MAX_PLANTED, MIN_MOVED = 12, 30, 4  # usages of a word in each corpus, and those with another sense


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


def labelled_usages(path: Path, seed: int) -> pd.DataFrame:
    """Return usages in random order, of the lemmas that were held out and of some that were trained on."""
    rows = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            for start, end, lemma, pos, sense in record["words"]:
                rows.append((f"{lemma} {pos}", lemma, record["source"], record["sentence"], start, end, sense))
    table = pd.DataFrame(rows, columns=["word", "lemma", "source", "sentence", "start", "end", "sense"])
    table = table[table["source"].isin(SOURCES) & (table["sentence"].str.len() <= 600)]
    table = table[~table["lemma"].isin(load_function_words("en"))].drop_duplicates(["word", "sentence"])
    counts = table.groupby(["word", "source"]).size().unstack(fill_value=0).min(axis=1)
    table = table[table["word"].map(counts) >= MIN_LABELLED].sample(frac=1, random_state=seed)
    settings = SenseSettings()
    lemmas = table.drop_duplicates("word").set_index("word")["lemma"]
    held_out = lemmas.map(lambda lemma: is_held_out(lemma, settings.held_out, settings.seed))
    table = table[table["word"].isin([*held_out.index[held_out], *held_out.index[~held_out][:TRAINED]])]
    table = table.groupby(["word", "source"]).head(MAX_LABELLED).reset_index(drop=True)
    return table.assign(held_out=table["word"].map(held_out))


def plant_senses(usages: pd.DataFrame) -> Iterator[tuple[float, Array, Array]]:
    """Yield the share of another sense, and the rows of the old and the new usages, from the usages of a lemma."""
    old, new = (dict(list(rows.groupby("sense"))) for rows in (usages[usages["source"] == name] for name in SOURCES))
    for sense in sorted(set(old) & set(new)):
        before, same = old[sense].index.to_numpy(), new[sense].index.to_numpy()
        if min(len(before), len(same)) < FEW:
            continue
        yield 0.0, before, same
        for other in sorted(set(new) - {sense}):
            for share in SHARES:
                moved = new[other].index.to_numpy()
                n = min(MAX_PLANTED, len(before), int(len(moved) / share))
                count = round(share * n)
                if n >= MIN_PLANTED and count >= MIN_MOVED and len(moved) >= count and len(same) >= n - count:
                    yield share, before[:MAX_PLANTED], np.concatenate([moved[:count], same[: n - count]])


def count_senses(path: Path, model: str, seed: int) -> None:
    """Print the verdicts on words of sense-labelled text of which a share of the new usages has another sense."""
    encoder, usages = as_encoder(model), labelled_usages(path, seed)
    spans = list(zip(usages["start"], usages["end"], strict=True))
    vectors = calibration_space(encoder).apply(np.asarray(encoder.encode(list(usages["sentence"]), spans)))
    ordinary, plants = {}, []
    for word, rows in usages.groupby("word"):
        old, new = (rows.index[rows["source"] == source][:USAGES] for source in SOURCES)
        ordinary[str(word)] = vectors[old], vectors[new]
        plants += [(word, rows["held_out"].iloc[0], *plant) for plant in plant_senses(rows)]
    table = pd.DataFrame(plants, columns=["word", "held_out", "share", "old", "new"])
    calibration = optional_attribute(encoder, "calibration")
    backgrounds = [Background(ordinary, calibration, seed=draw) for draw in range(DRAWS)]
    remove = backgrounds[0].shift.remove
    pairs = {str(i): remove(vectors[plant[3]], vectors[plant[4]]) for i, plant in enumerate(plants)}
    sizes = {name: (len(old), len(new)) for name, (old, new) in pairs.items()}
    gaps = {name: estimate_gap(*pair, calibration, word=name) for name, pair in pairs.items()}
    q = benjamini_hochberg([permutation_test(*pair, "energy", 1000, word=name).p for name, pair in pairs.items()])
    called = np.empty((DRAWS, len(table)), bool)
    for row, background in zip(called, backgrounds, strict=True):
        found = weigh_gaps(gaps, sizes, background).values()
        row[:] = [decide_verdict(one, p, ALPHA, background.floor) == "changed" for one, p in zip(found, q, strict=True)]
    parts = {"no change": table["share"] == 0, f"moved by {MOVED:g} or more": table["share"] >= MOVED}
    parts |= {f"{share:g} moved": table["share"] == share for share in SHARES}
    for label, chosen in (("all lemmas", table["share"] >= 0), ("lemmas that were held out", table["held_out"])):
        print(f"\nsenses, {label}: {table.loc[chosen, 'word'].nunique()}")
        for name, is_part in parts.items():
            shares = called[:, chosen & is_part].mean(axis=1)  # (draws,)
            print(f"{name}: {shares.mean():.3f} called changed ({shares.min():.3f} to {shares.max():.3f})", end=", ")
            print(f"{(chosen & is_part).sum()} words")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, nargs="?")
    parser.add_argument("new", type=Path, nargs="?")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--names", type=int, default=40)
    parser.add_argument("--model", default="auto")
    parser.add_argument("--senses", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.senses:
        count_senses(options.senses, "minilm-senses" if options.model == "auto" else options.model, options.seed)
        return
    if not (options.new and options.out):
        parser.error("give OLD, NEW and --out, or --senses")
    count_separate(options.old, options.new, options.names, options.model, options.out)
    for is_moved in (True, False):
        count_unequal(options.old, options.names, options.model, options.out, is_moved)


if __name__ == "__main__":
    main()

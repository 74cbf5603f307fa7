"""Compare clusterings of usages with sense labels, planted senses and graded human judgements of change.

    python benchmarks/sense_clusters.py --store STORES --noad FILE --dwug FOLDER --change FOLDER

The usages of sense-labelled text (--noad) are those of the lemmas that the tuning of the built-in encoders held out,
and of as many other lemmas as --trained says; settings are chosen on them. Planted senses are made of lemmas with one
sense: one lemma alone should have one sense, and two lemmas of a part of speech under one name should have two. For
planted change, the usages of each sense are divided at random between two periods. The folders of --dwug and --change
are data sets with human judgements. Vectors are computed once and kept in STORES.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from lexshift.benchmark.datasets import load_dataset
from lexshift.benchmark.measures import spearman
from lexshift.corpus import read_dictionary
from lexshift.encode import as_encoder
from lexshift.encode.adaptation import Calibration, FixedSpace
from lexshift.encode.protocol import optional_attribute
from lexshift.scoring.space import choose_space
from lexshift.senses.agglomerative import Agglomerative
from lexshift.senses.clustering import Clustering
from lexshift.senses.clusterings import CLUSTERINGS, DEFAULT
from lexshift.senses.fallback_calibration import estimate_calibration
from lexshift.senses.graded_change import share_distance
from lexshift.senses.stability import StableClustering
from lexshift.tune.sense_blocks import is_held_out
from lexshift.tune.settings import SenseSettings
from lexshift.utils.arrays import Array, Floats, Indices, Matrix

MIN_USAGES, MAX_HELD_OUT, MAX_TRAINED = 20, 300, 80
PLANTED, PLANTED_USAGES = 200, 100
REPETITIONS = 10  # of planted change
COLUMNS = ["word", "group", "sense", "sentence", "start", "end"]


class OneSense:
    """The answer that every word has one sense."""

    name = "one sense"

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:  # noqa: ARG002
        """Return zeros."""
        return np.zeros(len(vectors), np.intp)


@dataclass(frozen=True)
class Word:
    """The usages of a word: vectors, gold senses, and a group (a period, or whether the lemma was held out)."""

    vectors: Matrix
    senses: Array
    groups: Array


def sample(usages: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return at most ``most`` random usages of each word and group."""
    order = np.random.default_rng(0).permutation(len(usages))
    return usages.iloc[order].groupby(["word", "group"], sort=False).head(most).sort_index()


def labelled_usages(path: str, trained: int) -> pd.DataFrame:
    """Return usages of held-out lemmas and of some others, as frequent as they are in the text."""
    settings, rows = SenseSettings(), []
    for entry in read_dictionary(path, language="en").entries:
        group = "held out" if is_held_out(entry.lemma, settings.held_out, settings.seed) else "trained"
        usages = [(sense.sense, *usage) for sense in entry.senses for usage in sense.usages]
        if len(usages) >= MIN_USAGES:
            rows += [(f"{entry.lemma} {entry.pos}", group, *usage) for usage in usages]
    table = pd.DataFrame(rows, columns=COLUMNS)
    held_out, others = (table[table.group == group].reset_index(drop=True) for group in ("held out", "trained"))
    words = np.random.default_rng(0).permutation(others.word.unique())[:trained]
    others = others[others.word.isin(words)].reset_index(drop=True)
    return pd.concat([sample(held_out, MAX_HELD_OUT), sample(others, MAX_TRAINED)], ignore_index=True)


def judged_usages(folder: str) -> pd.DataFrame:
    """Return the usages of a DWUG release that have a cluster, with their clusters."""
    tables = []
    for path in sorted(Path(folder).glob("clusters/opt/*.csv")):
        clusters = pd.read_csv(path, sep="\t", quoting=3)
        table = pd.read_csv(Path(folder, "data", path.stem, "uses.csv"), sep="\t", quoting=3, dtype=str)
        table = table.merge(clusters, on="identifier").assign(word=path.stem)
        table[["start", "end"]] = table.indexes_target_token.str.split(":", expand=True).astype(int)
        tables.append(table.rename(columns={"cluster": "sense", "context": "sentence", "grouping": "group"})[COLUMNS])
    return pd.concat(tables, ignore_index=True)


def usages_of_periods(folder: str, most: int) -> pd.DataFrame:
    """Return usages of a data set with graded gold, the periods as groups."""
    usages = load_dataset(folder).usages.to_pandas().rename(columns={"corpus": "group"}).assign(sense=0)
    return sample(usages[COLUMNS], most).reset_index(drop=True)


@dataclass(frozen=True)
class Vectors:
    """An encoder by name, and the folder of its vectors, which are raw unless the encoder has a fixed space."""

    model: str
    store: Path
    uses_fallback: bool

    def embed(self, usages: pd.DataFrame, name: str) -> tuple[dict[str, Word], Calibration]:
        """Return the words with their vectors, and the calibration or its estimate."""
        encoder = as_encoder(self.model)
        path = self.store / f"{name}-{Path(self.model).name}.npy"
        if not path.is_file():
            start = time.perf_counter()
            vectors = encoder.encode(list(usages.sentence), list(zip(usages.start, usages.end, strict=True)))
            print(f"{name}: {len(usages)} usages encoded in {time.perf_counter() - start:.0f} s", flush=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, vectors)
        vectors = np.nan_to_num(np.load(path))
        rows = usages.groupby("word", sort=False).indices
        pairs = {str(word): (vectors[index], vectors[index]) for word, index in rows.items()}
        is_fixed = isinstance(optional_attribute(encoder, "space"), FixedSpace)
        moved = choose_space(pairs, "auto" if is_fixed else "raw", encoder).apply_to_words(pairs)
        words = {w: Word(moved[w][0], usages.sense.to_numpy()[i], usages.group.to_numpy()[i]) for w, i in rows.items()}
        calibration = optional_attribute(encoder, "calibration")
        if calibration is None or self.uses_fallback:
            calibration = estimate_calibration([word.vectors for word in words.values()])
            print(f"{name}: estimated {calibration}")
        return words, calibration


def agreement(labels: Indices, gold: Array) -> tuple[float, float]:
    """Return the adjusted Rand index and B-cubed F of two divisions of usages."""
    from sklearn.metrics import adjusted_rand_score

    table = pd.crosstab(gold, labels).to_numpy()
    precision = (table**2 / table.sum(axis=0)).sum() / table.sum()
    recall = (table**2 / table.sum(axis=1, keepdims=True)).sum() / table.sum()
    return float(adjusted_rand_score(gold, labels)), float(2 * precision * recall / (precision + recall))


def interval(values: Floats) -> str:
    """Return the mean of differences between words with its 95 % bootstrap interval."""
    draws = np.random.default_rng(0).integers(0, len(values), (2_000, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), [0.025, 0.975])
    return f"{values.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


def compare_with_gold(
    data: str, words: Mapping[str, Word], calibration: Calibration, rules: Mapping[str, Clustering]
) -> Iterator[dict[str, object]]:
    """Yield for each clustering its agreement with gold senses; usages of the cluster -1 do not count."""
    baseline = None
    for name, rule in rules.items():
        start, values = time.perf_counter(), []
        for word in words.values():
            labels, is_judged = rule.cluster(word.vectors, calibration), word.senses != -1
            values.append((*agreement(labels[is_judged], word.senses[is_judged]), labels.max() + 1, labels.max() == 0))
        table = np.array(values, float)
        baseline = table[:, 1] if baseline is None else baseline
        rand, f, senses, one = table.mean(axis=0).round(3)
        yield {
            "data": data,
            "clustering": name,
            "words": len(words),
            "adjusted Rand": rand,
            "B-cubed F": f,
            "above one sense": interval(table[:, 1] - baseline),
            "senses": senses,
            "one sense": one,
            "ms per word": round((time.perf_counter() - start) / len(words) * 1000, 1),
        }


def find_planted(
    words: Mapping[str, Word], calibration: Calibration, rules: Mapping[str, Clustering]
) -> Iterator[dict[str, object]]:
    """Yield for each clustering the share of planted numbers of senses that it finds."""
    plain = [name for name, word in words.items() if len(set(word.senses)) == 1]
    rng = np.random.default_rng(0)
    pairs = [(a, b) for a in plain for b in plain if a < b and a.split()[-1] == b.split()[-1]]
    chosen = [pairs[i] for i in rng.permutation(len(pairs))[:PLANTED]]
    for name, rule in rules.items():
        ones = [rule.cluster(words[word].vectors, calibration).max() + 1 for word in plain]
        twos, agreements = [], []
        for pair in chosen:
            parts = [words[word].vectors[:PLANTED_USAGES] for word in pair]
            labels = rule.cluster(np.concatenate(parts), calibration)
            twos.append(labels.max() + 1)
            agreements.append(agreement(labels, np.repeat([0, 1], [len(part) for part in parts]))[0])
        yield {
            "clustering": name,
            "words": len(plain),
            "one is one": round(float(np.mean(np.array(ones) == 1)), 3),
            "pairs": len(chosen),
            "two are two": round(float(np.mean(np.array(twos) == 2)), 3),
            "two are several": round(float(np.mean(np.array(twos) > 1)), 3),
            "adjusted Rand": round(float(np.mean(agreements)), 3),
        }


def label_rows(calibration: Calibration, rules: Mapping[str, Clustering]) -> dict[str, Callable[[Matrix], Indices]]:
    """Return functions that give the senses of usages, (rows, n): of each clustering, and at several thresholds."""

    def one_row(rule: Clustering) -> Callable[[Matrix], Indices]:
        return lambda vectors: rule.cluster(vectors, calibration)[None]

    rows = {name: one_row(rule) for name, rule in rules.items() if name != OneSense.name}
    return {**rows, "mean over thresholds": lambda vectors: Agglomerative().cluster_at(vectors, calibration)}


def change_of(rows: Indices, is_new: Array) -> float:
    """Return the mean over rows of the distance between the shares of senses in two periods."""
    return float(np.mean([share_distance(labels[~is_new], labels[is_new]) for labels in rows]))


def compare_change(
    data: str,
    words: Mapping[str, Word],
    calibration: Calibration,
    rules: Mapping[str, Clustering],
    graded: Mapping[str, float],
    new: str,
) -> Iterator[dict[str, object]]:
    """Yield Spearman's correlation with graded change."""
    for name, find in label_rows(calibration, rules).items():
        scores = [change_of(find(word.vectors), word.groups == new) for word in words.values()]
        found = spearman(scores, [graded[word] for word in words])
        yield {"data": data, "score": name, "words": found.words, "spearman": round(found.rho, 3)}


def compare_planted_change(
    words: Mapping[str, Word], calibration: Calibration, rules: Mapping[str, Clustering]
) -> Iterator[dict[str, object]]:
    """Yield the mean correlation with planted change: usages of each gold sense are new with a random probability."""
    rng = np.random.default_rng(0)
    chosen = {name: word for name, word in words.items() if len(word.vectors) >= 2 * MIN_USAGES}
    gold = {name: np.unique(word.senses, return_inverse=True)[1] for name, word in chosen.items()}
    periods = []
    for _ in range(REPETITIONS):
        drawn = {}
        for name, senses in gold.items():
            spread = rng.choice([0.3, 1, 5, 50])  # from senses that come and go to senses that stay
            is_new = rng.random(len(senses)) < rng.beta(spread, spread, senses.max() + 1)[senses]
            if min(is_new.sum(), (~is_new).sum()) >= MIN_USAGES // 2:
                drawn[name] = is_new
        periods.append(drawn)
    for score, find in label_rows(calibration, rules).items():
        rows = {name: find(word.vectors) for name, word in chosen.items()}
        rhos = [
            spearman(
                [change_of(rows[name], is_new) for name, is_new in drawn.items()],
                [change_of(gold[name][None], is_new) for name, is_new in drawn.items()],
            ).rho
            for drawn in periods
        ]
        yield {"data": "NOAD, planted", "score": score, "words": len(chosen), "spearman": round(np.mean(rhos), 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="minilm-senses")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--noad", help="sense-labelled text, for example noad.jsonl.gz")
    parser.add_argument("--trained", type=int, default=200, help="number of lemmas that were trained on")
    parser.add_argument("--dwug", help="folder of a DWUG release")
    parser.add_argument("--change", action="append", default=[], help="folder of a data set with graded change")
    parser.add_argument("--most", type=int, default=200, help="maximum number of usages of a word in a period")
    parser.add_argument("--clustering", action="append", choices=CLUSTERINGS, help=f"default: all; {DEFAULT} is first")
    parser.add_argument("--fallback", action="store_true", help="estimate the calibration from the vectors")
    options = parser.parse_args()
    vectors = Vectors(options.model, options.store, options.fallback)
    rules: dict[str, Clustering] = {OneSense.name: OneSense()}
    for name in options.clustering or CLUSTERINGS:
        stable = CLUSTERINGS[name]
        rules |= {f"{name}, unstable senses too": stable.clustering} if isinstance(stable, StableClustering) else {}
        rules[name] = stable
    gold: list[dict[str, object]] = []
    planted: list[dict[str, object]] = []
    change: list[dict[str, object]] = []
    if options.noad:
        words, calibration = vectors.embed(labelled_usages(options.noad, options.trained), f"noad-{options.trained}")
        for group in ("held out", "trained"):
            part = {name: word for name, word in words.items() if word.groups[0] == group}
            gold += compare_with_gold(f"NOAD, {group}", part, calibration, rules) if part else []
        planted += find_planted(words, calibration, rules)
        change += compare_planted_change(words, calibration, rules)
    if options.dwug:
        words, calibration = vectors.embed(judged_usages(options.dwug), Path(options.dwug).name)
        data = load_dataset(options.dwug)
        gold += compare_with_gold(data.name, words, calibration, rules)
        change += compare_change(data.name, words, calibration, rules, data.graded, str(data.periods[1]))
    for folder in options.change:
        data = load_dataset(folder)
        words, calibration = vectors.embed(usages_of_periods(folder, options.most), f"{data.name}-{options.most}")
        change += compare_change(data.name, words, calibration, rules, data.graded, "new")
    for table in (gold, planted, change):
        if table:
            print(pd.DataFrame(table).to_string(index=False), flush=True)


if __name__ == "__main__":
    main()

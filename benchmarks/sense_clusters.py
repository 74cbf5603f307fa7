"""Compare clusterings of usages with sense labels, planted senses and graded human judgements of change.

    python benchmarks/sense_clusters.py --store STORES --noad FILE --dwug FOLDER --change FOLDER

The usages of sense-labelled text (--noad) are those of the lemmas that the tuning of the built-in encoders held out,
and of as many other lemmas as --trained says; settings are chosen on them. Planted senses are made of lemmas with one
sense: one lemma alone should have one sense, and two lemmas of a part of speech under one name should have two. For
planted change, the usages of each sense are divided at random between two periods. For planted new senses, a sense of a
lemma, or a second lemma, is in the new period only, and other lemmas do not change: their usages are divided at random,
or by the corpus they come from. The folders of --dwug and --change are data sets with human judgements. Vectors are
computed once and kept in STORES.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from lexshift.benchmark.datasets import load_dataset
from lexshift.benchmark.datasets.dataset import Dataset
from lexshift.benchmark.measures import accuracy_and_f1, spearman
from lexshift.benchmark.sense_measures import adjusted_rand_index, b_cubed, gained_and_lost
from lexshift.corpus import read_dictionary
from lexshift.encode import as_encoder
from lexshift.encode.adaptation import Calibration
from lexshift.encode.protocol import optional_attribute
from lexshift.scoring.space import calibration_space
from lexshift.senses.agglomerative import Agglomerative
from lexshift.senses.changed_groups import divide_changed_senses, find_groups
from lexshift.senses.clustering import Clustering
from lexshift.senses.clusterings import CLUSTERINGS, DEFAULT, fine_clustering
from lexshift.senses.fallback_calibration import estimate_calibration
from lexshift.senses.graded_change import share_distance
from lexshift.senses.shares import GAINED, GREW, KEPT, adjust_p, name_changes, sense_shares
from lexshift.senses.stability import StableClustering
from lexshift.tune.sense_blocks import is_held_out
from lexshift.tune.settings import SenseSettings
from lexshift.utils.arrays import Array, Floats, Indices, Matrix

MIN_USAGES, MAX_HELD_OUT, MAX_TRAINED = 20, 300, 80
PLANTED, PLANTED_USAGES = 200, 100
REPETITIONS = 10  # of planted change
MIN_NEW, MIN_PERIOD = 10, 10  # usages of a planted new sense, and of each period
SAME = 0.1  # least p of the gold senses of lemmas whose senses do not differ between two corpora
FOUND = 0.5  # Jaccard coefficient of the planted new sense with a reported one
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
        moved = calibration_space(encoder).apply(vectors)
        words = {w: Word(moved[i], usages.sense.to_numpy()[i], usages.group.to_numpy()[i]) for w, i in rows.items()}
        calibration = optional_attribute(encoder, "calibration")
        if calibration is None or self.uses_fallback:
            calibration = estimate_calibration([word.vectors for word in words.values()])
            print(f"{name}: estimated {calibration}")
        return words, calibration


def agreement(labels: Indices, gold: Array) -> tuple[float, float]:
    """Return the adjusted Rand index and B-cubed F of two divisions of usages."""
    found, senses = labels.tolist(), gold.tolist()
    return adjusted_rand_index(found, senses), b_cubed([{label} for label in found], [{sense} for sense in senses]).f


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


@dataclass(frozen=True)
class Planted:
    """A word with planted periods: vectors, gold senses, which usages are new, and which have the planted new sense."""

    vectors: Matrix
    senses: Array
    periods: Indices
    is_planted: Array


def plant_new_senses(words: Mapping[str, Word], rng: np.random.Generator) -> dict[str, Planted]:
    """Return lemmas of which a random sense is in the new period only, or in half of the cases mostly."""
    planted = {}
    for name, word in words.items():
        senses, counts = np.unique(word.senses, return_counts=True)
        frequent = senses[counts >= MIN_NEW]
        if len(frequent) < 2:
            continue
        is_planted = word.senses == rng.choice(frequent)
        periods = np.where(is_planted, 1, rng.integers(0, 2, len(is_planted)))
        if rng.random() < 0.5:
            periods[is_planted & (rng.random(len(periods)) < 0.1)] = 0
        if np.bincount(periods, minlength=2).min() >= MIN_PERIOD:
            planted[name] = Planted(word.vectors, word.senses, periods, is_planted)
    return planted


def plant_lemmas(words: Mapping[str, Word], rng: np.random.Generator) -> dict[str, Planted]:
    """Return lemmas with one sense, to which usages of another such lemma are added in the new period."""
    plain = [name for name, word in words.items() if len(set(word.senses)) == 1]
    pairs = [(a, b) for a in plain for b in plain if a != b and a.split()[-1] == b.split()[-1]]
    planted = {}
    for i in rng.permutation(len(pairs))[: PLANTED // 2]:
        parts = [rng.permutation(words[name].vectors) for name in pairs[i]]
        parts = [parts[0][:60], parts[1][: rng.integers(6, 30)]]
        is_planted = np.repeat([False, True], [len(part) for part in parts])
        periods = np.where(is_planted, 1, rng.integers(0, 2, len(is_planted)))
        planted["+".join(pairs[i])] = Planted(np.concatenate(parts), is_planted, periods, is_planted)
    return planted


def keep_senses(
    words: Mapping[str, Word], rng: np.random.Generator, periods_of: Mapping[str, Indices] | None = None
) -> dict[str, Planted]:
    """Return lemmas whose usages are divided at random, or by given periods."""
    kept = {}
    for name, word in words.items():
        n = len(word.senses)
        periods = rng.permutation(np.arange(n) % 2) if periods_of is None else periods_of[name]
        if np.bincount(periods, minlength=2).min() >= MIN_PERIOD:
            kept[name] = Planted(word.vectors, word.senses, periods, np.zeros(n, bool))
    return kept


def report_changes(
    words: Mapping[str, Planted], calibration: Calibration, coarse: Mapping[str, Indices], fine: Clustering | None
) -> dict[str, tuple[Indices, list[str]]]:
    """Return the senses of the usages and the change of each sense, as a run of ``lexshift senses`` reports them."""
    groups = {
        name: find_groups(word.vectors, coarse[name], word.periods, 2, fine, calibration) if fine else []
        for name, word in words.items()
    }
    divided = divide_changed_senses(coarse, groups, lambda name: words[name].vectors)
    shares = {name: sense_shares(found.labels, words[name].periods, 2) for name, found in divided.items()}
    q = adjust_p({name: found for name, found in shares.items() if len(found.p) > 1})
    return {
        name: (
            found.labels,
            name_changes(shares[name], np.maximum(q[name], found.q)) if name in q else [KEPT],
        )
        for name, found in divided.items()
    }


def find_new_senses(
    data: str, runs: list[dict[str, Planted]], calibration: Calibration, rule: Clustering
) -> Iterator[dict[str, object]]:
    """Yield measures over runs, with and without the division of changed senses."""
    coarse = [{name: rule.cluster(word.vectors, calibration) for name, word in words.items()} for words in runs]
    for division, fine in (("none", None), ("changed groups", fine_clustering(rule))):
        changed: list[tuple[float, ...]] = []
        unchanged: list[tuple[float, ...]] = []
        for words, senses in zip(runs, coarse, strict=True):
            for name, (labels, changes) in report_changes(words, calibration, senses, fine).items():
                word = words[name]
                if not word.is_planted.any():
                    has_one_sense = len(set(word.senses)) == 1
                    is_split = labels.max() > 0 if has_one_sense else np.nan
                    unchanged.append((any(change != KEPT for change in changes), is_split))
                    continue
                risen = [labels == k for k, change in enumerate(changes) if change in (GAINED, GREW)]
                overlaps = [(word.is_planted & part).sum() / (word.is_planted | part).sum() for part in risen]
                is_found = max(overlaps, default=0) >= FOUND
                changed.append((bool(risen), is_found, *agreement(labels, word.senses), labels.max() + 1))
        row: dict[str, object] = {"data": data, "runs": len(runs), "division": division}
        for names, values in (
            (("new sense reported", "found", "adjusted Rand", "B-cubed F", "senses"), changed),
            (("false change", "one sense divided"), unchanged),
        ):
            row |= dict(zip(names, np.nanmean(values, axis=0).round(3), strict=True)) if values else {}
        yield row


def compare_new_senses(
    words: Mapping[str, Word], sources: Mapping[str, Indices], calibration: Calibration, rule: Clustering
) -> Iterator[dict[str, object]]:
    """Yield how often planted new senses are found, and changes reported where there are none."""
    rng = np.random.default_rng(0)
    planted = [plant_new_senses(words, rng) for _ in range(REPETITIONS)]
    yield from find_new_senses("a sense is new", planted, calibration, rule)
    lemmas = [plant_lemmas(words, rng) for _ in range(REPETITIONS)]
    yield from find_new_senses("a lemma is new", lemmas, calibration, rule)
    mixed = []
    for run in planted:
        changed = set(rng.choice(sorted(run), len(run) // 2, replace=False))
        others = {name: word for name, word in words.items() if name not in changed}
        mixed.append({name: run[name] for name in changed} | keep_senses(others, rng))
    yield from find_new_senses("mixed", mixed, calibration, rule)
    yield from find_new_senses("no change", [keep_senses(words, rng) for _ in mixed], calibration, rule)
    corpora = keep_senses(words, rng, sources)
    gold = {name: np.unique(word.senses, return_inverse=True)[1] for name, word in corpora.items()}
    same = {n: word for n, word in corpora.items() if sense_shares(gold[n], word.periods, 2).p.min() >= SAME}
    yield from find_new_senses("two corpora", [corpora], calibration, rule)
    yield from find_new_senses("the same senses in two corpora", [same], calibration, rule)


def compare_decisions(
    data: Dataset, words: Mapping[str, Word], new: str, calibration: Calibration, rule: Clustering
) -> Iterator[dict[str, object]]:
    """Yield the agreement of reported changes and of the senses with the gold, with and without the division."""
    periods = {name: (word.groups == new).astype(np.intp) for name, word in words.items()}
    judged = {n: Planted(w.vectors, w.senses, periods[n], np.zeros(len(w.senses), bool)) for n, w in words.items()}
    coarse = {name: rule.cluster(word.vectors, calibration) for name, word in words.items()}
    for division, fine in (("none", None), ("changed groups", fine_clustering(rule))):
        found = report_changes(judged, calibration, coarse, fine)
        is_changed = {name: any(change != KEPT for change in changes) for name, (_, changes) in found.items()}
        row: dict[str, object] = {"data": data.name, "division": division, "changed words": sum(is_changed.values())}
        decisions: list[tuple[str, Mapping[str, bool], Mapping[str, bool]]] = [("change", is_changed, data.binary)]
        for i, (name, gold) in enumerate((("gained", data.gained), ("lost", data.lost))):
            sides = {w: [labels[periods[w] == t].tolist() for t in (0, 1)] for w, (labels, _) in found.items()}
            decisions.append((name, {w: gained_and_lost(*sides[w])[i] for w in found}, gold))
        for name, predictions, judgements in decisions:
            if judgements:
                accuracy, f1 = accuracy_and_f1([predictions[w] for w in words], [bool(judgements[w]) for w in words])
                row |= {f"{name}: accuracy": round(accuracy, 3), f"{name}: F1": round(f1, 3)}
        if data.senses:
            values = [agreement(found[n][0][w.senses != -1], w.senses[w.senses != -1]) for n, w in words.items()]
            row |= dict(zip(("adjusted Rand", "B-cubed F"), np.mean(values, axis=0).round(3), strict=True))
        yield row


def sources_of(usages: pd.DataFrame, path: str) -> dict[str, Indices]:
    """Return for each word whether its usages come from MASC (1) or from another corpus (0)."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        source = {row["sentence"]: row["source"] for row in map(json.loads, file)}
    is_masc = (usages.sentence.map(source) == "masc").to_numpy(int)
    return {str(word): is_masc[rows] for word, rows in usages.groupby("word", sort=False).indices.items()}


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
    new: list[dict[str, object]] = []
    decided: list[dict[str, object]] = []
    if options.noad:
        usages = labelled_usages(options.noad, options.trained)
        words, calibration = vectors.embed(usages, f"noad-{options.trained}")
        for group in ("held out", "trained"):
            part = {name: word for name, word in words.items() if word.groups[0] == group}
            gold += compare_with_gold(f"NOAD, {group}", part, calibration, rules) if part else []
        planted += find_planted(words, calibration, rules)
        change += compare_planted_change(words, calibration, rules)
        sources = sources_of(usages, options.noad)
        for name in options.clustering or CLUSTERINGS:
            rows = compare_new_senses(words, sources, calibration, CLUSTERINGS[name])
            new += [{"clustering": name, **row} for row in rows]
    if options.dwug:
        words, calibration = vectors.embed(judged_usages(options.dwug), Path(options.dwug).name)
        data = load_dataset(options.dwug)
        gold += compare_with_gold(data.name, words, calibration, rules)
        change += compare_change(data.name, words, calibration, rules, data.graded, str(data.periods[1]))
        decided += compare_decisions(data, words, str(data.periods[1]), calibration, CLUSTERINGS[DEFAULT])
    for folder in options.change:
        data = load_dataset(folder)
        words, calibration = vectors.embed(usages_of_periods(folder, options.most), f"{data.name}-{options.most}")
        change += compare_change(data.name, words, calibration, rules, data.graded, "new")
        decided += compare_decisions(data, words, "new", calibration, CLUSTERINGS[DEFAULT])
    for table in (gold, planted, change, new, decided):
        if table:
            print(pd.DataFrame(table).to_string(index=False), flush=True)


if __name__ == "__main__":
    main()

"""Evaluate clusters of usages on a data set with human judgements: agreement with its senses, and with its change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift import __version__
from lexshift.benchmark.datasets.dataset import PERIODS, Dataset
from lexshift.benchmark.evaluation import EMBEDDING, make_settings
from lexshift.benchmark.measures import accuracy_and_f1, spearman
from lexshift.benchmark.sense_measures import (
    adjusted_rand_index,
    b_cubed,
    gained_and_lost,
    mean_difference,
    purity,
)
from lexshift.benchmark.sense_vectors import SenseVectors, embed_for_senses
from lexshift.errors import UserError
from lexshift.senses.changed_groups import divide_changed_senses, find_groups
from lexshift.senses.clustering import Clustering
from lexshift.senses.clusterings import DEFAULT, fine_clustering, get_clustering
from lexshift.senses.graded_change import graded_change
from lexshift.utils.arrays import Indices
from lexshift.utils.files import disk_faults, write_whole
from lexshift.utils.monitor import Monitor, Silent
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

TABLE, WORDS, RUN = "sense-evaluation.csv", "sense-evaluation-words.csv", "sense-evaluation.json"
ONE_SENSE, OWN_SENSES = "one sense", "every usage its own"
"""The names of the baselines, between which every clustering is."""
SENSE_SETTINGS = (*(name for name in EMBEDDING if name != "space"), "seed")
"""Settings of evaluations of senses. The space is that of the calibration."""


@dataclass(frozen=True)
class WordClusters:
    """The clusters that a method finds in the usages of a word, with the measures of the word.

    Attributes
    ----------
    method, word : str
    usages : int
        Number of usages in both periods, which are clustered together.
    labelled : int
        Number of usages with a gold sense, on which the agreement is measured.
    gold_senses, senses : int
        Number of senses in the gold, and number of clusters.
    ari, b_cubed_precision, b_cubed_recall, b_cubed_f, purity : float
        Agreement with the gold senses; NaN for a word without them.
    sense_jsd : float
        The change score of the word, which does not depend on the clusters
        (:func:`lexshift.senses.graded_change.graded_change`); NaN for the baselines.
    gained, lost : bool
        Whether a cluster appeared or disappeared, by the rule of :func:`gained_and_lost`.
    """

    method: str
    word: str
    usages: int
    labelled: int
    gold_senses: int
    senses: int
    ari: float
    b_cubed_precision: float
    b_cubed_recall: float
    b_cubed_f: float
    purity: float
    sense_jsd: float
    gained: bool
    lost: bool


@dataclass(frozen=True)
class ClusteringEvaluation:
    """The agreement of a method with the gold of a data set: a row of the table of ``eval --senses``.

    Attributes
    ----------
    method : str
        Name of the clustering or baseline.
    ari, b_cubed_precision, b_cubed_recall, b_cubed_f, purity : float
        Means over the words with gold senses.
    above_one_sense, above_low, above_high : float
        Mean over words of B-cubed F minus that of the baseline "one sense", with its bootstrap interval over words.
    senses : float
        Mean number of clusters of a word.
    spearman, low, high : float
        Spearman's correlation of ``sense_jsd`` with the graded gold, with its interval.
    gained_accuracy, gained_f1, lost_accuracy, lost_f1 : float
        Agreement with the gold about words that gained or lost a sense.
    words : int
        Number of words.
    """

    method: str
    ari: float
    b_cubed_precision: float
    b_cubed_recall: float
    b_cubed_f: float
    purity: float
    above_one_sense: float
    above_low: float
    above_high: float
    senses: float
    spearman: float
    low: float
    high: float
    gained_accuracy: float
    gained_f1: float
    lost_accuracy: float
    lost_f1: float
    words: int


@dataclass(frozen=True, eq=False)
class SenseEvaluation:
    """The evaluation of a clustering and its baselines on a data set.

    Attributes
    ----------
    data : Dataset
    table : DataFrame
        A row for each method, with the columns of :class:`ClusteringEvaluation`.
    words : DataFrame
        A row for each method and word, with the columns of :class:`WordClusters`.
    folder : Path
        Folder of the store and the results.
    """

    data: Dataset
    table: pd.DataFrame
    words: pd.DataFrame
    folder: Path


def evaluate_senses(
    data: Dataset, clustering: str | Clustering | None = None, *, monitor: Monitor | None = None, **settings: Any
) -> SenseEvaluation:
    """Cluster the usages of each word, compare the clusters with the gold, and write the results to a folder.

    Parameters
    ----------
    data : Dataset
        With gold senses, graded change, or both.
    clustering : str or Clustering, optional
        The clustering, or its name; by default that of ``lexshift senses``.
    monitor : Monitor, optional
    **settings
        :data:`SENSE_SETTINGS`, as for :func:`lexshift.compare`; ``min_usages`` is 2 by default.

    Returns
    -------
    SenseEvaluation
    """
    import pandas as pd

    chosen = make_settings(evaluate_senses, SENSE_SETTINGS, settings)
    rule = get_clustering(clustering or DEFAULT)
    monitor = monitor or Silent()
    if not data.senses and not data.graded:
        raise UserError(f"{data.name!r} has neither senses nor graded change to compare with; give one with --gold")
    vectors = embed_for_senses(data.usages, PERIODS, data.name, chosen, monitor)
    words = [word for word in data.words if _smallest_period(vectors, word) >= chosen.min_usages]
    if not words:
        raise UserError(f"no word of {data.name!r} has {chosen.min_usages} usages in each period")
    rows: dict[str, list[WordClusters]] = {rule.name: [], ONE_SENSE: [], OWN_SENSES: []}
    monitor.stage("clustering", len(words), "words")
    labels, groups, scores = {}, {}, {}
    fine = fine_clustering(rule)
    for done, word in enumerate(words, 1):
        old, new = (vectors.group(word, period) for period in PERIODS)
        usages, periods = np.concatenate([old, new]), np.repeat([0, 1], [len(old), len(new)])
        labels[word] = rule.cluster(usages, vectors.calibration, chosen.seed)
        groups[word] = find_groups(usages, labels[word], periods, 2, fine, vectors.calibration) if fine else []
        scores[word] = graded_change(old, new, vectors.calibration)
        monitor.advance(done, done)
    for word, divided in divide_changed_senses(labels, groups, vectors.all_periods, chosen.alpha).items():
        n = len(divided.labels)
        method_labels = (divided.labels, np.zeros(n, np.intp), np.arange(n))
        for method, clusters, score in zip(rows, method_labels, (scores[word], np.nan, np.nan), strict=True):
            rows[method].append(_measure_word(data, vectors, method, word, clusters, score))
    table = pd.DataFrame([evaluate_clustering(data, word_clusters, rows[ONE_SENSE]) for word_clusters in rows.values()])
    all_words = pd.DataFrame([row for word_clusters in rows.values() for row in word_clusters])
    run = {
        "lexshift": __version__,
        "data": data.record(),
        "embedding": vectors.siblings.settings,
        "store": vectors.siblings.fingerprint,
        "settings": {"min_usages": chosen.min_usages, "seed": chosen.seed, "clustering": rule.name},
        "space": vectors.space.identity,
        "calibration": asdict(vectors.calibration),
        "skipped": data.skipped,
    }
    texts = {TABLE: csv_text(table), WORDS: csv_text(all_words)}
    texts[RUN] = json.dumps(run, indent=1, ensure_ascii=False) + "\n"
    with disk_faults(vectors.folder):
        for name, text in texts.items():
            write_whole(vectors.folder / name, text.encode())
    return SenseEvaluation(data, table, all_words, vectors.folder)


def _smallest_period(vectors: SenseVectors, word: str) -> int:
    return min(len(vectors.group(word, period)) for period in PERIODS)


def _measure_word(
    data: Dataset, vectors: SenseVectors, method: str, word: str, labels: Indices, score: float
) -> WordClusters:
    """Return the measures of the clusters of a word, whose usages are in the order of the store."""
    bounds = [vectors.siblings.rows(word, period) for period in PERIODS]
    gold = [data.senses[row] for begin, end in bounds for row in range(begin, end)] if data.senses else []
    labelled = [pair for pair in zip(labels.tolist(), gold, strict=bool(gold)) if pair[1] is not None]
    predicted, senses = [label for label, _ in labelled], [sense for _, sense in labelled]
    agreement = b_cubed([{label} for label in predicted], [{sense} for sense in senses])
    n_old = bounds[0][1] - bounds[0][0]
    old, new = labels[:n_old].tolist(), labels[n_old:].tolist()
    gained, lost = gained_and_lost(old, new)
    return WordClusters(
        method=method,
        word=word,
        usages=len(labels),
        labelled=len(labelled),
        gold_senses=len(set(senses)),
        senses=len(set(labels.tolist())),
        ari=adjusted_rand_index(predicted, senses) if labelled else float("nan"),
        b_cubed_precision=agreement.precision,
        b_cubed_recall=agreement.recall,
        b_cubed_f=agreement.f,
        purity=purity(predicted, senses),
        sense_jsd=score,
        gained=gained,
        lost=lost,
    )


def evaluate_clustering(
    data: Dataset, words: Sequence[WordClusters], one_sense: Sequence[WordClusters]
) -> ClusteringEvaluation:
    """Compare the clusters of a method with the gold of a data set.

    Parameters
    ----------
    data : Dataset
    words, one_sense : sequence of WordClusters
        The words as clustered by the method and by the baseline "one sense", in the same order.
    """

    def mean(name: str) -> float:
        values = [getattr(word, name) for word in words if word.labelled]
        return float(np.mean(values)) if values else float("nan")

    above = mean_difference(
        [word.b_cubed_f for word in words if word.labelled], [word.b_cubed_f for word in one_sense if word.labelled]
    )
    graded = [word for word in words if word.word in data.graded]
    change = spearman([word.sense_jsd for word in graded], [data.graded[word.word] for word in graded])
    decisions = []
    for name, gold in (("gained", data.gained), ("lost", data.lost)):
        judged = [word for word in words if word.word in gold]
        decisions.append(accuracy_and_f1([getattr(word, name) for word in judged], [gold[w.word] for w in judged]))
    return ClusteringEvaluation(
        method=words[0].method,
        ari=mean("ari"),
        b_cubed_precision=mean("b_cubed_precision"),
        b_cubed_recall=mean("b_cubed_recall"),
        b_cubed_f=mean("b_cubed_f"),
        purity=mean("purity"),
        above_one_sense=above.mean,
        above_low=above.low,
        above_high=above.high,
        senses=float(np.mean([word.senses for word in words])),
        spearman=change.rho,
        low=change.low,
        high=change.high,
        gained_accuracy=decisions[0][0],
        gained_f1=decisions[0][1],
        lost_accuracy=decisions[1][0],
        lost_f1=decisions[1][1],
        words=len(words),
    )

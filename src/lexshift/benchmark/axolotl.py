"""Evaluate on AXOLOTL-24: label new usages with known senses or new ones, and score them as the task does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from lexshift.benchmark.datasets.axolotl import NEW, OLD, AxolotlDataset, SenseExample, write_predictions
from lexshift.benchmark.evaluation import make_settings
from lexshift.benchmark.sense_evaluation import SENSE_SETTINGS, TABLE
from lexshift.benchmark.sense_measures import adjusted_rand_index, macro_f1
from lexshift.benchmark.sense_vectors import SenseVectors, embed_for_senses
from lexshift.encode.adaptation import Calibration
from lexshift.senses.clusterings import get_clustering
from lexshift.senses.inventory import Inventory, assign_senses, fit_novelty
from lexshift.senses.similarity import unit_rows
from lexshift.utils.arrays import Matrix
from lexshift.utils.files import disk_faults, write_whole
from lexshift.utils.monitor import Monitor, Silent
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

PREDICTIONS = "predictions"
"""Folder of the files of predictions, one for each predictor."""
NOVEL = "novel"
"""Sense of usages that have none of the known senses, for predictors that do not divide them."""
_GLOSSES = "glosses"


@dataclass(frozen=True, eq=False)
class EmbeddedUsages:
    """Usages of a word with their vectors and, if they are known, their senses.

    Attributes
    ----------
    sentences : tuple of str
    spans : tuple of (int, int)
        The place of the word in each sentence.
    vectors : ndarray of shape (n, d)
    senses : tuple of str
        Empty for usages that are to be labelled.
    """

    sentences: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    vectors: Matrix
    senses: tuple[str, ...] = ()


class SensePredictor(Protocol):
    """A rule that gives each new usage of a word a known sense, or a sense of its own invention."""

    def __call__(self, word: str, old: EmbeddedUsages, glosses: EmbeddedUsages, new: EmbeddedUsages) -> Sequence[str]:
        """Return the sense of each new usage.

        Parameters
        ----------
        word : str
        old : EmbeddedUsages
            Usages of the old period with their senses; senses with a gloss only are not among them.
        glosses : EmbeddedUsages
            The gloss of each known sense, as a usage of the word: "word: gloss".
        new : EmbeddedUsages
            The usages to label.

        Returns
        -------
        sequence of str
            Senses of ``old`` or ``glosses``, or any other names for new senses.
        """
        ...


def predict_most_frequent(word: str, old: EmbeddedUsages, glosses: EmbeddedUsages, new: EmbeddedUsages) -> list[str]:  # noqa: ARG001
    """Give every usage the known sense with the most old usages; the first of those that have equally many."""
    counts = Counter([*old.senses, *glosses.senses])
    sense = counts.most_common(1)[0][0] if counts else NOVEL
    return [sense] * len(new.sentences)


def predict_nearest(word: str, old: EmbeddedUsages, glosses: EmbeddedUsages, new: EmbeddedUsages) -> list[str]:  # noqa: ARG001
    """Give every usage the known sense that it is most similar to.

    A sense is the mean of the unit vectors of its old usages and its gloss; similarity is the cosine.
    """
    senses = np.array([*old.senses, *glosses.senses])
    if not len(senses):
        return [NOVEL] * len(new.sentences)
    vectors = unit_rows(np.concatenate([old.vectors, glosses.vectors]))  # (n_known, d)
    names = list(dict.fromkeys(senses.tolist()))
    means = unit_rows(np.stack([vectors[senses == name].mean(axis=0) for name in names]))  # (n_senses, d)
    return [names[best] for best in np.argmax(unit_rows(new.vectors) @ means.T, axis=1)]


PREDICTORS: dict[str, SensePredictor] = {"most-frequent": predict_most_frequent, "nearest": predict_nearest}
"""The baselines that ``eval`` compares, by name."""
INVENTORY = "inventory"
"""Name of the predictor of :func:`learn_inventory`."""


def learn_inventory(
    known_senses: Mapping[str, tuple[EmbeddedUsages, EmbeddedUsages]], calibration: Calibration, seed: int = 0
) -> SensePredictor:
    """Return the predictor of ``lexshift senses --inventory``, which learns from all words when a sense is new.

    Parameters
    ----------
    known_senses : mapping of str to (EmbeddedUsages, EmbeddedUsages)
        The old usages of each word, and the glosses of its senses.
    calibration : Calibration
        The probability that two usages share a sense.
    seed : int
        Seed of the clustering of new senses.
    """
    inventories = {}
    for word, (old, glosses) in known_senses.items():
        senses = list(dict.fromkeys([*glosses.senses, *old.senses]))
        owners = np.array([senses.index(sense) for sense in (*glosses.senses, *old.senses)], np.intp)
        vectors = np.concatenate([glosses.vectors, old.vectors])
        inventories[word] = Inventory(senses, vectors, owners, np.arange(len(owners)) < len(glosses.senses))
    novelty = fit_novelty(inventories.values(), calibration)

    def predict(word: str, old: EmbeddedUsages, glosses: EmbeddedUsages, new: EmbeddedUsages) -> list[str]:  # noqa: ARG001
        return assign_senses(new.vectors, inventories[word], novelty, get_clustering(), calibration, seed).senses

    return predict


@dataclass(frozen=True)
class WordLabels:
    """The scores of the labels of a word.

    Attributes
    ----------
    method, word : str
    usages : int
        Number of new usages.
    ari : float
        Adjusted Rand index over all new usages.
    macro_f1 : float
        Macro-F1 over the new usages of known senses; NaN if the word has no known senses. If there are no such usages,
        it is 1 if no usage was given a known sense, and 0 otherwise.
    """

    method: str
    word: str
    usages: int
    ari: float
    macro_f1: float


def score_labels(data: AxolotlDataset, senses: Mapping[str, str], method: str = "predictions") -> pd.DataFrame:
    """Score the predicted senses of new usages as the scorer of the task does, word by word.

    Parameters
    ----------
    data : AxolotlDataset
        With the gold senses of the new usages.
    senses : mapping of usage_id to sense
        For each new usage.
    method : str
        Name of the system.

    Returns
    -------
    DataFrame
        A row for each word, with the columns of :class:`WordLabels`. The scores of the task are the means over words.
    """
    import pandas as pd

    rows = []
    for word in data.words:
        new = data.select(word, NEW)
        known_senses = {example.sense for example in data.select(word, OLD)}
        gold, predictions = [example.sense for example in new], [senses[example.id] for example in new]
        ari, f1 = adjusted_rand_index(predictions, gold), _f1(predictions, gold, known_senses)
        rows.append(WordLabels(method, word, len(new), ari, f1))
    return pd.DataFrame(rows)


def _f1(predictions: Sequence[str], gold: Sequence[str], known_senses: set[str]) -> float:
    """Return macro-F1 over the usages of known senses; all other predictions count as one more sense."""
    if not known_senses:
        return float("nan")
    pairs = zip(predictions, gold, strict=True)
    pairs_of_known = [(a if a in known_senses else NOVEL, b) for a, b in pairs if b in known_senses]
    if not pairs_of_known:
        return float(not known_senses.intersection(predictions))
    return macro_f1([a for a, _ in pairs_of_known], [b for _, b in pairs_of_known])


@dataclass(frozen=True, eq=False)
class AxolotlEvaluation:
    """The evaluation of predictors on a data set of AXOLOTL-24.

    Attributes
    ----------
    data : AxolotlDataset
    table : DataFrame
        A row for each predictor: method, ari, macro_f1 and words. The scores are NaN without gold.
    predictions : dict of a predictor's name to its senses by usage_id
    folder : Path
        Folder of the store and the results.
    """

    data: AxolotlDataset
    table: pd.DataFrame
    predictions: dict[str, dict[str, str]]
    folder: Path


def evaluate_axolotl(
    data: AxolotlDataset,
    predictors: Mapping[str, SensePredictor] | None = None,
    *,
    monitor: Monitor | None = None,
    **settings: Any,
) -> AxolotlEvaluation:
    """Label the new usages with each predictor, score the labels, and write them in the format of the task.

    Parameters
    ----------
    data : AxolotlDataset
    predictors : mapping of str to SensePredictor, optional
        By default :data:`PREDICTORS` and that of :func:`learn_inventory`.
    monitor : Monitor, optional
    **settings
        :data:`~lexshift.benchmark.sense_evaluation.SENSE_SETTINGS`, as for :func:`lexshift.compare`.
    """
    chosen = make_settings(evaluate_axolotl, SENSE_SETTINGS, settings)
    monitor = monitor or Silent()
    glosses = {word: _glosses(data, word) for word in data.words}
    vectors = embed_for_senses(_usages(data, glosses), (OLD, NEW, _GLOSSES), data.name, chosen, monitor)
    known_senses = {
        word: (
            _embed_examples(vectors, word, OLD, _shown(data, word, OLD)),
            _embed_examples(vectors, word, _GLOSSES, glosses[word]),
        )
        for word in data.words
    }
    compared = predictors
    if compared is None:
        compared = {**PREDICTORS, INVENTORY: learn_inventory(known_senses, vectors.calibration, chosen.seed)}
    predictions: dict[str, dict[str, str]] = {name: {} for name in compared}
    monitor.stage("labelling", len(data.words), "words")
    for done, word in enumerate(data.words, 1):
        new = _embed_examples(vectors, word, NEW, _shown(data, word, NEW))
        ids = [example.id for example in data.select(word, NEW)]
        for name, predict in compared.items():
            predictions[name] |= zip(ids, predict(word, *known_senses[word], new) if ids else (), strict=True)
        monitor.advance(done, done)
    for name, senses in predictions.items():
        write_predictions(data, senses, vectors.folder / PREDICTIONS / f"{name}.tsv")
    table = labels_table(data, predictions)
    with disk_faults(vectors.folder):
        write_whole(vectors.folder / TABLE, csv_text(table).encode())
    return AxolotlEvaluation(data, table, predictions, vectors.folder)


def labels_table(data: AxolotlDataset, predictions: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Return the scores of predictions: means over words of the adjusted Rand index and of macro-F1.

    The scores are NaN if a new usage has no gold sense.
    """
    import pandas as pd

    has_gold = all(example.sense for example in data.examples if example.period == NEW)
    rows = []
    for name, senses in predictions.items():
        words = score_labels(data, senses, name) if has_gold else pd.DataFrame({"ari": [np.nan], "macro_f1": [np.nan]})
        scores = {"ari": float(words["ari"].mean()), "macro_f1": float(words["macro_f1"].mean())}
        rows.append({"method": name, **scores, "words": len(data.words)})
    return pd.DataFrame(rows)


def _glosses(data: AxolotlDataset, word: str) -> list[SenseExample]:
    """Return the glosses of the known senses of a word as usages: "word: gloss"."""
    glosses = {example.sense: example for example in reversed(data.select(word, OLD)) if example.gloss.strip()}
    return [
        example._replace(sentence=f"{word}: {example.gloss.strip()}", start=0, end=len(word))
        for example in reversed(glosses.values())
    ]


def _shown(data: AxolotlDataset, word: str, period: str) -> list[SenseExample]:
    """Return the usages of a word in a period; a new usage without an example consists of the word alone."""
    examples = data.select(word, period)
    if period == OLD:
        return [example for example in examples if example.sentence]
    return [e if e.sentence else e._replace(sentence=word, start=0, end=len(word)) for e in examples]


def _usages(data: AxolotlDataset, glosses: Mapping[str, Sequence[SenseExample]]) -> pa.Table:
    """Return all usages and glosses as a table that can be embedded."""
    rows = []
    for word in data.words:
        groups = {OLD: _shown(data, word, OLD), NEW: _shown(data, word, NEW), _GLOSSES: glosses[word]}
        for corpus, examples in groups.items():
            rows += [(word, corpus, e.id, e.sentence, e.start, e.end) for e in examples]
    names = ("word", "corpus", "file", "sentence", "start", "end")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def _embed_examples(vectors: SenseVectors, word: str, corpus: str, examples: Sequence[SenseExample]) -> EmbeddedUsages:
    """Return usages with their vectors; those to be labelled without their senses."""
    return EmbeddedUsages(
        tuple(example.sentence for example in examples),
        tuple((example.start, example.end) for example in examples),
        vectors.group(word, corpus),
        () if corpus == NEW else tuple(example.sense for example in examples),
    )

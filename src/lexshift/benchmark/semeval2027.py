"""Evaluate on SemEval-2027 Task 3: senses of usages, change between periods, usages of a sense that is defined.

Scores are those of the scorer of the task. Subtask 1a is B-cubed over the usages of all words, subtask 1b Spearman's
correlation of the change between consecutive periods of each word, and subtask 2 the F1 of its answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lexshift.benchmark.datasets.semeval2027 import (
    DEFINED,
    LABELLED,
    DefinedUsage,
    PeriodsDataset,
    PeriodUsage,
    UsageKey,
    language_folders,
    load_semeval2027,
    read_answers,
    read_labels,
    sort_by_year,
    submission_file,
    write_labels,
    write_submission,
)
from lexshift.benchmark.evaluation import default_folder, make_settings
from lexshift.benchmark.measures import accuracy_and_f1, spearman
from lexshift.benchmark.sense_evaluation import ONE_SENSE, OWN_SENSES, SENSE_SETTINGS, TABLE
from lexshift.benchmark.sense_measures import b_cubed, label_share_distance
from lexshift.benchmark.sense_vectors import SenseVectors, embed_for_senses
from lexshift.errors import UserError
from lexshift.senses.clustering import Clustering
from lexshift.senses.clusterings import DEFAULT, get_clustering
from lexshift.utils.files import disk_faults, write_whole
from lexshift.utils.monitor import Monitor, Silent
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

MIN_USAGES = 10
"""Number of usages that a word must have in both of two periods for their change to be scored."""
ALWAYS = "always yes"
"""Name of the baseline of subtask 2."""
_CORPORA = ("subtask1", "subtask2", "definitions")
Labels = Mapping[UsageKey, Sequence[Hashable]]


def period_changes(
    usages: Sequence[PeriodUsage], labels: Labels, min_usages: int = MIN_USAGES
) -> dict[tuple[str, str, str], float]:
    """Compute the change of each word between consecutive periods: the Jensen-Shannon distance of the sense shares.

    Parameters
    ----------
    usages : sequence of PeriodUsage
    labels : mapping of a usage's key to its labels
    min_usages : int
        Number of usages that a word must have in both periods.

    Returns
    -------
    dict of (word, period, next period) to float
        Periods are those in which the word occurs, sorted by year.
    """
    groups: dict[str, dict[str, list[Sequence[Hashable]]]] = {}
    for usage in usages:
        groups.setdefault(usage.word, {}).setdefault(usage.period, []).append(labels[usage.key])
    changes = {}
    for word, periods in groups.items():
        for before, after in pairwise(sort_by_year(list(periods))):
            if min(len(periods[before]), len(periods[after])) >= min_usages:
                changes[word, before, after] = label_share_distance(periods[before], periods[after])
    return changes


def score_senses(usages: Sequence[PeriodUsage], labels: Labels) -> dict[str, float]:
    """Score the labels of subtask 1.

    Labels are compared as they are: the same label at two words is the same sense.

    Parameters
    ----------
    usages : sequence of PeriodUsage
        With gold labels.
    labels : mapping of a usage's key to its predicted labels

    Returns
    -------
    dict
        b_cubed_precision, b_cubed_recall and b_cubed_f (subtask 1a); spearman with its interval low to high, and
        changes, the number of changes that are correlated (subtask 1b). The scorer of the task calls precision recall,
        and recall precision; F is the same.
    """
    gold = {usage.key: usage.labels for usage in usages}
    agreement = b_cubed([labels[usage.key] for usage in usages], [usage.labels for usage in usages])
    expected, predicted = period_changes(usages, gold), period_changes(usages, labels)
    change = spearman([predicted[key] for key in expected], list(expected.values()))
    return {
        "b_cubed_precision": agreement.precision,
        "b_cubed_recall": agreement.recall,
        "b_cubed_f": agreement.f,
        "spearman": change.rho,
        "low": change.low,
        "high": change.high,
        "changes": change.words,
    }


def score_answers(usages: Sequence[DefinedUsage], answers: Mapping[UsageKey, int]) -> float:
    """Return F1 of the answers of subtask 2, of the class 1; 0 if there is nothing of that class."""
    f1 = accuracy_and_f1([answers[usage.key] for usage in usages], [bool(usage.label) for usage in usages])[1]
    return 0.0 if np.isnan(f1) else f1


@dataclass(frozen=True, eq=False)
class PeriodsEvaluation:
    """The evaluation on a language of SemEval-2027 Task 3.

    Attributes
    ----------
    data : PeriodsDataset
    table : DataFrame
        A row for each method and subtask: language, subtask, method, and the scores; NaN without gold.
    files : list of Path
        The files of the submission.
    folder : Path
        Folder of the store and the results.
    """

    data: PeriodsDataset
    table: pd.DataFrame
    files: list[Path]
    folder: Path


def evaluate_periods(
    data: PeriodsDataset,
    clustering: str | Clustering | None = None,
    *,
    monitor: Monitor | None = None,
    **settings: Any,
) -> PeriodsEvaluation:
    """Label the usages of a language, score the labels next to baselines, and write the files of a submission.

    Usages of subtask 1 are clustered word by word, those of all periods together. A usage of subtask 2 has the sense
    that is defined if, by the calibration of the encoder, it shares its sense with "word: definition" with a
    probability of at least 0.5.

    Parameters
    ----------
    data : PeriodsDataset
    clustering : str or Clustering, optional
        The clustering, or its name; by default that of ``lexshift senses``.
    monitor : Monitor, optional
    **settings
        :data:`~lexshift.benchmark.sense_evaluation.SENSE_SETTINGS`, as for :func:`lexshift.compare`.
    """
    chosen = make_settings(evaluate_periods, SENSE_SETTINGS, settings)
    rule = get_clustering(clustering or DEFAULT)
    monitor = monitor or Silent()
    vectors = embed_for_senses(_usages(data), _CORPORA, data.name, chosen, monitor)
    files = []
    labels: dict[str, Labels] = {}
    answers: dict[str, Mapping[UsageKey, int]] = {}
    if data.labelled:
        words = dict.fromkeys(usage.word for usage in data.labelled)
        keys = [usage.key for usage in data.labelled]
        labels[rule.name] = _cluster(data, vectors, rule, chosen.seed, monitor)
        numbers = {word: number for number, word in enumerate(words)}
        labels[ONE_SENSE] = {key: [numbers[key[0]]] for key in keys}
        labels[OWN_SENSES] = {key: [number] for number, key in enumerate(keys)}
        files.append(vectors.folder / submission_file(data.name, LABELLED))
        write_labels(files[-1], labels[rule.name])
    if data.defined:
        answers["calibration"] = _answer(data, vectors)
        answers[ALWAYS] = {usage.key: 1 for usage in data.defined}
        files.append(vectors.folder / submission_file(data.name, DEFINED))
        write_labels(files[-1], answers["calibration"])
    table = periods_table(data, labels, answers)
    with disk_faults(vectors.folder):
        write_whole(vectors.folder / TABLE, csv_text(table).encode())
    return PeriodsEvaluation(data, table, files, vectors.folder)


def evaluate_release(
    folder: Path,
    clustering: str | Clustering | None = None,
    *,
    monitor: Monitor | None = None,
    **settings: Any,
) -> tuple[pd.DataFrame, Path]:
    """Evaluate on all languages of a release, and write the archive that is submitted.

    Parameters
    ----------
    folder : Path
        The folder of a language, or one with a folder for each language.
    clustering, monitor, **settings
        As for :func:`evaluate_periods`. Each language has a folder of its own in ``out``.

    Returns
    -------
    table : DataFrame
        The rows of all languages.
    submission : Path
    """
    import pandas as pd

    chosen = make_settings(evaluate_release, SENSE_SETTINGS, settings)
    out = Path(default_folder(folder.name, chosen.model) if chosen.out is None else chosen.out)
    evaluated = [
        evaluate_periods(
            load_semeval2027(path), clustering, monitor=monitor, **{**settings, "out": str(out / path.name)}
        )
        for path in language_folders(folder)
    ]
    table = pd.concat([result.table for result in evaluated], ignore_index=True)
    return table, write_submission(out, [file for result in evaluated for file in result.files])


def score_predictions(folder: Path, path: Path) -> pd.DataFrame:
    """Score a file of a submission, ``EN_subtask1.jsonl`` or ``EN_subtask2.jsonl``; its name says which one it is.

    Parameters
    ----------
    folder : Path
        The folder of a language, or one with a folder for each language.
    path : Path
        The file.
    """
    folders = language_folders(folder)
    language = next((each for each in folders if path.name.startswith(f"{each.name}_")), None)
    subtask = next((each for each in (LABELLED, DEFINED) if path.name.endswith(each)), None)
    if language is None or subtask is None:
        names = ", ".join(f"{each.name}_subtask1.jsonl or {each.name}_subtask2.jsonl" for each in folders)
        raise UserError(f"{str(path)!r} must be named after its language and subtask: {names}")
    data = load_semeval2027(language)
    if subtask == LABELLED:
        return periods_table(data, {path.name: read_labels(path, data.labelled)}, {})
    return periods_table(data, {}, {path.name: read_answers(path, data.defined)})


def periods_table(
    data: PeriodsDataset, labels: Mapping[str, Labels], answers: Mapping[str, Mapping[UsageKey, int]]
) -> pd.DataFrame:
    """Return the scores of labels (subtask 1) and answers (subtask 2), by the name of the method.

    Scores are NaN if a usage has no gold.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for method, predicted in labels.items():
        scores = score_senses(data.labelled, predicted) if all(usage.labels for usage in data.labelled) else {}
        rows.append({"language": data.name, "subtask": "1", "method": method, **scores})
    for method, answered in answers.items():
        has_gold = all(usage.label is not None for usage in data.defined)
        scores = {"f1": score_answers(data.defined, answered)} if has_gold else {}
        rows.append({"language": data.name, "subtask": "2", "method": method, **scores})
    names = ("b_cubed_precision", "b_cubed_recall", "b_cubed_f", "spearman", "low", "high", "changes", "f1")
    return pd.DataFrame(rows, columns=["language", "subtask", "method", *names])


def _usages(data: PeriodsDataset) -> pa.Table:
    """Return the usages of both subtasks and the definitions as a table that can be embedded."""
    definitions = dict.fromkeys((usage.word, f"{usage.word}: {usage.definition}") for usage in data.defined)
    rows = [
        *((usage.word, _CORPORA[0], usage.sentence, usage.start, usage.end) for usage in data.labelled),
        *((usage.word, _CORPORA[1], usage.sentence, usage.start, usage.end) for usage in data.defined),
        *((word, _CORPORA[2], definition, 0, len(word)) for word, definition in definitions),
    ]
    names = ("word", "corpus", "sentence", "start", "end")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def _cluster(
    data: PeriodsDataset, vectors: SenseVectors, rule: Clustering, seed: int, monitor: Monitor
) -> dict[UsageKey, list[int]]:
    """Return the labels of the usages of subtask 1, numbered so that no two words have the same ones."""
    groups: dict[str, list[UsageKey]] = {}
    for usage in data.labelled:
        groups.setdefault(usage.word, []).append(usage.key)
    labels: dict[UsageKey, list[int]] = {}
    n_senses = 0
    monitor.stage("clustering", len(groups), "words")
    for done, (word, keys) in enumerate(groups.items(), 1):
        word_labels = rule.cluster(vectors.group(word, _CORPORA[0]), vectors.calibration, seed) + n_senses
        labels |= {key: [int(label)] for key, label in zip(keys, word_labels, strict=True)}
        n_senses = int(word_labels.max()) + 1
        monitor.advance(done, done)
    return {usage.key: labels[usage.key] for usage in data.labelled}


def _answer(data: PeriodsDataset, vectors: SenseVectors) -> dict[UsageKey, int]:
    """Return whether each usage of subtask 2 has the sense that is defined."""
    answers: dict[UsageKey, int] = {}
    seen: Counter[str] = Counter()
    places: dict[str, dict[str, int]] = {}  # the row of each definition of a word
    for usage in data.defined:
        row, seen[usage.word] = seen[usage.word], seen[usage.word] + 1
        definition = places.setdefault(usage.word, {}).setdefault(usage.definition, len(places[usage.word]))
        a, b = vectors.group(usage.word, _CORPORA[1])[row], vectors.group(usage.word, _CORPORA[2])[definition]
        cosine = a @ b / np.sqrt((a @ a) * (b @ b))
        answers[usage.key] = int(vectors.calibration.probability(cosine) >= 0.5)
    return answers

"""Evaluate systems on a data set with human judgements: embed its usages once, score them, compare with the gold."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift import __version__
from lexshift.benchmark.datasets.dataset import PERIODS, Dataset
from lexshift.benchmark.measures import accuracy_and_f1, average_precision, spearman, spearman_each
from lexshift.benchmark.systems import Grid, SystemScores, compared_systems, sweep_grid
from lexshift.benchmark.verdicts import WordVerdicts, embed_control_usages, judge_words
from lexshift.corpus.language import language_of_sentences
from lexshift.encode import Encoder, as_encoder
from lexshift.encode.built_in import resolve_model
from lexshift.errors import UserError
from lexshift.scoring.distance.metric import get
from lexshift.scoring.rates import search_rate
from lexshift.scoring.space import Space, choose_space
from lexshift.scoring.sscd import RATES
from lexshift.store.embedding import ENCODING, embed_usages
from lexshift.store.siblings import Siblings
from lexshift.study.control_usages import ControlUsages
from lexshift.study.control_words import has_number
from lexshift.study.settings import NO_CONTROL, Settings
from lexshift.study.verdict import CHANGED, DIFFERS
from lexshift.utils import checks
from lexshift.utils.arrays import Pairs
from lexshift.utils.files import disk_faults, write_whole
from lexshift.utils.monitor import Monitor, Silent
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

STORE, TABLE, GRID, RUN = "store", "evaluation.csv", "grid.csv", "evaluation.json"
VERDICTS = "verdicts.csv"
MIN_USAGES = checks.MIN_ROWS
"""Default of ``min_usages`` in evaluations: every word that can be scored is scored."""
EMBEDDING = ("out", "model", "min_usages", "space", *ENCODING, "precision")
"""Settings of all evaluations: the folder of the results, and how usages are embedded."""
SCORING = (
    "preset",
    "control",
    "metric",
    "strategy",
    "normalised",
    "rate",
    "distance_weight",
    "repeats",
    "alpha",
    "seed",
)
"""Further settings of :func:`evaluate`."""


@dataclass(frozen=True, eq=False)
class EmbeddedDataset:
    """A data set with the vectors of its usages.

    Attributes
    ----------
    data : Dataset
    siblings : Siblings
    pairs : dict of a word to its (old, new) arrays
        The words with enough usages, in the chosen space.
    folder : Path
        Folder of the store and the results.
    encoder : Encoder
    controls : ControlUsages
        The usages of control words; without words if there are none.
    space : Space
    """

    data: Dataset
    siblings: Siblings
    pairs: Pairs
    folder: Path
    encoder: Encoder
    controls: ControlUsages
    space: Space


def make_settings(
    function: Callable[..., Any], names: tuple[str, ...], settings: Mapping[str, Any], **defaults: Any
) -> Settings:
    """Return the checked settings of a function, which accepts those in ``names``."""
    checks.keywords(settings, names, function)
    return Settings(**{"min_usages": MIN_USAGES, **defaults, **settings})


def embed_dataset(data: Dataset, settings: Settings, monitor: Monitor) -> EmbeddedDataset:
    """Embed the usages of a data set and of its control words, unless stores have them, and transform the vectors.

    Words with fewer than ``settings.min_usages`` usages in a period are left out. The folder is named after the data
    set and the model if ``settings.out`` is None.
    """
    languages = [language_of_sentences(data.usages["sentence"])]
    model, _ = resolve_model(settings.model, languages, monitor)
    folder = Path(default_folder(data.name, model) if settings.out is None else settings.out)
    encoder = as_encoder(model, languages=languages, **settings.encoder_options())
    siblings = embed_usages(
        data.usages, encoder, folder / STORE, PERIODS, precision=settings.precision, monitor=monitor
    )
    pairs = select_pairs(data, siblings, settings.min_usages)
    if not pairs:
        raise UserError(f"no word of {data.name!r} has {settings.min_usages} usages in each period")
    controls = embed_control_usages(data, encoder, folder, settings, monitor)
    space = choose_space(controls if controls.words else pairs, settings.space, encoder)
    return EmbeddedDataset(data, siblings, space.apply_to_words(pairs), folder, encoder, controls, space)


def select_pairs(data: Dataset, siblings: Siblings, min_usages: int = MIN_USAGES) -> Pairs:
    """Return the vectors of the words that have at least ``min_usages`` usages in both periods."""
    pairs = {word: (siblings[word].old, siblings[word].new) for word in data.words if word in siblings}
    return {word: pair for word, pair in pairs.items() if min(map(len, pair)) >= min_usages}


def default_folder(name: str, model: Any) -> str:
    """Return a folder named after the data set, which has this name, and the model."""
    model_name = model if isinstance(model, str) else type(model).__name__
    return "lexshift-eval-" + "-".join(re.sub(r"[^\w.]+", "_", Path(part).name) for part in (name, model_name))


@dataclass(frozen=True)
class SystemEvaluation:
    """A system's agreement with the gold of a data set: a row of the table of ``eval``.

    Attributes
    ----------
    method : str
        Name of the system.
    spearman, low, high : float
        Spearman's correlation of the scores averaged over repetitions, with its interval.
    spearman_each, spearman_each_sd : float
        Mean and standard deviation (ddof = 0) of the correlations of the single repetitions, as in the paper.
    accuracy, f1, precision : float
        Accuracy and F1 of the decisions, and share of the words called changed that changed; NaN if the system does not
        decide, without binary gold, or if no word is called changed.
    called : float
        Number of words with binary gold that are called changed; NaN if the system does not decide, or without binary
        gold.
    average_precision : float
        Average precision of the words that changed; NaN without binary gold.
    words, dropped : int
        Number of words with graded gold and a score, and of words with gold but without a score. For a rule that only
        decides, the number of words with binary gold, and 0.
    """

    method: str
    spearman: float
    low: float
    high: float
    spearman_each: float
    spearman_each_sd: float
    accuracy: float
    f1: float
    precision: float
    called: float
    average_precision: float
    words: int
    dropped: int


def evaluate_system(data: Dataset, system: SystemScores) -> SystemEvaluation:
    """Compare a system's scores with the gold; correlations keep their signs, unlike in the paper."""
    row = {word: i for i, word in enumerate(system.words)}
    graded = [word for word in data.graded if word in row]
    rows = [row[word] for word in graded]
    gold = [data.graded[word] for word in graded]
    averaged = spearman(system.mean[rows], gold)
    each = spearman_each(system.scores[rows], gold) if graded else np.array([np.nan])
    binary = [word for word in data.binary if word in row]
    ranked = np.nan
    if binary:
        ranked = average_precision(system.mean[[row[w] for w in binary]], [data.binary[w] for w in binary])
    decisions = None
    if system.changed is not None:
        # A word that the system dropped counts as a decision for no change.
        decisions = [word in row and bool(system.changed[row[word]]) for word in data.binary]
    return SystemEvaluation(
        method=system.method,
        spearman=averaged.rho,
        low=averaged.low,
        high=averaged.high,
        spearman_each=float(each.mean()),
        spearman_each_sd=float(each.std()),
        **evaluate_decisions(data, decisions),
        average_precision=ranked,
        words=averaged.words,
        dropped=len(set(data.graded or data.binary) - set(system.words)),
    )


def evaluate_decisions(data: Dataset, decisions: Sequence[bool] | None) -> dict[str, Any]:
    """Return accuracy, F1, precision and number of decisions for change; ``decisions`` are those of the binary gold."""
    if decisions is None or not data.binary:
        return {"accuracy": np.nan, "f1": np.nan, "precision": np.nan, "called": np.nan}
    gold = list(data.binary.values())
    accuracy, f1 = accuracy_and_f1(decisions, gold)
    called = float(sum(decisions))
    hits = sum(decided and changed for decided, changed in zip(decisions, gold, strict=True))
    return {"accuracy": accuracy, "f1": f1, "precision": hits / called if called else np.nan, "called": called}


def evaluate_rule(data: Dataset, name: str, decisions: Sequence[bool]) -> SystemEvaluation:
    """Evaluate a rule that only decides, without scores."""
    missing: dict[str, Any] = dict.fromkeys(("spearman", "low", "high", "spearman_each", "spearman_each_sd"), np.nan)
    decided = evaluate_decisions(data, decisions)
    return SystemEvaluation(name, **missing, **decided, average_precision=np.nan, words=len(data.binary), dropped=0)


def evaluate_rules(data: Dataset, verdicts: WordVerdicts) -> list[SystemEvaluation]:
    """Evaluate decisions: words that differ counted as changed, and the same answer for all words."""
    words = list(data.binary)
    differs = [verdicts.verdicts.get(word) in (CHANGED, DIFFERS) for word in words]
    return [
        evaluate_rule(data, "verdict changed or differs", differs),
        evaluate_rule(data, "always changed", [True] * len(words)),
        evaluate_rule(data, "always stable", [False] * len(words)),
    ]


def grid_table(data: Dataset, grid: Grid) -> pd.DataFrame:
    """Return Spearman's correlation of every metric, strategy and rate, and of each distance without swapping."""
    import pandas as pd

    words = [word for word in data.graded if word in grid.words]
    word_rows = [grid.words.index(word) for word in words]
    gold = [data.graded[word] for word in words]
    plain = spearman_each(grid.e_original[word_rows], gold)  # (metrics,)
    rows = []
    for strategy in grid.strategies:
        scores = grid.scores(strategy)[word_rows]  # (words, metrics, rates, repetitions)
        for m, metric in enumerate(grid.metrics):
            averaged = spearman_each(scores[:, m].mean(axis=2), gold)  # (rates,)
            for r, rate in enumerate(grid.rates):
                each = spearman_each(scores[:, m, r], gold)
                rows.append(
                    {
                        "metric": metric,
                        "strategy": strategy,
                        "rate": float(rate),
                        "spearman_each": float(each.mean()),
                        "spearman_each_sd": float(each.std()),
                        "spearman": float(averaged[r]),
                        "e_original": float(plain[m]),
                        "e_swap_mean": float(grid.e_swap[strategy][:, m, r].mean()),
                    }
                )
    return pd.DataFrame(rows)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The evaluation of all systems on a data set.

    Attributes
    ----------
    data : Dataset
    siblings : Siblings
    table : DataFrame
        A row for each system, with the columns of :class:`SystemEvaluation`.
    grid : DataFrame, optional
        A row for each metric, strategy and rate.
    folder : Path
        Folder of the store and the results.
    """

    data: Dataset
    siblings: Siblings
    table: pd.DataFrame
    grid: pd.DataFrame | None
    folder: Path


def evaluate(data: Dataset, *, with_grid: bool = False, monitor: Monitor | None = None, **settings: Any) -> Evaluation:
    """Evaluate SSCD and the systems it is compared with on a data set, and write the results to a folder.

    Vectors are computed once for a data set and a model, and stored in the folder.

    Parameters
    ----------
    data : Dataset
    with_grid : bool
        Also score every metric, strategy and rate of the paper.
    monitor : Monitor, optional
    **settings
        :data:`EMBEDDING` and :data:`SCORING`, as for :func:`lexshift.compare`; ``min_usages`` is 2 by default.

    Returns
    -------
    Evaluation
    """
    import pandas as pd

    chosen = make_settings(evaluate, (*EMBEDDING, *SCORING), settings)
    monitor = monitor or Silent()
    if not data.graded and not data.binary:
        raise UserError(f"{data.name!r} has no gold to compare with; give one with --gold")
    if not has_number(chosen.control) and chosen.control != NO_CONTROL:
        raise UserError(
            "the control words of an evaluation come from the sentences of the data set; control must be auto, none or "
            f"a number of words; got {chosen.control!r}"
        )
    embedded = embed_dataset(data, chosen, monitor)
    sscd = replace(chosen.sscd(), corpus_sizes=data.sizes if chosen.normalised else None)
    if chosen.rate == "auto":
        curve = search_rate(
            embedded.pairs, sscd.metric, RATES, sscd.repeats, sscd.seed, sscd.strategy, sscd.corpus_sizes
        )
        sscd = replace(sscd, rate=curve.rate)
    monitor.stage("scoring", 1, "grids" if with_grid else "methods")
    systems = compared_systems(embedded.pairs, sscd, chosen.alpha)
    rules, verdicts = [], None
    if data.binary:
        verdicts = judge_words(
            embedded.siblings,
            list(embedded.pairs),
            embedded.controls,
            embedded.encoder,
            embedded.space,
            chosen,
            Silent(),
        )
        systems[0] = replace(systems[0], changed=np.array(verdicts.is_changed(systems[0].words), bool))
        rules = evaluate_rules(data, verdicts)
    table = pd.DataFrame([*(evaluate_system(data, system) for system in systems), *rules])
    grid = None
    if with_grid:
        grid = grid_table(data, sweep_grid(embedded.pairs, data.sizes, repeats=sscd.repeats, seed=sscd.seed))
    monitor.advance(1, 1)
    run = {
        "lexshift": __version__,
        "data": data.record(),
        "embedding": embedded.siblings.settings,
        "store": embedded.siblings.fingerprint,
        "settings": {name: getattr(chosen, name) for name in ("space", "min_usages", *SCORING)}
        | {"metric": get(chosen.metric).name},
        "rate": sscd.rate,
        "control": embedded.controls.record(),
        "background": None if verdicts is None else asdict(verdicts.backdrop),
        "skipped": data.skipped,
    }
    texts = {TABLE: csv_text(table)} | ({} if grid is None else {GRID: csv_text(grid)})
    if verdicts is not None:
        texts[VERDICTS] = csv_text(verdicts.table(data))
    texts[RUN] = json.dumps(run, indent=1, ensure_ascii=False) + "\n"
    with disk_faults(embedded.folder):
        for name, text in texts.items():
            write_whole(embedded.folder / name, text.encode())
    return Evaluation(data, embedded.siblings, table, grid, embedded.folder)

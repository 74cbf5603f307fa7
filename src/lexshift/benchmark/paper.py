"""Compute the tables and figures of the paper for any data set, next to the published figures.

The published figures are in ``paper_data``. Correlations of the paper's appendix are printed there without their signs.
Its encoders are multilingual BERT untuned (mBERT), and BERT-base tuned with time tokens on the corpora (MLM_temp).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift import __version__
from lexshift.benchmark.datasets.dataset import PERIODS, Dataset
from lexshift.benchmark.evaluation import (
    EMBEDDING,
    EmbeddedDataset,
    embed_dataset,
    evaluate_system,
    grid_table,
    make_settings,
)
from lexshift.benchmark.measures import spearman
from lexshift.benchmark.systems import Grid, SystemScores, score_distance, score_liu, sweep_grid
from lexshift.errors import UserError
from lexshift.scoring.distance import DISTANCES
from lexshift.scoring.rates import RateCurve, closed_form_rate
from lexshift.study.settings import NO_CONTROL
from lexshift.utils.arrays import Array, Floats, Indices, Pairs
from lexshift.utils.files import disk_faults, write_whole
from lexshift.utils.monitor import Monitor, Silent
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

FOLDER, RUN = "reproduction", "run.json"
ENCODERS = ("mBERT", "MLM_temp")
DIVERGENCES = ("kl", "kl-reverse", "jeffreys")
DSCD = tuple(f"dscd-{distance}" for distance in DISTANCES)
ABLATION_WORDS = 8
"""How many changed words, and how many stable ones, the ablation shows."""
_LANGUAGES = {"eng": "english", "ger": "german", "deu": "german", "swe": "swedish", "lat": "latin"}
_DASH = "–"
_MIN_WORDS = 3  # for a correlation
_PART_OF_SPEECH = re.compile(r"_(nn|vb)$")  # the paper writes plane for plane_nn
_ATTENTION, _SUPERVISED = "MLM_temp, temporal attention", "XL-LEXEME (supervised)"


@dataclass(frozen=True)
class Cell:
    """A cell of a table: our figure, the published figures below it, and whether ours is the best of its row."""

    text: str
    published: tuple[str, ...] = ()
    best: bool = False


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A table or figure.

    Attributes
    ----------
    name : str
        Name of its file, without the ending.
    title, note : str
        Title, and a note on what it shows and how to read it.
    table : DataFrame
        All figures, for a CSV file.
    columns : tuple of str
        Headings of the displayed columns.
    rows : tuple of tuples of Cell
        Displayed rows; the first cell is the heading of its row.
    texts : int
        Number of leading columns that hold text instead of numbers.
    """

    name: str
    title: str
    note: str
    table: pd.DataFrame
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    texts: int = 1


@dataclass(frozen=True, eq=False)
class Measurements:
    """The scores of a data set from which the exhibits are made.

    Attributes
    ----------
    data : Dataset
    pairs : dict of a word to its (old, new) arrays
    grid : Grid
        The paper's metrics, strategies and rates.
    full : Grid
        KL with random swapping at the swap rate 1.
    apd, liu : SystemScores
    """

    data: Dataset
    pairs: Pairs
    grid: Grid
    full: Grid
    apd: SystemScores
    liu: SystemScores

    @cached_property
    def spearman(self) -> pd.DataFrame:
        """The table of :func:`lexshift.benchmark.evaluation.grid_table`: a row for each metric, strategy and rate."""
        return grid_table(self.data, self.grid)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words with graded gold and scores."""
        return tuple(word for word in self.data.graded if word in self.pairs)

    @cached_property
    def rows(self) -> Indices:
        """The rows of these words in the grid: (words,)."""
        return np.array([self.grid.words.index(word) for word in self.words], np.intp)

    @cached_property
    def gold(self) -> Floats:
        """The graded gold of these words: (words,)."""
        return np.array([self.data.graded[word] for word in self.words])

    def original(self, metric: str) -> Floats:
        """Return e_original of the words with gold: (words,)."""
        return self.grid.e_original[self.rows, self.grid.metrics.index(metric)]

    def scores(self, strategy: str, metric: str, rate: float) -> Floats:
        """Return the scores of the words with gold: (words, repetitions)."""
        m, r = self.grid.metrics.index(metric), int(np.argmin(np.abs(self.grid.rates - rate)))
        return self.grid.scores(strategy)[self.rows, m, r]

    def curve(self, metric: str) -> RateCurve:
        """Return e_swap of random swapping against the rate, for all words that have scores, without using the gold."""
        m = self.grid.metrics.index(metric)
        closed = np.array([closed_form_rate(len(old), len(new)) for old, new in self.pairs.values()])
        e_swap = self.grid.e_swap["random"][:, m]  # (words, rates, repetitions)
        return RateCurve(self.grid.words, self.grid.rates, self.grid.e_original[:, m], e_swap, closed)

    def best(self, strategy: str, metrics: Sequence[str]) -> pd.Series:
        """Return the row of ``spearman`` of the best metric and rate."""
        frame = self.spearman
        return best_row(frame[(frame["strategy"] == strategy) & frame["metric"].isin(metrics)])


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The paper's tables and figures for a data set.

    Attributes
    ----------
    exhibits : tuple of Exhibit
    run : dict
        The record of the run.
    folder : Path
        Folder of the store, and of the folder of CSV files.
    """

    exhibits: tuple[Exhibit, ...]
    run: dict[str, Any]
    folder: Path


def reproduce(data: Dataset, *, monitor: Monitor | None = None, **settings: Any) -> Reproduction:
    """Make each table and figure of the paper for a data set with graded gold, and write them as CSV files.

    The vectors are stored in the folder as well, and shared with :func:`lexshift.benchmark.evaluation.evaluate`.

    Parameters
    ----------
    data : Dataset
    monitor : Monitor, optional
    **settings
        ``repeats``, ``seed`` and :data:`lexshift.benchmark.evaluation.EMBEDDING`, as for :func:`lexshift.compare`;
        ``space`` is "raw" and ``min_usages`` 2 by default.

    Returns
    -------
    Reproduction
    """
    chosen = make_settings(reproduce, (*EMBEDDING, "repeats", "seed"), settings, space="raw", control=NO_CONTROL)
    if not data.graded:
        raise UserError(f"{data.name!r} has no graded gold to compare with")
    monitor = monitor or Silent()
    embedded_data = embed_dataset(data, chosen, monitor)
    judged = [value for word, value in data.graded.items() if word in embedded_data.pairs]
    if len(judged) < _MIN_WORDS:
        raise UserError(
            f"{data.name!r} has {len(judged)} words with graded gold and {chosen.min_usages} usages in each period; a "
            f"correlation needs {_MIN_WORDS}"
        )
    if len(set(judged)) == 1:
        raise UserError(f"the graded gold of {data.name!r} is the same for all words, so they cannot be ranked")
    exhibits = make_exhibits(measure(embedded_data, chosen.repeats, chosen.seed, monitor))
    run = {
        "lexshift": __version__,
        "data": data.record() | {"words": len(judged)},
        "embedding": embedded_data.siblings.settings,
        "store": embedded_data.siblings.fingerprint,
        **{name: getattr(chosen, name) for name in ("space", "min_usages", "repeats", "seed")},
    }
    folder = embedded_data.folder / FOLDER
    texts = {f"{exhibit.name}.csv": csv_text(exhibit.table) for exhibit in exhibits}
    with disk_faults(embedded_data.folder):
        folder.mkdir(exist_ok=True)
        for name, text in (texts | {RUN: json.dumps(run, indent=1, ensure_ascii=False) + "\n"}).items():
            write_whole(folder / name, text.encode("utf-8", "replace"))
    return Reproduction(exhibits, run, embedded_data.folder)


def measure(embedded_data: EmbeddedDataset, repeats: int, seed: int, monitor: Monitor) -> Measurements:
    """Score the words with all systems that the paper compares."""
    pairs, sizes = embedded_data.pairs, embedded_data.data.sizes
    monitor.stage("scoring", 3, "steps")
    grid = sweep_grid(pairs, sizes, repeats=repeats, seed=seed)
    monitor.advance(1, 1)
    full = sweep_grid(pairs, sizes, ["kl"], [1.0], repeats, seed, ["random"])
    apd = score_distance(pairs, "apd", seed=seed)
    monitor.advance(2, 2)
    liu = score_liu(pairs, seed=seed)
    monitor.advance(3, 3)
    return Measurements(embedded_data.data, pairs, grid, full, apd, liu)


def make_exhibits(measurements: Measurements) -> tuple[Exhibit, ...]:
    """Make all tables and the figure, in the order of the page."""
    return (
        tabulate_statistics(measurements.data),
        tabulate_effectiveness(measurements),
        tabulate_comparison(measurements),
        tabulate_summary(measurements),
        tabulate_curve(measurements),
        tabulate_ablation(measurements),
        *(tabulate_rates(measurements, strategy) for strategy in ("random", "distance")),
        tabulate_divergences(measurements),
        *(tabulate_rates(measurements, strategy) for strategy in ("random, normalised", "distance, normalised")),
    )


# --------------------------------------------------------------------------------- the data, metrics and swap rates


def tabulate_statistics(data: Dataset) -> Exhibit:
    """Make the table of the data: the size of the two periods."""
    import pandas as pd

    usages = data.counts().sum()
    rows = [
        {"period": label, "targets": len(data.words)} | asdict(text) | {"usages": int(usages[period])}
        for label, text, period in zip(data.periods, data.texts, PERIODS, strict=True)
    ]
    table = pd.DataFrame(rows)
    cells = tuple(
        (Cell(str(label)), *(Cell(f"{n:,}") for n in sizes)) for label, *sizes in table.itertuples(index=False)
    )
    note = (
        "Sentences and tokens are those of the files that were read. Usages are the occurrences of targets in them. A "
        "release that holds only sentences with targets is smaller than the corpora that the paper describes."
    )
    return Exhibit("statistics", "The data", note, table, tuple(table.columns), cells)


def tabulate_rates(measurements: Measurements, strategy: str) -> Exhibit:
    """Make the table of Spearman by metric and swap rate for a strategy."""
    table = _join_published(measurements, strategy).drop(columns=[f"paper_{encoder}_sd" for encoder in ENCODERS])
    encoders = tuple(encoder for encoder in ENCODERS if table[f"paper_{encoder}"].notna().any())

    def show(row: dict[str, Any]) -> Cell:
        published = tuple(format_number(row[f"paper_{encoder}"]) for encoder in encoders)
        return Cell(format_number(row["spearman_each"]), published, row["best"])

    by, _, normalised = strategy.partition(", ")
    title = f"Swap rates: {'random swapping' if by == 'random' else 'swapping by distance'}"
    title += ", normalised by corpus size" if normalised else ""
    note = (
        "Spearman's rank correlation with the gold, of each repetition, averaged over the repetitions. The best rate "
        f"of each metric is marked. {_explain_published(encoders)}"
    )
    columns = ("metric", *(f"{rate:g}" for rate in measurements.grid.rates))
    rows = _group_rows(_mark_best(table), "metric", encoders, show)
    return Exhibit("rates-" + strategy.replace(", ", "-"), title, note, table, columns, rows)


def tabulate_divergences(measurements: Measurements) -> Exhibit:
    """Make the table of the divergences: mean and standard deviation over repetitions of Spearman at each rate."""
    table = _join_published(measurements, "random")
    names = ["metric", "rate", "spearman_each", "spearman_each_sd", "paper_MLM_temp", "paper_MLM_temp_sd"]
    table = table.loc[table["metric"].isin(DIVERGENCES), names].sort_values("rate", kind="stable")
    encoders = ("MLM_temp",) if table["paper_MLM_temp"].notna().any() else ()

    def show(row: dict[str, Any]) -> Cell:
        published = tuple(format_spread(row[f"paper_{encoder}"], row[f"paper_{encoder}_sd"]) for encoder in encoders)
        return Cell(format_spread(row["spearman_each"], row["spearman_each_sd"]), published, row["best"])

    note = (
        "Spearman with random swapping: mean and standard deviation over the repetitions. "
        f"{_explain_published(encoders)}"
    )
    rows = _group_rows(_mark_best(table), "rate", encoders, show)
    return Exhibit("divergences", "Divergences and their spread", note, table, ("rate", *DIVERGENCES), rows)


def tabulate_summary(measurements: Measurements) -> Exhibit:
    """Make the table of the best rate of each metric, the rate estimated without labels, and Spearman at both."""
    import pandas as pd

    frame = measurements.spearman[measurements.spearman["strategy"] == "random"]
    rows = []
    for metric, part in frame.groupby("metric", sort=False):
        best, estimated = best_row(part), measurements.curve(str(metric)).rate
        at_estimate = part.loc[(part["rate"] - estimated).abs().idxmin()]
        rows.append(
            {
                "metric": metric,
                "spearman_each": best["spearman_each"],
                "best_rate": best["rate"],
                "estimated_rate": estimated,
                "spearman_each_at_estimate": at_estimate["spearman_each"],
                "spearman_e_original": best["e_original"],
            }
        )
    published = published_figures("summary", measurements.data.name).drop(columns="encoder").set_index("metric")
    table = pd.DataFrame(rows).join(published.add_prefix("paper_MLM_temp_"), on="metric")
    headings = ["metric", "best Spearman", "best rate", "estimated rate", "Spearman there", "e_original alone"]
    if table.filter(like="paper").notna().any(axis=None):
        headings += ["MLM_temp: Spearman", "MLM_temp: best rate", "MLM_temp: estimated rate"]
    shown = list(table.columns[1 : len(headings)])
    cells = tuple(
        (Cell(row["metric"]), *(Cell(format_number(row[name], 1 if "rate" in name else 3)) for name in shown))
        for row in table.to_dict("records")
    )
    note = (
        "Random swapping. The best rate is chosen by the gold, so the best Spearman is optimistic. The estimated rate "
        "needs no gold: it is the one of least e_swap, averaged over words and repetitions."
    )
    return Exhibit("summary", "The best rate and the estimated one", note, table, tuple(headings), cells)


def tabulate_curve(measurements: Measurements) -> Exhibit:
    """Make the figure: e_swap averaged over words against the rate, and its spread over the repetitions."""
    import pandas as pd

    parts = []
    for metric in DIVERGENCES:
        curve = measurements.curve(metric)
        columns = {
            "metric": metric,
            "rate": [0.0, *curve.rates],
            "e_swap_mean": [curve.e_original.mean(), *curve.mean],
            "e_swap_sd": [0.0, *curve.std],
            "minimum": [False, *(curve.rates == curve.rate)],
        }
        parts.append(pd.DataFrame(columns))
    table = pd.concat(parts, ignore_index=True)
    note = (
        "The distance that is left after random swapping, averaged over the words, with its standard deviation over "
        "the repetitions. Nothing is swapped at rate 0, which is e_original. The least value of each curve is marked: "
        "its rate is the estimated one."
    )

    def show(row: dict[str, Any]) -> Cell:
        return Cell(format_scaled(row["e_swap_mean"], row["e_swap_sd"]), best=bool(row["minimum"]))

    rows = _group_rows(table, "rate", (), show)
    return Exhibit("curve", "The search for the swap rate", note, table, ("rate", *DIVERGENCES), rows)


def _join_published(measurements: Measurements, strategy: str) -> pd.DataFrame:
    """Return our correlations of a strategy at each metric and rate, and the published ones of each encoder."""
    table = measurements.spearman[measurements.spearman["strategy"] == strategy]
    table = table[["metric", "rate", "spearman_each", "spearman_each_sd", "spearman"]]
    published = published_figures("grid", measurements.data.name)
    for encoder in ENCODERS:
        part = published[(published["encoder"] == encoder) & (published["strategy"] == strategy)]
        names = {"spearman": f"paper_{encoder}", "sd": f"paper_{encoder}_sd"}
        published_columns = part[["metric", "rate", *names]].rename(columns=names)
        table = table.merge(published_columns, on=["metric", "rate"], how="left")
    return table


def _mark_best(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a column that is true for the best rate of each metric."""
    return table.assign(best=table.index.isin([best_row(part).name for _, part in table.groupby("metric")]))


def _group_rows(
    table: pd.DataFrame, index: str, encoders: tuple[str, ...], show: Callable[[dict[str, Any]], Cell]
) -> tuple[tuple[Cell, ...], ...]:
    """Return a row of cells for each value of a column, which is the heading of the row."""
    return tuple(
        (Cell(key if isinstance(key, str) else f"{key:g}", encoders), *map(show, part.to_dict("records")))
        for key, part in table.groupby(index, sort=False)
    )


def _explain_published(encoders: Sequence[str]) -> str:
    if not encoders:
        return "The paper has no figures for this data set and strategy."
    return (
        f"Below ours, small: the paper's, with {' and '.join(encoders)}. "
        "The paper prints these correlations without their signs; ours keep them."
    )


# ------------------------------------------------------------------------------------------------------- systems


def tabulate_effectiveness(measurements: Measurements) -> Exhibit:
    """Make the paper's first table: swapping as a score against swapping as a test."""
    import pandas as pd

    liu = measurements.liu
    changed = np.zeros(len(liu.words), bool) if liu.changed is None else liu.changed
    controlled = tuple(word for word, yes in zip(liu.words, changed, strict=True) if yes)
    systems = {
        "Liu et al., cosine": SystemScores("", measurements.words, measurements.original("cosine")[:, None]),
        "Liu et al., permutation test": liu,
        "Liu et al., false discovery rate": SystemScores("", controlled, liu.scores[changed]),
    }
    rows: list[dict[str, Any]] = []
    for name, system in systems.items():
        evaluation = evaluate_system(measurements.data, system)
        row = {"system": name, "setting": "", "spearman": evaluation.spearman, "words": evaluation.words}
        rows.append(row | _published_figure(measurements, "MLM_tuned", name))
    for kind, metrics in (("divergence", DIVERGENCES), ("distance of means", DISTANCES), ("DSCD", DSCD)):
        best, name = measurements.best("random", metrics), f"SSCD, {kind}"
        row = {"system": name, "setting": _describe_setting(best), "spearman": float(best["spearman_each"])}
        rows.append(row | {"words": len(measurements.words)} | _published_figure(measurements, "mBERT", name))
    rows += _published_row("XL-LEXEME", _published_figure(measurements, _SUPERVISED, "APD"))
    table = pd.DataFrame(rows)
    note = (
        "Liu et al. (2021) score a word by the cosine distance of means. Their permutation test drops words with p of "
        "0.005 or more, their false discovery rate those with q above 0.05 as well, so that fewer words are judged. "
        "SSCD judges all words: Spearman of each repetition, averaged, with random swapping at the metric and rate "
        "that are best. They are chosen by the gold, as in the paper, and the figure is therefore optimistic."
    )
    columns = ("system", "setting", "Spearman", "words", "paper (encoder)")
    cells = _system_rows(table, lambda row: (format_number(row["spearman"]), format_number(row["words"], 0)))
    return Exhibit("effectiveness", "Effectiveness of swapping", note, table, columns, cells, texts=2)


def tabulate_comparison(measurements: Measurements) -> Exhibit:
    """Make the main comparison: SSCD against the distances alone and other systems."""
    import pandas as pd

    plain = pd.DataFrame(
        [{"metric": m, "rho": spearman(measurements.original(m), measurements.gold).rho} for m in DSCD]
    )
    dscd = str(best_row(plain, "rho")["metric"])
    random, by_distance = measurements.best("random", ["kl"]), measurements.best("distance", DSCD)
    estimated = measurements.curve("kl").rate

    def evaluate_row(system: str, setting: str, scores: SystemScores | Floats, published_system: str) -> dict[str, Any]:
        if not isinstance(scores, SystemScores):  # (words, repetitions)
            scores = SystemScores(system, measurements.words, scores)
        evaluation = asdict(evaluate_system(measurements.data, scores))
        row = {"system": system, "setting": setting} | {name: evaluation[name] for name in ("spearman", "low", "high")}
        row |= {name: evaluation[name] for name in ("spearman_each", "spearman_each_sd", "words")}
        if scores.scores.shape[1] == 1:
            row["spearman_each_sd"] = np.nan
        return row | _published_figure(measurements, "MLM_temp", published_system)

    def swap_scores(best: pd.Series) -> Floats:
        return measurements.scores(best["strategy"], best["metric"], best["rate"])

    rows = [
        evaluate_row("Cosine of means", "", measurements.original("cosine")[:, None], "Cosine of means"),
        evaluate_row("APD", "", measurements.apd, "APD"),
        evaluate_row(
            "DSCD", f"best distance: {dscd.removeprefix('dscd-')}", measurements.original(dscd)[:, None], "DSCD"
        ),
        *_published_row("Temporal attention", _published_figure(measurements, _ATTENTION, "Cosine of means")),
        evaluate_row("SSCD random", f"best: {_describe_setting(random)}", swap_scores(random), "SSCD, random"),
        evaluate_row(
            "SSCD random", f"estimated: kl, rate {estimated:g}", measurements.scores("random", "kl", estimated), ""
        ),
        evaluate_row(
            "SSCD distance", f"best: {_describe_setting(by_distance)}", swap_scores(by_distance), "SSCD, distance"
        ),
        *_published_row("XL-LEXEME", _published_figure(measurements, _SUPERVISED, "APD")),
    ]

    def show(row: dict[str, Any]) -> tuple[str, ...]:
        interval = _DASH if np.isnan(row["low"]) else f"{format_number(row['low'])} to {format_number(row['high'])}"
        return format_number(row["spearman"]), interval, format_spread(row["spearman_each"], row["spearman_each_sd"])

    table = pd.DataFrame(rows)
    note = (
        "Spearman of the scores averaged over repetitions, with the 95 % bootstrap interval of the words; and Spearman "
        "of each repetition, mean and standard deviation, which is what the paper gives for SSCD. What is called best "
        "is chosen by the gold and is therefore optimistic; the estimated rate needs no gold. Temporal attention and "
        "XL-LEXEME need models of their own: they are shown where the paper has a figure."
    )
    columns = ("system", "setting", "Spearman", "95 % interval", "per repetition", "paper (encoder)")
    rows_shown = _system_rows(table, show)
    return Exhibit("comparison", "Comparison with other systems", note, table, columns, rows_shown, texts=2)


def _system_rows(
    table: pd.DataFrame, show: Callable[[dict[str, Any]], tuple[str, ...]]
) -> tuple[tuple[Cell, ...], ...]:
    """Return a row of cells for each system: its name and setting, some figures, and the published figure."""
    rows = []
    for row in table.to_dict("records"):
        published = _DASH if np.isnan(row["paper"]) else f"{format_number(row['paper'])} ({row['paper_encoder']})"
        rows.append(tuple(map(Cell, (row["system"], row["setting"], *show(row), published))))
    return tuple(rows)


def _describe_setting(row: pd.Series) -> str:
    return f"{row['metric']}, rate {row['rate']:g}"


def _published_figure(measurements: Measurements, encoder: str, system: str) -> dict[str, Any]:
    """Return the published figure of a system with an encoder, NaN if there is none."""
    published = published_figures("systems", measurements.data.name)
    figures = published.loc[(published["encoder"] == encoder) & (published["system"] == system), "spearman"]
    return {"paper": float(figures.iloc[0]), "paper_encoder": encoder} if len(figures) else {"paper": np.nan}


def _published_row(system: str, figures: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the row of a system that is not run here, or no row if nothing is published about it."""
    return [] if np.isnan(figures["paper"]) else [{"system": system, "setting": "published only"} | figures]


# --------------------------------------------------------------------------------------------------------- words


def tabulate_ablation(measurements: Measurements) -> Exhibit:
    """Make the ablation: ranks by KL of the most and least changed words at swap rates 0, 0.1, the best, and 1."""
    import pandas as pd

    best = float(measurements.best("random", ["kl"])["rate"])
    scores = {
        "rate_0": measurements.original("kl"),
        "rate_0.1": measurements.scores("random", "kl", 0.1).mean(axis=1),
        "rate_best": measurements.scores("random", "kl", best).mean(axis=1),
        "rate_1": measurements.full.scores("random")[measurements.rows, 0, 0].mean(axis=1),
    }  # (words,) each
    ranks = {"gold": _rank(measurements.gold)} | {name: _rank(values) for name, values in scores.items()}
    published = published_figures("ablation", measurements.data.name).set_index("word")
    systems = published_figures("systems", measurements.data.name).set_index("system")["spearman"]
    rows: list[dict[str, Any]] = []
    for word in _ablation_words(measurements):
        i, bare = measurements.words.index(word), _PART_OF_SPEECH.sub("", word)
        changed = {True: "yes", False: "no", None: ""}[measurements.data.binary.get(word)]
        row = {"word": word, "gold": int(ranks["gold"][i]), "changed": changed}
        row |= {name: int(ranks[name][i]) for name in scores}
        rows.append(row | {f"paper_{name}": float(published[name].get(bare, np.nan)) for name in scores})
    last = {"word": "Spearman", "gold": 1.0, "changed": ""}
    last |= {name: spearman(values, measurements.gold).rho for name, values in scores.items()}
    keys = {name: f"ablation, {name.replace('_', ' ')}" for name in scores}
    rows.append(last | {f"paper_{name}": float(systems.get(key, np.nan)) for name, key in keys.items()})
    has_labels = bool(measurements.data.binary)
    cells = tuple(_ablation_cells(row, list(scores), has_labels) for row in rows)
    note = (
        "Ranks by KL with random swapping, scores averaged over repetitions, 1 being the most changed; equal words "
        f"share the better rank. Shown are the {ABLATION_WORDS} words of the highest gold"
        f"{' that are labelled changed' if has_labels else ''} and the {ABLATION_WORDS} of the lowest"
        f"{' that are labelled stable' if has_labels else ''}. Without swapping SSCD is 0 for every word, so "
        "that rate 0 stands for e_original itself. The last row is Spearman over all words. "
    )
    if len(published):
        note += "Below ours, small: the paper's, with MLM_temp, of the words that it shows."
    else:
        note += "The paper has no ranks for this data set."
    columns = ("word", "gold", *(("changed",) if has_labels else ()))
    columns += ("rate 0", "rate 0.1", f"best rate ({best:g})", "rate 1")
    return Exhibit("ablation", "Words at some swap rates", note, pd.DataFrame(rows), columns, cells)


def _ablation_words(measurements: Measurements) -> list[str]:
    """Return the words that changed most, then those that changed least, each by descending gold, without overlap."""
    binary = measurements.data.binary
    order = sorted(measurements.words, key=lambda word: -measurements.data.graded[word])
    if not binary:
        return order[:ABLATION_WORDS] + order[ABLATION_WORDS:][-ABLATION_WORDS:]
    changed = [word for word in order if binary.get(word) is True]
    return changed[:ABLATION_WORDS] + [word for word in order if binary.get(word) is False][-ABLATION_WORDS:]


def _ablation_cells(row: dict[str, Any], rates: Sequence[str], has_labels: bool) -> tuple[Cell, ...]:
    """Return the cells of a word, with the paper's ranks below ours if it has the word; the last row has no ranks."""
    is_published, digits = not np.isnan(row["paper_rate_0"]), 3 if isinstance(row["gold"], float) else 0
    published = [(format_number(row[f"paper_{name}"], digits),) if is_published else () for name in rates]
    return (
        Cell(row["word"], ("MLM_temp",) if is_published else ()),
        Cell(format_number(row["gold"], digits)),
        *([Cell(row["changed"])] if has_labels else []),
        *map(Cell, [format_number(row[name], digits) for name in rates], published),
    )


def _rank(values: Floats) -> Array:
    """Return ranks, 1 for the highest; equal values share the better rank."""
    from scipy.stats import rankdata  # imported here because it is slow

    return np.asarray(rankdata(-values, method="min"), int)


# ------------------------------------------------------------------------------------------------------- figures


def published_figures(table: str, name: str) -> pd.DataFrame:
    """Return a table of published figures for a data set; it is empty if the paper has none.

    Parameters
    ----------
    table : str
        "grid" (Spearman by encoder, strategy, metric and rate), "systems" (Spearman by encoder and system), "summary"
        (best and estimated rate of each metric) or "ablation" (ranks of words at some swap rates).
    name : str
        Name of the data set.
    """
    frame = _read_figures(table)
    return frame[frame["data"] == published_name(name)].drop(columns="data").reset_index(drop=True)


@cache
def _read_figures(table: str) -> pd.DataFrame:
    import pandas as pd

    with files("lexshift.benchmark").joinpath("paper_data", f"{table}.csv").open("rb") as stream:
        return pd.read_csv(stream, dtype={"word": str})


def published_name(name: str) -> str | None:
    """Return the name of a data set in the tables of published figures, or None if the paper does not use it.

    >>> published_name("semeval2020_ulscd_eng"), published_name("LiverpoolFC"), published_name("dwug_en")
    ('semeval-english', 'liverpool', None)
    """
    name = name.lower()
    semeval = re.fullmatch(r"semeval2020_ulscd_(\w+)", name)
    if semeval:
        language = _LANGUAGES.get(semeval[1])
        return language and f"semeval-{language}"
    return "liverpool" if name.startswith("liverpool") else None


def best_row(frame: pd.DataFrame, column: str = "spearman_each") -> pd.Series:
    """Return the first row with the highest value; NaN is below all other values."""
    return frame.loc[frame[column].fillna(-math.inf).idxmax()]


def format_number(value: float, digits: int = 3) -> str:
    """Return a number as text, or a dash if it is NaN.

    >>> format_number(-0.0561), format_number(float("nan"))
    ('-0.056', '–')
    """
    return _DASH if math.isnan(value) else f"{value:.{digits}f}"


def format_spread(mean: float, sd: float) -> str:
    """Return a mean with its standard deviation as text.

    >>> format_spread(0.552, 0.037), format_spread(0.552, float("nan"))
    ('0.552 ± 0.037', '0.552')
    """
    return format_number(mean) if math.isnan(mean) or math.isnan(sd) else f"{format_number(mean)} ± {format_number(sd)}"


def format_scaled(mean: float, sd: float) -> str:
    """Return a mean of any size with three digits, and its standard deviation with as many decimals.

    >>> format_scaled(3002.4, 431.3), format_scaled(0.01234, 0.0021), format_scaled(0.0, 0.0)
    ('3002 ± 431', '0.0123 ± 0.0021', '0 ± 0')
    """
    decimals = max(0, 2 - math.floor(math.log10(abs(mean)))) if mean else 0
    return f"{mean:.{decimals}f} ± {sd:.{decimals}f}"

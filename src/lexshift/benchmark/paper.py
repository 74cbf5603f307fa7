"""The tables and figures of the paper, computed for any data set and set beside the published figures.

The published figures are in ``paper_data``. Correlations of the paper's appendix are printed there without their signs.
Its encoders are multilingual BERT as it comes (mBERT), and BERT-base tuned with time tokens on the corpora (MLM_temp).
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
        What it shows and how to read it.
    table : DataFrame
        All figures, for a CSV file.
    columns : tuple of str
        Headings of what is shown.
    rows : tuple of tuples of Cell
        What is shown; the first cell is the heading of its row.
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
        """Return e_swap of random swapping against the rate, of all words that have scores: no label is used."""
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
    """
    chosen = make_settings(reproduce, (*EMBEDDING, "repeats", "seed"), settings, space="raw")
    if not data.graded:
        raise UserError(f"{data.name!r} has no graded gold to compare with")
    monitor = monitor or Silent()
    embedded = embed_dataset(data, chosen, monitor)
    judged = [value for word, value in data.graded.items() if word in embedded.pairs]
    if len(judged) < _MIN_WORDS:
        raise UserError(
            f"{data.name!r} has {len(judged)} words with graded gold and {chosen.min_usages} usages in each period; a "
            f"correlation needs {_MIN_WORDS}"
        )
    if len(set(judged)) == 1:
        raise UserError(f"the graded gold of {data.name!r} is the same for all words: there is nothing to rank")
    exhibits = make_exhibits(measure(embedded, chosen.repeats, chosen.seed, monitor))
    run = {
        "lexshift": __version__,
        "data": data.record() | {"words": len(judged)},
        "embedding": embedded.siblings.settings,
        "store": embedded.siblings.fingerprint,
        **{name: getattr(chosen, name) for name in ("space", "min_usages", "repeats", "seed")},
    }
    folder = embedded.folder / FOLDER
    texts = {f"{exhibit.name}.csv": csv_text(exhibit.table) for exhibit in exhibits}
    with disk_faults(embedded.folder):
        folder.mkdir(exist_ok=True)
        for name, text in (texts | {RUN: json.dumps(run, indent=1, ensure_ascii=False) + "\n"}).items():
            write_whole(folder / name, text.encode("utf-8", "replace"))
    return Reproduction(exhibits, run, embedded.folder)


def measure(embedded: EmbeddedDataset, repeats: int, seed: int, monitor: Monitor) -> Measurements:
    """Score the words with all systems that the paper compares."""
    pairs, sizes = embedded.pairs, embedded.data.sizes
    monitor.stage("scoring", 3, "steps")
    grid = sweep_grid(pairs, sizes, repeats=repeats, seed=seed)
    monitor.advance(1, 1)
    full = sweep_grid(pairs, sizes, ["kl"], [1.0], repeats, seed, ["random"])
    apd = score_distance(pairs, "apd", seed=seed)
    monitor.advance(2, 2)
    liu = score_liu(pairs, seed=seed)
    monitor.advance(3, 3)
    return Measurements(embedded.data, pairs, grid, full, apd, liu)


def make_exhibits(measured: Measurements) -> tuple[Exhibit, ...]:
    """Make all tables and the figure, in the order of the page."""
    return (
        tabulate_statistics(measured.data),
        tabulate_effectiveness(measured),
        tabulate_comparison(measured),
        tabulate_summary(measured),
        tabulate_curve(measured),
        tabulate_ablation(measured),
        *(tabulate_rates(measured, strategy) for strategy in ("random", "distance")),
        tabulate_divergences(measured),
        *(tabulate_rates(measured, strategy) for strategy in ("random, normalised", "distance, normalised")),
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


def tabulate_rates(measured: Measurements, strategy: str) -> Exhibit:
    """Make the table of Spearman by metric and swap rate for a strategy."""
    table = _beside_published(measured, strategy).drop(columns=[f"paper_{encoder}_sd" for encoder in ENCODERS])
    encoders = tuple(encoder for encoder in ENCODERS if table[f"paper_{encoder}"].notna().any())

    def show(row: dict[str, Any]) -> Cell:
        published = tuple(figure(row[f"paper_{encoder}"]) for encoder in encoders)
        return Cell(figure(row["spearman_each"]), published, row["best"])

    by, _, normalised = strategy.partition(", ")
    title = f"Swap rates: {'random swapping' if by == 'random' else 'swapping by distance'}"
    title += ", normalised by corpus size" if normalised else ""
    note = (
        "Spearman's rank correlation with the gold, of each repetition, averaged over the repetitions. The best rate "
        f"of each metric is marked. {_explain_published(encoders)}"
    )
    columns = ("metric", *(f"{rate:g}" for rate in measured.grid.rates))
    rows = _rows_by(_mark_best(table), "metric", encoders, show)
    return Exhibit("rates-" + strategy.replace(", ", "-"), title, note, table, columns, rows)


def tabulate_divergences(measured: Measurements) -> Exhibit:
    """Make the table of the divergences: mean and standard deviation over repetitions of Spearman at each rate."""
    table = _beside_published(measured, "random")
    names = ["metric", "rate", "spearman_each", "spearman_each_sd", "paper_MLM_temp", "paper_MLM_temp_sd"]
    table = table.loc[table["metric"].isin(DIVERGENCES), names].sort_values("rate", kind="stable")
    encoders = ("MLM_temp",) if table["paper_MLM_temp"].notna().any() else ()

    def show(row: dict[str, Any]) -> Cell:
        published = tuple(spread(row[f"paper_{encoder}"], row[f"paper_{encoder}_sd"]) for encoder in encoders)
        return Cell(spread(row["spearman_each"], row["spearman_each_sd"]), published, row["best"])

    note = (
        "Spearman with random swapping: mean and standard deviation over the repetitions. "
        f"{_explain_published(encoders)}"
    )
    rows = _rows_by(_mark_best(table), "rate", encoders, show)
    return Exhibit("divergences", "Divergences and their spread", note, table, ("rate", *DIVERGENCES), rows)


def tabulate_summary(measured: Measurements) -> Exhibit:
    """Make the table of the best rate of each metric, the rate estimated without labels, and Spearman at both."""
    import pandas as pd

    frame = measured.spearman[measured.spearman["strategy"] == "random"]
    rows = []
    for metric, part in frame.groupby("metric", sort=False):
        best, estimated = best_row(part), measured.curve(str(metric)).rate
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
    published = published_figures("summary", measured.data.name).drop(columns="encoder").set_index("metric")
    table = pd.DataFrame(rows).join(published.add_prefix("paper_MLM_temp_"), on="metric")
    headings = ["metric", "best Spearman", "best rate", "estimated rate", "Spearman there", "e_original alone"]
    if table.filter(like="paper").notna().any(axis=None):
        headings += ["MLM_temp: Spearman", "MLM_temp: best rate", "MLM_temp: estimated rate"]
    shown = list(table.columns[1 : len(headings)])
    cells = tuple(
        (Cell(row["metric"]), *(Cell(figure(row[name], 1 if "rate" in name else 3)) for name in shown))
        for row in table.to_dict("records")
    )
    note = (
        "Random swapping. The best rate is chosen by the gold, so the best Spearman is optimistic. The estimated rate "
        "needs no gold: it is the one of least e_swap, averaged over words and repetitions."
    )
    return Exhibit("summary", "The best rate and the estimated one", note, table, tuple(headings), cells)


def tabulate_curve(measured: Measurements) -> Exhibit:
    """Make the figure: e_swap averaged over words against the rate, and its spread over the repetitions."""
    import pandas as pd

    parts = []
    for metric in DIVERGENCES:
        curve = measured.curve(metric)
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
        return Cell(scaled(row["e_swap_mean"], row["e_swap_sd"]), best=bool(row["minimum"]))

    rows = _rows_by(table, "rate", (), show)
    return Exhibit("curve", "The search for the swap rate", note, table, ("rate", *DIVERGENCES), rows)


def _beside_published(measured: Measurements, strategy: str) -> pd.DataFrame:
    """Return our correlations of a strategy at each metric and rate, and the published ones of each encoder."""
    table = measured.spearman[measured.spearman["strategy"] == strategy]
    table = table[["metric", "rate", "spearman_each", "spearman_each_sd", "spearman"]]
    published = published_figures("grid", measured.data.name)
    for encoder in ENCODERS:
        part = published[(published["encoder"] == encoder) & (published["strategy"] == strategy)]
        names = {"spearman": f"paper_{encoder}", "sd": f"paper_{encoder}_sd"}
        theirs = part[["metric", "rate", *names]].rename(columns=names)
        table = table.merge(theirs, on=["metric", "rate"], how="left")
    return table


def _mark_best(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a column that is true for the best rate of each metric."""
    return table.assign(best=table.index.isin([best_row(part).name for _, part in table.groupby("metric")]))


def _rows_by(
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


def tabulate_effectiveness(measured: Measurements) -> Exhibit:
    """Make the paper's first table: swapping as a score against swapping as a test."""
    import pandas as pd

    liu = measured.liu
    changed = np.zeros(len(liu.words), bool) if liu.changed is None else liu.changed
    controlled = tuple(word for word, yes in zip(liu.words, changed, strict=True) if yes)
    systems = {
        "Liu et al., cosine": SystemScores("", measured.words, measured.original("cosine")[:, None]),
        "Liu et al., permutation test": liu,
        "Liu et al., false discovery rate": SystemScores("", controlled, liu.scores[changed]),
    }
    rows: list[dict[str, Any]] = []
    for name, system in systems.items():
        found = evaluate_system(measured.data, system)
        row = {"system": name, "setting": "", "spearman": found.spearman, "words": found.words}
        rows.append(row | _published_system(measured, "MLM_tuned", name))
    for kind, metrics in (("divergence", DIVERGENCES), ("distance of means", DISTANCES), ("DSCD", DSCD)):
        best, name = measured.best("random", metrics), f"SSCD, {kind}"
        row = {"system": name, "setting": _setting(best), "spearman": float(best["spearman_each"])}
        rows.append(row | {"words": len(measured.words)} | _published_system(measured, "mBERT", name))
    rows += _published_only("XL-LEXEME", _published_system(measured, _SUPERVISED, "APD"))
    table = pd.DataFrame(rows)
    note = (
        "Liu et al. (2021) score a word by the cosine distance of means. Their permutation test drops words with p of "
        "0.005 or more, their false discovery rate those with q above 0.05 as well, so that fewer words are judged. "
        "SSCD judges all words: Spearman of each repetition, averaged, with random swapping at the metric and rate "
        "that are best. They are chosen by the gold, as in the paper, and the figure is therefore optimistic."
    )
    columns = ("system", "setting", "Spearman", "words", "paper (encoder)")
    cells = _system_rows(table, lambda row: (figure(row["spearman"]), figure(row["words"], 0)))
    return Exhibit("effectiveness", "Effectiveness of swapping", note, table, columns, cells, texts=2)


def tabulate_comparison(measured: Measurements) -> Exhibit:
    """Make the main comparison: SSCD against the distances alone and other systems."""
    import pandas as pd

    plain = pd.DataFrame([{"metric": m, "rho": spearman(measured.original(m), measured.gold).rho} for m in DSCD])
    dscd = str(best_row(plain, "rho")["metric"])
    random, by_distance = measured.best("random", ["kl"]), measured.best("distance", DSCD)
    estimated = measured.curve("kl").rate

    def evaluated(system: str, setting: str, scores: SystemScores | Floats, published: str) -> dict[str, Any]:
        if not isinstance(scores, SystemScores):  # (words, repetitions)
            scores = SystemScores(system, measured.words, scores)
        found = asdict(evaluate_system(measured.data, scores))
        row = {"system": system, "setting": setting} | {name: found[name] for name in ("spearman", "low", "high")}
        row |= {name: found[name] for name in ("spearman_each", "spearman_each_sd", "words")}
        if scores.scores.shape[1] == 1:
            row["spearman_each_sd"] = np.nan
        return row | _published_system(measured, "MLM_temp", published)

    def swapped(best: pd.Series) -> Floats:
        return measured.scores(best["strategy"], best["metric"], best["rate"])

    rows = [
        evaluated("Cosine of means", "", measured.original("cosine")[:, None], "Cosine of means"),
        evaluated("APD", "", measured.apd, "APD"),
        evaluated("DSCD", f"best distance: {dscd.removeprefix('dscd-')}", measured.original(dscd)[:, None], "DSCD"),
        *_published_only("Temporal attention", _published_system(measured, _ATTENTION, "Cosine of means")),
        evaluated("SSCD random", f"best: {_setting(random)}", swapped(random), "SSCD, random"),
        evaluated("SSCD random", f"estimated: kl, rate {estimated:g}", measured.scores("random", "kl", estimated), ""),
        evaluated("SSCD distance", f"best: {_setting(by_distance)}", swapped(by_distance), "SSCD, distance"),
        *_published_only("XL-LEXEME", _published_system(measured, _SUPERVISED, "APD")),
    ]

    def show(row: dict[str, Any]) -> tuple[str, ...]:
        interval = _DASH if np.isnan(row["low"]) else f"{figure(row['low'])} to {figure(row['high'])}"
        return figure(row["spearman"]), interval, spread(row["spearman_each"], row["spearman_each_sd"])

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
        published = _DASH if np.isnan(row["paper"]) else f"{figure(row['paper'])} ({row['paper_encoder']})"
        rows.append(tuple(map(Cell, (row["system"], row["setting"], *show(row), published))))
    return tuple(rows)


def _setting(row: pd.Series) -> str:
    return f"{row['metric']}, rate {row['rate']:g}"


def _published_system(measured: Measurements, encoder: str, system: str) -> dict[str, Any]:
    """Return the published figure of a system with an encoder, NaN if there is none."""
    published = published_figures("systems", measured.data.name)
    found = published.loc[(published["encoder"] == encoder) & (published["system"] == system), "spearman"]
    return {"paper": float(found.iloc[0]), "paper_encoder": encoder} if len(found) else {"paper": np.nan}


def _published_only(system: str, published: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the row of a system that is not run here; none if nothing is published about it."""
    return [] if np.isnan(published["paper"]) else [{"system": system, "setting": "published only"} | published]


# --------------------------------------------------------------------------------------------------------- words


def tabulate_ablation(measured: Measurements) -> Exhibit:
    """Make the ablation: ranks by KL of the most and least changed words at no, little, the best and full swapping."""
    import pandas as pd

    best = float(measured.best("random", ["kl"])["rate"])
    scores = {
        "rate_0": measured.original("kl"),
        "rate_0.1": measured.scores("random", "kl", 0.1).mean(axis=1),
        "rate_best": measured.scores("random", "kl", best).mean(axis=1),
        "rate_1": measured.full.scores("random")[measured.rows, 0, 0].mean(axis=1),
    }  # (words,) each
    ranks = {"gold": _ranks(measured.gold)} | {name: _ranks(values) for name, values in scores.items()}
    published = published_figures("ablation", measured.data.name).set_index("word")
    systems = published_figures("systems", measured.data.name).set_index("system")["spearman"]
    rows: list[dict[str, Any]] = []
    for word in _ablation_words(measured):
        i, bare = measured.words.index(word), _PART_OF_SPEECH.sub("", word)
        changed = {True: "yes", False: "no", None: ""}[measured.data.binary.get(word)]
        row = {"word": word, "gold": int(ranks["gold"][i]), "changed": changed}
        row |= {name: int(ranks[name][i]) for name in scores}
        rows.append(row | {f"paper_{name}": float(published[name].get(bare, np.nan)) for name in scores})
    last = {"word": "Spearman", "gold": 1.0, "changed": ""}
    last |= {name: spearman(values, measured.gold).rho for name, values in scores.items()}
    keys = {name: f"ablation, {name.replace('_', ' ')}" for name in scores}
    rows.append(last | {f"paper_{name}": float(systems.get(key, np.nan)) for name, key in keys.items()})
    labelled = bool(measured.data.binary)
    cells = tuple(_ablation_cells(row, list(scores), labelled) for row in rows)
    note = (
        "Ranks by KL with random swapping, scores averaged over repetitions, 1 being the most changed; equal words "
        f"share the better rank. Shown are the {ABLATION_WORDS} words of the highest gold"
        f"{' that are labelled changed' if labelled else ''} and the {ABLATION_WORDS} of the lowest"
        f"{' that are labelled stable' if labelled else ''}. Without swapping SSCD is 0 for every word, so "
        "that rate 0 stands for e_original itself. The last row is Spearman over all words. "
    )
    if len(published):
        note += "Below ours, small: the paper's, with MLM_temp, of the words that it shows."
    else:
        note += "The paper has no ranks for this data set."
    columns = ("word", "gold", *(("changed",) if labelled else ()))
    columns += ("rate 0", "rate 0.1", f"best rate ({best:g})", "rate 1")
    return Exhibit("ablation", "Words at some swap rates", note, pd.DataFrame(rows), columns, cells)


def _ablation_words(measured: Measurements) -> list[str]:
    """Return the words that changed most, then those that changed least, each by falling gold; no word is in both."""
    binary = measured.data.binary
    order = sorted(measured.words, key=lambda word: -measured.data.graded[word])
    if not binary:
        return order[:ABLATION_WORDS] + order[ABLATION_WORDS:][-ABLATION_WORDS:]
    changed = [word for word in order if binary.get(word) is True]
    return changed[:ABLATION_WORDS] + [word for word in order if binary.get(word) is False][-ABLATION_WORDS:]


def _ablation_cells(row: dict[str, Any], rates: Sequence[str], labelled: bool) -> tuple[Cell, ...]:
    """Return the cells of a word, with the paper's ranks below ours if it has the word; the last row has no ranks."""
    is_published, digits = not np.isnan(row["paper_rate_0"]), 3 if isinstance(row["gold"], float) else 0
    published = [(figure(row[f"paper_{name}"], digits),) if is_published else () for name in rates]
    return (
        Cell(row["word"], ("MLM_temp",) if is_published else ()),
        Cell(figure(row["gold"], digits)),
        *([Cell(row["changed"])] if labelled else []),
        *map(Cell, [figure(row[name], digits) for name in rates], published),
    )


def _ranks(values: Floats) -> Array:
    """Return ranks, 1 for the highest; equal values share the better rank."""
    from scipy.stats import rankdata  # a slow import

    return np.asarray(rankdata(-values, method="min"), int)


# ------------------------------------------------------------------------------------------------------- figures


def published_figures(table: str, name: str) -> pd.DataFrame:
    """Return a table of published figures for a release of this name; it is empty if the paper has none.

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
    """Return the name in the published figures of a release of this name, None if the paper does not have it.

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


def figure(value: float, digits: int = 3) -> str:
    """Return a number as text, or a dash if it is NaN.

    >>> figure(-0.0561), figure(float("nan"))
    ('-0.056', '–')
    """
    return _DASH if math.isnan(value) else f"{value:.{digits}f}"


def spread(mean: float, sd: float) -> str:
    """Return a mean with its standard deviation as text.

    >>> spread(0.552, 0.037), spread(0.552, float("nan"))
    ('0.552 ± 0.037', '0.552')
    """
    return figure(mean) if math.isnan(mean) or math.isnan(sd) else f"{figure(mean)} ± {figure(sd)}"


def scaled(mean: float, sd: float) -> str:
    """Return a mean of any size with three digits, and its standard deviation with as many decimals.

    >>> scaled(3002.4, 431.3), scaled(0.01234, 0.0021), scaled(0.0, 0.0)
    ('3002 ± 431', '0.0123 ± 0.0021', '0 ± 0')
    """
    decimals = max(0, 2 - math.floor(math.log10(abs(mean)))) if mean else 0
    return f"{mean:.{decimals}f} ± {sd:.{decimals}f}"

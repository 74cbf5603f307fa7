"""The paper's comparisons of SSCD with other systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.benchmark.evaluation import evaluate_system
from lexshift.benchmark.measures import spearman
from lexshift.benchmark.paper.exhibit import DASH, Cell, Exhibit, format_number, format_spread
from lexshift.benchmark.paper.measurements import DIVERGENCES, DSCD, Measurements, best_row
from lexshift.benchmark.paper.published_figures import published_figures
from lexshift.benchmark.systems import SystemScores
from lexshift.scoring.distance import DISTANCES
from lexshift.utils.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

_ATTENTION, _SUPERVISED = "MLM_temp, temporal attention", "XL-LEXEME (supervised)"


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
        "Liu et al. (2021) score a word by the cosine distance between the means of its usages. Their permutation test "
        "drops words with p of 0.005 or more, and their control of the false discovery rate also drops words with q "
        "above 0.05, so that fewer words are judged. SSCD judges all words. Its figure is Spearman's rank correlation "
        "of each repetition of random swapping, averaged, with the best metric and rate. These are chosen with the "
        "gold, as in the paper, and the figure is therefore optimistic."
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
        interval = DASH if np.isnan(row["low"]) else f"{format_number(row['low'])} to {format_number(row['high'])}"
        return format_number(row["spearman"]), interval, format_spread(row["spearman_each"], row["spearman_each_sd"])

    table = pd.DataFrame(rows)
    note = (
        "Spearman's rank correlation of the scores averaged over the repetitions, with its 95 % interval from a "
        "bootstrap of the words, and the mean and standard deviation of the correlations of single repetitions, which "
        "the paper gives for SSCD. Settings that are called best are chosen with the gold, so their figures are "
        "optimistic; the estimated rate needs no gold. Temporal attention and XL-LEXEME need models of their own and "
        "are not run: they are shown where the paper has a figure."
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
        published = DASH if np.isnan(row["paper"]) else f"{format_number(row['paper'])} ({row['paper_encoder']})"
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

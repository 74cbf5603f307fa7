"""The paper's tables of metrics and swap rates, and its figure of the search for the swap rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lexshift.benchmark.paper.exhibit import Cell, Exhibit, format_number, format_scaled, format_spread
from lexshift.benchmark.paper.measurements import DIVERGENCES, Measurements, best_row
from lexshift.benchmark.paper.published_figures import published_figures

if TYPE_CHECKING:
    import pandas as pd

ENCODERS = ("mBERT", "MLM_temp")
"""Encoders of the paper: multilingual BERT without tuning, and BERT-base tuned on the corpora with time tokens."""


def tabulate_rates(measurements: Measurements, strategy: str) -> Exhibit:
    """Make the table of Spearman by metric and swap rate for a strategy."""
    table = _join_published(measurements, strategy).drop(columns=[f"paper_{encoder}_sd" for encoder in ENCODERS])
    encoders = tuple(encoder for encoder in ENCODERS if table[f"paper_{encoder}"].notna().any())

    def show(row: dict[str, Any]) -> Cell:
        published = tuple(format_number(row[f"paper_{encoder}"]) for encoder in encoders)
        return Cell(format_number(row["spearman_each"]), published, row["best"])

    by, _, normalised = strategy.partition(", ")
    title = f"Swap rates: {'random swapping' if by == 'random' else 'distance-based swapping'}"
    title += ", normalised by corpus size" if normalised else ""
    note = (
        "Spearman's rank correlation of the scores with the gold, computed for each repetition and averaged over the "
        f"repetitions. The best rate of each metric is marked. {_explain_published(encoders)}"
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
        "Spearman's rank correlation with random swapping: mean and standard deviation over the repetitions. The best "
        f"rate of each divergence is marked. {_explain_published(encoders)}"
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
    headings = ["metric", "best Spearman", "best rate", "estimated rate", "Spearman at the estimate"]
    headings.append("Spearman of e_original")
    if table.filter(like="paper").notna().any(axis=None):
        headings += ["MLM_temp: Spearman", "MLM_temp: best rate", "MLM_temp: estimated rate"]
    shown = list(table.columns[1 : len(headings)])
    cells = tuple(
        (Cell(row["metric"]), *(Cell(format_number(row[name], 1 if "rate" in name else 3)) for name in shown))
        for row in table.to_dict("records")
    )
    note = (
        "Swapping is random. The best rate is chosen with the gold, so the best Spearman is optimistic. The estimated "
        "rate needs no gold: it is the rate at which e_swap, averaged over words and repetitions, is smallest."
    )
    return Exhibit("summary", "The best and the estimated swap rate", note, table, tuple(headings), cells)


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
        "The distance after random swapping (e_swap), averaged over the words, with its standard deviation over the "
        "repetitions. At rate 0 nothing is swapped, and the distance is e_original. The smallest value of each curve "
        "is marked; its rate is the estimated one."
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
        f"The small figures below ours are those of the paper, with {' and '.join(encoders)}. "
        "The paper prints these correlations without their signs; ours keep them."
    )

"""The paper's tables of metrics and swap rates, its data table and its figure, made again for any data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexshift.benchmark import paper
from lexshift.benchmark.dataset import PERIODS, Dataset
from lexshift.benchmark.exhibit import DIVERGENCES, Cell, Exhibit, Measured, best_of, figure, scaled, spread

if TYPE_CHECKING:
    import pandas as pd

SIGNS = "The paper prints these correlations without their signs; ours keep them."
_TITLES = {
    "random": "Swap rates: random swapping",
    "distance": "Swap rates: swapping by distance",
    "random, normalised": "Swap rates: random swapping, normalised by corpus size",
    "distance, normalised": "Swap rates: swapping by distance, normalised by corpus size",
}


def statistics(data: Dataset) -> Exhibit:
    """The data table: how large the two periods are."""
    import pandas as pd

    usages = data.counts().sum()
    rows = [
        {"period": label, "targets": len(data.words), "sentences": text.sentences, "tokens": text.tokens}
        | {"types": text.types, "usages": int(usages[period])}
        for label, text, period in zip(data.periods, data.texts, PERIODS, strict=True)
    ]
    table = pd.DataFrame(rows)
    cells = [(Cell(str(first)), *(Cell(f"{n:,}") for n in rest)) for first, *rest in table.itertuples(index=False)]
    note = (
        "Sentences and tokens are those of the files that were read. Usages are the occurrences of targets in them. A "
        "release that holds only sentences with targets is smaller than the corpora that the paper describes."
    )
    return Exhibit("statistics", "The data", note, table, tuple(table.columns), tuple(cells))


def rates(measured: Measured, strategy: str) -> Exhibit:
    """Spearman by metric and swap rate for a strategy, with the published ones."""
    table = _beside(measured, strategy)
    encoders = [encoder for encoder in paper.ENCODERS if table[f"paper_{encoder}"].notna().any()]
    rows = []
    for metric, frame in table.groupby("metric", sort=False):
        best = best_of(frame)["rate"]
        cells = [Cell(str(metric), tuple(encoders))]
        for row in frame.to_dict("records"):
            published = tuple(figure(row[f"paper_{encoder}"]) for encoder in encoders)
            cells.append(Cell(figure(row["spearman_each"]), published, bool(row["rate"] == best)))
        rows.append(tuple(cells))
    note = (
        "Spearman's rank correlation with the gold, of each repetition, averaged over the repetitions. The best rate "
        f"of each metric is marked. {_below(encoders)}"
    )
    columns = ("metric", *(f"{rate:g}" for rate in measured.grid.rates))
    return Exhibit("rates-" + strategy.replace(", ", "-"), _TITLES[strategy], note, table, columns, tuple(rows))


def divergences(measured: Measured) -> Exhibit:
    """Mean and standard deviation over repetitions of the divergences' Spearman at each rate, random swapping."""
    frame = measured.spearman
    ours = frame[(frame["strategy"] == "random") & frame["metric"].isin(DIVERGENCES)]
    published = paper.grid(measured.data.name)
    published = published[(published["encoder"] == "MLM_temp") & (published["strategy"] == "random")]
    published = published.rename(columns={"spearman": "paper_MLM_temp", "sd": "paper_MLM_temp_sd"})
    kept = ["metric", "rate", "spearman_each", "spearman_each_sd"]
    theirs = published[["metric", "rate", "paper_MLM_temp", "paper_MLM_temp_sd"]]
    table = ours[kept].merge(theirs, on=["metric", "rate"], how="left").sort_values("rate", kind="stable")
    known = bool(table["paper_MLM_temp"].notna().any())
    best = {metric: best_of(part)["rate"] for metric, part in table.groupby("metric")}
    rows = []
    for rate, part in table.groupby("rate"):
        cells = [Cell(f"{rate:g}", ("MLM_temp",) if known else ())]
        for row in part.to_dict("records"):
            below = (spread(row["paper_MLM_temp"], row["paper_MLM_temp_sd"]),) if known else ()
            cells.append(
                Cell(spread(row["spearman_each"], row["spearman_each_sd"]), below, bool(rate == best[row["metric"]]))
            )
        rows.append(tuple(cells))
    note = (
        "Spearman with random swapping: mean and standard deviation over the repetitions. "
        f"{_below(['MLM_temp'] if known else [])}"
    )
    columns = ("rate", *DIVERGENCES)
    return Exhibit("divergences", "Divergences and their spread", note, table, columns, tuple(rows))


def summary(measured: Measured) -> Exhibit:
    """Of each metric the best rate, the rate that is estimated without labels, and Spearman at both."""
    import pandas as pd

    frame = measured.spearman[measured.spearman["strategy"] == "random"]
    rows = []
    for metric, part in frame.groupby("metric", sort=False):
        best, estimated = best_of(part), measured.curve(str(metric)).rate
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
    published = paper.summary(measured.data.name).drop(columns="encoder").set_index("metric")
    table = pd.DataFrame(rows).join(published.add_prefix("paper_MLM_temp_"), on="metric")
    known = bool(table.filter(like="paper").notna().any(axis=None))
    shown = table if known else table[[name for name in table if not name.startswith("paper")]]
    cells = [
        (
            Cell(row[0]),
            *(
                Cell(figure(value, 1 if "rate" in name else 3))
                for name, value in zip(shown, row, strict=True)
                if name != "metric"
            ),
        )
        for row in shown.itertuples(index=False)
    ]
    columns: tuple[str, ...] = (
        "metric",
        "best Spearman",
        "best rate",
        "estimated rate",
        "Spearman there",
        "e_original alone",
    )
    columns += ("MLM_temp: Spearman", "MLM_temp: best rate", "MLM_temp: estimated rate") if known else ()
    note = (
        "Random swapping. The best rate is chosen by the gold, so the best Spearman is optimistic. The estimated rate "
        "needs no gold: it is the one of least e_swap, averaged over words and repetitions."
    )
    return Exhibit("summary", "The best rate and the estimated one", note, table, columns, tuple(cells))


def curve(measured: Measured) -> Exhibit:
    """The figure: e_swap averaged over words against the rate, and its spread over the repetitions."""
    import pandas as pd

    parts = []
    for metric in DIVERGENCES:
        found = measured.curve(metric)
        part = pd.DataFrame(
            {
                "metric": metric,
                "rate": [0.0, *found.rates],
                "e_swap_mean": [found.e_original.mean(), *found.mean],
                "e_swap_sd": [0.0, *found.std],
                "minimum": [False, *(found.rates == found.rate)],
            }
        )
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    rows = []
    for rate, part in table.groupby("rate"):
        shown = [(scaled(row["e_swap_mean"], row["e_swap_sd"]), row["minimum"]) for row in part.to_dict("records")]
        rows.append((Cell(f"{rate:g}"), *(Cell(text, best=bool(least)) for text, least in shown)))
    note = (
        "The distance that is left after random swapping, averaged over the words, with its standard deviation over "
        "the repetitions. Nothing is swapped at rate 0, which is e_original. The least value of each curve is marked: "
        "its rate is the estimated one."
    )
    return Exhibit("curve", "The search for the swap rate", note, table, ("rate", *DIVERGENCES), tuple(rows))


def _beside(measured: Measured, strategy: str) -> pd.DataFrame:
    """Ours at each metric and rate, and the published ones of each encoder."""
    frame = measured.spearman
    table = frame.loc[
        frame["strategy"] == strategy, ["metric", "rate", "spearman_each", "spearman_each_sd", "spearman"]
    ]
    published = paper.grid(measured.data.name)
    for encoder in paper.ENCODERS:
        part = published[(published["encoder"] == encoder) & (published["strategy"] == strategy)]
        theirs = part[["metric", "rate", "spearman"]].rename(columns={"spearman": f"paper_{encoder}"})
        table = table.merge(theirs, on=["metric", "rate"], how="left")
    return table


def _below(encoders: list[str]) -> str:
    if not encoders:
        return "The paper has no figures for this data set and strategy."
    return f"Below ours, small: the paper's, with {' and '.join(encoders)}. {SIGNS}"

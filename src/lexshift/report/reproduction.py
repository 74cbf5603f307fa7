"""The page of the reproduced tables and figure of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lexshift.report.page import render_page, round_figures

if TYPE_CHECKING:
    import pandas as pd

    from lexshift.benchmark.paper.exhibit import Exhibit

PAGE = "reproduction.html"
SCRIPTS = ("base.js", "charts.js", "reproduction.js")


def render(exhibits: Sequence[Exhibit], run: dict[str, Any]) -> str:
    """Return the page of some exhibits, with the provenance of their numbers, as HTML text."""
    curves = next((_curves(exhibit.table) for exhibit in exhibits if "e_swap_mean" in exhibit.table), [])
    return render_page(
        "reproduction.html",
        styles=("base.css", "reproduction.css"),
        scripts=SCRIPTS if curves else (),
        data={"curves": curves},
        groups=[],
        exhibits=exhibits,
        run=run,
        encoder=run["embedding"]["encoder"],
        curves=curves,
    )


def _curves(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the curve of each metric: points [rate, mean, deviation, is minimum], and the rate of the minimum."""
    names = ["rate", "e_swap_mean", "e_swap_sd"]
    return [
        {
            "metric": metric,
            "points": [[*map(round_figures, part.loc[i, names]), bool(part.loc[i, "minimum"])] for i in part.index],
            "rate": f"{part.loc[part['minimum'], 'rate'].iloc[0]:g}",
        }
        for metric, part in table.groupby("metric", sort=False)
    ]

"""The page of the paper's tables and figure: one file without a script, that asks nothing of a network.

Words and names come from files of others. The template escapes them, and the Content-Security-Policy allows the one
style sheet by its hash and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift.benchmark.paper import scaled
from lexshift.report.page import render_page
from lexshift.utils.files import disk_faults, write_bytes

if TYPE_CHECKING:
    import pandas as pd

    from lexshift.benchmark.paper import Exhibit, Reproduction

PAGE = "reproduction.html"
WIDTH, HEIGHT = 560, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 14, 14, 44  # margins
_APART = 4  # between the curves, so that no error bar hides another


def write_page(reproduction: Reproduction) -> Path:
    """Write the page of a reproduction into its folder, and return the file."""
    path = reproduction.folder / PAGE
    with disk_faults(path.parent):
        write_bytes(path, render(reproduction.exhibits, reproduction.run).encode("utf-8", "replace"))
    return path


def render(exhibits: Sequence[Exhibit], run: dict[str, Any]) -> str:
    """Return the page of some exhibits, with what was run to make them."""
    charts = {exhibit.name: chart(exhibit.table) for exhibit in exhibits if "e_swap_mean" in exhibit.table}
    encoder = run["embedding"]["encoder"]
    styles = ("base.css", "reproduction.css")
    return render_page("reproduction.html", styles, exhibits=exhibits, run=run, encoder=encoder, charts=charts)


def chart(table: pd.DataFrame) -> dict[str, Any]:
    """Where the lines, error bars, marks and ticks of the curves are, in units of the drawing.

    ``table`` has a row for each metric and rate, with ``e_swap_mean``, ``e_swap_sd`` and ``minimum``.
    """
    highest = float((table["e_swap_mean"] + table["e_swap_sd"]).max())
    step, last = tick_step(highest), float(table["rate"].max())
    top = step * max(1, math.ceil(highest / step - 1e-9))

    def x(rate: float) -> float:
        return round(_LEFT + 10 + rate / last * (WIDTH - _LEFT - _RIGHT - 20), 1)

    def y(value: float) -> float:
        return round(HEIGHT - _BOTTOM - value / top * (HEIGHT - _TOP - _BOTTOM), 1)

    curves = []
    for i, (metric, part) in enumerate(table.groupby("metric", sort=False)):
        dots = [
            {
                "x": round(x(row["rate"]) + (i - 1) * _APART, 1),
                "y": y(row["e_swap_mean"]),
                "low": y(max(0.0, row["e_swap_mean"] - row["e_swap_sd"])),
                "high": y(row["e_swap_mean"] + row["e_swap_sd"]),
                "least": bool(row["minimum"]),
                "told": f"{metric}, rate {row['rate']:g}: {scaled(row['e_swap_mean'], row['e_swap_sd'])}",
            }
            for row in part.to_dict("records")
        ]
        least = part.loc[part["minimum"], "rate"]
        points = " ".join(f"{dot['x']},{dot['y']}" for dot in dots)
        curves.append({"metric": metric, "dots": dots, "points": points, "rate": f"{least.iloc[0]:g}"})
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": _LEFT,
        "right": WIDTH - _RIGHT,
        "floor": HEIGHT - _BOTTOM,
        "curves": curves,
        "across": [{"at": x(rate), "text": f"{rate:g}"} for rate in sorted(set(table["rate"]))],
        "up": [{"at": y(i * step), "text": f"{i * step:.6g}"} for i in range(round(top / step) + 1)],
    }


def tick_step(highest: float) -> float:
    """A round distance between ticks that makes four to eight of them up to a value; 1 if it is not above 0.

    >>> [tick_step(value) for value in (0.0, 0.31, 7.0, 173.0)]
    [1.0, 0.05, 1.0, 25.0]
    """
    if not 0 < highest < math.inf:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(highest))
    return next(unit * part for part in (0.2, 0.25, 0.5, 1.0, 2.0) if highest / (unit * part) <= 8)

"""How the terminal shows the paper's tables: ours alone, without the published figures below each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from lexshift.cli.terminal import out

if TYPE_CHECKING:
    from lexshift.benchmark.exhibit import Exhibit


def show(exhibits: Iterable[Exhibit]) -> None:
    """Print the tables one after the other; the best of a row is bold."""
    for i, exhibit in enumerate(exhibits):
        if i:
            out.print()
        table = Table(box=None, header_style="bold", pad_edge=False, title=exhibit.title, title_justify="left")
        for c, name in enumerate(exhibit.columns):
            table.add_column(Text(name), justify="left" if c < exhibit.texts else "right", no_wrap=True)
        for row in exhibit.rows:
            table.add_row(*(Text(cell.text, "bold" if cell.best else "") for cell in row))
        out.print(table)

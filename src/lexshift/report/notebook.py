"""The short view of a result in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lexshift.study.result import Result

_ROWS = 20


def notebook_view(result: Result) -> str:
    """The headline and the first words of the table."""
    from lexshift.report.page import environment

    rows = result.table.head(_ROWS).to_dict("records")
    left = len(result.table) - len(rows)
    return environment().get_template("notebook.html").render(result=result, rows=rows, left=left)

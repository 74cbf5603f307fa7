"""Show a result as a self-contained web page, or as a short view in a notebook.

In: a :class:`lexshift.Result`, a :class:`lexshift.Discovery` or a :class:`lexshift.Trace`. Out: HTML text. All pages
share one base: ``page.py`` with ``base.html``, ``base.css``, ``base.js``, ``charts.js`` and ``table.js``. Nothing here
computes a score.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lexshift.report import comparison, trace
from lexshift.report.page import write_page

_PAGES: dict[str, Any] = {"comparison": comparison, "discovery": comparison, "trace": trace}


def render(result: Any) -> str:
    """Return the page of a result as HTML text."""
    return str(_PAGES[result.kind.name].render(result))


def write_report(result: Any, path: Path) -> Path:
    """Write the page of a result to a file atomically, and return its path."""
    return write_page(render(result), path)


def notebook_view(result: Any) -> str:
    """Return the headline of a result and the first words of its table as HTML text."""
    return str(_PAGES[result.kind.name].notebook_view(result))

"""lexshift discover: which of all words changed their meaning between two corpora."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lexshift.cli import options


@options.with_settings("discover")
def command(
    *,
    old: Annotated[str, typer.Argument(metavar="OLD", help="Text, a table, a folder or a pattern; .gz and .zst too.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same, of the later period.")],
    form: options.Form = "table",
    rows: Annotated[
        int, typer.Option("--show", help="Number of words in the printed table; all are in scores.csv and on the page.")
    ] = 30,
    quiet: options.Quiet = False,
    settings: dict[str, Any],
) -> None:
    """Find which of all words changed their meaning between two corpora, and write a page that shows them.

    Every word that is frequent in both is sampled, encoded, scored and tested. An interrupted run resumes where it
    stopped.
    """
    from lexshift.cli.results import run_question
    from lexshift.study.discover import discover

    run_question(discover, (old, new), settings, form, quiet, rows)

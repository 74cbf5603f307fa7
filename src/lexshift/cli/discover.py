"""lexshift discover: find the words of a whole vocabulary that changed their meaning between two corpora."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lexshift.cli import options


@options.with_settings("discover")
def command(
    *,
    old: options.OldCorpus,
    new: options.NewCorpus = None,
    settings: dict[str, Any],
    form: options.Form = "table",
    rows: Annotated[
        int, typer.Option("--show", help="Number of words in the printed table (scores.csv and the page have all).")
    ] = 30,
    quiet: options.Quiet = False,
    fail_on: options.FailOn = None,
) -> None:
    """Test every word that is frequent in both corpora for change, and write a page that ranks them.

    An interrupted run resumes where it stopped.
    """
    from lexshift.cli.results import run_question
    from lexshift.study.discover import discover

    run_question(discover, (old,) if new is None else (old, new), settings, form, quiet, rows, fail_on=fail_on)

"""lexshift discover: find the words of a whole vocabulary that changed their meaning between two corpora."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lexshift.cli import options
from lexshift.study.settings import DISCOVER


@options.with_settings(DISCOVER)
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
    plan: options.Plan = False,
    fail_on: options.FailOn = None,
) -> None:
    """Test every word that is frequent in both corpora for change, and write a page that ranks them.

    An interrupted run resumes where it stopped.
    """
    corpora = (old,) if new is None else (old, new)
    if plan:
        from lexshift.cli.plan_table import print_study_plan

        print_study_plan("discover", corpora, settings, form, quiet)
        return
    from lexshift.cli.results import run_question

    run_question(DISCOVER, corpora, settings, form, quiet, rows, fail_on=fail_on)

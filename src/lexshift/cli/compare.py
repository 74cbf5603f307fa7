"""lexshift compare: find the words that changed their meaning between two corpora."""

from __future__ import annotations

from typing import Any

from lexshift.cli import options
from lexshift.study.settings import COMPARE


@options.with_settings(COMPARE)
def command(
    *,
    old: options.OldCorpus,
    new: options.NewCorpus = None,
    words: options.Words = None,
    settings: dict[str, Any],
    form: options.Form = "table",
    quiet: options.Quiet = False,
    plan: options.Plan = False,
    fail_on: options.FailOn = None,
) -> None:
    """Find the words that changed their meaning between two corpora, and write a page that shows how.

    An interrupted run resumes where it stopped. A second run with another metric, rate or strategy takes seconds.
    """
    corpora = (old,) if new is None else (old, new)
    if plan:
        from lexshift.cli.plan_table import print_study_plan

        print_study_plan("compare", corpora, settings | {"words": words}, form, quiet)
        return
    from lexshift.cli.results import run_question

    run_question(COMPARE, corpora, settings | {"words": words}, form, quiet, fail_on=fail_on)

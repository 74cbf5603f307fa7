"""lexshift trace: follow the meaning of words over several periods."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lexshift.cli import options
from lexshift.study.settings import TRACE


@options.with_settings(TRACE)
def command(
    *,
    corpora: Annotated[
        list[str],
        typer.Argument(metavar="PERIOD...", help="Corpora of the periods, earliest first; or one corpus with --by."),
    ],
    words: options.Words = None,
    settings: dict[str, Any],
    form: options.Form = "table",
    quiet: options.Quiet = False,
    plan: options.Plan = False,
    fail_on: options.FailOn = None,
) -> None:
    """Follow words over several periods: how much they changed, when, and whether the change is seasonal.

    An interrupted run resumes where it stopped. A second run with another metric, rate or strategy takes seconds.
    """
    if plan:
        from lexshift.cli.plan_table import print_study_plan

        print_study_plan("trace", corpora, settings | {"words": words}, form, quiet)
        return
    from lexshift.cli.results import run_question

    run_question(TRACE, corpora, settings | {"words": words}, form, quiet, fail_on=fail_on)

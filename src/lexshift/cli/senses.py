"""lexshift senses: find the senses of words, and which of them appeared or disappeared."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lexshift.cli import options
from lexshift.study.settings import SENSES


@options.with_settings(SENSES)
def command(
    *,
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="PERIOD...", help="Corpora of the periods, earliest first; or one corpus with --by or --split-at."
        ),
    ],
    words: options.Words = None,
    settings: dict[str, Any],
    form: options.Form = "table",
    quiet: options.Quiet = False,
    plan: options.Plan = False,
) -> None:
    """Find the senses of words, their shares in each period, and which of them appeared or disappeared.

    The report also has the change scores that compare, or for more than two periods trace, computes. An interrupted run
    resumes where it stopped.
    """
    if plan:
        from lexshift.cli.plan_table import print_study_plan

        print_study_plan("senses", corpora, settings | {"words": words}, form, quiet)
        return
    from lexshift.cli.results import run_question

    run_question(SENSES, corpora, settings | {"words": words}, form, quiet)

"""lexshift trace: how words moved over several periods."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lexshift.cli import options


@options.with_settings("trace")
def command(
    *,
    corpora: Annotated[
        list[str],
        typer.Argument(metavar="PERIOD...", help="The periods, the earliest first; or one corpus and --by."),
    ],
    words: options.Words = None,
    form: options.Form = "table",
    quiet: options.Quiet = False,
    settings: dict[str, Any],
) -> None:
    """Find how words moved over several periods: how much, when, and whether it returns every year.

    An interrupted run resumes where it stopped. With another metric, rate or strategy, a second run takes seconds.
    """
    from lexshift.cli.results import run_question
    from lexshift.study.trace import trace

    run_question(trace, corpora, settings | {"words": words}, form, quiet)

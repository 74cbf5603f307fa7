"""lexshift compare: which words changed their meaning between two corpora."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lexshift.cli import options


@options.with_settings("compare")
def command(
    *,
    old: Annotated[str, typer.Argument(metavar="OLD", help="Text, a table, a folder or a pattern; .gz and .zst too.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same, of the later period.")],
    words: options.Words = None,
    form: options.Form = "table",
    quiet: options.Quiet = False,
    settings: dict[str, Any],
) -> None:
    """Find which words changed their meaning between two corpora, and write a page that shows it.

    An interrupted run resumes where it stopped. With another metric, rate or strategy, a second run takes seconds.
    """
    from lexshift.cli.results import run_question
    from lexshift.study.compare import compare

    run_question(compare, (old, new), settings | {"words": words}, form, quiet)

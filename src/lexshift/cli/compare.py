"""lexshift compare: find the words that changed their meaning between two corpora."""

from __future__ import annotations

from typing import Any

from lexshift.cli import options


@options.with_settings("compare")
def command(
    *,
    old: options.OldCorpus,
    new: options.NewCorpus = None,
    words: options.Words = None,
    settings: dict[str, Any],
    form: options.Form = "table",
    quiet: options.Quiet = False,
    fail_on: options.FailOn = None,
) -> None:
    """Find the words that changed their meaning between two corpora, and write a page that shows how.

    An interrupted run resumes where it stopped. A second run with another metric, rate or strategy takes seconds.
    """
    from lexshift.cli.results import run_question
    from lexshift.study.compare import compare

    run_question(
        compare, (old,) if new is None else (old, new), settings | {"words": words}, form, quiet, fail_on=fail_on
    )

"""lexshift info: what a store holds."""

from __future__ import annotations

from typing import Annotated

import typer


def command(store: Annotated[str, typer.Argument(metavar="STORE", help="Folder of the store.")]) -> None:
    """Show what a store holds: its words, corpora and model, and what was skipped."""
    from lexshift.cli.terminal import counts_table, summary
    from lexshift.store.siblings import Siblings

    siblings = Siblings(store)
    summary(siblings)
    counts_table(siblings)

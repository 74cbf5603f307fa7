"""lexshift info: describe the contents of a store."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    store: Annotated[str, typer.Argument(metavar="STORE", help="Folder of the store, or of results.")],
) -> None:
    """Describe a store: its words, corpora and model, and the text that was skipped."""
    from lexshift.cli.terminal import open_store, print_counts, print_store

    siblings = open_store(store)
    print_store(siblings)
    print_counts(siblings)

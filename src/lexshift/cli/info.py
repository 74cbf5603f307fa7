"""lexshift info: describe the contents of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    store: Annotated[str, typer.Argument(metavar="STORE", help="Folder of the store, or of results.")],
) -> None:
    """Describe a store: its words, corpora and model, and the text that was skipped."""
    from lexshift.cli.terminal import print_counts, print_store
    from lexshift.store.format import INDEX
    from lexshift.store.siblings import Siblings
    from lexshift.study.result import STORE

    inner = Path(store, STORE)
    siblings = Siblings(inner if (inner / INDEX).exists() else store)
    print_store(siblings)
    print_counts(siblings)

"""lexshift check: is every byte of a store what was written?"""

from __future__ import annotations

from typing import Annotated

import typer


def command(store: Annotated[str, typer.Argument(metavar="STORE", help="Folder of the store.")]) -> None:
    """Read a whole store and compare it with its checksums."""
    from lexshift.cli.terminal import out
    from lexshift.store.siblings import Siblings

    siblings = Siblings(store)
    siblings.check()
    out.print(f"{siblings.index['rows']:,} vectors and their occurrences are as they were written")

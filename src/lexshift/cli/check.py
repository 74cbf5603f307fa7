"""lexshift check: verify a store against its checksums."""

from __future__ import annotations

from typing import Annotated

import typer


def command(store: Annotated[str, typer.Argument(metavar="STORE", help="Folder of the store.")]) -> None:
    """Verify every byte of a store against its checksums."""
    from lexshift.cli.terminal import out
    from lexshift.store.siblings import Siblings

    siblings = Siblings(store)
    siblings.check()
    out.print(f"{siblings.index['rows']:,} vectors and their occurrences match their checksums")

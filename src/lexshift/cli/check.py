"""lexshift check: verify a store against its checksums."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    store: Annotated[str, typer.Argument(metavar="STORE", help="Folder of the store, or of results.")],
) -> None:
    """Verify every byte of a store against its checksums."""
    from lexshift.cli.terminal import open_store, out

    siblings = open_store(store)
    siblings.check()
    out.print(f"{siblings.index['rows']:,} vectors and their occurrences match their checksums")

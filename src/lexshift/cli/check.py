"""lexshift check: verify a store against its checksums."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    store: Annotated[str, typer.Argument(metavar="STORE", help="Folder of the store, or of results.")],
) -> None:
    """Verify every byte of a store, or of the stores in a results folder, against its checksums."""
    from lexshift.cli.terminal import open_stores, out

    n_rows = 0
    for siblings in open_stores(store):
        siblings.check()
        n_rows += siblings.index["rows"]
    out.print(f"{n_rows:,} vectors and their occurrences match their checksums")

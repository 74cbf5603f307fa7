"""lexshift info: describe the contents of a folder."""

from __future__ import annotations

from typing import Annotated

import typer

from lexshift.cli.completion import completer


def command(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Folder of results, a store or a tuned model.")],
    form: Annotated[
        str,
        typer.Option("--format", help="Format of the description: table or json.", autocompletion=completer("format")),
    ] = "table",
) -> None:
    """Describe a folder: what it holds, the command that made it, and whether anything is missing."""
    from lexshift.cli.folder_table import print_folder

    print_folder(folder, form)

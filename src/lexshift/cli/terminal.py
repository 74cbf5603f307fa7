"""Print results, errors and notes to the terminal."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table
from rich.text import Text

from lexshift.errors import Note
from lexshift.store.format import INDEX
from lexshift.store.siblings import Siblings
from lexshift.utils.console import SafeConsole, visible
from lexshift.utils.progress import err, note, size
from lexshift.utils.quantities import with_unit
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

_WIDE = 1_000  # columns of output that goes to a pipe or a file
_ON_TERMINAL = sys.stdout is not None and sys.stdout.isatty()  # stdout is None if it was closed
out = SafeConsole(highlight=False, emoji=False, markup=False, width=None if _ON_TERMINAL else _WIDE)


def print_error(text: str) -> None:
    """Print an error message on one line."""
    err.print(Text("error: ", "bold red").append(visible(text, one_line=True), "not bold default"))


def echo(text: str, nl: bool = True) -> None:
    """Print a result for programs unchanged, but on a terminal with control characters made visible."""
    typer.echo(visible(text) if sys.stdout.isatty() else text, nl=nl, color=True)  # color=True leaves escapes in


def echo_table(table: pd.DataFrame, form: str) -> None:
    """Print a table as csv or json."""
    echo(csv_text(table) if form == "csv" else json_text(table), nl=form != "csv")


def json_text(table: pd.DataFrame) -> str:
    """Return a table as a JSON list with an object for each row; missing and infinite values are null.

    Numbers have all of their digits, as in csv: :meth:`pandas.DataFrame.to_json` would write a small p as 0.

    >>> import pandas as pd
    >>> print(json_text(pd.DataFrame({"word": ["mouse"], "p": [2.5e-17], "q": [float("nan")]})))
    [
     {
      "word": "mouse",
      "p": 2.5e-17,
      "q": null
     }
    ]
    """
    finite = table.replace([float("inf"), float("-inf")], float("nan"))
    rows = finite.astype(object).where(finite.notna(), None).to_dict("records")
    return json.dumps(rows, ensure_ascii=False, indent=1)


def show_notes() -> None:
    """Print warnings of class Note as notes; call it inside ``warnings.catch_warnings()``."""
    show_other = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *args: Any, **kwargs: Any) -> None:
        if issubclass(category, Note):
            note(str(message))
        else:
            show_other(message, category, *args, **kwargs)

    warnings.showwarning = show


def open_store(folder: str) -> Siblings:
    """Return a store, or the one in a results folder."""
    from lexshift.study.result_files import STORE  # imported here because it is slow

    inner = Path(folder, STORE)
    return Siblings(inner if (inner / INDEX).exists() else folder)


def open_stores(folder: str) -> list[Siblings]:
    """Return a store, or those in a results folder: of the words, and of the control words if there are any."""
    from lexshift.study.result_files import CONTROL, STORE  # imported here because it is slow

    stores = [inner for inner in (Path(folder, STORE), Path(folder, CONTROL)) if (inner / INDEX).exists()]
    return [Siblings(inner) for inner in stores] or [Siblings(folder)]


def print_store(store: Siblings) -> None:
    """Print the size, the model and the corpora of a store, and the text that was skipped."""
    from lexshift.corpus.sources import describe_files  # imported here because other commands do not need it

    index = store.index
    total = sum(entry["size"] for entry in index["files"].values())
    encoder = store.settings["encoder"]
    vectors, words = with_unit(index["rows"], "vectors"), with_unit(len(store), "words")
    amount = f"{vectors} of {index['dimensions']} dimensions, {words}, {size(total)}"
    out.print(Text(str(store.path), "bold").append(f": {amount}", "not bold"), soft_wrap=True)
    details = [f"model {encoder.get('model', 'a custom encoder')}"]
    details += [f"{name} {encoder[name]}" for name in ("layers", "pooling", "window", "dtype") if name in encoder]
    out.print(", ".join(details), soft_wrap=True)
    for corpus in index["corpora"]:
        files = with_unit(corpus["files"], "files")
        splits = ", ".join(f"{n:,} read as {split}" for split, n in corpus["splits"].items())
        passages = "1 line or record" if corpus["passages"] == 1 else f"{corpus['passages']:,} lines or records"
        amount = f"{with_unit(corpus['words'], 'words')} in {passages}"
        out.print(f"{corpus['label']}: {amount} of {files} ({splits}), {size(corpus['bytes'])}", soft_wrap=True)
        for reason, n in corpus["skipped"].items():
            out.print(f"  skipped or altered: {with_unit(n, reason)}", style="yellow", soft_wrap=True)
        for line in describe_files(corpus):
            out.print(Text(f"  {line}", "yellow"), soft_wrap=True)
    incomplete = [entry["word"] for entry in index["words"] if any(begin == end for begin, end in entry["rows"])]
    if incomplete:
        do = "does" if len(incomplete) == 1 else "do"
        shown = ", ".join(incomplete[:10]) + (", ..." if len(incomplete) > 10 else "")
        out.print(
            f"{with_unit(len(incomplete), 'words')} {do} not occur in every corpus: {shown}",
            style="yellow",
            soft_wrap=True,
        )


def print_counts(store: Siblings) -> None:
    """Print the number of vectors of each word in each corpus, and of its occurrences if there are more."""
    table = Table(box=None, header_style="bold")
    table.add_column("word")
    for corpus in store.index["corpora"]:
        table.add_column(Text(corpus["label"]), justify="right")
    for entry in store.index["words"]:
        cells = []
        for (begin, end), occurrences in zip(entry["rows"], entry["found"], strict=True):
            vectors = end - begin
            cells.append(f"{vectors:,}" if vectors == occurrences else f"{vectors:,} of {occurrences:,}")
        table.add_row(Text(entry["word"]), *cells)
    out.print(table)

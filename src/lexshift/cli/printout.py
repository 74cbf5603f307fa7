"""Define the printout of results as plain values, which can be saved, and printed again without a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from rich.table import Table
from rich.text import Text

from lexshift.cli.terminal import echo, out
from lexshift.study.result_files import REPORT
from lexshift.utils.progress import err

Segments = Sequence[tuple[str, str]]
"""Parts of a text, each with its style."""
Cell = str | Segments
Row = tuple[int, str, Sequence[Cell]]
"""A row of a table: its rank, which a limit on the number of words refers to, its style and its cells."""


@dataclass(frozen=True)
class Column:
    """A column of a printed table.

    Attributes
    ----------
    title : str
    justify : "left" or "right"
    no_wrap : bool
        Whether its cells are always one line.
    is_optional : bool
        Whether to leave the column out if all of its cells are empty.
    """

    title: str
    justify: Any = "left"
    no_wrap: bool = True
    is_optional: bool = False


@dataclass(frozen=True)
class PrintedTable:
    """A table for the terminal.

    Attributes
    ----------
    columns : list of Column
    rows : list of Row
        A row may have fewer cells than there are columns.
    """

    columns: list[Column]
    rows: list[Row]

    def to_rich(self, limit: int | None = None) -> Table:
        """Return the table in the form that a console prints, with the rows whose rank is below a limit."""
        rows = [row for row in self.rows if limit is None or row[0] < limit]
        shown = [
            i
            for i, column in enumerate(self.columns)
            if not column.is_optional or any(i < len(cells) and cells[i] for _, _, cells in rows)
        ]
        table = Table(box=None, header_style="bold", pad_edge=False)
        for column in (self.columns[i] for i in shown):
            table.add_column(Text(column.title), justify=column.justify, no_wrap=column.no_wrap)
        for _, style, cells in rows:
            table.add_row(*(_text(cells[i]) for i in shown if i < len(cells)), style=style)
        return table


@dataclass(frozen=True)
class Printout:
    """Everything that a command may print about its results, in all formats.

    Attributes
    ----------
    words : list of PrintedTable
        Tables of the words; a table without rows is not printed.
    senses : PrintedTable or None
        Table of the senses; None if they were not sought.
    csv, json : mapping of str to str
        The tables "words" and "senses" for programs.
    summary : list of Segments
        Lines with what was skipped, warnings, and the outcome in a sentence.
    verdicts : list of str
        All verdicts that words have.
    """

    words: list[PrintedTable]
    senses: PrintedTable | None
    csv: Mapping[str, str]
    json: Mapping[str, str]
    summary: list[Segments]
    verdicts: list[str]

    def print_tables(self, form: str, rows: int | None = None, of_senses: bool = False) -> None:
        """Print the table of words, or of senses, to standard output.

        Parameters
        ----------
        form : "table", "csv" or "json"
        rows : int, optional
            Maximum number of words, of the table format only.
        of_senses : bool
            Whether to print the table of senses instead of that of words.
        """
        if form != "table":
            texts = self.csv if form == "csv" else self.json
            echo(texts["senses" if of_senses else "words"], nl=form != "csv")
            return
        if not of_senses:
            limit = None if rows is None else len(range(sum(len(table.rows) for table in self.words))[:rows])
            tables = [table.to_rich(limit) for table in self.words]
            for i, table in enumerate(table for table in tables if table.row_count):
                out.print(*([""] if i else []), table, sep="\n")
        if self.senses is not None:
            out.print(*([] if of_senses else [""]), self.senses.to_rich(rows), sep="\n")

    def print_summary(self, folder: str) -> None:
        """Print the summary and the path of the page to standard error."""
        err.print()
        for line in self.summary:
            err.print(_text(line))
        err.print(Text("report: ").append(str(Path(folder) / REPORT), "bold"))

    def to_plain(self) -> dict[str, Any]:
        """Return all values for JSON, except for ``csv``, which files of the results hold."""
        return {name: value for name, value in asdict(self).items() if name != "csv"}

    @classmethod
    def from_plain(cls, values: Mapping[str, Any], csv: Mapping[str, str]) -> Self:
        """Return the printout that :meth:`to_plain` was called on."""
        senses = values["senses"]
        return cls(
            words=[_table(table) for table in values["words"]],
            senses=None if senses is None else _table(senses),
            csv=csv,
            **{name: values[name] for name in ("json", "summary", "verdicts")},
        )


def _table(values: Mapping[str, Any]) -> PrintedTable:
    return PrintedTable([Column(**column) for column in values["columns"]], values["rows"])


def _text(cell: Cell) -> Text:
    parts: Segments = [(cell, "")] if isinstance(cell, str) else cell
    if len(parts) == 1:
        return Text(*parts[0])  # its style also applies to the space around it
    text = Text()
    for part, style in parts:
        text.append(part, style or None)
    return text

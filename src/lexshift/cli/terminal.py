"""What the terminal shows."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from lexshift.siblings import Siblings

_WIDE = 200  # columns of what is not shown on a terminal but piped or kept
out = Console(highlight=False, emoji=False, markup=False, width=None if sys.stdout.isatty() else _WIDE)
err = Console(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)


def complain(text: str) -> None:
    """Tell a mistake."""
    err.print(Text("error: ", "bold red").append(text, "not bold default"))


class Bars:
    """A monitor that draws a progress bar for each stage: how much, how fast, how long still."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<16}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[count]:>18}", markup=False),
            TextColumn("{task.fields[rate]:>16}", markup=False),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=err,
        )
        self._task: TaskID | None = None
        self._started = False
        self._unit = ""
        self._begun = 0.0

    def __enter__(self) -> Bars:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._started:
            self._progress.stop()

    def stage(self, name: str, total: int, unit: str) -> None:
        """A stage begins."""
        if not self._started:
            self._started = True
            self._progress.start()
        self._unit, self._begun = unit, time.monotonic()
        self._task = self._progress.add_task(name, total=total or None, count="", rate="")

    def advance(self, done: int, items: int = 0) -> None:
        """So much of it is done."""
        if self._task is None:
            return
        count = done if self._unit in ("bytes", "rows") else items
        rate = count / max(time.monotonic() - self._begun, 1e-3)
        shown = (
            (f"{_size(count)}", f"{_size(rate)}/s")
            if self._unit == "bytes"
            else (f"{count:,} {self._unit}", f"{rate:,.0f}/s")
        )
        self._progress.update(self._task, completed=done, count=shown[0], rate=shown[1])

    def note(self, text: str) -> None:
        """Something worth knowing."""
        self._progress.console.print(Text("note: ", "yellow").append(text, "default"))


def _size(n: float) -> str:
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:,.0f} {unit}"
        n /= 1000
    return f"{n:,.1f} GB"


def summary(store: Siblings) -> None:
    """What a store holds, in a few lines, with whatever was skipped."""
    index = store.index
    size = sum(entry["size"] for entry in index["files"].values())
    encoder = store.settings["encoder"]
    amount = f"{index['rows']:,} vectors of {index['dimensions']} dimensions, {len(store)} words, {_size(size)}"
    out.print(Text(str(store.path), "bold").append(f": {amount}", "not bold"), soft_wrap=True)
    details = [f"model {encoder.get('model', 'of your own')}"]
    details += [f"{name} {encoder[name]}" for name in ("layers", "pooling", "window", "dtype") if name in encoder]
    out.print(", ".join(details), soft_wrap=True)
    for corpus in index["corpora"]:
        files = f"{corpus['files']:,} {'file' if corpus['files'] == 1 else 'files'}"
        splits = ", ".join(f"{n:,} read as {split}" for split, n in corpus["splits"].items())
        amount = f"{corpus['words']:,} words in {corpus['passages']:,} lines or records"
        out.print(f"{corpus['label']}: {amount} of {files} ({splits}), {_size(corpus['bytes'])}", soft_wrap=True)
        for reason, n in corpus["skipped"].items():
            out.print(f"  skipped or altered: {n:,} {reason}", style="yellow", soft_wrap=True)
    lonely = [word for word, counts in zip(store.words, store.counts.to_numpy(), strict=True) if (counts == 0).any()]
    if lonely:
        shown = ", ".join(lonely[:10]) + (", ..." if len(lonely) > 10 else "")
        out.print(f"{len(lonely)} words do not occur in every corpus: {shown}", style="yellow", soft_wrap=True)


def counts_table(store: Siblings) -> None:
    """How many occurrences each word has."""
    table = Table(box=None, header_style="bold")
    table.add_column("word")
    for label in store.corpora:
        table.add_column(Text(label), justify="right")
    for entry in store.index["words"]:
        cells = []
        for (begin, end), found in zip(entry["rows"], entry["found"], strict=True):
            kept = end - begin
            cells.append(f"{kept:,}" if kept == found else f"{kept:,} of {found:,}")
        table.add_row(Text(entry["word"]), *cells)
    out.print(table)

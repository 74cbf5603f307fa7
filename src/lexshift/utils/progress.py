"""Progress for those who watch: bars in a terminal, a line that moves in a notebook, nothing anywhere else."""

from __future__ import annotations

import html
import time
from types import TracebackType
from typing import Any

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from lexshift.utils.console import SafeConsole, visible

err = SafeConsole(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)
_WIDE = 120  # columns of a terminal that has room for all
_WARNING = "warning: "
_PAUSE = 0.2  # seconds between two pictures in a notebook


def is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return False
    return type(get_ipython()).__name__ == "ZMQInteractiveShell"


class Bars:
    """A monitor that draws a progress bar for each stage: how much, how fast, how long still."""

    def __init__(self) -> None:
        narrow = err.width < _WIDE
        columns = [
            TextColumn("{task.description}" if narrow else "{task.description:<16}", markup=False),
            BarColumn(bar_width=10 if narrow else 30),
            TextColumn("{task.fields[count]:>12}" if narrow else "{task.fields[count]:>18}", markup=False),
            *([] if narrow else [TextColumn("{task.fields[rate]:>16}", markup=False)]),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            TextColumn("{task.fields[status]}", markup=False),
        ]
        self._progress = Progress(*columns, console=err)
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
        self._task = self._progress.add_task(name, total=total or None, count="", rate="", status="")

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        """So much of it is done."""
        if self._task is None:
            return
        count = done if self._unit in ("bytes", "rows") else items
        rate = count / max(time.monotonic() - self._begun, 1e-3)
        shown = (
            (f"{size(count)}", f"{size(rate)}/s")
            if self._unit == "bytes"
            else (counted(count, self._unit), f"{rate:,.0f}/s")
        )
        self._progress.update(self._task, completed=done, count=shown[0], rate=shown[1], status=status)

    def note(self, text: str) -> None:
        """Something worth knowing."""
        note(text)


def note(text: str) -> None:
    """Print a note or a warning, in one line; the text of a warning begins with "warning: "."""
    head = _WARNING if text.startswith(_WARNING) else "note: "
    err.print(Text(head, "yellow").append(visible(text.removeprefix(_WARNING), one_line=True), "default"))


class NotebookBars:
    """A monitor that draws one bar for the present stage in the output of a notebook's cell, and lists the notes."""

    def __init__(self) -> None:
        from IPython.display import display

        self._notes: list[str] = []
        self._name, self._total, self._unit, self._done = "", 0, "", ""
        self._begun = self._shown = time.monotonic()
        self._share: float | None = None
        self._finished = False
        self._handle: Any = display(self._picture(), display_id=True)

    def stage(self, name: str, total: int, unit: str) -> None:
        """A stage begins."""
        self._name, self._total, self._unit = name, total, unit
        self._begun, self._share, self._done = time.monotonic(), None, ""
        self._show()

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        """So much of it is done."""
        count = done if self._unit in ("bytes", "rows") else items
        self._done = size(count) if self._unit == "bytes" else counted(count, self._unit)
        self._done += f", {status}" if status else ""
        self._share = min(done / self._total, 1.0) if self._total else None
        if self._share == 1 or time.monotonic() - self._shown > _PAUSE:
            self._show()

    def note(self, text: str) -> None:
        """Something worth knowing."""
        self._notes.append(visible(text, one_line=True))
        self._show()

    def finish(self) -> None:
        """Only the notes are left."""
        self._name, self._done, self._finished = "", "", True
        self._show()

    def _show(self) -> None:
        self._shown = time.monotonic()
        self._handle.update(self._picture())

    def _picture(self) -> Any:
        from IPython.display import HTML

        spent = time.monotonic() - self._begun
        left = f", {spent * (1 - self._share) / self._share:.0f} s left" if self._share and self._share < 1 else ""
        value = "" if self._share is None else f' value="{self._share:.3f}"'
        told = f"{html.escape(self._name)} {html.escape(self._done)}{left}"
        notes = "".join(f"<br>note: {html.escape(note)}" for note in self._notes)
        if self._finished:
            return HTML(notes.removeprefix("<br>"))
        return HTML(f'<progress{value} style="width: 18em"></progress> {told}{notes}')


def counted(n: int, unit: str) -> str:
    """A number of things: 1 word, 2 words."""
    return f"{n:,} {unit[:-1] if n == 1 else unit}"


def size(n: float) -> str:
    """A number of bytes, for people."""
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:,.0f} {unit}"
        n /= 1000
    return f"{n:,.1f} GB"

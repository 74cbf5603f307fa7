"""Show progress as bars in a terminal or a notebook."""

from __future__ import annotations

import html
import time
from types import TracebackType
from typing import Any

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from lexshift.utils.console import SafeConsole, visible
from lexshift.utils.quantities import with_unit

err = SafeConsole(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)
_WIDE = 120  # columns of a terminal that fit all parts of a progress bar
_WARNING = "warning: "
_PAUSE = 0.2  # seconds between two updates in a notebook


def is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return False
    return type(get_ipython()).__name__ == "ZMQInteractiveShell"


class Bars:
    """A monitor that draws a progress bar for each stage, with its count, speed and remaining time."""

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
        self._start_time = 0.0

    def __enter__(self) -> Bars:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._started:
            self._progress.stop()

    def stage(self, name: str, total: int, unit: str) -> None:
        """Begin a stage with a new bar."""
        if not self._started:
            self._started = True
            self._progress.start()
        self._unit, self._start_time = unit, time.monotonic()
        self._task = self._progress.add_task(name, total=total or None, count="", rate="", status="")

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        """Update the bar of the present stage."""
        if self._task is None:
            return
        count = done if self._unit in ("bytes", "rows") else items
        rate = count / max(time.monotonic() - self._start_time, 1e-3)
        shown = (
            (f"{size(count)}", f"{size(rate)}/s")
            if self._unit == "bytes"
            else (with_unit(count, self._unit), f"{rate:,.0f}/s")
        )
        self._progress.update(self._task, completed=done, count=shown[0], rate=shown[1], status=status)

    def note(self, text: str) -> None:
        """Print a note above the bars."""
        note(text)


def note(text: str) -> None:
    """Print a note or a warning on one line; the text of a warning begins with "warning: "."""
    head = _WARNING if text.startswith(_WARNING) else "note: "
    err.print(Text(head, "yellow").append(visible(text.removeprefix(_WARNING), one_line=True), "default"))


class NotebookBars:
    """A monitor that draws one bar for the present stage in the output of a notebook's cell, and lists the notes."""

    def __init__(self) -> None:
        from IPython.display import display

        self._notes: list[str] = []
        self._name, self._total, self._unit, self._done = "", 0, "", ""
        self._start_time = self._update_time = time.monotonic()
        self._share: float | None = None
        self._finished = False
        self._handle: Any = display(self._picture(), display_id=True)

    def stage(self, name: str, total: int, unit: str) -> None:
        """Begin a stage with an empty bar."""
        self._name, self._total, self._unit = name, total, unit
        self._start_time, self._share, self._done = time.monotonic(), None, ""
        self._show()

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        """Update the bar, at most every 0.2 seconds."""
        count = done if self._unit in ("bytes", "rows") else items
        self._done = size(count) if self._unit == "bytes" else with_unit(count, self._unit)
        self._done += f", {status}" if status else ""
        self._share = min(done / self._total, 1.0) if self._total else None
        if self._share == 1 or time.monotonic() - self._update_time > _PAUSE:
            self._show()

    def note(self, text: str) -> None:
        """Add a note below the bar."""
        self._notes.append(visible(text, one_line=True))
        self._show()

    def finish(self) -> None:
        """Remove the bar and leave the notes."""
        self._name, self._done, self._finished = "", "", True
        self._show()

    def _show(self) -> None:
        self._update_time = time.monotonic()
        self._handle.update(self._picture())

    def _picture(self) -> Any:
        from IPython.display import HTML

        spent = time.monotonic() - self._start_time
        left = f", {spent * (1 - self._share) / self._share:.0f} s left" if self._share and self._share < 1 else ""
        value = "" if self._share is None else f' value="{self._share:.3f}"'
        text = f"{html.escape(self._name)} {html.escape(self._done)}{left}"
        notes = "".join(f"<br>note: {html.escape(note)}" for note in self._notes)
        if self._finished:
            return HTML(notes.removeprefix("<br>"))
        return HTML(f'<progress{value} style="width: 18em"></progress> {text}{notes}')


def size(n: float) -> str:
    """Return a number of bytes in readable units."""
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:,.0f} {unit}"
        n /= 1000
    return f"{n:,.1f} GB"

"""The protocol by which a run reports its progress, and the choice of a monitor for a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


class Monitor(Protocol):
    """Receives the progress events of a run."""

    def stage(self, name: str, total: int, unit: str) -> None:
        """Begin a stage.

        Parameters
        ----------
        name : str
            Label of the stage.
        total : int
            Its size, 0 if unknown.
        unit : str
            Unit of the counts, such as "bytes" or "sentences".
        """

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        """Report progress in the present stage.

        Parameters
        ----------
        done : int
            Amount that is done, out of the size of the stage.
        items : int
            Number of units that are done, for display, if the size is not in units.
        status : str
            Further text to display, such as the current loss.
        """

    def note(self, text: str) -> None:
        """Show a note to the user; the text of a warning begins with "warning: "."""


class Silent:
    """A monitor that ignores all events."""

    def stage(self, name: str, total: int, unit: str) -> None:
        """Do nothing."""

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""


class ForwardingMonitor:
    """A monitor that passes all events on to another one; subclasses change some of them."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor

    def stage(self, name: str, total: int, unit: str) -> None:
        """Begin a stage."""
        self._monitor.stage(name, total, unit)

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        """Report progress in the present stage."""
        self._monitor.advance(done, items, status)

    def note(self, text: str) -> None:
        """Show a note to the user."""
        self._monitor.note(text)


class NoteRecorder(ForwardingMonitor):
    """A monitor that passes all events on and keeps the notes.

    Attributes
    ----------
    notes : list of str
    passing : Monitor
        The monitor for notes that are not kept; see :func:`passing`.
    """

    def __init__(self, monitor: Monitor) -> None:
        super().__init__(monitor)
        self.passing = monitor
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Show a note to the user, and keep it."""
        self.notes.append(text)
        super().note(text)


def passing(monitor: Monitor) -> Monitor:
    """Return the monitor for notes about the work of a run, such as its duration, which say nothing on its results."""
    found: Monitor = getattr(monitor, "passing", monitor)
    return found


def duration(seconds: float) -> str:
    """Return a duration in readable units.

    >>> [duration(seconds) for seconds in (3, 50, 130, 5400, 86400 * 3)]
    ['3 seconds', '50 seconds', '2 minutes', '1.5 hours', '3.0 days']
    """
    for limit, size, unit in ((90, 1, "seconds"), (90 * 60, 60, "minutes")):
        if seconds < limit:
            return f"{seconds / size:.0f} {unit}"
    hours = seconds / 3600
    return f"{hours:.1f} hours" if hours < 48 else f"{hours / 24:.1f} days"


def duration_range(low: float, high: float) -> str:
    """Return a range of durations in readable units.

    >>> duration_range(2, 4), duration_range(50, 130), duration_range(180, 300), duration_range(3.1, 3.2)
    ('2 to 4 seconds', '50 seconds to 2 minutes', '3 to 5 minutes', '3 seconds')
    """
    shortest, longest = duration(low), duration(high)
    if shortest == longest:
        return longest
    number, unit = shortest.split()
    return f"{number if longest.endswith(unit) else shortest} to {longest}"


def reading_stage(monitor: Monitor, name: str) -> Callable[[int, int], None]:
    """Return a function that reports bytes done out of a total, as a stage that begins at its first call."""
    has_begun = False

    def progress(done: int, total: int) -> None:
        nonlocal has_begun
        if not has_begun:
            monitor.stage(name, total, "bytes")
            has_begun = True
        monitor.advance(done)

    return progress


@contextmanager
def watching(monitor: Monitor | bool) -> Iterator[Monitor]:
    """Yield a monitor: the one passed, or for True progress bars if a terminal or a notebook can show them."""
    if not isinstance(monitor, bool):
        yield monitor
        return
    from lexshift.utils.progress import Bars, NotebookBars, is_notebook

    if monitor and is_notebook():
        bars = NotebookBars()
        try:
            yield bars
        finally:
            bars.finish()
    elif monitor and sys.stderr is not None and sys.stderr.isatty():
        with Bars() as terminal_bars:
            yield terminal_bars
    else:
        yield Silent()

"""What is told about a run while it goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


class Monitor(Protocol):
    """Hears of the stages of a run."""

    def stage(self, name: str, total: int, unit: str) -> None:
        """A stage begins, of a known size (0 if it is not known), in bytes or in sentences."""

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        """So much of the stage is done, out of its size; ``items`` of a finer count, and how it goes, for the eye."""

    def note(self, text: str) -> None:
        """Something worth knowing."""


class Silent:
    """Tells nobody."""

    def stage(self, name: str, total: int, unit: str) -> None:
        """Nothing."""

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""


def duration(seconds: float) -> str:
    """A time, for people.

    >>> [duration(seconds) for seconds in (3, 50, 130, 5400, 86400 * 3)]
    ['3 seconds', '50 seconds', '2 minutes', '1.5 hours', '3.0 days']
    """
    for most, size, unit in ((90, 1, "seconds"), (90 * 60, 60, "minutes")):
        if seconds < most:
            return f"{seconds / size:.0f} {unit}"
    hours = seconds / 3600
    return f"{hours:.1f} hours" if hours < 48 else f"{hours / 24:.1f} days"


def reading_stage(monitor: Monitor, name: str) -> Callable[[int, int], None]:
    """A stage that is told in bytes done and bytes there are; it begins when it is first told."""
    begun = False

    def progress(done: int, total: int) -> None:
        nonlocal begun
        if not begun:
            monitor.stage(name, total, "bytes")
            begun = True
        monitor.advance(done)

    return progress


@contextmanager
def watching(monitor: Monitor | bool) -> Iterator[Monitor]:
    """Yield the given monitor; for True, progress bars if a terminal or a notebook shows them."""
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
        with Bars() as drawn:
            yield drawn
    else:
        yield Silent()

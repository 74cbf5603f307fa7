"""Test the progress of a run: none, in a terminal, in a notebook, or with a custom monitor."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from rich.console import Console

from lexshift import compare
from lexshift.utils import monitor, progress
from lexshift.utils.monitor import Silent, watching
from lexshift.utils.progress import Bars, NotebookBars

MOVING = re.compile(r"<progress(?![^>]*\bvalue=)")
"""A bar without a value, which browsers draw as one that moves."""


class RecordingMonitor:
    """Custom monitor that records its events."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def stage(self, name: str, total: int, unit: str) -> None:
        self.stages.append(f"{name}: {total} {unit}")

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        assert not status
        self.stages[-1] += f" {done}/{items}"

    def note(self, text: str) -> None:
        self.stages.append(text)


class Screen(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


class ZMQInteractiveShell:
    """Class with the name of the shell of a notebook."""


class TerminalInteractiveShell:
    """Class with the name of the shell of IPython in a terminal."""


class Cell:
    """Output of a notebook cell that records everything shown."""

    def __init__(self) -> None:
        self.pictures: list[str] = []

    def display(self, picture: Any, *, display_id: bool = False) -> Cell:
        assert display_id
        self.update(picture)
        return self

    def update(self, picture: Any) -> None:
        self.pictures.append(str(picture.data))


class Clock:
    """Clock that advances on request."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


class Lengths:
    """Encoder whose vectors are lengths."""

    def encode(self, sentences: list[str], spans: list[tuple[int, int]]) -> npt.NDArray[np.float32]:
        return np.array([[len(s), start] for s, (start, _) in zip(sentences, spans, strict=True)], np.float32)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    """Make standard error a terminal."""
    screen = Screen()
    monkeypatch.setattr(monitor, "sys", SimpleNamespace(stderr=screen))
    monkeypatch.setattr(progress, "err", Console(file=screen, force_terminal=True, width=120))
    yield screen
    screen.close()


def shell(monkeypatch: pytest.MonkeyPatch, kind: type | None) -> None:
    """Simulate a shell of IPython."""
    pytest.importorskip("IPython")
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: None if kind is None else kind())


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    """Return the output of a cell in a notebook."""
    shell(monkeypatch, ZMQInteractiveShell)
    output = Cell()
    monkeypatch.setattr("IPython.display.display", output.display)
    return output


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Replace the clock of the progress bars."""
    found = Clock()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=found.monotonic))
    return found


def corpora_in(folder: Path) -> tuple[Path, Path]:
    old, new = folder / "a.txt", folder / "b.txt"
    old.write_text("".join(f"The mouse ran {'far ' * (n % 5)}home {n}.\n" for n in range(12)), "utf-8")
    new.write_text("".join(f"{'Now ' * (n % 4)}a mouse clicks {n}.\n" for n in range(12)), "utf-8")
    return old, new


def run_comparison(folder: Path, **options: Any) -> None:
    compare(*corpora_in(folder), ["mouse"], model=Lengths(), permutations=50, resamples=20, **options)


# --------------------------------------------------------------------------------------------- selection of the monitor


def test_monitor_false_shows_no_progress(terminal: Screen, cell: Cell) -> None:
    with watching(False) as monitor:
        monitor.stage("reading", 10, "bytes")
        monitor.advance(5, 2, "well")
        monitor.note("something")
    assert isinstance(monitor, Silent)
    assert (terminal.getvalue(), cell.pictures) == ("", [])


def test_custom_monitor_receives_events_even_in_a_terminal(terminal: Screen) -> None:
    recorder = RecordingMonitor()
    with watching(recorder) as monitor:
        assert monitor is recorder
        monitor.stage("reading", 10, "bytes")
        monitor.advance(5, 2)
        monitor.note("something")
    assert recorder.stages == ["reading: 10 bytes 5/2", "something"]
    assert terminal.getvalue() == ""


def test_without_a_terminal_or_a_notebook_no_progress_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.StringIO()
    monkeypatch.setattr("lexshift.utils.monitor.sys", SimpleNamespace(stderr=text))
    with watching(True) as monitor:
        monitor.note("something")
    assert isinstance(monitor, Silent)
    assert text.getvalue() == ""


def test_terminal_shows_bars_that_end_with_the_run(terminal: Screen) -> None:
    running = []
    with watching(True) as monitor:
        assert isinstance(monitor, Bars)
        monitor.note("[odd] notes")
        monitor.stage("reading old", 2000, "bytes")
        monitor.advance(2000)
        live = monitor._progress.live
        running.append(live.is_started)
    running.append(live.is_started)
    assert running == [True, False]
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    assert "note: [odd] notes" in shown
    assert "reading old" in shown
    assert "2 kB" in shown


def test_terminal_shows_the_status_after_the_bar(terminal: Screen) -> None:
    def last() -> str:
        bars._progress.refresh()
        shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
        return [line for line in re.split(r"[\r\n]+", shown) if line.strip()][-1]

    with watching(True) as monitor:
        assert isinstance(monitor, Bars)
        bars = monitor
        monitor.stage("tuning", 20, "steps")
        monitor.advance(7, 7, "loss 2.345 [odd]")
        assert re.search(r"tuning .* 7 steps .* loss 2\.345 \[odd\]$", last().rstrip())
        monitor.advance(8, 8)
        assert "8 steps" in last()
        assert "loss" not in last()


def test_bars_of_a_terminal_end_when_a_run_fails(terminal: Screen) -> None:
    def fail() -> None:
        with watching(True) as monitor:
            assert isinstance(monitor, Bars)
            started.append(monitor)
            monitor.stage("reading", 10, "bytes")
            raise ZeroDivisionError

    started: list[Bars] = []
    with pytest.raises(ZeroDivisionError):
        fail()
    assert not started[0]._progress.live.is_started
    assert "reading" in terminal.getvalue()


def test_notebook_shows_its_own_line_and_nothing_in_the_terminal(terminal: Screen, cell: Cell) -> None:
    with watching(True) as monitor:
        assert isinstance(monitor, NotebookBars)
        monitor.stage("reading", 10, "bytes")
    assert len(cell.pictures) >= 2
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("kind", [TerminalInteractiveShell, None], ids=["in a terminal", "only imported"])
def test_ipython_outside_of_a_notebook_is_an_ordinary_terminal(
    terminal: Screen, monkeypatch: pytest.MonkeyPatch, kind: type | None
) -> None:
    shell(monkeypatch, kind)
    with watching(True) as monitor:
        assert isinstance(monitor, Bars)
    assert terminal.getvalue() == ""


def test_without_ipython_there_is_no_notebook(terminal: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IPython", "IPython.core", "IPython.core.getipython"):
        monkeypatch.setitem(sys.modules, name, None)
    with watching(True) as monitor:
        assert isinstance(monitor, Bars)
    assert terminal.getvalue() == ""


# ------------------------------------------------------------------------------------------ progress line in a notebook


def test_notebook_shows_the_share_the_count_and_the_time_left(cell: Cell, clock: Clock) -> None:
    bars = NotebookBars()
    bars.stage("encoding", 1000, "sentences")
    assert "<progress style" in cell.pictures[-1]  # no progress is known yet
    assert " left" not in cell.pictures[-1]
    clock.now += 30
    bars.advance(250, 1234)
    assert '<progress value="0.250"' in cell.pictures[-1]
    assert "encoding 1,234 sentences, 90 s left" in cell.pictures[-1]
    clock.now += 90
    bars.advance(1000, 5000)
    assert '<progress value="1.000"' in cell.pictures[-1]
    assert "encoding 5,000 sentences" in cell.pictures[-1]
    assert " left" not in cell.pictures[-1]


def test_each_stage_in_a_notebook_starts_again(cell: Cell, clock: Clock) -> None:
    bars = NotebookBars()
    bars.stage("reading old", 4000, "bytes")
    clock.now += 1
    bars.advance(3000)
    assert "reading old 3 kB, 0 s left" in cell.pictures[-1]
    bars.stage("writing", 10, "rows")
    assert "value=" not in cell.pictures[-1]
    assert "reading" not in cell.pictures[-1]
    clock.now += 8
    bars.advance(5)
    assert '<progress value="0.500"' in cell.pictures[-1]
    assert "writing 5 rows, 8 s left" in cell.pictures[-1]


def test_stage_of_unknown_size_in_a_notebook_has_no_share(cell: Cell, clock: Clock) -> None:
    bars = NotebookBars()
    bars.stage("reading old", 0, "bytes")
    clock.now += 1
    bars.advance(1_500_000)
    assert "value=" not in cell.pictures[-1]
    assert "reading old 2 MB" in cell.pictures[-1]
    assert " left" not in cell.pictures[-1]


def test_progress_beyond_the_total_is_shown_as_complete(cell: Cell, clock: Clock) -> None:
    bars = NotebookBars()
    bars.stage("reading old", 100, "bytes")
    clock.now += 1
    bars.advance(150)
    assert '<progress value="1.000"' in cell.pictures[-1]


def test_notebook_updates_are_limited_but_include_the_end(cell: Cell, clock: Clock) -> None:
    bars = NotebookBars()
    bars.stage("scoring", 1000, "words")
    before = len(cell.pictures)
    for done in range(1, 1001):
        clock.now += 0.001
        bars.advance(done, done)
    assert len(cell.pictures) - before <= 6
    assert "scoring 1,000 words" in cell.pictures[-1]


def test_notes_in_a_notebook_are_text_and_remain(cell: Cell, clock: Clock) -> None:
    bars = NotebookBars()
    bars.note("<script>alert(1)</script> & more")
    bars.stage("<b>stage</b>", 10, "<i>rows</i>")
    clock.now += 1
    bars.advance(5, 5)
    bars.note("second")
    last = cell.pictures[-1]
    assert "note: &lt;script&gt;alert(1)&lt;/script&gt; &amp; more<br>note: second" in last
    assert "&lt;b&gt;stage&lt;/b&gt; 5 &lt;i&gt;rows&lt;/i&gt;" in last
    for tag in ("<script", "<b>", "<i>"):
        assert not any(tag in picture for picture in cell.pictures)


def test_notebook_shows_the_status_as_text(cell: Cell, clock: Clock) -> None:
    bars = NotebookBars()
    bars.stage("tuning", 10, "steps")
    clock.now += 1
    bars.advance(1, 1, "loss 2.345 <b>")
    assert "tuning 1 step, loss 2.345 &lt;b&gt;, 9 s left" in cell.pictures[-1]
    clock.now += 1
    bars.advance(2, 2)
    assert "tuning 2 steps, 8 s left" in cell.pictures[-1]
    assert "loss" not in cell.pictures[-1]
    clock.now += 8
    bars.advance(10, 10, "loss 1.5")
    bars.stage("writing", 10, "rows")
    assert "loss" not in cell.pictures[-1]


# ------------------------------------------------------------------------------------------------- complete comparisons


def test_comparison_shows_its_stages_in_a_terminal(terminal: Screen, tmp_path: Path) -> None:
    run_comparison(tmp_path)
    for stage in ("reading old", "reading new", "encoding", "scoring"):
        assert stage in terminal.getvalue()


def test_comparison_shows_nothing_if_requested(terminal: Screen, cell: Cell, tmp_path: Path) -> None:
    run_comparison(tmp_path, monitor=False)
    assert (terminal.getvalue(), cell.pictures) == ("", [])


def test_comparison_shows_its_stages_in_a_notebook(cell: Cell, tmp_path: Path) -> None:
    run_comparison(tmp_path)
    shown = "\n".join(cell.pictures)
    for stage in ("reading old", "reading new", "encoding", "scoring"):
        assert stage in shown


@pytest.mark.parametrize("keep", [False, True], ids=["nothing kept", "kept in a folder"])
def test_notebook_line_stops_updating_when_the_run_ends(cell: Cell, tmp_path: Path, keep: bool) -> None:
    run_comparison(tmp_path, out=tmp_path / "out" if keep else None)
    assert not MOVING.search(cell.pictures[-1])


def test_notebook_line_stops_updating_when_the_run_fails(cell: Cell) -> None:
    def fail() -> None:
        with watching(True) as monitor:
            monitor.stage("encoding", 10, "sentences")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not MOVING.search(cell.pictures[-1])


def test_warning_is_printed_without_the_prefix_of_a_note(terminal: Screen) -> None:
    progress.note("read two files")
    progress.note("warning: the text is German")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())
    assert shown.splitlines() == ["note: read two files", "warning: the text is German"]

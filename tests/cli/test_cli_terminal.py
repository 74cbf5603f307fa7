"""Test the progress, notes and errors shown in the terminal, all of them without interpretation of markup."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from lexshift.cli import terminal
from lexshift.cli.terminal import print_error
from lexshift.utils import progress
from lexshift.utils.monitor import Monitor, Silent
from lexshift.utils.progress import Bars

ODD = ["[red]", "[/]", "[/red]", "[bold]x[/bold]", ":mouse:", "[link=x]y", "back\\", "\\[red]", "{task.total}", "100%"]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Return the text written to standard error, which is no terminal."""
    text = io.StringIO()
    for module in (progress, terminal):
        monkeypatch.setattr(module, "err", Console(file=text, highlight=False, soft_wrap=True, width=200))
    yield text
    text.close()


def stages(screen: io.StringIO) -> list[list[str]]:
    return [line.split() for line in screen.getvalue().splitlines() if line.strip()]


def test_every_stage_is_shown_with_its_count_and_rate(screen: io.StringIO) -> None:
    with Bars() as bars:
        bars.stage("reading old", 3_000_000, "bytes")
        bars.advance(1_000)
        bars.advance(3_000_000)
        bars.stage("encoding", 90_000, "sentences")
        bars.advance(45_000, 700)
        bars.advance(90_000, 1_234)
        bars.stage("writing", 5_678, "rows")
        bars.advance(5_678)
    reading, encoding, writing = stages(screen)
    assert (reading[:2], encoding[:1], writing[:1]) == (["reading", "old"], ["encoding"], ["writing"])
    assert " ".join(reading[3:5]) == "3 MB"
    assert " ".join(encoding[2:4]) == "1,234 sentences"
    assert " ".join(writing[2:4]) == "5,678 rows"
    for stage in (reading, encoding, writing):
        assert any(word.endswith("/s") for word in stage)


def test_stage_of_unknown_size_is_shown(screen: io.StringIO) -> None:
    with Bars() as bars:
        bars.stage("reading -", 0, "bytes")
        bars.advance(999)
    ((*words,),) = stages(screen)
    assert words[:2] == ["reading", "-"]
    assert " ".join(words).count("999 B") >= 1


def test_progress_without_stages_shows_nothing(screen: io.StringIO) -> None:
    with Bars() as bars:
        bars.advance(5)
    assert screen.getvalue() == ""


def test_progress_bars_end_when_a_run_fails(screen: io.StringIO) -> None:
    bars = Bars()

    def fail() -> None:
        with bars:
            bars.stage("encoding", 10, "sentences")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert bars._progress.live.is_started is False
    assert "encoding" in screen.getvalue()


@pytest.mark.parametrize("text", ODD)
def test_stage_names_are_shown_literally(screen: io.StringIO, text: str) -> None:
    with Bars() as bars:
        bars.stage(f"reading {text}", 10, "bytes")
        bars.advance(10)
    assert f"reading {text}" in screen.getvalue()


@pytest.mark.parametrize("text", ODD)
def test_notes_and_errors_are_shown_literally(screen: io.StringIO, text: str) -> None:
    Bars().note(f"left out: {text}")
    print_error(f"the word {text}")
    assert screen.getvalue().splitlines() == [f"note: left out: {text}", f"error: the word {text}"]


def test_error_message_is_one_line_however_long(screen: io.StringIO) -> None:
    print_error("word " * 200 + "end")
    assert screen.getvalue() == "error: " + "word " * 200 + "end\n"


@pytest.mark.parametrize(
    ("n", "shown"),
    [(0, "0 B"), (999, "999 B"), (1_000, "1 kB"), (51_400, "51 kB"), (2_000_000, "2 MB"), (3_250_000_000, "3.2 GB")],
)
def test_sizes_are_shown_in_units_of_a_thousand(n: int, shown: str) -> None:
    assert progress.size(n) == shown


def test_silent_monitor_receives_every_event_and_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    silent: Monitor = Silent()
    silent.stage("encoding", 3, "sentences")
    silent.advance(1, 1)
    silent.note("something")
    assert capsys.readouterr() == ("", "")

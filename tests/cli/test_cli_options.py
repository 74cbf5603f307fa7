"""Options that are given more than once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer.main
from shell import Terminal, only_sentence

from lexshift.cli import app, options

TWO_CORPORA = ("senses", "a.txt", "b.txt")


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(tmp_path, monkeypatch, capsys)


def commands_of(group: Any) -> list[Any]:
    """Return the commands of a group and of the groups in it."""
    return [
        command
        for entry in group.commands.values()
        for command in (commands_of(entry) if hasattr(entry, "commands") else [entry])
    ]


def test_repeated_list_of_words_is_refused(terminal: Terminal) -> None:
    done = terminal.run(*TWO_CORPORA, "--words", "mouse", "-w", "cloud")
    assert only_sentence(done) == "--words takes one value, but it is given 2 times; give it once"


def test_repeated_pair_of_markers_is_refused(terminal: Terminal) -> None:
    sentence = only_sentence(terminal.run(*TWO_CORPORA, "--markers", "<", ">", "--markers", "[", "]"))
    assert sentence == "--markers takes two values, but it is given 2 times; give it once"


def test_repeated_flag_and_option_with_many_values_are_allowed(terminal: Terminal) -> None:
    assert "nowhere.txt" in only_sentence(terminal.run("compare", "nowhere.txt", "b.txt", "--quiet", "--quiet"))
    pytest.importorskip("accelerate", reason="tuning needs the extra tune")
    done = terminal.run("tune", "wic", "nowhere.tsv", "--out", "tuned", "--dev", "a.tsv", "--dev", "b.tsv")
    assert "nowhere.tsv" in only_sentence(done)


def test_help_page_is_shown_in_spite_of_a_repeated_option(terminal: Terminal) -> None:
    out, _ = terminal.succeed(*TWO_CORPORA, "--seed", "1", "--seed", "2", "--help")
    assert "--seed" in out


def test_all_commands_refuse_repeated_options() -> None:
    commands = commands_of(typer.main.get_command(app))
    assert len(commands) > 15
    assert all(isinstance(command, options.Command) for command in commands)

"""Test shell completion: commands, options and values, in the protocols of the shells, without heavy imports."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
from shell import typed

from lexshift import UserError, metrics
from lexshift.cli import app
from lexshift.cli.completion import CHOICES
from lexshift.cli.results import FORMATS
from lexshift.encode.built_in import AUTO, BUILT_IN
from lexshift.study.settings import OPTIONS, Settings

OPEN = ("control", "rate")
"""Options with other values than those that are completed."""
CHECKED = [name for name in CHOICES if name in OPTIONS and OPTIONS[name].check is not None and name not in OPEN]
HEAVY = ("torch", "transformers", "numba", "pandas", "pyarrow", "scipy")
RUN = "import sys; from lexshift.cli import main; sys.argv[0] = 'lexshift'\n"


def run(code: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", RUN + code, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.stdout


def accepted(name: str, value: Any) -> Any:
    """Return the value of a setting after its check."""
    settings: dict[str, Any] = {name: value}
    return getattr(Settings(**settings), name)


def complete_in_bash(line: str) -> list[str]:
    """Return what bash offers for the last word of a line, and check that nothing heavy was imported."""
    code = f"try:\n    main()\nfinally:\n    assert not set({HEAVY}) & set(sys.modules)"
    words = line.split(" ")
    return run(code, _LEXSHIFT_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1)).split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("lexshift com", ["compare"]),
        ("lexshift tune m", ["mlm"]),
        ("lexshift compare old new --metr", ["--metric"]),
        ("lexshift compare old new --metric nea", ["nearest"]),
        ("lexshift compare old new --match l", ["lemma"]),
        ("lexshift compare old new --model mini", ["minilm", "minilm-senses"]),
        ("lexshift compare old new -m multilingual-", ["multilingual-senses"]),
        ("lexshift trace all.csv --by d", ["decade"]),
        ("lexshift compare old new --format j", ["json"]),
        ("lexshift embed old new --missing s", ["skip"]),
        ("lexshift compare ol", []),  # bash then completes file names
    ],
)
def test_bash_completes_commands_options_and_values(line: str, expected: list[str]) -> None:
    assert complete_in_bash(line) == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_complete_commands(shell: str) -> None:
    environment = {"_LEXSHIFT_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "lexshift com"}
    assert "compare" in run("main()", _TYPER_COMPLETE_FISH_ACTION="get-args", **environment)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("program", ["lexshift", "python -m lexshift"])
def test_script_of_each_shell_completes_the_command(shell: str, program: str) -> None:
    code = f"sys.argv[0] = {program!r}\nmain()"
    script = run(code, "--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert f"_LEXSHIFT_COMPLETE=complete_{shell}" in script
    assert "python" not in script


def test_help_of_a_command_does_not_mention_completion(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = typed(monkeypatch, capsys, "compare", "--help")
    assert "completion" not in out


@pytest.mark.parametrize("name", CHECKED)
def test_values_of_checked_options_are_those_that_are_accepted(name: str) -> None:
    for value in CHOICES[name]:
        assert accepted(name, value) == value
    with pytest.raises(UserError) as caught:
        accepted(name, "no such value")
    listed = re.search(r"must be one of ([^;]+);", str(caught.value))
    assert listed is not None
    assert sorted(CHOICES[name]) == sorted(listed[1].split(", "))


def test_values_of_other_options_are_those_that_are_accepted() -> None:
    assert sorted(CHOICES["metric"]) == sorted(metrics())
    assert CHOICES["model"] == (AUTO, *BUILT_IN)
    assert CHOICES["format"] == FORMATS
    for name in ("strategy", "metric", *OPEN):
        for value in CHOICES[name]:
            assert accepted(name, value) == value


def test_every_completed_option_exists() -> None:
    group: Any = typer.main.get_command(app)
    names = {option for command in group.commands.values() for parameter in command.params for option in parameter.opts}
    assert {f"--{name.replace('_', '-')}" for name in CHOICES} <= names


# Mistyped names


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [(["compar", "a", "b"], "Did you mean 'compare'?"), (["compare", "a", "b", "--metrik", "kl"], "--metric")],
)
def test_mistyped_command_or_option_is_suggested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], hint: str
) -> None:
    code, _, err = typed(monkeypatch, capsys, *arguments)
    assert code == 2
    assert hint in err


def test_program_runs_as_a_module(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lexshift"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert "python -m lexshift [OPTIONS] COMMAND" in done.stdout + done.stderr
    assert "compare" in done.stdout + done.stderr

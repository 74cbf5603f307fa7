"""Test closed, full, unread and differently encoded streams: no traceback and the right exit status."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from shell import typed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="redirection by a POSIX shell")
LEXSHIFT = f"{sys.executable} -c 'from lexshift.cli import main; main()'"


def run_command(command: str, folder: Path, **environment: str) -> tuple[int, bytes, bytes]:
    """Return exit status, output and errors of a command line in which ``lexshift`` is this package."""
    done = subprocess.run(
        ["bash", "-c", re.sub(r"(?<![/\w])lexshift(?= )", lambda _: LEXSHIFT, command)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
@pytest.mark.parametrize(("command", "status"), [("lexshift --version", 0), ("lexshift check nowhere", 2)])
def test_commands_work_with_closed_streams(command: str, status: int, closed: str, tmp_path: Path) -> None:
    assert run_command(f"{command} {closed}", tmp_path)[0] == status


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("command", ["lexshift --version", "lexshift --help"])
def test_full_output_device_is_reported_with_an_exit_status(command: str, tmp_path: Path) -> None:
    status, _, err = run_command(f"{command} >/dev/full", tmp_path)
    assert status == 1
    assert err == b"error: standard output cannot be written: No space left on device\n"


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_unwritable_messages_do_not_change_the_exit_status(tmp_path: Path) -> None:
    assert run_command("lexshift check nowhere 2>/dev/full", tmp_path)[0] == 2
    assert run_command("lexshift --version 2>/dev/full", tmp_path)[:2] == (
        0,
        run_command("lexshift --version", tmp_path)[1],
    )


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_closed_output_pipe_ends_a_command_quietly(option: str, tmp_path: Path) -> None:
    command = (
        f"(trap '' PIPE; while echo 2>/dev/null; do :; done; lexshift {option}; echo $? >status) | true; cat status"
    )
    _, out, err = run_command(command, tmp_path)
    assert err == b""
    assert out == b"1\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"TERM": "dumb"}],
    ids=str,
)
def test_any_character_can_be_written_in_any_encoding(environment: dict[str, str], tmp_path: Path) -> None:
    status, out, err = run_command("lexshift check 'café-日本'", tmp_path, **environment)
    assert (status, out) == (2, b"")
    assert err.startswith(b"error: the store 'caf")
    assert run_command("lexshift --help", tmp_path, COLUMNS="20", **environment)[0] == 0


def test_name_that_is_not_utf8_is_quoted(tmp_path: Path) -> None:
    status, _, err = run_command(r"lexshift check $'caf\xe9'", tmp_path)
    assert status == 2
    assert err == b"error: the store 'caf\\udce9' is not there.\n"


def test_closed_descriptor_is_not_reused_by_another_file(tmp_path: Path) -> None:
    """Otherwise the output of a library would be written into that file."""
    code = """
import os, lexshift.cli
from lexshift.cli import check
def command():
    with open("results", "wb") as file:
        os.write(1, b"printed by a library")
        os.write(2, b"printed by a library")
        file.write(b"result")
lexshift.cli.app.command("write")(command)
lexshift.cli.main()
"""
    (tmp_path / "script.py").write_text(code)
    assert run_command(f"{sys.executable} script.py write >&- 2>&- <&-", tmp_path)[0] == 0
    assert (tmp_path / "results").read_bytes() == b"result"


def test_error_of_another_file_is_not_mistaken_for_an_output_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import lexshift.cli

    def fail(**_: Any) -> None:
        raise PermissionError(13, "Permission denied", "some.file")

    monkeypatch.setattr(lexshift.cli, "app", fail)
    with pytest.raises(PermissionError):
        lexshift.cli.main()


@pytest.mark.parametrize("arguments", [("check", "store"), ("info", "store"), ("data", "folder")], ids=str)
def test_interrupted_command_ends_with_the_status_of_its_signal(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lexshift.store.siblings.Siblings.__init__", stop)
    monkeypatch.setattr("lexshift.cli.folder_table.describe_folder", stop)
    monkeypatch.setattr("lexshift.benchmark.datasets.load_dataset", stop)
    assert typed(monkeypatch, capsys, *arguments) == (130, "", "")


def test_out_of_memory_is_reported_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_memory(*_: object) -> None:
        raise MemoryError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lexshift.cli.folder_table.describe_folder", without_memory)
    code, out, err = typed(monkeypatch, capsys, "info", ".")
    assert (code, out) == (1, "")
    assert err.startswith("error: there is not enough memory: ")
    assert len(err.splitlines()) == 1

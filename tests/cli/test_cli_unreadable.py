"""Test that an unreadable file ends a command with one sentence and exit status 2 before any model is loaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lexshift.cli import main


@pytest.mark.parametrize("command", ["compare", "discover", "embed"])
@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("new.pdf", b"%PDF-1.7 a mouse", "pdftotext"),
        ("new.json", b"[3]", "not a JSON object"),
        ("pipe", None, "is a pipe"),
    ],
)
def test_unreadable_file_ends_a_command_with_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    name: str,
    data: bytes | None,
    expected: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.txt").write_text("a mouse\n")
    if data is None:
        os.mkfifo(name)
    else:
        Path(name).write_bytes(data)
    words = [] if command == "discover" else ["--words", "mouse"]
    monkeypatch.setattr(sys, "argv", ["lexshift", command, "old.txt", name, *words, "--out", "results"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    message = " ".join(printed.err.split())
    assert message.startswith("error: ")
    assert repr(name) in message
    assert expected in message
    assert "Traceback" not in message
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["old.txt", name])

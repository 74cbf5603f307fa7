"""Test ``lexshift info``, ``--help`` and ``--version``, which must not import the encoder libraries."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from shell import typed

import lexshift
from lexshift import embed
from lexshift.cli import terminal


class Lengths:
    """Custom encoder that drops the word wing."""

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        if settings is not None:
            self.settings = settings

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        rows = [[np.nan] * 2 if s[a:b] == "wing" else [len(s), a] for s, (a, b) in zip(sentences, spans, strict=True)]
        return np.array(rows, np.float32)


def made(folder: Path, settings: Mapping[str, Any] | None = None, **options: Any) -> str:
    (folder / "old.txt").write_text("the mouse ran\nthe mouse hid\na mouse\na wing\n")
    (folder / "new.txt").write_text("a mouse\nthe plane\na wing\n")
    words = options.pop("words", ["mouse", "plane", "wing"])
    out = folder / options.pop("out", "store")
    return str(
        embed(folder / "old.txt", folder / "new.txt", words=words, model=Lengths(settings), out=out, **options).path
    )


def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[str]:
    monkeypatch.setattr(terminal.out, "_width", 300)
    code, out, err = typed(monkeypatch, capsys, *arguments)
    assert code == 0, err
    assert err == ""
    return [line.rstrip() for line in out.splitlines()]


def test_contents_of_a_store_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path, max_per_word=2)
    lines = shown(capsys, monkeypatch, "info", path)
    assert lines[0].startswith(f"{path}: 4 vectors of 2 dimensions, 3 words, ")
    assert lines[1] == "model test_cli_info.Lengths"
    assert lines[2] == "old: 10 words in 4 lines or records of 1 file (1 read as lines), 43 B"
    assert "  skipped or altered: 1 occurrence beyond 2 for a word" in lines
    assert lines.count("  skipped or altered: 1 occurrence whose word the tokenizer drops") == 2
    assert "2 words do not occur in every corpus: plane, wing" in lines
    table = [line.split() for line in lines[-4:]]
    assert table == [
        ["word", "old", "new"],
        ["mouse", "2", "of", "3", "1"],
        ["plane", "0", "1"],
        ["wing", "0", "of", "1", "0", "of", "1"],
    ]


def test_settings_of_a_model_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"model": "tiny", "weights": "abc", "layers": "last", "pooling": "sum", "window": 64, "dtype": "int8"}
    lines = shown(capsys, monkeypatch, "info", made(tmp_path, settings))
    assert lines[1] == "model tiny, layers last, pooling sum, window 64, dtype int8"


@pytest.mark.parametrize("settings", [{}, {"size": 3}], ids=str)
def test_store_of_an_encoder_with_custom_settings_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    assert (
        "4 words" in shown(capsys, monkeypatch, "info", made(tmp_path, settings, words=["mouse", "a", "the", "ran"]))[0]
    )


@pytest.mark.parametrize("name", ["[red]", "[/]", "[bold]x[/bold]", ":mouse:", "a\\"])
def test_text_that_looks_like_markup_is_shown_literally(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "tokens.txt").write_text(f"the {name} ran\n")
    path = tmp_path / f"store {name}"
    model = Lengths({"model": f"my {name}"})
    embed(tmp_path / "tokens.txt", words=[name], model=model, out=path, match="token", labels=[f"l{name}"])
    lines = shown(capsys, monkeypatch, "info", str(path))
    assert lines[0].startswith(f"{path}: 1 vector ")
    assert lines[1] == f"model my {name}"
    assert lines[2].startswith(f"l{name}: 3 words")
    assert lines[-2].split() == ["word", f"l{name}"]
    assert lines[-1].split() == [name, "1"]


def test_long_path_is_not_wrapped_without_a_terminal(tmp_path: Path) -> None:
    path = made(tmp_path, out="store" * 20)
    code = "from lexshift.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "info", path], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[0].startswith(f"{path}: ")


def test_path_without_a_store_is_reported_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, what in ((tmp_path, "is not a store of sibling embeddings."), (tmp_path / "no", "is not there.")):
        code, _, err = typed(monkeypatch, capsys, "check", str(path))
        assert code == 2
        assert err == f"error: the store {str(path)!r} {what}\n"


@pytest.mark.parametrize("command", [["info"], ["check"], [], ["--help"]])
def test_info_does_not_import_the_encoder_libraries(tmp_path: Path, command: list[str]) -> None:
    arguments = [*command, made(tmp_path)] if command in (["info"], ["check"]) else command
    code = (
        "import sys\n"
        "from lexshift.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    assert not {'torch', 'transformers', 'numba'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert "AssertionError" not in done.stderr
    assert done.returncode == (0 if command else 2)


def test_version_and_help_are_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(capsys, monkeypatch, "--version") == [f"lexshift {lexshift.__version__}"]
    for option in ("-h", "--help"):
        text = "\n".join(shown(capsys, monkeypatch, option))
        assert "Find the words that changed their meaning between two bodies of text." in text
        for command in ("embed", "info", "check"):
            assert f" {command} " in text


def test_help_of_a_command_lists_all_of_its_options(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    text = "\n".join(shown(capsys, monkeypatch, "embed", "--help"))
    for option in ("words", "out", "model", "labels", "match", "max-per-word", "seed", "missing", "split", "language"):
        assert f"--{option}" in text
    for option in ("encoding", "errors", "text-column", "date-column", "layers", "pooling", "window", "markers"):
        assert f"--{option}" in text
    for option in ("device", "dtype", "revision", "precision"):
        assert f"--{option}" in text


def test_store_is_found_in_a_results_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = made(tmp_path, out="results/store")
    expected = typed(monkeypatch, capsys, "check", store)
    assert expected[0] == 0
    assert typed(monkeypatch, capsys, "check", str(tmp_path / "results")) == expected

"""Run commands in tests like the command line does, with an encoder that needs no loading."""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lexshift.cli import main, terminal


@cache
def vector_of(word: str, centre: float) -> npt.NDArray[np.float32]:
    return np.random.default_rng(zlib.crc32(word.encode())).normal(centre, size=6).astype(np.float32)


class Toy:
    """Encoder of the words of a sentence with vectors around a centre; it counts its requests."""

    def __init__(self, model: str = "toy", centre: float = 0.0) -> None:
        self.settings = {"model": model}
        self.calls = 0
        self._centre = centre

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        self.calls += 1
        assert len(sentences) == len(spans)
        words = [[vector_of(word, self._centre) for word in sentence.split()] for sentence in sentences]
        return np.array([np.mean(vectors, axis=0) for vectors in words], np.float32)


class Stopped(Toy):
    """Encoder that raises KeyboardInterrupt, as if the user pressed Ctrl-C."""

    def encode(self, *_: Any) -> npt.NDArray[np.float32]:
        raise KeyboardInterrupt


def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run a command and return its exit status, output and errors."""
    monkeypatch.setattr(sys, "argv", ["lexshift", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    done = capsys.readouterr()
    code = caught.value.code
    return (0 if code is None else int(code)), done.out, done.err


class Terminal:
    """Folder in which commands are run; the given module uses the toy encoder for every model."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        module: str | None = None,
        toy: Toy | None = None,
    ) -> None:
        self.folder, self._monkeypatch, self._capsys = folder, monkeypatch, capsys
        self.toy = toy or Toy()
        self.options: dict[str, Any] = {}
        self.languages: list[str | None] = []
        monkeypatch.chdir(folder)
        monkeypatch.setattr(terminal.out, "_width", 300)
        if module is not None:
            monkeypatch.setattr(f"{module}.as_encoder", self.encoder)

    def encoder(self, model: Any, *, languages: Iterable[str | None], **options: Any) -> Toy:
        self.options, self.languages = {"model": model, **options}, list(languages)
        return self.toy

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Return the exit status, output and errors."""
        return typed(self._monkeypatch, self._capsys, *arguments)

    def succeed(self, *arguments: str) -> tuple[str, str]:
        """Return the output and errors of a command that succeeds."""
        code, out, err = self.run(*arguments)
        assert code == 0, err
        assert "error" not in err
        return out, err


def replace_options(defaults: Sequence[str], given: Sequence[str]) -> list[str]:
    """Return options with one value each, without those that are given as well, and the given ones after them."""
    pairs = zip(defaults[::2], defaults[1::2], strict=True)
    return [*(text for option, value in pairs if option not in given for text in (option, value)), *given]


def last_sentence(err: str) -> str:
    """Return the error message on the last line."""
    assert "Traceback" not in err
    sentence = err.rstrip("\n").splitlines()[-1]
    assert sentence.startswith("error: ")
    return sentence.removeprefix("error: ")


def one_sentence(done: tuple[int, str, str]) -> str:
    """Return the single sentence with which a command is refused."""
    code, _, err = done
    assert code == 2, err
    assert err.count("error:") == 1
    return last_sentence(err)


def only_sentence(done: tuple[int, str, str]) -> str:
    """Return the single sentence of a refused command that prints no result."""
    sentence = one_sentence(done)
    assert done[1] == ""
    return sentence


def rows(table: str) -> dict[str, list[str]]:
    """Return the cells of a printed table, separated by two spaces, by their first cell."""
    lines = [re.split(r"\s{2,}", line.strip()) for line in table.splitlines() if line.strip()]
    return {cells[0]: cells[1:] for cells in lines[1:]}

"""Test ``lexshift check`` on intact and damaged stores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from shell import typed

from lexshift import embed


class Lengths:
    """Custom encoder whose vectors are lengths."""

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        return np.array([(len(s), *span) for s, span in zip(sentences, spans, strict=True)], np.float32)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "old.txt").write_text("the mouse ran\nthe mouse hid\n")
    (tmp_path / "new.txt").write_text("a mouse\nthe plane\n")
    return embed(
        tmp_path / "old.txt", tmp_path / "new.txt", words=["mouse", "plane"], model=Lengths(), out=tmp_path / "store"
    ).path


def check(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    return typed(monkeypatch, capsys, "check", str(path))


def test_intact_store_is_reported_as_intact(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(store, monkeypatch, capsys) == (0, "4 vectors and their occurrences match their checksums\n", "")


@pytest.mark.parametrize(
    ("name", "position", "named"),
    [
        ("vectors.npy", -1, "the vectors of 'plane' in 'new' (rows 3 to 3 of "),
        ("vectors.npy", -13, "the vectors of 'mouse' in 'new' (rows 2 to 2 of "),
        ("vectors.npy", -48, "the vectors of 'mouse' in 'old' (rows 0 to 1 of "),
        ("vectors.npy", 20, "vectors.npy' is not what lexshift wrote"),
        ("occurrences.parquet", 100, "occurrences.parquet' is not what lexshift wrote"),
        ("store.json", 300, "store.json' is not what lexshift wrote"),
    ],
)
def test_flipped_byte_is_reported_with_its_file(
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    position: int,
    named: str,
) -> None:
    data = bytearray((store / name).read_bytes())
    data[position] ^= 1
    (store / name).write_bytes(data)
    code, out, err = check(store, monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("error:") == err.count("\n") == 1
    assert named in err
    assert "the file is damaged, make the store again" in err


@pytest.mark.parametrize("name", ["vectors.npy", "occurrences.parquet"])
def test_missing_file_is_named(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (store / name).unlink()
    code, _, err = check(store, monkeypatch, capsys)
    assert code == 2
    assert err == f"error: {str(store / name)!r} cannot be read: No such file or directory\n"

"""Test that names too long for the system are refused in one sentence, and that generated names are never too long."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import lexshift
from lexshift.errors import UserError
from lexshift.study.periods import default_out, refuse_same


class Lengths:
    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        return np.array([[len(s), b] for s, (_, b) in zip(sentences, spans, strict=True)], np.float32)


def two(folder: Path, name: str = "x") -> tuple[Path, Path]:
    paths = folder / f"a{name}.txt", folder / f"b{name}.txt"
    for path in paths:
        path.write_text(f"the mouse ran to {path.name[0]}\n" * 20)
    return paths


@pytest.mark.parametrize("kind", ["compare", "discover", "trace", "embed"])
@pytest.mark.parametrize("out", ["x" * 300, "x/" * 3000])
def test_folder_whose_name_is_too_long_is_refused(tmp_path: Path, kind: str, out: str) -> None:
    choice: dict[str, Any] = {"min_count": 2} if kind == "discover" else {"words": ["mouse"]}
    run = getattr(lexshift, kind)
    with pytest.raises(UserError, match="File name too long"):
        run(*two(tmp_path), model=Lengths(), out=tmp_path / out, monitor=None, **choice)


def test_folder_named_after_corpora_with_long_names_can_be_created(tmp_path: Path) -> None:
    old, new = two(tmp_path, "ü" * 120)
    for name in (
        default_out("compare", (old, new)),
        default_out("discover", (old, new)),
        default_out("trace", (old, new)),
        default_out("trace", (old,), "year"),
    ):
        assert len(os.fsencode(name)) < 255
        (tmp_path / name).mkdir()


def test_unreadable_files_of_one_size_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = two(tmp_path)

    def denied(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(new))

    monkeypatch.setattr("filecmp.cmp", denied)
    with pytest.raises(UserError, match=r"bx\.txt' cannot be read: Permission denied"):
        refuse_same(old, new)

"""Test that mistakes are reported before the encoder is loaded, in corpora of any size that is searched for words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lexshift import UserError, compare
from lexshift.study import pipeline, rehearsal


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return two corpora for a run that ends if it loads an encoder."""

    def load(*_: Any, **__: Any) -> None:
        raise RuntimeError("the encoder is loaded")

    monkeypatch.setattr(pipeline, "as_encoder", load)
    for name in ("old", "new"):
        (tmp_path / f"{name}.txt").write_text(f"The {name} mouse ran.\n" * 30, "utf-8")
    return tmp_path / "old.txt", tmp_path / "new.txt"


@pytest.mark.parametrize("small", [rehearsal.SMALL, 1])
def test_absent_word_is_refused_before_the_encoder_is_loaded(
    corpora: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    monkeypatch.setattr(rehearsal, "SMALL", small)
    with pytest.raises(UserError, match="none of the words occurs in the corpora"):
        compare(*corpora, words=["mose"], model="minilm", monitor=False)
    with pytest.raises(RuntimeError, match="the encoder is loaded"):
        compare(*corpora, words=["mouse"], model="minilm", monitor=False)


def test_large_corpora_are_not_searched_beforehand(corpora: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "PREVIEWED", 1)
    with pytest.raises(RuntimeError, match="the encoder is loaded"):
        compare(*corpora, words=["mose"], model="minilm", monitor=False)

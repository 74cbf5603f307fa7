"""Test that the examples run and show the documented result."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.model

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_demo_ranks_the_words_with_a_new_sense_above_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "arrays.py"), run_name="__main__")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    ranking = {line[0]: line[-1] for line in lines if line and line[-1] in ("changed", "stable")}
    assert list(ranking.values()) == ["changed"] * 4 + ["stable"] * 3
    assert set(list(ranking)[:4]) == {"mouse", "cloud", "tablet", "stream"}

"""The help page of every command: its length, and the defaults it states."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from lexshift.cli import app

COMMANDS = [
    "compare",
    "discover",
    "trace",
    "senses",
    "demo",
    "embed",
    "info",
    "check",
    "simulate",
    "power",
    "data",
    "reproduce",
    "eval",
]
TUNING = [["tune", kind] for kind in ("mlm", "time", "wic", "senses")]
TWO_SCREENS = 130  # lines


def help_page(*command: str) -> str:
    done = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("command", [*([name] for name in COMMANDS), *TUNING], ids=" ".join)
def test_help_page_fits_on_two_screens(command: list[str]) -> None:
    assert len(help_page(*command).splitlines()) <= TWO_SCREENS


@pytest.mark.parametrize(
    ("command", "option", "default"),
    [
        ("compare", "min-count", "20"),
        ("power", "usages", "10,20,50,100"),
        ("demo", "out", "lexshift-demo"),
    ],
)
def test_help_text_ends_with_the_default(command: str, option: str, default: str) -> None:
    page = re.sub(r"[│\s]+", " ", help_page(command))
    assert re.search(rf"--{option} [^.]*?\(default: {re.escape(default)}\)\.", page)

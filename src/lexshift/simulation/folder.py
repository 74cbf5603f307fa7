"""The folder of a simulation: its files, and that they are saved all together or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lexshift.study.folder import Kind, open_results

SETTINGS = "simulate.json"
FILES = ("old.txt", "new.txt", "usages.csv", "corpus.jsonl", "planted.tsv", "words.txt")
SIMULATION = Kind("simulation", FILES, SETTINGS)


def write(folder: Path, settings: dict[str, Any], files: dict[str, str]) -> None:
    """Save a simulation in place of an earlier one."""
    with open_results(folder, SIMULATION) as results:
        results.save(settings, lambda: {name: text.encode() for name, text in files.items()})

"""Test ``lexshift senses`` and ``lexshift compare --senses``: their tables, files and mistakes."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from planted_senses import PlantedEncoder, UncalibratedEncoder, write_corpora
from shell import typed

from lexshift.cli.sense_table import sense_rows
from lexshift.report.senses import share_text
from lexshift.study import pipeline
from lexshift.study.find_senses import find_senses

FEW = ["--permutations", "99", "--split", "lines"]


class Shell:
    """Run commands in a folder with planted corpora, with an encoder that needs no loading."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys
        monkeypatch.setattr(pipeline, "as_encoder", lambda *_, **__: PlantedEncoder())

    def run(self, *arguments: str) -> tuple[int, str, str]:
        return typed(self._monkeypatch, self._capsys, *arguments, *FEW)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    write_corpora(tmp_path, 3)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.fsync", lambda _: None)
    return Shell(monkeypatch, capsys)


def test_table_shows_shares_changes_and_descriptions(shell: Shell) -> None:
    status, out, err = shell.run("senses", "1950s.txt", "2010s.txt", "--words", "mouse,bread")
    assert status == 0
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["word", "sense", "1950s", "→", "2010s", "change", "q", "description"]
    assert lines[1][:8] == ["mouse", "1", "100", "%", "→", "33", "%", "shrank"]
    assert lines[2][:7] == ["2", "0", "%", "→", "67", "%", "gained"]
    assert {word.strip(",") for word in lines[2][8:]} >= {"screen", "click"}
    assert lines[3][:9] == ["bread", "1", "100", "%", "→", "100", "%", "one", "sense"]
    assert (
        "2 senses of 1 word: 1 gained, 1 shrank at a false discovery rate of 0.05; 1 other word has one sense." in err
    )
    assert "report: lexshift-senses-1950s-2010s/report.html" in err


def test_more_than_two_periods_are_a_trace(shell: Shell) -> None:
    status, out, _ = shell.run("senses", "1950s.txt", "1980s.txt", "2010s.txt", "--words", "mouse", "--out", "found")
    assert status == 0
    assert "0 % →  33 % →  67 %" in out
    assert json.loads(Path("found/run.json").read_text())["kind"] == "trace"
    assert {"senses.csv", "usages.csv", "kwic.csv", "steps.csv"} <= {path.name for path in Path("found").iterdir()}


def test_programs_get_a_row_for_each_sense(shell: Shell) -> None:
    arguments = ["senses", "1950s.txt", "2010s.txt", "--words", "mouse,bread", "--out", "found", "--quiet", "--format"]
    _, out, err = shell.run(*arguments, "csv")
    assert err == ""
    assert out == Path("found/senses.csv").read_text()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["word"], row["change"]) for row in rows] == [
        ("mouse", "shrank"),
        ("mouse", "gained"),
        ("bread", "kept"),
    ]
    _, out, _ = shell.run(*arguments, "json")
    assert [row["sense"] for row in json.loads(out)] == [1, 2, 1]


def test_comparison_with_senses_prints_both_tables(shell: Shell) -> None:
    status, out, _ = shell.run(
        "compare", "1950s.txt", "2010s.txt", "--words", "mouse,bread", "--senses", "--resamples", "9"
    )
    assert status == 0
    ranking, senses = out.split("\n\n")
    assert "verdict" in ranking.splitlines()[0].split()
    assert senses.splitlines()[0].split()[-1] == "description"


def test_known_senses_are_named_and_others_are_new(shell: Shell) -> None:
    Path("known.csv").write_text(
        "lemma,sense,gloss,example\nmouse,rodent,a tail,mouse with cheese and tail in a trap\n"
    )
    _, out, _ = shell.run("senses", "1950s.txt", "2010s.txt", "--words", "mouse", "--inventory", "known.csv")
    _, first, second = out.splitlines()
    assert re.search(r"shrank +[\d.e-]+  rodent; .*; a tail", first)
    assert re.search(r"gained +[\d.e-]+  not in the inventory; ", second)


def test_missing_inventory_is_reported_before_anything_is_encoded(shell: Shell) -> None:
    status, _, err = shell.run("senses", "1950s.txt", "2010s.txt", "--words", "mouse", "--inventory", "absent.csv")
    assert status == 2
    assert "absent.csv" in err
    assert not Path("lexshift-senses-1950s-2010s").exists()


def test_unknown_clustering_is_refused(shell: Shell) -> None:
    status, _, err = shell.run("senses", "1950s.txt", "2010s.txt", "--words", "mouse", "--clustering", "grap")
    assert status == 2
    assert "clustering must be one of" in err
    assert "did you mean 'graph'?" in err


def test_many_periods_are_drawn_as_blocks(tmp_path: Path) -> None:
    files = write_corpora(tmp_path / "three", 3)
    more = [tmp_path / f"{name}.txt" for name in ("2040s", "2070s")]
    for file in more:
        file.write_text(files[2].read_text().replace("item", file.stem))
    found = find_senses(*files, *more, words=["mouse"], model=PlantedEncoder(), split="lines", monitor=False)
    column = [cells[2] for _, _, cells in sense_rows(found).rows]
    assert column == ["█▆▃▃▃", "▁▃▆▆▆"]


def test_period_without_usages_has_a_dash() -> None:
    assert share_text(float("nan")).strip() == "–"


def test_words_with_too_few_usages_are_listed(shell: Shell) -> None:
    status, out, err = shell.run("senses", "1950s.txt", "2010s.txt", "--words", "rare")
    assert status == 0
    assert re.search(r"^rare +too few +10 usages are needed in two periods", out, re.MULTILINE)
    assert "No senses were sought: no word has 10 usages in two periods." in err


def test_each_note_is_printed_once_and_begins_like_the_others(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "as_encoder", lambda *_, **__: UncalibratedEncoder())
    Path("known.csv").write_text("lemma,sense,gloss\nmouse,1,a tail\n")
    arguments = ["--words", "mouse,bread", "--dictionary", "known.csv"]
    status, _, err = shell.run("senses", "1950s.txt", "2010s.txt", *arguments)
    assert status == 0
    printed = " ".join(err.split())
    for note in ("the encoder has no calibration, so", "the dictionary does not have this word: bread"):
        assert printed.lower().count(note) == 1
        assert f"note: {note}" in printed


def test_discovery_prints_the_senses_of_changed_words(shell: Shell) -> None:
    arguments = [
        "--senses",
        "--min-count",
        "10",
        "--top-words",
        "3",
        "--resamples",
        "9",
        "--show",
        "1",
        "--out",
        "found",
    ]
    status, out, err = shell.run("discover", "1950s.txt", "2010s.txt", *arguments)
    assert status == 0
    words, senses = out.split("\n\n")
    assert len(words.splitlines()) == 2
    assert [line.split()[0] for line in senses.splitlines()] == ["word", "mouse", "2"]
    assert "note: senses were sought for the changed word; q of a sense is adjusted for the choice of 1 of" in err
    assert json.loads(Path("found/run.json").read_text())["senses"]["words"] == 1

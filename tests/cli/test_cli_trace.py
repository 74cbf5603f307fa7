"""Test ``lexshift trace``: its options, its output, and mistakes in one sentence."""

from __future__ import annotations

import io
import json
from functools import wraps
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer
from shell import Toy

from lexshift.cli import result_tables
from lexshift.cli import trace as cli_trace
from lexshift.errors import UserError
from lexshift.study import pipeline
from lexshift.study import trace as tracer
from lexshift.study.trace_result import Trace

FEW = ["--permutations", "99", "--resamples", "9", "--repeats", "3", "--split", "lines"]
SHAPES, THINGS = ["red", "blue", "round", "heavy"], ["box", "door", "lamp", "coat", "ring"]
OLD, NEW = "a mouse hid under the {} in the barn", "click the mouse to move the {} across the screen"
SAME = "the bread lay near the {} on a shelf"


class Shell:
    """Run the command with an encoder that needs no loading."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.options: dict[str, Any] = {}
        self.found: Trace | None = None
        self._app = typer.Typer()
        self._app.command("trace")(cli_trace.command)
        real = tracer.trace

        @wraps(real)
        def traced(*args: Any, **kwargs: Any) -> Trace:
            self.options = kwargs
            self.found = real(*args, **kwargs)
            return self.found

        monkeypatch.setattr(pipeline, "as_encoder", lambda *_, **__: Toy())
        monkeypatch.setattr(tracer, "trace", traced)

    def run(self, *words: str) -> tuple[str, str]:
        self._app([*words, *FEW], standalone_mode=False)
        out, err = self._capsys.readouterr()
        return out, err


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    fillers = [f"{shape} {thing}" for shape in SHAPES for thing in THINGS]
    for name, pattern in (("1950s", OLD), ("1980s", OLD), ("2010s", NEW)):
        lines = [p.format(filler) for p in (pattern, SAME) for filler in fillers]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + f"\nin the {name}\n")
    rows = [
        (year, p.format(filler))
        for year, p in (("1955", OLD), ("1988-02-03", OLD), ("2013", NEW))
        for filler in fillers
    ]
    rows += [(year, SAME.format(filler)) for year in ("1955", "1988", "2013", "") for filler in fillers]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps({"when": y, "text": t}) + "\n" for y, t in rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.fsync", lambda _: None)
    return Shell(monkeypatch, capsys)


def test_table_of_words_is_printed(shell: Shell) -> None:
    out, err = shell.run("1950s.txt", "1980s.txt", "2010s.txt", "--words", "mouse,bread,comet,nowhere")
    lines = [" ".join(line.split()) for line in out.splitlines() if line.strip()]
    assert lines[0] == "word 1950s … 2010s change gap q verdict change points"
    mouse = next(line for line in lines if line.startswith("mouse"))
    assert (mouse.split()[1][0], mouse.split()[1][2]) == ("▁", "█")
    assert mouse.endswith("changed 2010s")
    assert next(line for line in lines if line.startswith("bread")).endswith("stable")
    assert "nowhere too few 10 usages are needed in two periods" in lines
    assert "1 of 2 words changed over 3 periods, 1950s to 2010s (1 stable, 2 too few)" in err
    assert "report: lexshift-trace-1950s-2010s/report.html" in err
    assert Path("lexshift-trace-1950s-2010s/report.html").is_file()


def test_one_corpus_is_traced_by_decade(shell: Shell) -> None:
    out, err = shell.run("news.jsonl", "--by", "decade", "--date-column", "when", "-w", "mouse,bread", "-o", "found")
    assert "1950s … 2010s" in out
    assert "skipped or altered in 1950s: 20 records without a date, of all periods" in err
    assert {path.name for path in Path("found").iterdir()} == {
        "store",
        "appeared.csv",
        "scores.csv",
        "scores.parquet",
        "steps.csv",
        "steps.parquet",
        "space.npz",
        "details.json",
        "run.json",
        "report.html",
        ".lock",
    }
    shell.run("news.jsonl", "--by", "decade", "--date-column", "when", "-w", "mouse", "-q")
    assert Path("lexshift-trace-news-decade/steps.csv").is_file()


def test_csv_and_json_contain_the_table_of_words(shell: Shell) -> None:
    corpora = ("1950s.txt", "1980s.txt", "2010s.txt")
    out, err = shell.run(*corpora, "--words", "mouse,bread", "--format", "csv", "--quiet", "--labels", "a,b,c")
    assert err == ""
    assert shell.found is not None
    numbers = {name: [""] for name in shell.found.table.select_dtypes("number")}
    read = pd.read_csv(io.StringIO(out), keep_default_na=False, na_values=numbers)
    pd.testing.assert_frame_equal(read, shell.found.table, check_dtype=False)
    assert shell.found.periods == ["a", "b", "c"]
    out, _ = shell.run(*corpora, "--words", "mouse,bread", "--format", "json", "--quiet", "--out", "other")
    records = json.loads(out)
    assert [row["word"] for row in records] == shell.found.table["word"].tolist()
    assert list(records[0]) == shell.found.table.columns.tolist()
    assert [row["score"] for row in records] == pytest.approx(shell.found.table["score"].tolist(), rel=1e-12)
    steps = pd.read_csv("other/steps.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(steps, shell.found.steps, check_dtype=False)


def test_every_option_reaches_the_function(shell: Shell) -> None:
    shell.run(
        *("1950s.txt", "2010s.txt", "-w", "mouse", "--metric", "cosine", "--rate", "auto", "--alpha", "0.1"),
        *("--seed", "3", "--max-per-word", "0", "--min-usages", "4", "--space", "raw", "--normalised"),
        *("--distance-weight", "0.5"),
    )
    expected = {"metric": "cosine", "rate": "auto", "alpha": 0.1, "seed": 3, "max_per_word": 0, "min_usages": 4}
    assert (
        shell.options.items()
        >= (expected | {"space": "raw", "normalised": True, "distance_weight": 0.5, "by": None}).items()
    )


def test_skipped_periods_are_printed_as_dots(shell: Shell) -> None:
    with Path("1980s.txt").open("w") as file:
        file.write("one mouse only\n")
    shell.run("1950s.txt", "1980s.txt", "2010s.txt", "-w", "mouse")
    assert shell.found is not None
    highest = shell.found.steps["score"].max()
    assert result_tables._sparkline(shell.found, "mouse", highest) == [("▁", "dim"), ("·", "dim"), ("█", "")]
    assert [block for block, _ in result_tables._sparkline(shell.found, "mouse", 0.0)] == list("▁·▁")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["1950s.txt", "-w", "mouse"], "one corpus has no periods"),
        (["1950s.txt", "2010s.txt", "-w", "mouse", "--format", "xml"], "format must be one of csv, json, table"),
        (["1950s.txt", "2010s.txt", "-w", "mouse", "--rate", "often"], "rate must be a number from 0 to 1, or auto"),
        (
            ["1950s.txt", "2010s.txt", "-w", "mouse", "--max-per-word", "-1"],
            "max_per_word must be a whole number, or 0 for all; got -1",
        ),
        (["news.jsonl", "--by", "day", "-w", "mouse"], "by must be one of decade, month, quarter, week, year"),
        (["news.jsonl", "--by", "year", "-w", "mouse"], "name one of 'when', 'text' with --date-column"),
        (["1950s.txt", "missing.txt", "-w", "mouse"], "no such file or folder"),
        (
            ["1950s.txt", "2010s.txt", "--fail-on", "appeared"],
            "fail-on must be one of changed, differs, stable, too few, unclear; got",
        ),
    ],
    ids=["one corpus", "format", "rate", "sample", "by", "no dates", "no file", "verdict"],
)
def test_mistakes_are_reported_in_one_sentence(shell: Shell, words: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        shell.run(*words)


@pytest.mark.parametrize(
    ("verdicts", "code"), [("changed", 3), ("too few,stable", 3), ("too few", 0), ("differs,unclear", 0)]
)
def test_fail_on_ends_the_command_with_status_3_if_a_word_has_the_verdict(
    shell: Shell, verdicts: str, code: int
) -> None:
    words = ("1950s.txt", "1980s.txt", "2010s.txt", "--words", "mouse,bread", "--fail-on", verdicts)
    assert (shell._app([*words, *FEW], standalone_mode=False) or 0) == code
    assert Path("lexshift-trace-1950s-2010s/report.html").is_file()


def test_permutations_are_a_number_or_auto_and_too_few_are_reported(shell: Shell) -> None:
    arguments = ["1950s.txt", "2010s.txt", "--words", "mouse,bread"]
    shell._app([*arguments, *FEW[2:], "--alpha", "0.00001", "--permutations", "99"], standalone_mode=False)
    assert shell.options["permutations"] == 99
    assert "smallest p that 99 permutations can give" in " ".join(shell._capsys.readouterr().err.split())
    shell._app([*arguments, *FEW[2:]], standalone_mode=False)
    assert shell.options["permutations"] == "auto"
    assert "smallest p" not in shell._capsys.readouterr().err
    with pytest.raises(UserError, match="permutations must be a whole number, or auto; got 'many'"):
        shell._app([*arguments, "--permutations", "many"], standalone_mode=False)

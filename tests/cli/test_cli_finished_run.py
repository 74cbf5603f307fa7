"""Test commands that are repeated: a finished run prints what a full run prints, and imports nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from shell import Terminal
from test_cli_compare import NEW, OLD, text_of

from lexshift.study import finished_run
from lexshift.study.finished_run import FINISHED

HEAVY = ("torch", "transformers", "numba", "pandas", "scipy")
COMPLETE = "note: the results in 'results' are complete already; nothing is computed"
FEW = ["--permutations", "99", "--out", "results"]
SCORED = [*FEW, "--resamples", "9", "--repeats", "3"]
COMMANDS = {
    "compare": ["compare", "1950s.txt", "2010s.txt", "--words", "mouse,bread,barn,absent", *SCORED],
    "compare with senses": ["compare", "1950s.txt", "2010s.txt", "--words", "mouse,bread", "--senses", *SCORED],
    "compare frequent words": ["compare", "1950s.txt", "2010s.txt", "--control", "30", *SCORED],
    "discover": ["discover", "1950s.txt", "2010s.txt", "--show", "3", *SCORED],
    "trace": ["trace", "1950s.txt", "1980s.txt", "2010s.txt", "--words", "mouse,bread,barn", *SCORED],
    "senses": ["senses", "1950s.txt", "2010s.txt", "--words", "mouse,bread,barn", *FEW],
}
COMPARE = COMMANDS["compare"]


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """Return a folder with three corpora, whose files count as old."""
    for name, patterns in (("1950s", OLD), ("1980s", OLD), ("2010s", NEW)):
        (tmp_path / f"{name}.txt").write_text(f"in the {name}, on café tables\n{text_of(patterns)}")
    monkeypatch.setattr(finished_run, "MARGIN", 0)
    time.sleep(0.05)
    return Terminal(tmp_path, monkeypatch, capsys, "lexshift.study.pipeline")


def lasting(err: str) -> list[str]:
    """Return the lines about results: without progress bars, and without notes on the work of a run."""
    work = (COMPLETE, "nothing is encoded", "sentences to encode")
    return [line for line in err.splitlines() if "━" not in line and not any(text in line for text in work)]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_finished_run_prints_what_a_full_run_prints(terminal: Terminal, command: Sequence[str]) -> None:
    first = terminal.run(*command)
    for form in ("table", "csv", "json"):
        calls = terminal.toy.calls
        status, out, err = terminal.run(*command, "--format", form)
        assert COMPLETE in err.splitlines()
        assert terminal.toy.calls == calls
        Path("results", FINISHED).unlink()
        full = terminal.run(*command, "--format", form)
        assert COMPLETE not in full[2]
        assert (status, out, lasting(err)) == (*full[:2], lasting(full[2]))
        if form == "table":
            assert (status, out, lasting(err)) == (*first[:2], lasting(first[2]))


def test_number_of_printed_words_does_not_need_a_full_run(terminal: Terminal) -> None:
    def show(number: str) -> tuple[str, str]:
        command = [number if text == "3" else text for text in COMMANDS["discover"][:5]]
        return terminal.succeed(*command, *COMMANDS["discover"][5:])

    show("3")
    for number in ("1", "5", "1000"):
        out, err = show(number)
        assert COMPLETE in err
        Path("results", FINISHED).unlink()
        assert show(number)[0] == out


def test_quiet_finished_run_prints_the_results_only(terminal: Terminal) -> None:
    out, _ = terminal.succeed(*COMPARE)
    assert terminal.succeed(*COMPARE, "--quiet") == (out, "")


def test_exit_status_of_a_finished_run_depends_on_the_verdicts(terminal: Terminal) -> None:
    terminal.succeed(*COMPARE)
    verdicts = {row["verdict"] for row in json.loads(terminal.succeed(*COMPARE, "--format", "json")[0])}
    for verdict in ("changed", "appeared", "disappeared", "differs", "unclear", "stable", "too few"):
        status, _, err = terminal.run(*COMPARE, "--fail-on", verdict)
        assert COMPLETE in err
        assert status == (3 if verdict in verdicts else 0)
    assert terminal.run(*COMPARE, "--fail-on", "chnged")[0] == 2


def replace_letter() -> None:
    """Replace one byte of a corpus."""
    path = Path("2010s.txt")
    path.write_text(path.read_text().replace("plug the mouse", "plus the mouse", 1))


@pytest.mark.parametrize(
    "change",
    [
        lambda: Path("results", "scores.csv").unlink(),
        lambda: Path("results", "report.html").unlink(),
        lambda: Path("results", "store", "vectors.npy").touch(),
    ],
)
def test_run_is_full_after_a_change_of_the_results(terminal: Terminal, change: Callable[[], None]) -> None:
    out, err = terminal.succeed(*COMPARE)
    change()
    again = terminal.succeed(*COMPARE)
    assert (again[0], lasting(again[1])) == (out, lasting(err))
    assert COMPLETE not in again[1]
    assert Path("results", "scores.csv").exists()
    assert COMPLETE in terminal.succeed(*COMPARE)[1]


def test_run_is_full_after_a_change_of_one_byte_of_a_corpus(terminal: Terminal) -> None:
    terminal.succeed(*COMPARE)
    time.sleep(0.05)
    replace_letter()
    status, _, err = terminal.run(*COMPARE)
    assert status == 2
    assert "the new corpus is not the one that the store 'results/store' was made from" in err


def test_run_is_full_with_another_option_or_word(terminal: Terminal) -> None:
    terminal.succeed(*COMPARE)
    for command in ([*COMPARE, "--seed", "7"], [text.replace(",barn", "") for text in COMPARE]):
        assert COMPLETE not in terminal.succeed(*command)[1]
        assert COMPLETE in terminal.succeed(*command)[1]


def test_nothing_is_saved_for_files_that_were_just_changed(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finished_run, "MARGIN", 3600 * 10**9)
    terminal.succeed(*COMPARE)
    assert COMPLETE not in terminal.succeed(*COMPARE)[1]
    assert not Path("results", FINISHED).exists()


def modules(*arguments: str) -> tuple[int, str, list[str]]:
    """Run a command in a new process; return its exit status, what it prints, and the heavy modules it imported."""
    code = f"""
import sys
from lexshift.study import finished_run
finished_run.MARGIN = 0
from lexshift.cli import main
try:
    main()
finally:
    print("imported", *(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    *lines, last = done.stderr.splitlines()
    return done.returncode, done.stdout + "\n".join(lines), last.split()[1:]


@pytest.mark.parametrize("name", ["compare", "trace", "senses"])
def test_finished_run_imports_nothing_heavy(terminal: Terminal, name: str) -> None:
    terminal.succeed(*COMMANDS[name])
    status, text, imported = modules(*COMMANDS[name])
    assert (status, imported) == (0, [])
    assert COMPLETE in text.splitlines()


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("--help", "Usage"),
        ("compare --help", "Usage"),
        ("trace --help", "Usage"),
        ("tune mlm --help", "Usage"),
        ("compare 1950s.txt 2010s.txt --metrik kl", "No such option"),
        ("compare 1950s.txt 2010s.txt --metric kll", "metric must be one of"),
        ("compare nowhere.txt 2010s.txt", "no such file or folder: 'nowhere.txt'"),
        ("compare empty.txt 2010s.txt", "the corpus 'empty.txt' is empty"),
        ("compare empty.txt 2010s.txt --words mouse", "the corpus 'empty.txt' is empty"),
        ("compare 1950s.txt 2010s.txt --words mose", "none of the words occurs in the corpora (match: word): 'mose'"),
        ("compare 1950s.txt 2010s.txt --words mouse --model ./nowhere", "no such model folder: './nowhere'"),
        ("trace dated.csv --by year --date-column date --words mouse", "has no column 'date'"),
        ("compare 1950s.txt 1950s.txt", "both corpora are '1950s.txt'"),
    ],
)
def test_help_and_mistakes_import_nothing_heavy(command: str, expected: str) -> None:
    Path("empty.txt").touch()
    Path("dated.csv").write_text("text,day\na mouse,1999\na mouse,2005\n")
    status, text, imported = modules(*command.split())
    assert expected in " ".join(text.split())
    assert status == (0 if "--help" in command else 2)
    assert imported == []
    assert not list(Path().glob("lexshift-*"))

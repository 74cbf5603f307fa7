"""Test words, labels, file names and models with terminal control sequences, and cells with formulas."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text
from shell import Terminal, Toy, only_sentence, typed

from lexshift import embed
from lexshift.cli import terminal
from lexshift.utils import progress
from lexshift.utils.progress import Bars

RAW = re.compile("[\0-\b\v-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
ESCAPES = ["\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "\x7f", "\u202e", "\u2066", "\x00", "\r", "\b"]
EVIL = "ev\u202eil"
QUICK = (
    "--duplicates",
    "keep",
    "--permutations",
    "100",
    "--resamples",
    "20",
    "--repeats",
    "2",
    "--match",
    "token",
    "--min-count",
    "20",
)
LISTED = (*QUICK, "--words", "words.txt")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """Return a terminal with two corpora that contain escape sequences and formulas as words."""
    made = Terminal(tmp_path, monkeypatch, capsys, "lexshift.study.pipeline")
    for name, near in (("1950s.txt", "barn"), ("2010s.txt", "screen")):
        lines = [f"a {EVIL} by the {near} number{i % 7} and =SUM(mice) with @mice or [red]x bread" for i in range(30)]
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (tmp_path / "words.txt").write_text(f"{EVIL}\n=SUM(mice)\n@mice\n[red]x\nthe\n", encoding="utf-8")
    return made


def test_words_of_a_corpus_cannot_control_the_terminal(shell: Terminal) -> None:
    out, err = shell.succeed("compare", "1950s.txt", "2010s.txt", *LISTED)
    assert not RAW.search(out + err)
    assert "ev\\u202eil" in out
    assert "[red]x" in out
    header, row = (next(line for line in out.splitlines() if line.startswith(start)) for start in ("word", "ev"))
    assert row.index(" 30 ") + 3 == header.index("1950s") + 5, "columns are where they should be"


def test_formulas_in_a_corpus_are_escaped_in_csv_and_exact_elsewhere(shell: Terminal) -> None:
    out, _ = shell.succeed("compare", "1950s.txt", "2010s.txt", *LISTED, "--format", "csv", "--out", "found")
    saved = Path("found/scores.csv").read_text("utf-8")
    for text in (out, saved):
        words = {row["word"] for row in csv.DictReader(io.StringIO(text))}
        assert {"'=SUM(mice)", "'@mice", EVIL} <= words
        assert not any(word.startswith(("=", "@", "+", "-")) for word in words)
    exact = set(pd.read_parquet("found/scores.parquet")["word"])
    assert {"=SUM(mice)", "@mice", EVIL} <= exact
    out, _ = shell.succeed("compare", "1950s.txt", "2010s.txt", *LISTED, "--format", "json", "--out", "found")
    assert {row["word"] for row in json.loads(out)} == exact


@pytest.mark.parametrize("form", ["csv", "json"])
def test_machine_readable_results_are_exact_unless_written_to_a_terminal(
    form: str, shell: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ("compare", "1950s.txt", "2010s.txt", *LISTED, "--format", form, "--out", "found")
    piped, _ = shell.succeed(*run)
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    shown, _ = shell.succeed(*run)
    assert RAW.search(piped)
    assert not RAW.search(shown)
    assert "\\u202eil" in shown


def test_formulas_in_the_files_of_discover_and_trace_are_escaped(shell: Terminal) -> None:
    shell.succeed("discover", "1950s.txt", "2010s.txt", *QUICK, "--out", "found")
    shell.succeed("trace", "1950s.txt", "2010s.txt", *LISTED, "--out", "traced")
    for file in ("found/vocabulary.csv", "traced/scores.csv", "traced/steps.csv"):
        words = {row["word"] for row in csv.DictReader(io.StringIO(Path(file).read_text("utf-8")))}
        assert "'=SUM(mice)" in words, file
        assert "=SUM(mice)" not in words, file


@pytest.mark.parametrize("escape", [*ESCAPES[:6], "\r"])
def test_file_and_folder_names_cannot_control_the_terminal(shell: Terminal, escape: str) -> None:
    Path("1950s.txt").rename(f"a{escape}.txt")
    out, err = shell.succeed("compare", f"a{escape}.txt", "2010s.txt", *LISTED, "--out", f"o{escape}")
    assert not RAW.search(out + err)
    out, err = shell.succeed("info", f"o{escape}")
    assert not RAW.search(out + err)
    for arguments in (("info", f"n{escape}"), ("check", f"n{escape}"), ("compare", f"n{escape}", "2010s.txt")):
        code, out, err = shell.run(*arguments)
        assert code == 2
        assert not RAW.search(out + err)


def test_names_that_are_not_utf8_are_accepted(shell: Terminal) -> None:
    Path("1950s.txt").rename("caf\udce9.txt")
    _, err = shell.succeed("compare", "caf\udce9.txt", "2010s.txt", *LISTED, "--out", "o\udce9")
    assert "o\\udce9" in err
    assert Path("o\udce9", "report.html").is_file()


@pytest.mark.parametrize(
    "arguments",
    [("--labels", "\udce9,b"), ("--language", "\udce9"), ("--text-column", "\udce9"), ("--words", "br\udce9ad")],
    ids=ascii,
)
def test_option_text_that_is_not_utf8_is_refused_before_any_work(shell: Terminal, arguments: tuple[str, str]) -> None:
    message = only_sentence(shell.run("compare", "1950s.txt", "2010s.txt", *QUICK, *arguments))
    assert message == f"{arguments[0]} is not UTF-8: {arguments[1]!a}"
    assert shell.toy.calls == 0


def test_word_list_in_a_file_whose_name_is_not_utf8_is_read(shell: Terminal) -> None:
    Path("words.txt").rename("w\udce9.txt")
    out, _ = shell.succeed("compare", "1950s.txt", "2010s.txt", *QUICK, "--words", "w\udce9.txt")
    assert "@mice" in out


@pytest.mark.parametrize("labels", ["a\x1b[31m,b", "a\nerror: all is lost,b"])
def test_labels_cannot_control_the_terminal(shell: Terminal, labels: str) -> None:
    code, out, err = shell.run("compare", "1950s.txt", "2010s.txt", *LISTED, "--labels", labels)
    assert not RAW.search(out + err)
    assert code == 0
    assert not any(line.startswith("error:") for line in err.splitlines())


def test_model_name_in_a_store_cannot_control_the_terminal(shell: Terminal) -> None:
    model = Toy(model="x\x1b]0;owned\x07\u202e")
    store = embed("1950s.txt", "2010s.txt", words=["the"], model=model, out="store")
    out, err = shell.succeed("info", str(store.path))
    assert "model x\\u001b]0;owned" in out
    assert not RAW.search(out + err)


@pytest.mark.parametrize("escape", ESCAPES)
def test_invalid_options_cannot_control_the_terminal(shell: Terminal, escape: str) -> None:
    for arguments in (("compare", "a", "b", f"--x{escape}"), (f"x{escape}",), ("check", "a", f"b{escape}")):
        code, out, err = shell.run(*arguments)
        assert code == 2
        assert "Error" in err
        assert not RAW.search(out + err)


def test_error_message_is_one_line_for_any_quoted_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    message = only_sentence(typed(monkeypatch, capsys, "data", "a\nb\x1b[2J"))
    assert not RAW.search(message)
    terminal.print_error("a\nb")
    assert capsys.readouterr().err == "error: a\\u000ab\n"


# --------------------------------------------------------------------------------------------------- all output formats


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Return the text that a console shows on a terminal, including styles."""
    text = io.StringIO()
    for console in (terminal.out, progress.err):
        monkeypatch.setattr(console, "_file", text)
        monkeypatch.setattr(console, "_width", 100)
    return text


@pytest.mark.parametrize("escape", ESCAPES)
def test_printed_text_cannot_control_the_terminal(screen: io.StringIO, escape: str) -> None:
    table = Table("head", title=f"t{escape}")
    table.add_column(Text(f"h{escape}"))
    table.add_row(f"c{escape}", Text(f"d{escape}", "bold"))
    for console in (terminal.out, progress.err):
        console.print(f"text {escape}", Text(f"styled {escape}").append(f"more{escape}", "red"), table)
    progress.note(f"note {escape}")
    terminal.print_error(f"mistake {escape}")
    with Bars() as bars:
        bars.stage(f"stage {escape}", 10, "bytes")
        bars.advance(10, 0, f"status {escape}")
    assert not RAW.search(screen.getvalue())
    for word in ("text", "styled", "more", "note", "mistake", "stage", "status"):
        assert word in screen.getvalue()


def test_styles_and_ordinary_text_are_unchanged() -> None:
    """Compare the output with the bytes written by the library itself."""
    printed = []
    for kind in (Console, type(terminal.out)):
        text = io.StringIO()
        console = kind(file=text, force_terminal=True, color_system="truecolor", width=60, markup=False)
        table = Table("word", title="all")
        table.add_column(Text("n", "red"))
        table.add_row(Text("mäuse 日本 👩‍🚀", "bold"), "[red]1")
        console.print("plain\ttext\n", Text("a").append("b", "green"), table, style="yellow", soft_wrap=True)
        printed.append(text.getvalue())
    assert printed[0] == printed[1]
    assert "\x1b[" in printed[0]


def test_library_warning_is_printed_as_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("transformers")
    from lexshift.encode.built_in import BUILT_IN
    from lexshift.errors import UserError

    class Stop:
        is_installed = True

        def find(self, name: str, extra: str) -> Path:
            raise UserError(f"stopped before {name} of {extra}")

    monkeypatch.chdir(tmp_path)
    Path("minilm").mkdir()
    for name in ("a", "b"):
        Path(f"{name}.txt").write_text(f"{name} mouse\n")
    monkeypatch.setitem(BUILT_IN, "minilm", replace(BUILT_IN["minilm"], source=Stop()))
    with warnings.catch_warnings():
        warnings.simplefilter("always")  # the tests turn warnings into errors
        code, _, err = typed(monkeypatch, capsys, "compare", "a.txt", "b.txt", "--words", "mouse", "--model", "minilm")
    assert code == 2
    note, error = err.splitlines()
    assert note.startswith("note: 'minilm' is the built-in model, not the folder of that name")
    assert error == "error: stopped before minilm of minilm"

"""Test ``lexshift simulate`` and ``lexshift power``: their output, and every mistake in one sentence."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner, Result

from lexshift.cli import power, simulate, terminal
from lexshift.errors import UserError

NOUNS = ["mouse", "bread", "river", "winter", "garden", "doctor"]


class Toy:
    """Encoder that detects the source word of a sentence."""

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        assert len(sentences) == len(spans)
        found = [re.findall(r"of (..)(\d+)", sentence)[0] for sentence in sentences]
        sides = [(beginning in ("br", "wi", "do"), int(number) % 7 / 10) for beginning, number in found]
        return np.array([[side, 1 - side, side + noise, noise - side] for side, noise in sides], np.float32)


class Shell:
    """Run the two commands in a folder with a corpus."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.app = typer.Typer()
        self.app.command("simulate")(simulate.command)
        self.app.command("power")(power.command)
        self.options: dict[str, Any] = {}
        self.languages: list[str | None] = []
        lines = [f"The {noun}, of {noun[:2]}{i}, is here.\n" for i in range(40) for noun in NOUNS]
        (folder / "corpus.txt").write_text("".join(lines))
        (folder / "pairs.tsv").write_text("mouse\tbread\nriver\twinter\n")
        monkeypatch.chdir(folder)
        monkeypatch.setattr("lexshift.simulation.power.as_encoder", self.encoder)
        monkeypatch.setattr(terminal.out, "_width", 300)

    def encoder(self, model: Any, *, languages: Iterable[str | None], **options: Any) -> Toy:
        self.options, self.languages = {"model": model, **options}, list(languages)
        return Toy()

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(self.app, [*arguments])

    def succeed(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.exit_code == 0, done.exception or done.output
        return done.stdout

    def refused(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert isinstance(done.exception, UserError), done.output
        return str(done.exception)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path, monkeypatch)


def test_simulate_prints_the_planted_changes(shell: Shell) -> None:
    out = shell.succeed("simulate", "corpus.txt", "--out", "planted", "--pairs", "pairs.tsv", "--usages", "10")
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["word", "first", "second", "change"]
    assert [line[1:] for line in lines[1:3]] == [["mouse", "bread", "1"], ["river", "winter", "0"]]
    assert [line[0] for line in lines[1:3]] == Path("planted/words.txt").read_text().split()


def test_simulate_accepts_its_options(shell: Shell) -> None:
    arguments = ["--pattern", "step", "--years", "2", "--pseudowords", "2", "--usages", "2", "--seed", "3", "-q"]
    assert shell.succeed("simulate", "corpus.txt", "--out", "planted", *arguments) == ""
    record = json.loads(Path("planted/simulate.json").read_text())
    assert {k: record[k] for k in ("pattern", "years", "pseudowords", "usages", "seed", "pairs", "corpora")} == {
        "pattern": "step",
        "years": 2,
        "pseudowords": 2,
        "usages": 2,
        "seed": 3,
        "pairs": "chosen",
        "corpora": ["corpus.txt"],
    }
    assert shell.refused("simulate", "corpus.txt", "--out", "p2", "--encoding", "klingon").startswith("encoding")


def test_simulate_may_read_several_corpora(shell: Shell) -> None:
    Path("more.txt").write_text("".join(f"A silver, of si{i}. A letter, of le{i}.\n" for i in range(20)))
    Path("others.tsv").write_text("mouse\tsilver\n")
    options = ["--pairs", "others.tsv", "--usages", "10", "--split", "prose", "-q"]
    shell.succeed("simulate", "corpus.txt", "more.txt", "--out", "planted", *options)
    assert all(
        line.startswith("A ") and "letter" not in line for line in Path("planted/new.txt").read_text().splitlines()
    )


def test_simulate_may_plant_in_separate_corpora(shell: Shell) -> None:
    Path("new.txt").write_text(Path("corpus.txt").read_text().replace("here", "there"))
    options = ["--separate", "--pairs", "pairs.tsv", "--usages", "10", "--split", "lines"]
    out = shell.succeed("simulate", "corpus.txt", "new.txt", "--out", "planted", *options)
    assert [line.split()[1:] for line in out.splitlines()[1:3]] == [["mouse", "bread", "1"], ["river", "winter", "0"]]
    for path, place in (("planted/old/corpus.txt", "is here."), ("planted/new/new.txt", "is there.")):
        lines = Path(path).read_text().splitlines()
        assert len(lines) == 240
        assert all(line.endswith(place) for line in lines)
    message = shell.refused("simulate", "corpus.txt", "--out", "other", "--separate")
    assert message == "separate corpora are an old and a new one; got 1 of them (--separate)"


def test_simulate_reports_mistakes_in_one_sentence(shell: Shell) -> None:
    Path("old.txt").write_text("mine")
    message = shell.refused("simulate", "corpus.txt", "--out", ".", "--usages", "10")
    assert message == (
        "'old.txt' was not written by lexshift, or was changed since; move it or choose another folder (--out)"
    )
    message = shell.refused("simulate", "corpus.txt", "--out", "planted", "--usages", "100")
    assert message.startswith("30 pairs of words with 101 sentences each were requested, but only 0 can be made")
    assert shell.run("simulate", "corpus.txt").exit_code == 2


SMALL = ["--usages", "5,20", "--changes", "0.5,1", "--pairs", "pairs.tsv", "--trials", "20"]


def test_power_prints_a_table_with_the_sufficient_size(shell: Shell) -> None:
    done = shell.run("power", "corpus.txt", *SMALL)
    assert done.exit_code == 0, done.exception
    rows = [re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines() if line.strip()]
    assert rows[0] == ["change", "5 usages", "20 usages", "80 % from"]
    assert [row[0] for row in rows[1:4]] == ["0", "0.5", "1"]
    assert rows[3][2:] == ["1.00 (0.00 to 1.00)", "5"]  # two pairs give a wide interval
    assert "p of at most 0.05" in done.stderr


@pytest.mark.parametrize("form", ["csv", "json"])
def test_power_is_the_same_in_every_format(shell: Shell, form: str) -> None:
    out = shell.succeed("power", "corpus.txt", *SMALL, "--format", form, "--quiet")
    table = pd.read_csv(io.StringIO(out)) if form == "csv" else pd.DataFrame(json.loads(out))
    assert list(table.columns) == ["usages", "change", "trials", "seen", "power", "low", "high", "spread"]
    assert list(table["usages"]) == [5] * 3 + [20] * 3
    assert list(table["change"]) == [0, 0.5, 1] * 2


def test_power_passes_the_encoder_options_on(shell: Shell) -> None:
    shell.succeed("power", "corpus.txt", *SMALL, "--model", "mine", "--layers", "last", "--pooling", "first", "-q")
    assert (shell.options["model"], shell.options["layers"], shell.options["pooling"]) == ("mine", "last", "first")
    assert "split" not in shell.options


def test_power_chooses_the_encoder_by_the_language_of_the_corpora(shell: Shell) -> None:
    shell.succeed("power", "corpus.txt", *SMALL, "-q")
    assert (shell.options["model"], shell.languages) == ("minilm-senses", ["en"])


def test_pairs_of_power_may_be_chosen_at_random(shell: Shell) -> None:
    options = ["--usages", "5", "--changes", "1", "--trials", "4", "--format", "csv", "-q"]
    assert len(shell.succeed("power", "corpus.txt", *options, "--pseudowords", "2").splitlines()) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--usages", "5,many"], "usages must be comma-separated numbers; got '5,many'"),
        (["--changes", "half"], "changes must be comma-separated numbers"),
        (["--format", "xml"], "format must be one of"),
        (["--pairs", "none.tsv"], "'none.tsv' is missing"),
        (["--words-tested", "1000", "--permutations", "1000"], "use 20,000 permutations"),
    ],
    ids=["usages", "changes", "format", "pairs", "permutations"],
)
def test_power_reports_mistakes_in_one_sentence(shell: Shell, arguments: list[str], message: str) -> None:
    assert message in shell.refused("power", "corpus.txt", *arguments)


def test_ctrl_c_ends_simulate_with_one_sentence(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lexshift.simulation.corpora.invent_pseudowords", interrupt)
    done = shell.run("simulate", "corpus.txt", "-q", "--out", "planted", "--pairs", "pairs.tsv", "--usages", "10")
    assert done.exit_code == 130
    assert done.stderr == "error: interrupted; run the same command again to simulate the corpora\n"
    assert not Path("planted").exists()

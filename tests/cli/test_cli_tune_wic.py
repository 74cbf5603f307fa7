"""Test ``lexshift tune wic``: from pairs to a usable model, and every mistake in one sentence."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from shell import Terminal, one_sentence, replace_options
from test_tune_wic import WORDS, planted
from tiny_models import folder

from lexshift import Siblings
from lexshift.encode.adaptation import MARKERS
from lexshift.encode.loading import load_model
from lexshift.tune import PairSettings, TunedModel
from lexshift.tune.evaluation import BEST, CHOSEN
from lexshift.utils import progress
from lexshift.utils.progress import Bars

pytestmark = pytest.mark.tune

QUICK = ["--steps", "4", "--batch", "8", "--every", "2", "--epochs", "9", "--device", "cpu", "--held-out", "0.25"]


class Shell(Terminal):
    """Pairs, a model, and the command that tunes it."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(place, monkeypatch, capsys)
        planted(place / "pairs", 48, WORDS[:8])
        planted(place / "dev", 12, WORDS[8:], seed=1)
        monkeypatch.setattr(progress.err, "_width", 300)
        self.model = str(folder("bert"))
        capsys.readouterr()  # output of the creation of the model

    def tune(self, *arguments: str) -> tuple[int, str, str]:
        defaults = ["--out", "tuned", "--model", self.model, *QUICK]
        return self.run("tune", "wic", "pairs", *replace_options(defaults, arguments))

    def refused(self, *arguments: str) -> str:
        """Return the single sentence with which a command is refused."""
        return one_sentence(self.tune(*arguments))


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


# ------------------------------------------------------------------------------------------------------ successful runs


@pytest.mark.parametrize("form", ["whole", "light"])
def test_model_is_tuned_summarised_and_usable(shell: Shell, form: str) -> None:
    code, out, err = shell.tune("--dev", "dev/some.data.txt", *(["--light"] if form == "light" else []))
    assert code == 0, err
    run = json.loads(Path("tuned/run.json").read_bytes())
    assert run["plan"]["light"] == (form == "light")
    assert re.match(r"tuned: tuned in 4 steps, \d+ s$", out.splitlines()[0])
    for line, name in zip(out.splitlines()[1:], ("untuned", "tuned"), strict=True):
        figures = run[name]
        sentence = f"AUC {figures['held-out auc']:.3f} on held-out pairs ({figures[f'held-out {BEST}']:.3f} {BEST}), "
        sentence += f"{figures['dev auc']:.3f} on dev pairs ({figures[CHOSEN]:.3f} {CHOSEN.removeprefix('dev ')})"
        assert line.split(":", 1)[0] == name
        assert line.split(":", 1)[1].strip() == sentence
        assert f"note: {name}: {sentence}" in err
    assert "error" not in err
    assert "tuning" in err
    assert "4 steps" in err
    assert "step 2 of 4:" in err
    Path("old.txt").write_text("before plane the\nhills plane a\n")
    Path("new.txt").write_text("after plane on\nthree plane of\n")
    code, _, err = shell.run("embed", "old.txt", "new.txt", "-w", "plane", "-o", "store", "--model", "tuned")
    assert code == 0, err
    encoder = Siblings("store").settings["encoder"]
    assert encoder["markers"] == (list(MARKERS) if form == "whole" else None)
    assert ("projection" in encoder) == (form == "light")


def test_without_dev_pairs_no_dev_figures_are_printed(shell: Shell) -> None:
    code, out, err = shell.tune("--light")
    assert code == 0, err
    lines = out.splitlines()
    assert len(lines) == 3
    pattern = rf"(un)?tuned: +AUC \d\.\d{{3}} on held-out pairs \(\d\.\d{{3}} {BEST}\)"
    assert all(re.fullmatch(pattern, line) for line in lines[1:])


def test_repeated_command_reports_that_it_is_finished_with_its_figures(shell: Shell) -> None:
    first = shell.tune("--light")
    weights = Path("tuned/projection.safetensors").stat().st_mtime_ns
    code, out, err = shell.tune("--light")
    assert (code, out) == (0, first[1])
    assert "note: the folder already has this tuned model" in err
    assert Path("tuned/projection.safetensors").stat().st_mtime_ns == weights


def test_libraries_print_no_progress_bars(shell: Shell) -> None:
    code, out, err = shell.tune("--steps", "1")
    assert code == 0, err
    assert "it/s" not in out + err
    assert "example/s" not in out + err


@pytest.mark.parametrize("form", [[], ["--light"]], ids=["whole", "light"])
def test_ctrl_c_is_reported_and_the_same_command_resumes(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, form: list[str]
) -> None:
    advance = Bars.advance

    def stop(bars: Bars, done: int, items: int = 0, status: str = "") -> None:
        advance(bars, done, items, status)
        if done == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Bars, "advance", stop)
        code, _, err = shell.tune(*form)
    assert code == 130
    assert err.rstrip().splitlines()[-1] == "error: interrupted; run the same command again to resume"
    assert "Traceback" not in err
    assert Path("tuned/unfinished").is_dir()
    code, _, err = shell.tune(*form)
    assert code == 0, err
    assert "note: resuming after step 2" in err
    assert not Path("tuned/unfinished").exists()
    load_model("tuned")


def test_every_file_of_pairs_and_of_dev_pairs_is_read(shell: Shell) -> None:
    planted(shell.folder / "more", 16, WORDS[:8], seed=3)
    planted(shell.folder / "other", 6, WORDS[:3], seed=4)
    code, _, err = shell.run(
        *["tune", "wic", "pairs/some.data.txt", "more", "--dev", "dev", "--dev", "other", "--light"],
        *["-o", "tuned", "-m", shell.model, *QUICK],
    )
    assert code == 0, err
    counts = json.loads(Path("tuned/run.json").read_bytes())["pairs"]
    assert counts["trained on"] + counts["held out"] == 64
    assert counts["dev"] == 18


# ---------------------------------------------------------------------------------------------------------- the options


class Recorder:
    """Replacement of the tuning function that records its arguments."""

    def __init__(self) -> None:
        self.pairs: tuple[str, ...] = ()
        self.options: dict[str, Any] = {}

    def __call__(self, *pairs: str, **options: Any) -> TunedModel:
        self.pairs, self.options = pairs, options
        figures = {"held-out auc": 0.5}
        return TunedModel(Path(options["out"]), {"steps": 1234, "seconds": 56.7, "untuned": figures, "tuned": figures})


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr("lexshift.tune.tune_wic", recorder)
    return recorder


def test_every_option_reaches_the_tuning(shell: Shell, recorder: Recorder) -> None:
    settings: dict[str, Any] = {
        "epochs": 3.5,
        "steps": 70,
        "batch": 12,
        "accumulate": 4,
        "learning_rate": 0.002,
        "every": 7,
        "patience": 5,
        "seed": 11,
        "device": "cpu",
        "margin": 0.7,
        "held_out": 0.2,
        "window": 33,
        "pooling": "mean",
    }
    assert {field.name for field in fields(PairSettings)} == {*settings, "light"}
    plain = {"revision": "v1", "model": "some/model"}
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in {**settings, **plain}.items()]
    code, out, err = shell.run(
        "tune", "wic", "a", "b", "-o", "tuned", "--dev", "c", "--dev", "d", "--light", *arguments
    )
    assert code == 0, err
    assert recorder.pairs == ("a", "b")
    assert isinstance(recorder.options.pop("monitor"), Bars)
    wanted = {"out": "tuned", "dev": ["c", "d"], "settings": PairSettings(light=True, **settings), **plain}
    assert recorder.options == wanted
    assert out.splitlines()[0] == "tuned: tuned in 1,234 steps, 57 s"


@pytest.mark.parametrize("arguments", [[], ["--light"]])
def test_omitted_options_have_their_defaults(shell: Shell, recorder: Recorder, arguments: list[str]) -> None:
    assert shell.run("tune", "wic", "a", "--out", "tuned", *arguments)[0] == 0
    assert recorder.pairs == ("a",)
    del recorder.options["monitor"]
    assert recorder.options == {
        "out": "tuned",
        "model": "minilm",
        "dev": (),
        "settings": PairSettings(light=bool(arguments)),
        "revision": None,
    }


def test_one_schedule_option_leaves_the_others_at_their_defaults(shell: Shell, recorder: Recorder) -> None:
    assert shell.run("tune", "wic", "a", "--out", "tuned", "--light", "--epochs", "2")[0] == 0
    assert recorder.options["settings"] == PairSettings(light=True, epochs=2, batch=64, learning_rate=1e-3)


@pytest.mark.parametrize(
    "arguments", [["tune", "wic", "--help"], ["tune", "--help"], ["tune", "wic", "-h"]], ids=" ".join
)
def test_help_is_printed(shell: Shell, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    code, out, err = shell.run(*arguments)
    assert (code, err) == (0, "")
    assert "as XL-LEXEME does" in out
    if "wic" in arguments:
        for name in ("PAIRS", "--out", "--model", "--dev", "--light", "--pooling", "--margin", "--held-out", "--seed"):
            assert name in out


# --------------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("form", [[], ["--light"]], ids=["whole", "light"])
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--margin", "0"], "margin must be above 0 and at most 2, the largest cosine distance; got 0.0"),
        (["--margin", "nan"], "margin must be above 0 and at most 2"),
        (["--pooling", "word"], "pooling must be one of mean, sentence; got 'word'"),
        (["--held-out", "0"], "held_out must be a number between 0 and 1; got 0.0"),
        (["--held-out", "0.99"], "cannot be held out, as no word would be left"),
        (["--window", "0"], "window must be a whole number of at least 1; got 0"),
        (["--learning-rate", "-1"], "learning_rate must be a number above 0; got -1.0"),
        (["--epochs", "0"], "epochs must be a number above 0; got 0"),
        (["--steps", "0"], "steps must be a whole number of at least 1; got 0"),
        (["--batch", "0"], "batch must be a whole number of at least 1; got 0"),
        (["--every", "0"], "every must be a whole number of at least 1; got 0"),
        (["--patience", "-1"], "patience must be a whole number of at least 0; got -1"),
        (["--accumulate", "3"], "accumulate must divide the batch of 8; got 3"),
        (["--seed", "-1"], "seed must be a whole number, 0 or more; got -1"),
        (["--dev", "nothing.csv"], "no such file or folder: 'nothing.csv'"),
        (["--model", "./nothing"], "no such model folder: './nothing'"),
        (["--device", "abacus"], "device 'abacus' is not available on this machine"),
    ],
    ids=str,
)
def test_invalid_values_are_refused(shell: Shell, form: list[str], arguments: list[str], sentence: str) -> None:
    assert sentence in shell.refused(*form, *arguments)
    assert not Path("tuned/run.json").exists()


def test_unreadable_pairs_are_named(shell: Shell) -> None:
    Path("bad.data.txt").write_text("plane\tN\t1-1\tA plane\n")
    Path("bad.gold.txt").write_text("T\n")
    for pairs, sentence in {
        "nothing": "no such file or folder: 'nothing'",
        "bad.data.txt": "'bad.data.txt', line 1: 4 fields instead of 5",
    }.items():
        assert sentence in one_sentence(shell.run("tune", "wic", pairs, "-o", "tuned", "-m", shell.model))
    assert not Path("tuned").exists()


def test_folder_with_other_files_or_another_model_is_refused(shell: Shell) -> None:
    assert "the folder 'pairs' holds other files" in shell.refused("--out", "pairs")
    assert shell.tune("--light")[0] == 0
    message = shell.refused("--light", "--learning-rate", "0.5")
    assert message == "'tuned' holds a model tuned with learning_rate 0.001, not 0.5; choose another folder (--out)"


@pytest.mark.parametrize(
    "arguments",
    [
        ["tune", "wic"],
        ["tune", "wic", "pairs"],
        ["tune", "wic", "--out", "tuned"],
        ["tune", "wic", "pairs", "--out", "tuned", "--learning-rate", "fast"],
        ["tune", "wic", "pairs", "--out", "tuned", "--heavy"],
        ["tune", "wci", "pairs", "--out", "tuned"],
    ],
    ids=" ".join,
)
def test_incomplete_commands_have_exit_status_2(shell: Shell, arguments: list[str]) -> None:
    code, out, err = shell.run(*arguments)
    assert code == 2
    assert "Traceback" not in err + out
    assert "Error" in err
    assert not Path("tuned").exists()

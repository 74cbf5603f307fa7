"""Test ``lexshift tune mlm`` and ``lexshift tune time``: their output, their options, and every mistake."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from shell import Terminal, one_sentence, replace_options
from tiny_models import WORDS, make_model, make_tokenizer

from lexshift.tune import LanguageSettings, TimeSettings, TunedModel
from lexshift.utils import progress
from lexshift.utils.progress import Bars

pytestmark = pytest.mark.tune

FAST = ["--model", "model", "--steps", "6", "--epochs", "50", "--batch", "8", "--learning-rate", "5e-3", "--every", "3"]
FAST += ["--held-out", "0.2", "--split", "lines", "--device", "cpu"]
READING = {
    "split": "auto",
    "language": "auto",
    "encoding": "auto",
    "errors": "strict",
    "text_column": "text",
    "strict": False,
    "xpath": None,
    "columns": None,
}


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    found = Terminal(tmp_path, monkeypatch, capsys)
    monkeypatch.setattr(progress.err, "_width", 200)
    rng = random.Random(0)
    for name, words in (("old", WORDS[:30]), ("new", WORDS[30:60])):
        lines = [" ".join(rng.choices(words, k=6)) for _ in range(60)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines))
    return found


@pytest.fixture
def model(shell: Terminal) -> Path:
    place = shell.folder / "model"
    make_tokenizer("bert").save_pretrained(place)
    make_model("bert", depth=1).save_pretrained(place)
    return place


def tune(shell: Terminal, kind: str, *arguments: str) -> tuple[int, str, str]:
    return shell.run("tune", kind, "old.txt", "new.txt", "--out", "tuned", *arguments)


def run_of(shell: Terminal) -> dict[str, Any]:
    run: dict[str, Any] = json.loads((shell.folder / "tuned" / "run.json").read_bytes())
    return run


# ------------------------------------------------------------------------------------------------------ successful runs


@pytest.mark.usefixtures("model")
def test_model_is_tuned_to_corpora_and_its_perplexity_printed(shell: Terminal) -> None:
    code, out, err = tune(shell, "mlm", *FAST)
    assert code == 0, err
    run = run_of(shell)
    before, after = run["before"]["perplexity"], run["after"]["perplexity"]
    assert after < before
    first, second = out.splitlines()
    assert re.fullmatch(r"tuned: tuned in 6 steps, \d+ s", first)
    assert second == f"perplexity on held-out sentences: {before:,.1f} before, {after:,.1f} after"
    for phrase in ("reading old", "reading new", "tuning", "6 steps", "note: step 3 of 6: loss "):
        assert phrase in err
    assert "note: the model 'model' has no head that predicts masked words" in err
    assert "error" not in err


@pytest.mark.usefixtures("model")
def test_model_is_tuned_to_time_and_its_period_accuracy_printed(shell: Terminal) -> None:
    code, out, err = tune(shell, "time", *FAST, "--labels", "then,now")
    assert code == 0, err
    run = run_of(shell)
    assert run["plan"]["periods"] == ["then", "now"]
    assert out.splitlines()[2] == (
        f"period of held-out sentences predicted: {run['after']['period']:.1%} (by chance 50.0%)"
    )
    assert "perplexity" in err
    assert ", period " in err
    code, again, err = tune(shell, "time", *FAST, "--labels", "then,now")
    assert (code, again) == (0, out)
    assert "note: the folder already has this tuned model" in err


@pytest.mark.usefixtures("model")
def test_temporal_attention_prints_no_period_accuracy(shell: Terminal) -> None:
    code, out, err = tune(shell, "time", *FAST, "--attention")
    assert code == 0, err
    assert "perplexity on held-out sentences" in out
    assert "period" not in out
    assert run_of(shell)["plan"]["attention"]


@pytest.mark.usefixtures("model")
def test_ctrl_c_is_reported_and_the_same_command_resumes(shell: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    advance = Bars.advance

    def stopped(self: Bars, done: int, items: int = 0, status: str = "") -> None:
        if self._unit == "steps" and done == 5:
            raise KeyboardInterrupt
        advance(self, done, items, status)

    with monkeypatch.context() as patch:
        patch.setattr(Bars, "advance", stopped)
        code, out, err = tune(shell, "mlm", *FAST)
    assert (code, out) == (130, "")
    assert err.rstrip().splitlines()[-1] == "error: interrupted; run the same command again to resume"
    assert "Traceback" not in err
    assert (shell.folder / "tuned" / "unfinished" / "checkpoint-3").is_dir()
    code, out, err = tune(shell, "mlm", *FAST)
    assert code == 0, err
    assert "note: resuming after step 3" in err
    assert "tuned: tuned in 6 steps" in out
    assert not (shell.folder / "tuned" / "unfinished").exists()


# -------------------------------------------------------------------------------------------------------------- options


class Called:
    """Replacement of a function that records its arguments."""

    def __init__(self) -> None:
        self.corpora: tuple[str, ...] = ()
        self.options: dict[str, Any] = {}

    def __call__(self, *corpora: str, **options: Any) -> TunedModel:
        self.corpora, self.options = corpora, options
        assert isinstance(options.pop("monitor"), Bars)
        row = {"perplexity": 1234.56}
        return TunedModel(Path(options["out"]), {"steps": 1234, "seconds": 56.7, "before": row, "after": row})


USUAL: dict[str, Any] = {
    "out": "tuned",
    "model": "minilm",
    "revision": None,
    **READING,
}
KINDS: dict[str, type[LanguageSettings]] = {"mlm": LanguageSettings, "time": TimeSettings}


def wanted(kind: str, changed: dict[str, Any]) -> dict[str, Any]:
    """Return the expected arguments of a function, with some settings or options changed."""
    labels = {"labels": None} if kind == "time" else {}
    settings = KINDS[kind](**changed.get("settings", {}))
    return {**USUAL, **labels, **changed, "settings": settings}


@pytest.mark.parametrize("kind", ["mlm", "time"])
def test_defaults_match_those_of_the_function(kind: str, shell: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    called = Called()
    monkeypatch.setattr(f"lexshift.tune.tune_{kind}", called)
    code, out, err = tune(shell, kind)
    assert code == 0, err
    assert called.corpora == ("old.txt", "new.txt")
    assert called.options == wanted(kind, {})
    assert out.splitlines() == [
        "tuned: tuned in 1,234 steps, 57 s",
        "perplexity on held-out sentences: 1,234.6 before, 1,234.6 after",
    ]


OPTIONS: list[tuple[list[str], dict[str, Any]]] = [
    (["--model", "some/model"], {"model": "some/model"}),
    (["-m", "some/model"], {"model": "some/model"}),
    (["--epochs", "2.5"], {"settings": {"epochs": 2.5}}),
    (["--steps", "7"], {"settings": {"steps": 7}}),
    (["--batch", "8"], {"settings": {"batch": 8}}),
    (["--accumulate", "4"], {"settings": {"accumulate": 4}}),
    (["--learning-rate", "1e-3"], {"settings": {"learning_rate": 1e-3}}),
    (["--every", "9"], {"settings": {"every": 9}}),
    (["--patience", "0"], {"settings": {"patience": 0}}),
    (["--seed", "5"], {"settings": {"seed": 5}}),
    (["--device", "cpu"], {"settings": {"device": "cpu"}}),
    (["--held-out", "0.3"], {"settings": {"held_out": 0.3}}),
    (["--mask", "0.4"], {"settings": {"mask": 0.4}}),
    (["--max-sentences", "50"], {"settings": {"max_sentences": 50}}),
    (["--window", "64"], {"settings": {"window": 64}}),
    (["--split", "prose"], {"split": "prose"}),
    (["--language", "de"], {"language": "de"}),
    (["--encoding", "cp1252"], {"encoding": "cp1252"}),
    (["--strict"], {"strict": True}),
    (["--xpath", "//p"], {"xpath": "//p"}),
    (["--columns", "word,lemma"], {"columns": "word,lemma"}),
    (["--errors", "replace"], {"errors": "replace"}),
    (["--text-column", "body"], {"text_column": "body"}),
    (["--revision", "v1"], {"revision": "v1"}),
]
ONLY_TIME: list[tuple[list[str], dict[str, Any]]] = [
    (["--labels", "a,b"], {"labels": ["a", "b"]}),
    (["--attention"], {"settings": {"attention": True}}),
    (["--tokens"], {"settings": {"tokens": True}}),
    (["--no-tokens", "--attention"], {"settings": {"tokens": False, "attention": True}}),
    (["--time-mask", "0.7"], {"settings": {"time_mask": 0.7}}),
]
CASES = [(kind, *case) for kind in ("mlm", "time") for case in OPTIONS] + [("time", *case) for case in ONLY_TIME]


@pytest.mark.parametrize(("kind", "arguments", "changed"), CASES, ids=str)
def test_every_option_reaches_the_function(
    kind: str, arguments: list[str], changed: dict[str, Any], shell: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = Called()
    monkeypatch.setattr(f"lexshift.tune.tune_{kind}", called)
    code, _, err = tune(shell, kind, *arguments)
    assert code == 0, err
    assert called.options == wanted(kind, changed)


@pytest.mark.parametrize("kind", ["mlm", "time"])
def test_help_names_every_option(kind: str, shell: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    code, out, err = shell.run("tune", kind, "--help")
    assert (code, err) == (0, "")
    for arguments, _ in OPTIONS + (ONLY_TIME if kind == "time" else []):
        assert arguments[0] in out
    assert "--out" in out
    if kind == "mlm":
        assert "--time-mask" not in out


def test_help_of_tune_names_the_commands(shell: Terminal) -> None:
    code, out, _ = shell.run("tune", "--help")
    assert code == 0
    for kind in ("mlm", "time", "wic"):
        assert re.search(rf"\b{kind}\b", out)
    assert "tune" in shell.run("--help")[1]


# --------------------------------------------------------------------------------------------------------------- faults


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("kind", "arguments", "sentence"),
    [
        ("mlm", ["--mask", "0"], "mask must be "),
        ("time", ["--mask", "1"], "mask must be "),
        ("time", ["--time-mask", "2"], "time_mask must be between 0 and 1; got 2.0"),
        ("mlm", ["--batch", "0"], "batch must be a whole number of at least 1; got 0"),
        ("mlm", ["--accumulate", "3"], "accumulate must divide the batch of 8; got 3"),
        ("mlm", ["--learning-rate", "-1"], "learning_rate must be a number above 0; got -1.0"),
        ("mlm", ["--patience", "-1"], "patience must be a whole number of at least 0; got -1"),
        ("mlm", ["--seed", "-1"], "seed must be a whole number, 0 or more; got -1"),
        ("mlm", ["--split", "pages"], "split must be one of"),
        ("mlm", ["--encoding", "klingon"], "encoding 'klingon' is not known"),
        ("mlm", ["--device", "abacus"], "abacus"),
        ("mlm", ["--max-sentences", "2"], "2 sentences in 'old.txt' are too few"),
        ("time", ["--no-tokens"], "tuning on time needs tokens, attention or both; neither is enabled"),
        ("time", ["--labels", "one"], "labels must name each of the 2 corpora"),
        ("time", ["--labels", "a,"], "labels must name each of the 2 corpora"),
        ("mlm", ["--model", "old.txt"], "the model 'old.txt' is a file; give the folder that it is in"),
        ("mlm", ["--out", "old.txt"], "would be a folder, but there is a file of that name"),
        ("mlm", ["--out", "model"], "the folder 'model' holds other files; choose an empty or a new one (--out)"),
    ],
    ids=str,
)
def test_mistake_is_reported_in_one_sentence(kind: str, arguments: list[str], sentence: str, shell: Terminal) -> None:
    options = replace_options(["--out", "tuned", *FAST], arguments)
    assert sentence in one_sentence(shell.run("tune", kind, "old.txt", "new.txt", *options))
    assert not (shell.folder / "tuned" / "run.json").exists()


@pytest.mark.usefixtures("model")
def test_invalid_corpora_are_reported_in_one_sentence(shell: Terminal) -> None:
    (shell.folder / "empty.txt").write_text("")
    (shell.folder / "latin.txt").write_bytes("l'été est très chaud\n".encode() + b"un \xe9t\xe9 chaud\n")
    for corpus, sentence in {
        "nothing.txt": "no such file or folder: 'nothing.txt'",
        "empty.txt": "empty.txt'",
        "latin.txt": "the file 'latin.txt' is not UTF-8 at line 2 (byte 0xe9)",
    }.items():
        assert sentence in one_sentence(shell.run("tune", "mlm", corpus, "--out", "tuned", *FAST))
    message = one_sentence(shell.run("tune", "time", "old.txt", "--out", "tuned", *FAST))
    assert message == "tuning on time needs at least two corpora, the oldest first"


@pytest.mark.usefixtures("model")
def test_another_run_in_the_folder_is_reported_in_one_sentence(shell: Terminal) -> None:
    assert tune(shell, "mlm", *FAST)[0] == 0
    message = one_sentence(tune(shell, "mlm", *FAST, "--mask", "0.3"))
    assert message == "'tuned' holds a model tuned with mask 0.15, not 0.3; choose another folder (--out)"


def test_missing_libraries_are_reported_in_one_sentence(shell: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.tune.training.find_spec", lambda name: None if name == "accelerate" else object())
    assert one_sentence(tune(shell, "mlm")) == "tuning needs accelerate: pip install 'lexshift[tune]'"


@pytest.mark.parametrize(
    "arguments",
    [
        ["tune", "mlm"],
        ["tune", "mlm", "old.txt", "new.txt"],
        ["tune", "time", "old.txt", "new.txt", "--out", "tuned", "--steps", "many"],
        ["tune", "mlm", "old.txt", "--out", "tuned", "--attention"],
        ["tune", "lmm", "old.txt", "--out", "tuned"],
    ],
    ids=" ".join,
)
def test_incomplete_commands_have_exit_status_2(shell: Terminal, arguments: list[str]) -> None:
    code, out, err = shell.run(*arguments)
    assert code == 2
    assert "Traceback" not in err + out
    assert "Error" in err
    assert not (shell.folder / "tuned").exists()

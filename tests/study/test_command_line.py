"""Test the command that is reconstructed from a record, and the arguments that the record holds."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.demo import ExampleEncoder
from lexshift.study.command_line import command_line
from lexshift.study.settings import OPTIONS, SENSES, Settings, question_defaults

changes = st.fixed_dictionaries(
    {},
    optional={
        "metric": st.sampled_from(["nearest", "kl", "apd"]),
        "preset": st.sampled_from([None, "paper"]),
        "rate": st.sampled_from(["auto", 0.5, 0.4]),
        "distance_weight": st.sampled_from([None, 0.0, 0.8, 0.3]),
        "top_words": st.sampled_from([0, None, 100, 7]),
        "max_per_word": st.sampled_from([0, 200, 5]),
        "labels": st.sampled_from([None, ["a", "b"]]),
        "control": st.sampled_from(["auto", "none", 40, "./words.txt"]),
        "senses": st.booleans(),
        "markers": st.sampled_from([None, ("<", ">")]),
        "window": st.sampled_from([None, 64]),
        "out": st.sampled_from([None, "folder"]),
    },
)


def run_of(chosen: Settings, question: str, **record: Any) -> dict[str, Any]:
    kinds = {"compare": "comparison", "discover": "discovery", "trace": "trace"}
    return {
        "kind": kinds[question],
        "corpora": [{"path": "old texts"}, {"path": "new.txt"}],
        "settings": {"match": chosen.match},
        "arguments": chosen.arguments(question),
        "words": ["mouse", "bread"],
        "forms": {"mouse": ["mouse"], "bread": ["bread"]},
    } | record


@given(st.sampled_from(["compare", "discover", "trace"]), changes)
def test_arguments_restore_the_settings(question: str, values: dict[str, Any]) -> None:
    settings = Settings(**question_defaults(question) | values)
    arguments = settings.arguments(question)
    restored = Settings(**question_defaults(question) | arguments)
    for name in OPTIONS:
        if name not in ("out", "markers"):
            assert getattr(restored, name) == getattr(settings, name), name
    assert "out" not in arguments


def test_settings_that_are_defaults_are_not_recorded() -> None:
    assert Settings().arguments("compare") == {}
    assert Settings(preset="paper").arguments("compare") == {"preset": "paper"}
    assert Settings(**question_defaults("discover")).arguments("discover") == {}


def test_command_has_the_corpora_the_words_and_the_options() -> None:
    settings = Settings(metric="kl", labels=["a", "b"], senses=True, max_per_word=0, markers=("<t>", "</t>"))
    command = command_line(run_of(settings, "compare"), "my folder")
    assert command is not None
    assert shlex.split(command) == [
        *("lexshift", "compare", "old texts", "new.txt", "--words", "mouse,bread", "--labels", "a,b", "--senses"),
        *("--max-per-word", "0", "--metric", "kl", "--markers", "<t>", "</t>", "--out", "my folder"),
    ]


def test_command_of_senses_is_recognised() -> None:
    settings = Settings(senses=True, control="none", clustering="mixture")
    command = command_line(run_of(settings, "compare", settings={"min_count": 20, "match": "word"}), "out")
    assert command == "lexshift senses 'old texts' new.txt --clustering mixture --out out"
    assert all(SENSES in OPTIONS[name].questions for name in ("clustering",))
    scored = Settings(senses=True, control="none", metric="kl")
    command = command_line(run_of(scored, "trace"), "out")
    assert command is not None
    assert command.startswith("lexshift trace ")


def test_corpus_that_is_cut_into_periods_is_named_once() -> None:
    run = run_of(Settings(by="decade"), "trace", corpora=[{"path": "all.csv"}, {"path": "all.csv"}])
    assert command_line(run, "out") == "lexshift trace all.csv --words mouse,bread --by decade --out out"


def test_words_with_forms_need_a_file_and_objects_need_python() -> None:
    forms = {"mouse": ["mouse", "mice"], "bread": ["bread"]}
    command = command_line(run_of(Settings(), "compare", forms=forms), "out")
    assert command == "lexshift compare 'old texts' new.txt --words FILE_OF_2_WORDS --out out"
    assert command_line(run_of(Settings(model=ExampleEncoder()), "compare"), "out") is None


@pytest.mark.parametrize("question", ["compare", "discover", "trace"])
def test_every_argument_has_an_option_of_the_command(question: str) -> None:
    settings = Settings(**question_defaults(question) | {"alpha": 0.1, "seed": 3, "device": "cpu", "split": "lines"})
    assert set(settings.arguments(question)) == {"alpha", "seed", "device", "split"}

"""Test that signatures, command line, checks and documentation agree with the one list of settings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast, get_type_hints

import numpy as np
import pytest
import typer
from typer.main import get_command

from lexshift import SSCD, UserError, compare, discover, find_senses, trace
from lexshift.cli import app
from lexshift.scoring.distance.metric import get
from lexshift.store.embedding import EmbeddingOptions, EncoderOptions, ReadingOptions
from lexshift.study.settings import (
    COMPARE,
    DISCOVER,
    ENCODING,
    OPTIONS,
    PRESETS,
    QUESTIONS,
    READING,
    SENSES,
    TRACE,
    Settings,
    default_distance_weight,
    make_settings,
    options_table,
    question_defaults,
)

FUNCTIONS: dict[str, Callable[..., Any]] = {COMPARE: compare, DISCOVER: discover, TRACE: trace, SENSES: find_senses}
NOT_SETTINGS = {"old", "new", "corpora", "words", "monitor", "options"}
PASSED_ON = [name for name, option in OPTIONS.items() if option.panel in (READING, ENCODING)]


# ----------------------------------------------------------------------------------------------------------- signatures


def test_every_question_has_a_function() -> None:
    assert set(FUNCTIONS) == set(QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS)
def test_signature_of_a_question_equals_its_settings(question: str) -> None:
    parameters = inspect.signature(FUNCTIONS[question]).parameters
    named = {name: parameter.default for name, parameter in parameters.items() if name not in NOT_SETTINGS}
    expected = {name: value for name, value in question_defaults(question).items() if name not in PASSED_ON}
    assert named == expected
    assert list(named) == list(expected)  # in the order of the help pages
    assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in named)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_parameter_is_documented(question: str) -> None:
    function = FUNCTIONS[question]
    section = re.search(r"Parameters\n-+\n(.*?)\nReturns\n", inspect.getdoc(function) or "", re.DOTALL)
    assert section is not None
    heads = [line.split(" : ")[0] for line in section[1].splitlines() if line and not line.startswith(" ")]
    documented = {name.strip().lstrip("*") for head in heads for name in head.split(",")}
    assert documented == set(inspect.signature(function).parameters)


def test_forwarded_options_are_those_of_reading_and_encoding() -> None:
    def panel(name: str) -> set[str]:
        return {option for option in OPTIONS if OPTIONS[option].panel == name}

    assert set(get_type_hints(EmbeddingOptions)) == set(PASSED_ON) == panel(READING) | panel(ENCODING)
    assert set(get_type_hints(ReadingOptions)) == panel(READING) == set(Settings().reading_options())
    assert set(get_type_hints(EncoderOptions)) == panel(ENCODING) - {"precision"}


def test_option_is_passed_to_the_encoder_only_if_it_was_set() -> None:
    """An existing encoder refuses options, so only options that were set may be passed on."""
    assert Settings().encoder_options() == {}
    given: dict[str, Any] = {"layers": "last", "pooling": "first", "window": 64, "device": "cpu", "batch_tokens": 512}
    assert Settings(**given, precision="float16").encoder_options() == given


@pytest.mark.parametrize("question", QUESTIONS)
def test_settings_without_arguments_are_the_defaults(question: str) -> None:
    function = FUNCTIONS[question]
    values = {name: p.default for name, p in inspect.signature(function).parameters.items() if name != "options"}
    settings = make_settings(function, {**values, "options": {}})
    resolved = {
        "distance_weight": 0.8,
        "top_words": None if question == DISCOVER else 100,
    }
    for name, value in question_defaults(question).items():
        assert getattr(settings, name) == resolved.get(name, value), name


# --------------------------------------------------------------------------------------------------------- command line


def command(question: str) -> Any:
    group: Any = get_command(app)
    return group.commands[question]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_setting_is_a_command_line_option(question: str) -> None:
    options = {parameter.name: parameter for parameter in command(question).params}
    for name, default in question_defaults(question).items():
        option, shown = OPTIONS[name], options[name]
        long = f"--{name.replace('_', '-')}"
        assert long in shown.opts, name
        assert set(option.flags or (long,)) == {*shown.opts, *shown.secondary_opts}
        assert shown.help.startswith(option.help.partition(" (default")[0].removesuffix("."))
        assert shown.rich_help_panel == option.panel
        given = shown.get_default(typer.Context(command(question)))
        assert (option.parse(given) if option.parse is not None else given) == default, name
    others = set(options) - set(question_defaults(question))
    assert others <= {"old", "new", "corpora", "words", "form", "rows", "quiet", "plan", "fail_on", "help"}


def test_questions_lack_the_settings_of_others() -> None:
    names = {question: set(question_defaults(question)) for question in QUESTIONS}
    assert "by" not in names[COMPARE] | names[DISCOVER]
    assert "names" not in names[COMPARE] | names[TRACE] | names[SENSES]
    assert "senses" not in names[SENSES]
    assert {"metric", "rate"}.isdisjoint(names[SENSES])
    for question in QUESTIONS:
        assert {parameter.name for parameter in command(question).params}.isdisjoint(set(OPTIONS) - names[question])


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("rate", "auto", "auto"),
        ("rate", "0.4", 0.4),
        ("permutations", "auto", "auto"),
        ("permutations", "99", 99),
        ("labels", "a,b", ["a", "b"]),
        ("labels", None, None),
        ("labels", "", None),
    ],
)
def test_command_line_text_is_parsed(name: str, text: str | None, value: Any) -> None:
    parse = OPTIONS[name].parse
    assert parse is not None
    assert parse(text) == value


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rate", "rate must be a number from 0 to 1, or auto; got 'half'"),
        ("permutations", "permutations must be a whole number, or auto; got 'half'"),
    ],
)
def test_non_numeric_text_is_refused(name: str, message: str) -> None:
    parse = OPTIONS[name].parse
    assert parse is not None
    with pytest.raises(UserError) as caught:
        parse("half")
    assert str(caught.value) == message


# --------------------------------------------------------------------------------------------------------------- checks


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    ("name", "meant"),
    [("min_usage", "min_usages"), ("langauge", "language"), ("layer", "layers"), ("alpah", "alpha"), ("zzz", None)],
)
def test_unknown_keyword_is_reported_with_a_suggestion(
    tmp_path: Path, question: str, name: str, meant: str | None
) -> None:
    hint = f"; did you mean {meant!r}?" if meant else ""
    with pytest.raises(UserError) as caught:
        FUNCTIONS[question](tmp_path / "a.txt", tmp_path / "b.txt", **{name: 1}, monitor=False)
    assert str(caught.value) == f"{FUNCTIONS[question].__name__} has no argument {name!r}{hint}"


def test_discovery_accepts_no_words(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="discover takes no words, because it tests all of them; use compare or trace"):
        discover(tmp_path / "a.txt", tmp_path / "b.txt", words=["mouse"], monitor=False)  # type: ignore[call-arg]


def test_settings_of_other_questions_are_unknown_keywords(tmp_path: Path) -> None:
    for function, name in ((compare, "by"), (discover, "by"), (compare, "names"), (trace, "names")):
        with pytest.raises(UserError, match=f"{function.__name__} has no argument '{name}'"):
            cast(Any, function)(tmp_path / "a.txt", tmp_path / "b.txt", **{name: None}, monitor=False)


WHOLE = "a whole number of at least 1"
BAD: list[tuple[str, Any, str]] = [
    *[(name, bad, WHOLE) for name in ("min_count", "repeats", "resamples") for bad in (0, -1, 1.5, "3", True, None)],
    *[(name, bad, "or 0 for all") for name in ("top_words", "max_per_word") for bad in (-1, 1.5, "3", True)],
    *[("min_usages", bad, "a whole number of at least 2") for bad in (0, 2.5, "3", True, None)],
    ("min_usages", 1, "min_usages must be a whole number of at least 2; got 1"),
    *[(name, bad, "a whole number, 0 or more") for name in ("seed", "sample_seed") for bad in (-1, 1.5, "one", None)],
    *[("alpha", bad, "a number between 0 and 1") for bad in (0, 1, -0.1, 5, "0.05", float("nan"), None, True)],
    *[("rate", bad, "a number from 0 to 1, or auto") for bad in (-0.1, 1.5, "half", float("nan"), None, [0.3])],
    *[("permutations", bad, "of at least 1, or auto") for bad in (0, -5, 1.5, "many", None, True)],
    *[("distance_weight", bad, "distance_weight must be") for bad in (-0.1, 1.5, "half", float("nan"))],
    ("match", "lema", r"match must be one of cased, lemma, token, word; got 'lema'; did you mean 'lemma'\?"),
    ("space", "bent", r"space must be one of auto, centred, raw, standardised; got 'bent'"),
    ("by", "day", r"by must be one of decade, month, quarter, week, year; got 'day'"),
    ("metric", "cosin", r"metric must be one of .*; got 'cosin'; did you mean 'cosine'\?"),
    ("metric", 3, "metric"),
    ("strategy", "randm", r"strategy must be one of distance, random; got 'randm'; did you mean 'random'\?"),
    ("precision", "float8", "precision must be one of float16, float32; got 'float8'"),
]


@pytest.mark.parametrize(("name", "bad", "message"), BAD, ids=[f"{name}={bad!r}" for name, bad, _ in BAD])
def test_invalid_values_are_refused_in_a_sentence_that_names_the_setting(name: str, bad: Any, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        Settings(**{name: bad})
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("max_per_word", 0, None),
        ("max_per_word", None, None),
        ("top_words", 0, None),
        ("top_words", np.int64(7), 7),
        ("rate", 1, 1.0),
        ("rate", "auto", "auto"),
        ("permutations", np.int32(99), 99),
        ("min_usages", np.int64(2), 2),
        ("by", "month", "month"),
        ("distance_weight", 0, 0),
    ],
)
def test_values_are_normalised_to_one_form(name: str, value: Any, expected: Any) -> None:
    found = getattr(Settings(**{name: value}), name)
    assert found == expected
    assert type(found) is type(expected)


def test_settings_are_immutable() -> None:
    with pytest.raises(AttributeError):
        Settings().seed = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("metric", "distance_weight"), [("nearest", 0.8), ("cosine", 0.0), ("apd", 0.0), (get("nearest"), 0.8)]
)
def test_distance_weight_depends_on_the_metric(metric: Any, distance_weight: float) -> None:
    assert (
        default_distance_weight(metric)
        == Settings(metric=metric).distance_weight
        == Settings(metric=metric).sscd().distance_weight
        == distance_weight
    )
    assert Settings(metric=metric, distance_weight=0.5).sscd().distance_weight == 0.5


def test_settings_create_the_scores_that_they_name() -> None:
    sscd = Settings(metric="cosine", strategy="distance", rate=0.2, repeats=3, seed=5, distance_weight=0.1).sscd()
    assert (sscd.metric, sscd.strategy, sscd.rate, sscd.repeats, sscd.seed, sscd.distance_weight) == (
        "cosine",
        "distance",
        0.2,
        3,
        5,
        0.1,
    )
    assert Settings(rate="auto").sscd().rate == 0.5  # until the best rate is found


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("words_given", [True, False])
def test_record_has_the_settings_that_shape_the_result(question: str, words_given: bool) -> None:
    record = Settings(metric=get("cosine"), seed=3).record(question, words_given)
    assert (record["metric"], record["seed"], record["confidence"]) == ("cosine", 3, 0.95)
    assert ("by" in record) == (question in (TRACE, SENSES))
    assert ("min_count" in record) == ("top_words" in record) == (not words_given)
    assert ("names" in record) == (question == DISCOVER and not words_given)
    elsewhere = {"labels", "out", "model", "engine", "address", "workers", *PASSED_ON}
    assert set(record).isdisjoint(elsewhere)
    panel = OPTIONS["rate"].panel
    assert {name for name, option in OPTIONS.items() if option.panel == panel and question in option.questions} <= set(
        record
    )


def test_record_has_the_settings_of_senses_if_they_were_sought() -> None:
    names = {name for name, option in OPTIONS.items() if SENSES in option.questions and option.questions == (SENSES,)}
    assert names.isdisjoint(Settings().record(COMPARE, words_given=True))
    record = Settings(senses=True, inventory=Path("known.csv")).record(COMPARE, words_given=True)
    assert names <= set(record)
    assert (record["senses"], record["inventory"], record["dictionary"]) == (True, "known.csv", None)


# -------------------------------------------------------------------------------------------------------- documentation


def test_option_table_lists_every_option() -> None:
    lines = options_table().splitlines()
    assert lines[:2] == ["| option | default | meaning |", "| --- | --- | --- |"]
    cells = {line.split(" | ")[0].strip("| `"): line for line in lines[2:]}
    assert list(cells) == [f"--{name.replace('_', '-')}" for name in OPTIONS]
    for name, option in OPTIONS.items():
        assert option.help in cells[f"--{name.replace('_', '-')}"]
        assert cells[f"--{name.replace('_', '-')}"].count(" | ") == 2
    assert "| 100; discover: 0 |" in cells["--top-words"]
    assert "| 1000; discover: 100 |" in cells["--resamples"]
    assert cells["--by"].endswith("(trace, senses only) |")
    assert all(cells[f"--{name}"].endswith("(not senses) |") for name in ("metric", "rate", "repeats"))
    assert cells["--names"].endswith("(discover only) |")
    assert "| off |" in cells["--normalised"]


@pytest.mark.parametrize("name", OPTIONS)
def test_help_texts_are_phrases(name: str) -> None:
    text = OPTIONS[name].help
    assert text.endswith(".")
    assert text[0].isupper() or text.split()[0].rstrip(",") in ("auto", "local")
    assert len(text) < 130


# ------------------------------------------------------------------------------------------------------------- presets


def test_preset_paper_is_the_published_method() -> None:
    settings = Settings(preset="paper")
    assert settings.sscd() == SSCD("kl", "random", 0.4, 20, 0, distance_weight=0.0)
    assert (settings.space, settings.normalised, settings.tests_own_metric) == ("raw", False, True)
    assert getattr(settings, "control", "none") == "none"
    assert not Settings().tests_own_metric


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("metric", "cosine"),
        ("rate", 0.2),
        ("rate", "auto"),
        ("repeats", 3),
        ("distance_weight", 0.3),
        ("space", "centred"),
    ],
)
def test_option_that_differs_from_its_default_overrides_the_preset(name: str, value: Any) -> None:
    settings, preset = Settings(preset="paper", **{name: value}), Settings(preset="paper")
    assert getattr(settings, name) == value
    for other in PRESETS["paper"]:
        if other != name and hasattr(preset, other):
            assert getattr(settings, other) == getattr(preset, other), other


def test_every_setting_of_a_preset_has_a_valid_value() -> None:
    for preset in PRESETS.values():
        Settings(**{name: value for name, value in preset.items() if name in OPTIONS})


@pytest.mark.parametrize("question", [COMPARE, DISCOVER, TRACE])
def test_preset_and_its_values_are_recorded(question: str) -> None:
    record = Settings(preset="paper").record(question, words_given=True)
    assert (record["preset"], record["metric"], record["rate"], record["space"]) == ("paper", "kl", 0.4, "raw")
    assert Settings().record(question, words_given=True)["preset"] is None


def test_unknown_preset_is_refused() -> None:
    with pytest.raises(UserError, match=r"preset must be one of paper; got 'papers'"):
        Settings(preset="papers")

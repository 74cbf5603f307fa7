"""Define every option of a study once: its name, default, check, help text and group on the command line.

The command line, the checks, the ``settings`` of ``run.json`` and the options table in the documentation are derived
from :class:`Settings`. The public functions spell their parameters out; a test compares them with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from lexshift.errors import UserError
from lexshift.utils import checks

if TYPE_CHECKING:
    from lexshift.scoring.scores import Scoring
    from lexshift.scoring.sscd import SSCD
    from lexshift.scoring.swap import Strategy

AUTO = "auto"
COMPARE, DISCOVER, TRACE, SENSES = "compare", "discover", "trace", "senses"
QUESTIONS = (COMPARE, DISCOVER, TRACE, SENSES)
SCORED = (COMPARE, DISCOVER, TRACE)
"""The questions that are answered by change scores."""
ONCE, KEEP = "once", "keep"
"""What to do with usages of a word that repeat a sentence: count them once, or keep all of them."""
CLUSTERINGS = ("graph", "agglomerative", "mixture", "affinity")
"""Rules that divide usages into senses."""
NO_CONTROL = "none"
"""Value of ``control`` for a run without control words."""
MIN_CONTROL_WORDS = 30
"""Number of control words below which none are used."""
PAPER = "paper"
PRESETS: dict[str, dict[str, Any]] = {
    PAPER: {
        "metric": "kl",
        "strategy": "random",
        "normalised": False,
        "rate": 0.4,
        "distance_weight": 0.0,
        "space": "raw",
        "control": NO_CONTROL,
        "repeats": 20,
    }
}
"""Values of settings by the name of a preset; "paper" is SSCD as Aida and Bollegala (2023) published it."""
CONFIDENCE = 0.95
"""Level of the intervals of change scores."""

PERIODS, WORDS, OUTPUT, SCORES, MEANINGS, ENGINE, READING, ENCODING = (
    "Periods",
    "Words and usages",
    "Options",
    "Scoring",
    "Senses",
    "Engine",
    "Reading",
    "Encoding",
)


class Option(NamedTuple):
    """The command line option of a setting, and its check.

    Attributes
    ----------
    help : str
        Help text.
    panel : str
        Heading of the help page under which the option is listed.
    type : type
        Type of the option on the command line.
    check : callable, optional
        Returns a value in its canonical form, or raises a :class:`lexshift.errors.UserError`.
    parse : callable, optional
        Returns the value of a text from the command line.
    flags : tuple of str
        Names on the command line; derived from the name of the setting by default.
    metavar : str, optional
        Placeholder for the value on the help page.
    questions : tuple of str
        The functions and commands that have the option.
    defaults : mapping of str to value
        Defaults of questions that differ from the common default.
    """

    help: str
    panel: str
    type: Any
    check: Callable[[Any], Any] | None = None
    parse: Callable[[Any], Any] | None = None
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    questions: tuple[str, ...] = QUESTIONS
    defaults: Mapping[str, Any] = {}


def _setting(default: Any, help: str, panel: str, type: Any, **option: Any) -> Any:  # noqa: A002
    return field(default=default, metadata={"option": Option(help, panel, type, **option)})


def _number_or_auto(name: str, number: Callable[[str], Any], description: str) -> Callable[[str], Any]:
    """Return a parser of option texts that are a number or "auto"."""

    def parse(text: str) -> Any:
        if text == "auto":
            return text
        try:
            return number(text)
        except ValueError:
            raise UserError(f"{name} must be {description}, or auto; got {text!r}") from None

    return parse


def _check(function: Callable[..., Any], name: str, *arguments: Any) -> Callable[[Any], Any]:
    """Return a check of :mod:`lexshift.utils.checks` with the name of a setting."""
    return lambda value: function(value, name, *arguments)


def _check_path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)


def _check_control(control: Any) -> Any:
    """Return "auto", "none", a number of words, the name of a file with words, or a list or mapping of words."""
    if control is None or isinstance(control, str):
        text = "none" if control is None else control.strip()
        if text and not text.lstrip("-").isdecimal():
            return text
        control = int(text) if text else text
    if isinstance(control, os.PathLike):
        name = os.fspath(control)
        return name if os.path.dirname(name) else os.path.join(os.curdir, name)  # a file, not a word
    if isinstance(control, Mapping):
        return {word: [forms] if isinstance(forms, str) else list(forms) for word, forms in control.items()}
    if isinstance(control, Iterable) and not isinstance(control, (str, bytes)):
        return list(control)
    try:
        return checks.positive(control, "control", MIN_CONTROL_WORDS)
    except UserError:
        raise UserError(
            f"control must be auto, none, a file with words, or a number of words of at least {MIN_CONTROL_WORDS}; got "
            f"{control!r}"
        ) from None


def _plain(value: Any) -> Any:
    """Return a value for JSON; an object, such as a loaded model, becomes ``{"object": name of its type}``."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return {"object": type(value).__name__}


def _check_by(unit: str | None) -> str | None:
    from lexshift.corpus.dates import UNITS

    return None if unit is None else checks.choice(unit, "by", UNITS)


def _check_day(day: Any) -> str | None:
    from lexshift.corpus.dates import read_day

    return None if day is None else read_day(day, "split_at")


def _split_labels(text: str | None) -> list[str] | None:
    return text.split(",") if text else None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The checked settings of a study; see :func:`lexshift.compare` for their meaning."""

    # fmt: off
    by: str | None = _setting(
        None, "Period length in one corpus: week, month, quarter, year or decade.",
        PERIODS, str | None, questions=(TRACE, SENSES), check=_check_by)
    split_at: Any = _setting(
        None, "Date that divides one corpus in two.",
        PERIODS, str | None, metavar="DATE", questions=(COMPARE, DISCOVER, SENSES), check=_check_day)
    out: str | os.PathLike[str] | None = _setting(
        None, "Folder for the results (default: named after the corpora).",
        OUTPUT, str | None, flags=("--out", "-o"), metavar="DIR")
    model: Any = _setting(
        AUTO, "Encoder: a built-in one (auto selects it by language), a folder, or a model on the hub.",
        OUTPUT, str, flags=("--model", "-m"))
    labels: Sequence[str] | None = _setting(
        None, "Comma-separated names for the corpora (default: file names).",
        OUTPUT, str | None, parse=_split_labels)
    senses: bool = _setting(
        False, "Also find senses (discover: of changed words).",
        OUTPUT, bool, flags=("--senses",), check=bool, questions=SCORED)

    min_count: int = _setting(
        20, "Minimum number of occurrences per corpus, for words chosen by frequency.",
        WORDS, int, check=_check(checks.positive, "min_count"))
    top_words: int | None = _setting(
        100, "Maximum number of words, most frequent first; 0 for all.",
        WORDS, int, check=_check(checks.number_or_all, "top_words"), defaults={DISCOVER: 0})
    names: bool = _setting(
        False, "Include proper names.",
        WORDS, bool, flags=("--names",), check=bool, questions=(DISCOVER,))
    max_per_word: int | None = _setting(
        200, "Maximum number of usages per word and corpus, drawn at random; 0 for all.",
        WORDS, int, check=_check(checks.number_or_all, "max_per_word"))
    min_usages: int = _setting(
        10, "Minimum number of usages per corpus for a word to be scored.",
        WORDS, int, check=_check(checks.positive, "min_usages", checks.MIN_ROWS))
    sample_seed: int = _setting(
        0, "Seed for the sample of usages; another seed needs another --out.",
        WORDS, int, check=lambda seed: checks.seed(seed, "sample_seed"))
    duplicates: str = _setting(
        ONCE, "Identical sentences of a word in a corpus: once counts them once, keep counts all.",
        WORDS, str, check=_check(checks.choice, "duplicates", (ONCE, KEEP)))
    match: str = _setting(
        "word", "Matching rule: word (any case), cased, token or lemma.",
        WORDS, str, check=_check(checks.choice, "match", ("word", "cased", "token", "lemma")))

    preset: str | None = _setting(
        None, "Preset: paper for SSCD as published.",
        SCORES, str | None, questions=SCORED,
        check=lambda preset: None if preset is None else checks.choice(preset, "preset", tuple(PRESETS)))
    metric: Any = _setting(
        "nearest", "Distance between two sets of usages, such as nearest, cosine, apd or kl.",
        SCORES, str, questions=SCORED)
    strategy: Strategy = _setting(
        "random", "Usages to swap: random, or distance for the most distant ones.", SCORES, str, questions=SCORED)
    normalised: bool = _setting(
        False, "Normalise swaps by corpus size.",
        SCORES, bool, flags=("--normalised",), check=bool, questions=SCORED)
    rate: float | Literal["auto"] = _setting(
        0.5, "Share of usages to swap, from 0 to 1; auto searches for the best one.",
        SCORES, str, check=_check(checks.rate_or_auto, "rate"),
        parse=_number_or_auto("rate", float, "a number from 0 to 1"), questions=SCORED)
    distance_weight: float | None = _setting(
        None, "Weight of the distance in the score (default: 0.8 for nearest, else 0).",
        SCORES, float | None, questions=SCORED)
    space: str = _setting(
        AUTO, "Transformation of the vectors: auto, raw, centred or standardised.",
        SCORES, str, check=_check(checks.choice, "space", (AUTO, "raw", "centred", "standardised")), questions=SCORED)
    control: Any = _setting(
        AUTO, "Ordinary words to compare with: auto, none, a number or a file.",
        SCORES, str, check=_check_control, questions=SCORED)
    repeats: int = _setting(
        20, "Number of random swaps.",
        SCORES, int, check=_check(checks.positive, "repeats"), questions=SCORED)
    alpha: float = _setting(
        0.05, "False discovery rate.",
        SCORES, float, check=lambda alpha: checks.between_0_and_1(alpha, "alpha"))
    permutations: int | Literal["auto"] = _setting(
        "auto", "Permutations per test.",
        SCORES, str, check=_check(checks.positive_or_auto, "permutations"),
        parse=_number_or_auto("permutations", int, "a whole number"))
    resamples: int = _setting(
        1_000, "Half-samples for intervals.",
        SCORES, int, check=_check(checks.positive, "resamples"), defaults={DISCOVER: 100}, questions=SCORED)
    seed: int = _setting(
        0, "Seed of random numbers.", SCORES, int, check=checks.seed)

    clustering: str = _setting(
        "graph", "Rule that divides usages into senses: graph, agglomerative, mixture or affinity.",
        MEANINGS, str, check=_check(checks.choice, "clustering", CLUSTERINGS), questions=(SENSES,))
    inventory: str | os.PathLike[str] | None = _setting(
        None, "Dictionary of the known senses: usages get one of them, or a new sense.",
        MEANINGS, str | None, metavar="PATH", check=_check_path, questions=(SENSES,))
    dictionary: str | os.PathLike[str] | None = _setting(
        None, "Dictionary whose glosses describe the senses.",
        MEANINGS, str | None, metavar="PATH", check=_check_path, questions=(SENSES,))
    substitutes: str | os.PathLike[str] | None = _setting(
        None, "Masked language model whose substitutes for the word describe the senses.",
        MEANINGS, str | None, metavar="MODEL", check=_check_path, questions=(SENSES,))

    engine: Any = _setting(
        "local", "Engine: local for this machine, or ray for a Ray cluster.", ENGINE, str)
    address: str | None = _setting(
        None, "Address of a Ray cluster; auto finds the one of this machine (default: start a cluster).",
        ENGINE, str | None)
    workers: int | None = _setting(
        None, "Number of encoders on a Ray cluster (default: one per GPU, or one per four cores).",
        ENGINE, int | None)

    split: str = _setting(
        "auto", "Contents of a line: lines (a sentence), prose (a paragraph), wrapped (a part of a paragraph) or auto.",
        READING, str)
    language: str = _setting(
        "auto", "ISO code of the language.", READING, str)
    encoding: str = _setting(
        "auto", "Encoding of text files.", READING, str)
    errors: str = _setting(
        "strict", "Invalid bytes: strict or replace.", READING, str)
    text_column: str = _setting(
        "text", "Table column with the text.", READING, str)
    date_column: str | None = _setting(
        None, "Column of the date (default: by its name).",
        READING, str | None)
    document_column: str | None = _setting(
        None, "Table column that names the document of each text (default: a file is a document).",
        READING, str | None)
    xpath: str | None = _setting(
        None, "XPath of the XML or HTML elements to read.",
        READING, str | None)
    strict: bool = _setting(
        False, "Stop at a file that cannot be read.",
        READING, bool, flags=("--strict",), check=bool)
    date_order: str = _setting(
        "auto", "Order of dates such as 03/04/2020: DMY, MDY or YMD.", READING, str)
    columns: str | None = _setting(
        None, "Columns of .vert, such as word,tag,lemma.",
        READING, str | None)
    groups: str | None = _setting(
        None, "Groups to compare: a table column (party, or party=left,right), or folder.",
        READING, str | None, questions=(COMPARE,))

    layers: str | int | None = _setting(
        None, "Hidden layers: last, a number, or mean:N, sum:N or concat:N of the last N (default: set by the model, "
        "else mean:4).", ENCODING, str | None)
    pooling: str | None = _setting(
        None, "Pooling of subwords: mean, sum, first or sentence (default: set by the model, else mean).",
        ENCODING, str | None)
    window: int | None = _setting(
        None, "Maximum number of subwords to encode (default: the model's limit, at most 512).",
        ENCODING, int | None)
    markers: tuple[str, str] | None = _setting(
        None, "Two texts to insert, before and after the word.", ENCODING, tuple[str, str] | None, metavar="A B")
    device: str = _setting(
        "auto", "Device of the encoder: auto, cpu, cuda or mps.", ENCODING, str)
    dtype: str = _setting(
        "fp32", "Precision of the encoder: fp32, on a GPU bf16 or fp16, on a CPU int8.",
        ENCODING, str)
    batch_tokens: int | None = _setting(
        None, "Number of subwords per batch (default: depends on the device).", ENCODING, int | None)
    revision: str | None = _setting(
        None, "Revision of a model on the hub.", ENCODING, str | None)
    precision: str = _setting(
        "float32", "Precision of the stored vectors: float32 or float16.",
        ENCODING, str, check=_check(checks.choice, "precision", ("float32", "float16")))
    # fmt: on

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            if option.check is not None:
                object.__setattr__(self, name, option.check(getattr(self, name)))
        for name, value in PRESETS.get(self.preset or "", {}).items():
            if name in OPTIONS and getattr(self, name) == DEFAULTS[name]:
                object.__setattr__(self, name, value)
        if self.distance_weight is None:
            object.__setattr__(self, "distance_weight", default_distance_weight(self.metric))
        self.sscd()  # which checks the metric, the strategy and the shares

    def reading_options(self) -> dict[str, Any]:
        """Return the options of :class:`lexshift.corpus.Reading`, by name."""
        return {name: getattr(self, name) for name, option in OPTIONS.items() if option.panel == READING}

    def encoder_options(self) -> dict[str, Any]:
        """Return the options of :func:`lexshift.encode.as_encoder` that differ from their defaults, by name."""
        names = [name for name, option in OPTIONS.items() if option.panel == ENCODING and name != "precision"]
        return {name: value for name in names if (value := getattr(self, name)) != DEFAULTS[name]}

    def sscd(self) -> SSCD:
        """Return the scorer of these settings, with the default rate in place of "auto"."""
        from lexshift.scoring.sscd import SSCD

        rate = DEFAULTS["rate"] if self.rate == "auto" else self.rate
        return SSCD(
            self.metric, self.strategy, rate, self.repeats, self.seed, distance_weight=self.distance_weight or 0.0
        )

    def scoring(self) -> Scoring:
        """Return the settings of scores, tests and intervals."""
        from lexshift.scoring.scores import Scoring

        return Scoring(
            self.sscd(),
            self.rate,
            self.permutations,
            self.resamples,
            CONFIDENCE,
            self.alpha,
            own_metric=self.tests_own_metric,
        )

    @property
    def tests_own_metric(self) -> bool:
        """True if words are tested with the metric of the score, as in the paper."""
        return self.preset == PAPER

    def arguments(self, question: str) -> dict[str, Any]:
        """Return the settings that differ from the defaults of a question, as plain values for ``run.json``.

        The folder and the engine, which do not affect results, are left out, and so is what a preset implies. An
        object, such as a loaded model, is recorded as ``{"object": name of its type}``.
        """
        implied = DEFAULTS | question_defaults(question) | PRESETS.get(self.preset or "", {})
        if implied["distance_weight"] is None:
            implied["distance_weight"] = default_distance_weight(self.metric)
        for name, option in OPTIONS.items():
            if option.check is not None:
                implied[name] = option.check(implied[name])
        values = {
            name: _plain(getattr(self, name))
            for name, option in OPTIONS.items()
            if name != "out" and option.panel != ENGINE
        }
        return {name: value for name, value in values.items() if value != _plain(implied[name])}

    def record(self, question: str, words_given: bool) -> dict[str, Any]:
        """Return the settings of a question that ``run.json`` records, as plain values.

        Paths and the options of reading and encoding are recorded elsewhere. The options that select words are left out
        if the user named the words, and those of senses if no senses are sought.
        """
        left_out = ("min_count", "top_words", "names") if words_given else ()
        values = {
            name: getattr(self, name)
            for name, option in OPTIONS.items()
            if option.panel in (PERIODS, WORDS, SCORES) and question in option.questions and name not in left_out
        }
        if self.senses:
            values |= {"senses": True}
            values |= {name: getattr(self, name) for name, option in OPTIONS.items() if option.panel == MEANINGS}
        if self.groups is not None:
            values |= {"groups": self.groups}
        return {**values, "metric": getattr(self.metric, "name", self.metric), "confidence": CONFIDENCE}


OPTIONS: dict[str, Option] = {field.name: field.metadata["option"] for field in fields(Settings)}
"""All options by name, in the order of the help pages."""
DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Settings)}


def default_distance_weight(metric: Any) -> float:
    """Return the default weight of the average pairwise distance in the score: 0.8 for "nearest", else 0."""
    from lexshift.scoring.distance.metric import get

    return 0.8 if get(metric).name == "nearest" else 0.0


def question_defaults(question: str) -> dict[str, Any]:
    """Return the defaults of the settings of a question, by name."""
    return {
        name: option.defaults.get(question, DEFAULTS[name])
        for name, option in OPTIONS.items()
        if question in option.questions
    }


def make_settings(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Settings:
    """Return the checked settings of a call.

    Parameters
    ----------
    function : callable
        The public function that was called, for error messages.
    arguments : mapping of str to value
        Its arguments by name; ``options`` holds those that its signature does not name. Arguments that are not settings
        are ignored.
    """
    options = arguments.get("options", {})
    if "words" in options:
        raise UserError(
            f"{function.__name__} takes no words, because it tests all of them; use compare or trace to choose words"
        )
    if options.get("groups") is not None and function.__name__ not in OPTIONS["groups"].questions:
        raise UserError(f"{function.__name__} does not compare groups; use compare with the words to be compared")
    accepted = [name for name, option in OPTIONS.items() if option.panel in (READING, ENCODING)]
    checks.keywords(options, accepted, function)
    return Settings(**{name: value for name, value in arguments.items() if name in OPTIONS}, **options)


def options_table() -> str:
    """Return the options of all questions as a Markdown table for the documentation."""
    lines = ["| option | default | meaning |", "| --- | --- | --- |"]
    for name, option in OPTIONS.items():
        values = [(None, DEFAULTS[name]), *option.defaults.items()]
        shown = ["" if value is None else "off" if value is False else str(value) for _, value in values]
        default = "; ".join([shown[0], *(f"{q}: {text}" for (q, _), text in zip(values[1:], shown[1:], strict=True))])
        only = "" if option.questions == QUESTIONS else f" ({', '.join(option.questions)} only)"
        if option.questions == SCORED:
            only = f" (not {SENSES})"
        lines.append(f"| `--{name.replace('_', '-')}` | {default.removeprefix('; ')} | {option.help}{only} |")
    return "\n".join(lines) + "\n"

"""Options of the commands, derived from :class:`lexshift.study.settings.Settings`.

A command that has a parameter ``settings`` receives in it the values of the settings that its decorator names; the
command line shows an option for each of them.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_type_hints

import typer

from lexshift.study.settings import DEFAULTS, ENCODING, OPTIONS, QUESTIONS, READING, SCORES, question_defaults

_PATHS = ("corpora", "old", "new", "path", "pairs", "dev", "gold", "out", "model")  # whose values may be names of files

READING_OPTIONS = tuple(name for name, option in OPTIONS.items() if option.panel == READING)
ENCODER_OPTIONS = tuple(name for name, option in OPTIONS.items() if option.panel == ENCODING and name != "precision")

Words = Annotated[
    str | None,
    typer.Option(
        "--words",
        "-w",
        help="Words to study: a list (a,b,c), or a file (words.txt, ./words) with lines of word or "
        "word<TAB>form1,form2 (default: the most frequent words).",
    ),
]
Gold = Annotated[
    str | None, typer.Option(metavar="PATH", help="Gold labels of another release, or word<TAB>value lines.")
]
Form = Annotated[str, typer.Option("--format", help="Format of the printed results: table, csv or json.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the results and nothing else.")]


def with_settings(*names: str, **defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces the parameter ``settings`` of a command by options.

    Parameters
    ----------
    *names : str
        Names of settings; the name of a question stands for all of its settings.
    **defaults
        Defaults of this command that differ from those of the settings.
    """
    known: dict[str, Any] = {}
    for name in names:
        known |= question_defaults(name) if name in QUESTIONS else {name: DEFAULTS[name]}
    known |= defaults

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        parameters = []
        for parameter in signature.parameters.values():
            if parameter.name == "settings":
                parameters += [_parameter(name, default) for name, default in known.items()]
            else:
                parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

        @functools.wraps(command)
        def run(**values: Any) -> None:
            _refuse_bytes(values)
            if "settings" in signature.parameters:
                values["settings"] = {name: _parse(name, values.pop(name)) for name in known}
            command(**values)

        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def _parameter(name: str, default: Any) -> inspect.Parameter:
    option = OPTIONS[name]
    shown = typer.Option(*option.flags, help=option.help, rich_help_panel=option.panel, metavar=option.metavar)
    text = option.parse is not None and default is not None
    kind: Any = Annotated[option.type, shown]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=str(default) if text else default, annotation=kind
    )


def _parse(name: str, value: Any) -> Any:
    parse = OPTIONS[name].parse
    return value if parse is None else parse(value)


def _refuse_bytes(values: dict[str, Any]) -> None:
    """Refuse options whose text is not UTF-8; only names of files may be any bytes."""
    from lexshift.errors import UserError

    for name, value in values.items():
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and name not in _PATHS and not os.path.exists(text):
                try:
                    text.encode()
                except UnicodeEncodeError:
                    raise UserError(f"--{name.replace('_', '-')} is not UTF-8: {text!r}") from None


Model = Annotated[str, typer.Option("--model", "-m", help="minilm, a folder, or a name on the hub.")]
Match = Annotated[
    str,
    typer.Option(
        help="word, cased (case matters), token (exact, between white space) or lemma.", rich_help_panel=READING
    ),
]
Split = Annotated[
    str,
    typer.Option(
        help="A line is a sentence (lines), a paragraph (prose) or a part of one (wrapped).", rich_help_panel=READING
    ),
]
Language = Annotated[
    str,
    typer.Option(
        help="ISO code, for sentences, lemmas and function words; auto detects it in each corpus.",
        rich_help_panel=READING,
    ),
]
Encoding = Annotated[str, typer.Option(help="Of text files.", rich_help_panel=READING)]
Errors = Annotated[
    str, typer.Option(help="Bytes that are not in the encoding: strict or replace.", rich_help_panel=READING)
]
TextColumn = Annotated[str, typer.Option(help="Of tables.", rich_help_panel=READING)]
DateColumn = Annotated[str | None, typer.Option(help="Of tables.", rich_help_panel=READING)]
Keep = Annotated[
    float | None,
    typer.Option(
        help="The share of the distance that is kept in the score; 0.25 for nearest, else 0.", rich_help_panel=SCORES
    ),
]
Space = Annotated[str, typer.Option(help="Of the vectors: raw, centred or standardised.", rich_help_panel=SCORES)]
Layers = Annotated[
    str | None,
    typer.Option(
        help="last, a number, or mean:N, sum:N, concat:N of the last N; mean:4, unless a tuned model differs.",
        rich_help_panel=ENCODING,
    ),
]
Pooling = Annotated[
    str | None,
    typer.Option(
        help="Of a word's pieces: mean, sum, first, or sentence for all of it; mean, unless a tuned model differs.",
        rich_help_panel=ENCODING,
    ),
]
Window = Annotated[int | None, typer.Option(help="The most pieces of a sentence.", rich_help_panel=ENCODING)]
Markers = Annotated[
    tuple[str, str] | None, typer.Option(help="Text before and after the word.", rich_help_panel=ENCODING)
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.", rich_help_panel=ENCODING)]
Dtype = Annotated[
    str,
    typer.Option(help="fp32; bf16, fp16 on a GPU; int8 on a processor, approximate.", rich_help_panel=ENCODING),
]
Revision = Annotated[str | None, typer.Option(help="Of a model on the hub.", rich_help_panel=ENCODING)]
Precision = Annotated[str, typer.Option(help="Of the vectors on disk: float32 or float16.", rich_help_panel=ENCODING)]
Strategy = Annotated[
    str, typer.Option(help="What is swapped: random, or distance (the farthest).", rich_help_panel=SCORES)
]
Normalised = Annotated[
    bool,
    typer.Option(
        "--normalised",
        help="Normalise swap counts by corpus size: sentences if known (a sentence a line), else running words.",
        rich_help_panel=SCORES,
    ),
]
Repeats = Annotated[int, typer.Option(help="Of the random swap.", rich_help_panel=SCORES)]
Alpha = Annotated[float, typer.Option(help="The false discovery rate.", rich_help_panel=SCORES)]
Seed = Annotated[int, typer.Option(help="Of every random choice.", rich_help_panel=SCORES)]
ScoringSeed = Annotated[
    int, typer.Option(help="Seed for swaps, permutations and bootstrap resamples.", rich_help_panel=SCORES)
]
SampleSeed = Annotated[
    int,
    typer.Option(
        help="Seed for the sample of usages (--max-per-word); another seed needs another --out.", rich_help_panel=SCORES
    ),
]
Metric = Annotated[str, typer.Option(help="The distance between two sets of usages.", rich_help_panel=SCORES)]
Rate = Annotated[str, typer.Option(help="The share that is swapped, 0 to 1; or auto.", rich_help_panel=SCORES)]
Permutations = Annotated[
    str,
    typer.Option(
        help="Maximum number of permutations per word; auto for as many as the number of words requires.",
        rich_help_panel=SCORES,
    ),
]


@dataclass(frozen=True)
class Group:
    """Options that go together."""

    def given(self) -> dict[str, Any]:
        """Their values by their names."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class Reading(Group):
    """How text is read."""

    split: Split = "auto"
    language: Language = "auto"
    encoding: Encoding = "utf-8"
    errors: Errors = "strict"
    text_column: TextColumn = "text"


@dataclass(frozen=True)
class Encoder(Group):
    """How text is encoded."""

    layers: Layers = None
    pooling: Pooling = None
    window: Window = None
    markers: Markers = None
    device: Device = "auto"
    dtype: Dtype = "fp32"
    revision: Revision = None


@dataclass(frozen=True)
class Vectors(Encoder):
    """How text is encoded, and how its vectors are kept."""

    precision: Precision = "float32"


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of its groups in place of the groups."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, type[Group]] = {}
    parameters = []
    for parameter in signature.parameters.values():
        kind = parameter.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            groups[parameter.name], types = kind, get_type_hints(kind, include_extras=True)
            parameters += [_option(field.name, field.default, types[field.name]) for field in fields(kind)]
        else:
            parameters.append(_option(parameter.name, parameter.default, kind))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        _refuse_bytes(given)
        made = {name: kind(**{f.name: given.pop(f.name) for f in fields(kind)}) for name, kind in groups.items()}
        command(**given, **made)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _option(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def permutations(text: str) -> Any:
    """Return the value of --permutations: a whole number, or auto."""
    return _parse("permutations", text)

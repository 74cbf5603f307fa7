"""Options that several commands have: how text is read, how it is encoded, and how change is scored.

Options that go together are a group: a parameter of a command that is a group stands for all of its options.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_type_hints

import typer

_PATHS = ("corpora", "old", "new", "path", "pairs", "dev", "gold", "out", "model")  # whose values may be names of files
_READING, _ENCODING, SCORES = "How text is read", "How it is encoded", "How change is scored"

Model = Annotated[str, typer.Option("--model", "-m", help="minilm, a folder, or a name on the hub.")]
Gold = Annotated[str | None, typer.Option(metavar="PATH", help="Gold of another release, or of word<TAB>value lines.")]
Match = Annotated[
    str,
    typer.Option(
        help="word, cased (case matters), token (exact, between white space) or lemma.", rich_help_panel=_READING
    ),
]
Split = Annotated[
    str,
    typer.Option(
        help="A line is a sentence (lines), a paragraph (prose) or a part of one (wrapped).", rich_help_panel=_READING
    ),
]
Language = Annotated[
    str,
    typer.Option(
        help="ISO code, for sentences, lemmas and function words; auto detects it in each corpus.",
        rich_help_panel=_READING,
    ),
]
Encoding = Annotated[str, typer.Option(help="Of text files.", rich_help_panel=_READING)]
Errors = Annotated[
    str, typer.Option(help="Bytes that are not in the encoding: strict or replace.", rich_help_panel=_READING)
]
TextColumn = Annotated[str, typer.Option(help="Of tables.", rich_help_panel=_READING)]
DateColumn = Annotated[str | None, typer.Option(help="Of tables.", rich_help_panel=_READING)]
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
        rich_help_panel=_ENCODING,
    ),
]
Pooling = Annotated[
    str | None,
    typer.Option(
        help="Of a word's pieces: mean, sum, first, or sentence for all of it; mean, unless a tuned model differs.",
        rich_help_panel=_ENCODING,
    ),
]
Window = Annotated[int | None, typer.Option(help="The most pieces of a sentence.", rich_help_panel=_ENCODING)]
Markers = Annotated[
    tuple[str, str] | None, typer.Option(help="Text before and after the word.", rich_help_panel=_ENCODING)
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.", rich_help_panel=_ENCODING)]
Dtype = Annotated[
    str,
    typer.Option(help="fp32; bf16, fp16 on a GPU; int8 on a processor, approximate.", rich_help_panel=_ENCODING),
]
Revision = Annotated[str | None, typer.Option(help="Of a model on the hub.", rich_help_panel=_ENCODING)]
Precision = Annotated[str, typer.Option(help="Of the vectors on disk: float32 or float16.", rich_help_panel=_ENCODING)]
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
Form = Annotated[str, typer.Option("--format", help="What is printed: table, csv or json.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the results and nothing else.")]


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


@dataclass(frozen=True)
class Scoring(Group):
    """How change is scored."""

    metric: Metric = "nearest"
    strategy: Strategy = "random"
    normalised: Normalised = False
    rate: Rate = "0.3"
    space: Space = "standardised"
    repeats: Repeats = 20
    alpha: Alpha = 0.05
    seed: ScoringSeed = 0
    sample_seed: SampleSeed = 0

    def given(self) -> dict[str, Any]:
        """Their values by their names."""
        from lexshift.cli.results import number_or_auto

        return super().given() | {"rate": number_or_auto(self.rate, "rate", "a number from 0 to 1")}


def permutations(text: str) -> Any:
    """Return the value of --permutations: a whole number, or auto."""
    from lexshift.cli.results import number_or_auto

    return number_or_auto(text, "permutations", "a whole number", int)


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


def _refuse_bytes(given: dict[str, Any]) -> None:
    """Refuse options whose text is not UTF-8; only names of files may be any bytes."""
    from lexshift.errors import UserError

    for name, value in given.items():
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and name not in _PATHS and not os.path.exists(text):
                try:
                    text.encode()
                except UnicodeEncodeError:
                    raise UserError(f"--{name.replace('_', '-')} is not UTF-8: {text!r}") from None


def _option(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

"""Options of the commands, derived from :class:`lexshift.study.settings.Settings`.

A command that has a parameter ``settings`` receives in it the values of the settings that its decorator names; the
command line shows an option for each of them.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_type_hints

import typer

from lexshift.study.settings import DEFAULTS, ENCODING, OPTIONS, QUESTIONS, READING, question_defaults

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


def with_settings(
    *names: str, helps: Mapping[str, str] | None = None, **defaults: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces the parameter ``settings`` of a command by options.

    Parameters
    ----------
    *names : str
        Names of settings; the name of a question stands for all of its settings.
    helps : mapping of str to str, optional
        Help texts of this command that differ from those of the settings.
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
                parameters += [_parameter(name, default, helps or {}) for name, default in known.items()]
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


def _parameter(name: str, default: Any, helps: Mapping[str, str]) -> inspect.Parameter:
    option = OPTIONS[name]
    text = helps.get(name, option.help)
    shown = typer.Option(*option.flags, help=text, rich_help_panel=option.panel, metavar=option.metavar)
    is_text = option.parse is not None and default is not None
    kind: Any = Annotated[option.type, shown]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=str(default) if is_text else default, annotation=kind
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
Revision = Annotated[str | None, typer.Option(help="Of a model on the hub.", rich_help_panel=ENCODING)]


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

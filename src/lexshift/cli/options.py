"""Options of the commands, derived from :class:`lexshift.study.settings.Settings`.

A command that has a parameter ``settings`` receives in it the values of the settings that its decorator names; the
command line shows an option for each of them.
"""

from __future__ import annotations

import copy
import functools
import inspect
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperOption
from typer.models import OptionInfo

from lexshift.cli.completion import completer
from lexshift.errors import UserError
from lexshift.study.settings import DEFAULTS, ENCODING, OPTIONS, QUESTIONS, READING, question_defaults

_PATH_OPTIONS = (
    "corpora",
    "old",
    "new",
    "path",
    "pairs",
    "dev",
    "gold",
    "out",
    "model",
    "inventory",
    "dictionary",
    "substitutes",
)

READING_OPTIONS = tuple(name for name, option in OPTIONS.items() if option.panel == READING)
UNDATED_OPTIONS = tuple(
    name for name in READING_OPTIONS if name not in ("date_column", "document_column", "date_order", "groups")
)
ENCODER_OPTIONS = tuple(name for name, option in OPTIONS.items() if option.panel == ENCODING and name != "precision")

OldCorpus = Annotated[
    str,
    typer.Argument(metavar="OLD", help="Earlier corpus: a text file, table, folder or pattern, also .gz and .zst."),
]
NewCorpus = Annotated[str | None, typer.Argument(metavar="NEW", help="Later corpus, in any of these forms.")]
Words = Annotated[
    str | None,
    typer.Option(
        "--words",
        "-w",
        help="Words: a list (a,b,c), or a file (words.txt, ./words) with one word, or "
        "word<TAB>form1,form2, per line (default: the most frequent words).",
    ),
]
Gold = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Gold labels: another release, or a file of word<TAB>value lines."),
]
Form = Annotated[
    str,
    typer.Option(
        "--format", help="Format of the printed results: table, csv or json.", autocompletion=completer("format")
    ),
]
FailOn = Annotated[str | None, typer.Option("--fail-on", help="Verdicts (a,b) that make the exit status 3.")]
Plan = Annotated[
    bool, typer.Option("--plan", help="Print how much there is to do, how long it takes and its size; start nothing.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the results and nothing else.")]


class Command(TyperCommand):
    """A command that refuses an option with one value that is given twice, instead of ignoring the first value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; raise an error for a repeated option."""
        arguments = list(args)
        rest = super().parse_args(ctx, args)  # shows the help page if that is asked for
        *_, parameters = self.make_parser(ctx).parse_args(arguments)
        for parameter, n in Counter(parameters).items():
            takes_one_value = isinstance(parameter, TyperOption) and not (parameter.is_flag or parameter.multiple)
            if n > 1 and takes_one_value:
                values = "one value" if parameter.nargs == 1 else "two values"
                raise UserError(f"{parameter.opts[0]} takes {values}, but it is given {n} times; give it once")
        return rest


def with_settings(
    *names: str, helps: Mapping[str, str] | None = None, **defaults: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces the parameters ``settings`` and ``training`` of a command by options.

    ``training`` is an instance of its annotation, a dataclass of :mod:`lexshift.tune.settings` with an option for each
    field.

    Parameters
    ----------
    *names : str
        Names of settings; the name of a question stands for all of its settings.
    helps : mapping of str to str, optional
        Help texts of this command that differ from those of the settings.
    **defaults
        Defaults of this command that differ from those of the settings.
    """
    option_defaults: dict[str, Any] = {}
    for name in names:
        option_defaults |= question_defaults(name) if name in QUESTIONS else {name: DEFAULTS[name]}
    option_defaults |= defaults

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        training: Any = None
        parameters = []
        for parameter in signature.parameters.values():
            if parameter.name == "settings":
                parameters += [_parameter(name, default, helps or {}) for name, default in option_defaults.items()]
            elif parameter.name == "training":
                training = parameter.annotation
                parameters += _training_parameters(training)
            else:
                parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        parameters = [_with_default_in_help(parameter) for parameter in parameters]

        @functools.wraps(command)
        def run(**values: Any) -> None:
            _refuse_bytes(values)
            if "settings" in signature.parameters:
                values["settings"] = {name: _parse(name, values.pop(name)) for name in option_defaults}
            if training is not None:
                values["training"] = training(**{field.name: values.pop(field.name) for field in fields(training)})
            command(**values)

        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def _parameter(name: str, default: Any, helps: Mapping[str, str]) -> inspect.Parameter:
    option = OPTIONS[name]
    text = helps.get(name, option.help)
    info = typer.Option(
        *option.flags,
        help=text,
        rich_help_panel=option.panel,
        metavar=option.metavar,
        autocompletion=completer(name),
    )
    is_text = option.parse is not None and default is not None
    kind: Any = Annotated[option.type, info]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=str(default) if is_text else default, annotation=kind
    )


def _with_default_in_help(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return an option whose help text ends with its default, which takes less space than a line of its own."""
    kind, info = get_args(parameter.annotation)
    default = parameter.default
    if not isinstance(info, OptionInfo) or default is None or default is inspect.Parameter.empty:
        return parameter
    info = copy.copy(info)
    info.show_default = False
    if not isinstance(default, bool):
        text = re.sub(r" \(default: [^)]*\)", "", info.help or "").removesuffix(".")  # this command has another one
        info.help = f"{text} (default: {default})."
    return parameter.replace(annotation=Annotated[kind, info])


def _training_parameters(kind: Any) -> list[inspect.Parameter]:
    types, parameters = get_type_hints(kind), []
    for field in fields(kind):
        panel = "Training"
        option = typer.Option(*field.metadata["flags"], help=field.metadata["help"], rich_help_panel=panel)
        annotation: Any = Annotated[types[field.name], option]
        position = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(field.name, position, default=field.default, annotation=annotation))
    return parameters


def _parse(name: str, value: Any) -> Any:
    parse = OPTIONS[name].parse
    return value if parse is None else parse(value)


def _refuse_bytes(values: dict[str, Any]) -> None:
    """Raise an error for options that are not UTF-8; only file names may be arbitrary bytes."""
    for name, value in values.items():
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and name not in _PATH_OPTIONS and not os.path.exists(text):
                try:
                    text.encode()
                except UnicodeEncodeError:
                    raise UserError(f"--{name.replace('_', '-')} is not UTF-8: {text!r}") from None

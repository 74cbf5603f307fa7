"""lexshift tune: adapt an encoder to corpora, to the time of a text, or to the meaning of a word in context."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from lexshift.cli import options
from lexshift.tune.settings import LanguageSettings, PairSettings, TimeSettings

if TYPE_CHECKING:
    from lexshift.tune import TunedModel

app = typer.Typer(no_args_is_help=True)

Out = Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Folder of the tuned model; then a --model.")]
Corpora = Annotated[
    list[str], typer.Argument(metavar="OLD NEW", help="Text, tables, folders, patterns; .gz and .zst too.")
]


def _with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter ``settings`` of a command by an option for each field of its class."""
    signature = inspect.signature(command, eval_str=True)
    kind = signature.parameters["settings"].annotation
    types = get_type_hints(kind)
    parameters = [parameter for name, parameter in signature.parameters.items() if name != "settings"]
    for field in fields(kind):
        option = typer.Option(
            *field.metadata["flags"], help=field.metadata["help"], rich_help_panel="How the model is trained"
        )
        kind_of_value: Any = types[field.name]
        annotation = Annotated[kind_of_value, option]
        parameters.append(
            inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=annotation)
        )

    @functools.wraps(command)
    def run(**values: Any) -> None:
        command(settings=kind(**{field.name: values.pop(field.name) for field in fields(kind)}), **values)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


@app.command("mlm")
@options.grouped
@_with_settings
def mlm(
    *,
    corpora: Corpora,
    out: Out,
    model: options.Model = "minilm",
    settings: LanguageSettings,
    reading: options.Reading,
    revision: options.Revision = None,
) -> None:
    """Continue the training of a masked language model on corpora. An interrupted run resumes where it stopped."""
    from lexshift.tune import tune_mlm

    _run(tune_mlm, corpora, out=out, model=model, settings=settings, revision=revision, **reading.given())


@app.command("time")
@options.grouped
@_with_settings
def time(
    *,
    corpora: Corpora,
    out: Out,
    model: options.Model = "minilm",
    labels: Annotated[
        str | None,
        typer.Option(help="Comma-separated names of the periods (default: old,new for two, else file names)."),
    ] = None,
    settings: TimeSettings,
    reading: options.Reading,
    revision: options.Revision = None,
) -> None:
    """Train a model to know the time of a text: by a token before each sentence, or by its attention."""
    from lexshift.tune import tune_time

    names = labels.split(",") if labels else None
    _run(
        tune_time, corpora, out=out, model=model, labels=names, settings=settings, revision=revision, **reading.given()
    )


@app.command("wic")
@options.grouped
@_with_settings
def wic(
    *,
    pairs: Annotated[
        list[str], typer.Argument(metavar="PAIRS", help="A data file or folder of WiC, or a table of pairs of usages.")
    ],
    out: Out,
    model: options.Model = "minilm",
    dev: Annotated[
        list[str] | None, typer.Option(help="Pairs to report the AUC and the accuracy on; they choose nothing.")
    ] = None,
    settings: PairSettings,
    revision: options.Revision = None,
) -> None:
    """Tune an encoder on pairs of usages that have the same meaning or not, as XL-LEXEME does."""
    from lexshift.tune import tune_wic

    _run(tune_wic, pairs, out=out, model=model, dev=dev or (), settings=settings, revision=revision)


def _run(tune: Callable[..., TunedModel], inputs: list[str], **arguments: Any) -> None:
    """Tune a model and print the results."""
    from lexshift.cli.results import interruptible
    from lexshift.cli.terminal import out
    from lexshift.tune.evaluation import describe_results
    from lexshift.utils.progress import Bars

    with interruptible(), Bars() as bars:
        tuned = tune(*inputs, monitor=bars, **arguments)
    run = tuned.run
    lines = [f"{tuned.folder}: tuned in {run['steps']:,} steps, {run['seconds']:,.0f} s"]
    if "tuned" in run:
        lines += [f"untuned: {describe_results(run['untuned'])}", f"tuned:   {describe_results(run['tuned'])}"]
    else:
        before, after = (run[name]["perplexity"] for name in ("before", "after"))
        lines.append(f"perplexity on held-out sentences: {before:,.1f} before, {after:,.1f} after")
    if "period" in (run.get("after") or {}):
        lines.append(
            f"period of held-out sentences predicted: {run['after']['period']:.1%} (by chance {run['chance']:.1%})"
        )
    for line in lines:
        out.print(line, soft_wrap=True)

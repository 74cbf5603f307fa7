"""The command line: one small file for each command."""

from __future__ import annotations

import io
import sys

import typer

from lexshift import __version__
from lexshift.cli import (
    check,
    compare,
    data,
    demo,
    discover,
    embed,
    evaluate,
    info,
    power,
    reproduce,
    simulate,
    trace,
    tune,
)
from lexshift.cli.terminal import complain
from lexshift.errors import UserError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compare")(compare.command)
app.command("discover")(discover.command)
app.command("demo")(demo.command)
app.command("data")(data.command)
app.command("eval")(evaluate.command)
app.command("reproduce")(reproduce.command)
app.command("embed")(embed.command)
app.add_typer(tune.app, name="tune", help="Adapt an encoder: mlm, time, wic.")
app.command("trace")(trace.command)
app.command("simulate")(simulate.command)
app.command("power")(power.command)
app.command("info")(info.command)
app.command("check")(check.command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lexshift {__version__}")
        raise typer.Exit


@app.callback()
def _lexshift(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Which words changed their meaning between two bodies of text?"""


def main() -> None:
    """Run a command; a mistake of the user is told in one sentence, with exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # letters that the terminal's encoding does not have
    try:
        app()
    except UserError as error:
        complain(str(error))
        sys.exit(2)

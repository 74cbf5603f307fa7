"""The command line: one small module for each command, without any logic of its own.

In: the arguments of a command. Out: results on standard output, everything else on standard error, and the exit status:
0 for success, 2 for an error of the user, 3 if a word has a verdict that --fail-on names, 1 if the output cannot be
written or memory runs out, 130 after Ctrl-C.
"""

from __future__ import annotations

import errno
import sys
import warnings
from typing import Any

import typer
from typer.rich_utils import rich_format_error

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
    options,
    power,
    reproduce,
    senses,
    simulate,
    trace,
    tune,
)
from lexshift.cli.streams import discard_output, open_streams
from lexshift.cli.terminal import print_error, show_notes
from lexshift.errors import UserError
from lexshift.utils.console import visible

_OUTPUT_ERRORS = (errno.EPIPE, errno.ENOSPC, errno.EBADF, errno.EIO, errno.EFBIG, errno.EDQUOT)
_COMPLETION = ("--install-completion", "--show-completion")
_ClickError: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (compare, discover, trace, senses, demo, embed, info, check, simulate, power, data, reproduce):
    app.command(_command.__name__.rpartition(".")[2], cls=options.Command)(_command.command)
app.command("eval", cls=options.Command)(evaluate.command)
app.add_typer(tune.app, name="tune", help="Adapt an encoder to corpora (mlm), to time (time) or to word senses (wic).")


def _version(show_version: bool) -> None:
    if show_version:
        typer.echo(f"lexshift {__version__}")
        raise typer.Exit


@app.callback()
def _lexshift(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Find the words that changed their meaning between two bodies of text."""


def main() -> None:
    """Run a command and exit; errors of the user are printed as one sentence."""
    open_streams()
    try:
        with warnings.catch_warnings():
            show_notes()
            status = _run()
        sys.stdout.flush()
    except UserError as error:
        print_error(str(error))
        status = 2
    except MemoryError:
        print_error(
            "there is not enough memory: use fewer words or usages (--max-per-word), or close other programs; an "
            "interrupted run with --out resumes where it stopped"
        )
        status = 1
    except OSError as error:
        if error.filename is not None or error.errno not in _OUTPUT_ERRORS:
            raise
        if error.errno != errno.EPIPE:
            print_error(f"standard output cannot be written: {error.strerror}")
        status = 1
    discard_output()
    sys.exit(status)


def _run() -> int:
    """Run the command and return its exit status; errors in its options are shown with its usage."""
    completes = any(argument in _COMPLETION for argument in sys.argv[1:])  # always of the command of that name
    try:
        return app(prog_name="lexshift" if completes else None, standalone_mode=False) or 0
    except _ClickError as error:
        error.message = visible(error.message)
        if "unexpected extra argument" in error.message and error.ctx.info_name == "compare":
            error.message += ". Give words with --words, and three or more corpora to lexshift trace."
        rich_format_error(error)
        return error.exit_code

"""Run a study and print its result: results go to standard output, everything else to standard error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer

from lexshift.cli.terminal import print_error
from lexshift.study.settings import SENSES, TRACE
from lexshift.utils import checks
from lexshift.utils.monitor import Monitor, NoteRecorder, Silent
from lexshift.utils.progress import Bars

if TYPE_CHECKING:
    from lexshift.cli.printout import Printout
    from lexshift.study.study_result import StudyResult

FORMATS = ("table", "csv", "json")
INTERRUPTED = "interrupted; run the same command again to resume"
FOUND = 3
"""Exit status if a word has a verdict that --fail-on names."""
_FUNCTIONS = {SENSES: "find_senses"}  # names of functions that differ from those of their commands


@contextmanager
def interruptible(message: str = INTERRUPTED) -> Iterator[None]:
    """End the command with a message, not a traceback, after Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        print_error(message)
        raise typer.Exit(130) from None


@contextmanager
def progress_monitor(quiet: bool, message: str = INTERRUPTED) -> Iterator[Monitor]:
    """Yield a monitor that shows progress bars unless ``quiet``; after Ctrl-C end the command with a message."""
    with interruptible(message), Bars() as bars:
        yield Silent() if quiet else bars


def run_question(
    question: str,
    corpora: Sequence[str],
    arguments: dict[str, Any],
    form: str,
    quiet: bool,
    rows: int | None = None,
    fail_on: str | None = None,
) -> None:
    """Answer a question, and print the result and the path of the page.

    If the results folder already has the results of the same command, they are printed again and nothing is computed.

    Parameters
    ----------
    question : "compare", "discover", "trace" or "senses"
    corpora : sequence of str
    arguments : dict
        Keyword arguments of the function that answers the question.
    form : "table", "csv" or "json"
    quiet : bool
        Whether to print nothing but the results.
    rows : int, optional
        Maximum number of rows of a printed table.
    fail_on : str, optional
        Verdicts, separated by commas: the command ends with the status :data:`FOUND` if a word has one of them.
    """
    checks.choice(form, "format", FORMATS)
    failing_verdicts = read_verdicts(fail_on, question)
    with progress_monitor(quiet) as monitor:
        if arguments["out"] is None:
            from lexshift.study.periods import default_out

            cut = arguments.get("by") or arguments.get("split_at")
            arguments["out"] = default_out(question, corpora, cut)
        printout = _answer(question, corpora, arguments, monitor)
    printout.print_tables(form, rows, question == SENSES)
    if not quiet:
        printout.print_summary(arguments["out"])
    if set(printout.verdicts) & set(failing_verdicts):
        raise typer.Exit(FOUND)


def _answer(question: str, corpora: Sequence[str], arguments: dict[str, Any], monitor: Monitor) -> Printout:
    """Return what to print: that of a finished run of the same command, or else of a run."""
    from lexshift.cli.printout import Printout  # the imports are here because other commands do not need them
    from lexshift.study.finished_run import describe_request, read_finished, write_finished
    from lexshift.study.result_files import SCORES_CSV, SENSES_CSV

    folder, request = arguments["out"], describe_request(question, corpora, arguments)
    finished = read_finished(folder, request)
    if finished is not None:
        printed, files = finished
        for note in printed.pop("notes"):
            monitor.note(note)
        monitor.note(f"the results in {folder!r} are complete already; nothing is computed")
        names = {"words": SCORES_CSV, "senses": SENSES_CSV}
        csv = {table: files[name].decode() for table, name in names.items() if name in files}
        return Printout.from_plain(printed, csv)
    recorder, name = NoteRecorder(monitor), _FUNCTIONS.get(question, question)
    answer = getattr(import_module(f"lexshift.study.{name}"), name)
    result: StudyResult = answer(*corpora, **arguments, monitor=recorder)
    from lexshift.cli.result_tables import make_printout

    printout = make_printout(result)
    printed = printout.to_plain() | {"notes": recorder.notes}
    write_finished(folder, request, result.run, result.kind.files, printed)
    return printout


def read_verdicts(text: str | None, question: str) -> list[str]:
    """Return the verdicts in a list that is separated by commas; raise an error for a name that is not a verdict."""
    if text is None:
        return []
    from lexshift.study.trace_result import TRACE_VERDICTS
    from lexshift.study.verdict import VERDICTS

    verdicts = TRACE_VERDICTS if question == TRACE else VERDICTS
    return [checks.choice(name.strip(), "fail-on", verdicts) for name in text.split(",")]


def print_result(result: StudyResult, form: str, rows: int | None = None, of_senses: bool = False) -> None:
    """Print the table of words, or of senses; ``rows`` limits the table format only."""
    from lexshift.cli.result_tables import make_printout

    make_printout(result).print_tables(form, rows, of_senses)


def print_summary(result: StudyResult, folder: str) -> None:
    """Print what was skipped, warnings, the outcome in a sentence, and the path of the page."""
    from lexshift.cli.result_tables import make_printout

    make_printout(result).print_summary(folder)

"""Plan a run and print the plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from lexshift.cli.results import progress_monitor
from lexshift.cli.terminal import echo, out
from lexshift.corpus.language import language_name
from lexshift.study.periods import default_out
from lexshift.study.plan import EMBED, NAMED, plan_embedding, plan_study
from lexshift.study.settings import COMPARE, NO_CONTROL, OPTIONS, SENSES, TRACE, Settings
from lexshift.study.study_plan import StorePlan, StudyPlan
from lexshift.utils import checks
from lexshift.utils.monitor import duration_range
from lexshift.utils.progress import size
from lexshift.utils.quantities import with_unit

FORMATS = ("table", "json")
_INTERRUPTED = "interrupted; nothing was written"
_SHOWN_WORDS = 10


def print_study_plan(command: str, corpora: Sequence[str], arguments: dict[str, Any], form: str, quiet: bool) -> None:
    """Print what compare, discover, trace or senses will do.

    Parameters
    ----------
    command : "compare", "discover", "trace" or "senses"
    corpora : sequence of str
    arguments : dict
        The settings, and ``words``.
    form : "table" or "json"
    quiet : bool
        Whether to show no progress.
    """
    checks.choice(form, "format", FORMATS)
    question = command
    if command == SENSES:
        question = COMPARE if len(corpora) == 2 and arguments["by"] is None else TRACE
        arguments = arguments | {"senses": True, "control": NO_CONTROL}
    if arguments["out"] is None:
        arguments = arguments | {"out": default_out(command, corpora, arguments.get("by"))}
    with progress_monitor(quiet, _INTERRUPTED) as monitor:
        plan = plan_study(question, corpora, arguments.get("words"), _make_settings(arguments), monitor)
    _print_plan(plan, command, form)


def print_embedding_plan(corpora: Sequence[str], arguments: dict[str, Any], missing: str, form: str) -> None:
    """Print what embed will do; see :func:`print_study_plan`."""
    checks.choice(form, "format", FORMATS)
    with progress_monitor(quiet=False, message=_INTERRUPTED) as monitor:
        plan = plan_embedding(corpora, arguments["words"], _make_settings(arguments), missing, monitor)
    _print_plan(plan, EMBED, form)


def _make_settings(arguments: dict[str, Any]) -> Settings:
    return Settings(**{name: value for name, value in arguments.items() if name in OPTIONS})


def _print_plan(plan: StudyPlan, command: str, form: str) -> None:
    if form == "json":
        echo(json.dumps({"command": command} | plan.record(), ensure_ascii=False, indent=1))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, text in _rows(plan, command):
        table.add_row(name, Text(text))
    out.print(table)


def _rows(plan: StudyPlan, command: str) -> list[tuple[str, str]]:
    """Return the rows of the table, a heading and a text each."""
    rows = [("plan", f"of lexshift {command}; nothing was started or written")]
    for corpus in plan.corpora:
        language = "language not known" if corpus.language is None else language_name(corpus.language)
        amount = f"{with_unit(corpus.files, 'files')}, {with_unit(corpus.words, 'running words')}, {size(corpus.bytes)}"
        rows.append((corpus.name, f"{amount}, {language}"))
    shown = ", ".join(plan.words[:_SHOWN_WORDS]) + (", ..." if len(plan.words) > _SHOWN_WORDS else "")
    choice = f"{with_unit(len(plan.words), 'words')}, {NAMED}" if plan.choice == NAMED else plan.choice
    rows.append(("words", f"{choice}: {shown}"))
    rows.append(("encoder", (plan.encoder_choice or f"{plan.encoder} (--model)").removeprefix("the encoder is ")))
    rows.append(("usages", _describe_usages(plan.targets, "words")))
    if plan.control is not None:
        rows.append(("control words", _describe_usages(plan.control, "ordinary words")))
    parts = [
        f"{name} {duration_range(*plan.seconds[name])}"
        for name in ("reading", "encoding", "scoring")
        if plan.seconds[name].high >= 1
    ]
    total = f"about {duration_range(*plan.seconds['total'])} on this machine"
    rows.append(("time", f"{total} ({', '.join(parts)})" if parts else total))
    vectors = sum(store.vectors_bytes for store in (plan.targets, plan.control) if store is not None)
    disk = f"about {size(plan.disk_bytes)}, of which {size(vectors)} are vectors"
    if plan.peak_bytes > plan.disk_bytes:
        disk += f"; up to {size(plan.peak_bytes)} while it runs"
    rows.append(("disk", disk))
    rows.append(("folder", str(plan.out)))
    return rows + [("note", note) for note in plan.notes]


def _describe_usages(store: StorePlan, unit: str) -> str:
    text = f"{with_unit(store.usages, 'usages')} of {with_unit(store.words, unit)}"
    if store.held == store.usages:
        return f"{text}; all of them are encoded already"
    held = (
        f"; {with_unit(store.held, 'usages')} {'is' if store.held == 1 else 'are'} encoded already"
        if store.held
        else ""
    )
    return f"{text}, {with_unit(store.sentences, 'distinct sentences')} to encode{held}"

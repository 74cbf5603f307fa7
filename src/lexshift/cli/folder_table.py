"""Find out what a folder holds, and print it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from lexshift.benchmark.folder_info import describe_evaluation
from lexshift.cli.terminal import echo, out, print_counts, print_store
from lexshift.errors import UserError
from lexshift.store.siblings import Siblings
from lexshift.study.folder_info import COMPLETE, FolderInfo, describe_results, describe_store
from lexshift.tune.folder_info import describe_model
from lexshift.utils import checks
from lexshift.utils.progress import size
from lexshift.utils.quantities import with_unit

FORMATS = ("table", "json")
_SHOWN_WORDS = 20


def print_folder(folder: str, form: str) -> None:
    """Print what a folder holds; an error is raised if it holds nothing of lexshift.

    Parameters
    ----------
    folder : str
    form : "table" or "json"
    """
    checks.choice(form, "format", FORMATS)
    info = describe_folder(Path(folder))
    if form == "json":
        echo(json.dumps(info.record(), ensure_ascii=False, indent=1))
        return
    if info.kind == "store" and "vectors" in info.facts:
        store = Siblings(info.path)
        print_store(store)
        for text in info.missing:
            out.print(f"{info.state}: {text}", style="yellow", soft_wrap=True)
        print_counts(store)
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, text in _rows(info):
        table.add_row(name, Text(text))
    out.print(table)


def describe_folder(folder: Path) -> FolderInfo:
    """Return what a folder holds: a tuned model, an evaluation, a store, or results of a study."""
    if not folder.is_dir():
        what = "is a file" if os.path.lexists(folder) else "is not there"
        raise UserError(f"the folder {str(folder)!r} {what}; give the folder of results, a store or a tuned model")
    for describe in (describe_model, describe_evaluation, describe_store, describe_results):
        info = describe(folder)
        if info is not None:
            return info
    raise UserError(f"{str(folder)!r} holds no results, no store and no tuned model of lexshift")


def _rows(info: FolderInfo) -> list[tuple[str, str]]:
    """Return the rows of the table, a heading and a text each."""
    origin = [f"lexshift {info.lexshift}"] * (info.lexshift is not None)
    origin += [f"finished {info.finished}"] * (info.finished is not None)
    rows = [(info.kind, info.path + (f" ({', '.join(origin)})" if origin else ""))]
    again = "; run the same command again to finish it" if info.missing else ""
    missing = f": without {', and '.join(info.missing)}{again}" if info.missing else ""
    rows.append(("state", info.state + missing))
    if info.command is not None:
        rows.append(("command", info.command))
    rows += [(f"corpus {corpus['name']}", _describe_corpus(corpus)) for corpus in info.corpora]
    if info.words:
        shown = ", ".join(info.words[:_SHOWN_WORDS]) + (", ..." if len(info.words) > _SHOWN_WORDS else "")
        rows.append(("words", f"{len(info.words):,}: {shown}"))
    if info.verdicts:
        rows.append(("verdicts", ", ".join(f"{n:,} {verdict}" for verdict, n in info.verdicts.items())))
    if info.facts.get("control_words"):
        rows.append(("control words", f"{info.facts['control_words']:,}"))
    if info.encoder is not None:
        rows.append(("encoder", (info.encoder_choice or info.encoder).removeprefix("the encoder is ")))
    rows.append(("size", size(info.bytes)))
    if info.state == COMPLETE and "report" in info.facts:
        rows.append(("report", str(Path(info.path) / info.facts["report"])))
    return rows + [("warning", text) for text in info.facts.get("warnings", [])]


def _describe_corpus(corpus: dict[str, Any]) -> str:
    texts = [str(corpus["path"])] if "path" in corpus else []
    if "object" in corpus:
        texts.append(f"{corpus['object']} of {with_unit(corpus['records'], 'records')}")
    if "files" in corpus:
        texts += [with_unit(corpus["files"], "files"), with_unit(corpus["words"], "running words")]
        texts.append(size(corpus["bytes"]))
    lines = [", ".join(texts)]
    lines += [f"skipped or altered: {with_unit(n, reason)}" for reason, n in corpus.get("skipped", {}).items()]
    if corpus.get("encodings") or corpus.get("unreadable"):
        from lexshift.corpus.sources import describe_files  # imported here because it is slow

        lines += describe_files(corpus)
    return "\n".join(lines)

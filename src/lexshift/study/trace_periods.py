"""What periods are called, and the files of a trace."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from lexshift.corpus.periods import BY
from lexshift.corpus.sources import as_text
from lexshift.errors import UserError
from lexshift.study.folder import Kind
from lexshift.study.periods import Place, _printable, corpus_labels, file_part, later_first, refuse_same
from lexshift.utils import checks

TRACE_CSV, WORDS_CSV, REPORT = "trace.csv", "words.csv", "trace.html"
TRACE = Kind("trace", (TRACE_CSV, WORDS_CSV, REPORT))


def period_labels(corpora: Sequence[Place], labels: Sequence[str] | None) -> tuple[str, ...]:
    """What the periods are called: as asked, or by their files, or by their numbers."""
    if len(corpora) == 2:
        return corpus_labels(corpora[0], corpora[1], labels)
    if labels is not None:
        listed = not isinstance(labels, str) and isinstance(labels, Iterable)
        chosen = tuple(_printable(str(label)) for label in labels) if listed else ()
        if len(chosen) != len(corpora) or not all(chosen) or len(set(chosen)) != len(chosen):
            raise UserError(f"labels must be {len(corpora)} different names, one for each period; got {labels!r}")
        return chosen
    names = tuple(_printable(as_text(Path(os.path.abspath(corpus)).name.split(".")[0])) for corpus in corpora)
    plain = len(set(names)) == len(names) and all(name and not re.search(r"[*?\[]", name) for name in names)
    return names if plain else tuple(f"period {i}" for i in range(1, len(corpora) + 1))


def default_out(corpora: Sequence[Place], by: str | None) -> str:
    """The folder for the results when nobody names one: after the corpora."""
    if by is not None:
        names = [as_text(Path(os.path.abspath(corpora[0])).name.split(".")[0]), by]
    else:
        labels = period_labels(corpora, None)
        names = [labels[0], labels[-1]]
    return "lexshift-trace-" + "-".join(file_part(name) for name in names)


def check_corpora(corpora: Sequence[Place], by: str | None, labels: Sequence[str] | None) -> None:
    """Refuse what is no sequence of periods."""
    if by is not None:
        checks.choice(by, "by", BY)
    if by is None and len(corpora) < 2:
        raise UserError(
            "one corpus has no periods: give two or more, the earliest first, or say how to cut it (--by year, decade "
            "or month)"
        )
    if by is not None and (len(corpora) != 1 or labels is not None):
        raise UserError(f"by {by!r} cuts one corpus into periods, which have their names; got {len(corpora)} corpora")
    for old, new in itertools.combinations(corpora, 2):
        refuse_same(old, new)


def out_of_order(corpora: Sequence[Place], labels: Sequence[str]) -> tuple[str, str] | None:
    """Two neighbours of which, by their names, the earlier is the later one."""
    for i, (old, new) in enumerate(itertools.pairwise(corpora)):
        if later_first(old, new):
            return labels[i], labels[i + 1]
    return None

"""What two corpora are called, and what is no pair of corpora."""

from __future__ import annotations

import filecmp
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from lexshift.corpus.sources import STANDARD_INPUT, as_text, find_sources, place_of
from lexshift.errors import UserError
from lexshift.study.result import PERIODS

_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)")
_TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")  # bidirectional controls

_LONGEST_PART = 110  # bytes of a label in the name of a folder, which may have 255

Place = str | os.PathLike[str]


def default_out(old: Place, new: Place, command: str = "") -> str:
    """Return the folder for the results when nobody names one: after the command, if it is named, and the corpora."""
    return "-".join(["lexshift", *([command] if command else []), *map(file_part, corpus_labels(old, new, None))])


def file_part(label: str) -> str:
    """Return a label as a part of the name of a folder, short enough for every system."""
    return re.sub(r"[^\w.]+", "_", label).encode()[:_LONGEST_PART].decode(errors="ignore")


def refuse_same(old: Place, new: Place) -> None:
    """The same text twice has nothing to compare, and is most likely a slip."""
    sources = [[os.path.realpath(source.path) for source in find_sources(corpus)] for corpus in (old, new)]
    if STANDARD_INPUT in (os.fspath(old), os.fspath(new)):
        return
    if sources[0] == sources[1]:
        raise UserError(f"both corpora are {os.fspath(old)!r}; give two different ones, the old one first")
    try:
        same = len(sources[0]) == len(sources[1]) == 1 and filecmp.cmp(sources[0][0], sources[1][0], shallow=False)
    except OSError as error:
        raise UserError(f"the file {error.filename!r} cannot be read: {error.strerror}") from None
    if same:
        raise UserError(f"{os.fspath(old)!r} and {os.fspath(new)!r} hold the same text; give two different corpora")


def corpus_labels(old: Place, new: Place, labels: Sequence[str] | None) -> tuple[str, str]:
    """What the corpora are called: as asked, or by their files, or old and new."""
    if labels is not None:
        listed = not isinstance(labels, str) and isinstance(labels, Iterable)
        chosen = [_printable(str(label)) for label in labels] if listed else []
        if len(chosen) != 2 or not all(chosen) or chosen[0] == chosen[1]:
            raise UserError(f"labels must be two different names, of the old and the new corpus; got {labels!r}")
        return chosen[0], chosen[1]
    files = (Path(os.path.abspath(place_of(corpus))).name for corpus in (old, new))
    first, second = (_printable(as_text(name.split(".")[0])) for name in files)
    plain = first != second and all(name and not re.search(r"[*?\[]", name) for name in (first, second))
    return (first, second) if plain and STANDARD_INPUT not in (first, second) else PERIODS


def _printable(label: str) -> str:
    """A label without what cannot be shown, or would turn around the text after it."""
    return "".join(
        c for c in label if unicodedata.category(c) not in ("Cc", "Cs") and unicodedata.bidirectional(c) not in _TURNING
    ).strip()


def later_first(old: Place, new: Place) -> bool:
    """Whether the names of the corpora say that the old one is the later one."""
    years_old, years_new = ([int(year) for year in _YEAR.findall(Path(corpus).name)] for corpus in (old, new))
    return bool(years_old and years_new) and min(years_old) > max(years_new)

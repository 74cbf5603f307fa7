"""Check the corpora of a study, and name its periods and its results folder."""

from __future__ import annotations

import filecmp
import itertools
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexshift.corpus.dated_corpus import split_labels
from lexshift.corpus.sources import (
    STANDARD_INPUT,
    ObjectFile,
    Place,
    as_text,
    find_sources,
    name_object,
    place_of,
    refuse_output_inside,
)
from lexshift.errors import UserError
from lexshift.study.settings import COMPARE, TRACE, Settings

OLD_NEW = ("old", "new")
"""Names of the two corpora of a comparison in its store, whatever their labels are."""
_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)")
_BIDIRECTIONAL = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
_MAX_BYTES = 110  # bytes of a label in the name of a folder, which may have 255


@dataclass(frozen=True)
class Periods:
    """The corpora of a study.

    Attributes
    ----------
    corpora : tuple of str or path
        The corpora in the order of the user; only one if it is cut into periods by date, and the same one twice if it
        is divided at a day.
    keys : tuple of str
        Their names in the store.
    labels : tuple of str
        Their names for the user.
    """

    corpora: tuple[Place, ...]
    keys: tuple[str, ...]
    labels: tuple[str, ...]

    def by_key(self) -> dict[str, Place]:
        """Return the corpora by their names in the store."""
        return dict(zip(self.keys, self.corpora, strict=True))

    def order_note(self) -> str | None:
        """Return a note on two neighbouring corpora whose file names suggest the opposite order, or None."""
        years = [[int(year) for year in _YEAR.findall(Path(corpus).name)] for corpus in self.corpora]
        for i, (earlier, later) in enumerate(itertools.pairwise(years)):
            if earlier and later and min(earlier) > max(later):
                return f"by its name, {self.labels[i]} is later than {self.labels[i + 1]}; if so, swap the two corpora"
        return None


def check_periods(question: str, corpora: Sequence[Place], settings: Settings) -> Periods:
    """Return the corpora of a study with their names, or raise an error if they cannot be compared.

    Parameters
    ----------
    question : "compare", "discover" or "trace"
    corpora : sequence of str or path
    settings : Settings
        Its ``labels``, ``by``, ``split_at`` and ``out``.
    """
    by, split_at, labels = settings.by, settings.split_at, settings.labels
    if settings.out is not None:
        refuse_output_inside(settings.out, corpora)
    if split_at is not None:
        if len(corpora) != 1 or by is not None:
            what = f"{len(corpora)} corpora" if by is None else f"by {by!r}"
            raise UserError(
                f"split_at {split_at} divides one corpus in two: give one corpus, or leave out --split-at; got {what}"
            )
        names = split_labels(split_at) if labels is None else period_labels((*corpora, *corpora), labels)
        return Periods((*corpora, *corpora), OLD_NEW, names)
    if by is None and len(corpora) < 2 and question != TRACE:
        raise UserError(
            f"there is only one corpus, {place_of(corpora[0])!r}: give the later one as well (NEW), or divide it by "
            f"date (--split-at 2020-03-01)"
        )
    if by is None and len(corpora) < 2:
        raise UserError(
            "one corpus has no periods: give two or more, the earliest first, or cut it by date (--by week, month, "
            "quarter, year or decade)"
        )
    if by is not None and (len(corpora) != 1 or labels is not None):
        raise UserError(
            f"by {by!r} divides one corpus into periods and names them: give one corpus without labels; got "
            f"{len(corpora)} {'corpus' if len(corpora) == 1 else 'corpora'}"
        )
    if [place_of(corpus) for corpus in corpora].count(STANDARD_INPUT) > 1:
        raise UserError("standard input ('-') can be only one of the corpora")
    for old, new in itertools.combinations(corpora, 2):
        refuse_same(old, new)
    names = period_labels(corpora, labels)
    keys = names if question == TRACE else OLD_NEW
    return Periods(tuple(map(name_object, corpora, keys)), keys, names)


def check_two_periods(periods: Sequence[str]) -> None:
    """Raise an error if there is only one period to study, by the names of the periods of a store."""
    if len(periods) < 2:
        raise UserError(f"the whole corpus belongs to one period, {periods[0]}: divide it into shorter periods (--by)")


def refuse_same(old: Place, new: Place) -> None:
    """Raise an error if both corpora are the same text, which is most likely a mistake."""
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


def period_labels(corpora: Sequence[Place], labels: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of corpora: the labels if given, else their file names, "old" and "new", or numbers.

    Python objects have no names, so corpora with an object among them are "old" and "new" or have numbers.
    """
    if labels is not None:
        is_list = not isinstance(labels, str) and isinstance(labels, Iterable)
        chosen = tuple(_printable(str(label)) for label in labels) if is_list else ()
        if len(chosen) != len(corpora) or not all(chosen) or len(set(chosen)) != len(chosen):
            raise UserError(f"labels must be {len(corpora)} different names, one for each corpus; got {labels!r}")
        return chosen
    files = [Path(os.path.abspath(place_of(corpus))).name for corpus in corpora]
    names = tuple(_printable(as_text(name.split(".")[0])) for name in files)
    unique = len(set(names)) == len(names) and all(name and not re.search(r"[*?\[]", name) for name in names)
    if unique and STANDARD_INPUT not in names and not any(isinstance(corpus, ObjectFile) for corpus in corpora):
        return names
    return OLD_NEW if len(corpora) == 2 else tuple(f"period {i}" for i in range(1, len(corpora) + 1))


def _printable(label: str) -> str:
    """Return a label without control characters and characters that change the direction of writing."""
    hidden = (unicodedata.category(c) in ("Cc", "Cs") or unicodedata.bidirectional(c) in _BIDIRECTIONAL for c in label)
    return "".join(c for c, is_hidden in zip(label, hidden, strict=True) if not is_hidden).strip()


def default_out(question: str, corpora: Sequence[Place], division: str | None = None) -> str:
    """Return the default name of a results folder, made from the question and the corpora.

    ``division`` is the length of the periods of one corpus, or the date that divides it.
    """
    labels = period_labels(corpora, None)
    parts = [labels[0], labels[-1] if division is None else division]
    names = [re.sub(r"[^\w.]+", "_", part).encode()[:_MAX_BYTES].decode(errors="ignore") for part in parts]
    return "-".join(["lexshift", *([] if question == COMPARE else [question]), *names])

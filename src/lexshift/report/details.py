"""What the page shows of a word once it is chosen: its usages, where they lie, and its distances after swapping.

A page must stay small enough to be opened, so it holds a bounded number of usages: all words get some, and those that
one looks at first, which changed or rank high, get more. Of a word with more usages than it is given the page holds
those that belong most to its corpus, and others evenly from the rest. Sentences are cut to a window around the word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.report.content import rounded
from lexshift.senses.evidence import Plane, leanings, plane
from lexshift.study.result import CHANGED, PERIODS, WordResult
from lexshift.utils.arrays import Floats
from lexshift.utils.threads import available_cores, single_products

if TYPE_CHECKING:
    from lexshift.study.result import Result

_USAGES = 60_000  # on the whole page, where the least for each word allow it
_MOST, _LEAST = 150, 6  # for each word and corpus
_FIRST = 100  # words that get the most, however many words there are
_BEFORE, _AFTER = 160, 200  # characters of a sentence around the word
_LONGEST_WORD = 80


def details(result: Result) -> Iterator[dict[str, Any]]:
    """What the page holds of each word, in the order of the table."""
    table = result.table
    result.siblings.occurrences  # noqa: B018  read once, before several threads ask for it
    with single_products(), ThreadPoolExecutor(available_cores()) as pool:
        yield from pool.map(partial(_word, result), table["word"], allotted(table["verdict"].tolist()))


def allotted(verdicts: Sequence[str]) -> list[int]:
    """How many usages in each corpus the page may hold of each word, by the verdicts in the order of the ranking.

    If not all words can have the most, half of the usages are shared evenly, and the rest go to the words that changed
    and then to those that rank highest, as many as can have the most.

    >>> allotted(["changed", "stable", "too few"])
    [150, 150, 150]
    """
    n = len(verdicts)
    if 2 * _MOST * n <= _USAGES:
        return [_MOST] * n
    even = min(max(_LEAST, _USAGES // (4 * n)), _MOST)
    left = _USAGES - 2 * even * n
    first = max(_FIRST, left // (2 * max(_MOST - even, 1)))
    order = sorted(range(n), key=lambda i: verdicts[i] != CHANGED)  # stable: else as they rank
    given = [even] * n
    for i in order[:first]:
        given[i] = _MOST
    return given


def _word(result: Result, name: str, most: int) -> dict[str, Any]:
    told: dict[str, Any] = {"usages": [[], []]}
    scored = result.scores.words.get(name)
    if scored is not None:
        told["eOriginal"] = rounded(scored.change.e_original)
        told["eSwap"] = [rounded(value) for value in scored.change.e_swap]
    if name not in result.siblings:
        return told
    leaning, seen = _looked_at(result, name)
    spread = float(np.std(np.concatenate(leaning))) or 1.0
    sides = (None, None) if seen is None else (seen.old, seen.new)
    told["usages"] = [
        _usages(result, name, side, leaning[side] / spread, sides[side], most) for side in range(len(PERIODS))
    ]
    if seen is not None:
        told["explained"] = [round(float(share), 3) for share in seen.explained]
        told["centres"] = [[rounded(x) for x in side.mean(axis=0)] for side in (seen.old, seen.new)]
    return told


def _looked_at(result: Result, name: str) -> tuple[tuple[Floats, Floats], Plane | None]:
    """How much each usage leans to the new corpus, and the plane; the vectors are put into their space only once."""
    old, new = WordResult(result, name).vectors
    if not len(old) or not len(new):
        return (np.zeros(len(old)), np.zeros(len(new))), None
    return leanings(old, new), plane(old, new)


def _usages(result: Result, name: str, side: int, leaning: Floats, at: Floats | None, most: int) -> list[list[Any]]:
    """Rows of [before, word, after, leaning, x, y, place], those that belong most to the corpus first."""
    store = result.siblings
    begin, end = store.rows(name, store.corpora[side])
    chosen = _chosen(np.argsort(-leaning if side else leaning, kind="stable"), most)
    table = store.occurrences.slice(begin, end - begin).take(chosen)
    sentences, starts, ends, files, lines = (
        table[column].to_pylist() for column in ("sentence", "start", "end", "file", "line")
    )
    points = np.zeros((len(chosen), 2)) if at is None else at[chosen]  # (n, 2)
    return [
        [*_window(sentence, start, end), round(lean, 2), rounded(x), rounded(y), f"{file}:{line}"]
        for sentence, start, end, lean, (x, y), file, line in zip(
            sentences, starts, ends, leaning[chosen].tolist(), points.tolist(), files, lines, strict=True
        )
    ]


def _chosen(order: Any, most: int) -> Any:
    """The first half of ``most`` from the beginning, the others evenly from the rest."""
    if len(order) <= most:
        return order
    first = most // 2
    rest = np.linspace(first, len(order) - 1, most - first).round().astype(int)
    return order[np.concatenate([np.arange(first), rest])]


def _window(sentence: str, start: int, end: int) -> tuple[str, str, str]:
    """What stands before the word, the word, and what comes after it."""
    before, word, after = sentence[:start], sentence[start:end], sentence[end:]
    if len(before) > _BEFORE:
        before = before[-_BEFORE:]
        before = "…" + (before.partition(" ")[2] or before)
    if len(after) > _AFTER:
        after = after[:_AFTER]
        after = (after.rpartition(" ")[0] or after) + "…"
    return before, word if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD] + "…", after

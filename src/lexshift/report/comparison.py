"""The page of a comparison or a discovery, and its short view in a notebook.

The page holds the scores of every word and a bounded number of usages, so that browsers can open it: all words get
some usages, and words that changed, appeared, disappeared or rank high get more. If a word has more usages than that,
the page holds the usages most typical of each corpus, without near-duplicates, and an even selection of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.report.groups import group_columns, group_rows
from lexshift.report.methods import describe_weights, facts, methods, tested_by
from lexshift.report.page import (
    NOTEBOOK_ROWS,
    chance,
    decimal,
    digits,
    excerpt,
    notebook_table,
    pack_groups,
    render_page,
    round_figures,
)
from lexshift.report.presence import notebook_presence, presence_groups
from lexshift.report.senses import SCRIPT, STYLE, notebook_senses, sense_values
from lexshift.senses.evidence import leanings, plane
from lexshift.senses.variety import choose_varied
from lexshift.study.periods import OLD_NEW
from lexshift.study.verdict import APPEARED, CHANGED, DISAPPEARED, MAX_LOCAL_FDR, UNCLEAR, VERDICTS
from lexshift.utils.arrays import Floats
from lexshift.utils.plain import to_plain
from lexshift.utils.threads import available_cores, single_products

if TYPE_CHECKING:
    from lexshift.study.result import Result

SCRIPTS = ("base.js", "charts.js", "table.js", SCRIPT, "word.js", "comparison.js")
FINDINGS = (CHANGED, APPEARED, DISAPPEARED)
"""Verdicts of which the page shows as many usages as possible."""
_TABLE_ROWS = 200  # rows of the table that needs no script
_GROUP_ROWS = 100  # rows of the table of groups
_USAGES = 60_000  # usages on the whole page, unless the minimum per word requires more
_MAX_USAGES, _MIN_USAGES = 150, 6  # per word and corpus
_FIRST_WORDS = 100  # words that get the maximum, however many words there are
_LISTED = 30  # studied words in the list of words that appeared or disappeared
_ALL_FIGURES = 17  # digits of a float, which the script then rounds as the template does
_NUMBERS = (
    *("score", "low", "high", "distance", "sscd", "p", "q", "gap", "gap_low", "gap_high"),
    *("excess", "local_fdr"),
)  # columns that are numbers of scored words


def render(result: Result) -> str:
    """Return the page of a comparison or a discovery as HTML text."""
    starts, groups = pack_groups(details(result))
    return render_page(
        "comparison.html",
        styles=("base.css", "comparison.css", STYLE),
        scripts=SCRIPTS,
        data=content(result) | {"groups": starts},
        groups=groups,
        result=result,
        run=result.run,
        rows=result.table.head(_TABLE_ROWS).to_dict("records"),
        hidden=max(len(result.table) - _TABLE_ROWS, 0),
        verdicts={verdict: result.count(verdict) for verdict in VERDICTS if result.count(verdict)},
        has_excess=bool(result.backdrop.control_words),
        presence=presence_groups(result, listed_words(result)),
        group_columns=group_columns(result),
        group_rows=group_rows(result, _GROUP_ROWS),
        max_local_fdr=MAX_LOCAL_FDR,
        methods=methods(result),
        tested=tested_by(result) if result.scores.words else "",
        weights=_weights(result),
        facts=facts(result),
    )


def _weights(result: Result) -> str:
    """Return the definition of the score if it is a variant of SSCD, else an empty text."""
    weight = float(result.settings["distance_weight"])
    return describe_weights(weight) if weight else ""


def notebook_view(result: Result) -> str:
    """Return the headline, the first words of the table, and the senses if they were sought, as HTML text."""
    rows, has_excess = [], bool(result.backdrop.control_words)
    for row in result.table.head(NOTEBOOK_ROWS).to_dict("records"):
        cells = [row["word"], str(row["n_old"]), str(row["n_new"])]
        if row["word"] not in result.scores.words:
            rows.append([*cells, *[""] * (5 if has_excess else 4), f"{row['verdict']}: {row['reason']}"])
            continue
        cells += [digits(row["score"]), f"{digits(row['low'])} to {digits(row['high'])}"]
        cells += [result.backdrop.format_gap(row["gap"]), *([decimal(row["excess"])] if has_excess else [])]
        verdict = f"{row['verdict']}: {row['reason']}" if row["verdict"] == UNCLEAR else row["verdict"]
        rows.append([*cells, chance(row["q"]), verdict])
    columns = ["word", *result.labels, "change", "95 % interval", "gap", *(["excess"] if has_excess else []), "q"]
    note = ". ".join(text for text in (result.background_note(), result.group_headline()) if text)
    table = notebook_table(result.headline(), [*columns, "verdict"], rows, len(result.table), note=note)
    return table + notebook_presence(result) + notebook_senses(result)


def content(result: Result) -> dict[str, Any]:
    """Return the page's data without the usages, as plain values."""
    scores = result.scores
    words = []
    for row in result.table.to_dict("records"):
        word: dict[str, Any] = {
            "word": row["word"],
            "n": [row["n_old"], row["n_new"]],
            "found": [result.count_occurrences(row["word"], period) for period in OLD_NEW],
            "verdict": row["verdict"],
            "reason": row["reason"],
            "rate": [round(row[f"per_million_{period}"], 2) for period in OLD_NEW],
        }
        words.append(word)
        if row["word"] not in scores.words:
            continue
        known = {name: round_figures(row[name], _ALL_FIGURES) for name in _NUMBERS}
        word |= {name: value for name, value in known.items() if value is not None}
        test = scores.words[row["word"]].test
        word["permutations"] = test.permutations
        if test.p == test.tail:
            word["approximate"] = True
    curve = (
        None
        if scores.curve is None
        else {
            "rates": [round(float(rate), 4) for rate in scores.curve.rates],
            "mean": [round_figures(value) for value in scores.curve.mean],
            "std": [round_figures(value) for value in scores.curve.std],
            "original": round_figures(scores.curve.e_original.mean()),
            "least": scores.curve.rate,
            "chosen": scores.sscd.rate,
        }
    )
    return {
        "labels": list(result.labels),
        "names": list(result.corpus_names),
        **{name: result.settings[name] for name in ("alpha", "metric")},
        "weights": _weights(result),
        "least": result.settings["min_usages"],
        "background": to_plain(result.backdrop),
        "max_local_fdr": MAX_LOCAL_FDR,
        "curve": curve,
        "words": words,
    }


def listed_words(result: Result) -> list[dict[str, Any]]:
    """Return the first studied words that appeared or disappeared, each with its first sentence on the page."""
    table = result.table
    presence = table[table["verdict"].isin((APPEARED, DISAPPEARED))].head(_LISTED)
    listed = []
    for row in presence.to_dict("records"):
        side = int(row["verdict"] == APPEARED)
        usages = _word_details(result, row["word"], _MIN_USAGES)["usages"][side]
        listed.append(row | {"usages": [usage[:3] for usage in usages[:1]]})
    return listed


def details(result: Result) -> Iterator[dict[str, Any]]:
    """Yield the usages and distances of each word, in the order of the table."""
    table = result.table
    result.siblings.occurrences  # noqa: B018  read once, before several threads need it
    with single_products(), ThreadPoolExecutor(available_cores()) as pool:
        yield from pool.map(partial(_word_details, result), table["word"], allot_usages(table["verdict"].tolist()))


def allot_usages(verdicts: Sequence[str], usages: int = _USAGES, first_words: int = _FIRST_WORDS) -> list[int]:
    """Return the maximum number of usages per corpus that the page holds of each word.

    If not all words can have the maximum, half of the usages are shared evenly. The rest go to the words that changed,
    appeared or disappeared, and then to those that rank highest, so that as many as possible have the maximum.

    Parameters
    ----------
    verdicts : sequence of str
        Verdict of each word, in the order of the ranking.
    usages : int
        Number of usages on the whole page.
    first_words : int
        Number of words that get the maximum in any case.

    Examples
    --------
    >>> allot_usages(["changed", "stable", "too few"])
    [150, 150, 150]
    """
    n = len(verdicts)
    if 2 * _MAX_USAGES * n <= usages:
        return [_MAX_USAGES] * n
    even = min(max(_MIN_USAGES, usages // (4 * n)), _MAX_USAGES)
    first = max(first_words, (usages - 2 * even * n) // (2 * max(_MAX_USAGES - even, 1)))
    # A stable sort, so that ranks decide among the others.
    order = sorted(range(n), key=lambda i: verdicts[i] not in FINDINGS)
    limits = [even] * n
    for i in order[:first]:
        limits[i] = _MAX_USAGES
    return limits


def _word_details(result: Result, name: str, max_usages: int) -> dict[str, Any]:
    """Return the distances of a word, and its usages with their positions in the plane."""
    values: dict[str, Any] = {"usages": [[], []]}
    word = result.word(name)
    if word.score is not None:
        values["eOriginal"] = round_figures(word.score.change.e_original)
        values["eSwap"] = [round_figures(value) for value in word.score.change.e_swap]
    if name not in result.siblings:
        return values
    old, new = word.vectors
    leaning, points = [[np.zeros((len(side), *shape)) for side in (old, new)] for shape in ((), (2,))]  # (n,), (n, 2)
    if len(old) and len(new):
        projection = plane(old, new)
        leaning, points = list(leanings(old, new)), [projection.old, projection.new]
        values["explained"] = [round(float(share), 3) for share in projection.explained]
        values["centres"] = [[round_figures(x) for x in side.mean(axis=0)] for side in points]
    spread = float(np.std(np.concatenate(leaning))) or 1.0
    values["usages"] = [
        _usages(result, name, side, leaning[side] / spread, points[side], max_usages) for side in (0, 1)
    ]
    if senses := sense_values(result, name):
        values["senses"] = senses
    return values


def _usages(result: Result, name: str, side: int, leaning: Floats, points: Floats, limit: int) -> list[list[Any]]:
    """Return rows of [before, word, after, leaning, x, y, place, sense], the most typical of the corpus first.

    Half of at most ``limit`` rows are the most typical usages without near-duplicates, the others are taken evenly from
    the rest; the examples of senses are added. The sense is missing if senses were not sought.
    """
    word_senses = result.senses.get(name)
    offset = result.count_usages(name, OLD_NEW[0]) if side else 0  # senses have the usages of both corpora in one list
    store = result.siblings
    table = store.occurrences.take(store.usage_rows(name, store.corpora[side]))
    order = np.argsort(-leaning if side else leaning, kind="stable")
    candidates = table["sentence"].take(order[: 2 * limit]).to_pylist()
    is_first = np.isin(np.arange(len(order)), choose_varied(candidates, range(len(candidates)), limit // 2))
    first, rest = order[is_first], order[~is_first]
    even = np.linspace(0, len(rest) - 1, min(len(rest), limit - len(first))).round().astype(int)
    examples = [] if word_senses is None else [row - offset for rows in word_senses.examples for row in rows]
    order = np.concatenate([first, rest[np.isin(np.arange(len(rest)), even) | np.isin(rest, examples)]])
    table = table.take(order)
    columns = (table[column].to_pylist() for column in ("sentence", "start", "end", "file", "line"))
    senses = [[] if word_senses is None else [word_senses.labels[offset + row]] for row in order]
    rows = zip(*columns, leaning[order].tolist(), points[order].tolist(), senses, strict=True)
    return [
        [*excerpt(sentence, start, end), round(lean, 2), round_figures(x), round_figures(y), f"{file}:{line}", *sense]
        for sentence, start, end, file, line, lean, (x, y), sense in rows
    ]

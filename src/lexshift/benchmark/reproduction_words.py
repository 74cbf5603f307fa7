"""The paper's ablation, made again for any data set: where words stand at some swap rates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.benchmark import paper
from lexshift.benchmark.exhibit import Cell, Exhibit, Measured, best_of, figure
from lexshift.benchmark.measures import spearman
from lexshift.utils.arrays import Array, Floats

if TYPE_CHECKING:
    import pandas as pd

WORDS = 8
"""How many words of each kind are shown."""
RATES = ("rate_0", "rate_0.1", "rate_best", "rate_1")
_PART_OF_SPEECH = re.compile(r"_(nn|vb)$")  # the paper writes plane for plane_nn


def ablation(measured: Measured) -> Exhibit:
    """Ranks by KL, random swapping, of words that changed most and least, at no, little, the best and full swapping."""
    import pandas as pd

    frame = measured.spearman
    best = float(best_of(frame[(frame["strategy"] == "random") & (frame["metric"] == "kl")])["rate"])
    scores = _scores(measured, best)
    ranks = {name: _ranks(values) for name, values in scores.items()}
    gold = _ranks(measured.gold)
    published = paper.ablation(measured.data.name).set_index("word")
    systems = paper.systems(measured.data.name).set_index("system")["spearman"]
    rows: list[dict[str, Any]] = []
    for word in _chosen(measured):
        i, bare = measured.words.index(word), _PART_OF_SPEECH.sub("", word)
        changed = measured.data.binary.get(word)
        row: dict[str, Any] = {"word": word, "gold": int(gold[i]), "changed": "" if changed is None else _yes(changed)}
        row |= {name: int(values[i]) for name, values in ranks.items()}
        rows.append(row | {f"paper_{name}": _of(published[name], bare) for name in RATES})
    last: dict[str, Any] = {"word": "Spearman", "gold": 1.0, "changed": ""}
    last |= {name: spearman(values, measured.gold).rho for name, values in scores.items()}
    rows.append(last | {f"paper_{name}": _of(systems, f"ablation, {name.replace('_', ' ')}") for name in RATES})
    table = pd.DataFrame(rows)
    known = len(published) > 0
    labelled = bool(measured.data.binary)
    shown = [(row, 0) for row in rows[:-1]] + [(rows[-1], 3)]
    cells = tuple(_cells(row, labelled, digits) for row, digits in shown)
    note = (
        "Ranks by KL with random swapping, scores averaged over repetitions, 1 being the most changed; equal words "
        f"share the better rank. Shown are the {WORDS} words of the highest gold"
        f"{' that are labelled changed' if labelled else ''} and the {WORDS} of the lowest"
        f"{' that are labelled stable' if labelled else ''}. Without swapping SSCD is 0 for every word, so "
        "that rate 0 stands for e_original itself. The last row is Spearman over all words. "
        + (
            "Below ours, small: the paper's, with MLM_temp, of the words that it shows."
            if known
            else "The paper has no ranks for this data set."
        )
    )
    rates = ("rate 0", "rate 0.1", f"best rate ({best:g})", "rate 1")
    columns = ("word", "gold", *(("changed",) if labelled else ()), *rates)
    return Exhibit("ablation", "Words at some swap rates", note, table, columns, cells)


def _scores(measured: Measured, best: float) -> dict[str, Floats]:
    """Scores of the words with gold by KL at each rate: (words,)."""
    full = measured.full.scores("random")[measured.at, 0, 0]  # (words, repetitions)
    return {
        "rate_0": measured.original("kl"),
        "rate_0.1": measured.scores("random", "kl", 0.1).mean(axis=1),
        "rate_best": measured.scores("random", "kl", best).mean(axis=1),
        "rate_1": full.mean(axis=1),
    }


def _chosen(measured: Measured) -> list[str]:
    """Words that changed most, then those that changed least, each by falling gold; no word is in both."""
    binary = measured.data.binary
    order = sorted(measured.words, key=lambda word: -measured.data.graded[word])
    if not binary:
        return order[:WORDS] + order[WORDS:][-WORDS:]
    changed = [word for word in order if binary.get(word) is True]
    return changed[:WORDS] + [word for word in order if binary.get(word) is False][-WORDS:]


def _ranks(values: Floats) -> Array:
    """1 for the highest; equal ones share the better rank."""
    from scipy.stats import rankdata  # a slow import

    return np.asarray(rankdata(-values, method="min"), int)


def _cells(row: dict[str, Any], labelled: bool, digits: int) -> tuple[Cell, ...]:
    """A word's row as it is shown; the paper's ranks below ours, if it has the word."""
    known = not np.isnan(row["paper_rate_0"])
    first = [Cell(row["word"], ("MLM_temp",) if known else ()), Cell(figure(row["gold"], digits))]
    if labelled:
        first.append(Cell(row["changed"]))
    below = [(figure(row[f"paper_{name}"], digits),) if known else () for name in RATES]
    return *first, *(Cell(figure(row[name], digits), small) for name, small in zip(RATES, below, strict=True))


def _of(published: pd.Series, key: str) -> float:
    return float(published.get(key, np.nan))


def _yes(changed: bool) -> str:
    return "yes" if changed else "no"

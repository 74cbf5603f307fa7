"""The paper's ablation: the ranks of words at several swap rates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from lexshift.benchmark.measures import spearman
from lexshift.benchmark.paper.exhibit import Cell, Exhibit, format_number
from lexshift.benchmark.paper.measurements import Measurements
from lexshift.benchmark.paper.published_figures import published_figures
from lexshift.utils.arrays import Array, Floats

ABLATION_WORDS = 8
"""Number of changed words, and of stable ones, in the table."""
_PART_OF_SPEECH = re.compile(r"_(nn|vb)$")  # the paper writes plane for plane_nn


def tabulate_ablation(measurements: Measurements) -> Exhibit:
    """Make the ablation: ranks by KL of the most and least changed words at swap rates 0, 0.1, the best, and 1."""
    import pandas as pd

    best = float(measurements.best("random", ["kl"])["rate"])
    scores = {
        "rate_0": measurements.original("kl"),
        "rate_0.1": measurements.scores("random", "kl", 0.1).mean(axis=1),
        "rate_best": measurements.scores("random", "kl", best).mean(axis=1),
        "rate_1": measurements.full.scores("random")[measurements.rows, 0, 0].mean(axis=1),
    }  # (words,) each
    ranks = {"gold": _rank(measurements.gold)} | {name: _rank(values) for name, values in scores.items()}
    published = published_figures("ablation", measurements.data.name).set_index("word")
    systems = published_figures("systems", measurements.data.name).set_index("system")["spearman"]
    rows: list[dict[str, Any]] = []
    for word in _ablation_words(measurements):
        i, bare = measurements.words.index(word), _PART_OF_SPEECH.sub("", word)
        changed = {True: "yes", False: "no", None: ""}[measurements.data.binary.get(word)]
        row = {"word": word, "gold": int(ranks["gold"][i]), "changed": changed}
        row |= {name: int(ranks[name][i]) for name in scores}
        rows.append(row | {f"paper_{name}": float(published[name].get(bare, np.nan)) for name in scores})
    last = {"word": "Spearman", "gold": 1.0, "changed": ""}
    last |= {name: spearman(values, measurements.gold).rho for name, values in scores.items()}
    keys = {name: f"ablation, {name.replace('_', ' ')}" for name in scores}
    rows.append(last | {f"paper_{name}": float(systems.get(key, np.nan)) for name, key in keys.items()})
    has_labels = bool(measurements.data.binary)
    cells = tuple(_ablation_cells(row, list(scores), has_labels) for row in rows)
    note = (
        "Ranks of words by SSCD with KL and random swapping, with scores averaged over the repetitions. Rank 1 is the "
        "most changed word; words with equal scores share the better rank. The table shows the "
        f"{ABLATION_WORDS} words with the highest gold{' among those labelled changed' if has_labels else ''} and the "
        f"{ABLATION_WORDS} words with the lowest gold{' among those labelled stable' if has_labels else ''}. Without "
        "swapping, SSCD is 0 for every word; the column of rate 0 therefore ranks by e_original. The last row is "
        "Spearman's rank correlation over all words. "
    )
    if len(published):
        note += "The small figures below ours are those of the paper, with MLM_temp, for the words that it shows."
    else:
        note += "The paper has no ranks for this data set."
    columns = ("word", "gold", *(("changed",) if has_labels else ()))
    columns += ("rate 0", "rate 0.1", f"best rate ({best:g})", "rate 1")
    return Exhibit("ablation", "Ranks of words at several swap rates", note, pd.DataFrame(rows), columns, cells)


def _ablation_words(measurements: Measurements) -> list[str]:
    """Return the words that changed most, then those that changed least, each by descending gold, without overlap."""
    binary = measurements.data.binary
    order = sorted(measurements.words, key=lambda word: -measurements.data.graded[word])
    if not binary:
        return order[:ABLATION_WORDS] + order[ABLATION_WORDS:][-ABLATION_WORDS:]
    changed = [word for word in order if binary.get(word) is True]
    return changed[:ABLATION_WORDS] + [word for word in order if binary.get(word) is False][-ABLATION_WORDS:]


def _ablation_cells(row: dict[str, Any], rates: Sequence[str], has_labels: bool) -> tuple[Cell, ...]:
    """Return the cells of a word, with the paper's ranks below ours if it has the word; the last row has no ranks."""
    is_published, digits = not np.isnan(row["paper_rate_0"]), 3 if isinstance(row["gold"], float) else 0
    published = [(format_number(row[f"paper_{name}"], digits),) if is_published else () for name in rates]
    return (
        Cell(row["word"], ("MLM_temp",) if is_published else ()),
        Cell(format_number(row["gold"], digits)),
        *([Cell(row["changed"])] if has_labels else []),
        *map(Cell, [format_number(row[name], digits) for name in rates], published),
    )


def _rank(values: Floats) -> Array:
    """Return ranks, 1 for the highest; equal values share the better rank."""
    from scipy.stats import rankdata  # imported here because it is slow

    return np.asarray(rankdata(-values, method="min"), int)

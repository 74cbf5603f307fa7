"""Scores of very many words: kept as they are made, with as many permutations as their number calls for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from lexshift.engine.cache import Kept
from lexshift.scoring.bootstrap import Interval
from lexshift.scoring.permutation import Permutations, PermutationTest, first_permutations
from lexshift.scoring.scores import Scores, WordScore, rate_curve, retest, score_word
from lexshift.scoring.sscd import SSCD, Change
from lexshift.store.format import digest
from lexshift.utils.arrays import Pairs
from lexshift.utils.monitor import Monitor
from lexshift.utils.threads import for_each

CURVE = 100
"""Words that the curve over the swap rate is drawn from."""
_TOGETHER = 64  # words whose scores are kept in one file
_METHOD = "tested scores with intervals from half-samples"  # in every key: scores of another method are not taken over


def score_all(
    words: Pairs,
    sscd: SSCD,
    rate: float | Literal["auto"],
    permutations: Permutations,
    resamples: int,
    confidence: float,
    alpha: float,
    kept: Kept,
    identity: str,
    monitor: Monitor,
) -> Scores:
    """Score and test every word; ``identity`` stands for the vectors that the words have."""
    if not words:
        return Scores({}, None, sscd)
    curve = rate_curve(_some(words), sscd)
    sscd = replace(sscd, rate=curve.rate if rate == "auto" else rate)
    first = first_permutations(permutations)
    key = [identity, _plain(sscd), first, resamples, confidence]
    found: dict[str, WordScore] = {}
    names = list(words)
    monitor.stage("scoring", len(names), "words")
    for begin in range(0, len(names), _TOGETHER):
        together = names[begin : begin + _TOGETHER]
        file = digest([_METHOD, *key, together])
        table = kept.get(file)
        if table is None:
            made = for_each(
                together,
                lambda word: score_word(word, *words[word], sscd, first, resamples, confidence),
                partial(_advance, monitor, begin),
            )
            table = as_table(made)
            kept.put(file, table)
        found |= from_table(table)
        monitor.advance(begin + len(together), begin + len(together))
    if permutations == "auto":
        found = retest(found, words.__getitem__, sscd, alpha, monitor)
    return Scores(found, curve, sscd)


def _advance(monitor: Monitor, before: int, done: int) -> None:
    monitor.advance(before + done, before + done)


def _some(words: Pairs) -> Pairs:
    """At most CURVE of the words, evenly from all."""
    names = list(words)
    at = np.linspace(0, len(names) - 1, min(CURVE, len(names))).round().astype(int)
    return {names[i]: words[names[i]] for i in at}


def as_table(scores: Mapping[str, WordScore]) -> pa.Table:
    """Scores as a table, a row for each word."""
    rows = [
        {
            "word": word,
            **_named("change", s.change),
            **_named("interval", s.interval),
            **_named("test", s.test),
            "tested_metric": s.tested_metric,
        }
        for word, s in scores.items()
    ]
    return pa.Table.from_pylist(rows)


def from_table(table: pa.Table) -> dict[str, WordScore]:
    """What :func:`as_table` made a table of."""
    found = {}
    for row in table.to_pylist():
        change, interval, test = (_unnamed(kind, row) for kind in ("change", "interval", "test"))
        change["e_swap"] = np.array(change["e_swap"], float)
        parts = Change(**change), Interval(**interval), PermutationTest(**test)
        found[row["word"]] = WordScore(*parts, row["tested_metric"])
    return found


def _named(kind: str, value: Any) -> dict[str, Any]:
    return {f"{kind} {name}": _number(part) for name, part in asdict(value).items()}


def _unnamed(kind: str, row: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(f"{kind} "): value for name, value in row.items() if name.startswith(f"{kind} ")}


def _number(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _plain(sscd: SSCD) -> list[Any]:
    metric = sscd.metric if isinstance(sscd.metric, str) else sscd.metric.name
    return [metric, sscd.strategy, float(sscd.rate), sscd.repeats, sscd.seed, _listed(sscd.corpus_sizes), sscd.keep]


def _listed(sizes: Sequence[int] | None) -> list[int] | None:
    return None if sizes is None else list(sizes)

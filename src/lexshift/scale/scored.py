"""Scores of very many words: kept as they are made, with as many permutations as their number calls for.

To call one word of m changed at a false discovery rate of alpha, its p must be down at alpha / m, which takes many
permutations; if a large share of the words has changed, far fewer will do. So all words are tested with 1,000 at first,
and with ten times as many, those apart that are clearly not significant, until the p at which words are called changed
is well above the least that so many permutations can give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from lexshift._settings import digest
from lexshift._threads import for_each
from lexshift._typing import Floats, Pairs
from lexshift.errors import UserError
from lexshift.monitor import Monitor
from lexshift.scale.kept import Kept
from lexshift.scoring import Scores, WordScore, rate_curve, score_word, tested_metric
from lexshift.significance import STAGES, Interval, PermutationTest, benjamini_hochberg, decide, permutation_test
from lexshift.sscd import SSCD, Change

CURVE = 100
"""Words that the curve over the swap rate is drawn from."""
_TOGETHER = 64  # words whose scores are kept in one file
_FINE = 10  # the p at which words are called changed must be so many times the least one


def score_all(
    words: Pairs,
    sscd: SSCD,
    rate: float | Literal["auto"],
    permutations: int | Literal["auto"],
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
    first = STAGES[0][0] if permutations == "auto" else permutations
    key = [identity, _plain(sscd), first, resamples, confidence]
    found: dict[str, WordScore] = {}
    names = list(words)
    monitor.stage("scoring", len(names), "words")
    for begin in range(0, len(names), _TOGETHER):
        together = names[begin : begin + _TOGETHER]
        file = digest(["scores", *key, together])
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
        found = _finer(words, found, sscd, alpha, monitor)
    return Scores(found, curve, sscd)


def _advance(monitor: Monitor, before: int, done: int) -> None:
    monitor.advance(before + done, before + done)


def _some(words: Pairs) -> Pairs:
    """At most CURVE of the words, evenly from all."""
    names = list(words)
    at = np.linspace(0, len(names) - 1, min(CURVE, len(names))).round().astype(int)
    return {names[i]: words[names[i]] for i in at}


def _finer(
    words: Pairs, found: dict[str, WordScore], sscd: SSCD, alpha: float, monitor: Monitor
) -> dict[str, WordScore]:
    """The same scores, tested with as many permutations as are called for."""
    for (before, p_above), (more, _) in pairwise(STAGES):
        if fine_enough(np.array([scored.test.p for scored in found.values()]), before, alpha):
            break
        again = [w for w, scored in found.items() if not scored.test.exact and scored.test.p <= p_above]
        monitor.stage(f"{more:,} permutations", len(again), "words")

        def test(word: str, more: int = more) -> PermutationTest:
            old, new = words[word]
            try:
                return permutation_test(old, new, tested_metric(sscd.metric, old, new), more, sscd.seed, word)
            except ValueError as error:
                raise UserError(f"{word!r}: {error}") from error

        tests = for_each(again, test, lambda done: monitor.advance(done, done))
        found = {w: replace(scored, test=tests.get(w, scored.test)) for w, scored in found.items()}
    return found


def fine_enough(p: Floats, permutations: int, alpha: float) -> bool:
    """Whether so many permutations tell the words that changed from the others. p : (words,)

    >>> fine_enough(np.full(2000, 0.000999), 1000, 0.05), fine_enough(np.full(2000, 0.5), 1000, 0.05)
    (True, False)
    """
    called = max(int(decide(benjamini_hochberg(p), alpha).sum()), 1)
    return alpha * called / len(p) >= _FINE / (1 + permutations)


def as_table(scores: Mapping[str, WordScore]) -> pa.Table:
    """Scores as a table, a row for each word."""
    rows = [
        {"word": word, **_named("change", s.change), **_named("interval", s.interval), **_named("test", s.test)}
        for word, s in scores.items()
    ]
    return pa.Table.from_pylist(rows)


def from_table(table: pa.Table) -> dict[str, WordScore]:
    """What :func:`as_table` made a table of."""
    found = {}
    for row in table.to_pylist():
        change, interval, test = (_unnamed(kind, row) for kind in ("change", "interval", "test"))
        change["e_swap"] = np.array(change["e_swap"], float)
        found[row["word"]] = WordScore(Change(**change), Interval(**interval), PermutationTest(**test))
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

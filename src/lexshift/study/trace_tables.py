"""The tables of a trace: a row for each step, and a row for each word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.scoring.changepoints import GRADUAL, ChangePoints
from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.study.result import CHANGED, STABLE, TOO_FEW
from lexshift.study.steps import FIRST, KINDS, NEIGHBOURS, Step
from lexshift.utils.arrays import Floats, Matrix

if TYPE_CHECKING:
    import pandas as pd

    from lexshift.study.trace_result import Trace

SEASONAL, NO_SEASON = "seasonal", "none"
_STEP = (
    *("word", "kind", "from", "to", "n_from", "n_to", "score", "low", "high", "p", "q"),
    *("tested_metric", "verdict", "skipped"),
)


def step_table(trace: Trace) -> pd.DataFrame:
    """A row for each step, as :attr:`Trace.table` describes it."""
    import pandas as pd

    rows = []
    for kind in KINDS:
        ours = [step for step in trace.steps if step.kind == kind]
        q = benjamini_hochberg([trace.scores[step.pair].test.p for step in ours]) if ours else np.zeros(0)
        rows += [_step(trace, *told) for told in zip(ours, q, decide(q, trace.settings["alpha"]), strict=True)]
    place = {word: i for i, word in enumerate(trace.asked)}
    rows.sort(key=lambda row: place[row["word"]])  # the order within a word stays
    return pd.DataFrame(rows, columns=list(_STEP))


def word_table(trace: Trace) -> pd.DataFrame:
    """A row for each word, as :attr:`Trace.words` describes it."""
    import pandas as pd

    q = _corrected({word: found.p for word, found in trace.changes.items()})
    season_q = _corrected({word: found.p for word, found in trace.seasons.items()})
    rows = [_word(trace, word, q.get(word, np.nan), season_q.get(word, np.nan)) for word in trace.asked]
    table = pd.DataFrame(rows)
    order = table.sort_values(["change_p", "score", "word"], ascending=[True, False, True], na_position="last")
    return order.reset_index(drop=True)


def _step(trace: Trace, step: Step, q: float, changed: bool) -> dict[str, Any]:
    scored, counts, labels = trace.scores[step.pair], trace.counts(step.word), trace.periods
    return {
        "word": step.word,
        "kind": step.kind,
        "from": labels[step.start],
        "to": labels[step.end],
        "n_from": counts[step.start],
        "n_to": counts[step.end],
        "score": scored.change.score,
        "low": scored.interval.low,
        "high": scored.interval.high,
        "p": scored.test.p,
        "q": float(q),
        "tested_metric": scored.tested_metric,
        "verdict": CHANGED if changed else STABLE,
        "skipped": ", ".join(labels[i] for i in step.skipped),
    }


def _word(trace: Trace, word: str, q: float, season_q: float) -> dict[str, Any]:
    found, returns, alpha = trace.changes.get(word), trace.seasons.get(word), trace.settings["alpha"]
    first, neighbours = (trace.of_word(word, kind) for kind in (FIRST, NEIGHBOURS))
    at, shape = ((), "") if found is None else reported(found, q, alpha)
    differ = neighbours.loc[neighbours["verdict"] == CHANGED, "to"]
    return {
        "word": word,
        "verdict": TOO_FEW if found is None else CHANGED if q <= alpha else STABLE,
        "periods": 0 if found is None else len(first) + 1,
        "usages": sum(trace.counts(word)),
        "score": first["score"].iloc[-1] if len(first) else np.nan,
        "most": first["to"].iloc[int(first["score"].argmax())] if len(first) else "",
        "changed": ", ".join(differ),
        "shape": shape,
        "change_points": ", ".join(trace.periods[i] for i in at),
        "change_p": np.nan if found is None else found.p,
        "change_q": q,
        "season": "" if returns is None else SEASONAL if season_q <= alpha else NO_SEASON,
        "season_strength": np.nan if returns is None else returns.strength,
        "season_p": np.nan if returns is None else returns.p,
        "season_q": season_q,
    }


def reported(found: ChangePoints, q: float, alpha: float) -> tuple[tuple[int, ...], str]:
    """Return the change points and the shape to report for a word: both empty unless q is at most alpha.

    A word that drifted gradually has no change points.
    """
    if not q <= alpha:
        return (), ""
    return (() if found.shape == GRADUAL else found.at), found.shape


def _corrected(p: Mapping[str, float]) -> dict[str, float]:
    return dict(zip(p, benjamini_hochberg(list(p.values())).tolist(), strict=True)) if p else {}


def typical(rows: Matrix) -> Floats:
    """The mean cosine similarity of each row with the others, (n,); 0 for a single one. rows : (n, d)"""
    wide = rows.astype(float)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    unit = wide / np.where(norms > 0, norms, 1)  # (n, d)
    return (unit @ unit.sum(axis=0) - (unit**2).sum(axis=1)) / max(len(rows) - 1, 1)

"""How well cosines tell whether two usages have the same meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexshift.tune.pairs import Pair
from lexshift.utils.arrays import Array, Floats

BEST = "accuracy at the best threshold of these pairs"
"""Name of an accuracy that is too high by the choice of its threshold: on other pairs it would be lower."""
CHOSEN = "dev accuracy at the threshold of the held-out pairs"


def similarities(encoder: Any, pairs: Sequence[Pair]) -> Floats:
    """The cosine of the two usages of each pair: (pairs,)."""
    first, second = usage_vectors(encoder, pairs)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return (first * second).sum(1) / np.maximum(lengths, 1e-12)


def usage_vectors(encoder: Any, pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
    """The vectors of the first and of the second usage of each pair, each (pairs, d); 0 for words that are not seen."""
    usages = [usage for pair in pairs for usage in (pair.first, pair.second)]
    vectors = encoder.encode([u.sentence for u in usages], [(u.start, u.end) for u in usages]).astype(np.float64)
    vectors = np.nan_to_num(vectors)
    return vectors[::2], vectors[1::2]


def judge(encoder: Any, held_out: Sequence[Pair], dev: Sequence[Pair]) -> dict[str, Any]:
    """Return how well the cosine of two usages tells one meaning from two: the AUC, which needs no threshold, first.

    The threshold is the best for the held-out pairs. The accuracy of the dev pairs is given at this threshold and at
    their own best one.
    """
    ours, same = similarities(encoder, held_out), gold(held_out)
    threshold, accuracy = best_threshold(ours, same)
    found: dict[str, Any] = {"held-out auc": auc(ours, same), f"held-out {BEST}": accuracy, "threshold": threshold}
    if dev:
        theirs, same = similarities(encoder, dev), gold(dev)
        found["dev auc"] = auc(theirs, same)
        found[CHOSEN] = float(np.mean((theirs > threshold) == same))
        found[f"dev {BEST}"] = best_threshold(theirs, same)[1]
    return found


def told(figures: dict[str, Any]) -> str:
    """Return the figures of :func:`judge` in words; folders of earlier versions have the AUC only."""
    text = f"AUC {figures['held-out auc']:.3f} on held-out pairs"
    if f"held-out {BEST}" in figures:
        text += f" ({figures[f'held-out {BEST}']:.3f} {BEST})"
    if "dev auc" in figures:
        text += f", {figures['dev auc']:.3f} on dev pairs"
    if CHOSEN in figures:
        text += f" ({figures[CHOSEN]:.3f} {CHOSEN.removeprefix('dev ')})"
    return text


def gold(pairs: Sequence[Pair]) -> Array:
    """Which pairs have one meaning: (pairs,)."""
    return np.array([pair.same for pair in pairs], bool)


def best_threshold(values: Floats, same: Array) -> tuple[float, float]:
    """The threshold above which pairs are called the same with the fewest mistakes, and the accuracy it has.

    >>> best_threshold(np.array([0.1, 0.4, 0.3, 0.9]), np.array([False, True, False, True]))
    (0.35, 1.0)
    """
    order = np.argsort(values, kind="stable")
    ordered, wanted = values[order], same[order]
    right = np.r_[0, np.cumsum(~wanted)] + wanted.sum() - np.r_[0, np.cumsum(wanted)]  # the first k called different
    possible = np.r_[True, ordered[1:] > ordered[:-1], True]  # equal values cannot be told apart
    best = int(np.argmax(np.where(possible, right, -1)))
    middle = (ordered[1:] + ordered[:-1]) / 2
    middle = np.where(middle < ordered[1:], middle, ordered[:-1])  # neighbouring numbers have none between them
    edges = np.r_[ordered[0] - 1, middle, ordered[-1] + 1]
    return float(edges[best]), float(right[best] / len(values))


def auc(values: Floats, same: Array) -> float:
    """How often a pair of one meaning is more alike than one of two, ties counting half."""
    from scipy.stats import rankdata

    n, m = int(same.sum()), int((~same).sum())
    if not n or not m:
        return float("nan")
    return float((rankdata(values)[same].sum() - n * (n + 1) / 2) / (n * m))


def look(values: Floats, same: Array) -> dict[str, float]:
    """What is looked at while a model is tuned."""
    return {"auc": auc(values, same), "accuracy_at_best_threshold": best_threshold(values, same)[1]}


def figures_of(entry: dict[str, Any]) -> dict[str, float]:
    """What is kept of an evaluation by the trainer."""
    if "eval_auc" not in entry:
        return {}
    names = ("auc", "accuracy_at_best_threshold")
    return {name: float(entry[f"eval_{name}"]) for name in names if f"eval_{name}" in entry}


def tell(figures: dict[str, float]) -> str:
    """An evaluation in words."""
    return f"held-out AUC {figures['auc']:.3f}"

"""Evaluate how well the cosine of two usages predicts whether they have the same meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexshift.encode.adaptation import FixedSpace
from lexshift.encode.protocol import optional_attribute
from lexshift.tune.pairs import Pair
from lexshift.utils.arrays import Array, Floats

BEST = "accuracy at the best threshold of these pairs"
"""Name of an accuracy that is optimistic, because its threshold is chosen on the same pairs."""
CHOSEN = "dev accuracy at the threshold of the held-out pairs"


def similarities(encoder: Any, pairs: Sequence[Pair]) -> Floats:
    """Return the cosine of the two usages of each pair in the fixed space of the encoder, if it has one, (pairs,)."""
    first, second = usage_vectors(encoder, pairs)
    space = optional_attribute(encoder, "space")
    if isinstance(space, FixedSpace):
        first, second = ((side - space.mean) / space.scale for side in (first, second))
    return cosines(first, second)


def cosines(first: Floats, second: Floats) -> Floats:
    """Return the cosine of each row of ``first`` with the same row of ``second``: (n, d) and (n, d) to (n,)."""
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return (first * second).sum(1) / np.maximum(lengths, 1e-12)


def usage_vectors(encoder: Any, pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
    """Return the vectors of the first and the second usage of each pair, each (pairs, d); 0 if there is no vector."""
    usages = [usage for pair in pairs for usage in (pair.first, pair.second)]
    vectors = encoder.encode([u.sentence for u in usages], [(u.start, u.end) for u in usages]).astype(np.float64)
    vectors = np.nan_to_num(vectors)
    return vectors[::2], vectors[1::2]


def evaluate(encoder: Any, held_out: Sequence[Pair], dev: Sequence[Pair]) -> dict[str, Any]:
    """Return the AUC, which needs no threshold, and accuracies of predicting the same meaning by the cosine.

    The threshold is the best for the held-out pairs. The accuracy of the dev pairs is given at this threshold and at
    their own best one.
    """
    held_out_cosines, same = similarities(encoder, held_out), pair_labels(held_out)
    threshold, accuracy = best_threshold(held_out_cosines, same)
    results: dict[str, Any] = {
        "held-out auc": auc(held_out_cosines, same),
        f"held-out {BEST}": accuracy,
        "threshold": threshold,
    }
    if dev:
        dev_cosines, same = similarities(encoder, dev), pair_labels(dev)
        results["dev auc"] = auc(dev_cosines, same)
        results[CHOSEN] = float(np.mean((dev_cosines > threshold) == same))
        results[f"dev {BEST}"] = best_threshold(dev_cosines, same)[1]
    return results


def describe_results(figures: dict[str, Any]) -> str:
    """Return a description of the results of :func:`evaluate`."""
    text = f"AUC {figures['held-out auc']:.3f} on held-out pairs"
    if f"held-out {BEST}" in figures:
        text += f" ({figures[f'held-out {BEST}']:.3f} {BEST})"
    if "dev auc" in figures:
        text += f", {figures['dev auc']:.3f} on dev pairs"
    if CHOSEN in figures:
        text += f" ({figures[CHOSEN]:.3f} {CHOSEN.removeprefix('dev ')})"
    return text


def pair_labels(pairs: Sequence[Pair]) -> Array:
    """Return whether each pair has one meaning, (pairs,)."""
    return np.array([pair.same for pair in pairs], bool)


def best_threshold(values: Floats, same: Array) -> tuple[float, float]:
    """Return the threshold above which pairs are called the same with the fewest mistakes, and its accuracy.

    >>> best_threshold(np.array([0.1, 0.4, 0.3, 0.9]), np.array([False, True, False, True]))
    (0.35, 1.0)
    """
    order = np.argsort(values, kind="stable")
    ordered, ordered_same = values[order], same[order]
    correct = (
        np.r_[0, np.cumsum(~ordered_same)] + ordered_same.sum() - np.r_[0, np.cumsum(ordered_same)]
    )  # if the first k are called different
    possible = np.r_[True, ordered[1:] > ordered[:-1], True]  # no threshold separates equal values
    best = int(np.argmax(np.where(possible, correct, -1)))
    middle = (ordered[1:] + ordered[:-1]) / 2
    middle = np.where(
        middle < ordered[1:], middle, ordered[:-1]
    )  # adjacent floating-point numbers have none between them
    edges = np.r_[ordered[0] - 1, middle, ordered[-1] + 1]
    return float(edges[best]), float(correct[best] / len(values))


def auc(values: Floats, same: Array) -> float:
    """Return the probability that a pair of the same meaning has a larger cosine than another; ties count half."""
    from scipy.stats import mannwhitneyu

    if same.all() or not same.any():
        return float("nan")
    u = mannwhitneyu(values[same], values[~same], method="asymptotic").statistic
    return float(u / (same.sum() * (~same).sum()))


def figures(values: Floats, same: Array) -> dict[str, float]:
    """Return the results that are computed during training."""
    return {"auc": auc(values, same), "accuracy_at_best_threshold": best_threshold(values, same)[1]}


def read_figures(entry: dict[str, Any]) -> dict[str, float]:
    """Return the results in an entry of the trainer's log; empty if it is not an evaluation."""
    if "eval_auc" not in entry:
        return {}
    names = ("auc", "accuracy_at_best_threshold")
    return {name: float(entry[f"eval_{name}"]) for name in names if f"eval_{name}" in entry}


def describe_figures(figures: dict[str, float]) -> str:
    """Return a description of the results of :func:`figures`."""
    return f"held-out AUC {figures['auc']:.3f}"

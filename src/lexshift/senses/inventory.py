"""Give usages the senses of an inventory, or find that they have a new one.

A usage is as similar to a known sense as the mean of its three highest cosines with the gloss and the examples of that
sense. How similar a usage of a known sense must be is learned from the inventory itself, by leaving out one example at
a time: its highest similarity with all senses, and its highest similarity if its own sense is withheld, are the two
classes of a logistic regression. The share of usages with a new sense is estimated as by Good and Turing (Good 1953):
the number of senses with a single example, divided by the number of examples. If most senses have a single example, the
examples illustrate and are no sample; then one usage in ten is expected to have a new sense.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, islice

import numpy as np

from lexshift.corpus.dictionaries import Entry
from lexshift.encode.adaptation import Calibration
from lexshift.errors import UserError
from lexshift.senses.clustering import Clustering
from lexshift.senses.gloss_encoder import GlossEncoder
from lexshift.senses.similarity import unit_rows
from lexshift.utils.arrays import Array, Floats, Indices, Matrix

_NEAREST = 3  # glosses and examples of a sense with which a usage is compared
_ENOUGH = 20  # examples of each class from which a regression is fitted
_ASSUMED_SHARE = 0.1  # of new senses if examples illustrate: a dictionary covers most usages of its words
_MOST = 0.5  # share of senses with one example above which examples are no sample of usages


@dataclass(frozen=True, eq=False)
class Inventory:
    """The known senses of a word.

    Attributes
    ----------
    senses : list of str
        Identifiers of the senses.
    vectors : ndarray of shape (m, d)
        Vectors of glosses and examples.
    owners : ndarray of shape (m,), int
        The sense of each vector; every sense has at least one.
    is_gloss : ndarray of shape (m,), bool
    """

    senses: list[str]
    vectors: Matrix
    owners: Indices
    is_gloss: Array


@dataclass(frozen=True)
class Novelty:
    """The probability that a usage has a known sense, given its highest similarity with one.

    Attributes
    ----------
    slope, intercept : float
        Logistic regression for as many usages of known senses as of new ones.
    new_share : float
        Expected share of usages with a new sense, above 0 and below 1.
    source : "inventory" or "encoder"
        What the regression was fitted to.
    """

    slope: float
    intercept: float
    new_share: float
    source: str

    def known_probability(self, similarity: Floats) -> Floats:
        """Return the probability of a known sense for each similarity."""
        prior = np.log((1 - self.new_share) / self.new_share)
        return 1 / (1 + np.exp(-(self.slope * similarity + self.intercept + prior)))


@dataclass(frozen=True, eq=False)
class Assignment:
    """The senses of usages.

    Attributes
    ----------
    senses : list of str, of length n
        An identifier of the inventory, or "new-1", "new-2" and so on, without names that the inventory has.
    probability : ndarray of shape (n,)
        The probability that the usage has some known sense, or for a new sense that it has none.
    """

    senses: list[str]
    probability: Floats


def encode_inventory(word: str, entries: Sequence[Entry], encoder: GlossEncoder) -> Inventory:
    """Encode the glosses and examples of a word's entries; a word without entries has an inventory without senses."""
    listed = [(entry.pos, sense) for entry in entries for sense in entry.senses]
    listed = [(pos, sense) for pos, sense in listed if sense.gloss or sense.usages]
    names = [sense.sense for _, sense in listed]
    if len(set(names)) < len(names):  # senses are numbered for each part of speech
        names = [f"{pos} {sense.sense}" for pos, sense in listed]
    with_gloss = [i for i, (_, sense) in enumerate(listed) if sense.gloss]
    examples = [(i, usage) for i, (_, sense) in enumerate(listed) for usage in sense.usages]
    if not listed:
        return Inventory([], np.zeros((0, 1)), np.zeros(0, np.intp), np.zeros(0, bool))
    parts = []
    if with_gloss:
        parts.append(encoder.encode_glosses(word, [str(listed[i][1].gloss) for i in with_gloss]))
    if examples:
        parts.append(encoder.encode_usages([usage for _, usage in examples]))
    owners = np.array([*with_gloss, *(i for i, _ in examples)], np.intp)
    return Inventory(names, np.concatenate(parts), owners, np.arange(len(owners)) < len(with_gloss))


def sense_similarities(cosines: Floats, owners: Indices, n_senses: int) -> Floats:
    """Return the similarity of usages with senses, (n, senses): the mean of the three highest cosines.

    Parameters
    ----------
    cosines : ndarray of shape (n, m)
        Cosines with glosses and examples; -inf for those that are left out.
    owners : ndarray of shape (m,), int
        The sense of each gloss and example.
    n_senses : int

    Returns
    -------
    ndarray of shape (n, senses)
        -inf for a sense of which nothing is left.
    """
    similarities = np.full((len(cosines), n_senses), -np.inf)
    for sense in range(n_senses):
        highest = -np.sort(-cosines[:, owners == sense], axis=1)[:, :_NEAREST]
        is_used = np.isfinite(highest)
        counts = is_used.sum(axis=1)
        means = np.where(is_used, highest, 0).sum(axis=1) / np.maximum(counts, 1)
        similarities[:, sense] = np.where(counts > 0, means, -np.inf)
    return similarities


def leave_one_out(inventory: Inventory) -> tuple[Floats, Floats]:
    """Return the highest similarity of each example with all senses, and with the senses other than its own.

    The example itself is left out of both. Values are missing if no sense is left to compare with.
    """
    rows = np.flatnonzero(~inventory.is_gloss)
    unit = unit_rows(inventory.vectors)
    cosines = unit[rows] @ unit.T
    cosines[np.arange(len(rows)), rows] = -np.inf
    similarities = sense_similarities(cosines, inventory.owners, len(inventory.senses))
    own = inventory.owners[rows]
    is_known = np.isfinite(similarities[np.arange(len(rows)), own])
    known = similarities[is_known].max(axis=1, initial=-np.inf)
    similarities[np.arange(len(rows)), own] = -np.inf
    withheld = similarities.max(axis=1, initial=-np.inf)
    return known, withheld[np.isfinite(withheld)]


def fit_novelty(inventories: Iterable[Inventory], calibration: Calibration | None = None) -> Novelty:
    """Learn from the examples of all words when a usage has a known sense.

    Parameters
    ----------
    inventories : iterable of Inventory
        Of all words, as one word has too few examples.
    calibration : Calibration, optional
        The calibration of the encoder, for inventories with too few examples.

    Raises
    ------
    UserError
        If there are too few examples, and the encoder has no calibration.
    """
    listed = [inventory for inventory in inventories if inventory.senses]
    pairs = [leave_one_out(inventory) for inventory in listed]
    known, withheld = (np.concatenate([pair[i] for pair in pairs]) if pairs else np.zeros(0) for i in (0, 1))
    if min(len(known), len(withheld)) < _ENOUGH:
        if calibration is None:
            raise UserError(
                f"the inventory has too few examples ({len(known)} of senses with a gloss or another example, at least "
                f"{_ENOUGH} are needed) to tell new senses from known ones, and the encoder has no calibration; add "
                f"examples, or choose an encoder that is tuned on senses"
            )
        return Novelty(calibration.slope, calibration.intercept, _ASSUMED_SHARE, "encoder")
    slope, intercept = _fit_logistic(known, withheld)
    counts = np.concatenate([np.bincount(i.owners[~i.is_gloss], minlength=len(i.senses)) for i in listed])
    new_share = (counts == 1).sum() / counts.sum()
    # Where most senses have one example, the examples were chosen to illustrate, and say nothing about frequencies.
    new_share = _ASSUMED_SHARE if new_share > _MOST else max(float(new_share), 1 / (1 + int(counts.sum())))
    return Novelty(slope, intercept, new_share, "inventory")


def assign_senses(
    vectors: Matrix,
    inventory: Inventory,
    novelty: Novelty,
    clustering: Clustering,
    calibration: Calibration | None,
    seed: int = 0,
) -> Assignment:
    """Give each usage of a word a known sense, or a new one if that is more likely.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Vectors of the usages.
    inventory : Inventory
        The known senses of the word; if there are none, all senses are new.
    novelty : Novelty
    clustering : Clustering
        Divides the usages with new senses.
    calibration : Calibration or None
        The calibration of the encoder for the clustering; without it all new usages are one sense.
    seed : int
        Seed of the clustering.
    """
    n = len(vectors)
    best, p_known = np.full(n, -1), np.zeros(n)
    if inventory.senses and n:
        cosines = unit_rows(vectors) @ unit_rows(inventory.vectors).T
        similarities = sense_similarities(cosines, inventory.owners, len(inventory.senses))
        best = similarities.argmax(axis=1)
        p_known = novelty.known_probability(similarities.max(axis=1))
    new = np.flatnonzero(p_known < 0.5)
    labels = np.zeros(len(new), np.intp)
    if calibration is not None and len(new) > 1:
        labels = clustering.cluster(vectors[new], calibration, seed)
    senses = [inventory.senses[i] if p >= 0.5 else "" for i, p in zip(best, p_known, strict=True)]
    free = (name for number in count(1) if (name := f"new-{number}") not in inventory.senses)
    names = list(islice(free, int(labels.max(initial=-1)) + 1))
    for row, label in zip(new, labels, strict=True):
        senses[row] = names[label]
    return Assignment(senses, np.maximum(p_known, 1 - p_known))


def _fit_logistic(known_similarities: Floats, withheld_similarities: Floats) -> tuple[float, float]:
    """Return slope and intercept of a logistic regression in which both classes have the same weight.

    The slope is not negative: a usage that is more similar to a known sense is not less likely to have it. If it is 0,
    similarities say nothing, and a usage is as likely to have a known sense as a new one before the share of new senses
    is considered.
    """
    from scipy.optimize import minimize  # imported here because it is slow

    def loss(parameters: Floats) -> float:
        slope, intercept = parameters
        return float(
            np.logaddexp(0, -(slope * known_similarities + intercept)).mean()
            + np.logaddexp(0, slope * withheld_similarities + intercept).mean()
            + 1e-6 * slope**2
        )

    slope, intercept = minimize(loss, np.array([1.0, 0.0]), method="L-BFGS-B", bounds=[(0, None), (None, None)]).x
    return (float(slope), float(intercept)) if slope > 0 else (0.0, 0.0)  # exactly: the sign of an error would decide

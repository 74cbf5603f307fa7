"""The senses of a word: which usages belong to each, how large its share is in each period, and what it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexshift.senses.description import Description, SenseUsages
from lexshift.senses.evidence import shift
from lexshift.senses.shares import (
    GAINED,
    GREW,
    KEPT,
    LOST,
    MIN_TESTED,
    SHRANK,
    Shares,
    adjust_p,
    name_changes,
    sense_shares,
)
from lexshift.senses.typical_sentences import TypicalSentences
from lexshift.utils.arrays import Array, Floats, Indices, Matrix

CHANGES = (GAINED, LOST, GREW, SHRANK, KEPT)
"""How the share of a sense can change over the periods."""


@dataclass(frozen=True)
class Sense:
    """One sense of a word.

    Attributes
    ----------
    number : int
        Number of the sense, from 1; the sense with the most usages is the first.
    change : str
        "gained", "lost", "grew", "shrank" or "kept".
    rows : tuple of int
        The usages of the sense: positions among the usages of the word, the earliest period first.
    counts : tuple of int
        Number of usages in each period.
    shares, low, high : tuple of float
        Share of the usages of each period, and its 95 % interval; NaN for a period without usages.
    p, q : float
        Test of whether the share depends on the period, and p adjusted for all senses of all words; NaN if there is
        only one sense.
    description : dict of str to list of str
        Words that describe the sense, by the kind of description.
    examples : tuple of int
        Usages that are typical of the sense and differ from each other, the most typical one first.
    known : str
        The name of the sense in the inventory; empty for a sense that is not in it, or without an inventory.
    stability : float
        How well the sense is found again in random samples of the usages, from 0 to 1; NaN for senses of an inventory
        and for the only sense of a word. For a part of a divided sense, the smallest value of its stable groups.
    """

    number: int
    change: str
    rows: tuple[int, ...]
    counts: tuple[int, ...]
    shares: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    p: float
    q: float
    description: dict[str, list[str]]
    examples: tuple[int, ...]
    known: str = ""
    stability: float = np.nan


@dataclass(frozen=True, eq=False)
class WordSenses:
    """The senses of a word, and the sense of each of its usages.

    Attributes
    ----------
    word : str
    labels : tuple of int
        The sense of each usage, from 1. The usages of all periods follow each other, the earliest period first.
    periods : tuple of int
        The period of each usage, from 0.
    shift : tuple of float
        How strongly each usage belongs to what is arriving (positive) or leaving (negative); see :func:`usage_shifts`.
    shares : Shares
        Counts and shares of the senses in the periods with their intervals, and p.
    q : ndarray of shape (K,)
        p adjusted for the false discovery rate. For parts of a divided sense it is at least ``division_q``.
    division_q : ndarray of shape (K,)
        For parts of a sense that was divided because its composition changed, the q of that change; 0 for other senses.
    changes : list of str
        How the share of each sense changed: "gained", "lost", "grew", "shrank" or "kept".
    descriptions : dict of str to list of list of str
        For each kind of description, the words that describe each sense.
    examples : list of list of int
        Typical and varied usages of each sense.
    known : list of str
        The name of each sense in the inventory; empty for a sense that is not in it.
    stability : ndarray of shape (K,)
        How well each sense is found again in random samples of the usages, from 0 to 1, or NaN.
    jsd : float
        The change score of the word; see :func:`lexshift.senses.graded_change.change_over_periods`. NaN if it was not
        computed.
    """

    word: str
    labels: tuple[int, ...]
    periods: tuple[int, ...]
    shift: tuple[float, ...]
    shares: Shares
    q: Floats
    division_q: Floats
    changes: list[str]
    descriptions: dict[str, list[list[str]]]
    examples: list[list[int]]
    known: list[str]
    stability: Floats
    jsd: float = np.nan

    def __len__(self) -> int:
        return len(self.changes)

    def __repr__(self) -> str:
        names = ", ".join(f"{sense.number} {sense.change}" for sense in self.senses)
        return f"WordSenses({self.word!r}: {names})"

    @property
    def is_tested(self) -> Array:
        """True for each sense that was tested, (K,): not the only one of the word, and not too rare."""
        is_frequent: Array = self.shares.counts.sum(axis=1) >= MIN_TESTED
        return is_frequent & (len(self) > 1)

    @property
    def senses(self) -> list[Sense]:
        """The senses, the one with the most usages first."""
        labels = np.array(self.labels)
        values = self.shares
        return [
            Sense(
                number=k + 1,
                change=self.changes[k],
                rows=tuple(np.flatnonzero(labels == k + 1).tolist()),
                counts=tuple(int(n) for n in values.counts[k]),
                shares=tuple(values.shares[k].tolist()),
                low=tuple(values.low[k].tolist()),
                high=tuple(values.high[k].tolist()),
                p=float(values.p[k]),
                q=float(self.q[k]),
                description={kind: items[k] for kind, items in self.descriptions.items() if items[k]},
                examples=tuple(self.examples[k]),
                known=self.known[k],
                stability=float(self.stability[k]),
            )
            for k in range(len(self))
        ]


def find_word_senses(
    usages: SenseUsages,
    n_periods: int,
    *,
    names: Sequence[str] | None = None,
    stability: Floats | None = None,
    division_q: Floats | None = None,
    descriptions: Sequence[Description] = (),
    documents: Array | None = None,
    permutations: int = 10_000,
    alpha: float = 0.05,
    seed: int = 0,
) -> WordSenses:
    """Compare the shares of the senses of a word in the periods, and describe the senses.

    Parameters
    ----------
    usages : SenseUsages
        The usages of the word in all periods, with their senses; the sense with the most usages has the label 0.
    n_periods : int
    names : sequence of str, optional
        Names of the senses in an inventory; empty for a sense that is not in it.
    stability : ndarray of shape (K,), optional
        How well each sense is found again in random samples of the usages.
    division_q : ndarray of shape (K,), optional
        The q of the change because of which a sense was divided, for its parts, and 0 for other senses; see
        :class:`~lexshift.senses.changed_groups.DividedSenses`.
    descriptions : sequence of Description
        Kinds of descriptions.
    documents : ndarray of shape (n,), optional
        The document of each usage; usages of a document are not independent.
    permutations : int
        Number of permutations of the tests, where p has no closed form.
    alpha : float
        False discovery rate over the senses of this word; :func:`adjust_changes` controls it over many words.
    seed : int
        Seed of the permutations.

    Returns
    -------
    WordSenses
    """
    shares = sense_shares(usages.labels, usages.periods, n_periods, documents, permutations, seed=seed)
    k = len(shares.p)
    word_senses = WordSenses(
        word=usages.word,
        labels=tuple((usages.labels + 1).tolist()),
        periods=tuple(usages.periods.tolist()),
        shift=tuple(usage_shifts(usages.vectors, usages.periods).tolist()),
        shares=shares,
        q=np.full(k, np.nan),
        division_q=np.zeros(k) if division_q is None else division_q,
        changes=[KEPT] * k,
        descriptions={description.name: description.describe(usages) for description in descriptions},
        examples=TypicalSentences().choose(usages),
        known=[""] * k if names is None else list(names),
        stability=np.full(k, np.nan) if stability is None else stability,
    )
    return adjust_changes({usages.word: word_senses}, alpha)[usages.word]


def usage_shifts(vectors: Matrix, periods: Indices) -> Floats:
    """Compute how strongly each usage belongs to what is leaving or arriving, (n,).

    Usages of the first period that has any are compared with the last one, all others with the first one; see
    :func:`lexshift.senses.evidence.shift`. Values of different periods should not be compared.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Vectors of the usages.
    periods : ndarray of shape (n,), int
        The period of each usage.

    Returns
    -------
    ndarray of shape (n,)
        At least -1 in the first period and at most 1 in the others; 0 if there is only one period.
    """
    shifts = np.zeros(len(vectors))
    first, *later = np.unique(periods)
    for period in later:  # the last one determines the values of the first period
        old, new = shift(vectors[periods == first], vectors[periods == period])
        shifts[periods == first], shifts[periods == period] = old, new
    return shifts


def adjust_changes(words: Mapping[str, WordSenses], alpha: float, selected_share: float = 1.0) -> dict[str, WordSenses]:
    """Adjust p for the number of senses of all words, and name the changes at a false discovery rate.

    Words with one sense are not tested. The q of a part of a divided sense is at least that of the change because of
    which the sense was divided.

    Parameters
    ----------
    words : mapping of str to WordSenses
    alpha : float
        False discovery rate.
    selected_share : float
        See :func:`~lexshift.senses.shares.adjust_p`.
    """
    adjusted = adjust_p(
        {word: senses.shares for word, senses in words.items() if len(senses) > 1}, selected_share=selected_share
    )
    q = {word: np.maximum(values, words[word].division_q) for word, values in adjusted.items()}
    return {
        word: replace(senses, q=q[word], changes=name_changes(senses.shares, q[word], alpha)) if word in q else senses
        for word, senses in words.items()
    }

"""The result of a discovery: that of a comparison of very many words, each compared with similar words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from lexshift.corpus.vocabulary import Vocabulary
from lexshift.scoring.space import Space
from lexshift.store.siblings import Siblings
from lexshift.study.folder import Kind
from lexshift.study.result import FILES, Result
from lexshift.study.verdict import compare_with_similar
from lexshift.utils.plain import from_plain, to_plain
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

VOCABULARY = "vocabulary.csv"
DISCOVERY = Kind("discovery", (*FILES, VOCABULARY))


@dataclass(frozen=True, eq=False, repr=False)
class Discovery(Result):
    """The result of :func:`lexshift.discover`: a :class:`lexshift.Result` that also holds the whole vocabulary.

    Parameters
    ----------
    siblings, words, run, space, scores, labels
        As for :class:`lexshift.Result`.
    vocabulary : Vocabulary
        Every word frequent enough in one corpus, and why it was left out.
    spreads : dict of str to float
        The average distance between two usages of a word in the same corpus.

    Examples
    --------
    >>> import lexshift
    >>> from lexshift.demo import ExampleEncoder  # in place of model="minilm"
    >>> old, new = lexshift.demo_corpora()
    >>> found = lexshift.discover(old, new, model=ExampleEncoder(), top_words=20, resamples=20, monitor=False)
    >>> len(found.table), list(found.table.columns[-4:])
    (20, ['spread', 'expected', 'excess', 'above'])
    """

    kind: ClassVar[Kind] = DISCOVERY

    vocabulary: Vocabulary
    spreads: dict[str, float] = field(default_factory=dict)

    @cached_property
    def table(self) -> pd.DataFrame:
        """As :attr:`lexshift.Result.table`, with four more columns.

        spread (the average distance between two usages in the same corpus, high for ambiguous words), expected (the
        median score of the words most similar in frequency and spread), excess (the distance of the score from that
        median, in units of 1.4826 median absolute deviations), above (the share of those words with a lower score).
        """
        table = super().table
        scored = table["word"].isin(self.spreads).to_numpy()
        rows = table[scored]
        spreads = np.array([self.spreads[word] for word in rows["word"]])
        rarer = np.minimum(rows["per_million_old"].to_numpy(), rows["per_million_new"].to_numpy())
        similar = compare_with_similar(rows["score"].to_numpy(), rarer, spreads)
        for name, values in {"spread": spreads, **similar._asdict()}.items():
            table.loc[scored, name] = values
        return table

    def files(self) -> dict[str, bytes]:
        """Return the contents of the files that :meth:`save` writes, without run.json, by name."""
        return super().files() | {VOCABULARY: csv_text(self.vocabulary_table()).encode()}

    def vocabulary_table(self) -> pd.DataFrame:
        """Return all words of the vocabulary, the most frequent first: counts, share of capitals, why left out."""
        import pandas as pd

        rows = [(word, *counts, capital, reason) for word, counts, capital, reason in self.vocabulary.entries]
        return pd.DataFrame(rows, columns=["word", "n_old", "n_new", "capital", "left out as"])

    def details(self) -> dict[str, Any]:
        """Return what :meth:`lexshift.Result.details` does, with the vocabulary and the spreads."""
        return super().details() | {"vocabulary": to_plain(self.vocabulary), "spreads": to_plain(self.spreads)}

    @classmethod
    def restore(
        cls,
        siblings: Siblings,
        run: dict[str, Any],
        space: Space | None,
        details: Mapping[str, Any],
        **more: Any,
    ) -> Self:
        """Return the discovery that was saved."""
        more |= {"vocabulary": from_plain(Vocabulary, details["vocabulary"]), "spreads": dict(details["spreads"])}
        return super().restore(siblings, run, space, details, **more)

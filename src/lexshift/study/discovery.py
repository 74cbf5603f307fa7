"""What a discovery answers: the result of a comparison of very many words, and each word set against words like it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lexshift.corpus.vocabulary import Vocabulary
from lexshift.study.folder import Kind
from lexshift.study.result import COMPARISON, Result
from lexshift.study.similar_words import against_similar
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

VOCABULARY = "vocabulary.csv"
DISCOVERY = Kind("discovery", (*COMPARISON.files, VOCABULARY))


@dataclass(frozen=True, eq=False, repr=False)
class Discovery(Result):
    """What :func:`lexshift.discover` found: a :class:`lexshift.Result` that also knows all words and why some are out.

    Parameters
    ----------
    siblings, words, scores, labels, run, space
        As for :class:`lexshift.Result`.
    vocabulary : Vocabulary
        Every word frequent enough in one corpus, and why it was left out.
    spreads : dict of str to float
        The average distance between two usages of a word in the same corpus.

    Examples
    --------
    >>> import numpy as np
    >>> import lexshift
    >>> class Lengths:  # in place of model="minilm"
    ...     def encode(self, sentences, spans):
    ...         return np.array([[len(s), start] for s, (start, end) in zip(sentences, spans)], np.float32)
    >>> old, new = lexshift.demo_corpora()
    >>> found = lexshift.discover(old, new, model=Lengths(), top_words=20, resamples=20, monitor=False)
    >>> len(found.table), list(found.table.columns[-4:])
    (20, ['spread', 'expected', 'excess', 'above'])
    """

    kind: ClassVar[Kind] = DISCOVERY

    vocabulary: Vocabulary = field(default_factory=lambda: Vocabulary([], None, "", 0, 0))
    spreads: dict[str, float] = field(default_factory=dict)

    @cached_property
    def table(self) -> pd.DataFrame:
        """As :attr:`lexshift.Result.table`, and four columns more.

        spread (the average distance between two usages in the same corpus, high for ambiguous words), expected (the
        median score of the words most like it in frequency and spread), excess (the distance of the score from that
        median, in units of 1.4826 median absolute deviations), above (the share of those words with a lower score).
        """
        table = super().table
        scored = table["word"].isin(self.spreads).to_numpy()
        rows = table[scored]
        spreads = np.array([self.spreads[word] for word in rows["word"]])
        rarer = np.minimum(rows["per_million_old"].to_numpy(), rows["per_million_new"].to_numpy())
        control = against_similar(rows["score"].to_numpy(), rarer, spreads)
        for name, values in {"spread": spreads, **control._asdict()}.items():
            table.loc[scored, name] = values
        return table

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write what :meth:`lexshift.Result.save` writes, and vocabulary.csv.

        Parameters
        ----------
        folder : str or path
            Where to; it is made if it is not there.
        """
        return super().save(folder)

    def contents(self) -> dict[str, bytes]:
        """Return the content of the files that :meth:`save` writes, without run.json, by their names."""
        return super().contents() | {VOCABULARY: csv_text(self.words_table()).encode()}

    def words_table(self) -> pd.DataFrame:
        """All words of the vocabulary, the most frequent first: counts, share of capital letters, why left out."""
        import pandas as pd

        rows = [(word, *counts, capital, reason) for word, counts, capital, reason in self.vocabulary.entries]
        return pd.DataFrame(rows, columns=["word", "n_old", "n_new", "capital", "left out as"])

"""One word of a comparison: its score, its usages and their vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.errors import UserError
from lexshift.scoring.scores import WordScore
from lexshift.senses.evidence import Plane, leanings, plane
from lexshift.study.periods import OLD_NEW
from lexshift.study.word_view import WordView
from lexshift.utils.arrays import Matrix

if TYPE_CHECKING:
    import pandas as pd

    from lexshift.study.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class WordResult(WordView):
    """The result of one word of a comparison."""

    result: Result

    @property
    def score(self) -> WordScore | None:
        """Change score, interval and test of the word; None if it has too few usages."""
        return self.result.scores.words.get(self.name)

    def usages(self, period: str) -> pd.DataFrame:
        """Return the usages in the "old" or the "new" corpus, the most typical of that corpus first.

        Columns: sentence, start, end (position of the word in it), leaning (how much closer the usage is to the new
        usages than to the old ones), file, line, date, and sense if senses were sought. The corpus can also be named by
        its label.
        """
        store, side = self.result.siblings, self.result.side(period)
        if self.name not in store:
            raise UserError(f"{self.name!r} does not occur in the corpora")
        frame = store[self.name].occurrences(store.corpora[side])
        frame["leaning"] = self.leanings[side]
        frame = self.add_sense(frame, store.corpora[side])
        frame = frame.sort_values("leaning", ascending=side == 0, kind="stable").reset_index(drop=True)
        columns = ["sentence", "start", "end", "leaning", "file", "line", "date", "sense"]
        return frame[[name for name in columns if name in frame]]

    @cached_property
    def leanings(self) -> tuple[Any, Any]:
        """Leanings of the old and the new usages, arrays of shape (n_old,) and (n_new,).

        The leaning of a usage is how much closer it is to the new usages than to the old ones.
        """
        old, new = self.vectors
        if not len(old) or not len(new):
            return np.zeros(len(old)), np.zeros(len(new))
        return leanings(old, new)

    @property
    def vectors(self) -> tuple[Matrix, Matrix]:
        """Vectors of the usages as they were scored, arrays of shape (n_old, d) and (n_new, d)."""
        old, new = (self.result.vectors(self.name, corpus) for corpus in self.result.siblings.corpora)
        return old, new

    @cached_property
    def plane(self) -> Plane | None:
        """Projection of the usages to two dimensions; None if a corpus has no usage."""
        if not all(self.result.count_usages(self.name, period) for period in OLD_NEW):
            return None
        return plane(*self.vectors)

    def __repr__(self) -> str:
        row = self.row
        score = "" if self.score is None else f", score {row['score']:.4g} [{row['low']:.4g}, {row['high']:.4g}]"
        return f"WordResult({self.name!r}: {row['verdict']}{score})"

"""One word of a result, whatever the question was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lexshift.senses.word_senses import WordSenses

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class WordView:
    """One word of a result."""

    result: Any
    name: str

    @property
    def senses(self) -> WordSenses | None:
        """The senses of the word; None if it has too few usages, or if senses were not asked for."""
        senses: WordSenses | None = self.result.senses.get(self.name)
        return senses

    def add_sense(self, usages: pd.DataFrame, period: str) -> pd.DataFrame:
        """Return the usages in a corpus of the store, in its order, with a column "sense" if senses were sought."""
        if self.senses is None:
            return usages
        first = self.result.siblings.corpora.index(period)
        labels = [sense for sense, i in zip(self.senses.labels, self.senses.periods, strict=True) if i == first]
        return usages.assign(sense=labels)

    @property
    def row(self) -> pd.Series:
        """Row of the word in the table."""
        table = self.result.table
        return table[table["word"] == self.name].iloc[0]

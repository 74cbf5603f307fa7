"""The result of a discovery: a comparison of a whole vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from lexshift.corpus.vocabulary import Vocabulary
from lexshift.scoring.space import Space
from lexshift.store.siblings import Siblings
from lexshift.study.folder import Kind
from lexshift.study.result import Result
from lexshift.study.result_files import FILES, SENSE_FILES
from lexshift.study.verdict import CHANGED
from lexshift.utils.plain import from_plain, to_plain
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

VOCABULARY = "vocabulary.csv"
MAX_SENSE_WORDS = 100
"""Maximum number of words whose senses are sought, so that the time for it does not grow with the vocabulary."""
DISCOVERY = Kind("discovery", (*FILES, *SENSE_FILES, VOCABULARY))


@dataclass(frozen=True, eq=False, repr=False)
class Discovery(Result):
    """The result of :func:`lexshift.discover`: a :class:`lexshift.Result` that also holds the whole vocabulary.

    Parameters
    ----------
    siblings, words, run, space, scores, labels, evidence, backdrop, senses, controls, appeared_words, group_comparison
        As for :class:`lexshift.Result`.
    vocabulary : Vocabulary
        Every word that is frequent in one of the corpora, with the reason if it was left out.

    Examples
    --------
    >>> import lexshift
    >>> from lexshift.demo import ExampleEncoder  # in place of a built-in model
    >>> old, new = lexshift.demo_corpora()
    >>> result = lexshift.discover(old, new, model=ExampleEncoder(), top_words=20, resamples=20, monitor=False)
    >>> len(result.table), len(result.vocabulary.words)
    (20, 20)
    """

    kind: ClassVar[Kind] = DISCOVERY

    vocabulary: Vocabulary

    @property
    def sense_words(self) -> list[str]:
        """The words whose senses are sought: the changed words with the highest scores, at most ``MAX_SENSE_WORDS``."""
        words: list[str] = self.table.loc[self.table["verdict"] == CHANGED, "word"].tolist()
        return words[:MAX_SENSE_WORDS]

    def files(self) -> dict[str, bytes]:
        """Return the contents of the files that :meth:`save` writes, without run.json, by name."""
        return super().files() | {VOCABULARY: csv_text(self.vocabulary_table()).encode()}

    def vocabulary_table(self) -> pd.DataFrame:
        """Return the vocabulary, the most frequent words first: counts, share of capitals, and reason if left out."""
        import pandas as pd

        rows = [(word, *counts, capital, reason) for word, counts, capital, reason in self.vocabulary.entries]
        return pd.DataFrame(rows, columns=["word", "n_old", "n_new", "capital", "left out as"])

    def details(self) -> dict[str, Any]:
        """Return the values of :meth:`lexshift.Result.details`, and the vocabulary."""
        return super().details() | {"vocabulary": to_plain(self.vocabulary)}

    @classmethod
    def restore(
        cls, siblings: Siblings, run: dict[str, Any], space: Space | None, details: Mapping[str, Any], **more: Any
    ) -> Self:
        """Return a saved discovery."""
        more["vocabulary"] = from_plain(Vocabulary, details["vocabulary"])
        return super().restore(siblings, run, space, details, **more)

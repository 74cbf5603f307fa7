"""The result of a comparison: a table of words, and the scores and usages of each word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from lexshift.scoring.permutation import unresolved_note
from lexshift.scoring.rates import RateCurve
from lexshift.scoring.scores import Scores, WordScore
from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.scoring.space import Space
from lexshift.scoring.sscd import SSCD
from lexshift.senses.word_senses import WordSenses
from lexshift.store.siblings import Siblings
from lexshift.study.folder import Kind
from lexshift.study.periods import OLD_NEW
from lexshift.study.result_files import FILES, SENSE_FILES
from lexshift.study.study_result import StudyResult
from lexshift.study.verdict import CHANGED, STABLE, TOO_FEW
from lexshift.study.word_result import WordResult
from lexshift.utils import checks
from lexshift.utils.plain import from_plain, to_plain

if TYPE_CHECKING:
    import pandas as pd

COMPARISON = Kind("comparison", (*FILES, *SENSE_FILES))
_MANY, _MOST = 10, 0.8  # number of tested words, and share of changed ones, from which a caution is shown


@dataclass(frozen=True, eq=False, repr=False)
class Result(StudyResult):
    """The result of :func:`lexshift.compare`.

    Parameters
    ----------
    siblings, words, run, space, senses
        As for :class:`~lexshift.study.study_result.StudyResult`.
    scores : Scores
        The scores of the words with enough usages.
    labels : (str, str)
        Names of the old and the new corpus.

    Examples
    --------
    >>> import lexshift
    >>> from lexshift.demo import ExampleEncoder  # in place of a built-in model
    >>> old, new = lexshift.demo_corpora()
    >>> result = lexshift.compare(old, new, words=["mouse", "bread"], model=ExampleEncoder(), resamples=100)
    >>> list(result.table.columns[:4])
    ['word', 'n_old', 'n_new', 'score']
    >>> result.word("mouse").usages("new").columns.tolist()
    ['sentence', 'start', 'end', 'leaning', 'file', 'line', 'date']
    """

    kind: ClassVar[Kind] = COMPARISON

    scores: Scores[str]
    labels: tuple[str, str]

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each word, the most changed first; words with too few usages come last.

        Columns: word, n_old, n_new (usages), score (the change score), low, high (its interval), p (permutation test),
        q (p adjusted for the false discovery rate), tested_metric (the metric of the permutation test, which may differ
        from that of the score), verdict (changed, stable or too few), reason (for too few), e_original, e_swap (mean
        over repetitions), per_million_old, per_million_new (frequencies).
        """
        import pandas as pd

        scored = list(self.scores.words)
        q = benjamini_hochberg([self.scores.words[word].test.p for word in scored]) if scored else np.zeros(0)
        q_and_decision = dict(zip(scored, zip(q.tolist(), decide(q, self.settings["alpha"]), strict=True), strict=True))
        rows = [self._row(word, *q_and_decision.get(word, (np.nan, False))) for word in self.words]
        table = pd.DataFrame(rows).sort_values(["score", "word"], ascending=[False, True], na_position="last")
        return table.reset_index(drop=True)

    def _row(self, word: str, q: float, is_changed: bool) -> dict[str, Any]:
        n_old, n_new = (self.count_usages(word, period) for period in OLD_NEW)
        row: dict[str, Any] = {"word": word, "n_old": n_old, "n_new": n_new}
        scored = self.scores.words.get(word)
        if scored is None:
            row |= dict.fromkeys(["score", "low", "high", "p", "q"], np.nan)
            row |= {"tested_metric": "", "verdict": TOO_FEW, "reason": self._why_too_few(n_old, n_new)}
            row |= {"e_original": np.nan, "e_swap": np.nan}
        else:
            row |= {"score": scored.change.score, "low": scored.interval.low, "high": scored.interval.high}
            row |= {"p": scored.test.p, "q": q, "tested_metric": scored.tested_metric}
            row |= {"verdict": CHANGED if is_changed else STABLE, "reason": ""}
            row |= {"e_original": scored.change.e_original, "e_swap": float(scored.change.e_swap.mean())}
        for period in OLD_NEW:
            row[f"per_million_{period}"] = 1e6 * self.count_occurrences(word, period) / self.corpus(period)["words"]
        return row

    def _why_too_few(self, *counts: int) -> str:
        least = self.settings["min_usages"]
        numbers = [f"{n} usage" if n == 1 else f"{n or 'no'} usages" for n in counts]
        missing = [
            f"{text} in {label}" for n, text, label in zip(counts, numbers, self.labels, strict=True) if n < least
        ]
        return f"{' and '.join(missing)}; {least} are needed in each corpus"

    def word(self, word: str) -> WordResult:
        """Return the result of one word.

        Parameters
        ----------
        word : str
            A word of the study.
        """
        return WordResult(self, self.check_word(word))

    def side(self, period: str) -> int:
        """Return 0 for the old corpus and 1 for the new one, named "old" and "new" or by their labels."""
        sides = dict(zip((*self.labels, *OLD_NEW), (0, 1, 0, 1), strict=True))
        return sides[checks.choice(period, "period", tuple(sides))]

    def corpus(self, period: str) -> dict[str, Any]:
        """Return the record of the old or the new corpus: its files, bytes, words, passages and skipped text."""
        return self.siblings.corpus(self.siblings.corpora[self.side(period)])

    def count(self, verdict: str) -> int:
        """Return the number of words with a verdict."""
        return int((self.table["verdict"] == verdict).sum())

    def count_usages(self, word: str, period: str) -> int:
        """Return the number of embedded usages of a word in the old or the new corpus."""
        return self.siblings.count_usages(word, self.siblings.corpora[self.side(period)])

    def count_occurrences(self, word: str, period: str) -> int:
        """Return the number of occurrences of a word in the old or the new corpus, embedded or not."""
        return self.siblings.count_occurrences(word, self.siblings.corpora[self.side(period)])

    def headline(self) -> str:
        """Return the outcome in a sentence."""
        changed, tested = self.count(CHANGED), len(self.scores.words)
        few = self.count(TOO_FEW)
        if not tested:
            return f"No word can be tested: {'it occurs' if few == 1 else f'all {few} occur'} too rarely"
        outcome = f"{changed} of {tested} {'word' if tested == 1 else 'words'} changed between {self.labels[0]} and "
        outcome += f"{self.labels[1]} at a false discovery rate of {self.settings['alpha']:g}"
        return outcome + (f"; {few} occurred too rarely to say" if few else "")

    def caution(self) -> str | None:
        """Return a warning if there were too few permutations or the corpora differ as a whole, else None."""
        if note := unresolved_note([scored.test for scored in self.scores.words.values()], self.settings["alpha"]):
            return note
        changed, tested = self.count(CHANGED), len(self.scores.words)
        if tested < _MANY or changed < _MOST * tested:
            return None
        return (
            "Most words differ between the corpora, so the corpora may differ as a whole, in topic, style or spelling; "
            "trust the ranking more than the verdicts"
        )

    def details(self) -> dict[str, Any]:
        """Return the scores, the curve over the swap rate and the senses as plain values."""
        sscd = to_plain(self.scores.sscd) | {"metric": self.settings["metric"]}
        values = {"scores": to_plain(self.scores.words), "curve": to_plain(self.scores.curve), "sscd": sscd}
        return values | {"senses": to_plain(self.senses)}

    @classmethod
    def restore(
        cls, siblings: Siblings, run: dict[str, Any], space: Space | None, details: Mapping[str, Any], **more: Any
    ) -> Self:
        """Return a saved result."""
        scores: Scores[str] = Scores(
            words=from_plain(dict[str, WordScore], details["scores"]),
            curve=from_plain(RateCurve | None, details["curve"]),
            sscd=from_plain(SSCD, details["sscd"]),
        )
        more["senses"] = from_plain(dict[str, WordSenses], details["senses"])
        first, second = (entry["name"] for entry in run["corpora"])
        return cls(siblings, run["words"], run, space, scores, (first, second), **more)

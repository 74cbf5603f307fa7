"""The result of a comparison: a table of words, and the scores and usages of each word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from lexshift.corpus.dated_corpus import split_labels
from lexshift.scoring.permutation_stages import unresolved_note
from lexshift.scoring.rates import RateCurve
from lexshift.scoring.scores import Scores, WordScore
from lexshift.scoring.significance import benjamini_hochberg
from lexshift.scoring.space import Space
from lexshift.scoring.sscd import SSCD
from lexshift.senses.word_senses import WordSenses
from lexshift.store.siblings import Siblings
from lexshift.study.appeared_words import AppearedWords
from lexshift.study.folder import Kind
from lexshift.study.groups import DIFFERENCE_COLUMNS, GROUP_COLUMNS, GroupComparison, PairReading, difference_table
from lexshift.study.periods import OLD_NEW
from lexshift.study.result_files import DIFFERENCES_CSV, FILES, GROUP_FILES, GROUPS_CSV, SENSE_FILES
from lexshift.study.study_result import StudyResult
from lexshift.study.verdict import (
    CHANGED,
    NOT_COMPARED,
    TOO_FEW,
    VERDICTS,
    Backdrop,
    Evidence,
    count_verdicts,
    decide_verdict,
    describe_presence,
    explain_verdict,
    presence,
)
from lexshift.study.word_result import WordResult
from lexshift.utils import checks
from lexshift.utils.plain import from_plain, to_plain
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

COMPARISON = Kind("comparison", (*FILES, *SENSE_FILES, *GROUP_FILES))


@dataclass(frozen=True, eq=False, repr=False)
class Result(StudyResult):
    """The result of :func:`lexshift.compare`.

    Parameters
    ----------
    siblings, words, run, space, senses, controls, appeared_words
        As for :class:`~lexshift.study.study_result.StudyResult`.
    scores : Scores
        The scores of the words with enough usages.
    labels : (str, str)
        Names of the old and the new corpus.
    evidence : mapping of str to Evidence
        What the verdicts rest on besides the tests, for the words with enough usages.
    backdrop : Backdrop
        What the two corpora do to ordinary words.
    group_comparison : GroupComparison, optional
        The changes of the words in groups of texts; None unless they were asked for.

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
    evidence: Mapping[str, Evidence] = field(kw_only=True)
    backdrop: Backdrop = field(kw_only=True)
    group_comparison: GroupComparison | None = field(default=None, kw_only=True)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each word, the most changed first; words without a score come last, in the order of their verdicts.

        Columns: word, n_old, n_new (usages), score (the change score), low, high (its interval), distance, sscd (the
        average pairwise distance and SSCD, whose weighted geometric mean is the score), verdict, reason (why
        the word has this verdict), gap, gap_low, gap_high (how much less likely two usages are to share a sense if they
        are from different corpora, with its interval), excess (by how many standard deviations of ordinary words the
        gap exceeds theirs), local_fdr (probability that a word with this excess is an ordinary one), p (permutation
        test), q (p adjusted for the false discovery rate), tested_metric (the metric of the permutation test, which may
        differ from that of the score), e_original, e_swap (mean over repetitions), per_million_old, per_million_new
        (frequencies).
        """
        import pandas as pd

        scored = list(self.scores.words)
        q = benjamini_hochberg([self.scores.words[word].test.p for word in scored]) if scored else np.zeros(0)
        q_values = dict(zip(scored, q.tolist(), strict=True))
        rows = [self._row(word, q_values.get(word, np.nan)) for word in self.words]
        return pd.DataFrame(sorted(rows, key=_rank))

    @cached_property
    def groups(self) -> pd.DataFrame:
        """A row for each word and group of texts; empty without groups.

        Columns: word, group, n_old, n_new (usages), gap, gap_low, gap_high (the gap between the corpora within the
        group, with its interval), p (permutation test), q (p adjusted over all words and groups), verdict (within the
        group, by the same rule as for the corpora).
        """
        import pandas as pd

        comparison = self.group_comparison
        return pd.DataFrame(columns=GROUP_COLUMNS) if comparison is None else comparison.table()

    @cached_property
    def group_readings(self) -> list[PairReading]:
        """The reading of each word for each pair of groups; words whose groups differ come first."""
        if self.group_comparison is None:
            return []
        return self.group_comparison.read(dict(zip(self.table["word"], self.table["verdict"], strict=True)))

    @cached_property
    def group_differences(self) -> pd.DataFrame:
        """A row for each word and pair of groups, words whose groups differ first; empty without groups.

        Columns: word, first, second (the groups), difference (gap of the first minus gap of the second group), low,
        high (its interval), p (permutation test), q (p adjusted over all words and pairs), reading.
        """
        import pandas as pd

        return (
            difference_table(self.group_readings) if self.group_readings else pd.DataFrame(columns=DIFFERENCE_COLUMNS)
        )

    def group_headline(self) -> str | None:
        """Return the outcome of the comparison of groups in a sentence, or None without groups."""
        return None if self.group_comparison is None else self.group_comparison.headline(self.group_readings)

    def files(self) -> dict[str, bytes]:
        """Return the contents of the files that :meth:`save` writes, without run.json, by name."""
        tables = {}
        if self.group_comparison is not None:
            tables = {GROUPS_CSV: self.groups, DIFFERENCES_CSV: self.group_differences}
        return super().files() | {name: csv_text(table).encode("utf-8", "replace") for name, table in tables.items()}

    def _row(self, word: str, q: float) -> dict[str, Any]:
        n_old, n_new = (self.count_usages(word, period) for period in OLD_NEW)
        row: dict[str, Any] = {"word": word, "n_old": n_old, "n_new": n_new}
        scored, evidence = self.scores.words.get(word), self.evidence.get(word)
        if scored is None or evidence is None:
            row |= dict.fromkeys(["score", "low", "high", "distance", "sscd"], np.nan)
            row |= dict(zip(("verdict", "reason"), self._verdict_without_score(word, n_old, n_new), strict=True))
            row |= dict.fromkeys(["gap", "gap_low", "gap_high", "excess", "local_fdr", "p", "q"], np.nan)
            row |= {"tested_metric": "", "e_original": np.nan, "e_swap": np.nan}
        else:
            verdict = decide_verdict(evidence, q, self.settings["alpha"], self.backdrop.floor)
            row |= {"score": scored.change.score, "low": scored.interval.low, "high": scored.interval.high}
            row |= {"distance": scored.change.distance, "sscd": scored.change.sscd}
            row |= {"verdict": verdict, "reason": explain_verdict(verdict, evidence, self.backdrop)}
            gap = evidence.gap
            row |= {"gap": gap.value, "gap_low": gap.low, "gap_high": gap.high}
            row |= {
                name: np.nan if value is None else value
                for name, value in (("excess", evidence.excess), ("local_fdr", evidence.local_fdr))
            }
            row |= {"p": scored.test.p, "q": q, "tested_metric": scored.tested_metric}
            row |= {"e_original": scored.change.e_original, "e_swap": float(scored.change.e_swap.mean())}
        for period in OLD_NEW:
            row[f"per_million_{period}"] = 1e6 * self.count_occurrences(word, period) / self.corpus(period)["words"]
        return row

    def _verdict_without_score(self, word: str, n_old: int, n_new: int) -> tuple[str, str]:
        """Return the verdict on a word that was not scored, and its reason."""
        counts = self.count_occurrences(word, OLD_NEW[0]), self.count_occurrences(word, OLD_NEW[1])
        sizes = self.corpus(OLD_NEW[0])["words"], self.corpus(OLD_NEW[1])["words"]
        if verdict := presence(counts, sizes):
            return verdict, describe_presence(counts, self.labels)
        return TOO_FEW, self._why_too_few(n_old, n_new)

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

    @property
    def corpus_names(self) -> tuple[str, str]:
        """Names of the corpora in a sentence: the labels, or "the text before" a day that divides one corpus."""
        split_at = self.settings.get("split_at")
        is_split = split_at is not None and self.labels == split_labels(split_at)
        return (f"the text {self.labels[0]}", f"the text {self.labels[1]}") if is_split else self.labels

    def headline(self) -> str:
        """Return the outcome in a sentence."""
        changed, tested = self.count(CHANGED), len(self.scores.words)
        counts = Counter(self.table["verdict"])
        del counts[CHANGED]
        others = count_verdicts(counts)
        if not tested:
            return f"No word can be tested: {others}"
        beyond = ", beyond what the corpora do to ordinary words" if self.backdrop.control_words else ""
        outcome = f"{changed} of {tested} {'word' if tested == 1 else 'words'} changed between "
        return outcome + " and ".join(self.corpus_names) + beyond + (f" ({others})" if others else "")

    def background_note(self) -> str | None:
        """Return a sentence on what the two corpora do to ordinary words, or None without control words."""
        return self.backdrop.describe()

    def caution(self) -> str | None:
        """Return a warning if there were too few permutations or no comparison with ordinary words, else None."""
        if note := unresolved_note([scored.test for scored in self.scores.words.values()], self.settings["alpha"]):
            return note
        if self.backdrop.control_words or not self.scores.words:
            return None
        return NOT_COMPARED

    def details(self) -> dict[str, Any]:
        """Return the scores, the curve over the swap rate and the senses as plain values."""
        sscd = to_plain(self.scores.sscd) | {"metric": self.settings["metric"]}
        values = {"scores": to_plain(self.scores.words), "curve": to_plain(self.scores.curve), "sscd": sscd}
        values |= {"evidence": to_plain(self.evidence), "backdrop": to_plain(self.backdrop)}
        values |= {"senses": to_plain(self.senses), "appeared": to_plain(self.appeared_words)}
        return values | {"groups": to_plain(self.group_comparison)}

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
        more["evidence"] = from_plain(dict[str, Evidence], details["evidence"])
        more["backdrop"] = from_plain(Backdrop, details["backdrop"])
        more["appeared_words"] = from_plain(AppearedWords | None, details["appeared"])
        more["group_comparison"] = from_plain(GroupComparison | None, details["groups"])
        first, second = (entry["name"] for entry in run["corpora"])
        return cls(siblings, run["words"], run, space, scores, (first, second), **more)


def _rank(row: dict[str, Any]) -> tuple[int, float, str]:
    """Return the place of a row in the table: by its score, or without one by its verdict."""
    if np.isnan(row["score"]):
        return 1 + VERDICTS.index(row["verdict"]), 0.0, row["word"]
    return 0, -row["score"], row["word"]

"""The result of a study: a table of words, and the scores and usages of each word.

:class:`StudyResult` is the base class of the results of all questions, :class:`Result` the result of a
comparison.
"""

from __future__ import annotations

import json
import os
import shutil
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from lexshift.errors import UserError
from lexshift.scoring.permutation import unresolved_note
from lexshift.scoring.rates import RateCurve
from lexshift.scoring.scores import Scores, WordScore
from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.scoring.space import Space
from lexshift.scoring.sscd import SSCD
from lexshift.senses.evidence import Plane, leanings, plane
from lexshift.senses.word_senses import CHANGES, WordSenses
from lexshift.store.format import INDEX, OCCURRENCES, VECTORS
from lexshift.store.siblings import Siblings
from lexshift.study.folder import Kind, open_results
from lexshift.study.periods import OLD_NEW
from lexshift.study.sense_tables import concordance, sense_table, usage_table
from lexshift.study.verdict import CHANGED, STABLE, TOO_FEW
from lexshift.utils import checks
from lexshift.utils.arrays import Matrix
from lexshift.utils.files import disk_faults
from lexshift.utils.plain import from_plain, to_plain
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

STORE = "store"
SCORES_CSV, SCORES_PARQUET, REPORT, SPACE, DETAILS = (
    "scores.csv",
    "scores.parquet",
    "report.html",
    "space.npz",
    "details.json",
)
SENSES_CSV, USAGES_CSV, CONCORDANCE = "senses.csv", "usages.csv", "kwic.csv"
FILES = (SCORES_CSV, SCORES_PARQUET, SPACE, DETAILS, REPORT)
SENSE_FILES = (SENSES_CSV, USAGES_CSV, CONCORDANCE)
COMPARISON = Kind("comparison", (*FILES, *SENSE_FILES))
_MANY, _MOST = 10, 0.8  # number of tested words, and share of changed ones, from which a caution is shown


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult(ABC):
    """Base class of the results of all questions.

    Parameters
    ----------
    siblings : Siblings
        The store of all usages and their vectors.
    words : sequence of str
        The words of the study.
    run : dict
        The provenance record that ``run.json`` holds: settings, corpora, checksums and package versions.
    space : Space, optional
        Transformation of the vectors before scoring; none by default.
    senses : mapping of str to WordSenses
        The senses of the words that have enough usages; empty unless they were asked for.
    """

    kind: ClassVar[Kind]

    siblings: Siblings
    words: Sequence[str]
    run: dict[str, Any]
    space: Space | None
    senses: Mapping[str, WordSenses] = field(default_factory=dict, kw_only=True)

    @cached_property
    @abstractmethod
    def table(self) -> pd.DataFrame:
        """A row for each word."""

    @abstractmethod
    def headline(self) -> str:
        """Return the outcome in a sentence."""

    @abstractmethod
    def caution(self) -> str | None:
        """Return a sentence on how far to trust the verdicts, or None."""

    @abstractmethod
    def word(self, word: str) -> Any:
        """Return the result of one word."""

    @abstractmethod
    def details(self) -> dict[str, Any]:
        """Return the values that :meth:`restore` needs besides the store, the record and the space, as plain values."""

    @classmethod
    @abstractmethod
    def restore(cls, siblings: Siblings, run: dict[str, Any], space: Space | None, details: Mapping[str, Any]) -> Self:
        """Return a saved result."""

    @property
    def has_senses(self) -> bool:
        """True if the senses of the words were looked for."""
        return bool(self.settings.get("senses"))

    def sense_headline(self) -> str:
        """Return the number of senses, and how their shares changed, in a sentence."""
        if not self.senses:
            return f"No senses were sought: no word has {self.settings['min_usages']} usages in two periods"
        counts = Counter(change for found in self.senses.values() for change in found.changes)
        changes = ", ".join(f"{counts[change]} {change}" for change in CHANGES if counts[change])
        n, words = counts.total(), len(self.senses)
        single = sum(len(found) == 1 for found in self.senses.values())
        if single == words:
            return "The word has one sense" if words == 1 else f"Each of the {words} words has one sense"
        outcome = f"{n} {'sense' if n == 1 else 'senses'} of {words} {'word' if words == 1 else 'words'}"
        outcome += f", of which {single} {'has' if single == 1 else 'have'} one sense" if single else ""
        return outcome + (f"; {changes} at a false discovery rate of {self.settings['alpha']:g}" if changes else "")

    @cached_property
    def sense_table(self) -> pd.DataFrame:
        """A row for each sense of each word; see :func:`lexshift.study.sense_tables.sense_table`."""
        return sense_table(self.siblings, self.senses)

    @cached_property
    def usage_table(self) -> pd.DataFrame:
        """A row for each usage with its sense; see :func:`lexshift.study.sense_tables.usage_table`."""
        names = {entry["key"]: entry["name"] for entry in self.run["corpora"]}
        return usage_table(self.siblings, self.senses, names)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the run."""
        return self.run["settings"]

    @cached_property
    def _word_set(self) -> frozenset[str]:
        return frozenset(self.words)

    def check_word(self, word: str) -> str:
        """Return a word of the study; the error for any other word suggests the most similar one."""
        return word if word in self._word_set else checks.choice(word, "word", tuple(self.words))

    def vectors(self, word: str, corpus: str) -> Matrix:
        """Return the vectors of a word in a corpus as they were scored, an array of shape (n, d).

        Parameters
        ----------
        word : str
        corpus : str
            Name of the corpus in the store.
        """
        rows = self.siblings.group(word, corpus)
        return rows if self.space is None else self.space.apply(rows)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, a single HTML file, and return its path.

        Parameters
        ----------
        path : str or path
            Path of the file.
        """
        from lexshift.report import write_report

        return write_report(self, Path(path))

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the tables, the page, the record and the store to a folder, which :func:`lexshift.load` reads.

        Parameters
        ----------
        folder : str or path
            Results folder; it is created if necessary.
        """
        with open_results(folder, self.kind) as results:
            store = results.path / STORE
            is_new = not store.exists()
            if not is_new and Siblings(store).fingerprint != self.siblings.fingerprint:
                raise UserError(f"the store {str(store)!r} belongs to other results; choose another folder")
            if is_new:
                with disk_faults(store):
                    store.mkdir()  # outside of try: a folder that somebody else made meanwhile must not be removed
            try:
                if is_new:
                    with disk_faults(store):
                        for name in (INDEX, OCCURRENCES, VECTORS):
                            shutil.copyfile(self.siblings.path / name, store / name)
                results.save(self.run, self.files)
            except BaseException:
                if is_new:
                    shutil.rmtree(store, ignore_errors=True)
                raise
        return results.path

    def files(self) -> dict[str, bytes]:
        """Return the contents of the files that :meth:`save` writes, without run.json, by name."""
        from lexshift.report import render

        files = table_files(self.table, SCORES_CSV, SCORES_PARQUET)
        if self.space is not None:
            space = BytesIO()
            self.space.write(space)
            files[SPACE] = space.getvalue()
        if self.has_senses:
            tables = {SENSES_CSV: self.sense_table, USAGES_CSV: self.usage_table}
            tables[CONCORDANCE] = concordance(self.usage_table)
            files |= {name: csv_text(table).encode("utf-8", "replace") for name, table in tables.items()}
        files[DETAILS] = json.dumps(self.details(), ensure_ascii=False).encode("utf-8", "surrogatepass")
        return files | {REPORT: render(self).encode("utf-8", "replace")}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.headline()})"

    def _repr_html_(self) -> str:
        """Return the HTML view in a notebook."""
        from lexshift.report import notebook_view

        return notebook_view(self)


@dataclass(frozen=True, eq=False, repr=False)
class WordView:
    """One word of a result."""

    result: Any
    name: str

    @property
    def senses(self) -> WordSenses | None:
        """The senses of the word; None if it has too few usages, or if senses were not asked for."""
        found: WordSenses | None = self.result.senses.get(self.name)
        return found

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


def table_files(table: pd.DataFrame, csv: str, parquet: str) -> dict[str, bytes]:
    """Return the contents of a csv and a parquet file with a table, by file name."""
    buffer = BytesIO()
    table.to_parquet(buffer, index=False)
    return {csv: csv_text(table).encode(), parquet: buffer.getvalue()}


@dataclass(frozen=True, eq=False, repr=False)
class Result(StudyResult):
    """The result of :func:`lexshift.compare`.

    Parameters
    ----------
    siblings, words, run, space, senses
        As for :class:`StudyResult`.
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
        if word not in self.siblings:
            return 0
        begin, end = self.siblings.rows(word, self.siblings.corpora[self.side(period)])
        return end - begin

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

"""What a comparison answers: a table of words, and for each word its numbers and its usages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lexshift.errors import UserError
from lexshift.scoring.permutation import too_coarse
from lexshift.scoring.scores import Scores, WordScore
from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.scoring.space import Space
from lexshift.senses.evidence import Plane, leanings, plane
from lexshift.store.siblings import Siblings
from lexshift.study.folder import Kind, open_results
from lexshift.utils import checks
from lexshift.utils.arrays import Matrix
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

CHANGED, STABLE, TOO_FEW = "changed", "stable", "too few"
VERDICTS = (CHANGED, STABLE, TOO_FEW)
SCORES_CSV, SCORES_PARQUET, REPORT, SPACE = "scores.csv", "scores.parquet", "report.html", "space.npz"
COMPARISON = Kind("comparison", (SCORES_CSV, SCORES_PARQUET, SPACE, REPORT))
PERIODS = ("old", "new")
_MANY, _MOST = 10, 0.8  # of so many words tested, the share called changed that calls for caution


@dataclass(frozen=True, eq=False)
class Result:
    """What :func:`lexshift.compare` found.

    Parameters
    ----------
    siblings : Siblings
        The store: every usage and its vector.
    words : list of str
        The words that were asked about.
    scores : Scores
        Of the words with enough usages.
    labels : (str, str)
        What the old and the new corpus are called.
    run : dict
        Every setting, version and checksum: what ``run.json`` holds.
    space : Space, optional
        What was done to the vectors before scoring; nothing, if it is not given.

    Examples
    --------
    >>> import numpy as np
    >>> import lexshift
    >>> class Lengths:  # in place of model="minilm"
    ...     def encode(self, sentences, spans):
    ...         return np.array([[len(s), start] for s, (start, end) in zip(sentences, spans)], np.float32)
    >>> old, new = lexshift.demo_corpora()
    >>> result = lexshift.compare(old, new, words=["mouse", "bread"], model=Lengths(), resamples=100)
    >>> list(result.table.columns[:4])
    ['word', 'n_old', 'n_new', 'score']
    >>> result.word("mouse").usages("new").columns.tolist()
    ['sentence', 'start', 'end', 'leaning', 'file', 'line', 'date']
    """

    kind: ClassVar[Kind] = COMPARISON

    siblings: Siblings
    words: Sequence[str]
    scores: Scores[str]
    labels: tuple[str, str]
    run: dict[str, Any]
    space: Space | None = None

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each word, the most changed first, and last those with too few usages to say anything.

        Columns: word, n_old, n_new (usages), score (the change score), low, high (its interval), p (permutation test),
        q (after control of the false discovery rate), tested_metric (whose distance p and q are of, which may be
        another than that of the score), verdict (changed, stable or too few), reason (why too few), e_original, e_swap
        (the mean over repetitions), per_million_old, per_million_new (frequencies).
        """
        import pandas as pd

        scored = list(self.scores.words)
        q = benjamini_hochberg([self.scores.words[word].test.p for word in scored]) if scored else np.zeros(0)
        changed = dict(zip(scored, decide(q, self.settings["alpha"]), strict=True))
        q_of = dict(zip(scored, q.tolist(), strict=True))
        rows = [self._row(word, q_of.get(word), changed.get(word)) for word in self.words]
        table = pd.DataFrame(rows).sort_values(["score", "word"], ascending=[False, True], na_position="last")
        return table.reset_index(drop=True)

    @cached_property
    def _asked(self) -> frozenset[str]:
        return frozenset(self.words)

    @property
    def settings(self) -> dict[str, Any]:
        """What was asked for."""
        return self.run["settings"]

    def word(self, word: str) -> WordResult:
        """All about one word.

        Parameters
        ----------
        word : str
            One of those asked about.
        """
        if word not in self._asked:
            checks.choice(word, "word", tuple(self.words))
        return WordResult(self, word)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the page: one file, to be opened in a browser.

        Parameters
        ----------
        path : str or path
            Where to.
        """
        from lexshift.report.comparison import render
        from lexshift.report.page import write_page

        return write_page(render(self), Path(path))

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write scores.csv, scores.parquet, run.json, space.npz and report.html.

        Parameters
        ----------
        folder : str or path
            Where to; it is made if it is not there.
        """
        with open_results(folder, self.kind) as results:
            results.save(self.run, self.contents)
        return results.path

    def contents(self) -> dict[str, bytes]:
        """Return the content of the files that :meth:`save` writes, without run.json, by their names."""
        from lexshift.report.comparison import render

        parquet, space = BytesIO(), BytesIO()
        self.table.to_parquet(parquet, index=False)
        files = {SCORES_CSV: csv_text(self.table).encode(), SCORES_PARQUET: parquet.getvalue()}
        if self.space is not None:
            self.space.write(space)
            files[SPACE] = space.getvalue()
        return files | {REPORT: render(self).encode("utf-8", "replace")}

    def side(self, period: str) -> int:
        """0 for the old corpus and 1 for the new one, by "old" and "new" or by their labels."""
        known = dict(zip((*self.labels, *PERIODS), (0, 1, 0, 1), strict=True))
        return known[checks.choice(period, "period", tuple(known))]

    def corpus(self, period: str) -> dict[str, Any]:
        """What is known of the old or the new corpus: files, bytes, words, passages, and what was skipped."""
        return self.siblings.corpus(self.siblings.corpora[self.side(period)])

    def count(self, verdict: str) -> int:
        """How many words have a verdict."""
        return int((self.table["verdict"] == verdict).sum())

    def headline(self) -> str:
        """The outcome in a sentence."""
        changed, tested = self.count(CHANGED), len(self.scores.words)
        few = self.count(TOO_FEW)
        if not tested:
            return f"No word can be tested: {'it occurs' if few == 1 else f'all {few} occur'} too rarely"
        told = f"{changed} of {tested} {'word' if tested == 1 else 'words'} changed between {self.labels[0]} and "
        told += f"{self.labels[1]} at a false discovery rate of {self.settings['alpha']:g}"
        return told + (f"; {few} occurred too rarely to say" if few else "")

    def caution(self) -> str | None:
        """What to keep in mind: permutations too few for the number of words, or corpora that differ as wholes."""
        if coarse := too_coarse([scored.test for scored in self.scores.words.values()], self.settings["alpha"]):
            return coarse
        changed, tested = self.count(CHANGED), len(self.scores.words)
        if tested < _MANY or changed < _MOST * tested:
            return None
        return (
            "Most words differ between the corpora, which may then differ as wholes, in topic, style or spelling; the "
            "ranking says more than the verdicts"
        )

    def _row(self, word: str, q: float | None, changed: bool | None) -> dict[str, Any]:
        n_old, n_new = (self.usages(word, period) for period in PERIODS)
        row: dict[str, Any] = {"word": word, "n_old": n_old, "n_new": n_new}
        scored = self.scores.words.get(word)
        if scored is None:
            row |= dict.fromkeys(["score", "low", "high", "p", "q"], np.nan)
            row |= {
                "tested_metric": "",
                "verdict": TOO_FEW,
                "reason": self._why_too_few(n_old, n_new),
                "e_original": np.nan,
                "e_swap": np.nan,
            }
        else:
            row |= {"score": scored.change.score, "low": scored.interval.low, "high": scored.interval.high}
            row |= {"p": scored.test.p, "q": q, "tested_metric": scored.tested_metric}
            row |= {"verdict": CHANGED if changed else STABLE, "reason": ""}
            row |= {"e_original": scored.change.e_original, "e_swap": float(scored.change.e_swap.mean())}
        for period in PERIODS:
            row[f"per_million_{period}"] = 1e6 * self.found(word, period) / self.corpus(period)["words"]
        return row

    def _why_too_few(self, *counts: int) -> str:
        least = self.settings["min_usages"]
        lacking = [
            f"{n} in {label}" if n else f"none in {label}"
            for n, label in zip(counts, self.labels, strict=True)
            if n < least
        ]
        return f"{' and '.join(lacking)}; {least} are needed in each corpus"

    def usages(self, word: str, period: str) -> int:
        """How many usages of a word were embedded."""
        if word not in self.siblings:
            return 0
        begin, end = self.siblings.rows(word, self.siblings.corpora[self.side(period)])
        return end - begin

    def found(self, word: str, period: str) -> int:
        """How often a word occurs, of which some may not have been embedded."""
        return self.siblings.found(word, self.siblings.corpora[self.side(period)])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.headline()})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from lexshift.report.comparison import notebook_view

        return notebook_view(self)


@dataclass(frozen=True, eq=False)
class WordResult:
    """All about one word of a comparison."""

    result: Result
    name: str

    @property
    def row(self) -> pd.Series:
        """Its row of the table."""
        table = self.result.table
        return table[table["word"] == self.name].iloc[0]

    @property
    def score(self) -> WordScore | None:
        """Its change, interval and test; None if it has too few usages."""
        return self.result.scores.words.get(self.name)

    def usages(self, period: str) -> pd.DataFrame:
        """Its usages in the "old" or the "new" corpus, those that belong most to it first.

        Columns: sentence, start, end (where the word is in it), leaning (how much more it is like the new use than like
        the old one), file, line, date. The corpus may also go by its label.
        """
        store, side = self.result.siblings, self.result.side(period)
        if self.name not in store:
            raise UserError(f"{self.name!r} does not occur in the corpora")
        frame = store[self.name].occurrences(store.corpora[side])
        frame["leaning"] = self.leanings[side]
        frame = frame.sort_values("leaning", ascending=side == 0, kind="stable").reset_index(drop=True)
        return frame[["sentence", "start", "end", "leaning", "file", "line", "date"]]

    @cached_property
    def leanings(self) -> tuple[Any, Any]:
        """How much more each usage is like the new use than like the old one, in the order of the store."""
        old, new = self.vectors
        if not len(old) or not len(new):
            return np.zeros(len(old)), np.zeros(len(new))
        return leanings(old, new)

    @property
    def vectors(self) -> tuple[Matrix, Matrix]:
        """The vectors of its usages in the two corpora, as they were scored: (n_old, d) and (n_new, d)."""
        word, space = self.result.siblings[self.name], self.result.space
        return (word.old, word.new) if space is None else (space.apply(word.old), space.apply(word.new))

    @cached_property
    def plane(self) -> Plane | None:
        """Its usages in two dimensions, in the order of the store; None if a corpus has none."""
        if not all(self.result.usages(self.name, period) for period in PERIODS):
            return None
        return plane(*self.vectors)

    def __repr__(self) -> str:
        row = self.row
        score = "" if self.score is None else f", score {row['score']:.4g} [{row['low']:.4g}, {row['high']:.4g}]"
        return f"WordResult({self.name!r}: {row['verdict']}{score})"

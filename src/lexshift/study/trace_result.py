"""What a trace answers: a table of steps, a table of words, and the sentences of each period."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift.errors import UserError
from lexshift.scoring.changepoints import ChangePoints
from lexshift.scoring.permutation import too_coarse
from lexshift.scoring.scores import WordScore
from lexshift.scoring.seasons import Season
from lexshift.scoring.space import Space
from lexshift.store.siblings import Siblings
from lexshift.study.folder import open_results
from lexshift.study.result import CHANGED, TOO_FEW
from lexshift.study.steps import KINDS, Pair, Step
from lexshift.study.trace_periods import REPORT, TRACE, TRACE_CSV, WORDS_CSV
from lexshift.study.trace_tables import SEASONAL, step_table, typical, word_table
from lexshift.utils import checks
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Trace:
    """What :func:`lexshift.trace` found.

    Parameters
    ----------
    siblings : Siblings
        Every usage and its vector; its corpora are the periods, the earliest first.
    asked : sequence of str
        The words that were asked about.
    steps : sequence of Step
        The pairs of periods that were compared.
    scores : mapping of (word, earlier period, later period) to WordScore
    changes : mapping of str to ChangePoints
        Of the words with two periods or more; indices are those of the periods. Each word is judged alone here: what
        is reported after accounting for the number of words is in ``words``.
    seasons : mapping of str to Season
        Of the words that could be tested for it.
    run : dict
        Every setting, version and checksum: what ``run.json`` holds.
    space : Space, optional
        What was done to the vectors before scoring.

    Examples
    --------
    >>> import numpy as np
    >>> import lexshift
    >>> from lexshift.study.trace import trace
    >>> class Lengths:  # in place of model="minilm"
    ...     def encode(self, sentences, spans):
    ...         return np.array([[len(s), start] for s, (start, end) in zip(sentences, spans)], np.float32)
    >>> found = trace(*lexshift.demo_corpora(), words=["mouse", "bread"], model=Lengths(), resamples=100)
    >>> found.periods
    ['1950s', '2010s']
    >>> list(found.words.columns[:3])
    ['word', 'verdict', 'periods']
    """

    siblings: Siblings
    asked: Sequence[str]
    steps: Sequence[Step]
    scores: Mapping[Pair, WordScore]
    changes: Mapping[str, ChangePoints]
    seasons: Mapping[str, Season]
    run: dict[str, Any]
    space: Space | None = None

    @property
    def periods(self) -> list[str]:
        """What the periods are called, the earliest first."""
        return list(self.siblings.corpora)

    @property
    def settings(self) -> dict[str, Any]:
        """What was asked for."""
        return self.run["settings"]

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each word and pair of periods.

        Columns: word, kind ("neighbours", or "first" for a change against the word's first period), from, to, n_from,
        n_to (usages), score, low, high (its interval), p, q (over all rows of one kind), tested_metric (whose distance
        p and q are of), verdict (changed or stable), skipped (periods with too few usages: between the two, or for
        "first" before the first one).
        """
        return step_table(self)

    @cached_property
    def words(self) -> pd.DataFrame:
        """A row for each word, those that changed most surely first.

        Columns: word, verdict (changed or stable over all periods, or too few), periods (how many have enough usages),
        usages, score (of the last period against the first), most (the period farthest from the first), changed (the
        later periods of neighbours that differ), shape of a changed word ("step" or "gradual"; empty with two periods),
        change_points (the periods that begin something new, of a changed word that is not gradual), change_p, change_q
        (that there is any change), season ("seasonal" or "none"; empty if it could not be tested), season_strength,
        season_p, season_q.
        """
        return word_table(self)

    def of_word(self, word: str, kind: str) -> pd.DataFrame:
        """The rows of a word and a kind, in the order of time.

        Parameters
        ----------
        word : str
            One of those asked about.
        kind : "neighbours" or "first"
        """
        self._check_word(word)
        checks.choice(kind, "kind", KINDS)
        return self._rows.get((word, kind), self.table.iloc[:0]).reset_index(drop=True)

    @cached_property
    def _rows(self) -> dict[tuple[str, str], pd.DataFrame]:
        """The rows of the table by word and kind."""
        return dict(iter(self.table.groupby(["word", "kind"], sort=False)))

    @cached_property
    def _known_words(self) -> frozenset[str]:
        return frozenset(self.asked)

    def _check_word(self, word: str) -> None:
        if word not in self._known_words:
            checks.choice(word, "word", tuple(self.asked))

    def usages(self, word: str, period: str) -> pd.DataFrame:
        """The usages of a word in a period, the most typical of it first.

        Parameters
        ----------
        word : str
            One of those asked about.
        period : str
            By its label.

        Returns
        -------
        DataFrame
            Columns sentence, start, end (where the word is in it), typical (the mean cosine similarity with the other
            usages of the period), file, line, date.
        """
        self._check_word(word)
        checks.choice(period, "period", tuple(self.periods))
        if word not in self.siblings:
            raise UserError(f"{word!r} does not occur in the corpora")
        frame = self.siblings[word].occurrences(period)
        rows = self.siblings.group(word, period)
        frame["typical"] = typical(rows if self.space is None else self.space.apply(rows))
        frame = frame.sort_values("typical", ascending=False, kind="stable").reset_index(drop=True)
        return frame[["sentence", "start", "end", "typical", "file", "line", "date"]]

    def counts(self, word: str) -> list[int]:
        """How many usages of a word were embedded in each period.

        Parameters
        ----------
        word : str
            One of those asked about.
        """
        if word not in self.siblings:
            return [0] * len(self.periods)
        ends = [self.siblings.rows(word, period) for period in self.periods]
        return [end - begin for begin, end in ends]

    def headline(self) -> str:
        """The outcome in a sentence."""
        table, alpha = self.words, self.settings["alpha"]
        few = int((table["verdict"] == TOO_FEW).sum())
        tested, changed = len(table) - few, int((table["verdict"] == CHANGED).sum())
        if not tested:
            return "No word can be traced: none has enough usages in two periods"
        told = f"{changed} of {tested} {'word' if tested == 1 else 'words'} changed over {len(self.periods)} periods, "
        told += f"{self.periods[0]} to {self.periods[-1]}, at a false discovery rate of {alpha:g}"
        if self.seasons:
            told += f"; {int((table['season'] == SEASONAL).sum())} of {len(self.seasons)} are seasonal"
        return told + (f"; {few} occurred too rarely to say" if few else "")

    def caution(self) -> str | None:
        """Return a sentence on permutations that are too few for the number of words; None if they are enough."""
        return too_coarse(list(self.changes.values()), self.settings["alpha"])

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the page: one file, to be opened in a browser.

        Parameters
        ----------
        path : str or path
            Where to.
        """
        from lexshift.report.page import write_page
        from lexshift.report.trace import render

        return write_page(render(self), Path(path))

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write trace.csv, words.csv, run.json and trace.html.

        Parameters
        ----------
        folder : str or path
            Where to; it is made if it is not there.
        """
        with open_results(folder, TRACE) as results:
            results.save(self.run, self.contents)
        return results.path

    def contents(self) -> dict[str, bytes]:
        """Return the content of the files that :meth:`save` writes, without run.json, by their names."""
        from lexshift.report.trace import render

        return {
            TRACE_CSV: csv_text(self.table).encode(),
            WORDS_CSV: csv_text(self.words).encode(),
            REPORT: render(self).encode("utf-8", "replace"),
        }

    def __repr__(self) -> str:
        return f"Trace({self.headline()})"

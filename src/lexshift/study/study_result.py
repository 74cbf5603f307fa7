"""The base class of the results of all questions: it saves a result, writes its page and makes its tables of senses."""

from __future__ import annotations

import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from lexshift.errors import UserError
from lexshift.scoring.space import Space
from lexshift.senses.word_senses import WordSenses
from lexshift.store.format import INDEX, OCCURRENCES, VECTORS
from lexshift.store.siblings import Siblings
from lexshift.study.appeared_words import AppearedWords
from lexshift.study.control_usages import ControlUsages
from lexshift.study.folder import Kind, open_results
from lexshift.study.result_files import (
    APPEARED_CSV,
    CONCORDANCE,
    CONTROL,
    DETAILS,
    REPORT,
    SCORES_CSV,
    SCORES_PARQUET,
    SENSES_CSV,
    SPACE,
    STORE,
    USAGES_CSV,
    table_files,
)
from lexshift.study.sense_headline import sense_headline
from lexshift.study.sense_tables import concordance, sense_table, usage_table
from lexshift.utils import checks
from lexshift.utils.arrays import Matrix
from lexshift.utils.files import disk_faults
from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd


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
    controls : ControlUsages, optional
        The usages of the control words; None if they are not at hand.
    appeared_words : AppearedWords, optional
        The words that appeared or disappeared, studied or not; None if the words of the corpora were not counted.
    """

    kind: ClassVar[Kind]

    siblings: Siblings
    words: Sequence[str]
    run: dict[str, Any]
    space: Space | None
    senses: Mapping[str, WordSenses] = field(default_factory=dict, kw_only=True)
    controls: ControlUsages | None = field(default=None, kw_only=True)
    appeared_words: AppearedWords | None = field(default=None, kw_only=True)

    @cached_property
    @abstractmethod
    def table(self) -> pd.DataFrame:
        """A row for each word."""

    @abstractmethod
    def headline(self) -> str:
        """Return the outcome in a sentence."""

    def background_note(self) -> str | None:
        """Return a sentence on what the corpora do to ordinary words, or None if it is not known."""
        return None

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

    @cached_property
    def appeared(self) -> pd.DataFrame:
        """A row for each word that appeared or disappeared, studied or not; empty if words were not counted.

        Columns: word, verdict, n_old, n_new (occurrences; in a trace, in the first and the last period),
        per_million_old, per_million_new (frequencies), log_likelihood (ratio of Dunning 1993, by which the words are
        ranked), q (exact test of equal frequencies, adjusted for all content words), documents (number of documents in
        a sample of at most 50 occurrences), examples (sentences, separated by " | ").
        """
        return (self.appeared_words or AppearedWords((), 0, (0, 0))).table()

    def appeared_headline(self) -> str | None:
        """Return the words that appeared or disappeared in a sentence, or None if there are none."""
        return None if self.appeared_words is None else self.appeared_words.headline()

    @property
    def has_senses(self) -> bool:
        """True if the senses of the words were looked for."""
        return bool(self.settings.get("senses"))

    @property
    def sense_words(self) -> Sequence[str]:
        """The words whose senses are sought if they have enough usages."""
        return self.words

    def sense_headline(self) -> str:
        """Return how the shares of the senses of words with several senses changed, in a sentence."""
        if not self.sense_words:
            return "No senses were sought, because no word is called changed"
        return sense_headline(self.senses, self.settings["min_usages"], self.settings["alpha"])

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
            stores = {results.path / STORE: self.siblings}
            if self.controls is not None and self.controls.source == CONTROL and self.controls.siblings is not None:
                stores[results.path / CONTROL] = self.controls.siblings
            new = {}
            for store, siblings in stores.items():
                if not store.exists():
                    new[store] = siblings
                elif Siblings(store).fingerprint != siblings.fingerprint:
                    raise UserError(f"the store {str(store)!r} belongs to other results; choose another folder")
            created: list[Path] = []
            try:
                for store, siblings in new.items():
                    with disk_faults(store):
                        store.mkdir()  # fails for a folder that somebody else made meanwhile, which is not removed
                        created.append(store)
                        for name in (INDEX, OCCURRENCES, VECTORS):
                            shutil.copyfile(siblings.path / name, store / name)
                results.save(self.run, self.files)
            except BaseException:
                for store in created:
                    shutil.rmtree(store, ignore_errors=True)
                raise
        return results.path

    def files(self) -> dict[str, bytes]:
        """Return the contents of the files that :meth:`save` writes, without run.json, by name."""
        from lexshift.report import render

        files = table_files(self.table, SCORES_CSV, SCORES_PARQUET)
        if self.appeared_words is not None:
            files[APPEARED_CSV] = csv_text(self.appeared).encode("utf-8", "replace")
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

"""The inputs of a study: its settings, and its corpora with their languages and reading options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexshift.corpus.dated_corpus import check_first_dates, find_date_column, split_readings
from lexshift.corpus.language import detect_languages
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.sources import Place, Reading
from lexshift.engine.cache import Cache
from lexshift.engine.local import Engine
from lexshift.engine.reader import PartsReader
from lexshift.store.embedding import store_settings
from lexshift.store.writer import check_store_folder
from lexshift.study.folder import check_store
from lexshift.study.periods import Periods, check_periods, check_two_periods
from lexshift.study.result_files import CONTROL, STORE
from lexshift.study.settings import DISCOVER, TRACE, Settings
from lexshift.utils.files import disk_faults
from lexshift.utils.monitor import Monitor


@dataclass(frozen=True)
class StudyInputs:
    """The inputs of a run, or of a plan of one, checked before words are chosen.

    Attributes
    ----------
    question : "compare", "discover" or "trace"
    settings : Settings
    periods : Periods
        The corpora.
    languages : dict of str to str or None
        Language of each corpus, by its name in the store.
    readings : dict of str to Reading
        Reading options of each corpus, by its name in the store.
    notes : tuple of str
        What the user should know: the order of the corpora may be wrong, or the column of dates was guessed.
    """

    question: str
    settings: Settings
    periods: Periods
    languages: dict[str, str | None]
    readings: dict[str, Reading]
    notes: tuple[str, ...]

    @property
    def language(self) -> str | None:
        """Language of the last corpus."""
        return list(self.languages.values())[-1]

    @property
    def sampling(self) -> dict[str, Any] | None:
        """The sampling of the usages of a word; None if all of them are used."""
        limit = self.settings.max_per_word
        if self.question == DISCOVER:
            return {"max_per_word": limit, "seed": self.settings.sample_seed if limit else 0, "shared": True}
        return None if limit is None else {"max_per_word": limit, "seed": self.settings.sample_seed}

    def store_settings(self) -> dict[str, Any]:
        """Return the settings that the store of the usages records, besides those of its encoder."""
        settings = self.settings
        return store_settings(self.readings, settings.match, self.sampling, settings.precision, settings.by)

    def open_reader(self, engine: Engine, cache: Cache | None, monitor: Monitor) -> CorpusReader:
        """Return a reader of the corpora: in parts if there is a cache, unless one corpus is cut into periods."""
        settings = self.settings
        how = self.periods.by_key(), self.readings, settings.match, self.sampling, settings.by, monitor
        return CorpusReader(*how) if cache is None or settings.by else PartsReader(*how, engine, cache)


def read_inputs(question: str, corpora: Sequence[Place], settings: Settings) -> StudyInputs:
    """Check the corpora, and the stores in the results folder; find the languages and the reading options."""
    periods = check_periods(question, corpora, settings)
    if settings.out is not None:
        _check_stores(Path(settings.out), None if question == TRACE else periods.keys)
    languages, readings, date_note = _find_readings(periods, settings)
    notes = tuple(filter(None, (periods.order_note(), date_note)))
    return StudyInputs(question, settings, periods, languages, readings, notes)


def _check_stores(out: Path, labels: Sequence[str] | None) -> None:
    """Refuse a results folder whose stores hold other corpora than those with these labels, or are not ours."""
    if labels is not None:
        check_store(out / STORE, labels)
        check_store(out / CONTROL, labels)
    with disk_faults(out):
        check_store_folder(out / CONTROL)  # which is opened only after the other store was written


def _find_readings(
    periods: Periods, settings: Settings
) -> tuple[dict[str, str | None], dict[str, Reading], str | None]:
    """Return the language and the reading options of each corpus, and a note if its column of dates was guessed."""
    reading, note, split_at = Reading(**settings.reading_options()), None, settings.split_at
    if settings.by or split_at:
        reading, note = find_date_column(periods.corpora[0], reading, settings.by, split_at)
    languages, readings = detect_languages(periods.by_key(), reading)
    if settings.by:
        only = check_first_dates(periods.corpora[0], settings.by, reading)
        if only is not None:
            check_two_periods([only])
    if split_at:
        parts = split_readings(periods.corpora[0], split_at, next(iter(readings.values())))
        readings = dict(zip(readings, parts, strict=True))
    return languages, readings, note

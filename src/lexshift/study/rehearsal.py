"""Look for the mistakes of a run in small corpora, before the encoder is loaded.

To load an encoder takes seconds, to read small corpora once more does not.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lexshift.corpus.preview import may_occur
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.sources import STANDARD_INPUT, Reading, find_sources
from lexshift.corpus.targets import Targets, read_targets
from lexshift.encode.loading import check_place
from lexshift.store.embedding import find_absent, no_occurrence
from lexshift.store.format import INDEX
from lexshift.study.periods import Periods, check_two_periods
from lexshift.study.result_files import STORE
from lexshift.study.settings import Settings
from lexshift.study.words import choose_vocabulary, count_first_and_last
from lexshift.utils.monitor import Silent

SMALL = 8_000_000
"""Number of bytes of corpora in which the words are chosen and found before the encoder is loaded."""
PREVIEWED = 64_000_000
"""Number of bytes of plain text that is searched for any sign of the words, which ends at the first one."""


def rehearse(
    question: str,
    periods: Periods,
    readings: dict[str, Reading],
    targets: Targets | None,
    settings: Settings,
    language: str | None,
    model: Any,
) -> None:
    """Choose the words and find them in small corpora, and raise the error of a run that cannot succeed.

    Parameters
    ----------
    question : "compare", "discover" or "trace"
    periods : Periods
    readings : dict of str to Reading
        Reading options of each corpus.
    targets : Targets, optional
        The words, unless they are chosen by frequency.
    settings : Settings
    language : str, optional
        Language of the corpora.
    model : str, path or Encoder
        Nothing is done for an object, which is loaded already.
    """
    if not isinstance(model, (str, os.PathLike)):
        return
    check_place(model)
    sources = [source for corpus in periods.corpora for source in find_sources(corpus)]
    size = sum(source.size for source in sources)
    if any(source.path == STANDARD_INPUT for source in sources) or size > PREVIEWED:
        return
    is_new = settings.out is None or not (Path(settings.out) / STORE / INDEX).exists()  # a store may have other words
    is_plain = all(source.kind == "text" for source in sources) and settings.match != "lemma" and settings.by is None
    if is_plain and not may_occur(periods.by_key(), readings, settings.match, targets) and targets and is_new:
        raise no_occurrence(targets.words, settings.match)
    if size > SMALL:
        return
    reader = CorpusReader(periods.by_key(), readings, settings.match, None, settings.by, Silent())
    if targets is None:
        vocabulary = choose_vocabulary(question, reader, count_first_and_last(reader), settings, language, Silent())
        if settings.by is None:
            return  # the words are chosen by their numbers of occurrences
        targets = read_targets(vocabulary.words, settings.match, reader.dictionary_language)
    found = reader.scan(targets)
    check_two_periods(list(found))
    absent = find_absent(targets.words, found)
    if is_new and len(absent) == len(targets.words):
        raise no_occurrence(absent, settings.match)

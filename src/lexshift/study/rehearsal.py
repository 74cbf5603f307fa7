"""Look for the mistakes of a run in small corpora, before the encoder is loaded.

To load an encoder takes seconds, to read small corpora once more does not.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lexshift.corpus.preview import count_quickly, may_occur
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.sources import find_sources
from lexshift.corpus.targets import Targets, read_targets
from lexshift.encode.loading import check_available
from lexshift.store.early_search import is_plain_text, is_quick_to_read, search_early
from lexshift.study.inputs import StudyInputs
from lexshift.study.periods import check_two_periods
from lexshift.study.result_files import STORE
from lexshift.study.settings import COMPARE, DISCOVER
from lexshift.study.words import choose_vocabulary, count_first_and_last, first_and_last
from lexshift.utils.monitor import Silent

FEW = 5_000_000
"""Number of bytes of plain text whose words are counted without compiled code, whose loading takes a second."""


def rehearse(inputs: StudyInputs, targets: Targets | None, model: Any) -> None:
    """Choose the words and find them in small corpora, and raise the error of a run that cannot succeed.

    Parameters
    ----------
    inputs : StudyInputs
    targets : Targets, optional
        The words, unless they are chosen by frequency.
    model : str, path or Encoder
        Nothing is done for an object, which is loaded already.
    """
    if not isinstance(model, (str, os.PathLike)):
        return
    question, settings, language, readings = inputs.question, inputs.settings, inputs.language, inputs.readings
    check_available(model, settings.revision, inputs.languages.values())
    reader = CorpusReader(inputs.periods.by_key(), readings, settings.match, None, settings.by, Silent())
    if not is_quick_to_read(reader):
        return
    if targets is None:
        is_plain = is_plain_text(reader)
        if is_plain:
            may_occur(reader.corpora, readings, settings.match, None)  # refuses an empty corpus
        size = sum(source.size for corpus in inputs.periods.corpora for source in find_sources(corpus))
        if is_plain and settings.match == "word" and size <= FEW:
            counts = [count_quickly(reader.corpora[label], readings[label]) for label in first_and_last(reader)]
            choose_vocabulary(COMPARE, reader, counts, settings, language, Silent())  # with names
            if question != DISCOVER:
                return
        vocabulary = choose_vocabulary(question, reader, count_first_and_last(reader), settings, language, Silent())
        if settings.by is None:
            return  # the words are chosen by their numbers of occurrences
        targets = read_targets(vocabulary.words, settings.match, reader.dictionary_language)
    folder = None if settings.out is None else Path(settings.out) / STORE
    check_two_periods(search_early(reader, targets, folder, missing="skip"))

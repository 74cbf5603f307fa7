"""Read text and find the target words in it.

In: files of text or tables (:mod:`~lexshift.corpus.sources`) and words (:mod:`~lexshift.corpus.targets`). Out: the
occurrences of each word with their sentences (:mod:`~lexshift.corpus.occurrences`), by period if the text has dates
(:mod:`~lexshift.corpus.periods`), or the vocabulary of a corpus (:mod:`~lexshift.corpus.vocabulary`). Nothing here
knows about models.
"""

from __future__ import annotations

from lexshift.corpus.occurrences import Occurrences, find_occurrences
from lexshift.corpus.sources import Reading, Tally
from lexshift.corpus.targets import Targets, read_targets

__all__ = ["Occurrences", "Reading", "Tally", "Targets", "find_occurrences", "read_targets"]

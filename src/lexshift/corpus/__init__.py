"""Reading text and finding the target words in it."""

from __future__ import annotations

from lexshift.corpus.occurrences import Occurrences, find_occurrences
from lexshift.corpus.sources import Reading, Tally
from lexshift.corpus.targets import Targets, read_targets

__all__ = ["Occurrences", "Reading", "Tally", "Targets", "find_occurrences", "read_targets"]

"""Count and find words in the corpora of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lexshift.corpus.counting import WordCounts, count_words
from lexshift.corpus.lemmas import dictionary_language
from lexshift.corpus.occurrences import Occurrences, find_occurrences
from lexshift.corpus.periods import find_in_periods
from lexshift.corpus.sources import Reading
from lexshift.corpus.targets import Targets, folded_lemmas
from lexshift.corpus.word_rule import rule
from lexshift.utils.monitor import Monitor, reading_stage


@dataclass
class CorpusReader:
    """Read corpora in this process.

    Parameters
    ----------
    corpora : mapping of str to str or path
        The corpora by name, in order.
    readings : mapping of str to Reading
        The reading options of each corpus.
    match : "word", "cased", "token" or "lemma"
    sampling : mapping, optional
        ``max_per_word`` and ``seed`` of the sample of a word's occurrences in each corpus; None for all occurrences.
        With "shared", the samples of different words share sentences as far as possible.
    by : str, optional
        Length of the periods into which the only corpus is divided.
    monitor : Monitor
    """

    corpora: Mapping[str, str | os.PathLike[str]]
    readings: Mapping[str, Reading]
    match: str
    sampling: dict[str, Any] | None
    by: str | None
    monitor: Monitor

    @cached_property
    def dictionary_language(self) -> str | None:
        """The language of the dictionary of lemmas, that of the last corpus; None if all corpora have lemmas."""
        return dictionary_language(self.corpora, self.readings, self.match)

    @cached_property
    def lemmas(self) -> dict[str, str] | None:
        """The lemma of each form, for words that are counted by lemma; None if no dictionary is needed."""
        language = self.dictionary_language
        return folded_lemmas(language) if self.match == "lemma" and language is not None else None

    def count(self, corpus: str) -> WordCounts:
        """Count the words of a corpus."""
        progress = reading_stage(self.monitor, f"counting {corpus}")
        by_lemma = self.match == "lemma"
        return count_words(self.corpora[corpus], rule(self.match), self.readings[corpus], progress, by_lemma)

    def scan(self, targets: Targets) -> dict[str, Occurrences]:
        """Find the occurrences of target words in each corpus or period, or a sample of them."""
        sampling = self.sampling or {"max_per_word": None, "seed": 0}
        limit, seed, shared = sampling["max_per_word"], sampling["seed"], sampling.get("shared", False)
        occurrences = {}
        for label, path in self.corpora.items():
            progress = reading_stage(self.monitor, f"reading {label}")
            if self.by is not None:
                return find_in_periods(path, targets, self.by, self.readings[label], limit, seed, progress, shared)
            occurrences[label] = find_occurrences(path, targets, self.readings[label], limit, seed, progress, shared)
        return occurrences

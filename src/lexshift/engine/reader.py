"""Count and find words in the corpora of a study: directly, or in parts on an engine with a cache of finished parts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lexshift.corpus.counting import WordCounts, count_words
from lexshift.corpus.occurrences import Occurrences
from lexshift.corpus.sources import Reading
from lexshift.corpus.targets import Targets
from lexshift.corpus.word_rule import rule
from lexshift.engine.cache import Cache
from lexshift.engine.local import Engine, map_parts
from lexshift.engine.parts import Counting, Part, Sampling, combine_counts, combine_samples, split_corpus
from lexshift.store.embedding import scan_corpora
from lexshift.utils.monitor import Monitor, reading_stage


@dataclass
class CorpusReader:
    """Read corpora in this process.

    Parameters
    ----------
    corpora : mapping of str to str or path
        The corpora by name, in order.
    readings : mapping of str to Reading
        How each of them is read.
    match : "word", "cased", "token" or "lemma"
    sampling : mapping, optional
        ``max_per_word`` and ``seed`` of the sample of a word's occurrences in each corpus; None for all occurrences.
    by : str, optional
        The length of the periods into which the only corpus is cut.
    monitor : Monitor
    """

    corpora: Mapping[str, str | os.PathLike[str]]
    readings: Mapping[str, Reading]
    match: str
    sampling: dict[str, Any] | None
    by: str | None
    monitor: Monitor

    def count(self, corpus: str) -> WordCounts:
        """Count the words of a corpus."""
        progress = reading_stage(self.monitor, f"counting {corpus}")
        return count_words(self.corpora[corpus], rule(self.match), self.readings[corpus], progress)

    def scan(self, targets: Targets) -> dict[str, Occurrences]:
        """Find the occurrences of target words in each corpus or period, or a sample of each word's."""
        return scan_corpora(self.corpora, self.readings, self.sampling, self.by, self.monitor, targets)


@dataclass
class PartsReader(CorpusReader):
    """Read corpora in parts, on an engine; finished parts are cached, so that an interrupted run resumes.

    If ``sampling`` has "shared", the samples of different words share sentences as far as possible, so that fewer
    sentences have to be encoded.

    Parameters
    ----------
    corpora, readings, match, sampling, by, monitor
        As for :class:`CorpusReader`; ``by`` must be None.
    engine : Engine
    cache : Cache
    """

    engine: Engine
    cache: Cache

    @cached_property
    def parts(self) -> dict[str, list[Part]]:
        """The parts of each corpus."""
        return {corpus: split_corpus(path) for corpus, path in self.corpora.items()}

    def count(self, corpus: str) -> WordCounts:
        """Count the words of a corpus."""
        job = Counting(self.match, self.readings[corpus])
        progress = reading_stage(self.monitor, f"counting {corpus}")
        tables = map_parts(job, self.parts[corpus], self.engine, self.cache, progress)
        return combine_counts(tables, os.fspath(self.corpora[corpus]))

    def scan(self, targets: Targets) -> dict[str, Occurrences]:
        """Find the occurrences of target words in each corpus, or a sample of each word's."""
        sampling = self.sampling or {"max_per_word": None, "seed": 0}
        found = {}
        for corpus, parts in self.parts.items():
            job = Sampling(
                targets.forms,
                self.match,
                self.readings[corpus],
                sampling["max_per_word"],
                sampling["seed"],
                sampling.get("shared", False),
            )
            progress = reading_stage(self.monitor, f"sampling {corpus}")
            tables = map_parts(job, parts, self.engine, self.cache, progress)
            found[corpus] = combine_samples(tables, os.fspath(self.corpora[corpus]), sampling["max_per_word"])
        return found

"""Count and find words in corpora in parts, on an engine with a cache of finished parts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

from lexshift.corpus.counting import WordCounts
from lexshift.corpus.occurrences import Occurrences
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.targets import Targets
from lexshift.engine.cache import Cache
from lexshift.engine.local import Engine, map_parts
from lexshift.engine.parts import Counting, Part, Sampling, combine_counts, combine_samples, split_corpus
from lexshift.utils.monitor import reading_stage


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
        occurrences = {}
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
            occurrences[corpus] = combine_samples(tables, os.fspath(self.corpora[corpus]), sampling["max_per_word"])
        return occurrences

"""Read text and find the target words in it.

In: files of text or tables (:mod:`~lexshift.corpus.sources`), Python objects with texts
(:mod:`~lexshift.corpus.objects`) and words (:mod:`~lexshift.corpus.targets`). Out: the
occurrences of each word with their sentences (:mod:`~lexshift.corpus.occurrences`), by period if the text has dates
(:mod:`~lexshift.corpus.periods`), or the vocabulary of a corpus (:mod:`~lexshift.corpus.vocabulary`). Dictionaries
with the senses of words are read as well (:mod:`~lexshift.corpus.dictionary_reader`). Nothing here knows about models.
"""

from __future__ import annotations

from lexshift.corpus.dictionaries import Dictionary, Entry, Sense, SenseUsage, sentence_hash
from lexshift.corpus.dictionary_reader import read_dictionary
from lexshift.corpus.objects import Corpus
from lexshift.corpus.occurrences import Occurrences, find_occurrences
from lexshift.corpus.sources import Reading, Tally
from lexshift.corpus.targets import Targets, read_targets

__all__ = [
    "Corpus",
    "Dictionary",
    "Entry",
    "Occurrences",
    "Reading",
    "Sense",
    "SenseUsage",
    "Tally",
    "Targets",
    "find_occurrences",
    "read_dictionary",
    "read_targets",
    "sentence_hash",
]

"""Read the sentences of a corpus by document, a sample of them if there are many, and write them by document.

A document is a file of the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lexshift.corpus import sampling
from lexshift.corpus.passages import Block, read_corpus
from lexshift.corpus.sentences import LONGEST, Passage
from lexshift.corpus.sources import Place, Reading, Tally, find_sources
from lexshift.errors import UserError
from lexshift.utils.monitor import Monitor, reading_stage

_UNSAFE = re.compile(r"[^\w.-]+")  # characters that are not used in the names of written documents
_SUFFIX = re.compile(r"(\.(txt|jsonl|ndjson|csv|tsv|parquet))?(\.(gz|zst))?$", re.IGNORECASE)
_LONGEST_NAME = 50  # characters of the name of a written document, without its number and suffix


@dataclass(frozen=True)
class Sentence:
    """A sentence of a corpus.

    Attributes
    ----------
    file : str
        Name of its file within the corpus.
    text : str
        The sentence on one line, with single spaces.
    """

    file: str
    text: str


@dataclass(frozen=True)
class CorpusSentences:
    """The sentences of a corpus in the order of the text, or a random sample of them.

    Attributes
    ----------
    sentences : list of Sentence
    n_sentences : int
        Number of sentences in the corpus.
    skipped : dict of str to int
        How much text was skipped or altered, by reason.
    """

    sentences: list[Sentence]
    n_sentences: int
    skipped: dict[str, int]

    def documents(self) -> dict[str, str]:
        """Return the name of the written document for each file with sentences."""
        return document_names(sentence.file for sentence in self.sentences)


def read_sentences(
    corpus: Place, reading: Reading, max_sentences: int, seed: int, monitor: Monitor, label: str
) -> CorpusSentences:
    """Read a corpus once, and return its sentences or a sample of ``max_sentences``.

    A sentence is sampled by a hash of its file, its position in the file and the seed. Memory grows with the sample and
    not with the corpus.

    Parameters
    ----------
    corpus : str or path
    reading : Reading
        Options for reading text, with a language.
    max_sentences : int
    seed : int
    monitor : Monitor
    label : str
        Name of the corpus in the progress.
    """
    sample, tally = _Sample(max_sentences), Tally()
    file, key, position, n_sentences = None, np.zeros(1, np.uint64), 0, 0
    for block in read_corpus(find_sources(corpus), reading, tally, reading_stage(monitor, f"reading {label}")):
        if block.file != file:
            file, position = block.file, 0
            key = np.array([sampling.place_key(seed, file, "")], np.uint64)
        texts = list(split_block(block, reading.language, tally))
        positions = position + np.arange(len(texts))
        hashes = sampling.priorities(np.repeat(key, len(texts)), positions, np.zeros(len(texts), np.int64))
        sample.add([Sentence(file, text) for text in texts], hashes)
        position += len(texts)
        n_sentences += len(texts)
    if tally.unreadable and not tally.files:
        raise tally.nothing_read(str(corpus))
    if not n_sentences:
        raise UserError(f"the corpus {str(corpus)!r} is empty: there is no sentence in it")
    return CorpusSentences(sample.sentences(), n_sentences, dict(tally.skipped))


def split_block(block: Block, language: str, tally: Tally) -> Iterator[str]:
    """Yield the sentences of a block of text, each on one line with single spaces; count those that were cut."""
    for line in filter(str.strip, block.data.decode().split("\n")):
        for text in Passage(line, block.split, language).sentences():
            if len(text) == LONGEST:
                tally.skipped[f"sentences of {LONGEST:,} characters or more, cut to this length"] += 1
            yield " ".join(text.split())


class _Sample:
    """Keep the sentences with the smallest hashes, in the order in which they were added."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._sentences: list[Sentence] = []
        self._hashes = np.empty(0, np.uint64)

    def add(self, sentences: Sequence[Sentence], hashes: sampling.Priorities) -> None:
        self._sentences += sentences
        self._hashes = np.r_[self._hashes, hashes]
        if len(self._sentences) > 2 * self._size:
            self._cut()

    def sentences(self) -> list[Sentence]:
        self._cut()
        return self._sentences

    def _cut(self) -> None:
        rows = sampling.smallest(np.zeros(len(self._hashes), np.int64), self._hashes, self._size)
        self._sentences, self._hashes = [self._sentences[i] for i in rows], self._hashes[rows]


def document_names(files: Iterable[str]) -> dict[str, str]:
    """Return a name of a text file for each file of a corpus, distinct even where case does not matter.

    >>> document_names(["1790.txt", "a/b c.jsonl.gz", "a_b_c.txt"])
    {'1790.txt': '1790.txt', 'a/b c.jsonl.gz': 'a_b_c.txt', 'a_b_c.txt': 'a_b_c-2.txt'}
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for file in dict.fromkeys(files):
        stem = _UNSAFE.sub("_", _SUFFIX.sub("", file)).lstrip("._-")[:_LONGEST_NAME] or "document"
        name, number = stem, 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        names[file] = f"{name}.txt"
    return names

"""Draw a random sample of a corpus's distinct sentences in bounded memory."""

from __future__ import annotations

import hashlib
import heapq
import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from lexshift.corpus.language import detect_languages
from lexshift.corpus.passages import read_corpus
from lexshift.corpus.sentences import Passage
from lexshift.corpus.sources import Reading, Tally, find_sources
from lexshift.errors import UserError

_WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|[^\s\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]+")
# A letter of Thai, Lao, Japanese or Chinese, which are written without spaces, counts as a word.
_SHORTEST = 3  # words; shorter ones are mostly headings, numbers and names


@dataclass(frozen=True)
class Sample:
    """Sentences of a corpus.

    Attributes
    ----------
    sentences : list of str
        Sentences in random order: the first n of them are a random sample too.
    total : int
        Number of sentences of the corpus, without those that are too short.
    tally : Tally
    content : str
        SHA-256 over the corpus's files.
    language : str
        ISO code of the language by whose rules sentences were found.
    """

    sentences: list[str]
    total: int
    tally: Tally
    content: str
    language: str


def sample_sentences(
    corpus: str | os.PathLike[str],
    reading: Reading | None = None,
    max_sentences: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Sample:
    """Read a corpus once and keep a random sample of at most ``max_sentences`` of its distinct sentences.

    Sentences are chosen by a hash of their text, so the sample does not depend on the order of the text.
    ``progress`` is called with the bytes read so far and the total (0 for standard input).
    """
    _, readings = detect_languages({"": corpus}, reading or Reading())
    tally, how = Tally(), readings[""]
    collector = _SampleCollector(max_sentences, seed)
    for block in read_corpus(find_sources(corpus), how, tally, progress):
        for line in block.data.decode().split("\n"):
            for sentence in Passage(line, block.split, how.language).sentences():
                collector.add(sentence, tally)
    sentences = collector.sentences
    if not sentences and not tally.files:
        raise tally.nothing_read(os.fspath(corpus))
    if not sentences:
        raise UserError(f"the corpus {os.fspath(corpus)!r} has no sentence of {_SHORTEST} words or more")
    return Sample(
        [sentences[number] for number in sorted(sentences)], tally.passages, tally, tally.content, how.language
    )


class _SampleCollector:
    """Collect the distinct sentences with the smallest hashes."""

    def __init__(self, max_sentences: int | None, seed: int) -> None:
        self.sentences: dict[int, str] = {}  # by hash
        self._max_sentences = max_sentences
        self._seed = seed
        self._negated_hashes: list[int] = []  # a heap of the negated hashes

    def add(self, sentence: str, tally: Tally) -> None:
        words = len(_WORD.findall(sentence))
        if words < _SHORTEST:
            tally.skipped[f"sentences of fewer than {_SHORTEST} words"] += 1
            return
        tally.passages += 1
        tally.words += words
        digest = hashlib.blake2b(f"{self._seed}\0{sentence}".encode(), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        if number in self.sentences:
            return
        if self._max_sentences is None or len(self.sentences) < self._max_sentences:
            heapq.heappush(self._negated_hashes, -number)
        elif number < -self._negated_hashes[0]:
            del self.sentences[-heapq.heapreplace(self._negated_hashes, -number)]
        else:
            return
        self.sentences[number] = sentence

"""A random sample of a corpus's distinct sentences, in bounded memory."""

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
# A letter of Thai, Lao, Japanese or Chinese, which put no spaces between words, counts as a word.
_SHORTEST = 3  # words; what is shorter is a heading, a number, a name


@dataclass(frozen=True)
class Sample:
    """Sentences of a corpus.

    Attributes
    ----------
    sentences : list of str
        In random order: any number of the first is a sample too.
    found : int
        Sentences of the corpus, those that are too short not counted.
    tally : Tally
    content : str
        SHA-256 over the corpus's files.
    language : str
        ISO code of the language by whose rules sentences were found.
    """

    sentences: list[str]
    found: int
    tally: Tally
    content: str
    language: str


def sample_sentences(
    corpus: str | os.PathLike[str],
    reading: Reading | None = None,
    most: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Sample:
    """Read a corpus once and keep a random sample of at most ``most`` of its distinct sentences.

    A sentence is taken by a hash of its text, so the sample does not depend on the order of the text.
    ``progress`` is called with the bytes read so far and those there are (0 for standard input).
    """
    _, readings = detect_languages({"": corpus}, reading or Reading())
    tally, how = Tally(), readings[""]
    keeper = _Keeper(most, seed)
    for block in read_corpus(find_sources(corpus), how, tally, progress):
        for line in block.data.decode().split("\n"):
            for sentence in Passage(line, block.split, how.language).sentences():
                keeper.add(sentence, tally)
    kept = keeper.kept
    if not kept:
        raise UserError(f"the corpus {os.fspath(corpus)!r} has no sentence of {_SHORTEST} words or more")
    return Sample([kept[number] for number in sorted(kept)], tally.passages, tally, tally.content, how.language)


class _Keeper:
    """Collects the sentences with the smallest hashes, each once."""

    def __init__(self, most: int | None, seed: int) -> None:
        self.kept: dict[int, str] = {}  # by their hashes
        self._most = most
        self._seed = seed
        self._largest: list[int] = []  # a heap of the negated hashes

    def add(self, sentence: str, tally: Tally) -> None:
        words = len(_WORD.findall(sentence))
        if words < _SHORTEST:
            tally.skipped[f"sentences of fewer than {_SHORTEST} words"] += 1
            return
        tally.passages += 1
        tally.words += words
        digest = hashlib.blake2b(f"{self._seed}\0{sentence}".encode(), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        if number in self.kept:
            return
        if self._most is None or len(self.kept) < self._most:
            heapq.heappush(self._largest, -number)
        elif number < -self._largest[0]:
            del self.kept[-heapq.heapreplace(self._largest, -number)]
        else:
            return
        self.kept[number] = sentence

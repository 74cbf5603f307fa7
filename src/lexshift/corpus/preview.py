"""Look for words in a small corpus, and count them, without compiled code, whose loading takes a second."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from lexshift.corpus.counting import WordCounts
from lexshift.corpus.passages import read_corpus
from lexshift.corpus.sources import Reading, Tally, find_sources
from lexshift.corpus.targets import Targets
from lexshift.corpus.tokens import split_words
from lexshift.corpus.word_rule import rule
from lexshift.errors import UserError


def may_occur(
    corpora: Mapping[str, str | os.PathLike[str]], readings: Mapping[str, Reading], match: str, targets: Targets | None
) -> bool:
    """Return whether a target may occur in one of some corpora of plain text; raise an error for an empty corpus.

    The text is read up to the first place at which the beginning of a target occurs, if only as a part of another word.

    Parameters
    ----------
    corpora : mapping of str to str or path
    readings : mapping of str to Reading
        The reading options of each corpus.
    match : "word", "cased", "token" or "lemma"
    targets : Targets, optional
        Without them, corpora are only checked for any word.
    """
    beginnings = None if targets is None else ["".join(map(chr, word)) for word in targets.first_words]
    is_found = False
    for label, corpus in corpora.items():
        is_empty = True
        for text in _folded_blocks(corpus, readings[label], match):
            is_empty = is_empty and not text.strip("\0")
            is_found = is_found or beginnings is None or any(word in text for word in beginnings)
            if is_found and not is_empty:
                break
        if is_empty:
            raise UserError(f"the corpus {os.fspath(corpus)!r} is empty: there is no word in it")
    return is_found


def count_quickly(corpus: str | os.PathLike[str], reading: Reading) -> WordCounts:
    """Count the words of a small corpus of plain text as :func:`lexshift.corpus.counting.count_words` does.

    Nothing is counted by the case of first letters, so names are not known.
    """
    counts = Counter[str]()
    for block in read_corpus(find_sources(corpus), reading, Tally()):
        counts.update(split_words(block.data.decode()))
    return WordCounts(dict(counts), counts.total())


def _folded_blocks(corpus: str | os.PathLike[str], reading: Reading, match: str) -> Iterable[str]:
    """Yield the text of a corpus in blocks, with folded letters, and with U+0000 in the place of separators."""
    table = rule(match)
    for block in read_corpus(find_sources(corpus), reading, Tally()):
        codes = np.frombuffer(block.data.decode().encode("utf-32-le"), "<u4")  # (characters,)
        yield table[codes].astype("<u4").tobytes().decode("utf-32-le")

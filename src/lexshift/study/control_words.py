"""Choose control words: ordinary words of the corpora with which the words of a study are compared.

Control words show what the two corpora do to any word. They are content words that are frequent in the first and in the
last corpus, those with the smallest keyed hashes. The choice is as good as random, and it depends on the corpora only,
never on the words that are studied.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lexshift.corpus.counting import WordCounts
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.segmentation import is_unsegmented
from lexshift.corpus.sources import STANDARD_INPUT
from lexshift.corpus.targets import Targets, read_targets
from lexshift.corpus.vocabulary import select_vocabulary
from lexshift.errors import UserError
from lexshift.study.settings import AUTO, MIN_CONTROL_WORDS, NO_CONTROL, Settings

N_WORDS = 150
"""Default number of control words."""
MIN_COUNT = 20
"""Minimum number of occurrences of a control word in the first and in the last corpus."""
_KEY = b"lexshift control words"
_CANDIDATES = 20  # candidates per control word, where their numbers in each period are found by a search


@dataclass(frozen=True)
class ControlWords:
    """The control words of a run.

    Attributes
    ----------
    targets : Targets, optional
        The words with their forms, those with the smallest hashes first; None if there are none.
    note : str, optional
        The reason why there are none, in a sentence; None if none were asked for.
    """

    targets: Targets | None = None
    note: str | None = None


def smallest_hashes(words: Iterable[str], n_words: int) -> list[str]:
    """Return the ``n_words`` words with the smallest keyed hashes, in the order of the hashes.

    >>> smallest_hashes(["bread", "river", "mouse"], 2) == smallest_hashes(["mouse", "bread", "river"], 2)
    True
    """
    return sorted(words, key=lambda word: (_hash(word), word))[:n_words]


def _hash(word: str) -> bytes:
    return hashlib.blake2b(word.encode("utf-8", "surrogatepass"), key=_KEY, digest_size=8).digest()


def content_words(
    counts: Sequence[WordCounts],
    min_count: int,
    language: str | None,
    match: str = "word",
    lemmas: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the words that are frequent in each corpus, without function words, numbers and names.

    Parameters
    ----------
    counts : sequence of WordCounts
        The words of each corpus.
    min_count : int
        Minimum number of occurrences in each corpus.
    language, match, lemmas
        As for :func:`lexshift.corpus.vocabulary.select_vocabulary`.
    """
    try:
        return select_vocabulary(counts, min_count, None, False, lemmas, language, match).words
    except UserError:  # no word is frequent enough
        return []


def has_number(control: Any) -> bool:
    """Return whether a setting of control words is "auto" or a number, so that the words are chosen by frequency."""
    return control == AUTO or isinstance(control, int)


def read_control_targets(control: Any, match: str, language: str | None) -> Targets | None:
    """Return the control words that the user named, or None if there are none, or if they are chosen by frequency."""
    if has_number(control) or control == NO_CONTROL:
        return None
    try:
        return read_targets(control, match, language)
    except UserError as error:
        raise UserError(f"the control words cannot be used: {error}") from None


def choose_control_words(
    reader: CorpusReader,
    settings: Settings,
    counts: Sequence[WordCounts] | None,
    user_targets: Targets | None,
    language: str | None,
    vocabulary: Iterable[str] | None = None,
) -> ControlWords:
    """Choose the control words of a run.

    Parameters
    ----------
    reader : CorpusReader
        Reader of the corpora.
    settings : Settings
        Its ``control`` and ``match``.
    counts : sequence of WordCounts, optional
        The words of the first and of the last corpus; None if they were not counted.
    user_targets : Targets, optional
        The control words that the user named.
    language : str, optional
        ISO code of the language of the last corpus.
    vocabulary : iterable of str, optional
        The only words that may be chosen: those of a run that embeds a whole vocabulary.
    """
    if settings.control == NO_CONTROL:
        return ControlWords()
    try:
        words = _choose(reader, settings, counts, user_targets, language, vocabulary)
    except _NoControlWordsError as error:
        note = f"there is no comparison with ordinary words, because {error}"
        reader.monitor.note(note)
        return ControlWords(note=note)
    if vocabulary is not None:
        reader.monitor.note(f"comparing with {len(words):,} of these words, chosen at random, as ordinary words")
    return ControlWords(_make_targets(words, reader, user_targets))


class _NoControlWordsError(Exception):
    """The reason why a run has no control words."""


def _choose(
    reader: CorpusReader,
    settings: Settings,
    counts: Sequence[WordCounts] | None,
    user_targets: Targets | None,
    language: str | None,
    vocabulary: Iterable[str] | None,
) -> list[str]:
    """Return the control words, those with the smallest hashes first."""
    if any(os.fspath(corpus) == STANDARD_INPUT for corpus in reader.corpora.values()):
        raise _NoControlWordsError("a corpus from standard input can be read only once")
    if user_targets is not None:
        candidates, n_words = user_targets.words, len(user_targets.words)
    else:
        assert counts is not None
        if settings.match != "token" and is_unsegmented([corpus.counts for corpus in counts]):
            raise _NoControlWordsError("the text is not segmented into words")
        least = MIN_COUNT if reader.by is None else 2 * MIN_COUNT  # one corpus has the first and the last period
        candidates = content_words(counts, least, language, reader.match, reader.lemmas)
        n_words = N_WORDS if settings.control == AUTO else settings.control
    if vocabulary is not None:
        allowed_words = set(vocabulary)
        candidates = [word for word in candidates if word in allowed_words]
    if user_targets is not None:
        candidates = _search_frequent_words(reader, candidates, user_targets)
    elif reader.by is not None:
        candidates = _search_frequent_words(reader, smallest_hashes(candidates, _CANDIDATES * n_words), None)
    if len(candidates) < MIN_CONTROL_WORDS:
        raise _NoControlWordsError(_describe_too_few(len(candidates), reader, user_targets, vocabulary is not None))
    return smallest_hashes(candidates, n_words)


def _search_frequent_words(reader: CorpusReader, words: Sequence[str], user_targets: Targets | None) -> list[str]:
    """Search for words, and return those that are frequent in the first and in the last corpus or period."""
    if not words:
        return []
    targets = _make_targets(words, reader, user_targets)
    sampler = replace(reader, sampling={"max_per_word": 1, "seed": 0, "shared": True})
    counts = [occurrences.found.tolist() for occurrences in sampler.scan(targets).values()]
    numbers = zip(targets.words, counts[0], counts[-1], strict=True)
    return [word for word, n_first, n_last in numbers if min(n_first, n_last) >= MIN_COUNT]


def _make_targets(words: Sequence[str], reader: CorpusReader, user_targets: Targets | None) -> Targets:
    if user_targets is None:
        return read_targets(words, reader.match, reader.dictionary_language)
    return Targets({word: user_targets.forms[word] for word in words}, user_targets.match)


def _describe_too_few(n_words: int, reader: CorpusReader, user_targets: Targets | None, is_vocabulary: bool) -> str:
    """Return the reason why there are no control words, of which only ``n_words`` are frequent enough."""
    some = f"only {n_words}" if n_words else "none"
    if user_targets is not None:
        words = f"{some} of the {len(user_targets.words)} control words"
        words += " are studied and" if is_vocabulary else ""
    elif is_vocabulary:
        words = f"{some} of the words studied"
    else:
        words = f"{some} {'word' if n_words == 1 else 'words'}" if n_words else "no word"
    where = "both corpora" if len(reader.corpora) == 2 else "the first and the last corpus"
    where = where if reader.by is None else "the first and the last period"
    return f"{words} {'occurs' if n_words <= 1 else 'occur'} {MIN_COUNT} times or more in {where}"

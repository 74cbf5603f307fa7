"""Select the words of a study if the user names none."""

from __future__ import annotations

import os
from collections.abc import Sequence

from lexshift.corpus.counting import WordCounts
from lexshift.corpus.language import UNKNOWN, language_name
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.sources import STANDARD_INPUT
from lexshift.corpus.vocabulary import LEFT_OUT, Vocabulary, select_vocabulary
from lexshift.errors import UserError
from lexshift.study.settings import DISCOVER, Settings
from lexshift.utils.monitor import Monitor
from lexshift.utils.quantities import with_unit


def count_first_and_last(reader: CorpusReader) -> list[WordCounts] | None:
    """Count the words of the first and the last corpus; return None if one of them can be read only once."""
    corpora = first_and_last(reader)
    if any(os.fspath(reader.corpora[corpus]) == STANDARD_INPUT for corpus in corpora):
        return None
    return [reader.count(corpus) for corpus in corpora]


def choose_vocabulary(
    question: str,
    reader: CorpusReader,
    counts: Sequence[WordCounts] | None,
    settings: Settings,
    language: str | None,
    monitor: Monitor,
) -> Vocabulary:
    """Select the words that are frequent in the first and in the last corpus.

    Parameters
    ----------
    question : "compare", "discover" or "trace"
    reader : CorpusReader
        Reader of the corpora.
    counts : sequence of WordCounts, optional
        The words of the first and the last corpus, from :func:`count_first_and_last`.
    settings : Settings
        Its ``min_count``, ``top_words``, ``names`` and ``match``.
    language : str, optional
        ISO code of the language of the last corpus.
    monitor : Monitor
    """
    corpora = first_and_last(reader)
    if counts is None:
        raise UserError("a corpus from standard input can be read only once: name the words to compare (--words)")
    vocabulary = select_vocabulary(
        counts,
        settings.min_count,
        settings.top_words,
        names=settings.names or question != DISCOVER,
        lemmas=reader.lemmas,
        language=language,
        match=settings.match,
    )
    monitor.note(f"studying {describe_choice(vocabulary, settings.min_count, len(corpora))}")
    if question == DISCOVER:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in vocabulary.reasons().items())
        monitor.note(f"words left out: {reasons or 'none'}")
    if not vocabulary.language:
        unknown = language in (None, UNKNOWN)
        why = "the language is not known" if unknown else f"there is no list of them for {language_name(language)}"
        monitor.note(f"no function words are left out, as {why}")
    if vocabulary.names.startswith("kept, "):
        monitor.note(f"names are {vocabulary.names}")
    return vocabulary


def describe_choice(vocabulary: Vocabulary, min_count: int, n_corpora: int) -> str:
    """Return a phrase that says how the words of a vocabulary were chosen from ``n_corpora`` corpora, one or two."""
    n, candidates = len(vocabulary.words), vocabulary.candidates
    chosen = f"all {n:,} words" if n == candidates else f"the {n:,} most frequent of {candidates:,} words"
    if candidates == 1:
        chosen = "the only word"
    where = "the corpus" if n_corpora == 1 else "both corpora"
    left_out = ["function words"] * bool(vocabulary.language) + ["numbers"] + ["names"] * (vocabulary.names == LEFT_OUT)
    without = " and ".join(filter(None, [", ".join(left_out[:-1]), left_out[-1]]))
    occur = "occurs" if candidates == 1 else "occur"
    return f"{chosen} that {occur} {with_unit(min_count, 'times')} or more in {where}, without {without}"


def first_and_last(reader: CorpusReader) -> list[str]:
    """Return the labels of the first and the last corpus, or of the only one."""
    return list(reader.corpora)[:: max(1, len(reader.corpora) - 1)]

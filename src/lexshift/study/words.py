"""Choose the words of a study: those that the user named, or else frequent ones; and its control words."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from lexshift.corpus.counting import WordCounts
from lexshift.corpus.language import UNKNOWN, language_name
from lexshift.corpus.lemmas import check_tags, dictionary_language
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.sources import STANDARD_INPUT
from lexshift.corpus.spelling import describe_suggestions, suggest_spellings
from lexshift.corpus.targets import Targets, Words, read_targets
from lexshift.corpus.vocabulary import LEFT_OUT, Vocabulary, select_vocabulary
from lexshift.errors import UserError
from lexshift.study.appeared_words import AppearedWords, find_appeared_words
from lexshift.study.control_words import ControlWords, choose_control_words, has_number, read_control_targets
from lexshift.study.form_hint import find_form_hint
from lexshift.study.inputs import StudyInputs
from lexshift.study.settings import DISCOVER, TRACE, Settings
from lexshift.utils.monitor import Monitor
from lexshift.utils.quantities import with_unit


class ChosenWords(NamedTuple):
    """The words of a run, and what counting all words of the corpora showed."""

    targets: Targets
    vocabulary: Vocabulary | None  # None if the user named the words
    control: ControlWords
    appeared: AppearedWords | None  # None also if they were not sought
    hint: str | None  # at forms of the words that are not studied


def read_named_words(words: Words | None, inputs: StudyInputs) -> tuple[Targets | None, Targets | None]:
    """Return the words of the study and the control words that the user named."""
    corpora, readings, settings = inputs.periods.by_key(), inputs.readings, inputs.settings
    language = dictionary_language(corpora, readings, settings.match)
    targets = None if words is None else read_targets(words, settings.match, language)
    check_tags(targets, corpora, readings)
    return targets, read_control_targets(settings.control, settings.match, language)


def choose_words(
    inputs: StudyInputs,
    reader: CorpusReader,
    targets: Targets | None,
    control_targets: Targets | None,
    monitor: Monitor,
    *,
    find_appeared: bool = True,
) -> ChosenWords:
    """Choose the words of the study and the control words.

    Parameters
    ----------
    inputs : StudyInputs
    reader : CorpusReader
    targets, control_targets : Targets, optional
        The words that the user named; see :func:`read_named_words`.
    monitor : Monitor
    find_appeared : bool
        Also find the words that appeared or disappeared, for which the corpora are read once more.
    """
    question, settings, language = inputs.question, inputs.settings, inputs.language
    needs_counts = targets is None or has_number(settings.control)
    counts = count_first_and_last(reader) if needs_counts else None
    vocabulary, hint, rules = None, None, list(reader.readings.values())[-1].language
    if targets is None:
        vocabulary = choose_vocabulary(question, reader, counts, settings, language, monitor)
        targets = read_targets(vocabulary.words, settings.match, reader.dictionary_language)
    else:
        # The words of a trace may occur only in periods that are not counted.
        suggestions = {} if question == TRACE else suggest_spellings(targets, counts or ())
        if suggestions:
            monitor.note(describe_suggestions(suggestions))
        if hint := find_form_hint(targets, counts, rules):
            monitor.note(hint)
    studied = targets.words if question == DISCOVER else None
    control = choose_control_words(reader, settings, counts, control_targets, language, studied)
    appeared = find_appeared_words(reader, counts, settings, language) if find_appeared else None
    return ChosenWords(targets, vocabulary, control, appeared, hint)


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

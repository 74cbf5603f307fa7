"""The words to compare when nobody names them."""

from __future__ import annotations

import os
from typing import Any

from lexshift.corpus.counting import WordCounts, count_words
from lexshift.corpus.language import UNKNOWN, corpus_languages, language_name, rules_of
from lexshift.corpus.sources import STANDARD_INPUT, Reading
from lexshift.corpus.targets import folded_lemmas
from lexshift.corpus.vocabulary import select_vocabulary
from lexshift.corpus.word_rule import rule
from lexshift.errors import UserError
from lexshift.store.embedding import READING
from lexshift.study.periods import Place
from lexshift.study.result import PERIODS
from lexshift.utils.monitor import Monitor, reading_stage


def choose_words(
    old: Place, new: Place, match: str, choice: tuple[int, int], options: dict[str, Any], monitor: Monitor
) -> tuple[list[str], dict[str, Any]]:
    """The words frequent in both corpora, and what is to be remembered of the choice."""
    if STANDARD_INPUT in (os.fspath(old), os.fspath(new)):
        raise UserError("a corpus from standard input is read only once: give the words to compare (--words)")
    reading = Reading(**{name: value for name, value in options.items() if name in READING})
    language = corpus_languages(dict(zip(PERIODS, (old, new), strict=True)), options)["new"]
    lemmas = folded_lemmas(rules_of(language)) if match == "lemma" else {}
    counts = [_count(corpus, match, reading, label, monitor) for corpus, label in zip((old, new), PERIODS, strict=True)]
    found = select_vocabulary(counts, *choice, lemmas=lemmas, language=language, match=match)
    left_out = f"{language_name(found.language)} function words" if found.language else _none_left_out(language)
    n, often = len(found.words), f"words that occur {choice[0]} times or more in both corpora"
    chosen = f"all {n} {often}" if n == found.candidates else f"the {n} most frequent of {found.candidates:,} {often}"
    monitor.note(f"comparing {chosen}; {left_out} and numbers are left out")
    return found.words, {"function_words": found.language, "candidates": found.candidates}


def _none_left_out(language: str | None) -> str:
    """Say why no function words are left out."""
    if language in (None, UNKNOWN):
        return "no function words, as the language is not known,"
    return f"no function words, as there is no list of them for {language_name(language)},"


def _count(corpus: Place, match: str, reading: Reading, label: str, monitor: Monitor) -> WordCounts:
    return count_words(corpus, rule(match), reading, reading_stage(monitor, f"counting {label}"))

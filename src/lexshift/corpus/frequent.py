"""Which words to ask about when nobody says: those frequent in both corpora, without function words and numbers."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from lexshift.corpus.counting import WordCounts
from lexshift.corpus.reading import AUTO
from lexshift.corpus.segmenting import is_unspaced, refuse_unsegmented, segmenter_version
from lexshift.errors import UserError

LANGUAGES = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "la": "Latin",
    "nl": "Dutch",
    "pt": "Portuguese",
    "ru": "Russian",
    "sv": "Swedish",
}
"""Languages whose function words are known."""
_LEAST_SHARE = 0.2  # of running words that are function words, for a text to be in a language


@dataclass(frozen=True)
class Choice:
    """Words chosen by their frequency.

    Attributes
    ----------
    words : tuple of str
        The most frequent first.
    language : str, optional
        The ISO code of the language whose function words were left out; None if the text is in none that is known.
    candidates : int
        How many words occur often enough, of which these are the most frequent.
    """

    words: tuple[str, ...]
    language: str | None
    candidates: int


@cache
def function_words(language: str) -> frozenset[str]:
    """The function words of a language."""
    return frozenset(files("lexshift.corpus").joinpath("function_words", f"{language}.txt").read_text("utf-8").split())


def language_of(counts: WordCounts) -> str | None:
    """The language whose function words make up the largest share of a text, if it is a large one.

    >>> language_of(WordCounts({"the": 5, "of": 3, "mouse": 2}, 10))
    'en'
    """
    lowered: dict[str, int] = {}
    for word, n in counts.counts.items():
        lowered[word.lower()] = lowered.get(word.lower(), 0) + n
    share = {
        language: sum(lowered.get(word, 0) for word in function_words(language)) / counts.total
        for language in LANGUAGES
    }
    best = max(share, key=lambda language: share[language])
    return best if share[best] >= _LEAST_SHARE else None


def known_language(language: str | None, counts: WordCounts) -> str | None:
    """Return the code of a language whose function words are known, or None; "auto" detects it from the counts."""
    if language == AUTO:
        return language_of(counts)
    code = str(language).lower().replace("_", "-").split("-")[0]
    return code if code in LANGUAGES else None


def frequent_words(
    old: WordCounts,
    new: WordCounts,
    min_count: int,
    top_words: int,
    lemmas: Mapping[str, str] | None = None,
    language: str | None = AUTO,
    match: str = "word",
) -> Choice:
    """The words that occur at least ``min_count`` times in both corpora, at most ``top_words`` of them.

    A word ranks by its frequency in the corpus where it is rarer, relative to the corpus's size. With ``lemmas`` the
    words are lemmas, and what counts are all their forms but those that are function words. ``language`` is that of
    the new corpus: a code, None if it is not known, or "auto" to detect it from the counts. ``match`` is
    the rule by which the words were counted.

    >>> old = WordCounts({"mouse": 3, "the": 9, "cat": 1, "1950": 3}, 16)
    >>> new = WordCounts({"mouse": 4, "the": 9, "cat": 5, "1950": 3}, 21)
    >>> frequent_words(old, new, min_count=2, top_words=10).words
    ('mouse',)
    """
    if match != "token":
        refuse_unsegmented([old.counts, new.counts])
    language = known_language(language, new)
    dropped = function_words(language) if language is not None else frozenset()
    counts_old, counts_new = (_content(counts, dropped, lemmas or {}, match) for counts in (old, new))

    def frequency(word: str) -> float:
        return min(counts_old[word] / old.total, counts_new[word] / new.total)

    often = [word for word, n in counts_old.items() if min(n, counts_new.get(word, 0)) >= min_count]
    if not often:
        raise UserError(
            f"no word but function words and numbers occurs at least {min_count} times in both corpora; give the words "
            f"to compare (--words), or ask for less (--min-count)"
        )
    ranked = sorted(often, key=lambda word: (-frequency(word), word))
    return Choice(tuple(ranked[:top_words]), language, len(ranked))


def _content(counts: WordCounts, dropped: frozenset[str], lemmas: Mapping[str, str], match: str) -> dict[str, int]:
    """Counts of content words, by lemma; a form without a lemma is its own."""
    summed: dict[str, int] = {}
    for form, n in counts.counts.items():
        if form.lower() not in dropped and is_a_word(form, match):
            lemma = lemmas.get(form, form)
            summed[lemma] = summed.get(lemma, 0) + n
    return summed


def is_a_word(word: str, match: str = "word") -> bool:
    """Not a number, code or sign, and not a single letter; where there is no case, one character may be a word.

    In scripts without spaces a word other than a token is found inside longer ones too, so that a single character is
    none, and only segmented text has words.
    """
    if match != "token" and is_unspaced(word) and (len(word) == 1 or segmenter_version() is None):
        return False
    if any(unicodedata.category(c)[0] == "N" or c == "_" for c in word):
        return False
    if not word[0].isalpha() or not (word[-1].isalpha() or unicodedata.category(word[-1])[0] == "M"):
        return False
    return len(word) > 1 or word.lower() == word.upper()

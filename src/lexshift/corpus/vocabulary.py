"""Select the vocabulary of a run: the words that are frequent in every corpus, and the reasons for excluding others.

Function words and numbers have no meaning that changes. Names refer to different people and places at different times,
so they would dominate a ranking of all words. A word counts as a name if it mostly has a capital letter inside
sentences. Names cannot be recognised in text without capital letters, or if every noun has one.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from lexshift.corpus.counting import Cases, WordCounts, sum_counts
from lexshift.corpus.language import base_code
from lexshift.corpus.segmentation import is_unspaced, refuse_unsegmented, segmenter_version
from lexshift.corpus.sources import AUTO
from lexshift.errors import UserError

LANGUAGES = ("de", "en", "es", "fr", "it", "la", "nl", "pt", "ru", "sv")
"""ISO codes of the languages whose function words are known."""
SELECTED, FUNCTION_WORD, NOT_A_WORD, NAME = "", "function word", "number, sign or single letter", "name"
UNSEGMENTED = "run of letters without spaces, not segmented"
LEFT_OUT = "left out"
_MIN_FUNCTION_WORDS = 0.2  # share of running words that are function words, for a text to be in a language
_MIN_CAPITALS = 0.5  # share of capital letters inside sentences above which a word is a name
_MIN_OCCURRENCES = 5  # minimum number of occurrences inside sentences for estimating that share
_CAPITALISED_NOUNS = ("de",)  # languages in which nouns have a capital letter
_MIN_CASED = 0.001  # share of capital letters inside sentences below which a text has no case information
_ABSENT: Cases = (0, 0, 0)


class Entry(NamedTuple):
    """A word: its number of occurrences in each corpus, its share of capital letters, and the reason to exclude it."""

    word: str
    counts: tuple[int, ...]
    capital: float | None
    reason: str


@dataclass(frozen=True)
class Vocabulary:
    """The words of one or more corpora.

    Attributes
    ----------
    entries : list of Entry
        Words that are frequent enough in one corpus, the most frequent first; ``reason`` is empty for selected words.
    language : str, optional
        ISO code of the language whose function words are excluded; None if the language is not known.
    names : str
        "left out" if names are excluded, "kept" if they were requested, or "kept, as ..." with the reason why they
        could not be recognised.
    rarer : int
        Number of words that are too rare in every corpus to be among the entries.
    candidates : int
        Number of words that could be selected; the most frequent of them are.
    """

    entries: list[Entry]
    language: str | None
    names: str
    rarer: int
    candidates: int

    @property
    def words(self) -> list[str]:
        """The selected words, the most frequent first."""
        return [entry.word for entry in self.entries if entry.reason == SELECTED]

    def reasons(self) -> dict[str, int]:
        """Return the number of words that are left out for each reason, the most frequent reason first."""
        return dict(Counter(entry.reason for entry in self.entries if entry.reason != SELECTED).most_common())


def select_vocabulary(
    counts: Sequence[WordCounts],
    min_count: int,
    top_words: int | None = None,
    names: bool = True,
    lemmas: Mapping[str, str] | None = None,
    language: str | None = AUTO,
    match: str = "word",
) -> Vocabulary:
    """Select the words that occur at least ``min_count`` times in each corpus.

    A word ranks by its frequency in the corpus where it is rarest, relative to the size of that corpus.

    Parameters
    ----------
    counts : sequence of WordCounts
        The words of one corpus or more, the earliest first.
    min_count : int
        Minimum number of occurrences in each corpus.
    top_words : int, optional
        Maximum number of words, the most frequent; None or 0 for all.
    names : bool
        Whether names may be selected.
    lemmas : dict of str to str, optional
        The lemma of each form. Forms are counted under their lemma, except for function words, which are counted as
        they are. A lemma that is a function word or a number is excluded.
    language : str, optional
        ISO code of the language of the last corpus, None if it is not known, or "auto" to detect it from the counts.
    match : str
        The rule by which the words were counted.

    Raises
    ------
    UserError
        If no word is selected, or if most of a text is not segmented into words.

    Examples
    --------
    >>> old = WordCounts({"mouse": 3, "the": 9, "cat": 1, "1950": 3}, 16)
    >>> new = WordCounts({"mouse": 4, "the": 9, "cat": 5, "1950": 3}, 21)
    >>> [(entry.word, entry.reason) for entry in select_vocabulary([old, new], min_count=2).entries]
    [('the', 'function word'), ('mouse', ''), ('1950', 'number, sign or single letter'), ('cat', 'rare in old')]
    """
    if match != "token":
        refuse_unsegmented([corpus.counts for corpus in counts])
    language, excluded = _find_function_words(counts, language)
    corpora = [_count_lemmas(corpus, lemmas or {}, excluded) for corpus in counts]
    totals = [corpus.total for corpus in counts]
    policy = "kept" if names else _name_policy(language, corpora)

    def rank(entry: Entry) -> tuple[float, float, str]:
        shares = [n / total for n, total in zip(entry.counts, totals, strict=True)]
        return -min(shares), 0.0 if min(shares) else -max(shares), entry.word

    every_word = set[str]().union(*corpora)
    entries = []
    for word in every_word:
        cases = [corpus.get(word, _ABSENT) for corpus in corpora]
        occurrences = tuple(n for n, _, _ in cases)
        if max(occurrences) >= min_count:
            share = _capital_share(cases)
            reason = _reason(word, occurrences, min_count, excluded, match)
            if reason == SELECTED and policy == LEFT_OUT and share is not None and share > _MIN_CAPITALS:
                reason = NAME
            entries.append(Entry(word, occurrences, share, reason))
    entries.sort(key=rank)
    candidates = [i for i, entry in enumerate(entries) if entry.reason == SELECTED]
    if not candidates:
        raise _nothing_selected(len(counts), min_count, policy == LEFT_OUT)
    for i in candidates[top_words:] if top_words else ():
        entries[i] = entries[i]._replace(reason=f"beyond the {top_words} most frequent")
    return Vocabulary(entries, language, policy, len(every_word) - len(entries), len(candidates))


def select_content_words(
    counts: Sequence[WordCounts],
    min_total: int,
    names: bool = True,
    lemmas: Mapping[str, str] | None = None,
    language: str | None = AUTO,
    match: str = "word",
    max_capitals: float = _MIN_CAPITALS,
) -> list[Entry]:
    """Select the words that occur at least ``min_total`` times in all corpora together, however they are distributed.

    Function words, numbers and, unless ``names``, names are left out.

    Parameters
    ----------
    counts, names, lemmas, language, match
        As for :func:`select_vocabulary`.
    min_total : int
        Minimum number of occurrences in all corpora together.
    max_capitals : float
        Share of capital letters inside sentences above which a word is a name.

    Returns
    -------
    list of Entry
        In alphabetical order.

    Examples
    --------
    >>> old, new = WordCounts({"mouse": 3, "the": 9, "cat": 1}, 13), WordCounts({"the": 9, "cat": 1}, 10)
    >>> [(entry.word, entry.counts) for entry in select_content_words([old, new], min_total=3)]
    [('mouse', (3, 0))]
    """
    language, excluded = _find_function_words(counts, language)
    corpora = [_count_lemmas(corpus, lemmas or {}, excluded) for corpus in counts]
    policy = "kept" if names else _name_policy(language, corpora)
    totals = Counter[str]()
    for corpus in corpora:
        totals.update({word: n for word, (n, _, _) in corpus.items()})
    entries = []
    for word in sorted(word for word, n in totals.items() if n >= min_total):
        if word.lower() in excluded or not is_word(word, match):
            continue
        cases = [corpus.get(word, _ABSENT) for corpus in corpora]
        share = _capital_share(cases)
        if policy != LEFT_OUT or share is None or share <= max_capitals:
            entries.append(Entry(word, tuple(n for n, _, _ in cases), share, SELECTED))
    return entries


def detect_language_by_counts(counts: WordCounts) -> str | None:
    """Return the language whose function words make up the largest share of a text, if that share is large."""
    lowered = Counter[str]()
    for word, n in counts.counts.items():
        lowered[word.lower()] += n
    share = {code: sum(lowered[word] for word in load_function_words(code)) / counts.total for code in LANGUAGES}
    best = max(share, key=lambda code: share[code])
    return best if share[best] >= _MIN_FUNCTION_WORDS else None


@cache
def load_function_words(language: str) -> frozenset[str]:
    """Return the function words of one of the :data:`LANGUAGES`."""
    return frozenset(files("lexshift.corpus").joinpath("function_words", f"{language}.txt").read_text("utf-8").split())


def _find_function_words(counts: Sequence[WordCounts], language: str | None) -> tuple[str | None, frozenset[str]]:
    """Return the language whose function words are excluded, None if it is not known, and these words."""
    if language == AUTO:
        language = detect_language_by_counts(counts[-1])
    else:
        language = base_code(language) if base_code(language) in LANGUAGES else None
    return language, load_function_words(language) if language is not None else frozenset()


def _capital_share(cases: Sequence[Cases]) -> float | None:
    """Return the share of capital letters inside sentences in all corpora together; None if there are too few."""
    small, capital = sum(case[1] for case in cases), sum(case[2] for case in cases)
    return capital / (small + capital) if small + capital >= _MIN_OCCURRENCES else None


def _count_lemmas(counts: WordCounts, lemmas: Mapping[str, str], function_words: frozenset[str]) -> dict[str, Cases]:
    """Sum the counts of forms by lemma; function words, forms without a lemma and lemmas are counted as they are."""

    def count(word: str, n: int) -> Iterator[tuple[str, Cases]]:
        small, capital = counts.within.get(word, (0, 0))
        given = counts.lemmas.get(word, _ABSENT)
        lemma = word if word.lower() in function_words else lemmas.get(word, word)
        if given[0] < n or not n:
            yield lemma, (n - given[0], small - given[1], capital - given[2])
        if given[0]:
            yield word, given

    return sum_counts(pair for word, n in counts.counts.items() for pair in count(word, n))


def _name_policy(language: str | None, corpora: Sequence[Mapping[str, Cases]]) -> str:
    """Return "left out" if names can be recognised by their case, else "kept" and the reason."""
    if language in _CAPITALISED_NOUNS:
        return "kept, as every noun has a capital letter in this language"
    for corpus in corpora:
        small, capital = (sum(cases[i] for cases in corpus.values()) for i in (1, 2))
        if capital <= _MIN_CASED * (small + capital):
            return "kept, as there are hardly any capital letters to recognise them by"
    return LEFT_OUT


def _reason(word: str, counts: tuple[int, ...], min_count: int, function_words: frozenset[str], match: str) -> str:
    """Return the reason for excluding a word, other than being a name; an empty text if there is none."""
    if word.lower() in function_words:
        return FUNCTION_WORD
    if not is_word(word, match):
        return UNSEGMENTED if is_unspaced(word) and segmenter_version() is None else NOT_A_WORD
    rare = next((i for i, n in enumerate(counts) if n < min_count), None)
    if rare is None:
        return SELECTED
    return f"rare in {('old', 'new')[rare]}" if len(counts) == 2 else f"rare in corpus {rare + 1}"


def is_word(word: str, match: str = "word") -> bool:
    """Return False for numbers, codes, signs and single letters; in scripts without case one character may be a word.

    In scripts without spaces, words other than tokens are also found inside longer words. A single character is
    therefore not a word there, and only segmented text has words.
    """
    if match != "token" and is_unspaced(word) and (len(word) == 1 or segmenter_version() is None):
        return False
    if any(unicodedata.category(c)[0] == "N" or c == "_" for c in word):
        return False
    if not word[0].isalpha() or not (word[-1].isalpha() or unicodedata.category(word[-1])[0] == "M"):
        return False
    return len(word) > 1 or word.lower() == word.upper()


def _nothing_selected(n_corpora: int, min_count: int, without_names: bool) -> UserError:
    """Return the error for an empty selection, with advice."""
    except_for = "function words, numbers and names" if without_names else "function words and numbers"
    where = {1: "the corpus", 2: "both corpora"}.get(n_corpora, "every corpus")
    times = "time" if min_count == 1 else "times"
    return UserError(
        f"no word except {except_for} occurs at least {min_count} {times} in {where}; give the words "
        f"(--words of compare and trace){', include names (--names)' if without_names else ''}, or lower --min-count"
    )

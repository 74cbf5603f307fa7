"""Which of all words can be asked about: those frequent enough in both corpora, and why the others are left out.

Function words and numbers have no meaning that changes. Names change what they stand for with every new bearer, so they
fill the top of any ranking unless they are left out; a word is taken for a name if it mostly has a capital letter
inside sentences. That cannot be told where there are no capital letters, or where every noun has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lexshift.corpus.counting import Cases, WordCounts
from lexshift.corpus.frequent import function_words, is_a_word, known_language
from lexshift.corpus.reading import AUTO
from lexshift.corpus.segmenting import is_unspaced, refuse_unsegmented, segmenter_version
from lexshift.errors import UserError

UNSEGMENTED = "run of letters without spaces, not segmented"
CHOSEN, FUNCTION, NO_WORD, NAME = "", "function word", "number, sign or single letter", "name"
_NAME = 0.5  # share of capital letters inside sentences above which a word is a name
_SEEN = 5  # words inside sentences that say anything about it
_NOUNS = ("de",)  # languages in which nouns have a capital letter
_CASED = 0.001  # share of capital letters inside sentences below which a text has lost its case


class Entry(NamedTuple):
    """A word of both corpora: how often it occurs, the share of capital letters, and why it is left out."""

    word: str
    n_old: int
    n_new: int
    capital: float | None
    reason: str


@dataclass(frozen=True)
class Vocabulary:
    """The words of two corpora.

    Attributes
    ----------
    entries : list of Entry
        Every word that is frequent enough in one corpus, the most frequent first; ``reason`` is empty for the chosen.
    language : str, optional
        Whose function words are left out.
    names : str
        How names were told: "left out", "kept" as asked, or why they could not be told.
    rarer : int
        Words that are too rare in both corpora to be among the entries.
    """

    entries: list[Entry]
    language: str | None
    names: str
    rarer: int

    @property
    def words(self) -> list[str]:
        """The chosen words, the most frequent first."""
        return [entry.word for entry in self.entries if entry.reason == CHOSEN]

    def reasons(self) -> dict[str, int]:
        """How many words are left out for each reason."""
        found: dict[str, int] = {}
        for entry in self.entries:
            if entry.reason != CHOSEN:
                found[entry.reason] = found.get(entry.reason, 0) + 1
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def choose_vocabulary(
    old: WordCounts,
    new: WordCounts,
    min_count: int,
    top_words: int | None = None,
    names: bool = False,
    lemmas: Mapping[str, str] | None = None,
    language: str | None = AUTO,
    match: str = "word",
) -> Vocabulary:
    """Choose the words that occur at least ``min_count`` times in both corpora.

    A word ranks by its frequency in the corpus where it is rarer, relative to the corpus's size, and the first
    ``top_words`` are taken. With ``lemmas`` the words are lemmas, and all their forms count. ``language`` is that of
    the new corpus: a code, None if it is not known, or "auto" to detect it from the counts. ``match`` is
    the rule by which the words were counted.

    >>> old = WordCounts({"mouse": 3, "the": 9, "cat": 1, "1950": 3}, 16)
    >>> new = WordCounts({"mouse": 4, "the": 9, "cat": 5, "1950": 3}, 21)
    >>> [(entry.word, entry.reason) for entry in choose_vocabulary(old, new, min_count=2).entries]
    [('the', 'function word'), ('mouse', ''), ('1950', 'number, sign or single letter'), ('cat', 'rare in old')]
    """
    if match != "token":
        refuse_unsegmented([old.counts, new.counts])
    language = known_language(language, new)
    dropped = function_words(language) if language is not None else frozenset()
    counts_old, counts_new = (_by_lemma(counts, lemmas or {}, dropped) for counts in (old, new))
    told = "kept" if names else _told_by_case(language, [counts_old, counts_new])

    def rank(word: str) -> tuple[float, float, str]:
        shares = counts_old.get(word, _NONE)[0] / old.total, counts_new.get(word, _NONE)[0] / new.total
        return -min(shares), 0.0 if min(shares) else -max(shares), word

    everything = counts_old.keys() | counts_new.keys()
    often = [w for w in everything if max(counts_old.get(w, _NONE)[0], counts_new.get(w, _NONE)[0]) >= min_count]
    entries, chosen = [], 0
    for word in sorted(often, key=rank):
        (n_old, *case_old), (n_new, *case_new) = counts_old.get(word, _NONE), counts_new.get(word, _NONE)
        small, capital = case_old[0] + case_new[0], case_old[1] + case_new[1]
        share = capital / (small + capital) if small + capital >= _SEEN else None
        reason = _reason(word, n_old, n_new, min_count, dropped, match)
        if reason == CHOSEN and told == _LEFT_OUT and share is not None and share > _NAME:
            reason = NAME
        if reason == CHOSEN:
            chosen += 1
            if top_words is not None and chosen > top_words:
                reason = f"beyond the {top_words} most frequent"
        entries.append(Entry(word, n_old, n_new, share, reason))
    if not chosen:
        apart = "function words, numbers and names" if told == _LEFT_OUT else "function words and numbers"
        raise UserError(
            f"no word but {apart} occurs at least {min_count} times in both corpora; ask for less (--min-count)"
            + (", or keep names (--names)" if told == _LEFT_OUT else "")
        )
    return Vocabulary(entries, language, told, len(everything) - len(often))


_NONE: Cases = (0, 0, 0)
_LEFT_OUT = "left out"


def _by_lemma(counts: WordCounts, lemmas: Mapping[str, str], dropped: frozenset[str]) -> dict[str, Cases]:
    """Counts by lemma; a form without a lemma is its own, and so is a function word, whatever it may be a form of."""
    summed: dict[str, Cases] = {}
    for form, n in counts.counts.items():
        lemma = form if form.lower() in dropped else lemmas.get(form, form)
        small, capital = counts.within.get(form, (0, 0))
        a, b, c = summed.get(lemma, _NONE)
        summed[lemma] = (a + n, b + small, c + capital)
    return summed


def _reason(word: str, n_old: int, n_new: int, min_count: int, dropped: frozenset[str], match: str) -> str:
    if word.lower() in dropped:
        return FUNCTION
    if not is_a_word(word, match):
        return UNSEGMENTED if is_unspaced(word) and segmenter_version() is None else NO_WORD
    if n_old < min_count:
        return "rare in old"
    return "rare in new" if n_new < min_count else CHOSEN


def _told_by_case(language: str | None, several: list[dict[str, Cases]]) -> str:
    """Whether the case of words tells names in these corpora."""
    if language in _NOUNS:
        return "kept, as every noun has a capital letter in this language"
    for counts in several:
        small, capital = (sum(cases[i] for cases in counts.values()) for i in (1, 2))
        if capital <= _CASED * (small + capital):
            return "kept, as there are hardly any capital letters to tell them by"
    return _LEFT_OUT

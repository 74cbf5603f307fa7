"""Suggest words of a corpus for target words that do not occur in it, such as "people" for "peple"."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence

from lexshift.corpus.counting import WordCounts
from lexshift.corpus.targets import Targets
from lexshift.corpus.tokens import split_words

_MIN_COUNT = 3  # minimum number of occurrences of a suggestion, because rare words are often misspelt themselves
_MIN_SIMILARITY = 0.75  # share of the letters that two spellings have in common, see difflib.SequenceMatcher.ratio
_WORDS = 3  # number of words for which suggestions are named


def suggest_spellings(targets: Targets, counts: Sequence[WordCounts]) -> dict[str, str]:
    """Return the most similar word of the corpora for each target word that does not occur in them.

    Only words that are matched as they are, for which no other forms were given, and that have at least four letters
    are considered.

    Parameters
    ----------
    targets : Targets
    counts : sequence of WordCounts
        The words of the corpora.

    Examples
    --------
    >>> counts = [WordCounts({"people": 12, "mouse": 15}, 500)]
    >>> suggest_spellings(Targets({"peple": ("peple",), "mouse": ("mouse",)}), counts)
    {'peple': 'people'}
    """
    if targets.match != "word":
        return {}
    absent = {}
    for word, forms in targets.forms.items():
        folded = split_words(word)
        is_candidate = forms == (word,) and len(word) >= 4 and len(folded) == 1
        if is_candidate and not any(folded[0] in corpus.counts for corpus in counts):
            absent[word] = folded[0]
    if not absent:
        return {}
    total = sum((Counter(corpus.counts) for corpus in counts), Counter[str]())
    suggestions = {}
    for word, folded_word in absent.items():
        near = [other for other, n in total.items() if n >= _MIN_COUNT and abs(len(other) - len(folded_word)) <= 2]
        for match in difflib.get_close_matches(folded_word, near, n=1, cutoff=_MIN_SIMILARITY):
            suggestions[word] = match
    return suggestions


def describe_suggestions(suggestions: dict[str, str]) -> str:
    """Return suggestions as a question, or an empty text if there are none.

    >>> describe_suggestions({"peple": "people", "mose": "mouse"})
    "did you mean 'people' for 'peple', 'mouse' for 'mose'?"
    """
    if not suggestions:
        return ""
    pairs = list(suggestions.items())[:_WORDS]
    return f"did you mean {', '.join(f'{match!r} for {word!r}' for word, match in pairs)}?"

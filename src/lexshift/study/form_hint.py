"""Point out frequent inflected forms of the target words that were not requested, such as "mice" for "mouse"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from lexshift.corpus.counting import WordCounts
from lexshift.corpus.targets import Targets, lemma_dictionary
from lexshift.errors import UserError

_MIN_COUNT = 5  # minimum number of occurrences of a form
_MIN_SHARE = 0.2  # minimum share of the other forms in all occurrences of the lemma
_WORDS, _FORMS = 3, 3  # words that are named, and forms of each


def find_form_hint(targets: Targets, counts: Sequence[WordCounts] | None, language: str) -> str | None:
    """Return a sentence on frequent forms of target words that are not searched for, or None if there are none.

    A form belongs to the lemma that simplemma's dictionary gives for it, in the case in which it mostly occurs. Only
    words that are matched as they are, and for which no forms were given, are considered.

    Parameters
    ----------
    targets : Targets
    counts : sequence of WordCounts, optional
        The words of the corpora; None if they were not counted.
    language : str
        ISO code of the language.

    Examples
    --------
    >>> counts = [WordCounts({"mouse": 12, "mice": 15, "leaf": 9, "leaves": 40}, 5_000)]
    >>> find_form_hint(Targets({"mouse": ("mouse",), "leaf": ("leaf",)}), counts, "en")
    'the corpora also have other forms of mouse (12 occurrences): mice (15); --match lemma includes all forms'
    """
    words = {word.lower() for word, forms in targets.forms.items() if forms == (word,)}
    if counts is None or targets.match != "word" or not words:
        return None
    try:
        lemmas = lemma_dictionary(language)
    except UserError:  # simplemma is not installed, or does not know the language
        return None
    requested = {form.lower() for forms in targets.forms.values() for form in forms}
    numbers, capitals = defaultdict[str, int](int), defaultdict[str, int](int)  # a balance of capital and small letters
    for corpus in counts:
        for form, n in corpus.counts.items():
            numbers[form] += n
            small, capital = corpus.within.get(form, (0, 0))
            capitals[form] += capital - small
    forms_of: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for form, n in numbers.items():
        if n >= _MIN_COUNT and form not in requested:
            spellings = (form.capitalize(), form) if capitals[form] > 0 else (form, form.capitalize())
            lemma = next((lemmas[text] for text in spellings if text in lemmas), form).lower()
            if lemma in words:
                forms_of[lemma][form] = n
    shares = {word: (n := sum(forms.values())) / (n + numbers[word]) for word, forms in forms_of.items()}
    chosen = sorted((word for word in forms_of if shares[word] >= _MIN_SHARE), key=lambda word: (-shares[word], word))
    if not chosen:
        return None
    named = "; ".join(_describe(word, numbers[word], forms_of[word]) for word in chosen[:_WORDS])
    more = f"; and of {len(chosen) - _WORDS} more words" if len(chosen) > _WORDS else ""
    more = more.removesuffix("s") if len(chosen) == _WORDS + 1 else more
    return f"the corpora also have other forms of {named}{more}; --match lemma includes all forms"


def _describe(word: str, count: int, forms: dict[str, int]) -> str:
    """Return a word and its most frequent forms with their numbers of occurrences."""
    first = sorted(forms, key=lambda form: (-forms[form], form))[:_FORMS]
    number = f"{count:,} {'occurrence' if count == 1 else 'occurrences'}"
    return f"{word} ({number}): {', '.join(f'{form} ({forms[form]:,})' for form in first)}"

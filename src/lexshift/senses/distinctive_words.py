"""Describe a sense by its distinctive words: those that accompany it more often than they accompany the other senses.

A word counts once for each usage that contains it near the target word. The numbers of usages with and without it, in
the sense and in all other senses, are a table of two by two, and the log-likelihood ratio of Dunning (1993) measures
how far the table is from independence. It is signed: positive if the word is more frequent in the sense.

A few dozen usages rarely repeat a word. With an encoder, a word is also tried as a gloss of the target word: "mouse:
keyboard" is nearer to one sense of "mouse" than to the others. The score is then the square root of the ratio times the
mean cosine of that gloss with the usages of the sense, minus that with the other usages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache

import numpy as np

from lexshift.corpus.language import base_code, detect_language
from lexshift.corpus.targets import lemma_dictionary
from lexshift.corpus.tokens import split_texts, split_words
from lexshift.corpus.vocabulary import LANGUAGES, is_word, load_function_words
from lexshift.errors import UserError
from lexshift.senses.description import SenseUsages
from lexshift.senses.gloss_encoder import GlossEncoder
from lexshift.senses.similarity import unit_rows
from lexshift.utils.arrays import Array, Floats

_SIGNIFICANT = 2.71  # log-likelihood ratio of a word, the 90 % quantile of chi-squared with one degree of freedom
_REPEATED = 2  # usages that must contain a word, unless an encoder confirms it
_FREQUENT = 0.1  # share of the usages of every sense above which a word of an unknown language is a function word
_CAPITALISED_NOUNS = frozenset({"de", "lb"})  # languages


class DistinctiveWords:
    """Find the words that are typical of the usages of each sense.

    Forms are counted under their lemmas if simplemma has the language. Function words, numbers, single letters and the
    target word are left out. If the language has no list of function words, the words that are frequent in every sense
    take their place. A word with only one sense is described by its most frequent neighbours.

    Parameters
    ----------
    n_words : int
        Maximum number of words of a sense.
    window : int
        Number of words on each side of the target word that are considered.
    encoder : GlossEncoder, optional
        Encoder by which words are compared with the sense.
    n_candidates : int
        Maximum number of words of a sense that are encoded.
    """

    name = "distinctive_words"

    def __init__(
        self, n_words: int = 8, window: int = 10, encoder: GlossEncoder | None = None, n_candidates: int = 60
    ) -> None:
        self.n_words, self.window, self.encoder, self.n_candidates = n_words, window, encoder, n_candidates

    def describe(self, usages: SenseUsages) -> list[list[str]]:
        """Return the distinctive words of each sense, those with the highest score first."""
        n_senses = int(np.max(usages.labels, initial=-1)) + 1
        totals = np.bincount(usages.labels, minlength=n_senses)  # (senses,)
        language = base_code(usages.language or detect_language("\n".join(usages.sentences)))
        lemmas = _lemmas(language)
        function_words = load_function_words(language) if language in LANGUAGES else frozenset[str]()
        own = _own_words(usages, lemmas, language)
        counts = [Counter[str]() for _ in range(n_senses)]
        neighbours = self._neighbours(usages)
        forms = set[str]().union(*neighbours) - function_words
        lemma_of = {form: _lemma(form, lemmas, language) for form in forms if is_word(form)}
        lemma_of = {form: lemma for form, lemma in lemma_of.items() if lemma not in function_words and lemma not in own}
        for near, label in zip(neighbours, usages.labels, strict=True):
            counts[label].update({lemma_of[form] for form in near if form in lemma_of})
        words = sorted(set[str]().union(*counts))
        table = np.array([[count[word] for word in words] for count in counts], int).reshape(n_senses, len(words))
        if language not in LANGUAGES and n_senses:
            is_rare = (table <= _FREQUENT * totals[:, None])[totals > 0].any(axis=0) | (table.sum(axis=0) == 1)
            words, table = [word for word, rare in zip(words, is_rare, strict=True) if rare], table[:, is_rare]
        ratios = np.array([_scores(table, totals, sense) for sense in range(n_senses)]).reshape(table.shape)
        if self.encoder is None:
            chosen = (ratios >= _SIGNIFICANT) & (table >= _REPEATED)
            if n_senses == 1:
                chosen = table >= _REPEATED
            return [self._best(words, np.where(chosen[sense], ratios[sense], 0)) for sense in range(n_senses)]
        return self._describe_by_encoder(usages, words, ratios)

    def _neighbours(self, usages: SenseUsages) -> list[list[str]]:
        """Return the words around the target word in each sentence."""
        sides = zip(usages.sentences, usages.spans, strict=True)
        words = split_texts([side for text, (start, end) in sides for side in (text[:start], text[end:])])
        return [
            before[max(0, len(before) - self.window) :] + after[: self.window]
            for before, after in zip(words[::2], words[1::2], strict=True)
        ]

    def _best(self, words: list[str], scores: Floats) -> list[str]:
        """Return the words with the highest scores above 0; words with the same score are in alphabetical order."""
        order = np.argsort(-scores, kind="stable")[: self.n_words]
        return [words[i] for i in order if scores[i] > 0]

    def _describe_by_encoder(self, usages: SenseUsages, words: list[str], ratios: Floats) -> list[list[str]]:
        assert self.encoder is not None
        tops = [np.argsort(-row, kind="stable")[: self.n_candidates] for row in ratios]
        candidates = sorted({int(i) for row, top in zip(ratios, tops, strict=True) for i in top if row[i] > 0})
        if not candidates:
            return [[] for _ in ratios]
        glosses = self.encoder.encode_glosses(usages.word, [words[i] for i in candidates])  # (candidates, d)
        unit = unit_rows(usages.vectors)
        described = []
        for sense, row in enumerate(ratios):
            is_own = usages.labels == sense
            centre = unit[is_own].sum(axis=0) / max(is_own.sum(), 1)
            others = unit[~is_own].sum(axis=0) / max((~is_own).sum(), 1)
            scores = np.sqrt(np.maximum(row[candidates], 0)) * np.maximum(glosses @ (centre - others), 0)
            described.append(self._best([words[i] for i in candidates], scores))
        return described


def _scores(table: Array, totals: Array, sense: int) -> Floats:
    """Return the log-likelihood ratios of a sense, or the counts if there is no other sense."""
    counts, total = table[sense], int(totals[sense])
    others, others_total = table.sum(axis=0) - counts, int(totals.sum()) - total
    return log_likelihood_ratios(counts, total, others, others_total) if others_total else counts.astype(float)


def log_likelihood_ratios(counts: Array, total: int, others: Array, others_total: int) -> Floats:
    """Compute how much more often words occur in some usages than in others: Dunning's ratio, with a sign.

    Parameters
    ----------
    counts : ndarray of shape (words,), int
        Number of usages that contain each word.
    total : int
        Number of usages.
    others, others_total : ndarray of shape (words,), and int
        The same of the other usages.

    Returns
    -------
    ndarray of shape (words,), float64
        2 * sum(observed * log(observed / expected)) over the table of two by two; negative for words that are rarer
        than in the other usages.

    Examples
    --------
    >>> log_likelihood_ratios(np.array([10, 5]), 10, np.array([0, 5]), 10).round(2).tolist()
    [27.73, 0.0]
    """
    from scipy.special import xlogy  # imported here because it is slow

    observed = np.array([counts, total - counts, others, others_total - others], float)  # (4, words)
    rows = np.array([total, total, others_total, others_total], float)[:, None]
    both = observed[:2] + observed[2:]
    expected = rows * np.concatenate([both, both]) / (total + others_total)
    ratios = 2 * (xlogy(observed, observed) - xlogy(observed, expected)).sum(axis=0)
    is_rarer = counts * others_total < others * total
    return np.where(is_rarer, -1.0, 1.0) * np.maximum(ratios, 0)


def _own_words(usages: SenseUsages, lemmas: Mapping[str, str], language: str) -> set[str]:
    """Return the target word and its forms, with their lemmas."""
    forms = {usages.word, *(text[start:end] for text, (start, end) in zip(usages.sentences, usages.spans, strict=True))}
    own = {word for form in forms for word in split_words(form)}
    return own | {_lemma(word, lemmas, language) for word in own}


def _lemma(word: str, lemmas: Mapping[str, str], language: str) -> str:
    """Return the lemma of a word in lower case.

    In a language whose nouns are capitalised, a word that is a lemma itself stays as it is: German "garten" is a form
    of "garen", but "Garten" is its own lemma.

    >>> lemmas = {"garten": "garen", "Garten": "Garten", "Katzen": "Katze"}
    >>> [_lemma(word, lemmas, "de") for word in ("garten", "katzen", "kuchen")]
    ['garten', 'katze', 'kuchen']
    """
    forms = (word, word.capitalize()) if language in _CAPITALISED_NOUNS else (word,)
    form_lemmas = [lemmas[form].lower() for form in forms if form in lemmas]
    return word if word in form_lemmas or not form_lemmas else form_lemmas[0]


@cache
def _lemmas(language: str) -> Mapping[str, str]:
    """Return the lemma of each form, or nothing if simplemma is not installed or does not know the language."""
    try:
        return lemma_dictionary(language)
    except UserError:
        return {}

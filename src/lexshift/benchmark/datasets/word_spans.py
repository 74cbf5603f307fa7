"""Find the target word in sentences of data sets that do not say where it is."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from lexshift.corpus.example_targets import Word, WordForms, find_in_examples
from lexshift.corpus.language import FALLBACK, language_of_sentences


def find_words(sentences: Sequence[str], words: Sequence[str], forms: Sequence[str] = ()) -> list[tuple[int, int]]:
    """Return the span of a word in each sentence, or that of the whole sentence if the word is not found.

    Parameters
    ----------
    sentences : sequence of str, of length n
        In normal form, without line feeds, and not empty. Their language is detected.
    words : sequence of str, of length n
        The lemma to find in each sentence, in any of its forms.
    forms : sequence of str, of length n or 0
        A further form of each word; it may be empty.
    """
    if not sentences:
        return []
    word_forms = WordForms(language_of_sentences(pa.chunked_array([pa.array(sentences)])) or FALLBACK)
    word_forms.load(words)
    targets: list[list[Word]] = [
        [(word, "", (form,) if form else ())] for word, form in zip(words, forms or [""] * len(words), strict=True)
    ]
    spans = find_in_examples(sentences, targets, word_forms)
    return [span or (0, len(sentence)) for (span,), sentence in zip(spans, sentences, strict=True)]

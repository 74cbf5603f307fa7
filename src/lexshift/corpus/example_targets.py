"""Find the target word of each example of a dictionary, in any of its forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lexshift.corpus.decoding import BLOCK
from lexshift.corpus.language import base_code
from lexshift.corpus.scanner import scan_block
from lexshift.corpus.targets import LONGEST_FORM, Targets, lemma_dictionary
from lexshift.corpus.word_rule import word_table
from lexshift.errors import UserError

Word = tuple[str, str, tuple[str, ...]]
"""A lemma, its part of speech, and its known forms."""


class WordForms:
    """The forms of words in a language, from simplemma's dictionary if that is installed and has the language.

    Attributes
    ----------
    language : str
    has_lemmas : bool
        Whether forms other than the lemma are known.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        try:
            self._lemmas = lemma_dictionary(base_code(language))
            self.has_lemmas = True
        except UserError:
            self._lemmas, self.has_lemmas = {}, False
        self._forms: dict[str, list[str]] = {}

    def load(self, lemmas: Iterable[str]) -> None:
        """Look up the forms of lemmas and of the words of which they consist."""
        self._forms = {part: [] for lemma in lemmas for part in (lemma.lower(), *lemma.lower().split())}
        for form, lemma in self._lemmas.items():
            listed = self._forms.get(lemma.lower())
            if listed is not None:
                listed.append(form)

    def forms(self, lemma: str, pos: str, known_forms: Iterable[str] = ()) -> list[str]:
        """Return the forms of a lemma that can be searched for, the lemma first.

        In a lemma of several words, the first one of a verb is inflected ("took part") and the last one of a noun
        ("bus stops"); either is if the part of speech is not given. ``known_forms`` are further forms of the lemma.
        """
        forms = [lemma, *known_forms, *self._forms.get(lemma.lower(), ())]
        first, *rest = lemma.split()
        if rest:
            *start, last = first, *rest
            if pos in ("VERB", ""):
                forms += [" ".join([form, *rest]) for form in self._forms.get(first.lower(), ())]
            if pos in ("NOUN", ""):
                forms += [" ".join([*start, form]) for form in self._forms.get(last.lower(), ())]
        searchable = dict.fromkeys(map(_strip_signs, forms))
        return [form for form in searchable if 0 < len(form) <= LONGEST_FORM]


def _strip_signs(form: str) -> str:
    """Return a form from its first letter or digit on, as that is where the search begins."""
    table = word_table()
    return form[next((i for i, character in enumerate(form) if table[ord(character)]), len(form)) :]


def find_in_examples(
    sentences: Sequence[str], words: Sequence[Sequence[Word]], word_forms: WordForms
) -> list[list[tuple[int, int] | None]]:
    """Find the first occurrence of each word in its sentence.

    Parameters
    ----------
    sentences : sequence of str
        In normal form, without line feeds.
    words : sequence of sequence of Word
        The words to find in each sentence.
    word_forms : WordForms
        The forms of the words, which must be loaded.

    Returns
    -------
    list of list of (int, int) or None
        For each word of each sentence, its start and end in characters; None if it does not occur.
    """
    numbers: dict[Word, int] = {}
    for sentence_words in words:
        for word in sentence_words:
            numbers.setdefault(word, len(numbers))
    # The names of the targets are their numbers: a lemma has other forms as a noun than as a verb.
    targets = Targets({str(number): tuple(word_forms.forms(*word)) for word, number in numbers.items()})
    candidates: list[dict[int, list[str | None]]] = []
    for each_candidates in targets.first_words.values():
        forms: dict[int, list[str | None]] = {}
        for candidate in each_candidates:
            forms.setdefault(candidate.target, []).append(candidate.form)
        candidates.append(forms)
    results: list[list[tuple[int, int] | None]] = []
    for begin, end in _batches(sentences):
        spans: list[dict[int, tuple[int, int]]] = [{} for _ in range(begin, end)]
        goals = [[numbers[word] for word in sentence_words] for sentence_words in words[begin:end]]
        data = "\n".join(sentences[begin:end]).encode()
        hits, _ = scan_block(data, targets)
        for number, line, line_start, _, start, stop in hits.tolist():
            for target in goals[line]:
                forms_here = candidates[number].get(target)
                if forms_here is None:
                    continue
                first = len(data[line_start:start].decode())
                span = spans[line].get(target)
                if span is not None and span[0] != first:
                    continue
                last = first + len(data[start:stop].decode())
                text = sentences[begin + line]
                for form in forms_here:
                    length = last - first if form is None else _extent(targets, form, text, first)
                    if length is not None and (span is None or first + length > span[1]):
                        span = spans[line][target] = first, first + length
        results += [
            [line_spans.get(goal) for goal in line_goals] for line_spans, line_goals in zip(spans, goals, strict=True)
        ]
    return results


def _extent(targets: Targets, form: str, text: str, first: int) -> int | None:
    """Return the number of characters of a form that begins at a position of a text; None if it does not."""
    return targets.extent(form, text[first : first + 2 * LONGEST_FORM])


def _batches(sentences: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of batches of sentences that have about BLOCK characters together."""
    begin = size = 0
    for end, sentence in enumerate(sentences, 1):
        size += len(sentence)
        if size >= BLOCK or end == len(sentences):
            yield begin, end
            begin, size = end, 0

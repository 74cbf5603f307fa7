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
"""A lemma, its part of speech, and forms that are known for it."""


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

    def forms(self, lemma: str, pos: str, known: Iterable[str] = ()) -> list[str]:
        """Return the forms in which a lemma occurs, those that can be looked for.

        In a lemma of several words, the first one of a verb is inflected ("took part") and the last one of a noun
        ("bus stops"); either is if the part of speech is not given.
        """
        found = [lemma, *known, *self._forms.get(lemma.lower(), ())]
        first, *rest = lemma.split()
        if rest:
            *start, last = first, *rest
            if pos in ("VERB", ""):
                found += [" ".join([form, *rest]) for form in self._forms.get(first.lower(), ())]
            if pos in ("NOUN", ""):
                found += [" ".join([*start, form]) for form in self._forms.get(last.lower(), ())]
        begun = dict.fromkeys(map(_strip_signs, found))
        return [form for form in begun if 0 < len(form) <= LONGEST_FORM]


def _strip_signs(form: str) -> str:
    """Return a form from its first letter or digit on, as that is where the search begins."""
    table = word_table()
    return form[next((i for i, character in enumerate(form) if table[ord(character)]), len(form)) :]


def find_in_examples(
    sentences: Sequence[str], wanted: Sequence[Sequence[Word]], words: WordForms
) -> list[list[tuple[int, int] | None]]:
    """Return the first place of each wanted word in each sentence, in characters, or None where it is not found.

    Parameters
    ----------
    sentences : sequence of str
        In normal form, without line feeds.
    wanted : sequence of sequence of Word
        The words to find in each sentence.
    words : WordForms
    """
    numbers: dict[Word, int] = {}
    for each in wanted:
        for word in each:
            numbers.setdefault(word, len(numbers))
    # The names of the targets are their numbers: a lemma has other forms as a noun than as a verb.
    targets = Targets({str(number): tuple(words.forms(*word)) for word, number in numbers.items()})
    candidates: list[dict[int, list[str | None]]] = []
    for each_candidates in targets.first_words.values():
        forms: dict[int, list[str | None]] = {}
        for candidate in each_candidates:
            forms.setdefault(candidate.target, []).append(candidate.form)
        candidates.append(forms)
    results: list[list[tuple[int, int] | None]] = []
    for begin, end in _batches(sentences):
        spans: list[dict[int, tuple[int, int]]] = [{} for _ in range(begin, end)]
        goals = [[numbers[word] for word in each] for each in wanted[begin:end]]
        data = "\n".join(sentences[begin:end]).encode()
        hits, _ = scan_block(data, targets)
        for number, line, line_start, _, start, stop in hits.tolist():
            for target in goals[line]:
                forms_here = candidates[number].get(target)
                if forms_here is None:
                    continue
                first = len(data[line_start:start].decode())
                known = spans[line].get(target)
                if known is not None and known[0] != first:
                    continue
                last = first + len(data[start:stop].decode())
                text = sentences[begin + line]
                for form in forms_here:
                    length = last - first if form is None else _extent(targets, form, text, first)
                    if length is not None and (known is None or first + length > known[1]):
                        known = spans[line][target] = first, first + length
        results += [[span.get(goal) for goal in goal_list] for span, goal_list in zip(spans, goals, strict=True)]
    return results


def _extent(targets: Targets, form: str, text: str, first: int) -> int | None:
    """Return the number of characters that a form takes up in a text from a position on; None if it is not there."""
    return targets.extent(form, text[first : first + 2 * LONGEST_FORM])


def _batches(sentences: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of runs of sentences that have about BLOCK characters together."""
    begin = size = 0
    for end, sentence in enumerate(sentences, 1):
        size += len(sentence)
        if size >= BLOCK or end == len(sentences):
            yield begin, end
            begin, size = end, 0

"""Define dictionaries: words with their senses, and for each sense a gloss and usages of the word in that sense.

:func:`~lexshift.corpus.dictionary_reader.read_dictionary` reads one from files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from lexshift.corpus.example_targets import WordForms, find_in_examples
from lexshift.corpus.language import UNKNOWN, detect_language
from lexshift.corpus.normal_form import normalise
from lexshift.corpus.sources import AUTO, Tally
from lexshift.errors import UserError

LONGEST_SENTENCE = 20_000
"""Characters of a sentence or gloss; longer ones are refused, as they are a sign of a damaged file."""
HELD_OUT = "usages in sentences that are held out"
NOT_FOUND = "examples in which the word was not found"
DAMAGED = "damaged lines"
_POS = {
    **dict.fromkeys(("n", "noun"), "NOUN"),
    **dict.fromkeys(("v", "verb"), "VERB"),
    **dict.fromkeys(("a", "s", "adj", "adjective"), "ADJ"),
    **dict.fromkeys(("r", "adv", "adverb"), "ADV"),
}
_SEPARATORS = re.compile(r"[\W_]+")
_SAMPLE = 1 << 16  # characters of which the language is detected


class SenseUsage(NamedTuple):
    """A sentence, and the character offsets of the word in it: ``sentence[start:end]``.

    Examples
    --------
    >>> usage = SenseUsage("They sat on the bank.", 16, 20)
    >>> usage.sentence[usage.start : usage.end]
    'bank'
    """

    sentence: str
    start: int
    end: int


@dataclass
class Sense:
    """A sense of a word.

    Attributes
    ----------
    sense : str
        The identifier of the sense. Wordnets use that of the synset, which synonyms share.
    gloss : str or None
        The definition.
    usages : list of SenseUsage
        In the order of the source.
    """

    sense: str
    gloss: str | None = None
    usages: list[SenseUsage] = field(default_factory=list)


@dataclass
class Entry:
    """A word with its senses.

    Attributes
    ----------
    lemma : str
    pos : str
        The part of speech: NOUN, VERB, ADJ or ADV, another name as the source gives it, or empty if it gives none.
    language : str
        ISO code.
    senses : list of Sense
        In the order of the source.
    """

    lemma: str
    pos: str
    language: str
    senses: list[Sense] = field(default_factory=list)


@dataclass
class Dictionary:
    """The entries of a dictionary, and counts of what was read.

    Attributes
    ----------
    entries : list of Entry
        In the order of the source; each lemma, part of speech and language once.
    records : int
        Number of records that were read: rows, sentences or synsets.
    tally : Tally
        Files with their checksums, and what was skipped, by reason, in ``tally.skipped``.
    """

    entries: list[Entry]
    records: int
    tally: Tally

    @property
    def n_senses(self) -> int:
        """The number of senses of all entries."""
        return sum(len(entry.senses) for entry in self.entries)

    @property
    def n_glosses(self) -> int:
        """The number of senses that have a gloss."""
        return sum(sense.gloss is not None for entry in self.entries for sense in entry.senses)

    @property
    def n_usages(self) -> int:
        """The number of usages of all senses."""
        return sum(len(sense.usages) for entry in self.entries for sense in entry.senses)

    def without(self, hashes: Collection[int]) -> Dictionary:
        """Return the dictionary without the usages in certain sentences, to keep these for an evaluation.

        The usages that are left out are counted in ``tally.skipped``. Glosses stay. A sense without a gloss that loses
        its last usage is removed, and so is an entry without senses.

        Parameters
        ----------
        hashes : set of int
            Hashes of sentences, by :func:`sentence_hash`.

        Examples
        --------
        >>> usage = SenseUsage("They sat on the bank.", 16, 20)
        >>> dictionary = Dictionary([Entry("bank", "NOUN", "en", [Sense("1", "a slope", [usage])])], 1, Tally())
        >>> rest = dictionary.without({sentence_hash("they sat on the bank")})
        >>> rest.n_usages, rest.n_glosses, dict(rest.tally.skipped)
        (0, 1, {'usages in sentences that are held out': 1})
        """
        is_listed: dict[str, bool] = {}  # a sentence may have many labelled words

        def is_held_out(sentence: str) -> bool:
            if sentence not in is_listed:
                is_listed[sentence] = sentence_hash(sentence) in hashes
            return is_listed[sentence]

        entries = []
        for entry in self.entries:
            senses = [
                replace(sense, usages=[usage for usage in sense.usages if not is_held_out(usage.sentence)])
                for sense in entry.senses
            ]
            kept = [
                new
                for old, new in zip(entry.senses, senses, strict=True)
                if new.usages or new.gloss is not None or not old.usages
            ]
            if kept:
                entries.append(replace(entry, senses=kept))
        rest = Dictionary(entries, self.records, deepcopy(self.tally))
        removed = self.n_usages - rest.n_usages
        if removed:
            rest.tally.skipped[HELD_OUT] += removed
        return rest


def normalise_sentence(text: str) -> str:
    r"""Return the letters and digits of a sentence, whatever their case.

    Sentences that differ only in spaces, punctuation and case become the same.

    Examples
    --------
    >>> normalise_sentence("The CAFÉ , in 1990 !") == normalise_sentence("the cafe\u0301, in 1990!")
    True
    """
    return _SEPARATORS.sub("", normalise(text).casefold())


def sentence_hash(text: str) -> int:
    """Return a 64-bit hash (BLAKE2b) of a sentence after :func:`normalise_sentence`.

    Examples
    --------
    >>> sentence_hash("A mouse ran.") == sentence_hash("a mouse ran")
    True
    """
    return int.from_bytes(hashlib.blake2b(normalise_sentence(text).encode(), digest_size=8).digest(), "big")


class _Example(NamedTuple):
    """An example whose target word is still to be found, for each sense that it may illustrate.

    ``places`` has the entry, the sense, the index of the usage in the sense, and further forms of the word.
    """

    sentence: str
    places: list[tuple[Entry, Sense, int, tuple[str, ...]]]


class DictionaryBuilder:
    """Collect the senses of a dictionary record by record, then find the target words of the examples.

    Parameters
    ----------
    language : str
        ISO code of words for which the source names no language; "auto" detects it from the sentences.
    tally : Tally
    max_damaged : int
        Number of damaged lines that are skipped and counted before one is refused.
    """

    def __init__(self, language: str, tally: Tally, max_damaged: int = 0) -> None:
        self.tally = tally
        self.records = 0
        self._language = language
        self._max_damaged = max_damaged
        self._entries: dict[tuple[str, str, str], Entry] = {}
        self._senses: dict[tuple[int, str], Sense] = {}  # by the identity of the entry, and the name of the sense
        self._examples: list[_Example] = []

    def read(self, records: Iterable[Any], add: Callable[[Any], None]) -> None:
        """Give each record to a function, and count those that are damaged.

        A record that is a UserError is damaged, and so is one for which the function raises a UserError.
        """
        for record in records:
            self.records += 1
            try:
                if isinstance(record, UserError):
                    raise record
                add(record)
            except UserError:
                if self.tally.skipped[DAMAGED] >= self._max_damaged:
                    del self.tally.skipped[DAMAGED]
                    raise
                self.tally.skipped[DAMAGED] += 1

    def skip(self, reason: str) -> None:
        """Count something that is not used."""
        self.tally.skipped[reason] += 1

    def entry(self, lemma: str, pos: str, language: str | None = None) -> Entry:
        """Return the entry of a word, which is new or known."""
        key = lemma, _POS.get(pos.lower(), pos), language or self._language
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = Entry(*key)
        return entry

    def sense(self, entry: Entry, name: str, gloss: str | None = None) -> Sense:
        """Return a sense of an entry, which is new or known; the first gloss of a sense is used."""
        key = id(entry), name
        known_sense = self._senses.get(key)
        if known_sense is None:
            known_sense = self._senses[key] = Sense(name)
            entry.senses.append(known_sense)
        if known_sense.gloss is None:
            known_sense.gloss = gloss
        return known_sense

    def add_example(self, sentence: str, senses: Iterable[tuple[Entry, Sense, tuple[str, ...]]]) -> None:
        """Add an example of one or several senses, whose words are found by :meth:`build`.

        Parameters
        ----------
        sentence : str
            In normal form, on one line.
        senses : iterable of tuple
            Entries and senses, each with forms of the word beside those that are known for its language.
        """
        places = []
        for entry, sense, forms in senses:
            places.append((entry, sense, len(sense.usages), forms))
            sense.usages.append(SenseUsage(sentence, -1, -1))
        self._examples.append(_Example(sentence, places))

    def build(self) -> Dictionary:
        """Return the dictionary, once the words of all examples have been looked for."""
        entries = list(self._entries.values())
        if self._language == AUTO:
            self._detect_language(entries)
        by_language: dict[str, list[_Example]] = {}
        for example in self._examples:
            by_language.setdefault(example.places[0][0].language, []).append(example)
        for language, examples in by_language.items():
            self._find_words(examples, WordForms(language))
        changed = {id(sense): sense for example in self._examples for _, sense, _, _ in example.places}
        for sense in changed.values():
            sense.usages = [usage for usage in sense.usages if usage.end > 0]
        return Dictionary(entries, self.records, self.tally)

    def _detect_language(self, entries: list[Entry]) -> None:
        """Replace "auto" by the language that a sample of the sentences is in."""
        sentences = {
            usage.sentence: None
            for entry in entries
            if entry.language == AUTO
            for s in entry.senses
            for usage in s.usages
        }
        share = max(1, sum(map(len, sentences)) // _SAMPLE)
        language = detect_language("\n".join(list(sentences)[::share])) or UNKNOWN
        for entry in entries:
            entry.language = language if entry.language == AUTO else entry.language

    def _find_words(self, examples: list[_Example], word_forms: WordForms) -> None:
        """Replace the usages of examples by usages with the span of the word."""
        word_forms.load(entry.lemma for example in examples for entry, _, _, _ in example.places)
        words = [[(entry.lemma, entry.pos, forms) for entry, _, _, forms in example.places] for example in examples]
        spans_by_example = find_in_examples([example.sentence for example in examples], words, word_forms)
        for example, spans in zip(examples, spans_by_example, strict=True):
            for (_, sense, index, _), span in zip(example.places, spans, strict=True):
                if span is not None:
                    sense.usages[index] = SenseUsage(example.sentence, *span)
            if not any(spans):
                hint = "" if word_forms.has_lemmas else f" (no lemmas for the language {word_forms.language})"
                self.skip(NOT_FOUND + hint)

"""Find the words that appeared or disappeared among all words of two corpora, whether they are studied or not.

Such a word has the verdict of :func:`lexshift.study.verdict.presence`, too few occurrences in the other corpus to be
scored, and a frequency that differs beyond chance: an exact test, with the false discovery rate controlled over all
content words. It also occurs in several documents, and in enough different sentences. Words are ranked by the
log-likelihood ratio of Dunning (1993). Nothing is said about their meanings: a word also disappears if its spelling
changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.corpus.counting import WordCounts
from lexshift.corpus.occurrences import Occurrences
from lexshift.corpus.periods import count_end_periods, find_in_periods
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.segmentation import is_unsegmented
from lexshift.corpus.targets import Targets, folded_lemmas, read_targets
from lexshift.corpus.vocabulary import select_content_words
from lexshift.corpus.word_rule import rule
from lexshift.scoring.frequencies import compare_frequencies
from lexshift.scoring.significance import benjamini_hochberg
from lexshift.senses.distinctive_words import log_likelihood_ratios
from lexshift.senses.variety import choose_varied
from lexshift.study.control_usages import PrefixedMonitor
from lexshift.study.settings import ONCE, Settings
from lexshift.study.verdict import APPEARED, DISAPPEARED, MIN_PRESENT, presence
from lexshift.utils.monitor import Monitor, reading_stage

if TYPE_CHECKING:
    import pandas as pd

LISTED = 20
"""Maximum number of words of each verdict on screen and on the page; ``appeared.csv`` has all of them."""
MIN_DOCUMENTS = 3
"""Minimum number of documents in which a word occurs, or all documents of a corpus that has fewer."""
MAX_CAPITALS = 0.9
"""Share of capital letters inside sentences above which a word is a name.

It is higher than in a vocabulary, because a word that is often part of a name may disappear: "ghost" is mostly written
"Ghost" in a Bible that calls the Spirit so.
"""
_SAMPLE = 50  # occurrences of a word from which documents are counted and examples chosen
_EXAMPLES = 3
_SEPARATOR = " | "  # between the examples in a table
_COLUMNS = ("word", "verdict", "n_old", "n_new", "per_million_old", "per_million_new", "log_likelihood", "q")


@dataclass(frozen=True)
class Example:
    """A sentence in which a word occurs, with the position of the word, the file and the line."""

    sentence: str
    start: int
    end: int
    file: str
    line: int


@dataclass(frozen=True)
class AppearedWord:
    """A word that appeared or disappeared.

    Attributes
    ----------
    word : str
    verdict : "appeared" or "disappeared"
    counts : (int, int)
        Number of occurrences in the old and the new corpus.
    log_likelihood : float
        Log-likelihood ratio of its frequencies.
    q : float
        The p of the test of equal frequencies, adjusted for the number of words.
    documents : int
        Number of documents in a sample of at most 50 of its occurrences.
    examples : tuple of Example
        Sentences of the corpus in which it is frequent, none of which nearly repeats another one.
    """

    word: str
    verdict: str
    counts: tuple[int, int]
    log_likelihood: float
    q: float
    documents: int = 0
    examples: tuple[Example, ...] = ()

    @property
    def side(self) -> int:
        """0 if the word is frequent in the old corpus, 1 if it is frequent in the new one."""
        return int(self.verdict == APPEARED)


@dataclass(frozen=True)
class AppearedWords:
    """The words that appeared or disappeared, those with the highest log-likelihood ratio first.

    Attributes
    ----------
    words : tuple of AppearedWord
    tested : int
        Number of words that were tested.
    sizes : (int, int)
        Number of running words of the old and the new corpus.
    """

    words: tuple[AppearedWord, ...]
    tested: int
    sizes: tuple[int, int]

    def select(self, verdict: str) -> list[AppearedWord]:
        """Return the words with a verdict."""
        return [word for word in self.words if word.verdict == verdict]

    def headline(self) -> str | None:
        """Return the numbers of words and the first of them in a sentence, or None if there are none.

        >>> ghost = AppearedWord("ghost", "disappeared", (109, 2), 130.2, 1e-26)
        >>> AppearedWords((ghost,), 3_000, (820_000, 790_000)).headline()
        'Of all words in the corpora, 1 disappeared: ghost'
        """
        phrases = []
        for verdict in (APPEARED, DISAPPEARED):
            words = [word.word for word in self.select(verdict)]
            if words:
                among = "among them " if len(words) > LISTED else ""
                phrases.append(f"{len(words):,} {verdict}: {among}{', '.join(words[:LISTED])}")
        return f"Of all words in the corpora, {'; '.join(phrases)}" if phrases else None

    def table(self) -> pd.DataFrame:
        """Return a row for each word.

        Columns: word, verdict, n_old, n_new (occurrences), per_million_old, per_million_new (frequencies),
        log_likelihood, q, documents, examples (sentences, separated by " | ").
        """
        import pandas as pd

        rows = [
            (
                *(word.word, word.verdict, *word.counts),
                *(1e6 * n / size for n, size in zip(word.counts, self.sizes, strict=True)),
                *(word.log_likelihood, word.q, word.documents),
                _SEPARATOR.join(example.sentence for example in word.examples),
            )
            for word in self.words
        ]
        return pd.DataFrame(rows, columns=[*_COLUMNS, "documents", "examples"])

    def record(self) -> dict[str, Any]:
        """Return the entry of ``run.json``: the number of tested words, and the number and the first of each kind."""
        record: dict[str, Any] = {"tested": self.tested}
        for verdict in (APPEARED, DISAPPEARED):
            words = self.select(verdict)
            record[verdict] = {"words": len(words), "first": {word.word: list(word.counts) for word in words[:LISTED]}}
        return record


def find_appeared_words(
    reader: CorpusReader, counts: Sequence[WordCounts] | None, settings: Settings, language: str | None
) -> AppearedWords | None:
    """Find the words that appeared or disappeared between the first and the last corpus or period.

    Parameters
    ----------
    reader : CorpusReader
        Reader of the corpora.
    counts : sequence of WordCounts, optional
        The words of the first and of the last corpus; None if they were not counted.
    settings : Settings
        Its ``alpha``, ``duplicates``, ``match``, ``min_usages`` and ``names``.
    language : str, optional
        ISO code of the language of the last corpus.

    Returns
    -------
    AppearedWords or None
        None if words were not counted, if there is only one period, or if the text is not segmented into words.
    """
    if counts is None or (settings.match != "token" and is_unsegmented([corpus.counts for corpus in counts])):
        return None
    monitor = PrefixedMonitor(reader.monitor, "appeared words")
    ends = dict(zip(list(reader.corpora)[:: max(1, len(reader.corpora) - 1)], counts, strict=True))
    if reader.by is not None:
        ((corpus, path),) = reader.corpora.items()
        progress = reading_stage(monitor, f"counting {corpus}")
        ends = count_end_periods(path, rule(reader.match), reader.by, reader.readings[corpus], progress)
    if len(ends) != 2:
        return None
    rules = reader.dictionary_language
    candidates = find_candidates(list(ends.values()), settings, language, rules)
    if not candidates.words:
        return candidates
    targets = read_targets([word.word for word in candidates.words], reader.match, rules)
    samples = list(_scan(reader, targets, list(ends), monitor).values())
    words = _add_examples(candidates.words, samples, settings.duplicates == ONCE)
    return replace(candidates, words=tuple(words))


def _scan(reader: CorpusReader, targets: Targets, ends: Sequence[str], monitor: Monitor) -> dict[str, Occurrences]:
    """Return a sample of the occurrences of words in the first and the last corpus or period."""
    if reader.by is None:
        sampling = {"max_per_word": _SAMPLE, "seed": 0, "shared": True}
        corpora = {corpus: reader.corpora[corpus] for corpus in ends}
        return replace(reader, corpora=corpora, sampling=sampling, monitor=monitor).scan(targets)
    ((corpus, path),) = reader.corpora.items()
    progress, reading = reading_stage(monitor, f"reading {corpus}"), reader.readings[corpus]
    return find_in_periods(path, targets, reader.by, reading, _SAMPLE, 0, progress, shared=True, only=ends)


def find_candidates(
    counts: Sequence[WordCounts], settings: Settings, language: str | None, lemma_language: str | None
) -> AppearedWords:
    """Find the words whose numbers of occurrences are those of a word that appeared or disappeared.

    Only words that occur at least ``MIN_PRESENT`` times in both corpora together are tested. The test is conditional on
    this number, so the selection does not affect it.

    Parameters
    ----------
    counts, settings, language
        As for :func:`find_appeared_words`.
    lemma_language : str, optional
        ISO code of the language whose lemmas are counted if words are matched by lemma; None if files have lemmas.
    """
    lemmas = folded_lemmas(lemma_language) if settings.match == "lemma" and lemma_language else None
    entries = select_content_words(
        counts, MIN_PRESENT, settings.names, lemmas, language, settings.match, max_capitals=MAX_CAPITALS
    )
    old_size, new_size = (corpus.total for corpus in counts)
    if not entries:
        return AppearedWords((), 0, (old_size, new_size))
    old, new = np.array([entry.counts for entry in entries], np.int64).T  # (words,) each
    q = benjamini_hochberg(compare_frequencies(old, old_size, new, new_size))
    ratios = np.abs(log_likelihood_ratios(old, old_size, new, new_size))
    words = []
    for i in np.flatnonzero((q <= settings.alpha) & (np.minimum(old, new) < settings.min_usages)).tolist():
        numbers = int(old[i]), int(new[i])
        verdict = presence(numbers, (old_size, new_size))
        if verdict is not None and entries[i].word.isprintable():  # tokens may have control characters
            words.append(AppearedWord(entries[i].word, verdict, numbers, float(ratios[i]), float(q[i])))
    return AppearedWords(tuple(sorted(words, key=_rank)), len(entries), (old_size, new_size))


def _rank(word: AppearedWord) -> tuple[float, str]:
    return -word.log_likelihood, word.word


def _add_examples(words: Sequence[AppearedWord], samples: Sequence[Occurrences], once: bool) -> list[AppearedWord]:
    """Select the words with enough documents and sentences in the corpus in which they are frequent; add examples.

    Parameters
    ----------
    words : sequence of AppearedWord
    samples : sequence of Occurrences
        Samples of their occurrences in the old and the new corpus.
    once : bool
        Whether identical sentences count once.
    """
    usages = [_usages_by_word(sample, len(words)) for sample in samples]
    min_documents = []
    for sample, corpus_usages in zip(samples, usages, strict=True):
        n_corpus_documents = len({document for word_usages in corpus_usages for document, _ in word_usages})
        min_documents.append(min(MIN_DOCUMENTS, max(n_corpus_documents, sample.tally.files)))
    chosen = []
    for i, word in enumerate(words):
        word_usages = usages[word.side][i]
        n_documents = len({document for document, _ in word_usages})
        distinct = {(example.sentence, example.start) for _, example in word_usages}
        n_sentences = len(distinct) if once else len(word_usages)
        if n_documents >= min_documents[word.side] and n_sentences >= MIN_PRESENT:
            chosen.append(replace(word, documents=n_documents, examples=_choose_examples(word_usages)))
    return chosen


def _usages_by_word(sample: Occurrences, n_words: int) -> list[list[tuple[str, Example]]]:
    """Return the usages of each word with their documents, in a random order."""
    usages: list[list[tuple[str, Example]]] = [[] for _ in range(n_words)]
    names = ("target", "file", "line", "sentence", "start", "end", "document")
    table = sample.table.sort_by([("target", "ascending"), ("priority", "ascending")])
    columns = (table[name].to_pylist() for name in names)
    for target, file, line, sentence, start, end, document in zip(*columns, strict=True):
        usages[target].append((file if document is None else document, Example(sentence, start, end, file, line)))
    return usages


def _choose_examples(usages: Sequence[tuple[str, Example]]) -> tuple[Example, ...]:
    """Choose examples that do not nearly repeat each other, from different documents if possible."""
    usage_counts: dict[str, int] = {}  # number of earlier usages in each document
    order = []
    for i, (document, _) in enumerate(usages):
        usage_counts[document] = usage_counts.get(document, -1) + 1
        order.append((usage_counts[document], i))
    sentences = [example.sentence for _, example in usages]
    return tuple(usages[i][1] for i in choose_varied(sentences, [i for _, i in sorted(order)], _EXAMPLES).tolist())

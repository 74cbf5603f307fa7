"""Look for words in corpora of moderate size before an encoder is loaded, which takes seconds.

The corpora are read once more by the run itself, so large ones are left to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexshift.corpus import Occurrences, Targets
from lexshift.corpus.lemmas import frequent_tags
from lexshift.corpus.preview import count_quickly, may_occur
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.segmentation import advice
from lexshift.corpus.sources import STANDARD_INPUT, find_sources
from lexshift.corpus.spelling import describe_suggestions, suggest_spellings
from lexshift.corpus.targets import split_tag
from lexshift.errors import UserError
from lexshift.store.format import INDEX
from lexshift.store.siblings import Siblings

MOST_TEXT = 64_000_000
"""Number of bytes of plain text that is searched beforehand, in less than a second."""
MOST_RECORDS = 8_000_000
"""Number of bytes of corpora in other formats, which are slower to read, that are searched beforehand."""


def is_plain_text(reader: CorpusReader) -> bool:
    """Return whether all corpora are plain text, as one period each."""
    sources = (source for corpus in reader.corpora.values() for source in find_sources(corpus))
    return all(source.kind == "text" for source in sources) and reader.by is None


def is_quick_to_read(reader: CorpusReader) -> bool:
    """Return whether the corpora can be read once more in about a second."""
    size, most = 0, MOST_TEXT
    for source in (source for corpus in reader.corpora.values() for source in find_sources(corpus)):
        if source.path == STANDARD_INPUT:
            return False
        size += source.size
        most = most if source.kind == "text" else MOST_RECORDS
    return size <= most


def search_early(reader: CorpusReader, targets: Targets, folder: Path | None, missing: str) -> list[str]:
    """Raise the error of a run whose words do not occur in its corpora.

    Parameters
    ----------
    reader : CorpusReader
        Reader of the corpora; they must be quick to read.
    targets : Targets
    folder : Path, optional
        The folder of the store, which may hold usages of some of the words.
    missing : "error" or "skip"
        "error": each word must occur; "skip": at least one of them.

    Returns
    -------
    list of str
        The corpora or periods that were read.
    """
    stored: set[str] = set()
    if folder is not None and (folder / INDEX).exists():
        stored = set(Siblings(folder).words)
    sought = [word for word in targets.words if word not in stored]
    is_needed = bool(sought) and (missing == "error" or len(sought) == len(targets.words))
    is_seen = not is_plain_text(reader) or may_occur(reader.corpora, reader.readings, reader.match, targets)
    if is_needed and not is_seen:
        raise AbsenceError(sought, reader.match, missing, _suggest(reader, targets))
    occurrences = replace(reader, sampling={"max_per_word": 1, "seed": 0}).scan(targets)
    absent = [word for word in find_absent(targets.words, occurrences) if word not in stored]
    if absent and (missing == "error" or len(absent) == len(targets.words)):
        with explain_absence(reader):
            raise AbsenceError(absent, reader.match, missing, _suggest(reader, targets))
    return list(occurrences)


def find_absent(words: Iterable[str], occurrences: Mapping[str, Occurrences]) -> list[str]:
    """Return the words that occur in no corpus.

    Parameters
    ----------
    words : iterable of str
        All words that were sought.
    occurrences : mapping of str to Occurrences
        Their occurrences, by the label of the corpus.
    """
    n_found = np.sum([corpus.found for corpus in occurrences.values()], axis=0)
    return [word for word, n in zip(words, n_found.tolist(), strict=True) if not n]


def _suggest(reader: CorpusReader, targets: Targets) -> str:
    """Return a question about the spelling of words that do not occur in small corpora of plain text."""
    size = sum(source.size for corpus in reader.corpora.values() for source in find_sources(corpus))
    if size > MOST_RECORDS or not is_plain_text(reader) or reader.match == "lemma":
        return ""
    counts = [count_quickly(corpus, reader.readings[label]) for label, corpus in reader.corpora.items()]
    return describe_suggestions(suggest_spellings(targets, counts))


class AbsenceError(UserError):
    """The error for words that occur in no corpus.

    Parameters
    ----------
    words : sequence of str
        The words that do not occur.
    match : str
    missing : "error" or "skip"
        "error" for some of the words that were sought, "skip" for all of them.
    question : str
        A question about their spelling; it may be empty.
    tags : sequence of str
        Frequent parts of speech of the corpora, for words that have one.
    """

    def __init__(
        self, words: Sequence[str], match: str, missing: str, question: str = "", tags: Sequence[str] = ()
    ) -> None:
        self.words, self.match, self.missing, self.question, self.tags = words, match, missing, question, tags
        help_text = advice(words, match) + (f" ({question})" if question else "")
        if tags:
            help_text += (
                f", and the part of speech: the most frequent ones in the corpora are {', '.join(map(repr, tags))} (if "
                f"these are something else, name the columns of .vert files with --columns)"
            )
        text = f"none of the words occurs in the corpora (match: {match}): {name_some(words)}; {help_text}"
        if missing == "error":
            text = (
                f"{name_some(words)} never {'occurs' if len(words) == 1 else 'occur'} in the corpora (match: {match}): "
                f"{help_text}, or skip missing words (--missing skip)"
            )
        super().__init__(text)


@contextmanager
def explain_absence(reader: CorpusReader) -> Iterator[None]:
    """Add the parts of speech of the corpora to the error for absent words that have one."""
    try:
        yield
    except AbsenceError as error:
        if error.tags or not any(split_tag(word, error.match)[1] for word in error.words):
            raise
        tags = frequent_tags(reader.corpora, reader.readings)
        raise AbsenceError(error.words, error.match, error.missing, error.question, tags) from None


def name_some(words: Sequence[str]) -> str:
    """Return the first five words, and the number of the others."""
    return ", ".join(map(repr, words[:5])) + (f" and {len(words) - 5} more" if len(words) > 5 else "")

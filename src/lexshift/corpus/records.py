"""Define a record, the unit in which tables and documents with markup are read: a text with what is known about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Token(NamedTuple):
    """A word of a record that the file annotates.

    Attributes
    ----------
    start, end : int
        Span in the text of the record, in characters.
    lemma, tag : str
        Dictionary form and part of speech; empty if the file does not give them.
    """

    start: int
    end: int
    lemma: str = ""
    tag: str = ""


class Columns(NamedTuple):
    """The texts of some records of a file, and what is known about them, column by column.

    Attributes
    ----------
    rows : list of int
        Number of each record, row or line in its file, from 1.
    texts : list of str
        The texts; missing ones are left out.
    dates, documents, groups : list
        Date, name of the document and group of each record; None if they are not known.
    tokens : list
        The annotated words of each record, or None; either all records have some, or none has.
    """

    rows: list[int]
    texts: list[str]
    dates: list[Any]
    documents: list[Any]
    groups: list[Any]
    tokens: list[Any]

    @classmethod
    def empty(cls) -> Columns:
        """Return columns without a record."""
        return cls([], [], [], [], [], [])

    def extend(self, more: Columns) -> None:
        """Add the records of other columns."""
        for values, others in zip(self, more, strict=True):
            assert isinstance(values, list)
            assert isinstance(others, list)
            values.extend(others)

    @property
    def is_annotated(self) -> bool:
        """True if the records have annotated words."""
        return bool(self.tokens and self.tokens[0])


class Record(NamedTuple):
    """A text of a file, such as a row of a table or a paragraph of a document.

    Attributes
    ----------
    row : int
        Number of the record, row or line in its file, from 1.
    text : str or None
        The text; anything else counts as a record without a text.
    date, document, group : object
        Date, name of the document, and group of the record; None if they are not known.
    tokens : sequence of Token, optional
        The annotated words in their order. The text of a record with tokens is in normal form (see
        :func:`lexshift.corpus.normal_form.normalise`) and contains no line breaks, so that the spans are valid.
    """

    row: int
    text: Any
    date: Any = None
    document: Any = None
    group: Any = None
    tokens: Sequence[Token] | None = None

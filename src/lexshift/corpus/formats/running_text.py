"""Collect the running text of a document from the tags and characters of its markup.

The elements of TEI that hold text, such as paragraphs, sentences and lines of verse, become records; all other elements
are transparent, except for those that are not part of the text: headers, notes, running titles and deletions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.entities import html5

from lexshift.corpus.normal_form import SOFT_HYPHEN, normalise
from lexshift.corpus.records import Record, Token
from lexshift.errors import UserError

UNITS = frozenset({"p", "s", "l", "ab", "u"})
"""Elements whose text is read: paragraphs, sentences, lines of verse, other blocks, and utterances."""
_HEADER, _COLLECTION = "teiHeader", "teiCorpus"
_LEFT_OUT = frozenset({"note", "fw", "del"})  # notes of an editor, running titles, deleted text
_REPLACED = frozenset({"orig", "sic", "abbr"})  # within <choice>, the regular form is read
_BREAKS = frozenset({"lb", "pb", "cb", "gb", "milestone"})
_WORDS = frozenset({"w", "pc"})
_LONGEST = 1 << 24  # characters of a record; a longer text is divided
_DEEPEST = 1_000  # nested elements
_LONGEST_TITLE = 1_000  # characters of a title or a date
_NAMES = 1_000  # different elements that are counted for an error message
_SPACE = re.compile(r"[\t\r\n][ \t\r\n]*| [ \t\r\n]+")  # white space other than a single space
_SOFT_BREAK = re.compile(f"{SOFT_HYPHEN}[ \t\r\n]+")
_CLOSING, _OPENING = frozenset(".,;:!?)]}»”’…%"), frozenset("([{«“„‚")
_TAG = re.compile(r"(?:^|\|)UPosTag=([^|]+)")
_DATE_PLACES = ("creation", "sourceDesc", "publicationStmt")  # the date of the text comes before that of the file
_DATE_ATTRIBUTES = ("when", "when-iso", "from", "notBefore", "to", "notAfter")


def check_depth(depth: int, path: str) -> None:
    """Raise an error if elements are nested too deeply."""
    if depth == _DEEPEST:
        raise UserError(f"the file {path!r} has more than {_DEEPEST:,} nested elements")


def entity_text(name: str, value: str | None) -> str | None:
    """Return the text of an entity: its value if the document declares one, or else its meaning in HTML, or None."""
    return html5.get(f"{name};") if value is None else value


@dataclass
class _Word:
    """An annotated word or punctuation mark: its span in the characters collected so far, and its attributes."""

    start: int
    end: int
    lemma: str
    tag: str
    joins_left: bool
    joins_right: bool
    is_mark: bool


@dataclass
class _Header:
    """The title and the dates that a header gives for its text."""

    title: str = ""
    dates: dict[str, str] = field(default_factory=dict)

    @property
    def date(self) -> str | None:
        return next((self.dates[place] for place in _DATE_PLACES if place in self.dates), None)


class TextCollector:
    """Collect records from the tags and characters of a document.

    Attributes
    ----------
    elements : Counter
        Number of elements that directly contain text, by name.
    skipped : Counter
        Number of elements and references that were left out, by the reason.
    """

    def __init__(self, path: str, name: str) -> None:
        self.elements: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self._path, self._name = path, name
        self._stack: list[tuple[str, bool]] = []  # name of each open element, and whether it is a unit
        self._units = self._ignored = self._n_records = self._n_texts = 0
        self._header: _Header | None = None  # the header that is open
        self._known = _Header()  # the last header
        self._parts: list[str] = []
        self._length = 0
        self._words: list[_Word] = []
        self._ready: list[Record] = []
        self._gathered = ""  # the text of a title or a date

    def records(self) -> Iterator[Record]:
        """Yield the records that are complete, and forget them."""
        ready, self._ready = self._ready, []
        return iter(ready)

    def start(self, name: str, attributes: Mapping[str, str], is_unit: bool) -> None:
        """Open an element; ``name`` has no namespace, and ``is_unit`` tells whether its text is read."""
        check_depth(len(self._stack), self._path)
        is_alternative = name in _REPLACED and bool(self._stack) and self._stack[-1][0] == "choice"
        self._stack.append((name, is_unit))
        if name == _HEADER:
            self._header = _Header()
            self._n_texts += 1
        elif self._header is not None:
            if name in ("title", "date"):
                self._gathered = ""
                value = next((attributes[key] for key in _DATE_ATTRIBUTES if key in attributes), "")
                if name == "date" and value:
                    self._add_date(value)
        elif self._ignored or name in _LEFT_OUT or is_alternative:
            self._ignored += 1
            if self._ignored == 1 and self._units and name == "note":
                self.skipped["notes in XML files, left out"] += 1
        elif is_unit:
            self._flush()
            self._units += 1
        elif self._units and name in _BREAKS and attributes.get("break") != "no":
            self._add(" ")
        elif self._units and name in _WORDS:
            self._words.append(_new_word(name, attributes, self._length))

    def end(self) -> None:
        """Close the innermost element."""
        name, is_unit = self._stack.pop()
        if self._header is not None:
            self._end_in_header(name)
        elif self._ignored:
            self._ignored -= 1
        elif is_unit:
            self._flush()
            self._units -= 1
        elif self._units and name in _WORDS and self._words:
            self._words[-1].end = self._length

    def data(self, text: str) -> None:
        """Add characters."""
        if self._header is not None:
            if self._stack[-1][0] in ("title", "date"):
                self._gathered = (self._gathered + text)[:_LONGEST_TITLE]
            return
        if self._units and not self._ignored:
            self._add(text)
            if self._length > _LONGEST:
                if self._words:
                    self._words[-1].end = max(self._words[-1].end, self._length if self._is_in_word() else 0)
                self._flush()
        elif self._stack and text.strip() and len(self.elements) < _NAMES:
            self.elements[self._stack[-1][0]] += 1

    def entity(self, name: str, value: str | None = None) -> None:
        """Add an entity: by its value if the document declares one, or else by its name in HTML."""
        text = entity_text(name, value)
        if text is None:
            self.skipped["references to entities that are not declared in the file, left out"] += 1
        else:
            self.data(text)

    def add_text(self, text: str) -> None:
        """Add a record of its own, such as the value of an attribute."""
        self._add(text)
        self._flush()

    def _end_in_header(self, name: str) -> None:
        header, text = self._header, _SPACE.sub(" ", self._gathered).strip()
        assert header is not None
        if name == _HEADER:
            self._known, self._header = header, None
        elif name == "title" and not header.title and any(each == "titleStmt" for each, _ in self._stack):
            header.title = text
        elif name == "date" and text:
            self._add_date(text)
        self._gathered = "" if name in ("title", "date") else self._gathered

    def _add_date(self, value: str) -> None:
        assert self._header is not None
        for name, _ in self._stack:
            if name in _DATE_PLACES:
                self._header.dates.setdefault(name, value.strip())

    def _is_in_word(self) -> bool:
        return any(name in _WORDS for name, _ in self._stack)

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _flush(self) -> None:
        """Make a record of the characters that were collected."""
        raw = "".join(self._parts)
        words, self._parts, self._length, self._words = self._words, [], 0, []
        tokens = None
        if words:
            text, tokens = _join_words(raw, words)
            if normalise(text) != text:  # a mark of the next token would combine with the last letter of this one
                text, tokens = normalise(text), None
                self.skipped["sentences whose annotation does not fit their text in Unicode normal form"] += 1
        else:
            text = _clean(raw).strip(" ")
        if text:
            self._n_records += 1
            self._ready.append(Record(self._n_records, text, self._known.date, self._document(), tokens=tokens or None))

    def _document(self) -> str | None:
        """Return a name of the current text that no text of another file has; None if the file is one text."""
        is_collection = bool(self._stack) and self._stack[0][0] == _COLLECTION
        where = f"{self._name}, text {self._n_texts}" if is_collection else self._name
        if self._known.title:
            return f"{self._known.title} ({where})"
        return where if is_collection else None


def _clean(text: str) -> str:
    """Return a text in normal form in which white space is a single space."""
    return _SPACE.sub(" ", normalise(_SOFT_BREAK.sub("", text)))


def _new_word(name: str, attributes: Mapping[str, str], start: int) -> _Word:
    joins = attributes.get("join", "")
    tag = attributes.get("pos") or attributes.get("upos") or ""
    if not tag and (match := _TAG.search(attributes.get("msd", ""))):
        tag = match[1]
    tag = tag or attributes.get("ana", "").removeprefix("#")
    return _Word(
        start,
        start,
        attributes.get("lemma") or attributes.get("hw") or "",
        tag,
        joins in ("left", "both"),
        joins in ("right", "both"),
        name == "pc",
    )


def _join_words(raw: str, words: list[_Word]) -> tuple[str, list[Token]]:
    """Return the text of annotated words, and their spans in it.

    White space with a line break before a closing or after an opening punctuation mark is indentation of the markup,
    not a part of the text.
    """
    pieces, tokens, length, at = [], list[Token](), 0, 0
    previous: _Word | None = None

    def add(piece: str) -> None:
        nonlocal length
        pieces.append(piece)
        length += len(piece)

    for word in words:
        gap = raw[at : word.start]
        form = _clean(raw[word.start : word.end])
        is_indentation = gap.isspace() and "\n" in gap
        joins = word.joins_left or (previous is not None and previous.joins_right)
        if is_indentation:
            joins |= word.is_mark and form.strip() != "" and set(form.strip()) <= _CLOSING
            before = "" if previous is None else pieces[-1].strip()
            joins |= previous is not None and previous.is_mark and before != "" and set(before) <= _OPENING
        if not (joins and (gap.isspace() or not gap)):
            space = _clean(gap)
            add(space.lstrip(" ") if length == 0 or pieces[-1].endswith(" ") else space)
        if length == 0 or pieces[-1].endswith(" "):
            form = form.lstrip(" ")
        bare = form.strip(" ")
        start = length + len(form) - len(form.lstrip(" "))
        if bare:
            tokens.append(Token(start, start + len(bare), normalise(word.lemma), word.tag))
        add(form)
        previous, at = word, max(at, word.end)
    rest = _clean(raw[at:])
    add(rest.lstrip(" ") if not length or pieces[-1].endswith(" ") else rest)
    return "".join(pieces).rstrip(" "), tokens

"""Read XML as a stream of records, TEI in particular, or as the elements that an XPath expression selects.

Entities are never expanded by the parser, external files are never opened, and the depth of elements and the length of
declared entities are limited, so that no file can make the reader use memory or time without a limit.
"""

from __future__ import annotations

import codecs
import io
import re
from collections import deque
from collections.abc import Iterator
from typing import IO, Any
from xml.parsers import expat

from lexshift.corpus.decoding import BLOCK
from lexshift.corpus.formats.running_text import UNITS, TextCollector, check_depth, entity_text
from lexshift.corpus.records import Record
from lexshift.corpus.sources import Reading, Source, Tally
from lexshift.errors import UserError, join_names

_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z][\w.:-]*)["']""")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WITHOUT_MARK = ((b"<\0?\0", "utf-16-le"), (b"\0<\0?", "utf-16-be"))
_LONGEST_ENTITY = 100  # characters of the value of a declared entity
_LARGEST_TREE = 1 << 28  # bytes of a file that is read with XPath, as a whole


def xml_records(stream: IO[bytes], source: Source, reading: Reading, tally: Tally) -> Iterator[Record]:
    """Yield the paragraphs, sentences and lines of verse of an XML file, or what ``reading.xpath`` selects."""
    collector = TextCollector(source.path, source.name)
    chunks = (
        _select(stream, source, reading, tally, collector)
        if reading.xpath
        else _parse(stream, source, reading, tally, collector)
    )
    n = 0
    for _ in chunks:
        for record in collector.records():
            n += 1
            yield record
    tally.skipped += collector.skipped
    if not n:
        raise _nothing_found(source, reading, collector)


def _nothing_found(source: Source, reading: Reading, collector: TextCollector) -> UserError:
    if reading.xpath:
        return UserError(f"the XPath expression {reading.xpath!r} selects no text in {source.path!r} (--xpath)")
    names = [name for name, _ in collector.elements.most_common(5)]
    hint = f"its text is in {join_names([f'<{name}>' for name in names], str)}" if names else "it contains no text"
    return UserError(
        f"the file {source.path!r} has no text in {join_names([f'<{name}>' for name in sorted(UNITS)], str)}; {hint}: "
        f"select its elements with --xpath, for example --xpath //{names[0] if names else 'text'}"
    )


def _parse(
    stream: IO[bytes], source: Source, reading: Reading, tally: Tally, collector: TextCollector | _TreeCollector
) -> Iterator[None]:
    """Pass a file to the collector; yield after each block."""
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.UseForeignDTD(True)  # unknown entities are reported in place of an error; nothing else is read
    values: dict[str, str] = {}

    def declare(name: str, is_parameter: int, value: str | None, *_: Any) -> None:
        if value is None or is_parameter:
            return
        if "&" in value or "<" in value or len(value) > _LONGEST_ENTITY:
            raise UserError(
                f"the file {source.path!r} declares the entity {name!r} with markup, references or more than "
                f"{_LONGEST_ENTITY} characters, which is not read because such entities can grow without limit: "
                f"replace it in the file by its text"
            )
        values[name] = value

    def refer(name: str, is_parameter: int) -> None:
        if not is_parameter:
            collector.entity(name, values.get(name))

    parser.EntityDeclHandler = declare
    parser.DefaultHandler = lambda _: None  # with this handler, the parser does not expand entities
    parser.SkippedEntityHandler = refer
    parser.StartElementHandler = lambda name, attributes: collector.start(
        local := name.rpartition(":")[2], attributes, local in UNITS
    )
    parser.EndElementHandler = lambda _: collector.end()
    parser.CharacterDataHandler = collector.data
    try:
        for chunk in _utf8(stream, source, reading, tally):
            parser.Parse(chunk, False)
            yield
        parser.Parse(b"", True)
        yield
    except expat.ExpatError as error:
        raise UserError(
            f"the file {source.path!r} is not well-formed XML at line {error.lineno}: "
            f"{expat.errors.messages[error.code]}"
        ) from None


def _utf8(stream: IO[bytes], source: Source, reading: Reading, tally: Tally) -> Iterator[bytes]:
    """Yield the content of an XML file in UTF-8, by its byte order mark or declaration."""
    head = stream.read(BLOCK)
    codec = _encoding(head, source, reading)
    decoder = codecs.getincrementaldecoder(codec)(reading.errors)
    chunk, replaced = head, 0
    while True:
        try:
            text = decoder.decode(chunk, not chunk)
        except UnicodeDecodeError as error:
            raise UserError(
                f"the file {source.path!r} is not valid {codec.upper().removesuffix('-SIG')}: {error.reason}; name "
                f"its encoding in the XML declaration or with --encoding, or pass --errors replace"
            ) from None
        replaced += text.count("\ufffd") if reading.errors == "replace" else 0
        yield text.encode("utf-8", "replace")
        if not chunk:
            break
        chunk = stream.read(BLOCK)
    if replaced:
        tally.skipped["characters that are not valid in the encoding of their file, replaced"] += replaced


def _encoding(head: bytes, source: Source, reading: Reading) -> str:
    """Return the encoding of a file: of its byte order mark, the option, its declaration, or else UTF-8."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if reading.encoding not in ("auto", "utf-8", "utf-8-sig"):
        return reading.encoding
    for beginning, name in _WITHOUT_MARK:
        if head.startswith(beginning):
            return name
    declared = _DECLARED.match(head[:1024])
    name = declared[1].decode() if declared else "utf-8"
    try:
        "".encode(name)
    except LookupError:
        raise UserError(f"the file {source.path!r} declares the encoding {name!r}, which is not known") from None
    return name


class _TreeCollector:
    """Build a tree of elements, whose names have no namespace, from the tags and characters of a document."""

    def __init__(self, path: str) -> None:
        from lxml import etree

        self._builder, self._names, self._path = etree.TreeBuilder(), list[str](), path

    def start(self, name: str, attributes: dict[str, str], _: bool) -> None:
        check_depth(len(self._names), self._path)
        self._names.append(name)
        self._builder.start(name, {key.rpartition(":")[2]: value for key, value in attributes.items()})

    def end(self) -> None:
        self._builder.end(self._names.pop())

    def data(self, text: str) -> None:
        self._builder.data(text)

    def entity(self, name: str, value: str | None = None) -> None:
        self._builder.data(entity_text(name, value) or "")

    def close(self) -> Any:
        return self._builder.close()


def _select(
    stream: IO[bytes], source: Source, reading: Reading, tally: Tally, collector: TextCollector
) -> Iterator[None]:
    """Pass the elements that an XPath expression selects to the collector."""
    from lxml import etree

    limited = io.BytesIO(stream.read(_LARGEST_TREE + 1))
    if len(limited.getbuffer()) > _LARGEST_TREE:
        raise UserError(
            f"the file {source.path!r} has more than {_LARGEST_TREE >> 20} MB, the limit for --xpath, which needs the "
            f"whole file in memory: divide it"
        )
    if source.kind == "html":
        parser = etree.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, huge_tree=False)
        root = etree.fromstring(limited.getvalue(), parser)
    else:
        builder = _TreeCollector(source.path)
        deque(_parse(limited, source, reading, tally, builder), maxlen=0)
        root = builder.close()
    try:
        selection = root.xpath(reading.xpath)
    except etree.XPathError as error:
        raise UserError(f"{reading.xpath!r} is not a valid XPath expression: {error} (--xpath)") from None
    selected = selection if isinstance(selection, list) else [str(selection)]
    elements = {each for each in selected if isinstance(each, etree._Element)}
    if elements:
        yield from _pass_tree(root, elements, collector)
    for text in selected:
        if isinstance(text, str):
            collector.add_text(text)
    yield


def _pass_tree(root: Any, units: set[Any], collector: TextCollector) -> Iterator[None]:
    """Pass a tree to the collector, without recursion; yield after each unit."""
    from lxml import etree

    for event, node in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            collector.start(node.tag, node.attrib, node in units)
            collector.data(node.text or "")
            continue
        collector.end()
        if node is not root:
            collector.data(node.tail or "")
        if node in units:
            yield

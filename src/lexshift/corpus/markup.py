"""Recognition of files that hold markup (XML, HTML, RTF) instead of plain text, by a sample of their beginning."""

from __future__ import annotations

import re

SAMPLE = 1 << 16
"""Bytes of a text that are looked at."""
_CLEAR = re.compile(
    r"<(?:\?xml\b|!doctype\b|!\[cdata\[|html\b|head\b|body\b|tei(?:\.2|corpus|header)?\b|rss\b|feed\b|svg\b)",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)\s*", re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z_][\w:.-]{0,60})(?:\s[^<>]{0,2000})?>")
_LEAST_PAIRS = 3  # elements with a start and an end tag, before a text can be full of them
_TAGS = 0.03  # share of the characters that are in tags, in a text that is full of them


def markup_of(head: bytes) -> str | None:
    r"""Return what kind of markup a text is, or None for plain text.

    A text is XML or HTML if it begins with a declaration or a root element such as ``<html>`` or ``<TEI>``, or if it
    begins with any other tag and is full of elements: one for every second line, or 3 % of its characters in tags.
    An element has an end tag, so names in angle brackets, as in chat logs, are not elements.

    Parameters
    ----------
    head : bytes
        The beginning of the text, in UTF-8.

    >>> markup_of(b'<?xml version="1.0"?><text>A mouse.</text>'), markup_of(b"{\\rtf1 A mouse.}")
    ('XML or HTML', 'RTF')
    >>> markup_of(b"<alice> Hello\n<bob> Hi, use <b>bold</b> here\n")
    """
    text = head[:SAMPLE].decode(errors="ignore").lstrip("\ufeff \t\r\n")
    if text.startswith("{\\rtf"):
        return "RTF"
    if not text.startswith("<"):
        return None
    while comment := _COMMENT.match(text):
        text = text[comment.end() :]
    if _CLEAR.match(text):
        return "XML or HTML"
    return "XML or HTML" if _TAG.match(text) and _is_full_of_elements(text) else None


def _is_full_of_elements(text: str) -> bool:
    opened: set[str] = set()
    pairs = inside = 0
    for tag in _TAG.finditer(text):
        name = tag[2].lower()
        if not tag[1]:
            opened.add(name)
        elif name in opened:
            pairs += 1
        inside += len(tag[0])
    lines = sum(bool(line.strip()) for line in text.split("\n"))
    return pairs >= _LEAST_PAIRS and (2 * pairs >= lines or inside >= _TAGS * len(text))

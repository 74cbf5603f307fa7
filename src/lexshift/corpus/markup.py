"""Recognise markup in a file of plain text, whose tags and attributes would count as words."""

from __future__ import annotations

import re

MARKUP_SAMPLE = 1 << 16
"""Number of bytes of a text that are examined."""
_CLEAR = re.compile(
    r"<(?:\?xml\b|!doctype\b|!\[cdata\[|html\b|head\b|body\b|tei(?:\.2|corpus|header)?\b|rss\b|feed\b|svg\b)",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)\s*", re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z_][\w:.-]{0,60})(?:\s[^<>]{0,2000})?>")
_LEAST_PAIRS = 3  # minimum number of elements with a start and an end tag in a text that counts as markup
_TAGS = 0.03  # minimum share of characters inside tags in a text that counts as markup


def detect_markup(head: bytes) -> str | None:
    r"""Return the kind of markup of a text, or None for plain text.

    A text is XML or HTML if it begins with a declaration or a root element such as ``<html>`` or ``<TEI>``, or if it
    begins with any other tag and is full of elements: one for every second line, or 3 % of its characters in tags.
    An element has an end tag, so names in angle brackets, as in chat logs, are not elements.

    Parameters
    ----------
    head : bytes
        The beginning of the text, in UTF-8.

    >>> detect_markup(b'<?xml version="1.0"?><text>A mouse.</text>'), detect_markup(b"{\\rtf1 A mouse.}")
    ('XML or HTML', 'RTF')
    >>> detect_markup(b"<alice> Hello\n<bob> Hi, use <b>bold</b> here\n")
    """
    text = head[:MARKUP_SAMPLE].decode(errors="ignore").lstrip("\ufeff \t\r\n")
    if text.startswith("{\\rtf"):
        return "RTF"
    if not text.startswith("<"):
        return None
    while comment := _COMMENT.match(text):
        text = text[comment.end() :]
    if _CLEAR.match(text):
        return "XML or HTML"
    if not _TAG.match(text):
        return None
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
    is_full = pairs >= _LEAST_PAIRS and (2 * pairs >= lines or inside >= _TAGS * len(text))
    return "XML or HTML" if is_full else None

"""Recognise the layout of a text: whether a line is a sentence, a paragraph or a part of a paragraph."""

from __future__ import annotations

import re
from itertools import pairwise

_SAMPLE = 1 << 18  # bytes that are examined
_WIDEST = 150  # characters of a line in text that was wrapped for a page or a screen
_FULL = 0.75  # a wrapped line reaches this share of the common width
_SENTENCE_END = re.compile(  # within a line; the search is fast because the first part is a set of characters
    r"[.!?…。！？।۔؟](?:(?<=[.!?…])['\")\]»”’]*[^\S\n]+['\"(\[«“‘¿¡]*[^\W\d_a-zß-öø-ÿ]"
    r"|(?<=[。！？])[^\S\n]*(?=\w)|(?<=[।۔؟])[^\S\n]+(?=\w))"
)
_LAST = (".", "!", "?", "…", ":", '"', "”", "»", "'", "’", "。", "！", "？", "।", "۔", "؟")


def layout(head: bytes) -> str:
    r"""Return the layout of a text, "lines", "prose" or "wrapped", judged by its first block.

    >>> layout(b"The mouse ran.\nThe cloud rained.\nBread is bread.\n")
    'lines'
    >>> layout(b"The mouse ran. It hid. The cat sat.\nThe cloud rained. We left. Nobody came.\n")
    'prose'
    >>> layout(b"The mouse ran and the cat ran after it, over\nthe hill and through the wood until they saw\n"
    ...        b"the house at the end of the lane and hid.\n\nThen it rained.\n")
    'wrapped'
    """
    lines = [line.strip() for line in head[:_SAMPLE].decode(errors="ignore").split("\n")]
    if len(head) > _SAMPLE and len(lines) > 1:
        lines.pop()  # it is incomplete
    # Lines directly followed by another line: in wrapped text, all of them are full and few end a sentence.
    followed = [a for a, b in pairwise(lines) if a and b]
    if followed:
        width = sorted(map(len, followed))[int(0.95 * (len(followed) - 1))]
        full = sum(len(line) >= _FULL * width for line in followed) / len(followed)
        ending = sum(line.endswith(_LAST) for line in followed) / len(followed)
        if width <= _WIDEST and full >= 0.75 and ending < 0.4 and any(not line for line in lines[:-1]):
            return "wrapped"
    texts = [line for line in lines if line]
    inside = len(_SENTENCE_END.findall("\n".join(texts)))
    return "prose" if inside > 0.5 * len(texts) else "lines"

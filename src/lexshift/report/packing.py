"""Values packed for the page: groups of words, each compressed and written in letters that mean nothing to a browser.

The page opens one group when one of its words is chosen, so that it need not read what nobody looks at. Base64 has no
character with which a tag or an entity could begin, whatever the text in it.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable
from typing import Any

_GROUP = 400_000  # bytes before compression: opened in a moment, and large enough to compress well


def packed(values: Iterable[Any], size: int = _GROUP) -> tuple[list[int], list[str]]:
    """The number of the first value of each group, and the groups: lists of values as JSON, gzip, base64.

    >>> starts, groups = packed(["a", "b", "c"], size=5)
    >>> starts
    [0, 2]
    >>> gzip.decompress(base64.b64decode(groups[1]))
    b'["c"]'
    """
    starts: list[int] = []
    groups: list[str] = []
    waiting: list[bytes] = []
    length = first = 0
    for i, value in enumerate(values):
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
        waiting.append(text)
        length += len(text)
        if length >= size:
            starts.append(first)
            groups.append(_pack(waiting))
            waiting, length, first = [], 0, i + 1
    if waiting:
        starts.append(first)
        groups.append(_pack(waiting))
    return starts, groups


def _pack(texts: list[bytes]) -> str:
    # Without a time in it, the same values are always the same bytes.
    return base64.b64encode(gzip.compress(b"[" + b",".join(texts) + b"]", 6, mtime=0)).decode()

"""Compile replacements of characters into the form that the ``Precompiled`` normalizer of tokenizers reads.

The form is that of sentencepiece: the size of a double array, the array, and the replacements, each followed by a zero
byte. The double array is a trie over the UTF-8 bytes of the characters, of units of 32 bits::

    node    bits 0-7 the byte that leads to it, bit 8 set if a character ends here, bits 10-30 the offset
    leaf    bit 31 set, bits 0-30 the position of the replacement

The children of the node at position p are at ``p ^ offset ^ byte``, and its leaf is at ``p ^ offset``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from itertools import count

_BLOCK = 256  # a node and its children lie in one block, so that no byte leads out of the array
_IS_LEAF, _HAS_LEAF, _OFFSET_SHIFT = 1 << 31, 1 << 8, 10


def compile_character_map(replacements: Mapping[str, str]) -> bytes:
    r"""Return the compiled map of characters to their replacements.

    >>> compile_character_map({"\u00a0": " "})[-2:]
    b' \x00'
    """
    positions: dict[str, int] = {}
    texts = bytearray()
    for text in sorted(set(replacements.values())):
        positions[text] = len(texts)
        texts += text.encode() + b"\0"
    leaves = {character.encode(): positions[text] for character, text in replacements.items()}
    units = _build_double_array(leaves)
    return struct.pack(f"<{len(units) + 1}I", 4 * len(units), *units) + bytes(texts)


def _build_double_array(leaves: Mapping[bytes, int]) -> list[int]:
    """Return the units of the trie over some keys, with the position of the replacement in each leaf."""
    children: dict[bytes, set[int]] = {b"": set()}  # the bytes that may follow a prefix
    for key in leaves:
        for length, byte in enumerate(key):
            children.setdefault(key[:length], set()).add(byte)
        children.setdefault(key, set())
    array = _DoubleArray()
    place = {b"": 0}
    for prefix in sorted(children, key=lambda prefix: (len(prefix), prefix)):
        node, bytes_after, leaf = place[prefix], children[prefix], leaves.get(prefix)
        base = array.find_base(bytes_after | ({0} if leaf is not None else set()))
        array.units[node] |= (node ^ base) << _OFFSET_SHIFT
        if leaf is not None:
            array.units[node] |= _HAS_LEAF
            array.units[base] = _IS_LEAF | leaf
        for byte in bytes_after:
            array.units[base ^ byte] = byte
            place[prefix + bytes([byte])] = base ^ byte
    return array.units


class _DoubleArray:
    """The units of a trie, and which of their positions are taken."""

    def __init__(self) -> None:
        self.units = [0] * _BLOCK
        self._is_taken = bytearray(_BLOCK)
        self._is_taken[0] = True  # the root
        self._is_base = bytearray(_BLOCK)
        self._first = 0  # every position before it is a base, or taken

    def find_base(self, labels: Iterable[int]) -> int:
        """Take the positions of a node's children and leaf, and return their base."""
        while self._is_base[self._first] or self._is_taken[self._first]:
            self._first += 1
            self._grow(self._first)
        for base in count(self._first):
            self._grow(base)
            if not self._is_base[base] and not any(self._is_taken[base ^ label] for label in labels):
                break
        self._is_base[base] = True  # two nodes with one base would have each other's children
        for label in labels:
            self._is_taken[base ^ label] = True
        return base

    def _grow(self, position: int) -> None:
        if position >= len(self.units):
            self.units += [0] * _BLOCK
            self._is_taken += bytes(_BLOCK)
            self._is_base += bytes(_BLOCK)

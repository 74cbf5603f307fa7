"""Split short texts into words by the rule of :mod:`lexshift.corpus.word_rule`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexshift.corpus.segmentation import segment
from lexshift.corpus.word_rule import script_kinds, word_table

_SPACE, _END = ord(" "), 0xE000  # a private character, which belongs to no word, ends a text


def split_words(text: str) -> list[str]:
    """Return the folded words of a text in their order.

    Scripts without spaces are segmented if ICU is installed; otherwise a run of their letters is one word.

    Examples
    --------
    >>> split_words("The Mouse, the mouse-pad; über 1990!")
    ['the', 'mouse', 'the', 'mouse', 'pad', 'über', '1990']
    """
    return split_texts([text])[0]


def split_texts(texts: Sequence[str]) -> list[list[str]]:
    """Return the folded words of each text; this is faster than to split one text after the other.

    Examples
    --------
    >>> split_texts(["The Mouse", "", "mouse-pad"])
    [['the', 'mouse'], [], ['mouse', 'pad']]
    """
    if not texts:
        return []
    segmented = [segment(text) for text in texts]
    codes = np.frombuffer("\n".join(segmented).encode("utf-32-le", "replace"), np.uint32)
    ends = np.cumsum([len(text) + 1 for text in segmented[:-1]], dtype=np.intp) - 1
    folded = word_table()[codes]
    kinds = script_kinds()[folded]
    before = folded.copy()
    before[folded == 0] = _SPACE
    before[ends] = _END
    is_own = kinds != 2  # shared marks belong to the word around them
    positions = np.flatnonzero(is_own)
    is_border = (np.diff(kinds[positions].astype(int)) != 0) & (before[positions[:-1]] != _END)
    words = np.insert(before, positions[1:][is_border], _SPACE).astype("<u4").tobytes().decode("utf-32-le")
    return [text.split() for text in words.split(chr(_END))]

"""Split short texts into words by the rule of :mod:`lexshift.corpus.word_rule`."""

from __future__ import annotations

import numpy as np

from lexshift.corpus.segmentation import segment
from lexshift.corpus.word_rule import script_kinds, word_table

_SPACE = ord(" ")


def split_words(text: str) -> list[str]:
    """Return the folded words of a text in their order.

    Scripts without spaces are segmented if ICU is installed; otherwise a run of their letters is one word.

    Examples
    --------
    >>> split_words("The Mouse, the mouse-pad; über 1990!")
    ['the', 'mouse', 'the', 'mouse', 'pad', 'über', '1990']
    """
    codes = np.frombuffer(segment(text).encode("utf-32-le", "replace"), np.uint32)
    folded = word_table()[codes]
    kinds = script_kinds()[folded]
    before = folded.copy()
    before[folded == 0] = _SPACE
    is_own = kinds != 2  # shared marks belong to the word around them
    positions = np.flatnonzero(is_own)
    borders = positions[1:][np.diff(kinds[positions].astype(int)) != 0]
    return np.insert(before, borders, _SPACE).astype("<u4").tobytes().decode("utf-32-le").split()

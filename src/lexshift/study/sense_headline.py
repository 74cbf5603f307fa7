"""The outcome of looking for senses, in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from lexshift.senses.shares import KEPT
from lexshift.senses.word_senses import CHANGES, WordSenses
from lexshift.utils.quantities import with_unit


def sense_headline(senses: Mapping[str, WordSenses], min_usages: int, alpha: float) -> str:
    """Return how the shares of the senses of words with several senses changed, in a sentence without a full stop.

    The only sense of a word is not tested, and neither are rare senses; both are counted apart from the senses that
    were kept.

    Parameters
    ----------
    senses : mapping of str to WordSenses
        The senses of the words with enough usages.
    min_usages : int
        Minimum number of usages in two periods.
    alpha : float
        False discovery rate.
    """
    words, divided = len(senses), [word_senses for word_senses in senses.values() if len(word_senses) > 1]
    if not words:
        return f"No senses were sought: no word has {min_usages} usages in two periods"
    if not divided:
        return "The word has one sense" if words == 1 else f"Each of the {words} words has one sense"
    is_tested = np.concatenate([word_senses.is_tested for word_senses in divided])  # (senses,)
    changes = np.concatenate([word_senses.changes for word_senses in divided])
    counts = Counter(changes[is_tested].tolist())
    outcomes = ", ".join(f"{counts[change]} {change}" for change in CHANGES if counts[change])
    parts = [f"{len(changes)} senses of {with_unit(len(divided), 'words')}"]
    parts[0] += f": {outcomes} at a false discovery rate of {alpha:g}" if outcomes else ""
    has_small_q = np.concatenate([word_senses.q for word_senses in divided]) <= alpha
    if varied := int(((changes == KEPT) & has_small_q).sum()):
        verb = "differs" if varied == 1 else "differ"
        parts.append(f"of those kept, {varied} {verb} between periods, but not between the first and the last ones")
    if rare := int((~is_tested).sum()):
        parts.append(f"{rare} with too few usages to test")
    if single := words - len(divided):
        parts.append(f"{single} other {'word has' if single == 1 else 'words have'} one sense")
    return "; ".join(parts)

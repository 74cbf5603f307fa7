"""Split passages into sentences, and find the sentence of an occurrence."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise

LONGEST = 4_000  # characters; a longer sentence is reduced to this length around the word
_PASSAGE = 1 << 20  # characters that are split at a time
_SUSPECT = 1_000  # characters; hardly any sentence is longer
_PAIRED = str.maketrans(dict.fromkeys("\"'()[]{}«»‹›“”„‟‘’‚‛「」『』〈〉《》", " "))


class Passage:
    """A passage of text with the boundaries of its sentences."""

    def __init__(self, text: str, split: str, language: str) -> None:
        self.text = text
        self._bounds = [0, len(text)] if split == "lines" else _boundaries(text, language)

    def sentences(self) -> Iterator[str]:
        """Yield the sentences of the passage, each at most LONGEST characters of it."""
        for start, end in pairwise(self._bounds):
            text = self.text[start:end].strip()
            if text:
                yield text[:LONGEST]

    def sentence(self, start: int, end: int) -> tuple[str, int, int, bool]:
        """Return the sentence around text[start:end], the span within it, and whether it was shortened.

        If the span crosses a sentence boundary, the next sentence is included.
        """
        first = self._bounds[bisect_right(self._bounds, start) - 1]
        last = self._bounds[bisect_left(self._bounds, end)]
        cut = last - first > LONGEST
        if cut:
            first, last = self._window(first, start, end, last)
        sentence = self.text[first:last]
        first += len(sentence) - len(sentence.lstrip())
        sentence = sentence.strip()
        return sentence, start - first, end - first, cut

    def _window(self, first: int, start: int, end: int, last: int) -> tuple[int, int]:
        """Return at most LONGEST characters with the span in their middle, cut at white space if possible."""
        size = max(LONGEST - (end - start), 0)
        left = max(first, min(start - size // 2, last - size - (end - start)))
        right = min(last, left + size + (end - start))
        if left > first:
            space = self.text.find(" ", left, start)
            left = space + 1 if space >= 0 else left
        if right < last:
            space = self.text.rfind(" ", end, right)
            right = space if space >= 0 else right
        return left, right


def _boundaries(text: str, language: str) -> list[int]:
    """Return the positions at which sentences begin, and the end of the text."""
    bounds = [0]
    start = 0
    while start < len(text):
        stop = len(text)
        if stop - start > _PASSAGE:
            space = text.rfind(" ", start, start + _PASSAGE)
            stop = space + 1 if space > start else start + _PASSAGE
        bounds += [start + end for end in _ends(text[start:stop], language)]
        start = stop
    return bounds if len(bounds) > 1 else [0, len(text)]


def _ends(text: str, language: str) -> list[int]:
    """Return the positions at which sentences end."""
    from sentencex import get_sentence_boundaries

    ends: list[int] = []
    start = 0
    for boundary in [*(sentence["end_index"] for sentence in get_sentence_boundaries(language, text)), len(text)]:
        end = int(boundary)
        if end - start > _SUSPECT:
            # An unmatched quotation mark or bracket would merge all following sentences: split again without it.
            bare = text[start:end].translate(_PAIRED)
            ends += [start + int(s["end_index"]) for s in get_sentence_boundaries(language, bare)]
        if end > start:
            ends.append(end)
        start = end
    return sorted(set(ends))

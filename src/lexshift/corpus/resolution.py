"""Decide which hits of a scan are occurrences of targets: by all of their words, by lemmas and by parts of speech."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from lexshift.corpus.passages import Block
from lexshift.corpus.sources import Tally
from lexshift.corpus.targets import Targets
from lexshift.utils.arrays import Array

UNTAGGED = "occurrences in text without parts of speech, of words that are studied with one"
"""Reason for which occurrences are skipped."""
UNLEMMATISED = "passages without lemmas in files with lemmas, in which only the word itself is found"
_LONGEST_FORM = 1_000  # bytes within which a form of several words must end


class BlockResolver:
    """Find the occurrences of targets among the hits of blocks, with the annotation that blocks may have."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self._in_text = Resolver(targets)
        self._in_lemmas = Resolver(targets.lemmas) if targets.match == "lemma" else None
        self._has_dictionary = targets.forms != targets.lemmas.forms
        self._file: str | None = None  # the last file with lemmas
        self._patterns = list(dict.fromkeys(targets.tags.values()))
        self._pattern_of = np.full(len(targets.forms), -1, np.int64)  # number of the pattern of each target, or -1
        for target, tag in targets.tags.items():
            self._pattern_of[target] = self._patterns.index(tag)

    def resolve(self, block: Block, hits: Array, tally: Tally) -> Array:
        """Return the occurrences among the hits of a block: (n, 6).

        Hits are in the lemmas of the block if it has them and targets are matched by lemma, else in its text.
        Occurrences are in the text.
        """
        tokens = None
        if self._in_lemmas is not None and block.lemmas is not None and block.annotation is not None:
            rows = self._in_lemmas.resolve(block.lemmas, hits)
            rows, tokens = block.annotation.find_in_text(rows, block.data)
            self._file = block.file
        else:
            if self._file == block.file and not self._has_dictionary:
                tally.skipped[UNLEMMATISED] += block.data.count(b"\n") + 1
            rows = self._in_text.resolve(block.data, hits)
        if not self._targets.tags or not len(rows):
            return rows
        keep = np.ones(len(rows), np.bool_)
        pattern_of = self._pattern_of[rows[:, 0]]
        for number in np.unique(pattern_of[pattern_of >= 0]).tolist():
            mine, tag = np.flatnonzero(pattern_of == number), self._patterns[number]
            if block.annotation is None or not block.annotation.has_tags:
                keep[mine] = False
                tally.skipped[UNTAGGED] += len(mine)
            elif tokens is None:
                keep[mine] = block.annotation.have_tag_in_text(tag, rows[mine, 4])
            else:
                keep[mine] = block.annotation.have_tag(tag, tokens[mine])
        return rows[keep]


class Resolver:
    """Find the occurrences of targets among the hits of a scan, which are first words of their forms."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self._candidates = list(targets.first_words.values())
        # The target of each number if it is the only one; -1 if the text decides between several.
        self._simple = np.array(
            [c[0].target if len(c) == 1 and c[0].form is None else -1 for c in self._candidates], np.int64
        )

    def resolve(self, data: bytes, hits: Array) -> Array:
        """Return the hits in some text that are occurrences, (n, 6) with the target in place of the number."""
        targets = self._simple[hits[:, 0]] if len(hits) else hits[:, 0]
        if len(targets) and targets.min() >= 0:
            rows = hits.copy()
            rows[:, 0] = targets
            if not self._targets.unspaced_words or not _overlap(rows):
                return rows
        resolved = []
        taken: dict[int, int] = {}  # end of the last occurrence of each target
        for (index, line_start, line_end, start), several in groupby(hits.tolist(), key=lambda hit: hit[1:5]):
            stops: dict[int, int] = {}
            for number, *_, end in several:
                for target, stop in self._matches(number, data, start, end).items():
                    stops[target] = max(stop, stops.get(target, 0))
            for target, stop in stops.items():
                if start >= taken.get(target, 0):  # of overlapping forms, the first and longest one counts
                    taken[target] = stop
                    resolved.append((target, index, line_start, line_end, start, stop))
        return np.array(resolved, np.int64).reshape(-1, 6)

    def _matches(self, number: int, data: bytes, start: int, end: int) -> dict[int, int]:
        """Return the targets that match at a hit, with the end of the longest matching form of each."""
        if self._simple[number] >= 0:
            return {int(self._simple[number]): end}
        text = data[start : start + _LONGEST_FORM].split(b"\n", 1)[0].decode(errors="ignore")
        ends: dict[int, int] = {}
        for candidate in self._candidates[number]:
            stop = end
            if candidate.form is not None:
                length = self._targets.extent(candidate.form, text)
                if length is None:
                    continue
                stop = start + len(text[:length].encode())
            ends[candidate.target] = max(stop, ends.get(candidate.target, 0))
        return ends


def _overlap(rows: Array) -> bool:
    """Return whether any two occurrences of one target overlap; ``rows`` has the shape (n, 6)."""
    targets, starts, ends = rows[:, 0], rows[:, 4], rows[:, 5]
    order = np.lexsort((starts, targets))
    same = targets[order][1:] == targets[order][:-1]
    return bool((same & (starts[order][1:] < ends[order][:-1])).any())

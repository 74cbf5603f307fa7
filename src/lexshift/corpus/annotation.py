"""Define the annotation of text: the lemma and the part of speech of its tokens, as a file gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lexshift.corpus.decoding import normalise
from lexshift.corpus.records import Token
from lexshift.utils.arrays import Array

_MISSING = ("", "_", "<unknown>", "__UNDEF__")
_ALTERNATIVE = ord("|")  # between the lemmas of an ambiguous token
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class Annotation:
    """Lemmas and parts of speech of some lines of text.

    Attributes
    ----------
    lemmas : bytes or None
        UTF-8 in normal form, with the same number of lines as the text, in which each token is replaced by its lemma
        and tokens are separated by a space; None if the file has no lemmas.
    tokens : ndarray of shape (n, 5), int32
        Start and end of each token in the text and in the lemmas, in bytes, and the number of its tag, -1 for none. A
        token that consists of several words has a row for each word, with the same span in the text.
    tags : sequence of str or None
        The tags by number; None if the file has none.
    """

    lemmas: bytes | None
    tokens: Array
    tags: Sequence[str] | None

    def find_in_text(self, rows: Array, data: bytes) -> tuple[Array, Array]:
        """Return where occurrences in the lemmas are in the text, and the token in which each of them begins.

        An occurrence must be the whole lemma of a token, one of several lemmas that are separated by ``|``, or a
        sequence of such lemmas. Text outside tokens is its own lemma.

        Parameters
        ----------
        rows : ndarray of shape (n, 6), int64
            Target, line, and in bytes of the lemmas the start and end of the line and of the occurrence.
        data : bytes
            The text.

        Returns
        -------
        rows : ndarray of shape (m, 6), int64
            The same in bytes of the text, without what is not an occurrence.
        numbers : ndarray of shape (m,), int64
            Numbers of the tokens; -1 outside tokens.
        """
        assert self.lemmas is not None
        if not len(rows):
            return rows, np.empty(0, np.int64)
        columns = [np.zeros(len(self.tokens) + 1, np.int64) for _ in range(4)]  # an empty token comes first
        for number, column in enumerate(columns):
            column[1:] = self.tokens[:, number]
        text_starts, text_ends, starts, ends = columns
        starts[0] = -1
        signs = np.frombuffer(self.lemmas + b" ", np.uint8)
        first, last = (np.searchsorted(starts, at, "right") - 1 for at in (rows[:, 4], rows[:, 5] - 1))
        begins_inside, ends_inside = rows[:, 4] < ends[first], rows[:, 5] <= ends[last]
        begins = (rows[:, 4] == starts[first]) | (signs[rows[:, 4] - 1] == _ALTERNATIVE)
        stops = (rows[:, 5] == ends[last]) | (signs[rows[:, 5]] == _ALTERNATIVE)
        line_ends = np.r_[np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")), len(data)]
        lines = rows[:, 1]
        found = np.stack(
            [
                rows[:, 0],
                lines,
                np.where(lines > 0, line_ends[lines - 1] + 1, 0),
                line_ends[lines],
                np.where(begins_inside, text_starts[first], text_ends[first] + rows[:, 4] - ends[first]),
                np.where(ends_inside, text_ends[last], text_ends[last] + rows[:, 5] - ends[last]),
            ],
            axis=1,
        )
        chosen = np.flatnonzero((begins | ~begins_inside) & (stops | ~ends_inside))
        places = found[chosen, 0] * (len(data) + 1) + found[chosen, 4]
        _, once = np.unique(places, return_index=True)  # a token may have a lemma twice
        chosen = chosen[np.sort(once)]
        return found[chosen], np.where(begins_inside, first - 1, -1)[chosen]

    def have_tag(self, pattern: str, numbers: Array) -> npt.NDArray[np.bool_]:
        """Return for some tokens, (n,), whether they have a tag that agrees with a pattern; see :func:`is_tag`."""
        if self.tags is None:
            return np.zeros(len(numbers), np.bool_)
        agrees = np.array([is_tag(tag, pattern) for tag in self.tags] + [False], np.bool_)
        tags = np.r_[self.tokens[:, 4], np.int32(-1)]
        return agrees[tags[numbers]]

    def have_tag_in_text(self, pattern: str, positions: Array) -> npt.NDArray[np.bool_]:
        """Return for some positions in the text, (n,), whether a word of the token there has a tag."""
        found = np.zeros(len(positions), np.bool_)
        if not len(self.tokens):
            return found
        starts, ends = self.tokens[:, 0], self.tokens[:, 1]
        numbers = np.searchsorted(starts, positions, "right") - 1
        remaining = np.flatnonzero((numbers >= 0) & (positions < ends[numbers]))
        while len(remaining):
            at = numbers[remaining]
            found[remaining] |= self.have_tag(pattern, at)
            remaining = remaining[(at > 0) & (starts[at - 1] == starts[at])]  # the words of one token
            numbers[remaining] -= 1
        return found

    def select_lines(self, lines: Sequence[int], data: bytes) -> Annotation:
        """Return the annotation of some lines of the text, which are joined in ascending order."""
        chosen = np.asarray(lines, np.int64)
        columns = [self.tokens[:, column].astype(np.int64) for column in range(4)]
        texts = [data, b"" if self.lemmas is None else self.lemmas]
        line_of, is_chosen = np.empty(0, np.int64), np.empty(0, np.bool_)
        for number, text in enumerate(texts):
            if number == 1 and self.lemmas is None:
                break
            ends = np.r_[np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")), len(text)]
            starts = np.r_[0, ends[:-1] + 1]
            if number == 0:
                line_of = np.searchsorted(starts, columns[0], "right") - 1
                is_chosen = np.isin(line_of, chosen)
            shifts = np.zeros(len(starts), np.int64)
            lengths = ends[chosen] - starts[chosen] + 1
            shifts[chosen] = np.r_[0, np.cumsum(lengths)[:-1]] - starts[chosen]
            columns[2 * number] += shifts[line_of]
            columns[2 * number + 1] += shifts[line_of]
        tokens = np.stack([*columns, self.tokens[:, 4]], axis=1)[is_chosen].astype(np.int32)
        lemmas = None
        if self.lemmas is not None:
            every = self.lemmas.split(b"\n")
            lemmas = b"\n".join([every[line] for line in lines])
        return Annotation(lemmas, tokens, self.tags)


@lru_cache(1 << 16)
def is_tag(tag: str, pattern: str) -> bool:
    """Return whether a tag of a file agrees with the tag of a target, regardless of case.

    It agrees if both are equal, or equal up to the first digit or punctuation mark of the tag. A pattern that ends in
    ``*`` agrees with every tag that begins like it.

    >>> [is_tag(tag, "NN") for tag in ("NN", "nn1", "NN:gen", "NNS")], is_tag("NNS", "NN*")
    ([True, True, True, False], True)
    """
    tag, pattern = tag.upper(), pattern.upper()
    if pattern.endswith("*"):
        return tag.startswith(pattern[:-1])
    return tag == pattern or (tag.startswith(pattern) and not tag[len(pattern)].isalpha())


def annotate_texts(records: Iterable[tuple[str, Sequence[Token] | None]]) -> Annotation | None:
    """Return the annotation of texts, one per line, with their tokens; None if no token has a lemma or a tag."""
    numbers: dict[str, int] = {}
    rows: list[tuple[int, int, int, int, int]] = []
    lines: list[bytes] = []
    has_lemmas = False
    at = lemma_at = 0  # bytes of the text and of the lemmas
    for text, tokens in records:
        pieces: list[bytes] = []
        done = 0  # characters of the text
        for token in tokens or ():
            between, form = (
                text[a:b].encode("utf-8", "replace") for a, b in ((done, token.start), (token.start, token.end))
            )
            lemma = form
            if token.lemma not in _MISSING:
                lemma = normalise(_SPACES.sub(" ", token.lemma)).encode("utf-8", "replace")
                has_lemmas = True
            at += len(between)
            if pieces and not between:
                between = b" "
            lemma_at += len(between)
            number = -1 if token.tag in _MISSING else numbers.setdefault(token.tag, len(numbers))
            rows.append((at, at + len(form), lemma_at, lemma_at + len(lemma), number))
            pieces += [between, lemma]
            at += len(form)
            lemma_at += len(lemma)
            done = token.end
        rest = text[done:].encode("utf-8", "replace")
        lines.append(b"".join([*pieces, rest]))
        at += len(rest) + 1
        lemma_at += len(rest) + 1
    if not has_lemmas and not numbers:
        return None
    found = np.array(rows, np.int32).reshape(-1, 5)
    return Annotation(b"\n".join(lines) if has_lemmas else None, found, list(numbers) or None)

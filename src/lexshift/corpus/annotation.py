"""Define the annotation of text: the lemma and the part of speech of its tokens, as a file gives them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lexshift.corpus.normal_form import normalise
from lexshift.corpus.records import Token
from lexshift.utils.arrays import Array

_MISSING = ("", "_", "<unknown>", "__UNDEF__")
_ALTERNATIVE = ord("|")  # between the lemmas of an ambiguous token
_SPACES = re.compile(r"\s+")


class Annotation(ABC):
    """Lemmas and parts of speech of some lines of text.

    Attributes
    ----------
    text_starts, text_ends : ndarray of shape (n,), int32
        Span of each token in the text, in bytes. A token that consists of several words has an entry for each word,
        with the same span.
    has_lemmas, has_tags : bool
        Whether the file has lemmas, and whether it has parts of speech.
    """

    text_starts: Array
    text_ends: Array
    has_lemmas: bool
    has_tags: bool

    @property
    @abstractmethod
    def lemmas(self) -> bytes | None:
        """UTF-8 in normal form, with each token of the text replaced by its lemma and a space between two tokens.

        It has the same number of lines as the text. It is None if the file has no lemmas.
        """

    @property
    @abstractmethod
    def lemma_spans(self) -> tuple[Array, Array]:
        """Start and end of each token in the lemmas, in bytes: (n,) and (n,), int32."""

    @abstractmethod
    def distinct_tags(self, numbers: Array) -> tuple[list[str], Array]:
        """Return the tags of some tokens, (m,), without repetition, and the index of the tag of each: (m,).

        The tag of a token without one is empty.
        """

    @abstractmethod
    def select_lines(self, lines: Sequence[int], data: bytes) -> Annotation:
        """Return the annotation of some lines of the text, which are joined in ascending order."""

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
        lemmas = self.lemmas
        assert lemmas is not None
        if not len(rows):
            return rows, np.empty(0, np.int64)
        starts, ends = self.lemma_spans
        signs = np.frombuffer(lemmas + b" ", np.uint8)
        # The search would convert all starts to the type of the positions.
        first, last = (
            np.searchsorted(starts, at.astype(starts.dtype), "right") - 1 for at in (rows[:, 4], rows[:, 5] - 1)
        )
        begins_inside = (first >= 0) & (rows[:, 4] < ends[first])
        ends_inside = (last >= 0) & (rows[:, 5] <= ends[last])
        begins = (rows[:, 4] == starts[first]) | (signs[rows[:, 4] - 1] == _ALTERNATIVE)
        stops = (rows[:, 5] == ends[last]) | (signs[rows[:, 5]] == _ALTERNATIVE)
        line_ends = np.r_[np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")), len(data)]
        lines = rows[:, 1]
        in_text = np.stack(
            [
                rows[:, 0],
                lines,
                np.where(lines > 0, line_ends[lines - 1] + 1, 0),
                line_ends[lines],
                np.where(begins_inside, self.text_starts[first], rows[:, 4] + self._shifts_after(first, ends)),
                np.where(ends_inside, self.text_ends[last], rows[:, 5] + self._shifts_after(last, ends)),
            ],
            axis=1,
        )
        chosen = np.flatnonzero((begins | ~begins_inside) & (stops | ~ends_inside))
        places = in_text[chosen, 0] * (len(data) + 1) + in_text[chosen, 4]
        _, once = np.unique(places, return_index=True)  # a token may have a lemma twice
        chosen = chosen[np.sort(once)]
        return in_text[chosen], np.where(begins_inside, first, -1)[chosen]

    def _shifts_after(self, numbers: Array, lemma_ends: Array) -> Array:
        """Return how far the text is from the lemmas after some tokens; the number -1 stands for none before."""
        return np.where(numbers >= 0, self.text_ends[numbers] - lemma_ends[numbers], 0)

    def have_tag(self, pattern: str, numbers: Array) -> npt.NDArray[np.bool_]:
        """Return for some tokens, (m,), whether they have a tag that agrees with a pattern; see :func:`is_tag`."""
        if not self.has_tags:
            return np.zeros(len(numbers), np.bool_)
        is_inside = numbers >= 0
        tags, indices = self.distinct_tags(numbers[is_inside])
        agrees = np.array([tag != "" and is_tag(tag, pattern) for tag in tags], np.bool_)
        has_tag = np.zeros(len(numbers), np.bool_)
        has_tag[is_inside] = agrees[indices]
        return has_tag

    def have_tag_in_text(self, pattern: str, positions: Array) -> npt.NDArray[np.bool_]:
        """Return for some positions in the text, (m,), whether a word of the token there has a tag."""
        has_tag = np.zeros(len(positions), np.bool_)
        starts, ends = self.text_starts, self.text_ends
        if not len(starts):
            return has_tag
        # The search would convert all starts to the type of the positions.
        numbers = np.searchsorted(starts, positions.astype(starts.dtype), "right") - 1
        remaining = np.flatnonzero((numbers >= 0) & (positions < ends[numbers]))
        while len(remaining):
            at = numbers[remaining]
            has_tag[remaining] |= self.have_tag(pattern, at)
            remaining = remaining[(at > 0) & (starts[at - 1] == starts[at])]  # the words of one token
            numbers[remaining] -= 1
        return has_tag


def line_spans(text: bytes) -> tuple[Array, Array]:
    """Return the start and the end of each line of a text, in bytes: (n_lines,) and (n_lines,)."""
    ends = np.r_[np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")), len(text)]
    return np.r_[0, ends[:-1] + 1], ends


def line_shifts(text: bytes, chosen: Array) -> Array:
    """Return how far each line of a text, (n_lines,), moves if some lines are joined."""
    starts, ends = line_spans(text)
    shifts = np.zeros(len(starts), np.int64)
    shifts[chosen] = np.r_[0, np.cumsum(ends[chosen] - starts[chosen] + 1)[:-1]] - starts[chosen]
    return shifts


class RecordAnnotation(Annotation):
    """The annotation of records.

    Parameters
    ----------
    lemmas : bytes or None
        The lemmas; text between tokens is its own lemma.
    tokens : ndarray of shape (n, 5), int32
        Start and end of each token in the text and in the lemmas, and the number of its tag, -1 for none.
    tags : sequence of str or None
        The tags by number; None if the file has none.
    """

    def __init__(self, lemmas: bytes | None, tokens: Array, tags: Sequence[str] | None) -> None:
        self._lemmas, self._tokens, self._tags = lemmas, tokens, tags
        self.has_lemmas, self.has_tags = lemmas is not None, tags is not None
        self.text_starts, self.text_ends, *spans = (np.ascontiguousarray(tokens[:, column]) for column in range(4))
        self._spans = spans[0], spans[1]

    @property
    def lemmas(self) -> bytes | None:
        """The text with lemmas in place of words."""
        return self._lemmas

    @property
    def lemma_spans(self) -> tuple[Array, Array]:
        """Start and end of each token in the lemmas."""
        return self._spans

    def distinct_tags(self, numbers: Array) -> tuple[list[str], Array]:
        """Return the tags of some tokens without repetition, and the index of the tag of each."""
        distinct, indices = np.unique(self._tokens[numbers, 4], return_inverse=True)
        tags = self._tags or ()
        return ["" if number < 0 else tags[number] for number in distinct.tolist()], indices

    def select_lines(self, lines: Sequence[int], data: bytes) -> RecordAnnotation:
        """Return the annotation of some lines of the text, which are joined in ascending order."""
        chosen = np.asarray(lines, np.int64)
        line_of = np.searchsorted(line_spans(data)[0], self.text_starts, "right") - 1
        is_chosen = np.isin(line_of, chosen)
        tokens, line_of = self._tokens[is_chosen].copy(), line_of[is_chosen]
        tokens[:, 0:2] += line_shifts(data, chosen)[line_of, None].astype(np.int32)
        lemmas = None
        if self._lemmas is not None:
            tokens[:, 2:4] += line_shifts(self._lemmas, chosen)[line_of, None].astype(np.int32)
            every = self._lemmas.split(b"\n")
            lemmas = b"\n".join([every[line] for line in lines])
        return RecordAnnotation(lemmas, tokens, self._tags)


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


def annotate_texts(records: Iterable[tuple[str, Sequence[Token] | None]]) -> RecordAnnotation | None:
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
    token_rows = np.array(rows, np.int32).reshape(-1, 5)
    return RecordAnnotation(b"\n".join(lines) if has_lemmas else None, token_rows, list(numbers) or None)

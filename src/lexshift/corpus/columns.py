"""Define the columns of files with one token per line."""

from __future__ import annotations

from typing import NamedTuple

from lexshift.errors import UserError

VERTICAL = "word,tag,lemma"
"""Columns of a verticalised corpus by default; a file may have fewer, or more."""
CONLLU = "id,word,lemma,tag,xpos,feats,head,deprel,deps,misc"
"""Columns of CoNLL-U, in which ``tag`` is the universal part of speech."""
_SAME = {"form": "word", "pos": "tag", "upos": "tag"}
MOST = 64
"""Maximum number of columns."""


class Columns(NamedTuple):
    """Positions of the columns that are read, from 0; -1 for a column that the file does not have.

    Attributes
    ----------
    word, lemma, tag : int
        Form, dictionary form and part of speech of a token.
    id, misc : int
        Number of a token in its sentence and further remarks, in CoNLL-U.
    has_lempos : bool
        Whether a lemma ends in a hyphen and a letter for its part of speech, as in ``plane-n``.
    """

    word: int
    lemma: int = -1
    tag: int = -1
    id: int = -1
    misc: int = -1
    has_lempos: bool = False

    @property
    def width(self) -> int:
        """The number of columns that a line must have; the last of CoNLL-U, for remarks, may be missing."""
        return max(self.word, self.lemma, self.tag, self.id) + 1

    def limit(self, width: int) -> Columns:
        """Return the columns of a file whose lines have ``width`` columns."""
        lemma, tag = (-1 if at >= width else at for at in (self.lemma, self.tag))
        return self._replace(lemma=lemma, tag=tag)


def parse_columns(text: str) -> Columns:
    """Return the positions of the columns with these comma-separated names.

    >>> parse_columns("word,tag,lempos,gender")
    Columns(word=0, lemma=2, tag=1, id=-1, misc=-1, has_lempos=True)
    """
    names = [_SAME.get(name.strip().lower(), name.strip().lower()) for name in text.split(",")]
    has_lempos = "lempos" in names
    names = ["lemma" if name == "lempos" else name for name in names]
    used = [name for name in names if name in ("word", "lemma", "tag", "id", "misc")]
    if "word" not in used or len(set(used)) < len(used) or len(names) > MOST:
        raise UserError(
            f"columns must name the columns of a file with one token per line in their order, with one word and at "
            f"most one lemma (or lempos) and tag, such as {VERTICAL}; got {text!r}"
        )
    return Columns(**{name: names.index(name) for name in used}, has_lempos=has_lempos)

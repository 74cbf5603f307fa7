"""Two small corpora to try lexshift with, and the list of the words that changed between them.

In: nothing. Out: the paths of the two files (:func:`demo_corpora`), the expected answer (:func:`gold`), and an encoder
without a model, for examples (:class:`ExampleEncoder`).

Both corpora were written for this purpose: 24 words, with 30 sentences for each word and period. In the 2010s, half of
the words have a meaning that they did not have in the 1950s, next to their old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_FOLDER = Path(__file__).parent


class ExampleEncoder:
    """A minimal encoder for examples: the vector of a word is the length of its sentence and its position in it."""

    settings: ClassVar[dict[str, str]] = {"model": "example"}

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        """Return the vectors of words in their sentences, of shape (n, 2)."""
        import numpy as np

        return np.array([[len(text), start] for text, (start, _) in zip(sentences, spans, strict=True)], np.float32)


def demo_corpora() -> tuple[Path, Path]:
    """Return the files of the two corpora that come with the package, the old one first.

    Examples
    --------
    >>> from lexshift import demo_corpora
    >>> [path.name for path in demo_corpora()]
    ['1950s.txt', '2010s.txt']
    """
    return _FOLDER / "1950s.txt", _FOLDER / "2010s.txt"


def gold() -> dict[str, bool]:
    """Return the target words of the corpora, each with whether it changed."""
    rows = [line.split("\t") for line in (_FOLDER / "gold.tsv").read_text("utf-8").splitlines()[1:]]
    return {word: label == "1" for word, label in rows}

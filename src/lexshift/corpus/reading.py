"""How a corpus is to be read, and what was met on the way."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, get_args

from lexshift.errors import UserError
from lexshift.utils import checks

AUTO = "auto"
Split = Literal["auto", "lines", "prose", "wrapped"]
_LANGUAGE = re.compile(r"auto|[A-Za-z]{2,3}([-_]\w+)*")


@dataclass(frozen=True)
class Reading:
    """How text is read.

    Attributes
    ----------
    encoding : str
        Of the files; all but Parquet.
    errors : "strict" or "replace"
        What to do about bytes that are not in that encoding: stop, or put U+FFFD in their place.
    split : "auto", "lines", "prose" or "wrapped"
        What a line is: a sentence, a paragraph of running prose, or a part of a paragraph that ends at an empty line.
        "auto" looks at the beginning of each file.
    language : str
        ISO code, for finding sentences in prose, for lemmas and for function words. "auto" detects the language of each
        corpus from a sample of its text.
    text_column, date_column : str
        Of tables (jsonl, csv, tsv, parquet).
    """

    encoding: str = "utf-8"
    errors: str = "strict"
    split: str = "auto"
    language: str = AUTO
    text_column: str = "text"
    date_column: str | None = None

    def __post_init__(self) -> None:
        try:
            "".encode(self.encoding)  # refuses codecs that are not of text, such as hex
        except (LookupError, TypeError, ValueError):
            raise UserError(f"encoding {self.encoding!r} is not known; utf-8, utf-16, latin-1 and cp1252 are") from None
        checks.choice(self.errors, "errors", ("strict", "replace"))
        checks.choice(self.split, "split", get_args(Split))
        if not isinstance(self.language, str) or not _LANGUAGE.fullmatch(self.language):
            raise UserError(f"language must be auto or an ISO code such as de; got {self.language!r}")

    @property
    def codec(self) -> str:
        """The encoding by its one name."""
        return codecs.lookup(self.encoding).name

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes can be used as they are."""
        return self.codec in ("utf-8", "utf-8-sig")


@dataclass
class Tally:
    """What was read, and what was skipped or altered, by reason."""

    files: int = 0
    size: int = 0  # bytes on disk, read so far
    passages: int = 0  # lines or records with a word in them
    words: int = 0
    splits: Counter[str] = field(default_factory=Counter)  # files by how their lines were taken
    skipped: Counter[str] = field(default_factory=Counter)

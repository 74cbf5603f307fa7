"""The plan of a run: how much there is to do, how long it will take, and how much disk it will need."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple


class TimeRange(NamedTuple):
    """A shortest and a longest time, in seconds."""

    low: float
    high: float

    def plus(self, other: TimeRange) -> TimeRange:
        """Return the sum of two times.

        >>> TimeRange(1, 2).plus(TimeRange(10, 20))
        TimeRange(low=11, high=22)
        """
        return TimeRange(self.low + other.low, self.high + other.high)


@dataclass(frozen=True)
class CorpusPlan:
    """A corpus or period of a planned run.

    Attributes
    ----------
    name, path : str
    files, bytes, words : int
        Number of files and of their bytes, and of running words.
    language : str or None
        ISO code of the language.
    skipped : dict of str to int
        Counts of skipped or altered text, by reason.
    """

    name: str
    path: str
    files: int
    bytes: int
    words: int
    language: str | None
    skipped: dict[str, int]


@dataclass(frozen=True)
class StorePlan:
    """The usages of a planned run: of the words of the study, or of control words.

    Attributes
    ----------
    words, usages : int
        Number of words that occur in the corpora, and of their usages.
    held : int
        Number of these usages whose vectors are there already, from an earlier or an interrupted run.
    sentences : int
        Number of distinct sentences that must be encoded.
    vectors_bytes, table_bytes : int
        Size of the vectors, and about that of the table of usages with its index.
    """

    words: int
    usages: int
    held: int
    sentences: int
    vectors_bytes: int
    table_bytes: int


@dataclass(frozen=True)
class StudyPlan:
    """A description of what a run will do.

    Attributes
    ----------
    question : "compare", "discover", "trace" or "embed"
    senses : bool
        Whether senses will be sought.
    out : str or None
        The folder of the results, or of the store.
    corpora : list of CorpusPlan
    words : list of str
        The words of the study.
    choice : str
        How the words were chosen.
    encoder : str
    encoder_choice : str or None
        Why the encoder was chosen, if it was not named.
    targets : StorePlan
        The usages of the words.
    control : StorePlan or None
        The usages of control words, if they have a store of their own.
    seconds : dict of str to TimeRange
        Times of ``reading`` with loading the encoder, ``encoding``, and ``scoring`` with writing, and their ``total``.
    disk_bytes, peak_bytes : int
        Size of the results, and of all files while the run is going on.
    notes : list of str
        Further notes and warnings.
    """

    question: str
    senses: bool
    out: str | None
    corpora: list[CorpusPlan]
    words: list[str]
    choice: str
    encoder: str
    encoder_choice: str | None
    targets: StorePlan
    control: StorePlan | None
    seconds: dict[str, TimeRange]
    disk_bytes: int
    peak_bytes: int
    notes: list[str]

    def record(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        times = {name: [round(seconds, 1) for seconds in each] for name, each in self.seconds.items()}
        return asdict(self) | {"seconds": times}

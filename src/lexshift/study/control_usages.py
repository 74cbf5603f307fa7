"""The usages of control words, embedded in a store of their own or taken from the store of a whole vocabulary."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lexshift.corpus.occurrences import Occurrences
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.targets import Targets
from lexshift.encode import Encoder
from lexshift.scoring.space import Space
from lexshift.store.embedding import make_store, store_settings
from lexshift.store.format import INDEX
from lexshift.store.shards import EncodeShards
from lexshift.store.siblings import Siblings
from lexshift.study.control_words import MIN_COUNT, ControlWords
from lexshift.study.result_files import CONTROL, STORE
from lexshift.study.settings import Settings
from lexshift.utils.arrays import Array, Indices, Matrix
from lexshift.utils.monitor import ForwardingMonitor, Monitor, passing
from lexshift.utils.quantities import with_unit

MAX_USAGES = 40
"""Maximum number of usages of a control word in a period."""
CONTROL_SAMPLING = {"max_per_word": MAX_USAGES, "seed": 0, "shared": True}
_WARNING = "warning: "


@dataclass(frozen=True, eq=False)
class ControlUsages(Mapping[str, list[Matrix]]):
    """The usages of control words, at most 40 for a word and a period.

    As a mapping, it has the arrays of each word, one for each period in which the word occurs.

    Attributes
    ----------
    words : tuple of str
        The control words; empty if there are none.
    siblings : Siblings, optional
        The store of the usages; its corpora are the periods.
    source : "control", "store" or None
        The folder of that store in a results folder.
    note : str, optional
        The reason why there are no control words, if they were asked for.
    space : Space, optional
        The space of the vectors; None for vectors as they are stored.
    """

    words: tuple[str, ...] = ()
    siblings: Siblings | None = None
    source: str | None = None
    note: str | None = None
    space: Space | None = None

    def vectors(self, word: str, period: int) -> Matrix:
        """Return the vectors of a word in a period, an array of shape (n, d).

        Parameters
        ----------
        word : str
            One of the control words.
        period : int
            Index of the period.
        """
        rows = self._store.group(word, self._store.corpora[period])[self._sample(word, period)]
        return rows if self.space is None else self.space.apply(rows)

    def documents(self, word: str, period: int) -> Array:
        """Return the name of the file of each usage of a word in a period, (n,), in the order of the vectors."""
        return self._column("file", word, period)

    def sentences(self, word: str, period: int) -> Array:
        """Return the sentence of each usage of a word in a period, (n,), in the order of the vectors."""
        return self._column("sentence", word, period)

    def without(self, *words: str) -> ControlUsages:
        """Return the usages of all other control words; a word is left out whatever its case."""
        left_out = {word.casefold() for word in words}
        return replace(self, words=tuple(word for word in self.words if word.casefold() not in left_out))

    def in_space(self, space: Space | None) -> ControlUsages:
        """Return the same usages, with vectors in this space."""
        return replace(self, space=space)

    @property
    def identity(self) -> list[Any] | None:
        """The words and the fingerprint of the store, which determine the usages; None if there are none."""
        return [self.source, list(self.words), self._store.fingerprint] if self.words else None

    def record(self) -> dict[str, Any]:
        """Return the entry of ``run.json``: the words, where their usages are, and the numbers of usages."""
        record: dict[str, Any] = {"words": list(self.words), "source": self.source}
        if self.words:
            periods = range(len(self._store.corpora))
            usages = [sum(len(self._sample(word, period)) for word in self.words) for period in periods]
            distinct = [
                {sentence for word in self.words for sentence in self.sentences(word, period).tolist()}
                for period in periods
            ]
            record |= {
                "min_count": MIN_COUNT,
                "max_usages": MAX_USAGES,
                "usages": dict(zip(self._store.corpora, usages, strict=True)),
                "sentences": dict(zip(self._store.corpora, map(len, distinct), strict=True)),
                "fingerprint": self._store.fingerprint,
            }
        return record | {"note": self.note}

    @property
    def _store(self) -> Siblings:
        assert self.siblings is not None
        return self.siblings

    def _sample(self, word: str, period: int) -> Indices:
        """Return the positions of the sampled usages among those of a word in a period, ascending: (n,).

        Of usages with the same sentence only the first can be in the sample.
        """
        label = self._store.corpora[period]
        begin, end = self._store.rows(word, label)
        sentences = self._store.occurrences["sentence"].slice(begin, end - begin).to_pylist()
        first = np.array(list({sentence: i for i, sentence in reversed(list(enumerate(sentences)))}.values()), int)
        if len(first) <= MAX_USAGES:
            return np.sort(first)
        key = hashlib.blake2b(f"{word}\0{label}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        rng = np.random.default_rng(int.from_bytes(key, "little"))
        return np.sort(rng.choice(np.sort(first), MAX_USAGES, replace=False))

    def _column(self, name: str, word: str, period: int) -> Array:
        begin, end = self._store.rows(word, self._store.corpora[period])
        values = self._store.occurrences[name].slice(begin, end - begin).take(self._sample(word, period))
        return np.array(values.to_pylist(), object)

    def __getitem__(self, word: str) -> list[Matrix]:
        if word not in self.words:
            raise KeyError(f"{word!r} is not a control word")
        arrays = [self.vectors(word, period) for period in range(len(self._store.corpora))]
        return [rows for rows in arrays if len(rows)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)


def take_control_usages(chosen: ControlWords, siblings: Siblings) -> ControlUsages:
    """Return the usages of control words that a store of a whole vocabulary has; nothing is encoded.

    Parameters
    ----------
    chosen : ControlWords
    siblings : Siblings
        The store, which has all control words.
    """
    if chosen.targets is None:
        return ControlUsages(note=chosen.note)
    return ControlUsages(tuple(chosen.targets.words), siblings, STORE)


def read_controls(folder: Path, run: Mapping[str, Any], siblings: Siblings) -> ControlUsages | None:
    """Return the control words of saved results; None if the store of their usages is not there any more.

    Parameters
    ----------
    folder : Path
        The results folder.
    run : mapping
        The record of the run.
    siblings : Siblings
        The store of the words of the study.
    """
    record = run.get("control")
    if record is None:
        return None
    words = tuple(record["words"])
    if not words:
        return ControlUsages(note=record["note"])
    if record["source"] == CONTROL:
        if not (folder / CONTROL / INDEX).exists():
            return None
        siblings = Siblings(folder / CONTROL).select(siblings.corpora)
    if siblings.fingerprint != record["fingerprint"]:
        return None
    return ControlUsages(words, siblings, record["source"])


def embed_control_words(
    chosen: ControlWords,
    results: Path | None,
    reader: CorpusReader,
    settings: Settings,
    encoder: Encoder,
    encode: EncodeShards | None,
    monitor: Monitor,
) -> ControlUsages:
    """Find the usages of control words, and embed those that their store lacks.

    Parameters
    ----------
    chosen : ControlWords
    results : Path, optional
        The results folder; by default the store is temporary.
    reader : CorpusReader
        Reader of the corpora, with any sampling.
    settings : Settings
        Its ``match``, ``precision`` and ``by``.
    encoder : Encoder
    encode : callable, optional
        Encodes shards elsewhere than in this process.
    monitor : Monitor
    """
    if chosen.targets is None:
        return ControlUsages(note=chosen.note)
    folder = None if results is None else results / CONTROL
    prefixed = PrefixedMonitor(monitor)
    sampler = replace(reader, sampling=CONTROL_SAMPLING, monitor=prefixed)

    def scan(targets: Targets) -> dict[str, Occurrences]:
        occurrences = sampler.scan(targets)
        where = "both corpora" if len(occurrences) == 2 else "the corpora"
        monitor.note(f"comparing with {len(targets.words):,} ordinary words of {where}")
        if note := _describe_work(occurrences, folder):
            passing(prefixed).note(note)
        return occurrences

    siblings = make_store(
        folder,
        chosen.targets,
        store_settings(reader.readings, settings.match, CONTROL_SAMPLING, settings.precision, settings.by),
        encoder,
        scan,
        prefixed,
        labels=None if settings.by else list(reader.corpora),
        missing="skip",
        extend=False,
        encode=encode,
    )
    return ControlUsages(tuple(word for word in chosen.targets.words if word in siblings), siblings, CONTROL)


def _describe_work(occurrences: Mapping[str, Occurrences], folder: Path | None) -> str | None:
    """Return a note on the sentences that must be encoded for the control words, or None if there are none."""
    is_stored = folder is not None and (folder / INDEX).exists()
    stored = set(Siblings(folder).occurrences["sentence"].to_pylist()) if folder is not None and is_stored else set()
    sentences = {text for corpus in occurrences.values() for text in corpus.table["sentence"].to_pylist()} - stored
    if not sentences:
        return None
    n_usages = sum(len(corpus.table) for corpus in occurrences.values())
    amount = f"{with_unit(n_usages, 'usages')}, {with_unit(len(sentences), 'sentences')} to encode"
    return f"{amount}; --control none leaves them out"


class PrefixedMonitor(ForwardingMonitor):
    """A monitor that says of each stage and note what it concerns, by default the control words."""

    def __init__(self, monitor: Monitor, prefix: str = "control words") -> None:
        super().__init__(monitor)
        self._prefix = prefix

    @property
    def passing(self) -> Monitor:
        """The monitor for notes about the work of a run."""
        return PrefixedMonitor(passing(self._monitor))

    def stage(self, name: str, total: int, unit: str) -> None:
        """Begin a stage."""
        super().stage(f"{self._prefix}: {name}", total, unit)

    def note(self, text: str) -> None:
        """Show a note to the user."""
        is_warning = text.startswith(_WARNING)
        super().note(f"{_WARNING * is_warning}{self._prefix}: {text.removeprefix(_WARNING)}")

"""Where the target words are: every occurrence with its sentence and its span."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from lexshift.corpus.blocks import read_blocks
from lexshift.corpus.keeping import Keeper, tell_left_out
from lexshift.corpus.language import resolved
from lexshift.corpus.reading import Reading, Tally
from lexshift.corpus.scanning import scanned
from lexshift.corpus.sources import Source, find_sources
from lexshift.corpus.targets import Targets
from lexshift.errors import UserError
from lexshift.utils.arrays import Array
from lexshift.utils.seeds import check_seed


@dataclass(frozen=True)
class Occurrences:
    """The occurrences of all targets in a corpus.

    Attributes
    ----------
    table : pyarrow.Table
        Columns target (index), file, line, date, sentence, start, end (character offsets into the sentence) and
        priority, ordered by target and place.
    found : (targets,) numbers of occurrences, before sampling
    tally : Tally
    content : str
        SHA-256 over the corpus's files.
    """

    table: pa.Table
    found: Array
    tally: Tally
    content: str


def find_occurrences(
    corpus: str | os.PathLike[str],
    targets: Targets,
    reading: Reading | None = None,
    max_per_word: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Occurrences:
    """Read a corpus once and keep every occurrence of the targets, or a sample of ``max_per_word`` of each.

    ``progress`` is called with the bytes read so far and those there are (0 for standard input).
    """
    targets.candidates  # noqa: B018  forms that cannot be found are refused before anything is read
    tally, hashes = Tally(), dict[str, str]()
    sources = find_sources(corpus)
    total = sum(os.path.getsize(source.path) for source in sources if os.path.exists(source.path))
    told = None if progress is None else lambda: progress(tally.size, total)
    how = resolved(reading or Reading(), corpus)
    table, found = scan_sources(sources, targets, how, max_per_word, seed, tally, hashes, told)
    return occurrences_in(table, found, tally, hashes, os.fspath(corpus), max_per_word)


def scan_sources(
    sources: Sequence[Source],
    targets: Targets,
    reading: Reading,
    max_per_word: int | None,
    seed: int,
    tally: Tally,
    hashes: dict[str, str],
    progress: Callable[[], None] | None = None,
    shared: bool = False,
) -> tuple[pa.Table, Array]:
    """The occurrences in some files, or a sample of them, and how many there are of each target: (targets,).

    ``tally`` and ``hashes`` are added to, as :func:`read_blocks` does. ``shared`` is for samples of very many words.
    """
    keeper = Keeper(targets, max_per_word, check_seed(seed), shared)
    for source in sources:
        keeper.enter_file(source.name)
        for block, hits in scanned(read_blocks(source, reading, tally, hashes), targets, tally):
            keeper.add(block, hits, reading.language, tally)
            if progress is not None:
                progress()
    if progress is not None:
        progress()
    return keeper.rows(), keeper.found


def occurrences_in(
    table: pa.Table, found: Array, tally: Tally, hashes: dict[str, str], corpus: str, max_per_word: int | None
) -> Occurrences:
    """What was found in all files of a corpus, which must have a word in it."""
    if not tally.words:
        raise UserError(f"the corpus {corpus!r} is empty: there is no word in it")
    tell_left_out(found, max_per_word, tally)
    content = hashlib.sha256(repr(sorted(hashes.items())).encode()).hexdigest()
    return Occurrences(table, found, tally, content)

"""Where in blocks of text the target words may be: a kernel over the bytes, and several blocks at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from lexshift.corpus.blocks import Block
from lexshift.corpus.reading import Tally
from lexshift.corpus.targets import Targets
from lexshift.corpus.words import ends_by_script, marks, prepare_ascii, scan, scan_ascii, scan_unspaced
from lexshift.utils.arrays import Array
from lexshift.utils.threads import available_cores

_HITS = 1 << 15  # the scan's buffer, in hits
_LARGEST = 1 << 23  # bytes of a block for which there is scratch memory; only very long lines make larger ones
_AHEAD = 4  # blocks read ahead for each worker
_AHEAD_BYTES = 1 << 26  # of all blocks read ahead, so that very long lines do not fill the memory
_local = threading.local()


def scanned(blocks: Iterator[Block], targets: Targets, tally: Tally) -> Iterator[tuple[Block, Array]]:
    """Each block with its hits, (hits, 6) as the scan gives them; blocks are scanned beside one another, in order."""
    workers = min(4, available_cores())
    ahead: deque[tuple[Block, Future[tuple[Array, Array]]]] = deque()

    def oldest() -> tuple[Block, Array]:
        block, future = ahead.popleft()
        hits, counts = future.result()
        tally.words += int(counts[0])
        tally.passages += int(counts[1])
        return block, hits

    with ThreadPoolExecutor(workers) as pool:
        for block in blocks:
            ahead.append((block, pool.submit(_scan_block, block.data, targets)))
            held = sum(len(waiting.data) for waiting, _ in ahead)
            if len(ahead) > _AHEAD * workers or held > _AHEAD_BYTES or ahead[0][1].done():
                yield oldest()
        while ahead:
            yield oldest()


def _scan_block(data: bytes, targets: Targets) -> tuple[Array, Array]:
    """Hits, (hits, 6), and counts of words and of lines with words, (2,)."""
    array, ascii_only = np.frombuffer(data, np.uint8), data.isascii()
    if ascii_only and len(data) <= _LARGEST:
        return _scan_ascii(array, targets)
    hits, counts = _scan_any(array, targets)
    if targets.longest_unspaced and not ascii_only:
        hits = np.concatenate([hits, _scan_unspaced(array, targets)])
        hits = hits[np.argsort(hits[:, 4], kind="stable")]
    return hits, counts


def _scan_ascii(array: Array, targets: Targets) -> tuple[Array, Array]:
    words, counts = targets.word_table, np.zeros(2, np.int64)
    folded, newlines, places = _scratch(len(array))
    lines, n = prepare_ascii(array, words.folding, words.beginnings, folded, newlines, places, counts)
    hits = np.empty((n, 6), np.int64)
    return hits[: scan_ascii(folded, newlines[: lines + 1], places[:n], words.keys, words.values, hits)], counts


def _scratch(n: int) -> tuple[Array, Array, Array]:
    """Arrays for a block of n bytes, each thread's own and used again: memory that is new to a process is slow."""
    if n > getattr(_local, "size", -1):
        _local.size = n
        _local.folded = np.empty(n + 4, np.uint8)
        _local.newlines, _local.places = (np.empty(n + 1, np.int32) for _ in range(2))
    return _local.folded[: n + 4], _local.newlines[: n + 1], _local.places[: n + 1]


def _scan_unspaced(array: Array, targets: Targets) -> Array:
    """Return the hits inside runs of scripts that are written without spaces: (hits, 6)."""
    words, size = targets.unspaced_table, _HITS
    while True:
        hits = np.empty((size, 6), np.int64)
        n = scan_unspaced(array, targets.table, marks(), words.keys, words.values, targets.longest_unspaced, hits)
        if n <= size:
            return hits[:n]
        size = n


def _scan_any(array: Array, targets: Targets) -> tuple[Array, Array]:
    table, words, by_script = targets.table, targets.word_table, ends_by_script(array, targets.table)
    buffer, counts, found = np.empty((_HITS, 6), np.int64), np.zeros(2, np.int64), []
    at = line = 0
    while at < len(array):
        n, next_at, line = scan(array, at, line, table, words.keys, words.values, buffer, counts, by_script)
        if next_at == at:  # one line with more hits than the buffer holds
            buffer = np.empty((4 * len(buffer), 6), np.int64)
        found.append(buffer[:n].copy())
        at = next_at
    return np.concatenate(found) if found else buffer[:0], counts

"""Scan UTF-8 bytes for target words: compiled kernels, applied to several blocks at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from lexshift.corpus.passages import Block
from lexshift.corpus.sources import Tally
from lexshift.corpus.targets import Targets
from lexshift.corpus.word_rule import (
    FILTER_BITS,
    FILTER_MULTIPLIER,
    FIRST_UNSPACED,
    MULTIPLIER,
    FoldTable,
    ends_by_script,
    folded_at,
    goes_on,
    marks,
    script_kind,
)
from lexshift.utils.arrays import Array
from lexshift.utils.kernels import kernel
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


@kernel
def scan(
    data: npt.NDArray[np.uint8],
    at: int,
    line: int,
    table: FoldTable,
    keys: npt.NDArray[np.uint64],
    values: Array,
    hits: Array,
    counts: Array,
    by_script: bool | None = None,
) -> tuple[int, int, int]:
    """Find the words of a hash table in UTF-8 text, from byte ``at`` on, which begins a line.

    data : (n,) bytes, table : (characters,), keys, values : (slots,)
    hits : (most, 6), filled with number, line, and in bytes start and end of the line, start and end of the word
    counts : (2,), to which the words and the lines with a word in them are added

    Returns the number of hits, and the byte and line to go on at: n and the last line if all of the text was read, else
    the start of the line whose hits did not fit. Two words that share a 64-bit hash would be taken for one another.
    With ``by_script`` a word also ends where a script written without spaces meets another one; a run of such a script
    is counted as one word. It is None or True, as numba then compiles the loop without and with that.
    """
    n, last = len(data), np.uint64(len(keys) - 1)
    multiplier, shift, one, nothing = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(1), np.uint64(0)
    found = kept = 0  # hits so far, and hits in lines that are complete
    words = before = 0  # words so far, and those before this line
    line_start, start, i = at, -1, at  # start: of the word that i is in, or -1
    h, kind = nothing, 0
    while i <= n:
        code, size = folded_at(data, i, table) if i < n else (np.uint32(0), 1)
        if code != 0:
            if start < 0:
                start, h = i, nothing
                if by_script is not None:
                    kind = script_kind(code) & 1
            same = True
            if by_script is not None:
                same = goes_on(code, kind)
            if same:
                h = (h + np.uint64(code)) * multiplier
                i += size
                continue
        if start >= 0:
            h = h ^ (h >> shift)
            if h == nothing:
                h = one
            slot = h & last
            while keys[slot] != nothing:
                if keys[slot] == h:
                    if found == len(hits):
                        counts[0] += before
                        return kept, line_start, line
                    hits[found, 0] = values[slot]
                    hits[found, 1] = line
                    hits[found, 2] = line_start
                    hits[found, 4] = start
                    hits[found, 5] = i
                    found += 1
                    break
                slot = (slot + one) & last
            words += 1
            start = -1
            if code != 0:
                continue
        if i == n or data[i] == 10:
            counts[1] += words > before
            for k in range(kept, found):
                hits[k, 3] = i
            before, kept = words, found
            line_start = i + 1
            line += 1
        i += size
    counts[0] += words
    return found, n, line


@kernel
def scan_unspaced(
    data: npt.NDArray[np.uint8],
    table: FoldTable,
    marks: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.uint64],
    values: Array,
    longest: int,
    hits: Array,
) -> int:
    """Find words of a hash table anywhere inside runs of scripts that are written without spaces.

    data : (n,) bytes, table, marks : (characters,), keys, values : (slots,)
    hits : (most, 6), filled as by :func:`scan`
    longest : number of characters of the longest word

    A word does not end before a combining mark, which belongs to its last letter, and does not begin after a sign that
    stacks the next consonant (Khmer U+17D2, Myanmar U+1039). Words may overlap.

    Returns the number of hits; where that is more than ``most``, only the first are in ``hits``.
    """
    n, last = len(data), np.uint64(len(keys) - 1)
    multiplier, shift, one, nothing = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(1), np.uint64(0)
    found = complete = line = line_start = i = 0
    stacks = False
    while i <= n:
        code, size = folded_at(data, i, table) if i < n else (np.uint32(0), 1)
        if code >= FIRST_UNSPACED and script_kind(code) == 1 and not stacks:
            h, end, letter, width = nothing, i, code, size
            for _ in range(longest):
                h = (h + np.uint64(letter)) * multiplier
                end += width
                letter, width = folded_at(data, end, table) if end < n else (np.uint32(0), 1)
                if letter == 0 or not marks[letter]:
                    key = h ^ (h >> shift)
                    if key == nothing:
                        key = one
                    slot = key & last
                    while keys[slot] != nothing and keys[slot] != key:
                        slot = (slot + one) & last
                    if keys[slot] == key:
                        if found < len(hits):
                            hits[found, 0] = values[slot]
                            hits[found, 1] = line
                            hits[found, 2] = line_start
                            hits[found, 4] = i
                            hits[found, 5] = end
                        found += 1
                if letter == 0 or script_kind(letter) == 0:
                    break
        stacks = code == 0x17D2 or code == 0x1039
        if i == n or data[i] == 10:
            for k in range(complete, min(found, len(hits))):
                hits[k, 3] = i
            complete = found
            line += 1
            line_start = i + 1
        i += size
    return found


@kernel
def prepare_ascii(
    data: npt.NDArray[np.uint8],
    folding: npt.NDArray[np.uint8],
    beginnings: npt.NDArray[np.uint8],
    folded: npt.NDArray[np.uint8],
    newlines: Array,
    places: Array,
    counts: Array,
) -> tuple[int, int]:
    """Find the lines of ASCII text and the places where one of the words may begin, in loops without a branch.

    data : (n,) bytes, folding : (256,), beginnings : (2 ** 14,), counts : (2,) as for :func:`scan`
    folded : (n + 4,), filled with a 0, the folded text, and three more
    newlines, places : (n + 1,), filled with byte positions

    Returns how many lines and places there are.
    """
    n, lines, found, words = len(data), 0, 0, 0
    folded[0] = folded[n + 1] = folded[n + 2] = folded[n + 3] = 0
    for i in range(n):
        folded[i + 1] = folding[data[i]]
    for i in range(n):
        words += (folded[i] == 0) & (folded[i + 1] != 0)
    for i in range(n):
        newlines[lines] = i
        lines += data[i] == 10
    for i in range(n):
        window = (
            np.uint32(folded[i])
            | (np.uint32(folded[i + 1]) << np.uint32(8))
            | (np.uint32(folded[i + 2]) << np.uint32(16))
            | (np.uint32(folded[i + 3]) << np.uint32(24))
        )
        places[found] = i
        found += beginnings[np.uint32(window * np.uint32(FILTER_MULTIPLIER)) >> np.uint32(32 - FILTER_BITS)]
    newlines[lines] = n
    start = 0
    for k in range(lines + 1):
        while start < newlines[k] and folded[start + 1] == 0:
            start += 1
        counts[1] += start < newlines[k]
        start = newlines[k] + 1
    counts[0] += words
    return lines, found


@kernel
def scan_ascii(
    folded: npt.NDArray[np.uint8],
    newlines: Array,
    places: Array,
    keys: npt.NDArray[np.uint64],
    values: Array,
    hits: Array,
) -> int:
    """Look up the words that begin at some places; as :func:`scan` for ASCII text.

    folded : (n + 4,), newlines : (lines + 1,), places : (places,), as :func:`prepare_ascii` leaves them
    keys, values : (slots,), hits : (places, 6), filled as by :func:`scan`

    Returns the number of hits.
    """
    last, nothing, one = np.uint64(len(keys) - 1), np.uint64(0), np.uint64(1)
    found = line = 0
    for start in places:
        if folded[start] != 0 or folded[start + 1] == 0:
            continue
        h, end = nothing, start
        while folded[end + 1] != 0:
            h = (h + np.uint64(folded[end + 1])) * np.uint64(MULTIPLIER)
            end += 1
        h = h ^ (h >> np.uint64(32))
        if h == nothing:
            h = one
        slot = h & last
        while keys[slot] != nothing and keys[slot] != h:
            slot = (slot + one) & last
        if keys[slot] == h:
            while newlines[line] < start:
                line += 1
            hits[found, 0] = values[slot]
            hits[found, 1] = line
            hits[found, 2] = newlines[line - 1] + 1 if line > 0 else 0
            hits[found, 3] = newlines[line]
            hits[found, 4] = start
            hits[found, 5] = end
            found += 1
    return found

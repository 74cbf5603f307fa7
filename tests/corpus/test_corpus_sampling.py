"""Test that a sample of occurrences depends only on their positions and is uniform."""

from __future__ import annotations

import hashlib

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from lexshift.corpus.sampling import place_key, priorities, smallest

WIDE = st.integers(0, 2**64 - 1)
MASK = 2**64 - 1


def mixed(x: int) -> int:
    """Compute SplitMix64 with Python integers."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def test_key_depends_on_seed_file_and_word() -> None:
    digest = hashlib.blake2b("3\0a/b.txt\0Mäuse".encode(), digest_size=8).digest()
    assert place_key(3, "a/b.txt", "Mäuse") == int.from_bytes(digest, "little")
    keys = {place_key(s, f, w) for s in range(5) for f in ("", "a", "b", "-") for w in ("mouse", "mice", "a")}
    assert len(keys) == 5 * 4 * 3


@given(st.lists(st.tuples(WIDE, st.integers(1, 2**40), st.integers(0, 2**31)), max_size=20))
@example([(0, 1, 0), (MASK, 2**40, 2**31)])
def test_hashes_of_positions_equal_integer_arithmetic(places: list[tuple[int, int, int]]) -> None:
    keys = np.array([key for key, _, _ in places], np.uint64)
    lines, positions = (np.array([place[i] for place in places], np.int64) for i in (1, 2))
    expected = [mixed(mixed(key ^ mixed(line)) ^ position) for key, line, position in places]
    assert priorities(keys, lines, positions).tolist() == expected


def test_hashes_of_neighbouring_positions_differ_and_cover_the_whole_range() -> None:
    lines, positions = (grid.ravel() for grid in np.meshgrid(np.arange(1, 201), np.arange(200)))
    hashes = priorities(np.full(len(lines), place_key(0, "x.txt", "mouse"), np.uint64), lines, positions)
    assert len(np.unique(hashes)) == 40_000
    counts = np.bincount((hashes >> np.uint64(58)).astype(np.int64), minlength=64)
    assert np.sum((counts - 625) ** 2 / 625) < 63 + 6 * np.sqrt(2 * 63)


@given(st.lists(st.tuples(st.integers(0, 4), WIDE | st.integers(0, 3)), max_size=60), st.integers(1, 8))
@example([], 1)
def test_smallest_hashes_equal_the_first_after_sorting(rows: list[tuple[int, int]], most: int) -> None:
    expected: list[int] = []
    for target in {target for target, _ in rows}:
        mine = [(value, i) for i, (t, value) in enumerate(rows) if t == target]
        expected += [i for _, i in sorted(mine)[:most]]
    targets = np.array([target for target, _ in rows], np.int32)
    hashes = np.array([value for _, value in rows], np.uint64)
    assert smallest(targets, hashes, most).tolist() == sorted(expected)


@given(
    st.lists(st.tuples(st.integers(0, 2), WIDE), max_size=60, unique_by=lambda row: row[1]),
    st.integers(1, 8),
    st.data(),
)
def test_samples_of_parts_merge_into_the_sample_of_the_whole(
    rows: list[tuple[int, int]], most: int, data: st.DataObject
) -> None:
    targets = np.array([target for target, _ in rows], np.int32)
    hashes = np.array([value for _, value in rows], np.uint64)
    part = np.array([data.draw(st.booleans()) for _ in rows], bool)
    kept = [np.flatnonzero(which)[smallest(targets[which], hashes[which], most)] for which in (part, ~part)]
    both = np.sort(np.concatenate(kept))
    merged = both[smallest(targets[both], hashes[both], most)]
    assert merged.tolist() == smallest(targets, hashes, most).tolist()


def test_every_position_is_sampled_about_equally_often() -> None:
    seeds, most = 2000, 10
    lines, positions = (grid.ravel() for grid in np.meshgrid(np.arange(1, 11), 6 * np.arange(5)))
    taken = np.zeros(50, np.int64)
    for seed in range(seeds):
        keys = np.full(50, place_key(seed, "x.txt", "mouse"), np.uint64)
        taken[smallest(np.zeros(50, np.int32), priorities(keys, lines, positions), most)] += 1
    expected, share = seeds * most / 50, most / 50
    assert taken.sum() == seeds * most
    # 49 degrees of freedom: the mean of the statistic is 49 and its deviation about 10
    assert np.sum((taken - expected) ** 2) / (expected * (1 - share)) < 49 + 5 * np.sqrt(2 * 49)

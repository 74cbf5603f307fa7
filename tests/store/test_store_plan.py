"""Test the encoding plan of a store: the sentences, their order, the shards, and reuse of an existing store."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stores import build_store

from lexshift.store.plan import plan_encoding

occurrences = st.lists(
    st.tuples(st.text("ab é", min_size=3, max_size=9), st.integers(0, 1), st.integers(2, 3)), min_size=1, max_size=30
)


def table_of(rows: list[tuple[str, int, int]]) -> pa.Table:
    sentences, starts, ends = zip(*rows, strict=True)
    return pa.table(
        {"sentence": pa.array(sentences), "start": pa.array(starts, pa.int32()), "end": pa.array(ends, pa.int32())}
    )


@given(occurrences, st.integers(1, 40))
def test_plan_has_every_distinct_word_in_a_sentence_once_and_maps_every_row(
    rows: list[tuple[str, int, int]], characters: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lexshift.store.plan.SHARD_CHARACTERS", characters)
        work = plan_encoding(table_of(rows))
    _, sentences, spans, _ = work.select(range(len(work)))
    todo = [(sentence, *span) for sentence, span in zip(sentences, spans, strict=True)]
    assert len(todo) == len(set(todo)) == len(set(rows))
    assert [todo[place] for place in work.positions] == rows
    lengths = [len(sentence) for sentence in sentences]
    assert lengths == sorted(lengths)
    assert work.reused == 0

    assert (work.bounds[0], work.bounds[-1]) == (0, len(work))
    shards = [sentences[begin:end] for begin, end in pairwise(work.bounds)]
    assert work.sizes.tolist() == [[sum(map(len, set(shard))), len(set(shard))] for shard in shards]
    assert all(shards)
    for before, after in pairwise(shards):
        assert before[-1] != after[0]  # a sentence is in one shard
        size = sum(map(len, set(before)))
        assert size >= characters > size - len(before[-1])


def test_plan_depends_on_row_positions_only_for_the_order_of_equal_lengths() -> None:
    rows = [("aaa", 0, 2), ("b", 0, 1), ("aaa", 0, 3), ("aaa", 0, 2), ("cc", 1, 2)]
    work = plan_encoding(table_of(rows))
    assert work.select(range(4)) == (0, ["b", "cc", "aaa", "aaa"], [(0, 1), (1, 2), (0, 2), (0, 3)], {})
    assert work.positions.tolist() == [2, 0, 3, 2, 1]
    assert work.bounds == [0, 4]


@given(
    st.lists(st.tuples(st.integers(0, 2**31 - 2), st.integers(1, 2**31 - 1)).filter(lambda s: s[0] < s[1]), min_size=1)
)
@example([(0, 2**20 + 5), (1, 5)])
@example([(0, 2**31 - 1), (2**31 - 2, 2**31 - 1)])
def test_spans_reach_the_encoder_unchanged_at_any_offset(spans: list[tuple[int, int]]) -> None:
    work = plan_encoding(table_of([("abc", *span) for span in spans]))
    todo = work.select(range(len(work))).spans
    assert [todo[place] for place in work.positions] == spans
    assert todo == sorted(set(spans))


def test_finished_work_of_a_store_is_not_repeated(tmp_path: Path) -> None:
    store = build_store(tmp_path)
    rows = [("a plane", 2, 7), ("a plane", 0, 1), ("the mouse ran under the mouse", 24, 29)]
    work = plan_encoding(table_of(rows), store)
    assert work.select(range(len(work))) == (0, ["a plane"], [(0, 1)], {})
    assert work.reused == 18
    known = store.occurrences.to_pylist()
    assert work.positions[1] == 18
    for place, row in zip(work.positions[[0, 2]], (rows[0], rows[2]), strict=True):
        assert (known[place]["sentence"], known[place]["start"], known[place]["end"]) == row

"""Test that JSON files are read as records, whatever their form."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus.formats.json_document import field_names, json_records
from lexshift.corpus.records import Record
from lexshift.corpus.sources import Reading, Source
from lexshift.errors import UserError

DATED = Reading(date_column="date")


def read(data: Any, reading: Reading | None = None) -> list[Record]:
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    return list(json_records(io.BytesIO(content), Source("a.json", "a.json", "json"), reading or Reading()))


@given(st.lists(st.tuples(st.text(max_size=8), st.one_of(st.none(), st.text(max_size=4), st.integers(0, 9999)))))
def test_records_are_read_in_every_form(pairs: list[tuple[str, Any]]) -> None:
    rows = [{"text": text, "date": date, "other": [1, {"a": 2}]} for text, date in pairs]
    expected = [Record(i, text, date) for i, (text, date) in enumerate(pairs, 1)]
    assert read(rows, DATED) == expected
    assert read(json.dumps(rows, indent=2).encode(), DATED) == expected
    assert read({"meta": {"n": 1}, "data": rows}, DATED) == expected
    assert read("\n".join(map(json.dumps, rows)).encode(), DATED) == expected
    assert read([text for text, _ in pairs]) == [Record(i, text) for i, (text, _) in enumerate(pairs, 1)]


def test_byte_order_mark_is_ignored() -> None:
    assert read(b'\xef\xbb\xbf [{"text": "a"}]') == [Record(1, "a")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[{'text'}]", "'a.json' is not valid JSON"),
        (b'[{"text": "a"}, {"tex', "'a.json' is not valid JSON"),
        (b'[{"body": "a"}]', r"'a.json' has no column 'text' in record 1: name one of 'body' with --text-column"),
        (b'[{"text": "a"}, 3]', r"'a.json' has int '3' in record 2, not a JSON object"),
        (b'{"a": [], "b": []}', r"'a.json' is a JSON object with the keys 'a', 'b', not a list of records"),
        (b"3", r"'a.json' has int '3' in record 1"),
    ],
)
def test_faults_are_explained(data: bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(data)


def test_field_names_are_those_of_the_first_record() -> None:
    source = Source("a.json", "a.json", "json")
    assert field_names(io.BytesIO(b'[{"text": "a", "date": 1}, {"b": 2}]'), source, Reading()) == ["text", "date"]
    assert field_names(io.BytesIO(b'["a"]'), source, Reading()) == []

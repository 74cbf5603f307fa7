"""Test that studies of Python objects give the results of files with the same text, and reuse their stores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lexshift import UserError, compare, demo_corpora, discover, embed, find_senses, load, trace
from lexshift.corpus import Corpus
from lexshift.demo import ExampleEncoder
from lexshift.report.methods import facts

FAST: dict[str, Any] = {"model": ExampleEncoder(), "resamples": 20, "permutations": 199, "monitor": False}
WORDS = ["mouse", "bread", "river"]
OLD, NEW = (path.read_text("utf-8").splitlines() for path in demo_corpora())


class CountingEncoder(ExampleEncoder):
    """An encoder that counts the sentences it encodes."""

    def __init__(self) -> None:
        self.encoded = 0

    def encode(self, sentences: Any, spans: Any) -> Any:
        self.encoded += len(sentences)
        return super().encode(sentences, spans)


def generate(texts: list[str]) -> Iterator[str]:
    yield from texts


def make_frame(texts: list[str]) -> pd.DataFrame:
    """Return a table in which four texts are a document."""
    return pd.DataFrame({"text": texts, "book": [f"book {i // 4}" for i in range(len(texts))]})


STRINGS: dict[str, Callable[[list[str]], Corpus]] = {
    "list": lambda texts: texts,
    "generator": generate,
    "Series": pd.Series,
    "DataFrame": make_frame,
    "Table": lambda texts: pa.table({"text": texts}),
    "dicts": lambda texts: [{"text": text} for text in texts],
    "pairs": lambda texts: [("1999", text) for text in texts],
}


@pytest.mark.parametrize("make", STRINGS.values(), ids=STRINGS)
def test_comparison_of_objects_is_that_of_files(make: Callable[[list[str]], Corpus]) -> None:
    options = FAST | {"words": WORDS, "max_per_word": None}
    result, expected = compare(make(OLD), make(NEW), **options), compare(*demo_corpora(), **options)
    pd.testing.assert_frame_equal(result.table, expected.table)
    assert result.labels == ("old", "new")


def test_documents_of_a_frame_are_those_of_a_file(tmp_path: Path) -> None:
    frames, files = [make_frame(OLD), make_frame(NEW)], [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for frame, file in zip(frames, files, strict=True):
        frame.to_parquet(file)
    options = FAST | {"words": WORDS, "max_per_word": None, "document_column": "book"}
    result, expected = compare(*frames, **options), compare(*files, **options)
    pd.testing.assert_frame_equal(result.table, expected.table)
    assert result.run["permuted_units"] == {"documents": 3}


def test_samples_are_those_of_files_with_the_names_of_the_corpora(tmp_path: Path) -> None:
    for name, texts in (("old", OLD), ("new", NEW)):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n", "utf-8")
        make_frame(texts).to_parquet(tmp_path / f"{name}.parquet")
    options = FAST | {"words": WORDS, "max_per_word": 12}
    pairs: list[tuple[str, tuple[Corpus, Corpus]]] = [
        ("txt", (OLD, generate(NEW))),
        ("parquet", (make_frame(OLD), make_frame(NEW))),
    ]
    for suffix, corpora in pairs:
        expected = compare(tmp_path / f"old.{suffix}", tmp_path / f"new.{suffix}", **options)
        result = compare(*corpora, labels=["early", "late"], **options)
        pd.testing.assert_frame_equal(result.table, expected.table)
        usages = result.word("mouse").usages("late")
        pd.testing.assert_frame_equal(usages, expected.word("mouse").usages("new"))
        assert set(usages["file"]) == {f"new.{suffix}"}


def test_discovery_and_senses_of_objects_are_those_of_files() -> None:
    options = FAST | {"min_count": 25, "max_per_word": None}
    found = discover(generate(OLD), generate(NEW), **options)
    expected = discover(*demo_corpora(), **options)
    pd.testing.assert_frame_equal(found.table, expected.table)
    options = {name: value for name, value in FAST.items() if name != "resamples"} | {"max_per_word": None}
    senses = find_senses(OLD, tuple(NEW), words=WORDS, **options)
    pd.testing.assert_frame_equal(senses.sense_table, find_senses(*demo_corpora(), words=WORDS, **options).sense_table)


def test_trace_of_dated_objects_is_that_of_a_table(tmp_path: Path) -> None:
    dates = pd.to_datetime([f"{1990 + i % 3}-0{1 + i % 9}-15" for i in range(len(OLD))])
    frame = pd.DataFrame({"text": OLD, "when": dates})
    frame.to_parquet(tmp_path / "table.parquet")
    options = FAST | {"words": WORDS, "by": "year", "max_per_word": None, "control": None}
    expected = trace(tmp_path / "table.parquet", date_column="when", **options)
    results = [
        trace(frame, date_column="when", **options),
        trace(zip(dates, OLD, strict=True), **options),
        trace(list(zip(dates.to_numpy(), OLD, strict=True)), **options),
        trace(list(zip(dates.year, OLD, strict=True)), **options),
        trace(list(zip(dates.to_period("M"), OLD, strict=True)), **options),
        trace(
            ({"when": day.date(), "text": text} for day, text in zip(dates, OLD, strict=True)),
            date_column="when",
            **options,
        ),
    ]
    for result in results:
        pd.testing.assert_frame_equal(result.table, expected.table)
        pd.testing.assert_frame_equal(result.steps, expected.steps)


def test_periods_of_objects_are_numbered() -> None:
    options = FAST | {"words": ["mouse"], "control": None}
    assert list(trace(OLD, NEW, OLD[::-1], **options).periods) == ["period 1", "period 2", "period 3"]
    assert embed(OLD, NEW, OLD[::-1], words=["mouse"], model=ExampleEncoder()).corpora == [
        "period 1",
        "period 2",
        "period 3",
    ]
    assert compare(OLD, demo_corpora()[1], **options).labels == ("old", "new")


def test_list_of_texts_has_no_periods() -> None:
    with pytest.raises(UserError, match=r"texts without dates have no periods: give \(date, text\) pairs"):
        trace(OLD, by="year", words=["mouse"], **FAST)


def test_vectors_of_objects_are_those_of_files() -> None:
    ours = embed(OLD, generate(NEW), words=WORDS, model=ExampleEncoder())
    theirs = embed(*demo_corpora(), words=WORDS, model=ExampleEncoder())
    for word in WORDS:
        np.testing.assert_array_equal(ours[word].old, theirs[word].old)
        np.testing.assert_array_equal(ours[word].new, theirs[word].new)


def test_record_has_the_type_and_the_number_of_texts_in_place_of_a_path(tmp_path: Path) -> None:
    compare(make_frame(OLD), generate(NEW), words=WORDS, out=tmp_path / "out", **FAST)
    result = load(tmp_path / "out")
    first, second = result.run["corpora"]
    assert (first["object"], first["records"], second["object"]) == ("DataFrame", len(OLD), "generator")
    assert "path" not in first
    assert len(first["content"]) == 64
    shown = dict(facts(result))
    assert shown["corpus old"].startswith(f"DataFrame of {len(OLD)} records, ")
    assert f"DataFrame of {len(OLD)} records" in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "lexshift-" not in json.dumps(result.run["corpora"])


def test_equal_objects_reuse_the_store_and_others_are_refused(tmp_path: Path) -> None:
    encoder = CountingEncoder()
    options = FAST | {"model": encoder, "out": tmp_path / "out", "control": None}
    compare(OLD, NEW, words=WORDS, **options)
    done = encoder.encoded
    assert done > 0
    compare(generate(OLD), tuple(NEW), words=WORDS, **options)  # other objects with the same texts
    assert encoder.encoded == done
    compare(OLD, NEW, words=[*WORDS, "cloud"], **options)
    assert encoder.encoded > done
    with pytest.raises(UserError, match="the new corpus is not the one that the store"):
        compare(OLD, [*NEW, "A mouse."], words=WORDS, **options)


def test_periods_can_be_added_to_a_store_of_objects(tmp_path: Path) -> None:
    encoder = CountingEncoder()
    options: dict[str, Any] = {"words": WORDS, "model": encoder, "out": tmp_path / "store"}
    embed(OLD, NEW, labels=["b", "c"], **options)
    done = encoder.encoded
    earlier = [f"A mouse on the day {i}." for i in range(7)]
    added = embed(earlier, OLD, NEW, labels=["a", "b", "c"], **options)
    assert added.corpora == ["a", "b", "c"]
    assert encoder.encoded - done == len(earlier)


def test_content_of_an_object_is_the_same_in_every_process(tmp_path: Path) -> None:
    script = dedent("""
        from lexshift import demo_corpora, embed
        from lexshift.demo import ExampleEncoder
        texts = [path.read_text("utf-8").splitlines() for path in demo_corpora()]
        siblings = embed(*texts, words=["mouse"], model=ExampleEncoder())
        print([siblings.corpus(label)["content"] for label in siblings.corpora])
    """)
    siblings = embed(OLD, NEW, words=["mouse"], model=ExampleEncoder())
    ours = [siblings.corpus(label)["content"] for label in siblings.corpora]
    environment = os.environ | {"PYTHONHASHSEED": "17", "TMPDIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    assert run.stdout.strip() == str(ours)
    assert list(tmp_path.glob("lexshift-*")) == []


def test_result_does_not_need_the_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    result = compare(OLD, NEW, words=WORDS, senses=True, out=tmp_path / "out", **FAST)
    assert list(folder.iterdir()) == []
    result.report(tmp_path / "page.html")
    result.save(tmp_path / "saved")
    assert load(tmp_path / "saved").run["corpora"][0]["object"] == "list"
    assert len(result.word("mouse").usages("new")) > 0


def test_same_texts_twice_are_refused() -> None:
    with pytest.raises(UserError, match=r"corpus 1 \(list\) and corpus 2 \(tuple\) hold the same text"):
        compare(OLD, tuple(OLD), words=WORDS, **FAST)

"""Test that results of parts add up to those of one pass over the corpus, for any partition."""

from __future__ import annotations

import io
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexshift.corpus import Reading, occurrences
from lexshift.corpus.counting import count_words
from lexshift.corpus.sampling import file_keys, place_key, priorities, shared_priorities, smallest, word_keys
from lexshift.corpus.word_rule import word_table
from lexshift.engine.cache import Cache
from lexshift.engine.local import Local, as_engine, map_parts
from lexshift.engine.parts import Counting, Part, Sampling, combine_counts, combine_samples, split_corpus
from lexshift.errors import UserError

WORDS = ["mouse", "Mouse", "bread", "cloud", "Paris", "the", "a"]
LINES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join), min_size=1, max_size=12)
FORMS: dict[str, tuple[str, ...]] = {"mouse": ("mouse",), "bread": ("bread",), "cloud": ("cloud",)}


def write_files(folder: Path, files: list[list[str]]) -> Path:
    for i, lines in enumerate(files):
        (folder / f"{i:02d}.txt").write_text("".join(f"{line}\n" for line in lines))
    return folder


def run_job(job: Counting | Sampling, parts: list[Part], cache: Cache) -> list[pa.Table]:
    return list(map_parts(job, parts, Local(), cache, lambda *_: None))


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "kept")


@settings(deadline=None, max_examples=30)
@given(st.lists(LINES, min_size=1, max_size=6), st.integers(1, 300))
def test_counts_of_parts_add_up_to_those_of_the_corpus(files: list[list[str]], size: int) -> None:
    with TemporaryDirectory() as temporary:
        Path(temporary, "corpus").mkdir()
        corpus = write_files(Path(temporary, "corpus"), files)
        found = combine_counts(
            run_job(Counting("word", Reading()), split_corpus(corpus, size), Cache(Path(temporary, "kept"))), "it"
        )
        whole = count_words(corpus, word_table())
    assert found == whole
    assert found.within == whole.within
    assert found.counts == dict(sorted(Counter(w.lower() for ls in files for line in ls for w in line.split()).items()))


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(st.lists(LINES, min_size=1, max_size=6), st.integers(1, 300), st.none() | st.integers(1, 8), st.integers(0, 3))
def test_sample_does_not_depend_on_the_parts_of_the_corpus(
    files: list[list[str]], size: int, most: int | None, seed: int
) -> None:
    job = Sampling(FORMS, "word", Reading(split="lines"), most, seed, True)
    with TemporaryDirectory() as temporary:
        Path(temporary, "corpus").mkdir()
        corpus = write_files(Path(temporary, "corpus"), files)
        several = combine_samples(run_job(job, split_corpus(corpus, size), Cache(Path(temporary, "a"))), "it", most)
        one = combine_samples(run_job(job, split_corpus(corpus), Cache(Path(temporary, "b"))), "it", most)
    assert several.table.to_pylist() == one.table.to_pylist()
    assert several.found.tolist() == one.found.tolist()
    assert several.content == one.content
    assert (several.tally.words, several.tally.passages) == (one.tally.words, one.tally.passages)
    assert several.tally.skipped == one.tally.skipped
    assert several.tally.files == len(files)
    slow = list(slow_sample(files, most, seed))
    rows = several.table.select(["target", "file", "line", "start"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == slow


def slow_sample(files: list[list[str]], most: int | None, seed: int) -> Iterator[tuple[int, str, int, int]]:
    """Return the occurrences with the smallest hashes of each word, in text order, by definition."""
    places: dict[str, list[tuple[int, int, tuple[int, str, int, int]]]] = defaultdict(list)
    order = 0
    for i, lines in enumerate(files):
        file = f"{i:02d}.txt"
        key = place_key(seed, file, "")
        for number, line in enumerate(lines, 1):
            seen = set()
            for match in re.finditer(r"\w+", line):
                word = match[0].lower()
                if word not in FORMS:
                    continue
                stretch = match.start() >> 9
                first = (word, stretch) not in seen
                seen.add((word, stretch))
                own = int(file_keys(key, word_keys(seed, [word]))[0])
                which, where = (key, stretch) if first else (own, match.start())
                found = priorities(np.array([which], np.uint64), np.array([number]), np.array([where]))[0]
                row = (list(FORMS).index(word), file, number, match.start())
                places[word].append((int(found), order, row))
                order += 1
    for word in FORMS:
        chosen = sorted(places[word])[:most]
        yield from (row for _, _, row in sorted(chosen, key=lambda place: place[1]))


def test_shared_samples_prefer_the_same_stretches_for_all_words() -> None:
    """With three words in each of 3,000 lines, ten usages of each are in ten lines and not in thirty."""
    targets, lines = np.tile(np.arange(3), 3_000), np.repeat(np.arange(3_000), 3)
    positions = np.tile([0, 10, 20], 3_000)
    keys = file_keys(5, word_keys(0, ["a", "b", "c"]))
    shared = smallest(targets, shared_priorities(5, keys[targets], targets, lines, positions), 10)
    apart = smallest(targets, priorities(keys[targets], lines, positions), 10)
    assert len(shared) == len(apart) == 30
    assert len(np.unique(lines[shared])) == 10
    assert len(np.unique(lines[apart])) > 20


def test_occurrences_in_the_same_stretch_are_sampled_independently() -> None:
    """With one hash for both occurrences, a sample of 500 of 2,000 would contain them in pairs."""
    lines = np.repeat(np.arange(1_000), 2)
    targets, positions = np.zeros(2_000, int), np.tile([0, 50], 1_000)
    keys = file_keys(5, word_keys(0, ["a"]))
    chosen = smallest(targets, shared_priorities(5, keys[targets], targets, lines, positions), 500)
    pairs = 500 - len(np.unique(lines[chosen]))
    assert 30 < pairs < 100  # 62.5 expected of independent draws


@pytest.mark.parametrize("position", [0, 511, 512])
def test_every_position_of_a_shared_sample_is_equally_likely(position: int) -> None:
    """The hash of a position is uniform over files, so about half are in the lower half."""
    keys = word_keys(0, ["a"])
    low = 0
    for file in range(400):
        key = place_key(0, f"{file}.txt", "")
        found = shared_priorities(key, file_keys(key, keys), np.zeros(1, int), np.ones(1, int), np.array([position]))
        low += int(found[0]) < 1 << 63
    assert 150 < low < 250


def test_parts_are_whole_files_in_order_and_small_ones_are_grouped(tmp_path: Path) -> None:
    for name, size in {"a": 5, "b": 5, "c": 50, "d": 1}.items():
        (tmp_path / f"{name}.txt").write_text("x" * size)
    parts = split_corpus(tmp_path, 10)
    assert [[source.name for source in part.sources] for part in parts] == [["a.txt", "b.txt"], ["c.txt"], ["d.txt"]]
    assert [part.size for part in parts] == [10, 50, 1]
    assert [part.number for part in parts] == [0, 1, 2]


def test_cached_part_is_not_computed_again_unless_its_file_changed(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "corpus").mkdir()
    corpus = write_files(tmp_path / "corpus", [["mouse"], ["bread bread"], ["cloud"]])
    job = Counting("word", Reading())
    calls: list[str] = []

    class Watched(Local):
        def map(self, job, parts, progress):  # type: ignore[no-untyped-def]
            calls.extend(source.name for part in parts for source in part.sources)
            return super().map(job, parts, progress)

    def run() -> dict[str, int]:
        calls.clear()
        return combine_counts(map_parts(job, split_corpus(corpus, 1), Watched(), cache, lambda *_: None), "it").counts

    assert run() == {"bread": 2, "cloud": 1, "mouse": 1}
    assert calls == ["00.txt", "01.txt", "02.txt"]
    run()
    assert calls == []
    (corpus / "01.txt").write_text("rain rain rain\n")
    assert run() == {"cloud": 1, "mouse": 1, "rain": 3}
    assert calls == ["01.txt"]


def test_interrupted_run_resumes_with_the_remaining_parts(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "corpus").mkdir()
    corpus = write_files(tmp_path / "corpus", [["mouse"], ["bread"], ["cloud"]])
    job, parts = Counting("word", Reading()), split_corpus(corpus, 1)

    class Stops(Local):
        def map(self, job, parts, progress):  # type: ignore[no-untyped-def]
            for part, table in super().map(job, parts, progress):
                if part.number == 2:
                    raise KeyboardInterrupt
                yield part, table

    with pytest.raises(KeyboardInterrupt):
        list(map_parts(job, parts, Stops(), cache, lambda *_: None))
    assert [job.key(part) in cache for part in parts] == [True, True, False]
    assert combine_counts(run_job(job, parts, cache), "it").counts == {"bread": 1, "cloud": 1, "mouse": 1}


def test_damaged_result_is_computed_again(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "corpus").mkdir()
    corpus = write_files(tmp_path / "corpus", [["mouse"]])
    job, parts = Counting("word", Reading()), split_corpus(corpus)
    before = run_job(job, parts, cache)
    (file,) = cache.folder.iterdir()
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert cache.get(job.key(parts[0])) is None
    assert run_job(job, parts, cache) == before


def test_file_changed_between_reading_and_caching_is_reported(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "corpus").mkdir()
    corpus = write_files(tmp_path / "corpus", [["mouse"]])
    job, parts = Counting("word", Reading()), split_corpus(corpus)

    class Edits(Local):
        def map(self, job, parts, progress):  # type: ignore[no-untyped-def]
            (corpus / "00.txt").write_text("bread\n")
            return super().map(job, parts, progress)

    with pytest.raises(UserError, match="was changed while it was read"):
        list(map_parts(job, parts, Edits(), cache, lambda *_: None))
    assert not cache.folder.exists()


def test_file_edited_with_the_same_size_and_time_is_read_again(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "corpus").mkdir()
    corpus = write_files(tmp_path / "corpus", [["mouse"], ["cloud"]])
    file, job = corpus / "00.txt", Counting("word", Reading())
    assert combine_counts(run_job(job, split_corpus(corpus), cache), "it").counts == {"cloud": 1, "mouse": 1}
    state = file.stat()
    file.write_text("bread\n")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert file.stat().st_size == state.st_size
    assert combine_counts(run_job(job, split_corpus(corpus), cache), "it").counts == {"bread": 1, "cloud": 1}


def test_moved_corpus_is_not_read_again(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    corpus = write_files(tmp_path / "corpus", [["mouse"], ["cloud"]])
    job = Counting("word", Reading())
    before = [job.key(part) for part in split_corpus(corpus)]
    corpus.rename(tmp_path / "moved")
    assert [job.key(part) for part in split_corpus(tmp_path / "moved")] == before


def test_progress_is_reported_in_bytes_of_all_parts(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "corpus").mkdir()
    corpus = write_files(tmp_path / "corpus", [["mouse"], ["bread bread"]])
    updates: list[tuple[int, int]] = []
    list(
        map_parts(
            Counting("word", Reading()), split_corpus(corpus, 1), Local(), cache, lambda a, b: updates.append((a, b))
        )
    )
    assert updates[0] == (0, 18)
    assert updates[-1] == (18, 18)
    assert [a for a, _ in updates] == sorted(a for a, _ in updates)


def test_metadata_of_a_result_describes_the_files_read(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    corpus = write_files(tmp_path / "corpus", [["a mouse"]])
    (table,) = run_job(Sampling(FORMS, "word", Reading(), 1, 0, True), split_corpus(corpus), Cache(tmp_path / "kept"))
    metadata = json.loads(table.schema.metadata[b"lexshift"])
    assert metadata["counts"] == [1, 0, 0]
    assert metadata["tally"]["words"] == 2
    assert list(metadata["tally"]["hashes"]) == ["00.txt"]


def test_merging_only_empty_samples_is_empty() -> None:
    assert len(occurrences.merge_samples([occurrences.SCHEMA.empty_table()], 5)) == 0


def test_standard_input_cannot_be_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a mouse"))
    with pytest.raises(UserError, match="read only once"):
        split_corpus("-")


def test_unknown_engine_is_refused() -> None:
    with pytest.raises(UserError, match=r"local.*ray"):
        as_engine("spark")
    engine = Local()
    assert as_engine(engine) is engine

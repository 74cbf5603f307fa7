"""Test that reading in one pass and in parts gives the same counts, occurrences and comparisons."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from context_encoder import ContextEncoder
from hypothesis import given, settings
from hypothesis import strategies as st

from lexshift import UserError, compare, trace
from lexshift.corpus import Occurrences, Reading
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.targets import Targets
from lexshift.engine.cache import Cache
from lexshift.engine.local import Local
from lexshift.engine.parts import split_corpus
from lexshift.engine.reader import PartsReader
from lexshift.utils.monitor import Silent

WORDS = ["mouse", "Mouse", "bread", "cloud", "the", "a"]
LINES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join), min_size=1, max_size=10)
FILES = st.lists(LINES, min_size=1, max_size=4)
FORMS: dict[str, tuple[str, ...]] = {"mouse": ("mouse",), "loaf": ("bread", "cloud"), "unicorn": ("unicorn",)}
FAST: dict[str, Any] = {"permutations": 49, "resamples": 5, "repeats": 2, "monitor": False, "split": "lines"}


class Elsewhere:
    """Engine that behaves like a remote one and computes the last part first."""

    def __init__(self) -> None:
        self.parts: list[int] = []
        self.closed = 0

    def map(self, job: Any, parts: Sequence[Any], progress: Any) -> Iterator[Any]:
        for part in reversed(parts):
            self.parts.append(part.number)
            yield part, job(part, progress)

    def encode(self, encoder: Any, model: Any, options: dict[str, Any]) -> Any:
        return Local().encode(encoder, model, options)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every file a separate part."""
    monkeypatch.setattr("lexshift.engine.reader.split_corpus", lambda corpus: split_corpus(corpus, 1))


def readers(
    folder: Path, corpora: dict[str, list[list[str]]], match: str, sampling: dict[str, Any] | None, size: int
) -> tuple[CorpusReader, PartsReader]:
    """Return the two readers of the same corpora, with parts of about the given number of bytes."""
    places, readings = {}, {}
    for name, files in corpora.items():
        places[name] = folder / name
        places[name].mkdir()
        for i, lines in enumerate(files):
            (places[name] / f"{i}.txt").write_text("".join(f"{line}\n" for line in lines))
        readings[name] = Reading(split="lines", language="en")
    how = places, readings, match, sampling, None, Silent()
    in_parts = PartsReader(*how, Elsewhere(), Cache(folder / "cache"))
    in_parts.__dict__["parts"] = {name: split_corpus(place, size) for name, place in places.items()}
    return CorpusReader(*how), in_parts


def assert_same(a: Occurrences, b: Occurrences) -> None:
    assert a.table.to_pylist() == b.table.to_pylist()
    assert a.found.tolist() == b.found.tolist()
    assert a.content == b.content
    assert {name: value for name, value in vars(a.tally).items() if name != "size"} == {
        name: value for name, value in vars(b.tally).items() if name != "size"
    }


@settings(deadline=None, max_examples=30)
@given(FILES, FILES, st.sampled_from(["word", "cased", "token"]), st.integers(1, 200))
def test_counts_are_the_same_in_parts(old: list[list[str]], new: list[list[str]], match: str, size: int) -> None:
    with TemporaryDirectory() as folder:
        whole, in_parts = readers(Path(folder), {"old": old, "new": new}, match, None, size)
        for name, files in (("old", old), ("new", new)):
            counts = whole.count(name)
            assert in_parts.count(name) == counts
            words = [word for lines in files for line in lines for word in line.split()]
            assert counts.counts == dict(Counter(word.lower() if match == "word" else word for word in words))


@settings(deadline=None, max_examples=40)
@given(
    FILES, FILES, st.sampled_from(["word", "cased", "token"]), st.integers(1, 200), st.integers(0, 6), st.integers(0, 3)
)
def test_occurrences_are_the_same_in_parts(
    old: list[list[str]], new: list[list[str]], match: str, size: int, limit: int, seed: int
) -> None:
    sampling = {"max_per_word": limit, "seed": seed} if limit else None
    targets = Targets(FORMS, match)
    with TemporaryDirectory() as folder:
        whole, in_parts = readers(Path(folder), {"old": old, "new": new}, match, sampling, size)
        first, second = whole.scan(targets), in_parts.scan(targets)
        again = in_parts.scan(targets)  # from the cache
    assert list(first) == list(second) == ["old", "new"]
    for name, files in (("old", old), ("new", new)):
        assert_same(first[name], second[name])
        assert_same(second[name], again[name])
        words = [word.lower() if match == "word" else word for ls in files for line in ls for word in line.split()]
        expected = [sum(word in forms for word in words) for forms in FORMS.values()]
        assert first[name].found.tolist() == expected
        chosen = Counter(row["target"] for row in first[name].table.to_pylist())
        assert [chosen[i] for i in range(len(FORMS))] == [min(n, limit or n) for n in expected]


def test_shared_samples_differ_from_separate_ones(tmp_path: Path) -> None:
    lines = [[f"the mouse {i} of bread and cloud {i}" for i in range(200)]]
    sampling = {"max_per_word": 20, "seed": 0}
    whole, in_parts = readers(tmp_path, {"old": lines}, "word", sampling, 100)
    in_parts.sampling = sampling | {"shared": True}
    targets = Targets({word: (word,) for word in ("mouse", "bread", "cloud")}, "word")
    apart, shared = whole.scan(targets)["old"], in_parts.scan(targets)["old"]
    assert len(apart.table) == len(shared.table) == 60
    assert len(set(shared.table["line"].to_pylist())) == 20
    assert len(set(apart.table["line"].to_pylist())) > 40


def test_text_read_before_is_not_read_again(tmp_path: Path) -> None:
    _, in_parts = readers(tmp_path, {"old": [["a mouse"], ["the bread"]]}, "word", None, 1)
    assert in_parts.count("old") == in_parts.count("old")
    assert in_parts.engine.parts == [1, 0]  # type: ignore[attr-defined]


# ----------------------------------------------------------------------------------------------------------- comparison


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write two folders of three files each with one changed word and more usages than are sampled."""
    folder, made = tmp_path_factory.mktemp("corpora"), []
    for number, label in enumerate(("1950s", "2010s")):
        rng, lines = random.Random(number), []
        for word in ("mouse", "bread", "river"):
            use = "new" if word == "mouse" and number else "old"
            for _ in range(30):
                a, b, c = rng.sample([f"{word}{use}{letter}" for letter in "abcdefgh"], 3)
                lines.append(f"the {a} and the {word} of the {b} was {c}")
        rng.shuffle(lines)
        made.append(folder / label)
        made[-1].mkdir()
        for i in range(3):
            (made[-1] / f"{i}.txt").write_text("\n".join(lines[i::3]) + "\n")
    return made


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the files of results without the lock and without the times in the record and the page."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    data = {name: path.read_bytes() for name, path in found.items() if path.name not in (".lock", "report.html")}
    record = json.loads(data["run.json"])
    content = {name: value for name, value in record.items() if name not in ("finished", "files", "sha256")}
    return {**data, "run.json": json.dumps(content).encode()}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("words", [["mouse", "bread"], None], ids=["words", "no words"])
@pytest.mark.parametrize("limit", [None, 12])
def test_comparison_on_another_engine_has_the_same_bytes(
    corpora: list[Path], tmp_path: Path, words: list[str] | None, limit: int | None
) -> None:
    options: dict[str, Any] = {"model": ContextEncoder(), "max_per_word": limit, **FAST}
    engine = Elsewhere()
    compare(corpora[0], corpora[1], words=words, out=tmp_path / "here", **options)
    compare(corpora[0], corpora[1], words=words, out=tmp_path / "there", engine=engine, **options)
    here = files_in(tmp_path / "here")
    there = {name: data for name, data in files_in(tmp_path / "there").items() if not name.startswith("parts/")}
    assert there == here
    passes = 2  # counting for control words and without words, then sampling
    assert engine.parts == [2, 1, 0] * 2 * passes
    assert engine.closed == 1


@pytest.mark.usefixtures("small_parts")
def test_trace_on_another_engine_has_the_same_tables(corpora: list[Path]) -> None:
    options: dict[str, Any] = {"words": ["mouse", "bread"], "model": ContextEncoder(), "max_per_word": 12, **FAST}
    here, there = trace(*corpora, **options), trace(*corpora, engine=Elsewhere(), **options)
    assert here.table.equals(there.table)
    assert here.steps.equals(there.steps)
    assert here.siblings.vectors.tobytes() == there.siblings.vectors.tobytes()


@pytest.mark.usefixtures("small_parts")
def test_folder_can_be_continued_on_another_engine(corpora: list[Path], tmp_path: Path) -> None:
    options: dict[str, Any] = {"model": ContextEncoder(), "max_per_word": 12, "out": tmp_path / "out", **FAST}
    compare(corpora[0], corpora[1], words=["mouse"], **options)
    both = compare(corpora[0], corpora[1], words=["mouse", "bread"], engine=Elsewhere(), **options)
    fresh = compare(corpora[0], corpora[1], words=["mouse", "bread"], **options | {"out": None})
    assert both.table.equals(fresh.table)


def test_engine_is_closed_when_a_run_fails(corpora: list[Path]) -> None:
    engine = Elsewhere()
    with pytest.raises(UserError, match="none of the words occurs"):
        compare(corpora[0], corpora[1], words=["unicorn"], model=ContextEncoder(), engine=engine, **FAST)
    assert engine.closed == 1

"""Test hostile or damaged ``store.json`` and ``plan.json``: one sentence for any content, and no changed files."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stores import WORDS, Toy, build_store, contents

from lexshift import Siblings, UserError
from lexshift.store.format import PLAN_SCHEMA, first_difference, is_index, matches, max_words_bytes, seal

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([-1, 0, 1, 2**31, 2**32, 2**53, 2**63, 2**64, 10**300, 1e400, float("nan"), 0.5, 18.0])
    | st.sampled_from(["", "mouse", "old", "../../../etc", "0" * 64, "x" * 5000, "\ud800", "float64", "float16", "O"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value within plain values."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any, how: str) -> Any:
    """Return a copy in which a value is replaced, deleted, or doubled."""
    if not path:
        return new
    value = copy.deepcopy(value)
    within = value
    for key in path[:-1]:
        within = within[key]
    if how == "delete":
        del within[path[-1]]
    elif how == "double" and isinstance(within, list):
        within.append(within[path[-1]])
    elif how == "swap" and isinstance(within, list):
        within.insert(0, within.pop())
    else:
        within[path[-1]] = new
    return value


def use(folder: Path) -> None:
    """Perform every operation on a store."""
    from lexshift.cli.terminal import print_counts, print_store

    store = Siblings(folder)
    store.check()
    for word in store:
        for label in store.corpora:
            store.count_occurrences(word, label)
            store[word].occurrences(label)
    assert len(store.counts) == len(store)
    assert len(store.is_truncated) == len(store.vectors)
    print_store(store)
    print_counts(store)


MODEL = {"model": "toy", "layers": [1, 2]}


def add_word(folder: Path) -> None:
    build_store(folder.parent, folder.name, Toy(MODEL), [*WORDS, "ran"], max_per_word=3)


def refusal(attempt: Callable[[Path], Any], folder: Path) -> str | None:
    """Return the sentence with which a folder is refused, or None."""
    try:
        attempt(folder)
    except UserError as error:
        return str(error)
    return None


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("original"), model=Toy(MODEL), max_per_word=3).path


@given(st.data())
def test_any_change_of_the_index_is_harmless_or_refused_in_one_sentence(original: Path, data: st.DataObject) -> None:
    index = json.loads((original / "store.json").read_bytes())
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(sorted(places(index), key=str)))
        index = changed(index, path, data.draw(plain), data.draw(st.sampled_from(["put", "delete", "double", "swap"])))
        if not isinstance(index, dict):
            break
    folder = original.with_name("changed")
    shutil.copytree(original, folder, dirs_exist_ok=True)
    try:
        text = seal(index) if isinstance(index, dict) else json.dumps(index).encode()
    except ValueError:
        return  # a lone surrogate cannot be written
    (folder / "store.json").write_bytes(text)
    before = contents(folder)
    for attempt in (use, add_word):
        message = refusal(attempt, folder)
        if message is not None:
            assert "\n" not in message
            assert len(message) < 500
            after = contents(folder).items()  # work started before the damage was detected can be used later
            assert {name: data for name, data in after if not name.startswith("unfinished/")} == before
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [("encodings", True), ("encodings", {"cp1252": None}), ("encodings", {"cp1252": {}}), ("unreadable", ["a.txt"])],
)
def test_damaged_record_of_the_files_of_a_corpus_is_refused(original: Path, key: str, value: Any) -> None:
    index = json.loads((original / "store.json").read_bytes())
    index["corpora"][0][key] = value
    folder = original.with_name("damaged")
    shutil.copytree(original, folder)
    (folder / "store.json").write_bytes(seal(index))
    message = refusal(use, folder)
    shutil.rmtree(folder)
    assert message is not None
    assert "damaged" in message


def test_difference_of_long_settings_is_short() -> None:
    difference = first_difference({"layers": "x" * 5000}, {"layers": [1, 2]})
    assert difference is not None
    assert len(difference) < 200


@given(st.data())
def test_any_change_of_a_plan_is_harmless_or_refused_in_one_sentence(original: Path, data: st.DataObject) -> None:
    folder = original.with_name("begun")
    shutil.rmtree(folder, ignore_errors=True)
    with pytest.raises(KeyboardInterrupt):
        build_store(folder.parent, folder.name, model=Toy(stop_at=1))
    plan = json.loads((folder / "unfinished" / "plan.json").read_bytes())
    path = data.draw(st.sampled_from(sorted(places(plan), key=str)))
    plan = changed(plan, path, data.draw(plain), data.draw(st.sampled_from(["put", "delete", "double"])))
    (folder / "unfinished" / "plan.json").write_text(json.dumps(plan))
    before = contents(folder)
    message = refusal(lambda folder: build_store(folder.parent, folder.name), folder)
    if message is not None:
        assert "\n" not in message
        assert contents(folder) == before


BOMBS: dict[str, bytes] = {
    "deep list": b"[" * 200_000 + b"]" * 200_000,
    "deep object": b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
    "deep in a key": b'{"format": 1, "sha256": "x", "settings": ' + b"[" * 900 + b"]" * 900 + b"}",
    "a long number": b'{"format": ' + b"9" * 10_000 + b"}",
    "no number": b'{"format": 1, "sha256": NaN}',
    "infinite": b'{"format": 1, "sha256": Infinity}',
    "a list": b"[1, 2]",
    "a text": b'"store"',
    "null": b"null",
    "nothing": b"",
    "zeros": bytes(1000),
    "half a character": b'{"format": 1, "sha256": "\\ud800"}',
    "a format that is true": b'{"format": true, "sha256": "x"}',
    "a format of many characters": b'{"sha256": "x", "format": "' + b"x" * 100_000 + b'"}',
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("file", ["store.json", "unfinished/plan.json"])
def test_decompression_bomb_is_refused_in_one_short_sentence(tmp_path: Path, name: str, file: str) -> None:
    build_store(tmp_path, words=WORDS[:1])
    (tmp_path / "store" / "unfinished").mkdir()
    (tmp_path / "store" / file).write_bytes(BOMBS[name])
    before = contents(tmp_path / "store")
    with pytest.raises(UserError) as caught:
        build_store(tmp_path)
    assert str(tmp_path / "store") in str(caught.value)
    assert len(str(caught.value)) < 500
    assert contents(tmp_path / "store") == before


@pytest.mark.parametrize("file", ["store.json", "unfinished/plan.json"])
def test_file_that_is_too_large_is_not_read(tmp_path: Path, file: str) -> None:
    build_store(tmp_path, words=WORDS[:1])
    (tmp_path / "store" / "unfinished").mkdir()
    with (tmp_path / "store" / file).open("wb") as sparse:
        sparse.truncate(1 << 40)
    with pytest.raises(UserError, match="damaged"):
        build_store(tmp_path)


def change_rows(index: dict[str, Any]) -> None:
    index["words"][1]["rows"][0][1] += 1


def swap_words(index: dict[str, Any]) -> None:
    index["words"].reverse()


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "rows that overlap": change_rows,
    "words in another order": swap_words,
    "rows beyond the end": lambda index: index.update(rows=index["rows"] + 1),
    "negative rows": lambda index: index["words"][0]["rows"][0].__setitem__(0, -1),
    "a word twice": lambda index: index["words"][0].update(word=index["words"][1]["word"]),
    "a corpus twice": lambda index: index["corpora"][0].update(label=index["corpora"][1]["label"]),
    "another type": lambda index: index.update(dtype="float64"),
    "no dimensions": lambda index: index.update(dimensions=0),
    "a path for a fingerprint": lambda index: index.update(fingerprint="../../../../outside"),
    "a truth for a number": lambda index: index.update(rows=True),
    "a fraction": lambda index: index.update(rows=float(index["rows"])),
    "a huge number": lambda index: index["corpora"][0].update(words=10**30),
    "a checksum of 33 bits": lambda index: index["words"][0]["checksums"].__setitem__(0, 1 << 32),
    "no forms": lambda index: index["words"][0].update(forms=[]),
    "a form that is no text": lambda index: index["words"][0].update(forms=[None]),
    "too few counts": lambda index: index["words"][0]["found"].pop(),
    "an empty table": lambda index: index["files"]["occurrences.parquet"].update(size=0),
    "no sampling": lambda index: index["settings"].update(sampling=[]),
    "skipped that is no count": lambda index: index["corpora"][0].update(skipped={"lines": "many"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_impossible_index_is_refused(original: Path, tmp_path: Path, name: str) -> None:
    index = json.loads((original / "store.json").read_bytes())
    assert is_index(index)
    CHANGES[name](index)
    assert not is_index(index)
    shutil.copytree(original, tmp_path / "store")
    (tmp_path / "store" / "store.json").write_bytes(seal(index))
    with pytest.raises(
        UserError,
        match=r"store\.json' is not what lexshift wrote: the file is damaged, make the store",
    ):
        Siblings(tmp_path / "store")


def test_table_that_does_not_match_the_index_is_refused(original: Path, tmp_path: Path) -> None:
    import hashlib

    import pyarrow as pa
    from pyarrow import parquet

    index = json.loads((original / "store.json").read_bytes())
    shutil.copytree(original, tmp_path / "store")
    table = parquet.read_table(original / "occurrences.parquet")
    for number, other in enumerate((table.slice(1), table.drop_columns(["sentence"]), pa.table({"a": [1]}), None)):
        path = tmp_path / "store" / "occurrences.parquet"
        if other is None:
            path.write_bytes(b"PAR1 no table at all PAR1")
        else:
            parquet.write_table(other, path)
        data = path.read_bytes()
        index["files"]["occurrences.parquet"] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        (tmp_path / "store" / "store.json").write_bytes(seal(index))
        with pytest.raises(UserError, match=r"occurrences\.parquet' is not what lexshift wrote"):
            print(number, Siblings(tmp_path / "store").occurrences)


def test_valid_plan_is_accepted() -> None:
    settings = {"encoder": {}, "precision": "float32"}
    plan = {"fingerprint": "0" * 64, "words": "1" * 64, "work": "2" * 64, "added to": None, "settings": settings}
    assert matches({**plan, "corpora": {"old": "x"}}, PLAN_SCHEMA)
    assert matches({**plan, "corpora": {}, "added to": "f" * 64}, PLAN_SCHEMA)
    faults: list[dict[str, Any]] = [
        {"fingerprint": "0" * 63},
        {"work": None},
        {"added to": "x"},
        {"corpora": []},
        {"settings": {}},
    ]
    for wrong in faults:
        assert not matches({**plan, "corpora": {}, **wrong}, PLAN_SCHEMA)
    for name in plan:
        assert not matches({key: value for key, value in {**plan, "corpora": {}}.items() if key != name}, PLAN_SCHEMA)


def test_store_too_large_to_be_read_is_refused_before_anything_is_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexshift.store.writer.MAX_INDEX_BYTES", 1000)
    toy = Toy()
    with pytest.raises(UserError, match="3 words in 2 corpora are too many for one store; use fewer words"):
        build_store(tmp_path, model=toy)
    assert toy.calls == []


@given(st.dictionaries(st.text(), st.lists(st.text(), min_size=1)), st.integers(0, 4))
def test_estimated_size_of_the_index_words_is_an_upper_bound(forms: dict[str, list[str]], corpora: int) -> None:
    numbers = {"rows": [[2**53 - 1] * 2] * corpora, "found": [2**53 - 1] * corpora, "checksums": [2**32 - 1] * corpora}
    words = [{"word": word, "forms": all_forms, **numbers} for word, all_forms in forms.items()]
    assert len(seal({"words": words})) - len(seal({"words": []})) <= max_words_bytes(forms, corpora)

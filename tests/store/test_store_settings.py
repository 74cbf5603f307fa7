"""Test the fingerprint of a store, and the sentence that describes how two runs differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stores import WORDS, Toy, build_store, contents, corpora_in, write

from lexshift import UserError, embed
from lexshift.store.format import digest, first_difference, store_fingerprint

MODEL = {"model": "tiny", "weights": "abc", "config": "c", "layers": "mean:4", "markers": None, "window": 512}


def test_fingerprint_depends_only_on_what_shapes_a_store(tmp_path: Path) -> None:
    plain = build_store(tmp_path, "a", Toy(MODEL))
    again = build_store(tmp_path, "b", Toy({**MODEL, "model": "the same by another name"}))
    assert plain.fingerprint == again.fingerprint
    assert re.fullmatch("[0-9a-f]{64}", plain.fingerprint)
    (tmp_path / "elsewhere").mkdir()
    assert build_store(tmp_path / "elsewhere", "c", Toy(MODEL), seed=7, missing="skip").fingerprint == plain.fingerprint


@pytest.mark.parametrize(
    ("encoder", "options", "difference"),
    [
        ({"weights": "abd"}, {}, "another model (tiny, not tiny, or other weights of that name)"),
        ({"weights": "abd", "model": "big", "config": "d"}, {}, "model 'tiny', not 'big'"),
        ({"config": "d"}, {}, "config 'c', not 'd'"),
        ({"layers": "last"}, {}, "layers 'mean:4', not 'last'"),
        ({"markers": ("<t>", "</t>")}, {}, "markers None, not ['<t>', '</t>']"),
        ({"window": 128}, {}, "window 512, not 128"),
        ({"pooling": "sum"}, {}, "pooling None, not 'sum'"),
        ({}, {"match": "token"}, "match 'word', not 'token'"),
        ({}, {"split": "prose"}, "split 'auto', not 'prose'"),
        ({}, {"encoding": "cp1252"}, "encoding 'auto', not 'cp1252'"),
        ({}, {"errors": "replace"}, "errors 'strict', not 'replace'"),
        ({}, {"language": "de"}, "language 'en', not 'de'"),
        ({}, {"text_column": "body"}, "text_column 'text', not 'body'"),
        ({}, {"date_column": "when"}, "date_column None, not 'when'"),
        ({}, {"max_per_word": 2}, "all occurrences of a word, not at most 2 of a word"),
        ({}, {"precision": "float16"}, "precision 'float32', not 'float16'"),
    ],
    ids=str,
)
def test_any_changed_setting_is_refused_with_the_difference(
    tmp_path: Path, encoder: dict[str, Any], options: dict[str, Any], difference: str
) -> None:
    store, words = build_store(tmp_path, model=Toy(MODEL), words=["mouse"]), ["mouse"]
    before, toy = contents(store.path), Toy({**MODEL, **encoder})
    with pytest.raises(UserError, match=re.escape(f"was made with {difference}")):
        build_store(tmp_path, model=toy, words=words, **options)
    assert (toy.calls, contents(store.path)) == ([], before)
    assert build_store(tmp_path, "other", toy, words, **options).fingerprint != store.fingerprint


def test_store_of_another_version_of_the_word_rule_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = build_store(tmp_path, words=["mouse"])
    monkeypatch.setattr("lexshift.store.embedding.WORD_RULE", 99)
    with pytest.raises(
        UserError, match="made with another version of the rule for finding words; choose another folder"
    ):
        build_store(tmp_path, words=["mouse", "cat"])
    assert build_store(tmp_path, "other", words=["mouse"]).fingerprint != store.fingerprint


@pytest.mark.parametrize("change", [{"max_per_word": 3}, {"seed": 1}], ids=str)
def test_different_sample_is_a_different_store(tmp_path: Path, change: dict[str, Any]) -> None:
    sample: dict[str, Any] = {"max_per_word": 2, "seed": 0}
    store = build_store(tmp_path, **sample)
    ((name, value),) = change.items()
    with pytest.raises(UserError, match=f"was made with sampling {name} {sample[name]}, not {value}"):
        build_store(tmp_path, **{**sample, **change})
    assert build_store(tmp_path, "other", **{**sample, **change}).fingerprint != store.fingerprint


def test_fingerprint_includes_forms_labels_words_and_their_order(tmp_path: Path) -> None:
    different = [
        build_store(tmp_path, "a"),
        build_store(tmp_path, "b", words=[*reversed(WORDS)]),
        build_store(tmp_path, "c", words=WORDS[:2]),
        build_store(
            tmp_path, "d", words={"mouse": ["mouse", "mice"], "plane": ["plane"], "cell phone": ["cell phone"]}
        ),
        build_store(tmp_path, "e", labels=["old", "now"]),
        build_store(tmp_path, "f", labels=["new", "old"]),
    ]
    assert len({store.fingerprint for store in different}) == len(different)


@pytest.mark.parametrize("which", ["old", "new"])
def test_one_changed_byte_makes_a_different_corpus(tmp_path: Path, which: str) -> None:
    store = build_store(tmp_path)
    a, b = corpora_in(tmp_path)
    path = a if which == "old" else b
    path.write_bytes(path.read_bytes()[:-1])  # without the last line feed, so that the sentences are the same
    before = contents(store.path)
    with pytest.raises(UserError, match=f"the {which} corpus is not the one that the store .* was made from"):
        embed(a, b, words=WORDS, model=Toy(), out=store.path)
    assert contents(store.path) == before
    assert embed(a, b, words=WORDS, model=Toy(), out=tmp_path / "other").fingerprint != store.fingerprint


class Bare:
    """Encoder without settings: vectors are hashes times a factor plus noise; it records its requests."""

    def __init__(self, factor: float = 1, noise: float = 0, lost: str = "", stop_at: int | None = None) -> None:
        self.factor, self.noise, self.stop_at = factor, noise, stop_at
        self.toy = Toy(size=64, lost=lost)
        self.rng = np.random.default_rng(0)
        self.calls: list[int] = []

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> Any:
        self.calls.append(len(sentences))
        if len(self.calls) == self.stop_at:
            raise KeyboardInterrupt
        vectors = self.toy.encode(sentences, spans)
        return np.float32(self.factor) * vectors + self.noise * self.rng.normal(size=vectors.shape).astype(np.float32)


def test_encoder_without_settings_is_identified_by_its_class(tmp_path: Path) -> None:
    class Other(Bare):
        pass

    assert build_store(tmp_path, model=Bare()).settings["encoder"] == {"model": "test_store_settings.Bare"}
    with pytest.raises(UserError, match=r"was made with model 'test_store_settings.Bare', not '.*Other'"):
        build_store(tmp_path, model=Other())


@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize("words", [WORDS, [*WORDS, "ran"]], ids=["all is there", "adding"])
def test_encoder_without_settings_is_identified_by_its_vectors(
    tmp_path: Path, precision: str, words: list[str]
) -> None:
    store = build_store(tmp_path, model=Bare(), precision=precision)
    before, other = contents(store.path), Bare(100)
    sentence = r"store' was made with another encoder: this test_store_settings\.Bare gives other vectors for the same"
    with pytest.raises(UserError, match=sentence):
        build_store(tmp_path, model=other, words=words, precision=precision)
    assert contents(store.path) == before
    assert max(other.calls) <= 3
    same = Bare()
    assert build_store(tmp_path, model=same, words=words, precision=precision).words == words
    assert same.calls[0] == 3
    assert len(same.calls) == 1 + (words != WORDS)
    assert build_store(tmp_path, model=Bare(1.0001), words=words, precision=precision).words == words  # by rounding


@pytest.mark.parametrize("lost", ["", "mouse", "plane"])
def test_finished_shards_are_checked_against_the_encoder_without_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 20)
    with pytest.raises(KeyboardInterrupt):
        build_store(tmp_path, model=Bare(lost=lost, stop_at=5))
    before = contents(tmp_path / "store")
    with pytest.raises(UserError, match=r"the work in '.*unfinished' was made with another encoder"):
        build_store(tmp_path, model=Bare(100, lost=lost))
    assert contents(tmp_path / "store") == before
    build_store(tmp_path, model=Bare(lost=lost))
    assert contents(tmp_path / "store") == contents(build_store(tmp_path, "whole", Bare(lost=lost)).path)


def test_nondeterministic_encoder_is_reported(tmp_path: Path) -> None:
    store = build_store(tmp_path, model=Bare(noise=5))
    before = contents(store.path)
    with pytest.raises(UserError, match=r"gives other vectors each time for the same sentence.*make it repeatable"):
        build_store(tmp_path, model=Bare(noise=6))
    assert contents(store.path) == before


def test_encoder_of_other_dimensions_is_another_encoder(tmp_path: Path) -> None:
    build_store(tmp_path, model=Bare())
    narrow = Bare()
    narrow.toy = Toy(size=32)
    with pytest.raises(UserError, match="was made with another encoder"):
        build_store(tmp_path, model=narrow)


def test_store_without_vectors_can_be_used_by_an_encoder_without_settings(tmp_path: Path) -> None:
    build_store(tmp_path, model=Bare(lost="plane"), words=["plane"])
    assert len(build_store(tmp_path, model=Bare(lost="plane"), words=["plane", "mouse"]).vectors) == 7


@pytest.mark.parametrize(
    "settings", [{}, {"weights": "abc"}, {"size": 6}, {"path": Path("x"), "layers": (1, 2)}], ids=str
)
def test_encoder_may_have_custom_settings(tmp_path: Path, settings: dict[str, Any]) -> None:
    store = build_store(tmp_path, model=Toy(settings))
    toy = Toy(settings)
    assert build_store(tmp_path, model=toy).fingerprint == store.fingerprint
    assert toy.calls == []


def test_model_name_matters_only_if_its_weights_are_unknown() -> None:
    forms, corpora = {"mouse": ("mouse",)}, [{"label": "old", "content": "x", "bytes": 3}]

    def of(**encoder: Any) -> str:
        return store_fingerprint({"encoder": encoder, "match": "word"}, forms, corpora)

    assert of(model="a", weights="w") == of(model="b", weights="w") != of(model="a", weights="v")
    assert of(model="a") != of(model="b")
    assert of(model="a", weights="w") != of(model="a")


def test_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": [2, 3]}) == digest({"b": (2, 3), "a": 1}) != digest({"a": 1, "b": [3, 2]})


@pytest.mark.parametrize(
    ("theirs", "ours", "difference"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "b 2, not 3"),
        ({"b": 1, "a": 2}, {"b": 2, "a": 3}, "a 2, not 3"),
        ({}, {"a": 0}, "a None, not 0"),
        ({"sampling": {"seed": 1}}, {"sampling": {"seed": 2}}, "sampling seed 1, not 2"),
        ({"reading": {"split": "auto"}}, {"reading": {"split": "lines"}}, "split 'auto', not 'lines'"),
        ({"encoder": {"model": "a", "weights": "w"}}, {"encoder": {"model": "b", "weights": "w"}}, None),
        ({"encoder": {"model": "a"}}, {"encoder": {"model": "b"}}, "model 'a', not 'b'"),
    ],
)
def test_first_difference_is_a_phrase(theirs: dict[str, Any], ours: dict[str, Any], difference: str | None) -> None:
    assert first_difference(theirs, ours) == difference


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"model": Toy({**MODEL, "layers": "last"})}, "layers 'mean:4', not 'last'"),
        ({"words": [*WORDS, "ran"]}, "other words"),
        ({"words": [*reversed(WORDS)]}, "other words"),
        ({"labels": ["old", "now"]}, "other corpora"),
        ({"precision": "float16"}, "precision 'float32', not 'float16'"),
        ({"split": "prose"}, "split 'auto', not 'prose'"),
    ],
    ids=lambda value: "other" if isinstance(value, dict) else value,
)
def test_unfinished_work_of_another_run_is_refused_and_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], why: str
) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 20)
    with pytest.raises(KeyboardInterrupt):
        build_store(tmp_path, model=Toy(MODEL, stop_at=3))
    before = contents(tmp_path / "store")
    assert set(before) == {f"unfinished/{name}" for name in ("plan.json", "000000.shard", "000001.shard")}
    with pytest.raises(
        UserError, match=re.escape(f"unfinished' holds the unfinished work of a run with {why}: finish")
    ):
        build_store(tmp_path, **{"model": Toy(MODEL), **change})
    assert contents(tmp_path / "store") == before
    toy = Toy(MODEL)
    build_store(tmp_path, model=toy)
    assert contents(tmp_path / "store") == contents(build_store(tmp_path, "at once", Toy(MODEL)).path)


def test_unfinished_work_for_another_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        build_store(tmp_path, model=Toy(stop_at=1))
    write(tmp_path / "a.txt", ["the mouse, the plane and the cell phone"])
    with pytest.raises(UserError, match="holds the unfinished work of a run with other corpora"):
        embed(tmp_path / "a.txt", tmp_path / "b.txt", words=WORDS, model=Toy(), out=tmp_path / "store")

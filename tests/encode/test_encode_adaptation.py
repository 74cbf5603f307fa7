"""Test the adaptation record of a tuned model: writing, reading, use and damage."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tokenizers
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file
from tiny_models import (
    FAMILIES,
    HIDDEN,
    TEXT,
    assert_same,
    encoder,
    folder,
    loaded,
    make_model,
    make_tokenizer,
    span_of,
    transformers,
    twin,
)

from lexshift.encode import as_encoder
from lexshift.encode.adaptation import (
    FILE,
    MARKERS,
    PROJECTION,
    Adaptation,
    known_adaptation,
    missing_tokens,
    period_numbers,
    read_adaptation,
)
from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.encode.loading import load_model
from lexshift.encode.protocol import Span, optional_attribute
from lexshift.errors import UserError

SPANS = [span_of(sentence, sentence.split()[1].strip(",")) for sentence in TEXT]
MODULES = [  # as sentence-transformers writes them
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]


def made(path: Path, **options: Any) -> HuggingFaceEncoder:
    ours = as_encoder(path, **options)
    assert isinstance(ours, HuggingFaceEncoder)
    return ours


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Copy the folder of a model, so that a test may change it."""
    return Path(shutil.copytree(folder("bert"), tmp_path / "model"))


def projection(rows: int = 5, columns: int = HIDDEN) -> npt.NDArray[np.float32]:
    return np.random.default_rng(0).normal(size=(rows, columns)).astype(np.float32)


# ------------------------------------------------------------------------------------------ writing and reading


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize(
    "adaptation",
    [
        Adaptation(),
        Adaptation(periods=("1850", "2000")),
        Adaptation(periods=("the", "plane"), time_tokens=("the", "plane")),
        Adaptation(periods=("früher", "später", "日本"), attention=True),
        Adaptation(markers=("the", "a"), pooling="sentence", layers="last"),
        Adaptation(("old", "new"), ("the", "a"), True, ("mouse", "plane"), "first", "mean:2"),
    ],
)
def test_saved_adaptation_is_read_back(adaptation: Adaptation, projected: bool, tmp_path: Path) -> None:
    matrix = projection() if projected else None
    saved = Adaptation(**{**vars(adaptation), "projection": matrix})
    tokenizer = make_tokenizer("bert")
    tokenizer.add_tokens(["mouse", "plane"])
    saved.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == ({FILE, PROJECTION} if projected else {FILE})
    again = read_adaptation(tmp_path, tokenizer)
    assert again == adaptation
    if matrix is None:
        assert again.projection is None
    else:
        assert again.projection is not None
        assert again.projection.dtype == np.float32
        np.testing.assert_array_equal(again.projection, matrix)


def test_saving_again_replaces_the_earlier_adaptation(tmp_path: Path) -> None:
    Adaptation(pooling="first", projection=projection()).save(tmp_path)
    Adaptation(layers="last").save(tmp_path)
    again = read_adaptation(tmp_path, loaded("bert")[1])
    assert again == Adaptation(layers="last")
    assert again.projection is None


def test_projection_in_any_memory_order_or_precision_is_saved_unchanged(tmp_path: Path) -> None:
    matrix = projection().astype(np.float64)
    Adaptation(projection=np.asfortranarray(matrix)).save(tmp_path)
    again = read_adaptation(tmp_path, loaded("bert")[1]).projection
    assert again is not None
    np.testing.assert_array_equal(again, matrix.astype(np.float32))


@pytest.mark.parametrize("family", FAMILIES)
def test_untuned_model_has_no_adaptation(family: str) -> None:
    assert load_model(folder(family))[2] == Adaptation()
    ours = made(folder(family))
    assert (ours.pooling, ours.layers, ours.markers, ours.periods) == ("mean", "mean:4", None, ())
    assert not {"periods", "time", "projection"} & ours.settings.keys()


def test_sentence_transformers_model_without_the_markers_has_no_adaptation(copied: Path) -> None:
    (copied / "modules.json").write_text(json.dumps(MODULES))
    assert load_model(copied)[2] == Adaptation()


def test_missing_tokens_are_those_split_by_the_tokenizer() -> None:
    tokenizer = make_tokenizer("bert")
    assert missing_tokens(tokenizer, ["[CLS]", "<1>", "<t>", "the"]) == ["<1>", "<t>"]
    tokenizer.add_tokens(["<t>"], special_tokens=True)
    assert missing_tokens(tokenizer, ["[CLS]", "<1>", "<t>", "the"]) == ["<1>"]


# ----------------------------------------------------------------------------------------------------- XL-LEXEME


@cache
def lexeme() -> tuple[Any, Any]:
    """Return a model like XL-LEXEME, whose tokenizer knows the markers."""
    model, tokenizer = make_model("xlm-roberta"), make_tokenizer("xlm-roberta")
    tokenizer.add_special_tokens({"additional_special_tokens": list(MARKERS)})
    torch.manual_seed(2)
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    with torch.no_grad():
        model.get_input_embeddings().weight[-2:].normal_(0, 0.5)
    return model, tokenizer


@pytest.fixture
def xl_lexeme(tmp_path: Path) -> Path:
    model, tokenizer = lexeme()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "modules.json").write_text(json.dumps(MODULES))
    return tmp_path


def by_hand(sentence: str, span: Span) -> npt.NDArray[np.float32]:
    """Return the mean over all tokens of the last hidden state of the marked sentence."""
    model, tokenizer = lexeme()
    start, end = span
    made = tokenizer(f"{sentence[:start]}<t>{sentence[start:end]}</t>{sentence[end:]}", return_tensors="pt")
    assert set(tokenizer.convert_tokens_to_ids(list(MARKERS))) <= set(made["input_ids"][0].tolist())
    with torch.inference_mode():
        hidden = model(**made).last_hidden_state[0].numpy()
    return sum(hidden[1:], hidden[0]) / np.float32(len(hidden))


def test_xl_lexeme_is_recognised_by_its_markers_and_used_as_trained(xl_lexeme: Path) -> None:
    assert load_model(xl_lexeme)[2] == Adaptation(markers=MARKERS, pooling="sentence", layers="last")
    ours = made(xl_lexeme)
    assert (ours.markers, ours.pooling, ours.layers, ours.periods) == (MARKERS, "sentence", "last", ())
    sentences = [*TEXT, TEXT[2], TEXT[2]]
    spans = [*SPANS, span_of(TEXT[2], "mouse", 0), span_of(TEXT[2], "mouse", 1)]
    expected = np.array([by_hand(*pair) for pair in zip(sentences, spans, strict=True)])
    vectors = ours.encode(sentences, spans)
    assert_same(vectors, expected)
    assert_same(made(xl_lexeme, batch_tokens=1).encode(sentences, spans), expected)
    assert np.abs(vectors[-1] - vectors[-2]).max() > 1e-3  # one sentence with the word at two positions


def test_xl_lexeme_as_a_sentence_transformers_object_gives_the_same_vectors(xl_lexeme: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    (xl_lexeme / "modules.json").unlink()  # the folder lacks the other files listed in modules.json
    model = library.SentenceTransformer(str(xl_lexeme), device="cpu")
    ours = as_encoder(model)
    assert isinstance(ours, HuggingFaceEncoder)
    assert (ours.markers, ours.pooling, ours.layers) == (MARKERS, "sentence", "last")
    (xl_lexeme / "modules.json").write_text(json.dumps(MODULES))
    assert_same(ours.encode(TEXT, SPANS), made(xl_lexeme).encode(TEXT, SPANS))
    chosen = as_encoder(model, pooling="mean", layers="mean:2", markers=("", ""))
    assert isinstance(chosen, HuggingFaceEncoder)
    assert (chosen.markers, chosen.pooling, chosen.layers) == (("", ""), "mean", "mean:2")


@pytest.mark.parametrize("has_modules", [True, False])
def test_xl_lexeme_as_a_model_and_its_tokenizer_equals_its_name(xl_lexeme: Path, has_modules: bool) -> None:
    if not has_modules:
        (xl_lexeme / "modules.json").unlink()
    model = transformers.AutoModel.from_pretrained(xl_lexeme)
    ours = as_encoder((model, transformers.AutoTokenizer.from_pretrained(xl_lexeme)))
    assert isinstance(ours, HuggingFaceEncoder)
    assert (ours.markers, ours.pooling, ours.layers) == (MARKERS, "sentence", "last")
    assert_same(ours.encode(TEXT, SPANS), made(xl_lexeme).encode(TEXT, SPANS))


def test_markers_that_are_split_into_pieces_are_not_those_of_xl_lexeme() -> None:
    without = make_tokenizer("bert")
    spec = json.loads(without.backend_tokenizer.to_str())
    spec["model"]["vocab"] |= {marker: len(without) + i for i, marker in enumerate(MARKERS)}
    words = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer.from_str(json.dumps(spec)))
    assert known_adaptation(lexeme()[1]).markers == MARKERS
    assert not missing_tokens(words, MARKERS)
    assert known_adaptation(words) == Adaptation()


@pytest.mark.parametrize(
    "options",
    [
        {"pooling": "mean"},
        {"layers": "mean:2"},
        {"layers": 0},
        {"markers": ("<t>", "")},
        {"pooling": "first", "layers": "concat:2", "markers": ("</t>", "<t>")},
    ],
    ids=str,
)
def test_explicit_options_take_precedence(xl_lexeme: Path, options: dict[str, Any]) -> None:
    ours = made(xl_lexeme, **options)
    chosen: dict[str, Any] = {"markers": MARKERS, "pooling": "sentence", "layers": "last"} | options
    assert (ours.markers, ours.pooling, ours.layers) == (chosen["markers"], chosen["pooling"], str(chosen["layers"]))
    plain = HuggingFaceEncoder(*lexeme(), **chosen)
    assert_same(ours.encode(TEXT, SPANS), plain.encode(TEXT, SPANS))
    default = made(xl_lexeme).encode(TEXT, SPANS)
    assert ours.dimensions != HIDDEN or np.abs(ours.encode(TEXT, SPANS) - default).max() > 1e-3


# ----------------------------------------------------------------------------------------------- sentence pooling


@pytest.mark.parametrize("family", FAMILIES)
def test_sentence_vector_is_the_mean_over_all_of_its_tokens(family: str) -> None:
    model, tokenizer = loaded(family)
    vectors = encoder(family, pooling="sentence").encode(TEXT, SPANS)
    rows = []
    for sentence in TEXT:
        made = tokenizer(sentence, return_tensors="pt")
        with torch.inference_mode():
            inputs = {name: made[name] for name in ("input_ids", "attention_mask")}
            hidden = model(**inputs, output_hidden_states=True).hidden_states
        rows.append(torch.stack(hidden[-4:]).mean(0)[0].mean(0).numpy())
    assert_same(vectors, np.array(rows))


def test_words_of_one_sentence_share_its_vector_and_dropped_words_have_none() -> None:
    sentence = "the \u200b plane"
    vectors = encoder("bert", pooling="sentence").encode([sentence] * 3, [(0, 3), (4, 5), (6, 11)])
    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert np.isnan(vectors[1]).all()


# ----------------------------------------------------------------------------------------------------- projection


@pytest.mark.parametrize(("layers", "pooling"), [("mean:4", "mean"), ("last", "sum"), ("concat:2", "first")])
def test_vectors_are_multiplied_by_the_projection(copied: Path, layers: str, pooling: str) -> None:
    columns = 2 * HIDDEN if layers.startswith("concat") else HIDDEN
    P = projection(7, columns)
    Adaptation(layers=layers, pooling=pooling, projection=P).save(copied)
    ours = made(copied)
    assert ours.dimensions == 7
    vectors = ours.encode(TEXT, SPANS)
    plain = twin("bert", TEXT, SPANS, layers, pooling)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, plain @ P.T, rtol=1e-4, atol=1e-4)
    assert ours.settings["dimensions"] == 7


@given(rows=st.integers(1, 40), scale=st.floats(0.5, 4))
def test_any_projection_is_applied(rows: int, scale: float) -> None:
    P = projection(rows) * np.float32(scale)
    model, tokenizer = loaded("bert")
    ours = HuggingFaceEncoder(model, tokenizer, adaptation=Adaptation(projection=P))
    vectors = ours.encode(TEXT[:3], SPANS[:3])
    assert vectors.shape == (3, rows)
    np.testing.assert_allclose(vectors, twin("bert", TEXT[:3], SPANS[:3]) @ P.T, rtol=1e-4, atol=1e-3)


def test_dropped_word_has_no_projected_vector() -> None:
    ours = HuggingFaceEncoder(*loaded("bert"), adaptation=Adaptation(projection=projection()))
    vectors = ours.encode(["the \u200b plane", "the plane"], [(4, 5), (4, 9)])
    assert np.isnan(vectors[0]).all()
    assert np.isfinite(vectors[1]).all()


def test_projection_is_in_the_settings() -> None:
    model, tokenizer = loaded("bert")
    first, same, other = (
        HuggingFaceEncoder(model, tokenizer, adaptation=Adaptation(projection=projection() * scale)).settings
        for scale in (1, 1, 2)
    )
    assert first == same
    assert first != other
    assert first | {"projection": other["projection"]} == other


@pytest.mark.parametrize(("columns", "options"), [(HIDDEN, {"layers": "concat:2"}), (HIDDEN + 1, {}), (HIDDEN - 1, {})])
def test_projection_that_does_not_fit_the_layers_is_refused(
    copied: Path, columns: int, options: dict[str, Any]
) -> None:
    Adaptation(projection=projection(5, columns)).save(copied)
    width = 2 * HIDDEN if options else HIDDEN
    layers = options.get("layers", "mean:4")
    message = f"was tuned for vectors of {columns} dimensions, and layers {layers} have {width}; omit --layers"
    with pytest.raises(UserError, match=re.escape(message)):
        as_encoder(copied, **options)


# -------------------------------------------------------------------------------------------------- damaged files

WHOLE: dict[str, Any] = {
    "format": 2,
    "periods": ["old", "new"],
    "time_tokens": ["the", "a"],
    "attention": False,
    "markers": ["the", "a"],
    "pooling": "mean",
    "layers": "last",
    "projection": False,
    "space": False,
    "calibration": None,
    "base": None,
}


def one_sentence(error: BaseException) -> str:
    text = str(error)
    assert "\n" not in text
    assert len(text) < 400
    return text


def assert_damaged(path: Path, named: str = FILE) -> None:
    with pytest.raises(UserError, match=re.escape(str(path / named))) as caught:
        load_model(path)
    assert "damaged" in one_sentence(caught.value)


def test_undamaged_file_is_accepted(copied: Path) -> None:
    (copied / FILE).write_text(json.dumps(WHOLE))
    expected = Adaptation(("old", "new"), ("the", "a"), False, ("the", "a"), "mean", "last")
    assert load_model(copied)[2] == expected


def test_declared_raw_space_survives_saving_and_loading(copied: Path) -> None:
    Adaptation(layers="last", pooling="mean", space="raw").save(copied)
    assert json.loads((copied / FILE).read_bytes())["space"] == "raw"
    assert load_model(copied)[2].space == "raw"
    assert optional_attribute(as_encoder(copied), "space") == "raw"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"not json", b"\xff\xfe\x00", b"[]", b"null", b"3", b'"text"', b"{}", json.dumps(WHOLE).encode()[:-20]],
    ids=repr,
)
def test_invalid_file_is_refused(copied: Path, content: bytes) -> None:
    (copied / FILE).write_bytes(content)
    assert_damaged(copied)


@pytest.mark.parametrize("key", WHOLE)
def test_file_that_lacks_a_key_is_refused(copied: Path, key: str) -> None:
    (copied / FILE).write_text(json.dumps({name: value for name, value in WHOLE.items() if name != key}))
    assert_damaged(copied)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 1},
        {"format": "2"},
        {"space": "fixed"},
        {"space": None},
        {"calibration": {"slope": 1.0}},
        {"calibration": {"slope": 1.0, "intercept": "0"}},
        {"calibration": {"slope": float("nan"), "intercept": 0.0}},
        {"calibration": [1.0, 2.0]},
        {"base": "minilm"},
        {"base": {"model": "minilm"}},
        {"base": {"model": 1, "revision": None, "weights": None}},
        {"base": {"model": "minilm", "revision": 2, "weights": None}},
        {"periods": 2},
        {"periods": None},
        {"periods": [1850, 2000]},
        {"periods": "on"},  # two letters for two time tokens
        {"periods": {"old": 0, "new": 1}},
        {"periods": []},  # with time tokens
        {"time_tokens": ["the"]},
        {"time_tokens": ["the", "a", "the"]},
        {"time_tokens": ["the", "<2>"]},
        {"time_tokens": [3, 4]},
        {"markers": ["the"]},
        {"markers": ["the", "a", "the"]},
        {"markers": ["<t>", "</t>"]},
        {"markers": 7},
        {"markers": [1, 2]},
        {"pooling": 3},
        {"pooling": ["mean"]},
        {"layers": 2},
        {"attention": "no"},
    ],
    ids=str,
)
def test_invalid_values_are_refused(copied: Path, change: dict[str, Any]) -> None:
    (copied / FILE).write_text(json.dumps(WHOLE | change))
    assert_damaged(copied)


@pytest.mark.parametrize("change", [{"pooling": "max"}, {"layers": "all"}, {"layers": "mean:99"}], ids=str)
def test_invalid_choices_are_refused_by_name(copied: Path, change: dict[str, Any]) -> None:
    (copied / FILE).write_text(json.dumps(WHOLE | change))
    with pytest.raises(UserError) as caught:
        as_encoder(copied)
    text = one_sentence(caught.value)
    assert next(iter(change)) in text


def _missing(_path: Path) -> None:
    pass


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _garbage(path: Path) -> None:
    path.write_bytes(b"garbage" * 20)


def _of_another_name(path: Path) -> None:
    save_file({"other": projection()}, path)


def _vector(path: Path) -> None:
    save_file({"projection": projection()[0]}, path)


@pytest.mark.parametrize("damage", [_missing, _empty, _garbage, _of_another_name, _vector])
def test_missing_or_damaged_projection_is_refused(copied: Path, damage: Callable[[Path], None]) -> None:
    Adaptation(projection=projection()).save(copied)
    (copied / PROJECTION).unlink()
    damage(copied / PROJECTION)
    assert_damaged(copied, PROJECTION)


# -------------------------------------------------------------------------------------------------------- periods


@pytest.mark.parametrize(
    ("periods", "labels", "expected"),
    [
        (("1850", "2000"), ("1850", "2000"), [0, 1]),
        (("1850", "2000"), ("2000", "1850"), [1, 0]),
        (("1850", "2000"), ("2000",), [1]),
        (("1850", "2000"), ("old", "new"), [0, 1]),
        (("a", "b", "c"), ("c", "a"), [2, 0]),
        (("a", "b", "c"), ("c", "b", "a"), [2, 1, 0]),
        (("a", "b", "c"), ("x", "y", "z"), [0, 1, 2]),
    ],
)
def test_corpora_are_assigned_to_periods_by_label_or_by_order(
    periods: tuple[str, ...], labels: tuple[str, ...], expected: list[int]
) -> None:
    assert period_numbers(periods, labels) == expected
    assert period_numbers(list(periods), list(labels)) == expected


@given(st.permutations(["a", "b", "c", "d"]), st.integers(1, 4))
def test_known_labels_are_matched_by_name_in_any_order(labels: list[str], count: int) -> None:
    numbers = period_numbers(("a", "b", "c", "d"), labels[:count])
    assert ["abcd"[number] for number in numbers] == labels[:count]


@pytest.mark.parametrize("labels", [("x",), ("x", "y", "z"), ("1850", "2000", "x")])
def test_corpora_outside_of_the_periods_of_the_model_are_refused(labels: tuple[str, ...]) -> None:
    with pytest.raises(UserError) as caught:
        period_numbers(("1850", "2000"), labels)
    text = one_sentence(caught.value)
    assert "the model distinguishes the periods 1850, 2000: give 2 corpora in that order" in text
    assert text.endswith(f"got {', '.join(labels)}")

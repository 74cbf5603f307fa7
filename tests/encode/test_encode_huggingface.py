"""Test the encoder: its vectors against a slow reference, and every option."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from tiny_models import (
    DEPTH,
    FAMILIES,
    HIDDEN,
    KINDS,
    POSITIONS,
    TEXT,
    WORDS,
    assert_same,
    cosines,
    encoder,
    folder,
    loaded,
    make_model,
    make_tokenizer,
    span_of,
    twin,
    width,
)
from torch import Tensor

from lexshift.encode import as_encoder, huggingface
from lexshift.encode.huggingface import HuggingFaceEncoder, longest_sequence, pick_device
from lexshift.encode.layers import Layers
from lexshift.encode.protocol import Encoder, Span
from lexshift.errors import UserError

LAYERS: list[str | int] = ["last", 0, 2, -1, "-2", "mean:4", "mean:1", "sum:2", "concat:3"]
SENTENCES = [sentence for sentence in TEXT for _ in range(2)]
SPANS = [span_of(s, s.split()[0 if i % 2 else -1].strip(".!")) for i, s in enumerate(SENTENCES)]


def drawn(data: st.DataObject, most: int = 8) -> tuple[list[str], list[Span]]:
    """Draw sentences of known words in random order, and one word of each."""
    sentences, spans = [], []
    for words in data.draw(
        st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), min_size=1, max_size=most)
    ):
        index = data.draw(st.integers(0, len(words) - 1))
        start = len(" ".join([*words[:index], ""]))
        sentences.append(" ".join(words))
        spans.append((start, start + len(words[index])))
    return sentences, spans


class Runs:
    """Count the calls of an encoder and the sequences in them."""

    def __init__(self, ours: HuggingFaceEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shapes: list[tuple[int, ...]] = []
        states = ours._forward.states

        def counted(layers: Layers, ids: Tensor, lengths: Tensor, where: Tensor) -> list[Tensor]:
            self.shapes.append(tuple(ids.shape))
            return states(layers, ids, lengths, where)

        monkeypatch.setattr(ours._forward, "states", counted)

    @property
    def sequences(self) -> int:
        return sum(shape[0] for shape in self.shapes)


# ---------------------------------------------------------------------------------- comparison with the reference


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layers", LAYERS)
def test_vectors_of_every_family_and_layer_equal_the_reference(family: str, layers: str | int) -> None:
    for pooling in ("mean", "sum", "first"):
        ours = encoder(family, layers=layers, pooling=pooling)
        vectors = ours.encode(SENTENCES, SPANS)
        assert vectors.shape == (len(SENTENCES), width(layers)) == (len(SENTENCES), ours.dimensions)
        assert_same(vectors, twin(family, SENTENCES, SPANS, layers, pooling))


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=6)
@given(data=st.data())
def test_padding_and_sentence_order_do_not_matter(family: str, data: st.DataObject) -> None:
    sentences, spans = drawn(data)
    expected = twin(family, sentences, spans)
    order = data.draw(st.permutations(range(len(sentences))))
    for budget in (1, data.draw(st.integers(2, 60)), 100_000):
        ours = encoder(family, batch_tokens=budget)
        assert_same(ours.encode(sentences, spans), expected)
        shuffled = ours.encode([sentences[i] for i in order], [spans[i] for i in order])
        assert_same(shuffled, expected[order])


@pytest.mark.parametrize("family", FAMILIES)
def test_accents_emoji_case_and_positions_equal_the_reference(family: str) -> None:
    cases = [
        ("Café au lait", "Café"),
        ("we met at the CAFÉ", "CAFÉ"),
        ("we met at the cafe\u0301.", "cafe\u0301"),
        ("a 🙂 plane 👩‍🚀!", "🙂"),
        ("a 🙂 plane 👩‍🚀!", "👩‍🚀"),
        ("a 🙂🙂 plane", "plane"),
        ("PLANE", "PLANE"),
        ("Übermut und Straßen", "Straßen"),
        ("the plane_nn be report_vb", "plane_nn"),
        ("the plane_nn be report_vb", "report_vb"),
        ("regained gain", "gain"),  # within the first word
        ("日本の飛行機", "飛行機"),
        ("don't re-gain it", "re-gain"),
        ("a cell phone rang", "cell phone"),
    ]
    sentences = [sentence for sentence, _ in cases]
    spans = [span_of(sentence, word) for sentence, word in cases]
    for pooling in ("mean", "first"):
        assert_same(
            encoder(family, pooling=pooling).encode(sentences, spans), twin(family, sentences, spans, pooling=pooling)
        )


@pytest.mark.parametrize("family", FAMILIES)
def test_repeated_word_has_a_vector_at_each_position(family: str) -> None:
    sentence = "the mouse ran after the mouse and the Mouse"
    spans = [span_of(sentence, "mouse", 0), span_of(sentence, "mouse", 1), span_of(sentence, "Mouse")]
    vectors = encoder(family).encode([sentence] * 3, spans)
    assert_same(vectors, twin(family, [sentence] * 3, spans))
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        assert np.abs(vectors[i] - vectors[j]).max() > 1e-2


@pytest.mark.parametrize("family", FAMILIES)
def test_vector_depends_on_its_context_and_not_on_the_rest_of_the_batch(family: str) -> None:
    sentences = ["the plane landed on the runway", "the plane through three points", "a plane"]
    spans = [span_of(sentence, "plane") for sentence in sentences]
    ours = encoder(family)
    together = ours.encode(sentences, spans)
    alone = np.concatenate([ours.encode([s], [span]) for s, span in zip(sentences, spans, strict=True)])
    assert_same(together, alone)
    assert np.abs(together[0] - together[1]).max() > 1e-2


@pytest.mark.parametrize("pooling", ["mean", "sum", "first"])
def test_word_dropped_by_the_tokenizer_is_nan_and_the_others_are_unchanged(pooling: str) -> None:
    sentence = "the \u200b plane"
    spans = [(0, 3), (4, 5), (6, 11)]
    ours = encoder("bert", pooling=pooling)
    vectors = ours.encode([sentence] * 3, spans)
    assert np.isnan(vectors[1]).all()
    assert np.isfinite(vectors[[0, 2]]).all()
    assert_same(vectors, twin("bert", [sentence] * 3, spans, pooling=pooling))
    only = ours.encode([sentence, "\u200b"], [(4, 5), (0, 1)])
    assert only.shape == (2, HIDDEN)
    assert np.isnan(only).all()


@pytest.mark.parametrize("family", KINDS.values(), ids=KINDS)
def test_empty_input_gives_an_empty_array(family: str) -> None:
    vectors = encoder(family, layers="concat:2").encode([], [])
    assert vectors.shape == (0, 2 * HIDDEN)
    assert vectors.dtype == np.float32


@pytest.mark.parametrize("span", [(-1, 3), (3, 3), (4, 2), (0, 10), (9, 12)])
def test_span_outside_the_sentence_is_refused(span: Span) -> None:
    with pytest.raises(ValueError, match=rf"the span \({span[0]}, {span[1]}\) is not within the sentence 'the plane'"):
        encoder("bert").encode(["a plane", "the plane"], [(2, 7), span])


def test_number_of_spans_must_equal_the_number_of_sentences() -> None:
    with pytest.raises(ValueError, match="shorter"):
        encoder("bert").encode(["a plane", "the plane"], [(2, 7)])


# ------------------------------------------------------------------------------------------- no unnecessary passes


@pytest.mark.parametrize("family", FAMILIES)
def test_words_of_one_sentence_share_a_pass_and_identical_sentences_are_run_once(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = encoder(family)
    runs = Runs(ours, monkeypatch)
    sentence, other = TEXT[2], TEXT[3]
    spans = [span_of(sentence, "mouse"), span_of(other, "mouse"), span_of(sentence, "cat"), span_of(sentence, "mouse")]
    vectors = ours.encode([sentence, other, sentence, sentence], spans)
    assert len(runs.shapes) == 1
    assert runs.sequences == 2
    np.testing.assert_array_equal(vectors[0], vectors[3])


def test_batches_respect_the_token_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = encoder("bert", batch_tokens=64)
    runs = Runs(ours, monkeypatch)
    ours.encode(SENTENCES, SPANS)
    assert runs.sequences == len(TEXT)
    assert all(count == 1 or count * length <= 64 for count, length in runs.shapes)
    assert any(count > 1 for count, _ in runs.shapes)


# ----------------------------------------------------------------------------------------------------------- windows


@pytest.mark.parametrize("family", FAMILIES)
def test_words_anywhere_in_an_overlong_sentence_have_vectors(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = " ".join(TEXT * 2)
    spans = [(0, 3), span_of(sentence, "theatre", 1), (len(sentence) - len("again."), len(sentence) - 1)]
    ours = encoder(family)
    assert ours.window == POSITIONS
    runs = Runs(ours, monkeypatch)
    vectors = ours.encode([sentence] * 3, spans)
    assert np.isfinite(vectors).all()
    assert runs.sequences == 3
    assert {length for _, length in runs.shapes} == {POSITIONS}  # the maximum length of the model


@pytest.mark.parametrize("family", KINDS.values(), ids=KINDS)
def test_window_equals_the_model_run_on_the_words_in_it(family: str) -> None:
    long = " ".join(TEXT)
    ours = encoder(family, window=15)
    span = span_of(long, "clicked")
    vectors = ours.encode([long], [span])
    pieces = ours._windows.cut([long], [span], None)
    cut = torch.from_numpy(pieces.sequences[0])[None]
    assert cut.shape == (1, 15)
    first, last = pieces.positions[0]
    with torch.no_grad():
        hidden = loaded(family)[0](input_ids=cut, output_hidden_states=True).hidden_states
    expected = torch.stack(hidden[-4:]).mean(0)[0, first:last].mean(0).numpy()[None]
    assert_same(vectors, expected)


def test_word_longer_than_the_window_is_represented_by_its_beginning() -> None:
    tokenizer = loaded("bert")[1]
    word = "gained" * 10
    ids = tokenizer(f"the {word} again")["input_ids"]
    vectors = encoder("bert", window=6, layers="last").encode([f"the {word} again"], [(4, 4 + len(word))])
    start = len(tokenizer("the")["input_ids"]) - 1
    cut = torch.tensor([[ids[0], *ids[start : start + 4], ids[-1]]])
    with torch.no_grad():
        last = loaded("bert")[0](input_ids=cut).last_hidden_state[0, 1:5]
    assert_same(vectors, last.mean(0).numpy()[None])


@pytest.mark.parametrize("family", FAMILIES)
def test_window_longer_than_the_model_allows_is_refused(family: str) -> None:
    assert longest_sequence(*loaded(family)) == POSITIONS
    with pytest.raises(
        UserError, match=rf"window is {POSITIONS + 1}, but the model '.*{family}' takes at most {POSITIONS}"
    ):
        encoder(family, window=POSITIONS + 1)


@pytest.mark.parametrize("family", FAMILIES)
def test_length_limit_is_that_of_the_model_if_the_tokenizer_has_none(family: str) -> None:
    tokenizer = copy.deepcopy(loaded(family)[1])
    tokenizer.model_max_length = int(1e30)
    assert longest_sequence(loaded(family)[0], tokenizer) == POSITIONS


def test_windows_have_512_tokens_unless_longer_ones_are_requested() -> None:
    model, tokenizer = make_model("modernbert"), make_tokenizer("modernbert")
    tokenizer.model_max_length = model.config.max_position_embeddings = 8192
    assert HuggingFaceEncoder(model, tokenizer).window == 512
    assert HuggingFaceEncoder(model, tokenizer, window=2000).window == 2000


@pytest.mark.parametrize("window", [0, -1, 1.5, "64", True])
def test_invalid_window_is_refused(window: Any) -> None:
    with pytest.raises(ValueError, match="window must be a whole number of at least 1"):
        encoder("bert", window=window)


# ----------------------------------------------------------------------------------------------------------- markers


@pytest.mark.parametrize("family", FAMILIES)
def test_with_markers_the_vector_is_that_of_the_word_between_them(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "the mouse ran after the mouse"
    spans = [span_of(sentence, "mouse"), span_of(sentence, "mouse", 1)]
    ours = encoder(family, markers=("<t> ", " </t>"))
    runs = Runs(ours, monkeypatch)
    vectors = ours.encode([sentence] * 2, spans)
    assert runs.sequences == 2
    marked = ["the <t> mouse </t> ran after the mouse", "the mouse ran after the <t> mouse </t>"]
    assert_same(vectors, twin(family, marked, [span_of(marked[0], "mouse"), span_of(marked[1], "mouse", 1)]))
    assert np.abs(vectors - encoder(family).encode([sentence] * 2, spans)).max() > 1e-2


# --------------------------------------------------------------------------------------------- device and precision


def test_auto_selects_an_available_device() -> None:
    assert pick_device("auto").type in ("cpu", "cuda", "mps")
    vectors = encoder("bert", device="auto").encode(TEXT[:1], [(0, 3)])
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("device", ["gpu", "", "cpu:x", "cuda:99", "xpu"])
def test_unavailable_device_is_refused(device: str) -> None:
    with pytest.raises(UserError, match=rf"device '{device}' is not available on this machine; use auto"):
        encoder("bert", device=device)


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_half_precision_on_a_cpu_is_refused(dtype: str) -> None:
    with pytest.raises(UserError, match=rf"dtype {dtype} needs a GPU; on the CPU use fp32, or int8"):
        encoder("bert", device="cpu", dtype=dtype)


def test_int8_on_another_device_is_refused() -> None:
    with pytest.raises(UserError, match=r"dtype int8 needs the CPU \(--device cpu\), not meta"):
        encoder("bert", device="meta", dtype="int8")


@pytest.mark.parametrize(
    ("option", "value"), [("dtype", "float32"), ("dtype", None), ("pooling", "max"), ("pooling", "words")]
)
def test_unknown_choice_is_refused_by_name(option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{option} must be one of"):
        encoder("bert", **{option: value})


@pytest.mark.parametrize("family", FAMILIES)
def test_int8_is_close_to_full_precision_and_reports_its_deviation(family: str) -> None:
    sentences, spans = [s for s in TEXT for _ in range(2)], SPANS
    ours, full = encoder(family, dtype="int8"), encoder(family)
    vectors, exact = ours.encode(sentences, spans), full.encode(sentences, spans)
    assert vectors.dtype == np.float32
    deviation = ours.deviation(sentences, spans)
    assert deviation.shape == (len(sentences),)
    np.testing.assert_allclose(deviation, 1 - cosines(vectors, exact), atol=1e-5)
    assert (deviation < 0.2).all()
    assert deviation.max() > 1e-6  # it is an approximation
    np.testing.assert_allclose(full.deviation(sentences, spans), 0, atol=1e-6)
    assert_same(full.encode(sentences, spans), exact)  # the model itself is not modified


@pytest.mark.skipif(not huggingface._sums_bytes_exactly(), reason="the processor has no VNNI instructions")
def test_int8_uses_all_bits_where_sums_of_bytes_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [s for s in TEXT for _ in range(2)]
    all_bits = encoder("bert", dtype="int8").deviation(sentences, SPANS)
    monkeypatch.setattr(huggingface, "_sums_bytes_exactly", lambda: False)
    fewer = encoder("bert", dtype="int8").deviation(sentences, SPANS)
    assert all_bits.mean() < 0.6 * fewer.mean()


def test_deviation_uses_the_options_of_the_encoder() -> None:
    options: dict[str, Any] = {"layers": 2, "pooling": "first", "window": 9, "markers": ("<t> ", " </t>")}
    ours = encoder("roberta", dtype="int8", **options)
    exact = encoder("roberta", **options).encode(SENTENCES, SPANS)
    expected = 1 - cosines(ours.encode(SENTENCES, SPANS), exact)
    np.testing.assert_allclose(ours.deviation(SENTENCES, SPANS), expected, atol=1e-5)


@pytest.mark.parametrize("dtype", ["fp32", "int8"])
@pytest.mark.parametrize("family", ["bert", "modernbert"])
def test_model_saved_in_half_precision_works_on_a_cpu(family: str, dtype: str, tmp_path: Path) -> None:
    make_tokenizer(family).save_pretrained(tmp_path)
    make_model(family).to(torch.bfloat16).save_pretrained(tmp_path)
    ours = as_encoder(tmp_path, dtype=dtype)
    vectors = ours.encode(SENTENCES, SPANS)
    assert vectors.dtype == np.float32
    assert (cosines(vectors, encoder(family).encode(SENTENCES, SPANS)) > 0.8).all()


def test_slow_tokenizer_is_refused() -> None:
    class Slow:
        is_fast = False

    with pytest.raises(UserError, match=r"the model '.*bert' has no fast tokenizer"):
        HuggingFaceEncoder(loaded("bert")[0], Slow())


# ---------------------------------------------------------------------------------------------------------- identity


def test_same_folder_gives_the_same_settings_and_another_name_the_same_weights(tmp_path: Path) -> None:
    path = folder("bert")
    first, second = as_encoder(path), as_encoder(str(path))
    assert isinstance(first, HuggingFaceEncoder)
    assert isinstance(second, HuggingFaceEncoder)
    assert first.settings == second.settings
    other = HuggingFaceEncoder(*loaded("bert"))
    other.name = "another"
    assert other.weights == first.weights
    assert other.settings == first.settings | {"model": "another"}
    assert len(first.weights) == 64
    moved = tmp_path / "moved"
    moved.symlink_to(path)
    third = as_encoder(moved)
    assert isinstance(third, HuggingFaceEncoder)
    assert {**third.settings, "model": ""} == {**first.settings, "model": ""}


@pytest.mark.parametrize(
    "change",
    [
        {"layers": "mean:3"},
        {"layers": "sum:4"},
        {"pooling": "first"},
        {"window": 20},
        {"markers": ("<t>", "</t>")},
        {"dtype": "int8"},
    ],
    ids=str,
)
def test_every_option_that_shapes_vectors_is_in_the_settings(change: dict[str, Any]) -> None:
    base, changed = encoder("bert"), encoder("bert", **change)
    assert changed.settings != base.settings
    assert changed.weights == base.weights
    assert changed.settings | {name: base.settings[name] for name in change} == base.settings


@pytest.mark.parametrize("change", [{"batch_tokens": 7}, {"device": "cpu"}, {"layers": "mean:4"}], ids=str)
def test_options_that_do_not_shape_vectors_are_not_in_the_settings(change: dict[str, Any]) -> None:
    assert encoder("bert", device="cpu").settings == encoder("bert", **{"device": "cpu"} | change).settings


@pytest.mark.parametrize("key", ["embeddings.word_embeddings.weight", "encoder.layer.3.output.LayerNorm.bias"])
def test_one_changed_weight_changes_the_settings(key: str) -> None:
    model, tokenizer = loaded("bert")
    changed = copy.deepcopy(model)
    with torch.no_grad():
        changed.get_parameter(key).view(-1)[7] += 1e-6
    base = HuggingFaceEncoder(model, tokenizer)
    other = HuggingFaceEncoder(changed, tokenizer)
    assert other.weights != base.weights
    assert other.settings != base.settings


def test_another_tokenizer_changes_the_settings() -> None:
    model, tokenizer = loaded("bert")
    other = copy.deepcopy(tokenizer)
    other.add_tokens(["planes"], special_tokens=True)  # text does not reach it, so it needs no embedding
    base = HuggingFaceEncoder(model, tokenizer)
    assert HuggingFaceEncoder(model, other).weights != base.weights


def test_changed_model_setting_changes_the_settings() -> None:
    model, tokenizer = loaded("bert")
    other = copy.deepcopy(model)
    other.config.layer_norm_eps = 0.1
    base = HuggingFaceEncoder(model, tokenizer)
    assert HuggingFaceEncoder(other, tokenizer).settings != base.settings


def test_encoding_does_not_change_the_settings_and_a_tokenizer_can_be_shared() -> None:
    model, tokenizer = copy.deepcopy(loaded("bert"))
    first = HuggingFaceEncoder(model, tokenizer)
    before = first.settings
    tokenizer(TEXT, padding=True, truncation=True, max_length=8)  # the owner uses the tokenizer for something else
    first.encode(SENTENCES, SPANS)
    second = HuggingFaceEncoder(model, tokenizer)
    assert first.settings == second.settings == before


@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta"])
def test_model_saved_without_its_pooler_is_the_same_each_time_it_is_loaded(family: str, tmp_path: Path) -> None:
    make_tokenizer(family).save_pretrained(tmp_path)
    make_model(family).save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    kept = {key: tensor for key, tensor in load_file(file).items() if not key.startswith("pooler.")}
    assert len(kept) == len(load_file(file)) - 2
    save_file(kept, file, metadata={"format": "pt"})
    first, second = as_encoder(tmp_path), as_encoder(tmp_path)
    assert isinstance(first, HuggingFaceEncoder)
    assert isinstance(second, HuggingFaceEncoder)
    np.testing.assert_array_equal(first.encode(SENTENCES, SPANS), second.encode(SENTENCES, SPANS))
    assert first.settings == second.settings


def test_two_encoders_of_one_half_precision_model_have_the_same_weights() -> None:
    model, tokenizer = make_model("bert").to(torch.bfloat16), loaded("bert")[1]
    first = HuggingFaceEncoder(model, tokenizer)
    assert HuggingFaceEncoder(model, tokenizer).weights == first.weights


def test_missing_name_is_inferred() -> None:
    model, tokenizer = loaded("bert")
    assert HuggingFaceEncoder(model, tokenizer).name == str(folder("bert"))
    assert HuggingFaceEncoder(make_model("bert"), tokenizer).name == "BertModel"


def test_encoder_has_as_many_layers_as_the_model() -> None:
    assert isinstance(encoder("bert"), Encoder)
    with pytest.raises(UserError, match=f"the last {DEPTH + 1}, but the model has {DEPTH} layers"):
        encoder("bert", layers=f"mean:{DEPTH + 1}")


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_concurrent_batches_give_the_same_vectors(family: str) -> None:
    sentences = [f"{'the plane flew over the hill and ' * (i % 7)}plane number {i}" for i in range(60)]
    spans = [(s.index("plane"), s.index("plane") + 5) for s in sentences]
    alone = encoder(family, batch_tokens=64).encode(sentences, spans)
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        together = encoder(family, batch_tokens=64)
        recorder: list[float] = []
        vectors = together.encode(sentences, spans, advance=recorder.append)
        assert together._pool is not None
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_allclose(vectors, alone, rtol=1e-5, atol=1e-5)
    assert recorder == sorted(recorder)
    assert len(recorder) > 3
    assert recorder[-1] == 1


def test_model_with_its_own_forward_pass_runs_one_batch_at_a_time() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        assert encoder("modernbert")._pool is None
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("family", ["bert", "distilbert"])
def test_memory_alignment_of_weights_changes_no_digit(family: str) -> None:
    model, tokenizer = loaded(family)
    vectors = []
    for offset in (0, 1, 3):  # in units of four bytes
        moved = copy.deepcopy(model)
        for weight in moved.parameters():
            room = torch.empty(weight.numel() + 16 + offset)
            begin = (-room.data_ptr() // 4) % 16 + offset
            weight.data = room[begin : begin + weight.numel()].view_as(weight).copy_(weight.data)
            assert weight.data_ptr() % 64 == 4 * offset
        ours = HuggingFaceEncoder(moved, tokenizer, device="cpu")
        vectors.append([ours.encode([sentence], [span]) for sentence, span in zip(SENTENCES, SPANS, strict=True)])
        assert all(weight.data_ptr() % 64 == 4 * offset for weight in moved.parameters())  # not realigned
    assert np.array_equal(vectors[0], vectors[1])
    assert np.array_equal(vectors[0], vectors[2])


def test_used_encoder_can_be_sent_to_another_process() -> None:
    ours = encoder("bert")
    vectors = ours.encode(SENTENCES, SPANS)
    state = ours.__getstate__()
    assert "_forward" not in state
    assert "_pool" not in state
    again = HuggingFaceEncoder.__new__(HuggingFaceEncoder)
    again.__dict__.update(state)
    assert np.array_equal(again.encode(SENTENCES, SPANS), vectors)

"""Test models that distinguish periods by a token before each sentence."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import (
    HIDDEN,
    KINDS,
    POSITIONS,
    TEXT,
    WORDS,
    assert_same,
    cosines,
    encoder,
    loaded,
    make_model,
    make_tokenizer,
    span_of,
)
from torch import Tensor

from lexshift.encode import as_encoder
from lexshift.encode.adaptation import Adaptation
from lexshift.encode.forward import PostNormForward
from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.encode.layers import Layers
from lexshift.encode.loading import load_model
from lexshift.encode.protocol import Span
from lexshift.encode.temporal import FIRST, SPECIAL, add_temporal_attention, temporal_weights
from lexshift.encode.windows import WindowTokenizer
from lexshift.errors import UserError

FAMILIES = list(KINDS.values())
TIMES = ("<1>", "<2>")
LONG = " ".join(TEXT)
SENTENCES = [*TEXT, *TEXT]
SPANS = [span_of(s, s.split()[1 if i % 2 else -1].strip(".!,")) for i, s in enumerate(SENTENCES)]
PERIODS = [0] * len(TEXT) + [1] * len(TEXT)


@cache
def tuned(family: str, attention: bool = False) -> tuple[Any, Any, Adaptation]:
    """Return a shared model with one additional token for each of two periods; do not modify it."""
    model, tokenizer = make_model(family), make_tokenizer(family)
    assert tokenizer.add_tokens(list(TIMES), special_tokens=True) == 2
    torch.manual_seed(4)
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    with torch.no_grad():
        model.get_input_embeddings().weight[-2:].normal_(0, 0.5)
    if attention:
        add_temporal_attention(model, 2)
        with torch.no_grad():
            for weight in temporal_weights(model).values():
                weight.normal_(0, 0.5)
    adaptation = Adaptation(periods=("old", "new"), time_tokens=TIMES, attention=attention)
    return model.eval(), tokenizer, adaptation


def made(family: str, attention: bool = False, **options: Any) -> HuggingFaceEncoder:
    model, tokenizer, adaptation = tuned(family, attention)
    encoder = HuggingFaceEncoder(model, tokenizer, adaptation=adaptation, **options)
    encoder.name = family
    return encoder


def by_hand(family: str, sentence: str, span: Span, period: int, attention: bool = False) -> npt.NDArray[np.float32]:
    """Return the mean over the last four layers and over the pieces of the word."""
    model, tokenizer, _ = tuned(family, attention)
    bare = tokenizer(sentence, add_special_tokens=False, return_offsets_mapping=True)
    time = tokenizer.convert_tokens_to_ids(TIMES[period])
    ids = torch.tensor([[tokenizer.cls_token_id, time, *bare["input_ids"], tokenizer.sep_token_id]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if attention:
        inputs["times"] = torch.tensor([[SPECIAL, *[FIRST + period] * (ids.shape[1] - 2), SPECIAL]])
    with torch.inference_mode():
        states = model(**inputs, output_hidden_states=True).hidden_states
    hidden = torch.stack(states[-4:]).mean(0)[0].numpy()
    rows = [hidden[2 + i] for i, (a, b) in enumerate(bare["offset_mapping"]) if set(range(a, b)) & set(range(*span))]
    return sum(rows[1:], rows[0]) / np.float32(len(rows))


def all_by_hand(family: str, attention: bool = False) -> npt.NDArray[np.float32]:
    work = zip(SENTENCES, SPANS, PERIODS, strict=True)
    return np.array([by_hand(family, *item, attention) for item in work])


def tokens(family: str, window: int = POSITIONS) -> WindowTokenizer:
    return WindowTokenizer(tuned(family)[1], window, TIMES)


# ----------------------------------------------------------------------------------------------------------- vectors


@pytest.mark.parametrize("attention", [False, True], ids=["tokens", "tokens and attention"])
@pytest.mark.parametrize("family", FAMILIES, ids=KINDS)
def test_vectors_equal_those_of_the_sentence_after_its_period_token(family: str, attention: bool) -> None:
    expected = all_by_hand(family, attention)
    for budget in (1, 100, 100_000):
        ours = made(family, attention, batch_tokens=budget)
        assert isinstance(ours._forward, PostNormForward)
        vectors = ours.encode(SENTENCES, SPANS, periods=PERIODS)
        assert_same(vectors, expected)
    old, new = vectors[: len(TEXT)], ours.encode(TEXT, SPANS[: len(TEXT)], periods=[1] * len(TEXT))
    assert (np.abs(old - new).max(1) > 1e-3).all()


@pytest.mark.parametrize("attention", [False, True], ids=["tokens", "tokens and attention"])
@pytest.mark.parametrize("family", FAMILIES, ids=KINDS)
def test_saved_model_gives_the_same_vectors(family: str, attention: bool, tmp_path: Path) -> None:
    model, tokenizer, adaptation = tuned(family, attention)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    adaptation.save(tmp_path)
    assert load_model(tmp_path)[2] == adaptation
    ours = as_encoder(tmp_path)
    assert isinstance(ours, HuggingFaceEncoder)
    assert ours.periods == ("old", "new")
    assert_same(ours.encode(SENTENCES, SPANS, periods=PERIODS), all_by_hand(family, attention))
    assert ours.settings["periods"] == ["old", "new"]
    assert ours.settings["time"] == [*TIMES, *(["attention"] if attention else [])]


@pytest.mark.parametrize("family", FAMILIES, ids=KINDS)
def test_sentence_vector_includes_the_period_token(family: str) -> None:
    model, tokenizer, _ = tuned(family)
    rows = []
    for sentence, period in zip(SENTENCES, PERIODS, strict=True):
        ids = tokenizer(sentence)["input_ids"]
        ids.insert(1, tokenizer.convert_tokens_to_ids(TIMES[period]))
        with torch.inference_mode():
            rows.append(model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0).numpy())
    ours = made(family, pooling="sentence", layers="last")
    assert_same(ours.encode(SENTENCES, SPANS, periods=PERIODS), np.array(rows))


@pytest.mark.parametrize("family", FAMILIES, ids=KINDS)
def test_text_of_a_time_token_is_not_part_of_the_following_word(family: str) -> None:
    sentence = "plane mouse plane"
    for span in [(0, 5), (6, 11), (12, 17)]:
        vectors = made(family).encode([sentence], [span], periods=[1])
        assert_same(vectors, by_hand(family, sentence, span, 1)[None])


def test_equal_sentences_are_run_once_per_period(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = made("bert", attention=True)
    shapes: list[tuple[int, ...]] = []
    states = ours._forward.states

    def counted(
        layers: Layers, ids: Tensor, lengths: Tensor, where: Tensor, times: Tensor | None = None
    ) -> list[Tensor]:
        shapes.append(tuple(ids.shape))
        return states(layers, ids, lengths, where, times)

    monkeypatch.setattr(ours._forward, "states", counted)
    sentence = TEXT[2]
    spans = [span_of(sentence, "mouse"), span_of(sentence, "cat"), span_of(sentence, "mouse"), span_of(sentence, "cat")]
    ours.encode([sentence] * 4, spans, periods=[0, 0, 0, 0])
    assert [count for count, _ in shapes] == [1]
    shapes.clear()
    vectors = ours.encode([sentence] * 4, spans, periods=[0, 0, 1, 1])
    assert [count for count, _ in shapes] == [2]
    for row, period in enumerate([0, 0, 1, 1]):
        assert_same(vectors[row : row + 1], by_hand("bert", sentence, spans[row], period, attention=True)[None])


def test_with_temporal_attention_equal_sentences_of_two_periods_are_run_separately() -> None:
    model, tokenizer, _ = tuned("bert", attention=True)
    ours = HuggingFaceEncoder(model, tokenizer, adaptation=Adaptation(periods=("old", "new"), attention=True))
    together = ours.encode([TEXT[0]] * 2, [(4, 9)] * 2, periods=[0, 1])
    alone = [ours.encode([TEXT[0]], [(4, 9)], periods=[period]) for period in (0, 1)]
    assert_same(together, np.concatenate(alone))
    assert np.abs(together[0] - together[1]).max() > 1e-3


# ----------------------------------------------------------------------------------------------------------- windows


@pytest.mark.parametrize("family", FAMILIES, ids=KINDS)
@pytest.mark.parametrize("window", [4, 5, 12, 33])
def test_long_sentence_is_cut_around_the_word_and_keeps_its_period_token(family: str, window: int) -> None:
    tokenizer = tuned(family)[1]
    bare = tokenizer(LONG, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    times = tokenizer.convert_tokens_to_ids(list(TIMES))
    spans = [span_of(LONG, word) for word in ("The", "runway", "clicked", "theatre", "again")]
    for period in (0, 1):
        pieces = tokens(family, window).cut([LONG] * len(spans), spans, None, [period] * len(spans))
        assert pieces.periods == [period] * len(pieces.sequences)
        for row, (start, end) in enumerate(spans):
            sequence = pieces.sequences[pieces.sequence[row]].tolist()
            assert len(sequence) == window
            assert sequence[:2] == [tokenizer.cls_token_id, times[period]]
            assert sequence[-1] == tokenizer.sep_token_id
            word = [i for i, (a, b) in enumerate(bare["offset_mapping"]) if a < end and b > start]
            first, last = pieces.positions[row]
            left = word[0] - (first - 2)
            assert sequence[2:-1] == bare["input_ids"][left : left + window - 3]
            assert sequence[first:last] == [bare["input_ids"][i] for i in word][: window - 3]
            if 0 < left < len(bare["input_ids"]) - (window - 3) and len(word) < window - 3:
                assert abs((first - 2) - (window - 1 - last)) <= 1, "not in the middle"


@pytest.mark.parametrize("family", FAMILIES, ids=KINDS)
def test_window_equals_the_model_run_on_the_words_in_it(family: str) -> None:
    model, tokenizer, _ = tuned(family)
    span = span_of(LONG, "clicked")
    ours = made(family, window=15, layers="last")
    vectors = ours.encode([LONG] * 2, [span] * 2, periods=[0, 1])
    for period in (0, 1):
        pieces = tokens(family, 15).cut([LONG], [span], None, [period])
        ids = torch.from_numpy(pieces.sequences[0])[None]
        assert ids.shape == (1, 15)
        assert tokenizer.convert_ids_to_tokens(ids[0, 1].item()) == TIMES[period]
        with torch.inference_mode():
            hidden = model(input_ids=ids).last_hidden_state[0, slice(*pieces.positions[0])]
        assert_same(vectors[period : period + 1], hidden.mean(0).numpy()[None])


@pytest.mark.parametrize("attention", [False, True], ids=["tokens", "tokens and attention"])
@pytest.mark.parametrize("family", FAMILIES, ids=KINDS)
def test_overlong_sentence_leaves_room_for_its_period_token(family: str, attention: bool) -> None:
    sentence = " ".join(TEXT * 2)
    spans = [(0, 3), span_of(sentence, "theatre", 1), (len(sentence) - len("again."), len(sentence) - 1)]
    ours = made(family, attention)
    assert ours.window == POSITIONS
    assert np.isfinite(ours.encode([sentence] * 3, spans, periods=[0, 1, 1])).all()


def test_sentence_of_exactly_the_window_length_is_not_cut() -> None:
    sentence = TEXT[2]
    length = len(tuned("bert")[1](sentence)["input_ids"]) + 1
    span = span_of(sentence, "mouse", 1)
    for window in (length, length + 1):
        assert len(tokens("bert", window).cut([sentence], [span], None, [0]).sequences[0]) == length
    assert len(tokens("bert", length - 1).cut([sentence], [span], None, [0]).sequences[0]) == length - 1


@pytest.mark.parametrize("family", FAMILIES, ids=KINDS)
@pytest.mark.parametrize("window", [1, 2, 3])
def test_window_without_room_beside_the_period_token_is_refused(family: str, window: int) -> None:
    with pytest.raises(UserError, match="window must leave room for a word beside 3 special tokens"):
        made(family, window=window)
    assert made(family, window=4).encode([TEXT[0]], [(4, 9)], periods=[0]).shape == (1, HIDDEN)


@given(
    st.sampled_from(FAMILIES),
    st.lists(
        st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), st.integers(0, 1)), min_size=1, max_size=6
    ),
    st.integers(4, 20),
    st.data(),
)
def test_sequences_are_those_without_time_plus_the_period_token(
    family: str, texts: list[tuple[list[str], int]], window: int, data: st.DataObject
) -> None:
    sentences, spans, periods = [], [], []
    for words, period in texts:
        index = data.draw(st.integers(0, len(words) - 1))
        start = len(" ".join([*words[:index], ""]))
        sentences.append(" ".join(words))
        spans.append((start, start + len(words[index])))
        periods.append(period)
    tokenizer = tuned(family)[1]
    ours = tokens(family, window).cut(sentences, spans, None, periods)
    plain = WindowTokenizer(tokenizer, window - 1).cut(sentences, spans, None)
    times = tokenizer.convert_tokens_to_ids(list(TIMES))
    seen = set()
    for row, period in enumerate(periods):
        bare = plain.sequences[plain.sequence[row]].tolist()
        expected = [bare[0], times[period], *bare[1:]]
        assert ours.sequences[ours.sequence[row]].tolist() == expected
        assert ours.periods[ours.sequence[row]] == period
        assert ours.positions[row] == tuple(position + 1 for position in plain.positions[row])
        seen.add(tuple(expected))
    assert len(ours.sequences) == len(ours.periods) == len(seen)
    assert tokens(family).ends == WindowTokenizer(tokenizer, 64).ends == (1, 1)


@pytest.mark.parametrize("family", FAMILIES, ids=KINDS)
@pytest.mark.parametrize("timed", [False, True])
def test_whole_sentences_are_cut_at_their_end_and_counted(family: str, timed: bool) -> None:
    tokenizer = tuned(family)[1]
    sentences, periods = [TEXT[0], LONG, "a plane", LONG, TEXT[0]], [1, 0, 0, 1, 0]
    window = len(tokenizer(TEXT[0])["input_ids"]) + timed
    sequences, cut = WindowTokenizer(tokenizer, window, TIMES if timed else ()).tokenize_whole(sentences, periods)
    assert cut == 2
    for sequence, sentence, period in zip(sequences, sentences, periods, strict=True):
        ids = tokenizer(sentence, add_special_tokens=False, verbose=False)["input_ids"][: window - 2 - timed]
        time = [tokenizer.convert_tokens_to_ids(TIMES[period])] if timed else []
        assert sequence.tolist() == [tokenizer.cls_token_id, *time, *ids, tokenizer.sep_token_id]
    assert WindowTokenizer(tokenizer, window).tokenize_whole([], []) == ([], 0)


# ----------------------------------------------------------------------------------- periods passed to the encoder


@pytest.mark.parametrize("periods", [None, [], [0], [0, 1, 0], [0, 2], [-1, 0], ["old", "new"], [0, None]], ids=str)
@pytest.mark.parametrize("attention", [False, True], ids=["tokens", "tokens and attention"])
def test_missing_or_unknown_periods_are_refused(periods: Any, attention: bool) -> None:
    with pytest.raises(ValueError, match=r"the model 'bert' distinguishes 2 periods: encode needs .* period, 0 to 1"):
        made("bert", attention).encode(["a plane", "the plane"], [(2, 7), (4, 9)], periods=periods)


@pytest.mark.parametrize("periods", [[0], [1], []], ids=str)
def test_model_without_periods_refuses_them(periods: list[int]) -> None:
    with pytest.raises(ValueError, match="the model 'bert' does not distinguish periods"):
        encoder("bert").encode(["a plane"], [(2, 7)], periods=periods)


def test_periods_may_be_an_array() -> None:
    ours = made("bert")
    expected = ours.encode(SENTENCES, SPANS, periods=PERIODS)
    for kind in (tuple(PERIODS), np.array(PERIODS), np.array(PERIODS, np.int8)):
        np.testing.assert_array_equal(ours.encode(SENTENCES, SPANS, periods=kind), expected)  # type: ignore[arg-type]


def test_empty_input_gives_an_empty_array() -> None:
    assert made("bert").encode([], [], periods=[]).shape == (0, HIDDEN)


def test_word_dropped_by_the_tokenizer_is_nan_and_the_others_keep_their_periods() -> None:
    sentence = "the \u200b plane"
    vectors = made("bert", True).encode([sentence] * 3, [(4, 5), (6, 11), (6, 11)], periods=[0, 1, 0])
    assert np.isnan(vectors[0]).all()
    for row, period in ((1, 1), (2, 0)):
        assert_same(vectors[row : row + 1], by_hand("bert", sentence, (6, 11), period, attention=True)[None])


def test_markers_are_inserted_into_a_sentence_with_a_period() -> None:
    vectors = made("roberta", markers=(" <", "> ")).encode(["the plane flew"], [(4, 9)], periods=[1])
    assert_same(vectors, by_hand("roberta", "the  <plane>  flew", (6, 11), 1)[None])


def test_concurrent_batches_give_the_same_vectors() -> None:
    alone = made("bert", True, batch_tokens=64).encode(SENTENCES, SPANS, periods=PERIODS)
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        together = made("bert", True, batch_tokens=64)
        vectors = together.encode(SENTENCES, SPANS, periods=PERIODS)
        assert together._pool is not None
    finally:
        torch.set_num_threads(threads)
    assert_same(vectors, alone)


# --------------------------------------------------------------------------------------------------------- settings


def test_periods_and_their_tokens_are_in_the_settings() -> None:
    model, tokenizer, _ = tuned("bert")
    plain, tuned_one, renamed, turned = (
        HuggingFaceEncoder(model, tokenizer, adaptation=adaptation).settings
        for adaptation in (
            Adaptation(),
            Adaptation(("old", "new"), TIMES),
            Adaptation(("then", "now"), TIMES),
            Adaptation(("old", "new"), TIMES[::-1]),
        )
    )
    assert tuned_one == plain | {"periods": ["old", "new"], "time": list(TIMES)}
    assert renamed == tuned_one | {"periods": ["then", "now"]}
    assert turned == tuned_one | {"time": ["<2>", "<1>"]}


# ------------------------------------------------------------------------------------------------------------- int8


@pytest.mark.parametrize("attention", [False, True], ids=["tokens", "tokens and attention"])
@pytest.mark.parametrize("family", FAMILIES, ids=KINDS)
def test_int8_is_close_to_full_precision_of_the_same_periods_and_reports_it(family: str, attention: bool) -> None:
    ours, full = made(family, attention, dtype="int8"), made(family, attention)
    vectors, exact = (which.encode(SENTENCES, SPANS, periods=PERIODS) for which in (ours, full))
    deviation = ours.deviation(SENTENCES, SPANS, PERIODS)
    np.testing.assert_allclose(deviation, 1 - cosines(vectors, exact), atol=1e-5)
    assert (deviation < 0.2).all()
    assert deviation.max() > 1e-6  # it is an approximation
    np.testing.assert_allclose(full.deviation(SENTENCES, SPANS, PERIODS), 0, atol=1e-6)
    other = full.encode(SENTENCES, SPANS, periods=[1 - period for period in PERIODS])
    assert (1 - cosines(vectors, other)).mean() > 2 * deviation.mean()
    with pytest.raises(ValueError, match="distinguishes 2 periods"):
        ours.deviation(SENTENCES, SPANS)


def test_deviation_of_a_model_with_a_projection_uses_projected_vectors() -> None:
    model, tokenizer = loaded("bert")
    P = np.random.default_rng(1).normal(size=(6, HIDDEN)).astype(np.float32)
    adaptation = Adaptation(projection=P, pooling="first", layers="last")
    ours, full = (HuggingFaceEncoder(model, tokenizer, adaptation=adaptation, dtype=d) for d in ("int8", "fp32"))
    expected = 1 - cosines(ours.encode(SENTENCES, SPANS), full.encode(SENTENCES, SPANS))
    np.testing.assert_allclose(ours.deviation(SENTENCES, SPANS), expected, atol=1e-5)

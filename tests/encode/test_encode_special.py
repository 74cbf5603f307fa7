"""Test that text which spells a special token is ordinary text; only inserted markers and time tokens are special."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tokenizers
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import FAMILIES, TEXT, WORDS, assert_same, encoder, loaded, make_tokenizer, span_of, transformers

from lexshift.encode.adaptation import MARKERS
from lexshift.encode.windows import WindowTokenizer

TIMES = ("<1900>", "<2000>")
SPELLED = ["[SEP]", "[CLS]", "[MASK]", "[PAD]", "[UNK]", "<s>", "</s>", "<mask>", "<pad>", "<unk>"]


@cache
def marking(family: str) -> Any:
    """Return a tokenizer that has markers and time tokens as special tokens."""
    tokenizer = make_tokenizer(family)
    tokenizer.add_tokens([*MARKERS, *TIMES], special_tokens=True)
    return tokenizer


def special_ids(tokenizer: Any) -> set[int]:
    """Return all ids that must not occur in text, except that of unknown text."""
    found = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    return found - {tokenizer.unk_token_id}


def inner(tokens: WindowTokenizer, sequence: npt.NDArray[np.int64]) -> list[int]:
    """Return a sequence without the special tokens at its ends."""
    before, after = tokens.ends
    return list(sequence.tolist()[before : len(sequence) - after])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("spelled", SPELLED)
def test_text_that_spells_a_special_token_is_ordinary_text(family: str, spelled: str) -> None:
    tokenizer = loaded(family)[1]
    tokens = WindowTokenizer(tokenizer, 512)
    for sentence in (
        f"the {spelled} mouse",
        f"{spelled} mouse",
        f"the mouse {spelled}",
        f"a{spelled}b {spelled}{spelled} mouse.",
    ):
        pieces = tokens.cut([sentence, sentence], [span_of(sentence, "mouse"), span_of(sentence, spelled)], None)
        assert not special_ids(tokenizer) & set(inner(tokens, pieces.sequences[0]))
        assert pieces.sequence == [0, 0]
        first, last = pieces.positions[0]
        assert tokenizer.decode(pieces.sequences[0][first:last]).strip() == "mouse"
        first, last = pieces.positions[1]
        assert last - first > 1, "the text has pieces of its own"
        (whole,), _ = tokens.tokenize_whole([sentence], [0])
        assert whole.tolist() == pieces.sequences[0].tolist()


@pytest.mark.parametrize("family", ["bert", "roberta", "mpnet", "modernbert"])
def test_pieces_of_a_spelled_token_are_those_of_its_characters(family: str) -> None:
    """Use tokenizers that can split special tokens; others have them as whole pieces."""
    tokenizer = loaded(family)[1]
    for spelled in SPELLED:
        sentence = f"the {spelled} mouse"
        pieces = WindowTokenizer(tokenizer, 512).cut([sentence], [span_of(sentence, "mouse")], None)
        assert pieces.sequences[0].tolist() == tokenizer(sentence, split_special_tokens=True)["input_ids"]


def test_name_of_the_unknown_token_is_not_unknown_text() -> None:
    tokenizer = loaded("bert")[1]
    tokens = WindowTokenizer(tokenizer, 64)
    sentences = ["the [UNK] mouse", "the 🙂 mouse"]
    pieces = tokens.cut(sentences, [span_of(s, "mouse") for s in sentences], None)
    spelled, unknown = (inner(tokens, sequence) for sequence in pieces.sequences)
    assert spelled == tokenizer("the [UNK] mouse", add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert len(spelled) > len(unknown)
    assert tokenizer.unk_token_id in unknown


def test_piece_that_is_a_whole_special_token_is_split() -> None:
    """A vocabulary of whole words contains its special tokens."""
    words = {word: i for i, word in enumerate(["[UNK]", "[SEP]", "a", "the", "mouse", "[", "]"])}
    backend = tokenizers.Tokenizer(tokenizers.models.WordPiece(words, unk_token="[UNK]", continuing_subword_prefix=""))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", sep_token="[SEP]")
    assert words["[SEP]"] in tokenizer("the [SEP] mouse", split_special_tokens=True)["input_ids"]
    pieces = WindowTokenizer(tokenizer, 64).cut(["the [SEP] mouse"], [(10, 15)], None)
    assert pieces.sequences[0].tolist() == [words["the"], words["[UNK]"], words["mouse"]]
    assert pieces.positions == [(2, 3)]


@pytest.mark.parametrize("family", FAMILIES)
def test_tokenizer_is_not_modified(family: str) -> None:
    tokenizer = make_tokenizer(family)
    sentence = f"the mouse {tokenizer.sep_token}"
    before, saved = tokenizer(sentence)["input_ids"], tokenizer.backend_tokenizer.to_str()
    WindowTokenizer(tokenizer, 64).cut([sentence], [(4, 9)], None)
    assert tokenizer(sentence)["input_ids"] == before
    assert tokenizer.backend_tokenizer.to_str() == saved


# ------------------------------------------------------------------------------------------ markers and time tokens


def plainly_marked(tokenizer: Any, sentence: str, span: tuple[int, int]) -> list[int]:
    start, end = span
    text = sentence[:start] + MARKERS[0] + sentence[start:end] + MARKERS[1] + sentence[end:]
    return list(tokenizer(text)["input_ids"])


@given(st.sampled_from(FAMILIES), st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), st.data())
def test_markers_that_are_special_tokens_are_special_in_ordinary_text(
    family: str, words: list[str], data: st.DataObject
) -> None:
    tokenizer = marking(family)
    index = data.draw(st.integers(0, len(words) - 1))
    sentence, start = " ".join(words), len(" ".join([*words[:index], ""]))
    span = (start, start + len(words[index]))
    pieces = WindowTokenizer(tokenizer, 512).cut([sentence], [span], MARKERS)
    assert pieces.sequences[0].tolist() == plainly_marked(tokenizer, sentence, span)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("spelled", [*SPELLED, *MARKERS, *TIMES, "<t>mouse</t>", "\U00100000\U00100001"])
def test_only_inserted_markers_are_markers(family: str, spelled: str) -> None:
    tokenizer = marking(family)
    sentence = f"the {spelled} and a plane {spelled}"
    before, after = tokenizer.convert_tokens_to_ids(list(MARKERS))
    for times in ((), TIMES):
        tokens = WindowTokenizer(tokenizer, 512, times)
        pieces = tokens.cut([sentence], [span_of(sentence, "plane")], MARKERS, [1])
        found = inner(tokens, pieces.sequences[0])
        ours = [before, after] if not times else [tokenizer.convert_tokens_to_ids(TIMES[1]), before, after]
        assert [number for number in found if number in special_ids(tokenizer)] == ours
        first, last = pieces.positions[0]
        sequence = pieces.sequences[0].tolist()
        assert tokenizer.decode(sequence[first:last]).strip() == "plane"
        if family not in ("deberta-v2", "deberta-v2-conv", "xlm-roberta"):  # these insert their own mark between words
            assert (sequence[first - 1], sequence[last]) == (before, after)


def test_usages_that_look_alike_once_marked_are_distinguished() -> None:
    tokenizer = marking("bert")
    sentences = ["a <t>plane</t> mouse", "a plane <t>mouse</t>"]
    pieces = WindowTokenizer(tokenizer, 512).cut(sentences, [(15, 20), (2, 7)], MARKERS)
    places = zip(pieces.sequence, pieces.positions, strict=True)
    words = [tokenizer.decode(pieces.sequences[number][slice(*at)]) for number, at in places]
    assert words == ["mouse", "plane"]
    assert pieces.sequences[0].tolist() != pieces.sequences[1].tolist()


@pytest.mark.parametrize("markers", [("[SEP] ", " [SEP]"), ("<mask>", ""), ("", "</s><t>"), ("#", "#")])
def test_special_tokens_in_any_markers_are_special(markers: tuple[str, str]) -> None:
    for family in ("bert", "roberta", "xlm-roberta"):
        tokenizer = marking(family)
        sentence, (start, end) = "the mouse ran", (4, 9)
        pieces = WindowTokenizer(tokenizer, 512).cut([sentence], [(start, end)], markers)
        text = sentence[:start] + markers[0] + sentence[start:end] + markers[1] + sentence[end:]
        assert pieces.sequences[0].tolist() == tokenizer(text)["input_ids"]
        noisy = f"{sentence} {markers[1]}{tokenizer.sep_token}"
        found = WindowTokenizer(tokenizer, 512).cut([noisy], [(start, end)], markers).sequences[0].tolist()
        known = special_ids(tokenizer)
        assert [n for n in found if n in known] == [n for n in pieces.sequences[0].tolist() if n in known]


# ----------------------------------------------------------------------------------------------------------- vectors


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "sentence", ["the [MASK] and <mask> of a plane", "[PAD] <pad> plane [SEP] </s> the", "<s>[CLS]plane"]
)
def test_vectors_are_those_of_the_characters(family: str, sentence: str) -> None:
    model, tokenizer = loaded(family)
    span = span_of(sentence, "plane")
    pieces = WindowTokenizer(tokenizer, 512).cut([sentence], [span], None)
    ids = torch.tensor(pieces.sequences[0])[None]
    with torch.inference_mode():
        states = model(input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True).hidden_states
    expected = torch.stack(states[-4:]).mean(0)[0, slice(*pieces.positions[0])].mean(0).numpy()
    assert_same(encoder(family).encode([sentence], [span]), expected[None])


@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta", "deberta-v2"])
def test_other_sentences_have_the_same_vectors_next_to_a_spelled_special_token(family: str) -> None:
    tokenizer = loaded(family)[1]
    sentence = f"the {tokenizer.sep_token} mouse"
    assert tokenizer.sep_token_id in tokenizer(sentence)["input_ids"][1:-1], "the tokenizer itself takes it for one"
    ours = encoder(family, batch_tokens=1)  # one batch per sentence, because padding may change the last digit
    clean = [TEXT[0], TEXT[2]]
    spans = [span_of(TEXT[0], "plane"), span_of(TEXT[2], "mouse"), span_of(sentence, "mouse")]
    together = ours.encode([*clean, sentence], spans)
    assert np.array_equal(ours.encode(clean, spans[:2]), together[:2])


def test_copy_in_another_process_gives_the_same_vectors() -> None:
    tokens = WindowTokenizer(make_tokenizer("bert"), 64)
    expected = tokens.cut(["the [SEP] mouse"], [(10, 15)], None).sequences[0].tolist()
    sent = pickle.loads(pickle.dumps(tokens))
    assert sent.cut(["the [SEP] mouse"], [(10, 15)], None).sequences[0].tolist() == expected

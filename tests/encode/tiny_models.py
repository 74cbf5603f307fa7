"""Create tiny random models with real tokenizers, one per family, saved like the models of a user."""

from __future__ import annotations

import atexit
import json
import tempfile
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tokenizers
import torch
import transformers as typed_transformers
from tokenizers import decoders, normalizers, pre_tokenizers, processors, trainers

from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.encode.layers import parse_layers
from lexshift.encode.loading import load_model
from lexshift.encode.protocol import Span

transformers: Any = typed_transformers  # the library has untyped functions, and its stubs are incomplete
torch.set_num_threads(1)  # the models are too small to parallelise

FAST = ("bert", "roberta", "xlm-roberta", "distilbert", "mpnet", "electra", "electra-projected")
SLOW = ("deberta", "deberta-v2", "deberta-v2-conv", "modernbert")
FAMILIES = FAST + SLOW
KINDS = {"WordPiece": "bert", "byte-level BPE": "roberta", "Unigram": "xlm-roberta"}  # one family per tokenizer
HIDDEN = 32
DEPTH = 4
POSITIONS = 64  # maximum number of tokens, including special ones

TEXT = [
    "The plane landed on the wet runway before the storm came over the hills.",
    "She drew a plane through three points and called the angle small.",
    "A mouse ran under the table, and the cat ran after the mouse.",
    "He moved the mouse across the screen and clicked on the window.",
    "The attack_nn of the plane_nn be report_vb in every newspaper_nn of the day.",
    "Café owners and naïve tourists met at the façade of the old theatre.",
    "Planes, trains and boats: they carried people, goods, letters and news.",
    "Never had the captain seen so many strangers on the deck at once!",
    "Ein Übermut, viele Straßen und große Bäume standen am Fluß.",
    "It is 1914, 42 years later; nobody knows what the tree remembers.",
    "We gained the gate, regained the gains and gave the gainers again.",
]
WORDS = sorted({word.strip(".,:;!") for line in TEXT for word in line.split()})


@cache
def _folders() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="tiny-models-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


@cache
def folder(family: str) -> Path:
    """Return the folder of the model of a family and its tokenizer."""
    path = _folders() / family
    make_tokenizer(family).save_pretrained(path)
    make_model(family).save_pretrained(path, safe_serialization=True)
    return path


@cache
def loaded(family: str) -> tuple[Any, Any]:
    """Return the shared model and tokenizer loaded from their folder; do not modify them."""
    model, tokenizer, _ = load_model(folder(family))
    return model, tokenizer


def encoder(family: str, **options: Any) -> HuggingFaceEncoder:
    made = HuggingFaceEncoder(*loaded(family), **options)
    made.name = family
    return made


# ------------------------------------------------------------------------------------------------------ tokenizers


def make_tokenizer(family: str) -> Any:
    most = {"model_max_length": POSITIONS}
    if family in ("bert", "electra", "electra-projected"):
        return transformers.BertTokenizerFast(vocab=_wordpiece(*_BERT), **most)
    if family == "distilbert":  # preserves case and accents
        return transformers.DistilBertTokenizerFast(
            vocab=_wordpiece(*_BERT, lower=False), do_lower_case=False, strip_accents=False, **most
        )
    if family == "mpnet":
        return transformers.MPNetTokenizerFast(vocab=_wordpiece("<s>", "<pad>", "</s>", "[UNK]", "<mask>"), **most)
    if family == "roberta":
        vocab, merges = _byte_level("<s>", "<pad>", "</s>", "<unk>", "<mask>")
        return transformers.RobertaTokenizerFast(vocab=vocab, merges=merges, **most)
    if family == "deberta":
        vocab, merges = _byte_level(*_BERT)
        return transformers.DebertaTokenizerFast(vocab=vocab, merges=merges, **most)
    if family == "modernbert":
        return _modernbert_tokenizer()
    if family == "xlm-roberta":
        return transformers.XLMRobertaTokenizerFast(vocab=_unigram("<s>", "<pad>", "</s>", "<unk>"), **most)
    return transformers.DebertaV2TokenizerFast(vocab=_unigram("[PAD]", "[CLS]", "[SEP]", "[UNK]"), unk_id=3, **most)


_BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@cache
def _wordpiece(*special: str, lower: bool = True) -> dict[str, int]:
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower, strip_accents=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=list(special), show_progress=False)
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer.get_vocab()


@cache
def _byte_level(*special: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
    model = _trained_byte_level(*special).model
    with tempfile.TemporaryDirectory() as place:
        vocab, merges = model.save(place)
        ids, pairs = tokenizers.models.BPE.read_file(vocab, merges)
    return ids, pairs


def _trained_byte_level(*special: str) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        TEXT,
        trainers.BpeTrainer(
            vocab_size=360, special_tokens=list(special), initial_alphabet=alphabet, show_progress=False
        ),
    )
    return tokenizer


def _modernbert_tokenizer() -> Any:
    """Return a tokenizer with template special tokens and offsets that include the space before a word."""
    tokenizer = _trained_byte_level(*_BERT)
    ids = [("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]"))]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", ids)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), _BERT, strict=True))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=POSITIONS, **names)


@cache
def _unigram(*special: str) -> list[tuple[str, float]]:
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    unknown = next(name for name in special if "unk" in name.lower())
    trainer = trainers.UnigramTrainer(
        vocab_size=180, special_tokens=list(special), unk_token=unknown, show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return [(piece, score) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"]]


# ---------------------------------------------------------------------------------------------------------- models


def make_model(family: str, depth: int = DEPTH, seed: int = 0) -> Any:
    """Return a model in which every weight affects the result."""
    config = make_config(family, depth)
    torch.manual_seed(seed)
    with warnings.catch_warnings():  # importing DeBERTa compiles code with a deprecated torch function
        warnings.filterwarnings("ignore", "`torch.jit.script", DeprecationWarning)
        model = transformers.AutoModel.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.2)
            else:
                parameter.normal_(0, 0.2)
    return model.eval()


def make_config(family: str, depth: int = DEPTH) -> Any:
    tokenizer = make_tokenizer(family)
    shape: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": HIDDEN,
        "num_hidden_layers": depth,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "max_position_embeddings": POSITIONS,
        "pad_token_id": tokenizer.pad_token_id,
    }
    if family in ("roberta", "xlm-roberta", "mpnet"):
        shape["max_position_embeddings"] += tokenizer.pad_token_id + 1
    if family == "bert":
        return transformers.BertConfig(**shape)
    if family == "roberta":
        return transformers.RobertaConfig(**shape, type_vocab_size=1)
    if family == "xlm-roberta":
        return transformers.XLMRobertaConfig(**shape, type_vocab_size=1)
    if family == "mpnet":
        return transformers.MPNetConfig(**shape)
    if family == "distilbert":
        del shape["hidden_size"], shape["num_hidden_layers"], shape["num_attention_heads"], shape["intermediate_size"]
        return transformers.DistilBertConfig(**shape, dim=HIDDEN, n_layers=depth, n_heads=4, hidden_dim=48)
    if family == "electra":
        return transformers.ElectraConfig(**shape, embedding_size=HIDDEN)
    if family == "electra-projected":
        return transformers.ElectraConfig(**shape, embedding_size=20)
    if family == "modernbert":
        ends = {"cls_token_id": 2, "bos_token_id": 2, "sep_token_id": 3, "eos_token_id": 3}
        return transformers.ModernBertConfig(**shape, **ends, local_attention=8, global_attn_every_n_layers=2)
    relative: dict[str, Any] = {
        "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"],
        "max_relative_positions": -1,
    }
    if family == "deberta":
        return transformers.DebertaConfig(**shape, **relative, position_biased_input=False, type_vocab_size=0)
    relative |= {"position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True}
    if family == "deberta-v2-conv":
        relative |= {"conv_kernel_size": 3, "conv_act": "gelu"}
    return transformers.DebertaV2Config(**shape, **relative, position_biased_input=False, type_vocab_size=0)


# -------------------------------------------------------------------------------------------------- slow reference


def twin(
    family: str,
    sentences: Sequence[str],
    spans: Sequence[Span],
    layers: str | int = "mean:4",
    pooling: str = "mean",
) -> npt.NDArray[np.float32]:
    """Compute the result of ``encode`` by definition, one sentence at a time."""
    rows = [_one(family, s, span, layers, pooling) for s, span in zip(sentences, spans, strict=True)]
    return np.array(rows, np.float32)


@cache
def _run(family: str, sentence: str) -> tuple[list[Span], list[npt.NDArray[np.float32]]]:
    """Return the offsets of the tokens of a sentence (empty for special tokens) and all hidden states."""
    model, tokenizer = loaded(family)
    made = tokenizer(sentence, return_tensors="pt", return_offsets_mapping=True, return_special_tokens_mask=True)
    offsets, special = made["offset_mapping"][0].tolist(), made["special_tokens_mask"][0].tolist()
    with torch.no_grad():
        output = model(input_ids=made["input_ids"], attention_mask=made["attention_mask"], output_hidden_states=True)
    states = [state[0].numpy() for state in output.hidden_states]
    return [(0, 0) if special[i] else (start, end) for i, (start, end) in enumerate(offsets)], states


def _one(family: str, sentence: str, span: Span, layers: str | int, pooling: str) -> npt.NDArray[np.float32]:
    offsets, states = _run(family, sentence)
    depth = len(states) - 1
    if layers == "last":
        row = states[depth]
    elif ":" not in str(layers):
        row = states[int(layers)]
    else:
        how, count = str(layers).split(":")
        chosen = states[depth + 1 - int(count) :]
        if how == "concat":
            row = np.concatenate(chosen, axis=1)
        else:
            row = np.sum(chosen, axis=0) / (len(chosen) if how == "mean" else 1)
    vectors = []
    for i, (start, end) in enumerate(offsets):
        if set(range(start, end)) & set(range(*span)):
            vectors.append(row[i])
    if not vectors:
        return np.full(row.shape[1], np.nan, np.float32)
    if pooling == "first":
        return vectors[0]
    total = sum(vectors[1:], vectors[0])
    return total if pooling == "sum" else total / len(vectors)


def width(layers: str | int) -> int:
    return parse_layers(layers, DEPTH).width(HIDDEN)


def span_of(sentence: str, word: str, occurrence: int = 0) -> Span:
    """Return the span of the n-th occurrence of a word in a sentence."""
    start = -1
    for _ in range(occurrence + 1):
        start = sentence.index(word, start + 1)
    return start, start + len(word)


def cosines(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    a, b = a.astype(np.float64), b.astype(np.float64)
    return (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def assert_same(ours: npt.NDArray[Any], theirs: npt.NDArray[Any]) -> None:
    """Check that vectors are equal to 1e-5 and have the same direction."""
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    seen = ~np.isnan(theirs).any(axis=1)
    assert (cosines(ours[seen], theirs[seen]) > 0.99999).all()

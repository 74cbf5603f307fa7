"""Load models with the head that predicts masked words."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift.encode.loading import check_folder, find_model, first_line, load_tokenizer, quiet
from lexshift.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

_HEADS = {"bert": "cls", "roberta": "lm_head", "xlm-roberta": "lm_head", "camembert": "lm_head", "mpnet": "lm_head"}
_UNUSED = ("pooler.", "embeddings.position_ids")  # weights that a masked language model does not need


def load_with_head(name: str | os.PathLike[str], revision: str | None) -> tuple[Any, Any, Path, bool]:
    """Load a model with its masked-language-model head, its tokenizer, its folder, and whether the head is new.

    If the weights include no head, a new one is made from the word embeddings of the model.
    """
    from transformers import AutoConfig, AutoModelForMaskedLM

    text = os.fspath(name)
    folder = find_model(name, revision)
    check_folder(folder, text)
    tokenizer = load_tokenizer(folder, text)
    if tokenizer.mask_token_id is None:
        raise UserError(
            f"the tokenizer of the model {text!r} has no mask token, so it cannot be trained to predict masked words"
        )
    with quiet():
        try:
            config = AutoConfig.from_pretrained(str(folder), trust_remote_code=False)
            config.tie_word_embeddings = True
            model, info = AutoModelForMaskedLM.from_pretrained(
                str(folder), config=config, use_safetensors=True, trust_remote_code=False, output_loading_info=True
            )
        except Exception as error:  # the library raises whatever its parsers raise
            raise UserError(
                f"the model {text!r} cannot be loaded to predict masked words: {first_line(error)}"
            ) from None
    missing = sorted(key for key in info["missing_keys"] if not any(part in key for part in _UNUSED))
    body = f"{model.base_model_prefix}."
    lacking = [key for key in missing if key.startswith(body)]
    if lacking:
        raise UserError(f"the model {text!r} lacks {len(lacking)} of its weights ({lacking[0]} is the first)")
    return model, tokenizer, folder, bool(missing)


def add_tokens(model: Any, tokenizer: Any, tokens: list[str]) -> None:
    """Add tokens that are never split to a model; their embeddings are drawn with the mean and spread of the others."""
    import torch

    tokenizer.add_tokens(tokens, special_tokens=True)
    n_tokens = model.get_input_embeddings().weight.shape[0]
    if len(tokenizer) > n_tokens:
        model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    rows = model.get_input_embeddings().weight.data
    mean, spread = rows[:n_tokens].mean(0), rows[:n_tokens].std(0)
    for number in tokenizer.convert_tokens_to_ids(tokens):
        rows[number] = mean + spread * torch.randn_like(mean)


def head_of(model: Any) -> Callable[[Tensor], Tensor] | None:
    """Return the function from hidden states, (n, h), to the scores of all words, (n, vocabulary), if there is one."""
    name = _HEADS.get(model.config.model_type)
    return getattr(model, name, None) if name else None


def predict(model: Any, inputs: dict[str, Tensor], where: Tensor) -> Tensor:
    """Return the scores of all words at the positions where ``where``, (batch, n), is True: (positions, vocabulary).

    Only these positions pass through the head, which costs as much as several layers.
    """
    head = head_of(model)
    if head is None:
        return type(model).forward(model, **inputs).logits[where]
    return head(model.base_model(**inputs).last_hidden_state[where])

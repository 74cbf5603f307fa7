"""Words in their sentences become vectors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lexshift.encode.protocol import Encoder
from lexshift.errors import UserError

if TYPE_CHECKING:
    from lexshift.encode.huggingface import HuggingFaceEncoder

__all__ = ["Encoder", "HuggingFaceEncoder", "as_encoder"]


def as_encoder(model: Any = "minilm", *, revision: str | None = None, **options: Any) -> Encoder:
    """Turn a name, a folder, a loaded model or an encoder into an encoder.

    Parameters
    ----------
    model : str, path, model, (model, tokenizer) or Encoder
        "minilm" is built in and needs no network, and always means the built-in model; another name is a folder, if
        there is one or the name is written as a path, or else a model on the hub. A path object is a folder. A loaded
        model of transformers comes with its tokenizer, and with its markers if it needs any (``markers=``); one of
        sentence-transformers has its tokenizer, and XL-LEXEME is known by it.
    revision : str, optional
        Of a model on the hub.
    **options
        Of :class:`HuggingFaceEncoder`: layers, pooling, window, markers, device, dtype, batch_tokens.
    """
    if isinstance(model, (str, os.PathLike)):
        from lexshift.encode.loading import LANGUAGES, load_model

        loaded, tokenizer, adaptation = load_model(model, revision)
        encoder = _huggingface(loaded, tokenizer, name=os.fspath(model), adaptation=adaptation, **options)
        encoder.languages = LANGUAGES.get(os.fspath(model))
        return encoder
    if revision is not None:
        raise UserError("revision is for models on the hub, given by name")
    if isinstance(model, tuple) and len(model) == 2:
        return _huggingface(*model, **options)
    if hasattr(model, "tokenizer") and hasattr(model, "modules"):  # sentence-transformers
        from lexshift.encode.adaptation import sentence_adaptation

        inner = next((m for m in model.modules() if hasattr(m, "config") and hasattr(m, "get_input_embeddings")), None)
        if inner is None:
            raise UserError("this model has no transformer in it, so a word's vector would not depend on its context")
        return _huggingface(inner, model.tokenizer, adaptation=sentence_adaptation(model.tokenizer), **options)
    if hasattr(model, "config") and hasattr(model, "forward"):
        raise UserError("a loaded model needs its tokenizer: pass (model, tokenizer)")
    if isinstance(model, Encoder) and not isinstance(model, type):
        if options:
            raise UserError(f"{', '.join(options)} cannot be set for an encoder that is already made")
        return model
    raise UserError(f"model must be a name, a folder, (model, tokenizer) or an encoder; got {type(model).__name__}")


def _huggingface(*args: Any, **options: Any) -> HuggingFaceEncoder:
    from lexshift.encode.huggingface import HuggingFaceEncoder

    return HuggingFaceEncoder(*args, **options)


def __getattr__(name: str) -> Any:
    """The class is imported when it is asked for, as torch takes its time."""
    if name == "HuggingFaceEncoder":
        from lexshift.encode.huggingface import HuggingFaceEncoder

        return HuggingFaceEncoder
    raise AttributeError(f"module 'lexshift.encode' has no attribute {name!r}")

"""Encode words in their sentences as vectors.

In: sentences and the spans of words in them. Out: one vector for each. :func:`as_encoder` accepts a name, a folder, a
loaded model or an object with the method of :class:`Encoder`. This package does not depend on corpora or target words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from lexshift.encode.protocol import BaseEncoder, Encoder
from lexshift.errors import UserError

if TYPE_CHECKING:
    from lexshift.encode.huggingface import HuggingFaceEncoder

__all__ = ["BaseEncoder", "Encoder", "HuggingFaceEncoder", "as_encoder"]


def as_encoder(
    model: Any = "auto", *, revision: str | None = None, languages: Iterable[str | None] = (None,), **options: Any
) -> Encoder:
    """Return the encoder for a name, a folder, a loaded model or an encoder.

    Parameters
    ----------
    model : str, path, model, (model, tokenizer) or Encoder
        "auto" (the default) is the built-in model for ``languages``. "minilm" and "minilm-senses" (English) and
        "multilingual" (about 100 languages) always mean the built-in models, which need no network; "minilm-senses" is
        tuned to tell the senses of words apart. Another string is a folder if one exists or the string is written as a
        path, otherwise a model on the hub. A path object is a folder. A model of transformers needs its tokenizer; a
        model of sentence-transformers includes it. XL-LEXEME and XL-DURel are recognised by their markers or their
        names, and used as they were trained.
    revision : str, optional
        Revision of a model on the hub.
    languages : iterable of str or None
        ISO codes of the languages of the text, by which "auto" chooses; None, the default, is an unknown language. The
        studies detect them.
    **options
        Options of :class:`HuggingFaceEncoder`: layers, pooling, window, markers, device, dtype, batch_tokens.

    Returns
    -------
    Encoder
    """
    if isinstance(model, (str, os.PathLike)):
        from lexshift.encode.built_in import known_languages, resolve_model
        from lexshift.encode.loading import OfflineError, load_model
        from lexshift.utils.monitor import Silent

        languages = list(languages)
        model, _ = resolve_model(model, languages, Silent())
        try:
            loaded, tokenizer, adaptation = load_model(model, revision)
        except OfflineError as error:
            raise error.for_text(languages) from None
        encoder = _huggingface_encoder()(loaded, tokenizer, adaptation=adaptation, **options)
        encoder.languages = known_languages(model)
        return encoder
    if revision is not None:
        raise UserError("revision applies only to a model on the hub, given by name")
    pooling = None
    if hasattr(model, "tokenizer") and hasattr(model, "modules"):  # sentence-transformers
        inner = next((m for m in model.modules() if hasattr(m, "config") and hasattr(m, "get_input_embeddings")), None)
        if inner is None:
            raise UserError("this model contains no transformer, so a word's vector would not depend on its context")
        from lexshift.encode.sentence_modules import model_pooling

        pooling = partial(model_pooling, model)
        model = inner, model.tokenizer
    if isinstance(model, tuple) and len(model) == 2:
        from lexshift.encode.adaptation import known_adaptation

        recognised, name = None, str(getattr(model[0], "name_or_path", ""))
        if getattr(model[1], "is_fast", False):
            recognised = known_adaptation(model[1], name, pooling)
        return _huggingface_encoder()(*model, adaptation=recognised, **options)
    if hasattr(model, "config") and hasattr(model, "forward"):
        raise UserError("a loaded model needs its tokenizer: pass (model, tokenizer)")
    if isinstance(model, Encoder) and not isinstance(model, type):
        if options:
            raise UserError(f"{', '.join(options)} cannot be set for an encoder that is already made")
        return model
    raise UserError(f"model must be a name, a folder, (model, tokenizer) or an encoder; got {type(model).__name__}")


def _huggingface_encoder() -> type[HuggingFaceEncoder]:
    """Import the class only when it is needed, because importing torch takes seconds."""
    from lexshift.encode.huggingface import HuggingFaceEncoder

    return HuggingFaceEncoder


def __getattr__(name: str) -> Any:
    """Import the class that needs torch on first access."""
    if name == "HuggingFaceEncoder":
        return _huggingface_encoder()
    raise AttributeError(f"module 'lexshift.encode' has no attribute {name!r}")

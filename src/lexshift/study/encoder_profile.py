"""Recall what an encoder is like on this machine, so that a plan of a run need not load it.

The speed of an encoder is measured on some sentences of the corpora, and recorded in the cache folder of the user for a
week. A plan that finds a record does not import torch.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lexshift import __version__
from lexshift.encode import Encoder
from lexshift.encode.built_in import BUILT_IN, known_languages
from lexshift.encode.model_cache import cache_folder
from lexshift.encode.protocol import Span, optional_attribute
from lexshift.store.format import digest
from lexshift.store.plan import EncodingPlan
from lexshift.store.speed import measure_speed
from lexshift.utils.arrays import Matrix
from lexshift.utils.files import write_whole
from lexshift.utils.plain import from_plain
from lexshift.utils.threads import available_cores

MAX_AGE = 7 * 24 * 3600
"""Seconds for which a record is used."""
N_TIMED = 128
"""Number of sentences on which the speed is measured."""
_FOLDER = "speeds"
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "CUDA_VISIBLE_DEVICES")


@dataclass(frozen=True)
class EncoderProfile:
    """The facts about an encoder that a plan needs.

    Attributes
    ----------
    seconds_per_character : float
        Time that encoding takes, per character of the distinct sentences.
    seconds_to_load : float
        Time that loading the encoder and its libraries takes if their files are in memory.
    dimensions : int
        Dimensions of its vectors.
    settings : dict
        The settings that a store records.
    periods : tuple of str
        The periods that it distinguishes.
    measured : float
        When it was measured, in seconds since 1970.
    """

    seconds_per_character: float
    seconds_to_load: float
    dimensions: int
    settings: dict[str, Any]
    periods: tuple[str, ...]
    measured: float


class PlannedEncoder:
    """An encoder that is loaded when its vectors are needed, or when it has no recorded profile.

    Parameters
    ----------
    model : str, path or any other model
        As for :func:`lexshift.encode.as_encoder`; only that of a name or a path can be recorded.
    options : mapping
        The options of the encoder.
    language : str, optional
        ISO code of the language of the text, on which the speed depends.
    load : callable
        Returns the encoder.

    Attributes
    ----------
    seconds_to_load : float
        Time that loading it took; 0 if it was not loaded.
    seconds_computing : float
        The part of this time in which the processor worked. It is that of the next loading, which need not wait for the
        disk, as the first one of a machine does.
    """

    def __init__(
        self, model: Any, options: Mapping[str, Any], language: str | None, load: Callable[[], Encoder]
    ) -> None:
        self._model, self._load = model, load
        self.seconds_to_load = self.seconds_computing = 0.0
        self._path = _record_path(model, options, language)
        self._profile = _read_profile(self._path)

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, which is loaded when it is first used."""
        start, computed = time.perf_counter(), time.process_time()
        encoder = self._load()
        self.seconds_to_load = time.perf_counter() - start
        self.seconds_computing = min(self.seconds_to_load, time.process_time() - computed)
        return encoder

    @property
    def settings(self) -> Mapping[str, Any] | None:
        """The settings of the encoder."""
        return optional_attribute(self.encoder, "settings") if self._profile is None else self._profile.settings

    @property
    def periods(self) -> tuple[str, ...]:
        """The periods that the encoder distinguishes."""
        return tuple(optional_attribute(self.encoder, "periods") if self._profile is None else self._profile.periods)

    @property
    def languages(self) -> tuple[str, ...] | None:
        """The languages that the encoder knows."""
        return optional_attribute(self.encoder, "languages") if self._profile is None else known_languages(self._model)

    def encode(self, sentences: Sequence[str], spans: Sequence[Span], **keywords: Any) -> Matrix:
        """Return the vectors of words in their sentences."""
        return self.encoder.encode(sentences, spans, **keywords)

    def profile(self, plan: EncodingPlan) -> EncoderProfile:
        """Return the recorded profile of the encoder, or measure it on the sentences of a plan that is not empty."""
        if self._profile is None:
            speed = measure_speed(self.encoder, plan, N_TIMED)
            settings = self.settings
            self._profile = EncoderProfile(
                speed.seconds_per_character,
                self.seconds_computing,
                speed.dimensions,
                dict(settings) if isinstance(settings, Mapping) else {},
                self.periods,
                time.time(),
            )
            if self._path is not None and isinstance(settings, Mapping):
                with contextlib.suppress(OSError):  # a plan works without the record
                    self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    write_whole(self._path, json.dumps(asdict(self._profile), default=str).encode())
        return self._profile


def _record_path(model: Any, options: Mapping[str, Any], language: str | None) -> Path | None:
    """Return the file for the record of a model with these options on this machine; None for a loaded model."""
    if not isinstance(model, (str, os.PathLike)):
        return None
    name: Any = os.fspath(model)
    folder = os.path.expanduser(name)
    if isinstance(model, str) and model in BUILT_IN:
        name = [model, __version__]
    elif os.path.isdir(folder):
        files = [(entry.name, entry.stat()) for entry in os.scandir(folder) if entry.is_file()]
        name = [os.path.realpath(folder), sorted([file, stat.st_size, stat.st_mtime_ns] for file, stat in files)]
    machine = [platform.node(), platform.machine(), available_cores(), *(os.environ.get(name) for name in _THREADS)]
    key = digest([name, {option: str(value) for option, value in options.items()}, language, machine])
    return cache_folder().parent / _FOLDER / f"{key[:32]}.json"


def _read_profile(path: Path | None) -> EncoderProfile | None:
    """Return the record in a file, or None if it is not there, too old or damaged, or if torch is not installed."""
    if path is None or find_spec("torch") is None:
        return None
    try:
        profile: EncoderProfile = from_plain(EncoderProfile, json.loads(path.read_bytes()))
        is_usable = 0 <= time.time() - profile.measured < MAX_AGE and profile.seconds_per_character > 0
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    return profile if is_usable else None

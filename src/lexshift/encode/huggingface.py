"""Encode with models of the transformers library."""

from __future__ import annotations

import copy
import hashlib
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from lexshift.encode.adaptation import Adaptation
from lexshift.encode.batches import make_batches
from lexshift.encode.forward import GenericForward, PostNormForward
from lexshift.encode.layers import parse_layers
from lexshift.encode.loading import first_line, hash_weights
from lexshift.encode.protocol import BaseEncoder, Span
from lexshift.encode.temporal import FIRST, PADDING, SPECIAL, token_times
from lexshift.encode.windows import Windows, WindowTokenizer
from lexshift.errors import UserError
from lexshift.utils import checks
from lexshift.utils.arrays import Matrix

_EIGHT_BITS = 3  # version of a quantised layer that uses all 8 bits; later ones use 7, as sums may overflow on old CPUs
_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_CPU_BUDGET, _GPU_BUDGET = (
    512,
    16_384,
)  # tokens per batch: a CPU batch should fit into the caches, a GPU batch keep it busy
_STREAMS = 8  # maximum number of batches that run at the same time on a CPU
_LONGEST = 512  # pieces; most models were trained with it, so longer windows must be requested
_VOLATILE = ("_name_or_path", "name_or_path", "transformers_version", "torch_dtype", "dtype", "architectures")
_ALIGNED = 64  # bytes, the alignment of torch's own allocations
_LAYERS, _POOLING = "mean:4", "mean"  # defaults of untuned models
_POOLINGS = ("mean", "sum", "first", "sentence")
_PROBE = (7, 4)  # lengths of the sequences on which the fast forward pass is compared with the model's own


class HuggingFaceEncoder(BaseEncoder):
    """Encode words as hidden states of a transformer in the format of the transformers library.

    Parameters
    ----------
    model, tokenizer
        A loaded model and its fast tokenizer. A model in training mode is put into evaluation mode
        while it encodes.
    layers : str or int, optional
        "last", the number of a layer (0 is the embedding layer, -2 the last but one), or mean:N, sum:N or concat:N of
        the last N. The default is the setting of a tuned model, else mean:4, as in the paper.
    pooling : "mean", "sum", "first" or "sentence", optional
        Rule for pooling the vectors of subwords into one vector; "sentence" is the mean over all tokens of the
        sentence, for models that recognise the word by its markers. The default is the setting of a tuned model, else
        the mean.
    window : int, optional
        Maximum number of pieces of a sentence, including special tokens; a longer sentence is cut around the word.
    markers : (str, str), optional
        Text put before and after the word. The default is the setting of a tuned model, else none.
    device : "auto", "cpu", "cuda", "mps" ...
    dtype : "fp32", "bf16", "fp16" or "int8"
        int8 runs on the CPU and is approximate: :meth:`deviation` measures by how much.
    batch_tokens : int, optional
        Number of tokens per batch, padding included.
    adaptation : Adaptation
        Settings with which a tuned model is used.
    """

    reports_progress = True
    marks_truncated = True

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        layers: str | int | None = None,
        pooling: str | None = None,
        window: int | None = None,
        markers: tuple[str, str] | None = None,
        device: str = "auto",
        dtype: str = "fp32",
        batch_tokens: int | None = None,
        adaptation: Adaptation | None = None,
    ) -> None:
        self.name = getattr(model, "name_or_path", "") or type(model).__name__
        if not getattr(tokenizer, "is_fast", False):
            raise UserError(
                f"the model {self.name!r} has no fast tokenizer (tokenizer.json), which is needed for character offsets"
            )
        self.device = pick_device(device)
        self.dtype = checks.choice(dtype, "dtype", [*_DTYPES, "int8"])
        self.is_approximate = dtype == "int8"
        if self.dtype == "int8" and self.device.type != "cpu":
            raise UserError(f"dtype int8 needs the CPU (--device cpu), not {self.device.type}")
        if self.dtype in ("bf16", "fp16") and self.device.type == "cpu":
            raise UserError(f"dtype {self.dtype} needs a GPU; on the CPU use fp32, or int8 as an approximation")
        self.adaptation = adaptation or Adaptation()
        self.periods = self.adaptation.periods
        chosen = pooling or self.adaptation.pooling or _POOLING
        if pooling is None and chosen not in _POOLINGS:
            raise UserError(
                f"the model {self.name!r} was trained with the pooling {chosen!r}, which lexshift does not have; "
                f"choose {' or '.join(_POOLINGS)} (--pooling)"
            )
        self.pooling = checks.choice(chosen, "pooling", _POOLINGS)
        self.markers = _check_markers(markers) or self.adaptation.markers
        self.original_model = getattr(model, "base_model", model)  # without a task-specific head
        self._tokenizer = tokenizer
        self.layers = str((self.adaptation.layers or _LAYERS) if layers is None else layers)
        self._projection = self.adaptation.projection  # (dimensions, width of the layers)
        if (self.layers, self.pooling) == (self.adaptation.layers, self.adaptation.pooling):
            self.space, self.calibration = self.adaptation.space, self.adaptation.calibration
        try:
            self._prepare(window, batch_tokens)
        except UserError:
            raise
        except Exception as error:  # an unsuitable configuration or tokenizer can raise anything
            raise UserError(f"the model {self.name!r} cannot be used as an encoder: {first_line(error)}") from None

    def _prepare(self, window: int | None, batch_tokens: int | None) -> None:
        """Read the dimensions of the model and its tokenizer; raise if they cannot be used."""
        model, tokenizer = self.original_model, self._tokenizer
        self._depth = int(model.config.num_hidden_layers)
        self._layers = parse_layers(self.layers, self._depth)
        longest = longest_sequence(model, tokenizer)
        self.window = min(_LONGEST, longest) if window is None else checks.positive(window, "window")
        if self.window > longest:
            raise UserError(f"window is {self.window}, but the model {self.name!r} takes at most {longest} pieces")
        self._windows = WindowTokenizer(tokenizer, self.window, self.adaptation.time_tokens)
        self._budget = _CPU_BUDGET if self.device.type == "cpu" else _GPU_BUDGET
        if batch_tokens is not None:
            self._budget = checks.positive(batch_tokens, "batch_tokens")
        self.dimensions = self._layers.width(int(model.config.hidden_size))
        if self._projection is not None:
            if self._projection.shape[1] != self.dimensions:
                raise UserError(
                    f"the model {self.name!r} was tuned for vectors of {self._projection.shape[1]} dimensions, and "
                    f"layers {self.layers} have {self.dimensions}; omit --layers"
                )
            self.dimensions = len(self._projection)
        self._pad = int(tokenizer.pad_token_id or 0)
        n_ids = len(model.get_input_embeddings().weight)
        highest = max(self._pad, self._windows.highest_id(self.markers))
        if highest >= n_ids:
            raise UserError(
                f"the tokenizer of the model {self.name!r} has ids up to {highest}, but the model has {n_ids} "
                f"embeddings; use the tokenizer of this model"
            )
        self._forward  # noqa: B018  # so that a model that cannot run raises here

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process: the original model without the objects derived from it."""
        return {name: value for name, value in vars(self).items() if name not in ("_forward", "_pool")}

    @cached_property
    def _forward(self) -> PostNormForward | GenericForward:
        """The forward pass: the fast one if it gives the model's states, else the model's own."""
        dtype = _DTYPES.get(self.dtype, torch.float32)
        model = self.original_model
        with evaluation_mode(model):
            # Weights mapped from a file or sent by another process may be unaligned, and their products then differ in
            # the last digit from those of aligned weights.
            if any(
                weight.dtype != dtype or weight.device != self.device or weight.data_ptr() % _ALIGNED
                for weight in model.parameters()
            ):
                model = copy.deepcopy(model).to(self.device, dtype)  # the original is not changed
            if self.dtype == "int8":
                return GenericForward(_quantize(model), self._depth)
            with torch.inference_mode():
                generic, fast = GenericForward(model, self._depth), PostNormForward.from_model(model)
                return fast if fast is not None and self._states_agree(fast, generic) else generic

    def _states_agree(self, fast: PostNormForward, generic: GenericForward) -> bool:
        """Return whether two forward passes give the same states for two sequences of different lengths."""
        vocabulary = int(self.original_model.config.vocab_size)
        ids = torch.full((len(_PROBE), max(_PROBE)), self._pad, device=self.device)
        for i, length in enumerate(_PROBE):
            ids[i, :length] = (torch.arange(length, device=self.device) * 97 + 11 + i) % vocabulary
            ids[i, :length][ids[i, :length] == self._pad] = (self._pad + 1) % vocabulary
        lengths = torch.tensor(_PROBE, device=self.device)
        where = torch.tensor([[0, 3], [1, 2]], device=self.device)
        layers = parse_layers(f"mean:{self._depth}", self._depth)
        times = None
        if self.adaptation.attention:
            times = torch.where(torch.arange(max(_PROBE), device=self.device) < lengths[:, None], FIRST, PADDING)
            times[:, 0] = SPECIAL
        ours, theirs = (path.states(layers, ids, lengths, where, times) for path in (fast, generic))
        pairs = zip(ours, theirs, strict=True)
        tolerance = 1e-4 if self.dtype == "fp32" else 5e-2
        return all(torch.allclose(a, b, rtol=tolerance, atol=tolerance) for a, b in pairs)

    @cached_property
    def weights(self) -> str:  # type: ignore[override]
        """The SHA-256 of the model's weights and its tokenizer."""
        digest = hashlib.sha256()
        used = {key: value for key, value in self.original_model.state_dict().items() if not key.startswith("pooler.")}
        hash_weights(digest, used)
        digest.update(self._tokenizer.backend_tokenizer.to_str().encode())
        return digest.hexdigest()

    @property
    def settings(self) -> dict[str, Any]:  # type: ignore[override]
        """Everything that affects the vectors."""
        config = {k: v for k, v in self.original_model.config.to_dict().items() if k not in _VOLATILE}
        settings = {
            "model": self.name,
            "weights": self.weights,
            "config": hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode()).hexdigest(),
            "layers": self.layers,
            "pooling": self.pooling,
            "window": self.window,
            "markers": self.markers,
            "dtype": self.dtype,
            "dimensions": self.dimensions,
        }
        if self.periods:
            settings["periods"] = list(self.periods)
            settings["time"] = [*self.adaptation.time_tokens, *(["attention"] if self.adaptation.attention else [])]
        if self._projection is not None:
            settings["projection"] = hashlib.sha256(self._projection.tobytes()).hexdigest()
        return settings

    def encode(
        self,
        sentences: Sequence[str],
        spans: Sequence[Span],
        advance: Callable[[float], None] | None = None,
        periods: Sequence[int] | None = None,
        truncated: npt.NDArray[np.bool_] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Return one vector for each sentence and span in it, (n, d); NaN where the tokenizer drops the word.

        ``advance``, ``periods`` and ``truncated`` are those of :class:`~lexshift.encode.protocol.BaseEncoder`. A
        sentence is truncated if it is longer than the window, so that only the part around the word is encoded.
        """
        self._check_periods(periods, len(sentences))
        for sentence, (start, end) in zip(sentences, spans, strict=True):
            if not 0 <= start < end <= len(sentence):
                raise ValueError(f"the span ({start}, {end}) is not within the sentence {sentence[:60]!r}")
        vectors = np.full((len(sentences), self.dimensions), np.nan, np.float32)
        windows = self._windows.cut(sentences, spans, self.markers, periods)
        if truncated is not None:
            truncated[:] = windows.truncated
        rows_of: list[list[int]] = [[] for _ in windows.sequences]
        for row, number in enumerate(windows.sequence):
            if number >= 0:
                rows_of[number].append(row)
        lengths = [len(ids) for ids in windows.sequences]
        token_batches = make_batches(lengths, self._budget)[::-1]  # longest first, so that all threads finish together

        def run(batch: list[int]) -> int:
            with torch.inference_mode():
                self._encode_batch(batch, windows, rows_of, vectors)
            return sum(lengths[number] for number in batch)

        done, total = 0, sum(lengths)
        with evaluation_mode(self.original_model):
            for tokens in self._run_batches(run, token_batches):
                done += tokens
                if advance is not None:
                    advance(done / total)
        has_pieces = np.array(windows.sequence, np.int64) >= 0
        if np.isnan(vectors[has_pieces]).any():
            or_dtype = "" if self.dtype == "fp32" else f", or dtype {self.dtype} is too narrow for it (--dtype fp32)"
            raise UserError(f"the model {self.name!r} gives NaN values: its weights hold NaN{or_dtype}")
        return vectors

    def _check_periods(self, periods: Sequence[int] | None, n: int) -> None:
        if not self.periods:
            if periods is not None:
                raise ValueError(f"the model {self.name!r} does not distinguish periods; omit periods")
            return
        numbers = range(len(self.periods))
        if periods is None or len(periods) != n or not all(period in numbers for period in periods):
            raise ValueError(
                f"the model {self.name!r} distinguishes {len(numbers)} periods: encode needs the number of each "
                f"sentence's period, 0 to {len(numbers) - 1}"
            )

    def _run_batches(self, run: Callable[[list[int]], int], token_batches: list[list[int]]) -> Iterator[int]:
        """Run all batches; on a CPU several at a time with few threads each, so that threads seldom wait."""
        if self._pool is None:
            yield from map(run, token_batches)
            return
        threads = torch.get_num_threads()
        yield from self._pool.map(run, token_batches)
        torch.set_num_threads(threads)  # the pool's threads have changed it for the whole process

    @cached_property
    def _pool(self) -> ThreadPoolExecutor | None:
        threads = torch.get_num_threads()
        streams = min(threads, _STREAMS)
        if self.device.type != "cpu" or streams == 1 or not isinstance(self._forward, PostNormForward):
            return None  # a model's own forward pass is not safe to run in two threads
        return ThreadPoolExecutor(streams, initializer=torch.set_num_threads, initargs=(threads // streams,))

    def _encode_batch(self, batch: list[int], windows: Windows, rows_of: list[list[int]], vectors: Matrix) -> None:
        """Encode the sequences with the numbers ``batch`` and write the vectors of their rows into ``vectors``."""
        lengths = np.array([len(windows.sequences[number]) for number in batch])
        ids = np.full((len(batch), lengths.max()), self._pad)
        positions_of: list[list[int]] = []  # (sequences in the batch)
        row_slices: list[tuple[int, int, int, int]] = []  # row, index in the batch, first and last + 1 position
        for i, number in enumerate(batch):
            ids[i, : lengths[i]] = windows.sequences[number]
            positions: list[int] = []
            for row in rows_of[number]:
                first, last = (0, int(lengths[i])) if self.pooling == "sentence" else windows.positions[row]
                last = first + 1 if self.pooling == "first" else last
                row_slices.append((row, i, len(positions), len(positions) + last - first))
                positions += range(first, last)
            positions_of.append(positions)
        width = max(map(len, positions_of))
        where = np.array([positions + [positions[0]] * (width - len(positions)) for positions in positions_of])
        tensors = [torch.from_numpy(array).to(self.device) for array in (ids, lengths, where)]
        if self.adaptation.attention:
            times = token_times([windows.periods[number] for number in batch], lengths, self._windows.ends)
            tensors.append(torch.from_numpy(times).to(self.device))
        states = self._forward.states(self._layers, *tensors)
        hidden = self._combine(states).float().cpu().numpy()  # (batch, most, d)
        for row, i, first, last in row_slices:
            pieces = hidden[i, first:last]
            vector = pieces.sum(0) if self.pooling == "sum" else pieces.mean(0)
            vectors[row] = vector if self._projection is None else self._projection @ vector

    def _combine(self, states: list[Tensor]) -> Tensor:
        if self._layers.how == "concat":
            return torch.cat(states, -1)
        total = torch.stack(states).sum(0) if len(states) > 1 else states[0]
        return total / len(states) if self._layers.how == "mean" else total

    def deviation(
        self, sentences: Sequence[str], spans: Sequence[Span], periods: Sequence[int] | None = None
    ) -> Matrix:
        """Return 1 - cosine between the vectors and those of full precision, (n,)."""
        ours = self.encode(sentences, spans, periods=periods)
        full = HuggingFaceEncoder(
            self.original_model,
            self._tokenizer,
            layers=self.layers,
            pooling=self.pooling,
            window=self.window,
            markers=self.markers,
            device="cpu",
            adaptation=self.adaptation,
        ).encode(sentences, spans, periods=periods)
        return 1 - (ours * full).sum(1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(full, axis=1)


@contextmanager
def evaluation_mode(model: Any) -> Iterator[None]:
    """Put a model into evaluation mode, and restore the mode of each of its modules afterwards."""
    in_training = [module for module in model.modules() if module.training]
    if in_training:
        model.eval()
    try:
        yield
    finally:
        for module in in_training:
            module.training = True


def pick_device(device: str) -> torch.device:
    """Return the device with a name; "auto" is the fastest one available."""
    if device == "auto":
        best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        return torch.device(best)
    try:
        chosen = torch.device(device)
        torch.empty(1, device=chosen)
    except (RuntimeError, AssertionError):  # torch built without CUDA fails an assertion
        raise UserError(
            f"device {device!r} is not available on this machine; use auto for the fastest that is"
        ) from None
    return chosen


def _check_markers(markers: Any) -> tuple[str, str] | None:
    if markers is None:
        return None
    if isinstance(markers, str) or len(markers) != 2 or not all(isinstance(marker, str) for marker in markers):
        raise UserError(f"markers must be two strings, before and after the word; got {markers!r}")
    return markers[0], markers[1]


def longest_sequence(model: Any, tokenizer: Any) -> int:
    """Return the maximum number of tokens that a model accepts."""
    limits = [int(tokenizer.model_max_length)]
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions and positions > 0:
        # RoBERTa and similar models number positions from the padding token's id + 1.
        embeddings = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
        offset = getattr(embeddings, "padding_idx", None)
        limits.append(int(positions) - (0 if offset is None else int(offset) + 1))
    return min(limits)


def _quantize(model: Any) -> Any:
    """Return a copy of a model whose linear layers compute with 8-bit integers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch.ao.nn.quantized.dynamic import Linear
            from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

            quantized = quantize_dynamic(model, {torch.nn.Linear: per_channel_dynamic_qconfig})
    except (ImportError, RuntimeError) as error:
        raise UserError(f"this build of torch does not support int8 on the CPU: {error}") from None
    if _sums_bytes_exactly():
        for module in quantized.modules():
            if isinstance(module, Linear):
                module.version = _EIGHT_BITS
    return quantized


def _sums_bytes_exactly() -> bool:
    """Return whether the CPU sums products of bytes without overflow (VNNI)."""
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_vnni") or capabilities.get("avx_vnni"))

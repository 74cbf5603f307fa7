"""Encode shards on the machines of a cluster, and convert shards and vectors to tables that can be sent."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa

from lexshift.encode import Encoder, as_encoder
from lexshift.encode.protocol import optional_attribute
from lexshift.errors import UserError
from lexshift.store.plan import Shard
from lexshift.store.shards import encode_shard

_VECTORS_SCHEMA = pa.schema(
    [
        ("number", pa.int64()),
        ("values", pa.large_binary()),
        ("dtype", pa.string()),
        ("truncated", pa.large_binary()),
        ("error", pa.string()),
    ]
)


class AttemptCounter:
    """Counts the attempts at each shard or part, because Ray restarts workers that died without a message."""

    def __init__(self, max_attempts: int) -> None:
        self._max_attempts = max_attempts
        self._attempts: Counter[int] = Counter()

    def begin(self, number: int) -> bool:
        """Count an attempt, and return whether it is still allowed."""
        self._attempts[number] += 1
        return self._attempts[number] <= self._max_attempts


def begin_attempt(attempts: Any, number: int) -> None:
    """Raise an error for a shard or part at which too many workers have died already."""
    import ray

    if not ray.get(attempts.begin.remote(number)):
        raise UserError(
            "the workers of the Ray cluster die again and again of the same work; run the same command again to "
            "resume, with fewer workers (--workers) if they lack memory"
        )


class Worker:
    """Encodes shards with its own encoder."""

    def __init__(self, recipe: Any, attempts: Any) -> None:
        self._attempts = attempts
        self._encoder: Encoder | None = None
        self._error: str | None = None
        try:
            import ray

            model, options, weights, threads = ray.get(recipe)
            register_classes(model)
            self._encoder = as_encoder(model, **options)
            if weights != optional_attribute(self._encoder, "weights"):
                raise UserError(f"the model {model!r} is not the same on all machines: {_hostname()} has another")
            if threads is not None and "torch" in sys.modules:
                sys.modules["torch"].set_num_threads(threads)
        except UserError as error:
            self._error = str(error)
        except Exception as error:  # an exception here would be lost with the worker
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            self._error = f"the encoder cannot be loaded on {_hostname()}, a machine of the cluster ({reason})"

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Return the vectors of a shard as bytes, or an error message, in one row."""
        shard = table_to_shard(rows)
        error = self._error
        if error is None:
            assert self._encoder is not None
            try:
                begin_attempt(self._attempts, shard.number)
                encoded = encode_shard(self._encoder, shard)
                vectors = np.ascontiguousarray(encoded.vectors)
                values = pa.py_buffer(vectors).to_pybytes()
                row = [shard.number, values, vectors.dtype.str, encoded.truncated.tobytes(), None]
                return pa.table([[value] for value in row], schema=_VECTORS_SCHEMA)
            except UserError as raised:
                error = str(raised)
        return pa.table([[shard.number], [None], [None], [None], [error]], schema=_VECTORS_SCHEMA)


def register_classes(model: Any) -> None:
    """Construct each class of a loaded model once without weights.

    transformers returns hidden states only of classes that were constructed in the same process.
    """
    for part in model if isinstance(model, tuple) else (getattr(model, "original_model", model),):
        for module in part.modules() if hasattr(part, "modules") else ():
            if hasattr(module, "config") and hasattr(module, "post_init"):
                with sys.modules["torch"].device("meta"):  # without weights
                    type(module)(module.config)


def shard_to_table(shard: Shard) -> pa.Table:
    """Return a shard as a table with one row."""
    starts, ends = zip(*shard.spans, strict=True)
    keywords = list(shard.keywords.items())
    row = [
        shard.number,
        shard.sentences,
        starts,
        ends,
        [name for name, _ in keywords],
        [values for _, values in keywords],
    ]
    names = ["number", "sentences", "starts", "ends", "names", "values"]
    types = [pa.int64(), pa.list_(pa.string()), *2 * [pa.list_(pa.int64())], pa.list_(pa.string())]
    schema = pa.schema(list(zip(names, [*types, pa.list_(pa.list_(pa.int64()))], strict=True)))
    return pa.table([[value] for value in row], schema=schema)


def table_to_shard(rows: pa.Table) -> Shard:
    """Return the shard that :func:`shard_to_table` converted."""
    [row] = rows.to_pylist()
    keywords = dict(zip(row["names"], row["values"], strict=True))
    return Shard(row["number"], row["sentences"], list(zip(row["starts"], row["ends"], strict=True)), keywords)


def _hostname() -> str:
    return os.uname().nodename

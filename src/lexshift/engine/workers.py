"""What encodes shards on the machines of a cluster, and how shards and vectors travel there and back."""

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

_VECTORS = pa.schema(
    [
        ("number", pa.int64()),
        ("values", pa.large_binary()),
        ("dtype", pa.string()),
        ("truncated", pa.large_binary()),
        ("error", pa.string()),
    ]
)


class Tries:
    """Counts how often each shard or part of a corpus was begun: a worker that died is started again without a word."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._begun: Counter[int] = Counter()

    def begin(self, number: int) -> bool:
        """Whether it may be tried once more."""
        self._begun[number] += 1
        return self._begun[number] <= self._most


def begin(tries: Any, number: int) -> None:
    """Refuse what has killed too many workers already."""
    import ray

    if not ray.get(tries.begin.remote(number)):
        raise UserError(
            "the workers of the Ray cluster die again and again of the same work; run the same command again to go "
            "on, with fewer of them (--workers) if they lack memory"
        )


class Worker:
    """Encodes shards with an encoder of its own."""

    def __init__(self, recipe: Any, tries: Any) -> None:
        self._tries = tries
        self._encoder: Encoder | None = None
        self._error: str | None = None
        try:
            import ray

            model, options, weights, threads = ray.get(recipe)
            announce(model)
            self._encoder = as_encoder(model, **options)
            if weights != optional_attribute(self._encoder, "weights"):
                raise UserError(f"the model {model!r} is not the same on all machines: {_here()} has another")
            if threads is not None and "torch" in sys.modules:
                sys.modules["torch"].set_num_threads(threads)
        except UserError as error:
            self._error = str(error)
        except Exception as error:  # what is raised here is lost with the worker
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            self._error = f"the encoder cannot be made on {_here()}, a machine of the cluster ({reason})"

    def __call__(self, rows: pa.Table) -> pa.Table:
        """The vectors of a shard, as they are in memory."""
        shard = as_shard(rows)
        error = self._error
        if error is None:
            assert self._encoder is not None
            try:
                begin(self._tries, shard.number)
                made = encode_shard(self._encoder, shard)
                vectors = np.ascontiguousarray(made.vectors)
                values = pa.py_buffer(vectors).to_pybytes()
                row = [shard.number, values, vectors.dtype.str, made.truncated.tobytes(), None]
                return pa.table([[value] for value in row], schema=_VECTORS)
            except UserError as raised:
                error = str(raised)
        return pa.table([[shard.number], [None], [None], [None], [error]], schema=_VECTORS)


def announce(model: Any) -> None:
    """Make the classes of a loaded model known to transformers, which tells hidden states only of models made here."""
    for part in model if isinstance(model, tuple) else (getattr(model, "original_model", model),):
        for module in part.modules() if hasattr(part, "modules") else ():
            if hasattr(module, "config") and hasattr(module, "post_init"):
                with sys.modules["torch"].device("meta"):  # without weights
                    type(module)(module.config)


def as_table(shard: Shard) -> pa.Table:
    """A shard as one row."""
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


def as_shard(rows: pa.Table) -> Shard:
    """A shard from its row."""
    [row] = rows.to_pylist()
    keywords = dict(zip(row["names"], row["values"], strict=True))
    return Shard(row["number"], row["sentences"], list(zip(row["starts"], row["ends"], strict=True)), keywords)


def _here() -> str:
    return os.uname().nodename

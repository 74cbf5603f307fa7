"""An engine that runs on a Ray cluster, by Ray Data; its results are those of the local engine.

Parts of corpora are processed by tasks. Shards are encoded by actors, each with its own encoder, and sent in rounds. A
UserError on a worker is returned as a value and raised here, because Ray would wrap the exception. A worker that dies
is restarted, and its task is repeated.
"""

from __future__ import annotations

import copyreg
import logging
import math
import os
import socket
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from lexshift.encode import Encoder
from lexshift.encode.protocol import optional_attribute
from lexshift.engine.parts import Job, Part
from lexshift.engine.workers import AttemptCounter, Worker, begin_attempt, shard_to_table
from lexshift.errors import UserError
from lexshift.store.plan import Shard
from lexshift.store.shards import EncodedShard, EncodeShards
from lexshift.utils import checks

_CORES = 4  # cores per encoder, unless the number of workers is given
ROUND = 256
"""Number of shards sent to each worker at a time: minutes of work, so that loading the model costs little."""
_SHARDS_IN_FLIGHT = 2  # per encoder, so that it never waits for the next shard
_TIMEOUT = 10  # seconds for a cluster to answer
MAX_TRIES = 6
"""Maximum number of attempts at a shard or a part whose workers die; the run is then aborted."""
_MAX_INIT_DEATHS = 3  # consecutive deaths of workers that load their encoder
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
_PART_SCHEMA = pa.schema([("number", pa.int64()), ("table", pa.large_binary()), ("error", pa.string())])


class RayEngine:
    """Runs on the machines of a Ray cluster.

    Parameters
    ----------
    address : str, optional
        Address of the cluster, "auto" for the one that this machine belongs to. By default a cluster is started on this
        machine alone. If Ray is already initialised in this process, it is used and left running.
    workers : int, optional
        Number of encoders; by default one per GPU, or one for every four cores.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self._workers = None if workers is None else checks.positive(workers, "workers")
        ray = _ray()
        self._starts = not ray.is_initialized()
        if self._starts:
            _connect(address)

    def map(self, job: Job, parts: Sequence[Part], progress: Callable[[int], None]) -> Iterator[tuple[Part, pa.Table]]:
        """Yield each part with its table as soon as it is done; workers read files by their absolute paths."""
        if not parts:
            return
        remote_parts, attempts = [_absolute(part) for part in parts], _attempt_counter()

        def process(rows: pa.Table) -> pa.Table:
            number = rows["id"][0].as_py()
            try:
                begin_attempt(attempts, number)
                table, error = _serialise(job(remote_parts[number], lambda _: None)), None
            except UserError as raised:
                table, error = None, str(raised)
            return pa.table([[number], [table], [error]], schema=_PART_SCHEMA)

        with _settings():
            data = _ray().data.range(len(parts), override_num_blocks=len(parts))
            processed = data.map_batches(process, batch_size=1, batch_format="pyarrow")
        done = 0
        for row in _rows(processed):
            part = parts[row["number"]]
            done += part.size
            progress(done)
            yield part, ipc.open_file(row["table"]).read_all()

    def encode(self, encoder: Encoder, model: Any, options: dict[str, Any]) -> EncodeShards:
        """Return a function that encodes shards on the workers, each of which loads its own encoder."""
        ray = _ray()
        workers, threads, resources = _divide_resources(ray.nodes(), self._workers, options.get("device"))
        if isinstance(model, (str, os.PathLike)) and os.path.isdir(model):
            model = os.path.abspath(model)

        def encode(
            shards: Iterable[Shard],
            advance: Callable[[int, float], None],  # noqa: ARG001
        ) -> Iterator[tuple[int, EncodedShard]]:
            remaining = iter(shards)
            first = next(remaining, None)
            if first is None:
                return
            recipe = _put_recipe((model, options, optional_attribute(encoder, "weights"), threads))
            attempts = _attempt_counter()
            pending = [first, *islice(remaining, ROUND * workers - 1)]
            while pending:
                with _settings():
                    data = ray.data.from_arrow_refs([ray.put(shard_to_table(shard)) for shard in pending])
                    encoded = data.map_batches(
                        Worker,
                        fn_constructor_args=(recipe, attempts),
                        batch_size=1,
                        batch_format="pyarrow",
                        compute=ray.data.ActorPoolStrategy(
                            size=min(workers, len(pending)), max_tasks_in_flight_per_actor=_SHARDS_IN_FLIGHT
                        ),
                        **resources,
                    )
                n_rows = {shard.number: len(shard.sentences) for shard in pending}
                pending = []
                for row in _rows(encoded):
                    flat = np.frombuffer(row["values"], row["dtype"])
                    truncated = np.frombuffer(row["truncated"], bool)
                    yield row["number"], EncodedShard(flat.reshape(n_rows[row["number"]], -1), truncated)
                pending = list(islice(remaining, ROUND * workers))

        return encode

    def close(self) -> None:
        """Disconnect from the cluster, and stop it if it was started here."""
        if self._starts:
            _ray().shutdown()


def _ray() -> Any:
    """Import Ray with Ray Data, and turn its messages off."""
    warnings.filterwarnings("ignore", module=r"ray\.")
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.data
    except ImportError:
        raise UserError("the engine 'ray' needs Ray: pip install 'lexshift[ray]'") from None
    return ray


def _connect(address: str | None) -> None:
    """Join a cluster, or start one on this machine."""
    ray = _ray()
    quiet = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address is None:
        with _mute():
            ray.init("local", include_dashboard=False, **quiet)
        return
    try:
        url = urlsplit(address if "://" in address else f"//{address}")
        if url.port is not None:  # Ray itself would retry for minutes
            socket.create_connection((url.hostname, url.port), _TIMEOUT).close()
        with _mute():
            ray.init(address, **quiet)
    except (ConnectionError, ImportError, RuntimeError, ValueError, OSError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].split(". ")[0].rstrip(".")
        raise UserError(
            f"cannot connect to a Ray cluster at {address!r} ({reason}); give the address of one that runs, or none to "
            f"start one here (--address)"
        ) from None


@contextmanager
def _mute() -> Iterator[None]:
    """Redirect file descriptor 2 to the null device: Ray announces its log settings from C++ code."""
    sys.stderr.flush()
    saved = os.dup(2)
    with open(os.devnull, "wb") as null:
        os.dup2(null.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def _settings() -> Any:
    """Return a context in which datasets show no bars, have no timeout, and survive the death of workers."""
    data = _ray().data
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    context = data.DataContext.get_current().copy()
    context.enable_progress_bars = False
    context.issue_detectors_config.detectors = []
    context.raise_original_map_exception = True
    context.execution_no_progress_timeout_s = -1
    context.max_consecutive_actor_init_deaths = _MAX_INIT_DEATHS
    return data.DataContext.current(context)


def _rows(dataset: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a dataset as they arrive; raise the error of a row that has one."""
    exceptions = _ray().exceptions
    try:
        for block in dataset.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=1):
            for row in block.to_pylist():
                if row["error"] is not None:
                    raise UserError(row["error"])
                yield row
    except exceptions.RayTaskError:
        raise
    except exceptions.RayError as error:
        raise UserError(
            f"the Ray cluster lost workers that it could not start again ({type(error).__name__}); run the same "
            f"command again to resume, with fewer workers (--workers) if they lack memory"
        ) from None


def _divide_resources(
    nodes: Iterable[dict[str, Any]], workers: int | None, device: str | None
) -> tuple[int, int | None, dict[str, float]]:
    """Return the number of encoders, the threads of each, and the resources that each reserves.

    >>> node = {"Alive": True, "Resources": {"CPU": 8.0}}
    >>> [_divide_resources([node, node], workers, None) for workers in (None, 3)]
    [(4, 4, {'num_cpus': 4}), (3, 4, {'num_cpus': 4})]
    >>> _divide_resources([node], 9, None)
    (9, 1, {'num_cpus': 0})
    """
    alive = [node["Resources"] for node in nodes if node["Alive"]]
    gpus = int(sum(resources.get("GPU", 0) for resources in alive))
    if gpus and device != "cpu":
        workers = workers or gpus
        return workers, None, {"num_gpus": 1 / math.ceil(workers / gpus)}
    cores = [int(resources.get("CPU", 0)) for resources in alive]
    workers = workers or max(1, sum(math.ceil(n / _CORES) for n in cores))
    share = next((s for s in range(max(cores), 0, -1) if sum(n // s for n in cores) >= workers), 0)
    return workers, max(share, 1), {"num_cpus": share}


def _attempt_counter() -> Any:
    """Start an actor that counts attempts; it runs on its own worker, which outlives the others."""
    return _ray().remote(num_cpus=0)(AttemptCounter).remote(MAX_TRIES)


def _absolute(part: Part) -> Part:
    sources = tuple(replace(source, path=os.path.abspath(source.path)) for source in part.sources)
    return replace(part, sources=sources)


def _serialise(table: pa.Table) -> bytes:
    """Return a table as bytes, with its metadata, which Ray Data would drop."""
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _put_recipe(recipe: tuple[Any, ...]) -> Any:
    """Put the arguments from which workers load their encoders into the object store of the cluster."""
    hooks: Any = sys.modules.get("transformers.utils.output_capturing")
    if hasattr(hooks, "_active_collector"):  # a model that has run refers to it; every process has one
        copyreg.pickle(type(hooks._active_collector), lambda _: "_active_collector")
    try:
        return _ray().put(recipe)
    except Exception as error:  # pickling may raise any exception
        reason = str(error.__cause__ or error).splitlines()[0]
        raise UserError(
            f"the encoder cannot be sent to the workers of a cluster ({reason}); give the model by its name or folder"
        ) from None

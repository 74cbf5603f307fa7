"""The work of a discovery on a cluster, by Ray Data. The values are those of this machine, made elsewhere.

Parts of corpora are worked on in tasks; shards are encoded by actors, each with an encoder of its own, and only a few
rounds of shards are away at a time. What is raised for the user there is told as a value and raised here, as Ray would
wrap it; a worker that dies is started again, and what it had to do is done again.
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
from lexshift.engine.workers import Tries, Worker, as_table, begin
from lexshift.errors import UserError
from lexshift.store.plan import Shard
from lexshift.store.shards import EncodedShard, EncodeShards
from lexshift.utils import checks

_CORES = 4  # of an encoder, if it is not said how many there are
ROUND = 256
"""Number of shards sent to each worker at a time: minutes of work, next to which loading a model takes little time."""
_AHEAD = 2  # shards that wait at an encoder, so that it never does
_PATIENCE = 10  # seconds for a cluster to answer
MAX_TRIES = 6
"""How often a shard or a part may be begun whose workers die of it; then the run is given up."""
_DEATHS = 3  # of workers while they load their encoder, one after another; then it is not by chance
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
_MADE = pa.schema([("number", pa.int64()), ("table", pa.large_binary()), ("error", pa.string())])


class RayEngine:
    """Works on the machines of a Ray cluster.

    Parameters
    ----------
    address : str, optional
        "auto" is the cluster that this machine is part of. By default one is started on this machine alone. Where Ray
        runs in this process already, that is used, and left running.
    workers : int, optional
        Encoders beside one another: by default one for each GPU, or else for every few cores.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self._workers = None if workers is None else checks.positive(workers, "workers")
        ray = _ray()
        self._starts = not ray.is_initialized()
        if self._starts:
            _connect(address)

    def map(self, job: Job, parts: Sequence[Part], progress: Callable[[int], None]) -> Iterator[tuple[Part, pa.Table]]:
        """What is made of each part, as parts are done; files are looked for under their absolute paths."""
        if not parts:
            return
        there, tries = [_absolute(part) for part in parts], _tries()

        def make(rows: pa.Table) -> pa.Table:
            number = rows["id"][0].as_py()
            try:
                begin(tries, number)
                made, error = _bytes(job(there[number], lambda _: None)), None
            except UserError as raised:
                made, error = None, str(raised)
            return pa.table([[number], [made], [error]], schema=_MADE)

        with _settings():
            data = _ray().data.range(len(parts), override_num_blocks=len(parts))
            made = data.map_batches(make, batch_size=1, batch_format="pyarrow")
        done = 0
        for row in _rows(made):
            part = parts[row["number"]]
            done += part.size
            progress(done)
            yield part, ipc.open_file(row["table"]).read_all()

    def encode(self, encoder: Encoder, model: Any, options: dict[str, Any]) -> EncodeShards:
        """What encodes shards, each with one of several encoders; those are made there as the given one was here."""
        ray = _ray()
        workers, threads, needs = _shares(ray.nodes(), self._workers, options.get("device"))
        if isinstance(model, (str, os.PathLike)) and os.path.isdir(model):
            model = os.path.abspath(model)

        def encode(
            shards: Iterable[Shard],
            advance: Callable[[int, float], None],  # noqa: ARG001
        ) -> Iterator[tuple[int, EncodedShard]]:
            waiting = iter(shards)
            first = next(waiting, None)
            if first is None:
                return
            recipe = _sent((model, options, optional_attribute(encoder, "weights"), threads))
            tries = _tries()
            pending = [first, *islice(waiting, ROUND * workers - 1)]
            while pending:
                with _settings():
                    data = ray.data.from_arrow_refs([ray.put(as_table(shard)) for shard in pending])
                    made = data.map_batches(
                        Worker,
                        fn_constructor_args=(recipe, tries),
                        batch_size=1,
                        batch_format="pyarrow",
                        compute=ray.data.ActorPoolStrategy(
                            size=min(workers, len(pending)), max_tasks_in_flight_per_actor=_AHEAD
                        ),
                        **needs,
                    )
                rows_of = {shard.number: len(shard.sentences) for shard in pending}
                pending = []
                for row in _rows(made):
                    flat = np.frombuffer(row["values"], row["dtype"])
                    truncated = np.frombuffer(row["truncated"], bool)
                    yield row["number"], EncodedShard(flat.reshape(rows_of[row["number"]], -1), truncated)
                pending = list(islice(waiting, ROUND * workers))

        return encode

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        if self._starts:
            _ray().shutdown()


def _ray() -> Any:
    """Ray with Ray Data, silent."""
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
        place = urlsplit(address if "://" in address else f"//{address}")
        if place.port is not None:  # Ray itself would try for minutes
            socket.create_connection((place.hostname, place.port), _PATIENCE).close()
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
    """Nothing on the terminal, not even by what is not Python: Ray says there how much it is going to say."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _settings() -> Any:
    """Datasets made in this context show no bars, wait for as long as it takes, and survive the death of workers."""
    data = _ray().data
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    context = data.DataContext.get_current().copy()
    context.enable_progress_bars = False
    context.issue_detectors_config.detectors = []
    context.raise_original_map_exception = True
    context.execution_no_progress_timeout_s = -1
    context.max_consecutive_actor_init_deaths = _DEATHS
    return data.DataContext.current(context)


def _rows(made: Any) -> Iterator[dict[str, Any]]:
    """The rows of a dataset as they come; an error that a row tells is raised."""
    exceptions = _ray().exceptions
    try:
        for block in made.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=1):
            for row in block.to_pylist():
                if row["error"] is not None:
                    raise UserError(row["error"])
                yield row
    except exceptions.RayTaskError:
        raise
    except exceptions.RayError as error:
        raise UserError(
            f"the Ray cluster lost workers that it could not start again ({type(error).__name__}); run the same "
            f"command again to go on, with fewer of them (--workers) if they lack memory"
        ) from None


def _shares(
    nodes: Iterable[dict[str, Any]], workers: int | None, device: str | None
) -> tuple[int, int | None, dict[str, float]]:
    """How many encoders there are, the threads of each, and what of a machine it needs for itself.

    >>> node = {"Alive": True, "Resources": {"CPU": 8.0}}
    >>> _shares([node, node], None, None), _shares([node, node], 3, None), _shares([node], 9, None)
    ((4, 4, {'num_cpus': 4}), (3, 4, {'num_cpus': 4}), (9, 1, {'num_cpus': 0}))
    """
    alive = [node["Resources"] for node in nodes if node["Alive"]]
    gpus = int(sum(has.get("GPU", 0) for has in alive))
    if gpus and device != "cpu":
        workers = workers or gpus
        return workers, None, {"num_gpus": 1 / math.ceil(workers / gpus)}
    cores = [int(has.get("CPU", 0)) for has in alive]
    workers = workers or max(1, sum(math.ceil(n / _CORES) for n in cores))
    share = next((s for s in range(max(cores), 0, -1) if sum(n // s for n in cores) >= workers), 0)
    return workers, max(share, 1), {"num_cpus": share}


def _tries() -> Any:
    """What counts how often each shard or part was begun, on a worker of its own, which outlives the others."""
    return _ray().remote(num_cpus=0)(Tries).remote(MAX_TRIES)


def _absolute(part: Part) -> Part:
    sources = tuple(replace(source, path=os.path.abspath(source.path)) for source in part.sources)
    return replace(part, sources=sources)


def _bytes(table: pa.Table) -> bytes:
    """A table with its metadata, which Ray Data does not keep."""
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _sent(recipe: tuple[Any, ...]) -> Any:
    """What an encoder is made of, put where every worker gets it."""
    hooks: Any = sys.modules.get("transformers.utils.output_capturing")
    if hasattr(hooks, "_active_collector"):  # a model that has run refers to this variable, which every process has
        copyreg.pickle(type(hooks._active_collector), lambda _: "_active_collector")
    try:
        return _ray().put(recipe)
    except Exception as error:  # whatever an object raises when it is pickled
        reason = str(error.__cause__ or error).splitlines()[0]
        raise UserError(
            f"the encoder cannot be sent to the workers of a cluster ({reason}); give the model by its name or folder"
        ) from None

"""The protocol of engines, the engine of this machine, and the cached computation over the parts of a corpus.

The results do not depend on the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import pyarrow as pa

from lexshift.encode import Encoder
from lexshift.engine.cache import Cache
from lexshift.engine.parts import Job, Part, is_made_from
from lexshift.errors import UserError
from lexshift.store.shards import EncodeShards, encode_shards
from lexshift.utils import checks

ENGINES = ("local", "ray")


class Engine(Protocol):
    """Runs the counting, scanning and encoding of a study."""

    def map(self, job: Job, parts: Sequence[Part], progress: Callable[[int], None]) -> Iterator[tuple[Part, pa.Table]]:
        """Yield each part with the table that ``job`` returns for it, in any order.

        ``progress`` is called with the number of bytes read so far.
        """

    def encode(self, encoder: Encoder, model: Any, options: dict[str, Any]) -> EncodeShards:
        """Return a function that encodes shards; ``encoder`` is ``as_encoder(model, **options)``."""

    def close(self) -> None:
        """Release all resources."""


class Local:
    """Runs everything on this machine, with all of its cores."""

    def map(self, job: Job, parts: Sequence[Part], progress: Callable[[int], None]) -> Iterator[tuple[Part, pa.Table]]:
        """Process one part after another; the blocks of a part are processed in parallel."""
        done = 0
        for part in parts:
            yield part, job(part, _add_offset(done, progress))
            done += part.size

    def encode(self, encoder: Encoder, model: Any, options: dict[str, Any]) -> EncodeShards:  # noqa: ARG002
        """Return a function that encodes in this process, as the encoder uses all cores or the GPU."""
        return partial(encode_shards, encoder)

    def close(self) -> None:
        """Do nothing, as there is nothing to release."""


def _add_offset(offset: int, progress: Callable[[int], None]) -> Callable[[int], None]:
    return lambda size: progress(offset + size)


def as_engine(engine: str | Engine, address: str | None = None, workers: int | None = None) -> Engine:
    """Return an engine from its name; an engine is returned unchanged.

    Parameters
    ----------
    engine : "local", "ray" or Engine
    address : str, optional
        Address of a Ray cluster, "auto" for the one that this machine belongs to; by default one is started here.
    workers : int, optional
        Number of encoders on a Ray cluster; by default one per GPU, or one for every four cores.
    """
    if not isinstance(engine, str):
        return engine
    if checks.choice(engine, "engine", ENGINES) == "local":
        return Local()
    from lexshift.engine.ray import RayEngine

    return RayEngine(address, workers)


def map_parts(
    job: Job, parts: Sequence[Part], engine: Engine, cache: Cache, progress: Callable[[int, int], None]
) -> Iterator[pa.Table]:
    """Yield the table that a job returns for each part of a corpus, in the order of the parts.

    Tables that are in the cache are not computed again.

    Parameters
    ----------
    job : Job
    parts : sequence of Part
    engine : Engine
    cache : Cache
    progress : callable
        Called with the number of bytes that are done and the total.
    """
    missing = [part for part in parts if job.key(part) not in cache]
    total = sum(part.size for part in parts)
    cached = total - sum(part.size for part in missing)
    progress(cached, total)
    for part, table in engine.map(job, missing, lambda size: progress(cached + size, total)):
        if not is_made_from(table, part):
            files = ", ".join(repr(source.path) for source in part.sources[:3])
            raise UserError(f"a file of the corpus was changed while it was read ({files}); run the command again")
        cache.write(job.key(part), table)
    progress(total, total)
    for part in parts:
        table = cache.get(job.key(part))
        if table is None:
            raise UserError(f"a file in {str(cache.folder)!r} was removed or damaged; run the command again")
        yield table

"""Where the work is done: on this machine, or on a cluster. The results are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import pyarrow as pa

from lexshift.encode import Encoder
from lexshift.engine.cache import Cache
from lexshift.engine.parts import Job, Part, file_hashes
from lexshift.errors import UserError
from lexshift.store.shards import EncodeShards, encode_shards
from lexshift.utils import checks

ENGINES = ("local", "ray")


class Engine(Protocol):
    """Does the work of a discovery."""

    def map(self, job: Job, parts: Sequence[Part], progress: Callable[[int], None]) -> Iterator[tuple[Part, pa.Table]]:
        """What is made of each part, in any order; ``progress`` is called with the bytes that are done."""

    def encode(self, encoder: Encoder, model: Any, options: dict[str, Any]) -> EncodeShards:
        """What encodes shards with an encoder, which is the one that ``as_encoder(model, **options)`` gives."""

    def close(self) -> None:
        """No more work."""


class Local:
    """Works on this machine, with all of its cores."""

    def map(self, job: Job, parts: Sequence[Part], progress: Callable[[int], None]) -> Iterator[tuple[Part, pa.Table]]:
        """One part after another; the blocks of a part are worked on beside one another."""
        done = 0
        for part in parts:
            yield part, job(part, _from(done, progress))
            done += part.size

    def encode(self, encoder: Encoder, model: Any, options: dict[str, Any]) -> EncodeShards:  # noqa: ARG002
        """Encode in this process, as the encoder uses all cores or the GPU."""
        return partial(encode_shards, encoder)

    def close(self) -> None:
        """Nothing is left running."""


def _from(done: int, progress: Callable[[int], None]) -> Callable[[int], None]:
    return lambda size: progress(done + size)


def as_engine(engine: str | Engine, address: str | None = None, workers: int | None = None) -> Engine:
    """An engine by its name.

    ``address`` is that of a Ray cluster ("auto": the one that this machine is part of); by default one is started here.
    ``workers`` is how many encoders it runs; by default one for each GPU, or for every few cores.
    """
    if not isinstance(engine, str):
        return engine
    if checks.choice(engine, "engine", ENGINES) == "local":
        return Local()
    from lexshift.engine.ray import RayEngine

    return RayEngine(address, workers)


def map_parts(
    job: Job, parts: Sequence[Part], engine: Engine, kept: Cache, progress: Callable[[int, int], None]
) -> Iterator[pa.Table]:
    """What is made of each part of a corpus, in their order; what is kept from before is not made again.

    ``progress`` is called with the bytes that are done and those there are.
    """
    todo = [part for part in parts if job.key(part) not in kept]
    total = sum(part.size for part in parts)
    before = total - sum(part.size for part in todo)
    progress(before, total)
    for part, table in engine.map(job, todo, lambda size: progress(before + size, total)):
        if file_hashes(table) != part.hashes:
            raise _changed(part)
        kept.put(job.key(part), table)
    progress(total, total)
    for part in parts:
        table = kept.get(job.key(part))
        if table is None:
            raise UserError(f"a file in {str(kept.folder)!r} was removed or damaged; run the command again")
        yield table


def _changed(part: Part) -> UserError:
    files = ", ".join(repr(source.path) for source in part.sources[:3])
    return UserError(f"a file of the corpus was changed while it was read ({files}); run the command again")

"""Test that a Ray cluster gives the same values as this machine, for any number of workers and after failures."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from lexshift import UserError
from lexshift.corpus.sources import Reading
from lexshift.encode import Encoder
from lexshift.engine.local import Local, as_engine
from lexshift.engine.parts import Counting, Job, Part, Sampling, split_corpus
from lexshift.engine.ray import RayEngine, _divide_resources
from lexshift.store.plan import Shard
from lexshift.store.shards import encode_shards

pytest.importorskip("ray", reason="Ray is not installed: pip install 'lexshift[ray]'")

pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore:.*:ray.util.annotations.RayDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:subprocess [0-9]+ is still running:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]
TEXT = "The plane landed in the storm. A mouse ran under Ann's table.\nThe mice saw a Plane, and she did not.\n"
FORMS = {"plane": ("plane", "planes"), "mouse": ("mouse", "mice"), "table": ("table",)}


class Numbers:
    """Encoder whose vectors depend on the characters of the word and of its sentence."""

    def encode(
        self, sentences: Sequence[str], spans: Sequence[tuple[int, int]], **keywords: Sequence[int]
    ) -> npt.NDArray[Any]:
        periods = keywords.get("periods", [0] * len(sentences))
        rows = [
            [len(sentence), float(np.sqrt(hash_of(sentence[start:end]))), period]
            for sentence, (start, end), period in zip(sentences, spans, periods, strict=True)
        ]
        return np.array(rows, np.float64)


def hash_of(text: str) -> int:
    return sum((i + 1) * ord(c) for i, c in enumerate(text))


def dies_once(marker: Path) -> None:
    """Kill this process, unless that was done before."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


class Mortal(Numbers):
    """Encoder that kills its process during the work, once."""

    def __init__(self, marker: Path, maker: int) -> None:
        self.marker, self.maker = marker, maker

    def encode(
        self, sentences: Sequence[str], spans: Sequence[tuple[int, int]], **keywords: Sequence[int]
    ) -> npt.NDArray[Any]:
        if len(sentences) == 4 and os.getpid() != self.maker:
            dies_once(self.marker)
        return super().encode(sentences, spans, **keywords)


@dataclass(frozen=True)
class MortalJob:
    """Job that kills its process at the third part, once."""

    job: Job
    marker: Path

    def __call__(self, part: Part, progress: Callable[[int], None]) -> pa.Table:
        if part.number == 2:
            dies_once(self.marker)
        return self.job(part, progress)

    def key(self, part: Part) -> str:
        return self.job.key(part)


class Fatal(Numbers):
    """Encoder that kills every process to which it is sent."""

    def __init__(self) -> None:
        self.maker = os.getpid()

    def encode(self, *args: Any, **keywords: Any) -> npt.NDArray[Any]:
        if os.getpid() != self.maker:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode(*args, **keywords)


@dataclass(frozen=True)
class FatalJob:
    """Job that kills every process that computes the third part."""

    job: Job

    def __call__(self, part: Part, progress: Callable[[int], None]) -> pa.Table:
        if part.number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.job(part, progress)

    def key(self, part: Part) -> str:
        return self.job.key(part)


class Raises(Numbers):
    def __init__(self, error: Exception) -> None:
        self.error = error

    def encode(self, *_: Any, **__: Any) -> Any:
        raise self.error


class Unmakable(Numbers):
    """Encoder that cannot be unpickled on a worker."""

    def __reduce__(self) -> Any:
        return int, ("no number",)


class Tied(Numbers):
    """Encoder that cannot be pickled."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Start Ray by an engine and stop it."""
    engine = RayEngine()
    ray: Any = import_module("ray")  # the library has untyped functions
    assert ray.is_initialized()
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import test modules
    yield ray
    ray.cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    engine.close()
    assert not ray.is_initialized()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for i in range(5):
        (folder / f"{i}.txt").write_text(TEXT * (7 * i + 1) + f"Only here: word{i}.\n")
    return folder


def pieces(n: int = 7, **keywords: Any) -> list[Shard]:
    """Return shards of 1, 2, 3 ... sentences of several lengths, some of them repeated."""
    made = []
    for number in range(n):
        sentences = [f"{'very ' * (i % 5)}old plane number {number - i // 2} é" for i in range(number + 1)]
        spans = [(s.index("plane"), s.index("plane") + 5) for s in sentences]
        made.append(Shard(number, sentences, spans, {name: [i % 2 for i in range(number + 1)] for name in keywords}))
    return made


def same_vectors(engine: RayEngine, encoder: Encoder, model: Any, options: dict[str, Any], work: list[Shard]) -> None:
    ours = dict(engine.encode(encoder, model, options)(iter(work), lambda *_: None))
    theirs = dict(encode_shards(encoder, iter(work), lambda *_: None))
    assert sorted(ours) == sorted(theirs) == [piece.number for piece in work]
    for number, shard in theirs.items():
        for our, their in zip(ours[number], shard, strict=True):
            assert our.dtype == their.dtype
            assert our.shape == their.shape
            assert our.tobytes() == their.tobytes()


def same_tables(engine: RayEngine, job: Job, theirs: Job, parts: list[Part]) -> None:
    updates: list[int] = []
    ours = {part.number: (part, table) for part, table in engine.map(job, parts, updates.append)}
    assert sorted(ours) == list(range(len(parts)))
    for part, table in Local().map(theirs, parts, lambda _: None):
        assert ours[part.number][0] is part
        assert ours[part.number][1].equals(table, check_metadata=True)
    assert updates == sorted(updates)
    assert len(updates) == len(parts)
    assert updates[-1] == sum(part.size for part in parts)


# ---------------------------------------------------------------------------------------------------------------- parts

JOBS: dict[str, Job] = {
    "counting": Counting("word", Reading()),
    "sampling": Sampling(FORMS, "word", Reading(), 4, 0, True),
    "sampling all": Sampling(FORMS, "word", Reading(split="lines"), None, 3, True),
}


@pytest.mark.usefixtures("ray")
@pytest.mark.parametrize("name", JOBS)
def test_tables_of_parts_equal_those_of_the_local_engine(corpus: Path, name: str) -> None:
    parts = split_corpus(corpus, size=3000)
    assert 2 < len(parts) < 5  # small files are grouped, large ones are separate
    same_tables(RayEngine(workers=2), JOBS[name], JOBS[name], parts)


@pytest.mark.usefixtures("ray")
def test_no_parts_give_no_tables() -> None:
    assert list(RayEngine().map(JOBS["counting"], [], lambda _: None)) == []


@pytest.mark.usefixtures("ray")
def test_relative_paths_are_resolved_from_the_folder_of_the_user(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corpus.parent)
    same_tables(RayEngine(), JOBS["counting"], JOBS["counting"], split_corpus("corpus", size=3000))


@pytest.mark.usefixtures("ray")
def test_file_errors_are_reported_as_on_the_local_engine(corpus: Path) -> None:
    (corpus / "3.txt").write_bytes("für".encode() * 900 + b"\xfc")
    (corpus / "4.txt").write_bytes("Der Käse ist für die Mäuse.\n".encode("cp1252") * 90)
    (corpus / "5.pdf").write_bytes(b"%PDF-1.7")
    parts = split_corpus(corpus, size=3000)
    same_tables(RayEngine(), JOBS["counting"], JOBS["counting"], parts)
    strict = Counting("word", Reading(strict=True))
    with pytest.raises(UserError, match="is not UTF-8") as here:
        list(Local().map(strict, parts, lambda _: None))
    with pytest.raises(UserError) as there:
        list(RayEngine().map(strict, parts, lambda _: None))
    assert str(there.value) == str(here.value)


@pytest.mark.usefixtures("ray")
def test_part_whose_worker_is_killed_is_computed_again(corpus: Path, tmp_path: Path) -> None:
    job = MortalJob(JOBS["counting"], tmp_path / "killed")
    same_tables(RayEngine(), job, job.job, split_corpus(corpus, size=3000))
    assert job.marker.exists()


# -------------------------------------------------------------------------------------------------------------- vectors


@pytest.mark.usefixtures("ray")
@pytest.mark.parametrize("workers", [1, 3])
def test_vectors_of_an_encoder_object_are_the_same(workers: int) -> None:
    encoder = Numbers()
    same_vectors(RayEngine(workers=workers), encoder, encoder, {}, pieces(periods=True))


@pytest.mark.usefixtures("ray")
def test_vectors_of_a_model_and_truncation_flags_are_identical() -> None:
    tiny_models = pytest.importorskip("tiny_models", reason="needs torch and transformers", exc_type=ImportError)
    from lexshift.encode import as_encoder

    options: dict[str, Any] = {"layers": "last", "device": "cpu", "window": 12}
    folder = str(tiny_models.folder("bert"))
    work = pieces()
    same_vectors(RayEngine(workers=2), as_encoder(folder, **options), folder, options, work)
    made = dict(encode_shards(as_encoder(folder, **options), iter(work), lambda *_: None))
    assert {bool(mark) for shard in made.values() for mark in shard.truncated} == {False, True}


@pytest.mark.usefixtures("ray")
def test_loaded_model_is_sent_with_its_tokenizer() -> None:
    tiny_models = pytest.importorskip("tiny_models", reason="needs torch and transformers", exc_type=ImportError)
    from lexshift.encode import as_encoder

    loaded = tiny_models.loaded("bert")
    encoder = as_encoder(loaded, device="cpu")
    same_vectors(RayEngine(workers=1), encoder, loaded, {"device": "cpu"}, pieces(3))


@pytest.mark.usefixtures("ray")
def test_used_encoder_of_a_model_can_be_sent() -> None:
    tiny_models = pytest.importorskip("tiny_models", reason="needs torch and transformers", exc_type=ImportError)
    from lexshift.encode import as_encoder

    encoder = as_encoder(str(tiny_models.folder("roberta")), device="cpu")
    same_vectors(RayEngine(workers=1), encoder, encoder, {}, pieces(4))


@pytest.mark.usefixtures("ray")
def test_shards_are_submitted_in_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.engine.ray.ROUND", 2)
    taken: list[int] = []
    ahead = []

    def lazily() -> Iterator[Shard]:
        for piece in pieces(7):
            taken.append(piece.number)
            yield piece

    encoder = Numbers()
    for done, _ in enumerate(RayEngine(workers=2).encode(encoder, encoder, {})(lazily(), lambda *_: None)):
        ahead.append(len(taken) - done)
    assert len(ahead) == 7
    assert max(ahead) == 4


@pytest.mark.usefixtures("ray")
def test_empty_plan_starts_no_workers() -> None:
    encoder = Raises(AssertionError("not asked"))
    assert list(RayEngine().encode(encoder, encoder, {})(iter([]), lambda *_: None)) == []


@pytest.mark.usefixtures("ray")
def test_shard_whose_encoder_is_killed_is_encoded_again(tmp_path: Path) -> None:
    encoder = Mortal(tmp_path / "killed", os.getpid())
    same_vectors(RayEngine(workers=2), encoder, encoder, {}, pieces())
    assert encoder.marker.exists()


@pytest.mark.usefixtures("ray")
def test_shard_that_kills_every_worker_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.engine.ray.MAX_TRIES", 2)
    encoder = Fatal()
    with pytest.raises(
        UserError, match=r"^the workers of the Ray cluster die again and again of the same work; run the"
    ):
        list(RayEngine(workers=1).encode(encoder, encoder, {})(pieces(1), lambda *_: None))


@pytest.mark.usefixtures("ray")
def test_part_that_kills_every_worker_is_abandoned(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.engine.ray.MAX_TRIES", 2)
    with pytest.raises(
        UserError, match=r"^the workers of the Ray cluster die again and again of the same work; run the"
    ):
        list(RayEngine().map(FatalJob(JOBS["counting"]), split_corpus(corpus, 1), lambda _: None))


# --------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.usefixtures("ray")
def test_user_errors_keep_their_message() -> None:
    for model, options, sentence in (
        (Raises(UserError("no vectors today")), {}, "^no vectors today$"),
        ("nowhere/at/all", {}, "no such model folder"),
        (Unmakable(), {}, r"^the encoder cannot be loaded on .*, a machine of the cluster \(.*invalid literal for int"),
        (Numbers(), {"layers": "last"}, "layers cannot be set for an encoder that is already made"),
        (
            Tied(),
            {},
            r"^the encoder cannot be sent to the workers of a cluster \(cannot pickle '_thread.lock' object\); give",
        ),
    ):
        with pytest.raises(UserError, match=sentence):
            list(RayEngine(workers=1).encode(Numbers(), model, options)(pieces(1), lambda *_: None))


@pytest.mark.usefixtures("ray")
def test_different_model_on_the_worker_is_refused() -> None:
    tiny_models = pytest.importorskip("tiny_models", reason="needs torch and transformers", exc_type=ImportError)
    other = str(tiny_models.folder("distilbert"))
    with pytest.raises(UserError, match="is not the same on all machines"):
        list(RayEngine(workers=1).encode(tiny_models.encoder("bert"), other, {})(pieces(1), lambda *_: None))


@pytest.mark.usefixtures("ray")
def test_error_of_an_encoder_is_raised() -> None:
    encoder = Raises(ZeroDivisionError("in the encoder itself"))
    with pytest.raises(ZeroDivisionError, match="in the encoder itself"):
        list(RayEngine(workers=1).encode(encoder, encoder, {})(pieces(1), lambda *_: None))


def test_engine_leaves_a_foreign_cluster_running(ray: Any) -> None:
    engine = as_engine("ray", "auto", 2)
    assert isinstance(engine, RayEngine)
    engine.close()
    assert ray.is_initialized()


def test_missing_ray_is_reported_with_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ray", "ray.data"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UserError, match=r"^the engine 'ray' needs Ray: pip install 'lexshift\[ray\]'$"):
        RayEngine()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nowhere"])
def test_unreachable_cluster_is_named(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", without_cluster)
    with pytest.raises(UserError, match=rf"^cannot connect to a Ray cluster at '{address}' \(.*\); give the address"):
        RayEngine(address)


def without_cluster(address: str, **_: Any) -> None:
    raise ValueError(f"Invalid address format: {address}. And more.")


def test_workers_must_be_a_number() -> None:
    with pytest.raises(UserError, match="workers"):
        RayEngine(workers=0)


# ------------------------------------------------------------------------------------------------------------ placement


def machine(cpus: float, gpus: float = 0, alive: bool = True) -> dict[str, Any]:
    return {"Alive": alive, "Resources": {"CPU": cpus} | ({"GPU": gpus} if gpus else {})}


@pytest.mark.parametrize(
    ("nodes", "workers", "device", "shares"),
    [
        ([machine(2)], None, None, (1, 2, {"num_cpus": 2})),
        ([machine(2)], 2, None, (2, 1, {"num_cpus": 1})),
        ([machine(8), machine(6), machine(64, alive=False)], None, None, (4, 3, {"num_cpus": 3})),
        ([machine(8), machine(8), machine(8)], 4, None, (4, 4, {"num_cpus": 4})),
        ([machine(8, 2), machine(8, 1)], None, "auto", (3, None, {"num_gpus": 1.0})),
        ([machine(8, 2)], 3, "cuda", (3, None, {"num_gpus": 0.5})),
        ([machine(8, 2)], 2, "cpu", (2, 4, {"num_cpus": 4})),
    ],
)
def test_every_encoder_is_placed_on_a_machine(
    nodes: list[dict[str, Any]], workers: int | None, device: str | None, shares: tuple[Any, ...]
) -> None:
    assert _divide_resources(nodes, workers, device) == shares

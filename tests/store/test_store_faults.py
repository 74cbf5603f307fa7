"""Test kills, full disks, two writers and unwritable folders: one sentence, and no lost work."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from stores import BOTH, WORDS, Toy, assert_holds, build_store, contents, corpora_in, expected

from lexshift import Siblings, UserError, embed

pytestmark = pytest.mark.slow

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")

# Common start of every script: corpora, a slow encoder, and many shards.
TOY = dedent(
    """
    import hashlib, json, os, sys, time
    from pathlib import Path
    import numpy as np
    import lexshift, lexshift.store.plan

    place = Path(sys.argv[1])
    lexshift.store.plan.SHARD_CHARACTERS = 60
    names = ["mouse", "plane", "cell phone"]
    for corpus in ("a", "b"):
        lines = [f"{corpus} {i} the {names[i % 3]} and a {names[i % 2]}" + " more" * (i % 7) for i in range(60)]
        (place / f"{corpus}.txt").write_text("\\n".join(lines))

    class Toy:
        settings = {"model": "toy"}
        sleep = 0.0
        hook = staticmethod(lambda: None)

        def encode(self, sentences, spans):
            self.hook()
            time.sleep(self.sleep)
            keys = [f"{s} {span}".encode() for s, span in zip(sentences, spans, strict=True)]
            return np.array([np.frombuffer(hashlib.blake2b(k, digest_size=32).digest(), np.int8) for k in keys], "f4")

    def run(out, words=names, monitor=None):
        corpora = place / "a.txt", place / "b.txt"
        return lexshift.embed(*corpora, words=words, model=Toy(), out=out, monitor=monitor)

    def contents(folder):
        files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    """
)


def script(folder: Path, text: str) -> list[str]:
    path = folder / "script.py"
    path.write_text(TOY + dedent(text))
    return [sys.executable, str(path), str(folder)]


def answer(folder: Path, text: str) -> Any:
    """Return the JSON that a script prints."""
    done = subprocess.run(script(folder, text), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# --------------------------------------------------------------------------------------------------------------- kills


@posix
def test_run_killed_at_random_moments_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """Each run is a separate process that is killed by signal 9 until one finishes."""
    report = answer(
        tmp_path,
        """
        import random, shutil, signal

        random.seed(3)
        whole = contents(run(place / "whole").path)
        run(place / "base", names[:1])
        begun = contents(place / "base")

        class Slow:
            def __init__(self, pipe):
                self.pipe = pipe
            def stage(self, name, total, unit):
                os.write(self.pipe, name[:1].encode())
                time.sleep(0.01)
            def advance(self, done, items=0):
                time.sleep(0.004)
            def note(self, text):
                pass

        def work(out, pipe):
            replace = os.replace
            def slow_replace(*args):
                time.sleep(0.004)
                replace(*args)
                time.sleep(0.004)
            os.replace = slow_replace
            Toy.sleep = 0.003
            run(out, monitor=Slow(pipe))

        def attempt(out, stage, seconds):
            '''Whether a process came to its end; it is killed so long after a stage began.'''
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    work(out, writer)
                    code = 0
                finally:
                    os._exit(code)
            os.close(writer)
            while os.read(reader, 1) not in (stage, b""):
                pass
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
            os.close(reader)
            _, status = os.waitpid(child, 0)
            if os.WIFSIGNALED(status):
                return False
            assert os.WEXITSTATUS(status) == 0
            return True

        start = time.monotonic()
        assert attempt(place / "timed", b"-", 0)
        length = time.monotonic() - start
        kills = {"r": 0, "e": 0, "w": 0}
        states, endings = set(), []
        number = 0
        while sum(kills.values()) < 24 or min(kills.values()) < 2:
            number += 1
            assert number < 40
            out = place / str(number)
            adding = number % 2 == 0
            if adding:
                shutil.copytree(place / "base", out)
            for turn in range(6):
                stage = random.choice("reeeww") if turn < 5 else "-"
                most = {"r": 0.05, "e": length / 2, "w": 0.15, "-": 0}[stage]
                finished = attempt(out, stage.encode(), random.uniform(0, most))
                found = contents(out) if out.exists() else {}
                if "store.json" in found:
                    store = lexshift.Siblings(out)
                    store.check()
                    assert store.words == (names[:1] if found["store.json"] == begun["store.json"] else names)
                else:
                    assert not adding
                if finished:
                    break
                kills[stage] += 1
                states.add(tuple(sorted({name.rsplit("/")[-1].split(".")[-1] for name in found})))
            else:
                raise AssertionError("it does not come to an end")
            run(out)  # finishes the interrupted write of a run that was killed at its end
            endings.append((contents(out) == whole, sorted(os.listdir(out))))
        print(json.dumps({"kills": kills, "states": sorted(states), "endings": endings}))
        """,
    )
    assert sum(report["kills"].values()) >= 20
    assert len(report["states"]) > 2  # with and without shards, with files that are not complete
    assert len(report["endings"]) > 2
    for same, names in report["endings"]:
        assert same
        assert names == [".lock", "occurrences.parquet", "store.json", "vectors.npy"]


@contextmanager
def running(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a process that is encoding and continues on request."""
    command = script(
        folder,
        """
        def wait():
            print("encoding", flush=True)
            sys.stdin.readline()
            Toy.hook = staticmethod(lambda: None)

        def hook():
            if (place / "store/unfinished/000003.shard").exists():
                wait()

        Toy.hook = staticmethod(hook)
        run(place / "store")
        print("done", flush=True)
        """,
    )
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "encoding\n"
            yield process
        finally:
            process.kill()


class SameToy(Toy):
    """Encoder with the settings of the one in the scripts."""

    settings = {"model": "toy"}  # noqa: RUF012


def test_second_writer_is_refused_immediately_and_the_first_is_unaffected(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        before, toy, start = contents(tmp_path / "store"), SameToy(), time.monotonic()
        with pytest.raises(UserError, match=r"another process is writing .*; wait for it to end"):
            embed(tmp_path / "a.txt", tmp_path / "b.txt", words=["mouse"], model=toy, out=tmp_path / "store")
        assert time.monotonic() - start < 5
        assert (toy.calls, contents(tmp_path / "store")) == ([], before)
        output, _ = process.communicate("go on\n", timeout=60)
        assert (output, process.returncode) == ("done\n", 0)
    Siblings(tmp_path / "store").check()
    same = answer(tmp_path, 'print(json.dumps(contents(run(place / "whole").path) == contents(place / "store")))')
    assert same is True


@posix
def test_lock_of_a_killed_writer_is_free_and_its_shards_are_used(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        assert process.wait(timeout=60) == -signal.SIGKILL
    with pytest.raises(UserError, match="It holds unfinished work"):
        Siblings(tmp_path / "store")
    answers = answer(
        tmp_path,
        """
        calls = []
        Toy.hook = staticmethod(lambda: calls.append(1))
        resumed = contents(run(place / "store").path)
        rest, calls[:] = len(calls), []
        whole = contents(run(place / "whole").path)
        print(json.dumps([resumed == whole, len(calls) - rest]))
        """,
    )
    assert answers == [True, 4]


# ----------------------------------------------------------------------------------------------------------- full disks


class Disk:
    """Disk with limited space; a file that does not fit is written partially."""

    def __init__(self, room: int) -> None:
        self.room = room

    def open(self, path: Any, mode: str, **options: Any) -> Any:
        if "x" not in mode:
            return open(path, mode, **options)
        disk = self

        class File(io.FileIO):
            def write(self, data: Any) -> int:
                taken = min(len(data), disk.room)
                if not taken:
                    raise OSError(errno.ENOSPC, "No space left on device")
                disk.room -= taken
                return super().write(data[:taken])

        return io.BufferedWriter(File(path, "x"))


@pytest.mark.parametrize("adding", [False, True], ids=["making", "adding"])
def test_full_disk_is_reported_in_one_sentence_and_the_run_resumes_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adding: bool
) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 30)
    monkeypatch.setattr("os.fsync", lambda _: None)
    whole = contents(build_store(tmp_path, "whole").path)
    base = build_store(tmp_path, "base", words=WORDS[:1]).path
    needed = sum(map(len, whole.values()))
    for i, room in enumerate([0, 100, *range(500, needed, 397)]):
        out = tmp_path / str(i)
        if adding:
            shutil.copytree(base, out)
        toy, disk = Toy(), Disk(room)
        with monkeypatch.context() as patch:
            patch.setattr("lexshift.utils.files.open", disk.open, raising=False)
            with pytest.raises(
                UserError, match=r"the disk is full while writing .*: make room and run the same"
            ) as caught:
                build_store(tmp_path, str(i), toy)
        assert "\n" not in str(caught.value)
        left = contents(out)
        assert not [name for name in left if name.endswith(".tmp")]
        shards = sum(name.endswith(".shard") for name in left)
        assert len(toy.calls) - 1 <= shards <= len(toy.calls)
        if adding:
            assert_holds(Siblings(out), expected(WORDS[:1], BOTH))
        later = Toy()
        assert_holds(build_store(tmp_path, str(i), later), expected(WORDS, BOTH))
        assert contents(out) == whole
        assert len(later.requests) == len(set(later.requests))
        assert len(set(later.requests) & {item for call in toy.calls[:shards] for item in call}) == 0
        shutil.rmtree(out)


@posix
def test_file_size_limit_is_reported_as_a_full_disk(tmp_path: Path) -> None:
    results = answer(
        tmp_path,
        """
        import resource

        whole = contents(run(place / "whole").path)
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        results = []
        for number, limit in enumerate([10, 200, 3000, len(whole["vectors.npy"]) - 1]):
            out = place / str(number)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            try:
                run(out)
                message = ""
            except lexshift.UserError as error:
                message = str(error)
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
            left = [name for name in contents(out) if name.endswith((".shard", ".tmp"))]
            results.append([message, len(left), contents(run(out).path) == whole])
        print(json.dumps(results))
        """,
    )
    assert len(results) == 4
    for message, _, same in results:
        assert message.startswith("the disk is full while writing ")
        assert same
    shards = [left for _, left, _ in results]
    assert shards[:2] == [0, 0]
    assert shards[2] == shards[3] > 10


# --------------------------------------------------------------------------------------------------------- open files


@posix
def test_run_with_more_shards_than_allowed_open_files_finishes(tmp_path: Path) -> None:
    answers = answer(
        tmp_path,
        """
        import resource

        lexshift.store.plan.SHARD_CHARACTERS = 1
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (32, hard))
        calls = []
        Toy.hook = staticmethod(lambda: calls.append(1))
        at_once = contents(run(place / "at once").path)
        shards = len(calls)

        def stop():
            calls.append(1)
            if len(calls) == 2 * shards - 5:
                raise KeyboardInterrupt

        Toy.hook = staticmethod(stop)
        try:
            run(place / "resumed")
        except KeyboardInterrupt:
            pass
        resumed = contents(run(place / "resumed").path)
        run(place / "added to", names[:1])
        added = contents(run(place / "added to").path)
        lexshift.store.plan.SHARD_CHARACTERS = 1 << 17
        one_shard = contents(run(place / "one shard").path)
        print(json.dumps([shards, at_once == one_shard, resumed == one_shard, added == one_shard]))
        """,
    )
    assert answers == [120, True, True, True]


# --------------------------------------------------------------------------------------------------- unwritable folders


def test_unwritable_folder_is_reported_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied")

    toy = Toy()
    with monkeypatch.context() as patch:
        patch.setattr("lexshift.utils.files.open", refuse, raising=False)
        with pytest.raises(UserError, match="store' cannot be written: Permission denied"):
            build_store(tmp_path, model=toy)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        with pytest.raises(UserError, match="other' cannot be written: Permission denied"):
            build_store(tmp_path, "other", toy)
    assert toy.calls == []


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder_is_reported_in_one_sentence(tmp_path: Path) -> None:
    corpora = corpora_in(tmp_path)
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    for out in (folder, folder / "store"):
        with pytest.raises(UserError, match="cannot be written: Permission denied"):
            embed(*corpora, words=WORDS, model=Toy(), out=out)


def test_store_is_not_written_over_something_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match="file' would be a folder, but there is a file of that name"):
        build_store(tmp_path, "file")
    with pytest.raises(UserError, match="cannot be written: Not a directory"):
        build_store(tmp_path, "file/store")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.doc").write_text("mine")
    with pytest.raises(UserError, match="folder' holds other files; choose an empty or a new one for the store"):
        build_store(tmp_path, "folder")
    assert contents(tmp_path / "folder") == {"thesis.doc": b"mine"}
    assert (tmp_path / "file").read_text() == "mine"


def test_empty_and_missing_folders_become_stores(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".DS_Store").write_bytes(b"hidden")
    build_store(tmp_path, "empty").check()
    build_store(tmp_path, "deep/down/store").check()
    assert (tmp_path / "empty" / ".DS_Store").read_bytes() == b"hidden"


def test_run_without_anything_to_encode_leaves_a_usable_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'unicorn' never occurs"):
        build_store(tmp_path, words=["unicorn"])
    assert contents(tmp_path / "store") == {}
    build_store(tmp_path).check()

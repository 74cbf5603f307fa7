"""Test ``load``: results are loaded as saved without model and corpora, and other folders are refused."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from context_encoder import ContextEncoder

from lexshift import UserError, compare, discover, embed, load, simulate, trace
from lexshift.report import render
from lexshift.store.format import digest

FAST: dict[str, Any] = {"permutations": 49, "resamples": 5, "repeats": 2, "monitor": False, "split": "lines"}
WORDS = ["mouse", "bread", "rare", "nowhere"]
ANY = r"\w"
"""Whatever the sentence is."""


def usage(word: str, moved: bool, rng: random.Random) -> str:
    a, b, c = rng.sample([f"{word}{'new' if moved else 'old'}{letter}" for letter in "abcdefgh"], 3)
    return f"the {a} and the {word} of the {b} was {c}"


def two_corpora(folder: Path) -> tuple[Path, Path]:
    old, new = corpora(folder)
    return old, new


def corpora(folder: Path, n: int = 2) -> list[Path]:
    """Write corpora in which mouse changes in the second of n periods, and rare has few usages."""
    made = []
    for number in range(n):
        rng = random.Random(number)
        lines = [
            usage(word, word == "mouse" and number > 0, rng) for word in ("mouse", "bread", "river") for _ in range(14)
        ]
        made.append(folder / f"{1950 + 10 * number}s.txt")
        made[-1].write_text("\n".join([*lines, "one rare thing"]) + "\n")
    return made


def dated(folder: Path, months: bool = False) -> Path:
    """Write one table of three years in which mouse changes once, and bread every December."""
    rng, rows = random.Random(0), []
    for year in (2001, 2002, 2003):
        for month in range(1, 13) if months else (7,):
            for word in ("mouse", "bread"):
                moved = year > 2001 if word == "mouse" else month == 12
                rows += [
                    {"text": usage(word, moved, rng), "date": f"{year}-{month:02}"} for _ in range(3 if months else 12)
                ]
    (folder / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "news.jsonl"


def run(case: str, folder: Path, out: Path | None, **options: Any) -> Any:
    """Run the function of a case on corpora in a folder."""
    given: dict[str, Any] = {"model": ContextEncoder(), "out": out, **FAST, **options}
    if case.startswith("discovery"):
        return discover(*corpora(folder), min_count=10, **given)
    if case.startswith("comparison"):
        return compare(*two_corpora(folder), **{"words": WORDS, **given})
    if case.endswith("periods"):
        return trace(*corpora(folder, int(case.split()[1])), **{"words": WORDS, **given})
    by, table = ("month", dated(folder, months=True)) if case == "trace by month" else ("year", dated(folder))
    least = 3 if by == "month" else 10
    return trace(table, words=["mouse", "bread"], by=by, date_column="date", min_usages=least, **given)


CASES: dict[str, dict[str, Any]] = {
    "comparison": {},
    "comparison without words": {"words": None, "min_count": 10},
    "comparison in the raw space": {"space": "raw", "metric": "cosine", "rate": "auto"},
    "comparison with labels": {"labels": ("then", "now"), "normalised": True},
    "comparison of nothing": {"words": ["rare", "mouse"], "min_usages": 100},
    "comparison with a tail": {"permutations": "auto", "max_per_word": 12},
    "discovery": {},
    "trace 2 periods": {},
    "trace 3 periods": {"rate": "auto"},
    "trace by year": {},
    "trace by month": {"permutations": 19, "resamples": 2},
}
KINDS = ["comparison", "discovery", "trace 3 periods"]


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Any, Path]]:
    """Return the results of each case and their folder without its corpora; do not write to it."""
    known: dict[str, tuple[Any, Path]] = {}

    def get(case: str) -> tuple[Any, Path]:
        if case not in known:
            folder = tmp_path_factory.mktemp("made")
            (folder / "corpora").mkdir()
            found = run(case, folder / "corpora", folder / "out", **CASES[case])
            shutil.rmtree(folder / "corpora")
            known[case] = found, folder / "out"
        return known[case]

    return get


@pytest.fixture
def copied(made: Callable[[str], tuple[Any, Path]], tmp_path: Path) -> Callable[[str], Path]:
    """Return a copy of the folder of a case, so that a test may damage it."""

    def copy(case: str) -> Path:
        shutil.copytree(made(case)[1], tmp_path / "copy")
        return tmp_path / "copy"

    return copy


def assert_equal(found: Any, saved: Any) -> None:
    """Check that two results are equal to the last digit."""
    assert type(found) is type(saved)
    pd.testing.assert_frame_equal(found.table, saved.table, check_exact=True)
    assert list(found.words) == list(saved.words)
    assert found.run == saved.run
    assert found.labels == saved.labels
    assert (found.headline(), found.caution(), repr(found)) == (saved.headline(), saved.caution(), repr(saved))
    assert json.dumps(found.details()) == json.dumps(saved.details())  # as text, so that NaN equals NaN
    assert (found.space is None) == (saved.space is None)
    for word in saved.words:
        if word not in saved.siblings:
            with pytest.raises(UserError, match="does not occur in the corpora"):
                found.word(word).usages(found.labels[0])
            continue
        for label, corpus in zip(saved.labels, saved.siblings.corpora, strict=True):
            ours, theirs = found.word(word).usages(label), saved.word(word).usages(label)
            pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
            assert found.vectors(word, corpus).tobytes() == saved.vectors(word, corpus).tobytes()
        assert repr(found.word(word)) == repr(saved.word(word))
    assert found._repr_html_() == saved._repr_html_()
    assert render(found) == render(saved)


def refused(folder: Path, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        load(folder)
    text = str(caught.value)
    assert "\n" not in text
    assert 20 < len(text) < 600


# ------------------------------------------------------------------------------------------------ loading saved results


@pytest.mark.parametrize("case", CASES)
def test_results_are_loaded_as_they_were_saved(made: Callable[[str], tuple[Any, Path]], case: str) -> None:
    saved, folder = made(case)
    found = load(str(folder))
    assert_equal(found, saved)
    assert render(found).encode("utf-8", "replace") == (folder / "report.html").read_bytes()
    assert {name: data for name, data in found.files().items() if not name.endswith((".parquet", ".npz"))} == {
        name: (folder / name).read_bytes() for name in saved.files() if not name.endswith((".parquet", ".npz"))
    }


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("trace")])
def test_trace_has_its_steps_and_its_history(made: Callable[[str], tuple[Any, Path]], case: str) -> None:
    saved, folder = made(case)
    found: Any = load(folder)
    pd.testing.assert_frame_equal(found.steps, saved.steps, check_exact=True)
    assert found.periods == saved.periods
    assert found.changes == saved.changes
    assert list(found.seasons) == list(saved.seasons)
    assert bool(found.seasons) == (case == "trace by month")
    for word in saved.words:
        for kind in ("neighbours", "first"):
            pd.testing.assert_frame_equal(found.word(word).steps(kind), saved.word(word).steps(kind))
    for word, season in saved.seasons.items():
        assert np.array_equal(found.seasons[word].profile, season.profile, equal_nan=True)


def test_discovery_has_its_vocabulary(made: Callable[[str], tuple[Any, Path]]) -> None:
    saved, folder = made("discovery")
    found: Any = load(folder)
    pd.testing.assert_frame_equal(found.vocabulary_table(), saved.vocabulary_table())
    assert found.vocabulary == saved.vocabulary
    assert (found.evidence, found.backdrop) == (saved.evidence, saved.backdrop)


def test_comparison_has_its_scores(made: Callable[[str], tuple[Any, Path]]) -> None:
    saved, folder = made("comparison in the raw space")
    found: Any = load(folder)
    for word, score in saved.scores.words.items():
        ours = found.word(word).score
        assert (ours.interval, ours.test, ours.tested_metric) == (score.interval, score.test, score.tested_metric)
        assert np.array_equal(ours.change.e_swap, score.change.e_swap)
    assert found.scores.sscd == saved.scores.sscd
    assert np.array_equal(found.scores.curve.rates, saved.scores.curve.rates)
    assert np.array_equal(found.scores.curve.e_swap, saved.scores.curve.e_swap)


@pytest.mark.parametrize("case", KINDS)
def test_loaded_results_can_be_saved_and_loaded_again(
    made: Callable[[str], tuple[Any, Path]], tmp_path: Path, case: str
) -> None:
    saved, folder = made(case)
    assert load(folder).save(tmp_path / "again") == tmp_path / "again"
    assert_equal(load(tmp_path / "again"), saved)
    before = {path.name: path.read_bytes() for path in tmp_path.joinpath("again").iterdir() if path.is_file()}
    load(tmp_path / "again").save(tmp_path / "again")  # in their original folder
    assert {path.name: path.read_bytes() for path in tmp_path.joinpath("again").iterdir() if path.is_file()} == before


@pytest.mark.parametrize("case", KINDS)
def test_results_without_a_folder_can_be_saved_and_loaded(tmp_path: Path, case: str) -> None:
    saved = run(case, tmp_path, None)
    saved.save(tmp_path / "kept")
    again = load(tmp_path / "kept")
    assert_equal(again, saved)
    del saved  # including its store
    assert len(again.word("mouse").usages(again.labels[0])) == 14
    assert not (tmp_path / "kept/store/.lock").exists()


@pytest.mark.parametrize("case", ["comparison", "trace 2 periods"])
def test_results_of_a_store_that_was_extended_later_are_loaded(tmp_path: Path, case: str) -> None:
    first = run(case, tmp_path, tmp_path / "out", words=["mouse"])
    first.save(tmp_path / "first")
    grown = run(case, tmp_path, tmp_path / "out", words=["bread", "mouse", "river"])
    assert_equal(load(tmp_path / "out"), grown)
    few = run(case, tmp_path, tmp_path / "out", words=["bread"])  # the store has more
    assert_equal(load(tmp_path / "out"), few)
    shutil.rmtree(tmp_path / "first/store")
    shutil.copytree(tmp_path / "out/store", tmp_path / "first/store")
    again = load(tmp_path / "first")
    pd.testing.assert_frame_equal(again.table, first.table, check_exact=True)
    assert list(again.words) == ["mouse"]


def test_extra_periods_in_the_store_are_ignored_by_a_trace(tmp_path: Path) -> None:
    places = corpora(tmp_path, 3)
    options: dict[str, Any] = {"words": WORDS[:3], "model": ContextEncoder(), "out": tmp_path / "out", **FAST}
    trace(*places, **options)
    fewer = trace(places[2], places[0], **options)
    found: Any = load(tmp_path / "out")
    assert found.periods == ["1970s", "1950s"]
    assert_equal(found, fewer)


def test_moved_folder_is_loaded(copied: Callable[[str], Path], tmp_path: Path) -> None:
    copied("comparison").rename(tmp_path / "moved")
    assert list(load(tmp_path / "moved").words) == WORDS


# ------------------------------------------------------------------------------------------------------ damaged results


def rewrite(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the record of a folder and update its checksum."""
    record = json.loads((folder / "run.json").read_bytes())
    del record["sha256"]
    change(record)
    record["sha256"] = digest(record)
    (folder / "run.json").write_text(json.dumps(record))


def forge(folder: Path, name: str, data: bytes) -> None:
    """Change a file of a folder and its checksum."""
    (folder / name).write_bytes(data)
    rewrite(folder, lambda record: record["files"].update({name: hashlib.sha256(data).hexdigest()}))


@pytest.mark.parametrize("case", KINDS)
def test_damaged_file_is_named(made: Callable[[str], tuple[Any, Path]], tmp_path: Path, case: str) -> None:
    saved, folder = made(case)
    for name in saved.files():
        for damage in ("changed", "missing", "empty", "a folder", "a link"):
            copy = tmp_path / f"{name} {damage}"
            shutil.copytree(folder, copy)
            (copy / name).unlink()
            if damage == "a folder":
                (copy / name).mkdir()
            elif damage == "a link":
                (copy / name).symlink_to(copy / "nowhere")
            elif damage != "missing":
                (copy / name).write_bytes(b"" if damage == "empty" else (folder / name).read_bytes() + b" ")
            refused(copy, rf"{name}' in .* is not as it was written; run the command again")


def test_folder_without_results_is_refused(tmp_path: Path) -> None:
    old, new = corpora(tmp_path)
    (tmp_path / "empty").mkdir()
    embed(old, new, words=["mouse"], model=ContextEncoder(), out=tmp_path / "store")
    simulate(old, new, out=tmp_path / "simulated", pseudowords=1, usages=2, monitor=False)
    for place in ("empty", "nowhere", "store", "simulated", old.name, f"{old.name}/inside"):
        refused(tmp_path / place, "holds no results of lexshift|was not written by lexshift")


HOSTILE = {
    "deep": b"[" * 100_000,
    "deep and closed": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "a list": b"[]",
    "empty": b"",
    "not JSON": b"{",
    "not UTF-8": b"\xff\xfe{}",
    "a number with very many digits": b"1" * 10_000,
    "forged": json.dumps({"kind": "comparison", "files": {}, "sha256": "0" * 64}).encode(),
    "of another program": b'{"name": "build", "files": {}}',
}


@pytest.mark.parametrize("record", HOSTILE)
def test_invalid_record_is_refused(copied: Callable[[str], Path], record: str) -> None:
    folder = copied("comparison")
    (folder / "run.json").write_bytes(HOSTILE[record])
    refused(folder, r"run.json' was not written by lexshift, or was changed since")


def test_edited_record_is_refused(copied: Callable[[str], Path]) -> None:
    folder = copied("comparison")
    text = (folder / "run.json").read_text("utf-8")
    (folder / "run.json").write_text(text.replace('"alpha": 0.05', '"alpha": 0.5'), "utf-8")
    refused(folder, r"run.json' was not written by lexshift, or was changed since")


@pytest.mark.parametrize("kind", ["discovery", "trace", "simulation", "", None, 3, [], {}])
def test_record_of_the_wrong_kind_is_refused(copied: Callable[[str], Path], kind: Any) -> None:
    folder = copied("comparison")
    rewrite(folder, lambda record: record.update(kind=kind))
    refused(folder, ANY)


@pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "store/store.json", "..", ".", "", "a\0b", "x" * 5_000])
def test_file_names_cannot_leave_the_folder(copied: Callable[[str], Path], name: str) -> None:
    folder = copied("comparison")
    (folder.parent / "secret").write_text("secret")
    checksum = hashlib.sha256(b"secret").hexdigest()
    rewrite(folder, lambda record: record["files"].update({name: checksum}))
    refused(folder, ANY)


def lacking(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda record: record.pop(name)


RECORDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    **{f"no {name}": lacking(name) for name in ("corpora", "words", "settings", "files", "kind")},
    "no details": lambda record: record["files"].pop("details.json"),
    "files of numbers": lambda record: record.update(files={"scores.csv": 3}),
    "corpora of numbers": lambda record: record.update(corpora=[1, 2]),
    "one corpus": lambda record: record["corpora"].pop(),
    "no corpus": lambda record: record.update(corpora=[]),
    "the same corpus twice": lambda record: record.update(corpora=record["corpora"][:1] * 2),
    "a corpus without a key": lambda record: record["corpora"][0].pop("key"),
    "a key that is a list": lambda record: record["corpora"][0].update(key=[]),
    "words that are a number": lambda record: record.update(words=7),
}


@pytest.mark.parametrize("change", RECORDS)
def test_forged_record_is_refused_in_one_sentence(copied: Callable[[str], Path], change: str) -> None:
    folder = copied("comparison")
    rewrite(folder, RECORDS[change])
    refused(folder, ANY)


DETAILS = {
    "not JSON": b"{",
    "deep": b"[" * 100_000,
    "a list": b"[]",
    "nothing": b"{}",
    "a number": b"3",
    "not UTF-8": b"\xff",
    "scores of numbers": b'{"scores": {"mouse": 3}, "curve": null, "sscd": {}}',
    "a list of scores": b'{"scores": [1], "curve": null, "sscd": 3, "changes": {}, "seasons": {}}',
}


@pytest.mark.parametrize("case", KINDS)
@pytest.mark.parametrize("data", DETAILS)
def test_forged_details_are_refused_in_one_sentence(copied: Callable[[str], Path], case: str, data: str) -> None:
    folder = copied(case)
    forge(folder, "details.json", DETAILS[data])
    refused(folder, ANY)


@pytest.mark.parametrize("data", [b"", b"PK", b"\x93NUMPY", b"not a space"])
def test_forged_space_is_refused_in_one_sentence(copied: Callable[[str], Path], data: bytes) -> None:
    folder = copied("comparison")
    forge(folder, "space.npz", data)
    refused(folder, ANY)


def test_space_is_not_unpickled(copied: Callable[[str], Path], tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "hurt",))

    folder = copied("comparison")
    np.savez(tmp_path / "trap.npz", kind=np.array(Trap(), object), mean=np.zeros(6), scale=np.ones(6))
    forge(folder, "space.npz", (tmp_path / "trap.npz").read_bytes())
    refused(folder, ANY)
    assert not (tmp_path / "hurt").exists()


# ------------------------------------------------------------------------------------------------- store of the results


@pytest.mark.parametrize("case", KINDS)
def test_missing_store_is_reported(copied: Callable[[str], Path], case: str) -> None:
    folder = copied(case)
    shutil.rmtree(folder / "store")
    refused(folder, "store'")


@pytest.mark.parametrize("name", ["store.json", "vectors.npy", "occurrences.parquet"])
def test_damaged_store_is_reported(copied: Callable[[str], Path], name: str) -> None:
    folder = copied("comparison")
    (folder / "store" / name).write_bytes(b"{}")
    refused(folder, "store")


@pytest.mark.parametrize("case", ["comparison", "trace 2 periods"])
def test_store_of_other_corpora_is_refused(copied: Callable[[str], Path], tmp_path: Path, case: str) -> None:
    folder = copied(case)
    (tmp_path / "other").mkdir()
    places = corpora(tmp_path / "other")
    places[0].write_text(places[0].read_text() + "one more mouse\n")
    options = {"words": WORDS, "model": ContextEncoder(), **FAST}
    compare(*places, out=tmp_path / "new", **options) if case == "comparison" else trace(
        *places, out=tmp_path / "new", **options
    )
    shutil.rmtree(folder / "store")
    shutil.copytree(tmp_path / "new/store", folder / "store")
    refused(folder, "store' is not the one that the results were computed from")


def test_store_without_a_word_of_the_results_is_refused(copied: Callable[[str], Path], tmp_path: Path) -> None:
    """The corpora are the same, so that only the words differ."""
    folder = copied("comparison")
    (tmp_path / "other").mkdir()
    compare(*two_corpora(tmp_path / "other"), words=["bread"], model=ContextEncoder(), out=tmp_path / "new", **FAST)
    shutil.rmtree(folder / "store")
    shutil.copytree(tmp_path / "new/store", folder / "store")
    refused(folder, "store' is not the one that the results were computed from")


def test_store_of_another_encoder_is_refused(copied: Callable[[str], Path], tmp_path: Path) -> None:
    class Other(ContextEncoder):
        settings = {"model": "other"}  # noqa: RUF012

    folder = copied("comparison")
    (tmp_path / "other").mkdir()
    compare(*two_corpora(tmp_path / "other"), words=WORDS, model=Other(), out=tmp_path / "new", **FAST)
    shutil.rmtree(folder / "store")
    shutil.copytree(tmp_path / "new/store", folder / "store")
    refused(folder, "store' is not the one that the results were computed from")


def test_saving_leaves_a_folder_that_appeared_meanwhile_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = compare(*two_corpora(tmp_path), ["bread"], model=ContextEncoder(), **FAST)
    note = tmp_path / "there" / "store" / "note.txt"
    make = Path.mkdir

    def make_after_somebody_else(path: Path, *args: Any, **kwargs: Any) -> None:
        if path.name == "store" and not note.exists():
            make(path)
            note.write_text("mine")
        make(path, *args, **kwargs)

    monkeypatch.setattr(Path, "mkdir", make_after_somebody_else)
    with pytest.raises(UserError):
        result.save(tmp_path / "there")
    assert note.read_text() == "mine"

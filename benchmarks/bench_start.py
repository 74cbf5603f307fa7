"""Measure commands that compute nothing: help, mistakes, and finished runs that are repeated.

Each command runs in a new process; the table has its CPU time (user and system), its duration and its exit status, the
lowest of three runs. A finished run is compared with the full run that it replaces.
Usage: python benchmarks/bench_start.py
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lexshift import demo_corpora
from lexshift.study.finished_run import FINISHED, MARGIN

ROUNDS = 3
WORDS = "mouse,bread,tablet,river"
CORPORA = "1950s.txt 2010s.txt"
HELP = ("--version", "--help", "compare --help", "discover --help", "trace --help", "senses --help", "eval --help")
MISTAKES = (
    f"compare {CORPORA} --metrik kl",
    f"compare {CORPORA} --metric kll",
    "compare nowhere.txt 2010s.txt",
    "compare empty.txt 2010s.txt",
    f"compare {CORPORA} --words moose",
    f"compare {CORPORA} --words mouse --model ./nowhere",
    f"compare {CORPORA} --min-count 5000",
    "trace dated.csv --by year --date-column date --words mouse",
    "trace 1950s.txt --by year --words mouse",
)
RUNS = (
    f"compare {CORPORA} --words {WORDS} --out compared",
    f"compare {CORPORA} --words {WORDS} --out compared --format json",
    f"discover {CORPORA} --out discovered",
    f"trace {CORPORA} --words {WORDS} --out traced",
    f"senses {CORPORA} --words {WORDS} --out senses",
)


def measure(command: str, rounds: int = ROUNDS) -> tuple[float, float, int]:
    """Return the lowest CPU time and duration of a command in seconds, and its exit status."""
    times, status = [], 0
    for _ in range(rounds):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        arguments = [sys.executable, "-m", "lexshift", *command.split()]
        status = subprocess.run(arguments, capture_output=True).returncode
        after, duration = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - begun
        times.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, duration))
    return min(cpu for cpu, _ in times), min(duration for _, duration in times), status


def print_row(what: str, command: str, rounds: int = ROUNDS) -> None:
    """Measure a command and print a row of the table."""
    cpu, duration, status = measure(command, rounds)
    print(f"| {what} | `{command}` | {cpu:.2f} | {duration:.2f} | {status} |", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for path in demo_corpora():
            Path(path.name).write_bytes(path.read_bytes())
        Path("empty.txt").touch()
        Path("dated.csv").write_text("text,day\na mouse ran,1999\na mouse hid,2005\n")
        time.sleep(2 * MARGIN / 1e9)  # requests with files that were just changed are unknown
        print("| | command | CPU, s | duration, s | exit status |\n| --- | --- | ---: | ---: | ---: |")
        for command in HELP:
            print_row("help", command)
        for command in MISTAKES:
            print_row("mistake", command)
        for command in RUNS:
            out = Path(command.split("--out ")[1].split()[0])
            if not out.exists():
                print_row("first run", command, rounds=1)
            (out / FINISHED).unlink()
            print_row("full second run", command, rounds=1)
            print_row("finished run", command)
        os.chdir("/")


if __name__ == "__main__":
    main()

"""Measure startup: CPU time of `import lexshift`, and first-call compilation with an empty and with a filled cache.

Also measures the memory of a sweep beyond its input.
Usage: python benchmarks/bench_startup.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

IMPORT = "import time; t = time.process_time(); import lexshift; print(time.process_time() - t)"
FIRST = """
import time
import numpy as np
from lexshift import SSCD, sweep
from lexshift.scoring.distance import CLOSED_FORM, DISTANCES
rng = np.random.default_rng(0)
old, new = (rng.normal(size=(100, 32)).astype(np.float32) for _ in range(2))
t = time.perf_counter()
{call}
print(time.perf_counter() - t)
"""
MEMORY = """
import numpy as np
from lexshift import sweep
from lexshift.scoring.distance import CLOSED_FORM
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
rng = np.random.default_rng(0)
old, new = (rng.standard_normal((20_000, 768), dtype=np.float32) for _ in range(2))
sweep(old[:50], new[:50], CLOSED_FORM)
open("/proc/self/clear_refs", "w").write("5")
before = peak()
sweep(old, new, CLOSED_FORM)
print((peak() - before) / 1024)
"""


def run(code: str, cache: str | None = None) -> float:
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment).stdout)


def main() -> None:
    print(f"import lexshift, CPU time: {statistics.median(run(IMPORT) for _ in range(5)):.3f} s (at most 0.3)")
    for name, call in (
        ("SSCD().score", "SSCD().score(old, new)"),
        ("sweep of the 10 closed-form metrics", "sweep(old, new, CLOSED_FORM)"),
        ("sweep of the paper's 17", "sweep(old, new, [*CLOSED_FORM, *('dscd-' + d for d in DISTANCES)])"),
    ):
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = run(FIRST.format(call=call), cache), run(FIRST.format(call=call), cache)
        print(f"first call of {name}: {cold:.1f} s, once for each machine; then {warm:.2f} s in a new process")
    print(f"memory beyond the input, 10 metrics, N = 20,000, d = 768: {run(MEMORY):.1f} MB (at most 32)")


if __name__ == "__main__":
    main()

"""Lint the scripts of the pages with oxlint.

The files of a page share one scope, so they are linted as the page has them: one after the other in one block. Messages
name the file and line from which the text comes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

from lexshift.report import comparison, reproduction, trace

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "src/lexshift/report/assets"
PAGES = {"comparison": comparison.SCRIPTS, "trace": trace.SCRIPTS, "reproduction": reproduction.SCRIPTS}


def lint_page(oxlint: str, page: str) -> set[tuple[str, int, str]]:
    """Return (file, line, message) for each problem of a page's script."""
    lines = {name: (ASSETS / name).read_text("utf-8").splitlines(keepends=True) for name in PAGES[page]}
    origins = [(name, i) for name, text in lines.items() for i, _ in enumerate(text, 1)]
    with TemporaryDirectory() as folder:
        script = '"use strict"; {\n' + "".join("".join(text) for text in lines.values()) + "}\n"
        (Path(folder) / f"{page}.js").write_text(script, "utf-8")
        command = [oxlint, "--config", str(ROOT / ".oxlintrc.json"), "--format", "unix", folder]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    messages = re.findall(r"^.*\.js:(\d+):\d+: (.*)$", run.stdout, re.M)
    assert run.returncode == 0 or messages, run.stdout + run.stderr
    return {(*origins[min(max(int(line) - 2, 0), len(origins) - 1)], message) for line, message in messages}


def main() -> int:
    """Print all problems and return 1 if there are any."""
    oxlint = shutil.which("oxlint", path=sysconfig.get_path("scripts"))
    assert oxlint is not None, "oxlint is not installed: run 'make lint', which installs it"
    found = {page: lint_page(oxlint, page) for page in PAGES}
    problems = set()
    for name, line, message in set().union(*found.values()):
        pages = [page for page, names in PAGES.items() if name in names]
        # A function of a shared file need not be used on every page.
        if "no-unused-vars" not in message or all((name, line, message) in found[page] for page in pages):
            problems.add(f"{(ASSETS / name).relative_to(ROOT)}:{line}: {message}")
    unused = {path.name for path in ASSETS.glob("*.js")} - {name for names in PAGES.values() for name in names}
    problems |= {f"{(ASSETS / name).relative_to(ROOT)}: no page has this script" for name in unused}
    print("\n".join(sorted(problems)) or "All scripts passed!")  # noqa: T201
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

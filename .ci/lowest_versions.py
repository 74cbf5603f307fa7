"""Run the quick tests with the lowest version of each dependency that pyproject.toml allows.

``numpy>=2.0`` is installed as ``numpy==2.0`` and so on, for the base dependencies and the extras that the quick tests
use. The environment is made from scratch, from wheels only. Test tools have the versions of constraints.txt, and what
the dependencies need in turn has the version that pip chooses. Floors that contradict each other are reported by pip.

    python3.11 .ci/lowest_versions.py

Use the lowest Python that the project supports: old versions have no wheels for a newer one. With PyPI as the only
index, torch comes with three gigabytes of CUDA libraries.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
EXTRAS = "lemma,minilm,multilingual,segment,senses"
TOOLS = ("hypothesis", "nbclient", "nbformat", "pytest", "zstandard")
QUICK = "not (browser or model or ray or slow or tune)"


def lowest_versions(project: dict[str, dict[str, list[str]]], extras: list[str]) -> list[str]:
    """Return the dependencies of a project and of some of its extras, each as ``name==lowest allowed version``.

    Parameters
    ----------
    project : dict
        The table ``project`` of pyproject.toml.
    extras : list of str
        Names of extras. An extra of the project that another one requires is followed.

    Raises
    ------
    ValueError
        If a requirement has no lowest version.
    """
    pins = {}
    waiting = [*project["dependencies"], *(f"{project['name']}[{extra}]" for extra in extras)]
    while waiting:
        requirement = waiting.pop()
        found = re.fullmatch(r"([\w.-]+)(?:\[([\w,-]+)\])?(?:[>=]=([\w.]+))?", requirement)
        if found is None:
            raise ValueError(f"pyproject.toml: no lowest version in {requirement!r}; write it as name>=version")
        name, of_extras, version = found.groups()
        if name == project["name"]:
            waiting += [one for extra in of_extras.split(",") for one in project["optional-dependencies"][extra]]
        elif version is None:
            raise ValueError(f"pyproject.toml: no lowest version in {requirement!r}; write it as name>=version")
        else:
            pins[name] = f"{name}=={version}"
    return [pins[name] for name in sorted(pins)]


def pinned_tools() -> list[str]:
    """Return the test tools with the versions of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line.partition("==")[0] in TOOLS]


def main() -> int:
    """Make the environment, install the lowest versions, run the tests, and return the exit status of pytest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", default=EXTRAS, help=f"Comma-separated extras to test (default: {EXTRAS}).")
    parser.add_argument("--folder", type=Path, help="Folder that keeps the environment (default: a temporary one).")
    parser.epilog = "All other arguments are passed to pytest, which runs the folder tests without them."
    arguments, options = parser.parse_known_args()
    options = [option for option in options if option != "--"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [extra for extra in arguments.extras.split(",") if extra]
    pins = lowest_versions(project, extras)
    print("Python", sys.version.split()[0], *pins, sep="\n  ", flush=True)  # noqa: T201
    with TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        python = folder / "bin/python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        package = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
        install = [str(python), "-m", "pip", "install", "-qq", "--only-binary", ":all:"]
        if subprocess.run([*install, *pins, *pinned_tools(), package], check=False).returncode:
            return 2
        # Doctests of src are left out: the installed package has the same modules, and pytest refuses two of a name.
        # Old versions may use what a newer one of their own dependencies deprecates: this is no error of a floor.
        warnings = ["-W", "default::DeprecationWarning", "-W", "default::FutureWarning"]
        command = [str(python), "-m", "pytest", "-q", "-m", QUICK, "-o", "testpaths=tests", *warnings, *options]
        print(shlex.join(command), flush=True)  # noqa: T201
        return subprocess.run(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

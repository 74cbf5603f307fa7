"""Test kernels: compiled by their first call, and correct with or without a cache on disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent
from typing import Any

import numba
import numpy as np
import pytest

from lexshift.utils import kernels
from lexshift.utils.kernels import Kernel, kernel

NOBODY = 65534  # number of a user that owns no files


@kernel
def square(x: float) -> float:
    """Return the square of a number."""
    return x * x


def defined(source: str, **scope: Any) -> Any:
    """Return the function ``f`` that some source defines."""
    exec(compile(source, "<no file>", "exec"), scope)
    return scope["f"]


def python(source: str, *args: str, **env: str) -> str:
    """Return the output of a new interpreter."""
    run = subprocess.run([sys.executable, "-c", dedent(source), *args], env=env or None, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_kernel_is_compiled_by_its_first_call_only(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    njit = numba.njit

    def counting(*args: Any, **options: Any) -> Any:
        if args:  # numba decorates its own functions
            return njit(*args, **options)

        def decorate(function: Any) -> Any:
            compiled.append(function.__name__)
            return njit(**options)(function)

        return decorate

    monkeypatch.setattr(numba, "njit", counting)
    fresh = Kernel(square.__wrapped__)  # type: ignore[attr-defined]
    assert compiled == []
    assert fresh(3.0) == 9.0
    assert compiled == ["square"]
    assert fresh(4.0) == 16.0
    assert compiled == ["square"]


def test_kernel_may_call_other_kernels_recursively() -> None:
    fresh = kernel(defined("def f(x):\n    return x * x\n"))
    total = kernel(defined("def f(x):\n    return fresh(x).sum()\n", fresh=fresh))
    twice = kernel(defined("def f(x):\n    return 2.0 * total(x)\n", total=total))
    assert twice(np.arange(10.0)) == 570.0
    assert total(np.arange(10.0)) == 285.0


def test_kernel_keeps_the_name_docstring_and_module_of_its_function() -> None:
    attributes = [getattr(square, name) for name in ("__name__", "__qualname__", "__doc__", "__module__")]
    assert attributes == ["square", "square", "Return the square of a number.", __name__]
    assert square.compiled_function.__name__ == "square"
    assert square.compiled_function.__doc__ == "Return the square of a number."


def test_kernel_accepts_arguments_by_name() -> None:
    assert square(x=5.0) == 25.0


def test_kernel_keeps_the_default_arguments_of_its_function() -> None:
    power = kernel(defined("def f(x, exponent=2):\n    return x ** exponent\n"))
    assert power(3.0, 3) == 27.0
    assert power(3.0) == 9.0


def test_nan_and_infinity_keep_their_meaning_in_a_kernel() -> None:
    total = kernel(defined("def f(x):\n    t = 0.0\n    for v in x:\n        t += v * v\n    return t\n"))
    assert np.isnan(total(np.array([1.0, np.nan, 2.0])))
    assert total(np.array([1.0, -np.inf])) == np.inf
    ratio = kernel(defined("def f(x, y):\n    return x / y\n"))
    assert ratio(1.0, 0.0) == np.inf  # and not a ZeroDivisionError
    assert np.isnan(ratio(0.0, 0.0))


@pytest.mark.slow
def test_package_works_where_no_cache_folder_can_be_written(tmp_path: Path) -> None:
    source = """
        import numpy as np
        from lexshift import Gaussian
        from lexshift.scoring.gaussian import column_moments

        hits = column_moments.compiled_function.stats.cache_hits
        print(Gaussian.fit(np.eye(3)).variance.round(12).tolist(), sum(hits.values()))
    """
    nowhere = tmp_path / "a file, not a folder"
    nowhere.touch()
    answer = python(source, NUMBA_CACHE_DIR=str(nowhere / "cache"), HOME=str(nowhere))
    assert answer == f"{[round(1 / 3, 12)] * 3} 0"


CACHED = """
    import sys
    sys.path.insert(0, sys.argv[1])
    from module import add

    print(add(1, 2), add(1.5, 2.0), sum(add.compiled_function.stats.cache_hits.values()))
"""


def installed(folder: Path) -> str:
    """Write a module with a kernel that calls another one, and return its folder."""
    folder.mkdir()
    source = """
        from lexshift.utils.kernels import kernel

        @kernel
        def total(x, y):
            return x + y

        @kernel
        def add(x, y):
            return total(x, y)
    """
    (folder / "module.py").write_text(dedent(source))
    return str(folder)


@pytest.mark.slow
def test_compiled_code_is_shared_by_all_installations_of_a_user(tmp_path: Path) -> None:
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert python(CACHED, installed(tmp_path / "a"), **cache) == "3 3.5 0"
    assert python(CACHED, installed(tmp_path / "b"), **cache) == "3 3.5 2"


def test_kernel_outside_of_a_module_is_not_cached(tmp_path: Path) -> None:
    source = """
        from lexshift.utils.kernels import kernel

        scope = {"__name__": None}
        exec("def f(x):\\n    return x + 1", scope)
        print(kernel(scope["f"])(1))
    """
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert python(source, **cache) == python(source, **cache) == "2"
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
def test_cache_is_in_the_cache_folder_of_the_user(tmp_path: Path) -> None:
    python(CACHED, installed(tmp_path / "a"), HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert len(list((tmp_path / "cache" / "lexshift" / "kernels").iterdir())) == 4  # two kernels, two signatures


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="users of POSIX")
def test_read_only_installation_compiles_once_for_each_user() -> None:
    command = [sys.executable, "-c", dedent(CACHED)]
    if os.geteuid() == 0:  # root may write everywhere
        if shutil.which("setpriv") is None:
            pytest.skip("root cannot become another user without setpriv")
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
        if subprocess.run([*command[:4], sys.executable, "-c", "import numba"], capture_output=True).returncode:
            pytest.skip("another user cannot run this Python")
    with tempfile.TemporaryDirectory() as place:  # other users cannot open the folders of pytest
        os.chmod(place, 0o755)
        program, home = Path(place, "program"), Path(place, "home")
        installed(program)
        shutil.copytree(
            Path(kernels.__file__).parent.parent, program / "lexshift", ignore=shutil.ignore_patterns("__pycache__")
        )
        home.mkdir()
        if os.geteuid() == 0:
            os.chown(home, NOBODY, NOBODY)
        for path in (program, *program.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        files = sorted(program.rglob("*"))
        env = {"HOME": str(home), "PYTHONPATH": str(program), "PATH": os.environ["PATH"]}
        runs = [subprocess.run([*command, str(program)], env=env, capture_output=True, text=True) for _ in range(2)]
        assert [run.stdout.strip() for run in runs] == ["3 3.5 0", "3 3.5 2"], runs[0].stderr
        assert sorted(program.rglob("*")) == files
        assert len(list(home.rglob("*.kernel"))) == 4
        for path in (program, *program.rglob("*")):
            path.chmod(0o755)


@pytest.mark.slow
def test_damaged_compiled_code_is_compiled_again(tmp_path: Path) -> None:
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    folder = installed(tmp_path / "a")
    python(CACHED, folder, **cache)
    for number, path in enumerate(sorted((tmp_path / "cache").iterdir())):
        whole = path.read_bytes()
        path.write_bytes([b"", whole[:-1], whole[:40] + b"?" + whole[41:], b"x"][number % 4])
    assert python(CACHED, folder, **cache) == "3 3.5 0"
    assert python(CACHED, folder, **cache) == "3 3.5 2"


@pytest.mark.parametrize("change", [("np.minimum", "np.maximum"), ("1.5", "2.5"), ("x=1", "x=3")])
def test_fingerprint_depends_on_names_constants_and_defaults(change: tuple[str, str]) -> None:
    source = "def f(x=1):\n    return np.minimum(x, 1.5)\n"
    first, again, other = (
        kernel(defined(text, np=np)).fingerprint for text in (source, "\n\n" + source, source.replace(*change))
    )
    assert first == again
    assert first != other


MODULES = {
    "constants.py": "from lexshift.utils.kernels import kernel\n\n"
    "FACTOR = {0}\n\n\n@kernel\ndef plus(x):\n    return x + {0}\n",
    "kernels.py": "from constants import FACTOR, plus\nfrom lexshift.utils.kernels import kernel\n\n\n"
    "@kernel\ndef times(x):\n    return FACTOR * x\n\n\n@kernel\ndef plus_one(x):\n    return plus(x)\n",
}


@pytest.mark.slow
def test_change_in_another_module_is_detected_in_the_next_process(tmp_path: Path) -> None:
    def answer(factor: float) -> str:
        for name, text in MODULES.items():
            (tmp_path / name).write_text(text.format(factor))
        run = "import sys; sys.path.insert(0, sys.argv[1]); import kernels as k; print(k.times(10.0), k.plus_one(10.0))"
        return python(run, str(tmp_path))

    assert answer(2.0) == "20.0 12.0"
    assert answer(13.25) == "132.5 23.25"


def test_importing_the_package_loads_neither_torch_nor_numba_nor_scipy() -> None:
    heavy = "sorted({'torch', 'numba', 'scipy', 'llvmlite'} & set(sys.modules))"
    assert python(f"import sys, lexshift; print({heavy})") == "[]"
    assert python(f"import sys, lexshift; dir(lexshift); lexshift.__version__; print({heavy})") == "[]"


def test_numba_is_loaded_by_the_first_kernel_call_and_not_by_its_module() -> None:
    source = """
        import sys, numpy
        from lexshift import SSCD, Gaussian
        SSCD(metric="cosine")
        before = "numba" in sys.modules
        Gaussian.fit(numpy.eye(2))
        print(before, "numba" in sys.modules)
    """
    assert python(source) == "False True"


def test_concurrent_first_calls_of_a_kernel_give_the_right_answer() -> None:
    threads = 8
    inner = kernel(defined("def f(x):\n    return x * x\n"))
    fresh = kernel(defined("def f(x):\n    return inner(x).sum() + 1.0\n", inner=inner))
    start = threading.Barrier(threads)

    def call(i: int) -> tuple[float, Any]:
        start.wait()
        return fresh(np.full(4, float(i))), fresh.compiled_function

    with ThreadPoolExecutor(threads) as pool:
        answers = list(pool.map(call, range(threads)))
    assert [answer for answer, _ in answers] == [4.0 * i * i + 1.0 for i in range(threads)]
    assert len({id(compiled) for _, compiled in answers}) == 1

"""Test the public names: documented with examples, typed, and quick to import."""

from __future__ import annotations

import importlib.metadata
import inspect
import pydoc
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import pytest

import lexshift

NAMES = sorted(lexshift.__all__)


def test_dir_lists_the_public_names_and_the_version() -> None:
    assert dir(lexshift) == sorted([*NAMES, "__version__"])
    assert len(NAMES) == len(set(NAMES)) > 0


def test_names_in_the_readme_and_docs_are_public() -> None:
    everyday = {"SSCD", "sweep", "search_rate", "permutation_test", "benjamini_hochberg", "bootstrap", "decide"}
    assert everyday | {"Gaussian", "Metric", "metrics", "register"} <= set(NAMES)


def test_star_import_imports_exactly_the_public_names() -> None:
    scope: dict[str, object] = {}
    exec("from lexshift import *", scope)
    assert sorted(scope.keys() - {"__builtins__"}) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_public_name_is_the_object_of_its_module(name: str) -> None:
    value = getattr(lexshift, name)
    assert value.__module__.startswith("lexshift.")
    assert getattr(sys.modules[value.__module__], name) is value
    assert getattr(lexshift, name) is value


def own_parameters(value: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function or class, excluding protocols and errors."""
    if (inspect.isclass(value) and "__init__" not in vars(value)) or getattr(value, "_is_protocol", False):
        return {}
    return inspect.signature(value).parameters


@pytest.mark.parametrize("name", NAMES)
def test_help_describes_every_parameter_and_gives_an_example(name: str) -> None:
    value = getattr(lexshift, name)
    text = pydoc.plain(pydoc.render_doc(value))
    doc = inspect.getdoc(value) or ""
    assert "Examples\n--------\n" in doc
    assert ">>> " in doc.split("Examples\n--------\n")[1]
    parameters = own_parameters(value)
    if parameters:
        described = doc.split("Parameters\n----------\n")[1].split("\n\n")[0]
        for parameter in parameters:
            assert parameter in text
            # at the start of a line, alone or in a list: "old, new : array-like"
            names = [name.lstrip("*") for line in described.splitlines() for name in line.split(" : ")[0].split(", ")]
            assert parameter in names


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_and_result_of_a_public_name_is_typed(name: str) -> None:
    value = getattr(lexshift, name)
    assert all(p.annotation is not inspect.Parameter.empty for p in own_parameters(value).values())
    assert inspect.isclass(value) or inspect.signature(value).return_annotation is not inspect.Signature.empty


@pytest.mark.parametrize("name", ["sscd_", "Sweep", "compair", "_missing"])
def test_unknown_name_is_an_attribute_error_that_names_it(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'lexshift' has no attribute '{name}'"):
        getattr(lexshift, name)


def test_version_is_the_installed_one() -> None:
    assert lexshift.__version__ == importlib.metadata.version("lexshift")


def test_package_is_marked_as_typed() -> None:
    assert files("lexshift").joinpath("py.typed").is_file()


def test_importing_lexshift_imports_neither_numpy_nor_numba_nor_scipy() -> None:
    code = "import sys, lexshift; print(sorted({'numpy', 'numba', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == "[]\n"


def test_numba_is_imported_by_the_first_kernel() -> None:
    code = "import sys; from lexshift import *; SSCD(); print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == "False\n"

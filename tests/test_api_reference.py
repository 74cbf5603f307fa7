"""Test that the API reference describes every public name and shows docstrings without markup of other tools."""

from __future__ import annotations

import importlib.util
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import lexshift
from lexshift import corpus, encode, tune

REFERENCE = Path(__file__).parents[1] / "docs" / "api"
PACKAGES = [lexshift, corpus, encode, tune]
ENTRY = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)


def entries() -> list[str]:
    return [name for page in sorted(REFERENCE.glob("*.md")) for name in ENTRY.findall(page.read_text("utf-8"))]


@pytest.fixture
def docstrings() -> ModuleType:
    """Load the extension that prepares docstrings."""
    pytest.importorskip("griffe")
    spec = importlib.util.spec_from_file_location("docstrings", REFERENCE / "docstrings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_has_an_entry_on_one_page() -> None:
    found = [
        id(getattr(import_module(module), name)) for module, _, name in (entry.rpartition(".") for entry in entries())
    ]
    assert len(found) == len(set(found))
    public = {f"{package.__name__}.{name}": getattr(package, name) for package in PACKAGES for name in package.__all__}
    assert [path for path, value in public.items() if id(value) not in found] == []


def test_roles_become_links_to_the_full_names_of_objects(docstrings: ModuleType) -> None:
    griffe = import_module("griffe")
    module = griffe.visit("m", Path("m.py"), "def f():\n    pass\n\ndef g():\n    pass\n")
    text = docstrings.link_roles("See :func:`g`, :class:`~a.b.C` and ``:x``.", module["f"])
    assert text == (
        'See <autoref optional identifier="m.g"><code>g</code></autoref>, '
        '<autoref optional identifier="a.b.C"><code>C</code></autoref> and ``:x``.'
    )


def test_parameters_with_a_shared_entry_get_separate_entries(docstrings: ModuleType) -> None:
    before, after = "Add.\n\nParameters\n----------\n", "**more\n    Others.\n\na, b are added."
    text = " : int\n    A number,\n    or two.\n"
    assert docstrings.split_entries(f"{before}a, b{text}{after}") == f"{before}a{text}b{text}{after}"


def test_example_without_a_heading_gets_one(docstrings: ModuleType) -> None:
    headed = "Return 1.\n\nExamples\n--------\n>>> one()\n1"
    assert docstrings.head_examples("Return 1.\n\n>>> one()\n1") == headed
    assert docstrings.head_examples(headed) == headed

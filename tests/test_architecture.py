"""Test that every file and name in docs/architecture.md and CONTRIBUTING.md exists."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from lexshift.cli import app

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "lexshift"
ARCHITECTURE, CONTRIBUTING = ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md"
PAGES = [ARCHITECTURE, CONTRIBUTING]
FOLDERS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w./-]+\.(py|js|css|html|md|toml|txt|tsv|yml|json|csv|parquet|npy|npz)")
NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)*")
PLACED = re.compile(r"((?:`\w+(?:\.\w+)*`(?:, | and |, and )?)+) (?:in|of) `([\w./]+\.py)`")


def text_of(page: Path) -> str:
    """Return the page without its blocks of code."""
    return FENCE.sub("", page.read_text("utf-8"))


def blocks(page: Path) -> Iterator[str]:
    """Return paragraphs, list items and table rows, each on one line."""
    parts = re.split(r"\n\s*\n|\n(?=\||- |\d+\. |#)", text_of(page))
    return (" ".join(part.split()) for part in parts)


def located(name: str) -> Path | None:
    """Return the file or folder of a name on a page."""
    return next((place / name for place in (ROOT, PACKAGE) if (place / name).exists()), None)


@cache
def defined(path: Path) -> frozenset[str]:
    """Return the names that a module defines: functions, classes with their methods and attributes, constants."""

    def within(nodes: list[ast.stmt], prefix: str = "") -> Iterator[str]:
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from within(node.body, f"{prefix}{node.name}.")
            if isinstance(node, ast.Assign | ast.AnnAssign):
                names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
                yield from (prefix + part.id for part in names if isinstance(part.ctx, ast.Store))

    return frozenset(within(ast.parse(path.read_text("utf-8")).body))


@cache
def defined_anywhere() -> frozenset[str]:
    names = {name for path in PACKAGE.rglob("*.py") for name in defined(path)}
    members = {name.rpartition(".")[2] for name in names}
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    modules = {path.stem for path in PACKAGE.rglob("*.py")}
    return frozenset(names | members | folders | modules)


@cache
def vocabulary() -> frozenset[str]:
    """Return the words that are written as code but are no Python names: commands, markers, extras, folders."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    markers = {marker.partition(":")[0] for marker in project["tool"]["pytest"]["ini_options"]["markers"]}
    extras = set(project["project"]["optional-dependencies"])
    commands = {command.name for command in app.registered_commands if command.name}
    return frozenset({"make", "LEXSHIFT_DATA", *markers, *extras, *commands, *FOLDERS})


@cache
def all_code() -> str:
    """Return all code of the package."""
    return "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_exists(page: Path) -> None:
    for code in (code for block in blocks(page) for code in CODE.findall(block)):
        if FILE.fullmatch(code) or code.endswith("/"):
            is_written = f'"{code}"' in all_code()  # a file of results or of a store
            assert is_written or located(code), f"{page.name} names {code}, which is not there"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_is_defined_in_a_file_named_with_it(page: Path) -> None:
    for block in blocks(page):
        codes = CODE.findall(block)
        modules = [located(code) for code in codes if FILE.fullmatch(code) and code.endswith(".py")]
        known = {name for path in modules if path is not None for name in defined(path)}
        for code in codes:
            if not NAME.fullmatch(code) or FILE.fullmatch(code):
                continue
            is_known = code in known if known else code in defined_anywhere()
            assert is_known or code in vocabulary(), f"{page.name}: {code} in {block[:90]!r}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_is_defined_in_its_stated_file(page: Path) -> None:
    found = 0
    for block in blocks(page):
        for names, file in PLACED.findall(block):
            path = located(file)
            assert path is not None, file
            for name in CODE.findall(names):
                assert name in defined(path), f"{page.name}: {name} is not in {file}"
                found += 1
    assert found > 10


def test_every_module_is_described() -> None:
    modules = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"}
    folders = text_of(ARCHITECTURE).split("## Folders")[1].split("## One sentence")[0]
    assert sorted(modules - set(CODE.findall(folders))) == []


def test_documented_layers_match_the_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0]
    rows = [CODE.findall(block) for block in blocks(ARCHITECTURE) if re.match(r"\| \d+ \|", block)]
    described = [sorted(code.removesuffix(".py").rstrip("/") for code in row) for row in rows]
    assert described == [sorted(layer.split(" | ")) for layer in contract["layers"]]


def test_guide_says_where_to_make_common_changes() -> None:
    table = ARCHITECTURE.read_text("utf-8").split("## Where do I change ...?")[1]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 20
    for row in rows:
        assert any(located(code) for code in CODE.findall(row)), row


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_docstring_describes_input_and_output(folder: str) -> None:
    doc = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text("utf-8"))) or ""
    assert doc.split("\n")[0].endswith(".")
    assert re.search(r"\bIn: .+?\. Out: ", doc, re.DOTALL)
    assert f"### {folder}\n" in ARCHITECTURE.read_text("utf-8")


def test_functions_are_short_and_have_few_parameters() -> None:
    found = []
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text("utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and node.name not in ("compare", "discover", "trace", "find_senses"):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = source.splitlines()[body[0].lineno - 1 : node.end_lineno] if body else []
                code = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
                parameters = {argument.arg for argument in node.args.args + node.args.kwonlyargs} - {"self", "cls"}
                if len(code) > 60 or len(parameters) > 10:
                    found.append((path.name, node.name, len(code), len(parameters)))
    assert found == []


def test_every_link_of_the_guide_has_a_target() -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", CONTRIBUTING.read_text("utf-8")):
        assert (ROOT / link).exists(), link


def test_examples_of_the_guide_are_code_of_the_package() -> None:
    examples = [text for kind, text in FENCE.findall(CONTRIBUTING.read_text("utf-8")) if kind == "python"]
    assert examples
    assert all(text in all_code() for text in examples)


def test_every_command_of_the_guide_can_be_run() -> None:
    commands = [
        line
        for kind, text in FENCE.findall(CONTRIBUTING.read_text("utf-8"))
        if kind == "sh"
        for line in text.splitlines()
    ]
    made = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert any(command.startswith("make ") for command in commands)
    for command in commands:
        words = command.partition("#")[0].split()
        if words[0] == "make":
            assert words[-1] in made, command
        for word in words:
            if word.startswith(("src/", "tests/")):
                assert (ROOT / word).exists(), command

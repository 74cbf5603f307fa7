"""Test that every dependency has a lowest and a pinned version."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest
from packaging.version import Version

ROOT = Path(__file__).parents[1]


def name_of(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None
    return found[0].lower().replace("_", "-")


def test_every_dependency_is_pinned_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [requirement for extra in project["optional-dependencies"].values() for requirement in extra]
    needed = {name_of(requirement) for requirement in [*project["dependencies"], *extras]} - {project["name"]}
    lines = [line for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.+]+", line) for line in lines)
    pinned = [name_of(line) for line in lines]
    assert sorted(needed - set(pinned)) == []
    assert len(pinned) == len(set(pinned))


def test_every_dependency_has_a_lowest_version_that_is_not_above_the_pinned_one() -> None:
    script = runpy.run_path(str(ROOT / ".ci/lowest_versions.py"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lowest = script["lowest_versions"](project, list(project["optional-dependencies"]))
    pinned = dict(
        line.split("==") for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if "==" in line
    )
    assert len(lowest) > len(project["dependencies"])
    for name, version in (line.split("==") for line in lowest):
        assert Version(version) <= Version(pinned[name]), name


def test_lowest_versions_follow_extras_that_require_each_other() -> None:
    script = runpy.run_path(str(ROOT / ".ci/lowest_versions.py"))
    extras = {"a": ["one>=2.5", "p[b]"], "b": ["two==0.1.0"], "c": ["three>=1"]}
    project = {"name": "p", "dependencies": ["zero>=1.0.post0"], "optional-dependencies": extras}
    assert script["lowest_versions"](project, ["a"]) == ["one==2.5", "two==0.1.0", "zero==1.0.post0"]
    with pytest.raises(ValueError, match="no lowest version in 'four'"):
        script["lowest_versions"]({**project, "dependencies": ["four"]}, [])

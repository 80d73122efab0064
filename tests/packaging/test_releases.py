"""What a release is made of agrees with the project: versions, requirements, workflows, the papers to cite."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from assaypilot.engine.strategies.registry import strategies

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CONDA_NAMES = {"pyside6-essentials": "pyside6", "matplotlib": "matplotlib-base"}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(workflow: Any) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_citation_changelog_and_recipe_have_the_version_of_the_project() -> None:
    version = PROJECT["version"]
    assert read(ROOT / "CITATION.cff")["version"] == version
    assert read(ROOT / "packaging" / "conda" / "recipe.yaml")["context"]["version"] == version
    released = re.findall(r"(?m)^## \[(\d+\.\d+\.\d+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert released[0] == version


def test_conda_recipe_asks_for_what_the_project_asks_for() -> None:
    run = read(ROOT / "packaging" / "conda" / "recipe.yaml")["requirements"]["run"]
    wanted = {}
    for requirement in PROJECT["dependencies"]:
        match = re.match(r"([A-Za-z0-9._-]+)(.*)", requirement)
        assert match is not None
        name = match[1].lower()
        wanted[CONDA_NAMES.get(name, name)] = match[2]
    found = dict(text.split(" ") for text in run)
    assert found.pop("python") == PROJECT["requires-python"]
    assert found == wanted


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_calls_files_that_exist_and_has_no_more_rights_than_reading(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] > 0
        assert job.get("permissions", {}) == ({"contents": "write"} if name == "release" else {})
    for step in steps(workflow):
        assert step.get("uses", "actions/").startswith("actions/")
        for script in re.findall(r"packaging[/\\][\w/\\.]+\w", step.get("run", "")):
            assert (ROOT / script.replace("\\", "/")).exists(), script


def test_strategies_that_the_citation_names_exist() -> None:
    known = {strategy.info.name for strategy in strategies()}
    for paper in read(ROOT / "CITATION.cff")["references"]:
        named = re.search(r"\((.*)\)", paper["notes"])
        assert named is not None
        assert set(named[1].split(", ")) <= known


def test_pre_commit_uses_the_locked_ruff() -> None:
    first = read(ROOT / ".pre-commit-config.yaml")["repos"][0]
    locked = (ROOT / "packaging" / "requirements-dev.txt").read_text(encoding="utf-8")
    assert f"\nruff=={first['rev'].removeprefix('v')} " in locked

"""What a release is made of agrees with the project: versions, requirements, workflows, the papers to cite."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA_NAMES = {"pyside6-essentials": "pyside6", "matplotlib": "matplotlib-base"}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


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

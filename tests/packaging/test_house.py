"""The house keeps what it promises: packages, locks, the set-up script, and the ground rules of the tests."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = ("requirements.txt", "requirements-dev.txt", "requirements-freeze.txt")
FREEZING = ("freeze_parts.py", "freeze_trial.py", "freeze_deb.py", "freeze.py")
SCRIPTS = ("system_packages.py", "environment.py", "sizes.py", *FREEZING, "dev.py")


def pins(name: str) -> dict[str, str]:
    """Return each pinned requirement of a lock with the lines that belong to it."""
    text = (ROOT / "packaging" / name).read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=[a-z0-9])", re.sub(r"(?m)^ *#.*\n?", "", text).strip())
    return {block.split(" \\")[0]: block for block in blocks}


def run_tests(folder: Path, text: str, conftest: str | None = None) -> str:
    """Return what pytest prints over a small test file that stands on our conftest."""
    source = ROOT / "tests" / "conftest.py"
    (folder / "conftest.py").write_text(conftest or source.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "test_small.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


def loaded_by(statement: str) -> set[str]:
    """Return the top-level modules that a fresh Python has loaded after the statement."""
    code = f"{statement}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.fixture
def script_modules(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """Return the modules of packaging/, loaded as `python packaging/dev.py` loads them."""
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    modules = {}
    names = [script.removesuffix(".py") for script in SCRIPTS]
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in names:
        modules[name] = importlib.import_module(name)
    for name in modules:
        monkeypatch.delitem(sys.modules, name)
    return modules


# --- packages


def test_every_folder_of_code_is_a_listed_package() -> None:
    folders = {
        path.parent.relative_to(ROOT).as_posix()
        for top in ("engine", "gui", "datasets")
        for path in (ROOT / top).rglob("__init__.py")
    }
    listed = {
        name: name.removeprefix("assaypilot.").replace(".", "/") for name in PROJECT["tool"]["setuptools"]["packages"]
    }
    assert set(listed.values()) == folders
    parents = {name: folder for name, folder in listed.items() if "/" not in folder}
    assert PROJECT["tool"]["setuptools"]["package-dir"] == parents


def test_every_file_beside_the_code_is_package_data() -> None:
    data = PROJECT["tool"]["setuptools"]["package-data"]
    for top in ("engine", "gui", "datasets"):
        for path in (ROOT / top).rglob("*"):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                package = "assaypilot." + path.parent.relative_to(ROOT).as_posix().replace("/", ".")
                patterns = data.get(package, [])
                assert any(path.match(pattern) for pattern in patterns), f"{path} would not be installed"


def test_the_version_is_installed_with_the_links() -> None:
    if not (ROOT / ".venv" / "assaypilot-setup.json").exists() or Path(sys.prefix) != ROOT / ".venv":
        pytest.skip("not the environment of packaging/dev.py")
    assert importlib.metadata.version("assaypilot") == PROJECT["project"]["version"]
    import assaypilot.engine

    assert Path(assaypilot.engine.__file__).samefile(ROOT / "engine" / "__init__.py")


# --- what an import costs


def test_the_engine_loads_neither_qt_nor_matplotlib() -> None:
    assert not loaded_by("import assaypilot.engine") & {"PySide6", "shiboken6", "matplotlib"}


@pytest.mark.parametrize("name", ["assaypilot.engine.cli", "assaypilot.gui.launch"])
def test_the_command_line_loads_neither_qt_nor_matplotlib(name: str) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not there")
    assert not loaded_by(f"import {name}") & {"PySide6", "shiboken6", "matplotlib", "pandas", "rdkit"}


# --- locks


def test_the_locks_agree_and_hold_what_the_project_asks_for() -> None:
    run, dev, freeze = map(pins, LOCKS)
    assert run.items() <= dev.items()
    shared = {pin.split("==")[0] for pin in freeze} & {pin.split("==")[0] for pin in dev}
    assert {"packaging", "setuptools"} <= shared
    assert {pin: block for pin, block in freeze.items() if pin.split("==")[0] in shared}.items() <= dev.items()
    groups = PROJECT["dependency-groups"]
    for wanted, lock in (
        (PROJECT["project"]["dependencies"] + groups["build"], run),
        (groups["dev"] + groups["build"], dev),
        (groups["freeze"], freeze),
    ):
        names = {pin.split("==")[0] for pin in lock}
        for requirement in wanted:
            assert re.split(r"[<>=!~;\[ ]", requirement)[0].lower() in names


# --- the set-up script


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_set_up_needs_the_standard_library_alone(name: str) -> None:
    tree = ast.parse((ROOT / "packaging" / name).read_text(encoding="utf-8"))
    own = {script.removesuffix(".py") for script in SCRIPTS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module or "").split(".")[0]}
        else:
            continue
        assert names <= own | sys.stdlib_module_names


def test_an_old_python_is_told_so() -> None:
    code = (
        "import runpy, sys; sys.version_info = (3, 10, 2, 'final', 0); "
        f"runpy.run_path({str(ROOT / 'packaging' / 'dev.py')!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("AssayPilot needs Python 3.11 or newer; this is Python 3.10 (")
    assert "Traceback" not in done.stderr


def test_the_published_numbers_are_one_command(
    script_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    dev, environment = script_modules["dev"], script_modules["environment"]
    called: list[list[object]] = []

    def call(command: list[object], extra: dict[str, str]) -> int:
        called.append([*command[1:], *extra])
        return 5

    monkeypatch.setattr(environment, "ready", lambda level, system: Path("python"))
    monkeypatch.setattr(environment, "call", call)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert dev.main(["published", "papers", "--only", "rage"]) == 5
    assert called.pop() == [
        *("-m", "tests.published.published", "--only", "rage"),
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
    ]
    for name, module in dev.REPORTS.items():
        assert (ROOT / "tests" / "published" / f"{module}.py").is_file()
        assert f"`{name}`" in (ROOT / "tests" / "published" / "README.md").read_text(encoding="utf-8")
    assert dev.main(["published", "all"]) == 5
    assert [words[1] for words in called] == [f"tests.published.{module}" for module in dev.REPORTS.values()]


def test_sizes_count_neither_comments_nor_docstrings(script_modules: dict[str, ModuleType], tmp_path: Path) -> None:
    path = tmp_path / "small.py"
    path.write_text(
        '"""Two\nlines."""\n\n# a comment\nx = (\n    1,\n)  # one more\ny = """a\nb"""\n', encoding="utf-8"
    )
    assert script_modules["sizes"].code_lines(path) == 5


def test_an_environment_of_somebody_else_is_left_alone(
    script_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment = script_modules["environment"]
    theirs = tmp_path / ".venv" / "pyvenv.cfg"
    theirs.parent.mkdir()
    theirs.write_text("theirs", encoding="utf-8")
    monkeypatch.setattr(environment, "VENV", theirs.parent)
    monkeypatch.setattr(environment, "LOCK", theirs.parent / "lock")
    with pytest.raises(environment.SetupError, match="was not made by this script, so it is left alone"):
        environment.ready("run", system=False)
    assert [path.name for path in theirs.parent.iterdir()] == ["pyvenv.cfg"]


def test_an_unfinished_set_up_is_made_again_and_its_links_are_not_followed(
    script_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment = script_modules["environment"]
    venv = tmp_path / "with space" / ".venv"
    for name in environment.PACKAGES:
        (venv.parent / name).mkdir(parents=True)
        (venv.parent / name / "code.py").write_text("kept", encoding="utf-8")
    for name, value in (
        ("ROOT", venv.parent),
        ("VENV", venv),
        ("LINKS", venv / "links" / "assaypilot"),
        ("LOCK", venv / "lock"),
        ("STATE", venv / "state"),
    ):
        monkeypatch.setattr(environment, name, value)
    monkeypatch.setattr(environment, "digest", lambda level: level)
    monkeypatch.setattr(environment, "install_project", lambda python: None)
    done: list[str] = []

    def make(system: bool) -> None:
        done.append("create")
        create(system)
        environment.script("python").parent.mkdir(exist_ok=True)
        environment.script("python").touch()

    def stop(python: Path, level: str, inherited: Sequence[int]) -> None:
        environment.link_packages()
        raise KeyboardInterrupt

    create = environment.create
    monkeypatch.setattr(environment, "create", make)
    monkeypatch.setattr(environment, "quietly", lambda *_: subprocess.CompletedProcess([], 0, "", ""))
    monkeypatch.setattr(environment, "install", stop)
    with pytest.raises(KeyboardInterrupt):
        environment.ready("run", system=False)
    monkeypatch.setattr(environment, "install", lambda python, level, _: done.append(f"install {level}"))
    python = environment.ready("run", system=False)
    assert done == ["create", "create", "install run"]
    assert python == environment.script("python")
    for name in environment.PACKAGES:
        assert (venv / "links" / "assaypilot" / name / "code.py").read_text(encoding="utf-8") == "kept"
    environment.ready("run", system=False)
    assert done[3:] == []
    environment.ready("dev", system=False)
    environment.ready("run", system=False)
    assert done[3:] == ["install dev"]


# --- the ground rules of the tests


def test_a_test_may_not_leave_the_machine_warn_or_see_the_home(tmp_path: Path) -> None:
    text = """
        import logging, os, socket
        from pathlib import Path

        def test_network():
            try:
                socket.create_connection(("192.0.2.1", 80), timeout=1)
            except AssertionError as refusal:
                assert "was looked up" in str(refusal) or "was tried" in str(refusal)
            else:
                raise RuntimeError

        def test_warns():
            logging.getLogger("assaypilot").warning("something odd")

        def test_expected(logged_warnings):
            logging.getLogger("assaypilot").warning("something expected")
            assert logged_warnings.take() == ["something expected"]

        def test_home(own_settings):
            assert Path.home() == own_settings
            assert os.environ["QT_QPA_PLATFORM"] == "offscreen"
    """
    output = run_tests(tmp_path, textwrap.dedent(text))
    assert "4 passed, 1 error" in output
    assert "unexpected in the log:\nassaypilot: WARNING: something odd" in output

"""The house keeps what it promises: packages, locks, the set-up script, and the ground rules of the tests."""

import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = ("requirements.txt", "requirements-dev.txt", "requirements-freeze.txt")
SCRIPTS = ("environment", "sizes", "freeze_trial", "freeze", "dev")


def pins(name: str) -> dict[str, str]:
    """Return the hashes of each pinned requirement of a lock; who asks for it there decides what it is pinned for."""
    text = (ROOT / "packaging" / name).read_text(encoding="utf-8")
    assert "://" not in text  # it would not install elsewhere
    blocks = re.split(r"\n(?=[a-z0-9])", re.sub(r"(?m)^ *#.*\n?", "", text).strip())
    found = (block.partition(" \\") for block in blocks)
    return {pin.split(" ;")[0]: hashes for pin, _, hashes in found}


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
    for name in SCRIPTS:
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in SCRIPTS:
        modules[name] = importlib.import_module(name)
    for name in modules:
        monkeypatch.delitem(sys.modules, name)
    return modules


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


def test_every_data_file_is_package_data() -> None:
    data = PROJECT["tool"]["setuptools"]["package-data"]
    for top in ("engine", "gui", "datasets"):
        for path in (ROOT / top).rglob("*"):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                package = "assaypilot." + path.parent.relative_to(ROOT).as_posix().replace("/", ".")
                patterns = data.get(package, [])
                assert any(path.match(pattern) for pattern in patterns), f"{path} would not be installed"


def test_the_engine_loads_neither_qt_nor_matplotlib() -> None:
    assert not loaded_by("import assaypilot.engine") & {"PySide6", "shiboken6", "matplotlib"}


@pytest.mark.parametrize("name", ["assaypilot.engine.cli", "assaypilot.gui.launch"])
def test_the_command_line_loads_neither_qt_nor_matplotlib(name: str) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not there")
    assert not loaded_by(f"import {name}") & {"PySide6", "shiboken6", "matplotlib", "pandas", "rdkit"}


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


def test_the_set_up_needs_the_standard_library_alone() -> None:
    command = [sys.executable, "-S", str(ROOT / "packaging" / "dev.py"), "--help"]
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    assert subprocess.run(command, env=bare, capture_output=True, timeout=60).returncode == 0


def test_old_python_is_refused_in_one_line() -> None:
    code = (
        "import runpy, sys; sys.version_info = (3, 10, 2, 'final', 0); "
        f"runpy.run_path({str(ROOT / 'packaging' / 'dev.py')!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("AssayPilot needs Python 3.11 or newer; this is Python 3.10 (")
    assert "Traceback" not in done.stderr


def test_every_report_is_one_command(script_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    dev, environment = script_modules["dev"], script_modules["environment"]
    called: list[list[str]] = []

    def call(command: list[str], extra: dict[str, str]) -> int:
        called.append(command[2:])
        return 5

    monkeypatch.setattr(environment, "ready", lambda level: Path("python"))
    monkeypatch.setattr(environment, "call", call)
    assert dev.main(["published", "all", "--only", "rage"]) == 5
    readme = (ROOT / "tests" / "published" / "README.md").read_text(encoding="utf-8")
    for name, (module, *further) in zip(dev.REPORTS, called, strict=True):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file()
        assert f"`{name}`" in readme
        assert further == ["--only", "rage"]


def test_sizes_count_neither_comments_nor_docstrings(script_modules: dict[str, ModuleType], tmp_path: Path) -> None:
    path = tmp_path / "small.py"
    path.write_text(
        '"""Two\nlines."""\n\n# a comment\nx = (\n    1,\n)  # one more\ny = """a\nb"""\n', encoding="utf-8"
    )
    assert script_modules["sizes"].code_lines(path) == 5


def test_an_environment_of_somebody_else_is_left_alone(script_modules: dict[str, ModuleType], tmp_path: Path) -> None:
    environment = script_modules["environment"]
    (tmp_path / "pyvenv.cfg").write_text("theirs", encoding="utf-8")
    with pytest.raises(environment.SetupError, match="was not made by this script"):
        environment.make(tmp_path, ["run"], editable=True)
    assert [path.name for path in tmp_path.iterdir()] == ["pyvenv.cfg"]


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

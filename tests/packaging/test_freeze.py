"""The packaged program, without building it: nothing is forgotten, nothing foreign comes along, the trial can fail."""

from __future__ import annotations

import ast
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import types
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from assaypilot.engine.export.formats import FORMATS
from assaypilot.engine.simulate import comparison
from assaypilot.engine.strategies import registry
from assaypilot.gui import app

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
CODE = [path for top in ("engine", "gui", "datasets") for path in sorted((ROOT / top).rglob("*.py"))]
FROZEN = [path for path in CODE if path.parent != ROOT / "engine" / "notebook"]  # pandas stays out
LOADING = {"import_module", "__import__", "run_module", "run_path"}


@pytest.fixture
def packaging_module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return what loads a module of packaging/ as its scripts do."""
    monkeypatch.syspath_prepend(str(PACKAGING))
    loaded: set[str] = set()

    def load(name: str) -> ModuleType:
        loaded.add(name)
        return importlib.import_module(name)

    yield load
    for name in ("freeze", "freeze_deb", "freeze_parts", "freeze_trial", "environment", "system_packages", *loaded):
        sys.modules.pop(name, None)


@cache
def imports(path: Path) -> set[str]:
    """Return every module a file imports, wherever in it, unless for its types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


# --- what goes in


def test_whatever_is_loaded_by_its_name_goes_in(packaging_module: Any) -> None:
    modules = set(packaging_module("freeze_parts").modules())
    for kind in (*registry.strategies(), *comparison.baselines()):
        assert kind.__module__ in modules
    for _, name in FORMATS.values():
        assert f"assaypilot.engine.export.{name}" in modules
    assert {"assaypilot.gui.launch", "assaypilot.engine.cli.doctor", "assaypilot.datasets"} <= modules


def test_every_file_of_code_goes_in(packaging_module: Any) -> None:
    modules = packaging_module("freeze_parts").modules()
    assert len(modules) == len(set(modules)) == len(FROZEN)
    for path in FROZEN:
        name = "assaypilot." + path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        assert name.removesuffix(".__init__") in modules


def test_the_trial_knows_the_tables_that_load_by_name(packaging_module: Any) -> None:
    parts = packaging_module("freeze_parts")
    for place, table, kinds in (
        ("strategies/registry", "_STRATEGIES", registry.strategies()),
        ("simulate/comparison", "_BASELINES", comparison.baselines()),
    ):
        told, folder = parts.by_name(f"engine/{place}.py", table), place.partition("/")[0]
        assert {name: f"assaypilot.engine.{folder}.{module}" for name, module in told.items()} == {
            kind().info.name: kind.__module__ for kind in kinds
        }
    assert parts.by_name("engine/export/formats.py", "FORMATS") == {end: name for end, (_, name) in FORMATS.items()}
    assert set(packaging_module("freeze_trial").BEGINS) == set(FORMATS)


@pytest.mark.slow
def test_few_files_load_by_name_and_what_they_load_is_known() -> None:
    early = "gui/app.py"  # names that are all imported elsewhere, too
    child = "engine/system/guarded.py"  # runs a function of its caller's module in a process of its own
    found = set()
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if called in LOADING:
                    found.add(path.relative_to(ROOT).as_posix())
                    named = path in (ROOT / early, ROOT / child)
                    assert named or "{__package__}." in ast.unparse(node.args[0])
    others = {
        "engine/__init__.py",
        "engine/strategies/registry.py",
        "engine/simulate/comparison.py",
        "engine/export/formats.py",
        "gui/wizard/new_campaign.py",
    }
    assert found == {early, child, *others}
    imported = {name for path in CODE for name in imports(path)}
    ours = {"assaypilot." + path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".") for path in CODE}
    assert set(app.MODULES) <= imported | ours


def test_nothing_that_is_left_out_is_imported(packaging_module: Any) -> None:
    left_out = packaging_module("freeze_parts").LEFT_OUT
    optional = {"distributed"}  # the extra "cluster"; its absence is told in words
    for path in FROZEN:
        for name in imports(path):
            for absent in set(left_out) - optional:
                assert name != absent, path
                assert not name.startswith(absent + "."), path


@pytest.mark.parametrize(
    ("name", "source", "wanted"),
    [
        ("numpy.libs/libscipy_openblas64_-1.so", "/env/numpy.libs/libscipy_openblas64_-1.so", True),
        ("PySide6/Qt/lib/libQt6Widgets.so.6", "", True),
        ("PySide6/Qt/lib/libQt6Qml.so.6", "", False),
        ("PySide6/Qt6Quick.dll", "", False),
        ("PySide6\\plugins\\platforms\\qwindows.dll", "", True),
        ("PySide6/Qt/plugins/platforms/libqxcb.so", "", True),
        ("PySide6/Qt/plugins/platforms/libqvnc.so", "", False),
        ("PySide6/Qt/plugins/platforms/libqoffscreen.so", "", True),
        ("PySide6/Qt/plugins/iconengines/libqsvgicon.so", "", True),
        ("PySide6/Qt/plugins/tls/libqopensslbackend.so", "", False),
        ("PySide6/Qt/translations/qt_de.qm", "", False),
        ("matplotlib/mpl-data/fonts/ttf/DejaVuSans.ttf", "", True),
        ("matplotlib/mpl-data/sample_data/grace_hopper.jpg", "", False),
        ("assaypilot/datasets/practice-960.csv", "", True),
        ("assaypilot/gui/resources/icon.svg", "", True),
        ("pandas-3.1.1.dist-info/METADATA", "", False),
        ("libglib-2.0.so.0", "/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0", False),
        ("libX11.so.6", "/lib/x86_64-linux-gnu/libX11.so.6", False),
        ("PySide6/Qt/lib/QtNetwork.framework/Versions/A/QtNetwork", "", False),
        ("PySide6/Qt/lib/QtNetwork.framework/Versions/A/Resources/Info.plist", "", False),
        ("PySide6/Qt/lib/QtDBus.framework/Versions/A/QtDBus", "", True),
        ("PySide6/Qt/lib/QtGui.framework/Versions/A/Resources/Info.plist", "", True),
        ("PySide6/Qt/plugins/platforms/libqcocoa.dylib", "", True),
        ("PySide6/plugins/styles/qmodernwindowsstyle.dll", "", True),
        ("libssl.so.3", "/usr/lib/x86_64-linux-gnu/libssl.so.3", True),
        ("libsqlite3.so.0", "/lib64/libsqlite3.so.0", True),
    ],
)
def test_what_is_wanted(packaging_module: Any, name: str, source: str, wanted: bool) -> None:
    assert packaging_module("freeze_parts").is_wanted(name, source) is wanted


# --- what it is called on each system


# --- how it starts


def test_a_guarded_worker_is_told_from_a_command(packaging_module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    start = packaging_module("frozen_start")
    from assaypilot.engine.system import guarded

    assert guarded._MODULE == start.GUARDED
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(guarded, "main", lambda: 5)
    assert start.start(guarded._command()[1:]) == 5


def test_a_worker_of_joblib_is_told_from_a_command(packaging_module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    start = packaging_module("frozen_start")
    import assaypilot.gui.launch

    ran: list[object] = []
    monkeypatch.setattr(sys, "argv", ["assaypilot"])
    monkeypatch.setattr(start.runpy, "run_module", lambda *names, **options: ran.append((names, options, sys.argv)))
    monkeypatch.setattr(assaypilot.gui.launch, "main", lambda: 7)
    assert start.start(["-m", start.WORKER, "--process-name", "LokyProcess-1", "--pipe", "9"]) == 0
    argv = ["assaypilot", "--process-name", "LokyProcess-1", "--pipe", "9"]
    assert ran == [((start.WORKER,), {"run_name": "__main__", "alter_sys": False}, argv)]
    for words in (["-m", "http.server"], ["-c", "import os"], ["demo"], [], ["-c", TRACKING + "; import os"]):
        assert start.start(words) == 7
    assert len(ran) == 1


def test_a_worker_of_joblib_on_windows_is_told_who_asked(
    packaging_module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = packaging_module("frozen_start")
    from joblib.externals.loky import backend

    import assaypilot.gui.launch

    asked: list[object] = []
    there = types.SimpleNamespace(main=lambda *words, **named: asked.append((words, named)))
    monkeypatch.setitem(sys.modules, f"{backend.__name__}.popen_loky_win32", there)
    monkeypatch.setattr(assaypilot.gui.launch, "main", lambda: 7)
    assert start.start(["--multiprocessing-fork", "1234"]) == 0
    assert asked == [((1234,), {"parent_pid": os.getppid()})]
    # Python's own workers are not joblib's.
    assert start.start(["--multiprocessing-fork", "parent_pid=1", "pipe_handle=2"]) == 7
    assert len(asked) == 1
    # What joblib really says there, and wants to be told.
    source = (Path(backend.__file__).parent / "popen_loky_win32.py").read_text(encoding="utf-8")
    assert 'return [sys.executable, "--multiprocessing-fork", pipe_handle]' in source
    assert "def main(pipe_handle, parent_pid=None):" in source
    assert "OpenProcess" in source


TRACKING = "from joblib.externals.loky.backend.resource_tracker import main; main(5, False)"


def test_the_tracker_of_joblib_is_started_as_joblib_asks(
    packaging_module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = packaging_module("frozen_start")
    from joblib.externals.loky.backend import popen_loky_posix, resource_tracker

    asked: list[object] = []
    monkeypatch.setattr(resource_tracker, "main", lambda *words: asked.append(words))
    assert start.start(["-I", "-c", TRACKING]) == 0
    assert asked == [(5, False)]
    # What joblib really says, should a newer one say it differently.
    source = Path(resource_tracker.__file__).read_text(encoding="utf-8")
    assert "f'from {main.__module__} import main; main({r}, {VERBOSE})'" in source.replace('"', "'")
    assert popen_loky_posix.__name__ == start.WORKER
    assert '["-m", self.__module__]' in Path(popen_loky_posix.__file__).read_text(encoding="utf-8")


def test_what_the_doctor_asks_qt_is_run_and_nothing_else(
    packaging_module: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start = packaging_module("frozen_start")
    from assaypilot.engine.cli import doctor

    monkeypatch.setattr(doctor, "ASK_QT", "print('asked as', __name__)")
    assert start.start(["-c", doctor.ASK_QT]) == 0
    assert capsys.readouterr().out == "asked as __main__\n"


# --- the trial


@pytest.fixture
def fake(tmp_path: Path) -> Any:
    """Return what makes a program of a few lines of Python."""
    if os.name != "posix":
        pytest.skip("a script cannot stand for a program here")

    def make(code: str) -> Path:
        path, script = tmp_path / "program", tmp_path / "program.py"
        script.write_text(f"import json, os, sys, time\n{code}\n", encoding="utf-8")
        # Not in its first line, where a path may hold no blanks.
        path.write_text(
            f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(script))} "$@"\n', encoding="utf-8"
        )
        path.chmod(0o755)
        return path

    return make


def test_a_trial_wants_the_version_and_every_strategy(packaging_module: Any, fake: Any, tmp_path: Path) -> None:
    trial = packaging_module("freeze_trial")
    code = """
answers = {{"doctor": {{"assaypilot": {version!r}, "packages": {packages}, "qt": {qt}}}, "strategies": {strategies}}}
print(json.dumps(answers[sys.argv[1]]))
"""
    good = packaging_module("freeze_parts").version()
    names = [{"name": kind().info.name} for kind in (*registry.strategies(), *comparison.baselines())]
    found = {"numpy": "2", "pandas": None}
    for number, (version, packages, strategies, platform, said) in enumerate(
        [
            (good, found, names, "offscreen", None),
            ("unknown", found, names, "offscreen", "doctor: version unknown"),
            (good, {"numpy": None}, names, "offscreen", r"not known: \['numpy'\]"),
            (good, found, names, None, "Qt: {'platform': None"),
            (good, found, names[1:], "offscreen", f"strategies that are not told of: {names[0]['name']}"),
        ]
    ):
        qt = {"platform": platform, "problem": "no plugin"}
        program = fake(code.format(version=version, packages=packages, strategies=strategies, qt=qt))
        folder = tmp_path / str(number)
        folder.mkdir()
        one = trial.Trial(program, program, folder)
        if said is None:
            one.versions()
        else:
            with pytest.raises(trial.TrialError, match=said):
                one.versions()


def test_a_window_is_measured_until_it_is_drawn(packaging_module: Any, fake: Any, tmp_path: Path) -> None:
    trial = packaging_module("freeze_trial")
    lines = """
def say(*lines):
    print(*lines, sep="\\n", file=sys.stderr, flush=True)
say("qt.widgets.painting: Drawing QRegion(0,0 5x5) of QWidget(0x1) at QPoint(0,0)")
time.sleep(0.3)
"""
    drawn = 'say("qt.widgets.painting: Drawing QRegion(0,0 5x5) of MainWindow(0x1, name=\\"m\\") at QPoint(0,0)")\n'
    program = fake(lines + drawn + "time.sleep(60)")
    one = trial.Trial(program, program, tmp_path)
    one.show("start to window", "MainWindow")
    assert 0.3 < one.figures["start to window"] < 20
    program = fake(lines + "say('QPainter: not active')\n" + drawn + "time.sleep(60)")
    with pytest.raises(trial.TrialError, match="the window complained:\nQPainter: not active"):
        one.show("start to window", "MainWindow")
    program = fake(lines + "sys.exit('libEGL.so.1: cannot open')")
    with pytest.raises(trial.TrialError, match=r"no MainWindow was drawn in (.|\n)*libEGL.so.1: cannot open"):
        one.show("start to window", "MainWindow")


def test_the_trial_is_at_home_nowhere(packaging_module: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PYTHONPATH", "LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "VIRTUAL_ENV", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, "/somewhere")
    found = packaging_module("freeze_trial").variables(tmp_path)
    assert "/somewhere" not in found.values()
    assert (found["HOME"], found["QT_QPA_PLATFORM"]) == (str(tmp_path), "offscreen")


# --- the command and what it makes


def test_a_debian_package_holds_program_icons_and_file_type(packaging_module: Any, tmp_path: Path) -> None:
    if shutil.which("dpkg-deb") is None:
        pytest.skip("dpkg-deb is not here")
    deb = packaging_module("freeze_deb")
    program, icons = tmp_path / "made" / "assaypilot", tmp_path / "icons"
    (program / "_internal").mkdir(parents=True)
    (program / "assaypilot").write_text("#!/bin/sh\n", encoding="utf-8")
    (program / "assaypilot").chmod(0o700)
    (program / "_internal" / "x.1").write_bytes(b"x" * 5000)
    (program / "_internal" / "x").symlink_to("x.1")
    icons.mkdir()
    for size in (16, 256):
        (icons / f"assaypilot-{size}.png").touch()
    package = deb.build(program, icons, tmp_path / "work", tmp_path)
    assert re.fullmatch(r"assaypilot_[0-9.]+_[a-z0-9]+\.deb", package.name)
    listed = deb.said("dpkg-deb", "--contents", str(package))
    for line in (
        r"-rwxr-xr-x root/root .* \./usr/lib/assaypilot/assaypilot",
        r"lrwxrwxrwx root/root .* \./usr/bin/assaypilot -> \.\./lib/assaypilot/assaypilot",
        r"lrwxrwxrwx root/root .* \./usr/lib/assaypilot/_internal/x -> x\.1",
        r"-rw-r--r-- root/root .* \./usr/share/applications/assaypilot\.desktop",
        r"-rw-r--r-- root/root .* \./usr/share/mime/packages/assaypilot\.xml",
        r"-rw-r--r-- root/root .* \./usr/share/icons/hicolor/256x256/apps/assaypilot\.png",
        r"-rw-r--r-- root/root .* \./usr/share/icons/hicolor/16x16/mimetypes/application-x-assaypilot\.png",
        r"-rw-r--r-- root/root .* \./usr/share/doc/assaypilot/copyright",
    ):
        assert re.search(f"(?m)^{line}$", listed), line
    depends = deb.said("dpkg-deb", "--field", str(package), "Depends")
    assert {"libegl1", "libxcb-cursor0", "libxkbcommon0", "zlib1g"} <= set(depends.split(", "))
    assert "libglib2.0-0 | libglib2.0-0t64" in depends
    with pytest.raises(deb.SetupError, match="dpkg-deb failed"):
        deb.said("dpkg-deb", "--field", str(icons))


def test_a_library_that_no_dependency_brings_is_refused(
    packaging_module: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deb = packaging_module("freeze_deb")
    (tmp_path / "_internal").mkdir()
    (tmp_path / "_internal" / "libQt6Core.so.6").touch()
    asked = "  NEEDED               libQt6Core.so.6\n  NEEDED               libX11.so.6\n  NEEDED    libc.so.6\n"
    monkeypatch.setattr(deb, "said", lambda *command: asked)
    assert deb.foreign(tmp_path) == set()
    asked += "  NEEDED               libreadline.so.8\n  NEEDED               libm.so.6\n"
    assert deb.foreign(tmp_path) == {"libreadline.so.8"}
    monkeypatch.setattr(deb.shutil, "which", lambda name: name)
    with pytest.raises(deb.SetupError, match=r"asks for libreadline\.so\.8, which no package it depends on brings"):
        deb.build(tmp_path, tmp_path, tmp_path / "work", tmp_path)
    assert not (tmp_path / "work").exists()


def test_the_desktop_knows_the_file_by_its_name_and_by_its_content() -> None:
    entry = ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment,method-assign]  # keys are written with capitals
    entry.read(PACKAGING / "linux" / "assaypilot.desktop", encoding="utf-8")
    desktop = entry["Desktop Entry"]
    space = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}
    kind = ElementTree.parse(PACKAGING / "linux" / "assaypilot.xml").find("m:mime-type", space)
    assert kind is not None
    assert desktop["MimeType"] == kind.get("type", "") + ";"
    assert (desktop["Exec"], desktop["Icon"]) == ("assaypilot %f", "assaypilot")
    assert [glob.get("pattern") for glob in kind.findall("m:glob", space)] == ["*.assaypilot"]
    content = (ROOT / "tests" / "golden" / "campaign_v1.assaypilot").read_bytes()
    matches = list(kind.iter(f"{{{space['m']}}}match"))
    assert len(matches) == 2
    for match in matches:
        offset, value = int(match.get("offset", "")), match.get("value", "").encode()
        assert content[offset : offset + len(value)] == value


def test_the_icon_is_drawn_in_every_size(packaging_module: Any, qapp: object, tmp_path: Path) -> None:
    from PIL import Image

    icons = packaging_module("icons")
    icons.write(tmp_path)
    for size in icons.PNG:
        with Image.open(tmp_path / f"assaypilot-{size}.png") as picture:
            assert picture.size == (size, size)
            assert len(picture.convert("RGBA").getcolors(1 << 20)) > 3
    with Image.open(tmp_path / "assaypilot.ico") as picture:
        assert picture.info["sizes"] == {(size, size) for size in icons.ICO}
    with Image.open(tmp_path / "assaypilot.icns") as picture:
        assert (512, 512, 2) in picture.info["sizes"]


def test_the_set_up_speaks_on_a_console_with_few_characters(tmp_path: Path) -> None:
    folder = tmp_path / "Ελένη → µ"
    folder.mkdir()
    (folder / "somebody's.txt").touch()
    command = [sys.executable, str(PACKAGING / "dev.py"), "freeze", str(folder)]
    variables = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    done = subprocess.run(command, env=variables, capture_output=True, timeout=60)
    said = done.stdout.decode("cp1252")
    assert (done.returncode, done.stderr) == (1, b"")
    assert "????? ? µ holds other files, so it is left alone." in said

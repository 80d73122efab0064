"""The packaged program, without building it: nothing is forgotten, nothing foreign comes along, the trial can fail."""

import ast
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from assaypilot.engine.export.formats import FORMATS

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"


@pytest.fixture
def packaging_module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return what loads a module of packaging/ as its scripts do."""
    monkeypatch.syspath_prepend(str(PACKAGING))
    loaded: set[str] = set()

    def load(name: str) -> ModuleType:
        loaded.add(name)
        return importlib.import_module(name)

    yield load
    for name in ("freeze", "freeze_trial", "environment", *loaded):
        sys.modules.pop(name, None)


@pytest.mark.slow
def test_nothing_that_is_left_out_is_imported() -> None:
    spec = (PACKAGING / "assaypilot.spec").read_text(encoding="utf-8")
    excluded = re.search(r'EXCLUDED = f"""(.*?)"""', spec, re.DOTALL)
    assert excluded is not None
    absent = {*excluded[1].split(), "assaypilot.engine.notebook"} - {"distributed"}  # the extra "cluster"
    for top in ("engine", "gui", "datasets"):
        for path in (ROOT / top).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                    node.body = []
            if path.parent != ROOT / "engine" / "notebook":  # pandas stays out
                nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
                names = {getattr(node, "module", None) or alias.name for node in nodes for alias in node.names}
                names |= {f"{one.module}.{to.name}" for one in nodes if hasattr(one, "module") for to in one.names}
                assert not {name for name in names if name in absent or name.startswith(tuple(f"{a}." for a in absent))}


def test_trial_makes_every_kind_of_export(packaging_module: Any) -> None:
    assert set(packaging_module("freeze_trial").BEGINS) == set(FORMATS)


def test_frozen_start_runs_a_guarded_worker_for_its_command(
    packaging_module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = packaging_module("frozen_start")
    from assaypilot.engine.system import guarded

    assert guarded._MODULE == start.GUARDED
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(guarded, "main", lambda: 5)
    assert start.start(guarded._command()[1:]) == 5


def test_frozen_start_runs_a_worker_of_joblib_for_its_command(
    packaging_module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    one.show("MainWindow")
    program = fake(lines + "say('QPainter: not active')\n" + drawn + "time.sleep(60)")
    with pytest.raises(trial.TrialError, match="the window complained:\nQPainter: not active"):
        one.show("MainWindow")
    program = fake(lines + "sys.exit('libEGL.so.1: cannot open')")
    with pytest.raises(trial.TrialError, match=r"no MainWindow was drawn(.|\n)*libEGL.so.1: cannot open"):
        one.show("MainWindow")


def test_a_debian_package_holds_program_icons_and_file_type(packaging_module: Any, tmp_path: Path) -> None:
    if shutil.which("dpkg-deb") is None or shutil.which("objdump") is None:
        pytest.skip("dpkg-deb or objdump is not here")
    freeze = packaging_module("freeze")
    program, icons = tmp_path / "made" / "assaypilot", tmp_path / "icons"
    (program / "_internal").mkdir(parents=True)
    (program / "assaypilot").write_text("#!/bin/sh\n", encoding="utf-8")
    (program / "assaypilot").chmod(0o700)
    shutil.copy(sys.modules["math"].__file__ or "", program / "_internal" / "math.so")
    (program / "_internal" / "x").symlink_to("math.so")
    icons.mkdir()
    (icons / "assaypilot-16.png").touch()
    package = freeze.debian(program, icons, tmp_path / "work", tmp_path)
    listed = subprocess.run(["dpkg-deb", "--contents", package], capture_output=True, text=True, check=True).stdout
    for line in (
        r"-rwxr-xr-x root/root .* \./usr/lib/assaypilot/assaypilot",
        r"lrwxrwxrwx root/root .* \./usr/bin/assaypilot -> \.\./lib/assaypilot/assaypilot",
        r"lrwxrwxrwx root/root .* \./usr/lib/assaypilot/_internal/x -> math\.so",
        r"-rw-r--r-- root/root .* \./usr/share/icons/hicolor/16x16/mimetypes/application-x-assaypilot\.png",
    ):
        assert re.search(f"(?m)^{line}$", listed), line


def test_a_library_that_no_dependency_brings_is_refused(
    packaging_module: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    freeze = packaging_module("freeze")
    (tmp_path / "libQt6Core.so.6").touch()
    needed = ["Qt6Core.so.6", "X11.so.6", "c.so.6", "m.so.6", "glib-2.0.so.0", "xkbcommon-x11.so.0", "readline.so.8"]
    monkeypatch.setattr(freeze, "check", lambda *_: "".join(f"  NEEDED               lib{name}\n" for name in needed))
    with pytest.raises(freeze.SetupError, match=r"needs libreadline\.so\.8, which no package it depends on brings"):
        freeze.debian(tmp_path, tmp_path, tmp_path / "work", tmp_path)


def test_the_desktop_knows_the_file_by_its_name_and_by_its_content() -> None:
    entry = ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment,method-assign]  # keys are written with capitals
    entry.read(PACKAGING / "linux/usr/share/applications/assaypilot.desktop", encoding="utf-8")
    desktop = entry["Desktop Entry"]
    space = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}
    kind = ElementTree.parse(PACKAGING / "linux/usr/share/mime/packages/assaypilot.xml").find("m:mime-type", space)
    assert kind is not None
    assert desktop["MimeType"] == kind.get("type", "") + ";"
    assert (desktop["Exec"], desktop["Icon"]) == ("assaypilot %f", "assaypilot")
    assert [glob.get("pattern") for glob in kind.findall("m:glob", space)] == ["*.assaypilot"]
    content = (ROOT / "tests" / "golden" / "campaign_v2.assaypilot").read_bytes()
    matches = list(kind.iter(f"{{{space['m']}}}match"))
    assert len(matches) == 2
    for match in matches:
        offset, value = int(match.get("offset", "")), match.get("value", "").encode()
        assert content[offset : offset + len(value)] == value


def test_the_icon_is_drawn_for_every_system(packaging_module: Any, qapp: object, tmp_path: Path) -> None:
    from PIL import Image

    packaging_module("icons").write(tmp_path)
    for name, size in (("assaypilot-16.png", 16), ("assaypilot.ico", 256), ("assaypilot.icns", 1024)):
        with Image.open(tmp_path / name) as picture:
            assert picture.size[0] == size
            assert len(picture.convert("RGBA").getcolors(1 << 20)) > 3

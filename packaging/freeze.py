"""Makes the program that needs no Python: a wheel, installed anew, frozen by PyInstaller, then tried.

`dev.py freeze DIR` leaves in DIR the folder `assaypilot` (on a Mac also `AssayPilot.app`), with `--deb` a Debian
package beside it, and in `work` what can be used again: the environment and PyInstaller's notes. Standard library only.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import environment
import freeze_deb
import freeze_trial
from environment import ROOT, SetupError, say

PACKAGING = Path(__file__).resolve().parent
NAME = "assaypilot"
OURS = "made-by-dev-py-freeze"
SOURCES = ("pyproject.toml", "README.md", "LICENSE")


def freeze(folder: Path, deb: bool) -> int:
    """Return 0 when the program is made and does all that it is tried with, 1 when it does not."""
    if deb and shutil.which("dpkg-deb") is None:
        raise SetupError("A Debian package is made with dpkg-deb, which is not here.")
    folder = claimed(folder.resolve())
    work = folder / "work"
    python = fresh_environment(work / "env")
    say("Building and installing the wheel.")
    install_wheel(python, work)
    run([python, PACKAGING / "icons.py", work / "icons"], "The icons could not be drawn")
    say("Freezing (some minutes).")
    start = time.monotonic()
    command: list[str | Path] = [python, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    command += ["--distpath", folder, "--workpath", work / "pyinstaller", PACKAGING / "assaypilot.spec"]
    run(command, "PyInstaller failed", {"ASSAYPILOT_ICONS": str(work / "icons")})
    program, window = programs(folder)
    finish(program.parent)
    say(f"Made {program.parent}: {megabytes(program.parent):.0f} MB, in {time.monotonic() - start:.0f} s. Trying it.")
    try:
        figures = freeze_trial.try_program(program, window)
    except (freeze_trial.TrialError, subprocess.TimeoutExpired) as failure:
        say(f"The program does not work: {failure}")
        return 1
    say(freeze_trial.told(figures))
    (folder / "figures.json").write_text(
        json.dumps({"megabytes": round(megabytes(program.parent)), "seconds": figures}, indent=2), encoding="utf-8"
    )
    if deb:
        package = freeze_deb.build(program.parent, work / "icons", work / "deb", folder)
        say(f"Made {package}: {package.stat().st_size / 1e6:.0f} MB.")
    return 0


def claimed(folder: Path) -> Path:
    """Return the folder, made and marked as ours; SetupError for one that holds somebody else's files."""
    if folder.exists() and any(folder.iterdir()) and not (folder / OURS).exists():
        raise SetupError(f"{folder} holds other files, so it is left alone. Name an empty or a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / OURS).touch()
    return folder


def fresh_environment(folder: Path) -> Path:
    """Return the python of an environment with the locked requirements and nothing else, made unless it is there."""
    python = folder / ("Scripts/python.exe" if environment.WINDOWS else "bin/python")
    total = hashlib.sha256(sys.version.encode() + str(folder).encode())
    for level in ("run", "freeze"):
        total.update(environment.requirements(level).read_bytes())
    mark = folder / "complete"
    if mark.exists() and mark.read_text(encoding="utf-8") == total.hexdigest():
        return python
    if folder.exists():
        shutil.rmtree(folder)
    run([sys.executable, "-m", "venv", folder], "Python's venv module failed")
    for level in ("run", "freeze"):
        environment.install(python, level, ())
    mark.write_text(total.hexdigest(), encoding="utf-8")
    return python


def install_wheel(python: Path, work: Path) -> None:
    """Return nothing; builds a wheel from a copy of the source and installs that.

    An editable installation would freeze, and fail at its first start; building in place would leave files behind.
    """
    source, wheels = work / "source", work / "wheel"
    for path in (source, wheels):
        if path.exists():
            shutil.rmtree(path)
    source.mkdir()
    for name in SOURCES:
        shutil.copy(ROOT / name, source)
    for name in environment.PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    pip: list[str | Path] = [python, "-m", "pip", "--disable-pip-version-check"]
    local = ["--quiet", "--no-deps", "--no-index"]
    run([*pip, "wheel", *local, "--no-build-isolation", "--wheel-dir", wheels, source], "No wheel could be built")
    run([*pip, "install", *local, "--force-reinstall", next(wheels.glob("*.whl"))], "The wheel cannot be installed")


def run(command: list[str | Path], refusal: str, extra: dict[str, str] | None = None) -> None:
    """Return nothing; runs a command, SetupError with its last words when it fails."""
    done = environment.quietly([str(word) for word in command], extra)
    if done.returncode:
        raise SetupError(f"{refusal}:\n" + "\n".join((done.stdout + done.stderr).splitlines()[-30:]))


def programs(folder: Path) -> tuple[Path, Path]:
    """Return what runs the commands and what opens the window: one program, except on Windows."""
    if environment.WINDOWS:
        return folder / NAME / "assaypilot-console.exe", folder / NAME / "AssayPilot.exe"
    if sys.platform == "darwin":
        inside = folder / "AssayPilot.app" / "Contents" / "MacOS" / NAME
        return folder / NAME / NAME, inside
    return folder / NAME / NAME, folder / NAME / NAME


def finish(folder: Path) -> None:
    """Return nothing; adds what people read, and takes debugging symbols out of Python's library where it has any."""
    shutil.copy(ROOT / "LICENSE", folder / "LICENSE.txt")
    (folder / "LICENCES OF LIBRARIES.txt").write_text(LICENCES, encoding="utf-8")
    strip = shutil.which("strip")
    if strip is not None and sys.platform.startswith("linux"):
        for path in (folder / "_internal").glob("libpython*.so*"):
            if not path.is_symlink():
                run([strip, "--strip-debug", path], "Python's library could not be stripped")


LICENCES = """AssayPilot itself: MIT, see LICENSE.txt.

The libraries it stands on are in the folder _internal, each with its licence in a folder NAME-VERSION.dist-info;
Help > About AssayPilot > Libraries and licences lists and shows them.

Qt and Qt for Python (PySide6, shiboken6) are used under the GNU Lesser General Public License, version 3; its text and
that of the GNU General Public License are in _internal/pyside6_essentials-*.dist-info/licenses. They are separate
files in _internal/PySide6 and _internal/shiboken6: put libraries of your own, of the same version, in their place.
The source of Qt and of Qt for Python is published by The Qt Company.

The small program that starts it all is PyInstaller's: GNU General Public License, with an exception that lets it be
part of programs under any licence.
"""


def megabytes(folder: Path) -> float:
    """Return the size of all files of a folder in 10^6 bytes, links not followed."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6

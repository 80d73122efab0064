"""Makes the program that needs no Python: a wheel, installed, frozen by PyInstaller, then tried.

`dev.py freeze DIR` leaves in DIR the folder `assaypilot` (on a Mac also `AssayPilot.app`), with `--deb` a Debian
package beside it, and in `work` what can be used again: the environment and PyInstaller's notes. Standard library only.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import environment
import freeze_trial
from environment import ROOT, SetupError, check, say

PACKAGING = Path(__file__).resolve().parent
OURS = "made-by-dev-py-freeze"
UNRULY = {"libz.so.1": "zlib1g", "libgthread-2.0.so.0": "libglib2.0-0", "libglib-2.0.so.0": "libglib2.0-0"}
C_LIBRARY = re.compile(r"(ld-linux.*|lib(c|dl|m|pthread|rt|util))\.so\.\d+")


def freeze(folder: Path, deb: bool) -> int:
    """Return 0 when the program is made and does all that it is tried with, 1 when it does not."""
    if deb and shutil.which("dpkg-deb") is None:
        raise SetupError("A Debian package is made with dpkg-deb, which is not here.")
    folder = folder.resolve()
    if folder.exists() and any(folder.iterdir()) and not (folder / OURS).exists():
        raise SetupError(f"{folder} holds other files, so it is left alone. Name an empty or a new folder.")
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    (folder / OURS).touch()
    python = environment.make(work / "env", ["run", "freeze"], editable=False)
    say("Building and installing the wheel.")
    # Not editable, which PyInstaller cannot follow; and without modules that are gone, which setuptools keeps in build.
    for path in (ROOT / "build", work / "wheel"):
        shutil.rmtree(path, ignore_errors=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    local = ["--quiet", "--no-deps", "--no-index"]
    wheel = [*pip, "wheel", *local, "--no-build-isolation", "--wheel-dir", work / "wheel", ROOT]
    check(wheel, "No wheel could be built")
    check([*pip, "install", *local, "--force-reinstall", *(work / "wheel").glob("*.whl")], "The wheel is not installed")
    check([python, PACKAGING / "icons.py", work / "icons"], "The icons could not be drawn")
    say("Freezing (some minutes).")
    command = [python, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN", "--distpath", folder]
    command += ["--workpath", work / "pyinstaller", PACKAGING / "assaypilot.spec"]
    check(command, "PyInstaller failed", {"ASSAYPILOT_ICONS": str(work / "icons")})
    program = folder / "assaypilot"
    for source, name in (("LICENSE", "LICENSE.txt"), ("packaging/licences/NOTICE.txt", "LICENCES OF LIBRARIES.txt")):
        shutil.copy(ROOT / source, program / name)
    say(f"Made {program}: {megabytes(program):.0f} MB. Trying it.")
    try:
        freeze_trial.try_program(*programs(folder))
    except (freeze_trial.TrialError, subprocess.TimeoutExpired) as failure:
        say(f"The program does not work: {failure}")
        return 1
    if deb:
        package = debian(program, work / "icons", work / "deb", folder)
        say(f"Made {package}: {package.stat().st_size / 1e6:.0f} MB.")
    return 0


def programs(folder: Path) -> tuple[Path, Path]:
    """Return what runs the commands and what opens the window: one program, except on Windows."""
    if os.name == "nt":
        return folder / "assaypilot" / "assaypilot-console.exe", folder / "assaypilot" / "AssayPilot.exe"
    program = folder / "assaypilot" / "assaypilot"
    return program, folder / "AssayPilot.app/Contents/MacOS/assaypilot" if sys.platform == "darwin" else program


def megabytes(folder: Path) -> float:
    """Return the size of all files of a folder, links not followed."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


def debian(program: Path, icons: Path, work: Path, folder: Path) -> Path:
    """Return the Debian package of the program's folder; `work` is emptied, the package lands in `folder`.

    The program lies in /usr/lib/assaypilot, its command in /usr/bin; the desktop learns of it, of its icon and of
    *.assaypilot files.
    """
    control = (PACKAGING / "linux" / "control").read_text(encoding="utf-8")
    lacking = foreign(program, control)
    if lacking:
        raise SetupError(
            f"The program needs {', '.join(sorted(lacking))}, which no package it depends on brings. Add each to "
            "packaging/linux/control, or leave out what needs it in packaging/assaypilot.spec."
        )
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(program, work / "usr/lib/assaypilot", symlinks=True)
    shutil.copytree(PACKAGING / "linux" / "usr", work / "usr", dirs_exist_ok=True)
    copies = {"doc/assaypilot/copyright": ROOT / "LICENSE"}
    for path in icons.glob("assaypilot-*.png"):
        size = path.stem.rpartition("-")[2]
        for name in ("apps/assaypilot.png", "mimetypes/application-x-assaypilot.png"):
            copies[f"icons/hicolor/{size}x{size}/{name}"] = path
    for place, source in copies.items():
        (work / "usr/share" / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, work / "usr/share" / place)
    (work / "usr/bin").mkdir()
    (work / "usr/bin/assaypilot").symlink_to("../lib/assaypilot/assaypilot")
    for path in (work, *work.rglob("*")):  # whatever the mask of who builds it
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    architecture = check(["dpkg", "--print-architecture"], "dpkg failed").strip()
    terms = {"version": project["version"], "architecture": architecture, "kilobytes": round(megabytes(work) * 1000)}
    (work / "DEBIAN").mkdir()
    text = control.format(libc=f"libc6 (>= {platform.libc_ver()[1]})", **terms)
    (work / "DEBIAN" / "control").write_text(text, encoding="utf-8")
    package = folder / f"assaypilot_{project['version']}_{architecture}.deb"
    # xz would take ten times as long to make it a little smaller; Debian 12 and Ubuntu 22.04 read zstd.
    check(["dpkg-deb", "--root-owner-group", "-Zzstd", "-z9", "--build", work, package], "dpkg-deb failed")
    return package


def foreign(program: Path, control: str) -> set[str]:
    """Return the libraries that the program asks the system for and no dependency of the package brings."""
    files = [path for path in program.rglob("*.so*") if path.is_file()]
    told = check(["objdump", "--private-headers", *(path for path in files if not path.is_symlink())], "objdump failed")
    wanted = set(re.findall(r"(?m)^ *NEEDED +(\S+)$", told)) - {path.name for path in files}
    return {name for name in wanted if not C_LIBRARY.fullmatch(name) and f" {deb_name(name)}" not in control}


def deb_name(library: str) -> str:
    """Return the Debian package of a library, by the rule for their names: libX11.so.6 is in libx11-6."""
    if library in UNRULY:
        return UNRULY[library]
    name, _, number = library.lower().partition(".so.")
    return f"{name}-{number}" if name[-1:].isdigit() else name + number

"""Makes a Debian package of the packaged program. Standard library and dpkg-deb only.

The program lies in /usr/lib/assaypilot, its command in /usr/bin; the desktop learns of it, of its icon and of
*.assaypilot files. What Qt wants of the system is a dependency, by the table that also serves dev.py.
"""

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import freeze_parts
import system_packages
from environment import ROOT, SetupError

LINUX = Path(__file__).resolve().parent / "linux"
FOLDERS = ("usr/bin", "usr/lib", "usr/share/applications", "usr/share/mime/packages", "usr/share/doc/assaypilot")
# What the libraries of the table above all stand on, and what every system has.
BASE = {
    "libxcb.so.1": "libxcb1",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libz.so.1": "zlib1g",
}
C_LIBRARY = re.compile(r"(ld-linux.*|lib(c|dl|m|pthread|rt|util))\.so\.\d+")
# In Debian and Ubuntu of today these have other names where time became 64 bits wide.
RENAMED = {"libglib2.0-0": "libglib2.0-0 | libglib2.0-0t64"}
CONTROL = """Package: assaypilot
Version: {version}
Section: science
Priority: optional
Architecture: {architecture}
Installed-Size: {kilobytes}
Depends: {depends}
Recommends: shared-mime-info, desktop-file-utils, hicolor-icon-theme
Maintainer: AssayPilot authors <assaypilot@localhost>
Description: decides which compounds to assay next, and knows when to stop
 For medicinal chemists with a lead series: each round a fixed list of
 compounds with replicates and the reason for every pick, until the set of
 compounds within a chosen distance of the best is decided. Works offline.
"""


def build(program: Path, icons: Path, work: Path, folder: Path) -> Path:
    """Return the package made of the program's folder; `work` is emptied, the package lands in `folder`."""
    lacking = foreign(program) if shutil.which("objdump") else set()
    if lacking:
        raise SetupError(
            f"The program asks for {', '.join(sorted(lacking))}, which no package it depends on brings. Add each to "
            "packaging/system_packages.py, or leave out what asks for it in packaging/freeze_parts.py."
        )
    if work.exists():
        shutil.rmtree(work)
    for folder_inside in FOLDERS:
        (work / folder_inside).mkdir(parents=True)
    shutil.copytree(program, work / "usr/lib/assaypilot", symlinks=True)
    os.symlink("../lib/assaypilot/assaypilot", work / "usr/bin/assaypilot")
    shutil.copy(LINUX / "assaypilot.desktop", work / "usr/share/applications")
    shutil.copy(LINUX / "assaypilot.xml", work / "usr/share/mime/packages")
    shutil.copy(ROOT / "LICENSE", work / "usr/share/doc/assaypilot/copyright")
    hicolor = work / "usr/share/icons/hicolor"
    for picture in sorted(icons.glob("assaypilot-*.png")):
        size = picture.stem.rpartition("-")[2]
        for kind, name in (("apps", "assaypilot"), ("mimetypes", "application-x-assaypilot")):
            place = hicolor / f"{size}x{size}" / kind
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(picture, place / f"{name}.png")
    for path in (work, *work.rglob("*")):  # whatever the mask of who builds it
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
    version = freeze_parts.version()
    architecture = said("dpkg", "--print-architecture")
    total = sum(path.lstat().st_size for path in work.rglob("*") if not path.is_dir() or path.is_symlink())
    (work / "DEBIAN").mkdir()
    (work / "DEBIAN" / "control").write_text(
        CONTROL.format(
            version=version, architecture=architecture, kilobytes=total // 1024 + 1, depends=", ".join(depends())
        ),
        encoding="utf-8",
    )
    package = folder / f"assaypilot_{version}_{architecture}.deb"
    # xz would take ten times as long to make it a little smaller; Debian 12 and Ubuntu 22.04 read zstd.
    said("dpkg-deb", "--root-owner-group", "-Zzstd", "-z9", "--build", str(work), str(package))
    return package


def depends() -> list[str]:
    """Return what the package depends on: the C library it was built with, or newer, and what Qt loads."""
    library, version = platform.libc_ver()
    base = [f"libc6 (>= {version})"] if library == "glibc" else []
    return [*base, *(RENAMED.get(name, name) for name in sorted(set(known().values())))]


def known() -> dict[str, str]:
    """Return the libraries that are left to the system, and the Debian package of each."""
    column = system_packages.MANAGERS.index("apt-get")
    tables = (system_packages.ALWAYS, system_packages.X11, system_packages.WAYLAND)
    return BASE | {library: names[column] for table in tables for library, names in table.items()}


def foreign(program: Path) -> set[str]:
    """Return the libraries that the program asks the system for and no dependency of the package brings."""
    files = [path for path in program.rglob("*.so*") if path.is_file()]
    real = [str(path) for path in files if not path.is_symlink()]
    wanted = set(re.findall(r"(?m)^ *NEEDED +(\S+)$", said("objdump", "--private-headers", *real))) if real else set()
    there = {path.name for path in files} | known().keys()
    return {name for name in wanted - there if not C_LIBRARY.fullmatch(name)}


def said(*command: str) -> str:
    """Return what a command prints; SetupError with its words when it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"{command[0]} failed:\n{done.stderr}")
    return done.stdout.strip()

"""Makes a Debian package of the packaged program. Standard library and dpkg-deb only.

The program lies in /usr/lib/assaypilot, its command in /usr/bin; the desktop learns of it, of its icon and of
*.assaypilot files. What Qt wants of the system is a dependency, by the table that also serves dev.py.
"""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import freeze_parts
import system_packages
from environment import ROOT, SetupError

LINUX = Path(__file__).resolve().parent / "linux"
FOLDERS = ("usr/bin", "usr/lib", "usr/share/applications", "usr/share/mime/packages", "usr/share/doc/assaypilot")
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
    said("dpkg-deb", "--root-owner-group", "-Zxz", "-z3", "--build", str(work), str(package))
    return package


def depends() -> list[str]:
    """Return what the package depends on: the C library it was built with, or newer, and what Qt loads."""
    column = system_packages.MANAGERS.index("apt-get")
    tables = (system_packages.ALWAYS, system_packages.X11, system_packages.WAYLAND)
    names = {names[column] for table in tables for names in table.values()}
    library, version = platform.libc_ver()
    base = [f"libc6 (>= {version})"] if library == "glibc" else []
    return [*base, "zlib1g", *(RENAMED.get(name, name) for name in sorted(names))]


def said(*command: str) -> str:
    """Return what a command prints; SetupError with its words when it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"{command[0]} failed:\n{done.stderr}")
    return done.stdout.strip()

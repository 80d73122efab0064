"""What a bare Linux may lack, and the one line that installs it there: Qt's system libraries, Python's venv."""

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

# The order of the names in the tables below.
MANAGERS = ("apt-get", "dnf", "zypper", "pacman")
INSTALL = {
    "apt-get": ["apt-get", "install", "-y"],
    "dnf": ["dnf", "install", "-y"],
    "zypper": ["zypper", "--non-interactive", "install"],
    "pacman": ["pacman", "-S", "--noconfirm", "--needed"],
}
# What Qt and RDKit load even without a display, and what the wheels do not bring along.
ALWAYS = {
    "libEGL.so.1": ("libegl1", "libglvnd-egl", "libglvnd", "libglvnd"),
    "libGL.so.1": ("libgl1", "libglvnd-glx", "libglvnd", "libglvnd"),
    "libX11.so.6": ("libx11-6", "libX11", "libX11-6", "libx11"),
    "libXext.so.6": ("libxext6", "libXext", "libXext6", "libxext"),
    "libXrender.so.1": ("libxrender1", "libXrender", "libXrender1", "libxrender"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs", "libdbus-1-3", "dbus"),
    "libexpat.so.1": ("libexpat1", "expat", "libexpat1", "expat"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig", "libfontconfig1", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype", "libfreetype6", "freetype2"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2", "libglib-2_0-0", "glib2"),
    "libgthread-2.0.so.0": ("libglib2.0-0", "glib2", "libgthread-2_0-0", "glib2"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon", "libxkbcommon0", "libxkbcommon"),
    "libzstd.so.1": ("libzstd1", "libzstd", "libzstd1", "zstd"),
}
X11 = {
    "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb", "libX11-xcb1", "libx11"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor", "libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm", "libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image", "libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms", "libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-randr.so.0": ("libxcb-randr0", "libxcb", "libxcb-randr0", "libxcb"),
    "libxcb-render-util.so.0": (
        "libxcb-render-util0",
        "xcb-util-renderutil",
        "libxcb-render-util0",
        "xcb-util-renderutil",
    ),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb", "libxcb-shape0", "libxcb"),
    "libxcb-util.so.1": ("libxcb-util1", "xcb-util", "libxcb-util1", "xcb-util"),
    "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb", "libxcb-xkb1", "libxcb"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11-0", "libxkbcommon-x11"),
}
WAYLAND = {
    "libwayland-client.so.0": ("libwayland-client0", "libwayland-client", "libwayland-client0", "wayland"),
    "libwayland-cursor.so.0": ("libwayland-cursor0", "libwayland-cursor", "libwayland-cursor0", "wayland"),
    "libwayland-egl.so.1": ("libwayland-egl1", "libwayland-egl", "libwayland-egl1", "wayland"),
}


def missing_libraries(display: bool) -> list[str]:
    """Return the libraries that cannot be loaded, by their file names; with those of the display in use if asked."""
    if not sys.platform.startswith("linux"):
        return []
    wanted = [*ALWAYS]
    if display:
        wanted += X11 if os.environ.get("DISPLAY") else []
        wanted += WAYLAND if os.environ.get("WAYLAND_DISPLAY") else []
    missing = []
    for name in wanted:
        try:
            ctypes.CDLL(name)
        except OSError:
            missing.append(name)
    return missing


def manager() -> str | None:
    """Return this system's package manager, None when it is none of those we know."""
    return next((name for name in MANAGERS if shutil.which(name)), None)


def packages(libraries: Sequence[str]) -> list[str]:
    """Return the packages of this system that hold the libraries; empty when its package manager is not known."""
    known = manager()
    if known is None:
        return []
    column = MANAGERS.index(known)
    table = {**ALWAYS, **X11, **WAYLAND}
    return sorted({table[name][column] for name in libraries})


def mend(libraries: Sequence[str]) -> str:
    """Return the sentence that names what is missing and the exact line that installs it; empty when nothing is."""
    if not libraries:
        return ""
    names = packages(libraries)
    text = "Missing system libraries: " + ", ".join(libraries) + ".\n"
    if not names:
        return text + "Install them with your system's package manager, and start again."
    return text + "Install them with:  " + line(names) + "\nor let this script do it: add --system."


def line(names: Sequence[str]) -> str:
    """Return the line a person types to install packages."""
    known = manager()
    assert known is not None
    return "sudo " + " ".join([*INSTALL[known], *names])


def provide(libraries: Sequence[str], allowed: bool) -> bool:
    """Install the packages of the libraries if allowed; return whether that was done."""
    names = packages(libraries)
    return bool(names) and allowed and install(names)


def install(names: Sequence[str]) -> bool:
    """Run the package manager as root, or through sudo when that asks no password; return whether it succeeded."""
    known = manager()
    if known is None or sys.platform == "win32":
        return False
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if root and shutil.which("sudo") is None:
        return False
    print("Installing system packages: " + " ".join(names), flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if known == "apt-get":
        subprocess.run([*root, "apt-get", "update"], env=environment, stdout=subprocess.DEVNULL)
    return subprocess.run([*root, *INSTALL[known], *names], env=environment, stdout=subprocess.DEVNULL).returncode == 0


def venv_is_missing() -> bool:
    """Return whether this Python came without what makes environments, as Debian's does."""
    return any(importlib.util.find_spec(name) is None for name in ("venv", "ensurepip"))


def venv_package() -> list[str]:
    """Return the package that brings venv; empty where it is part of Python's own package."""
    return ["python{}.{}-venv".format(*sys.version_info[:2])] if manager() == "apt-get" else []


def provide_venv(allowed: bool) -> bool:
    """Install Python's venv if allowed; return whether it is there now."""
    if venv_package() and allowed and install(venv_package()):
        importlib.invalidate_caches()
    return not venv_is_missing()


def venv_mend() -> str:
    """Return the sentence that says venv is missing and how to get it."""
    text = "This Python cannot make environments: its modules venv and ensurepip are missing.\n"
    if not venv_package():
        return text + "Install a complete Python 3.11 or newer, and start again with that."
    return text + "Install them with:  " + line(venv_package()) + "\nor let this script do it: add --system."

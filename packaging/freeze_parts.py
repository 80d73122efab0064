"""What the packaged program is made of: read from the source, so that nothing loaded by name can be forgotten.

Used by `assaypilot.spec` while PyInstaller runs and by the tests. Standard library only.
"""

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# Loaded by name by libraries, where PyInstaller cannot see it.
LOADED_BY_NAME = [
    # Started by frozen_start.py.
    f"joblib.externals.loky.backend.popen_loky_{'win32' if sys.platform == 'win32' else 'posix'}",
    "joblib.externals.loky.backend.resource_tracker",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "reportlab.pdfbase._fontdata",
    "reportlab.rl_settings",
]

# Never imported by the program: some library asks for it when it happens to be there, or for its own tests.
LEFT_OUT = [
    *(
        "tkinter",
        "_tkinter",
        "turtle",
        "readline",
        "idlelib",
        "ensurepip",
        "pip",
        "setuptools",
        "pkg_resources",
        "wheel",
        "yaml",
    ),
    *("pytest", "hypothesis", "IPython", "ipykernel", "jupyter", "notebook", "sphinx", "docutils"),
    *("PyQt5", "PyQt6", "PySide2", "wx", "gi", "distributed", "dask", "bokeh", "numba", "pyarrow", "sqlalchemy"),
    *("matplotlib.tests", "pandas", "joblib.test", "PIL._avif", "PIL.ImageTk"),
    "assaypilot.engine.notebook",  # for notebooks and scripts, which have a Python and pandas of their own
    *("rdkit.Chem.Draw.IPythonConsole", "rdkit.Chem.PandasTools"),
    *("PySide6.QtNetwork", "PySide6.QtQml", "PySide6.QtQuick", "PySide6.QtDBus", "PySide6.QtOpenGL"),
    *("PySide6.QtDesigner", "PySide6.QtSql", "PySide6.QtTest", "PySide6.QtXml"),
]

# Of Qt, by the beginning of what follows "libQt6", "Qt6" or "Qt": what only its unused plugins want.
QT_LEFT_OUT = ("Qml", "Quick", "VirtualKeyboard", "Pdf", "Designer", "Sql", "Test", "Labs", "Network", "EglFS", "EglFs")
# Folders of Qt's plugins that nothing here asks for: the program opens no connection and runs on no bare screen.
QT_PLUGINS_LEFT_OUT = ("networkinformation", "tls", "qmltooling", "sqldrivers", "designer", "egldeviceintegrations")
# Single plugins: screens without a desktop, touch over the network, a keyboard in QML, kinds of pictures never read,
# and a theme that would bring GTK of the machine it was built on beside that of the machine it runs on.
QT_PLUGIN_FILES_LEFT_OUT = (
    *("qeglfs", "qlinuxfb", "qminimal", "qvnc", "qvkkhrdisplay", "qtuiotouch", "qgtk3"),
    *("qtvirtualkeyboard", "qpdf", "qtiff", "qwebp", "qtga", "qwbmp", "qicns"),
)

# Data of libraries that no function of the program reads, and the metadata of those that are left out.
DATA_LEFT_OUT = (
    "matplotlib/mpl-data/sample_data",
    "matplotlib/mpl-data/images",
    "PySide6/Qt/translations",
    "PySide6/translations",
    "pandas-",
    "tzdata",
)

# What the locked Qt is built for.
OLDEST_MACOS = "13.0"
# Folders that a Mac guards, and what it says to whoever is asked.
MAC_FOLDERS = ("DesktopFolder", "DocumentsFolder", "DownloadsFolder", "RemovableVolumes", "NetworkVolumes")
WHY_FOLDERS = "AssayPilot reads the tables you choose, and keeps campaigns where you put them."

# Of what Python itself links to, all that comes along on Linux. Everything else that belongs to the system (X11, fonts,
# glib, D-Bus) stays with it: a second copy beside the system's own is how such programs come to crash.
LINUX_KEPT = (
    *("libpython", "libssl", "libcrypto", "libffi", "libsqlite3", "libbz2", "liblzma", "libuuid", "libmpdec"),
    *("libstdc++", "libgcc_s", "libgomp", "libgfortran", "libquadmath"),
)


def project() -> dict[str, Any]:
    """Return what pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def version() -> str:
    """Return the program's version."""
    return str(project()["project"]["version"])


def numbers() -> tuple[int, int, int, int]:
    """Return the version as the four numbers that Windows wants."""
    found = [int(part) for part in re.findall(r"\d+", version())[:3]]
    major, minor, patch = (*found, 0, 0, 0)[:3]
    return major, minor, patch, 0


def version_resource(program: str) -> str:
    """Return what the properties of a Windows program say about it, as PyInstaller reads it from a file."""
    texts = {
        "CompanyName": project()["project"]["authors"][0]["name"],
        "FileDescription": "AssayPilot" if program == "AssayPilot" else "AssayPilot (commands)",
        "FileVersion": version(),
        "InternalName": program,
        "LegalCopyright": "MIT licence",
        "OriginalFilename": f"{program}.exe",
        "ProductName": "AssayPilot",
        "ProductVersion": version(),
    }
    table = ", ".join(f"StringStruct({name!r}, {text!r})" for name, text in texts.items())
    fixed = f"filevers={numbers()}, prodvers={numbers()}, mask=0x3F, flags=0, OS=0x40004, fileType=1, subtype=0"
    return (  # in English (United States), as UTF-16
        f"VSVersionInfo(ffi=FixedFileInfo({fixed}, date=(0, 0)), kids=[\n"
        f"  StringFileInfo([StringTable('040904B0', [{table}])]),\n"
        f"  VarFileInfo([VarStruct('Translation', [1033, 1200])]),\n"
        f"])\n"
    )


def packages() -> dict[str, Path]:
    """Return the folder of every package that is installed, by import name."""
    names = project()["tool"]["setuptools"]["packages"]
    return {name: ROOT / name.removeprefix("assaypilot.").replace(".", "/") for name in names}


def modules() -> list[str]:
    """Return every module of the program by its import name, whoever imports it and however.

    So a strategy, a format or a page that is loaded by its name is in the packaged program from the day its file is.
    """
    found = []
    for package, folder in packages().items():
        if package in LEFT_OUT:
            continue
        stems = (path.stem for path in folder.glob("*.py"))
        found += [package if stem == "__init__" else f"{package}.{stem}" for stem in stems]
    return sorted(found)


def by_name(file: str, *tables: str) -> dict[str, str]:
    """Return the tables by which a file loads modules: what a person names, and the module beside the file."""
    found = {}
    for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id in tables for target in targets):
            for name, value in ast.literal_eval(node.value).items():
                found[name] = value.rpartition(".")[0] if isinstance(value, str) else value[-1]
    return found


def is_wanted(name: str, source: str = "") -> bool:
    """Return whether a file belongs into the packaged program, by its place there and where it comes from."""
    place = name.replace("\\", "/")
    if source.startswith(("/lib", "/usr/lib")) and "/" not in place and ".so" in place:
        return place.startswith(LINUX_KEPT)
    if any(place.startswith(folder) for folder in DATA_LEFT_OUT) or "/tests/" in place:
        return False
    if "PySide6/" not in place and "Qt" not in place:
        return True
    parts = place.split("/")
    plain = parts[-1].removeprefix("lib")
    # On a Mac a library is a folder QtNetwork.framework: what is left of one without its library could not be signed.
    for name in (plain, *(part for part in parts if part.endswith(".framework"))):
        for start in ("Qt6", "Qt"):
            if name.startswith(start) and name.removeprefix(start).startswith(QT_LEFT_OUT):
                return False
    if "plugins" in parts:
        folder = parts[parts.index("plugins") + 1]
        return folder not in QT_PLUGINS_LEFT_OUT and not plain.startswith(QT_PLUGIN_FILES_LEFT_OUT)
    return "qml" not in parts

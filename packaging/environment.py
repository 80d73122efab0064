"""The project's own Python environment: `.venv` beside the source, made and repaired by dev.py.

It is what `pip install -r packaging/requirements-dev.txt` and `pip install -e .` make, and links for mypy, which
cannot follow an editable installation: `.venv/links/assaypilot/engine` and so on.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess, run

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STATE = "assaypilot-setup.json"
"""In an environment: what it was made by and from. Without it a folder is somebody else's."""
BINARIES, ENDING = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")
LOCKS = {"run": "requirements.txt", "dev": "requirements-dev.txt", "freeze": "requirements-freeze.txt"}
FOREIGN = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "__PYVENV_LAUNCHER__"}
FOREIGN |= {"PYTHONDONTWRITEBYTECODE"}
"""Variables that lead a child process to another Python's packages, or make it compile them at every start."""


class SetupError(Exception):
    """The machine lacks something: plain words and what to do."""


def say(text: str) -> None:
    """Print at once, also into a pipe."""
    print(text, flush=True)


def lock(level: str) -> Path:
    """Return the locked requirements of a level: `run`, `dev`, or what `freeze` needs beside `run`."""
    return ROOT / "packaging" / LOCKS[level]


def script(name: str, venv: Path = VENV) -> Path:
    """Return where an environment has the command `name`."""
    return venv / BINARIES / (name + ENDING)


def call(command: Sequence[object], extra: dict[str, str] | None = None) -> int:
    """Run a command in the project's root, its output shown as it comes; return its exit code."""
    return child(command, extra, kept=False).returncode


def child(command: Sequence[object], extra: dict[str, str] | None = None, kept: bool = True) -> CompletedProcess[str]:
    """Run a command in the project's root and return what it did, its output kept or shown."""
    variables = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    variables |= {"PYTHONNOUSERSITE": "1", **(extra or {})}
    words = list(map(str, command))
    return run(words, cwd=ROOT, env=variables, capture_output=kept, text=True, errors="replace")


def check(command: Sequence[object], refusal: str, extra: dict[str, str] | None = None) -> str:
    """Run a command and return what it printed; raise SetupError with its last lines when it fails."""
    done = child(command, extra)
    if done.returncode:
        raise SetupError(f"{refusal}:\n" + "\n".join((done.stdout + done.stderr).splitlines()[-30:]))
    return done.stdout


def ready(level: str) -> Path:
    """Return the python of `.venv`, after making or repairing whatever is missing for the level."""
    if read_state(VENV).get("level") == "dev":
        level = "dev"  # it holds everything of `run`, and is kept complete
    python = make(VENV, [level], editable=True)
    links = VENV / "links" / "assaypilot"
    links.mkdir(parents=True, exist_ok=True)
    for name in ("datasets", "engine", "gui"):
        if not (links / name).exists():
            if sys.platform == "win32":
                import _winapi

                _winapi.CreateJunction(str(ROOT / name), str(links / name))  # a symbolic link would need rights
            else:
                (links / name).symlink_to(ROOT / name, target_is_directory=True)
    return python


def make(venv: Path, levels: Sequence[str], editable: bool) -> Path:
    """Return the python of an environment with the locked requirements of the levels, made or completed.

    pip checks every file against its hash. An environment whose set-up was stopped, that was moved, or that belongs to
    another Python is made again: pip would take a package of which it wrote half for complete.
    """
    python, state = script("python", venv), read_state(venv)
    made_by = f"Python {sys.version_info[0]}.{sys.version_info[1]} at {venv}"
    read = b"".join(path.read_bytes() for path in (*map(lock, levels), ROOT / "pyproject.toml"))
    digest = hashlib.sha256(read).hexdigest()
    if state.get("digest") == digest and state.get("made_by") == made_by and python.exists():
        return python
    if venv.exists() and any(venv.iterdir()) and not (venv / STATE).exists():
        raise SetupError(f"{venv} was not made by this script. Move it away or delete it, and start again.")
    fresh = "digest" not in state or state.get("made_by") != made_by or not python.exists()
    venv.mkdir(parents=True, exist_ok=True)
    (venv / STATE).write_text("{}", encoding="utf-8")
    if fresh:
        say(f"Making {venv} with {made_by.partition(' at')[0]}.")
        for path in set(venv.iterdir()) - {venv / STATE}:  # rmtree follows neither links nor junctions
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        check([sys.executable, "-m", "venv", venv], "Python's venv module failed")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    for level in levels:
        say(f"Installing the packages of {lock(level).name} (several minutes the first time).")
        hashed = ["--require-hashes", "--only-binary", ":all:", "--quiet", "-r", lock(level)]
        if call([*pip, *hashed]):
            raise SetupError(
                "The packages could not be installed; above is what pip said. It needs a connection to a package index "
                "(or the mirror of its own settings), 1 GB of disk, and a system that the README names."
            )
    if editable:
        local = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--editable", ROOT]
        check([*pip, *local], "The project could not be installed into .venv")
    state = {"made_by": made_by, "level": levels[-1], "digest": digest}
    (venv / STATE).write_text(json.dumps(state), encoding="utf-8")
    return python


def read_state(venv: Path) -> dict[str, str]:
    """Return what the last set-up of an environment wrote down; empty when it did not end."""
    try:
        return dict(json.loads((venv / STATE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def why_not(python: Path, system: bool, offscreen: bool) -> str | None:
    """Return None when Qt starts, otherwise the reason and the mend; `system` lets apt-get install what is missing."""
    probe = [python, "-c", "import PySide6.QtWidgets as w; w.QApplication([])"]
    extra = {"QT_QPA_PLATFORM": "offscreen"} if offscreen else {}
    done = child(probe, extra)
    control = (ROOT / "packaging" / "linux" / "control").read_text(encoding="utf-8")
    depends = control.partition("{libc}, ")[2].partition("\n")[0].split(", ")
    apt = ["apt-get", "install", "-y", *(names.partition(" |")[0] for names in depends)]
    debian = shutil.which("apt-get") is not None
    if done.returncode and debian and system:
        say("Installing the system libraries of Qt.")
        root = [] if os.geteuid() == 0 or not shutil.which("sudo") else ["sudo", "-n"]
        for words in (["apt-get", "update"], apt):
            child([*root, *words], {"DEBIAN_FRONTEND": "noninteractive"})
        done = child(probe, extra)
    if not done.returncode:
        return None
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()] or [f"code {done.returncode}"]
    reason = said[-1 if said[0].startswith("Traceback") else 0]  # Python says it last, Qt first
    mend = f"run  sudo {' '.join(apt)}\nor add --system" if debian else "install the library with your package manager"
    return f"Qt cannot start: {reason}\nIf a system library is missing, {mend}."

"""The project's own Python environment: `.venv` beside the source, made and repaired by dev.py.

Each package folder is reached through a link, `.venv/links/assaypilot/engine` and so on, and one `.pth` file names
`.venv/links`. So the source runs as it stands, mypy sees it, and nothing is installed again after an edit. What pip
installs of the project itself is only its metadata and the `assaypilot` command, never a second copy of the code.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import system_packages

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LINKS = VENV / "links" / "assaypilot"
PACKAGES = ("datasets", "engine", "gui")
STATE = VENV / "assaypilot-setup.json"
LOCK = VENV / "assaypilot-setup.lock"
WINDOWS = os.name == "nt"
LEVELS = {"run": "requirements.txt", "dev": "requirements-dev.txt", "freeze": "requirements-freeze.txt"}
METADATA_CODE = "import sys, setuptools.build_meta as b; print(b.prepare_metadata_for_build_wheel(sys.argv[1]))"
WHEEL_TEXT = "Wheel-Version: 1.0\nGenerator: assaypilot dev.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class SetupError(Exception):
    """The machine lacks something: plain words and what to do."""


def say(text: str, end: str = "\n") -> None:
    """Print at once, also into a pipe."""
    print(text, end=end, flush=True)


def requirements(level: str) -> Path:
    """Return the locked requirements of a level: `run`, `dev`, or what `freeze` needs beside `run`."""
    return ROOT / "packaging" / LEVELS[level]


def pinned(level: str) -> int:
    """Return how many packages the lock of a level names."""
    with requirements(level).open(encoding="utf-8") as file:
        return sum(not line.startswith(("#", " ", "\n")) for line in file)


def script(name: str) -> Path:
    """Return where pip puts the command `name`."""
    return VENV / ("Scripts" if WINDOWS else "bin") / (name + (".exe" if WINDOWS else ""))


def variables(extra: dict[str, str] | None = None) -> dict[str, str]:
    """Return the environment of every child process: nothing may lead it to another Python's packages."""
    dropped = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "__PYVENV_LAUNCHER__"}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "PYTHONNOUSERSITE": "1", **(extra or {})}


def call(command: Sequence[str | Path], extra: dict[str, str] | None = None) -> int:
    """Run a command in the project's root, its output shown as it comes; return its exit code."""
    return subprocess.run(list(map(str, command)), cwd=ROOT, env=variables(extra)).returncode


def quietly(
    command: Sequence[str | Path], extra: dict[str, str] | None = None, seconds: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in the project's root and return what it did, its output kept."""
    return subprocess.run(
        list(map(str, command)),
        cwd=ROOT,
        env=variables(extra),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
    )


def probe(python: Path, code: str, extra: dict[str, str]) -> str | None:
    """Return None when the code runs, otherwise the line of its stderr that says why not."""
    try:
        done = quietly([python, "-c", code], extra, seconds=60)
    except subprocess.TimeoutExpired:
        return "no answer within a minute"
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    if not lines:
        return f"it ended with code {done.returncode} and no message"
    # Python says it last, Qt first.
    return lines[-1] if any(line.startswith("Traceback") for line in lines) else lines[0]


def ready(level: str, system: bool) -> Path:
    """Return the environment's python, after making or repairing whatever is missing for the level."""
    python = script("python")
    with one_at_a_time() as inherited:
        state = read_state()
        if state.get("level") == "dev":
            level = "dev"  # it holds everything of `run`, and is kept complete
        if state.get("digest") == digest(level) and state.get("made_by") == made_by() and python.exists():
            link_packages()
            return python
        rebuild = "digest" not in state or state.get("made_by") != made_by() or not python.exists()
        if rebuild:
            create(system)
        # Without a digest the environment counts as unfinished, until the last line below: pip may be killed
        # between two files of a package and would later take that package for complete.
        write_state({"made_by": made_by()})
        install(python, level, inherited)
        link_packages()
        install_project(python)
        write_state({"made_by": made_by(), "level": level, "digest": digest(level)})
    return python


def digest(level: str) -> str:
    """Return what the installed packages follow from: the lock, pyproject.toml and this file."""
    total = hashlib.sha256(level.encode())
    for path in (requirements(level), ROOT / "pyproject.toml", Path(__file__)):
        total.update(path.read_bytes())
    return total.hexdigest()


def made_by() -> str:
    """Return what the environment itself follows from: this Python's version, and the place."""
    return f"Python {sys.version_info[0]}.{sys.version_info[1]} at {VENV}"


def read_state() -> dict[str, str]:
    """Return what the last set-up wrote down; empty when there is none or it cannot be read."""
    try:
        state = json.loads(STATE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def write_state(state: dict[str, str]) -> None:
    """Write the state in one step, so that a kill leaves the old one or the new one."""
    part = STATE.with_suffix(".part")
    part.write_text(json.dumps(state), encoding="utf-8")
    os.replace(part, STATE)


def remembered(name: str) -> bool:
    """Return whether a check has passed since the last set-up."""
    return read_state().get(name) == "ok"


def remember(name: str) -> None:
    """Note that a check has passed."""
    write_state({**read_state(), name: "ok"})


@contextmanager
def one_at_a_time() -> Iterator[Sequence[int]]:
    """Hold a lock of the operating system, so that two starts at once do not build the same environment.

    Yields what pip inherits, so that the lock outlives a killed script for as long as its pip still writes. The lock's
    file is also the mark by which an environment is known as ours to replace.
    """
    if VENV.exists() and not LOCK.exists() and any(VENV.iterdir()):
        raise SetupError(
            f"{VENV} was not made by this script, so it is left alone. Move it away or delete it, and start again."
        )
    VENV.mkdir(exist_ok=True)
    with LOCK.open("a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            waiting = False
            while True:
                file.seek(0)
                try:
                    msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                    break
                except OSError:
                    if not waiting:
                        say("Another start is setting up .venv; waiting for it.")
                    waiting = True
                    time.sleep(1)
            try:
                yield ()
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
        else:
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("Another start is setting up .venv; waiting for it.")
                fcntl.flock(file, fcntl.LOCK_EX)
            yield (file.fileno(),)  # closing the file releases the lock


def create(system: bool) -> None:
    """Make a new `.venv`, in the place of an unfinished, moved or outdated one."""
    if system_packages.venv_is_missing() and not system_packages.provide_venv(system):
        raise SetupError(system_packages.venv_mend())
    write_state({})
    remains = [path for path in VENV.iterdir() if path not in (LOCK, STATE)]
    if remains:
        say("Replacing .venv: it is unfinished, was moved, or belongs to another Python.")
    # The links first, so that nothing that deletes folders can follow them into the source.
    for name in PACKAGES:
        remove_link(LINKS / name)
    for path in remains:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    say("Making .venv with Python {}.{}.{}.".format(*sys.version_info[:3]))
    done = quietly([sys.executable, "-m", "venv", VENV])
    if done.returncode:
        raise SetupError("Python's venv module failed:\n" + done.stdout + done.stderr)


def install(python: Path, level: str, inherited: Sequence[int]) -> None:
    """Install the locked requirements, every file checked against its hash; pip inherits the lock."""
    path = requirements(level)
    say(f"Installing up to {pinned(level)} packages from {path.name} (several minutes the first time).")
    command = [str(python), "-m", "pip", "install", "--require-hashes", "--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar", "off", "-r", str(path)]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=variables(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=inherited,
    ) as pip:
        assert pip.stdout is not None
        last: list[str] = []
        count = 0
        for line in pip.stdout:
            last = [*last[-19:], line]
            if line.startswith(("Collecting ", "Processing ")):  # from an index; from a folder named in pip's settings
                count += 1
                name = line.split()[1].replace("\\", "/").rsplit("/", 1)[-1]
                say("  {:3d}  {}".format(count, name.split("==" if line[0] == "C" else "-")[0]))
            elif line.startswith("Installing collected"):
                say("  unpacking")
    if pip.returncode:
        raise SetupError(
            "The packages could not be installed; pip's last words:\n\n" + "".join(last) + "\n"
            "It needs a connection to a package index (or the mirror named in pip's own settings), about 1 GB of disk, "
            "and a system for which the packages are built (the README says where it runs). Start again when that is "
            "mended; what is unfinished is repaired."
        )


def link_packages() -> None:
    """Make `.venv/links/assaypilot/<package>` lead to the source folders."""
    LINKS.mkdir(parents=True, exist_ok=True)
    for name in PACKAGES:
        link, target = LINKS / name, ROOT / name
        if link.exists() and link.samefile(target):
            continue
        remove_link(link)
        if sys.platform == "win32":
            import _winapi  # a junction needs no rights; a symbolic link would

            _winapi.CreateJunction(str(target), str(link))
        else:
            link.symlink_to(target, target_is_directory=True)


def remove_link(link: Path) -> None:
    """Remove a link or junction, never what it leads to."""
    if os.path.lexists(link):
        if WINDOWS:
            os.rmdir(link)
        else:
            os.unlink(link)


def install_project(python: Path) -> None:
    """Install the project's metadata, its command, and the `.pth` that names the links: a wheel without code."""
    say("Installing the project's links and its command.")
    with tempfile.TemporaryDirectory() as folder:
        done = quietly([python, "-P", "-c", METADATA_CODE, folder])
        if done.returncode:
            raise SetupError("setuptools could not read pyproject.toml:\n" + done.stdout + done.stderr)
        info = Path(folder) / done.stdout.split()[-1]
        site = VENV / "Lib" / "site-packages" if WINDOWS else next((VENV / "lib").glob("python*/site-packages"))
        # A relative path: .pth files have no encoding of their own, and the folder's name may be in any script.
        files = {
            "assaypilot.pth": Path(os.path.relpath(LINKS.parent, site)).as_posix() + "\n",
            info.name + "/WHEEL": WHEEL_TEXT,
        }
        for path in sorted(info.rglob("*")):
            if path.is_file() and path.name not in ("WHEEL", "RECORD"):
                files[path.relative_to(folder).as_posix()] = path.read_text(encoding="utf-8")
        record = "".join(name + ",,\n" for name in [*files, info.name + "/RECORD"])
        wheel = Path(folder) / (info.name.removesuffix(".dist-info") + "-py3-none-any.whl")
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in {**files, info.name + "/RECORD": record}.items():
                archive.writestr(name, text)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--force-reinstall"]
        done = quietly([*pip, "--disable-pip-version-check", str(wheel)])
        if done.returncode:
            raise SetupError("The project could not be installed into .venv:\n" + done.stdout + done.stderr)

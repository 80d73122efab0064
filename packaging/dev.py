"""Sets up, runs and tests AssayPilot from its source: `python3 packaging/dev.py run` is all a fresh machine needs.

Standard library only, and no syntax an old Python 3 could not read: it has to say itself that it is too old.
"""

import sys

if sys.version_info[:2] < (3, 11):  # noqa: UP036
    sys.exit(
        f"AssayPilot needs Python 3.11 or newer; this is Python {sys.version_info[0]}.{sys.version_info[1]} "
        f"({sys.executable}).\nInstall a newer one (python.org, or your system's packages) and start this script with "
        "it, for example: python3.12 packaging/dev.py run"
    )

import argparse
import io
import os
import shutil
import tempfile
from pathlib import Path

import environment
import freeze
import sizes
from environment import ROOT, SetupError, say

COMMANDS = {
    "run": "open the window with the practice campaign; without a display, run it in the terminal",
    "test": "ruff, mypy, import-linter and pytest; further arguments go to pytest",
    "published": "the reports of tests/published; further arguments go to what writes them",
    "screenshots": "pictures of every page and dialog; further arguments: --only LOOK, --readme",
    "docs": "the documentation as plain HTML, with the notebooks run",
    "setup": "only set up .venv, for development",
    "sizes": "lines of code by room, and what else has a limit",
    "freeze": "make the program that needs no Python, and try it",
    "lock": "lock the requirements again",
}
# The other files follow the development file, so that all name the same versions.
SOURCES = {
    "dev": ["pyproject.toml", "--group", "build", "--group", "dev"],
    "run": ["pyproject.toml", "--group", "build"],
    "freeze": ["--group", "freeze"],
}
# The reports of tests/published; the README there says what each one asks.
REPORTS = ["papers", "adaptive", "additivity", "attacks", "audits", "calibration", "combined", "fixed-budget"]
REPORTS += ["forecast", "growth", "noise", "series", "small", "tables"]
WRITTEN_BY = {"papers": "published", "adaptive": "against", "forecast": "forecasts"}
# Two processes share two cores, so each keeps to one thread.
THREADS = {name: os.environ.get(name, "1") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory: a campaign waits for the disk at every step, and tests make thousands."""
ROOM = 4 * 2**30
LOCK_HEADER = ["--header", "--custom-compile-command", "packaging/dev.py lock"]


def main(arguments: list[str] | None = None) -> int:
    """Return the exit code of one sub-command: 0 done, 1 refused or failed, 130 stopped with Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):  # into a file or a pipe, Windows writes few characters
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    parser = make_parser()
    options, further = parser.parse_known_args(arguments)
    if further and options.command not in ("run", "test", "published", "screenshots"):
        parser.error("unknown arguments: " + " ".join(further))
    try:
        return do(options, further)
    except (SetupError, OSError) as refusal:
        say(f"{refusal}\nStart again when that is mended; what is unfinished is repaired.")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. The next start repairs what is unfinished.")
        return 130


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all sub-commands."""
    parser = argparse.ArgumentParser(prog="dev.py", description="Runs and tests AssayPilot.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    made = {name: commands.add_parser(name, help=text, allow_abbrev=False) for name, text in COMMANDS.items()}
    for name in ("run", "test", "screenshots", "setup"):
        made[name].add_argument("--system", action="store_true", help="install system packages, too (needs root)")
    for name in ("screenshots", "docs"):
        made[name].add_argument("folder", type=Path, metavar="DIR", help="where to put them")
    made["test"].add_argument("--slow", action="store_true", help="with simulations of more than a few seconds")
    made["test"].add_argument("--full", action="store_true", help="with these and the long statistics")
    made["published"].add_argument("report", nargs="?", default="papers", choices=(*REPORTS, "all"))
    made["freeze"].add_argument("folder", nargs="?", type=Path, default=ROOT / "dist", metavar="DIR")
    made["freeze"].add_argument("--deb", action="store_true", help="and a Debian package of it")
    made["lock"].add_argument("--upgrade", action="store_true", help="to the newest versions")
    return parser


def do(options: argparse.Namespace, further: list[str]) -> int:
    """Return the exit code of the sub-command that was asked for."""
    command = options.command
    if command == "sizes":
        print(sizes.table())
        return 0
    if command == "freeze":
        return freeze.freeze(options.folder, options.deb)
    python = environment.ready("run" if command == "run" else "dev")
    if command == "lock":
        return lock_requirements(options.upgrade)
    if command == "published":
        names = REPORTS if options.report == "all" else [options.report]
        modules = [WRITTEN_BY.get(name, name.replace("-", "_")) for name in names]
        return max(environment.call([python, "-m", f"tests.published.{name}", *further], THREADS) for name in modules)
    if command == "docs":
        return environment.call([python, ROOT / "packaging" / "documentation.py", options.folder.resolve()])
    system = options.system or bool(os.environ.get("CI"))
    if command == "run":
        return run(python, system, further)
    refusal = environment.why_not(python, system, offscreen=True)
    if refusal is not None:
        raise SetupError(refusal)
    if command == "screenshots":
        return environment.call([python, ROOT / "packaging" / "screenshots.py", options.folder.resolve(), *further])
    if command == "test":
        return test(python, options.slow, options.full, further)
    say(f"Ready: {python}")
    return 0


def run(python: Path, system: bool, further: list[str]) -> int:
    """Open the window on the practice campaign, or run it in the terminal when no window can be opened."""
    reason: str | None = "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set)."
    if sys.platform != "linux" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))):
        reason = environment.why_not(python, system, offscreen=False)
    if reason is None:
        return environment.call([python, "-m", "assaypilot.gui.launch", "--practice", *further])
    say(f"{reason}\nNo window can be opened, so the practice campaign runs in the terminal: assaypilot demo\n")
    return environment.call([python, "-m", "assaypilot.gui.launch", "demo", *further])


def test(python: Path, slow: bool, full: bool, further: list[str]) -> int:
    """Run every check, pytest last so that its closing line is the last one; 1 if any failed."""
    failed = []
    for words in ("ruff check .", "ruff format --check .", "mypy", "lint-imports --no-logo"):
        name, *terms = words.split()
        say(f"\n{words}")
        if environment.call([environment.script(name), *terms]):
            failed.append(words)
    say(f"\n{', '.join(failed)} failed: the exit code will be 1, whatever pytest says" if failed else "\npytest")
    left_out = [] if full else ["full"] if slow else ["full", "slow"]
    given = ["-n", "2", "--dist", "worksteal", "-m", " and ".join("not " + name for name in left_out)]
    quick = "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM
    place = MEMORY if quick else None
    with tempfile.TemporaryDirectory(prefix="assaypilot-tests-", dir=place, ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)  # programs that tests start as another user go through it
        code = environment.call([python, "-m", "pytest", *given, *further], {**THREADS, "TMPDIR": folder})
    return 1 if code or failed else 0


def lock_requirements(upgrade: bool) -> int:
    """Write the requirement files again: hashes, every system, no addresses."""
    for level, wanted in SOURCES.items():
        path = environment.lock(level)
        command = [environment.script("uv"), "pip", "compile", "--quiet", *["--upgrade"] * upgrade, *wanted]
        command += [*LOCK_HEADER, "--output-file", path.relative_to(ROOT)]
        if level != "dev":
            command += ["--constraint", environment.lock("dev").relative_to(ROOT)]
        environment.check(command, f"{path.name} could not be locked")
        say(f"{path.name} is locked.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Sets up, runs and tests AssayPilot from its source: `python3 packaging/dev.py run` is all a fresh machine needs.

Standard library only, and no syntax an old Python 3 could not read: it has to say itself that it is too old.
"""

import sys

OLDEST = (3, 11)
if sys.version_info[:2] < OLDEST:
    sys.exit(
        f"AssayPilot needs Python 3.11 or newer; this is Python {sys.version_info[0]}.{sys.version_info[1]} "
        f"({sys.executable}).\nInstall a newer one (python.org, or your system's packages) and start this script with "
        "it, for example: python3.12 packaging/dev.py run"
    )

import argparse
import io
import os
import shutil
import time
from pathlib import Path

import environment
import freeze
import sizes
import system_packages
from environment import ROOT, SetupError, say

PROJECT = "pyproject.toml"
# The other files follow the development file, so that all name the same versions.
REQUIREMENTS = {
    "dev": [PROJECT, "--group", "build", "--group", "dev"],
    "run": [PROJECT, "--group", "build"],
    "freeze": ["--group", "freeze"],
}
# What writes each report of tests/published, by its name; the README there says what each one asks.
REPORTS = {
    "papers": "published",
    "adaptive": "against",
    "additivity": "additivity",
    "calibration": "calibration",
    "combined": "combined",
    "ends": "ends",
    "fixed-budget": "fixed_budget",
    "forecast": "forecasts",
    "noise": "noise",
    "series": "series",
    "stock": "choices",
    "tables": "tables",
    "growth": "growth",
    "attacks": "attacks",
    "audits": "audits",
}
LOCK_HEADER = "# Locked by packaging/dev.py lock. Not edited by hand.\n"
QT_PROBE = "import PySide6.QtWidgets as w; a = w.QApplication([]); print(a.platformName())"


def main(arguments: list[str] | None = None) -> int:
    """Return the exit code of one sub-command: 0 done, 1 refused or failed, 130 stopped with Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="dev.py", description="Sets up, runs and tests AssayPilot from its source.", allow_abbrev=False
    )
    names = "run | test | published | screenshots | docs | setup | sizes | freeze | lock"
    commands = parser.add_subparsers(dest="command", required=True, metavar=names)
    for name, text in (
        ("run", "open the window with the practice campaign; without a display, run it in the terminal"),
        ("test", "ruff, mypy, import-linter and pytest; further arguments go to pytest"),
        ("published", "the reports of tests/published; further arguments go to what writes them"),
        ("screenshots", "pictures of every page and dialog; further arguments: --only LOOK, --readme"),
        ("docs", "the documentation as plain HTML, with the notebooks run"),
        ("setup", "only set up .venv, for development"),
    ):
        command = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        command.add_argument("--system", action="store_true", help="install missing system packages, too (needs root)")
        if name in ("screenshots", "docs"):
            command.add_argument("folder", type=Path, metavar="DIR", help="where to put them")
        if name == "test":
            command.add_argument("--slow", action="store_true", help="with simulations of more than a few seconds")
            command.add_argument("--full", action="store_true", help="with these and the long statistics")
        if name == "published":
            choices = (*REPORTS, "all")
            command.add_argument("report", nargs="?", default="papers", choices=choices, help="default: papers")
    text = "make the program that needs no Python, and try it"
    frozen = commands.add_parser("freeze", help=text, description=text, allow_abbrev=False)
    frozen.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist", metavar="DIR", help="default: dist")
    frozen.add_argument("--deb", action="store_true", help="and a Debian package of it")
    commands.add_parser("sizes", help="lines of code by room, and what else has a limit", allow_abbrev=False)
    lock = commands.add_parser("lock", help="lock the requirements again", allow_abbrev=False)
    lock.add_argument("--upgrade", action="store_true", help="to the newest versions; otherwise only what must change")
    for stream in (sys.stdout, sys.stderr):  # into a file or a pipe, Windows writes few characters
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    options, further = parser.parse_known_args(arguments)
    if further and options.command not in ("run", "test", "published", "screenshots"):
        parser.error("unknown arguments: " + " ".join(further))
    try:
        if options.command == "lock":
            return lock_requirements(options.upgrade)
        if options.command == "sizes":
            print(sizes.table())
            return 0
        if options.command == "freeze":
            return freeze.freeze(options.folder, options.deb)
        system = options.system or bool(os.environ.get("CI"))
        if options.command == "run":
            return run(system, further)
        python = environment.ready("dev", system)
        if options.command == "published":
            return published(python, options.report, further)
        if options.command == "docs":
            return environment.call([python, ROOT / "packaging" / "documentation.py", options.folder.resolve()])
        check_qt(python, system)
        if options.command == "screenshots":
            return environment.call([python, ROOT / "packaging" / "screenshots.py", options.folder.resolve(), *further])
        if options.command == "test":
            return test(python, options.slow, options.full, further)
        say("Ready: " + str(python))
        return 0
    except SetupError as refusal:
        say(str(refusal))
        return 1
    except OSError as error:
        say(f"The set-up could not go on: {error}. Start again when that is mended; what is unfinished is repaired.")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. The next start repairs what is unfinished.")
        return 130


def run(system: bool, further: list[str]) -> int:
    """Open the window on the practice campaign, or run it in the terminal when no window can be opened."""
    python = environment.ready("run", system)
    reason = why_no_window(python, system)
    if reason is None:
        return environment.call([python, "-m", "assaypilot.gui.launch", "--practice", *further])
    say(reason)
    say("So the practice campaign runs here, in the terminal: assaypilot demo\n")
    return environment.call([python, "-m", "assaypilot.gui.launch", "demo", *further])


def why_no_window(python: Path, system: bool) -> str | None:
    """Return None when Qt can open a window here, otherwise the reason and the mend in plain words."""
    chosen = os.environ.get("QT_QPA_PLATFORM")
    if sys.platform.startswith("linux") and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))) and not chosen:
        return "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can be opened."
    message = environment.probe(python, QT_PROBE, {})
    if message is None:
        return None
    missing = system_packages.missing_libraries(display=True)
    if missing and system_packages.provide(missing, system):
        message = environment.probe(python, QT_PROBE, {})
        if message is None:
            return None
    return "Qt cannot open a window here: " + message + "\n" + system_packages.mend(missing)


def check_qt(python: Path, system: bool) -> None:
    """Raise SetupError, with the line that mends it, unless Qt starts without a display. Asked once per set-up."""
    if environment.remembered("qt"):
        return
    offscreen = {"QT_QPA_PLATFORM": "offscreen"}
    message = environment.probe(python, QT_PROBE, offscreen)
    if message is not None:
        missing = system_packages.missing_libraries(display=False)
        if missing and system_packages.provide(missing, system):
            message = environment.probe(python, QT_PROBE, offscreen)
        if message is not None:
            raise SetupError("Qt cannot start: " + message + "\n" + system_packages.mend(missing))
    environment.remember("qt")


def test(python: Path, slow: bool, full: bool, further: list[str]) -> int:
    """Run every check, pytest last so that its closing line is the last one; 1 if any failed."""
    module = [str(python), "-m"]
    steps = [
        ("ruff check", [*module, "ruff", "check", "."]),
        ("ruff format", [*module, "ruff", "format", "--check", "."]),
        ("mypy", [*module, "mypy"]),
        ("import-linter", [str(environment.script("lint-imports"))]),
    ]
    failed = []
    for name, command in steps:
        say(f"{name:<15}", end=" ")
        start = time.monotonic()
        done = environment.quietly(command)
        say("{} {:6.1f} s".format("FAILED" if done.returncode else "ok    ", time.monotonic() - start))
        if done.returncode:
            failed.append(name)
            say(done.stdout + done.stderr)
    if failed:
        say("Failed so far: " + ", ".join(failed) + ". The exit code will be 1, whatever pytest says.")
    say("{:<15}".format("pytest"))
    left_out = ["benchmark"] if full else ["benchmark", "full"] if slow else ["benchmark", "full", "slow"]
    markers = " and ".join("not " + name for name in left_out)
    # Two workers share two cores, so each keeps to one thread.
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS") if name not in os.environ}
    code = environment.call([python, "-m", "pytest", "-n", "2", "-m", markers, *further], threads)
    return 1 if code or failed else 0


def published(python: Path, report: str, further: list[str]) -> int:
    """Write one report of tests/published, or all of them in turn; 1 if any failed."""
    # Two processes share two cores, so each keeps to one thread.
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS") if name not in os.environ}
    names = list(REPORTS) if report == "all" else [report]
    codes = [environment.call([python, "-m", "tests.published." + REPORTS[name], *further], threads) for name in names]
    return max(codes)


def lock_requirements(upgrade: bool) -> int:
    """Write the requirement files anew: hashes, every system, no addresses."""
    found = environment.script("uv")
    uv = str(found) if found.exists() else shutil.which("uv")
    if uv is None:
        environment.ready("dev", False)
        uv = str(found)
    for level, wanted in REQUIREMENTS.items():
        name = environment.requirements(level).relative_to(ROOT).as_posix()
        command = [uv, "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-header"]
        # One version for all Pythons: what is tested on one is what runs on the others.
        command += ["--fork-strategy", "fewest", "--python-version", ".".join(map(str, OLDEST))]
        command += [*wanted, "--output-file", name]
        if level != "dev":
            command += ["--constraint", environment.requirements("dev").relative_to(ROOT).as_posix()]
        if upgrade:
            command.append("--upgrade")
        code = environment.call(command)
        if code:
            return code
        text = (ROOT / name).read_text(encoding="utf-8")
        if "://" in text:
            raise SetupError(name + " names an address; it would not install elsewhere. Remove what put it there.")
        (ROOT / name).write_text(LOCK_HEADER + text.removeprefix(LOCK_HEADER), encoding="utf-8", newline="\n")
        say(f"{name}: {environment.pinned(level)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())

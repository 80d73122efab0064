"""The program's entry: a window, or a command of the command line; no Qt is loaded before a window is needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from assaypilot.engine.system.resources import give_memory_back, one_thread_for_algebra

PRACTICE = "--practice"
STOPPED = 130
"""The exit code that shells expect after Ctrl+C."""
COMMANDS_ELSEWHERE = (
    "this program opens the window and has no console. For commands use the other program in its folder: "
    "assaypilot-console --help"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code: of the window, or of the command named first.

    ``assaypilot [FILE] [--practice]`` opens the window; everything else is the command line's.
    """
    try:
        return _started(argv)
    except KeyboardInterrupt:  # while the modules of a command are still being imported
        sys.stderr.write("assaypilot: stopped\n")
        return STOPPED


def _started(argv: Sequence[str] | None) -> int:
    """Return the exit code of the window or of a command."""
    has_streams = _give_streams()
    if getattr(sys, "frozen", False):
        # A worker process of the packaged program starts it again; without this each would open a window.
        import multiprocessing

        multiprocessing.freeze_support()
    one_thread_for_algebra()
    give_memory_back()
    words = list(sys.argv[1:] if argv is None else argv)
    if not _wants_window(words):
        if not has_streams and sys.platform == "win32" and getattr(sys, "frozen", False):
            return _refuse(COMMANDS_ELSEWHERE, has_streams=False)
        from assaypilot.engine.cli import main as command_line

        return command_line(words)
    reason = _why_no_display()
    if reason is not None:
        return _refuse(reason, has_streams)
    file = next((Path(word) for word in words if word != PRACTICE), None)
    try:
        from .app import run
    except ImportError as error:  # a library of the system that Qt needs
        return _refuse(f"the window cannot be opened ({error}). Install what is missing, or use the commands: "
                       "assaypilot --help", has_streams)  # fmt: skip
    return run(["assaypilot"], file, practice=PRACTICE in words)


def _wants_window(words: Sequence[str]) -> bool:
    """Whether the only arguments are a file and ``--practice``."""
    others = [word for word in words if word != PRACTICE]
    if not others:
        return True
    if len(others) > 1 or others[0].startswith("-"):
        return False
    from assaypilot.engine.cli import COMMANDS

    # A misspelt command is the command line's to refuse; a file has a suffix, or is there.
    return others[0] not in COMMANDS and (bool(Path(others[0]).suffix) or Path(others[0]).exists())


def _why_no_display() -> str | None:
    """Why no window can be opened here, None when it can be tried."""
    if not sys.platform.startswith(("linux", "freebsd")) or os.environ.get("QT_QPA_PLATFORM"):
        return None
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return None
    return (
        "there is no display to open a window on. Start it on a desktop, or use the commands: assaypilot demo runs the "
        "practice campaign here, assaypilot --help lists them all"
    )


def _give_streams() -> bool:
    """Whether there is a console for printed text.

    A Windows program without one has no output or error stream; text that libraries print is then discarded.
    """
    has_streams = sys.stdout is not None and sys.stderr is not None
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for as long as the program runs
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    return has_streams


def _refuse(text: str, has_streams: bool = True) -> int:
    """Print the reason, in a box where there is no console, and return the exit code."""
    sys.stderr.write(f"assaypilot: {text}\n")
    if not has_streams:
        _show(text)
    return 1


def _show(text: str) -> None:
    """Show a text in a box of Windows, without Qt. Elsewhere a program has streams."""
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.user32.MessageBoxW(None, text, "AssayPilot", 0x10)


if __name__ == "__main__":
    sys.exit(main())

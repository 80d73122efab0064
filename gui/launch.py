"""The program's entry: a window, or a command of the command line; no Qt is loaded before a window is wanted."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from assaypilot.engine.memory import give_memory_back
from assaypilot.engine.threads import one_thread_for_algebra

__all__ = ["main"]

PRACTICE = "--practice"


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: of the window, or of the command named first.

    ``assaypilot [FILE] [--practice]`` opens the window; everything else is the command line's.
    """
    if getattr(sys, "frozen", False):
        # A worker process of the packaged program starts it again; without this each would open a window.
        import multiprocessing

        multiprocessing.freeze_support()
    one_thread_for_algebra()
    give_memory_back()
    words = list(sys.argv[1:] if argv is None else argv)
    if not _wants_window(words):
        from assaypilot.engine.cli import main as command_line

        return command_line(words)
    reason = _why_no_display()
    if reason is not None:
        return _refuse(reason)
    file = next((Path(word) for word in words if word != PRACTICE), None)
    try:
        from assaypilot.gui.app import run
    except ImportError as error:  # a library of the system that Qt needs
        return _refuse(f"the window cannot be opened ({error}). Install what is missing, or use the commands: "
                       "assaypilot --help")  # fmt: skip
    return run(["assaypilot"], file, practice=PRACTICE in words)


def _wants_window(words: Sequence[str]) -> bool:
    """Whether all there is, is a file and ``--practice``."""
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


def _refuse(text: str) -> int:
    if sys.stderr is not None:
        sys.stderr.write(f"assaypilot: {text}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

"""Runs one command and turns whatever happens into an exit code and one plain line."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from ..errors import AlreadyEntered, AssayPilotError
from ..system.threads import one_thread_for_algebra
from .commands import COMMANDS
from .console import Console, Reply, as_json, escaped
from .parser import WrongUsage, parse


def data_folder() -> Path:
    """Return the user's own folder for what the program keeps between starts; it may not exist yet."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "AssayPilot"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "AssayPilot"
    return Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "assaypilot"


def save(error: BaseException, command: str) -> str:
    """One sentence for the user; the traceback goes into a file on this computer and nowhere else."""
    from ..system.version import program_version

    text = "\n".join(
        [
            f"AssayPilot {program_version()}, Python {platform.python_version()}, {platform.platform()}",
            f"command: {command}",
            "The lines below may quote a name or a value of yours: read them before you pass them on.",
            "",
            "".join(traceback.format_exception(error)),
        ]
    )
    name = f"internal-error-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.getpid()}.txt"
    for place in (data_folder, lambda: Path(tempfile.gettempdir())):
        try:
            folder = place()
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", errors="replace")
        except (OSError, RuntimeError):  # full, read-only, or nobody's home is known
            continue
        return f"internal error ({type(error).__name__}): this is a mistake in the program. Saved to {folder / name}"
    return f"internal error ({type(error).__name__}): this is a mistake in the program, and nothing could be saved"


DONE, REFUSED, WRONG_USAGE, STOPPED = 0, 1, 2, 130
"""Exit codes; 130 is what shells expect after Ctrl+C."""
_STOPPED_SAFELY = "stopped; what was acknowledged before is kept"


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code of one command line (without the program's name; None: the one it was started with)."""
    one_thread_for_algebra()
    words = list(sys.argv[1:] if argv is None else argv)
    wants_json = "--json" in words
    _speak_utf8()
    try:
        try:
            options = parse(words)
        except SystemExit:  # --help and --version
            sys.stdout.flush()
            return DONE
        console = Console(json=options.json)
        try:
            reply = _run(options, console)
        finally:
            console.clear()
        console.answer(reply)
    except WrongUsage as error:
        sys.stderr.write(f"{error.usage}{error.program}: {escaped(error.line)}\n")
        if wants_json:
            return _refuse(error.as_refusal(), True, WRONG_USAGE)
        return WRONG_USAGE
    except AssayPilotError as error:
        return _refuse(error, wants_json)
    except BrokenPipeError:
        # Whoever read the output went away; what is left in the buffer must not be complained of at exit.
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED
    except KeyboardInterrupt:
        return _refuse(AssayPilotError(_STOPPED_SAFELY), wants_json, STOPPED)
    except MemoryError:
        return _refuse(
            AssayPilotError("there is not enough memory", mend="Close other programs, or use a smaller table."),
            wants_json,
        )
    except OSError as error:
        where = None if error.filename is None else os.fsdecode(error.filename)
        why = error.strerror or type(error).__name__
        refusal = AssayPilotError(f"the system refused: {why}", file=where, mend="Try another folder.")
        return _refuse(refusal, wants_json)
    except Exception as error:  # the one place where our own bugs end
        if _interrupted(error):
            return _refuse(AssayPilotError(_STOPPED_SAFELY), wants_json, STOPPED)
        from .program import save

        return _refuse(AssayPilotError(save(error, words[0] if words else "")), wants_json)
    return reply.exit_code


def _interrupted(error: BaseException | None) -> bool:
    """Return whether an error came of Ctrl+C: a module interrupted while it loads raises errors of its own."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _run(options: argparse.Namespace, console: Console) -> Reply:
    """Return the command's answer; each imports what it needs, so that the others start fast."""
    module, function = COMMANDS[options.command].does.split(":")
    reply: Reply = getattr(import_module(f".{module}", __package__), function)(options, console)
    return reply


def _refuse(error: AssayPilotError, wants_json: bool, code: int = REFUSED) -> int:
    """Return the exit code; prints the refusal where the user looks for it."""
    if isinstance(error, AlreadyEntered):
        error.mend = "Use --again to count them a second time."
    with suppress(BrokenPipeError):
        if wants_json:
            print(as_json({"error": error.as_json()}))
            sys.stdout.flush()
        elif sys.stderr is not None:
            sys.stderr.write(f"assaypilot: {escaped(str(error))}\n")
            sys.stderr.flush()
    return code


def _speak_utf8() -> None:
    """Make both streams write UTF-8 and replace what cannot be written, on every system."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]  # not every stream has it

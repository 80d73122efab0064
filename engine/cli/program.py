"""Run one command, print its answer, and turn any failure into an exit code and one plain line."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import sys
import tempfile
import time
import traceback
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import AlreadyEntered, AssayPilotError
from ..system.resources import one_thread_for_algebra
from ..text import percent
from .commands import COMMANDS
from .parser import WrongUsage, parse

_SHOW_EVERY = 0.1
"""Seconds between two updates of the progress line."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a command, in both forms."""

    document: Any
    """The document for ``--json``."""
    lines: Sequence[str] = field(default=())
    """The lines printed otherwise."""
    exit_code: int = 0


def plain(value: Any) -> Any:
    """Return the value as JSON knows it: no NaN or infinity (null), no array, no numpy number, no path."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # a numpy array or number, without loading numpy to find out
        return plain(value.tolist())
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def as_json(document: Any) -> str:
    """One JSON document, ids verbatim."""
    return json.dumps(plain(document), ensure_ascii=False, allow_nan=False, indent=2)


def word(path: str | Path) -> str:
    """Return a name as one word of a command line, in quotation marks where it needs them."""
    return str(path) if re.fullmatch(r"[\w./\\:~+-]+", str(path)) else f'"{path}"'


def escaped(text: str) -> str:
    """Return a text from a table on one line, without anything a terminal would obey."""
    return "".join(
        character if character.isprintable() else " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def _width(text: str) -> int:
    """Columns a text takes in a terminal: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def table(header: Sequence[str], rows: Iterable[Sequence[object]], indent: str = "") -> list[str]:
    """Lines of an aligned table; columns of numbers to the right, None as an empty cell."""
    cells = [["" if cell is None else escaped(str(cell)) for cell in row] for row in rows]
    right = [bool(cells) and all(_is_number(row[column]) for row in cells) for column in range(len(header))]
    lines = [[escaped(text) for text in header], *cells]
    widths = [max(_width(line[column]) for line in lines) for column in range(len(header))]
    return [
        (
            indent
            + "  ".join(
                " " * (width - _width(cell)) + cell if to_right else cell + " " * (width - _width(cell))
                for cell, width, to_right in zip(line, widths, right, strict=True)
            )
        ).rstrip()
        for line in lines
    ]


def _is_number(text: str) -> bool:
    if not text or text == "-":
        return True
    try:
        float(text.lstrip("<> ").rstrip(" %").replace(",", ""))
    except ValueError:
        return False
    return True


def count(number: int, limit: int, what: str = "more") -> list[str]:
    """Return a line with the number of entries not shown; none when all are."""
    return [f"... and {number - limit:,} {what}"] if number > limit else []


@contextmanager
def in_file(name: str | None) -> Iterator[None]:
    """Name the file in a refusal raised within that names none."""
    try:
        yield
    except AssayPilotError as error:
        error.file = error.file or name
        raise


class Console:
    """The output of one command: at most one JSON document, or text as it comes."""

    def __init__(self, *, json: bool) -> None:
        self.json = json
        self._started = time.monotonic()
        self._shown = 0.0
        self._dirty = False

    def print(self, *lines: str) -> None:
        """Print lines at once, unless the output is a JSON document."""
        if self.json:
            return
        self.clear()
        for line in lines:
            print(escaped(line))

    def answer(self, reply: Reply) -> None:
        """Print what the command answers."""
        self.clear()
        if self.json:
            print(as_json(reply.document))
        else:
            self.print(*reply.lines)
        sys.stdout.flush()

    def report(self, fraction: float, message: str) -> None:
        """Show how far the work is, on stderr and only on a terminal."""
        now = time.monotonic()
        # Work that is done within half a second needs no progress line.
        if now - self._started < 0.5 or now - self._shown < _SHOW_EVERY or not _is_terminal():
            return
        self._shown = now
        self._dirty = True
        sys.stderr.write(f"\r{percent(fraction):>5}  {escaped(message)[:60]:<60}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the progress line away."""
        if self._dirty:
            sys.stderr.write("\r" + " " * 67 + "\r")
            sys.stderr.flush()
            self._dirty = False


def _is_terminal() -> bool:
    with suppress(AttributeError, ValueError):
        return sys.stderr.isatty()
    return False


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
    from ..system import program_version

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
        except (OSError, RuntimeError):  # full, read-only, or the home folder is unknown
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
        # The reader of the output has closed it; the rest of the buffer must not raise at exit.
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
    with suppress(OSError):  # a pipe that is closed, a full disk
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

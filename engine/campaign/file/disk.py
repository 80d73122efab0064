"""A whole file put in its place at once, or none; and what the system and SQLite complain of, in plain words."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...errors import AssayPilotError
from ...system.places import WINDOWS, flush, patiently, refuse_name, refused

_SYNCHRONISED = {
    "OneDrive": re.compile(r"onedrive\b", re.IGNORECASE),
    "Dropbox": re.compile(r"dropbox\b", re.IGNORECASE),
    "Google Drive": re.compile(r"(google ?drive\b|(my drive|shared drives)$)", re.IGNORECASE),
    "Box": re.compile(r"(box|box sync|box-box)$", re.IGNORECASE),
    "Nextcloud": re.compile(r"(nextcloud|owncloud)\b", re.IGNORECASE),
    "iCloud": re.compile(r"(icloud ?drive|icloud|mobile documents|com~apple~clouddocs)\b", re.IGNORECASE),
}
_CONFLICT = re.compile(r"conflicted copy|sync-conflict|case conflict|\(.*conflict.*\)", re.IGNORECASE)


def location_warnings(path: Path | str) -> tuple[str, ...]:
    """Return what is unwise about keeping a campaign at ``path``, in plain sentences; empty when nothing is."""
    path = Path(path)
    # A link may lead into a synchronised folder, and a synchronised folder may be a link.
    folders = {*Path(os.path.abspath(path)).parent.parts, *Path(os.path.realpath(path)).parent.parts}
    warnings = [
        f"The folder is kept in step by {service}, which may copy the file while it is being written. "
        "Keep the campaign in a folder of your own computer, and put copies there (Save a copy)."
        for service, name in _SYNCHRONISED.items()
        if any(name.match(folder) for folder in folders)
    ]
    if _CONFLICT.search(path.name):
        warnings.append(
            "The name says that this is a conflicted copy: two computers changed the campaign, and this file has only "
            "one side. Find the other file, and decide which of the two to go on with."
        )
    return tuple(warnings)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield an empty temporary file in the folder of ``path``; what the block makes of it is put in place at once.

    When the block or the placing fails nothing is left behind. Raises AssayPilotError when there is already a file, or
    the remains of one that SQLite would take for an interrupted save of the new one.
    """
    refuse_name(path)
    temporary = path.absolute().parent / f".assaypilot-{os.urandom(6).hex()}.tmp"
    with plain_errors(path):
        _refuse_taken(path)
        # Made here, so that a folder that is missing or read-only is refused by the name the user gave.
        temporary.touch(exist_ok=False)
    try:
        yield temporary
        with plain_errors(path):
            flush(temporary)
            _refuse_taken(path)
            _place(temporary, path)
            _settle(path.absolute().parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _refuse_taken(path: Path) -> None:
    if os.path.lexists(path):
        raise AssayPilotError("There is already a file of this name", file=str(path), mend="Choose another name.")
    left = path.with_name(path.name + "-journal")
    if left.exists():
        raise AssayPilotError(
            f"The folder still holds {left.name}, the remains of an interrupted save of another file of this name",
            file=str(path),
            mend="Choose another name, or move those remains away.",
        )


def _place(temporary: Path, path: Path) -> None:
    """Give the file its name and never takes one from another file."""
    if WINDOWS:
        patiently(lambda: temporary.rename(path))  # refuses there when the name is taken
        return
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # Memory sticks and some network drives know no second names: reserve the name, then replace one's own file.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        try:
            os.replace(temporary, path)
        except BaseException:
            path.unlink()
            raise


def _settle(folder: Path) -> None:
    """Make the new name survive a power cut, where the system can do that."""
    if WINDOWS:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network drives refuse it for folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


NOT_A_CAMPAIGN = "This is not an AssayPilot campaign"
RESTORE = "Restore a copy from before; assaypilot verify names what is wrong."

_FULL = ("The disk is full; nothing was written", "Free some space and try again.")
_DENIED = (
    "The file or its folder is read-only",
    "Make both writable, or work on a copy in a folder of your own.",
)
_INTERRUPTED = (
    "A save was interrupted here and has to be undone before the file can be read, but its folder is read-only",
    "Copy the file and the one next to it that ends in -journal to a folder of your own, and open the copy.",
)
_BUSY = (
    "Another program is using the file just now; nothing was written",
    "Close the other program, or wait a moment, and try again.",
)

# By extended code first, then by primary code (its lowest byte). What is in neither is a bug of ours.
_SQLITE: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_READONLY_ROLLBACK: _INTERRUPTED,
    sqlite3.SQLITE_IOERR_DELETE: _INTERRUPTED,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _DENIED,
    sqlite3.SQLITE_PERM: _DENIED,
    sqlite3.SQLITE_CANTOPEN: ("The file cannot be opened, or its folder does not let it be changed", _DENIED[1]),
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_CORRUPT: ("The campaign is damaged: its pages cannot be read", RESTORE),
    sqlite3.SQLITE_NOTADB: (NOT_A_CAMPAIGN, "Choose a file that ends in .assaypilot."),
    sqlite3.SQLITE_TOOBIG: ("The campaign is damaged: it holds a value larger than any AssayPilot writes", RESTORE),
    sqlite3.SQLITE_IOERR: (
        "The disk reported an error; nothing was written",
        "Check the disk or the network drive and try again.",
    ),
}


def damaged(path: Path, text: str, mend: str = RESTORE) -> AssayPilotError:
    """Return the refusal of a file whose contents are not what AssayPilot wrote; ``text`` names the place."""
    return AssayPilotError(f"The campaign is damaged: {text}", file=str(path), mend=mend)


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Yield a block in which troubles with the file are raised as AssayPilotError; bugs pass through as they are."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)  # absent when the sqlite3 module itself complains: a bug
        known = None if code is None else _SQLITE.get(code, _SQLITE.get(code & 0xFF))
        if known is None and "no such table" in str(error):
            raise damaged(path, "its tables are gone") from error
        if known is None:
            raise
        raise AssayPilotError(known[0], file=str(path), mend=known[1]) from error
    except UnicodeDecodeError as error:
        # SQLite quotes damaged names in its messages, and the sqlite3 module cannot decode those.
        raise damaged(path, "its list of tables cannot be read") from error
    except OSError as error:
        raise refused(error, path) from error


def identity(path: Path) -> tuple[int, int] | None:
    """Return what identifies the file itself, whatever its name; None when there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def stamp(path: Path) -> tuple[int, int, int, int] | None:
    """Return what changes when a program writes to the file; None when there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

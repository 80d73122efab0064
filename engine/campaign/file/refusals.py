"""What SQLite and the operating system complain of, in words a user can act on."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import AssayPilotError
from ...system.places import held, too_long

__all__ = ["NOT_A_CAMPAIGN", "RESTORE", "damaged", "plain_errors"]

NOT_A_CAMPAIGN = "This is not an AssayPilot campaign"
RESTORE = "Run `assaypilot verify FILE` to see what is wrong, and restore a copy from before."

_FULL = ("The disk is full; nothing was written", "Free some space and try again.")
_DENIED = (
    "The file or its folder is read-only",
    "Make both writable, or work on a copy in a folder of your own.",
)
_INTERRUPTED = (
    "A save was interrupted here and has to be undone before the file can be read, but its folder is read-only",
    "Copy the file and the one beside it that ends in -journal to a folder of your own, and open the copy.",
)
_BUSY = (
    "Another program is using the file just now; nothing was written",
    "Close the other program, or wait a moment, and try again.",
)

_TOO_LONG = (
    "The file's name and its folders are too long together",
    "Choose a shorter name, or a folder that lies less deep.",
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

_SYSTEM: dict[int, tuple[str, str]] = {
    errno.ENOSPC: _FULL,
    getattr(errno, "EDQUOT", errno.ENOSPC): ("Your share of the disk is used up; nothing was written", _FULL[1]),
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.EROFS: _DENIED,
    errno.ENOENT: ("The folder does not exist", "Make the folder, or choose another."),
    errno.ENOTDIR: ("The folder does not exist", "Make the folder, or choose another."),
    errno.EEXIST: ("There is already a file of this name", "Choose another name."),
}


def damaged(path: Path, text: str, mend: str = RESTORE) -> AssayPilotError:
    """Return the refusal of a file whose contents are not what AssayPilot wrote; ``text`` says where."""
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
        if held(error):
            raise AssayPilotError(_BUSY[0], file=str(path), mend=_BUSY[1]) from error
        if error.errno == errno.ENOENT and too_long(path):
            raise AssayPilotError(_TOO_LONG[0], file=str(path), mend=_TOO_LONG[1]) from error
        known = _SYSTEM.get(error.errno or 0, (f"The system refused: {error.strerror or error}", "Try another folder."))
        raise AssayPilotError(known[0], file=str(path), mend=known[1]) from error

"""Places for files on systems that each refuse something else: names, folders, and files that others look into."""

from __future__ import annotations

import errno
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TypeVar

from ..errors import AssayPilotError

Result = TypeVar("Result")

WINDOWS = os.name == "nt"

_HELD = (5, 32, 33)
"""What Windows says of a file that another program has open: access denied, sharing and lock violation."""
_WAITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
"""Seconds between two tries: a second in all. Who looks a new file over for viruses is done long before that."""
_LONGEST = 259
"""Characters of a whole path on Windows, unless it was told to take more."""
_BESIDE = 20
"""Characters by which the file beside it, that is to take its place, has the longer name."""
_FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f]')
_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])$", re.IGNORECASE)


def held(error: OSError) -> bool:
    """Whether Windows refused because another program has the file open (or that is as likely as anything)."""
    return getattr(error, "winerror", None) in _HELD


def patiently(action: Callable[[], Result]) -> Result:
    """Return what ``action()`` returns, tried again for a second while another program holds the file, as on Windows.

    There a file cannot be moved while anybody has it open, and programs that look for viruses, make indexes or copy to
    other computers open every new file for a moment. Elsewhere nothing is tried twice.
    """
    for wait in _WAITS:
        try:
            return action()
        except PermissionError as error:
            if not held(error):
                raise
        time.sleep(wait)
    return action()


def names_device(name: str) -> bool:
    """Whether a name leads to a device on Windows, whatever follows its first point: ``aux.csv``."""
    return _DEVICES.match(name.partition(".")[0].rstrip()) is not None


def flush(path: Path) -> None:
    """Write to the disk what was written to a file and may still be on its way.

    A Mac's fsync hands it to the drive, which may keep it for a while; F_FULLFSYNC waits until it is written.
    """
    with path.open("rb+") as stream:
        if sys.platform == "darwin":
            import fcntl

            with suppress(OSError):  # some network drives do not know it
                fcntl.fcntl(stream.fileno(), fcntl.F_FULLFSYNC)
                return
        os.fsync(stream.fileno())


def refuse_name(path: Path) -> None:
    """Raise AssayPilotError for a name that Windows does not take, or takes for something else than a file.

    ``list:1.csv`` would be a hidden stream of the file ``list``, ``aux.csv`` a device. Other systems take any name.
    """
    if not WINDOWS:
        return
    found = _FORBIDDEN.search(path.name)
    if found is not None:
        sign = found[0] if found[0].isprintable() else "a control character"
        fault = f"Windows takes no {sign} in the name of a file"
    elif names_device(path.name):
        fault = f"{path.name.partition('.')[0].rstrip()} is the name of a device on Windows, not of a file"
    elif path.name != path.name.rstrip(" ."):
        fault = "the name of a file does not end in a blank or a point on Windows"
    else:
        return
    raise AssayPilotError(fault, file=str(path), mend="Choose another name.")


def too_long(path: Path) -> bool:
    """Whether a path is too long for Windows, which says then that there is no such folder."""
    return len(str(path.absolute())) + _BESIDE > _LONGEST and path.absolute().parent.is_dir()


def refused(error: OSError, path: Path) -> AssayPilotError:
    """Return the refusal of a file that could not be written."""
    full = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)
    if error.errno in full:
        return AssayPilotError("the disk is full", file=str(path), mend="Free some space or choose another folder.")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        if too_long(path):
            return AssayPilotError(
                "the file's name and its folders are too long together",
                file=str(path),
                mend="Choose a shorter name, or a folder that lies less deep.",
            )
        return AssayPilotError("there is no such folder", file=str(path), mend="Create it or choose another one.")
    if error.errno == errno.EEXIST:
        return AssayPilotError("there is already a file of this name", file=str(path), mend="Choose another name.")
    if held(error) and (getattr(error, "winerror", 0) != 5 or _may_be_written(path)):
        return AssayPilotError("another program has the file open", file=str(path), mend="Close it there, then again.")
    if error.errno == errno.ENAMETOOLONG:
        return AssayPilotError("the name of the file is too long", file=str(path), mend="Choose a shorter one.")
    if isinstance(error, PermissionError) or error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return AssayPilotError(
            "the folder or the file may not be written to",
            file=str(path),
            mend="Choose another folder, or close the file if another program has it open.",
        )
    return AssayPilotError(
        f"cannot be written ({error.strerror or type(error).__name__})", file=str(path), mend="Choose another folder."
    )


def _may_be_written(path: Path) -> bool:
    """Whether the file is there and not marked as read-only: so it is no mark that denies its replacement."""
    return path.is_file() and os.access(path, os.W_OK)


def try_folder(folder: Path) -> None:
    """Raise OSError unless a file can be made in the folder.

    Not by ``tempfile``, which up to Python 3.12 tries again without end where Windows denies it.
    """
    path = folder / f".assaypilot-{os.urandom(6).hex()}.tmp"
    itself = getattr(os, "O_TEMPORARY", 0)  # Windows takes the file away when it is closed
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | itself, 0o600))
    if not itself:
        path.unlink()


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a folder that goes at the end of the block; AssayPilotError where the system has no place for one."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="assaypilot-", ignore_cleanup_errors=True)
    except OSError as error:
        raise AssayPilotError(
            f"no temporary file can be made ({error.strerror or type(error).__name__})",
            mend="Free some space on the disk, or name another folder in the variable TMPDIR (on Windows: TEMP).",
        ) from None
    with folder as name:
        yield Path(name)


_LOOKED_AT = 5_000
_NEAR = 0.75


def where_else(path: Path) -> str:
    """Return what to do about a file that is not there.

    The name of the one that was meant, where one of the folder is near.

    A name without its ending means the file that has one, if only one does.
    """
    check = "Check the name and the folder."
    try:
        with os.scandir(path.parent) as entries:
            there = [entry.name for entry in islice(entries, _LOOKED_AT)]
    except (OSError, ValueError):
        return check
    ended = [name for name in there if Path(name).stem == path.name]
    near = ended if len(ended) == 1 else get_close_matches(path.name, there, n=1, cutoff=_NEAR)
    return f"Did you mean {near[0]}?" if near else check

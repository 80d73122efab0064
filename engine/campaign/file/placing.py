"""A whole file put in its place at once, or none; and places that are bad for a campaign."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...errors import AssayPilotError
from ...system.places import flush, patiently, refuse_name
from .refusals import plain_errors

__all__ = ["aside", "location_warnings", "new_file"]

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
def new_file(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield an empty temporary file in the folder of ``path``; what the block makes of it is put in place at once.

    When the block or the placing fails nothing is left behind. Raises AssayPilotError when there is already a file
    (unless ``overwrite``), or the remains of one that SQLite would take for an interrupted save of the new one.
    """
    refuse_name(path)
    temporary = path.absolute().parent / f".assaypilot-{os.urandom(6).hex()}.tmp"
    with plain_errors(path):
        _refuse_taken(path, overwrite)
        # Made here, so that a folder that is missing or read-only is refused by the name the user gave.
        temporary.touch(exist_ok=False)
    try:
        yield temporary
        with plain_errors(path):
            flush(temporary)
            if overwrite:
                patiently(lambda: os.replace(temporary, path))
            else:
                _refuse_taken(path, overwrite)
                _place(temporary, path)
            _settle(path.absolute().parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def aside(path: Path, version: int) -> Path:
    """Return a name not yet taken beside ``path`` for the file as it was in an older version."""
    names = (
        f"{path.stem} (version {version}{more}){path.suffix}" for more in ("", *(f", {n}" for n in range(2, 1000)))
    )
    return next(place for name in names if not (place := path.with_name(name)).exists())


def _refuse_taken(path: Path, overwrite: bool) -> None:
    if os.path.lexists(path) and not overwrite:
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
    if os.name == "nt":
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
    """Make the new name survive a power cut, where the system has a way to ask for that."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network drives refuse it for folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)

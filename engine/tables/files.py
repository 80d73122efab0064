"""A file before it is read: whether it can be, and what is in it by its first bytes, not by its name."""

from __future__ import annotations

import enum
import errno
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from ..errors import AssayPilotError
from ..system.limits import LARGEST_FILE, LARGEST_TEXT
from ..system.places import where_else

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SAVE_AS_CSV = "Save it as csv and read that."
_LOCKED = (32, 33)
"""What Windows says of a file that another program keeps to itself: sharing and lock violation."""
_AWAY = (errno.EINVAL, errno.EDEADLK)
"""What Windows and macOS say of a file that only looks as if it were there, when its service does not bring it."""
_WORKBOOKS = (b"PK\x03\x04", b"PK\x05\x06", _OLD_OFFICE)
_OTHERS = (
    (b"%PDF", "a PDF document", _SAVE_AS_CSV),
    (b"\x1f\x8b", "a compressed file", "Unpack it first."),
    (b"BZh", "a compressed file", "Unpack it first."),
    (b"\xfd7zXZ", "a compressed file", "Unpack it first."),
    (b"7z\xbc\xaf", "an archive", "Unpack it first."),
    (b"Rar!", "an archive", "Unpack it first."),
    (b"\x89PNG", "a picture", "Give the table itself."),
    (b"\xff\xd8\xff", "a picture", "Give the table itself."),
    (b"SQLite format 3\x00", "a campaign file or another database", "Name the file with the compounds."),
    (b"{\\rtf", "a text document", _SAVE_AS_CSV),
    (b"CDXML", "a drawing", "Export the structures as an SD file."),
    (b"VjCD", "a drawing", "Export the structures as an SD file."),
)


class Kind(enum.Enum):
    """What a file holds."""

    TEXT = "text"
    WORKBOOK = "workbook"
    SDF = "sdf"


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that was read into memory."""

    name: str
    suffix: str
    """Lower case, with its dot."""
    data: bytes
    kind: Kind


def open_file(path: str | Path) -> OpenedFile:
    """Return the contents of a file and what they are; AssayPilotError in one line when there is nothing to read."""
    if _ADDRESS.match(str(path)):
        raise AssayPilotError(
            "this is an address, and nothing is fetched from the network",
            file=str(path),
            mend="Save the file on this computer and name it there.",
        )
    if "\x00" in str(path):
        raise AssayPilotError("this is no name of a file", mend="Check the name.")
    path = Path(path)
    name = path.name or str(path)
    data = _contents(path, name)
    if not data.strip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"):
        raise AssayPilotError("the file is empty", file=name, mend="Export the table again, with its header row.")
    kind = _kind(name, path.suffix.lower(), data)
    if kind is Kind.TEXT and len(data) > LARGEST_TEXT:
        raise _too_large(len(data), LARGEST_TEXT, name)
    return OpenedFile(name, path.suffix.lower(), data, kind)


def is_workbook(path: str | Path) -> bool:
    """Whether a file begins as a workbook does; False for one that cannot be read, which reading it will say."""
    try:
        if not Path(path).is_file():  # a pipe would be waited for
            return False
        with open(path, "rb") as file:
            return file.read(8).startswith(_WORKBOOKS)
    except (OSError, ValueError):
        return False


def _contents(path: Path, name: str) -> bytes:
    try:
        about = os.stat(path)
        if stat.S_ISDIR(about.st_mode):
            raise AssayPilotError("this is a folder, not a table", file=name, mend="Name the file in it.")
        if not stat.S_ISREG(about.st_mode):
            raise AssayPilotError("this is a device or a pipe, not a file", file=name, mend="Name a file.")
        if about.st_size > LARGEST_FILE:
            raise _too_large(about.st_size, LARGEST_FILE, name)
        if name.startswith("~$"):
            raise AssayPilotError(
                "this is only the mark that a spreadsheet is open",
                file=name,
                mend=f"Name {name.removeprefix('~$')} instead.",
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise AssayPilotError("there is no such file", file=name, mend=where_else(path)) from None
    except (OSError, ValueError) as error:
        if getattr(error, "winerror", None) in _LOCKED:
            raise AssayPilotError(
                "the file is open in another program, which keeps it to itself",
                file=name,
                mend="Close it there and try again.",
            ) from None
        if getattr(error, "errno", None) in _AWAY and os.path.isfile(path):
            raise AssayPilotError(
                "the file is kept elsewhere (OneDrive, iCloud and the like) and could not be fetched",
                file=name,
                mend="Have it kept on this computer, or copy it into a folder of your own, and read it there.",
            ) from None
        why = getattr(error, "strerror", None) or type(error).__name__
        raise AssayPilotError(
            f"cannot be read ({why})", file=name, mend="Check its permissions, or whether another program has it open."
        ) from None
    except MemoryError:
        raise AssayPilotError("the file does not fit into memory", file=name, mend="Export fewer columns.") from None


def _too_large(size: int, most: int, name: str) -> AssayPilotError:
    return AssayPilotError(
        f"the file has {size / 1e6:,.0f} MB; files like this up to {most / 1e6:.0f} MB are read",
        file=name,
        mend="Export only the compounds and columns of this series.",
    )


def _kind(name: str, suffix: str, data: bytes) -> Kind:
    if data.startswith(_WORKBOOKS):
        return Kind.WORKBOOK
    for magic, what, mend in _OTHERS:
        if data.startswith(magic):
            raise AssayPilotError(f"this is {what}, not a table", file=name, mend=mend)
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype", b"<html", b"<table", b"<?xml")):
        raise AssayPilotError(
            "this is a web page or an XML document, whatever its name says",
            file=name,
            mend="Open it in a spreadsheet and save it as xlsx or csv.",
        )
    if re.match(rb"\[\s*\{|\{\s*\"", head) is not None:
        raise AssayPilotError("this is JSON, not a table", file=name, mend=_SAVE_AS_CSV)
    if suffix in (".sdf", ".sd", ".mol", ".mdl") or b"\n$$$$" in data or _has_molblock(data):
        return Kind.SDF
    return Kind.TEXT


def _has_molblock(data: bytes) -> bool:
    """Whether a file begins with a molblock: the fourth line is its counts line."""
    fourth = data[:4096].split(b"\n")[3:4]
    return bool(fourth) and fourth[0].rstrip().endswith((b"V2000", b"V3000"))

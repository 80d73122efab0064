"""Writes a table as csv that spreadsheets open as it is meant, whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import math
import os
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import SupportsFloat

from assaypilot.engine.errors import AssayPilotError

__all__ = ["Cell", "write_csv"]

Cell = str | int | float | bool | None
"""What a cell may hold; None, NaN and infinities become an empty cell."""

_FORMULA = ("=", "+", "-", "@", "\t")


def write_csv(
    path: str | Path, header: Sequence[str], rows: Iterable[Sequence[Cell]], *, overwrite: bool = True
) -> int:
    """The number of rows written below the header.

    UTF-8 with a byte-order mark, commas, CRLF. Text that a spreadsheet would run as a formula gets a leading ``'``,
    which our reader removes; numbers are written so that reading them back gives the same number. The file appears
    only when it is complete: it is written beside its place and then moved. AssayPilotError when that fails.
    """
    path = Path(path)
    if path.is_dir():
        raise AssayPilotError("this is a folder", file=str(path), mend="Name a csv file in it.")
    if not overwrite and path.exists():
        raise AssayPilotError("the file exists already", file=str(path), mend="Choose another name.")
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([_text(cell) for cell in header])
    count = 0
    for row in rows:
        if len(row) != len(header):
            raise ValueError("every row must have one cell per header")
        writer.writerow([_text(cell) for cell in row])
        count += 1
    _write_whole(path, buffer.getvalue().encode("utf-8-sig"))
    return count


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        # A text that already starts with ' before such a sign gets one more, so that reading back is exact.
        return f"'{cell}" if cell.lstrip("'")[:1] in _FORMULA else cell
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Integral):
        return str(int(cell))
    if isinstance(cell, (Real, SupportsFloat)):
        number = float(cell)
        return repr(number) if math.isfinite(number) else ""
    raise TypeError(f"a cell cannot hold {type(cell).__name__}")


def _write_whole(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise _plain(error, path) from None


def _plain(error: OSError, path: Path) -> AssayPilotError:
    """The refusal for a failed write; what was there before is untouched."""
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return AssayPilotError("the disk is full", file=str(path), mend="Free some space or choose another folder.")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return AssayPilotError("there is no such folder", file=str(path), mend="Create it or choose another one.")
    if isinstance(error, PermissionError) or error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return AssayPilotError(
            "the folder or the file may not be written to",
            file=str(path),
            mend="Choose another folder, or close the file if another program has it open.",
        )
    return AssayPilotError(
        f"cannot be written ({error.strerror or type(error).__name__})", file=str(path), mend="Choose another folder."
    )

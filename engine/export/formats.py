"""The formats a campaign can be exported to by the ending of a file, and how a file is written: whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..errors import AssayPilotError
from ..system.places import flush, patiently, refuse_name, refused
from ..system.progress import Report, silent

if TYPE_CHECKING:
    from .contents import Contents


Handler = Literal["echo", "hamilton", "tecan"]
HANDLERS: tuple[Handler, ...] = ("echo", "hamilton", "tecan")
ENDINGS: dict[Handler, str] = {"echo": ".csv", "hamilton": ".csv", "tecan": ".gwl"}
"""How the name of a list ends."""

FORMATS: dict[str, tuple[str, str]] = {
    ".csv": ("Table (CSV)", "sheet"),
    ".xlsx": ("Excel workbook with structures", "workbook"),
    ".sdf": ("SD file", "sdf"),
    ".pdf": ("Report (PDF)", "report"),
    ".pptx": ("Slide (PowerPoint)", "slide"),
}
"""By ending: the usual name, and the module of this package whose ``write`` makes it."""


def ending_of(path: str | Path) -> str:
    """Return the ending of a file's name in lower case.

    AssayPilotError, with the list, for one that cannot be written.
    """
    path = Path(path)
    ending = path.suffix.casefold()
    if path.is_dir():
        raise AssayPilotError("this is a folder", file=str(path), mend="Name a file in it, such as shortlist.xlsx.")
    if ending not in FORMATS:
        known = ", ".join(FORMATS)
        reason = f"{ending} files cannot be written" if ending else "the name has no ending that says what to write"
        raise AssayPilotError(
            reason,
            file=str(path),
            mend=f"Choose a name that ends in one of {known}, such as {path.stem.strip('.') or 'list'}.xlsx.",
        )
    return ending


def write(path: str | Path, contents: Contents, report: Report = silent) -> int:
    """Return the number of compounds in the shortlist written, in the format that the file's ending names.

    The file appears whole or not at all; ``report`` may raise Cancelled. AssayPilotError for an unknown ending and for
    what the system refuses. Can be called in another process: arguments and result are plain values.
    """
    path = Path(path)
    module = import_module(f"{__package__}.{FORMATS[ending_of(path)][1]}")
    rows: int = module.write(path, contents, report)
    return rows


def write_whole(path: str | Path, data: bytes) -> None:
    """Write ``data`` to ``path``. AssayPilotError, with ``path`` unchanged, when that fails."""
    with whole_file(path) as temporary:
        temporary.write_bytes(data)


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield the path of a temporary file next to ``path``; it replaces ``path`` when the block succeeds.

    When the block raises anything, also Cancelled, the temporary file is removed and ``path`` stays unchanged. Errors
    of the system become an AssayPilotError in plain words.
    """
    path = Path(path)
    if path.is_dir():
        raise AssayPilotError("this is a folder", file=str(path), mend="Name a file in it.")
    refuse_name(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        flush(temporary)
        patiently(lambda: os.replace(temporary, path))
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise refused(error, path) from None
        raise

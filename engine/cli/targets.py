"""Whether a file can be written where the user wants it; asked before anything happens that cannot be taken back."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import AssayPilotError
from ..export.formats import refused
from ..system.places import refuse_name, try_folder

_TABLES = (".csv", ".xlsx", ".sdf")


def check_place(path: Path, source: str, option: str | None = None) -> None:
    """Raise AssayPilotError unless a file can be written at ``path``, and that is not the one that is read."""
    if path.exists() and os.path.exists(source) and os.path.samefile(path, source):
        raise AssayPilotError(
            "this is the very file that is read", file=str(path), option=option, mend="Choose another name."
        )
    if path.is_dir():
        raise AssayPilotError("this is a folder", file=str(path), option=option, mend="Name a file in it.")
    refuse_name(path)
    try:
        try_folder(path.parent)
        if path.exists():
            with path.open("ab"):
                pass
    except OSError as error:
        refusal = refused(error, path)
        refusal.option = option
        raise refusal from None


def check_target(
    path: Path,
    source: str,
    option: str | None,
    endings: Sequence[str],
    is_ours: Callable[[Sequence[str]], bool] | None = None,
) -> None:
    """Raise AssayPilotError unless a file of one of these endings can be written at ``path``; see ``check_place``.

    ``is_ours`` says by the columns whether a table of that name may go.
    """
    if path.suffix.casefold() not in endings:
        raise AssayPilotError(
            f"the name must end in {' or '.join(endings)}",
            file=str(path),
            option=option,
            mend=f"For example {path.stem or 'list'}{endings[0]}.",
        )
    check_place(path, source, option)
    if is_ours is not None:
        keep_other_tables(path, is_ours, option)


def keep_other_tables(path: Path, is_ours: Callable[[Sequence[str]], bool], option: str | None = None) -> None:
    """Refuse to write over a table of somebody else's, such as the one the compounds came from.

    ``is_ours`` says by the columns whether it may go: what the program wrote itself is written anew without a word.
    """
    if path.suffix.casefold() not in _TABLES or not path.is_file():
        return
    from ..tables.opening import read_table

    try:
        columns = read_table(path).columns
    except AssayPilotError:
        return  # no table, or nobody can read it
    if not is_ours(columns):
        raise AssayPilotError(
            "there is another table of this name, which would be lost",
            file=str(path),
            option=option,
            mend="Choose another name.",
        )

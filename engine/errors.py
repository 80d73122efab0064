"""The one family of errors a user is meant to read."""

from __future__ import annotations

from typing import Any


class AssayPilotError(Exception):
    """The world is wrong (a bad cell, a full disk, a newer file): plain words, where, and the mend.

    Everything else that is raised is a bug of ours. Rows of a table that cannot be used are data, not
    exceptions: the table check returns them with a reason beside each.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        row: int | None = None,
        column: str | None = None,
        option: str | None = None,
        mend: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.row = row
        self.column = column
        self.option = option
        self.mend = mend

    def __str__(self) -> str:
        """One line: where, what is wrong, and how to mend it."""
        where = [
            text
            for text in (
                self.file,
                None if self.row is None else f"row {self.row}",
                None if self.column is None else f"column {self.column}",
                self.option,
            )
            if text
        ]
        line = f"{', '.join(where)}: {self.message}" if where else self.message
        if self.mend:
            line = f"{line.rstrip('.')}. {self.mend}"
        return " ".join(line.split())

    def as_json(self) -> dict[str, Any]:
        """Return the refusal as the command line prints it with ``--json``."""
        return {
            "message": self.message,
            "file": self.file,
            "row": self.row,
            "column": self.column,
            "option": self.option,
            "mend": self.mend,
        }


class NotInstalled(AssayPilotError):
    """A campaign that is whole, and needs a package that is not there."""


class AlreadyEntered(AssayPilotError):
    """Results that are in the campaign already; whoever means them can have them counted a second time."""

    def __init__(self, message: str, file: str | None = None) -> None:
        super().__init__(message, file=file, mend="They were not counted again.")

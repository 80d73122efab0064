"""What of a table cannot be used, and why: data beside the table, never an exception."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A row or a value of a table that was not used, and why."""

    row: int | None
    """As a spreadsheet counts, or the number of the record in an SD file; None when it is about the table."""
    column: str | None
    reason: str
    severity: Literal["error", "warning"] = "warning"
    """An error needs a decision of the user before the table can be trusted; a warning lost a row or a value."""

    def as_json(self) -> dict[str, int | str | None]:
        """Return the keys of the command line's list."""
        return {"row": self.row, "column": self.column, "reason": self.reason, "severity": self.severity}

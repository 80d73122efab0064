"""Results as they come back from the lab: a table read for a campaign, refused where it holds nothing to record."""

from __future__ import annotations

from ...errors import AssayPilotError
from ...system.progress import Report, silent
from ...tables.raw import RawTable
from ...tables.results import ResultsTable, read_results
from ..phrases import many
from ..state import Status

__all__ = ["returned"]


def returned(raw: RawTable, now: Status, report: Report = silent) -> ResultsTable:
    """Return the results in a table, with a reason for each row that is not used.

    AssayPilotError for a table without a usable value.
    """
    found = read_results(raw, now.library, now.endpoints, report, controls=now.settings.controls, layouts=now.layouts)
    if not found.results:
        if not found.rejected:
            raise AssayPilotError(
                "no value is filled in",
                file=raw.file,
                mend=f"Fill in {' and '.join(now.value_columns)} and save the table as csv."
                if len(now.entered_endpoints) > 1
                else "Fill in the column Value and save the table as csv.",
            )
        first, others = found.rejected[0], len(found.rejected) - 1
        more = f" (and {many(others, 'more row')})" if others else ""
        raise AssayPilotError(
            f"{first.reason.rstrip('.')}{more}; nothing was recorded",
            file=raw.file,
            row=first.row,
            column=first.column,
            mend="Correct the table and try again.",
        )
    return found

"""The campaign's log as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from .base import Column, RowsModel, text_ranks

if TYPE_CHECKING:
    from assaypilot.engine.campaign.history_text import LogEntry

__all__ = ["LogModel", "local_time"]


def local_time(utc: str) -> str:
    """A time of the log as the clock on the wall shows it, to the minute."""
    try:
        return datetime.fromisoformat(utc.replace("Z", "+00:00")).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # Windows knows no local time before 1970
        return utc


class LogModel(RowsModel):
    """One row per event, the latest first."""

    def show(self, entries: Sequence[LogEntry]) -> None:
        """Take over the log."""
        newest = list(reversed(entries))
        times = [local_time(one.time) for one in newest]
        columns = [
            Column(
                "sequence",
                "#",
                lambda row: str(newest[row].sequence),
                lambda: np.array([one.sequence for one in newest], dtype=np.int64),
                number=True,
            ),
            Column("time", "Time", lambda row: times[row], lambda: text_ranks(times)),
            Column("author", "Who", lambda row: newest[row].author, lambda: text_ranks([e.author for e in newest])),
            Column("text", "What", lambda row: newest[row].text, lambda: text_ranks([e.text for e in newest])),
        ]
        self.fill(columns, len(newest))

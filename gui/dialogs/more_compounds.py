"""More compounds for a campaign that runs, from a table: what follows is said before they are taken in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from assaypilot.engine.campaign.phrases import many
from assaypilot.engine.system.progress import Report

from ..widgets.text import label
from .begin_anew import Asking

if TYPE_CHECKING:
    from assaypilot.engine.campaign.state import Source, Status
    from assaypilot.engine.tables.more import MoreCompounds

    from ..session import Session

__all__ = ["More", "MoreDialog", "read_table_of"]

NAMED = 5
"""Rows that cannot be used that are named, each with the reason."""


@dataclass(frozen=True, slots=True)
class More:
    """What a table brings."""

    found: MoreCompounds
    source: Source


def read_table_of(path: Path, status: Status) -> Callable[[Report], More]:
    """The work that reads a table of compounds for a campaign; AssayPilotError where no row of it is one."""

    def work(report: Report) -> More:
        from assaypilot.engine.campaign.state import Source
        from assaypilot.engine.tables.more import read_more
        from assaypilot.engine.tables.opening import read_table
        from assaypilot.engine.tables.options import TableOptions

        raw = read_table(path, report)
        found = read_more(raw, status.library, TableOptions(), report)
        return More(found, Source(raw.file or "", raw.digest))

    return work


class MoreDialog(Asking):
    """What a table of compounds brings, which rows cannot be used, and what taking it in would do."""

    add = Signal(object)
    """They are to be taken in (a More)."""

    def __init__(
        self, session: Session, status: Status, name: str, more: More, locked: str, parent: QWidget | None
    ) -> None:
        super().__init__(session, status, "Add compounds", "&Add", parent)
        self._more = more
        self.table = label(_in_words(name, more, status), wrap=True, selectable=True)
        self.body.addWidget(self.table)
        session.consequences_of_adding(more.found.library, *self._answers(locked))

    def _go(self) -> None:
        self.add.emit(self._more)
        self.accept()


def _in_words(name: str, more: More, status: Status) -> str:
    """What was read, and what of it cannot be used."""
    there = frozenset(status.library.ids)
    known = sum(own in there for own in more.found.library.ids)
    lines = [f"{name} holds {many(len(more.found.library), 'compound')}."]
    if known:
        lines[0] += f" {known:,} of them {'are' if known > 1 else 'is'} in the campaign already."
    refused = more.found.not_used
    lines += [f"Row {one.row} is not used: {one.reason}." for one in refused[:NAMED]]
    if len(refused) > NAMED:
        lines.append(f"{len(refused) - NAMED:,} more rows are not used.")
    return "\n".join(lines)

"""The state of a campaign, which its log adds up to. Decisions are read from it, never made again."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..domain.controls import Reading
from ..domain.library import Library
from ..errors import AssayPilotError
from .decisions import Decisions

if TYPE_CHECKING:
    from .events.kind import Step

__all__ = ["Ledger"]


class Ledger(Decisions):
    """What the events so far add up to; ``events.fold`` alone changes it."""

    def __init__(self, part: Callable[[str], bytes]) -> None:
        super().__init__(part)
        self.sequence = 0
        self.head = ""
        self.name = ""
        self.warnings: tuple[str, ...] = ()
        self.sources: dict[str, int] = {}
        """How often the content of that digest was entered (and not taken back)."""
        self.failed = 0
        """Measurements given up for lab reasons."""
        self.judged: set[int] = set()
        """Measurements excluded by judgement, after they were seen."""
        self.undo: list[Step] = []
        self.redo: list[Step] = []

    # -- a draft of the future

    def fork(self, parts: Mapping[str, bytes]) -> Ledger:
        """Return a ledger of its own with the same content, in which things can be tried; it also knows these parts."""
        other = copy.copy(self)
        known = self._part
        other._part = lambda digest: parts[digest] if digest in parts else known(digest)
        own = ("measurements", "readings", "sources", "rounds", "layouts", "confirmations", "unavailable", "phases",
               "estimates", "verdicts", "spreads", "judged", "void", "turns")  # fmt: skip
        for name in own:
            setattr(other, name, copy.copy(getattr(self, name)))
        other.undo, other.redo = list(self.undo), list(self.redo)
        if self.under_way is not None:
            other.under_way = replace(self.under_way, lost=dict(self.under_way.lost))
        return other

    def read_library(self, digest: str) -> None:
        """Take the library in the part of that digest."""
        self.hold(Library.decode(self.part(digest)))

    def reading(self, number: int) -> Reading:
        """Return the value of a control of that number; AssayPilotError when there is none."""
        if not 1 <= number <= len(self.readings):
            raise AssayPilotError(f"there is no value of a control number {number}")
        return self.readings[number - 1]

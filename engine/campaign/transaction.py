"""One transaction of a campaign in the making."""

from __future__ import annotations

from collections.abc import Mapping

from .events.fold import rehearse
from .file.chain import Draft
from .replay import Ledger

__all__ = ["Work"]


class Work:
    """One transaction in the making: what it will write, and the state in which it has happened already."""

    def __init__(self, ledger: Ledger) -> None:
        self.drafts: list[Draft] = []
        self.parts: dict[str, bytes] = {}
        self.ledger = ledger.fork(self.parts)

    def add(self, *drafts: Draft, parts: Mapping[str, bytes] | None = None) -> None:
        """These events happen in it, and these parts go with them."""
        self.parts.update(parts or {})
        self.drafts += drafts
        rehearse(self.ledger, drafts)

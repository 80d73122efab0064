"""A campaign as it would be created, for a form that is being filled in and for forecasts.

The window imports this on its own thread, so what takes long to load (scipy above all) is loaded where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..domain.endpoint import Endpoint
from ..domain.library import Library
from ..domain.measurements import Result
from .settings import Settings

if TYPE_CHECKING:
    from .replay import Ledger


@dataclass(frozen=True, eq=False)
class Plan:
    """A campaign as it would be created, without its file."""

    ledger: Ledger
    sentence: str
    """The goal as every page will show it."""
    cautions: tuple[str, ...]
    """Cautions about these settings, and why nothing would be guaranteed."""


def draft(library: Library, endpoints: Sequence[Endpoint], settings: Settings, history: Sequence[Result] = ()) -> Plan:
    """Return the campaign these would make; AssayPilotError as the campaign itself would refuse them."""
    from .creation import creation
    from .promises import broken, goal_sentence

    ledger = creation("new", library, endpoints, settings, history, None, None, ()).ledger
    void = (f"Nothing is guaranteed: {text}." for text in broken(ledger))
    return Plan(ledger, goal_sentence(ledger), (*ledger.warnings, *void))

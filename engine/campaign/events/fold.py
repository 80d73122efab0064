"""The log folded into a state: every kind of event, how one is applied and described."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping

from ...errors import AssayPilotError
from ..file.chain import Draft, Event
from ..replay import Ledger
from . import entered, issued
from . import terms as decided
from . import terms as setup
from .kind import Kind, Redone, Undone

KINDS: Mapping[str, type[Kind]] = {
    kind.name: kind
    for kind in (
        setup.CampaignCreated,
        setup.LibraryAdded,
        setup.EndpointsDefined,
        setup.GoalSet,
        setup.HistoryAdded,
        issued.PhasePlanned,
        issued.RoundIssued,
        issued.ConfirmationIssued,
        issued.AuditIssued,
        issued.RoundWithdrawn,
        issued.PlatesLaidOut,
        issued.RoundClosed,
        entered.ResultsRecorded,
        entered.MeasurementExcluded,
        entered.MeasurementIncluded,
        entered.MeasurementCorrected,
        entered.CompoundsUnavailable,
        entered.StockStated,
        decided.PhaseDecided,
        decided.EstimatesUpdated,
        decided.PhaseEmpty,
        decided.SettingsChanged,
        decided.CompoundsAdded,
        decided.CombinationsListed,
        Undone,
        Redone,
    )
}
"""Every kind of event this program understands, by its name in the file."""

UNFIT = (
    AssayPilotError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    struct.error,
    zlib.error,
)
"""Errors of ``take`` for an event that does not fit those before, or has not the shape of its kind."""


def kind_of(event: Event) -> type[Kind]:
    """Return the kind of an event; AssayPilotError when this program does not know it, or not in that version."""
    kind = KINDS.get(event.kind)
    if kind is None or event.version > kind.version:
        raise AssayPilotError(
            f"step {event.sequence} ({event.kind}) was written by a newer AssayPilot",
            mend="Open the file with the version that wrote it, or a newer one.",
        )
    return kind


def take(ledger: Ledger, event: Event) -> None:
    """Take one event into the state; this and ``rehearse`` are the only things that change it."""
    one = kind_of(event)(event)
    one.remember(ledger, one.apply(ledger))
    ledger.sequence, ledger.head = event.sequence, event.digest


def fold(ledger: Ledger, events: Iterable[Event]) -> Ledger:
    """Take events in, in order, and return the state."""
    for event in events:
        take(ledger, event)
    return ledger


def rehearse(ledger: Ledger, drafts: Iterable[Draft]) -> None:
    """Apply drafts as if they were written."""
    for draft in drafts:
        take(ledger, Event(ledger.sequence + 1, "", "", draft.kind, draft.version, draft.data, ""))


def describe(event: Event, ledger: Ledger) -> str:
    """Return one plain sentence for an event; ``ledger`` has just taken it in."""
    return kind_of(event)(event).sentence(ledger)


class Work:
    """One transaction in the making: what it will write, and the state in which it has happened already."""

    def __init__(self, ledger: Ledger) -> None:
        self.drafts: list[Draft] = []
        self.parts: dict[str, bytes] = {}
        self.ledger = ledger.fork(self.parts)

    def add(self, *drafts: Draft, parts: Mapping[str, bytes] | None = None) -> None:
        """Take these events in, and the parts that go with them."""
        self.parts.update(parts or {})
        self.drafts += drafts
        rehearse(self.ledger, drafts)

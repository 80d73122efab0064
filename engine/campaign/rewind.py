"""The past of a campaign: its status at the end of each round, and undone or redone steps.

The log is folded up to there, and no decision is made again. Undo is an event, too; nothing is erased.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import AssayPilotError
from ..text import many
from .added_compounds import refuse_used
from .events.fold import kind_of, take
from .events.issued import PhasePlanned
from .events.kind import Redone, Step
from .events.terms import CompoundsAdded, SettingsChanged
from .file.chain import Event
from .reasons import Reasons
from .replay import Ledger
from .rounds import refuse_results
from .state import Status
from .view import build_status

_KEPT = 4_000_000
"""Compounds of all states that are kept together: each takes some two hundred bytes."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The end of a round: all that was known when the next one was planned, or is known now after the last one.

    What was corrected, excluded or came late before the next plan is in it; what happened after that is not.
    """

    round: int
    """The last round closed by then; 0 before the first."""
    events: int
    """Events of the log up to then."""
    measurements: int
    """Determinations used by then, as ``Status.measurements_used`` counts them."""


def as_it_stood(moment: Moment, last: int, used: int) -> str:
    """Return the heading of a past status: ``As it stood after round 3 of 7; 384 of 960 measurements``."""
    when = f"after round {moment.round} of {last}" if moment.round else "before the first round"
    return f"As it stood {when}; {moment.measurements:,} of {many(used, 'measurement')}"


def retold(part: Callable[[str], bytes], now: Ledger) -> Ledger:
    """Return the ledger before the first event, to which the same campaign's log is applied without its library."""
    return Ledger(part, {now.library.digest: now.held})


class Past:
    """The moments of one campaign. The status of an earlier one never changes, so it is kept."""

    def __init__(self, part: Callable[[str], bytes], now: Ledger) -> None:
        self._part = part
        self._libraries = {now.library.digest: now.held}
        self._ledgers: dict[int, Ledger] = {}
        self._sequence = -1
        self._kept: OrderedDict[tuple[int, tuple[str, ...]], Status] = OrderedDict()

    def read(self, events: Callable[[], Sequence[Event]], head: int) -> None:
        """Read the log again when it has grown: ``head`` is the number of its events."""
        if head == self._sequence:
            return
        self._ledgers = _ends(Ledger(self._part, self._libraries), events())
        self._sequence = head

    @property
    def moments(self) -> tuple[Moment, ...]:
        """The ends of all rounds that are closed, oldest first; before them, as round 0, the start."""
        return tuple(Moment(number, one.sequence, one.spent()) for number, one in self._ledgers.items())

    def status(self, number: int, warnings: tuple[str, ...] = ()) -> Status:
        """Return the status at the end of a round (0: before the first); AssayPilotError when it is not closed."""
        ledger = self._ledger(number)
        key = (ledger.sequence, warnings)
        if key not in self._kept:
            self._kept[key] = build_status(ledger, warnings)
            most = max(2, _KEPT // max(len(ledger.library), 1))
            while len(self._kept) > most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def reasons(self, number: int, then: Status) -> Reasons:
        """Return why every compound had its status at the end of a round, whose status is given."""
        return Reasons(self._ledger(number), then)

    def _ledger(self, number: int) -> Ledger:
        if number not in self._ledgers:
            closed = [str(one) for one in self._ledgers if one]
            raise AssayPilotError(
                f"round {number} has not ended" if closed else "no round has ended yet",
                option="--round",
                mend=f"Choose 0 (before the first) to {closed[-1]}." if closed else "Close a round first.",
            )
        return self._ledgers[number]


def _ends(ledger: Ledger, events: Sequence[Event]) -> dict[int, Ledger]:
    """Return the state at the end of every closed round, by its number, from the log of a campaign."""
    before: list[Ledger] = []
    """The state in which each round was planned."""
    begun = False
    for event in events:
        kind = kind_of(event)
        plans = kind is PhasePlanned
        again = kind is Redone and ledger.redo[-1].done.issues
        if (plans or kind.issues or again) and not begun:
            before.append(ledger.fork({}))
        take(ledger, event)
        begun = plans
    if ledger.open_round is None:
        before.append(ledger)
    # Of plans after the same round, as when one was withdrawn, the last one counts.
    return {one.last_closed: one for one in before}


def refuse_late(ledger: Ledger, step: Step) -> None:
    """Raise AssayPilotError when something after a step prevents its undo."""
    if step.done.issues:
        refuse_results(ledger)
    if isinstance(step.done, CompoundsAdded):
        refuse_used(ledger, step.done.data["compounds"])
    if isinstance(step.done, SettingsChanged | CompoundsAdded):
        _refuse_seen(ledger)


def _refuse_seen(ledger: Ledger) -> None:
    """Raise AssayPilotError where results were seen under the present terms, including those taken back.

    Taking the change back then chooses the old terms by results, which ends a proof like any other change.
    """
    turn = ledger.turns[-1]
    if turn.how != "capacity" and len(ledger.measurements) > turn.seen:
        raise AssayPilotError(
            "results were seen since the last change, so it stays",
            mend="Change it again instead: the effect on the guarantee is shown first.",
        )

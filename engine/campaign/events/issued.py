"""The events of phases and rounds up to their end: planned, issued, laid out on plates, withdrawn, closed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...strategies.protocol import Allocation, Certificate
from ...text import many
from .. import codec, plating, stocked
from ..bookkeeping import UnderWay
from ..issued_rounds import Issued
from ..replay import Ledger
from .kind import Kind, Revert, note_in_words


class PhasePlanned(Kind):
    """The measurements that a phase requests."""

    name = "phase_planned"

    def apply(self, ledger: Ledger) -> None:
        """Begin the phase."""
        data = self.data
        planned = dict(zip(data["compounds"], data["counts"], strict=True))
        arms = ledger.arm_of[data["compounds"]]
        order = np.argsort(arms)
        allocation = Allocation(
            phase=data["phase"],
            arms=arms[order],
            counts=np.array(data["counts"], dtype=np.intp)[order],
            radius=math.inf if data["radius"] is None else data["radius"],
            certificate=Certificate(**data["certificate"]),
            cut_to_budget=data["cut_to_budget"],
        )
        ledger.under_way = UnderWay(allocation, planned, [(c, n) for c, n in data["order"]], measured=ledger.measured)
        if "set" in data:
            inside, undecided = data["set"]
            ledger.sets[ledger.last_closed] = inside, undecided
        stocked.noted_orders(ledger, self.event.time)

    def sentence(self, ledger: Ledger) -> str:
        """Return the size of the phase."""
        data = self.data
        total = many(sum(data["counts"]) * ledger.per_sample, "measurement")
        compounds = many(len(data["compounds"]), "compound")
        cut = ", cut to what the budget leaves" if data["cut_to_budget"] else ""
        what = f"Round {len(ledger.rounds) + 1}" if ledger.calibrated else f"Phase {data['phase']}"
        return f"{what} planned: {total} of {compounds}{cut}"


class _Issue(Kind):
    """A round of any sort that goes to the lab."""

    issues = True
    what = "round"
    confirms = False

    def sentence(self, ledger: Ledger) -> str:
        """Return the size of the round."""
        issued = ledger.rounds[-1]
        of = f"{many(issued.measurements, 'measurement')} of {many(len(issued.items), 'compound')}"
        return f"{issued.title} issued: {of}{self._drawn()}"

    @property
    def label(self) -> str:
        """The plan of the round."""
        return f"Plan {self.what} {self.data['round']}"

    def apply(self, ledger: Ledger) -> Revert:
        """Open the round; undone, it is as if it was never issued, and the next round takes its number."""
        data = self.data
        ledger.rounds.append(
            Issued(
                data["round"],
                data.get("phase", 0),
                tuple(codec.item_from_json(item) for item in data["items"]),
                "open",
                self.event.time,
                before=len(ledger.measurements),
                endpoints=ledger.measured,
                confirmation=self.confirms,
                noise=tuple(data.get("noise", ())),
                width=data.get("width", 0.0),
                population=data.get("population", 0),
            )
        )
        if self.confirms:
            ledger.confirmations.add(data["round"])
        return self._never_issued

    def _never_issued(self, ledger: Ledger) -> None:
        number = self.data["round"]
        ledger.rounds.pop()
        ledger.confirmations.discard(number)
        ledger.layouts.pop(number, None)

    def _drawn(self) -> str:
        return ""


class RoundIssued(_Issue):
    """A round of a phase."""

    name = "round_issued"


class ConfirmationIssued(_Issue):
    """A round that decides nothing: it confirms what is in, with what it is predicted to find."""

    name = "confirmation_issued"
    what = "confirmation round"
    confirms = True


class AuditIssued(ConfirmationIssued):
    """A confirmation round of compounds drawn at random from those not in."""

    name = "audit_issued"
    what = "audit round"

    def _drawn(self) -> str:
        return f", drawn at random from {self.data['population']:,}"


class RoundWithdrawn(Kind):
    """A round taken back."""

    name = "round_withdrawn"

    def apply(self, ledger: Ledger) -> None:
        """Withdraw the last round."""
        ledger.rounds[-1] = replace(ledger.rounds[-1], state="withdrawn", closed=self.event.time)
        ledger.layouts.pop(self.data["round"], None)

    def sentence(self, ledger: Ledger) -> str:
        """Return the round and the note."""
        return f"Round {self.data['round']} withdrawn{note_in_words(self.data['note'])}"

    def remember(self, ledger: Ledger, revert: Revert | None) -> None:
        """Forget the plates, and keep the plan for redo, which issues the same list under the next number.

        Not that of an audit, which is drawn by its number. Where something else was stated since, nothing can be undone
        in order.
        """
        undo, redo = ledger.undo, ledger.redo
        redo.clear()
        while undo and isinstance(undo[-1].done, PlatesLaidOut):
            undo.pop()
        if undo and undo[-1].done.issues:
            plan = undo.pop()
            redo += [] if isinstance(plan.done, AuditIssued) else [plan]
        else:
            undo.clear()


class PlatesLaidOut(Kind):
    """The plates of a round."""

    name = "plates_laid_out"

    @property
    def label(self) -> str:
        """Whether there are plates."""
        return "Take the plates away" if self.data["layout"] is None else "Lay out on plates"

    def apply(self, ledger: Ledger) -> Revert:
        """Keep the plates, or forget them."""
        number = self.data["round"]
        before = dict(ledger.layouts)

        def revert(ledger: Ledger) -> None:
            ledger.layouts = dict(before)

        layout = plating.layout_from_json(self.data["layout"], ledger.view(ledger.issued(number)))
        ledger.layouts.pop(number, None)
        if layout is not None:
            ledger.layouts[number] = layout
        return revert

    def sentence(self, ledger: Ledger) -> str:
        """Return the plates."""
        return plating.layout_in_words(self.data)


class RoundClosed(Kind):
    """The end of a round."""

    name = "round_closed"
    ends_undo = True

    def apply(self, ledger: Ledger) -> None:
        """Close the last round; what is missing comes again or is lost."""
        data = self.data
        ledger.rounds[-1] = replace(ledger.rounds[-1], state="closed", closed=self.event.time)
        lost = data["lost"]
        if ledger.under_way is not None:
            for compound, n, endpoint in lost:
                place = endpoint, compound
                ledger.under_way.lost[place] = ledger.under_way.lost.get(place, 0) + n
        if data["missing"] == "other":
            ledger.void.append(f"round {data['round']} was closed early for a reason that may depend on its results")

    def sentence(self, ledger: Ledger) -> str:
        """Return the number of results, and how the rest is treated."""
        data = self.data
        ends = "" if ledger.calibrated else ", which ends the proof"
        what = {
            "none": "",
            "return": "; what is missing comes again",
            "failed": "; what is missing was lost for lab reasons",
            "other": f"; what is missing was lost for another reason{ends}",
        }[data["missing"]]
        back = f"{data['returned']:,} of {many(data['asked'], 'measurement')}"
        return f"Round {data['round']} closed with {back}{what}{note_in_words(data['note'])}"

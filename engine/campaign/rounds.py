"""The events of a round and of a phase: issue, end and decision. Nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, get_args

import numpy as np

from ..domain.features import ProjectedFeatures
from ..errors import AssayPilotError
from ..strategies.protocol import Allocation, Arrays, Calibrated, Decision
from ..system.progress import Report, silent
from . import codec, stocked
from . import noise as assay_noise
from .candidates import posterior_of, shown_means
from .changes import nothing_of_the_plan
from .events.fold import Work
from .events.issued import PhasePlanned, RoundClosed, RoundIssued, RoundWithdrawn
from .events.terms import EstimatesUpdated, PhaseDecided, PhaseEmpty
from .file.chain import Draft, as_parts
from .issued_rounds import Issued, Missing, RoundItem
from .layout import lay_out, next_round, reasons
from .replay import Ledger
from .series import knowledge, of_endpoint, series_reasons


def planned_round(ledger: Ledger, report: Report = silent) -> list[Draft]:
    """Return the events of the next round, with its phase's plan when one begins; none when nothing is left to measure.

    No round where all that is left waits for compounds that are being made.
    """
    settings = ledger.settings
    drafts = []
    # The series model plans by everything measured, so a plan without results is made again.
    if ledger.under_way is None or (ledger.calibrated and nothing_of_the_plan(ledger)):
        state = ledger.current()
        if ledger.strategy.stop(state):
            return []
        allocation = ledger.strategy.ask(stocked.as_supplied(ledger, state), report).within_budget(state)
        if not allocation.total:
            return []
        planned, order = _lay_out(ledger, allocation)
        known = knowledge(ledger, state) if ledger.calibrated else None
        now = ledger.in_and_undecided((state if known is None else known).status)
        drafts.append(PhasePlanned.draft({**_phase_json(allocation, planned, order), "set": now}))
        phase, open_of = allocation.phase, (planned,) * ledger.per_sample
    else:
        under_way, left = ledger.under_way, ledger.outstanding()
        phase, planned, order = under_way.allocation.phase, under_way.planned, under_way.order
        open_of = tuple({c: left.get((k, c), 0) for c in planned} for k in ledger.measured)
    # A compound comes again while any of its endpoints is open.
    done = {c: n - max(still[c] for still in open_of) for c, n in planned.items()}
    room = max(1, settings.per_round // ledger.per_sample)
    if ledger.stock is not None:
        there = stocked.at_hand(ledger)
        order = [(compound, n) for compound, n in order if there[compound]]
    chosen = next_round(order, done, room, settings.max_replicates)
    if not chosen and ledger.stock is not None:
        # All that is left has to be made first; the same plan once more is nothing new.
        return [] if ledger.under_way is not None and ledger.under_way.planned == planned else drafts
    requested = [tuple(min(n, still[c]) for still in open_of) for c, n in chosen]
    compounds = [compound for compound, _ in chosen]
    texts = reasons(ledger.library, compounds)
    if ledger.calibrated:
        texts = series_reasons(ledger, ledger.current(), compounds, texts)
    items = items_of(ledger, chosen, texts, requested)
    return [*drafts, RoundIssued.draft({"round": len(ledger.rounds) + 1, "phase": phase, "items": items})]


def _lay_out(ledger: Ledger, allocation: Allocation) -> tuple[dict[int, int], list[tuple[int, int]]]:
    """Return a phase's measurements by compound, and the order in which rounds are cut from it."""
    compounds = [ledger.representative(arm) for arm in allocation.arms]
    if ledger.stock is not None:
        compounds = [int(compound) for compound in stocked.of_arms(ledger)[2][allocation.arms]]
    span = ProjectedFeatures(ledger.features, allocation.arms)
    settings = ledger.settings
    runs = lay_out(
        allocation.counts,
        span.coordinates(),
        max(1, settings.per_round // ledger.per_sample),
        settings.max_replicates,
        seed=settings.seed * 1_000_003 + allocation.phase,
    )
    planned = {c: int(n) for c, n in zip(compounds, allocation.counts, strict=True)}
    return planned, [(compounds[position], n) for position, n in runs]


def items_of(
    ledger: Ledger, chosen: Sequence[tuple[int, int]], texts: Sequence[str], each_endpoint: Sequence[tuple[int, ...]]
) -> list[dict[str, Any]]:
    """Return the lines of a round, each with what is expected of its compound, as the log keeps them.

    ``chosen``: compound and measurements of each endpoint; ``texts``: why it is there; ``each_endpoint``: those of each
    measured endpoint, of which some may be in already.
    """
    compounds = [compound for compound, _ in chosen]
    predicted = {k: expected(ledger, k, compounds) for k in {ledger.objective, *ledger.measured}}
    several = [predicted[k] for k in ledger.measured] if ledger.measured != (ledger.objective,) else []
    items = []
    for line, ((compound, n), text, each) in enumerate(zip(chosen, texts, each_endpoint, strict=True)):
        mean, low, high = predicted[ledger.objective][line] or (None, None, None)
        differing = () if set(each) == {n} else each
        item = RoundItem(compound, n, text, mean, low, high, differing, tuple(of[line] for of in several))
        items.append(asdict(item))
    return items


def expected(ledger: Ledger, endpoint: int, compounds: Sequence[int]) -> list[tuple[float, float, float] | None]:
    """Return what is expected of an endpoint of each compound, with its 2.5 % and 97.5 % points.

    None before any value.
    """
    arms = ledger.arm_of[compounds]
    if ledger.calibrated and endpoint in ledger.modelled:
        found = of_endpoint(ledger, knowledge(ledger, ledger.current()), endpoint)
        if found is None:
            return [None] * len(compounds)
        return list(zip(*(each[arms].tolist() for each in found), strict=True))
    view = posterior_of(ledger, endpoint)
    if view is None:
        return [None] * len(compounds)
    mean, spread = view.means(arms), 1.96 * view.sds(arms)
    points = (shown_means(ledger, endpoint, each).tolist() for each in (mean, mean - spread, mean + spread))
    return list(zip(*points, strict=True))


def _phase_json(allocation: Allocation, planned: Mapping[int, int], order: Sequence[tuple[int, int]]) -> dict[str, Any]:
    return {
        "phase": allocation.phase,
        "compounds": list(planned),
        "counts": list(planned.values()),
        "order": [[compound, n] for compound, n in order],
        "radius": codec.finite(allocation.radius),
        "certificate": asdict(allocation.certificate),
        "cut_to_budget": allocation.cut_to_budget,
    }


def to_end(ledger: Ledger, verb: str) -> Issued:
    """Return the open round, which is to be closed or withdrawn; AssayPilotError when there is none."""
    issued = ledger.open_round
    if issued is not None:
        return issued
    closed = [r for r in ledger.rounds if r.state == "closed"]
    if closed:
        raise AssayPilotError(f"round {closed[-1].number} is closed already", mend="Plan the next round first.")
    raise AssayPilotError(f"there is no open round to {verb}", mend="Plan a round first.")


def refuse_results(ledger: Ledger) -> None:
    """Raise AssayPilotError when the open round has results."""
    issued = ledger.open_round
    if issued is None:
        return
    came = any(
        m.round == issued.number and (m.number > issued.before or m.counted) and not m.withdrawn
        for m in ledger.measurements
    )
    if came or any(r.round == issued.number and not r.withdrawn for r in ledger.readings):
        raise AssayPilotError(
            f"round {issued.number} has results, so it cannot be withdrawn",
            mend="Close it with what has come back instead.",
        )


def withdrawn_round(ledger: Ledger, note: str) -> Draft:
    """Return the open round taken back; AssayPilotError when there is none, or it has results."""
    number = to_end(ledger, "withdraw").number
    refuse_results(ledger)
    return RoundWithdrawn.draft({"round": number, "note": note})


def closed_round(ledger: Ledger, issued: Issued, missing: str, note: str = "") -> Draft:
    """Return the end of the open round with what has come back; AssayPilotError for another ``missing``."""
    if missing not in (choices := get_args(Missing)):
        raise AssayPilotError(
            f"there is no choice {missing!r} for missing results", mend=f"Choose one of: {', '.join(choices)}."
        )
    left = ledger.outstanding()
    awaited = [(place, min(n, left[place])) for place, n in ledger.awaited(issued) if place in left]
    lost = [[compound, n, endpoint] for (endpoint, compound), n in awaited]
    if not lost and issued.confirmation and not issued.population and ledger.pending(issued):
        missing = "return"  # it decides nothing, so nothing is lost: the next confirmation round requests it again
    elif not lost or (missing == "return" and ledger.calibrated):
        missing = "none"
    data = {
        "round": issued.number,
        "asked": issued.measurements,
        "returned": sum(map(sum, ledger.returned(issued))),
        "missing": missing,
        "lost": lost if missing in ("failed", "other") else [],
        "note": " ".join(note.split()),
    }
    return RoundClosed.draft(data)


def decide_due(work: Work) -> bool:
    """Decide what is due, and return whether anything was.

    That is the phase under way, once nothing of it is outstanding and no round is open; and under the series model,
    after a change of the terms, what is known by now.
    """
    ledger = work.ledger
    if ledger.calibrated and ledger.phases and ledger.state.last is None:
        return _decided(work, EstimatesUpdated, recompute(ledger, update=True))
    if ledger.under_way is None or ledger.open_round is not None:
        return False
    phase = ledger.under_way.allocation.phase
    closed = any(one.phase == phase and one.state == "closed" for one in ledger.rounds)
    if ledger.outstanding() and not (ledger.calibrated and closed):
        return False
    if not _decided(work, PhaseDecided, recompute(ledger)):
        work.add(PhaseEmpty.draft({"phase": phase, "round": ledger.last_round}))
    return True


def _decided(work: Work, kind: type[PhaseDecided], decision: Decision | None) -> bool:
    """Add the event of a decision and its part; return whether there is one."""
    if decision is None:
        return False
    data, blob = stored(work.ledger, decision)
    named = as_parts(blob)
    (digest,) = named
    info = work.ledger.strategy.info
    data |= {"strategy": info.name, "strategy_version": info.version, "round": work.ledger.last_round, "part": digest}
    work.add(kind.draft(data), parts=named)
    return True


def stored(ledger: Ledger, decision: Decision) -> tuple[dict[str, Any], bytes]:
    """Return a decision as JSON and as the bytes of its part."""
    data = codec.decision_to_json(decision, ledger.first)
    noise = assay_noise.spreads(ledger, decision.phase)
    if noise:
        data["noise"] = assay_noise.to_json(noise)
    return data, codec.to_bytes(decision)


def same(one: Decision, other: Decision) -> bool:
    """Return whether two decisions are equal, up to the last digits of their bounds."""
    sets = all(
        np.array_equal(np.sort(getattr(one, name)), np.sort(getattr(other, name)))
        for name in ("ins", "outs", "left", "contradicted")
    )
    # Two radii that are not numbers are equal, too; infinity equals itself.
    bounds = all(
        np.allclose(getattr(one, name), getattr(other, name), rtol=1e-7, atol=1e-9, equal_nan=True)
        for name in ("estimate", "low", "high", "radius")
    )
    return sets and bounds and one.spent == other.spent and _same_arrays(one.memory, other.memory)


def _same_arrays(one: Arrays, other: Arrays) -> bool:
    """Return whether two memories have the same arrays, up to their last digits."""
    return set(one) == set(other) and all(
        np.shape(array) == np.shape(other[name])
        and np.allclose(array, other[name], rtol=1e-7, atol=1e-9, equal_nan=True)
        for name, array in one.items()
    )


def recompute(ledger: Ledger, *, update: bool = False) -> Decision | None:
    """Return what the phase under way decides from the facts so far; None when nothing usable returned.

    With ``update``: what the series model makes of the values so far for the last phase, after a change of the terms.
    """
    if isinstance(ledger.strategy, Calibrated):
        state = ledger.current()
        if not ledger.strategy.has_values(state):
            return None
        decision = ledger.strategy.decision(state, ledger.samples())
        return replace(decision, phase=len(ledger.phases)) if update else decision
    if ledger.under_way is None:
        return None
    allocation = ledger.under_way.allocation
    outcome = ledger.outcome(allocation.phase, allocation, ledger.samples())
    state = assay_noise.to_decide(ledger, ledger.deciding(), allocation.phase)
    return assay_noise.decided(state, ledger.strategy.decide(state, outcome))

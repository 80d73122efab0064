"""Changing the terms in the middle of a campaign: what may be changed, and what that does to the guarantee.

**What never touches the guarantee.** What the lab takes in a round, of one compound in a round, and the budget. A phase
rests on a number of measurements that was fixed when it was planned; in how many rounds they are taken, or how many
more phases follow, changes nothing of what its bounds promise. A phase that is under way is finished as it was planned:
to cut it short after seeing some of its values would.

**Before the first result** everything may change: nothing was seen that could have been chosen by.

**After results** everything may change, too. That ends a proof, which covers only what was fixed beforehand: the same
step hands the campaign over to the series model, which takes all measurements as data.

One more endpoint in the middle of a campaign: recorded only, with a limit, or as a second objective.

**Recorded only.** It decides nothing, is asked for in no round, and nothing that was decided or will be depends on it.

**With a limit.** From the next phase on every compound is measured for it, too; a phase is measured for what it was
planned for, so none is under way when that changes.

**As a second objective** it changes the question: what is as good as nothing else in both. Nothing is decided of that
before the next phase, which measures both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import Enum
from typing import Any, Final

import numpy as np

from ..domain.controls import Control, refuse_compounds, resolved
from ..domain.desirability import Curve
from ..domain.difference import behind, check_differences, with_noise
from ..domain.endpoint import Endpoint, Limit
from ..domain.noise import StatedNoise
from ..domain.profiles import check_structures, profile_endpoint
from ..errors import AssayPilotError
from ..strategies.protocol import IN, OUT, UNDECIDED
from ..strategies.registry import SERIES, choose, states_errors
from . import codec, deciding, series
from .bookkeeping import How
from .events.fold import Work
from .events.kind import Kind
from .events.terms import CAPACITY, SettingsChanged, changes_in_words
from .file.chain import Draft, as_parts, part_digest
from .phrases import joined, many, odds
from .preconditions import check_campaign
from .promises import broken, goal_sentence
from .replay import Ledger
from .settings import Settings


class Leave(Enum):
    """That a term stays as it is."""

    AS_IT_IS = "as it is"


LEAVE: Final = Leave.AS_IT_IS


@dataclass(frozen=True)
class Change:
    """What is to be different from now on; everything else stays as it is. Numbers on the model scale."""

    epsilon: float | Leave | None = LEAVE
    slack: float | Leave | None = LEAVE
    """None: half of epsilon."""
    delta: float | Leave = LEAVE
    per_round: int | Leave = LEAVE
    max_replicates: int | Leave = LEAVE
    budget: int | Leave | None = LEAVE
    """None: no limit."""
    noise: Mapping[str, float | StatedNoise] = field(default_factory=dict)
    """SD between measurements of one compound, by endpoint; or that it is not known, perhaps with a guess."""
    limits: Mapping[str, Limit | None] = field(default_factory=dict)
    """By endpoint, in its entry unit; None: no limit any more."""
    margins: Mapping[str, float | None] = field(default_factory=dict)
    """For trade-offs the difference that does not matter, by endpoint; None: what holds for all."""
    endpoint: Endpoint | None = None
    """One more endpoint: with a limit, an objective, or to be recorded only."""
    trade_off: bool = False
    """Whether it is an objective beside those there are: the best trade-offs are wanted."""
    controls: tuple[Control, ...] = ()
    """More controls, or what those should read that were not read yet."""
    curves: tuple[Curve, ...] = ()
    """All curves of the profile as they are to be; empty: as they are."""
    strategy: str | Leave = LEAVE
    """Another strategy by name, without parameters of its own; it goes on with everything measured."""

    @property
    def of_capacity_alone(self) -> bool:
        """Whether it is only about what the lab takes, the budget, or what is recorded: it touches no guarantee."""
        if self.trade_off:
            return False
        told = {one.name for one in fields(self) if getattr(self, one.name) not in (LEAVE, {}, None, ())}
        told |= {name for name in ("epsilon", "slack", "budget") if getattr(self, name) is None}
        recorded = {"endpoint"} if self.endpoint is not None and self.endpoint.limit is None else set()
        recorded.add("trade_off")
        return told <= {*CAPACITY, *recorded}


_SETTINGS = ("epsilon", "slack", "delta", "per_round", "max_replicates", "budget")
_OPTIONS = {"noise": "--sd", "limits": "--limit", "margins": "--margin"}


def consequences(ledger: Ledger, change: Change) -> tuple[str, ...]:
    """Return what a change does, in sentences, before it is done; AssayPilotError when it is refused."""
    work = Work(ledger)
    add_change(work, change)
    return said(ledger, work.ledger, work.drafts[-1].data)


def add_change(work: Work, change: Change, note: str = "") -> None:
    """Add the event of a change and the parts it names; AssayPilotError when it is refused."""
    ledger = work.ledger
    settings, endpoints = _terms(ledger, change)
    changes = _differences(ledger, settings, endpoints)
    if not changes:
        raise AssayPilotError("nothing would be different", mend="Give a value other than the present one.")
    how = _how(ledger, changes)
    limited = any(endpoint.limit is not None for endpoint in endpoints)
    if how == "void" or (limited and isinstance(change.strategy, Leave)):
        settings = _by_series(ledger, change, settings)
        changes = _differences(ledger, settings, endpoints)
    if how != "capacity" and any(change["what"] != "strategy" for change in changes):
        refuse_open_round(ledger)
    if any(change["what"] in ("limit", "endpoint", "profile") for change in changes):
        _refuse_other_endpoints(ledger, settings, endpoints)
    data: dict[str, Any] = {
        "how": how,
        "changes": changes,
        "settings": codec.settings_to_json(settings),
        "endpoints": [endpoint.as_json() for endpoint in endpoints],
        "drops_plan": how != "capacity" and ledger.open_round is None and nothing_of_the_plan(ledger),
        "note": " ".join(note.split()),
        "decisions": [],
        "parts": [],
    }
    blobs: dict[str, bytes] = {}
    if how == "void":
        data = decided_under(ledger, SettingsChanged, data, blobs)
    work.add(SettingsChanged.draft(data), parts=blobs)
    # What the strategy cannot do is refused, whatever has happened since it began.
    ledger.strategy.start(replace(ledger.problem(), measurable=ledger.origin.measurable))
    check_campaign(ledger)


def decided_under(ledger: Ledger, kind: type[Kind], data: dict[str, Any], blobs: dict[str, bytes]) -> dict[str, Any]:
    """Return the data of a change with what all phases so far decide under it; ``blobs`` takes their parts in."""
    under = Work(ledger)
    under.add(kind.draft(data), parts=blobs)
    found = [deciding.stored(under.ledger, decision) for decision in deciding.decided_anew(under.ledger)]
    own = [blob for _, blob in found]
    blobs |= as_parts(*own)
    return {**data, "decisions": [told for told, _ in found], "parts": [*data["parts"], *map(part_digest, own)]}


def add_stock(work: Work, drafts: Sequence[Draft]) -> None:
    """Add the events of a change of stock.

    Where a compound returns after a proof has decided without it, the series model takes over first.
    """
    ledger = work.ledger
    if not ledger.calibrated and ledger.phases and any(draft.data["back"] for draft in drafts):
        add_change(work, Change(strategy=SERIES), "a compound is available again")
    work.add(*drafts)


def _terms(ledger: Ledger, change: Change) -> tuple[Any, list[Endpoint]]:
    """Return the settings and endpoints that a change asks for."""
    said = {name: getattr(change, name) for name in _SETTINGS if getattr(change, name) is not LEAVE}
    if ledger.settings.goal == "pareto" and "slack" in said:
        raise AssayPilotError(
            "trade-offs have no soft cutoff",
            option="--slack",
            mend="Say the difference that does not matter (epsilon).",
        )
    if change.controls:
        said["controls"] = _with_controls(ledger, change.controls)
    settings = replace(ledger.settings, **said)
    if not isinstance(change.strategy, Leave):
        settings = replace(settings, strategy=_strategy(ledger, change.strategy), parameters={})
    endpoints = list(ledger.endpoints)
    for kind, option in _OPTIONS.items():
        for name, value in getattr(change, kind).items():
            place = _place(ledger, name, option)
            endpoints[place] = _with(endpoints[place], kind, value)
    if change.curves:
        endpoints = _redrawn(endpoints, change.curves)
        check_structures(endpoints, ledger.library)
    if change.endpoint is not None:
        endpoints.append(one_more(endpoints, change.endpoint, decides=change.trade_off))
    if change.trade_off:
        settings = _as_trade_off(ledger, change, settings)
    each = len(_measured(settings, endpoints))
    if settings.per_round < each:
        raise AssayPilotError(
            f"a round of {settings.per_round} cannot hold one measurement of each of {each} endpoints",
            option="--per-round",
            mend=f"Allow at least {each}.",
        )
    return settings, with_noise(endpoints)


def _as_trade_off(ledger: Ledger, change: Change, settings: Settings) -> Settings:
    """Return the settings with the new endpoint as one more objective."""
    if change.endpoint is None:
        raise AssayPilotError(
            "a second objective is an endpoint that is new", option="--goal", mend="Name the endpoint."
        )
    objectives = (*settings.objectives, change.endpoint.name)
    trade = replace(settings, goal="pareto", objectives=objectives, slack=None, top=None)
    if "pareto" in ledger.strategy.info.goals:
        return trade
    return replace(trade, strategy=SERIES, parameters={})


def _redrawn(endpoints: Sequence[Endpoint], curves: Sequence[Curve]) -> list[Endpoint]:
    """Return the endpoints with other curves of the profile; AssayPilotError where there is none."""
    if not any(endpoint.curves for endpoint in endpoints):
        raise AssayPilotError("this campaign has no profile", option="--profile", mend="Make a new campaign with it.")
    drawn = profile_endpoint(curves, [endpoint for endpoint in endpoints if not endpoint.curves])
    return [replace(one, of=drawn.of, curves=drawn.curves) if one.curves else one for one in endpoints]


def _strategy(ledger: Ledger, name: str) -> str:
    """Return the name of the strategy that is taken; AssayPilotError for one that does not answer the goal."""
    kind = "value" if ledger.settings.goal == "pareto" else ledger.endpoints[ledger.objective].kind
    measured = len(ledger.library) * len(ledger.measured)
    taken, _ = choose(name, ledger.settings.goal, values=measured, kind=kind)
    return taken.info.name


def _by_series(ledger: Ledger, change: Change, settings: Settings) -> Settings:
    """Return the settings under the series model, where a change after results, or a limit, ends a proof.

    AssayPilotError for a change to a strategy that proves.
    """
    named = not isinstance(change.strategy, Leave)
    if states_errors(settings.strategy) if named else ledger.calibrated:
        return settings
    if named:
        raise AssayPilotError(
            f"{settings.strategy} proves only what was fixed before the first result",
            option="--strategy",
            mend=f"Continue under {SERIES}, or start a new campaign.",
        )
    return replace(settings, strategy=_strategy(ledger, SERIES), parameters={})


def _with_controls(ledger: Ledger, more: Sequence[Control]) -> tuple[Control, ...]:
    """Return the controls of a campaign and some more, or what those there should read."""
    found = {control.name.casefold(): control for control in ledger.settings.controls}
    for control in resolved(more, ledger.endpoints, ledger.measured):
        old = found.get(control.name.casefold())
        if old is None:
            refuse_compounds([control], ledger.library)
            found[control.name.casefold()] = control
        else:
            values = dict(old.values) | dict(control.values)
            found[control.name.casefold()] = Control(old.name, tuple(values.items()))
    return tuple(found.values())


def _place(ledger: Ledger, name: str, option: str) -> int:
    for place, endpoint in enumerate(ledger.endpoints):
        if endpoint.name.casefold() == name.casefold():
            return place
    names = ", ".join(endpoint.name for endpoint in ledger.endpoints)
    raise AssayPilotError(f"there is no endpoint {name!r}", option=option, mend=f"Choose one of: {names}.")


def _with(endpoint: Endpoint, kind: str, value: Any) -> Endpoint:
    if kind == "limits":
        return replace(endpoint, limit=value)
    if kind == "margins":
        return replace(endpoint, epsilon=value)
    if endpoint.of is not None:
        raise AssayPilotError(
            f"the noise of {endpoint.name} follows from that of {' and '.join(endpoint.of)}",
            option="--sd",
            mend="Give theirs.",
        )
    said = value if isinstance(value, StatedNoise) else StatedNoise(value)
    sd = said.sd or endpoint.noise_sd if said.estimated else said.sd
    return replace(endpoint, noise_sd=sd, noise_estimated=said.estimated)


def _differences(ledger: Ledger, settings: Any, endpoints: Sequence[Endpoint]) -> list[dict[str, Any]]:
    """Return what is different, before and after."""
    found = []
    if settings.strategy != ledger.settings.strategy and settings.strategy != ledger.strategy.info.name:
        names = {"before": ledger.strategy.info.name, "after": settings.strategy}
        found.append({"what": "strategy", "endpoint": None, **names})
    if settings.goal != ledger.settings.goal:
        found.append({"what": "goal", "endpoint": None, "before": ledger.settings.goal, "after": settings.goal})
    for what in _SETTINGS if settings.goal == ledger.settings.goal else set(_SETTINGS) - {"slack"}:
        before, after = getattr(ledger.settings, what), getattr(settings, what)
        if before != after:
            found.append({"what": what, "endpoint": None, "before": before, "after": after})
    if settings.controls != ledger.settings.controls:
        both = ([one.as_json() for one in some.controls] for some in (ledger.settings, settings))
        found.append({"what": "controls", "endpoint": None, **dict(zip(("before", "after"), both, strict=True))})
    for old, new in zip(ledger.endpoints, endpoints, strict=False):
        terms: list[tuple[str, Any, Any]] = [
            ("noise", _noise(old), _noise(new)),
            ("margin", old.epsilon, new.epsilon),
            ("limit", _limit(old), _limit(new)),
            ("profile", [curve.text for curve in old.curves], [curve.text for curve in new.curves]),
        ]
        for what, before, after in terms:
            if before != after and not (what == "noise" and old.of is not None):
                entry = {"what": what, "endpoint": old.name, "before": before, "after": after}
                found.append(entry)
    found += [
        {"what": "endpoint", "endpoint": new.name, "before": None, "after": new.as_json()}
        for new in endpoints[len(ledger.endpoints) :]
    ]
    return found


def _noise(endpoint: Endpoint) -> float | str | dict[str, Any] | None:
    return {"about": endpoint.noise_sd} if endpoint.noise_estimated else endpoint.noise_sd


def _limit(endpoint: Endpoint) -> dict[str, Any] | None:
    return None if endpoint.limit is None else asdict(endpoint.limit)


def _how(ledger: Ledger, changes: Sequence[Mapping[str, Any]]) -> How:
    if all(only_recorded(change) or change["what"] == "controls" for change in changes):
        return "capacity"
    if all(change["what"] in (*CAPACITY, "controls") or only_recorded(change) for change in changes):
        # Before the first plan the strategy may think of another capacity from the start.
        return "capacity" if ledger.seen() or ledger.under_way is not None else "free"
    return "void" if ledger.seen() else "free"


def refuse_open_round(ledger: Ledger) -> None:
    """Raise AssayPilotError while a round is open, which was planned for the terms as they are."""
    issued = ledger.open_round
    if issued is None:
        return
    began = any(m.round == issued.number and not m.withdrawn for m in ledger.measurements)
    raise AssayPilotError(
        f"round {issued.number} is open, and was planned for the terms as they are",
        mend="Close it first." if began else "Withdraw it first, and plan it again afterwards.",
    )


def _measured(settings: Settings, endpoints: Sequence[Endpoint]) -> tuple[int, ...]:
    """Positions of the endpoints that would be measured for each compound."""
    names = [endpoint.name for endpoint in endpoints]
    asked = [place for place, endpoint in enumerate(endpoints) if endpoint.limit is not None or endpoint.curves]
    return behind(endpoints, (*map(names.index, settings.objectives), *asked))


def _refuse_other_endpoints(ledger: Ledger, settings: Settings, endpoints: Sequence[Endpoint]) -> None:
    """Raise AssayPilotError where a phase would have to measure other endpoints than it was planned for.

    Each phase is measured for what it was planned for; the next one for other endpoints.
    """
    if _measured(settings, endpoints) == ledger.measured:
        return
    if ledger.under_way is not None and not nothing_of_the_plan(ledger):
        left = sum(ledger.outstanding().values())
        raise AssayPilotError(
            f"phase {ledger.under_way.allocation.phase} has results, and is measured for what it was planned for",
            mend=f"Finish the phase first: {many(left, 'measurement')} to come.",
        )


def nothing_of_the_plan(ledger: Ledger) -> bool:
    """Whether a phase is planned of which nothing was ever seen, so that it can be planned again."""
    if ledger.under_way is None:
        return False
    phase = ledger.under_way.allocation.phase
    return not any(m.phase == phase for m in ledger.measurements)


ENDS = (
    f"This ends the proof: the series model ({SERIES}) continues, with every measurement so far. No proof covers "
    "limits, or changes after results; to keep one, start a new campaign."
)
"""What a change of the terms after results, or of a value after its phase, does under a strategy that proves."""

SAME = "The same compounds are in and out."


def said(before: Ledger, after: Ledger, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what follows from a change, in sentences; ``before`` and ``after`` are the states, ``data`` its event."""
    words = changes_in_words(data["changes"], before.settings.goal)
    told = [f"Changes {words}."]
    if goal_sentence(after) != goal_sentence(before):
        told.append(f"The goal is then: {goal_sentence(after)}.")
    what = {change["what"] for change in data["changes"]}
    if "controls" in what:
        told.append("Controls are shown beside the results, and decide nothing by themselves.")
    told += _of_the_guarantee(before, after, data)
    told += _of_what_is_measured(before, after)
    told += of_decisions(before, after)
    return (*told, *_of_rounds(before, after, data))


def _of_the_guarantee(before: Ledger, after: Ledger, data: Mapping[str, Any]) -> list[str]:
    what = {change["what"] for change in data["changes"]}
    if data["how"] == "capacity" and "endpoint" in what:
        informs = "informs the model" if after.calibrated else "decides nothing: the guarantee is not touched"
        return [f"It is recorded and shown, and {informs}."]
    if after.calibrated and not before.calibrated:
        return [ENDS]
    if after.calibrated:
        again = "All is decided again from the measurements so far; what is stated holds for the new terms."
        return [again] if data["how"] == "void" else []
    now, then = broken(before), broken(after)
    if now and then:
        return ["Nothing is guaranteed now, and nothing would be."]
    if then:
        return [f"This ends the guarantee: {'; '.join(then)}. The campaign goes on with best estimates."]
    if data["how"] == "capacity" and "controls" in what:
        return ["The guarantee is not touched."]
    if data["how"] == "capacity" or what <= set(CAPACITY):
        return ["The guarantee is not touched: phases rest on numbers of measurements fixed when they are planned."]
    whose = "all compounds together" if what == {"compounds"} else "the new terms"
    sure = f"wrong at most {odds(after.settings.delta)}"
    return [f"No result was seen yet, so the guarantee is that of {whose}: {sure}."]


def _of_what_is_measured(before: Ledger, after: Ledger) -> list[str]:
    """Return that each compound is measured for more endpoints, or for fewer, from the next round on."""
    more = [k for k in after.measured if k not in before.measured]
    less = [k for k in before.measured if k not in after.measured]
    told = []
    if more:
        room = max(1, after.settings.per_round // after.per_sample)
        whom = joined([after.endpoints[k].name for k in more])
        told.append(
            f"From the next round on every planned compound is measured for {whom}, too: a round of "
            f"{after.settings.per_round:,} measurements then holds {many(room, 'replicate')} of compounds."
        )
    if less:
        told.append(f"{joined([after.endpoints[k].name for k in less])} is no longer requested.")
    return told


def of_decisions(before: Ledger, after: Ledger) -> list[str]:
    """Who would be in, out and undecided, in one sentence; none before the first decision."""
    if not before.phases:
        return []
    now, then = _status(before), _status(after)
    were = then[: len(now)]
    if np.array_equal(now, then):
        return [SAME]
    pairs = ((IN, "in"), (OUT, "out"), (UNDECIDED, "undecided"))
    counted = [f"{int((then == code).sum()):,} {word} (now {int((now == code).sum()):,})" for code, word in pairs]
    back = int(((now != UNDECIDED) & (were == UNDECIDED)).sum())
    again = f"; {many(back, 'compound')} would be open again" if back else ""
    return [f"Then {joined(counted)}{again}."]


def _status(ledger: Ledger) -> Any:
    """Return the status of every compound."""
    state = ledger.current()
    if ledger.calibrated:
        known = series.knowledge(ledger, state)
        return np.full(len(ledger.library), UNDECIDED) if known is None else known.status[ledger.arm_of]
    return state.status[ledger.arm_of]


def _of_rounds(before: Ledger, after: Ledger, data: Mapping[str, Any]) -> list[str]:
    what = {change["what"] for change in data["changes"]}
    told = []
    left = sum(before.outstanding().values())
    if data["drops_plan"]:
        told.append("What was planned next and not begun is planned again.")
    elif before.under_way is not None:
        issued = before.open_round
        if what & {"per_round", "max_replicates"}:
            stays = "" if issued is None else f"Round {issued.number} stays as it was issued. "
            told.append(f"{stays}The next round is the first of the new size.")
        budget = after.settings.budget
        if "budget" in what and budget is not None and before.spent() + left > budget:
            why = "" if after.calibrated else ": to cut it short after seeing some of its results ends the proof"
            told.append(
                f"The phase under way was planned before and still takes {many(left, 'measurement')}, "
                f"{before.spent() + left - budget:,} beyond the new budget{why}."
            )
    if "budget" in what and after.settings.budget is not None and after.spent() >= after.settings.budget:
        told.append(f"{many(after.spent(), 'measurement')} were taken already: no further phase begins.")
    return told


_USUAL = 0.3
"""The SD that plans start from where nobody knows it: of log values, as biochemical assays have it."""


def one_more(endpoints: Sequence[Endpoint], new: Endpoint, *, decides: bool) -> Endpoint:
    """Return the endpoint as it comes to those there are; AssayPilotError where it cannot.

    ``decides``: whether it is an objective; with a limit it decides, too.
    """
    taken = next((one.name for one in endpoints if one.name.casefold() == new.name.casefold()), None)
    if taken is not None:
        raise AssayPilotError(
            f"there is an endpoint {taken} already", option="--endpoint", mend="Give the new one another name."
        )
    check_differences([*endpoints, new])
    if not (decides or new.limit is not None) or new.of is not None or new.noise_sd is not None:
        return new
    if new.noise_estimated and new.is_log:
        return replace(new, noise_sd=_USUAL)
    guess = " Or sd=unknown:0.2, with a guess, where it is unknown." if not new.noise_estimated else ""
    raise AssayPilotError(
        f"nothing says about how large the assay noise (SD) of {new.name} is, and decisions rest on it",
        option="--endpoint",
        mend=f"Give it, for example sd=0.3.{guess}",
    )


def only_recorded(change: Mapping[str, Any]) -> bool:
    """Whether a change, as the log keeps it, is an endpoint that decides nothing."""
    return change["what"] == "endpoint" and change["after"].get("limit") is None

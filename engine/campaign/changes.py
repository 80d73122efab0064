"""Changing the terms in the middle of a campaign: what may be changed, and what that does to the guarantee.

**What never touches the guarantee.** The measurements per round, per compound in a round, and the budget. A phase rests
on a number of measurements that was fixed when it was planned. In how many rounds they are taken, or how many phases
follow, does not change its bounds. A phase under way is finished as planned: to cut it short after seeing some of its
values would change them.

**Before the first result** everything may change: no result could have guided the choice.

**After results** everything may change, too. That ends a proof, which covers only what was fixed beforehand: the same
step hands the campaign over to the series model, which takes all measurements as data.

One more endpoint in the middle of a campaign: recorded only, with a limit, or as a second objective.

**Recorded only.** It decides nothing, no round requests it, and no past or later decision depends on it.

**With a limit.** From the next phase on every compound is measured for it, too. A phase keeps the endpoints it was
planned for, so none is under way when that changes.

**As a second objective** it changes the question to the best trade-offs of both. The next phase, which measures both,
decides first about that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import Enum
from typing import Any, Final

from ..domain.controls import Control, refuse_compounds, resolved
from ..domain.derived import behind, check_differences, check_structures, profile_endpoint, with_noise
from ..domain.desirability import Curve
from ..domain.endpoint import Endpoint, Limit
from ..domain.noise import StatedNoise, usual
from ..errors import AssayPilotError
from ..strategies.registry import SERIES, choose, states_errors
from ..text import many
from . import codec
from .bookkeeping import How
from .change_effects import effects_in_words
from .events.fold import Work
from .events.terms import CAPACITY, SettingsChanged
from .file.chain import Draft
from .preconditions import check_campaign
from .replay import Ledger
from .settings import Settings


class Leave(Enum):
    """That a term stays as it is."""

    AS_IT_IS = "as it is"


LEAVE: Final = Leave.AS_IT_IS


@dataclass(frozen=True)
class Change:
    """The terms to change; all others stay as they are. Numbers on the model scale."""

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
    """For trade-offs the difference that does not matter, by endpoint; None: the one for all endpoints."""
    endpoint: Endpoint | None = None
    """One more endpoint: with a limit, an objective, or to be recorded only."""
    trade_off: bool = False
    """Whether it is one more objective: the goal becomes the best trade-offs."""
    controls: tuple[Control, ...] = ()
    """More controls, or nominal values of controls without a reading."""
    curves: tuple[Curve, ...] = ()
    """All curves of the profile as they are to be; empty: as they are."""
    strategy: str | Leave = LEAVE
    """Another strategy by name, without parameters of its own; it continues with everything measured."""

    @property
    def of_capacity_alone(self) -> bool:
        """Whether it is only about capacity, budget, or recorded endpoints, which leaves the guarantee."""
        if self.trade_off:
            return False
        given = {one.name for one in fields(self) if getattr(self, one.name) not in (LEAVE, {}, None, ())}
        given |= {name for name in ("epsilon", "slack", "budget") if getattr(self, name) is None}
        recorded = {"endpoint"} if self.endpoint is not None and self.endpoint.limit is None else set()
        recorded.add("trade_off")
        return given <= {*CAPACITY, *recorded}


_SETTINGS = ("epsilon", "slack", "delta", "per_round", "max_replicates", "budget")
_OPTIONS = {"noise": "--sd", "limits": "--limit", "margins": "--margin"}


def consequences(ledger: Ledger, change: Change) -> tuple[str, ...]:
    """Return what a change does, in sentences, before it is done; AssayPilotError when it is refused."""
    work = Work(ledger)
    add_change(work, change)
    return effects_in_words(ledger, work.ledger, work.drafts[-1].data)


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
    }
    work.add(SettingsChanged.draft(data))
    # What the strategy cannot do is refused, whatever has happened since it began.
    ledger.strategy.start(ledger.problem())
    check_campaign(ledger)


def add_stock(work: Work, drafts: Sequence[Draft]) -> None:
    """Add the events of a change of stock.

    Where a compound returns after a proof has decided without it, the series model takes over first.
    """
    ledger = work.ledger
    if not ledger.calibrated and ledger.phases and any(draft.data["back"] for draft in drafts):
        add_change(work, Change(strategy=SERIES), "a compound is available again")
    work.add(*drafts)


def _terms(ledger: Ledger, change: Change) -> tuple[Any, list[Endpoint]]:
    """Return the settings and endpoints that a change requests."""
    settings_given = {name: getattr(change, name) for name in _SETTINGS if getattr(change, name) is not LEAVE}
    if ledger.settings.goal == "pareto" and "slack" in settings_given:
        raise AssayPilotError(
            "trade-offs have no soft cutoff",
            option="--slack",
            mend="Say the difference that does not matter (epsilon).",
        )
    if change.controls:
        settings_given["controls"] = _with_controls(ledger, change.controls)
    settings = replace(ledger.settings, **settings_given)
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
    stated = value if isinstance(value, StatedNoise) else StatedNoise(value)
    sd = stated.sd or endpoint.noise_sd if stated.estimated else stated.sd
    return replace(endpoint, noise_sd=sd, noise_estimated=stated.estimated)


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
    """Return the positions of the endpoints that would be measured for each compound."""
    names = [endpoint.name for endpoint in endpoints]
    needed = [place for place, endpoint in enumerate(endpoints) if endpoint.limit is not None or endpoint.curves]
    return behind(endpoints, (*map(names.index, settings.objectives), *needed))


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
    """Return whether a phase is planned without any result, so that it can be planned again."""
    if ledger.under_way is None:
        return False
    phase = ledger.under_way.allocation.phase
    return not any(m.phase == phase for m in ledger.measurements)


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
    guess_of = usual(new, ())
    if new.noise_estimated and guess_of is not None:
        return replace(new, noise_sd=guess_of.noise_sd)
    guess = " Or sd=unknown:0.2, with a guess, where it is unknown." if not new.noise_estimated else ""
    raise AssayPilotError(
        f"the assay noise (SD) of {new.name} is unknown, and decisions rest on it",
        option="--endpoint",
        mend=f"Give it, for example sd=0.3.{guess}",
    )


def only_recorded(change: Mapping[str, Any]) -> bool:
    """Return whether a change, as the log keeps it, is an endpoint that decides nothing."""
    return change["what"] == "endpoint" and change["after"].get("limit") is None

"""Changing one's mind in the middle of a campaign: what may be changed, and what that does to the guarantee.

**What never touches the guarantee.** What the lab takes in a round, of one compound in a round, and the budget. A phase
rests on a number of measurements that was fixed when it was planned; in how many rounds they are taken, or how many
more phases follow, changes nothing of what its bounds promise. A phase that is under way is finished as it was planned:
to cut it short after seeing some of its values would.

**Before the first result** everything may change: nothing was seen that could have been chosen by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import Enum
from typing import Any, Final

from assaypilot.engine.campaign.changing.blocks import ABOUT, refuse_blocks, with_controls
from assaypilot.engine.campaign.changing.changed import CAPACITY
from assaypilot.engine.campaign.changing.decisions import as_it_is, derive, kept, rules, verdicts
from assaypilot.engine.campaign.changing.endpoints import one_more, only_recorded
from assaypilot.engine.campaign.changing.turns import How
from assaypilot.engine.campaign.changing.words import said
from assaypilot.engine.campaign.file import codec
from assaypilot.engine.campaign.file.chain import Draft, as_parts, part_digest
from assaypilot.engine.campaign.noise import classes
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.campaign.state import Settings
from assaypilot.engine.campaign.suitable import check_campaign
from assaypilot.engine.campaign.words import many
from assaypilot.engine.controls import Control
from assaypilot.engine.difference import behind, with_noise
from assaypilot.engine.endpoint import Endpoint, Limit
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.noise_classes import NoiseClasses
from assaypilot.engine.stated_noise import StatedNoise

__all__ = [
    "LEAVE",
    "Change",
    "Leave",
    "change_drafts",
    "consequences",
    "nothing_of_the_plan",
    "redone",
    "refuse_open_round",
]


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
    """One more endpoint: with a limit, or to be recorded only."""
    blocks: str | Leave = LEAVE
    """What shifts all values together from now on, one of ``controls.BLOCKS``; earlier values by what tells theirs."""
    controls: tuple[Control, ...] = ()
    """More controls, or what those should read that were not read yet."""

    @property
    def of_capacity_alone(self) -> bool:
        """Whether it is only about what the lab takes, the budget, or what is recorded: it touches no guarantee."""
        told = {one.name for one in fields(self) if getattr(self, one.name) not in (LEAVE, {}, None, ())}
        told |= {name for name in ("epsilon", "slack", "budget") if getattr(self, name) is None}
        recorded = {"endpoint"} if self.endpoint is not None and self.endpoint.limit is None else set()
        return told <= {*CAPACITY, *recorded}


_SETTINGS = ("epsilon", "slack", "delta", "per_round", "max_replicates", "budget", "blocks")
_OPTIONS = {"noise": "--sd", "limits": "--limit", "margins": "--margin"}


def consequences(ledger: Ledger, change: Change) -> tuple[str, ...]:
    """What a change does, in sentences, before it is done; AssayPilotError when it is refused."""
    (draft,), blobs = change_drafts(ledger, change)
    after = ledger.fork(blobs)
    after.rehearse([draft])
    return said(ledger, after, draft.data)


def change_drafts(ledger: Ledger, change: Change, note: str = "") -> tuple[list[Draft], dict[str, bytes]]:
    """The event of a change and the parts it names; AssayPilotError when it is refused."""
    settings, endpoints = _terms(ledger, change)
    changes = _differences(ledger, settings, endpoints)
    if not changes:
        raise AssayPilotError("nothing would be different", mend="Give a value other than the present one.")
    how = _how(ledger, changes, settings)
    if how != "capacity":
        refuse_open_round(ledger)
    if any(change["what"] == "blocks" for change in changes):
        refuse_blocks(ledger, settings.blocks)
    if how == "kept":
        _refuse_in_a_phase(ledger, changes)
    if any(change["what"] in ("limit", "endpoint") for change in changes):
        _refuse_other_endpoints(ledger, endpoints)
    data: dict[str, Any] = {
        "how": how,
        "changes": changes,
        "settings": codec.settings_to_json(settings),
        "endpoints": [endpoint.as_json() for endpoint in endpoints],
        "drops_plan": how != "capacity" and nothing_of_the_plan(ledger),
        "note": " ".join(note.split()),
        "anew": None,
        "parts": [],
    }
    blobs: dict[str, bytes] = {}
    if how == "kept":
        data, blobs = _decided_anew(ledger, data)
    later = (
        any(one["what"] in ("endpoint", *ABOUT) for one in changes)
        or bool(settings.controls)
        or any(endpoint.noise_estimated or endpoint.noise_classes for endpoint in endpoints)
    )
    later = later or "rules" in (data["anew"] or {})
    draft = Draft("settings_changed", data, 2 if later else 1)
    after = ledger.fork(blobs)
    after.rehearse([draft])
    # What the strategy cannot do is refused, whatever has happened since it began.
    after.strategy.start(replace(after.problem(), measurable=after.origin.measurable))
    check_campaign(after)
    return [draft], blobs


def _decided_anew(ledger: Ledger, data: dict[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The data of a change with what it decides anew, or with what is decided, when nothing can be derived."""
    under = ledger.fork({})
    under.rehearse([Draft("settings_changed", data)])
    upto = len(ledger.phases)
    may = not _fixed_by_results(ledger, data["changes"])
    by_rules = rules(under) if may and upto else 1
    decision = derive(under, upto, ledger.measurable(), ledger.samples(), by_rules) if may and upto else None
    if decision is None and upto:
        data, decision = {**data, "how": "void"}, as_it_is(ledger)
    elif not upto and not may:
        data = {**data, "how": "void"}
    if decision is None:
        return data, {}
    told, blobs = kept(under, decision, verdicts(under, upto), by_rules if data["how"] == "kept" else 1)
    named = as_parts(*blobs)
    return {**data, "anew": told, "parts": [part_digest(blob) for blob in blobs]}, named


def _fixed_by_results(ledger: Ledger, changes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether what the strategy promises is about terms that it began with, and one of these is to change."""
    of_margins = len(ledger.goal_endpoints) > 1 and any(one["what"] in ("epsilon", "margin") for one in changes)
    strategy = ledger.strategy.info
    return not strategy.every_goal or (strategy.name == "adaptive" and of_margins)


def redone(ledger: Ledger, data: Mapping[str, Any], sequence: int) -> tuple[list[Draft], dict[str, bytes]]:
    """The same change once more, after it was undone; ``sequence`` is the last event before."""
    (draft,), parts = change_drafts(ledger, _change_of(data), data["note"])
    return [replace(draft, data={**draft.data, "redoes": sequence})], parts


def _change_of(data: Mapping[str, Any]) -> Change:
    """The change that an event tells of."""
    told: dict[str, Any] = {"noise": {}, "limits": {}, "margins": {}}
    for one in data["changes"]:
        after = one["after"]
        if one["what"] == "limit":
            told["limits"][one["endpoint"]] = None if after is None else Limit(**after)
        elif one["what"] == "endpoint":
            told["endpoint"] = Endpoint.from_json(after)
        elif one["what"] == "controls":
            told["controls"] = tuple(map(Control.from_json, after))
        elif one["what"] == "margin":
            told["margins"][one["endpoint"]] = after
        elif one["what"] == "noise":
            told["noise"][one["endpoint"]] = _noise_again(one)
        else:
            told[one["what"]] = after
    return Change(**told)


def _terms(ledger: Ledger, change: Change) -> tuple[Any, list[Endpoint]]:
    """The settings and endpoints that a change asks for."""
    said = {name: getattr(change, name) for name in _SETTINGS if getattr(change, name) is not LEAVE}
    if ledger.settings.goal == "pareto" and "slack" in said:
        raise AssayPilotError(
            "trade-offs have no soft cutoff",
            option="--slack",
            mend="Say the difference that does not matter (epsilon).",
        )
    if change.controls:
        said["controls"] = with_controls(ledger, change.controls)
    settings = replace(ledger.settings, **said)
    endpoints = list(ledger.endpoints)
    for kind, option in _OPTIONS.items():
        for name, value in getattr(change, kind).items():
            place = _place(ledger, name, option)
            endpoints[place] = _with(endpoints[place], kind, value)
            if kind == "noise":
                endpoints[place] = classes.given(ledger, endpoints[place], ledger.endpoints[place])
    if change.endpoint is not None:
        endpoints.append(classes.with_largest(ledger.library, one_more(endpoints, change.endpoint)))
    each = len(_measured(ledger, endpoints))
    if settings.per_round < each:
        raise AssayPilotError(
            f"a round of {settings.per_round} cannot hold one measurement of each of {each} endpoints",
            option="--per-round",
            mend=f"Allow at least {each}.",
        )
    return settings, with_noise(endpoints)


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
            f"the noise of {endpoint.name} follows from that of {endpoint.of[0]} and {endpoint.of[1]}",
            option="--sd",
            mend="Give theirs.",
        )
    said = value if isinstance(value, StatedNoise) else StatedNoise(value)
    # Without an SD all others keep theirs.
    own = endpoint.noise_classes.other if endpoint.noise_classes is not None else endpoint.noise_sd
    sd = said.sd or own if said.estimated or said.classes is not None else said.sd
    return replace(endpoint, noise_sd=sd, noise_estimated=said.estimated, noise_classes=said.classes)


def _differences(ledger: Ledger, settings: Any, endpoints: Sequence[Endpoint]) -> list[dict[str, Any]]:
    """What is different, before and after."""
    found = []
    for what in _SETTINGS:
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
        ]
        for what, before, after in terms:
            if before != after and not (what == "noise" and old.of is not None):
                entry = {"what": what, "endpoint": old.name, "before": before, "after": after}
                if what == "noise" and new.noise_classes is not None:
                    entry["classes"] = new.noise_classes.as_json()
                found.append(entry)
    found += [
        {"what": "endpoint", "endpoint": new.name, "before": None, "after": new.as_json()}
        for new in endpoints[len(ledger.endpoints) :]
    ]
    return found


def _noise(endpoint: Endpoint) -> float | str | dict[str, Any] | None:
    if endpoint.noise_classes is not None:
        unknown = "unknown by class, about " if endpoint.noise_estimated else ""
        return f"{unknown}{endpoint.noise_classes.in_words}"
    return {"about": endpoint.noise_sd} if endpoint.noise_estimated else endpoint.noise_sd


def _noise_again(change: Mapping[str, Any]) -> float | StatedNoise:
    """The noise that a change gave, as the log tells of it."""
    after = change["after"]
    if "classes" in change:
        own = NoiseClasses.from_json(change["classes"])
        return StatedNoise(own.other, str(after).startswith("unknown"), own)
    return StatedNoise(after["about"], True) if isinstance(after, dict) else float(after)


def _limit(endpoint: Endpoint) -> dict[str, Any] | None:
    return None if endpoint.limit is None else asdict(endpoint.limit)


def _how(ledger: Ledger, changes: Sequence[Mapping[str, Any]], settings: Settings) -> How:
    # What nothing is taken out by decides nothing.
    beside = ("controls",) if settings.blocks == "none" == ledger.settings.blocks else ()
    if all(only_recorded(change) or change["what"] in beside for change in changes):
        return "capacity"
    if all(change["what"] in (*CAPACITY, *beside) or only_recorded(change) for change in changes):
        # Before the first plan the strategy may think of another capacity from the start.
        return "capacity" if ledger.seen() or ledger.under_way is not None else "free"
    return "kept" if ledger.seen() else "free"


def refuse_open_round(ledger: Ledger) -> None:
    """Nothing; AssayPilotError while a round is open, which was planned for the terms as they are."""
    issued = ledger.open_round
    if issued is None:
        return
    began = any(m.round == issued.number and not m.withdrawn for m in ledger.measurements)
    raise AssayPilotError(
        f"round {issued.number} is open, and was planned for the terms as they are",
        mend="Close it first." if began else "Withdraw it first (Round menu; plan --withdraw); then plan it anew.",
    )


def _measured(ledger: Ledger, endpoints: Sequence[Endpoint]) -> tuple[int, ...]:
    """Positions of the endpoints that would be measured for each compound."""
    limited = [place for place, endpoint in enumerate(endpoints) if endpoint.limit is not None]
    return behind(endpoints, (*ledger.goal_endpoints, *limited))


def _refuse_other_endpoints(ledger: Ledger, endpoints: Sequence[Endpoint]) -> None:
    """Nothing; AssayPilotError where a phase would have to measure other endpoints than it was planned for.

    Each phase is measured for what it was planned for; the next one for other endpoints. Effects of plates are those
    of the endpoints of the start.
    """
    if _measured(ledger, endpoints) == ledger.measured:
        return
    if ledger.settings.blocks != "none" and ledger.rounds:
        raise AssayPilotError(
            f"{ledger.settings.blocks} effects are taken out by controls, which were measured for other endpoints",
            option="--limit",
            mend="Begin anew with it in a file of its own (--into): the measurements so far are its history.",
        )
    if ledger.under_way is not None and not nothing_of_the_plan(ledger):
        left = sum(ledger.outstanding().values())
        raise AssayPilotError(
            f"phase {ledger.under_way.allocation.phase} has results, and is measured for what it was planned for",
            mend=f"Finish the phase first: {many(left, 'measurement')} to come.",
        )


def _refuse_in_a_phase(ledger: Ledger, changes: Sequence[Mapping[str, Any]]) -> None:
    """Nothing; AssayPilotError where who is compared with whom would be chosen by results of the very phase."""
    if ledger.strategy.info.name != "adaptive" or _fixed_by_results(ledger, changes):
        return
    if ledger.under_way is not None and not nothing_of_the_plan(ledger):
        left = sum(ledger.outstanding().values())
        raise AssayPilotError(
            f"phase {ledger.under_way.allocation.phase} of adaptive has results, and its comparisons are those of the "
            "goal as it is",
            mend=f"Finish the phase first: {many(left, 'measurement')} to come.",
        )


def nothing_of_the_plan(ledger: Ledger) -> bool:
    """Whether a phase is planned of which nothing was ever seen, so that it can be planned anew."""
    if ledger.under_way is None:
        return False
    phase = ledger.under_way.allocation.phase
    return not any(m.phase == phase for m in ledger.measurements)

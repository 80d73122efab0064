"""What controls say: of every plate how far and how widely they read, and whether rounds or plates have drifted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from assaypilot.engine.arrays import Floats
from assaypilot.engine.campaign.counting import Books
from assaypilot.engine.campaign.noise.precision import sd_of_controls
from assaypilot.engine.campaign.plates import blocking
from assaypilot.engine.campaign.plates.drifting import drift
from assaypilot.engine.campaign.plates.lines import Cost, PlateLine, Quality
from assaypilot.engine.controls import Reading
from assaypilot.engine.design.dealing import dealt
from assaypilot.engine.models.blocks import NO_BLOCK
from assaypilot.engine.percentages import percent

__all__ = ["cost", "costs", "quality"]


_WIDE = 0.01
"""Chance of saying of any plate that its controls scatter more than the assay noise while none does."""
_USUAL = 4
"""Controls on a plate that are spoken of where there are none."""
_MUCH = 0.1
"""Share of the information that plates cost from which on it is said what they would cost as they are laid out here."""
_FEW = 500
"""Measurements up to which that is looked for: dealing them takes up to a quarter of a second."""


def quality(ledger: Books) -> Quality:
    """What the controls say at the ledger's head."""
    settings = ledger.settings
    if not settings.controls:
        return Quality()
    kind = settings.blocks if settings.blocks != "none" else "plate"
    nominal = blocking.nominals(ledger)
    usable = [r for r in ledger.readings if r.usable]
    lines, drifts = [], []
    for k, endpoint in enumerate(ledger.endpoints):
        own = [r for r in usable if r.endpoint == k]
        above = np.array([r.value - nominal[r.control, k] for r in own])
        groups: dict[blocking.Block, list[int]] = {}
        for place, r in enumerate(own):
            groups.setdefault(blocking.block_of(kind, r), []).append(place)
        for block, places in sorted(groups.items()):
            some = [own[place] for place in places]
            lines.append(
                _line(block[0], blocking.name_of(kind, some[0]), k, some, above[places], sd_of_controls(endpoint))
            )
        sd = sd_of_controls(endpoint)
        if sd is not None and own:
            names = {block: blocking.name_of(kind, own[places[0]]) for block, places in groups.items()}
            weights = np.array([float(r.n) for r in own])
            blocks = [blocking.block_of(kind, r) for r in own]
            taken_out = None if settings.blocks == "none" else settings.blocks
            texts = drift(blocks, names, above, weights, sd, taken_out=taken_out)
            drifts += [f"{endpoint.name}: {text}{_what_of_it(ledger)}" for text in texts]
    n_wide = sum(line.sd is not None for line in lines)
    lines = [replace(line, wide=line.wide and _p_wide(ledger, line) * n_wide < _WIDE) for line in lines]
    spent = costs(ledger)
    said = tuple(_costs_in_words(ledger, spent))
    return Quality(tuple(lines), tuple(drifts), spent, said, tuple(_lacking(ledger)))


def _what_of_it(ledger: Books) -> str:
    kind = ledger.settings.blocks
    if kind == "none":
        return "; estimates and decisions have it in them (a campaign with --blocks plate takes such shifts out)"
    return f"; {kind} effects are taken out of estimates and decisions"


def _line(
    number: int, name: str, endpoint: int, readings: Sequence[Reading], above: Floats, noise: float | None
) -> PlateLine:
    weights = np.array([float(r.n) for r in readings])
    mean = float(weights @ above / weights.sum())
    centred, freedom = above.copy(), len(above)
    for control in {r.control for r in readings}:
        own = np.array([r.control == control for r in readings])
        centred[own] -= weights[own] @ above[own] / weights[own].sum()
        freedom -= 1
    sd = math.sqrt(float(weights @ centred**2) / freedom) if freedom > 0 else None
    return PlateLine(number, name, endpoint, int(weights.sum()), mean, sd, sd is not None and noise is not None)


def _p_wide(ledger: Books, line: PlateLine) -> float:
    """The chance of so wide a scatter; its degrees of freedom are those of one control, at most too many by few."""
    from scipy.special import chdtrc

    noise = sd_of_controls(ledger.endpoints[line.endpoint])
    if line.sd is None or noise is None:
        return 1.0
    freedom = max(line.n - 1, 1)
    return float(chdtrc(freedom, freedom * (line.sd / noise) ** 2))


def costs(ledger: Books) -> tuple[Cost, ...]:
    """What blocks cost in the last phase that has results."""
    if ledger.settings.blocks == "none":
        return ()
    phase = len(ledger.phases) if ledger.under_way is None else ledger.under_way.allocation.phase
    if phase > 1 and not ledger.received(phase):
        phase -= 1
    number = max((issued.number for issued in ledger.rounds if issued.phase == phase), default=0)
    found = []
    for k in ledger.measured:
        told = blocking.of_phase(ledger, phase, k)
        if len(told.arms):
            found.append(cost(ledger, told, k, number))
    return tuple(found)


def cost(ledger: Books, told: blocking.Together, endpoint: int, number: int) -> Cost:
    """What the blocks cost: from the mean variance of differences between the compounds, with blocks and without."""
    arms = np.unique(told.arms)
    x = ledger.features.dense(arms)
    x -= x.mean(axis=0)

    def variance(some: blocking.Together) -> float:
        fit = some.fit(ledger)
        # A difference that lies outside what is told has no variance.
        told_all = float(np.abs(x @ fit.outside).max(initial=0.0)) < 1e-6
        return float(np.einsum("ij,jk,ik->", x, fit.covariance, x)) if told_all else math.inf

    alone = variance(told._replace(blocks=np.full(len(told.arms), NO_BLOCK, dtype=np.intp)))
    more = np.where(told.control_counts > 0, 2.0 * told.control_counts, _USUAL)
    with_blocks, with_more = variance(told), variance(told._replace(control_counts=more))

    def lost(spread: float) -> float:
        return 0.0 if alone <= 0 else 1.0 - alone / spread if math.isfinite(spread) else 1.0

    each = float(told.control_counts.mean()) if len(told.control_counts) else 0.0
    laid_out = None
    laying_out = ledger.settings.blocks == "plate" and told.counts.sum() <= _FEW and (told.blocks != NO_BLOCK).all()
    if laying_out and lost(with_blocks) > _MUCH:
        least = max(lost(variance(_dealt(ledger, told))), 0.0)
        laid_out = least if lost(with_blocks) > least + _MUCH / 2.0 else None
    return Cost(endpoint, number, max(lost(with_blocks), 0.0), each, max(lost(with_more), 0.0), laid_out)


def _dealt(ledger: Books, told: blocking.Together) -> blocking.Together:
    """The same measurements on as many plates, each a copy of the others, with as many controls on all of them."""
    arms, places = np.unique(told.arms, return_inverse=True)
    counts = np.rint(np.bincount(places, told.counts)).astype(np.intp)
    shares = dealt(ledger.features.dense(arms), counts, len(told.control_counts))
    plates, places = np.nonzero(shares)
    return told._replace(
        arms=arms[places],
        blocks=plates,
        counts=shares[plates, places].astype(np.float64),
        means=np.zeros(len(plates)),
        control_counts=np.full(len(shares), told.control_counts.mean()),
        control_means=np.zeros(len(shares)),
    )


def _costs_in_words(ledger: Books, costs: Sequence[Cost]) -> list[str]:
    kind = ledger.settings.blocks
    texts = []
    for one in costs:
        name = f" ({ledger.endpoints[one.endpoint].name})" if len(costs) > 1 else ""
        more = 2 * one.controls if one.controls else _USUAL
        instead = f"{more:g} controls on each instead of {one.controls:g}"
        where = "" if kind == "round" else f" of round {one.round}"
        if one.lost >= 1.0:
            texts.append(
                f"{kind.capitalize()} effects cannot be told from some of the compounds{where}{name}: "
                "they stand where no control does"
                + (
                    ""
                    if one.laid_out is None
                    else f"; laid out by the program plates would cost {_share(one.laid_out)}"
                )
            )
        else:
            texts.append(
                f"{kind.capitalize()} effects cost {_share(one.lost)} of the information{where}{name}; "
                f"{instead} would cost {_share(one.with_twice)}"
                + ("" if one.laid_out is None else f", plates as the program lays them out {_share(one.laid_out)}")
            )
    return texts


def _share(value: float) -> str:
    return "less than 1 %" if value < 0.005 else percent(value)


def _lacking(ledger: Books) -> list[str]:
    """Blocks of the last round that hold measurements and no control."""
    issued = next((one for one in reversed(ledger.rounds) if one.state != "withdrawn"), None)
    if issued is None:
        return []
    texts = []
    for k, name, compounds in blocking.without_controls(ledger, issued):
        of = f" for {ledger.endpoints[k].name}" if len(ledger.measured) > 1 else ""
        tells = "tells only how its own compounds differ" if compounds > 1 else "tells nothing: it holds one compound"
        if issued.confirmation:
            tells = "confirms nothing: its shift is not known"
        texts.append(f"{name[:1].upper()}{name[1:]} has no control{of} and {tells}")
    return texts

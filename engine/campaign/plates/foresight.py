"""What plates leave of what a phase is for: said before anything is pipetted.

A phase of ``adaptive`` is for the comparisons that are open then; a first one is for all. Plates whose effects are
taken out leave less of them, and nothing where compounds that are to be compared stand on different plates of which one
has no control.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from assaypilot.engine.campaign.plates import blocking
from assaypilot.engine.campaign.plates.aims import Aims
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.campaign.state import Round, Status
from assaypilot.engine.controls import find_control
from assaypilot.engine.design.keeping import left_of
from assaypilot.engine.features import OUTSIDE_TOLERANCE, SiteFeatures, span_basis
from assaypilot.engine.percentages import percent
from assaypilot.engine.plates.layout import Layout, Plate
from assaypilot.engine.strategies.adaptive.goals import compared
from assaypilot.engine.strategies.protocol import State

__all__ = ["aims", "said_of_plates"]

_MUCH = 0.25
"""Share of the information on what a phase is for from which on it is said that its plates take it."""
_USUAL = 4
"""Controls on a plate that are spoken of where there are fewer than two."""
_COLUMNS = 2_000
"""Columns of features above which nothing of this is looked at: it would take seconds."""

Block = tuple[int, str]


def aims(ledger: Ledger, state: State) -> Aims | None:
    """What the phase under way is for, in a campaign that takes blocks out; None without, and between phases."""
    under_way, features = ledger.under_way, ledger.features
    if under_way is None or ledger.settings.blocks == "none" or features.n_columns > _COLUMNS:
        return None
    nobody = np.zeros(0, dtype=np.intp)
    first, second, precision = nobody, nobody, np.zeros(0)
    needs = compared(ledger.strategy, state)
    if needs is not None:
        apart = features.dense(needs.first) - features.dense(needs.second)
        basis = span_basis(features, under_way.allocation.arms)
        rest = apart - (apart @ basis) @ basis.T
        lengths = np.einsum("ij,ij->i", apart, apart)
        told = (lengths > 0) & (np.einsum("ij,ij->i", rest, rest) <= OUTSIDE_TOLERANCE * lengths)
        if told.any():
            first, second = ledger.first[needs.first[told]], ledger.first[needs.second[told]]
            precision = needs.precision[told]
    phase = under_way.allocation.phase
    so_far: dict[int, dict[tuple[int, Block], float]] = {k: {} for k in ledger.goal_endpoints}
    for m, n in ledger.counting(phase):
        block = blocking.known_block(ledger, m)
        if m.endpoint in so_far and m.usable and block is not None:
            own = so_far[m.endpoint]
            own[m.compound, block] = own.get((m.compound, block), 0.0) + n
    telling = {k: blocking.telling(ledger, k) for k in ledger.goal_endpoints}
    controls: dict[int, dict[Block, float]] = {k: {} for k in ledger.goal_endpoints}
    for r in ledger.readings:
        block = blocking.known_block(ledger, r)
        if r.endpoint in controls and r.usable and r.control in telling[r.endpoint] and block is not None:
            read = controls[r.endpoint]
            read[block] = read.get(block, 0.0) + r.n
    return Aims(phase, first, second, precision, ledger.goal_endpoints, telling, so_far, controls)


def said_of_plates(status: Status, issued: Round, layout: Layout | None) -> tuple[str, ...]:
    """Sentences where such plates leave nothing, or much less, of what an open round is for; mostly none."""
    now = status.aims
    if now is None or layout is None or status.settings.blocks != "plate":
        return ()
    if issued.state != "open" or issued.confirmation or issued.phase != now.phase:
        return ()
    said = {k: _said(status, issued, layout, k) for k in now.endpoints if k in issued.endpoints}
    several = len(now.endpoints) > 1
    return tuple(f"{status.endpoints[k].name}: {text}" if several else text for k, text in said.items() if text)


def _said(status: Status, issued: Round, layout: Layout, endpoint: int) -> str:
    now = status.aims
    assert now is not None
    cells, controls = _expected(status, issued, layout, endpoint)
    compounds = sorted({compound for compound, _ in cells})
    blocks = sorted({block for _, block in cells})
    if len(compounds) < 2:
        return ""
    place, at = {c: i for i, c in enumerate(compounds)}, {b: i for i, b in enumerate(blocks)}
    shares = np.zeros((len(blocks), len(compounds)), dtype=np.intp)
    for (compound, block), n in cells.items():
        shares[at[block], place[compound]] += round(n)
    x = SiteFeatures.of(status.library).dense(np.array(compounds, dtype=np.intp))
    directions = now.rows(status.library)
    directions = x - x.mean(axis=0) if directions is None else directions
    directions = directions[np.einsum("ij,ij->i", directions, directions) > 0]
    of = np.array([controls.get(block, 0.0) for block in blocks])
    kept = left_of(x, shares, of, directions)
    told = np.isfinite(kept)
    if not told.any():
        return ""
    lost = int((kept[told] <= 0.0).sum())
    bare = [plate.name for plate in layout.plates if not controls.get(_block(layout, plate), 0.0)]
    if lost:
        what = "what it is for" if lost == told.sum() else f"{lost:,} of the {int(told.sum()):,} comparisons it is for"
        where = "" if not bare else f" without a control on {', '.join(bare[:3])}{' and others' if bare[3:] else ''}"
        return (
            f"As it stands on its plates round {issued.number} tells nothing of {what}: compounds that are compared "
            f"stand on different plates,{where}. Put a control on each plate, or take larger plates"
        )
    taken = 1.0 - float(np.mean(kept[told]))
    if taken < _MUCH:
        return ""
    more = np.maximum(2.0 * of, _USUAL)
    then = max(1.0 - float(np.mean(left_of(x, shares, more, directions)[told])), 0.0)
    return (
        f"As it stands on its plates round {issued.number} tells {percent(taken)} less of what it is for than one "
        f"large plate would; with {min(more):g} controls or more on each plate {percent(then)} less"
    )


def _expected(
    status: Status, issued: Round, layout: Layout, endpoint: int
) -> tuple[dict[tuple[int, Block], float], dict[Block, float]]:
    """Measurements of the phase by compound and block, and controls by block, when all of a round has come."""
    now = status.aims
    assert now is not None
    cells, controls = dict(now.so_far[endpoint]), dict(now.controls[endpoint])
    came: dict[int, Counter[Block]] = {}
    for (compound, block), n in cells.items():
        if block[0] == issued.number:
            came.setdefault(compound, Counter())[block] += round(n)
    for plate in layout.plates:
        if endpoint not in plate.endpoints:
            continue
        block = _block(layout, plate)
        controls[block] = max(controls.get(block, 0.0), _controls_on(status, layout, plate, endpoint))
        for one in plate.placed:
            if endpoint not in one.endpoints:
                continue
            there = came.get(one.compound, Counter())
            filled = block if there[block] else next((other for other, n in there.items() if n > 0), None)
            if filled is not None:
                there[filled] -= 1
                continue
            cells[one.compound, block] = cells.get((one.compound, block), 0.0) + 1.0
    return cells, controls


def _block(layout: Layout, plate: Plate) -> Block:
    return layout.round, plate.name.casefold()


def _controls_on(status: Status, layout: Layout, plate: Plate, endpoint: int) -> float:
    """Measurements of controls on a plate that tell what it shifts."""
    now = status.aims
    assert now is not None
    size = max((status.endpoints[k].wells_per_measurement for k in plate.endpoints), default=1)
    wells: Counter[int] = Counter()
    for name in layout.use.control_wells().values():
        if (found := find_control(status.settings.controls, name)) is not None:
            wells[found] += 1
    each = {control: n // size for control, n in wells.items()}
    telling = now.telling[endpoint]
    if not telling:  # the first one that is read will
        return float(max(each.values(), default=0))
    return float(sum(n for control, n in each.items() if control in telling))

"""A simulated assay with plates: every plate shifts all that stands on it, controls included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.design.dealing import in_turn
from assaypilot.engine.design.keeping import dealt_for
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.models.blocks import Cells
from assaypilot.engine.simulate.instances import Drawn
from assaypilot.engine.strategies.adaptive.goals import compared
from assaypilot.engine.strategies.protocol import Allocation, Outcome, State, Strategy

__all__ = ["Filling", "Plates", "aimed", "sample_on_plates"]

Filling = Literal["design", "list", "lot", "table"]


@dataclass(frozen=True, slots=True)
class Plates:
    """How the simulated lab fills its plates, and what they do to the values."""

    shift: float
    """SD of the plates' effects (tau), in each endpoint on its own; model scale."""
    size: int = 48
    """Measurements on a plate, controls not counted."""
    controls: int = 4
    """Measurements of a control on every plate."""
    filled: Filling = "design"
    """How: as the program lays them out, in the order of its list, by lot, or in the order of the table."""
    told: bool = True
    """Whether the strategy is told of the plates, so that it can take their effects out."""

    def __post_init__(self) -> None:
        for value, option, what in (
            (self.size, "--plate-size", "measurements on a plate"),
            (self.controls + 1, "--plate-controls", "controls on a plate"),
        ):
            if value < 1:
                raise AssayPilotError(f"{what} cannot be {value - (option == '--plate-controls')}", option=option)
        if not (np.isfinite(self.shift) and self.shift >= 0):
            raise AssayPilotError(
                f"the SD of plate effects must be a number >= 0, got {self.shift}",
                option="--plate-sd",
                mend="For example --plate-sd 0.3.",
            )


def sample_on_plates(
    drawn: Drawn,
    allocation: Allocation,
    rng: np.random.Generator,
    spent: int,
    plates: Plates,
    *,
    pairs: bool = False,
    directions: Floats | None = None,
) -> Outcome:
    """What comes back of a phase whose measurements are dealt to plates, all of them; ``pairs``: two by two.

    ``directions``: what is compared, for plates as the program lays them out (see ``aimed``).
    """
    if drawn.kind != "gaussian":
        raise AssayPilotError("plate effects are simulated for plain values only", option="--plate-sd")
    each = np.repeat(allocation.arms, allocation.counts)
    n_plates = -(-len(each) // plates.size)
    # Plates as full as each other, as a layout makes them.
    along = np.arange(len(each)) * n_plates // len(each)
    if plates.filled == "design":
        rows = drawn.features.dense(allocation.arms)
        together = 2 if pairs else 1
        sizes, controls = (n_plates, plates.size), float(plates.controls)
        shares = dealt_for(rows, allocation.counts, sizes, together=together, directions=directions, controls=controls)
        each, along = np.tile(allocation.arms, n_plates), np.repeat(np.arange(n_plates), len(allocation.arms))
        each, along = np.repeat(each, shares.ravel()), np.repeat(along, shares.ravel())
    elif plates.filled == "list":
        order = in_turn(drawn.features.dense(allocation.arms), allocation.counts)
        each = np.repeat(allocation.arms[order], allocation.counts[order])
    elif plates.filled == "lot":
        each = _pairs_by_lot(allocation, rng) if pairs else rng.permutation(each)
    arms, at, n = _cells(each, along)
    sd = np.array(drawn.noise)[:, None] if drawn.sds is None else drawn.sds[:, arms]
    of_controls = np.array(drawn.of_controls)[:, None]
    effects = plates.shift * rng.standard_normal((len(sd), n_plates))
    values = drawn.expected[:, arms] + effects[:, at] + sd / np.sqrt(n) * rng.standard_normal((len(sd), len(arms)))
    control_counts = np.full((len(sd), n_plates), float(plates.controls))
    scatter = of_controls / np.sqrt(max(plates.controls, 1)) * rng.standard_normal(effects.shape)
    counts, sums = np.zeros(drawn.truth.shape), np.zeros(drawn.truth.shape)
    for endpoint in range(len(sd)):
        counts[endpoint] = np.bincount(arms, n, drawn.truth.shape[1])
        sums[endpoint] = np.bincount(arms, n * values[endpoint], drawn.truth.shape[1])
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    cells = Cells(arms, at, np.tile(n, (len(sd), 1)), values, control_counts, effects + scatter)
    return Outcome(allocation, counts, means, spent, cells=cells if plates.told else None)


def aimed(strategy: Strategy, state: State, plates: Plates) -> Floats | None:
    """The comparisons that the next phase is for, as the program lays plates out for them; None: all are alike."""
    needs = compared(strategy, state) if plates.filled == "design" else None
    return None if needs is None else needs.rows(state.problem.features)


def _pairs_by_lot(allocation: Allocation, rng: np.random.Generator) -> Ints:
    """The measurements by lot, two of a compound following each other wherever there are two."""
    arms, counts = allocation.arms, allocation.counts
    units = np.concatenate([np.repeat(arms, counts // 2), arms[counts % 2 == 1]])
    sizes = np.repeat([2, 1], [int((counts // 2).sum()), int((counts % 2).sum())])
    order = rng.permutation(len(units))
    return np.repeat(units[order], sizes[order])


def _cells(arms: Ints, plates: Ints) -> tuple[Ints, Ints, Floats]:
    """Which compounds stand on which plates, and how often."""
    found, n = np.unique(np.column_stack([arms, plates]), axis=0, return_counts=True)
    return found[:, 0], found[:, 1], n.astype(np.float64)

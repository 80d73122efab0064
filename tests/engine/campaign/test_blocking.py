"""Which measurements and controls share a block and what they say together, against sums written plainly."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.campaign.counting import Books, Issued
from assaypilot.engine.campaign.plates import blocking
from assaypilot.engine.campaign.state import Settings
from assaypilot.engine.controls import Control, Reading
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.features import SiteFeatures, merge_equal_rows
from assaypilot.engine.measurements import Measurement, Result
from assaypilot.engine.models.blocks import NO_BLOCK
from tests.engine.campaign.making import small_library, truth

UP, DOWN = Endpoint("pIC50", noise_sd=0.2), Endpoint("logD", noise_sd=0.2, direction="min")
SAID, OTHER = Control("REF-1", (("pIC50", 7.0),)), Control("REF-2")


def books(kind: str = "plate", controls: tuple[Control, ...] = (SAID, OTHER), **own: Any) -> Books:
    """The books of the small table with its nine compounds, nothing measured; every one of them asked for 3 times."""
    made = Books()
    made.library = small_library()
    made.first, made.arm_of = merge_equal_rows(made.library.codes)
    made.features = SiteFeatures.of(made.library)
    made.settings = Settings("pIC50", epsilon=0.5, blocks=kind, controls=controls)
    made.endpoints, made.goal_endpoints, made.measured = (UP, DOWN), (0, 1), (0, 1)
    made.phases = [SimpleNamespace(planned=dict.fromkeys(range(9), 3), measured=(0, 1)) for _ in range(2)]  # type: ignore[misc]
    for name, value in own.items():
        setattr(made, name, value)
    return made


def value(compound: int, level: float, plate: str = "P1", **own: Any) -> Measurement:
    """A measurement of phase and round 1; what is said otherwise goes into it, or into what was entered."""
    entered = {name: own.pop(name) for name in ("batch", "date") if name in own}
    said = own.pop("said", None)
    told = {"number": 1, "endpoint": 0, "n": 1, "round": 1, "phase": 1} | own
    told = {"counted": told["n"]} | told
    return Measurement(
        compound=compound, value=level, relation=told.pop("relation", "="),
        entered=Result(f"c{compound}", level, plate=plate, round=said, **entered), **told,
    )  # fmt: skip


def reading(level: float, plate: str = "P1", **own: Any) -> Reading:
    """The value of a control of phase and round 1."""
    told = {"number": 1, "control": 0, "endpoint": 0, "n": 1, "round": 1, "phase": 1} | own
    return Reading(value=level, entered=Result("REF", level, plate=plate), **told)


@pytest.mark.parametrize(
    ("kind", "block", "name"),
    [
        ("plate", (2, "p1"), "plate P1"),
        ("batch", (2, "b7"), "batch B7"),
        ("date", (2, "2026-01-05"), "date 2026-01-05"),
        ("round", (2, ""), "round 2"),
    ],
)
def test_what_a_block_is(kind: str, block: blocking.Block, name: str) -> None:
    one = value(0, 6.0, " P1 ", batch="B7", date="2026-01-05", round=2)
    assert blocking.block_of(kind, one) == block
    assert blocking.name_of(kind, one) == name
    late = value(0, 6.0, "p1", batch="b7", date="2026-01-05", said=2, round=5)
    assert blocking.block_of(kind, late) == block, "a late value stood where it says"
    bare = value(0, 6.0, "", round=2)
    assert blocking.block_of(kind, bare) == (2, "")
    assert blocking.name_of(kind, bare) == ("round 2" if kind == "round" else f"round 2 without a {kind}")


def test_what_a_control_should_read_is_said_or_what_it_read_in_its_first_phase() -> None:
    made = books()
    assert blocking.nominals(made) == {(0, 0): 7.0}
    made.readings = [
        reading(5.0, control=1, n=3),
        reading(6.0, control=1, n=1),
        reading(99.0, control=1, excluded="bubble"),
        reading(98.0, control=1, withdrawn=True),
        reading(9.0, control=1, phase=2, round=2),
        reading(20.0, control=1, phase=0, round=1),
        reading(8.0, control=0),
        reading(1.0, control=0, endpoint=1, phase=0),
        reading(3.0, control=0, endpoint=1, phase=0),
    ]
    assert blocking.nominals(made) == {(0, 0): 7.0, (1, 0): 5.25, (0, 1): 2.0}
    made.readings = [replace(r, phase=3 - r.phase) if r.phase else r for r in made.readings]
    assert blocking.nominals(made)[1, 0] == 9.0, "the first phase, not the first entered"


def test_which_controls_tell_of_blocks() -> None:
    made = books(controls=(OTHER, SAID, Control("REF-3")))
    made.readings = [
        reading(5.0, control=2, phase=0),
        reading(5.0, control=0, phase=2, round=2),
        reading(5.0, control=2, phase=1, round=1, excluded="bubble"),
        reading(5.0, control=1, phase=1),
        reading(5.0, control=0, endpoint=1, phase=0),
    ]
    assert blocking.telling(made, 0) == {1}, "whose value was said"
    assert blocking.telling(made, 1) == {0}, "the first that came, late as it was"
    bare = books(controls=(OTHER, Control("REF-3")))
    assert blocking.telling(bare, 0) == frozenset()
    bare.readings = [
        reading(5.0, control=0, phase=0, round=1),
        reading(5.0, control=0, phase=1, round=1, withdrawn=True),
        reading(5.0, control=0, phase=2, round=2),
        reading(5.0, control=1, phase=1, round=1, excluded="bubble"),
    ]
    assert blocking.telling(bare, 0) == {1}, "the first phase, whatever came of it; not what was taken back"


def filled() -> Books:
    """Books with everything that must not count beside what counts; two endpoints, two plates, two phases."""
    made = books()
    made.measurements = [
        value(0, 6.0),
        value(0, 7.0, n=2),
        value(0, 50.0),  # a fourth one, of three
        value(0, 8.0, "P2"),
        value(1, 5.0, n=5, counted=3),
        value(1, 3.0, "P2", endpoint=1, n=2),
        value(2, 90.0, relation="<"),
        value(2, 91.0, excluded="leak"),
        value(2, 92.0, withdrawn=True),
        value(2, 93.0, counted=0),
        value(2, 4.0, phase=2, round=2),
        value(3, 6.5, round=0, phase=0, counted=0),
    ]
    made.measurements = [replace(m, number=k) for k, m in enumerate(made.measurements, start=1)]
    made.phases[0].planned[0] = 4  # type: ignore[index]
    made.readings = [
        reading(7.3),
        reading(7.6, n=3),
        reading(60.0, excluded="bubble"),
        reading(61.0, withdrawn=True),
        reading(62.0, control=1),  # has no nominal value, and another one does
        reading(7.9, phase=2, round=2),
        reading(8.0, phase=0, round=1),
        reading(6.0, "P9"),  # nothing stands there
        reading(2.0, "P2", control=1, endpoint=1),
        reading(4.0, "P2", control=1, endpoint=1),
        reading(70.0, round=0, phase=0),
    ]
    return made


def test_what_counts_for_a_phase_by_compound_and_block() -> None:
    made = filled()
    found = blocking.cells(made, 1)
    assert found is not None
    assert list(zip(found.arms, found.blocks, strict=True)) == [(0, 0), (1, 0), (1, 1)]
    # Of compound 0 four were planned: 6, twice 7, and the first of the others.
    assert found.counts.tolist() == [[4.0, 3.0, 0.0], [0.0, 0.0, 2.0]]
    assert found.means[0, :2].tolist() == [(6.0 + 14.0 + 50.0) / 4, 5.0]
    assert found.means[1, 2] == -3.0, "smaller is better"
    assert found.control_counts.tolist() == [[4.0, 0.0], [0.0, 2.0]]
    assert found.control_means[0, 0] == pytest.approx((0.3 + 3 * 0.6) / 4)
    assert found.control_means[1, 1] == 0.0, "its own mean stands for its nominal value"
    made.readings = [
        replace(r, value=r.value + 2.0) if r.endpoint == 1 and r.value == 4.0 else r for r in made.readings
    ]
    made.readings.append(reading(9.0, "P2", control=1, endpoint=1, phase=2, round=2))
    later = blocking.cells(made, 2)
    assert later is not None
    assert later.counts.tolist() == [[1.0], [0.0]]
    assert later.control_means[0].tolist() == pytest.approx([0.9]), "of its own phase alone"
    assert blocking.cells(books("none", ()), 1) is None


def test_the_sign_of_a_control_is_that_of_its_endpoint() -> None:
    made = books(controls=(Control("REF", (("pIC50", 7.0), ("logD", 2.0))),))
    made.measurements = [value(0, 6.0), value(0, 3.0, endpoint=1)]
    made.readings = [reading(7.5), reading(2.4, endpoint=1)]
    found = blocking.cells(made, 1)
    assert found is not None
    assert found.control_means[:, 0].tolist() == pytest.approx([0.5, -0.4])
    assert found.means[:, 0].tolist() == [6.0, -3.0]


def test_of_one_phase_and_of_all() -> None:
    made = filled()
    one = blocking.of_phase(made, 1, 0)
    assert list(zip(one.arms, one.blocks, strict=True)) == [(0, 0), (1, 0)]
    assert one.counts.tolist() == [4.0, 3.0]
    assert one.means.tolist() == [17.5, 5.0]
    assert (one.control_counts.tolist(), one.control_means.tolist()) == ([4.0], pytest.approx([2.1 / 4]))
    every = blocking.everything(made, 0)
    told = dict(
        zip(zip(every.arms, every.blocks, strict=True), zip(every.counts, every.means, strict=True), strict=True)
    )
    assert told == {
        (0, 0): (4.0, 17.5),
        (0, 1): (1.0, 8.0),
        (1, 0): (5.0, 5.0),
        (2, 0): (1.0, 93.0),
        (2, 2): (1.0, 4.0),
        (3, NO_BLOCK): (1.0, 6.5),
    }, "unplanned ones too, whole means with their n, history in no block"
    # The late reading of plate 1 counts, what was read before the first round does not.
    assert every.control_counts.tolist() == [5.0, 0.0, 1.0]
    assert every.control_means.tolist() == pytest.approx([3.1 / 5, 0.0, 0.9])


def test_without_blocks_a_phase_is_fitted_as_ever() -> None:
    made = books("none", ())
    assert blocking.fit_of_phase(made, 1, 0) is None
    levels = truth(made.library)
    made.measurements = [value(k, float(levels[k]), f"P{k % 2}") for k in range(9)]
    fit = blocking.fit_of_phase(made, 1, 0)
    assert fit is not None
    assert fit.means(np.arange(9)) == pytest.approx(levels)
    beside = books()
    assert blocking.fit_of_phase(beside, 1, 0) is None
    shifts = {"P0": 0.0, "P1": 5.0}
    beside.measurements = [replace(m, value=m.value + shifts[m.entered.plate]) for m in made.measurements]
    beside.readings = [reading(7.0 + shift, plate) for plate, shift in shifts.items()]
    fit = blocking.fit_of_phase(beside, 1, 0)
    assert fit is not None
    assert fit.means(np.arange(9)) == pytest.approx(levels)


def test_values_are_adjusted_by_what_their_plates_shift() -> None:
    made = books()
    none = blocking.adjusted(made, blocking.everything(made, 0))
    assert not none.counts.any()
    levels, shifts = truth(made.library), {"P0": 0.4, "P1": -1.5, "P2": 3.0}
    made.measurements = [
        value(k, float(levels[k]) + shifts[f"P{p}"], f"P{p}", n=1 + k % 3)
        for k in range(9)
        for p in (k % 3, (k + 1) % 3)
    ]
    made.measurements.append(value(8, float(levels[8]), round=0, phase=0, counted=0))
    made.readings = [reading(7.0 + shift, plate, n=2) for plate, shift in shifts.items()]
    found = blocking.adjusted(made, blocking.everything(made, 0))
    assert found.means == pytest.approx(levels)
    assert found.counts.tolist() == [2.0 * (1 + k % 3) + (k == 8) for k in range(9)]
    # What one compound deviates from the sum of its effects stays in its own value.
    made.measurements = [replace(m, value=m.value + (0.9 if m.compound == 4 else 0.0)) for m in made.measurements]
    deviating = blocking.adjusted(made, blocking.everything(made, 0)).means - levels
    assert deviating[4] > 0.6
    assert np.abs(np.delete(deviating, 4)).max() < 0.1


def test_which_blocks_of_a_round_lack_a_control() -> None:
    made = books()
    issued = Issued(1, 1, (), "", 0)
    made.measurements = [
        value(0, 6.0, "P1"),
        value(1, 6.0, "P2"),
        value(2, 6.0, "p2 "),
        value(3, 6.0, "P3", counted=0),
        value(4, 6.0, "P4", excluded="leak"),
        value(5, 6.0, "P5", round=2, phase=2),
        value(6, 6.0, "P1", endpoint=1),
    ]
    made.readings = [
        reading(7.0, "P1"),
        reading(7.0, "P2", excluded="bubble"),
        reading(7.0, "P2", control=1),
        reading(2.0, "P9", control=1, endpoint=1),
    ]
    assert blocking.without_controls(made, issued) == [(0, "plate P2", 2), (1, "plate P1", 1)]
    confirming = blocking.without_controls(made, replace(issued, confirmation=True))
    assert confirming == [(0, "plate P2", 2), (0, "plate P3", 1), (1, "plate P1", 1)], "what counts for no phase, too"
    assert blocking.without_controls(books("none", ()), issued) == []
    made.readings += [reading(7.0, "p2"), reading(2.0, "P1", control=1, endpoint=1)]
    assert blocking.without_controls(made, issued) == []

"""GEGE with fixed confidence: the Pareto set of several endpoints, or an epsilon-Pareto set.

Source: "Bandit Pareto Set Identification in a Multi-Output Linear Model", Algorithms 1 and 3, appendices E and H, with
the noise, the sizes of phases, the first radius and the realised bounds of our own statement.

A phase decides by the gaps as in the paper, or by the bounds that really hold.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...arrays import Flags, Floats
from ...domain.pareto import beaten, gaps
from ...system.progress import Report, silent
from ..designs import g_design
from ..linfact.planning import phase_design
from ..phased import Phased, inseparable, lost_reason, number, one_of, over_budget, settled
from ..protocol import IN, Allocation, Decision, Outcome, Parameter, Problem, State, StopReason, StrategyInfo
from .parts import allocation, estimates, exactly, fewest, goal_of, rank_of, targets_of, units, widest_noise

_FAR = 1e150
"""Substitute for an infinite bound where differences are taken."""


class Verdict(NamedTuple):
    """Decisions about the active arms, ``(m,)`` each."""

    ins: Flags
    outs: Flags
    leaves: Flags
    """Need not be measured any more; only arms that are in."""


class Boxes(NamedTuple):
    """Bounds in the endpoints' common units, ``(n_endpoints, m)``; infinite where nothing is known."""

    low: Floats
    high: Floats


def by_gaps(means: Floats, epsilon: float, finest: bool) -> Verdict:
    """Algorithm 3: means within epsilon / 4 of the truth; accept at a gap of epsilon, reject at half of it.

    ``means`` ``(n_endpoints, m)`` of all arms that are active, in common units; a single one left is accepted. With
    ``finest`` everything not rejected is accepted: no arm beats it by more than epsilon (appendix E.5 demands
    smaller gaps than that needs: an arm that stays has a gap below epsilon / 2, hence below epsilon in truth).

    An empirical Pareto arm has to stand out by four half-widths here and by two in ``by_bounds``, which is what bounds
    of that width prove: the paper spends the other two on keeping an arm's only rival. With phases four times the last
    one, planned runs take about four times the measurements of realised ones, more where a phase comes on top.
    """
    found = gaps(means)
    ins = found.pareto & (found.values >= epsilon)
    outs = ~found.pareto & (found.values >= epsilon / 2.0)
    open_ = ~ins & ~outs
    if finest or open_.sum() == 1:
        ins = ~outs
    return Verdict(ins, outs, ins)


def by_bounds(active: Boxes, others: Boxes, before: Flags, margin: float) -> Verdict:
    """Return what simultaneous bounds prove, whatever their widths.

    Out: some arm's lower bounds are above its upper bounds in every endpoint. In: no arm that is not out may beat it
    by more than the margin in every endpoint. That decides at least what Algorithm 3 does from the same bounds: a gap
    of 4 C in the empirical Pareto set makes every max over endpoints of mean_i - mean_j at least 4 C, and 2 C suffice;
    and rejecting there takes a lead of 2 C too. An arm that is in stays active while it may still beat an open one, so
    that no arm loses its only rival (GEGE section 4).

    ``active`` are the arms bounded now, ``others`` those that are in and no longer measured or cannot be: their last
    bounds hold too. ``before``: active arms that are in already.
    """
    low, high = _finite(active.low), _finite(active.high)
    outs = np.zeros(len(before), dtype=bool)
    outs[~before] = beaten(np.hstack([low, _finite(others.low)]), high[:, ~before])
    kept = np.flatnonzero(~outs)
    rivals = np.hstack([high[:, kept], _finite(others.high)])
    ins = np.zeros(len(outs), dtype=bool)
    ins[kept] = ~beaten(rivals, low[:, kept] + margin, np.arange(len(kept)))
    ins &= ~before
    leaves = ins | before
    if leaves.any():
        leaves[leaves] = ~beaten(-low[:, ~outs & ~leaves], -high[:, leaves])
    return Verdict(ins, outs, leaves)


def _finite(bounds: Floats) -> Floats:
    return np.clip(bounds, -_FAR, _FAR)


class Size(NamedTuple):
    """How large a phase is."""

    log: float
    """Every mean is within sigma ||a|| sqrt(2 log) of the truth, all of them together with the phase's probability."""
    wells: float
    """Measurements per unit of the design's value that reduce this to a quarter of epsilon."""
    total: int | None
    """Measurements in the phase where the paper fixes them; None: as many as the whole counts need."""


def phase_size(
    radii: str, phase: int, epsilon: float, *, sigma: float, rank: int, arms: int, endpoints: int, delta: float
) -> Size:
    """Return the size of a phase (Algorithm 3); ``epsilon`` and ``sigma`` in the endpoints' common units.

    delta_r = 6 delta / (pi^2 r^2). ``tight``: what the whole counts themselves need for a union over both sides, all
    active arms and endpoints; log(2 d |A_r| / delta_r) as in the proof (appendix E.4). ``proven``: the paper's formula
    with that logarithm, kappa_r = 2^-(r+2) and never below 5 h / kappa_r^2, which ROUND's factor 1 + 6 kappa_r needs.
    (Algorithm 3 prints log(d |A_r| / (2 delta_r)) and 1 + 3 eps_r, fewer than its proof needs.) ``simplified``:
    h log(1 / delta_r) / eps_r^2, as in the paper's experiments.
    """
    share = 6.0 * delta / (math.pi**2 * phase**2)
    log = math.log(2.0 * endpoints * arms / share)
    if radii == "simplified":
        log = math.log(1.0 / share) / 32.0
    wells = 32.0 * sigma**2 * log / epsilon**2
    if radii == "tight":
        return Size(log, wells, None)
    factor, least = 1.0, 0.0
    if radii == "proven":
        kappa = 2.0 ** -(phase + 2)
        factor, least = 1.0 + 6.0 * kappa, 5.0 * rank / kappa**2
    return Size(log, wells, max(math.ceil(max(factor * wells * rank, least) - 1e-9), rank))


class Gege(Phased):
    """The Pareto set; every phase bounds every active mean in every endpoint, and the bounds halve."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="gege",
        version=1,
        title="GEGE",
        goals=("pareto",),
        endpoints=(2, None),
        parameters=(
            Parameter(
                "decide",
                "realised",
                "realised: bounds from the measurements that returned; planned: the gaps and bounds of the plan",
            ),
            Parameter(
                "radii",
                "tight",
                "measurements in a phase. tight: as many as its bounds need; proven: the paper's formula, corrected; "
                "simplified: as in the paper's experiments",
            ),
            Parameter(
                "first_radius",
                None,
                "gap that the first phase can resolve, in units of the differences that do not matter, or of the assay "
                "noise where none are given; the paper's is 0.25; none: from noise and margins",
            ),
            Parameter("gap", 1e-2, "how far the design may be from optimal (relative)"),
        ),
        guarantee=(
            "with the stated confidence every compound that no other beats in all endpoints is returned, "
            "and none that another beats by more than the given differences in all of them, "
            "if the substituent effects add up"
        ),
        source="GEGE, section 3.3",
        any_plan=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters with their defaults; AssayPilotError for one out of range."""
        parameters = self.parameters(problem)
        one_of("decide", parameters["decide"], ("realised", "planned"))
        one_of("radii", parameters["radii"], ("tight", "proven", "simplified"))
        if parameters["first_radius"] is not None:
            number("first_radius", parameters["first_radius"])
        number("gap", parameters["gap"], below=1.0)
        return parameters

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return the reasons why these parameters promise no error probability."""
        if self.parameters(problem)["radii"] == "simplified":
            return ("phases as small as in the paper's experiments: its proof needs far more measurements",)
        return ()

    def first_radius(self, problem: Problem) -> float:
        """Return the half-width after the first phase, in the endpoints' common units: a quarter of its epsilon."""
        given = self.parameters(problem)["first_radius"]
        return (_first_epsilon(problem) if given is None else float(given)) / 4.0

    def epsilon(self, state: State, phase: int) -> float:
        """Return the gap that a phase resolves: halved every phase, with margins never below 1, when all is decided."""
        first = 4.0 * state.first_radius
        epsilon = first * 2.0 ** -(phase - 1)
        return max(epsilon, min(first, 1.0)) if any(goal_of(state.problem).margins) else epsilon

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the next phase: a rounded G-optimal design by which every active mean is known to epsilon / 4."""
        problem = state.problem
        parameters = self.parameters(problem)
        phase = state.phase + 1
        epsilon = self.epsilon(state, phase)
        size = self._size(state, phase, 1 if parameters["radii"] == "tight" else rank_of(state))
        made = phase_design(state, size.wells, parameters["gap"], g_design, report)
        targets = targets_of(state, made)
        radius = epsilon / 4.0
        if size.total is None:
            counts, value = fewest(made, targets, size.wells)
        else:
            # The other sizes promise the same radius without keeping it, as ``void`` states.
            proven = parameters["radii"] == "proven"
            counts, value = exactly(made, targets, size.total, 1.0 / size.wells if proven else None)
            radius *= max(1.0, math.sqrt(size.wells * value)) if proven else 1.0
        cut = problem.budget is not None and counts.sum() > problem.budget - state.spent
        if cut and problem.budget is not None:
            # Sized before any of its values is seen, so the realised bounds stay valid.
            counts, value = exactly(made, targets, problem.budget - state.spent)
            radius = math.sqrt(size.wells * value) * epsilon / 4.0
        return allocation(state, made, counts, radius, cut=bool(cut))

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Decide in, out or still open for every active arm, from this phase's measurements only."""
        problem = state.problem
        active = np.flatnonzero(state.active)
        if not (outcome.counts > 0).any() or not len(active):
            return None
        parameters = self.parameters(problem)
        phase = state.phase + 1
        unit = units(problem)
        found = estimates(problem, outcome.counts, outcome.means, active)
        size = self._size(state, phase, 1)
        noise = np.array(problem.noise)[:, None]
        half = noise * math.sqrt(2.0 * size.log) * found.norms
        planned = parameters["decide"] == "planned" and outcome.complete
        radius = outcome.allocation.radius
        if planned:
            # The promise counts where the measurements keep it; else the realised half-widths hold either way.
            kept = half <= radius * unit * (1.0 + 1e-9)
            if self.void(problem):
                kept = np.isfinite(half)
            half = np.where(kept, radius * unit, half)
            planned = bool(kept.all()) and _all_from_the_start(state)
        low, high = found.means - half, found.means + half
        before = state.status[active] == IN
        margin = 1.0 if any(goal_of(problem).margins) else 0.0
        if planned and not before.any():
            verdict = by_gaps(found.means / unit, 4.0 * radius, bool(margin) and 4.0 * radius <= 1.0 + 1e-9)
        else:
            others = problem.wanted & ~state.active & (state.left | state.lost)
            verdict = by_bounds(
                Boxes(low / unit, high / unit),
                Boxes(state.low[:, others] / unit, state.high[:, others] / unit),
                before,
                margin,
            )
        shown = np.full((3, *state.low.shape), np.nan)
        shown[0][:, active] = np.where(np.isfinite(half), found.means, np.nan)
        shown[1][:, active], shown[2][:, active] = low, high
        numbers = {
            "gap": 4.0 * radius,
            "measurements": float(outcome.counts.max(axis=0).sum()),
            "widest_half_width": float((half / unit).max()),
        }
        return Decision.after(
            state,
            outcome,
            shown,
            ins=active[verdict.ins & ~before],
            outs=active[verdict.outs & ~before],
            left=active[verdict.leaves],
            contradicted=active[before][beaten(low, high[:, before])] if before.any() else active[:0],
            numbers=numbers,
        )

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Stop when all is decided, nothing is left to measure, or the budget is below one more phase."""
        done = settled(state)
        if done:
            return done
        problem = state.problem
        last = state.last
        margin = any(goal_of(problem).margins)
        finest = last is not None and margin and 4.0 * last.radius <= 1.0 + 1e-9
        if last is not None and finest and state.lost.any() and not len(last.ins) and not len(last.outs):
            return (lost_reason(state),)
        spent = over_budget(state, rank_of(state)) if problem.budget is not None else ()
        if spent:
            return spent
        needed = self._size(state, state.phase + 1, 1).wells * problem.features.n_columns
        return inseparable(state, needed, "with differences that do not matter, or larger ones, the search ends")

    def _size(self, state: State, phase: int, rank: int) -> Size:
        problem = state.problem
        return phase_size(
            self.parameters(problem)["radii"],
            phase,
            self.epsilon(state, phase),
            sigma=widest_noise(problem),
            rank=rank,
            arms=max(int(state.active.sum()), 1),
            endpoints=problem.n_endpoints,
            delta=problem.delta,
        )


def _first_epsilon(problem: Problem) -> float:
    """Return the largest power of two (in margins or noise SDs) whose first phase takes about 2 d measurements.

    32 d sigma^2 / eps^2 log(2 E K / delta_1) >= 2 d means eps <= 4 sigma sqrt(log). With margins it is at least 1, so
    that the last phase has exactly 1.
    """
    sigma = widest_noise(problem)
    arms = max(int(problem.wanted.sum()), 1)
    log = math.log(2.0 * problem.n_endpoints * arms * math.pi**2 / (6.0 * problem.delta))
    steps = math.floor(math.log2(4.0 * sigma * math.sqrt(log)) + 1e-12)
    return 2.0 ** (max(steps, 0) if any(goal_of(problem).margins) else steps)


def _all_from_the_start(state: State) -> bool:
    """Return whether every arm in question was compared in every phase, as the paper's rules assume."""
    if state.lost.any():
        return False
    return state.phase == 0 or bool(np.isfinite(state.high[:, state.active]).all())

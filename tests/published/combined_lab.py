"""A lab that does everything a lab does to a campaign at once, and what a campaign must not have said all the while.

Who is measured, lost, late, mistyped or left out never depends on a value: that is what the program's guarantee
assumes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.campaign.stocked import orders
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.stock import CANNOT, IN_STOCK, TO_MAKE, StockLine
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.simulate.scores import score
from assaypilot.engine.strategies.adaptive.evidence import Evidence
from assaypilot.engine.strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED

SIGMA, STEP, HAIR = 0.2, 0.125, 1e-7
"""Noise; effects are multiples of the step, and every border of a goal lies a hair beside one."""
UNITS = (0, 0, 1, 2, 4, 4, 6, 6)
"""Effects in steps: epsilon is 4 of them, epsilon and slack are 6, so that many compounds stand at a border."""
TABLES = (((3, 3), 24), ((4, 4, 3), 60))
"""Substituents of each site and measurements in a round, by turns."""
MAIN, OTHER = "IC50", "logD"
MOST = 16
"""Rounds after which a campaign is left."""


@dataclass(frozen=True)
class Kind:
    """Campaigns of one kind; everything that is not named stays away."""

    name: str
    goal: str = "epsilon-best"
    strategy: str = "adaptive"
    unknown: bool = False
    stock: bool = False
    """Whether the compounds with one substituent cannot be had at first, and can be some rounds later."""
    lost: float = 0.0
    """Share of the compounds of a round that are used up."""
    partial: bool = False
    """Whether rounds come back in part, are closed early, and what was missing comes late."""
    typos: bool = False
    """Whether values are mistyped and corrected before the phase is decided, or left out for a cause. (Afterwards the
    series model would take over.)"""
    tau: float = 0.0
    """SD of the compounds' own deviations from the sum of effects."""
    shrunk: float = 1.0
    """How many times too small the noise is said to be: a mistake that must be seen."""
    delta: float = 0.3


class Lab:
    """What is true, and what comes back."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self.kind = kind
        self.sizes, self.per_round = TABLES[seed % len(TABLES)]
        self.rng = np.random.default_rng((2140, seed))
        self.effects = [STEP * self.rng.choice(UNITS, (2, n + 1)) for n in self.sizes]
        sites = [Site(f"R{k + 1}", tuple(f"x{j}" for j in range(n))) for k, n in enumerate(self.sizes)]
        self.library = Library.product(sites)
        self.truth = self._means(self.library)
        self.late: list[Result] = []

    def _means(self, library: Library) -> np.ndarray:
        """``(2, n_compounds)``, sums of effects, with deviations of their own where there are any."""
        names = [[int(s[1:]) for s in site.substituents] for site in library.sites]
        means = 5.0 + sum(effect[:, np.array(names[k])[library.codes[:, k]]] for k, effect in enumerate(self.effects))
        means[1] -= 5.0
        return means + self.kind.tau * self.rng.standard_normal(means.shape)

    def create(self, path) -> Campaign:
        kind, noise = self.kind, SIGMA / self.kind.shrunk
        guess = noise * float(self.rng.choice([0.7, 1.0, 1.5])) if kind.unknown else noise
        endpoints = [Endpoint(MAIN, "nM", "log", noise_sd=guess, noise_estimated=kind.unknown)]
        if kind.goal == "pareto":
            endpoints.append(Endpoint(OTHER, noise_sd=noise))
        settings = Settings(
            MAIN, epsilon=0.5 + HAIR if kind.goal != "best" else None,
            slack=None if kind.goal == "pareto" else 0.25 - 2.0 * HAIR,
            delta=kind.delta, goal=kind.goal, strategy=kind.strategy, per_round=self.per_round, max_replicates=4,
            seed=int(self.rng.integers(1 << 30)), objectives=(MAIN, OTHER) if kind.goal == "pareto" else (),
        )  # fmt: skip
        campaign = Campaign.create(path, library=self.library, endpoints=endpoints, settings=settings)
        if kind.stock:
            states = self.rng.choice([IN_STOCK, TO_MAKE, CANNOT], len(self.library), p=[0.5, 0.35, 0.15])
            lines = [
                StockLine(c, int(state), *((100.0, 14.0) if state == TO_MAKE else (None, None)))
                for c, state in enumerate(states)
            ]
            campaign.set_stock(lines)
        return campaign

    # ------------------------------------------------------------------ a round

    def answer(self, campaign: Campaign) -> None:
        """All, or what comes, of the open round is recorded, and the round is closed."""
        ledger, kind, rng = campaign._ledger, self.kind, self.rng
        issued = ledger.view(ledger.open_round)
        if kind.lost:
            gone = [ledger.library.ids[i.compound] for i in issued.items if rng.random() < kind.lost]
            if gone:
                campaign.mark_unavailable(gone, "used up")
        results = self._values(ledger, issued)
        came = rng.random(len(results)) < (float(rng.choice([1.0, 0.7, 0.4])) if kind.partial else 1.0)
        now = [result for result, here in zip(results, came, strict=True) if here]
        failed = kind.partial and rng.random() < 0.5
        if failed:
            self.late += [result for result, here in zip(results, came, strict=True) if not here]
        before = len(ledger.measurements)
        if kind.typos and now:
            campaign.record(now, close_when_complete=False)
            self._mistype(campaign, before)
            now = []
        if campaign._ledger.open_round is not None:
            campaign.record(now, close=True, missing="failed" if failed else "return")

    def _values(self, ledger, issued) -> list[Result]:
        """A value for every measurement asked for, in an order that no value knows of."""
        asked = [
            (item.compound, k)
            for item in issued.items
            for place, k in enumerate(issued.endpoints)
            for _ in range(item.of(place))
        ]
        asked = [asked[k] for k in self.rng.permutation(len(asked))]
        if self.rng.random() < 0.5:
            asked.sort()
        errors = SIGMA * self.rng.standard_normal(len(asked))
        found = []
        for (compound, k), error in zip(asked, errors, strict=True):
            endpoint = ledger.endpoints[k]
            which = 0 if endpoint.name == MAIN else 1
            entered = endpoint.from_model(float(self.truth[which, compound] + error))
            found.append(Result(ledger.library.ids[compound], entered, endpoint.name, round=issued.number))
        return found

    def _mistype(self, campaign: Campaign, before: int) -> None:
        """Some of the values that just came were mistyped, and are corrected; one may be left out for a cause."""
        came = campaign._ledger.measurements[before:]
        for at in self.rng.permutation(len(came))[: self.rng.integers(3)]:
            m, off = came[at], float(self.rng.choice([-1.0, 1.0]))
            right = m.entered.value
            campaign.correct(m.number, right * 10.0**off if m.endpoint == 0 else right + off, reason="as it was typed")
            campaign.correct(m.number, right, reason="mistyped")
        if self.rng.random() < 0.5:
            campaign.exclude(came[self.rng.integers(len(came))].number, "pipetting error", judgement=False)

    # ------------------------------------------------------------------ between rounds

    def meddle(self, campaign: Campaign) -> None:
        """Everything that happens between two rounds."""
        kind, rng = self.kind, self.rng
        if self.late and rng.random() < 0.7:
            campaign.record([*self.late], again=True)
            self.late.clear()
        if kind.stock:
            self._arrive(campaign, 0.5)

    def _arrive(self, campaign: Campaign, share: float) -> bool:
        """Whether anything is on order; some of it arrives."""
        waiting = orders(campaign._ledger)
        there = [order.compound for order in waiting if self.rng.random() < share]
        if there:
            campaign.arrived([campaign._ledger.library.ids[compound] for compound in there])
        return bool(waiting)

    # ------------------------------------------------------------------ what must not have been said

    def wrong(self, campaign: Campaign) -> bool:
        """Whether anything that is decided now is untrue, while a proof is claimed."""
        return self._untrue(campaign._ledger) and proven(campaign)

    def _untrue(self, ledger) -> bool:
        told, main = ledger.current().status[ledger.arm_of], self.truth[0]
        known = told != NOT_ESTIMABLE
        if not known.any():
            return False
        goal = ledger.settings.goal_of(ledger.margins)
        if goal.name == "pareto":
            return score(goal, told, self.truth, known).wrong
        if goal.name == "best":
            # Who is named is to be compared with all others first: those come back.
            if (told == UNDECIDED).any():
                return False
            return bool((main[told == IN] < main[known].max() - goal.slack).any())
        # Who was measured counts as one to be compared with, even if it cannot be estimated any more.
        seen = known.copy()
        seen[[m.compound for m in ledger.measurements if m.round]] = True
        outs = (told == OUT) & (main >= main[seen].max() - goal.epsilon)
        ins = (told == IN) & (main < main[known].max() - goal.epsilon - goal.slack)
        return bool(outs.any() or ins.any())

    def steps(self, campaign: Campaign) -> list[float]:
        """How far the phases' estimates of differences were off: chi square, its degrees of freedom; and of single
        steps, from each phase's leader to any compound, their number, sum, and sum of squares.

        In the standard errors the program says they have.
        """
        ledger = campaign._ledger
        state, truth = ledger.current(), self.truth[0][ledger.first]
        found = np.zeros(5)
        if self.kind.tau:
            return found.tolist()
        sigma = SIGMA / self.kind.shrunk
        everyone = np.arange(ledger.n_arms)
        theta = np.linalg.lstsq(ledger.features.dense(everyone), truth, rcond=None)[0]
        for phase in range(1, len(ledger.phases) + 1):
            span = ledger.span(phase, 0)
            measured = np.flatnonzero(span.counts > 0)
            fit = least_squares(ledger.features, measured, span.counts[measured], span.means[measured])
            here = everyone[fit.estimable()]
            if len(here) < 2:
                continue
            x = ledger.features.dense(here)
            _, sizes, rows = np.linalg.svd((x[1:] - x[0]) @ fit.basis, full_matrices=False)
            rows = rows[sizes > 1e-9 * sizes[0]]
            off = rows @ fit.basis.T @ (fit.theta - theta)
            found[0] += float(off @ np.linalg.solve(rows @ fit.inverse @ rows.T, off)) / sigma**2
            found[1] += len(rows)
        if "leaders" in state.memory and len(ledger.goal_endpoints) == 1:
            evidence = Evidence(ledger.features, state.memory, sigma)
            arms = self.rng.integers(ledger.n_arms, size=evidence.n_phases)
            told = evidence.behind(arms)
            for phase, (leader, arm) in enumerate(zip(evidence.leaders, arms, strict=True)):
                precision = told.precision[phase, phase]
                if leader >= 0 and precision > 0:
                    z = (told.difference[phase, phase] - (truth[leader] - truth[arm])) * precision
                    found[2:] += (1.0, z, z * z)
        return found.tolist()


def proven(campaign: Campaign) -> bool:
    """Whether what is decided is claimed to be proven: not by the series model, which states expected errors."""
    guarantee = campaign.status().guarantee
    return guarantee.holds and not guarantee.calibrated


def play(kind: Kind, seed: int, path) -> dict:
    """What one campaign came to; its file is at ``path``."""
    lab = Lab(kind, seed)
    wrong, rounds, promised = False, 0, 0.0
    with lab.create(path) as campaign:
        while rounds < MOST and proven(campaign):
            if campaign.plan() is None:
                if kind.stock and lab._arrive(campaign, 1.0):
                    continue
                break
            lab.answer(campaign)
            lab.meddle(campaign)
            rounds += 1
            wrong |= lab.wrong(campaign)
            promised = max(promised, campaign._ledger.settings.delta)
        status, held = campaign.status(), proven(campaign)
        low = any(one.used < SIGMA for told in campaign._ledger.spreads.values() for one in told if not one.endpoint)
        steps = lab.steps(campaign)
    return {
        "kind": kind.name,
        "run": seed,
        "wrong": bool(wrong),
        "promised": round(promised, 4),
        "held": held,
        "finished": status.finished,
        "rounds": rounds,
        "measurements": status.measurements_used,
        "low": low,
        "steps": steps,
    }

"""A lab that does everything a lab does to a campaign at once, and what a campaign must not have said all the while.

Who is measured, lost, late, mistyped or left out never depends on a value: that is what the program's guarantee
assumes. Epsilon, slack, confidence and compounds are changed after results were seen, which it does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changing.terms import Change
from assaypilot.engine.campaign.limits import failures
from assaypilot.engine.campaign.plates.blocking import fit_of_phase
from assaypilot.engine.campaign.state import Settings
from assaypilot.engine.campaign.stock.stocked import orders
from assaypilot.engine.controls import Control
from assaypilot.engine.endpoint import Endpoint, Limit
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.library import Library, Site
from assaypilot.engine.measurements import Result
from assaypilot.engine.simulate.scores import score
from assaypilot.engine.stated_noise import StatedNoise
from assaypilot.engine.stock import CANNOT, IN_STOCK, TO_MAKE, StockLine
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
PLATE = 20
"""Measurements on a plate."""


@dataclass(frozen=True)
class Kind:
    """Campaigns of one kind; everything that is not named stays away."""

    name: str
    goal: str = "epsilon-best"
    strategy: str = "adaptive"
    unknown: bool = False
    plates: float = 0.0
    """SD of plates."""
    bounds: float | None = None
    """Share of the compounds that are beyond what the assay can tell."""
    limit: bool = False
    stock: bool = False
    away: bool = False
    """Whether the compounds with one substituent cannot be had at first, and can be some rounds later."""
    lost: float = 0.0
    """Share of the compounds of a round that are used up."""
    partial: bool = False
    """Whether rounds come back in part, are closed early, and what was missing comes late."""
    typos: bool = False
    """Whether values are mistyped and corrected after the phase was decided, or left out for a cause, some for good."""
    minds: bool = False
    more: bool = False
    """Whether compounds are added on the way."""
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
        self.typed: dict[int, float] = {}
        """Mistyped measurements by number, and their values."""
        self.late: list[Result] = []
        self.gone: list[int] = []
        main = self.truth[0]
        self.floor = -np.inf if kind.bounds is None else float(np.quantile(main, kind.bounds)) + STEP / 2.0
        self.border = float(np.round(np.median(self.truth[1]) / STEP) * STEP) + STEP

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
        elif kind.limit:
            # Who is a hair inside must not be called failing.
            endpoints.append(Endpoint(OTHER, noise_sd=noise, limit=Limit("<", self.border + HAIR)))
        controls = ()
        if kind.plates:
            controls = (Control("REF", ((OTHER, 1.0),) if kind.limit else ()), Control("REF-2", ()))
        settings = Settings(
            MAIN, epsilon=0.5 + HAIR if kind.goal != "best" else None,
            slack=None if kind.goal == "pareto" else 0.25 - 2.0 * HAIR,
            delta=kind.delta, goal=kind.goal, strategy=kind.strategy, per_round=self.per_round, max_replicates=4,
            seed=int(self.rng.integers(1 << 30)), objectives=(MAIN, OTHER) if kind.goal == "pareto" else (),
            blocks="plate" if kind.plates else "none", controls=controls,
        )  # fmt: skip
        campaign = Campaign.create(path, library=self.library, endpoints=endpoints, settings=settings)
        if kind.stock:
            states = self.rng.choice([IN_STOCK, TO_MAKE, CANNOT], len(self.library), p=[0.5, 0.35, 0.15])
            lines = [
                StockLine(c, int(state), *((100.0, 14.0) if state == TO_MAKE else (None, None)))
                for c, state in enumerate(states)
            ]
            campaign.set_stock(lines)
        if kind.away:
            gone = int(self.rng.integers(self.sizes[0]))
            self.gone = np.flatnonzero(self.library.codes[:, 0] == gone).tolist()
            campaign.set_stock([StockLine(c, CANNOT if c in self.gone else IN_STOCK) for c in range(len(self.library))])
        return campaign

    # ------------------------------------------------------------------ a round

    def answer(self, campaign: Campaign) -> None:
        """Nothing; all, or what comes, of the open round is recorded, and the round is closed."""
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
        now += self._controls(now)
        if kind.typos and now:
            campaign.record(now, close_when_complete=False)
            self._mistype(campaign, before)
            now = []
        if campaign._ledger.open_round is not None:
            campaign.record(now, close=True, missing="failed" if failed else "return")

    def _values(self, ledger, issued) -> list[Result]:
        """A value for every measurement asked for, in an order that no value knows of, on plates in that order."""
        asked = [
            (item.compound, k)
            for item in issued.items
            for place, k in enumerate(issued.endpoints)
            for _ in range(item.of(place))
        ]
        asked = [asked[k] for k in self.rng.permutation(len(asked))]
        if self.rng.random() < 0.5:
            asked.sort()  # plates filled in the order of the list: blocks and compounds then go together
        self.shifts = self.kind.plates * self.rng.standard_normal((len(asked) // PLATE + 1, 2))
        errors = SIGMA * self.rng.standard_normal(len(asked))
        found = []
        for position, (compound, k) in enumerate(asked):
            plate, endpoint = position // PLATE, ledger.endpoints[k]
            which = 0 if endpoint.name == MAIN else 1
            value = self.truth[which, compound] + self.shifts[plate, which] + errors[position]
            name = f"P{plate}" if self.kind.plates else ""
            if which == 0 and value < self.floor:
                entered, relation = endpoint.from_model(self.floor), ">"
            else:
                entered, relation = endpoint.from_model(float(value)), "="
            found.append(
                Result(ledger.library.ids[compound], entered, endpoint.name, relation, plate=name, round=issued.number)
            )
        return found

    def _controls(self, results: list[Result]) -> list[Result]:
        """Three readings of a control on each plate with results, of the second one on some."""
        if not self.kind.plates:
            return []
        found = []
        for plate, name, number in sorted({(r.plate, r.endpoint, r.round) for r in results}):
            which = 0 if name == MAIN else 1
            for control, times in (("REF", 3), ("REF-2", int(self.rng.integers(0, 3)))):
                level = 5.5 if control == "REF-2" else (6.0, 1.0)[which]
                for value in self.rng.normal(level + self.shifts[int(plate[1:]), which], SIGMA, times):
                    entered = 10.0 ** (9.0 - value) if which == 0 else float(value)
                    found.append(Result(control, float(entered), name, plate=plate, round=number))
        return found

    def _mistype(self, campaign: Campaign, before: int) -> None:
        """Nothing; some of the values that just came are wrong for now, as if they had been typed so."""
        came = [m for m in campaign._ledger.measurements[before:] if m.relation == "="]
        for at in self.rng.permutation(len(came))[: self.rng.integers(3)]:
            m, off = came[at], float(self.rng.choice([-1.0, 1.0]))
            self.typed[m.number] = m.entered.value
            wrong = m.entered.value * 10.0**off if m.endpoint == 0 else m.entered.value + off
            campaign.correct(m.number, wrong, reason="as it was typed")

    # ------------------------------------------------------------------ between rounds

    def meddle(self, campaign: Campaign) -> None:
        """Nothing; everything that happens between two rounds."""
        kind, rng = self.kind, self.rng
        for number, value in self.typed.items():
            campaign.correct(number, value, reason="mistyped")
        self.typed.clear()
        measured = campaign._ledger.measurements
        if kind.typos and measured and rng.random() < 0.5:
            m = measured[rng.integers(len(measured))]
            if m.excluded is None:
                campaign.exclude(m.number, "pipetting error", judgement=False)
        left_out = [m.number for m in measured if m.excluded is not None]
        if left_out and rng.random() < 0.2:
            campaign.include(left_out[rng.integers(len(left_out))], "it was another plate")
        if self.late and rng.random() < 0.7:
            campaign.record([*self.late], again=True)
            self.late.clear()
        if kind.stock:
            self._arrive(campaign, 0.5)
        if self.gone and rng.random() < 0.4:
            self._come_back(campaign)
        if kind.minds and rng.random() < 0.4:
            self._change(campaign)
        if kind.more and rng.random() < 0.2:
            self._add(campaign)

    def _come_back(self, campaign: Campaign) -> bool:
        """Whether any compounds were away; they can be had now."""
        was = bool(self.gone)
        if was:
            campaign.set_stock([StockLine(c, IN_STOCK) for c in self.gone])
        self.gone = []
        return was

    def _arrive(self, campaign: Campaign, share: float) -> bool:
        """Whether anything is on order; some of it arrives."""
        waiting = orders(campaign._ledger)
        there = [order.compound for order in waiting if self.rng.random() < share]
        if there:
            campaign.arrived([campaign._ledger.library.ids[compound] for compound in there])
        return bool(waiting)

    def _change(self, campaign: Campaign) -> None:
        """Nothing; another goal, confidence or noise, when the campaign lets it be changed now."""
        rng, ledger = self.rng, campaign._ledger
        way = rng.integers(5)
        if way <= 1 and self.kind.goal == "epsilon-best":
            change = Change(epsilon=float(rng.choice([0.25, 0.375, 0.625, 0.75, 0.5])) + HAIR)
        elif way == 2 and self.kind.goal != "pareto":
            change = Change(slack=float(rng.choice([0.125, 0.25, 0.375])) - 2.0 * HAIR)
        elif way == 3:
            change = Change(delta=float(rng.choice([0.1, 0.2, 0.3])))
        else:
            told = SIGMA if ledger.endpoints[0].noise_estimated else StatedNoise(SIGMA, True)
            change = Change(noise={MAIN: told})
        try:
            campaign.change(change)
        except AssayPilotError:
            return

    def _add(self, campaign: Campaign) -> None:
        """Nothing; compounds with one more substituent at the first site."""
        sizes = self.sizes
        rows = [[f"x{sizes[0]}", *(f"x{self.rng.integers(n)}" for n in sizes[1:])] for _ in range(3)]
        rows = [list(row) for row in dict.fromkeys(map(tuple, rows))]
        ids = ["|".join(f"R{k + 1}={x}" for k, x in enumerate(row)) for row in rows]
        try:
            campaign.add_compounds(Library.listed([s.name for s in self.library.sites], rows, ids=ids))
        except AssayPilotError:
            return
        more = self._means(campaign._ledger.library)
        # What deviates goes on deviating as it did.
        self.truth = np.hstack([self.truth, more[:, self.truth.shape[1] :]])

    # ------------------------------------------------------------------ what must not have been said

    def wrong(self, campaign: Campaign) -> bool:
        """Whether anything that is decided now is untrue, while a guarantee is stated."""
        if self.typed:
            return False
        return self._untrue(campaign._ledger) and campaign.status().guarantee.holds

    def _untrue(self, ledger) -> bool:
        told, main = ledger.current().status[ledger.arm_of], self.truth[0]
        limited = failures(ledger, ledger.verdicts)[0][ledger.arm_of] >= 0
        if (limited & (self.truth[1] < self.border + HAIR)).any():
            return True
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
        outs = (told == OUT) & ~limited & (main >= main[seen].max() - goal.epsilon)
        ins = (told == IN) & (main < main[known].max() - goal.epsilon - goal.slack)
        return bool(outs.any() or ins.any())

    def steps(self, campaign: Campaign) -> list[float]:
        """How far the phases' estimates of differences were off: chi square, its degrees of freedom; and of single
        steps, from each phase's leader to any compound, their number, sum, and sum of squares.

        In the standard errors the program says they have; phases with bounds, whose estimates nobody takes, left out.
        """
        ledger = campaign._ledger
        state, truth = ledger.current(), self.truth[0][ledger.first]
        found = np.zeros(5)
        if self.kind.tau or self.kind.bounds:
            return found.tolist()
        sigma = SIGMA / self.kind.shrunk
        everyone = np.arange(ledger.n_arms)
        theta = np.linalg.lstsq(ledger.features.dense(everyone), truth, rcond=None)[0]
        for phase in range(1, len(ledger.phases) + 1):
            fit = fit_of_phase(ledger, phase, 0)
            here = everyone if fit is None else everyone[fit.estimable()]
            if fit is None or len(here) < 2:
                continue
            x = ledger.features.dense(here)
            # Levels may be counted from what a control read, so that only differences are known.
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


def play(kind: Kind, seed: int, path) -> dict:
    """What one campaign came to; its file is at ``path``."""
    lab = Lab(kind, seed)
    wrong, rounds, promised = False, 0, 0.0
    with lab.create(path) as campaign:
        while rounds < MOST:
            if campaign.plan() is None:
                if (kind.stock and lab._arrive(campaign, 1.0)) or lab._come_back(campaign):
                    continue
                break
            lab.answer(campaign)
            lab.meddle(campaign)
            rounds += 1
            wrong |= lab.wrong(campaign)
            promised = max(promised, campaign._ledger.error)
        status = campaign.status()
        low = any(one.used < SIGMA for told in campaign._ledger.spreads.values() for one in told if not one.endpoint)
        steps = lab.steps(campaign)
    return {
        "kind": kind.name,
        "run": seed,
        "wrong": bool(wrong),
        "promised": round(promised, 4),
        "held": status.guarantee.holds,
        "finished": status.finished,
        "rounds": rounds,
        "measurements": status.measurements_used,
        "low": low,
        "steps": steps,
    }

"""The strategies that are calibrated, and what their statements say of their half-widths.

The logarithms are written here from the statements, not taken from the strategies: a bound is the SD of what it
bounds, from the counts alone, times sqrt(2 log).
"""

import math
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest import mock

import numpy as np

from assaypilot.engine.simulate import baselines
from assaypilot.engine.strategies.adaptive import sequential_tests
from assaypilot.engine.strategies.gege import confidence as gege
from assaypilot.engine.strategies.gege.confidence import Size
from assaypilot.engine.strategies.linfact import xy_optimal as linfact_xy
from assaypilot.engine.strategies.linfact.extensions import LinFactGlm, LinFactMis
from assaypilot.engine.strategies.linfact.linfact import LinFactG
from assaypilot.engine.strategies.lingame.pool import Rules
from assaypilot.engine.strategies.rage import rage
from tests.oracles.adaptive import plain_limits
from tests.published import calibration_instances as tables
from tests.published.calibration_checks import inverse_of, own_sds, pair_sds

BOTH = ("realised", "planned")


@dataclass(frozen=True, eq=False)
class Kind:
    """A strategy with parameters, where it is run, and how its half-widths are checked."""

    label: str
    strategy: str
    instances: tuple
    log: Callable
    """What is seen of a phase -> the logarithm of the statement."""
    width: Callable
    """One of the functions below: (SDs its bounds claim ``(n_endpoints, n_arms)``, how many times too small)."""
    shrinks: tuple
    """(owner, name) of what gives the strategy its logarithm."""
    parameters: dict = field(default_factory=dict)
    modes: tuple = BOTH
    normal: bool = True
    """Whether its errors are N(0, 1) when standardised by its bounds; not where the noise is bounded by more."""
    most: int = 40
    """Phases at most."""
    dear: bool = False
    """Whether a campaign takes so long that a quick test makes do with fewer."""

    def make(self):
        return baselines.get(self.strategy)

    @contextmanager
    def shrunk(self, by):
        """Half-widths too small by a factor: those decided with, and those a plan is made for."""
        owner, name = self.shrinks
        right = getattr(owner, name)

        def wrong(*given, **named):
            return smaller(right(*given, **named), by * by)

        with mock.patch.object(owner, name, wrong):
            yield


def smaller(value, by):
    """A logarithm, or a size of a phase, divided."""
    if isinstance(value, Size):
        total = None if value.total is None else max(math.ceil(value.total / by), 1)
        return Size(value.log / by, value.wells / by, total)
    # Limits of walks are half-widths themselves, the others logarithms.
    return value / (math.sqrt(by) if isinstance(value, np.ndarray) else by)


@dataclass(frozen=True)
class Seen:
    """One decided phase, and what the statement is about."""

    kind: Kind
    instance: object
    mode: str | None
    before: object
    outcome: object
    decision: object

    @property
    def phase(self):
        return self.before.phase + 1

    @property
    def spread(self):
        """Half-width over SD by the statement."""
        return math.sqrt(2.0 * self.kind.log(self))

    @property
    def planned(self):
        """``(n_arms,)`` the measurements of the plan."""
        counts = np.zeros(len(self.before.active))
        counts[self.outcome.allocation.arms] = self.outcome.allocation.counts
        return counts


def of_means(seen, noise=None):
    """(SDs claimed for the means of every endpoint, how much smaller they are than the statement's)."""
    x, sds = seen.instance.x, noise or seen.instance.sd
    radius = seen.outcome.allocation.radius
    if seen.mode == "planned":
        units = unit(seen.instance)
        right = np.array([own_sds(x, seen.planned, sd) for sd in sds]) / units
        claimed = np.array([own_sds(x, row, sd) for row, sd in zip(seen.outcome.counts, sds, strict=True)])
        # Phases cut to a budget promise what they keep, too.
        return claimed, float(np.nanmax(right[:, seen.before.active])) * seen.spread / radius
    claimed = (seen.decision.high - seen.decision.low) / 2 / seen.spread
    claimed = np.where(np.isfinite(claimed), claimed, np.nan)
    right = np.array([own_sds(x, row, sd) for row, sd in zip(seen.outcome.counts, sds, strict=True)])
    return claimed, float(np.nanmax(right / claimed))


def unit(instance):
    """What a radius is in: the margin or the SD of an endpoint of a Pareto set; else the scale itself."""
    if instance.goal.name != "pareto":
        return 1.0
    return np.array(instance.goal.margins if any(instance.goal.margins) else instance.sd)[:, None]


def of_log_odds(seen):
    """As of means, with sigma = 1/2 over the least slope of the logistic curve within the bound."""
    share = 1.0 / (1.0 + math.exp(-seen.instance.parameters["bound"]))
    return of_means(seen, noise=(0.5 / (share * (1.0 - share)),))


def with_deviations(seen):
    """As of means, less the part of each half-width that the model's error makes up."""
    if seen.mode == "planned":
        return of_means(seen)
    x, counts, error = seen.instance.x, seen.outcome.counts[0], seen.instance.parameters["model_error"]
    own = error * (1.0 + np.abs(x @ inverse_of(x, counts) @ x.T * counts).sum(axis=1))
    claimed = ((seen.decision.high - seen.decision.low) / 2 - own) / seen.spread
    claimed = np.where(np.isfinite(claimed), claimed, np.nan)
    right = own_sds(x, counts, seen.instance.sd[0])
    return claimed, float(np.nanmax(right / claimed[0]))


def of_pairs(seen):
    """(SDs of means by the noise that its bounds on differences claim, how much smaller these are than they should)."""
    x, counts, sd = seen.instance.x, seen.outcome.counts[0], seen.instance.sd[0]
    active = np.flatnonzero(seen.before.active)
    means = own_sds(x, counts, sd)
    if len(active) < 2:
        return np.full((1, len(x)), np.nan), 0.0
    radius = seen.outcome.allocation.radius
    if seen.mode == "planned":
        share = 2.0 if seen.kind.strategy == "linfact-xy" else 1.0
        return means[None], float(pair_sds(x, seen.planned, sd, active).max()) * seen.spread / (share * radius)
    if seen.kind.strategy == "rage":
        claimed = (seen.decision.high - seen.decision.low)[0] / 2 / seen.spread
        claimed = np.where(np.isfinite(claimed), claimed, np.nan)
        # What decides are the differences, bounded by the same factor.
        return claimed[None], float(np.nanmax((means / claimed)[active])) if np.isfinite(claimed).any() else 0.0
    memory = seen.decision.memory
    leader = memory["anchor"][active[0]]
    claimed = ((memory["above_anchor_most"] - memory["above_anchor_least"]) / 2)[active]
    right = pair_sds(x, counts, sd, np.append(active, leader))[:-1, -1] * seen.spread
    apart = right > 1e-12
    ratio = float((right[apart] / claimed[apart]).max()) if apart.any() else 1.0
    smallest = float((right[apart] / claimed[apart]).min()) if apart.any() else 1.0
    assert ratio - smallest < 1e-6 * ratio
    return (means / ratio)[None], ratio


def of_everything(seen):
    """Sequential: no independent errors; how much smaller its ellipsoid is than the statement's."""
    x, problem = seen.instance.x, seen.before.problem
    sigma, t = problem.noise[0], seen.decision.numbers["measurements"]
    rank, length = np.linalg.matrix_rank(x), np.linalg.norm(x, axis=1).max()
    norm = seen.kind.parameters.get("norm")
    eta = length**2 if norm is None else (sigma / norm) ** 2
    explored = math.log(1.0 / problem.delta) + rank / 2.0 * math.log(1.0 + t * length**2 / (eta * rank))
    bias = 0.0 if norm is None else math.sqrt(eta / 2.0) * norm / sigma
    right = 2.0 * sigma**2 * (math.sqrt(explored) + bias) ** 2
    return None, math.sqrt(right / seen.decision.numbers["threshold"])


def of_walks(seen):
    """Of all phases: the bounds of means are limits of walks; how much smaller they are than the statement's.

    No independent errors: where a walk ends depends on it.
    """
    memory, sd = seen.decision.memory, seen.instance.sd[0]
    n = len(seen.instance.x)
    looks, precision = np.zeros(n, dtype=int), np.zeros(n)
    for phase in range(len(memory["leaders"])):
        here = memory["at"] == phase
        counts = np.zeros(n)
        counts[memory["arms"][here]] = memory["counts"][here]
        sds = own_sds(seen.instance.x, counts, sd)
        told = np.isfinite(sds)
        looks += told
        precision[told] += 1.0 / sds[told]
    level = 0.05 * seen.instance.delta / (2 * arms(seen.instance))
    known = plain_limits(level, int(memory["expected"][0]), len(memory["leaders"]))
    asked = seen.before.active & (looks > 0)
    right = known[looks[asked] - 1] * np.sqrt(looks[asked]) / precision[asked]
    claimed = ((seen.decision.high - seen.decision.low)[0] / 2)[asked]
    return None, float((right / claimed).max()) if asked.any() else 0.0


def of_front_walks(seen):
    """As of walks, in every endpoint."""
    memory, instance = seen.decision.memory, seen.instance
    n, phases = len(instance.x), int(memory["phases"][0])
    level = 0.05 * instance.delta / (2 * len(instance.sd) * arms(instance))
    # As many as are remembered from campaign to campaign.
    known, largest = plain_limits(level, int(memory["expected"][0]), 8 * math.ceil(phases / 8)), 0.0
    for endpoint, sd in enumerate(instance.sd):
        looks, precision = np.zeros(n, dtype=int), np.zeros(n)
        for phase in range(phases):
            here = memory["at"] == phase
            counts = np.zeros(n)
            counts[memory["arms"][here]] = memory["counts"][endpoint, here]
            if not counts.any():
                continue
            sds = own_sds(instance.x, counts, sd)
            told = np.isfinite(sds)
            looks += told
            precision[told] += 1.0 / sds[told]
        asked = seen.before.active & (looks > 0)
        right = known[looks[asked] - 1] * np.sqrt(looks[asked]) / precision[asked]
        claimed = ((seen.decision.high - seen.decision.low)[endpoint] / 2)[asked]
        largest = max(largest, float((right / claimed).max(initial=0.0)))
    return None, largest


def arms(instance):
    """How many arms are asked about."""
    return len(instance.x) if instance.wanted is None else int(instance.wanted.sum())


def log_g(seen):
    return math.log(2 * arms(seen.instance) * seen.phase * (seen.phase + 1) / seen.instance.delta)


def log_xy(seen):
    k = arms(seen.instance)
    return math.log(k * (k - 1) * seen.phase * (seen.phase + 1) / seen.instance.delta)


def log_xy_as_printed(seen):
    return math.log(2) + log_xy(seen)


def log_gege(seen):
    share = 6 * seen.instance.delta / (math.pi**2 * seen.phase**2)
    return math.log(2 * len(seen.instance.sd) * int(seen.before.active.sum()) / share)


def log_rage(seen):
    return math.log(arms(seen.instance) ** 2 * seen.phase * (seen.phase + 1) / seen.instance.delta)


def log_rage_tight(seen):
    """One-sided, against the best alone."""
    return math.log((arms(seen.instance) - 1) * seen.phase * (seen.phase + 1) / seen.instance.delta)


G = (LinFactG, "spread_log")
XY, PRINTED = (linfact_xy.LinFactXY, "spread_log"), (linfact_xy.LinFactXYAsPrinted, "spread_log")
MIS, GLM = (LinFactMis, "spread_log"), (LinFactGlm, "spread_log")
WALKS = (sequential_tests, "limits")
GEGE, RAGE, GAME = (gege, "phase_size"), (rage, "union_log"), (Rules, "reach")
PROVEN = {"radii": "proven"}

KINDS = (
    Kind("LinFACT-G", "linfact-g", tables.EPSILON_BEST, log_g, of_means, G),
    Kind("LinFACT-XY", "linfact-xy", tables.EPSILON_BEST, log_xy, of_pairs, XY),
    Kind("LinFACT-XY, as printed", "linfact-xy-as-printed", tables.EPSILON_BEST, log_xy_as_printed, of_pairs, PRINTED),
    Kind("LinFACT-MIS, least squares", "linfact-mis", tables.MISSPECIFIED, log_g, with_deviations, MIS),
    Kind("LinFACT-GLM, identity", "linfact-glm", tables.EPSILON_BEST, log_g, of_means, GLM),
    Kind("LinFACT-GLM, logit", "linfact-glm", tables.YES_OR_NO, log_g, of_log_odds, GLM, normal=False),
    Kind("GEGE, tight", "gege", tables.FRONTS, log_gege, of_means, GEGE),
    Kind("GEGE, proven", "gege", tables.FRONTS, log_gege, of_means, GEGE, PROVEN),
    Kind("GEGE with margins, tight", "gege", tables.EPSILON_FRONTS, log_gege, of_means, GEGE),
    Kind("GEGE with margins, proven", "gege", tables.EPSILON_FRONTS, log_gege, of_means, GEGE, PROVEN),
    Kind("RAGE", "rage", tables.BEST, log_rage, of_pairs, RAGE),
    Kind("RAGE, tight", "rage", tables.BEST, log_rage_tight, of_pairs, RAGE, {"radii": "tight", "slack_rule": "tight"}),
    Kind("LinGame", "lingame", tables.GAMES, log_g, of_everything, GAME, {"batch": 50}, modes=(None,), most=10_000),
    Kind("LinGame-C", "lingame-c", tables.GAMES, log_g, of_everything, GAME, {"batch": 50}, modes=(None,), most=10_000),
    Kind("Adaptive", "adaptive", tables.EPSILON_BEST, log_g, of_walks, WALKS, modes=(None,)),
    Kind("Adaptive, the best", "adaptive", tables.BEST, log_g, of_walks, WALKS, modes=(None,)),
    Kind(
        "Adaptive, Pareto",
        "adaptive",
        tables.ROUND_BY_ROUND,
        log_g,
        of_front_walks,
        WALKS,
        modes=(None,),
        dear=True,
    ),
    Kind(
        "Adaptive, Pareto with margins",
        "adaptive",
        tables.PLATES,
        log_g,
        of_front_walks,
        WALKS,
        modes=(None,),
        dear=True,
    ),
)

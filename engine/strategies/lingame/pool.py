"""Estimates from all measurements of a campaign, with bounds that hold at every look at once.

Sequential algorithms choose every measurement by the values before it, so the bounds of one fixed design do not
apply. Those here hold for any such choice and any moment of stopping (self-normalised martingales, Abbasi-Yadkori, Pal
and Szepesvari 2011, Theorem 1; LinGame Theorem 3). Late, missing and unasked measurements are data like all others, as
long as which of them count does not depend on their own values.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Flags, Floats
from ...domain.features import Features, outside_span, span_basis, span_rank
from ...errors import AssayPilotError
from ...models.ols import lower_factor, lower_inverse, positive_inverse
from ..phased import number, one_of, whole
from ..protocol import Outcome, Parameter, Problem, State

_MOST = 100_000
"""Compounds up to which all are evaluated one by one."""

_DEFICIENT = 1e-10
"""A pivot of the scaled information below this counts as a direction nothing is known of."""

_THOUSAND = 1000.0
"""Measurements at which the price of a bound on the effects is reported."""

_TABLES = 4
"""Bases kept for one feature table; what can be measured changes rarely."""

POOL_PARAMETERS = (
    Parameter(
        "threshold",
        "proven",
        "proven: bounds that hold at every look; experiments: log((1 + log t) / delta) of the authors' code",
    ),
    Parameter(
        "norm",
        None,
        "a sure bound M on the length of the vector of effects, model scale; a wrong one voids the confidence; "
        "none: bounds that need no such knowledge",
    ),
    Parameter(
        "eta",
        None,
        "regularisation; none: (SD / norm)^2, without norm L^2 for the longest row L (both 1 in the "
        "authors' experiments); theorem: 2 (1 + log A) A L^2 + (norm / SD)^2 for A "
        "compounds in the table (LinGame, Theorem 2)",
    ),
    Parameter("batch", None, "measurements per phase; none: the lab's round, or 1 without a capacity"),
)
"""Parameters of all strategies that pool their measurements."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The arms in orthonormal coordinates of the span of what can be measured or has been."""

    x: Floats
    """``(n_arms, d)``; of arms outside the span only the part within."""
    outside: Flags
    """``(n_arms,)``: arms that have a part outside."""
    rank: int
    """Of all arms of the table, whether they can be measured or not."""
    longest: float
    """Length of the longest feature row."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The parameters, checked, and the threshold they make."""

    sigma: float
    delta: float
    proven: bool
    norm: float | None
    length: float
    eta: float
    rank: int
    batch: int
    parameters: Mapping[str, Any]
    """All parameters of the strategy by name."""

    @property
    def ridge(self) -> bool:
        """Whether the estimate is the regularised one; least squares where no bound on the effects is known."""
        return self.norm is not None or not self.proven

    def beta(self, t: float, log_error: float) -> float:
        """Return the threshold of LinGame eq. 4 for log(1 / delta) = ``log_error``, in units of the noise.

        Without a bound M the term sqrt(eta / 2) M falls away, because the estimate is not regularised; its price is in
        ``Pool.factor``. d is the rank of the whole table, so the bound also holds when what can be measured changes.
        """
        explored = log_error + self.rank / 2.0 * math.log1p(t * self.length**2 / (self.eta * max(self.rank, 1)))
        bias = 0.0 if self.norm is None else math.sqrt(self.eta / 2.0) * self.norm / self.sigma
        return (math.sqrt(explored) + bias) ** 2

    def price(self) -> float:
        """Return how many times wider squared distances are for the bound M and this eta than without them.

        About as many times the measurements it takes to stop; after a thousand of them, it hardly depends on how many.
        """
        if not self.proven or self.norm is None:
            return 1.0
        without = replace(self, norm=None, eta=max(self.length**2, 1e-300))
        return self.reach(_THOUSAND) / without.reach(_THOUSAND)

    def reach(self, t: float) -> float:
        """Return 2 sigma^2 beta(t, delta): squared distances beyond it are outside the confidence ellipsoid."""
        log_error = math.log(1.0 / self.delta)
        if self.proven:
            return 2.0 * self.sigma**2 * self.beta(t, log_error)
        return 2.0 * self.sigma**2 * (math.log(1.0 + math.log(max(t, 1.0))) + log_error)


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The estimate from everything measured so far, and how far the truth may be from it."""

    table: Table
    total: float
    """Measurements so far."""
    covariance: Floats
    """``(d, d)``, (V + eta I)^-1 for V = sum of N(a) a a'."""
    inverse: Floats
    """``(d, d)``, V^-1, a pseudo-inverse where V has no full rank."""
    means: Floats
    """``(n_arms,)``; of arms that are not ``known`` only the part within what was measured."""
    factor: Floats
    """``(d, r)``, R: a direction y is known with variance |R'y|^2 at a noise SD of 1.

    R R' is V^-1 with the regularised estimate (LinGame eq. 3). For the least-squares estimate the martingale bound
    |V (estimate - theta)|^2 in (V + eta I)^-1 <= 2 sigma^2 beta is a bound in the metric V (V + eta I)^-1 V, so
    R R' = V^-1 + eta V^-2.
    """
    known: Flags
    """``(n_arms,)``: arms in the span of what was measured."""
    full: bool
    """Whether V spans everything that can be measured or has been."""

    def spread(self) -> Floats:
        """Return ``(n_arms, r)``, R'x of every arm: distances between its rows are those of differences of arms."""
        return self.table.x @ self.factor


_kept: weakref.WeakKeyDictionary[Features, dict[bytes, Table]] = weakref.WeakKeyDictionary()


def table_of(features: Features, within: Flags) -> Table:
    """Return the arms in a basis of the span of those ``within``.

    The last few are kept, since every step needs it.
    """
    if features.n_rows > _MOST:
        raise AssayPilotError(
            f"this strategy looks at every compound at every step; {features.n_rows:,} are too many",
            option="--strategy",
            mend=f"Choose a strategy that decides in phases, or list at most {_MOST:,} compounds.",
        )
    tables = _kept.setdefault(features, {})
    key = within.tobytes()
    table = tables.get(key)
    if table is None:
        basis = span_basis(features, np.flatnonzero(within))
        everything = np.arange(features.n_rows)
        squares = features.quadratic(np.eye(features.n_columns))
        table = Table(
            np.ascontiguousarray(features.dense(everything) @ basis),
            outside_span(features, basis),
            span_rank(features),
            math.sqrt(float(squares.max(initial=0.0))),
        )
        if len(tables) >= _TABLES:
            tables.pop(next(iter(tables)))
        tables[key] = table
    return table


def rules_of(problem: Problem, parameters: Mapping[str, Any]) -> Rules:
    """Return the parameters of ``POOL_PARAMETERS`` as numbers; AssayPilotError for one out of range."""
    table = table_of(problem.features, problem.measurable)
    per_round = problem.capacity.per_round if problem.capacity else 1
    sigma = problem.noise[0]
    norm = parameters["norm"] if parameters["norm"] is None else number("norm", parameters["norm"])
    batch = per_round if parameters["batch"] is None else whole("batch", parameters["batch"])
    return Rules(
        sigma=sigma,
        delta=problem.delta,
        proven=one_of("threshold", parameters["threshold"], ("proven", "experiments")) == "proven",
        norm=norm,
        length=table.longest,
        # For all of the table: the bounds hold at every look only for one eta that is fixed beforehand.
        eta=_eta(parameters["eta"], sigma, norm, table.longest, problem.n_arms),
        rank=table.rank,
        batch=batch,
        parameters=parameters,
    )


def _eta(given: Any, sigma: float, norm: float | None, length: float, arms: int) -> float:
    if given is None:
        return max(length**2, 1e-300) if norm is None else (sigma / norm) ** 2
    if given != "theorem":
        return number("eta", given)
    if norm is None:
        raise AssayPilotError(
            "eta=theorem needs a bound on the effects", option="--parameter eta", mend="Give norm as well."
        )
    return 2.0 * (1.0 + math.log(max(arms, 1))) * arms * length**2 + (norm / sigma) ** 2


def added(state: State, outcome: Outcome) -> tuple[Floats, Floats]:
    """Return counts and sums of values of every arm ``(n_arms,)`` with this phase's measurements."""
    came = outcome.counts[0]
    sums = state.memory["sums"].copy()
    measured = (came > 0).nonzero()[0]
    sums[measured] += came[measured] * outcome.means[0, measured]
    return state.memory["counts"] + came, sums


def pooled(table: Table, rules: Rules, counts: Floats, sums: Floats) -> Pool:
    """Return the estimate from all measurements, exact where they span everything, else partial (never NaN)."""
    return _pooled(table, rules.eta, rules.ridge, counts.tobytes(), sums.tobytes())


@lru_cache(maxsize=4)
def _pooled(table: Table, eta: float, ridge: bool, of_counts: bytes, of_sums: bytes) -> Pool:
    """See ``pooled``; the last few are kept, because decisions and plans use the same."""
    x, counts = table.x, np.frombuffer(of_counts)
    information = x.T @ (x * counts[:, None])
    moment = x.T @ np.frombuffer(of_sums)
    ridged = information.copy()
    ridged.flat[:: len(ridged) + 1] += eta
    covariance = positive_inverse(ridged)
    basis, root = None, _root(information)
    if root is None:
        values, vectors = np.linalg.eigh(information)
        kept = values > _DEFICIENT * max(float(values.sum()), 1e-300)
        basis, root = vectors[:, kept], vectors[:, kept] / np.sqrt(values[kept])
    inverse = root @ root.T
    theta = (covariance if ridge else inverse) @ moment
    if not ridge:
        # V^-1 + eta V^-2 = T (I + eta T'T) T' for V^-1 = T T'.
        middle = eta * (root.T @ root)
        middle.flat[:: len(middle) + 1] += 1.0
        root = root @ lower_factor(middle)
    known = ~table.outside
    if basis is not None:
        rest = x - (x @ basis) @ basis.T
        lengths = np.einsum("ij,ij->i", x, x)
        known = known & (np.einsum("ij,ij->i", rest, rest) <= 1e-10 * np.maximum(lengths, 1e-300))
    return Pool(table, float(counts.sum()), covariance, inverse, x @ theta, root, known, basis is None)


def _root(information: Floats) -> Floats | None:
    """Return T with T T' = V^-1; None when V is not positive definite beyond rounding."""
    diagonal = information.diagonal()
    if diagonal.min(initial=1.0) <= 0:
        return None
    try:
        lower = lower_factor(information)
    except np.linalg.LinAlgError:
        return None
    pivots = lower.diagonal()
    return None if (pivots * pivots <= _DEFICIENT * diagonal).any() else lower_inverse(lower).T

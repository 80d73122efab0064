"""Whether an additive model describes what was measured: figures, a lack-of-fit test, and one plain sentence.

And what it cannot separate: substituents that occur once, and sites that change only together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints
from ..domain.elimination import Eliminated, Solver
from ..domain.features import SiteFeatures
from ..domain.library import Library, Site
from ..text import pick
from .diagnostics import LEVERAGE_ONE, AdditiveFit, additive_fit, figures_of

Codes = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Confounded:
    """Two sites whose contributions are not all separable."""

    first: str
    second: str
    groups: int
    """Groups of substituents that never occur with those of another group; their contributions are not comparable."""

    def as_json(self) -> dict[str, str | int]:
        """For the command line."""
        return {"first": self.first, "second": self.second, "groups": self.groups}


def confounded_sites(sites: Sequence[Site], codes: Codes) -> tuple[Confounded, ...]:
    """Return pairs of sites that fall into groups; ``codes`` is ``(n_compounds, n_sites)``.

    Substituents are the nodes of a graph, each compound joins those it carries at the two sites; in a connected graph
    all differences can be estimated, each further component costs one rank (Weeks and Williams 1964).
    """
    found = []
    for a, b in combinations(range(len(sites)), 2):
        groups = _components(codes[:, a], codes[:, b])
        if groups > 1:
            found.append(Confounded(sites[a].name, sites[b].name, groups))
    return tuple(found)


def seen_once(sites: Sequence[Site], codes: Codes) -> dict[str, tuple[str, ...]]:
    """Return the substituents that exactly one of the compounds carries, by site; sites without any are left out."""
    out = {}
    for position, site in enumerate(sites):
        counts = np.bincount(codes[:, position], minlength=len(site.substituents))
        labels = tuple(label for label, count in zip(site.substituents, counts, strict=True) if count == 1)
        if labels:
            out[site.name] = labels
    return out


def _components(left: Codes, right: Codes) -> int:
    """Return how many components the graph of two columns has."""
    if not len(left):
        return 0
    # Only this needs it, and a new campaign should not wait for it.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    _, a = np.unique(left, return_inverse=True)
    _, b = np.unique(right, return_inverse=True)
    size = int(a.max()) + int(b.max()) + 2
    graph = coo_array((np.ones(len(a)), (a, b + int(a.max()) + 1)), shape=(size, size))
    return int(connected_components(graph, directed=False)[0])


Verdict = Literal["fits", "doubtful", "does not fit", "not judged"]

POOR_Q2 = 0.5
"""Below this a leave-one-out Q2 is commonly called not predictive."""
_HOPELESS_Q2 = 0.2
_LITTLE_R2 = 0.8
_DOUBT, _SURE = 0.05, 0.001
"""Significance at which a lack of fit makes a model doubtful, and at which it counts against it for good."""
_FEWEST = 3
_WORST = 5
_LONGEST_LIST = 200
_FEW_REPEATS = 6
"""Degrees of freedom below which replicates estimate the noise poorly."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The assay noise that residuals are compared with, model scale."""

    sd: float
    freedom: int | None = None
    """Degrees of freedom of replicates; None when the SD was given."""


@dataclass(frozen=True, slots=True)
class LackOfFit:
    """Whether the compounds deviate from the model by more than the noise explains."""

    statistic: float
    """F with (freedom, replicate freedom) degrees, or chi square / freedom when the noise was given."""
    freedom: int
    p: float
    deviation_sd: float
    """SD of the compounds' own deviation beyond the noise (tau), by the method of moments; 0 when there is none."""


@dataclass(frozen=True, slots=True)
class Residual:
    """One measured compound against the model."""

    id: str
    measured: float
    """Its mean, model scale."""
    fitted: float
    residual: float
    standardised: float
    """Residual over its own SD, s sqrt(1 - leverage)."""


@dataclass(frozen=True, slots=True)
class ModelReport:
    """Fit of the additive model to one endpoint's values, before any guarantee is offered."""

    verdict: Verdict
    sentence: str
    fit: AdditiveFit
    max_rank: int
    """The rank if the sites of the measured compounds varied freely: 1 + sum (substituents - 1)."""
    confounded: tuple[Confounded, ...]
    seen_once: dict[str, tuple[str, ...]]
    """Substituents that one measured compound carries, by site."""
    noise: Noise | None
    lack_of_fit: LackOfFit | None
    """None without noise, or without a degree of freedom."""
    curvature_p: float | None
    """Tukey's test of one degree of freedom for non-additivity (1949); needs no replicates."""
    worst: tuple[Residual, ...]
    """The largest standardised residuals first."""

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of the command line; lists are cut and come with their full counts."""
        return {
            **pick(self, "verdict sentence max_rank curvature_p"),
            **pick(self.fit, "rows rank leverage_one r2 q2 residual_sd"),
            **pick(self.noise, "noise_sd=sd noise_freedom=freedom"),
            "confounded": [pair.as_json() for pair in self.confounded],
            "seen_once": {
                site: {"count": len(labels), "substituents": list(labels[:_LONGEST_LIST])}
                for site, labels in self.seen_once.items()
            },
            "lack_of_fit": None if self.lack_of_fit is None else asdict(self.lack_of_fit),
            "worst": [asdict(residual) for residual in self.worst],
        }


def model_report(
    library: Library, rows: Ints, means: Floats, counts: Floats, noise: Noise | None, name: str = "The values"
) -> ModelReport:
    """Return the report of one endpoint: ``means`` ``(m,)`` of the measured compounds at ``rows``, model scale.

    ``counts`` are the determinations behind each mean; ``name`` begins the sentence. R2, Q2 and the residual SD count
    each compound once, as everywhere; the test weights by determinations. The verdict:

    - not judged: fewer than three compounds that another one predicts, or no spread.
    - does not fit: Q2 below 0.2 (unless the noise explains it), or R2 below 0.8 with a lack of fit (or, without a
      known noise, Tukey's test) at p < 0.001.
    - doubtful: Q2 below 0.5, a lack of fit at p < 0.05, Tukey at p < 0.001, or most compounds fitted exactly.
    - fits: otherwise.
    """
    features = SiteFeatures.of(library)
    codes = library.codes[rows]
    present = [len(np.unique(codes[:, k])) for k in range(len(library.sites))] if len(rows) else []
    lack = curvature = None
    worst: tuple[Residual, ...] = ()
    if len(rows):
        # Factorised once for all fits: R2 and Q2 count each compound once, the test its determinations.
        table = Eliminated(features.columns(rows), features.n_columns)
        once = Solver(table, np.ones(len(rows)))
        weighted = once if (counts == 1.0).all() else Solver(table, counts)
        fit = figures_of(once, means)
        residuals = means - weighted.fitted(means)
        residuals[weighted.leverage > 1.0 - LEVERAGE_ONE] = 0.0
        freedom = len(rows) - table.rank
        lack = _lack_of_fit(residuals, weighted.leverage, counts, freedom, noise)
        curvature = _curvature_p(once, means)
        worst = _worst(library, rows, means, freedom, residuals, weighted.leverage, counts)
    else:
        fit = additive_fit(features, rows, means)
    verdict, sentence = _judged(fit, lack, curvature, noise, name)
    return ModelReport(
        verdict=verdict,
        sentence=sentence,
        fit=fit,
        max_rank=1 + sum(size - 1 for size in present),
        confounded=confounded_sites(library.sites, codes),
        seen_once=seen_once(library.sites, codes),
        noise=noise,
        lack_of_fit=lack,
        curvature_p=curvature,
        worst=worst,
    )


def _lack_of_fit(
    residuals: Floats, leverage: Floats, counts: Floats, freedom: int, noise: Noise | None
) -> LackOfFit | None:
    """Return the F test against replicates, or chi square against given noise (Draper and Smith 1998, 2.1)."""
    if noise is None or freedom < 1 or noise.sd <= 0.0:
        return None
    from scipy.special import chdtrc, fdtrc

    squares = float(counts @ residuals**2)
    statistic = squares / freedom / noise.sd**2
    p = chdtrc(freedom, statistic * freedom) if noise.freedom is None else fdtrc(freedom, noise.freedom, statistic)
    # E[squares] = freedom sigma^2 + tau^2 sum n (1 - h)
    room = float(counts @ (1.0 - leverage))
    tau = math.sqrt(max(0.0, squares - freedom * noise.sd**2) / room) if room > 0 else 0.0
    return LackOfFit(statistic, freedom, float(p), tau)


def _curvature_p(solver: Solver, means: Floats) -> float | None:
    """Return p of Tukey's test: do squared fitted values explain the residuals? None without freedom."""
    freedom = len(means) - solver.table.rank - 1
    fitted = solver.fitted(means)
    left = means - fitted
    squared = (fitted - means.mean()) ** 2
    curvature = squared - solver.fitted(squared)
    weight, total = float(curvature @ curvature), float(left @ left)
    flat = 1e-18 * max(1.0, float(np.abs(means).max())) ** 2 * len(means)
    if freedom < 1 or weight <= 1e-12 * max(float(squared @ squared), 1e-300) or total <= flat:
        return None
    from scipy.special import fdtrc

    explained = float(curvature @ left) ** 2 / weight
    rest = (total - explained) / freedom
    return float(fdtrc(1, freedom, explained / rest)) if rest > 0 else 0.0


def _worst(
    library: Library, rows: Ints, means: Floats, freedom: int, residuals: Floats, leverage: Floats, counts: Floats
) -> tuple[Residual, ...]:
    squares = float(counts @ residuals**2)
    if freedom < 1 or squares <= 0.0:
        return ()
    spread = np.sqrt(squares / freedom * np.maximum(1.0 - leverage, LEVERAGE_ONE) / counts)
    standard = residuals / spread
    # Two compounds that only predict each other are equally far off: rounding is not to choose between them.
    order = np.argsort(-np.round(np.abs(standard), 9), kind="stable")[:_WORST]
    return tuple(
        Residual(
            library.ids[int(rows[k])],
            float(means[k]),
            float(means[k] - residuals[k]),
            float(residuals[k]),
            float(standard[k]),
        )
        for k in order
        if residuals[k] != 0.0
    )


def _judged(
    fit: AdditiveFit, lack: LackOfFit | None, curvature: float | None, noise: Noise | None, name: str
) -> tuple[Verdict, str]:
    """Return the verdict and its sentence."""
    compared = fit.rows - fit.leverage_one
    if fit.q2 is None or compared < _FEWEST or fit.residual_sd is None:
        few = f"only {compared} of {fit.rows} compounds can be compared with others"
        if compared >= _FEWEST and fit.residual_sd is not None:
            few = "all its values are the same"
        why = few if fit.rows else "no value is there yet"
        return "not judged", f"{name}: whether the additive model fits cannot be judged: {why}."
    figures = f"leave-one-out Q2 {fit.q2:.2f}"
    if fit.r2 is not None:
        figures = f"R2 {fit.r2:.2f}, {figures}"
    poor = "left-out compounds are predicted poorly"
    depends = "what a substituent adds depends on what else the compound carries"
    explained = lack is not None and lack.p >= _DOUBT
    against = []
    if lack is not None and noise is not None and not explained:
        against.append(_beyond(lack, noise))
    if lack is None and curvature is not None and curvature < _SURE:
        against.append(depends)
    if fit.q2 < POOR_Q2:
        against.append("the compounds hardly differ by more than the noise" if explained else poor)
    p = lack.p if lack is not None else curvature
    sure = p is not None and p < _SURE and fit.r2 is not None and fit.r2 < _LITTLE_R2
    if sure or (fit.q2 < _HOPELESS_Q2 and not explained):
        return "does not fit", f"{name}: the additive model does not fit ({figures}): {'; '.join(against)}."
    if 2 * fit.leverage_one > fit.rows:
        against.append(f"{fit.leverage_one} of {fit.rows} compounds are fitted exactly and cannot test it")
    if against:
        return "doubtful", f"{name}: the additive model is doubtful ({figures}): {'; '.join(against)}."
    because = "the assay noise is not known, so a lack of fit could not be tested"
    if lack is not None and noise is not None:
        because = f"the residuals (SD {fit.residual_sd:.2g}) are what the assay noise (SD {noise.sd:.2g}) explains"
        if noise.freedom is not None and noise.freedom < _FEW_REPEATS and fit.residual_sd > 1.5 * noise.sd:
            because = (
                f"the residuals (SD {fit.residual_sd:.2g}) exceed the scatter of replicates (SD {noise.sd:.2g}), "
                "but those are too few to speak against it"
            )
    return "fits", f"{name}: the additive model fits ({figures}); {because}."


def _beyond(lack: LackOfFit, noise: Noise) -> str:
    chance = "p < 0.0001" if lack.p < 1e-4 else f"p {lack.p:.1g}"
    return (
        f"compounds deviate from it by about {lack.deviation_sd:.2g} (SD) beyond the assay noise "
        f"(SD {noise.sd:.2g}, {chance})"
    )

"""Strategies and optimal designs by themselves: by name, and in contests where the truth is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..campaign.settings import Settings
from ..chemistry.similarity import substituent_similarity
from ..design import Pairs, g_optimal, round_design, xy_optimal
from ..design.directions import Directions, Rows
from ..domain.features import DenseFeatures, Features, ProjectedFeatures, SiteFeatures, outside_span
from ..domain.goals import Goal
from ..errors import AssayPilotError
from ..simulate import baselines
from ..simulate.instances import Drawn, Instance, get
from ..simulate.instances.instance import always
from ..simulate.parallel import check, simulate
from ..simulate.runner import Task, summary
from ..strategies import registry
from ..strategies.protocol import Calibrated, Strategy, check_delta
from ..text import pick
from .frames import Coding, read_table, text_of, with_keywords


@with_keywords()
def load_dataset(name: str) -> pd.DataFrame:
    """Return a shipped table; ``frame.attrs`` has its title, source, licence, sites and endpoints.

    There are tetracycline, antiadrenergic, covboost and practice-960 (synthetic: its column ``truth`` holds the true
    values). AssayPilotError for any other name.
    """
    from assaypilot import datasets

    entry = datasets.load(name)
    frame = read_table(entry.path)
    if entry.truth is not None and entry.id is not None:
        ids, values = datasets.truth(name)
        frame["truth"] = frame[entry.id].map(dict(zip(ids, values, strict=True)))
    frame.attrs |= pick(entry, "title source licence") | {
        "sites": list(entry.sites),
        "endpoints": list(entry.endpoints),
    }
    return frame


def list_strategies() -> pd.DataFrame:
    """Return the strategies and baselines, installed ones too: name, title, goals, parameters, guarantee, ..."""
    rows = [
        {
            **pick(info, "name title"),
            "goals": ", ".join(info.goals),
            "parameters": {knob.name: knob.default for knob in info.parameters},
            **pick(info, "guarantee source baseline"),
        }
        for info in (kind.info for kind in (*registry.strategies(), *baselines.baselines()))
    ]
    return pd.DataFrame(rows).set_index("name")


@with_keywords()
def compare_strategies(
    strategies: str | Strategy | list[str | Strategy] | tuple[str | Strategy, ...],
    problem: str | pd.DataFrame,
    *,
    truth: str | Sequence[float] | None = None,
    sites: Sequence[str] | None = None,
    goal: str = "epsilon-best",
    epsilon: float | None = None,
    slack: float | None = None,
    noise_sd: float | None = None,
    delta: float | None = None,
    per_round: int | None = None,
    max_replicates: int = 4,
    budget: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    runs: int = 10,
    seed: int = 0,
    jobs: int = 1,
) -> pd.DataFrame:
    """Run strategies on the same simulated campaigns and return how they did, one row each.

    ``strategies``: names (see ``list_strategies``), or objects such as your own. ``problem``: the name of an instance
    of a paper (``assaypilot simulate --list``), or a DataFrame of compounds with ``truth``, the name of the column of
    true means or ``(n,)`` values, and ``noise_sd``. ``sites``: its columns of substituents or numeric features
    (default: all but the truth and an ID). ``goal``: ``epsilon-best`` (with ``epsilon``, and ``slack``, default half
    of it) or ``best`` (within ``slack``); larger is better. ``delta``: 1 - confidence, default 0.05. ``per_round`` and
    ``budget`` count measurements; without ``per_round`` each phase is one round. ``parameters`` go to the strategies
    that have them. Run i of every strategy has the same truth. ``jobs``: processes (0: one per processor).

    Columns: measurements (mean), measurements_sd, rounds, precision, recall, f1, error_rate (runs with a false
    decision), undecided and unfinished (runs), seconds (per run), promises (whether delta is proven).
    AssayPilotError for a strategy that cannot play on the problem.
    """
    several = list(strategies) if isinstance(strategies, list | tuple) else [strategies]
    chosen = [
        baselines.get(one) if isinstance(one, str) else one() if isinstance(one, type) else one for one in several
    ]
    names = [one.info.name for one in chosen]
    if twice := [name for name in names if names.count(name) > 1]:
        raise AssayPilotError(f"two strategies are called {twice[0]!r}", mend="Give each a name of its own.")
    if not chosen:
        raise AssayPilotError("there is no strategy to compare", mend='For example ["gaussian-process", "adaptive"].')
    _check_whole(per_round=per_round, budget=budget, runs=runs)
    if isinstance(problem, str):
        instance, own_goal = get(problem), None
        if truth is not None or sites is not None:
            raise AssayPilotError(f"{problem} has a truth and features of its own", mend="Leave truth and sites out.")
        own = instance.make(0)
        noise = None if noise_sd is None else (noise_sd,) * len(own.noise)
        if epsilon is not None or slack is not None:
            own_goal = _goal(goal, epsilon, slack)
    else:
        instance, own_goal, noise = _own(problem, truth, sites, noise_sd, _goal(goal, epsilon, slack)), None, None
    given = dict(parameters or {})
    known = {knob.name for one in chosen for knob in one.info.parameters}
    if unknown := [name for name in given if name not in known]:
        raise AssayPilotError(
            f"no strategy here has a parameter {unknown[0]!r}", mend=f"There are {', '.join(sorted(known)) or 'none'}."
        )
    rows = {}
    for strategy in chosen:
        mine = {knob.name for knob in strategy.info.parameters}
        task = Task(
            strategy=strategy,
            instance=instance,
            seed=seed,
            parameters={name: value for name, value in given.items() if name in mine},
            goal=own_goal,
            delta=None if delta is None else check_delta(delta),
            noise=noise,
            per_round=per_round,
            max_replicates=max_replicates,
            budget=budget,
        )
        promises = not check(task) and not isinstance(strategy, Calibrated)
        rows[strategy.info.name] = _row(summary(simulate(task, runs, jobs=jobs)), promises=promises)
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = "strategy"
    return frame


def _check_whole(**numbers: object) -> None:
    """Raise AssayPilotError for what is no whole number of 1 or more; None is left out."""
    for name, value in numbers.items():
        if value is not None and not (isinstance(value, Integral) and int(value) >= 1):
            raise AssayPilotError(f"{name} must be a whole number of 1 or more, got {value!r}", mend="For example 24.")


def _row(found: Mapping[str, Any], *, promises: bool) -> dict[str, Any]:
    return {
        "measurements": found["measurements"]["mean"],
        "measurements_sd": found["measurements"]["sd"],
        "rounds": found["rounds"]["mean"],
        **{name: found[name] for name in ("precision", "recall", "f1", "error_rate", "undecided", "unfinished")},
        "seconds": found["seconds_per_run"],
        "promises": promises,
    }


def _goal(name: str, epsilon: float | None, slack: float | None) -> Goal:
    if name not in ("best", "epsilon-best"):
        raise AssayPilotError(f"no contest about the goal {name!r}", mend="Choose epsilon-best or best.")
    return Settings(goal=name, epsilon=epsilon, slack=slack).goal_of(())


def _own(
    table: pd.DataFrame,
    truth: str | Sequence[float] | None,
    sites: Sequence[str] | None,
    noise_sd: float | None,
    goal: Goal,
) -> Instance:
    """Return a problem of the user's own, the same in every run."""
    if truth is None or not isinstance(noise_sd, Real) or not noise_sd > 0:
        raise AssayPilotError(
            "a problem of your own needs its true means and the noise (SD) of a measurement",
            mend='For example truth="pIC50", noise_sd=0.2.',
        )
    if isinstance(truth, str) and truth not in table.columns:
        raise AssayPilotError(f"the table has no column {truth}", mend="Name the column of the true means.")
    given = table[truth] if isinstance(truth, str) else pd.Series(list(truth))
    means = pd.to_numeric(given, errors="coerce").to_numpy(dtype=np.float64)
    if means.shape != (len(table),) or not np.isfinite(means).all():
        raise AssayPilotError("the truth must be one number for each row", mend="Leave out rows without one.")
    ids = {"id", "name", "smiles"}
    own = truth if isinstance(truth, str) else None
    free = [name for name in table.columns if name != own and str(name).strip().casefold() not in ids]
    columns = free if sites is None else list(sites)
    features = features_of([table], columns)
    every = np.ones(len(table), dtype=bool)
    drawn = Drawn(
        features=features,
        truth=means[None],
        expected=means[None],
        measurable=every,
        wanted=every,
        goal=goal,
        noise=(float(noise_sd),),
        similarity=_similarity(features, table, columns),
    )
    return Instance(name="own", paper="a table", title="a table", draw=partial(always, drawn), random=False)


def _similarity(features: Features, table: pd.DataFrame, columns: Sequence[str]) -> tuple[Any, ...]:
    if not isinstance(features, SiteFeatures):
        return ()
    return tuple(substituent_similarity(tuple(dict.fromkeys(map(text_of, table[name])))) for name in columns)


@dataclass(frozen=True, eq=False, repr=False)
class OptimalDesign:
    """A design and how good it is. Values are largest variances times measurements, in units of the noise variance."""

    table: pd.DataFrame
    """Columns ``weight`` (share of the measurements) and ``measurements``; the index is that of the candidates."""
    criterion: str
    """``g``: the worst variance of a mean; ``xy``: that of a difference of two means."""
    value: float
    """Of the weights."""
    lower_bound: float
    """Proven: no weights reach less."""
    measurements: int
    allocation_value: float | None
    """Of the whole measurements; None without any."""

    @property
    def efficiency(self) -> float:
        """Proven lower bound over the value of the weights; 1 is the best possible."""
        return self.lower_bound / self.value

    @property
    def largest_sd(self) -> float | None:
        """Largest SD of what the criterion is about after these measurements, in units of the assay noise (SD)."""
        return None if self.allocation_value is None else math.sqrt(self.allocation_value / self.measurements)

    def __repr__(self) -> str:
        n = int((self.table["weight"] > 0).sum())
        more = (
            "" if self.largest_sd is None else f"; {self.measurements} measurements, largest SD {self.largest_sd:.3g}"
        )
        return (
            f"OptimalDesign({self.criterion}, {n} of {len(self.table)} candidates, value {self.value:.4g}, "
            f"at least {self.lower_bound:.4g} for any{more})"
        )


@with_keywords()
def optimal_design(
    candidates: pd.DataFrame,
    measurements: int | None = None,
    *,
    criterion: Literal["g", "xy"] = "xy",
    targets: pd.DataFrame | None = None,
    sites: Sequence[str] | None = None,
    max_per_candidate: int | None = None,
    max_candidates: int | None = None,
    gap: float = 1e-3,
) -> OptimalDesign:
    """Return the design for a linear model of the candidates with the smallest worst variance.

    ``candidates``: one row each. Columns of texts are sites with a substituent each (an additive model with an
    intercept); columns that are all numbers are the features as they are, ``(n, d)``. ``sites``: which columns count
    (default: all). ``targets``: rows that must be known well (default: the candidates). ``measurements``: whole
    numbers of them besides the weights. ``max_per_candidate``, ``max_candidates``: limits. ``gap``: to which relative
    gap between value and lower bound is searched.

    AssayPilotError for too few measurements, limits that cannot be met, and targets that no candidate informs.
    """
    if criterion not in ("g", "xy"):
        raise AssayPilotError(f"there is no criterion {criterion!r}", mend="Choose g or xy.")
    if not isinstance(candidates, pd.DataFrame) or not candidates.columns.is_unique:
        raise AssayPilotError(
            "the candidates must be a DataFrame whose columns have different names", mend="Name each column once."
        )
    _check_whole(measurements=measurements, max_per_candidate=max_per_candidate, max_candidates=max_candidates)
    if not 0 < gap < 1:
        raise AssayPilotError(f"gap must be above 0 and below 1, got {gap!r}", mend="For example 0.001.")
    columns = list(candidates.columns) if sites is None else list(sites)
    features = features_of([candidates] if targets is None else [candidates, targets], columns)
    n = len(candidates)
    table = ProjectedFeatures(features, np.arange(n))
    target_rows = np.arange(n) if targets is None else np.arange(n, features.n_rows)
    outside = outside_span(features, table.basis, target_rows)
    if outside.any():
        raise AssayPilotError(
            f"{int(outside.sum()):,} targets cannot be estimated from the candidates",
            row=int(np.flatnonzero(outside)[0]),
            mend="Add candidates with their substituents, or leave these targets out.",
        )
    about = table.onto(target_rows)
    worst: Directions = Pairs(about) if criterion == "xy" else Rows(about)
    upper = None
    if max_per_candidate is not None:
        if measurements is None:
            raise AssayPilotError("a limit for each candidate needs measurements", mend="Say how many there are.")
        upper = min(1.0, max_per_candidate / measurements)
    if criterion == "g" and targets is None and upper is None:
        found = g_optimal(table, gap=gap, max_support=max_candidates)
    else:
        found = xy_optimal(table, worst, gap=gap, upper=upper, max_support=max_candidates)
    weights, counts, value = np.zeros(n), np.zeros(n, dtype=np.intp), None
    weights[found.support] = found.weights
    if measurements is not None:
        pool = None if max_candidates is None else found.support
        whole = round_design(found, table, measurements, directions=worst, most=max_per_candidate, pool=pool)
        counts[whole.support], value = whole.counts, whole.value
    shown = pd.DataFrame({"weight": weights, "measurements": counts}, index=candidates.index)
    return OptimalDesign(shown, criterion, found.value, found.lower_bound, measurements or 0, value)


def features_of(tables: Sequence[pd.DataFrame], columns: Sequence[str]) -> Features:
    """Return the features of the rows of tables below each other: sites where any column has texts, else numbers.

    AssayPilotError for a column that is absent, a missing cell, and numbers that are not finite.
    """
    for table in tables:
        absent = [str(name) for name in columns if name not in table.columns]
        if absent or not columns or not len(table):
            raise AssayPilotError(
                f"the table has no column {', '.join(absent)}" if absent else "the table is empty",
                mend="Name the columns of sites or features.",
            )
    both = pd.concat([table[list(columns)] for table in tables], ignore_index=True)
    if all(pd.api.types.is_numeric_dtype(kind) for kind in both.dtypes):
        matrix = both.to_numpy(dtype=np.float64)
        rows, places = np.nonzero(~np.isfinite(matrix))
        if len(rows):
            raise AssayPilotError(
                "a feature is no finite number",
                row=int(rows[0]),
                column=str(columns[places[0]]),
                mend="Leave the row out.",
            )
        return DenseFeatures(matrix)
    texts = [[text_of(cell) for cell in both[name]] for name in columns]
    for name, column in zip(columns, texts, strict=True):
        if "" in column:
            raise AssayPilotError(
                "a substituent is missing", row=column.index(""), column=str(name), mend="Leave the row out."
            )
    coding = Coding()
    return SiteFeatures(coding.codes(texts).astype(np.int32), tuple(coding.sizes))

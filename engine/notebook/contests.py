"""Strategies by name, and contests between them on problems whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..chemistry.similarity import substituent_similarity
from ..domain.features import Features, SiteFeatures, span_basis
from ..domain.goals import AllEpsilonBest, Best, Goal
from ..errors import AssayPilotError
from ..simulate import comparison
from ..simulate.instances import Drawn, Instance, get
from ..simulate.parallel import check, simulate
from ..simulate.runner import Task, summary
from ..strategies import registry
from ..strategies.protocol import Calibrated, Strategy, check_delta
from .designs import features_of
from .frames import read_table, text_of
from .terms import with_keywords


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
    frame.attrs |= {
        "title": entry.title,
        "source": entry.source,
        "licence": entry.licence,
        "sites": list(entry.sites),
        "endpoints": list(entry.endpoints),
    }
    return frame


def list_strategies() -> pd.DataFrame:
    """Return the strategies and baselines, installed ones too: name, title, goals, parameters, guarantee, ..."""
    rows = [
        {
            "name": info.name,
            "title": info.title,
            "goals": ", ".join(info.goals),
            "parameters": {knob.name: knob.default for knob in info.parameters},
            "guarantee": info.guarantee,
            "source": info.source,
            "baseline": info.baseline,
        }
        for info in (kind.info for kind in (*registry.strategies(), *comparison.baselines()))
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
    chosen = [comparison.get(one) if isinstance(one, str) else one for one in several]
    if isinstance(problem, str):
        instance, asked = get(problem), None
        if truth is not None or sites is not None:
            raise AssayPilotError(f"{problem} has a truth and features of its own", mend="Leave truth and sites out.")
        own = instance.make(0)
        noise = None if noise_sd is None else (noise_sd,) * len(own.noise)
        if epsilon is not None or slack is not None:
            asked = _goal(goal, epsilon, slack)
    else:
        instance, asked, noise = _own(problem, truth, sites, noise_sd, _goal(goal, epsilon, slack)), None, None
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
            goal=asked,
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


def _row(found: Mapping[str, Any], *, promises: bool) -> dict[str, Any]:
    return {
        "measurements": found["measurements"]["mean"],
        "measurements_sd": found["measurements"]["sd"],
        "rounds": found["rounds"]["mean"],
        "precision": found["precision"],
        "recall": found["recall"],
        "f1": found["f1"],
        "error_rate": found["error_rate"],
        "undecided": found["undecided"],
        "unfinished": found["unfinished"],
        "seconds": found["seconds_per_run"],
        "promises": promises,
    }


def _goal(name: str, epsilon: float | None, slack: float | None) -> Goal:
    if name == "best":
        return Best(slack or 0.0)
    if name != "epsilon-best":
        raise AssayPilotError(f"no contest about the goal {name!r}", mend="Choose epsilon-best or best.")
    if epsilon is None:
        raise AssayPilotError("the distance from the best (epsilon) is missing", mend="For example epsilon=0.5.")
    return AllEpsilonBest(epsilon, epsilon / 2.0 if slack is None else slack)


def _own(
    table: pd.DataFrame,
    truth: str | Sequence[float] | None,
    sites: Sequence[str] | None,
    noise_sd: float | None,
    goal: Goal,
) -> Instance:
    """Return a problem of the user's own, the same in every run."""
    if truth is None or noise_sd is None or not noise_sd > 0:
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
    free = [name for name in table.columns if name != truth and str(name).strip().casefold() not in ids]
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
    return Instance(
        name="own",
        paper="a table",
        title="a table",
        compounds=len(table),
        dimension=int(span_basis(features).shape[1]),
        draw=partial(_same, drawn),
        random=False,
        goal=goal.name,
    )


def _similarity(features: Features, table: pd.DataFrame, columns: Sequence[str]) -> tuple[Any, ...]:
    if not isinstance(features, SiteFeatures):
        return ()
    return tuple(substituent_similarity(tuple(dict.fromkeys(map(text_of, table[name])))) for name in columns)


def _same(drawn: Drawn, _: np.random.Generator) -> Drawn:
    return drawn

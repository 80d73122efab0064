"""The runs of the comparison: units of work in an order in which it may end anywhere, each written down when made."""

import json
import time
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
from scipy import stats

from assaypilot.engine.domain.measurements import pool
from assaypilot.engine.simulate import baselines, runner
from assaypilot.engine.simulate.baselines.oracle import oracle
from assaypilot.engine.simulate.lower_bounds import all_epsilon_best, effects_of
from assaypilot.engine.simulate.runner import Task
from assaypilot.engine.simulate.scores import score
from assaypilot.engine.strategies.adaptive.evidence import Evidence
from assaypilot.engine.strategies.adaptive.sequential_tests import levels_of
from assaypilot.engine.strategies.designs import table as projected
from assaypilot.engine.strategies.protocol import Problem
from tests.published.against_tables import DELTA, EPSILON, PAIRS, at_the_border, table
from tests.published.all_at_once import all_at_once
from tests.published.cases import processes
from tests.published.noise import Whole, one

RUNS = 20
"""Campaigns of adaptive of each pair."""
PRACTICE_RUNS = 40
"""The same of practice-960, whose pairs are the first ones."""
PLAIN = {"quick": 5, "middling": 5, "large": 5}
PAIRED = {"quick": 3, "middling": 2, "large": 1}
"""Runs of LinFACT-G, and of LinFACT-XY: they hardly differ from run to run."""
NOISES = tuple(
    Whole("adaptive", shape, delta, unknown=False)
    for delta in (0.05, 0.3)
    for shape in ("normal", "t with 5 degrees of freedom", "3 % gross errors")
)
"""What the assay's errors are like, where its stated SD is that of the plain part."""
OTHERWISE = 200
"""Campaigns of each."""
BORDERS = ((0.3, 8), (0.3, 20), (0.05, 20))
"""(delta, compounds at the border)."""
AT_BORDERS = 400
"""Campaigns of each."""
EARLIER, WITH_HISTORY = 40, 40
"""Values known before, of so many compounds drawn at random, each with the assay's noise; campaigns of each pair."""
OF_PRACTICE = 4
"""Pairs of practice-960, the first ones, which are played with history, too."""
BEST = 2
"""Runs of RAGE, and of adaptive for the same goal, on quick tables."""


def kind_of(pair):
    """How long a campaign takes on its table."""
    made = table(pair.table)
    if made.compounds > 2000:
        return "large"
    return "quick" if made.compounds <= 1000 and made.dimension <= 24 else "middling"


def units():
    """(kind, pair's number, run): what is quick and most telling first, more runs of it later."""
    pairs = {number: kind_of(pair) for number, pair in enumerate(PAIRS)}
    order = sorted(pairs, key=lambda number: ("quick", "middling", "large").index(pairs[number]))
    quick = [number for number in order if pairs[number] == "quick"]
    out = [("linfact-g", number, run) for number in order for run in range(PLAIN[pairs[number]])]
    out += [(kind, number, 0) for kind in ("oracle", "all at once", "bound") for number in order]
    runs = {number: PRACTICE_RUNS if number < OF_PRACTICE else RUNS for number in order}
    ways = [("adaptive", number, run) for number in order for run in range(runs[number])]
    out += [way for way in ways if way[2] == 0]
    ways += [("linfact-xy", number, run) for number in order for run in range(PAIRED[pairs[number]])]
    ways += [(kind, number, run) for kind in ("rage", "adaptive best") for number in quick for run in range(BEST)]
    first = set(out)
    ways += [("history", number, run) for number in range(OF_PRACTICE) for run in range(WITH_HISTORY)]
    # All pairs come to their ends together.
    out += sorted((way for way in ways if way not in first), key=lambda way: way[2])
    out += [("noise", number, run) for number in range(len(NOISES)) for run in range(OTHERWISE)]
    return out + [("border", number, run) for number in range(len(BORDERS)) for run in range(AT_BORDERS)]


def made(kind, number, run):
    """What a unit came to, as one line of a file."""
    begun = time.process_time()
    found = {"kind": kind, "pair": number, "run": run}
    if kind == "noise":
        wrong, undecided, spent, *_ = one(NOISES[number], run)
        return found | {"measurements": spent, "wrong": bool(wrong), "undecided": undecided}
    if kind == "border":
        delta, compounds = BORDERS[number]
        task = Task(baselines.get("adaptive"), at_the_border(compounds), 2103, delta=delta, per_round=4 * compounds + 4)
        return found | _campaign(task, run) | {"seconds": round(time.process_time() - begun, 2)}
    pair = PAIRS[number]
    if kind == "oracle":
        least = oracle(*_known(pair.table), EPSILON, slack=pair.slack, sigma=pair.sd, delta=DELTA)
        found["measurements"] = least.measurements
    elif kind == "all at once":
        found["measurements"] = round(pair.sd**2 * at_once_at_unit_noise(pair.table, pair.slack), 1)
    elif kind == "bound":
        found["measurements"] = round(pair.sd**2 * least_at_unit_noise(pair.table, pair.slack), 1)
    else:
        best, strategy = kind in ("rage", "adaptive best"), "adaptive" if kind == "history" else kind.split()[0]
        found |= _campaign(pair.task(strategy, best=best), run, history=kind == "history")
    return found | {"seconds": round(time.process_time() - begun, 2)}


def _known(number):
    """A table's compounds and their true effects."""
    drawn = table(number).make(0)
    candidates = projected(drawn.features, np.arange(drawn.n_arms))
    return candidates, effects_of(candidates, drawn.truth[0])


@cache
def least_at_unit_noise(number, slack):
    """The proven bound for a noise of 1; it goes with the square of the noise."""
    return all_epsilon_best(*_known(number), EPSILON, slack=slack).measurements(DELTA)


@cache
def at_once_at_unit_noise(number, slack):
    """The same of the oracle that shows all compounds at once, each at adaptive's own level for one compound."""
    candidates, theta = _known(number)
    level, best = stats.norm.isf([own_level(number), 0.1 * DELTA])
    return all_at_once(candidates, theta, EPSILON, slack, level=level, best_level=best)


def own_level(number):
    """What adaptive spends on one compound put in: 0.45 delta / K."""
    drawn = table(number).make(0)
    every = np.ones(drawn.n_arms, dtype=bool)
    return levels_of(Problem(drawn.features, every, every, drawn.goal, DELTA, drawn.noise, {}, 0)).one_in


def _campaign(task, run, *, history=False):
    """One campaign as ``simulate`` makes it, and of adaptive how large its errors were in their own units."""
    drawn = runner.drawn_of(task, run)
    problem = runner.problem_of(task, drawn, run)
    if history:
        draw = np.random.default_rng([77, run])
        arms = draw.permutation(problem.n_arms)[:EARLIER]
        values = drawn.truth[0][arms] + problem.noise[0] * draw.standard_normal(EARLIER)
        problem = replace(problem, history=(pool(arms, values, np.ones(EARLIER), problem.n_arms),))
    rng = np.random.default_rng(runner._stream(task.seed, run, runner._ASSAY))
    state, spent, rounds, reason = runner.play(
        task.strategy, drawn, problem, rng, per_round=task.per_round, max_replicates=task.max_replicates
    )
    status = state.status
    found = score(drawn.goal, status, drawn.truth, drawn.wanted)
    row = {
        "measurements": spent,
        "phases": state.phase,
        "rounds": rounds,
        "wrong": found.wrong,
        "undecided": found.undecided,
        "reason": reason,
    }
    if task.strategy.info.name == "adaptive":
        row["steps"] = _steps(state, drawn, run)
    return row


def _steps(state, drawn, run):
    """Of every phase the error of one difference, in the standard errors that were decided by; N(0, 1).

    The difference of the phase's leader and one compound, chosen without looking.
    """
    truth = drawn.truth[0]
    evidence = Evidence(drawn.features, state.memory, state.problem.noise[0])
    arms = np.random.default_rng((2101, run)).integers(drawn.n_arms, size=evidence.n_phases)
    told = evidence.behind(arms)
    out = []
    for phase, (leader, arm) in enumerate(zip(evidence.leaders, arms, strict=True)):
        precision = told.precision[phase, phase]
        if leader >= 0 and precision > 0:
            error = told.difference[phase, phase] - (truth[leader] - truth[arm])
            out.append(round(float(error * precision), 4))
    return out


def read(path):
    """The lines of a file that there are, without a last one that was cut off."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]


def make(path, jobs=2, most=None):
    """Make what the file lacks, and write each as it comes, so that it can be stopped and gone on with."""
    known = {(row["kind"], row["pair"], row["run"]) for row in read(path)}
    missing = [unit for unit in units() if unit not in known][:most]
    with processes(jobs) as pool, path.open("a", encoding="utf-8", newline="\n") as file:
        waiting, left = set(), iter(missing)
        while True:
            # Few at a time: those of one pair follow each other, and share what is remembered of its designs.
            waiting |= {pool.submit(made, *unit) for unit in islice(left, 2 * jobs - len(waiting))}
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                file.write(json.dumps(future.result()) + "\n")
            file.flush()

"""Simulated campaigns in which the noise differs by class: what comes back, what is told, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.goals import AllEpsilonBest
from assaypilot.engine.library import Library
from assaypilot.engine.measurements import Result
from assaypilot.engine.noise_classes import NoiseClasses
from assaypilot.engine.simulate.replicates import Replicates
from assaypilot.engine.simulate.runner import Task, drawn_of, problem_of, run_of, sample
from assaypilot.engine.simulate.tables import of_table, truth_of
from assaypilot.engine.strategies import registry
from assaypilot.engine.strategies.protocol import Allocation, Certificate
from tests.engine.cli.conftest import run  # noqa: F401 (a fixture)

LIBRARY = Library.listed(
    ["R1", "R2"], [[a, b] for a in "xyz" for b in "pqr"], ids=[a + b for a in "xyz" for b in "pqr"]
)
VALUES = [Result(name, 5.0 + 0.4 * "xyz".index(name[0]) + 0.3 * "pqr".index(name[1]), "pIC50") for name in LIBRARY.ids]
LOUD = NoiseClasses("R1", (("x", 0.6),))


def task(sd: float = 0.2, classes: NoiseClasses | None = LOUD, **own) -> Task:
    endpoint = Endpoint("pIC50", noise_sd=sd, noise_classes=classes)
    truth = truth_of(LIBRARY, VALUES, [endpoint], "fit")
    instance = of_table("t", "a table", "t", truth, AllEpsilonBest(0.5, 0.25), 0.3)
    return Task(registry.get("adaptive"), instance, per_round=24, **own)


def test_arms_scatter_as_their_class_and_the_strategy_is_told() -> None:
    asked = task()
    drawn = drawn_of(asked, 0)
    sds = np.where(LIBRARY.codes[:, 0] == 0, 0.6, 0.2)
    assert drawn.noise == (0.6,)
    assert drawn.sds == pytest.approx(sds[None])
    assert problem_of(asked, drawn, 0).precision == pytest.approx((0.6 / sds[None]) ** 2)
    every = np.arange(9)
    plan = Allocation(1, every, np.full(9, 4), np.inf, Certificate("g", 1.0, 1.0))
    rng = np.random.default_rng(3)
    off = np.array([sample(drawn, plan, rng, 0).means[0] - drawn.truth[0] for _ in range(2000)])
    assert off.std(axis=0) == pytest.approx(sds / 2.0, rel=0.06)


def test_a_campaign_by_classes_takes_fewer_than_the_largest_for_all() -> None:
    own, largest = (run_of(task(sd, classes), 1) for sd, classes in ((0.2, LOUD), (0.6, None)))
    assert own.right
    assert own.measurements < largest.measurements


def test_each_class_is_unknown_by_itself() -> None:
    told = Replicates.of(drawn_of(task(), 0), 0.03, np.random.default_rng(0))
    assert sorted((one.sd, one.guess, one.alpha, int(one.arms.sum())) for one in told.unknown) == [
        (0.2, 0.2, 0.015, 6),
        (0.6, 0.6, 0.015, 3),
    ]
    assert run_of(task(estimated=True), 0).right


def test_classes_need_sds_and_names_that_are_there() -> None:
    for own, why in (
        (NoiseClasses("R1", (("x", None),)), "SDs that are said"),
        (NoiseClasses("R9", (("x", 1.0),)), "R9"),
    ):
        with pytest.raises(AssayPilotError, match=why):
            task(classes=own)


def _word(name: str) -> str:
    return "poor" if name[0] == "x" else "ok"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    rows = [f"{one.compound},{one.compound[0]},{one.compound[1]},{_word(one.compound)},{one.value}" for one in VALUES]
    path.write_text("\n".join(["ID,R1,R2,Sol,pIC50", *rows]) + "\n", encoding="utf-8")
    return path


GOAL = ("--epsilon", "0.5", "--sites", "R1,R2", "--runs", "2", "--endpoint", "pIC50", "--delta", "0.3")


def test_simulate_takes_classes(table: Path, run) -> None:  # noqa: F811
    told = run("simulate", "--table", table, *GOAL, "--sd", "0.2", "--noise-class", "Sol: poor=0.6", "--strategy",
               "adaptive,linfact-g", "--json")  # fmt: skip
    assert told.code == 0, told.err
    assert "0.2; 0.6 where Sol is poor" in told.out
    assert "no error rate is promised" not in told.out
    assert [one["void"] for one in json.loads(told.out)] == [[], []]


def test_simulate_takes_classes_beside_plates(table: Path, run) -> None:  # noqa: F811
    told = run("simulate", "--table", table, *GOAL, "--sd", "0.2", "--noise-class", "Sol: poor=0.6",
               "--plate-sd", "0.3", "--strategy", "adaptive", "--json")  # fmt: skip
    assert told.code == 0, told.err
    (one,) = json.loads(told.out)
    assert one["void"] == []
    assert one["errors"] == 0


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--sd", "unknown:0.2", "--noise-class", "Sol: poor=0.6", "--plate-sd", "0.1"), "beside plate effects SDs"),
        (("--sd", "0.2", "--noise-class", "Sol: poor=0.6", "--assay-range", "..6"), "no assay range beside noise"),
        (
            ("--sd", "unknown:0.2", "--noise-class", "Sol: poor=0.6", "--strategy", "linfact-g"),
            "linfact-g has no bounds",
        ),
        (("--sd", "0.2", "--noise-class", "Sol: poor"), "SDs that are said"),
    ],
)
def test_simulate_refuses_what_it_does_not_know(table: Path, run, more, why) -> None:  # noqa: F811
    own = () if "--strategy" in more else ("--strategy", "adaptive")
    told = run("simulate", "--table", table, *GOAL, *more, *own)
    assert told.code == 1
    assert why in told.err

"""Confirmation rounds: who is asked for, what is predicted, what lies outside, and that nothing is decided by it."""

import copy
import dataclasses
import math
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from assaypilot.engine.campaign import confirmation, verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import make, replays

NOISE = 0.2
GOAL = Settings("pIC50", epsilon=0.8, slack=0.8, per_round=150, strategy="adaptive", delta=0.05)


def series(sizes: tuple[int, ...] = (5, 4, 4)) -> Library:
    """A library whose substituents are not named like those of the other tests."""
    return Library.product([Site(f"R{k + 1}", tuple(f"s{j}" for j in range(n))) for k, n in enumerate(sizes)])


def additive(library: Library, seed: int = 0) -> np.ndarray:
    """A sum of effects: half a log between a site's substituents, so that several are near the best."""
    rng = np.random.default_rng((5, seed))
    effects = [rng.uniform(0.0, 1.0, len(site.substituents)) for site in library.sites]
    return 6.0 + sum(effect[library.codes[:, k]] for k, effect in enumerate(effects))


def promised(now: Status) -> tuple[bool, tuple[str, ...], tuple[str, ...]]:
    """What is guaranteed; the sentence also tells how far compounds were seen to deviate, which all values say."""
    return now.guarantee.holds, now.guarantee.assumptions, now.guarantee.void


class Assay:
    """Measures a round: truth, what compounds do besides (by id), and noise."""

    def __init__(self, truth: np.ndarray, noise: float = NOISE, seed: int = 1) -> None:
        self.truth, self.noise, self.rng = truth, noise, np.random.default_rng(seed)
        self.beside: dict[int, float] = {}

    def value(self, compound: int, endpoint: str = "pIC50") -> float:
        shift = {"hERG": -2.0, "logD": -4.0}.get(endpoint, 0.0)
        return float(self.truth[compound] + self.beside.get(compound, 0.0) + shift + self.noise * self.rng.normal())

    def answers(self, now: Status, issued: Round) -> list[Result]:
        return [
            Result(now.library.ids[item.compound], self.value(item.compound, name := now.endpoints[k].name), name)
            for item in issued.items
            for place, k in enumerate(issued.endpoints)
            for _ in range(item.of(place))
        ]  # fmt: skip


def decided(path: Path, assay: Assay, library: Library, *, goal: Settings = GOAL, endpoints: Any = None) -> Campaign:
    """A campaign at its end, by whatever it was."""
    endpoints = endpoints or (Endpoint("pIC50", noise_sd=NOISE),)
    campaign = Campaign.create(path, library=library, endpoints=endpoints, settings=goal)
    while campaign.plan() is not None:
        now = campaign.status()
        assert now.open_round is not None
        campaign.record(assay.answers(now, now.open_round), close=True)
    assert campaign.status().finished
    return campaign


def confirm(campaign: Campaign, assay: Assay) -> Status:
    """All confirmation rounds there are."""
    while (issued := campaign.plan_confirmation()) is not None:
        campaign.record(assay.answers(campaign.status(), issued))
    return campaign.status()


@pytest.fixture(scope="module")
def library() -> Library:
    return series()


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory, library: Library) -> tuple[Path, Assay]:
    """A campaign at its end, made once, and its assay."""
    path, assay = tmp_path_factory.mktemp("ended") / "x.assaypilot", Assay(additive(library))
    decided(path, assay, library).close()
    return path, assay


@pytest.fixture
def assay(ended: tuple[Path, Assay]) -> Assay:
    return copy.deepcopy(ended[1])


@pytest.fixture
def campaign(tmp_path: Path, ended: tuple[Path, Assay]) -> Any:
    with Campaign.open(shutil.copy(ended[0], tmp_path)) as made:
        yield made


def ins(now: Status) -> set[int]:
    return set(np.flatnonzero(now.candidates.status == 1).tolist())


def ids(now: Status, compounds: Any) -> list[str]:
    return [now.library.ids[compound] for compound in compounds]


def test_each_that_is_in_and_was_never_measured_is_asked_for_once(campaign: Campaign) -> None:
    before = campaign.status()
    never = {c for c in ins(before) if not before.candidates.measured[c]}
    assert len(never) >= 3, "the table must leave something to confirm"
    assert len(never) < len(ins(before)), "and something that was measured"
    assert set(before.confirmation.due) == never
    issued = campaign.plan_confirmation()
    assert issued.confirmation
    assert {item.compound for item in issued.items} == never
    assert all(item.replicates == 1 and not item.asked for item in issued.items)
    assert issued.number == len(before.rounds) + 1
    estimates = [before.candidates.estimate[item.compound] for item in issued.items]
    assert estimates == sorted(estimates, reverse=True)
    assert campaign.plan_confirmation() == issued, "the open one again"
    assert campaign.plan() == issued
    now = campaign.status()
    assert now.finished, "the campaign has ended all the same"
    assert now.statement.endswith(f"0 of {len(never)} compounds confirmed; {len(never)} not measured yet.")
    assert now.confirmation.due == ()
    replays(campaign)


def test_intervals_are_those_of_textbooks(campaign: Campaign) -> None:
    """Mean and SD from the normal equations over everything measured, the width from Bonferroni's normal quantile."""
    from scipy.stats import norm

    before = campaign.status()
    issued = campaign.plan_confirmation()
    x = SiteFeatures.of(before.library).dense(np.arange(len(before.library)))
    used = [m for m in before.measurements if m.usable]
    rows = x[[m.compound for m in used]]
    inverse = np.linalg.pinv(rows.T @ rows)
    theta = inverse @ rows.T @ np.array([m.value for m in used])
    width = norm.isf(0.025 / len(issued.items))
    for prediction in issued.predicted:
        row = x[prediction.compound]
        half = width * math.sqrt(NOISE**2 + NOISE**2 * float(row @ inverse @ row))
        assert prediction.mean == pytest.approx(float(row @ theta), abs=0.02), "up to a weak prior"
        assert prediction.high - prediction.mean == pytest.approx(half, rel=0.01)
        assert prediction.mean - prediction.low == pytest.approx(half, rel=0.01)


def test_an_additive_series_is_confirmed_and_nothing_is_decided(campaign: Campaign, assay: Assay) -> None:
    before = campaign.status()
    assert before.confirmation.sentence == ""
    issued = campaign.plan_confirmation()
    report = campaign.record(assay.answers(campaign.status(), issued))
    assert (report.unplanned, report.round_closed) == (0, True)
    now = replays(campaign)
    n = len(issued.items)
    assert now.confirmation.sentence == f"{n} of {n} compounds confirmed."
    assert now.statement == f"{before.statement} {now.confirmation.sentence}"
    assert promised(now) == promised(before)
    assert (now.candidates.status == before.candidates.status).all()
    assert np.array_equal(now.candidates.low, before.candidates.low, equal_nan=True), "deciding bounds stay"
    assert now.phases_decided == before.phases_decided
    assert now.measurements_used == before.measurements_used
    assert now.confirmation.measurements == n
    assert set(now.confirmation.confirmed) == {item.compound for item in issued.items}
    assert now.warnings == before.warnings
    measured = [item.compound for item in issued.items]
    assert (now.candidates.measured[measured] == 1).all(), "data like all others"
    assert (now.candidates.estimate != before.candidates.estimate).any()
    assert campaign.plan_confirmation() is None
    assert campaign.plan() is None
    assert verifying.verify(campaign.path, recompute=True).ok


def test_a_compound_off_by_a_log_is_named(campaign: Campaign, assay: Assay) -> None:
    before = campaign.status()
    odd = before.confirmation.due[-1]
    assay.beside[odd] = -1.0
    now = confirm(campaign, assay)
    replays(campaign)
    name = now.library.ids[odd]
    (check,) = now.confirmation.outside(odd)
    assert check.off == pytest.approx(-1.0, abs=0.7)
    assert now.confirmation.not_confirmed == (odd,)
    assert now.confirmation.states[odd] is False
    n = len(before.confirmation.due)
    assert now.confirmation.sentence == (
        f"{n - 1} of {n} compounds confirmed; 1 outside what the model predicts: {name} "
        f"({abs(check.off or 0):.2g} below): the additive model is in doubt for it."
    )
    assert promised(now) == promised(before), "the guarantee stays as it was"
    assert (now.candidates.status == before.candidates.status).all()


def test_partial_results_leave_the_rest_to_come_again(campaign: Campaign, assay: Assay) -> None:
    issued = campaign.plan_confirmation()
    assert issued is not None
    results = assay.answers(campaign.status(), issued)
    report = campaign.record(results[:2])
    assert not report.round_closed
    now = campaign.status()
    n = len(results)
    assert (now.open_round.came, now.open_round.missing) == (2, n - 2)
    assert now.confirmation.sentence == f"2 of {n} compounds confirmed; {n - 2} not measured yet."
    guarantee = promised(now)
    now = campaign.close_round("other", "the robot broke")
    assert promised(now) == guarantee, "what is missing of it decides nothing"
    assert campaign.history()[-1].text == (
        f"Round {issued.number} closed with 2 of {n} measurements; what is missing comes again (the robot broke)"
    )
    assert set(now.confirmation.due) == {item.compound for item in issued.items[2:]}
    # One that comes late needs no round; one cannot be had; the rest is asked for again.
    campaign.record(results[2:3])
    campaign.mark_unavailable([results[3].compound], "sold out")
    again = campaign.plan_confirmation()
    assert {item.compound for item in again.items} == {item.compound for item in issued.items[4:]}
    now = replays(campaign)
    assert ids(now, now.confirmation.gone) == [results[3].compound]
    assert set(now.confirmation.confirmed) == {item.compound for item in issued.items[:3]}
    first, second = (p.width for p in (issued.predicted[0], again.predicted[0]))
    assert first == second, "the share is that of all compounds that are confirmed, whatever the round"


def test_what_becomes_of_a_value_becomes_of_the_confirmation(campaign: Campaign, assay: Assay) -> None:
    guarantee = promised(campaign.status())
    odd = campaign.status().confirmation.due[0]
    assay.beside[odd] = 3.0
    now = confirm(campaign, assay)
    assert now.confirmation.not_confirmed == (odd,)
    (number,) = (m.number for m in now.measurements if m.compound == odd and m.usable)
    campaign.exclude(number, "bubble", judgement=True)
    now = replays(campaign)
    assert now.confirmation.states[odd] is None
    assert promised(now) == guarantee, "a value that decides nothing voids nothing"
    assert now.confirmation.due == (odd,)
    campaign.include(number, "no bubble")
    campaign.correct(number, float(assay.truth[odd]), reason="typing error")
    now = replays(campaign)
    assert now.confirmation.states[odd] is True
    assert promised(now) == guarantee


def test_more_than_asked_for_narrows_the_interval(campaign: Campaign) -> None:
    """A mean of many must lie nearer than one value must."""
    issued = campaign.plan_confirmation()
    prediction = issued.predicted[0]
    name = campaign.status().library.ids[prediction.compound]
    just_inside = prediction.high - 0.01
    campaign.record([Result(name, just_inside, "pIC50")])
    assert campaign.status().confirmation.states[prediction.compound] is True
    campaign.record([Result(name, just_inside, "pIC50", n=20)])
    assert campaign.status().confirmation.states[prediction.compound] is False


@pytest.mark.parametrize(
    ("relation", "step", "state"),
    [("<", -2.0, False), ("<", -0.1, False), ("<", 0.1, None), (">", 0.1, None), ("<", 5.0, None)],
)
def test_a_bound_speaks_where_all_it_leaves_open_is_outside(
    campaign: Campaign, relation: Any, step: float, state: bool | None
) -> None:
    guarantee = promised(campaign.status())
    issued = campaign.plan_confirmation()
    prediction = issued.predicted[0]
    name = campaign.status().library.ids[prediction.compound]
    campaign.record([Result(name, prediction.low + step, "pIC50", relation)])
    now = campaign.status()
    assert now.confirmation.states[prediction.compound] is state
    if state is None:
        assert promised(now) == guarantee


def test_it_is_refused_before_the_end_and_while_another_round_is_open(
    tmp_path: Path, assay: Assay, library: Library
) -> None:
    with make(tmp_path / "x.assaypilot") as campaign:
        with pytest.raises(AssayPilotError, match=r"not settled yet what is in: 9 undecided") as refused:
            campaign.plan_confirmation()
        assert "Plan the next round" in (refused.value.mend or "")
        campaign.plan()
        with pytest.raises(AssayPilotError, match="round 1 is open"):
            campaign.plan_confirmation()
        assert campaign.status().confirmation.due == ()


def test_each_endpoint_of_the_goal_is_confirmed(tmp_path: Path, library: Library, assay: Assay) -> None:
    endpoints = (
        Endpoint("pIC50", noise_sd=NOISE),
        Endpoint("solubility"),
        Endpoint("hERG", noise_sd=NOISE),
    )
    goal = dataclasses.replace(GOAL, goal="pareto", objectives=("pIC50", "hERG"), slack=None)
    with decided(tmp_path / "x.assaypilot", assay, library, goal=goal, endpoints=endpoints) as campaign:
        due = campaign.status().confirmation.due
        assert len(due) > 2
        name = campaign.status().library.ids[due[0]]
        # One of them has a value of one endpoint already: only the other is asked for.
        campaign.record([Result(name, assay.value(due[0], "hERG"), "hERG")])
        issued = campaign.plan_confirmation()
        assert issued.endpoints == (0, 2)
        lines = {item.compound: item for item in issued.items}
        assert lines[due[0]].asked == (1, 0)
        assert lines[due[0]].reason == "in, never measured for pIC50"
        assert issued.measurements == 2 * len(issued.items) - 1
        assert len(issued.predicted) == issued.measurements
        results = assay.answers(campaign.status(), issued)
        assert len(results) == issued.measurements
        odd = next(result for result in results if result.endpoint == "hERG")
        campaign.record([*(r for r in results if r is not odd), Result(odd.compound, odd.value + 2.0, "hERG")])
        now = replays(campaign)
        assert now.open_round is None
        (off,) = now.confirmation.not_confirmed
        assert now.library.ids[off] == odd.compound
        assert f"{odd.compound} (hERG " in now.confirmation.sentence


@pytest.mark.slow
def test_the_level_is_kept(tmp_path: Path) -> None:
    """Of 60 additive campaigns at most a few may name a compound: 5 % are allowed, 8 of 60 would be 1 in 200."""
    wrong = compounds = 0
    # Rounds that do not take every compound, so that some are left to confirm.
    goal = dataclasses.replace(GOAL, per_round=60)
    for seed in range(60):
        library = series((4, 3, 3))
        assay = Assay(additive(library, seed), seed=100 + seed)
        with decided(tmp_path / f"{seed}.assaypilot", assay, library, goal=goal) as campaign:
            now = confirm(campaign, assay)
            wrong += bool(now.confirmation.not_confirmed)
            compounds += len(now.confirmation.states)
            assert not now.confirmation.not_measured
    assert compounds > 100
    assert wrong <= 8


def test_verify_predicts_again(campaign: Campaign, assay: Assay) -> None:
    confirm(campaign, assay)
    assert verifying.verify(campaign.path, recompute=True).ok
    with mock.patch.object(confirmation, "expected", lambda *of: [(1.0, 0.0, 2.0)] * len(of[-1])):
        found = verifying.verify(campaign.path, recompute=True)
    assert [problem.text for problem in found.problems] == [
        f"confirmation round {campaign.status().confirmation.rounds[0]}: the facts predict something else"
    ]
    assert verifying.verify(campaign.path).ok, "only when it is asked to derive everything again"


def test_one_yes_or_no_confirms_nothing(tmp_path: Path) -> None:
    library = series((3, 3))
    share = 1.0 / (1.0 + np.exp(-(additive(library) - 7.0) * 2.0))
    goal = Settings(
        "hit", epsilon=1.5, slack=1.4, strategy="linfact-glm", per_round=4000, max_replicates=2000, budget=300,
        parameters={"link": "logit", "bound": 3.0, "first_radius": 0.9},
    )  # fmt: skip
    rng = np.random.default_rng(3)
    endpoints = [Endpoint("hit", noise_sd=0.5)]
    with Campaign.create(tmp_path / "x.assaypilot", library=library, endpoints=endpoints, settings=goal) as campaign:
        for _ in range(20):
            if (issued := campaign.plan()) is None:
                break
            results = [
                Result(library.ids[item.compound], float(rng.random() < share[item.compound]))
                for item in issued.items
                for _ in range(item.replicates)
            ]
            campaign.record(results, close=True)
        now = campaign.status()
        assert now.finished
        assert now.confirmation.due == ()
        with pytest.raises(AssayPilotError, match="one yes or no of hit cannot confirm a compound"):
            campaign.plan_confirmation()

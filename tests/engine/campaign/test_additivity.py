"""What a campaign says of additivity, before the first decision and after; and sites that are taken together."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign import verifying
from assaypilot.engine.campaign.additivity import SHARE, at_once
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Settings, Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.interactions import chosen_pairs
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import make, replays, truth

NOISE = 0.2
GOAL = Settings("pIC50", epsilon=0.5, slack=0.5, per_round=48, strategy="adaptive", seed=1)


def series(pairs: tuple[tuple[str, str], ...] = ()) -> Library:
    product = Library.product([Site(f"R{k + 1}", tuple(f"x{j}" for j in range(n))) for k, n in enumerate((4, 4, 3))])
    return dataclasses.replace(product, interactions=pairs)


def means(tau: float = 0.0, pair: float = 0.0) -> np.ndarray:
    """A sum of effects, with own deviations of SD ``tau``, and an interaction of R1 and R2 of SD ``pair``."""
    library, rng = series(), np.random.default_rng(12)
    found = 6.0 + sum(rng.uniform(0, 1.2, n)[library.codes[:, k]] for k, n in enumerate((4, 4, 3)))
    found = found + pair * rng.standard_normal((4, 4))[library.codes[:, 0], library.codes[:, 1]]
    return found + tau * rng.standard_normal(len(library))


def create(path: Path, library: Library | None = None, noise: float = NOISE, **changes: object) -> Campaign:
    history = changes.pop("history", ())
    return Campaign.create(
        path,
        library=series() if library is None else library,
        endpoints=(Endpoint("pIC50", noise_sd=noise),),
        settings=dataclasses.replace(GOAL, **changes),  # type: ignore[arg-type]
        history=history,  # type: ignore[arg-type]
    )


def measured(campaign: Campaign, truth: np.ndarray, seed: int = 1, noise: float = NOISE) -> list[Result]:
    """What comes back for the open round."""
    now, rng = campaign.status(), np.random.default_rng(seed)
    assert now.open_round is not None
    return [
        Result(now.library.ids[item.compound], float(truth[item.compound] + noise * rng.standard_normal()))
        for item in now.open_round.items
        for _ in range(item.replicates)
    ]


def once(truth: np.ndarray, noise: float = NOISE, times: int = 1) -> list[Result]:
    rng = np.random.default_rng(4)
    names = series().ids
    return [
        Result(names[k], float(mean + noise * rng.standard_normal()))
        for k, mean in enumerate(truth)
        for _ in range(times)
    ]


def finish(campaign: Campaign, truth: np.ndarray) -> Status:
    seed = 10
    while campaign.plan() is not None:
        campaign.record(measured(campaign, truth, seed), close=True)
        seed += 1
    return campaign.status()


def test_before_the_first_decision_nothing_is_guaranteed_on_a_table_that_is_not_additive(tmp_path: Path) -> None:
    with create(tmp_path / "a.assaypilot") as campaign:
        assert campaign.status().guarantee.holds
        assert campaign.status().additivity[0].verdict == "not judged"
        campaign.plan()
        *first, last = measured(campaign, means(tau=0.5))
        campaign.record(first)
        now = campaign.status()
        assert (now.phases_decided, now.guarantee.holds) == (0, False)
        (told,) = now.additivity
        assert told.contradicted
        assert told.found.tau_low > SHARE * GOAL.softness
        assert told.sentence in now.guarantee.void
        assert any("LinFACT-MIS" in offer for offer in told.offers)
        assert {now.library.ids[c] for c in told.cliffs} <= set(now.library.ids)
        campaign.record([last])
        now = replays(campaign)
        assert now.phases_decided == 1
        assert not now.guarantee.holds
        # Nothing of it is written: the values say it.
        assert not any("additiv" in entry.kind for entry in campaign.history())
    assert verifying.verify(tmp_path / "a.assaypilot", recompute=True).ok


def test_history_alone_says_it_before_anything_is_measured(tmp_path: Path) -> None:
    with create(tmp_path / "a.assaypilot", history=once(means(tau=0.5))) as campaign:
        now = campaign.status()
        assert (now.measurements_used, now.guarantee.holds) == (0, False)
        assert now.additivity[0].before == len(now.library)
    with create(tmp_path / "b.assaypilot", history=once(means())) as campaign:
        now = campaign.status()
        assert now.guarantee.holds
        assert now.additivity[0].verdict == "not contradicted"
        assert " at most (95 %)" in now.guarantee.sentence


@pytest.mark.parametrize(("tau", "doubted"), [(0.0, False), (0.16, True)])
def test_deviations_that_matter_and_are_not_excluded_are_said_and_doubt_voids_nothing(
    tmp_path: Path, tau: float, doubted: bool
) -> None:
    with create(tmp_path / "a.assaypilot", history=once(means(tau=tau))) as campaign:
        now = campaign.status()
        (told,) = now.additivity
        assert told.found.p is not None
        assert told.found.p > 1e-3
        assert (told.found.p < 0.05) is doubted
        assert now.guarantee.holds
        assert ("Whether effects add up is in doubt (p 0.012)" in now.guarantee.sentence) is doubted
        matters = f"from an SD of about {SHARE * GOAL.softness:.2g} on they would make answers wrong"
        assert matters in now.guarantee.sentence
    # Where even the largest tau that is not excluded hardly matters, there is nothing to say of it.
    with create(tmp_path / "b.assaypilot", history=once(means(), 0.02), noise=0.02) as campaign:
        assert "would make answers wrong" not in campaign.status().guarantee.sentence


def test_what_is_said_where_values_scatter_less_than_noise_or_tell_too_little(tmp_path: Path) -> None:
    with create(tmp_path / "even.assaypilot", history=once(means(), 0.01), noise=0.2) as campaign:
        now = campaign.status()
        assert now.additivity[0].found.tau_high == 0.0
        assert "they scatter no more than the noise alone would make them" in now.guarantee.sentence
        assert "(tau)" not in now.guarantee.sentence
    corners = {name for name, row in zip(series().ids, series().codes, strict=True) if max(row[:2]) < 2 and not row[2]}
    few = [result for result in once(means()) if result.compound in corners]
    with create(tmp_path / "few.assaypilot", history=few) as campaign:
        now = campaign.status()
        (told,) = now.additivity
        assert told.found.freedom == 1
        assert told.found.tau_high > GOAL.softness
        assert "Whether effects add up cannot be judged well yet: 4 compounds" in now.guarantee.sentence
        assert f"SD up to {told.found.tau_high:.2g}" in now.guarantee.sentence


def test_deviations_that_hardly_move_an_answer_void_nothing_and_are_said(tmp_path: Path) -> None:
    with create(tmp_path / "a.assaypilot", history=once(means(tau=0.05), 0.02), noise=0.02) as campaign:
        now = campaign.status()
        (told,) = now.additivity
        assert told.found.p is not None
        assert told.found.p < 1e-3
        assert now.guarantee.holds
        assert "Own deviations of compounds (tau) are there" in now.guarantee.sentence
    with create(tmp_path / "b.assaypilot", history=once(means(tau=0.05), 0.02), noise=0.02, slack=0.1) as campaign:
        assert not campaign.status().guarantee.holds


def test_a_noise_stated_too_small_is_not_taken_for_a_table_that_is_not_additive(tmp_path: Path) -> None:
    with create(tmp_path / "a.assaypilot", history=once(means(), 0.5, times=3), noise=0.15) as campaign:
        now = campaign.status()
        (told,) = now.additivity
        assert told.found.p is not None
        assert told.found.p < 1e-3
        assert not told.contradicted
        assert "Replicates scatter more" in told.sentence
    # Far beyond what replicates say it is, all the same.
    with create(tmp_path / "b.assaypilot", history=once(means(tau=1.5), 0.5, times=3), noise=0.15) as campaign:
        assert campaign.status().additivity[0].contradicted


def test_determinations_of_one_run_are_one_where_their_sds_are_far_below_the_stated_noise(tmp_path: Path) -> None:
    """Three wells of a run scatter by 0.04, and what differs between runs makes the noise of 0.2 that was stated."""

    def table(tau: float, sd: float) -> list[Result]:
        return [replace(one, n=3, sd=sd) for one in once(means(tau))]

    with create(tmp_path / "a.assaypilot", history=table(0.0, 0.04)) as campaign:
        now = campaign.status()
        assert now.guarantee.holds
        assert now.additivity[0].verdict == "not contradicted"
        assert "as within one run: each counts once" in now.additivity[0].sentence
    # SDs as large as the noise are of three determinations, whose mean should scatter by 0.115.
    with create(tmp_path / "b.assaypilot", history=table(0.0, 0.2)) as campaign:
        now = campaign.status()
        assert now.additivity[0].contradicted
        assert "as within one run" not in now.additivity[0].sentence
    # A table that is not additive is one all the same.
    with create(tmp_path / "c.assaypilot", history=table(0.6, 0.04)) as campaign:
        assert campaign.status().additivity[0].contradicted


def test_a_stated_model_error_is_what_is_contradicted(tmp_path: Path) -> None:
    for error, holds in ((2.0, True), (0.1, False)):
        parameters = {"model_error": error}
        with create(
            tmp_path / f"{error}.assaypilot",
            history=once(means(tau=0.5)),
            strategy="linfact-mis",
            parameters=parameters,
            slack=0.0,
        ) as campaign:
            now = campaign.status()
            assert now.guarantee.holds is holds
            assert now.additivity[0].model_error == error


def test_the_pair_that_acts_together_is_named_and_taken_together_the_guarantee_holds(tmp_path: Path) -> None:
    truth = means(pair=0.5)
    with create(tmp_path / "a.assaypilot", history=once(truth)) as campaign:
        now = campaign.status()
        assert not now.guarantee.holds
        assert now.additivity[0].pairs[0].sites == ("R1", "R2")
        assert now.additivity[0].offers[0].startswith("Take R1 with R2 together")
    with create(tmp_path / "b.assaypilot", series((("R1", "R2"),)), history=once(truth)) as campaign:
        assert campaign.status().guarantee.holds
        now = finish(campaign, truth)
        assert now.finished
        assert now.guarantee.holds
        best = truth >= truth.max() - GOAL.distance
        assert (now.candidates.status[best] == 1).all()
        # Everything shown keeps to the sites of the table.
        assert [site.name for site in now.library.sites] == ["R1", "R2", "R3"]
    assert verifying.verify(tmp_path / "b.assaypilot", recompute=True).ok
    with Campaign.open(tmp_path / "b.assaypilot") as again:
        assert again.status().library.interactions == (("R1", "R2"),)


def test_a_combination_that_cannot_be_had_is_not_estimable(tmp_path: Path) -> None:
    whole = series((("R1", "R2"),))
    gone = (whole.codes[:, 0] == 1) & (whole.codes[:, 1] == 2)
    with create(tmp_path / "a.assaypilot", dataclasses.replace(whole, measurable=~gone)) as campaign:
        now = campaign.status()
        assert ((now.candidates.status == 3) == gone).all()
    with create(tmp_path / "b.assaypilot", dataclasses.replace(series(), measurable=~gone)) as campaign:
        assert campaign.status().counts["not_estimable"] == 0


@pytest.mark.parametrize("text", ["R1", "R1,R1", "R1,R9", "", "R1,R2,R3"])
def test_what_is_no_pair_of_sites_is_refused(text: str) -> None:
    with pytest.raises(AssayPilotError) as caught:
        chosen_pairs(["R1", "R2", "R3"], [text])
    assert caught.value.option == "--interaction"
    assert caught.value.mend


def test_pairs_are_taken_in_the_order_of_the_sites_each_once() -> None:
    assert chosen_pairs(["R1", "R2", "R3"], ["r2, R1", "R1,R2", "R3,R1"]) == (("R1", "R2"), ("R1", "R3"))


def test_with_noise_that_is_not_known_its_upper_bound_is_what_deviations_have_to_pass(tmp_path: Path) -> None:
    for tau, noise, contradicted in ((0.0, 0.4, False), (0.8, 0.2, True)):
        endpoint = Endpoint("pIC50", noise_sd=0.1, noise_estimated=True)
        with Campaign.create(
            tmp_path / f"{tau}.assaypilot",
            library=series(),
            endpoints=(endpoint,),
            settings=GOAL,
            history=once(means(tau), noise, times=2),
        ) as campaign:
            (told,) = campaign.status().additivity
            assert told.contradicted is contradicted
            assert told.noise_sd > noise, "the upper bound, not the guess"
            assert told.found.tau_high > told.found.tau_low


def test_of_one_compound_no_more_is_planned_than_tells_something(tmp_path: Path) -> None:
    library = Library.product([Site(f"R{k + 1}", tuple(f"x{j}" for j in range(n))) for k, n in enumerate((4, 4, 6))])
    rng = np.random.default_rng(2)
    truth = sum(rng.normal(size=n)[library.codes[:, k]] for k, n in enumerate((4, 4, 6)))

    def planned(tau: float) -> tuple[Status, list[int]]:
        values = truth + tau * rng.standard_normal(len(library)) + NOISE * rng.standard_normal(len(library))
        history = [Result(name, float(value)) for name, value in zip(library.ids, values, strict=True)]
        path = tmp_path / f"{tau}.assaypilot"
        with create(path, library, history=history, max_replicates=4) as campaign:
            issued = campaign.plan()
            assert issued is not None
            assert issued.measurements == GOAL.per_round, "the same measurements, of more compounds"
            return campaign.status(), [item.replicates for item in issued.items]

    now, plain = planned(0.0)
    assert max(plain) > 1
    assert not now.additivity[0].spread
    now, spread = planned(0.6)
    assert max(spread) == 1
    assert now.additivity[0].spread.startswith("Rounds plan at most 1 measurement of a compound")
    # Where tau is about the noise, so few that its lower bound leaves worth taking.
    now, some = planned(0.2)
    cap = (NOISE / now.additivity[0].found.tau_low) ** 2
    assert max(some) <= max(1, round(cap))


def test_a_cap_costs_no_further_round() -> None:
    counts = np.array([10, 10, 10])
    assert at_once(counts, 30, 20, 1) == 10
    assert at_once(counts, 10, 20, 1) == 4
    assert at_once(counts, 10, 3, 1) == 3
    assert at_once(np.array([1, 2]), 96, 4, 2) == 2


def test_values_that_a_bound_cut_are_no_deviation(tmp_path: Path) -> None:
    """Of compounds near a bound only what the noise took within it came as a number: additive all the same."""
    for seed in range(4):
        rng = np.random.default_rng((3, seed))
        endpoints = (Endpoint("pIC50", noise_sd=0.3),)
        path = tmp_path / f"{seed}.assaypilot"
        with make(path, endpoints=endpoints, per_round=270, max_replicates=40, slack=0.2) as campaign:
            campaign.plan()
            now = campaign.status()
            means, results = truth(now.library), []
            for item in now.open_round.items:
                for value in rng.normal(means[item.compound], 0.3, item.replicates):
                    cut = value < 5.4
                    name = now.library.ids[item.compound]
                    results.append(Result(name, 5.4 if cut else float(value), relation="<" if cut else "="))
            campaign.record(results, close=True)
            assert not any(told.contradicted for told in campaign.status().additivity)

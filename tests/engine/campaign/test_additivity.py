"""What a campaign says of additivity, before the first decision and after; and sites that are taken together."""

import dataclasses
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign import verifying
from assaypilot.engine.campaign.additivity import SHARE
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Site, chosen_pairs
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import replays

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
        assert "The series model takes all of it as data" in now.guarantee.sentence
        assert {now.library.ids[c] for c in told.cliffs} <= set(now.library.ids)
        campaign.record([last])
        now = replays(campaign)
        assert now.phases_decided == 1
        assert not now.guarantee.holds
        # Nothing of it is written: the values say it.
        assert not any("additiv" in entry.kind for entry in campaign.history())
    assert verifying.verify(tmp_path / "a.assaypilot", recompute=True).ok


def test_history_alone_states_it_before_anything_is_measured(tmp_path: Path) -> None:
    with create(tmp_path / "a.assaypilot", history=once(means(tau=0.5))) as campaign:
        now = campaign.status()
        assert (now.measurements_used, now.guarantee.holds) == (0, False)
    with create(tmp_path / "b.assaypilot", history=once(means())) as campaign:
        now = campaign.status()
        assert now.guarantee.holds
        assert now.additivity[0].verdict == "not contradicted"
        assert " at most (95 %)" in now.guarantee.sentence


def test_deviations_that_hardly_move_an_answer_void_nothing_and_are_reported(tmp_path: Path) -> None:
    with create(tmp_path / "a.assaypilot", history=once(means(tau=0.05), 0.02), noise=0.02) as campaign:
        now = campaign.status()
        (told,) = now.additivity
        assert told.found.p is not None
        assert told.found.p < 1e-3
        assert now.guarantee.holds
    with create(tmp_path / "b.assaypilot", history=once(means(tau=0.05), 0.02), noise=0.02, slack=0.1) as campaign:
        assert not campaign.status().guarantee.holds


def test_determinations_of_one_run_are_one_where_their_sds_are_far_below_the_stated_noise(tmp_path: Path) -> None:
    """Three wells of a run scatter by 0.04, and what differs between runs makes the noise of 0.2 that was stated."""

    def table(tau: float, sd: float) -> list[Result]:
        return [replace(one, n=3, sd=sd) for one in once(means(tau))]

    with create(tmp_path / "a.assaypilot", history=table(0.0, 0.04)) as campaign:
        now = campaign.status()
        assert now.guarantee.holds
        assert now.additivity[0].verdict == "not contradicted"
    # SDs as large as the noise are of three determinations, whose mean should scatter by 0.115.
    with create(tmp_path / "b.assaypilot", history=table(0.0, 0.2)) as campaign:
        now = campaign.status()
        assert now.additivity[0].contradicted
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


def test_with_the_pair_that_acts_together_as_one_site_the_guarantee_holds(tmp_path: Path) -> None:
    truth = means(pair=0.5)
    with create(tmp_path / "a.assaypilot", history=once(truth)) as campaign:
        assert not campaign.status().guarantee.holds
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


def test_unavailable_combination_is_not_estimable(tmp_path: Path) -> None:
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

"""Noise that is not known: what counts for it, what decisions use, and what changed terms do to it."""

import math

import numpy as np
import pytest

from assaypilot.engine.campaign import noise as assay_noise
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.events.fold import take
from assaypilot.engine.campaign.file.store import Store
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.noise import StatedNoise
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.records import settings
from assaypilot.engine.models.sd_bound import upper_sd
from tests.engine.campaign.making import answers, decide_phase, finish, make, replays, truth

GUESS = Endpoint("pIC50", noise_sd=0.3, noise_estimated=True)
UNKNOWN = {"endpoints": (GUESS,), "per_round": 16, "max_replicates": 4}


def ledger_of(campaign: Campaign) -> Ledger:
    with Store.open(campaign.path, read_only=True) as store:
        ledger = Ledger(store.part)
        for event in store.events():
            take(ledger, event)
    return ledger


def by_hand(campaign: Campaign, phase: int) -> tuple[float, int]:
    """Squares and degrees of freedom of all single values that were asked for, up to a phase."""
    groups: dict[tuple[int, int], list[float]] = {}
    for m in campaign.status().measurements:
        if m.counted and m.phase <= phase and m.usable:
            groups.setdefault((m.phase, m.compound), []).append(m.value)
    squares = sum(float(((np.array(v) - np.mean(v)) ** 2).sum()) for v in groups.values())
    return squares, sum(len(v) - 1 for v in groups.values())


@pytest.mark.parametrize("strategy", ["proven", "linfact-g", "linfact-xy"])
def test_a_campaign_decides_by_the_bound_and_the_log_states_which(tmp_path, strategy):
    path = tmp_path / "x.assaypilot"
    with make(path, **UNKNOWN, strategy=strategy) as campaign:
        assert "not known yet (0.3 is a guess" in campaign.status().guarantee.sentence
        done = finish(campaign)
        assert done.guarantee.holds
        assert done.guarantee.delta == pytest.approx(0.05)
        (now,) = done.noise
        squares, freedom = by_hand(campaign, done.phases_decided)
        assert (now.freedom, now.sd) == (freedom, pytest.approx(math.sqrt(squares / freedom)))
        assert now.used == pytest.approx(upper_sd(squares, freedom, 0.005))
        assert f"estimated: {now.sd:.2g} from {freedom} degrees of freedom, at most {now.used:.2g} is used" in (
            done.guarantee.sentence
        )
        assert now.sentence in settings(done, "in", "", "", "").column("Value")
        # What only informs uses the estimate, not the guess.
        assert done.endpoints[0].noise_sd == now.sd
        events = [e for e in Store.open(path, read_only=True).events() if e.kind == "phase_decided"]
        assert events[-1].data["noise"][0]["freedom"] == freedom
        assert events[-1].data["noise"][0]["used"] == pytest.approx(now.used)
        replays(campaign)
    assert verify(path, recompute=True).ok


def test_only_replicates_within_a_phase_count_and_nothing_that_was_chosen(tmp_path):
    with make(tmp_path / "x.assaypilot", **UNKNOWN, strategy="linfact-g", slack=0.1, epsilon=0.2) as campaign:
        decide_phase(campaign)
        before = ledger_of(campaign).spreads[1]
        # Nobody asked for these, so they say nothing, however they scatter.
        ids = campaign.status().library.ids
        campaign.record([Result(ids[0], 1.0), Result(ids[0], 11.0)], again=True)
        assert assay_noise.spreads(ledger_of(campaign), 1) == before
        decide_phase(campaign)
        squares, freedom = by_hand(campaign, 2)
        (one,) = ledger_of(campaign).spreads[2]
        assert (one.squares, one.freedom) == (pytest.approx(squares), freedom)
        assert len({m.phase for m in campaign.status().measurements if m.counted}) == 2


def test_replicates_of_the_table_count_and_are_reported_to(tmp_path):
    library = make(tmp_path / "y.assaypilot").status().library
    rng = np.random.default_rng(2)
    history = [
        Result(name, float(mean + 0.1 * rng.standard_normal()))
        for name, mean in zip(library.ids, truth(library), strict=True)
        for _ in range(4)
    ]
    endpoint = Endpoint("pIC50", noise_estimated=True)
    with make(tmp_path / "x.assaypilot", endpoints=(endpoint,), history=history, per_round=16) as campaign:
        (now,) = campaign.status().noise
        assert now.freedom == 27
        assert "replicates in the table scatter as those of the campaign do" in campaign.status().guarantee.sentence
        assert finish(campaign).guarantee.holds


def test_replicates_that_agree_exactly_decide_nothing(tmp_path):
    with make(tmp_path / "x.assaypilot", **UNKNOWN) as campaign:
        campaign.plan()
        campaign.record(answers(campaign, noise=0.0), close=True)
        (now,) = campaign.status().noise
        assert now.used == math.inf
        assert campaign.status().counts["undecided"] == 9
        assert "degrees of freedom, which decides nothing: measurements made independently" in now.sentence
        replays(campaign)
        assert campaign.plan() is not None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"strategy": "lingame"}, "lingame needs the assay noise"),
        ({"strategy": "linfact-g", "parameters": {"decide": "planned"}}, "rests on a known assay noise"),
        ({"max_replicates": 1}, "one measurement of each compound in a round cannot estimate it"),
    ],
)
def test_what_cannot_estimate_it_is_refused_in_one_line(tmp_path, changes, said):
    with pytest.raises(AssayPilotError, match=said):
        make(tmp_path / "x.assaypilot", **{**UNKNOWN, **changes})
    assert not (tmp_path / "x.assaypilot").exists()


def test_guess_is_required_where_the_scale_is_unknown(tmp_path):
    with pytest.raises(AssayPilotError, match="is not known: none was given"):
        make(tmp_path / "x.assaypilot", endpoints=(Endpoint("signal", noise_estimated=True),), objective="signal")


def test_mean_of_more_determinations_than_planned_does_not_inform_the_noise(tmp_path):
    with make(tmp_path / "x.assaypilot", **UNKNOWN, strategy="linfact-g") as campaign:
        campaign.plan()
        ids, planned = campaign.status().library.ids, ledger_of(campaign).planned(1)
        (more, n), (as_asked, m) = [(ids[c], n) for c, n in planned.items() if n > 1][:2]
        # Who made one more than was asked for may have done so because of what the first ones were.
        campaign.record([Result(more, 6.0, n=n + 1, sd=0.3)], close_when_complete=False)
        (one,) = assay_noise.spreads(ledger_of(campaign), 1)
        assert (one.squares, one.freedom) == (0.0, 0)
        campaign.record([Result(as_asked, 6.0, n=m, sd=0.3)], close_when_complete=False)
        (one,) = assay_noise.spreads(ledger_of(campaign), 1)
        assert (one.squares, one.freedom) == (pytest.approx((m - 1) * 0.09), m - 1)


def test_noise_known_after_results_ends_a_proof(tmp_path):
    path = tmp_path / "x.assaypilot"
    with make(path, **UNKNOWN) as campaign:
        decide_phase(campaign)
        known = Change(noise={"pIC50": 0.2})
        assert "from unknown (about 0.3) to 0.2" in " ".join(campaign.consequences(known))
        campaign.change(known)
        assert campaign.status().noise == ()
        campaign.change(Change(noise={"pIC50": StatedNoise(None, estimated=True)}))
        assert campaign.status().claim.kind == "calibrated"
        campaign.undo()
        campaign.undo()
        assert (campaign.status().claim.kind, len(campaign.status().noise)) == ("proven", 1)
        campaign.redo()
        replays(campaign)
    assert verify(path, recompute=True).ok


def _cut(campaign: Campaign, limit: float) -> None:
    """A phase's results, of which those below the limit come as ``<``."""
    for _ in range(20):
        if campaign.status().open_round is None and campaign.plan() is None:
            return
        before = campaign.status().phases_decided
        campaign.record(
            [r if r.value >= limit else Result(r.compound, limit, r.endpoint, relation="<") for r in answers(campaign)],
            close=True,
        )
        if campaign.status().phases_decided > before:
            return


def test_a_bound_ends_the_guarantee_where_the_noise_is_unknown(tmp_path):
    """What comes as a number beside a bound scatters less for being cut, so that replicates say too little."""
    with make(tmp_path / "x.assaypilot", **{**UNKNOWN, "per_round": 48, "max_replicates": 6}) as campaign:
        assert campaign.status().guarantee.holds
        _cut(campaign, 5.95)
        now = campaign.status().guarantee
        assert not now.holds
        assert "known only as a bound" in now.sentence


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_series_model_learns_a_noise_whose_scale_nobody_stated(tmp_path, noise):
    """A potential in volts: half of epsilon is taken at first, and no guess keeps the model from what repeats show."""
    endpoints = (Endpoint("E", unit="V", transform="none"),)
    settings = {"strategy": "gaussian-process", "objective": "E", "epsilon": 0.4, "per_round": 12}
    with make(tmp_path / "x.assaypilot", endpoints=endpoints, **settings) as campaign:
        assert "0.2 is taken at first" in " ".join(campaign.status().warnings)
        assert campaign.status().noise == ()
        rng = np.random.default_rng(5)
        for _ in range(3):
            values = truth(campaign.status().library) + noise * rng.standard_normal(9)
            ids = campaign.status().library.ids
            campaign.record([Result(name, float(v), "E") for name, v in zip(ids, values, strict=True)], again=True)
        (learned,) = replays(campaign).noise
        assert learned.sd == campaign.status().endpoints[0].noise_sd < 0.06

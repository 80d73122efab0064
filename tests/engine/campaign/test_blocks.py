"""Controls and blocks in a campaign: what is recorded, decided, corrected, taken back and refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from assaypilot.engine.campaign.audit import verify
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.noise import known as assay_noise
from assaypilot.engine.campaign.plates.blocking import Together
from assaypilot.engine.campaign.plates.drifting import drift
from assaypilot.engine.campaign.plates.plating import plate_layout
from assaypilot.engine.campaign.plates.quality import cost
from assaypilot.engine.controls import Control, parse_control, resolved
from assaypilot.engine.endpoint import Endpoint, Limit
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.library import Library, Site
from assaypilot.engine.measurements import Result
from assaypilot.engine.models.sd_bound import TARGET
from assaypilot.engine.plates.layout import PlateUse, read_controls
from tests.engine.campaign.making import make, replays, truth

REF = Control("REF-1", (("pIC50", 7.1),))
SD = 0.2


def blocked(tmp_path, name="c.assaypilot", **changes):
    own = {"blocks": "plate", "controls": (REF,), "per_round": 24, "max_replicates": 4, "slack": 0.3}
    return make(tmp_path / name, **own | changes)


def came(campaign, *, shift=0.5, controls=3, seed=0, plates=("P1", "P2")):
    """What a lab brings back: plates that shift all that stands on them, each with so many controls."""
    now = campaign.status()
    issued, means = now.open_round, truth(now.library)
    rng = np.random.default_rng((seed, issued.number))
    effects = shift * rng.standard_normal(len(plates))
    results = []
    each = [item.compound for item in issued.items for _ in range(item.replicates)]
    for k, compound in enumerate(each):
        at = k % len(plates)
        value = means[compound] + effects[at] + SD * rng.standard_normal()
        results.append(Result(now.library.ids[compound], float(value), plate=plates[at], well=f"A{k}"))
    for at, plate in enumerate(plates):
        results += [
            Result("ref-1", float(7.1 + effects[at] + SD * rng.standard_normal()), plate=plate, well=f"H{k}")
            for k in range(controls)
        ]
    return results


def whole(campaign, rounds=20, **options):
    for _ in range(rounds):
        if campaign.plan() is None:
            break
        campaign.record(came(campaign, **options))
    return campaign.status()


def test_a_campaign_on_plates_ends_right_and_every_decision_comes_out_again(tmp_path):
    with blocked(tmp_path) as campaign:
        now = whole(campaign, shift=2.0)
        means = truth(now.library)
        assert now.finished
        within = means >= means.max() - 0.5
        assert set(np.flatnonzero(within)) <= set(np.flatnonzero(now.candidates.status == 1))
        assert (means[now.candidates.status == 1] >= means.max() - 0.8).all()
        error = now.candidates.estimate - means
        assert np.abs(error).max() < 0.35
        assert now.measurements_used == len(now.measurements)
        assert len(now.readings) == 6 * len(now.rounds)
        assert now.guarantee.holds
        assert "each plate shifts all its values alike" in now.guarantee.sentence
        (cost,) = now.quality.costs
        assert 0.0 <= cost.with_twice <= cost.lost < 0.5
        assert "of the information of round" in now.quality.notes[0]
        path = campaign.path
    assert verify(path, recompute=True).ok
    with Campaign.open(path) as again:
        assert again.status().readings == now.readings
        assert again.status().candidates.estimate == pytest.approx(now.candidates.estimate)


def test_estimates_do_not_follow_a_plate_that_reads_high(tmp_path):
    with blocked(tmp_path) as campaign:
        campaign.plan()
        campaign.record([
            Result(r.compound, r.value + (3.0 if r.plate == "P2" else 0.0), plate=r.plate, well=r.well)
            for r in came(campaign, shift=0.0)
        ])  # fmt: skip
        now = campaign.status()
        assert np.abs(now.candidates.estimate - truth(now.library)).max() < 0.6
        assert now.candidates.posterior_high.max() < 10.0
        lines = now.quality.plates
        assert [line.name for line in lines] == ["plate P1", "plate P2"]
        assert lines[1].mean - lines[0].mean == pytest.approx(3.0, abs=0.5)


def test_a_plate_waits_for_its_controls_and_may_be_closed_without_them(tmp_path):
    with blocked(tmp_path) as campaign:
        campaign.plan()
        every = came(campaign)
        report = campaign.record([r for r in every if not (r.compound == "ref-1" and r.plate == "P2")])
        assert not report.round_closed
        assert report.controls == 3
        assert campaign.status().quality.lacking == (
            "Plate P2 has no control and tells only how its own compounds differ",
        )
        more = campaign.record([r for r in every if r.compound == "ref-1" and r.plate == "P2"])
        assert more.round_closed
        assert (more.accepted, more.controls) == (0, 3)
        assert campaign.status().phases_decided == 1
        campaign.plan()
        campaign.record([r for r in came(campaign) if r.compound != "ref-1"], close=True)
        assert campaign.status().phases_decided == 2
        # What comes after the decision is shown and decides nothing.
        late = campaign.record([Result("REF-1", 7.0, plate="P1", round=2)])
        assert late.controls == 1
        assert campaign.status().readings[-1].phase == 0
        path = campaign.path
    assert verify(path, recompute=True).ok


def test_a_control_is_corrected_left_out_and_both_undone(tmp_path):
    with blocked(tmp_path) as campaign:
        campaign.plan()
        results = came(campaign)
        wrong = [
            r if r.well != "H0" or r.plate != "P1" else Result("REF-1", 12.0, plate="P1", well="H0") for r in results
        ]
        campaign.record(wrong)
        before = campaign.status().candidates.low.copy()
        (number,) = [r.number for r in campaign.status().readings if r.value == 12.0]
        campaign.amend_control(number, "typo", value=7.2)
        now = campaign.status()
        assert now.readings[number - 1].value == 7.2
        assert now.readings[number - 1].entered.value == 12.0
        assert not np.allclose(now.candidates.low, before, equal_nan=True)
        campaign.amend_control(number, "bubble", excluded=True)
        assert campaign.status().readings[number - 1].excluded == "bubble"
        assert "1 control value left out" in campaign.status().guarantee.sentence
        with pytest.raises(AssayPilotError, match="left out already"):
            campaign.amend_control(number, "again", excluded=True)
        campaign.amend_control(number, "fine after all", excluded=False)
        campaign.amend_control(number, "too high", excluded=True, judgement=True)
        assert "1 control value excluded by judgement" in campaign.status().guarantee.sentence
        campaign.amend_control(number, "fine", excluded=False)
        assert campaign.status().guarantee.holds
        texts = [entry.text for entry in campaign.history()]
        assert any("Value 12 of the control REF-1 corrected to 7.2: typo" in text for text in texts)
        assert any("excluded: bubble" in text for text in texts)
        path = campaign.path
    assert verify(path, recompute=True).ok


def test_entry_of_controls_is_undone_and_redone(tmp_path):
    with blocked(tmp_path) as campaign:
        campaign.plan()
        campaign.record([Result("REF-1", 7.0, plate="P1", well="A1"), Result("REF-1", 7.3, plate="P2", well="A1")])
        assert campaign.undo() == "Enter 2 results"
        assert all(r.withdrawn for r in campaign.status().readings)
        assert campaign.status().quality.plates == ()
        campaign.redo()
        assert [r.usable for r in campaign.status().readings] == [True, True]
        with pytest.raises(AssayPilotError, match="cannot be withdrawn"):
            campaign.withdraw_round()


def test_the_same_value_of_a_control_is_kept_once(tmp_path):
    with blocked(tmp_path) as campaign:
        campaign.plan()
        one = Result("REF-1", 7.0, plate="P1", well="A1")
        campaign.record([one])
        assert campaign.record([one, Result("REF-1", 7.1, plate="P1", well="A2")]).duplicates == 1
        assert "both are kept" in campaign.record([Result("REF-1", 7.9, plate="P1", well="A1")]).warnings[0]
        assert len(campaign.status().readings) == 3


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_control_reads_a_number(tmp_path, value):
    with blocked(tmp_path) as campaign:
        campaign.plan()
        with pytest.raises(AssayPilotError, match="not a finite number"):
            campaign.record([Result("REF-1", value, plate="P1")])
        with pytest.raises(AssayPilotError, match=r"REF-1 reads >8 in pIC50, .*a number is needed"):
            campaign.record([Result("REF-1", 8.0, relation=">", plate="P1")])
        assert campaign.status().readings == ()


def test_blocks_that_cannot_be_are_refused(tmp_path):
    for match, changes in (
        ("there is no control", {"controls": ()}),
        ("no blocks 'tray'", {"blocks": "tray"}),
        ("R1=A|R2=A is a compound of the library", {"controls": (Control("R1=A|R2=A"),)}),
        ("named twice", {"controls": (REF, Control("ref-1"))}),
        ("cannot take plate effects out", {"strategy": "linfact-g"}),
        ("of no measured endpoint: 'hERG'", {"controls": (Control("REF-1", (("hERG", 5.0),)),)}),
    ):
        with pytest.raises(AssayPilotError, match=match.replace("|", r"\|")):
            blocked(tmp_path, **changes)
    assert not list(tmp_path.iterdir())
    for text in ("", "REF;value=x", "REF;7.1", "REF;value=1;value=2", "REF;value=nan", "R" * 30):
        with pytest.raises(AssayPilotError):
            parse_control(text)
    assert parse_control("REF-1; value = 7,1") == Control("REF-1", (("", 7.1),))
    two = (Endpoint("pIC50", noise_sd=0.2), Endpoint("hERG", noise_sd=0.2))
    with pytest.raises(AssayPilotError, match="does not say of which endpoint"):
        resolved([parse_control("REF-1;value=7.1")], two, (0, 1))
    assert resolved([parse_control("REF-1;herg=5")], two, (0, 1)) == (Control("REF-1", (("hERG", 5.0),)),)


def test_a_nominal_value_that_is_not_known_shifts_all_alike(tmp_path):
    """Differences, statuses and probabilities are those of any nominal value; only the level is another."""
    with (
        blocked(tmp_path, "known.assaypilot") as known,
        blocked(tmp_path, "unknown.assaypilot", controls=(Control("REF-1"),)) as unknown,
    ):
        for _ in range(2):
            known.plan()
            unknown.plan()
            results = came(known)
            known.record(results)
            unknown.record(results)
        one, other = known.status(), unknown.status()
        assert np.array_equal(one.candidates.status, other.candidates.status)
        shift = other.candidates.estimate - one.candidates.estimate
        assert shift == pytest.approx(np.full(len(shift), shift[0]), abs=1e-9)
        assert "what REF-1 read at first" in other.guarantee.sentence


def test_controls_without_blocks_are_kept_and_tell_of_drift(tmp_path):
    with blocked(tmp_path, blocks="none") as campaign:
        for number in (1, 2):
            campaign.plan()
            results = came(campaign, shift=0.0, controls=6)
            campaign.record([
                Result(r.compound, r.value - 0.5 * (number == 2), plate=r.plate, well=r.well) for r in results
            ])  # fmt: skip
        (text,) = campaign.status().quality.drift
        assert text.startswith("pIC50: controls of round 2 read 0.")
        assert "lower than before (p " in text
        assert "have it in them" in text
        assert f"{text}." in campaign.status().warnings


def test_how_widely_the_controls_of_a_plate_scatter(tmp_path):
    """Each against the mean of its own control there; of many plates one has to scatter more to be called wide."""
    controls = (REF, Control("REF-2", (("pIC50", 6.0),)))
    for n_plates, wide in ((1, True), (9, False)):
        with blocked(tmp_path, f"{n_plates}.assaypilot", controls=controls) as campaign:
            campaign.plan()
            results = [Result("REF-1", 7.1 + d, plate="P0", well=f"A{k}") for k, d in enumerate((-0.33, 0.0, 0.33))]
            results += [Result("REF-2", 6.5 + d, plate="P0", well=f"B{k}") for k, d in enumerate((-0.33, 0.33))]
            for p in range(1, n_plates):
                results += [Result("REF-1", 7.1 + d, plate=f"P{p}", well=f"A{k}") for k, d in enumerate((-0.1, 0.1))]
            campaign.record(results)
            line = campaign.status().quality.plates[0]
            assert line.n == 5
            assert line.mean == pytest.approx(0.2)
            assert line.sd == pytest.approx(math.sqrt(4 * 0.33**2 / 3))
            assert line.wide is wide


def test_what_blocks_cost_is_the_share_of_information_lost(tmp_path):
    """Two compounds, each on a plate of its own with c controls: the variance of their difference is 2 + 2 / c."""
    library = Library.listed(["R1"], [["A"], ["B"]], ids=["a", "b"])
    with blocked(tmp_path, library=library) as campaign:
        ledger = campaign._ledger
        for controls, lost, twice in ((4.0, 1 - 2 / 2.5, 1 - 2 / 2.25), (2.0, 1 - 2 / 3, 1 - 2 / 2.5), (0.0, 1.0, 0.2)):
            told = Together(
                np.array([0, 1]), np.array([0, 1]), np.ones(2), np.zeros(2), np.full(2, controls), np.zeros(2)
            )
            found = cost(ledger, told, 0, 1)
            assert (found.lost, found.with_twice) == (pytest.approx(lost), pytest.approx(twice))
            assert found.controls == controls


def test_drift_is_called_in_one_of_twenty_where_there_is_none():
    rng = np.random.default_rng(5)
    blocks = [(number, plate) for number in (1, 2, 3) for plate in ("a", "b") for _ in range(4)]
    names = {block: f"plate {block[1]}" for block in blocks}
    ones = np.ones(len(blocks))
    said = [
        bool(drift(blocks, names, SD * rng.standard_normal(len(blocks)), ones, SD, taken_out=None)) for _ in range(1000)
    ]
    # Tests on the same values depend on each other, so Holm is a little careful.
    assert 0.02 < np.mean(said) < 0.065
    # Plates that scatter are no drift of rounds where they are taken out, and a drift on top of it is seen.
    share = {False: 0, True: 0}
    for moved in share:
        for _ in range(200):
            effect = {block: 0.3 * rng.standard_normal() + 2.5 * (moved and block[0] == 3) for block in set(blocks)}
            above = np.array([effect[block] for block in blocks]) + SD * rng.standard_normal(len(blocks))
            share[moved] += bool(drift(blocks, names, above, ones, SD, taken_out="plate"))
    assert share[False] / 200 < 0.3
    assert share[True] / 200 > 0.9


@pytest.mark.parametrize(
    ("effects", "taken_out", "said"),
    [
        ([0, 0, 0, 0.5, 0], None, ["controls of round 4 read 0.50 higher than before (p < 0.0001): drift"]),
        (
            [0, 1, 2, 3, 4],
            None,
            ["controls of rounds 2, 3, 4 and 5 read 1.00 to 2.50 higher than before and rise by 1.00 a round "
             "(p < 0.0001): drift"],
        ),
        (
            [0, 1, -1, 0.25, 0.05],
            "plate",
            ["controls of rounds 2 and 3 read 1.00 to 1.50 higher or lower than before (p < 0.0001): drift, or plates "
             "that differ: with one plate a round both look alike"],
        ),
        ([0, 0, 0, -0.5, 0], "round", ["controls of round 4 read 0.50 lower than before (p < 0.0001): drift"]),
        ([0.5] * 5, None, []),
    ],
)  # fmt: skip
def test_drift_is_said_once_with_the_rounds_it_concerns(effects, taken_out, said):
    blocks = [(number, "p") for number in range(1, 6) for _ in range(4)]
    above = np.repeat(np.array(effects, dtype=float), 4)
    names = {block: f"plate R{block[0]}-P1" for block in blocks}
    assert drift(blocks, names, above, np.ones(20), SD, taken_out=taken_out) == said


def test_a_mean_of_four_counts_as_four_and_p_values_are_those_after_holm():
    blocks = [(number, "p") for number in (1, 2, 3)]
    levels = np.array([0.0, 0.38, 0.05])
    names = dict.fromkeys(blocks, "plate P")
    (text,) = drift(blocks, names, levels, np.full(3, 4.0), SD, taken_out=None)
    each = [block for block in blocks for _ in range(4)]
    assert drift(each, names, np.repeat(levels, 4), np.ones(12), SD, taken_out=None) == [text]
    # Three tests: round 2 against 1, round 3 against both, the slope; the first p three times, the others are large.
    p = 3 * 2 * norm.sf(0.38 / (SD * math.sqrt(2 / 4)))
    assert text == f"controls of round 2 read 0.38 higher than before (p = {p:.2g}): drift"
    # Of two, the second is multiplied by one less.
    (text,) = drift(blocks, names, np.array([0.0, 0.5, 0.55]), np.full(3, 4.0), SD, taken_out=None)
    single = [2 * norm.sf(z) for z in (0.5 / (SD * math.sqrt(1 / 2)), 0.3 / (SD * math.sqrt(3 / 8)),
                                       0.275 / (SD / math.sqrt(8)))]  # fmt: skip
    slope, second, third = sorted(single)
    assert text.endswith(f"and rise by 0.28 a round (p at most {max(2 * second, third, 3 * slope):.2g}): drift")


def test_plates_that_differ_are_said_once_too():
    blocks = [(number, plate) for number in (1, 2) for plate in "abc" for _ in range(4)]
    names = {block: f"plate R{block[0]}-{block[1]}" for block in blocks}
    above = np.array([0.5 if block in ((1, "a"), (2, "c")) else 0.0 for block in blocks])
    (text,) = drift(blocks, names, above, np.ones(24), SD, taken_out=None)
    assert text.startswith("controls of plate R1-a and plate R2-c read 0.50 higher than those of the rest of their ")
    above[blocks.index((2, "c")) : blocks.index((2, "c")) + 4] = 0.0
    (text,) = drift(blocks, names, above, np.ones(24), SD, taken_out=None)
    assert "of plate R1-a read 0.50 higher than those of the rest of round 1" in text


def test_a_campaign_without_controls_is_written_as_before(tmp_path):
    with make(tmp_path / "plain.assaypilot") as campaign:
        kinds = {event.kind: event for event in campaign._store.events()}
        assert kinds["goal_set"].version == 1
        assert not {"blocks", "controls"} & set(kinds["goal_set"].data["settings"])


def test_noise_that_is_not_known_is_that_within_plates(tmp_path):
    """Plates that differ by 2 log are no noise of the assay; what decides is told from pairs on one plate."""
    rng = np.random.default_rng(8)
    unknown = (Endpoint("pIC50", noise_sd=0.25, noise_estimated=True),)
    with blocked(tmp_path, endpoints=unknown, per_round=48, max_replicates=8) as campaign:
        campaign.plan()
        now = campaign.status()
        means, results = truth(now.library), [Result("REF-1", 7.1 + 2.0 * k, plate=str(k), well="A1") for k in (0, 1)]
        for item in now.open_round.items:
            for k in range(item.replicates):
                value = means[item.compound] + 2.0 * (k % 2) + SD * rng.standard_normal()
                results.append(Result(now.library.ids[item.compound], float(value), plate=str(k % 2), well=f"{k}"))
        campaign.record(results, close=True)
        (told,) = campaign._ledger.spreads[1]
        assert told.freedom >= 3
        assert told.sd == pytest.approx(SD, rel=0.4)


@pytest.mark.parametrize("limit", [None, Limit("<", 9.0)])
def test_a_value_known_only_as_a_bound_counts_as_the_worst_beside_blocks(tmp_path, limit):
    """But for limits, whose decisions leave bounds out there, and which end the guarantee."""
    endpoints = (Endpoint("pIC50", noise_sd=SD), Endpoint("hERG", noise_sd=SD, limit=limit)) if limit else None
    with blocked(tmp_path, **({"endpoints": endpoints} if endpoints else {})) as campaign:
        campaign.plan()
        first, *others = (replace(one, endpoint="pIC50") for one in came(campaign))
        campaign.record([Result(first.compound, 5.0, "pIC50", "<", plate=first.plate, well=first.well), *others])
        if limit:
            campaign.record([replace(one, endpoint="hERG") for one in (first, *others)])
        now = campaign.status()
        assert now.phases_decided == 1
        assert now.guarantee.holds == (limit is None)
        assert np.isfinite(now.candidates.estimate).all()
        if limit is None:
            assert "1 result known only as a bound" in now.guarantee.sentence
            memory = campaign._ledger.current().memory
            assert np.isneginf(memory["low"]).sum() == 1
            assert now.bounds_taken == {1}
            replays(campaign)
        path = campaign.path
    assert verify(path, recompute=True).ok


def test_of_two_controls_without_a_nominal_value_one_tells_of_plates(tmp_path):
    """Each on its own plate: counted from itself, it would bring the difference of the plates into the compounds."""
    two = (Control("REF-1"), Control("REF-2"))
    with blocked(tmp_path, controls=two) as campaign:
        campaign.plan()
        results = [
            Result("REF-2" if r.compound == "ref-1" and r.plate == "P2" else r.compound,
                   r.value + (3.0 if r.plate == "P2" else 0.0), plate=r.plate, well=r.well)
            for r in came(campaign, shift=0.0, controls=6)
        ]  # fmt: skip
        campaign.record(results)
        now = campaign.status()
        assert now.phases_decided == 0
        assert any("P2 has no control" in text for text in now.quality.lacking)
        campaign.close_round("failed")
        now = campaign.status()
        error = now.candidates.estimate - truth(now.library)
        assert np.ptp(error) < 1.0
        assert "REF-2, without a nominal value beside others, not used for any plate" in now.guarantee.sentence
        assert "what REF-1 read at first" in now.guarantee.sentence
    assert verify(tmp_path / "c.assaypilot", recompute=True).ok


UNKNOWN = (Endpoint("pIC50", noise_sd=0.25, noise_estimated=True),)
THREE = Library.product([Site(f"R{k}", tuple("ABCDE")) for k in range(3)])


def on_the_layout(campaign, use, rng, noise=SD):
    """Results of the open round from its plates, every one of which shifts all that stands on it."""
    issued, results = campaign.lay_out(campaign.status().open_round.number, use), []
    for plate in issued.layout.plates:
        shift = rng.standard_normal()
        for one in plate.placed:
            value = 6.0 + shift + 0.1 * THREE.codes[one.compound].sum() + noise * rng.standard_normal()
            results.append(Result(THREE.ids[one.compound], float(value), plate=plate.name, well=one.well))
        levels = 7.1 + shift + noise * rng.standard_normal(4)
        results += [Result("REF-1", float(level), plate=plate.name, well=f"A{k}") for k, level in enumerate(levels)]
    return issued, results


@pytest.mark.parametrize(("blocks", "noise", "apart"), [("plate", UNKNOWN, False), ("plate", None, True),
                                                        ("none", UNKNOWN, True), ("batch", UNKNOWN, True)])  # fmt: skip
def test_pairs_share_a_plate_where_only_so_they_tell_the_noise(tmp_path, blocks, noise, apart):
    own = {"blocks": blocks, "per_round": 80, "max_replicates": 2, "library": THREE, "epsilon": 0.3, "slack": 0.2}
    own |= {} if noise is None else {"endpoints": noise}
    use = PlateUse(48, read_controls(["REF-1=1"]))
    with blocked(tmp_path, **own) as campaign:
        campaign.plan()
        issued, results = on_the_layout(campaign, use, np.random.default_rng(2))
        assert len(issued.layout.plates) == 2
        twice = [item.compound for item in issued.items if item.replicates == 2]
        plates_of = [{plate.name for plate, _ in issued.layout.of(compound)} for compound in twice]
        assert len(twice) > 20
        assert {len(plates) for plates in plates_of} == {2 if apart else 1}
        if noise is None or blocks == "batch":
            return
        campaign.record(results)
        (told,) = campaign.status().noise
        assert told.freedom == len(twice)
        assert (0.15 < told.sd < 0.26) is (blocks == "plate"), "only beside blocks a plate's shift is not the noise's"


def test_once_the_noise_is_known_well_enough_replicates_are_parted_again(tmp_path):
    own = {"blocks": "plate", "per_round": 160, "max_replicates": 2, "library": THREE, "endpoints": UNKNOWN}
    use = PlateUse(48, read_controls(["REF-1=1"]))
    rng = np.random.default_rng(3)
    with blocked(tmp_path, **own, epsilon=0.3, slack=0.1) as campaign:
        campaign.plan()
        first, results = on_the_layout(campaign, use, rng)
        again = plate_layout(campaign.status(), first, use)
        assert again == first.layout
        assert assay_noise.told_within_blocks(campaign._ledger)
        campaign.record(results)
        assert not assay_noise.told_within_blocks(campaign._ledger)
        now = campaign.status()
        assert now.noise[0].freedom >= TARGET
        parted = plate_layout(now, first, use)
        assert parted != first.layout
        twice = [item.compound for item in first.items if item.replicates == 2]
        assert all(len({plate.name for plate, _ in parted.of(compound)}) == 2 for compound in twice)
        assert campaign.round(1).layout == first.layout, "what was printed stays"


def test_only_the_plates_of_an_endpoint_whose_noise_is_unknown_hold_pairs(tmp_path):
    ends = (*UNKNOWN, Endpoint("hERG", noise_sd=SD, limit=Limit("<", 9.0)))
    own = {"blocks": "plate", "per_round": 160, "max_replicates": 2, "library": THREE, "endpoints": ends}
    with blocked(tmp_path, **own, epsilon=0.3, slack=0.2) as campaign:
        campaign.plan()
        apart = campaign.lay_out(1, PlateUse(48, read_controls(["REF-1=1"])))
        twice = [item.compound for item in apart.items if item.replicates == 2]
        assert len(twice) > 20
        for endpoint, n in ((0, 1), (1, 2)):
            plates = [{p.name for p, one in apart.layout.of(c) if one.endpoints == (endpoint,)} for c in twice]
            assert {len(each) for each in plates} == {n}
        shared = campaign.lay_out(1, PlateUse(48, read_controls(["REF-1=1"]), same_wells=True))
        assert {len({p.name for p, _ in shared.layout.of(c)}) for c in twice} == {1}


@pytest.mark.parametrize(("noise", "blocks"), [(UNKNOWN, "round"), (None, "round"), (UNKNOWN, "none")])
def test_a_phase_of_several_rounds_keeps_its_pairs_together(tmp_path, noise, blocks):
    own = {} if noise is None else {"endpoints": noise}
    with blocked(tmp_path, blocks=blocks, per_round=8, max_replicates=2, library=THREE, **own) as campaign:
        asked = []
        while not campaign.status().phases_decided:
            issued = campaign.plan()
            asked.append([item.replicates for item in issued.items])
            results = [
                Result(THREE.ids[item.compound], 6.0 + 0.1 * k + 0.01 * item.compound)
                for item in issued.items
                for k in range(item.replicates)
            ]
            campaign.record([*results, Result("REF-1", 7.1)])
        assert len(asked) > 1
        alone = sum(n == 1 for each in asked for n in each)
        assert (alone == 0) is (noise is not None and blocks == "round")


def test_a_limit_without_a_level_is_not_promised(tmp_path):
    """Where no control has a nominal value a plate's shift is the level's, and nothing can be said of a limit."""
    ends = (Endpoint("pIC50", noise_sd=SD), Endpoint("hERG", noise_sd=SD, limit=Limit("<", 6.0)))
    for values, holds in (((("pIC50", 7.1),), False), ((("pIC50", 7.1), ("hERG", 5.0)), True)):
        with blocked(tmp_path, f"{holds}.assaypilot", endpoints=ends, controls=(Control("REF-1", values),)) as campaign:
            now = campaign.status().guarantee
            assert now.holds is holds
            assert ("no control has a nominal value in hERG" in now.sentence) is not holds


def test_no_compound_that_comes_later_is_called_as_a_control(tmp_path):
    with blocked(tmp_path) as campaign:
        for more in (["ref-1"], ["new-1", "REF-1"]):
            compounds = Library.listed(["R1", "R2"], [["D", "A"], ["D", "B"]][: len(more)], ids=more)
            for ask in (campaign.consequences_of_adding, campaign.add_compounds):
                with pytest.raises(AssayPilotError, match=r"(?i)ref-1 is a control of this campaign"):
                    ask(compounds)
        assert len(campaign.status().library) == 9

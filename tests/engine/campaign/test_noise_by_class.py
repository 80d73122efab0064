"""SDs by class that nobody knows, in campaigns: replicates in each class, what is decided by, and what is refused."""

import dataclasses

import numpy as np
import pytest

from assaypilot.engine.campaign.audit import verify
from assaypilot.engine.campaign.changing.terms import Change
from assaypilot.engine.campaign.noise import by_class, scatter
from assaypilot.engine.endpoint import Endpoint, Limit
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.library import Library
from assaypilot.engine.measurements import Result
from assaypilot.engine.models.sd_bound import upper_sd
from assaypilot.engine.models.sd_classes import MOST_CLASSES
from assaypilot.engine.noise_classes import NoiseClasses
from assaypilot.engine.stated_noise import StatedNoise
from assaypilot.engine.stock import CANNOT, IN_STOCK, StockLine
from tests.engine.campaign.making import EFFECTS, make, replays, small_library, truth

LOUD, QUIET = 0.6, 0.2
OWN = NoiseClasses("R1", (("B", None),))
ENDPOINT = Endpoint("pIC50", noise_sd=0.3, noise_estimated=True, noise_classes=OWN)
WIDE = {"library": small_library((3, 3)), "endpoints": (ENDPOINT,), "per_round": 24, "max_replicates": 4}


def said(campaign, rng):
    """What an assay says for the open round, compounds with B at R1 three times as loudly as all others."""
    now = campaign.status()
    sds = np.where(now.library.codes[:, 0] == 1, LOUD, QUIET)
    # What was added has a substituent that the small table does not know.
    means = 6.0 + sum(np.array([*EFFECTS[k], 0.3])[now.library.codes[:, k]] for k in range(2))
    return [
        Result(now.library.ids[item.compound], float(means[item.compound] + sds[item.compound] * rng.standard_normal()),
               "pIC50")
        for item in now.open_round.items
        for _ in range(item.replicates)
    ]  # fmt: skip


def play(campaign, rounds, seed=5):
    """Nothing; so many rounds, or until the end."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        if campaign.status().finished:
            return
        campaign.plan(choice="fastest" if campaign.status().choosable else None)
        campaign.record(said(campaign, rng))


def test_a_campaign_tells_the_classes_apart_and_is_the_same_when_opened_again(tmp_path):
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        (text,) = [one for one in campaign.status().warnings if "nobody knows it" in one]
        assert "compounds with B at R1 and of all others are estimated apart" in text
        play(campaign, 40)
        now = campaign.status()
        assert now.finished
        assert now.guarantee.holds
        assert [one.group for one in now.noise] == ["of all others", "with B at R1"]
        quiet, loud = now.noise
        assert quiet.sd == pytest.approx(QUIET, rel=0.3)
        assert loud.sd == pytest.approx(LOUD, rel=0.3)
        assert quiet.used > QUIET
        assert loud.used > LOUD
        assert "assay noise of pIC50 with B at R1 estimated" in now.guarantee.sentence
        assert "assay noise of pIC50 of all others estimated" in now.guarantee.sentence
        assert now.endpoints[0].noise_classes.guesses == pytest.approx([quiet.sd, loud.sd])
        best = truth(now.library).max()
        inside = now.candidates.status == 1
        assert (truth(now.library)[inside] > best - 1.0).all()
        replays(campaign)
    assert verify(tmp_path / "x.assaypilot", recompute=True).ok


def test_what_a_phase_is_decided_by_is_one_scale_for_all(tmp_path):
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        ledger = campaign._ledger
        assert by_class.weights(ledger, 0, 0)[0] == by_class.weights(ledger, 0, 0)[1]
        play(campaign, 2)
        ledger = campaign._ledger
        first, second = by_class.weights(ledger, 0, 1), by_class.weights(ledger, 0, 2)
        assert second == pytest.approx(first)  # those of the first phase stay
        assert first[1] > 1.2 * first[0]
        found = scatter.spreads(ledger, 2)
        uppers = [upper_sd(one.squares, one.freedom, one.alpha) for one in found]
        state = scatter.to_decide(ledger, ledger.current(), 2)
        assert state.problem.noise[0] == pytest.approx(
            max(u / g for u, g in zip(uppers, first, strict=True)) * max(first)
        )
        loud = ledger.library.codes[ledger.first, 0] == 1
        assert state.problem.precision[0][loud] == pytest.approx(1.0)
        assert state.problem.precision[0][~loud] == pytest.approx((first[1] / first[0]) ** 2)
        # No measurement scatters more than its weight says, where the bounds hold.
        sds = np.where(loud, uppers[1], uppers[0])
        assert (state.problem.noise[0] / np.sqrt(state.problem.precision[0]) >= sds * (1 - 1e-12)).all()


def test_each_class_has_its_part_of_the_share(tmp_path):
    plain = dataclasses.replace(ENDPOINT, noise_classes=None)
    with make(tmp_path / "x.assaypilot", **{**WIDE, "endpoints": (plain,)}) as campaign:
        whole = scatter.spreads(campaign._ledger, 0)[0].alpha
    with make(tmp_path / "y.assaypilot", **WIDE) as campaign:
        assert sum(one.alpha for one in scatter.spreads(campaign._ledger, 0)) == pytest.approx(whole)


def test_replicates_are_planned_in_a_class_that_a_design_would_pass_over(tmp_path):
    library = small_library((4, 4))
    own = NoiseClasses("Solubility", (("poor", None),), None, ((library.ids[5], "poor"),))
    rare = dataclasses.replace(ENDPOINT, noise_classes=own)
    with make(tmp_path / "x.assaypilot", **{**WIDE, "library": library, "endpoints": (rare,)}) as campaign:
        issued = campaign.plan()
        assert sum(item.replicates for item in issued.items) <= 24
        assert {item.compound: item.replicates for item in issued.items}.get(5, 0) >= 2


def test_a_limit_is_decided_by_the_largest_bound_of_all_classes(tmp_path):
    limited = dataclasses.replace(ENDPOINT, limit=Limit("<", 9.0))
    with make(tmp_path / "x.assaypilot", **{**WIDE, "endpoints": (limited,)}) as campaign:
        play(campaign, 1)
        ledger = campaign._ledger
        found = scatter.spreads(ledger, 1)
        assert scatter.deciding_sd(ledger, 0, 1) == max(one.used for one in found)
        replays(campaign)


def test_a_class_that_comes_later_has_its_own_chance_of_error(tmp_path):
    library = small_library((3, 3))
    loud = np.flatnonzero(library.codes[:, 0] == 1)
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        campaign.set_stock([StockLine(c, CANNOT if c in loud else IN_STOCK) for c in range(9)])
        assert [one.group for one in scatter.spreads(campaign._ledger, 0)] == [0]
        play(campaign, 1)
        assert by_class.late(campaign._ledger) == 0
        before = campaign._ledger.error
        campaign.set_stock([StockLine(c, IN_STOCK) for c in range(9)])
        play(campaign, 1)
        assert any(int(m.compound) in loud for m in campaign.status().measurements)
        assert by_class.late(campaign._ledger) == 1
        assert campaign._ledger.error >= before + 0.9 * 0.05 * (1 - 1e-9)
        replays(campaign)


@pytest.mark.parametrize(
    ("own", "why"),
    [
        (NoiseClasses("R1", (("Z", None),)), "no compound has Z at R1"),
        (NoiseClasses("R9"), "no site 'R9'"),
    ],
)
def test_names_have_to_be_right(tmp_path, own, why):
    with pytest.raises(AssayPilotError, match=why):
        make(tmp_path / "x.assaypilot", endpoints=(dataclasses.replace(ENDPOINT, noise_classes=own),))


def test_one_class_is_none_and_hundreds_are_too_many(tmp_path):
    library = small_library((3, 3))
    whole = NoiseClasses("Lot", (("a", None),), None, tuple((name, "a") for name in library.ids))
    with pytest.raises(AssayPilotError, match="all compounds are of one class, where Lot is a"):
        make(tmp_path / "x.assaypilot", endpoints=(dataclasses.replace(ENDPOINT, noise_classes=whole),))
    names = [f"n{k}" for k in range(MOST_CLASSES + 1)]
    many = NoiseClasses("Lot", tuple((one, None) for one in names), None, ((library.ids[0], "n0"),))
    with pytest.raises(AssayPilotError, match="13 classes") as told:
        make(tmp_path / "x.assaypilot", endpoints=(dataclasses.replace(ENDPOINT, noise_classes=many),))
    assert "12 at most" in told.value.mend
    assert not (tmp_path / "x.assaypilot").exists()


def test_every_substituent_of_a_site_can_be_a_class(tmp_path):
    each = dataclasses.replace(ENDPOINT, noise_classes=NoiseClasses("R2"))
    with make(tmp_path / "x.assaypilot", **{**WIDE, "endpoints": (each,)}) as campaign:
        play(campaign, 1)
        assert [one.group for one in campaign.status().noise] == ["with A at R2", "with B at R2", "with C at R2"]
        replays(campaign)


def test_without_sds_classes_are_refused_unless_the_noise_is_unknown(tmp_path):
    with pytest.raises(AssayPilotError, match="with B at R1 is not given") as told:
        make(tmp_path / "x.assaypilot", endpoints=(Endpoint("pIC50", noise_sd=0.3, noise_classes=OWN),))
    assert "--sd unknown" in told.value.mend


def test_other_strategies_have_no_bounds_for_them(tmp_path):
    with pytest.raises(AssayPilotError, match="linfact-g has no bounds") as told:
        make(tmp_path / "x.assaypilot", strategy="linfact-g", **WIDE)
    assert "adaptive" in told.value.mend


def test_twins_have_one_class_whatever_was_guessed(tmp_path):
    library = small_library()
    twins = Library(library.sites, np.vstack([library.codes, library.codes[:1]]), (*library.ids, "twin"))
    own = NoiseClasses("Solubility", (("poor", None),), None, (("twin", "poor"),))
    with pytest.raises(AssayPilotError, match="twin have the same substituents"):
        make(tmp_path / "x.assaypilot", library=twins, endpoints=(dataclasses.replace(ENDPOINT, noise_classes=own),))


def test_a_change_on_the_way_decides_anew_by_the_same_weights(tmp_path):
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        play(campaign, 2)
        before = by_class.weights(campaign._ledger, 0, 2)
        campaign.change(Change(epsilon=0.7))
        assert by_class.weights(campaign._ledger, 0, 2) == pytest.approx(before)
        # Another confidence has other bounds, and no other weights: those would be chosen after their values.
        campaign.change(Change(delta=0.3))
        assert by_class.weights(campaign._ledger, 0, 2) == pytest.approx(before, abs=0.0, rel=1e-15)
        play(campaign, 1, seed=9)
        assert campaign.status().guarantee.holds
        replays(campaign)
    assert verify(tmp_path / "x.assaypilot", recompute=True).ok


def test_a_corrected_value_of_the_first_phase_is_decided_again(tmp_path):
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        play(campaign, 3)
        number = next(m.number for m in campaign.status().measurements if m.phase == 1)
        campaign.correct(number, 7.9, reason="digits swapped")
        replays(campaign)
    assert verify(tmp_path / "x.assaypilot", recompute=True).ok


def more(names, codes):
    """Compounds of the small table's sites, with a substituent of their own at R1."""
    return Library.listed(["R1", "R2"], [["D", "ABC"[k]] for k in codes], ids=list(names))


def test_compounds_that_are_added_have_the_class_their_table_says(tmp_path):
    library = small_library()
    column = NoiseClasses("Sol", (("poor", 0.6),), None, ((library.ids[0], "poor"),))
    stated = Endpoint("pIC50", noise_sd=0.2, noise_classes=column)
    with make(tmp_path / "x.assaypilot", **{**WIDE, "endpoints": (stated,)}) as campaign:
        play(campaign, 1)
        error = campaign._ledger.error
        new, told = more(("n1", "n2", "n3"), (0, 1, 2)), {"Sol": {"n1": "poor", "n2": "odd"}}
        (text,) = [line for line in campaign.consequences_of_adding(new, told) if "of the new compounds" in line]
        assert "1 where Sol is poor and 2 among all others (odd being no class of its own)" in text
        (text,) = [line for line in campaign.consequences_of_adding(new) if "of the new compounds" in line]
        assert "Nothing says the Sol of the new compounds" in text
        assert "all others" in text
        campaign.add_compounds(new, classes=told)
        now = campaign.status()
        sds = now.endpoints[0].noise_classes.of(now.library)
        assert sds[-3:] == pytest.approx([0.6, 0.2, 0.2])
        # That costs what more compounds cost, and no other weights.
        assert error < campaign._ledger.error < 1.2 * error
        replays(campaign)
        campaign.undo()
        assert campaign.status().endpoints[0].noise_classes == column.with_other(0.2)
        campaign.redo()
        assert campaign.status().endpoints[0].noise_classes.compounds[-1] == ("n1", "poor")
        play(campaign, 1)
        campaign.change(Change(epsilon=0.8))
        assert campaign._ledger.error < 1.3 * error
        replays(campaign)
    assert verify(tmp_path / "x.assaypilot", recompute=True).ok


STATED = NoiseClasses("R1", (("B", LOUD),))
PLAIN = {**WIDE, "endpoints": (Endpoint("pIC50", noise_sd=QUIET),)}


def test_classes_given_on_the_way_weigh_what_comes_then_and_cost_no_other_chance_of_error(tmp_path):
    with make(tmp_path / "x.assaypilot", **PLAIN) as campaign:
        play(campaign, 2)
        change = Change(noise={"pIC50": StatedNoise(None, classes=STATED)})
        told = campaign.consequences(change)
        assert any("counts as measurements of the largest SD" in line for line in told)
        assert any("wrong at most 1 time in 20" in line for line in told)
        before = campaign._ledger.state.memory["counts"]
        campaign.change(change)
        ledger = campaign._ledger
        assert ledger.endpoints[0].noise_text == "0.2; 0.6 with B at R1"
        assert ledger.error == pytest.approx(0.05)
        # What was measured keeps its weights; what comes is weighed.
        assert ledger.state.memory["counts"] == pytest.approx(before)
        assert ledger.state.problem.by_class
        play(campaign, 1, seed=8)
        memory = campaign._ledger.state.memory
        new = memory["at"] == 2
        quiet = campaign._ledger.library.codes[campaign._ledger.first][memory["arms"][new], 0] != 1
        assert (memory["counts"][new][quiet] > 8.999).all()
        replays(campaign)
        campaign.change(Change(epsilon=0.4))
        again = campaign._ledger.state.memory["counts"]
        assert again == pytest.approx(memory["counts"])
        assert campaign._ledger.error == pytest.approx(0.05)
        # Others, or none, weigh anew what was measured by class: that has its price.
        other = NoiseClasses("R1", (("B", 0.5),))
        campaign.change(Change(noise={"pIC50": StatedNoise(None, classes=other)}))
        assert campaign._ledger.error == pytest.approx(0.1)
        campaign.undo()
        assert campaign._ledger.error == pytest.approx(0.05)
        campaign.redo()
        assert campaign._ledger.endpoints[0].noise_text == "0.2; 0.5 with B at R1"
        replays(campaign)
    assert verify(tmp_path / "x.assaypilot", recompute=True).ok


def test_before_results_classes_are_as_if_said_at_the_start(tmp_path):
    with make(tmp_path / "x.assaypilot", **PLAIN) as campaign:
        campaign.change(Change(noise={"pIC50": StatedNoise(0.2, classes=STATED)}))
        assert not campaign._ledger.state.problem.by_class
        campaign.change(Change(noise={"pIC50": StatedNoise(0.3, True, OWN)}))
        assert [one.group for one in campaign.status().noise] == ["of all others", "with B at R1"]
        play(campaign, 1)
        replays(campaign)


def test_classes_that_cannot_be_given_on_the_way_are_refused(tmp_path):
    with make(tmp_path / "x.assaypilot", **PLAIN) as campaign:
        play(campaign, 1)
        for said_of, why in (
            (StatedNoise(0.3, True, OWN), "by class is not known, and results were seen"),
            (StatedNoise(0.3, classes=OWN), "with B at R1 is not given"),
            (StatedNoise(0.3, classes=NoiseClasses("Sol", (("poor", 0.5),))), "no site 'Sol'"),
        ):
            with pytest.raises(AssayPilotError, match=why):
                campaign.change(Change(noise={"pIC50": said_of}))


def test_the_sds_of_a_column_can_be_changed_but_not_who_is_in_it(tmp_path):
    library = small_library()
    column = NoiseClasses("Sol", (("poor", 0.6),), None, ((library.ids[0], "poor"),))
    with make(
        tmp_path / "x.assaypilot", **{**PLAIN, "endpoints": (Endpoint("pIC50", noise_sd=0.2, noise_classes=column),)}
    ) as campaign:
        campaign.change(Change(noise={"pIC50": StatedNoise(None, classes=NoiseClasses("Sol", (("poor", 0.5),)))}))
        assert campaign.status().endpoints[0].noise_text == "0.2; 0.5 where Sol is poor"
        with pytest.raises(AssayPilotError, match="which compounds are good in Sol"):
            campaign.change(Change(noise={"pIC50": StatedNoise(None, classes=NoiseClasses("Sol", (("good", 0.5),)))}))


def test_what_later_phases_say_of_scatter_changes_no_weight(tmp_path):
    """A weight that knew a phase's own contrasts could be chosen by what goes with them."""
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        while campaign.status().phases_decided < 1:
            play(campaign, 1)
        first = by_class.weights(campaign._ledger, 0, 1)
        freedom = [one.freedom for one in scatter.spreads(campaign._ledger, 1)]
        play(campaign, 2, seed=8)
        ledger = campaign._ledger
        assert sum(one.freedom for one in scatter.spreads(ledger, len(ledger.phases))) > sum(freedom)
        assert len(ledger.phases) > 1
        assert by_class.weights(ledger, 0, len(ledger.phases)) == pytest.approx(first, rel=1e-12)

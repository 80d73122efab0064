"""Noise that differs by class, in campaigns: what is said, decided and kept, and what is refused."""

import dataclasses

import numpy as np
import pytest

from assaypilot.engine.campaign.audit import verify
from assaypilot.engine.campaign.changing.terms import Change
from assaypilot.engine.controls import Control
from assaypilot.engine.endpoint import Endpoint, Limit
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.library import Library
from assaypilot.engine.measurements import Result
from assaypilot.engine.noise_classes import NoiseClasses, parse_noise_classes
from assaypilot.engine.stated_noise import parse_noise_and_classes
from assaypilot.engine.tables.options import parse_endpoint_spec
from tests.engine.campaign.making import finish, make, replays, small_library, truth

OWN = NoiseClasses("R1", (("B", 0.5),))
DIFFERS = {"endpoints": (Endpoint("pIC50", noise_sd=0.2, noise_classes=OWN),)}


def test_a_text_says_whose_noise_is_another():
    told = parse_noise_classes("R1: Ph=0.4, C(=O)N=0.5 , 2,6-diF=.3")
    assert told == NoiseClasses("R1", (("Ph", 0.4), ("C(=O)N", 0.5), ("2,6-diF", 0.3)))
    assert parse_noise_classes(told.text) == told
    assert NoiseClasses.from_json(told.as_json()) == told
    assert told.with_other(0.2).in_words == "0.2; 0.4 with Ph, 0.5 with C(=O)N and 0.3 with 2,6-diF at R1"
    assert parse_endpoint_spec("pIC50;sd=0.2;noise_class=R1: Ph=0.4").noise_classes == parse_noise_classes("R1:Ph=0.4")


@pytest.mark.parametrize("text", ["", "R1:", ": Ph=0.4", "R1: Ph=0.4, tBu", "R1: Ph,", "R1: Ph=0.4 and more", "R1: =2"])
def test_other_texts_are_refused_with_an_example(text):
    with pytest.raises(AssayPilotError, match="whose noise differs") as told:
        parse_noise_classes(text)
    assert told.value.mend is not None
    assert "R1: Ph=0.4" in told.value.mend


@pytest.mark.parametrize(("text", "why"), [("R1: Ph=0", "> 0"), ("R1: Ph=1, Ph=2", "twice"), ("R1: Ph, Ph", "twice")])
def test_numbers_and_names_have_to_be_right(text, why):
    with pytest.raises(AssayPilotError, match=why):
        parse_noise_classes(text)


def test_each_compound_has_the_sd_of_its_class():
    library = small_library()
    own = OWN.with_other(0.2)
    assert own.of(library)[library.codes[:, 0] == 1] == pytest.approx(0.5)
    assert own.precision(library)[library.codes[:, 0] != 1] == pytest.approx(6.25)
    for site, name, why in (("R9", "B", "no site 'R9'"), ("R1", "Z", "has Z at R1")):
        with pytest.raises(AssayPilotError, match=why):
            NoiseClasses(site, ((name, 1.0),)).check(library)


def test_a_campaign_decides_by_the_classes_says_so_and_is_the_same_when_opened_again(tmp_path):
    with make(tmp_path / "x.assaypilot", **DIFFERS) as campaign:
        now = campaign.status()
        assert now.endpoints[0].noise_sd == 0.5
        assert now.endpoints[0].noise_text == "0.2; 0.5 with B at R1"
        assert "SD at most 0.2; 0.5 with B at R1" in now.guarantee.sentence
        assert any("differs: 0.2; 0.5 with B at R1" in text for text in now.warnings)
        own = finish(campaign)
        assert own.guarantee.holds
        assert own.finished
        replays(campaign)
    assert verify(tmp_path / "x.assaypilot").ok
    with make(tmp_path / "y.assaypilot", endpoints=(Endpoint("pIC50", noise_sd=0.5),)) as campaign:
        assert finish(campaign).measurements_used > own.measurements_used


def test_other_strategies_and_limits_take_the_largest(tmp_path):
    limited = dataclasses.replace(DIFFERS["endpoints"][0], limit=Limit("<", 9.0))
    with make(tmp_path / "x.assaypilot", strategy="linfact-g", endpoints=(limited,)) as campaign:
        assert "SD at most 0.5 (the largest of 0.2; 0.5 with B at R1)" in campaign.status().guarantee.sentence
        assert any("linfact-g uses the largest SD for all" in text for text in campaign.status().warnings)
        first = campaign.plan()
    with make(tmp_path / "y.assaypilot", strategy="linfact-g",
              endpoints=(dataclasses.replace(limited, noise_classes=None, noise_sd=0.5),)) as campaign:  # fmt: skip
        assert campaign.plan().items == first.items


def test_one_sd_for_all_takes_its_place_later(tmp_path):
    with make(tmp_path / "x.assaypilot", **DIFFERS) as campaign:
        campaign.change(Change(noise={"pIC50": 0.3}))
        now = campaign.status().endpoints[0]
        assert (now.noise_sd, now.noise_classes) == (0.3, None)
        campaign.undo()
        assert campaign.status().endpoints[0].noise_text == "0.2; 0.5 with B at R1"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {
                "blocks": "round",
                "controls": (Control("REF"),),
                "endpoints": (Endpoint("pIC50", noise_estimated=True, noise_classes=parse_noise_classes("R1: B")),),
            },
            "nobody knows the SDs of pIC50 by class, and round effects are taken out beside SDs that are stated",
        ),
        ({"strategy": "linfact-glm", "parameters": {"link": "logit", "bound": 4.0}}, "few values"),
    ],
)
def test_what_cannot_be_weighed_is_refused(tmp_path, changes, why):
    with pytest.raises(AssayPilotError, match=why):
        make(tmp_path / "x.assaypilot", **DIFFERS | changes)
    assert not (tmp_path / "x.assaypilot").exists()


@pytest.mark.parametrize(("sd", "refused"), [("0.00001", True), ("3000", True), ("0.00003", False), ("2000", False)])
def test_sds_so_far_apart_that_nothing_could_be_weighed_are_refused(tmp_path, sd, refused):
    """Weights of 1e16 leave no digit of what the others say."""
    endpoint = Endpoint("pIC50", noise_sd=0.2, noise_classes=parse_noise_classes(f"R1: B={sd}"))
    if not refused:
        make(tmp_path / "x.assaypilot", endpoints=(endpoint,)).close()
        return
    with pytest.raises(AssayPilotError, match="too far apart to be real") as told:
        make(tmp_path / "x.assaypilot", endpoints=(endpoint,))
    assert "no more than 10,000 times apart" in str(told.value.mend)
    with make(tmp_path / "y.assaypilot") as campaign, pytest.raises(AssayPilotError, match="too far apart"):
        campaign.change(Change(noise={"pIC50": parse_noise_and_classes(f"0.2; R1: B={sd}")}))


def test_what_scatters_far_more_than_one_noise_allows_is_said(tmp_path):
    library, rng = small_library((3, 3, 3)), np.random.default_rng(4)
    means = 6.0 + np.zeros(len(library))
    loud = library.codes[:, 1] == 2
    values = [
        Result(library.ids[k], float(means[k] + (1.5 if loud[k] else 0.2) * rng.standard_normal()), "pIC50")
        for k in range(len(library))
        for _ in range(3)
    ]
    with make(tmp_path / "x.assaypilot", library=library, history=values) as campaign:
        (text,) = [text for text in campaign.status().warnings if "times as much" in text]
    assert "compounds with C at R2 scatter" in text
    assert "0.2 is used for all: what is decided about them may be wrong more often" in text
    assert '--noise-class "R2: C=' in text
    whole = Endpoint("pIC50", noise_sd=2.5)
    with make(tmp_path / "y.assaypilot", library=library, history=values, endpoints=(whole,)) as campaign:
        (text,) = [text for text in campaign.status().warnings if "times as much" in text]
    assert "is no less, so they hold" in text
    own = Endpoint("pIC50", noise_sd=0.2, noise_classes=NoiseClasses("R2", (("C", 1.5),)))
    with make(tmp_path / "z.assaypilot", library=library, history=values, endpoints=(own,)) as campaign:
        assert not [text for text in campaign.status().warnings if "times as much" in text]


def test_an_endpoint_that_is_added_with_classes_has_its_limit_decided_by_the_largest(tmp_path):
    new = Endpoint("hERG", noise_sd=0.2, noise_classes=OWN, limit=Limit("<", 9.0))
    with make(tmp_path / "x.assaypilot") as campaign:
        campaign.change(Change(endpoint=new))
        now = campaign.status()
        assert now.endpoints[1].noise_sd == 0.5
        assert now.endpoints[1].noise_text == "0.2; 0.5 with B at R1"
        replays(campaign)
    assert verify(tmp_path / "x.assaypilot").ok
    with make(tmp_path / "y.assaypilot") as campaign, pytest.raises(AssayPilotError, match="no site 'R9'"):
        campaign.change(Change(endpoint=dataclasses.replace(new, noise_classes=NoiseClasses("R9", (("B", 0.5),)))))


def test_compounds_that_the_model_takes_for_one_have_one_class(tmp_path):
    library = small_library()
    twins = Library(library.sites, np.vstack([library.codes, library.codes[:1]]), (*library.ids, "twin"))
    own = NoiseClasses("Solubility", (("poor", 0.5),), None, (("twin", "poor"),))
    endpoint = Endpoint("pIC50", noise_sd=0.2, noise_classes=own)
    with pytest.raises(AssayPilotError, match="have the same substituents"):
        make(tmp_path / "x.assaypilot", library=twins, endpoints=(endpoint,))
    both = dataclasses.replace(own, compounds=(("twin", "poor"), (library.ids[0], "poor")))
    endpoint = dataclasses.replace(endpoint, noise_classes=both)
    with make(tmp_path / "y.assaypilot", library=twins, endpoints=(endpoint,)) as campaign:
        assert "0.2; 0.5 where Solubility is poor" in campaign.status().guarantee.sentence
        assert finish(campaign).guarantee.holds
        replays(campaign)
    assert verify(tmp_path / "y.assaypilot").ok


def on_plates(tmp_path, **changes):
    """A campaign in which compounds with C at R1 scatter three times as much, and plates shift what stands on them."""
    endpoint = Endpoint("pIC50", noise_sd=0.2, noise_classes=parse_noise_classes("R1: C=0.6"))
    control = Control("REF-1", (("pIC50", 7.1),))
    return make(tmp_path / "x.assaypilot", endpoints=(endpoint,), blocks="plate", controls=(control,), per_round=18,
                **changes)  # fmt: skip


def read_on_plates(campaign, shifts=(0.4, -0.3)):
    """What comes back of the open round from two plates, two controls on each, without any noise but in controls."""
    issued, library = campaign.status().open_round, campaign.status().library
    found = []
    for item in issued.items:
        for plate in range(item.replicates):
            value = float(truth(library)[item.compound] + shifts[plate])
            found.append(Result(library.ids[item.compound], value, plate=f"P{plate + 1}"))
    for plate, shift in enumerate(shifts):
        found += [Result("REF-1", 7.1 + shift + off, plate=f"P{plate + 1}") for off in (0.3, -0.3)]
    return found


def test_beside_plates_controls_count_as_compounds_of_no_class(tmp_path):
    with on_plates(tmp_path) as campaign:
        said = campaign.status().guarantee
        assert said.holds
        assert "controls scatter like compounds of no class, SD at most 0.2" in said.sentence
        assert "SD at most 0.2; 0.6 with C at R1" in said.sentence
        campaign.plan()
        assert campaign._ledger.current().problem.of_controls == pytest.approx((9.0,))
        campaign.record(read_on_plates(campaign))
        now = campaign.status()
        assert now.phases_decided == 1
        # Estimates are weighed alike: here all values agree, and so do they.
        assert now.candidates.estimate == pytest.approx(truth(now.library), abs=1e-9)
        memory = campaign._ledger.current().memory
        assert memory["control_counts"] == pytest.approx(18.0)
        louder = now.library.codes[campaign._ledger.first[memory["arms"]], 0] == 2
        assert memory["counts"][louder] == pytest.approx(1.0)
        assert memory["counts"][~louder] == pytest.approx(9.0)
        # The controls' own scatter is held against their own SD, which 0.42 is above.
        assert [line.sd for line in now.quality.plates] == pytest.approx([0.3 * 2**0.5] * 2)
        finish(campaign)
        assert campaign.status().finished
        replays(campaign)
        path = campaign.path
    assert verify(path, recompute=True).ok


def test_classes_given_later_beside_plates_weigh_what_comes_from_then_on(tmp_path):
    with make(tmp_path / "x.assaypilot", blocks="round", per_round=18, controls=(Control("REF-1", (("pIC50", 7.1),)),),
              endpoints=(Endpoint("pIC50", noise_sd=0.6),)) as campaign:  # fmt: skip
        campaign.plan()
        first = campaign.status().open_round
        ids = campaign.status().library.ids
        results = [Result(ids[item.compound], 6.0 + 0.1 * k) for k, item in enumerate(first.items)
                   for _ in range(item.replicates)]  # fmt: skip
        campaign.record([*results, Result("REF-1", 7.1)])
        campaign.change(Change(noise={"pIC50": parse_noise_and_classes("0.2; R1: C=0.6")}))
        memory = campaign._ledger.current().memory
        assert memory["control_counts"].tolist() == [1.0]
        assert set(memory["counts"].tolist()) <= {1.0, 2.0}
        assert campaign.status().guarantee.holds
        assert campaign._ledger.current().problem.of_controls == pytest.approx((9.0,))

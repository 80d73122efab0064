"""Controls in a campaign: what is recorded, corrected, taken back, refused and shown; none of it decides."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.control_quality import PlateLine, drift
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.controls import Control, parse_control, resolved
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import make, truth

REF = Control("REF-1", (("pIC50", 7.1),))
SD = 0.2


def controlled(tmp_path, name="c.assaypilot", **changes):
    own = {"controls": (REF,), "per_round": 24, "max_replicates": 4, "slack": 0.3}
    return make(tmp_path / name, **own | changes)


def came(campaign, *, controls=3):
    """What a lab brings back on two plates."""
    now = campaign.status()
    issued, means = now.open_round, truth(now.library)
    rng = np.random.default_rng(issued.number)
    each = [item.compound for item in issued.items for _ in range(item.replicates)]
    results = []
    for k, compound in enumerate(each):
        value = means[compound] + SD * rng.standard_normal()
        results.append(Result(now.library.ids[compound], float(value), plate=f"P{k % 2 + 1}", well=f"A{k}"))
    for at in (0, 1):
        for k in range(controls):
            value = 7.1 + SD * rng.standard_normal()
            results.append(Result("ref-1", float(value), plate=f"P{at + 1}", well=f"H{k}"))
    return results


def test_controls_are_kept_with_plate_and_well_and_decide_nothing(tmp_path):
    found = {}
    for above in (0.0, 3.0):
        with controlled(tmp_path, f"{above}.assaypilot") as campaign:
            campaign.plan()
            values = came(campaign)
            moved = [Result(r.compound, r.value + above, plate=r.plate, well=r.well) for r in values[-6:]]
            report = campaign.record([*values[:-6], *moved])
            assert (report.accepted, report.controls) == (24, 6)
            now = found[above] = campaign.status()
            assert [(r.entered.plate, r.entered.well) for r in now.readings][:2] == [("P1", "H0"), ("P1", "H1")]
            assert all(m.entered.plate for m in now.measurements)
            lines = now.quality.plates
            assert [(line.name, line.n) for line in lines] == [("plate P1", 3), ("plate P2", 3)]
            assert lines[0].mean == pytest.approx(above, abs=0.5)
        assert verify(tmp_path / f"{above}.assaypilot", recompute=True).ok
        with Campaign.open(tmp_path / f"{above}.assaypilot") as again:
            assert again.status().readings == now.readings
    assert np.array_equal(found[0.0].candidates.status, found[3.0].candidates.status)
    assert found[0.0].candidates.estimate == pytest.approx(found[3.0].candidates.estimate, abs=1e-12)


def test_a_control_is_corrected_left_out_and_used_again(tmp_path):
    with controlled(tmp_path) as campaign:
        campaign.plan()
        *others, last = came(campaign)
        campaign.record([*others, Result("REF-1", 12.0, plate=last.plate, well=last.well)])
        before = campaign.status()
        (number,) = [r.number for r in before.readings if r.value == 12.0]
        campaign.correct(number, 7.2, reason="typo", control=True)
        now = campaign.status()
        assert now.readings[number - 1].value == 7.2
        assert now.readings[number - 1].entered.value == 12.0
        assert now.quality.plates[1].mean < before.quality.plates[1].mean
        assert np.array_equal(now.candidates.low, before.candidates.low, equal_nan=True)
        campaign.exclude(number, "bubble", control=True)
        assert campaign.status().readings[number - 1].excluded == "bubble"
        assert campaign.status().quality.plates[1].n == 2
        assert campaign.status().guarantee.holds
        with pytest.raises(AssayPilotError, match="left out already"):
            campaign.exclude(number, "again", control=True)
        campaign.include(number, "fine after all", control=True)
        texts = [entry.text for entry in campaign.history()]
        assert any("Value 12 of the control REF-1 corrected to 7.2: typo" in text for text in texts)
        assert any("of the control REF-1 excluded for a technical cause: bubble" in text for text in texts)
        path = campaign.path
    assert verify(path, recompute=True).ok


def test_entry_of_controls_is_undone_and_redone(tmp_path):
    with controlled(tmp_path) as campaign:
        campaign.plan()
        campaign.record([Result("REF-1", 7.0, plate="P1", well="A1"), Result("REF-1", 7.3, plate="P2", well="A1")])
        assert campaign.undo() == "Enter 2 results"
        assert all(r.withdrawn for r in campaign.status().readings)
        assert campaign.status().quality.plates == ()
        campaign.redo()
        assert [r.usable for r in campaign.status().readings] == [True, True]
        with pytest.raises(AssayPilotError, match="cannot be withdrawn"):
            campaign.withdraw_round()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_control_value_that_is_no_number_is_refused(tmp_path, value):
    with controlled(tmp_path) as campaign:
        campaign.plan()
        with pytest.raises(AssayPilotError, match="not a finite number"):
            campaign.record([Result("REF-1", value, plate="P1")])
        with pytest.raises(AssayPilotError, match=r"REF-1 reads >8: a number is needed"):
            campaign.record([Result("REF-1", 8.0, relation=">", plate="P1")])
        assert campaign.status().readings == ()


def test_a_wrong_control_is_refused(tmp_path):
    for match, changes in (
        ("R1=A|R2=A is a compound of the library", {"controls": (Control("R1=A|R2=A"),)}),
        ("named twice", {"controls": (REF, Control("ref-1"))}),
        ("of no measured endpoint: 'hERG'", {"controls": (Control("REF-1", (("hERG", 5.0),)),)}),
    ):
        with pytest.raises(AssayPilotError, match=match.replace("|", r"\|")):
            controlled(tmp_path, **changes)
    assert not list(tmp_path.iterdir())
    for text in ("", "REF;value=x", "REF;7.1", "REF;value=1;value=2", "REF;value=nan", "R" * 30):
        with pytest.raises(AssayPilotError):
            parse_control(text)
    assert parse_control("REF-1; value = 7,1") == Control("REF-1", (("", 7.1),))
    two = (Endpoint("pIC50", noise_sd=0.2), Endpoint("hERG", noise_sd=0.2))
    with pytest.raises(AssayPilotError, match="does not say of which endpoint"):
        resolved([parse_control("REF-1;value=7.1")], two, (0, 1))
    assert resolved([parse_control("REF-1;herg=5")], two, (0, 1)) == (Control("REF-1", (("hERG", 5.0),)),)


def test_an_unstated_nominal_value_is_the_mean_of_the_first_round(tmp_path):
    with controlled(tmp_path, controls=(Control("REF-1"),)) as campaign:
        for level in (5.0, 5.4):
            campaign.plan()
            compounds = came(campaign, controls=0)
            values = [Result("REF-1", level + d, plate="P1", well=f"H{d}") for d in (-0.1, 0.1)]
            campaign.record([*compounds, *values])
        first, second = campaign.status().quality.plates
        assert (first.mean, second.mean) == (pytest.approx(0.0), pytest.approx(0.4))


def test_controls_show_drift(tmp_path):
    with controlled(tmp_path) as campaign:
        for number in (1, 2):
            campaign.plan()
            level = 7.1 - 0.6 * (number == 2)
            controls = [Result("REF-1", level + d, plate="P1", well=f"H{k}") for k, d in enumerate((-0.1, 0.0, 0.1))]
            campaign.record([*came(campaign, controls=0), *controls])
        (text,) = campaign.status().quality.drift
        assert text.startswith("pIC50: controls read 0.30 higher on plate P1 in round 1 than on average (p ")
        assert text.endswith("a proof covers no such effect")
        now = campaign.status()
        assert f"{text}." in now.warnings
        assert now.guarantee.void == (text,)


def test_how_widely_the_controls_of_a_plate_scatter(tmp_path):
    """Each against the mean of its own control there."""
    controls = (REF, Control("REF-2", (("pIC50", 6.0),)))
    with controlled(tmp_path, controls=controls) as campaign:
        campaign.plan()
        results = [Result("REF-1", 7.1 + d, plate="P0", well=f"A{k}") for k, d in enumerate((-0.33, 0.0, 0.33))]
        results += [Result("REF-2", 6.5 + d, plate="P0", well=f"B{k}") for k, d in enumerate((-0.33, 0.33))]
        campaign.record(results)
        (line,) = campaign.status().quality.plates
        assert line.n == 5
        assert line.mean == pytest.approx(0.2)
        assert line.sd == pytest.approx(math.sqrt(4 * 0.33**2 / 3))


def lines_of(means, n=4):
    return [PlateLine(k, "plate P", 0, n, float(mean), None) for k, mean in enumerate(means, start=1)]


def test_drift_is_called_in_one_of_twenty_where_there_is_none():
    rng = np.random.default_rng(5)
    called = [bool(drift(lines_of(SD / 2 * rng.standard_normal(6)), SD)) for _ in range(2000)]
    assert 0.035 < np.mean(called) < 0.065


def test_drift_names_the_plate_that_differs_most():
    text = drift(lines_of([0.0, 0.38, 0.05]), SD)
    apart = np.array([0.0, 0.38, 0.05]) - 0.43 / 3
    p = chi2.sf(4 * (apart**2).sum() / SD**2, 2)
    assert text == f"controls read 0.24 higher on plate P in round 2 than on average (p = {p:.2g}): drift"
    assert drift(lines_of([0.5, 0.5, 0.5]), SD) == drift(lines_of([3.0]), SD) == ""


def test_a_control_named_later_is_kept_and_leaves_decisions_as_they_are(tmp_path):
    with controlled(tmp_path, controls=()) as campaign:
        campaign.plan()
        campaign.record(came(campaign, controls=0))
        before = campaign.status()
        told = " ".join(campaign.consequences(Change(controls=(Control("REF-1"),))))
        assert "the controls from none to REF-1" in told
        assert "The guarantee is not touched." in told
        now = campaign.change(Change(controls=(Control("REF-1"),)))
        assert np.array_equal(now.candidates.status, before.candidates.status)
        assert campaign.change(Change(controls=(REF,))).settings.controls == (REF,)
        campaign.plan()
        assert campaign.record(came(campaign)).controls == 6
        for wrong, match in (
            (Control(now.library.ids[0]), "is a compound of the library"),
            (Control("REF-2", (("hERG", 5.0),)), "of no measured endpoint"),
        ):
            with pytest.raises(AssayPilotError, match=match):
                campaign.change(Change(controls=(wrong,)))


def test_no_compound_that_comes_later_is_called_as_a_control(tmp_path):
    with controlled(tmp_path) as campaign:
        for more in (["ref-1"], ["new-1", "REF-1"]):
            compounds = Library.listed(["R1", "R2"], [["D", "A"], ["D", "B"]][: len(more)], ids=more)
            for ask in (campaign.consequences_of_adding, campaign.add_compounds):
                with pytest.raises(AssayPilotError, match=r"(?i)ref-1 is a control of this campaign"):
                    ask(compounds)
        assert len(campaign.status().library) == 9


def test_the_series_model_takes_the_shift_of_a_plate_from_its_controls(tmp_path):
    errors = {}
    for read in (0, 6):
        with controlled(tmp_path, f"{read}.assaypilot", strategy="gaussian-process") as campaign:
            issued = campaign.plan()
            library = campaign.status().library
            means, rng, results = truth(library), np.random.default_rng(1), []
            for item in issued.items:
                # Compounds of one substituent stand on a plate of their own, which reads 1 too high.
                plate = int(library.codes[item.compound, 0] == 1)
                for replicate in range(item.replicates):
                    value = means[item.compound] + plate + 0.05 * rng.standard_normal()
                    name = library.ids[item.compound]
                    results.append(Result(name, float(value), plate=f"P{plate}", replicate=str(replicate)))
            for plate in (0, 1):
                for k in range(read):
                    value = 7.1 + plate + 0.05 * rng.standard_normal()
                    results.append(Result("REF-1", float(value), plate=f"P{plate}", well=f"H{k}"))
            campaign.record(results)
            now = campaign.status().candidates
            error = np.asarray(now.estimate) - means
            errors[read] = float(np.std(error))
    assert errors[6] < 0.25 < errors[0]

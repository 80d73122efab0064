"""Values that hardly fit: named by a stated rule, and used all the same."""

from dataclasses import replace

import numpy as np
import pytest

from assaypilot.engine.campaign.cautions import FAR, newly_outlying, outlying
from assaypilot.engine.campaign.issued_rounds import Round, RoundItem
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Measurement, Result
from tests.engine.campaign.making import answers, decide_phase, make, small_library

ENDPOINTS = (Endpoint("pIC50", noise_sd=0.2),)


def measured(number, value, *, compound=0, n=1, round=1):
    return Measurement(number, compound, 0, value, "=", n, Result("a", value), round, 1, n)


def a_round(expected=None):
    mean, low, high = expected or (None, None, None)
    item = RoundItem(0, 2, "why", mean, low, high)
    return Round(1, 1, (item,), "open", "", None, ((0,),))


@pytest.mark.parametrize(("far", "found"), [(0.99, 0), (1.01, 2)])
def test_next_to_the_others_of_the_compound(far, found):
    """Two values differ by more than four SDs of a difference: either may be the wrong one."""
    off = far * FAR * 0.2 * np.sqrt(2.0)
    values = [measured(1, 6.0), measured(2, 6.0 + off)]
    assert len(outlying(values, ENDPOINTS, [a_round()])) == found


def test_alone_next_to_what_was_expected():
    low, high = 6.0 - 1.96 * 0.3, 6.0 + 1.96 * 0.3
    border = FAR * np.hypot(0.3, 0.2)
    for far, found in ((0.99, 0), (1.01, 1)):
        values = [measured(1, 6.0 + far * border)]
        assert len(outlying(values, ENDPOINTS, [a_round((6.0, low, high))])) == found
    assert outlying([measured(1, 60.0)], ENDPOINTS, [a_round()]) == []


def test_history_and_what_is_left_out_are_no_part_of_it():
    off = replace(measured(2, 9.0), excluded="pipette")
    assert outlying([measured(1, 6.0), off], ENDPOINTS, [a_round()]) == []
    past = [replace(m, round=0) for m in (measured(1, 6.0), measured(2, 9.0))]
    assert outlying(past, ENDPOINTS, [a_round()]) == []


def test_a_campaign_names_it_and_uses_it(tmp_path):
    with make(tmp_path / "x.assaypilot", per_round=24, max_replicates=3) as campaign:
        campaign.plan()
        results = answers(campaign)
        results[0] = replace(results[0], value=results[0].value + 3.0)
        campaign.record(results, close=True)
        now = campaign.status()
        (told,) = [text for text in now.warnings if "SD from the others" in text]
        assert results[0].compound in told
        assert "Used as they are" in told
        assert now.measurements[0].usable
        decide_phase(campaign)


def test_good_values_are_hardly_ever_named():
    rng = np.random.default_rng(3)
    values = [measured(k + 1, float(6 + 0.2 * rng.standard_normal()), compound=k // 2) for k in range(4000)]
    assert len(outlying(values, ENDPOINTS, ())) <= 2


@pytest.mark.parametrize("off", [[6.0], [6.0, 6.1]], ids=["single", "replicates that agree"])
@pytest.mark.parametrize("planned", [False, True])
def test_new_value_far_from_what_the_series_model_expected_is_named(tmp_path, off, planned):
    """Unplanned ones, and replicates that agree with one another, too."""
    library = small_library()
    terms = {"strategy": "gaussian-process", "epsilon": 0.05, "slack": 0.05, "per_round": 5}
    with make(tmp_path / "c.assaypilot", library=library, **terms) as campaign:
        decide_phase(campaign)
        wanted = {item.compound for item in campaign.plan().items}
        before = campaign.status()
        expected = before.candidates.estimate
        compound = next(c for c in range(len(library)) if (c in wanted) == planned)
        campaign.record([Result(library.ids[compound], float(expected[compound] + each)) for each in off])
        (text,) = newly_outlying(before, campaign.status())
        assert text.startswith(f"{len(off)} value")
        assert text.count(library.ids[compound]) == len(off)
        before = campaign.status()
        other = next(c for c in range(len(library)) if c not in wanted | {compound})
        campaign.record([Result(library.ids[other], float(before.candidates.estimate[other] + 0.1))])
        assert newly_outlying(before, campaign.status()) == ()

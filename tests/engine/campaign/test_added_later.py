"""What phases say, and do not say, of compounds that came after them; and what Holm's procedure counts on then."""

from pathlib import Path

import numpy as np

from assaypilot.engine.endpoint import Endpoint, Limit
from assaypilot.engine.library import Library
from assaypilot.engine.measurements import Result
from assaypilot.engine.strategies.protocol import OUT
from tests.engine.campaign.making import ENDPOINTS, finish, make, small_library, truth


def parted() -> tuple[Library, Library]:
    """All compounds but the last one, and that."""
    whole = small_library()
    first, more = (
        Library(whole.sites, whole.codes[some], whole.ids[some], None, np.ones(len(whole.codes[some]), dtype=bool))
        for some in (slice(0, 8), slice(8, 9))
    )
    return first, more


def test_who_is_out_when_others_come_is_not_counted_on_any_more_and_all_others_are(tmp_path: Path) -> None:
    first, more = parted()
    with make(tmp_path / "x.assaypilot", library=first, strategy="adaptive", per_round=24) as campaign:
        finish(campaign)
        out = int((campaign._ledger.state.status == OUT).sum())
        assert 0 < out < 8
        campaign.add_compounds(more)
        memory = campaign._ledger.state.memory
        assert memory["kept"].tolist() == [8 - out]
        assert len(set(memory["came"].tolist()[:8])) == 1
        assert memory["came"][8] == len(memory["leaders"])


def test_no_phase_bounds_a_compound_that_came_after_it_against_a_limit(tmp_path: Path) -> None:
    """Though effects add up, and others had all its substituents: it may have been chosen by what that phase said."""
    first, more = parted()
    endpoints = (*ENDPOINTS, Endpoint("hERG", noise_sd=0.2, limit=Limit("<", 6.5)))
    with make(tmp_path / "x.assaypilot", library=first, endpoints=endpoints, per_round=48) as campaign:
        means, rng = truth(first), np.random.default_rng(4)
        issued = campaign.plan()
        assert issued is not None
        told = [
            Result(first.ids[item.compound], float(means[item.compound] + 0.2 * rng.standard_normal()), endpoint.name)
            for item in issued.items
            for endpoint in endpoints
            for _ in range(item.replicates)
        ]
        campaign.record(told, close=True)
        campaign.add_compounds(more)
        verdict = campaign._ledger.verdicts[1]
        assert np.isfinite(verdict.low[0, :8]).all()
        assert np.isinf(verdict.low[0, 8])
        assert np.isinf(verdict.high[0, 8])

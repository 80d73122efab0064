"""Results beyond the range of the assay: under a proven strategy counted as their limit, and the end of its promise."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign import verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.promises import WAY_ON
from assaypilot.engine.cli.program import main
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.export.measured import bound_text
from tests.engine.campaign.making import answers, make, replays, small_library

IN, OUT = 1, 2
WIDE = {"per_round": 24, "max_replicates": 6}
NANOMOLAR = Endpoint("IC50 (nM)", unit="nM", transform="log", noise_sd=0.2)


def beyond(results: list[Result], limit: float, *, nanomolar: bool = False) -> list[Result]:
    """Results of an assay that does not tell pIC50 below a limit."""
    found = []
    for one in results:
        if nanomolar:
            most = 10.0 ** (9.0 - limit)
            found.append(replace(one, value=most, relation=">") if one.value > most else one)
        else:
            found.append(replace(one, value=limit, relation="<") if one.value < limit else one)
    return found


def run(campaign: Campaign, limit: float, *, nanomolar: bool = False) -> int:
    """How many bounds came until nothing more was asked."""
    count = 0
    for _ in range(12):
        if campaign.plan() is None:
            break
        told = beyond(answers(campaign), limit, nanomolar=nanomolar)
        count += sum(one.relation != "=" for one in told)
        campaign.record(told, close=True)
    return count


@pytest.mark.parametrize(("nanomolar", "strategy"), [(False, "adaptive"), (True, "adaptive"), (False, "linfact-g")])
def test_a_bound_counts_as_the_bound_itself_and_ends_the_guarantee(
    tmp_path: Path, nanomolar: bool, strategy: str
) -> None:
    endpoints = (NANOMOLAR,) if nanomolar else (Endpoint("pIC50", noise_sd=0.2),)
    path = tmp_path / "x.assaypilot"
    name = endpoints[0].name
    with make(path, **WIDE, endpoints=endpoints, objective=name, strategy=strategy) as campaign:
        assert run(campaign, 5.7, nanomolar=nanomolar) > 3
        now = replays(campaign)
        assert not now.guarantee.holds
        assert any("known only as a bound" in text for text in now.guarantee.void)
        assert (now.candidates.status == OUT).any(), "the campaign goes on"
    assert verifying.verify(path, recompute=True).ok


def test_bound_corrected_before_its_phase_is_decided_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.assaypilot"
    for rest in (1, 0):  # the last value still to come, and a phase that is decided
        with make(tmp_path / f"{rest}.assaypilot", **WIDE, strategy="adaptive") as campaign:
            campaign.plan()
            results = answers(campaign)
            results[0] = replace(results[0], relation="<")
            campaign.record(results[: len(results) - rest])
            assert not campaign.status().guarantee.holds
            assert campaign.status().phases_decided == 1 - rest
            campaign.correct(1, results[0].value, relation="=", reason="the fit gave a number")
            assert replays(campaign).claim.kind == ("proven" if rest else "calibrated")
            path = campaign.path
        assert verifying.verify(path, recompute=True).ok


def test_bound_is_shown_in_its_row_and_moves_no_estimate_of_a_proof(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **WIDE, strategy="linfact-g") as campaign:
        issued = campaign.plan()
        first, second = (campaign.status().library.ids[item.compound] for item in issued.items[:2])
        campaign.record([Result(first, 5.0, relation="<"), Result(second, 5.0, relation="<"), Result(second, 7.0)])
        now = replays(campaign)
        at = [now.library.ids.index(name) for name in (first, second)]
        assert now.candidates.under["pIC50"][at].tolist() == [5.0, 5.0]
        assert bound_text(now, "pIC50", at[0]) == "<5.0"
        assert np.isnan(now.candidates.estimate[at[0]])
        assert first in now.guarantee.void[0]
        assert now.guarantee.sentence.endswith(WAY_ON)
        campaign.close_round("failed")
        # The series model takes both as they are, and every measurement is kept.
        after = campaign.change(Change(strategy="gaussian-process"))
        assert after.claim.kind == "calibrated"
        assert [m.relation for m in after.measurements] == ["<", "<", "="]


@pytest.mark.slow
def test_what_a_bound_does_is_shown_and_json_has_no_infinity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.assaypilot"
    with make(path, **WIDE, strategy="linfact-g") as campaign:
        campaign.plan()
        results = beyond(answers(campaign), 5.7)
    table = tmp_path / "r.csv"
    lines = [f"{one.compound},{one.value},{one.relation}" for one in results]
    table.write_text("ID,Value,Relation\n" + "\n".join(lines) + "\n")
    assert main(["record", str(path), str(table)]) == 0
    said = capsys.readouterr().out
    assert "decisions count each limit, which ends the guarantee" in said
    assert "assaypilot change FILE --strategy gaussian-process" in said
    assert main(["status", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out, parse_constant=lambda text: pytest.fail(text))
    assert not document["guarantee"]["holds"]
    for ending in ("csv", "xlsx", "pdf"):
        assert main(["export", str(path), str(tmp_path / f"all.{ending}"), "--only", "all"]) == 0


def test_series_model_does_not_repeat_what_is_beyond_the_range(tmp_path: Path) -> None:
    library = small_library((6, 5))
    rng = np.random.default_rng(2)
    means = 6.0 + rng.normal(0.0, 0.7, 6)[library.codes[:, 0]] + rng.normal(0.0, 0.7, 5)[library.codes[:, 1]]
    limit = float(np.sort(means)[-4])
    path = tmp_path / "x.assaypilot"
    with make(path, library=library, strategy="gaussian-process", per_round=8, max_replicates=2) as campaign:
        beyond_range: set[int] = set()
        for _ in range(5):
            items = campaign.plan().items
            assert not beyond_range & {item.compound for item in items}
            values = [
                Result(library.ids[item.compound], float(means[item.compound] + 0.1 * rng.standard_normal()))
                for item in items
                for _ in range(item.replicates)
            ]
            campaign.record([replace(v, value=limit, relation=">") if v.value > limit else v for v in values])
            known = campaign.status().measurements
            exact = {m.compound for m in known if m.relation == "="}
            beyond_range = {m.compound for m in known if m.relation == ">"} - exact
        assert len(beyond_range) >= 2
        (caution,) = [text for text in replays(campaign).warnings if text.startswith("Better than this assay")]
        assert f"{len(beyond_range)} compounds" in caution

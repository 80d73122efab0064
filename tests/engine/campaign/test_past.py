"""The campaign as it stood at the end of each round: what was told then is told again, from the log alone."""

from pathlib import Path

import pytest

from assaypilot.engine.campaign import rounds as deciding
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.linfact.linfact import LinFactG
from tests.engine.campaign.making import answers, differences, make


@pytest.mark.usefixtures("planned_phases")
def test_every_round_is_reported_as_it_was_seen_then(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with make(path, per_round=16, max_replicates=4) as campaign:
        seen: dict[int, Status] = {0: campaign.status()}
        for _ in range(60):
            issued = campaign.plan()
            if issued is None:
                break
            if issued.number == 2:  # one that was taken back is no round
                campaign.withdraw_round()
                seen[1] = campaign.status()
                issued = campaign.plan()
            campaign.record(answers(campaign), close=True)
            if issued.number == 1:
                campaign.correct(1, 6.5, reason="typo")
                campaign.exclude(2, "bubble", judgement=False)
            seen[issued.number] = campaign.status()
        assert len(seen) > 4
        assert campaign.status().finished
    forbidden = [(deciding, "recompute"), (LinFactG, "decide"), (LinFactG, "ask")]
    with Campaign.open(path, read_only=True) as other:
        for owner, name in forbidden:
            monkeypatch.setattr(owner, name, lambda *_: pytest.fail("the past is read, not made again"))
        assert [moment.round for moment in other.moments()] == list(seen)
        for moment in other.moments():
            told = other.status_at(moment.round)
            assert differences(seen[moment.round], told) == []
            assert (moment.events, moment.measurements) == (told.events, told.measurements_used)
            assert told.library is other.status().library
            assert other.status_at(moment.round) is told
        assert other.status_at(max(seen)) is other.status()


def test_the_course_of_the_set_is_that_of_replay(path: Path) -> None:
    """Under the series model compounds come back, and earlier values decide before the first round."""
    known = [Result(f"R1={a}|R2={b}", value) for a, b, value in (("A", "C", 5.2), ("B", "B", 7.5), ("C", "A", 5.5))]
    with make(path, strategy="gaussian-process", per_round=3, history=known) as campaign:
        for _ in range(3):
            campaign.plan()
            campaign.record(answers(campaign), close=True)
            campaign.correct(campaign.status().measurements[-1].number, 5.5, reason="typo")
        campaign.plan()
        counts = [campaign.status_at(moment.round).counts for moment in campaign.moments()]
        assert campaign.status().sets == tuple((one["in"], one["undecided"]) for one in counts)
        assert 0 < counts[0]["undecided"] < 9
    with Campaign.open(path, read_only=True) as other:
        assert other.status().sets == tuple((one["in"], one["undecided"]) for one in counts)


def test_what_comes_later_changes_no_earlier_round(path: Path) -> None:
    with make(path, per_round=16, max_replicates=4, slack=0.1) as campaign:
        campaign.plan()
        campaign.record(answers(campaign), close=True)
        campaign.plan()
        first = campaign.status_at(1)
        assert first.open_round is None
        with pytest.raises(AssayPilotError, match="round 2 has not ended"):
            campaign.status_at(2)
        campaign.correct(1, 7.9, reason="typo")
        campaign.record(answers(campaign)[:1])
        assert campaign.status_at(1) is first
        assert first.measurements[0].value != campaign.status().measurements[0].value
        campaign.record(answers(campaign)[1:], close=True)
        # The last round goes on until the next one is planned.
        late = campaign.status_at(2)
        assert late is campaign.status()
        campaign.correct(1, 6.1, reason="typo")
        assert campaign.status_at(2) is campaign.status()
        assert campaign.status_at(2) is not late
        assert campaign.plan() is not None
        before = campaign.status_at(2)
        campaign.withdraw_round()
        campaign.correct(1, 6.2, reason="typo")
        assert campaign.plan() is not None
        assert campaign.status_at(2).measurements[0].value == 6.2 != before.measurements[0].value

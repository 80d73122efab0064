"""``status --round N``: the campaign as it stood then."""

import numpy as np

from tests.engine.cli.helpers import fill_in


def test_a_round_is_reported_as_it_was(campaign, tmp_path, done, run, refused):
    seen = {0: done("status", campaign)}
    rng = np.random.default_rng(5)
    for number in (1, 2):
        work = tmp_path / f"{number}.csv"
        done("plan", campaign, "--out", work)
        fill_in(work, lambda _: 6.0, rng, 0.2)
        done("record", campaign, work)
        seen[number] = done("status", campaign)
    for number, then in seen.items():
        told = done("status", campaign, "--round", number)
        assert told.pop("at_round") == number
        then.pop("at_round")
        assert told == then
    used = seen[2]["measurements_used"]
    first = run("status", campaign, "--round", 1).out.splitlines()[0]
    assert first == f"As it stood after round 1 of 2; {seen[1]['measurements_used']} of {used} measurements."
    assert "As it stood" not in run("status", campaign, "--round", 2).out
    assert "round 3 has not ended" in refused("status", campaign, "--round", 3)

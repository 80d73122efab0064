"""``plan --confirm``: a confirmation round from the command line, and what status and exports say of it."""

import numpy as np
import pytest

from tests.engine.cli.helpers import fill, fill_in, read_sheet

EFFECTS = [np.random.default_rng((5, 0, k)).uniform(0.0, 1.0, n) for k, n in enumerate((5, 4, 4))]


def truth(name: str) -> float:
    """The mean of a compound ``R1=s0|R2=s1|R3=s2``."""
    return 6.0 + sum(
        float(effect[int(part.split("=s")[1])]) for effect, part in zip(EFFECTS, name.split("|"), strict=True)
    )


@pytest.fixture
def ended(tmp_path, table, done):
    """A campaign on a product library at its end."""
    rows: list[tuple[object, ...]] = [("ID", "R1", "R2", "R3")]
    rows += [
        (f"R1=s{a}|R2=s{b}|R3=s{c}", f"s{a}", f"s{b}", f"s{c}") for a in range(5) for b in range(4) for c in range(4)
    ]
    path, work, rng = tmp_path / "x.assaypilot", tmp_path / "work.csv", np.random.default_rng(1)
    done("new", path, "--table", table(rows), "--endpoint", "pIC50;unit=log;sd=0.2", "--epsilon", "0.8", "--slack",
         "0.8", "--strategy", "adaptive", "--per-round", "150")  # fmt: skip
    while not done("plan", path, "--out", work)["finished"]:
        fill_in(work, truth, rng, 0.2)
        done("record", path, work, "--close")
    return path


def test_confirmation_is_planned_recorded_stated_and_exported(ended, tmp_path, done, run):
    before = done("status", ended)
    due = before["confirmation"]["due"]
    assert len(due) > 2
    assert f"{len(due)} compounds are in without a measurement: assaypilot plan FILE" in run("plan", ended).out
    ordinary = done("plan", ended)
    assert (ordinary["finished"], ordinary["confirmation"], ordinary["compounds"]) == (True, False, [])

    work = tmp_path / "confirm.csv"
    planned = done("plan", ended, "--confirm", "--out", work)
    assert set(planned) == {*ordinary, "file", "plate_map"}
    assert (planned["finished"], planned["confirmation"]) == (True, True)
    assert set(planned["certificate"].values()) == {None}
    first = planned["compounds"][0]
    assert first["predicted"]["pIC50"]["low"] < first["expected"] < first["predicted"]["pIC50"]["high"]
    assert {**done("plan", ended), "seconds": 0} == {**done("plan", ended, "--confirm"), "seconds": 0}
    assert "Confirmation round" in run("plan", ended, "--confirm").out

    rows = fill(work, lambda row: round(truth(row["ID"]) - (1.5 if row["ID"] == due[0] else 0.0), 3))
    assert [row["ID"] for row in rows] == due
    recorded = done("record", ended, work)
    assert (recorded["accepted"], recorded["unplanned"], recorded["round_closed"]) == (len(due), 0, True)

    now = done("status", ended)
    found = now["confirmation"]
    assert (found["open"], found["due"], found["not_measured"], found["confirmed"]) == (False, [], [], due[1:])
    (odd,) = found["not_confirmed"]
    assert (odd["id"], odd["endpoint"], odd["n"]) == (due[0], "pIC50", 1)
    assert odd["off"] == pytest.approx(odd["value"] - odd["predicted"])
    assert found["sentence"] in now["statement"]
    assert found["additivity"] == [told["sentence"] for told in now["additivity"]]
    by_id = {entry["id"]: entry["confirmed"] for entry in now["compounds"]}
    assert {name: state for name, state in by_id.items() if state is not None} == {name: name != due[0] for name in due}
    said = run("status", ended, "--only", "in").out
    assert f", and {len(due)} to check" in said
    assert "below predicted" in said
    assert (
        "No confirmation round was issued: every compound that is in was measured"
        in run("plan", ended, "--confirm").out
    )
    done("export", ended, tmp_path / "shortlist.csv")
    cells = {row["ID"]: row["Confirmed"] for row in read_sheet(tmp_path / "shortlist.csv")[1]}
    assert cells[due[0]] == f"not confirmed: {abs(odd['off']):.2f} below predicted"

import pytest

from assaypilot.engine.campaign.campaign import Campaign
from tests.engine.cli.helpers import fill, read_sheet, truth_of

PLATE = ("--plate", 96, "--control-columns", "1,12")


@pytest.fixture
def two(table, tmp_path, done):
    """A campaign with two endpoints, of which one takes ten wells."""
    rows = [("ID", "R1", "R2", "IC50", "hERG"), *((f"C-{a}{b}", a, b, "", "") for a in "HMCF" for b in "HFB")]
    path = tmp_path / "two.assaypilot"
    words = ["--endpoint", "IC50;unit=nM;transform=log;sd=0.2;wells_per_measurement=10"]
    words += ["--endpoint", "hERG;sd=0.3;limit=<5", "--strategy", "gaussian-process"]
    done("new", path, "--table", table(rows), *words, "--objective", "IC50", "--epsilon", "0.5", "--per-round", "24")
    return path


def test_the_work_list_of_a_round_on_plates_is_recorded(done, refused, campaign, tmp_path):
    sheet = tmp_path / "w.csv"
    plan = done("plan", campaign, *PLATE, "--out", sheet)
    assert (plan["file"], plan["plate_map"]) == (str(sheet), str(tmp_path / "w_plates.csv"))
    assert plan["plates"] == [
        {"name": "R1-P1", "wells": 96, "endpoints": ["pIC50"], "measurements": plan["measurements"], "controls": 16}
    ]
    _, rows = read_sheet(sheet)
    assert [(row["ID"], row["Plate"], row["Well"]) for row in rows] == [
        (entry["id"], well["plate"], well["well"]) for entry in plan["compounds"] for well in entry["wells"]
    ]
    _, wells = read_sheet(tmp_path / "w_plates.csv")
    assert {row["Well"] for row in wells if row["Content"] == "compound"} == {row["Well"] for row in rows}
    values = [f"{truth_of(row['R1'], row['R2']) + 0.01 * (k % 7):.2f}" for k, row in enumerate(rows)]
    some = iter([*values[:5], *[""] * len(values)])
    fill(sheet, lambda _: next(some))
    first = done("record", campaign, sheet)
    assert (first["accepted"], first["unplanned"], first["round_closed"]) == (5, 0, False)
    every = iter(values)
    fill(sheet, lambda _: next(every))
    whole = done("record", campaign, sheet)
    assert (whole["accepted"], whole["duplicates"], whole["round_closed"]) == (plan["measurements"] - 5, 5, True)
    assert "these results are in the campaign already" in refused("record", campaign, sheet)


def test_the_campaign_keeps_its_plates_until_others_are_asked_for(done, refused, run, campaign, tmp_path):
    first = done("plan", campaign, *PLATE, "--out", tmp_path / "a.csv")
    again = done("plan", campaign, "--out", tmp_path / "b.csv")
    assert (again["plates"], again["compounds"]) == (first["plates"], first["compounds"])
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "b_plates.csv").read_bytes() == (tmp_path / "a_plates.csv").read_bytes()
    assert "1 plate of 96 wells: R1-P1" in run("plan", campaign).out
    (tmp_path / "c_plates.csv").mkdir()
    assert "this is a folder" in refused("plan", campaign, "--out", tmp_path / "c.csv")
    with Campaign.open(campaign) as held:  # as a window has it
        assert held.round(1).layout is not None
        assert done("plan", campaign)["plates"] == first["plates"]
        assert done("plan", campaign, *PLATE)["plates"] == first["plates"], "the same ones once more"
        assert "open in another window" in refused("plan", campaign, "--plate", 384)
        assert done("plan", campaign)["plates"] == first["plates"]
    other = done("plan", campaign, "--plate", 384)
    assert [plate["wells"] for plate in other["plates"]] == [384]
    assert done("plan", campaign)["plates"] == other["plates"]
    assert done("plan", campaign, "--no-plates")["plates"] is done("plan", campaign)["plates"] is None
    said = [entry["text"] for entry in done("log", campaign)]
    assert said[-3:] == [
        "Round 1 laid out on 1 plate of 96 wells, controls in columns 1, 12",
        "Round 1 laid out on 1 plate of 384 wells",
        "Plates of round 1 taken away",
    ]
    assert done("verify", campaign)["ok"]


def test_a_page_to_print(run, done, two, tmp_path):
    plan = done("plan", two, *PLATE, "--no-edge", "--out", tmp_path / "w.pdf")
    assert (plan["file"], plan["plate_map"]) == (str(tmp_path / "w.pdf"), None)
    assert (tmp_path / "w.pdf").read_bytes().startswith(b"%PDF")
    assert not (tmp_path / "w_plates.csv").exists()
    answer = run("plan", two, "--out", tmp_path / "plain.PDF")
    assert f"To print: {tmp_path / 'plain.PDF'}" in answer.out
    assert (tmp_path / "plain.PDF").exists()


def test_a_plate_too_small_for_an_assay_is_refused_before_a_round_is_issued(refused, two, tmp_path):
    before = two.read_bytes()
    said = refused("plan", two, "--plate", 24, "--no-edge", "--out", tmp_path / "w.csv")
    assert "--plate: a measurement of IC50 takes 10 wells, but a 24-well plate has 8 free" in said
    assert two.read_bytes() == before
    assert not (tmp_path / "w.csv").exists()

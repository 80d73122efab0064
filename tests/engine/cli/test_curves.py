"""Raw readings on the command line: fitted, written, drawn and recorded."""

import csv

import numpy as np
import pypdfium2
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.curves.fitting import logistic
from tests.engine.cli.helpers import read_sheet, truth_of, write_rows

DOSES = np.log10(3e-5 / 3.0 ** np.arange(9))


def write_raw(path, compounds, seed=1, sd=300.0):
    """Write a plate of readings: nine concentrations of each compound, 32 controls; a falling signal."""
    rng = np.random.default_rng(seed)
    rows = [("ID", "Conc (uM)", "RFU", "Plate")]
    for name, p in compounds.items():
        for x in DOSES:
            effect = float(logistic(np.array([x]), -p, 1.0, 0.0, 100.0)[0])
            rows.append((name, f"{10.0**x * 1e6:.6g}", f"{10_000 - 90 * effect + rng.normal(0.0, sd):.1f}", "P1"))
    for _ in range(16):
        rows.append(("DMSO", "", f"{10_000 + rng.normal(0.0, sd):.1f}", "P1"))
        rows.append(("blank", "", f"{1_000 + rng.normal(0.0, sd):.1f}", "P1"))
    return write_rows(path, rows)


@pytest.fixture
def planned(done, campaign, tmp_path):
    """A campaign with an open round, and the pIC50 of each of its compounds."""
    sheet = tmp_path / "work.csv"
    done("plan", campaign, "--out", sheet)
    return campaign, {row["ID"]: truth_of(row["R1"], row["R2"]) for row in read_sheet(sheet)[1]}


@pytest.mark.parametrize("endpoint", ["pIC50", "IC50 (nM)"])
def test_results_are_recorded_as_they_are_written(done, planned, tmp_path, endpoint):
    campaign, truth = planned
    raw, out = write_raw(tmp_path / "raw.csv", truth), tmp_path / "out.csv"
    fitted = done("curves", raw, out, "--endpoint", endpoint)
    assert fitted["values"] == len(truth)
    assert fitted["plates"][0]["z_prime"] > 0.5
    for one in fitted["curves"]:
        assert 0.01 < one["se_log10"] < 0.3
    found = done("record", campaign, out)
    assert (found["accepted"], found["rejected"]) == (len(truth), [])
    assert not [text for text in found["warnings"] if "Not used" in text]
    with Campaign.open(campaign, read_only=True) as opened:
        now = opened.status()
    values = {now.library.ids[m.compound]: m.value for m in now.measurements if m.round}
    assert values == pytest.approx(truth, abs=0.35)
    assert [m.entered.n for m in now.measurements if m.round] == [1] * len(truth)


def test_exclusion_in_the_points_file_is_kept(done, tmp_path):
    raw, out, points = (tmp_path / name for name in ("raw.csv", "out.csv", "points.csv"))
    write_raw(raw, {"A": 6.5, "B": 7.0})
    before = done("curves", raw, out, "--points", points)
    header, rows = read_sheet(points)
    assert len(rows) == before["points"] == 50
    rows[4]["Excluded"] = "air bubble"
    with points.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, header)
        writer.writeheader()
        writer.writerows(rows)
    again = tmp_path / "again.csv"
    after = done("curves", points, out, "--points", again)
    assert after["excluded"] == 1
    assert [one["excluded"] for one in after["curves"]] == [1, 0]
    assert read_sheet(out)[1][0]["Comment"] == "1 excluded"
    assert [row["Excluded"] for row in read_sheet(again)[1] if row["Excluded"]] == ["air bubble"]
    assert after["curves"][1]["value"] == before["curves"][1]["value"]


def test_plots_name_every_curve_and_what_to_look_at(done, tmp_path, monkeypatch):
    monkeypatch.setattr("assaypilot.engine.export.pictures._ROWS", 1)
    raw, out = tmp_path / "raw.csv", tmp_path / "out.csv"
    write_raw(raw, {**{f"CPD-{k}": 6.5 for k in range(4)}, "C$_1$_weak": 4.6}, sd=100.0)
    found = done("curves", raw, out, "--plots", tmp_path / "plots.pdf")
    document = pypdfium2.PdfDocument(tmp_path / "plots.pdf")
    pages = [document[k].get_textpage().get_text_bounded() for k in range(len(document))]
    assert len(pages) == 2
    assert "CPD-0 · P1" in pages[0]
    assert "C$_1$_weak" in pages[1]
    assert "not reached" in pages[1]
    assert found["plots"] == [str(tmp_path / "plots.pdf")]
    document.close()

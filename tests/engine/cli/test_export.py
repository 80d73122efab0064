"""``export``: every format by the ending of the name, what it answers, and what it refuses."""

import zipfile

import pytest

from tests.engine.cli.helpers import R1, R2, fill_in, read_sheet, truth_of

SMILES = {"H": "[H]", "Me": "C", "OMe": "OC", "Cl": "Cl", "F": "F", "CF3": "C(F)(F)F"}
STARTS = {
    ".csv": b"\xef\xbb\xbfID,",
    ".xlsx": b"PK\x03\x04",
    ".sdf": b"C-",
    ".pdf": b"%PDF-",
    ".pptx": b"PK\x03\x04",
}


@pytest.fixture
def drawn(table, tmp_path, done):
    """A campaign on twelve compounds with structures, one round measured."""
    import numpy as np

    rows: list[list[object]] = [["ID", "SMILES", "R1", "R2"]]
    pairs = [(a, b) for a in R1 for b in R2]
    for k, (a, b) in enumerate(pairs):
        one, other = SMILES[a], SMILES[b]
        rows.append([f"C-{k:02d}", f"c1({one})ccc({other})cc1".replace("([H])", ""), a, b])
    path = tmp_path / "drawn.assaypilot"
    done("new", path, "--table", table(rows), "--epsilon", "0.5", "--sd", "0.2", "--endpoint", "pIC50",
         "--strategy", "linfact-g")  # fmt: skip
    means = {f"C-{k:02d}": truth_of(a, b) for k, (a, b) in enumerate(pairs)}
    done("plan", path, "--out", tmp_path / "round.csv")
    fill_in(tmp_path / "round.csv", means.__getitem__, np.random.default_rng(3), 0.2)
    done("record", path, tmp_path / "round.csv", "--close")
    return path


@pytest.mark.parametrize("ending", STARTS)
def test_each_format_answers_alike(drawn, done, tmp_path, ending):
    out = tmp_path / f"list{ending}"
    answer = done("export", drawn, out, "--only", "all")
    now = done("status", drawn)
    assert (answer["file"], answer["rows"], answer["head"], answer["events"]) == (
        str(out),
        12,
        now["head"],
        now["events"],
    )
    assert (answer["format"], answer["only"]) == (ending[1:], "all")
    assert out.read_bytes().startswith(STARTS[ending])


def test_labels_only_make_no_sd_file(campaign, refused, done, tmp_path):
    line = refused("export", campaign, tmp_path / "x.sdf", "--only", "all")
    assert "no compound of the shortlist has a structure, and an SD file is a list of structures. Write csv" in line
    assert done("export", campaign, tmp_path / "x.xlsx", "--only", "all")["rows"] == 12


def test_an_empty_list_is_a_file_that_reports_it_except_for_sd(campaign, done, refused, tmp_path):
    for ending in (".csv", ".xlsx", ".pdf", ".pptx"):
        assert done("export", campaign, tmp_path / f"x{ending}")["rows"] == 0
    header, rows = read_sheet(tmp_path / "x.csv")
    assert header[0] == "ID"
    assert rows == []
    with zipfile.ZipFile(tmp_path / "x.xlsx") as parts:
        assert b"Nothing is decided yet" in parts.read("xl/drawings/drawing1.xml")
    assert "there is no compound in this list" in refused("export", campaign, tmp_path / "x.sdf")

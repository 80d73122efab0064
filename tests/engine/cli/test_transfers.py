"""The lists by which an Echo, a Hamilton or a Tecan fills the plates of a round, as each is publicly described."""

import csv

import pytest

from tests.engine.cli.helpers import read_sheet

PLATE = ("--plate", 96, "--control-columns", "DMSO=1")


def well(k, rows=16):
    """Return the k-th well of a plate, down the columns."""
    return f"{'ABCDEFGHIJKLMNOP'[k % rows]}{k // rows + 1}"


@pytest.fixture
def sources(table):
    """Where the twelve compounds of the small campaign and the solvent stand on a 384-well plate."""
    rows = [("Compound ID", "Source Plate", "Source Well"), *((f"C-{k:02d}", "LIB-7", well(k + 16)) for k in range(12))]
    return table([*rows, ("DMSO", "LIB-7", "P24")], "sources.csv")


def read(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def test_echo_pick_list_has_a_transfer_for_each_well(done, campaign, sources, tmp_path):
    picks, work = tmp_path / "picks.csv", tmp_path / "work.csv"
    words = ("--transfers", picks, "--format", "echo", "--sources", sources, "--volume", "25 nL", "--source-plate", 384)
    plan = done("plan", campaign, *PLATE, "--out", work, *words)
    header, *rows = read(picks)
    assert header == [
        "Source Plate Name", "Source Well", "Destination Plate Name", "Destination Well", "Transfer Volume",
        "Sample Name",
    ]  # fmt: skip
    assert not picks.read_bytes().startswith(b"\xef\xbb\xbf")
    assert plan["transfers"] == len(rows) == plan["measurements"] + 8
    placed = {(row["Plate"], row["Well"]): row["ID"] for row in read_sheet(work)[1]}
    wells = {(plate, to): (name, source) for _, source, plate, to, _, name in rows}
    for place, name in placed.items():
        assert wells[place] == (name, well(int(name[2:]) + 16))
    assert {source for name, source in wells.values() if name == "DMSO"} == {"P24"}
    assert {row[4] for row in rows} == {"25"}
    again = done("plan", campaign, *words)
    assert again["transfers"] == len(rows)


def test_hamilton_work_list_is_in_microlitres(done, campaign, sources, tmp_path):
    out = tmp_path / "work.csv"
    words = ("--format", "hamilton", "--sources", sources, "--volume", "1500 nL", "--source-plate", 384)
    done("plan", campaign, *PLATE, "--transfers", out, *words)
    header, first, *_ = read(out)
    assert header == ["SourceLabware", "SourcePosition", "TargetLabware", "TargetPosition", "Volume", "SampleID"]
    assert first == ["LIB-7", "P24", "R1-P1", "A1", "1.5", "DMSO"]


def test_tecan_work_list_counts_positions_down_the_columns(done, campaign, sources, tmp_path):
    out, work = tmp_path / "work.gwl", tmp_path / "list.csv"
    words = ("--format", "tecan", "--sources", sources, "--volume", "2 uL", "--source-plate", 384)
    plan = done("plan", campaign, *PLATE, "--transfers", out, "--out", work, *words)
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines[:4] == ["C;DMSO", "A;LIB-7;;;384;;2;;;;", "D;R1-P1;;;1;;2;;;;", "W;"]
    assert len(lines) == 4 * plan["transfers"]
    row = read_sheet(work)[1][0]
    place = lines.index(f"D;R1-P1;;;{8 * (int(row['Well'][1:]) - 1) + 'ABCDEFGH'.index(row['Well'][0]) + 1};;2;;;;")
    assert lines[place - 2 : place] == [f"C;{row['ID']}", f"A;LIB-7;;;{int(row['ID'][2:]) + 17};;2;;;;"]


def test_lists_that_would_mislead_a_robot_are_refused(refused, run, campaign, table, sources, tmp_path):
    out = tmp_path / "picks.csv"

    def said(*words, size=384, volume="25 nL", of=sources, to=out, handler="echo"):
        return refused(
            "plan", campaign, *words, "--transfers", to, "--format", handler, "--sources", of, "--volume", volume,
            "--source-plate", size,
        )  # fmt: skip

    assert "multiples of 2.5 nL, not 26 nL" in said(*PLATE, volume="26 nL")
    assert "'25' is no volume" in said(*PLATE, volume="25")
    assert "is no well of a 96-well plate. Its wells are A1 to H12. See --source-plate" in said(*PLATE, size=96)
    assert "the name must end in .gwl" in said(*PLATE, handler="tecan")
    assert "there is another table of this name" in said(*PLATE, to=sources)
    few = table([("ID", "Plate", "Well"), ("C-00", "LIB", "A1")], "few.csv")
    bare = table([("ID", "Stock"), ("C-00", "5")], "bare.csv")
    assert "Give the wells of compounds in columns ID, Plate and Well" in said(*PLATE, of=bare)
    assert "the round has no plate layout" in said()
    assert "the sources have no well of" in said(*PLATE, of=few)
    assert not out.exists()
    assert run("plan", campaign, "--transfers", out).code == 2

"""What a reader or a robot writes by itself is recorded for the compounds that stand in its wells."""

import pytest

from tests.engine.cli.helpers import read_sheet, truth_of
from tests.engine.tables.workbooks import write_xlsx

PLATE = ("--plate", 96, "--control-columns", "1,12")


@pytest.fixture
def planned(done, campaign, tmp_path):
    """A campaign whose round stands on a plate, and the rows of its work list."""
    sheet = tmp_path / "w.csv"
    done("plan", campaign, *PLATE, "--out", sheet)
    return campaign, read_sheet(sheet)[1]


def drawn(rows):
    """The whole plate as a reader gives it, every well with a signal."""
    values = {row["Well"]: truth_of(row["R1"], row["R2"]) for row in rows}
    return [
        ["Instrument", "Reader 5", *[None] * 11],
        ["Plate", "R1-P1", *[None] * 11],
        [None] * 13,
        [None, *range(1, 13)],
        *([row, *(values.get(f"{row}{column}", 0.125) for column in range(1, 13))] for row in "ABCDEFGH"),
        [None] * 13,
        ["Read by KL", *[None] * 12],
    ]


def test_a_whole_plate_of_a_reader_is_recorded(done, planned, tmp_path):
    campaign, rows = planned
    book = write_xlsx(tmp_path / "reader.xlsx", {"Raw": drawn(rows)})
    found = done("record", campaign, book)
    assert (found["accepted"], found["unplanned"], found["rejected"], found["round_closed"]) == (
        len(rows), 0, [], True,
    )  # fmt: skip
    told = "\n".join(found["warnings"])
    assert "A plate is drawn (A1 to H12); 96 wells hold something" in told
    assert "Wells of controls were left out: max, min." in told
    assert "Wells where nothing stands were left out" in told


def test_a_plate_again_as_text_and_as_the_work_list_is_noticed(done, refused, planned, tmp_path):
    campaign, rows = planned
    plate = tmp_path / "reader.csv"
    plate.write_text("\n".join(",".join("" if c is None else str(c) for c in line) for line in drawn(rows)))
    assert done("record", campaign, plate)["accepted"] == len(rows)
    assert "in the campaign already" in refused("record", campaign, plate)
    listed = tmp_path / "list.csv"
    lines = [f"{r['ID']},{r['Round']},{r['Replicate']},{truth_of(r['R1'], r['R2'])},R1-P1,{r['Well']}" for r in rows]
    listed.write_text("ID,Round,Replicate,Value,Plate,Well\n" + "\n".join(lines))
    assert "in the campaign already" in refused("record", campaign, listed)


def test_batches_and_a_failed_well_of_a_list(done, planned, tmp_path):
    campaign, rows = planned
    values = [f"{truth_of(row['R1'], row['R2']) + 0.01 * k:.2f}" for k, row in enumerate(rows)]
    checks = ["fail" if k == 2 else "pass" for k in range(len(rows))]
    lines = [f"{row['ID']}-01,{value},{qc}" for row, value, qc in zip(rows, values, checks, strict=True)]
    path = tmp_path / "list.csv"
    path.write_text("Sample,Result,QC\n" + "\n".join(lines))
    found = done("record", campaign, path)
    assert (found["accepted"], found["excluded"], found["rejected"]) == (len(rows), 1, [])
    assert found["outstanding"] == 1
    assert any(text.startswith("Batches stand behind ids") for text in found["warnings"])

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.campaign.plating import plate_layout
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.plates import PlateUse, read_controls
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.sheet import Sheet, write_csv
from assaypilot.engine.export.work_list import NOT_PLANNED, plate_map, work_list
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.results import read_results
from tests.engine.export.making import IC50, as_dicts, begin, planned

HERG = Endpoint("hERG pIC50", noise_sd=0.3, limit=Limit("<", 5.0))
CURVE = Endpoint("IC50", unit="nM", transform="log", noise_sd=0.2, wells_per_measurement=10)
ENDS = PlateUse(96, read_controls(["1,12"]))


def issue(campaign: Campaign) -> tuple[Status, Round]:
    issued = campaign.plan()
    return campaign.status(), issued


def filled(sheet: Sheet, path: Path, column: str = "Value", value: float = 5.0) -> Path:
    """The sheet as a lab sends it back, a value of its own in each row."""
    place = sheet.header.index(column)
    rows = [(*row[:place], value + k / 100, *row[place + 1 :]) for k, row in enumerate(sheet.rows)]
    write_csv(path, sheet.header, rows)
    return path


def test_endpoints_on_plates_of_their_own_have_rows_of_their_own(tmp_path: Path) -> None:
    now, issued = planned(tmp_path, endpoints=(CURVE, HERG))
    assert issued.endpoints == (0, 1)
    layout = plate_layout(now, issued, ENDS)
    sheet = work_list(now, issued, layout)
    rows = as_dicts(sheet)
    assert len(rows) == issued.measurements
    told = [str(row["Endpoint"]) for row in rows]
    assert told in (sorted(told), sorted(told, reverse=True))
    assert {(row["Endpoint"], row["Unit"]) for row in rows} == {("IC50", "nM"), ("hERG pIC50", "")}
    of = {plate.name: {now.endpoints[k].name for k in plate.endpoints} for plate in layout.plates}
    assert all(of[str(row["Plate"])] == {row["Endpoint"]} for row in rows)
    read = read_results(read_table(filled(sheet, tmp_path / "w.csv")), now.library, now.endpoints)
    assert (len(read.results), read.rejected) == (len(rows), ())
    assert [(r.compound, r.endpoint, r.plate, r.well) for r in read.results] == [
        (row["ID"], row["Endpoint"], row["Plate"], row["Well"]) for row in rows
    ]


def test_what_is_in_already_is_neither_asked_nor_placed(tmp_path: Path) -> None:
    """Of the first compound hERG is in, of the second one replicate of IC50."""
    now, issued = planned(tmp_path, endpoints=(IC50, HERG), max_replicates=2)
    asked = {0: (2, 0), 1: (1, 2)}
    items = tuple(replace(item, replicates=2, asked=asked.get(k, (2, 2))) for k, item in enumerate(issued.items[:5]))
    issued = replace(issued, items=items, back=((0, 0),) * 5)
    names = [now.library.ids[item.compound] for item in items]
    apart = as_dicts(work_list(now, issued, plate_layout(now, issued, ENDS)))
    assert len(apart) == issued.measurements == 17
    assert [row["Endpoint"] for row in apart if row["ID"] == names[0]] == ["IC50", "IC50"]
    assert [row["Endpoint"] for row in apart if row["ID"] == names[1]] == ["IC50", "hERG pIC50", "hERG pIC50"]
    for layout in (None, plate_layout(now, issued, PlateUse(96, same_wells=True))):
        rows = as_dicts(work_list(now, issued, layout))
        assert [(row["IC50"], row["hERG pIC50"]) for row in rows if row["ID"] in names[:2]] == [
            ("", NOT_PLANNED), ("", NOT_PLANNED), ("", ""), (NOT_PLANNED, ""),
        ]  # fmt: skip
        assert all(bool(row["Well"]) == (layout is not None) for row in rows)
        if layout is not None:
            of = {(one.compound, one.replicate): one.endpoints for plate in layout.plates for one in plate.placed}
            first, second = items[0].compound, items[1].compound
            assert [of[c, r] for c in (first, second) for r in (1, 2)] == [(0,), (0,), (0, 1), (1,)]


def test_a_filled_in_list_is_recorded_once(tmp_path: Path) -> None:
    with begin(tmp_path / "a.assaypilot", max_replicates=3) as campaign:
        now, issued = issue(campaign)
        sheet = work_list(now, issued, plate_layout(now, issued, ENDS))
        raw = read_table(filled(sheet, tmp_path / "w.csv"))
        results = read_results(raw, now.library, now.endpoints).results
        first = campaign.record(results[:7])
        assert (first.accepted, first.unplanned, first.duplicates) == (7, 0, 0)
        assert plate_layout(campaign.status(), issued, ENDS) == plate_layout(now, issued, ENDS), "nothing moves"
        whole = campaign.record(results, close=True)
        assert (whole.accepted, whole.unplanned, whole.duplicates) == (len(results) - 7, 0, 7)
        assert {m.entered.plate for m in campaign.status().measurements} == {"R1-P1"}


def test_the_plate_map_lists_every_well_once_and_controls_name_no_compound(tmp_path: Path) -> None:
    now, issued = planned(tmp_path, endpoints=(CURVE, HERG))
    layout = plate_layout(now, issued, ENDS)
    sheet = plate_map(now, issued, layout)
    rows = as_dicts(sheet)
    places = [(row["Plate"], row["Well"]) for row in rows]
    assert len(set(places)) == len(places)
    controls = [row for row in rows if row["Content"] == "control"]
    assert len(controls) == 16 * len(layout.plates)
    assert {row["ID"] for row in controls} == {""}
    assert {row["Control"] for row in controls} == {"max", "min"}
    wells = sum(now.endpoints[k].wells_per_measurement for plate in layout.plates for one in plate.placed
                for k in one.endpoints)  # fmt: skip
    assert len(rows) - len(controls) == wells
    for name, letter, number, well in ((r["Plate"], r["Row"], r["Column"], r["Well"]) for r in rows):
        assert f"{letter}{number}" == well, name
    ranks = {row["Rank"] for row in rows if row["ID"]}
    assert ranks == set(range(1, len(issued.items) + 1))
    one = [row for row in rows if row["Rank"] == 1 and row["Endpoint"] == "IC50" and row["Replicate"] == 1]
    assert [row["Point"] for row in sorted(one, key=lambda row: int(str(row["Column"])))] == list(range(1, 11))
    # As it is it holds no results, and with values a control is no compound.
    write_csv(tmp_path / "m.csv", sheet.header, sheet.rows)
    with pytest.raises(AssayPilotError, match="there is no column Value"):
        read_results(read_table(tmp_path / "m.csv"), now.library, now.endpoints)
    values = Sheet((*sheet.header, "Value"), tuple((*row, 5.0) for row in sheet.rows))
    write_csv(tmp_path / "v.csv", values.header, values.rows)
    read = read_results(read_table(tmp_path / "v.csv"), now.library, now.endpoints)
    assert {entry.reason for entry in read.rejected} == {"the id is missing"}
    assert len(read.rejected) == len(controls)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    size=st.sampled_from([24, 96, 384]),
    wells=st.integers(1, 8),
    columns=st.lists(st.integers(1, 6), max_size=2, unique=True),
    edge=st.booleans(),
    same=st.booleans(),
)
def test_every_measurement_has_wells_of_its_own(
    several: tuple[Status, Round], size: int, wells: int, columns: list[int], edge: bool, same: bool
) -> None:
    now, issued = several
    now = replace(now, endpoints=(replace(IC50, wells_per_measurement=wells), HERG))
    try:
        controls = read_controls([",".join(map(str, columns))]) if columns else ()
        use = PlateUse(size, controls, edge=edge, same_wells=same)
        layout = plate_layout(now, issued, use)
    except AssayPilotError:
        assume(False)
    for plate in layout.plates:
        used = [well for one in plate.placed for well in one.wells]
        assert len(set(used)) == len(used)
        assert {len(one.wells) for one in plate.placed} == {wells if 0 in plate.endpoints else 1}
        assert not set(used) & set(use.control_wells())
        assert set(plate.contents()) == set(used)
    listed = {
        (item.compound, replicate, k)
        for item in issued.items
        for place, k in enumerate(issued.endpoints)
        for replicate in range(1, item.of(place) + 1)
    }
    placed = [
        (one.compound, one.replicate, k) for plate in layout.plates for one in plate.placed for k in one.endpoints
    ]
    assert sorted(placed) == sorted(listed), "every measurement once"
    assert plate_layout(now, issued, use) == layout


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> tuple[Status, Round]:
    return planned(tmp_path_factory.mktemp("plates"), endpoints=(IC50, HERG), max_replicates=4)

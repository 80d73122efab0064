"""Results as robots, readers and other programs give them back: other ids, wells, plates, runs, signs, failures."""

import pytest

from assaypilot.engine.domain.controls import Control
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.plates.layout import Control as Standing
from assaypilot.engine.domain.plates.layout import Layout, Placed, Plate, PlateUse
from assaypilot.engine.domain.plates.wells import Well
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.compound_names import CompoundNames
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.results import read_results

IDS = ["AP-0001", "AP-0012", "AP-0120", "AP-0121"]
LIBRARY = Library.listed(["R1", "R2"], [["Me", "H"], ["Et", "H"], ["Me", "0.1"], ["Et", "0.1"]], ids=IDS)
IC50 = Endpoint("IC50 (nM)", "nM", "log", noise_sd=0.2)
PIC50 = Endpoint("pIC50", noise_sd=0.2)


def read(text, *endpoints, library=LIBRARY, **more):
    raw = parse_text("\n".join("\t".join(line.split("|")) for line in text.strip().split("\n")))
    return read_results(raw, library, endpoints or (IC50,), **more)


def values(table):
    return [(r.compound, r.relation, r.value) for r in table.results]


def refusal(text, *endpoints, **more):
    with pytest.raises(AssayPilotError) as caught:
        read(text, *endpoints, **more)
    return str(caught.value)


# ---------------------------------------------------------------------- ids


@pytest.mark.parametrize("name", ["AP_0012", "AP 0012", "ap0012", "AP-12", "AP.00012", "AP/0012"])
def test_an_id_in_other_marks_is_that_of_the_only_compound_it_can_be(name):
    found = CompoundNames(LIBRARY).find(name)
    assert (found.compound, found.otherwise, found.batch) == (1, True, "")


@pytest.mark.parametrize(
    ("name", "batch"),
    [("AP-0012-03", "03"), ("AP-0012_001", "001"), ("AP-12-3", "3"), ("AP-0012 lot 7", "7"), ("ap-0012-B02", "02")],
)
def test_a_batch_behind_an_id_is_no_other_compound(name, batch):
    found = CompoundNames(LIBRARY).find(name)
    assert (found.compound, found.batch) == (1, batch)


@pytest.mark.parametrize(
    ("ids", "name"),
    [
        (["AP-1", "AP1"], "AP_1"),  # could be both
        (["AP-1", "AP-1-2"], "AP-1-3"),  # such endings are compounds there
        (["AP-1", "AP-2"], "AP-1+"),
        (["AP-1", "AP-2"], "rac-AP-1"),
        (["AP-1", "AP-2"], "AP-1a"),
        (["AP-1", "AP-2"], "BP-1"),
        (["1", "12"], "12-1"),  # an example's number
        (["1201", "1202"], "1201.5"),
        (["-3", "4"], "03"),
    ],
)
def test_what_may_be_another_compound_is_not_guessed(ids, name):
    library = Library.listed(["R1"], [["Me"], ["Et"]], ids=ids)
    assert CompoundNames(library).find(name) is None


# ---------------------------------------------------------------------- values


def test_a_table_on_its_side_is_said_to_be_so():
    table = "ID|" + "|".join(f"c{n}" for n in range(20)) + "\n{}|" + "|".join(["5"] * 20)
    said = refusal(table.format("Gloss"), Endpoint("Gloss", noise_sd=0.2))
    assert "c0, c1" in said
    assert "and 9 more. Turn the table, so that each compound has a row." in said


# ---------------------------------------------------------------------- plates


def plates(*names, wells=1, controls=()):
    """Layouts of one round with the first two compounds on each plate: A1 and B2, and AP-0120 in C3."""
    use = PlateUse(96, tuple(controls))
    made = tuple(
        Plate(
            name,
            (0,),
            tuple(
                Placed(compound, (0,), k + 1, tuple(Well(row, column + n) for n in range(wells)))
                for compound, row, column in ((0, 0, 0), (1, 1, 1), (2, 2, 2))
            ),
        )
        for k, name in enumerate(names)
    )
    return (Layout(use, 3, made),)


def test_wells_name_their_compounds():
    table = read("Plate|Well|Result (nM)\nR3-P2|A01|10\nR3-P1|b2|20\nR3-P1|H12|5", layouts=plates("R3-P1", "R3-P2"))
    assert [(r.compound, r.plate, r.replicate, r.round, r.value) for r in table.results] == [
        ("AP-0001", "R3-P2", "2", 3, 10), ("AP-0012", "R3-P1", "1", 3, 20),
    ]  # fmt: skip
    assert table.warnings == ("Wells where nothing stands were left out: H12.",)


def test_a_barcode_is_the_only_plate_and_none_of_several():
    text = "Plate Barcode|Well ID|Result\nBC1|A1|10\nBC1|B2|20"
    table = read(text, layouts=plates("R3-P1"))
    assert [(r.compound, r.plate) for r in table.results] == [("AP-0001", "R3-P1"), ("AP-0012", "R3-P1")]
    assert table.warnings == ("Plate BC1 was taken for R3-P1, the only one of round 3.",)
    said = refusal(text, layouts=plates("R3-P1", "R3-P2"))
    assert "'BC1' is no plate of this campaign" in said
    assert "(R3-P1, R3-P2), or add a column ID" in said
    assert "there is no column of compound ids" in refusal(text)
    assert "a measurement takes 3 wells on R3-P1" in refusal(text, layouts=plates("R3-P1", wells=3))


@pytest.mark.parametrize(("row", "col"), [("B", "2"), ("2", "02"), ("b", "2")])
def test_a_row_and_a_column_are_a_well(row, col):
    table = read(f"plate|row|col|pIC50\nR3-P1|{row}|{col}|7", PIC50, layouts=plates("R3-P1"))
    assert values(table) == [("AP-0012", "=", 7)]


def test_ids_go_before_wells():
    table = read("ID|Plate|Well|Result\nAP-0120|R3-P1|A1|10", layouts=plates("R3-P1"))
    assert values(table) == [("AP-0120", "=", 10)]


def grid(first="", title=None, fill=None, corner=""):
    fill = fill or {"A1": "10", "B2": ">500", "C3": "ERR", "D4": "7"}
    lines = [title] if title else []
    lines.append("|".join([corner, *map(str, range(1, 13))]))
    lines += ["|".join([row, *(fill.get(f"{row}{n}", first) for n in range(1, 13))]) for row in "ABCDEFGH"]
    return "\n".join(lines)


def test_a_plate_that_is_drawn_is_read_well_by_well():
    table = read(grid(), layouts=plates("R3-P1"))
    assert values(table) == [("AP-0001", "=", 10), ("AP-0012", ">", 500)]
    assert [(r.row, r.column, r.reason) for r in table.rejected] == [(4, "Value, well C3", "'ERR' is not a number")]
    assert table.warnings == (
        "A plate is drawn (A1 to H12); 4 wells hold something, and each is a row.",
        "Wells where nothing stands were left out: D4.",
    )


def test_plates_drawn_one_below_the_other_are_told_by_their_titles():
    text = grid(title="Plate: R3-P2") + "\n|\n" + grid(title="Plate|R3-P1", fill={"A1": "3"})
    table = read(text, layouts=plates("R3-P1", "R3-P2"))
    assert [(r.compound, r.plate, r.value) for r in table.results] == [
        ("AP-0001", "R3-P2", 10), ("AP-0012", "R3-P2", 500), ("AP-0001", "R3-P1", 3),
    ]  # fmt: skip
    named = read(grid(corner="R3-P1", fill={"A1": "3"}), layouts=plates("R3-P1", "R3-P2"))
    assert [(r.compound, r.plate) for r in named.results] == [("AP-0001", "R3-P1")]
    assert "the wells do not say of which plate they are" in refusal(grid(), layouts=plates("R3-P1", "R3-P2"))


def test_controls_on_a_plate_are_read_where_the_campaign_knows_them():
    layouts = plates("R3-P1", controls=(Standing("REF", (12,)), Standing("max", (11,))))
    fill = {"A1": "10"} | {f"{row}{n}": "5" for row in "ABCDEFGH" for n in (11, 12)}
    known = read(grid(fill=fill), layouts=layouts, controls=(Control("REF"),))
    assert [r.compound for r in known.results].count("REF") == 8
    assert "Wells of controls were left out: max." in known.warnings
    assert len(read(grid(fill=fill), layouts=layouts).results) == 1

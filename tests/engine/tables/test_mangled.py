"""Ids and cells that spreadsheets and habits have changed, rows of types, forms of one id: said, not read."""

import pytest

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.check import about_own_sds
from assaypilot.engine.tables.headers import split_unit
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.results import read_results
from assaypilot.engine.tables.spellings import about_ids, one_spelling


def imported(text):
    raw = parse_text(text)
    return import_table(raw, propose(raw))


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["1-Mar", "A-2", "A-3"], "Ids look like dates (1-Mar)"),
        (["A-1", "Mar-07", "2024-03-08", "A-4"], "Ids look like dates (Mar-07, and 1 more)"),
        (["1.2E+05", "A-2"], "Ids look like powers of ten (1.2E+05)"),
        (["01.06.2024", "02.06.24", "x"], "Ids look like dates"),
    ],
)
def test_ids_that_look_like_dates_are_asked_about(ids, said):
    assert said in (about_ids(ids) or "")


@pytest.mark.parametrize("ids", [["MAR-1", "E5"], ["2024-03-01", "2024-03-02"], ["12", "13"], ["US123-1", "1-2"]])
def test_ids_that_are_none(ids):
    assert about_ids(ids) is None


def test_a_result_of_such_an_id_says_what_may_have_happened():
    library = Library.listed(["R1"], [["Me"], ["H"]], ids=["MAR-1", "MAR-2"])
    table = read_results(parse_text("ID,pIC50\n1-Mar,7\nMAR-2,6\n"), library, [Endpoint("pIC50", noise_sd=0.2)])
    assert [one.reason for one in table.rejected] == [
        "'1-Mar' is no compound of this campaign; a spreadsheet may have made a date of its id"
    ]


def test_a_label_and_the_structure_it_names_are_asked_about():
    warnings: list[str] = []
    one_spelling("R2", ["Cl", "Cl[*:2]", "OMe", "CO[*:2]", "[*:2]CO", "C1CC1[*:2]"], [], warnings)
    assert [text.split(" at ")[0] for text in warnings] == ["Cl, Cl[*:2]", "OMe, CO[*:2]"]


def test_a_unit_before_what_the_value_is():
    assert split_unit("IC50 nM geomean") == ("IC50 geomean", "nM")
    assert split_unit("EGFR IC50_uM_mean") == ("EGFR IC50 mean", "µM")
    assert split_unit("Geo mean") == ("Geo mean", "")


def means(sd, *, n=3, stated=None):
    rows = "".join(f"c{k},{a},{b},{6 + 0.1 * k},{sd},{n}\n" for k, (a, b) in enumerate(
        (a, b) for a in ("Me", "H", "Et") for b in ("F", "Cl")))  # fmt: skip
    table = imported("ID,R1,R2,pIC50,SD,N\n" + rows)
    endpoint = table.endpoints[0] if stated is None else Endpoint("pIC50", noise_sd=stated)
    return next(iter(about_own_sds([endpoint], table.history)), None)


def test_noise_that_only_the_sds_beside_means_tell_has_a_hint():
    said = means(0.05) or ""
    assert "the SDs beside its means of N say a noise of 0.05" in said
    assert "State the SD between runs." in said
    assert means(0.05, stated=0.2) is None
    assert means(0.05, n=1) is None


def test_rows_of_one_compound_that_differ_by_more_are_named():
    rows = "".join(f"c{k},{a},F,{6 + k + d},0.05,3\n" for k, a in enumerate(("Me", "H", "Et", "Pr")) for d in (0, 0.4))
    table = imported("ID,R1,R2,pIC50,SD,N\n" + rows)
    assert "Rows of one compound differ by more, SD 0.28." in about_own_sds(table.endpoints, table.history)[0]


def test_json_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('[{"ID": "a", "R1": "Me"}]', encoding="utf-8")
    with pytest.raises(AssayPilotError, match="this is JSON, not a table"):
        read_table(path)
    assert parse_text("[R1],pIC50\nMe,6\n").columns == ("[R1]", "pIC50")

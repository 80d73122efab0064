"""Workbooks, SD files and files of SMILES on the command line, from check to a campaign and its results."""

from tests.engine.tables.corpus import record
from tests.engine.tables.workbooks import write_xlsx

HEAD = ["ID", "R1", "R2", "pIC50"]
ROWS = [[f"c{n}", ("H", "Me", "Et")[n % 3], ("Cl", "F")[n % 2], 5.0 + 0.25 * n] for n in range(6)]


def test_a_sheet_of_a_workbook_becomes_a_campaign_and_another_its_results(done, run, tmp_path):
    book = write_xlsx(
        tmp_path / "series.xlsx",
        {"Read me": [["Series 7"]], "Compounds": [["Title"], [], HEAD, *ROWS], "Old": [HEAD, *ROWS[:2]]},
        hidden=["Old"],
    )
    report = done("check", book)
    assert (report["kind"], report["sheet"], report["rows_used"], report["encoding"]) == (
        "workbook",
        "Compounds",
        6,
        "",
    )
    assert report["read_as"] == "workbook, sheet Compounds"
    assert any("Hidden: Old" in text for text in report["warnings"])
    assert "(workbook, sheet Compounds)" in run("check", book).out
    campaign = tmp_path / "c.assaypilot"
    done("new", campaign, "--table", book, "--sheet", "compounds", "--epsilon", 0.5, "--sd", 0.2, "--per-round", 8)
    plan = done("plan", campaign)
    results = write_xlsx(
        tmp_path / "results.xlsx",
        {
            "Notes": [["nothing", "here"], ["a", "b"]],
            "Run 1": [["ID", "Value"], *([one["id"], 6.5] for one in plan["compounds"])],
        },
    )
    found = done("record", campaign, results, "--sheet", "Run 1")
    assert found["accepted"] == len(plan["compounds"])
    refused = run("check", book, "--sheet", "Compound")
    assert refused.code == 1
    assert "--sheet: there is no sheet 'Compound'; the sheets are Read me, Compounds, Old" in refused.err


def test_an_sd_file_is_a_table_and_joins_one(done, tmp_path):
    sdf = tmp_path / "t.sdf"
    sdf.write_text("".join(record(row[0], ("R1", row[1]), ("R2", row[2])) for row in ROWS) + record("x", ("R1", "Pr")))
    csv = tmp_path / "t.csv"
    csv.write_text("Name,pIC50\n" + "".join(f"{row[0]},{row[3]}\n" for row in ROWS) + "z,5\n")
    report = done("check", sdf, "--join", csv)
    assert (report["kind"], report["id_column"], report["smiles_column"]) == ("sdf", "Name", "SMILES")
    assert report["unmatched"] == {"table": ["x"], "joined": ["z"]}
    assert report["endpoints"][0]["measured"] == 6
    assert [(one["row"], one["column"]) for one in report["not_used"]] == [(7, "R2")]


def test_each_of_two_workbooks_may_have_its_sheet(done, run, tmp_path):
    compounds = [["ID", "R1"], ["a", "Me"], ["b", "H"], ["c", "Et"]]
    book = write_xlsx(
        tmp_path / "book.xlsx",
        {"Old": [["ID", "R1"], ["x", "Pr"], ["y", "H"]], "Series": compounds},
    )
    values = write_xlsx(
        tmp_path / "values.xlsx",
        {"May": [["ID", "pIC50"], ["a", 5]], "June": [["ID", "pIC50"], ["a", 6], ["b", 7], ["c", 8]]},
    )
    both = done("check", book, "--sheet", "Series", "--join", values, "--sheet", "June")
    assert (both["compounds"], both["endpoints"][0]["measured"]) == (3, 3)
    assert both["unmatched"] == {"table": [], "joined": []}
    # One workbook may hold both, and a single name is for the only workbook there is.
    text = tmp_path / "t.csv"
    text.write_text("ID,R1\na,Me\nb,H\n")
    assert done("check", text, "--join", values, "--sheet", "June")["endpoints"][0]["measured"] == 2
    assert "there is no sheet 'June'" in run("check", book, "--sheet", "Series", "--join", book, "--sheet", "June").err
    refused = run("check", text, "--join", values, "--sheet", "May", "--sheet", "June")
    assert "--sheet: 2 sheets were named, for 1 workbook" in refused.err
    assert "only workbooks have sheets" in run("check", text, "--sheet", "May").err


def test_the_header_of_a_table_can_be_named(done, run, tmp_path):
    groups = ["Kinase", None, "Groups", None]
    book = write_xlsx(tmp_path / "odd.xlsx", {"Data": [groups, ["Who", "Left", "Right", "What"], *ROWS]})
    refused = run("check", book, "--header", "1")
    assert "there is no site column" in refused.err
    assert "--header 2" not in refused.err  # it was named
    found = done("check", book, "--header", "2", "--sites", "Left,Right", "--endpoint", "What;sd=0.2")
    assert (found["rows_used"], found["endpoints"][0]["measured"]) == (len(ROWS), len(ROWS))
    assert run("check", book, "--header", "1-4").code == 2
    table = tmp_path / "odd.csv"
    table.write_text("Grp,,Sub,,\nfoo,bar,baz,qux,12\na,b,c,,13\n", encoding="utf-8")
    assert "Or say which row is the header, for example --header 2 or --header 1-2." in run("check", table).err

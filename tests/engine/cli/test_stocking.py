"""``stock``, and ``plan`` with orders: the whole way on the command line, and what is refused in one line."""

from typing import Any

import numpy as np
import pytest

from tests.engine.cli.helpers import R1, R2, fill_in, read_sheet, truth_of


@pytest.fixture
def listed(table):
    """The small table with a stock: half of it to be made."""
    rows: list[Any] = [("ID", "R1", "R2", "Stock", "Cost", "Lead")]
    for place, (a, b) in enumerate((a, b) for a in R1 for b in R2):
        rows.append(
            (f"C-{place:02d}", a, b, *(("yes", "", "") if place < 6 else ("no", f"{100 + 10 * place} EUR", "2 weeks")))
        )
    return table(rows, "listed.csv")


@pytest.fixture
def campaign(listed, tmp_path, done):
    path = tmp_path / "stock.assaypilot"
    terms = ("--currency", "CHF")
    made = done(
        "new", path, "--table", listed, "--endpoint", "pIC50;sd=0.2", "--epsilon", "0.5", "--per-round", "36", *terms
    )
    assert made["stock"]["in_stock"] == made["stock"]["to_be_made"] == 6
    return path


def test_check_states_what_it_reads(listed, done, run):
    said = done("check", listed)["stock"]
    assert said == {"in_stock": 6, "to_be_made": 6, "cannot_be_made": 0, "costs": 6, "leads": 6}
    assert "6 in stock, 6 to be made" in run("check", listed).out
    named = done("check", listed, "--stock", "Stock", "--cost", "Cost", "--lead", "Lead")["stock"]
    assert named == said


def test_asking_again_while_everything_has_to_be_made_plans_nothing_again(tmp_path, done):
    table, path = tmp_path / "none.csv", tmp_path / "none.assaypilot"
    rows = [f"C{a}{b},A{a},B{b},{6 + a / 2 if b == 0 else ''},no" for a in range(5) for b in range(4)]
    table.write_text("\n".join(["ID,R1,R2,pIC50,In stock", *rows]), encoding="utf-8")
    words = ("--endpoint", "pIC50;sd=0.2", "--epsilon", "0.5", "--per-round", "4", "--strategy", "gaussian-process")
    done("new", path, "--table", table, *words)
    heads = []
    for _ in range(3):
        assert done("plan", path)["compounds"] == []
        heads.append(done("status", path)["head"])
    assert heads[1] == heads[2]


def test_a_column_of_substituents_is_no_stock(listed, tmp_path, run):
    for option in ("--stock", "--cost", "--lead"):
        words = ("--table", listed, "--endpoint", "pIC50;sd=0.2", "--epsilon", "0.5", option, "R1")
        found = run("new", tmp_path / "x.assaypilot", *words)
        assert found.code == 1
        assert "column R1 holds substituents, and nothing that says" in found.err
        assert option in found.err
        assert not (tmp_path / "x.assaypilot").exists()


def test_orders_and_arrivals(campaign, tmp_path, done, run):
    out, orders = tmp_path / "round.csv", tmp_path / "orders.csv"
    issued = done("plan", campaign, "--out", out, "--orders", orders)
    assert issued["orders"]
    header, rows = read_sheet(orders)
    assert len(rows) == len(issued["orders"])
    assert {"ID", "R1", "R2", "Stock", "Cost", "Currency", "Lead (days)", "Expected", "Why"} <= set(header)
    assert rows[0]["Currency"] == "CHF"
    fill_in(out, lambda name: truth_of(*_parts(name)), np.random.default_rng(1), 0.2)
    done("record", campaign, out)
    waiting = done("plan", campaign)
    assert waiting["compounds"] == []
    assert not waiting["finished"]
    assert "has to be made first" in run("plan", campaign).out
    status = done("status", campaign)
    assert [one["id"] for one in status["stock"]["orders"]] == [row["ID"] for row in rows]
    assert {"stock", "cost", "lead_days"} <= set(status["compounds"][0])
    # The order list comes back with what has arrived marked in it.
    text = orders.read_text(encoding="utf-8-sig").replace("to be made", "arrived", 1)
    orders.write_text(text, encoding="utf-8")
    came = done("stock", campaign, orders)
    assert len(came["orders"]) == len(rows) - 1
    came = done("stock", campaign, "--arrived", "all")
    assert came["orders"] == []
    assert {one["id"] for one in done("plan", campaign)["compounds"]} == {row["ID"] for row in rows}
    listed = run("plan", campaign).out.splitlines()
    (heading,) = (line for line in listed if "Cost (CHF)" in line and "Lead (days)" in line)
    line = listed[listed.index(heading) + 1]
    assert f" {next(row['Cost'] for row in rows if row['ID'] == line.split()[1])} " in line
    assert " 14 " in line
    assert any("Arrived" in entry["text"] for entry in done("log", campaign))
    assert done("verify", campaign, "--recompute")["ok"]


def _parts(name: str) -> tuple[str, str]:
    return [(a, b) for a in R1 for b in R2][int(name[2:])]


def test_a_list_with_faults_takes_the_rest(campaign, table, done):
    rows = [("ID", "Stock", "Cost"), ("C-00", "cannot", ""), ("X", "yes", ""), ("C-07", "yes", ""), ("C-08", "", "-4")]
    answer = done("stock", campaign, table(rows, "s.csv"))
    assert answer["taken"] == 2
    assert [(one["row"], one["column"]) for one in answer["not_used"]] == [(3, "ID"), (5, "Cost")]
    assert (answer["in_stock"], answer["cannot_be_made"]) == (6, 1)
    assert done("stock", campaign)["in_stock"] == 6
    assert not done("stock", campaign, table(rows, "s.csv"))["changed"]

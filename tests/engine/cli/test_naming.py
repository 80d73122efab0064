"""An endpoint may be called as the goal calls it: by its name, without the unit, or by its scale."""

import pytest


@pytest.mark.parametrize("objective", ["IC50 (nM)", "IC50", "pIC50", "PIC50"])
def test_the_objective_is_found_by_what_it_is_called(objective, done, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("ID,R1,IC50 (nM)\na,Me,10\nb,H,30\nc,Et,25\n", encoding="utf-8")
    made = done("new", tmp_path / "c.assaypilot", "--table", table, "--sd", "0.2", "--epsilon", "0.5",
                "--objective", objective)  # fmt: skip
    assert made["objective"] == "IC50 (nM)"

"""The committed report of calibrations is whole, passes, and rows of it can be made anew."""

import pytest

from tests.published import calibration as c
from tests.published.calibration_kinds import KINDS
from tests.published.calibration_rows import passes, tables

TEXT = c.REPORT.read_text(encoding="utf-8")


def test_every_strategy_and_table_has_a_row_of_a_thousand_campaigns_that_passes():
    plain, losing = tables(TEXT)[:2]
    asked = {(kind.label, instance.name, mode or "-") for kind in KINDS for instance, mode in c.cases(kind)}
    assert {tuple(row[:3]) for row in plain} == asked
    assert {row[0] for row in losing} == {kind.label for kind in KINDS}
    assert all(int(row[4]) >= 1000 for row in plain)
    assert [row[:3] for row in (*plain, *losing) if not passes(row)] == []
    assert f"{len(plain)} of {len(plain)} calibrations pass." in TEXT


@pytest.mark.parametrize(("cell", "value"), [(7, "0.3100"), (13, "0.000"), (14, "1.063")])
def test_failing_row_is_reported(cell, value):
    row = list(tables(TEXT)[0][0])
    assert passes(row)
    row[cell] = value
    assert not passes(row)

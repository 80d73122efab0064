"""What marks decimals and thousands: a comma that may mean either is never guessed at."""

import pytest

from assaypilot.engine.tables.opening import ReadAs, parse_text, read_text_as
from assaypilot.engine.tables.values import parse_number, parse_value


def block(*values: str, decimal: str | None = None):
    text = "ID\tR1\tIC50 (nM)\n" + "".join(f"c{k}\tMe\t{value}\n" for k, value in enumerate(values))
    return read_text_as(text, ReadAs(decimal=decimal)).raw


def test_thousands_pasted_from_a_spreadsheet_are_not_taken_for_decimals():
    raw = block("12,500", "1,250", "830", "45")
    assert raw.decimal == "."
    assert "'12,500' and 1 more may be thousands or decimals" in raw.warnings[0]
    with pytest.raises(ValueError, match="can be read in two ways"):
        parse_number("12,500", raw.decimal)
    # Once it is said, they are read.
    assert block("12,500", ">1,250", "830", decimal=".").column("IC50 (nM)") == ("12500", ">1250", "830")
    assert parse_number("12,500", block("12,500", "830", decimal=",").decimal) == 12.5


@pytest.mark.parametrize(
    ("values", "decimal"),
    [
        (("12,500", "830.5", "45"), "."),  # a point that can only mark decimals
        (("6,123", "7,250", "5,500"), ","),  # three digits throughout
        (("1,250", "12,5", "3"), ","),  # a comma that can only mark decimals
        (("0,250", "1,250", "3"), ","),
        (("1,250", "2500"), ","),  # thousands are written without a mark here
        ((">10,000", "250"), "."),
    ],
)
def test_what_else_stands_in_the_table_tells(values, decimal):
    assert block(*values).decimal == decimal


def test_a_bound_of_ten_thousand_is_not_ten():
    raw = parse_text('ID,R1,IC50 (nM)\na,Me,"> 10,000"\nb,H,20\n')
    assert parse_value(raw.column("IC50 (nM)")[0], raw.decimal) == parse_value(">10000")

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assaypilot.engine.export.csv_file import write_csv
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.raw import visible
from assaypilot.engine.tables.values import parse_value

# What a table can hold: no control characters, no signs that nobody sees, and no outer spaces, which reading trims.
TEXTS = (
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Zl", "Zp")), min_size=1, max_size=12)
    .map(lambda text: text.strip() or "x")
    .filter(lambda text: text == visible(text).strip())
)
RISKY = st.sampled_from(
    [
        "＝1+1",
        "＋x",
        "－y",
        "＠cmd",
        "'＝1",
        "=1+1",
        "+x",
        "-y",
        "@cmd",
        "'=1",
        "''+2",
        "'plain",
        "-5",
        'a"b',
        "a,b",
        "a;b",
        "two\nlines",
    ]
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXTS | RISKY, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=6))
def test_what_is_written_is_read_back(tmp_path, rows):
    path = tmp_path / "out.csv"
    assert write_csv(path, ["ID", "Value"], rows) == len(rows)
    table = read_table(path)
    assert table.encoding == "utf-8-sig"
    assert list(table.column("ID")) == [text for text, _ in rows]
    assert [float(text) for text in table.column("Value")] == [number for _, number in rows]


def test_formulas_are_text_and_numbers_are_untouched(tmp_path):
    path = tmp_path / "out.csv"
    write_csv(path, ["a", "b", "c", "d"], [["=1+1", -5, -0.25, None], ["-x", 7, math.nan, True]])
    assert path.read_bytes() == b"\xef\xbb\xbfa,b,c,d\r\n'=1+1,-5,-0.25,\r\n'-x,7,,yes\r\n"
    assert parse_value("-0.25").value == -0.25


@pytest.mark.parametrize("sign", "=+-@＝＋－＠")
def test_text_with_sign_of_formula_is_quoted(tmp_path, sign):
    path = tmp_path / "out.csv"
    write_csv(path, [f"{sign}a", "b"], [[f"{sign}cmd|x", 1], ["plain", 2]])
    assert path.read_text(encoding="utf-8-sig").splitlines()[:2] == [f"'{sign}a,b", f"'{sign}cmd|x,1"]
    assert read_table(path).column(f"{sign}a") == (f"{sign}cmd|x", "plain")

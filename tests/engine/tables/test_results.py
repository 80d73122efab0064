from hypothesis import given, settings
from hypothesis import strategies as st

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.export.csv_file import write_csv
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.results import read_results

LIBRARY = Library.listed(["R1"], [["Me"], ["Et"], ["H"]], ids=["CPD-1", "CPD-2", "-3"])


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(LIBRARY.ids), st.floats(1e-3, 1e6), st.sampled_from(["=", "<", ">"])),
        min_size=1,
        max_size=10,
    ),
    st.sampled_from([".", ","]),
    st.booleans(),
)
def test_results_come_back_from_a_file_as_they_were(tmp_path_factory, entries, decimal, inside):
    path = tmp_path_factory.mktemp("results") / "results.csv"
    rows = []
    for compound, value, relation in entries:
        text = repr(value).replace(".", decimal)
        mark = "" if relation == "=" else relation
        rows.append([compound, f"{mark}{text}", ""] if inside else [compound, text, relation])
    write_csv(path, ["ID", "Value", "Relation"], rows)
    table = read_results(read_table(path), LIBRARY, (Endpoint("dose", "mg"),))
    # A number with three decimals in a table of decimal commas may be a thousand: such a table says so, or reads it.
    unclear = {r.row for r in table.rejected if "two ways" in r.reason}
    assert len(unclear) == len(table.rejected)
    expected = [entry for row, entry in enumerate(entries, start=2) if row not in unclear]
    assert [(r.compound, r.value, r.relation) for r in table.results] == expected

"""One rule says which numbers are hardly those of a p scale, for tables, results, corrections and the window."""

import pytest

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.noise import is_unusual, unusual

PIC50 = Endpoint("pIC50")


@pytest.mark.parametrize(("value", "asked"), [(0.99, True), (1.0, False), (7.0, False), (13.0, False), (13.01, True)])
def test_the_range(value, asked):
    assert is_unusual(PIC50, value) is asked
    assert (unusual(PIC50, value) is not None) is asked
    assert not is_unusual(Endpoint("IC50", "nM", "log"), value)


@pytest.mark.parametrize("value", ["0.9", "13.5", "35"])
def test_tables_results_and_the_window_ask_alike(value):
    entry = pytest.importorskip("assaypilot.gui.round.entry")
    from assaypilot.engine.tables.entries import no_p_value, read_entry

    assert no_p_value(PIC50, read_entry(PIC50, value)) is not None
    with pytest.raises(entry.Question):
        entry.parse_entry(value, PIC50)
    assert entry.parse_entry("12.9", PIC50).value == 12.9

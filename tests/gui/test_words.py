"""What is typed into the window is understood as it should be: `words.txt`, with its answers in `tests/golden`."""

from pathlib import Path

import numpy as np

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.tables.entries import is_empty
from assaypilot.gui.candidates.candidate_rows import interval_text
from assaypilot.gui.round.entry import Question, parse_entry, parts_of
from assaypilot.gui.tables.filter import narrow
from assaypilot.gui.tables.rows import Coded, plain_tip
from assaypilot.gui.widgets.file_dialogs import file_name
from tests import snapshots

ENDPOINTS = {
    "pIC50": Endpoint("pIC50", noise_sd=0.2),
    "IC50": Endpoint("IC50", "nM", "log", noise_sd=0.2),
    "Activity": Endpoint("Activity", kind="yes-no", words=("active", "inactive")),
    "Hit": Endpoint("Hit", kind="yes-no", words=("+", "-")),
    "Colonies": Endpoint("Colonies", kind="count"),
}
LIBRARY = Library.listed(["R1", "R2"], [["Me", "Cl"], ["OMe", "H"], ["6..7", "H"]], ids=["x-1", "x-2", "me-3"])
NUMBERS = np.array([6.5, 7.2, np.nan])
NAMED = {
    "MW": np.array([300.0, 450.0, np.nan]),
    "n": np.array([0, 2, 0]),
    "Heavy atoms": np.array([9.0, 20.0, 30.0]),
}
CODED = {"Status": Coded(np.array([0, 3, 2]), ("undecided", "in", "out", "not estimable"))}
HAVING = {
    "c1": np.array([True, False, True]),
    "c1ccncc1": np.array([False, True, False]),
    "like 0.5 CCO": np.array([True, False, False]),
    "like 0.7 CCO": np.array([False, False, True]),
}


def of_entry(text):
    """Return the values of a text in a cell of a round: the endpoint first, then the decimal mark, then the text."""
    name, decimal, typed = text.split("|")
    endpoint, lines = ENDPOINTS[name], []
    for part in parts_of(typed):
        if is_empty(endpoint, part):
            continue
        try:
            one = parse_entry(part, endpoint, decimal)
        except Question as question:
            again = parse_entry(question.suggestion, endpoint, decimal)
            lines.append(f"asked: {question} {question.suggestion}, which is {again.value:g}")
            continue
        extras = [f"{key} {value}" for key, value in (("n", one.n), ("SD", one.sd)) if value not in (1, None)]
        lines.append(" ".join(filter(None, [f"{one.relation} {one.value:.5g}", one.unit or "", *extras])))
    return "; ".join(lines) or "nothing yet"


def of_filter(text):
    """Return which of the three compounds fit all parts of a filter."""
    fits = narrow(text, LIBRARY, NUMBERS, NAMED, CODED, HAVING)
    return ", ".join(LIBRARY.ids[place] for place in np.flatnonzero(fits)) or "none"


WORDS = {
    "typed": of_entry,
    "filter": of_filter,
    "file name": file_name,
    "tooltip": plain_tip,
    "interval": lambda text: interval_text(*map(float, text.split("|"))) or "nothing",
}


def test_words_in_the_window_are_understood_as_they_should_be():
    snapshots.expect_answers("words-window.txt", Path(__file__).with_name("words.txt"), WORDS)
